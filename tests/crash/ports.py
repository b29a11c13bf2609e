"""Ports for servers that tests start, also again after a crash."""

import random
import socket
from pathlib import Path

LEAST = 10_000
LOCAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port():
    """A port of 127.0.0.1 that nobody has now, and that no client gets as its own: while the server
    is away, whoever connects might be given it, and be connected to itself."""
    above = int(LOCAL_RANGE.read_text(encoding="ascii").split()[0])
    for _ in range(1000):
        port = random.SystemRandom().randrange(LEAST, above) if above > LEAST else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no free port")
