-- Drops questions whose answers are no longer kept from pages that are quoted again and again, a few at each call.
--
-- KEYS[1]: root. ARGV[1]: how many of a page are looked at. The rest: page ids.

for at = 2, #ARGV do
    local page = KEYS[1] .. ':page:' .. ARGV[at]
    for _, question in ipairs(redis.call('HRANDFIELD', page, tonumber(ARGV[1]))) do
        if redis.call('EXISTS', KEYS[1] .. ':answer:' .. question) == 0 then redis.call('HDEL', page, question) end
    end
end
