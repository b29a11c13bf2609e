"""Ports for servers that tests start, and start again after a crash."""

import random
import socket
from pathlib import Path

LEAST = 10_000
LOCAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port():
    """A free port of 127.0.0.1 outside the range from which the system gives ports to clients.
    Otherwise, while the server is down, a client that connects to this port could get it as its own
    port, and be connected to itself."""
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
