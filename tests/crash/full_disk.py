"""Lives of a store on a full disk. Pushes fill the disk, or a foreign file does while the head
segment is open. Then the store is used and killed while the disk is full, and later has room again.
"""

import time

from disk import SmallDisk
from history import FOREVER, NO_SPACE, TOKEN, Push, Settle, now_ms
from load import QUEUES
from rounds import Failure, Life
from server import FAILURE_SECONDS, Server, run
from tolerant import Cramped, Refused, ResignedCramped

# So many that our own bookkeeping can take them; a foreign file takes the rest of the disk.
MOST_PUSHED = 5000
STORE_BYTES = (6 << 20, 40 << 20)
TINY = 8
LARGE = 20_000
SETTLES_A_REQUEST = 500


class FullDiskLife(Life):
    def __init__(self, plan, number, rng):
        self.disk = SmallDisk(parent=plan.parent)
        try:
            super().__init__(plan, number, rng)
        except BaseException:
            self.disk.close()
            raise
        self.most_pending = MOST_PUSHED + 1000
        self._foreign = rng.random() < 0.5  # whether a foreign file takes the last room
        self._payload = rng.choice((TINY, 100, 700, 3000, 20_000, 150_000))
        self._token = 10_000_000  # tokens that no producer uses
        self._client_now = None
        plan.say(f"{self.disk.kind}, {self.shards} shards, segments "
                 f"{self._segment or 'by the disk'}, payloads of {self._payload} bytes, filled by "
                 f"{'a foreign file' if self._foreign else 'pushes'}")

    def _server(self):
        r = self._random
        self._segment = r.choice(("", "64KiB", "256KiB", "1MiB", "4MiB"))
        segment = f"&segment={self._segment}" if self._segment else ""
        return Server(f"shards={self.shards}&sync={self._plan.sync}{segment}", self._plan.parent,
                      self.disk.path)

    def _client(self):
        return Cramped(self.server, self.history)

    def _load_client(self):
        return ResignedCramped(self.server, self.history)

    def close(self, keep):
        super().close(keep)
        self.disk.close(keep)

    def live(self, rounds):
        self.begin()
        self.figures[f"stores on {self.disk.kind}"] += 1
        self.history.cramped = (now_ms(), FOREVER)
        self.fill()
        self.hold_everything()
        for number in range(rounds):
            self.squeeze()
            self.round(number)  # a kill under load, and a start while the disk is still full
            if self._random.random() < 0.5:
                self.hold_everything()
        self.make_room()
        self.history.cramped = (self.history.cramped[0], now_ms())
        self.round(rounds)
        self.drain()
        self.audit()

    # -- filling

    def _push(self, client, count, payload):
        """Pushes messages. Returns how many were accepted."""
        r = self._random
        pushes = []
        for _ in range(count):
            self._token += 1
            text = f"{self._token}:".encode()
            pushes.append(Push(0, queue=r.choice(QUEUES), key=f"f{self._token}", token=self._token,
                               headers=((TOKEN, str(self._token).encode()),),
                               payload=text + b"x" * payload,
                               delay=r.choice((0, 0, 0, 1500, 3_600_000))))
        accepted = 0
        for queue in QUEUES:
            mine = [push for push in pushes if push.queue == queue]
            if not mine:
                continue
            try:
                client.push(queue, mine, single=count == 1)
            except Refused:
                continue
            accepted += sum(1 for push in mine if push.outcome == "pushed")
        self.figures["pushed on the way to a full disk"] += accepted
        return accepted

    def fill(self):
        r = self._random
        low, high = STORE_BYTES
        wanted = (self._payload + 150) * MOST_PUSHED * 3 // 4
        store = r.randrange(low, max(low + 1, min(high, wanted + low)))
        client = self._client()
        if not self._foreign:
            self.disk.fill(leave=store)
        else:
            batch = max(1, min(100, 400_000 // self._payload))
            for _ in range(r.randrange(1, max(2, MOST_PUSHED // batch // 2))):
                if self._push(client, batch, self._payload) < batch:
                    break
            self.disk.fill()
        self._push_until_full(client)
        client.close()

    def _push_until_full(self, client):
        """Pushes until even a tiny message is refused three times in a row."""
        refused = 0
        batch = max(1, min(100, 400_000 // self._payload))
        for _ in range(2 * MOST_PUSHED):
            accepted = self._push(client, batch, self._payload)
            if accepted < batch:
                accepted += self._push(client, 1, self._payload)
            if accepted == 0:
                accepted += self._push(client, 1, TINY)
            refused = refused + 1 if accepted == 0 else 0
            if refused == 3:
                self.figures["times filled"] += 1
                return
        raise Failure("the disk never filled")

    def squeeze(self):
        """Fills the disk again with what the round before has freed."""
        if self._foreign:
            self.disk.fill()
        client = self._client()
        self._push_until_full(client)
        client.close()

    # -- while it is full

    def _claim(self, client, max_, lease, wait=0):
        """Claims. A claim may be refused while cleaning makes room for it, but not for long."""
        deadline = time.monotonic() + FAILURE_SECONDS / 4
        tries = 0
        while True:
            try:
                return client.claim(QUEUES, max_, lease, wait)
            except Refused as error:
                tries += 1
                self._tried("claim", tries, error, deadline)
                client.figures()  # gives the shards a turn

    def _tried(self, what, tries, error, deadline):
        self.figures[f"{what}s refused at first"] += tries == 1
        most = f"tries of a {what}, at most"
        self.figures[most] = max(self.figures[most], tries + 1)
        if time.monotonic() > deadline:
            raise Failure(f"on a full disk a {what} is refused for ever, {tries} times: {error}")

    def _settle(self, client, receipts, action):
        left = receipts
        deadline = time.monotonic() + FAILURE_SECONDS / 4
        tries = 0
        while left:
            refused = []
            for start in range(0, len(left), SETTLES_A_REQUEST):
                settles = [Settle(0, receipt=receipt, action=action,
                                  delay=0 if action == "retry" else None)
                           for receipt in left[start:start + SETTLES_A_REQUEST]]
                try:
                    client.settle(settles)
                except Refused:
                    pass
                refused += [s.receipt for s in settles if s.outcome == NO_SPACE]
            left = refused
            if left:
                tries += 1
                self._tried(action, tries, f"{len(left)} are left", deadline)
                client.figures()

    def hold_everything(self):
        """Claims and holds everything that is due. Then some messages are given up again, and some
        are ended."""
        r = self._random
        client = self._client()
        for _ in range(r.choice((1, 2, 4)) if self._payload < LARGE else 1):
            held = []
            while True:
                deliveries = self._claim(client, r.choice((1, 50, 500, 5000)), 60_000)
                held += [delivery.receipt for delivery in deliveries]
                if not deliveries:
                    break
            self.figures["claimed while full"] += len(held)
            ready = sum(queue["ready"] for queue in client.figures().values())
            if not held and ready:
                raise Failure(f"{ready} messages are ready, and a claim finds none of them")
            share = r.random() * 0.2
            acked = [receipt for receipt in held if r.random() < share]
            ended = set(acked)
            self._settle(client, acked, "ack")
            for action in ("release", "retry"):
                some = [receipt for receipt in held if receipt not in ended
                        and (action == "retry" or r.random() < 0.8)]
                ended.update(some)
                self._settle(client, some, action)
        keys = [push.key for push in self.history.pushes
                if push.queue == QUEUES[0] and push.outcome == "pushed" and push.key]
        client.cancel(QUEUES[0], r.sample(keys, min(len(keys), 20)))
        client.close()

    def _consume(self, client, deadline):
        """While the disk is full, a claim may be refused here too, but not for long."""
        first = True
        while time.monotonic() < deadline:
            deliveries = self._claim(client, 500, 30_000, 100)
            if not deliveries:
                return first
            first = False
            self._settle(client, [delivery.receipt for delivery in deliveries], "ack")
        return False

    # -- after that

    def make_room(self):
        """Removes the foreign file, or ends messages; then pushes are accepted again."""
        client = self._client()
        if self._foreign or self._random.random() < 0.5:
            self.disk.free()
        else:
            self._consume(client, time.monotonic() + FAILURE_SECONDS)
        deadline = time.monotonic() + FAILURE_SECONDS / 4
        tries = 1
        while self._push(client, 1, 1000) == 0:
            if time.monotonic() > deadline:
                raise Failure(f"there is room again, {self.disk.left()} bytes of it, and pushes "
                              f"are still refused")
            tries += 1
            client.figures()
        most = "pushes until one was accepted again, at most"
        self.figures[most] = max(self.figures[most], tries)
        client.close()

    def audit(self):
        code, said = run("store", "audit", "--store", self.server.store)
        if code != 0:
            raise Failure(f"store audit: {code}\n{said}")
