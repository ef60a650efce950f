"""TCP ports."""

from __future__ import annotations

import errno
import random
import socket


def free_port() -> int:
    """One that nobody listens at now, nor is given before it is used: systems give ports above 32767 to who asks for any."""
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
