"""The Redis that the Helm chart makes, started by the command of its container."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.deploy.rendering import NEEDS_HELM, the

pytestmark = NEEDS_HELM


def test_the_redis_that_the_chart_makes_keeps_what_it_is_given_for_whoever_has_the_password(
    tmp_path: Path,
) -> None:
    program, client = shutil.which("redis-server"), shutil.which("redis-cli")
    if program is None or client is None:
        pytest.skip("redis-server is not installed")
    container = the("created", "StatefulSet", "kb-footnote-redis")["spec"]["template"]["spec"]["containers"][
        0
    ]
    script = container["command"][2].replace(
        "--dir /data", f"--dir {tmp_path} --port 0 --unixsocket {tmp_path}/s"
    )
    server = subprocess.Popen(
        ["sh", "-c", script], env=os.environ | {"REDISCLI_AUTH": "s3cr3t"}, stdout=subprocess.DEVNULL
    )

    def told(*command: str, **password: str) -> str:
        done = subprocess.run(
            [client, "-s", tmp_path / "s", *command],
            env={**os.environ, **password},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip()

    try:
        until = time.monotonic() + 60
        while told("ping", REDISCLI_AUTH="s3cr3t") != "PONG":
            assert server.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        assert told("ping").startswith("NOAUTH")
        for name, value in {
            "appendonly": "yes",
            "appendfsync": "always",
            "maxmemory-policy": "noeviction",
        }.items():
            assert told("config", "get", name, REDISCLI_AUTH="s3cr3t").splitlines() == [name, value]
        assert "s3cr3t" not in Path(f"/proc/{server.pid}/cmdline").read_text(encoding="utf-8")
    finally:
        server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0, "the shell has become the server, which heard the signal"
