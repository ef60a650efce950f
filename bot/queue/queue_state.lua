-- Every change of a question's state, one atomic call each. Nothing else writes these keys.
--
--     accept -> waiting -> take -> running -> finish            gone; the claim stays
--                  ^                  |-----> retry, release    waiting again, still first in its thread
--                  |                  |-----> wait              the same, for as long as Slack is away; wake ends it
--                  |                  '-----> dead_letter       dead letter -> revive (waiting again), discard
--                  '--- the lease expired: its worker died
--
-- A thread has one holder at a time and its questions leave in the order in which they came, so the lease is on the
-- thread. Times are in milliseconds. All keys start with KEYS[1], which carries the hash tag: in a
-- cluster they share one slot.
--
--     claim:<id>      string  who accepted it; outlives the question, so that a late redelivery is recognised
--     message:<id>    hash    of a message, over all its versions: digest of the words that were accepted last, edited (when
--                             they were written, "" for the first), ids (of its versions that may be queued), thread, deleted
--     question:<id>   hash    body, thread, at (when it was queued), starts, failures, waits, handed_back (starts that ended
--                             without an outcome, those that wait included), of a dead letter reason; of an edited version also settled (when its words
--                             have stood for long enough to be asked), since (when the first of the edits that it stands for came)
--     thread:<thread> list    ids, the running one first
--     ready           zset    thread -> when its first question may start
--     leases          zset    thread -> when its holder counts as dead
--     holders         hash    thread -> worker#fence
--     waiting         zset    thread whose first question waits for Slack -> when it may be woken
--     unfinished      zset    id -> when it was accepted, by the wall clock
--     dead            zset    id -> when it was given up, by the wall clock
--     untidy          set     ids of dead letters of which something may be left in Slack that says we are at it
--     clock           hash    the queue's own clock: at, wall (the server's when it was read), step
--     bell            list    a token for each change of `ready`: idle workers block on it

local prefix = KEYS[1] .. ':'
local READY, LEASES, HOLDERS = prefix .. 'ready', prefix .. 'leases', prefix .. 'holders'
local UNFINISHED, DEAD, BELL, FENCE = prefix .. 'unfinished', prefix .. 'dead', prefix .. 'bell', prefix .. 'fence'
local WAITING, UNTIDY, CLOCK = prefix .. 'waiting', prefix .. 'untidy', prefix .. 'clock'
local BELL_LIMIT = 256
local DEAD_LIMIT = 1000

local server = redis.call('TIME')
local wall = server[1] * 1000 + math.floor(server[2] / 1000)
local now = wall

-- Leases and pauses are measured by a clock of the queue's own, since the server's may be set, and expiries of keys go by
-- that as well. It goes on with the server's, but never back, and between two calls by `step` at most: less than what is
-- left of a lease that is kept alive, so that a leap ends none, and enough for those of the dead to end soon.
local function tick(lease_ms)
    local known = redis.call('HMGET', CLOCK, 'at', 'wall', 'step')
    local step = lease_ms and math.max(lease_ms / 2, 1000) or tonumber(known[3] or 1000)
    if known[1] then now = tonumber(known[1]) + math.min(math.max(wall - tonumber(known[2]), 0), step) end
    redis.call('HSET', CLOCK, 'at', now, 'wall', wall, 'step', step)
end

local function claim_key(id) return prefix .. 'claim:' .. id end
local function question_key(id) return prefix .. 'question:' .. id end
local function thread_key(thread) return prefix .. 'thread:' .. thread end
local function message_key(message) return prefix .. 'message:' .. message end

-- Rings for a later time as well: who listens has to learn for how long.
local function ready(thread, at)
    redis.call('ZADD', READY, at, thread)
    if redis.call('LLEN', BELL) < BELL_LIMIT then redis.call('LPUSH', BELL, '1') end
end

local function held_by(thread, holder)
    return redis.call('HGET', HOLDERS, thread) == holder
end

-- Not before its words have settled: who corrects a question often does so again.
local function starts_at(id, at)
    return math.max(at, tonumber(redis.call('HGET', question_key(id), 'settled') or 0))
end

local function release(thread, at)
    redis.call('HDEL', HOLDERS, thread)
    redis.call('ZREM', LEASES, thread)
    redis.call('ZREM', WAITING, thread)
    local first = redis.call('LINDEX', thread_key(thread), 0)
    if first then ready(thread, starts_at(first, at)) end
end

-- A dead worker's question has waited longest: it keeps the place in the queue that its acceptance gave it.
local function take_back_expired()
    for _, thread in ipairs(redis.call('ZRANGE', LEASES, '-inf', now, 'BYSCORE')) do
        local id = redis.call('LINDEX', thread_key(thread), 0)
        release(thread, id and tonumber(redis.call('HGET', question_key(id), 'at')) or now)
    end
end

local function is_running(thread, id)
    return redis.call('HEXISTS', HOLDERS, thread) == 1 and redis.call('LINDEX', thread_key(thread), 0) == id
end

local function drop(id)
    redis.call('DEL', question_key(id))
    redis.call('ZREM', UNFINISHED, id)
end

local function milliseconds_to_next()
    local next_at = -1
    for _, key in ipairs({ READY, LEASES }) do
        local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
        if first[2] and (next_at < 0 or tonumber(first[2]) < next_at) then next_at = tonumber(first[2]) end
    end
    return next_at < 0 and -1 or math.max(next_at - now, 0)
end

local function trim_dead(keep_ms)
    local old = redis.call('ZRANGE', DEAD, '-inf', wall - keep_ms, 'BYSCORE')
    for _, id in ipairs(redis.call('ZRANGE', DEAD, 0, -DEAD_LIMIT - 1)) do old[#old + 1] = id end
    for _, id in ipairs(old) do
        redis.call('ZREM', DEAD, id)
        redis.call('SREM', UNTIDY, id)
        redis.call('DEL', question_key(id))
    end
end
