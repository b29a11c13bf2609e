"""A test's own master, replica and three sentinels, on free ports of 127.0.0.1."""

import shutil
import tempfile
import threading
import time
from collections import namedtuple
from pathlib import Path

from history import now_ms
from ports import free_port
from redis_server import RedisServer, Refusal
from server import FAILURE_SECONDS, ServerFailure

NAME = "orders"  # the sentinels' name for the master
SENTINELS = 3
DOWN_MS = 500
# While a master is down, a sentinel asks its replica once a second. An answer must stay valid for
# longer than that, which means for five ping periods (or three info periods). And other sentinels
# must leave a promoted replica alone for as long, which means for four publish periods.
QUICK = ("info-period", 400, "ping-period", 300, "ask-period", 100, "publish-period", 500)
WATCH = f"""\
sentinel monitor {NAME} 127.0.0.1 {{port}} {SENTINELS // 2 + 1}
sentinel down-after-milliseconds {NAME} {DOWN_MS}
sentinel failover-timeout {NAME} 3000
"""
SAMPLE_SECONDS = 0.001
ASK_AGAIN_SECONDS = 0.5

# One observation of the master: it had written `written` bytes of its history to its `replicas`.
# Requests after `high` are not in these bytes; all requests that were answered before `low` are.
Sample = namedtuple("Sample", "low high written replicas")


class Member(RedisServer):
    def __init__(self, parent, *words):
        self.port = free_port()
        super().__init__("--port", self.port, "--bind", "127.0.0.1",
                         "--repl-diskless-sync-delay", "0", *words, parent=parent)

    def follow(self, other):
        return self.ask("REPLICAOF", "127.0.0.1", other.port) == "OK"

    def replication(self):
        """The fields of INFO replication, by name."""
        lines = (line.partition(":") for line in self.ask("INFO", "replication").splitlines())
        return {name: value for name, colon, value in lines if colon}

    def written(self):
        """The length of its history, in bytes."""
        return int(self.replication()["master_repl_offset"])


class Sentinel(RedisServer):
    def __init__(self, parent, master):
        self.port = free_port()
        super().__init__("--sentinel", "--port", self.port, "--bind", "127.0.0.1", parent=parent)
        config = self.path / "sentinel.conf"
        config.write_text(WATCH.format(port=master.port))
        self._config = (config,)

    def start(self):
        super().start()
        self.ask("SENTINEL", "DEBUG", *QUICK)

    def master(self):
        return int(self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def knows(self, others):
        """Whether it knows all other sentinels, and the replica."""
        return f"status=ok,address=127.0.0.1:{self.master()},slaves=1,sentinels={others}" in \
            self.ask("INFO", "sentinel")


class MasterWatcher:
    """Records again and again how long a master's history is, until it is stopped or the master is
    gone."""

    def __init__(self, master):
        self._master = master
        self.samples = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._end.wait(SAMPLE_SECONDS):
            low = now_ms()
            try:
                said = self._master.replication()
            except (OSError, Refusal):
                return
            self.samples.append(Sample(low, now_ms(), int(said["master_repl_offset"]),
                                       int(said["connected_slaves"])))

    def stop(self):
        self._end.set()
        self._thread.join()
        return self.samples


class Family:
    """The actions of a life on its Redis, and the events that can happen to it."""

    torn = 0

    def __init__(self, *words, parent=None):
        self.path = Path(tempfile.mkdtemp(prefix="tarry-family-", dir=parent))
        self.master, self.replica = (Member(self.path, *words) for _ in range(2))
        self.sentinels = [Sentinel(self.path, self.master) for _ in range(SENTINELS)]

    @property
    def url(self):
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/0?master={NAME}"

    def start(self):
        self.master.start()
        self.replica.start()
        self.follow()
        for sentinel in self.sentinels:
            sentinel.start()
        self.settle()

    def follow(self):
        """Makes the replica follow the master."""
        self.until("the replica to be one", lambda: self.replica.follow(self.master))

    def settle(self):
        """Waits until the replica has everything, and until all sentinels know each other and both
        servers."""
        self.until("the replica to follow", lambda: (
            self.replica.replication().get("master_link_status") == "up"))
        # A replica that has just got its copy counts as good. But the master sends it later changes
        # only after it has reported its position for the first time.
        self.until("the master to say more", lambda: (
            self.master.ask("PUBLISH", "settle", "") >= 0))
        written = []
        self.until("how far it is", lambda: written.append(self.master.written()) or True)
        self.until("the replica to have all", lambda: self.replica.written() >= written[0])
        for sentinel in self.sentinels:
            self.until("the sentinels to know all", lambda s=sentinel: (
                s.master() == self.master.port and s.knows(SENTINELS)))

    def until(self, what, true):
        """Waits until the condition is true. Sentinels cut a server's connections when they change
        its role; then it asks again."""
        deadline = time.monotonic() + FAILURE_SECONDS

        def is_so():
            try:
                return true()
            except OSError:
                return False

        while not is_so():
            if time.monotonic() > deadline:
                raise ServerFailure(f"waited for {what}\n{self.log()}")
            self.alive_for(0.005)

    def alive_for(self, seconds):
        lives = [self.sentinels[0].alive_for(seconds)]
        lives += [server.alive_for(0) for server in (self.master, self.replica)]
        return all(lives)

    def guard(self, replicas):
        """The master refuses writes while it has fewer replicas."""
        for server in (self.master, self.replica):
            self.until("the settings to be taken", lambda s=server: (
                s.ask("CONFIG", "SET", "min-replicas-to-write", replicas) == "OK"))

    def log(self):
        return "\n".join(server.log(2000) for server in
                         (self.master, self.replica, *self.sentinels))

    def close(self, keep=False):
        for server in (self.master, self.replica, *self.sentinels):
            server.close(keep)
        if not keep:
            shutil.rmtree(self.path)

    # -- events

    def cut_off_replica(self):
        """Freezes the replica, so that later changes of the master reach nobody."""
        self.replica.freeze()
        self.master.ask("CLIENT", "KILL", "TYPE", "replica")

    def kill_master(self):
        self.master.shoot()
        self.master.bury()

    def ask_for_failover(self, until):
        """Asks again and again, because a sentinel may give up a failover."""
        asked = 0

        def done():
            nonlocal asked
            if until():
                return True
            if time.monotonic() > asked + ASK_AGAIN_SECONDS:
                asked = time.monotonic()
                try:
                    self.sentinels[0].ask("SENTINEL", "FAILOVER", NAME)
                except Refusal:  # a failover is in progress, or no replica is fit for it yet
                    pass
            return False

        self.until("the failover that was asked for", done)

    def promoted(self):
        """Waits for the promotion. Returns how much of the old master's history the new one has."""
        said = {}

        def promoted():
            said.update(self.replica.replication())
            return said["role"] == "master"

        self.until("the replica to be the master", promoted)
        self.master, self.replica = self.replica, self.master
        return int(said["second_repl_offset"]) - 1

    def agreed(self):
        """Waits until all sentinels name the new master."""
        for sentinel in self.sentinels:
            self.until("the sentinels to agree",
                       lambda s=sentinel: s.master() == self.master.port)

    def old_master_is_replica(self):
        """Waits until the sentinels have made the old master a replica; then it has no clients."""
        self.until("the old master to follow",
                   lambda: self.replica.replication()["role"] == "slave")
