"""A free port of loopback for a server that starts a little later."""

from __future__ import annotations

import random
import socket

PORTS = range(20000, 32000)
"""Below the range from which Linux and macOS give ports to clients, so no client takes the port in the meantime."""


def free_port() -> int:
    """Return a port of loopback that no process listens on. Raises OSError if there is none."""
    for port in random.sample(PORTS, len(PORTS)):
        if is_free(port):
            return port
    raise OSError("No port between 20000 and 32000 is free.")


def is_free(port: int) -> bool:
    """Return whether a server could listen on this port of loopback."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
