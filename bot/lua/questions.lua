-- Every change of a question's state, one atomic call each. Nothing else writes these keys.
--
--     accept -> waiting -> take -> running -> finish            gone; the claim stays
--                  ^                  |-----> retry, hand_back  waiting again, still first in its thread
--                  |                  '-----> bury              dead letter
--                  '--- the lease expired: its worker died
--
-- A thread has one holder at a time and its questions leave in the order in which they came, so the lease is on the
-- thread. The times are the server's, in milliseconds. All keys start with KEYS[1], which carries the hash tag: in a
-- cluster they share one slot.
--
--     claim:<id>      string  who accepted it; outlives the question, so that a late redelivery is recognised
--     question:<id>   hash    body, thread, starts, failures, handed_back
--     thread:<thread> list    ids, the running one first
--     ready           zset    thread -> when its first question may start
--     leases          zset    thread -> when its holder counts as dead
--     holders         hash    thread -> worker#fence
--     unfinished      zset    id -> when it was accepted
--     dead            zset    id -> when it was given up
--     bell            list    a token for each change of `ready`: idle workers block on it

local prefix = KEYS[1] .. ':'
local READY, LEASES, HOLDERS = prefix .. 'ready', prefix .. 'leases', prefix .. 'holders'
local UNFINISHED, DEAD, BELL, FENCE = prefix .. 'unfinished', prefix .. 'dead', prefix .. 'bell', prefix .. 'fence'
local BELL_LIMIT = 256
local DEAD_LIMIT = 1000

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function claim_key(id) return prefix .. 'claim:' .. id end
local function question_key(id) return prefix .. 'question:' .. id end
local function thread_key(thread) return prefix .. 'thread:' .. thread end

-- Rings for a later time as well: who listens has to learn for how long.
local function ready(thread, at)
    redis.call('ZADD', READY, at, thread)
    if redis.call('LLEN', BELL) < BELL_LIMIT then redis.call('LPUSH', BELL, '1') end
end

local function held_by(thread, holder)
    return redis.call('HGET', HOLDERS, thread) == holder
end

local function release(thread, at)
    redis.call('HDEL', HOLDERS, thread)
    redis.call('ZREM', LEASES, thread)
    if redis.call('EXISTS', thread_key(thread)) == 1 then ready(thread, at) end
end

-- A dead worker's question has waited longest: it keeps the place in the queue that its acceptance gave it.
local function take_back_expired()
    for _, thread in ipairs(redis.call('ZRANGE', LEASES, '-inf', now, 'BYSCORE')) do
        local id = redis.call('LINDEX', thread_key(thread), 0)
        release(thread, id and tonumber(redis.call('ZSCORE', UNFINISHED, id)) or now)
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
    local old = redis.call('ZRANGE', DEAD, '-inf', now - keep_ms, 'BYSCORE')
    for _, id in ipairs(redis.call('ZRANGE', DEAD, 0, -DEAD_LIMIT - 1)) do old[#old + 1] = id end
    for _, id in ipairs(old) do
        redis.call('ZREM', DEAD, id)
        redis.call('DEL', question_key(id))
    end
end

local operations = {}

-- 1: this caller's, also when it asks again after a lost reply. 0: somebody accepted it before.
function operations.accept(id, thread, body, token, keep_ms)
    local owner = redis.call('GET', claim_key(id))
    if owner then return owner == token and 1 or 0 end
    if redis.call('EXISTS', question_key(id)) == 1 then return 0 end
    redis.call('SET', claim_key(id), token, 'PX', keep_ms)
    redis.call('HSET', question_key(id), 'body', body, 'thread', thread, 'starts', 0, 'failures', 0,
        'handed_back', 0)
    redis.call('ZADD', UNFINISHED, now, id)
    if redis.call('RPUSH', thread_key(thread), id) == 1 then ready(thread, now) end
    return 1
end

-- {id, thread, holder, starts, failures, handed back, body}, or {milliseconds until something can change, -1 for never}.
function operations.take(worker, lease_ms)
    take_back_expired()
    while true do
        local thread = redis.call('ZRANGE', READY, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1)[1]
        if not thread then
            redis.call('DEL', BELL)  -- what rang is taken: old tokens would wake idle workers for nothing
            return { milliseconds_to_next() }
        end
        redis.call('ZREM', READY, thread)
        local id = redis.call('LINDEX', thread_key(thread), 0)
        if redis.call('HEXISTS', question_key(id), 'forgotten') == 1 then
            redis.call('LPOP', thread_key(thread))
            drop(id)
            release(thread, now)
        else
            local holder = worker .. '#' .. redis.call('INCR', FENCE)
            redis.call('HSET', HOLDERS, thread, holder)
            redis.call('ZADD', LEASES, now + lease_ms, thread)
            local starts = redis.call('HINCRBY', question_key(id), 'starts', 1)
            local known = redis.call('HMGET', question_key(id), 'failures', 'handed_back', 'body')
            return { id, thread, holder, starts, tonumber(known[1]), tonumber(known[2] or 0), known[3] }
        end
    end
end

function operations.renew(thread, holder, lease_ms)
    if not held_by(thread, holder) then return 0 end
    redis.call('ZADD', LEASES, now + lease_ms, thread)
    return 1
end

function operations.finish(thread, holder)
    if not held_by(thread, holder) then return 0 end
    drop(redis.call('LPOP', thread_key(thread)))
    release(thread, now)
    return 1
end

function operations.retry(thread, holder, delay_ms)
    if not held_by(thread, holder) then return 0 end
    redis.call('HINCRBY', question_key(redis.call('LINDEX', thread_key(thread), 0)), 'failures', 1)
    release(thread, now + delay_ms)
    return 1
end

-- The worker stops in the middle: no reason to give the question up, but it may have answered already.
function operations.hand_back(thread, holder)
    if not held_by(thread, holder) then return 0 end
    redis.call('HINCRBY', question_key(redis.call('LINDEX', thread_key(thread), 0)), 'handed_back', 1)
    release(thread, now)
    return 1
end

function operations.bury(thread, holder, reason, keep_ms)
    if not held_by(thread, holder) then return 0 end
    local id = redis.call('LPOP', thread_key(thread))
    redis.call('ZREM', UNFINISHED, id)
    if redis.call('HEXISTS', question_key(id), 'forgotten') == 1 then
        redis.call('DEL', question_key(id))
    else
        redis.call('HSET', question_key(id), 'reason', reason)
        redis.call('PEXPIRE', question_key(id), keep_ms)
        redis.call('ZADD', DEAD, now, id)
        trim_dead(keep_ms)
    end
    release(thread, now)
    return 1
end

-- 1: it waited and is gone. 0: it runs, is done, or has not come yet; it will not start again.
function operations.forget(id, keep_ms)
    take_back_expired()
    local thread = redis.call('HGET', question_key(id), 'thread')
    if not thread then
        redis.call('SET', claim_key(id), 'forgotten', 'NX', 'PX', keep_ms)  -- the deletion may overtake the message
        return 0
    end
    if redis.call('ZREM', DEAD, id) == 1 then
        redis.call('DEL', question_key(id))
        return 0
    end
    if is_running(thread, id) then
        redis.call('HSET', question_key(id), 'forgotten', 1)
        return 0
    end
    local was_first = redis.call('LINDEX', thread_key(thread), 0) == id
    redis.call('LREM', thread_key(thread), 1, id)
    drop(id)
    if was_first then
        redis.call('ZREM', READY, thread)
        release(thread, now)
    end
    return 1
end

-- 1: it waits and has the new body. 0: too late.
function operations.replace(id, body)
    take_back_expired()
    local thread = redis.call('HGET', question_key(id), 'thread')
    if not thread or redis.call('ZSCORE', DEAD, id) or is_running(thread, id) then return 0 end
    redis.call('HSET', question_key(id), 'body', body)
    return 1
end

return operations[ARGV[1]](unpack(ARGV, 2))
