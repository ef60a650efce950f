"""The HTTP API: programs search and ask with keys. `docs/api.md` is its manual.

    guards      whose Host and Origin are answered, what every reply says to browsers
    app         the routes and their description (OpenAPI 3.1)
    streaming   an answer as server-sent events
    service     what a key may ask for: admit -> a free place -> the pipeline -> replies
    keys        who may ask, what they are told, how often
    mcp_tools   the same for agents and editors, at /mcp and, by remote, over stdio
    server      uvicorn in the bot's own loop

It asks the same `kb.pipeline` as Slack does; `service` is what the routes and other doors share.
"""
