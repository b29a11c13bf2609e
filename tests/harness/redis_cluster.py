"""A test's own Redis cluster: masters, usually with a replica each, on free ports."""

import binascii
import shutil
import tempfile
import time
from pathlib import Path

from history import now_ms
from ports import free_port
from redis_server import RedisServer, Refusal
from server import FAILURE_SECONDS, ServerFailure

SLOTS = 16384
MASTERS = 3
FAILOVER_SECONDS = 6  # Redis itself gives up an attempt after 5
KEYS_AT_ONCE = 3  # so few move at a time that a queue's keys are on both sides for a while


def slot_of(tag):
    return binascii.crc_hqx(tag.encode(), 0) % SLOTS


class Node(RedisServer):
    def __init__(self, parent, *words):
        self.port = free_port()
        self.bus = free_port()
        super().__init__("--port", str(self.port), "--bind", "127.0.0.1", "--cluster-enabled",
                         "yes", "--cluster-port", str(self.bus), "--cluster-node-timeout", "2000",
                         "--repl-diskless-sync-delay", "0", *words, parent=parent)

    def says(self, section, line):
        return line in self.ask(*section.split()).splitlines()


class Cluster:
    """The actions of a life on its Redis cluster, and the events that can happen to it."""

    torn = 0

    def __init__(self, *words, parent=None, replicas=True):
        self.path = Path(tempfile.mkdtemp(prefix="tarry-cluster-", dir=parent))
        # The test decides which replica takes over.
        words = ("--cluster-replica-no-failover", "yes", *words)
        self.nodes = [Node(self.path, *words) for _ in range((1 + replicas) * MASTERS)]
        self.owners = {}  # the owners of slots that were moved, by the slot's number

    @property
    def url(self):
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:MASTERS])
        return f"redis+cluster://{hosts}"

    def start(self):
        for node in self.nodes:
            node.start()
        for number, node in enumerate(self.nodes[:MASTERS]):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            node.ask("CLUSTER", "ADDSLOTSRANGE", *self._range(number))
        for node in self.nodes:
            for other in self.nodes:
                if node is not other:
                    node.ask("CLUSTER", "MEET", "127.0.0.1", other.port, other.bus)
        for node in self.nodes:
            self.until(lambda n=node: n.says("CLUSTER INFO",
                                             f"cluster_known_nodes:{len(self.nodes)}"))
        for number, replica in enumerate(self.nodes[MASTERS:]):
            self.until(lambda r=replica, n=number: self._replicate(r, self.nodes[n]))
            self.until(lambda r=replica: r.says("INFO replication", "master_link_status:up"))
        for node in self.nodes:
            self.until(lambda n=node: n.says("CLUSTER INFO", "cluster_state:ok"))

    @staticmethod
    def _range(number):
        return SLOTS * number // MASTERS, SLOTS * (number + 1) // MASTERS - 1

    @staticmethod
    def _replicate(replica, master):
        try:
            return replica.ask("CLUSTER", "REPLICATE", master.ask("CLUSTER", "MYID")) == "OK"
        except Refusal:
            return False

    def until(self, true):
        deadline = time.monotonic() + FAILURE_SECONDS
        while not true():
            if time.monotonic() > deadline:
                raise ServerFailure("the cluster does not become what it should\n" + self.log())
            self.alive_for(0.005)

    def alive_for(self, seconds):
        lives = [self.nodes[0].alive_for(seconds)]
        lives += [node.alive_for(0) for node in self.nodes[1:]]
        return all(lives)

    def masters(self):
        return [node for node in self.nodes if node.says("INFO replication", "role:master")]

    def log(self):
        return "\n".join(node.log(1000) for node in self.nodes)

    def close(self, keep=False):
        for node in self.nodes:
            node.close(keep)
        if not keep:
            shutil.rmtree(self.path)

    # -- events

    def fail_over(self, rng):
        """Makes a replica the master, by an orderly failover."""
        replica = rng.choice([node for node in self.nodes
                              if node.says("INFO replication", "role:slave")
                              and node.says("INFO replication", "master_link_status:up")])
        asked = 0

        def is_master():
            nonlocal asked
            if replica.says("INFO replication", "role:master"):
                return True
            if time.monotonic() > asked + FAILOVER_SECONDS:
                asked = time.monotonic()
                replica.ask("CLUSTER", "FAILOVER")
            return False

        self.until(is_master)
        self._settle()

    def kill_master(self, rng):
        """Kills a master with SIGKILL; it starts again with the data of its file. Returns when it
        was killed, and when it was dead."""
        node = rng.choice(self.masters())
        killed = now_ms()
        node.shoot()
        node.bury()
        dead = now_ms()
        node.start()
        for each in self.nodes:
            self.until(lambda n=each: n.says("CLUSTER INFO", "cluster_state:ok"))
        self._settle()
        return killed, dead

    def _settle(self):
        """Waits until all nodes agree which node serves which slot, and know the newest epoch. If a
        node takes a slot in an older epoch than that of its last owner, an old message of that
        owner takes the slot back. Then each of the two redirects clients to the other for ever."""
        def agree():
            views = [self._view(node) for node in self.nodes]
            return all(view == views[0] for view in views)
        self.until(agree)

    @staticmethod
    def _view(node):
        epoch, = (line for line in node.ask("CLUSTER", "INFO").splitlines()
                  if line.startswith("cluster_current_epoch:"))
        owners = sorted((first, last, master[2])
                        for first, last, master, *_ in node.ask("CLUSTER", "SLOTS"))
        return epoch, owners

    def move_slot(self, tag, rng, between):
        """Moves a slot to another master, a few keys at a time. `between` runs while the slot
        moves."""
        slot = slot_of(tag)
        source, = (node for node in self.masters() if self._serves(node, slot))
        target = rng.choice([node for node in self.masters() if node is not source])
        to, own = target.ask("CLUSTER", "MYID"), source.ask("CLUSTER", "MYID")
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", own)
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", to)
        between()
        moved = 0
        while True:
            keys = source.ask("CLUSTER", "GETKEYSINSLOT", slot, KEYS_AT_ONCE)
            if not keys:
                break
            self.until(lambda: self._migrate(source, target, keys))
            moved += len(keys)
            between()
        for node in (target, *(n for n in self.masters() if n is not target)):
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", to)
        self._settle()
        return moved

    @staticmethod
    def _migrate(source, target, keys):
        """Moves keys. Keys that an earlier attempt has moved are skipped."""
        try:
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 60000, "KEYS", *keys)
        except Refusal as refused:
            if "CLUSTERDOWN" not in str(refused):  # a node was slow to answer another one
                raise
            return False
        return True

    def _serves(self, node, slot):
        own = node.ask("CLUSTER", "MYID")
        return any(first <= slot <= last and master[2] == own
                   for first, last, master, *_ in node.ask("CLUSTER", "SLOTS"))
