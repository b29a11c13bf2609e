"""`tarry serve` as tests kill it, or stop it for a while."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

PROGRAM = os.environ.get("TARRY_PROGRAM", "")
FAILURE_SECONDS = 60  # a limit for waits that are long only after a failure


def environment():
    """Our environment without variables that would lead a test to a user's store."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TARRY_")}


def run(*words):
    """Runs the program. Returns its exit code and its whole output."""
    finished = subprocess.run([PROGRAM, *words], capture_output=True, timeout=FAILURE_SECONDS,
                              env=environment(), check=False)
    return finished.returncode, (finished.stdout + finished.stderr).decode("utf-8", "replace")


class ServerFailure(Exception):
    """The server did something that is never allowed, such as refusing to start after a kill."""


class Daemon:
    """Runs one process after the other, which serves the store with that URL."""

    def __init__(self, url, parent=None, words=()):
        self.path = Path(tempfile.mkdtemp(prefix="tarry-crash-", dir=parent))
        self._words = words
        self._url = url
        self._log = open(self.path / "log", "w+b")
        self._process = None
        self._dying = threading.Event()
        self.port = None
        self.starts = 0

    def log(self, most=20_000):
        """The end of the standard error of its processes."""
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - most))
        return self._log.read().decode("utf-8", "replace")

    def _spawn(self):
        port_file = self.path / "port"
        port_file.unlink(missing_ok=True)
        self._dying.clear()
        self._log.seek(0, os.SEEK_END)
        self._log.write(f"-- start {self.starts}\n".encode())
        self._log.flush()
        self.starts += 1
        self._process = subprocess.Popen(
            [PROGRAM, "serve", "--store", self._url, "--listen", "127.0.0.1:0",
             "--port-file", str(port_file), *self._words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, env=environment())
        return port_file

    def start(self):
        """Starts it, and waits until it is ready."""
        port_file = self._spawn()
        watchdog = threading.Timer(FAILURE_SECONDS, self._process.kill)
        watchdog.start()
        ready = self._process.stdout.readline()
        watchdog.cancel()
        if not ready:
            code = self._process.wait()
            raise ServerFailure(f"the server did not start: {code}\n{self.log()}")
        self.port = int(port_file.read_text().split()[0])

    def start_and_kill(self, seconds):
        """Starts it, and kills it that many seconds after its start."""
        self._spawn()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return
        raise ServerFailure(f"the server did not start: {self._process.returncode}\n{self.log()}")

    @property
    def dying(self):
        """Whether it was killed, or will be at once."""
        return self._dying.is_set()

    def shoot(self):
        """Sends SIGKILL without waiting. Any thread may call it."""
        self._dying.set()
        self._process.kill()

    def alive_for(self, seconds):
        """Waits that long. Returns whether it was still alive at the end."""
        try:
            self._process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True

    def bury(self):
        """Waits for the end of a process that was killed."""
        code = self._process.wait(FAILURE_SECONDS)
        self._process.stdout.close()
        if code != -signal.SIGKILL:
            raise ServerFailure(f"the server ended by itself: {code}\n{self.log()}")

    def kill(self):
        self.shoot()
        self.bury()

    def freeze(self):
        """Stops it by SIGSTOP; the process does not notice."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def stop(self):
        """Sends SIGTERM; it must then end cleanly."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(FAILURE_SECONDS)
        self._process.stdout.close()
        if code != 0:
            raise ServerFailure(f"the server ended with {code} after SIGTERM\n{self.log()}")

    def close(self, keep=False):
        """Ends a process that still runs, and removes the directory."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
        self._log.close()
        if not keep:
            shutil.rmtree(self.path)


class Server(Daemon):
    """A daemon with its own file store."""

    def __init__(self, options="", parent=None, disk=None, words=()):
        super().__init__(None, parent, words)
        self.directory = Path(disk or self.path, "store")
        self.store = f"file:{self.directory}"
        self._url = self.store + (f"?{options}" if options else "")
