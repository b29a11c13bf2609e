"""A test's own redis-server, on a unix socket in a new directory, which a test can kill.
TARRY_REDIS_SERVER in the environment names a program instead of redis-server.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from server import FAILURE_SECONDS, ServerFailure

PROGRAM = os.environ.get("TARRY_REDIS_SERVER", "redis-server")
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class Refusal(Exception):
    """An error reply of Redis."""


def read_reply(file):
    """Reads one reply: an int, a str, None, or a list of them."""
    line = file.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("no answer")
    kind, rest = line[:1], line[1:-2].decode("utf-8", "replace")
    if kind == b"-":
        raise Refusal(rest)
    if kind == b"+":
        return rest
    if kind == b":":
        return int(rest)
    size = int(rest)
    if size < 0:
        return None
    if kind == b"*":
        return [read_reply(file) for _ in range(size)]
    return file.read(size + 2)[:-2].decode("utf-8", "replace")


def written(*words):
    """The bytes of a command."""
    data = b"*%d\r\n" % len(words)
    for word in words:
        text = str(word).encode()
        data += b"$%d\r\n%s\r\n" % (len(text), text)
    return data


class RedisServer:
    def __init__(self, *words, parent=None):
        self.path = Path(tempfile.mkdtemp(prefix="tarry-redis-", dir=parent))
        self.socket = self.path / "redis.sock"
        self.url = f"redis+unix://{self.socket}"
        self._words = [str(word) for word in words]
        self._config = ()  # the configuration file, if there is one
        self.login = ()  # user and password, if Redis asks for them
        self._process = None
        self._dying = threading.Event()
        self.torn = 0  # how often its file did not end with a whole transaction

    def _ends_with_us(self):
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def _mend(self):
        """Cuts a torn file after its last whole transaction. Redis itself cuts it in the middle of
        one (7.0.15; valkey-io/valkey#4342), and carries out that half when it starts the next
        time."""
        manifest, = self.path.glob("appendonlydir/*.manifest")
        mended = subprocess.run(["redis-check-aof", "--fix", str(manifest)], input=b"y\n",
                                executable=shutil.which(PROGRAM), capture_output=True,
                                timeout=FAILURE_SECONDS, check=False)
        if mended.returncode != 0:
            raise ServerFailure(f"redis-check-aof: {mended.returncode} {mended.stdout[-2000:]}")
        self.torn += b"Successfully truncated" in mended.stdout

    def start(self):
        """Starts it with the data in its directory, and waits until it answers."""
        if self._dying.is_set() and (self.path / "appendonlydir").exists():
            self._mend()
        self._dying.clear()
        self.socket.unlink(missing_ok=True)  # a killed server leaves it
        with open(self.path / "log", "ab") as log:
            self._process = subprocess.Popen(
                [PROGRAM, *self._config, "--port", "0", "--unixsocket", str(self.socket), "--dir",
                 str(self.path), "--save", "", "--daemonize", "no", "--loglevel", "warning",
                 *self._words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self._ends_with_us)
        deadline = time.monotonic() + FAILURE_SECONDS
        while True:
            try:
                self.ask("PING")
                return
            except (OSError, Refusal) as error:
                if not self.alive_for(0.005) or time.monotonic() > deadline:
                    raise ServerFailure(f"redis-server does not start: {error!r}\n"
                                        f"{self.log()}") from error

    def log(self, most=4000):
        file = self.path / "log"
        return file.read_text("utf-8", "replace")[-most:] if file.exists() else ""

    def ask(self, *words):
        """Sends one command on a new connection. Raises Refusal for an error reply."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(FAILURE_SECONDS)
            connection.connect(str(self.socket))
            with connection.makefile("rb") as file:
                if self.login:
                    connection.sendall(written("AUTH", *self.login))
                    read_reply(file)
                connection.sendall(written(*words))
                return read_reply(file)

    @contextlib.contextmanager
    def listening(self, channel):
        """Returns a function that waits for one message on that channel, and returns the
        message."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(FAILURE_SECONDS)
            connection.connect(str(self.socket))
            with connection.makefile("rb") as file:
                connection.sendall(written("SUBSCRIBE", channel))
                read_reply(file)
                yield lambda: read_reply(file)[2]

    def lease_left_ms(self, queue):
        """What is left of the session of the only relay that shares the queue; None if there is no
        relay."""
        for members in self.ask("KEYS", f"tarry:relays:{{{queue}-*}}:members"):
            _, ends = self.ask("ZRANGE", members, 0, -1, "WITHSCORES")
            seconds, microseconds = map(int, self.ask("TIME"))
            return int(ends) - (seconds * 1000 + microseconds // 1000)
        return None

    def info(self, name):
        """The number with that name in INFO."""
        for line in self.ask("INFO", "everything").splitlines():
            if line.startswith(name + ":"):
                return int(line.partition(":")[2])
        raise KeyError(name)

    def alive_for(self, seconds):
        """Waits that long. Returns whether it was still alive at the end."""
        try:
            self._process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True

    @property
    def dying(self):
        return self._dying.is_set()

    def shoot(self):
        """Sends SIGKILL without waiting. Any thread may call it."""
        self._dying.set()
        self._process.kill()

    def bury(self):
        code = self._process.wait(FAILURE_SECONDS)
        if code != -signal.SIGKILL:
            raise ServerFailure(f"redis-server ended by itself: {code}\n{self.log()}")

    def aof(self):
        """The append-only file that it writes, while no rewrite is in progress."""
        path, = self.path.glob("appendonlydir/*.incr.aof")
        return path

    def lose_all_behind(self, size):
        """Acts as if its machine had died with only the first `size` bytes on disk."""
        self.shoot()
        self.bury()
        with open(self.aof(), "r+b") as file:
            file.truncate(size)
        self.start()

    def freeze(self):
        """Stops it by SIGSTOP; the server does not notice."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def close(self, keep=False):
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if not keep:
            shutil.rmtree(self.path)
