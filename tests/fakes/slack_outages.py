"""Every way in which Slack can be away, as faults of the playground: by name what a call ends with."""

from __future__ import annotations

from typing import Any

PAGE = b"<!doctype html><html><title>Sign in</title><p>Please sign in to the proxy</p></html>"
JSON = "application/json"
OUTAGES: dict[str, dict[str, Any]] = {
    "internal_error": {"error": "internal_error"},
    "fatal_error": {"error": "fatal_error"},
    "service_unavailable": {"error": "service_unavailable"},
    "a migration": {"error": "team_added_to_org"},
    "an unknown code with 500": {"error": "something_new", "status": 500},
    "HTML 500": {"status": 500, "body": PAGE},
    "HTML 502": {"status": 502, "body": PAGE},
    "HTML 503": {"status": 503, "body": PAGE},
    "text 503": {"status": 503},
    "HTML 403": {"status": 403, "body": PAGE},
    "a page with 200": {"body": PAGE},
    "a text with 200": {"body": b"please sign in", "content_type": "text/plain"},
    "an empty body": {"body": b"", "content_type": JSON},
    "nothing, as text": {"body": b"", "content_type": "text/plain"},
    "half of a JSON": {"body": b'{"ok": true, "chan', "content_type": JSON},
    "bytes that are no text": {"body": b'{"ok": "\xff\xfe"}', "content_type": JSON},
    "a JSON list": {"body": b"[]", "content_type": JSON},
    "a JSON null": {"body": b"null", "content_type": JSON},
    "a JSON number": {"body": b"7", "content_type": JSON},
    "an empty object": {"body": b"{}", "content_type": JSON},
    "no reason given": {"body": b'{"ok": false}', "content_type": JSON},
    "ok of somebody else": {"body": b'{"ok": true, "message": "welcome"}', "content_type": JSON},
    "a cut connection": {"drop": True},
    "429 without Retry-After": {"status": 429, "body": b"slow down", "content_type": "text/plain"},
    "429 for minutes": {"retry_after": 120},
}
