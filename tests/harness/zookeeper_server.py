"""A test's own ZooKeeper: a single server in a new directory, on a free port of 127.0.0.1. It can
be killed, and started again with its data.
"""

import ctypes
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from ports import free_port

CLASS_PATH = "/usr/share/java/zookeeper.jar"
START_SECONDS = 120
TICK_MS = 500  # the shortest session is two ticks, the longest twenty
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class ZooKeeperServer:
    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="tarry-zookeeper-"))
        self.port = free_port()
        self.url = f"zookeeper://127.0.0.1:{self.port}"
        (self.path / "zoo.cfg").write_text(
            f"tickTime={TICK_MS}\ndataDir={self.path}/data\nclientPort={self.port}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
            "4lw.commands.whitelist=ruok,cons\n")
        self._process = None

    def start(self):
        with open(self.path / "output", "ab") as log:
            self._process = subprocess.Popen(
                ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                 CLASS_PATH, "org.apache.zookeeper.server.ZooKeeperServerMain",
                 str(self.path / "zoo.cfg")], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"ZooKeeper does not start:\n{self.log()}")

    def _ask(self, word):
        with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.sendall(word)
            with connection.makefile("rb") as answer:
                return answer.read()

    def _answers(self):
        try:
            return self._ask(b"ruok") == b"imok"
        except OSError:
            return False

    def sessions_ms(self):
        """How long each open session lasts without a message from its client."""
        return [int(found) for found in re.findall(rb"\bto=(\d+)", self._ask(b"cons"))]

    def log(self):
        return (self.path / "output").read_text(errors="replace")[-4000:]

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self):
        self.kill()
        shutil.rmtree(self.path, ignore_errors=True)
