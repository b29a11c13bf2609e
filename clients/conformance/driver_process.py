"""A driver's process: requests to it, its answers, its events. A pool of such processes."""

import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time

from dialect import Dialect, answer

WAIT = 60  # seconds for an answer or an event; a case that takes so long has failed


class DriverGone(Exception):
    """The driver ended, or did not answer."""


class Driver:
    """Thread safety: one thread asks; another, its own, reads."""

    def __init__(self, command, shown=None):
        self.shown = shown
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, start_new_session=True)
        self._news = threading.Condition()
        self._dialect = None
        self._asked = {}
        self._answers = {}
        self._events = []
        self._over = False
        self._last = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, *steps):
        """Sends the requests of steps, each an op and its fields, at once; returns their ids."""
        dialect = self._wait(lambda: self._dialect, "no greeting")
        lines = []
        for op, fields in steps:
            self._last += 1
            request = dialect.request(op, fields or {})
            self._asked[self._last] = request["op"], fields or {}
            lines.append(json.dumps({"id": self._last, **request}))
            self._show("->", lines[-1])
        try:
            # One write: otherwise the driver may have answered the first before it reads the next.
            self._process.stdin.write("".join(line + "\n" for line in lines).encode())
            self._process.stdin.flush()
        except OSError as error:
            raise DriverGone(f"the driver has ended: {self.errors()}") from error
        return list(range(self._last - len(lines) + 1, self._last + 1))

    def answer(self, number):
        """Waits for the answer to that request; as the table has it."""
        said = self._wait(lambda: self._answers.pop(number, None), f"no answer to {number}")
        return answer(*self._asked.pop(number), said)

    def event(self, matches, what):
        """Waits for an event that matches, and takes it out."""
        return self._wait(lambda: self._take(matches), f"no event {what}")

    def has_event(self, matches):
        with self._news:
            return self._take(matches) is not None

    def _take(self, matches):
        for index, event in enumerate(self._events):
            if matches(event):
                return self._events.pop(index)
        return None

    def _wait(self, look, what):
        deadline = time.monotonic() + WAIT
        with self._news:
            while True:
                found = look()
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if self._over:
                    raise DriverGone(f"{what}: the driver has ended: {self.errors()}")
                if left <= 0:
                    raise DriverGone(f"{what} within {WAIT} s: {self.errors()}")
                self._news.wait(left)

    def _read(self):
        for line in self._process.stdout:
            self._show("<-", line.decode("utf-8", "replace").rstrip())
            try:
                said = json.loads(line)
            except ValueError:
                said = {"event": "garbage", "line": repr(line)}
            with self._news:
                if "event" in said:
                    self._events.append(said)
                elif "names" in said:
                    self._dialect = Dialect(said)
                else:
                    self._answers[said.pop("id", None)] = said
                self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()

    def _show(self, arrow, line):
        if self.shown:
            self.shown(f"  {arrow} {line[:2000]}")

    def signal(self, name):
        """halt or go_on, for the driver and all its children."""
        os.killpg(self._process.pid, {"halt": signal.SIGSTOP, "go_on": signal.SIGCONT}[name])

    def forget(self):
        """Forgets what nobody has asked for: the next case begins."""
        with self._news:
            self._asked.clear()
            self._answers.clear()
            self._events.clear()

    def errors(self):
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")[-4000:]

    def stop(self):
        try:
            os.killpg(self._process.pid, signal.SIGCONT)
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._reader.join()
        self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()


class Drivers:
    """Drivers that cases use one after the other: to start one costs more than most cases. Thread
    safe."""

    def __init__(self, command):
        self._command = command
        self._lock = threading.Lock()
        self._idle = []

    def take(self, shown):
        """One that is idle, or a new one. `shown` is given each line that is exchanged."""
        with self._lock:
            driver = self._idle.pop() if self._idle else None
        if driver is None:
            return Driver(self._command, shown)
        driver.shown = shown
        return driver

    def give_back(self, driver):
        """The driver has no client and no worker any more."""
        driver.forget()
        with self._lock:
            self._idle.append(driver)

    def close(self):
        for driver in self._idle:
            driver.stop()
