"""`footnote serve`, `playground`, `worker` and the HTTP API: processes that run until they are stopped."""
