-- The figures behind `/kb stats`. A repeated call changes nothing: a question counts once, a user has one vote on it.
--
-- KEYS[1]: counts, hash. KEYS[2]: what is kept of one question, hash. KEYS[3]: total times, list (record);
-- its votes, hash (vote); who misses it, set (miss). KEYS[4]: languages of the latest questions,
-- list (record). KEYS[5], KEYS[6]: all questions and those of the same person, zsets id -> when (record).
-- KEYS[7]: root of the citations, a hash page -> answers for each week (record).

local function count(name, by)
    if by ~= 0 then redis.call('HINCRBYFLOAT', KEYS[1], name, by) end
end

local CHECKS = { 'sentences', 'cited', 'supported', 'removed', 'dropped' }

-- What one answer adds to the counts; taken away again when the question is answered anew. checked: the numbers of
-- CHECKS in their order, separated by commas; empty, or missing in a record of another version, where nothing was checked.
-- judge: what became of the judge of its sentences; empty or missing where there was none.
local function weigh(outcome, rewritten, rewrite_ms, lost, checked, judge, sign)
    local at = 0
    for number in string.gmatch(checked or '', '%d+') do
        at = at + 1
        count('checked:' .. CHECKS[at], sign * tonumber(number))
    end
    if judge and judge ~= '' then count('judge:' .. judge, sign) end
    count('outcome:' .. outcome, sign)
    if lost == '1' then count('lost', sign) end
    if rewritten == '1' then
        count('rewritten', sign)
        count('rewrite_ms', sign * tonumber(rewrite_ms))
    end
end

-- An answer's citations, in the week in which they were made; pages: a JSON list of ids, missing in a record of another version.
local function cite(pages, week, keep_ms, sign)
    if not pages or not week then return end
    local key = KEYS[7] .. ':' .. week
    for _, page in ipairs(cjson.decode(pages)) do
        if redis.call('HINCRBY', key, page, sign) <= 0 then redis.call('HDEL', key, page) end
    end
    if redis.call('EXISTS', key) == 1 then redis.call('PEXPIRE', key, keep_ms + 7 * 86400000) end
end

local function note(key, id, now_ms, keep_ms)
    redis.call('ZADD', key, now_ms, id)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now_ms - keep_ms)
    redis.call('PEXPIRE', key, keep_ms)
end

local operations = {}

function operations.record(
    outcome, rewritten, rewrite_ms, lost, checked, judge, total_ms, remembered, keep_ms, context, language, latest,
    id, now_ms, cited, week)
    local before = redis.call(
        'HMGET', KEYS[2], 'outcome', 'rewritten', 'rewrite_ms', 'lost', 'checked', 'judge', 'cited', 'week')
    if before[1] then
        weigh(before[1], before[2], before[3], before[4], before[5], before[6], -1)
        cite(before[7], before[8], keep_ms, -1)
    else
        count('questions', 1)
        redis.call('LPUSH', KEYS[3], total_ms)
        redis.call('LTRIM', KEYS[3], 0, remembered - 1)
        if language ~= '' then
            redis.call('LPUSH', KEYS[4], language)
            redis.call('LTRIM', KEYS[4], 0, latest - 1)
        end
    end
    weigh(outcome, rewritten, rewrite_ms, lost, checked, judge, 1)
    redis.call('HSET', KEYS[2], 'outcome', outcome, 'rewritten', rewritten, 'rewrite_ms', rewrite_ms, 'lost', lost,
        'checked', checked, 'judge', judge, 'context', context, 'cited', cited, 'week', week)
    redis.call('HDEL', KEYS[2], 'closed')
    redis.call('PEXPIRE', KEYS[2], keep_ms)
    cite(cited, week, keep_ms, 1)
    note(KEYS[5], id, now_ms, keep_ms)
    note(KEYS[6], id, now_ms, keep_ms)
    return 1
end

-- 1: the vote is new or moved. 0: the same as before.
function operations.vote(user, vote, keep_ms)
    local before = redis.call('HGET', KEYS[3], user)
    if before == vote then return 0 end
    if before then count('vote:' .. before, -1) end
    count('vote:' .. vote, 1)
    redis.call('HSET', KEYS[3], user, vote)
    redis.call('PEXPIRE', KEYS[3], keep_ms)
    if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('PEXPIRE', KEYS[2], keep_ms) end
    return 1
end

-- 1: counted. 0: this person has said so before, or nothing is kept of the question.
function operations.miss(user, keep_ms)
    if redis.call('EXISTS', KEYS[2]) == 0 or redis.call('SADD', KEYS[3], user) == 0 then return 0 end
    redis.call('PEXPIRE', KEYS[3], keep_ms)
    redis.call('PEXPIRE', KEYS[2], keep_ms)
    return 1
end

function operations.close(now_ms)
    if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'closed', now_ms) end
    return 1
end

return operations[ARGV[1]](unpack(ARGV, 2))
