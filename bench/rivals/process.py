"""Processes that serve a queue: started, asked whether they answer, killed with all their children,
and looked at: processor time and memory of the whole tree."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from children import die_with_parent  # noqa: E402  pylint: disable=wrong-import-position

TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS = 120
POLL_SECONDS = 0.002


class Failure(Exception):
    """A server or a client did not do what it had to."""


def _fields(pid):
    """What /proc/PID/stat says after the name, which may hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def tree(root):
    """The process and all below it. A server's children may have sessions of their own."""
    children = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            children.setdefault(int(_fields(folder.name)[1]), []).append(int(folder.name))
        except (OSError, IndexError):
            pass  # it has ended
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def runs(pid):
    """False if it has ended, also while nobody has asked for its exit code."""
    try:
        return _fields(pid)[0] not in "ZX"
    except (OSError, IndexError):
        return False


def _sum(pids, of):
    total = 0
    for pid in pids:
        try:
            total += of(pid)
        except (OSError, IndexError):
            pass  # it has ended
    return total


def _ticks(pid):
    # Its own, and those of children that have ended: a server's helper may end between two looks.
    return sum(map(int, _fields(pid)[11:15]))


def _memory(pid):
    """Pss_Anon and Pss_Shmem: what it has for itself. The page cache's pages do not count."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines
               if line.startswith(("Pss_Anon:", "Pss_Shmem:")))


def processor_seconds(roots):
    return sum(_sum(tree(root), _ticks) for root in roots) / TICKS


def memory_bytes(roots):
    return sum(_sum(tree(root), _memory) for root in roots)


class Process:
    """One server. `answers` says whether it serves."""

    def __init__(self, words, log, answers, user=None):
        self._words = [str(word) for word in words]
        self._log = log
        self._answers = answers
        self._user = user if os.getuid() == 0 else None
        self._process = None

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        """Returns once it serves."""
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                user=self._user, group=self._user, extra_groups=[] if self._user else None,
                preexec_fn=die_with_parent)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                told = Path(self._log).read_text("utf-8", "replace")[-1000:]
                raise Failure(f"{self._words[0]} does not start: {told}")
            time.sleep(POLL_SECONDS)

    def kill(self):
        """SIGKILL to the whole tree, and waits until all of it is gone."""
        if self._process is None:
            return
        all_of_it = tree(self.pid) if self._process.poll() is None else []
        for pid in all_of_it:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        self._process = None
        while any(map(runs, all_of_it)):
            time.sleep(POLL_SECONDS)
