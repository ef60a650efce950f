-- The operations of the queue: what Python calls by name. `queue_state.lua` stands before this text in the same script.

local operations = {}

-- The newer version in the place of one that waits: it keeps its turn, and what is known of its starts. Where that one was
-- an edit that settled, so does this one.
local function take_place(old, id, body, token, keep_ms, settle_ms, longest_ms)
    local thread = redis.call('HGET', question_key(old), 'thread')
    redis.call('SET', claim_key(id), token, 'PX', keep_ms)
    redis.call('RENAME', question_key(old), question_key(id))
    redis.call('HSET', question_key(id), 'body', body)
    redis.call('ZADD', UNFINISHED, redis.call('ZSCORE', UNFINISHED, old), id)
    redis.call('ZREM', UNFINISHED, old)
    redis.call('LSET', thread_key(thread), redis.call('LPOS', thread_key(thread), old), id)
    local since = redis.call('HGET', question_key(id), 'since')
    if since then
        local settled = math.min(now + settle_ms, tonumber(since) + longest_ms)
        redis.call('HSET', question_key(id), 'settled', settled)
        local at = redis.call('ZSCORE', READY, thread)
        if at and redis.call('LINDEX', thread_key(thread), 0) == id then ready(thread, math.max(tonumber(at), settled)) end
    end
end

local function is_waiting(id)
    local thread = redis.call('HGET', question_key(id), 'thread')
    return thread and not redis.call('ZSCORE', DEAD, id) and not is_running(thread, id)
end

-- Whether one of Slack's timestamps is later; '' is the first version of a message. An edit's own is of a whole second, so
-- that of its event may stand behind it: "5.000000+5.000200".
local function is_later(one, other)
    local pattern = '^(%d+)%.?(%d*)%+?(.*)$'
    local seconds, fraction, told = string.match(one, pattern)
    local other_seconds, other_fraction, other_told = string.match(other, pattern)
    if not seconds or not other_seconds then return seconds ~= nil and other_seconds == nil end
    if tonumber(seconds) ~= tonumber(other_seconds) then return tonumber(seconds) > tonumber(other_seconds) end
    local parts, other_parts = tonumber(fraction) or 0, tonumber(other_fraction) or 0
    if parts ~= other_parts then return parts > other_parts end
    return (told ~= '' or other_told ~= '') and is_later(told, other_told)
end

local function ts_of(id) return string.match(id, '^[^-]*%-[^-]*%-(%d+%.?%d*)') or '' end

-- In the order in which the messages were written, which is not always that in which their events come. What was begun
-- stays the first.
local function line_up(thread, id)
    local ids = redis.call('LRANGE', thread_key(thread), 0, -1)
    local begun = ids[1] and redis.call('HGET', question_key(ids[1]), 'starts') ~= '0'
    local at = #ids
    while at > (begun and 1 or 0) and ts_of(id) ~= '' and is_later(ts_of(ids[at]), ts_of(id)) do at = at - 1 end
    if at == #ids then
        redis.call('RPUSH', thread_key(thread), id)
    elseif at == 0 then
        redis.call('LPUSH', thread_key(thread), id)
    else
        redis.call('LINSERT', thread_key(thread), 'AFTER', ids[at], id)
    end
    return at == 0
end

local function enqueue(id, thread, body, token, keep_ms, settle_ms)
    redis.call('SET', claim_key(id), token, 'PX', keep_ms)
    redis.call('HSET', question_key(id), 'body', body, 'thread', thread, 'at', now, 'starts', 0, 'failures', 0,
        'waits', 0, 'handed_back', 0)
    if settle_ms then redis.call('HSET', question_key(id), 'settled', now + settle_ms, 'since', now) end
    redis.call('ZADD', UNFINISHED, wall, id)
    if line_up(thread, id) then ready(thread, starts_at(id, now)) end
end

local function ids_of(message)
    local ids = {}
    for id in string.gmatch(redis.call('HGET', message_key(message), 'ids') or '', '%S+') do
        if redis.call('EXISTS', question_key(id)) == 1 then ids[#ids + 1] = id end
    end
    return ids
end

-- 1: this caller's, also when it asks again after a lost reply. 0: somebody accepted it before; for an edited version also:
-- its words are those that were accepted last, or a later version is known, or the message is gone.
function operations.accept(id, thread, body, token, keep_ms, message, digest, edited, settle_ms, longest_ms)
    take_back_expired()
    local owner = redis.call('GET', claim_key(id))
    if owner then return owner == token and 1 or 0 end
    local key = message_key(message)
    local known = redis.call('HMGET', key, 'digest', 'edited', 'deleted')
    if known[3] or redis.call('EXISTS', question_key(id)) == 1 then return 0 end
    local ids = ids_of(message)
    if known[1] then
        if not is_later(edited, known[2]) then return 0 end
        redis.call('HSET', key, 'edited', edited)
        if digest == known[1] or digest == known[1] .. ':unasked' then return 0 end
    end
    local latest = ids[#ids] or message
    if edited ~= '' and is_waiting(latest) then
        take_place(latest, id, body, token, keep_ms, settle_ms, longest_ms)
        ids[math.max(#ids, 1)] = id
    else
        operations.discard(latest)  -- what could not be told is not asked any more
        enqueue(id, thread, body, token, keep_ms, edited ~= '' and settle_ms or nil)
        ids[#ids + 1] = id
    end
    redis.call('HSET', key, 'digest', digest, 'edited', edited, 'thread', thread, 'ids', table.concat(ids, ' '))
    redis.call('PEXPIRE', key, keep_ms)
    return 1
end

-- {id, thread, holder, starts, failures, handed back, waits, body}, or {milliseconds until something can change, -1 for never}.
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
            redis.call('ZREM', WAITING, thread)
            local starts = redis.call('HINCRBY', question_key(id), 'starts', 1)
            local known = redis.call('HMGET', question_key(id), 'failures', 'handed_back', 'waits', 'body')
            return { id, thread, holder, starts, tonumber(known[1]), tonumber(known[2] or 0), tonumber(known[3] or 0), known[4] }
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
function operations.release(thread, holder)
    if not held_by(thread, holder) then return 0 end
    redis.call('HINCRBY', question_key(redis.call('LINDEX', thread_key(thread), 0)), 'handed_back', 1)
    release(thread, now)
    return 1
end

-- Slack is away: no step towards giving the question up. Woken before `delay_ms`, but not before `least_ms`.
function operations.wait(thread, holder, delay_ms, least_ms)
    if not held_by(thread, holder) then return 0 end
    local id = redis.call('LINDEX', thread_key(thread), 0)
    redis.call('HINCRBY', question_key(id), 'waits', 1)
    redis.call('HINCRBY', question_key(id), 'handed_back', 1)
    release(thread, now + delay_ms)
    redis.call('ZADD', WAITING, now + least_ms, thread)
    return 1
end

-- Slack is back, or the bot is (`at_once`). Returns how many threads start sooner than they would have.
function operations.wake(at_once)
    local threads, woken = redis.call('ZRANGE', WAITING, 0, -1, 'WITHSCORES'), 0
    for index = 1, #threads, 2 do
        local thread, least = threads[index], tonumber(threads[index + 1])
        local first, at = redis.call('LINDEX', thread_key(thread), 0), redis.call('ZSCORE', READY, thread)
        local sooner = first and starts_at(first, at_once == '1' and now or math.max(now, least))
        if sooner and at and sooner < tonumber(at) then
            ready(thread, sooner)
            woken = woken + 1
        end
    end
    return woken
end

local function message_of(id)
    return string.match(id, '^(.-)%-edited%-') or string.match(id, '^(.-)%-deleted$') or id
end

function operations.dead_letter(thread, holder, reason, keep_ms, untidy)
    if not held_by(thread, holder) then return 0 end
    local id = redis.call('LPOP', thread_key(thread))
    redis.call('ZREM', UNFINISHED, id)
    if redis.call('HEXISTS', question_key(id), 'forgotten') == 1 then
        redis.call('DEL', question_key(id))
    else
        redis.call('HSET', question_key(id), 'reason', reason)
        redis.call('PEXPIRE', question_key(id), keep_ms)
        redis.call('PEXPIRE', message_key(message_of(id)), keep_ms)  -- so that its deletion finds all of its versions
        redis.call('ZADD', DEAD, wall, id)
        if untidy == '1' then redis.call('SADD', UNTIDY, id) end
        trim_dead(keep_ms)
    end
    release(thread, now)
    return 1
end

-- A dead letter is a question again, first asked however long ago. Its starts are kept: it may have been answered.
function operations.revive(id, body, token, keep_ms)
    if redis.call('EXISTS', question_key(id)) == 0 or redis.call('ZREM', DEAD, id) == 0 then return 0 end
    redis.call('SREM', UNTIDY, id)
    local starts, thread = unpack(redis.call('HMGET', question_key(id), 'starts', 'thread'))
    redis.call('PERSIST', question_key(id))
    redis.call('HDEL', question_key(id), 'reason')
    redis.call('HSET', question_key(id), 'body', body, 'at', now, 'failures', 0, 'waits', 0, 'handed_back', starts)
    redis.call('SET', claim_key(id), token, 'PX', keep_ms)
    redis.call('ZADD', UNFINISHED, wall, id)
    if line_up(thread, id) then ready(thread, now) end
    return 1
end

function operations.discard(id)
    redis.call('SREM', UNTIDY, id)
    if redis.call('ZREM', DEAD, id) == 0 then return 0 end
    redis.call('DEL', question_key(id))
    return 1
end

-- True: it waited and is gone. False: it runs, is done, or has not come yet; it will not start again.
local function forget(id)
    local thread = redis.call('HGET', question_key(id), 'thread')
    if not thread then return false end
    if operations.discard(id) == 1 then return false end
    if is_running(thread, id) then
        redis.call('HSET', question_key(id), 'forgotten', 1)
        return false
    end
    local was_first = redis.call('LINDEX', thread_key(thread), 0) == id
    redis.call('LREM', thread_key(thread), 1, id)
    drop(id)
    if was_first then
        redis.call('ZREM', READY, thread)
        release(thread, now)
    end
    return true
end

-- 1: a version of the message waited. Its deletion is queued where something of it may have been answered; in the thread
-- where that was, which the event of a deletion does not always tell.
function operations.delete(message, early_ms, id, thread, body, token, keep_ms, certain)
    take_back_expired()
    local key, first = message_key(message), claim_key(message)
    local known = redis.call('HMGET', key, 'digest', 'thread')
    local claimed = redis.call('EXISTS', first) == 1 and redis.call('GET', first) ~= 'forgotten'
    local waited = 0
    for _, version in ipairs(ids_of(message)) do
        if forget(version) then waited = 1 end
    end
    if forget(message) then waited = 1 end  -- of a version of ours that knew no message:<id>
    redis.call('SET', first, 'forgotten', 'NX', 'PX', early_ms)  -- the deletion may overtake the message
    redis.call('HDEL', key, 'digest', 'edited', 'ids')
    redis.call('HSET', key, 'deleted', 1)
    if known[1] then redis.call('PEXPIRE', key, keep_ms) else redis.call('PEXPIRE', key, early_ms) end
    local wanted = known[1] or claimed or certain == '1'
    if wanted and redis.call('EXISTS', claim_key(id)) == 0 then
        enqueue(id, known[2] or thread, body, token, keep_ms)
    end
    return waited
end

function operations.is_known(message)
    return redis.call('HEXISTS', message_key(message), 'digest')
end

function operations.is_deleted(message)
    return redis.call('HEXISTS', message_key(message), 'deleted')
end

local READS = { is_known = true, is_deleted = true }
local LEASE_MS = { take = 3, renew = 4 }
if not READS[ARGV[1]] then tick(tonumber(ARGV[LEASE_MS[ARGV[1]] or 0])) end
return operations[ARGV[1]](unpack(ARGV, 2))
