"""Lives of a store in a Redis that has reached its maxmemory: first under load, then with a single
client.
"""

from client import WrongAnswer
from history import NO_SPACE, TOKEN, Claim, Extend, Push, Settle
from load import QUEUES, QUIET_MS
from redis_life import RedisLife
from rounds import Failure
from tolerant import Cramped, Refused, Resigned

SQUEEZES = 8
TOO_LITTLE = "1mb"  # less memory than an empty server uses
HELD = 30
LEASE_MS = 60_000


class FullRedis(Cramped):
    """With this client, a refused claim is wrong at once."""

    said = "is full (maxmemory)"

    def _check(self, code, text, operation):
        super()._check(code, text, operation)
        if isinstance(operation, Claim):
            raise WrongAnswer(f"a claim is refused while Redis is full: {operation} {text}")


class ResignedFullRedis(Resigned, FullRedis):
    pass


class RedisFullLife(RedisLife):
    def __init__(self, plan, number, rng):
        super().__init__(plan, number, rng)
        self._token = 10_000_000  # tokens that no producer uses

    def _client_of(self, daemon):
        return FullRedis(daemon, self.history)

    def _load_client(self):
        return ResignedFullRedis(self._daemon(), self.history)

    def _limit(self, memory):
        self.redis.ask("CONFIG", "SET", "maxmemory", memory)

    def round(self, number):
        clients, threads = self._load(lambda: None)
        for _ in range(SQUEEZES):
            trigger = self._trigger(self._random.randrange(20, 150))
            for client in clients:
                client.on_event = trigger.event
            self._wait_for(trigger)
            if self._errors:
                break
            self._limit(self.redis.info("used_memory"))
            self.figures["squeezes"] += 1
        self._limit(0)
        self._end_load(clients, threads)
        self._look(f"after squeezes {number}")
        self.alone()
        self._look(f"after it was full {number}")

    # -- with a single client

    def _messages(self, count, delay):
        r = self._random
        pushes = []
        for _ in range(count):
            self._token += 1
            text = str(self._token).encode()
            pushes.append(Push(0, queue=QUEUES[0], key=r.choice(("", f"f{self._token}")),
                               token=self._token, headers=((TOKEN, text),), payload=text,
                               delay=delay, priority=r.choice((1024, 1024, 7, 4096))))
        return pushes

    def _refused(self, client, pushes, single=False):
        try:
            client.push(QUEUES[0], pushes, single)
        except Refused:
            pass
        if any(push.outcome != NO_SPACE for push in pushes):
            raise Failure(f"accepted by a Redis that is full: {pushes}")

    def alone(self):
        client = self._client()
        due, later, far = (self._messages(HELD, delay) for delay in (0, 60, QUIET_MS))
        for pushes in (due, later, far):
            client.push(QUEUES[0], pushes)
        held = list(client.claim(QUEUES, HELD // 2, LEASE_MS))
        self._limit(TOO_LITTLE)
        self._refused(client, self._messages(1, 0), single=True)
        self._refused(client, self._messages(20, 1000))
        held += self._claim_all(client)
        receipts = [delivery.receipt for delivery in held]
        self._random.shuffle(receipts)
        client.extend([Extend(0, receipt=receipt, lease=LEASE_MS) for receipt in receipts[::3]])
        actions = ("ack", "ack", "retry", "release", "bury")
        settles = [Settle(0, receipt=receipt, action=actions[i % len(actions)])
                   for i, receipt in enumerate(receipts)]
        for settle in settles:
            settle.delay = 50 if settle.action == "retry" else None
        client.settle(settles)
        refused = [settle for settle in settles if settle.outcome != "done"]
        if refused:
            raise Failure(f"refused while Redis is full: {refused}")
        self.figures["settled while full"] += len(settles)
        client.settle([Settle(0, receipt=delivery.receipt) for delivery in self._claim_all(client)])
        cancels = client.cancel(QUEUES[0], [push.key or push.generated_key for push in far[::2]])
        if any(cancel.outcome != "cancelled" for cancel in cancels):
            raise Failure(f"not cancelled while Redis is full: {cancels}")
        self._limit(0)
        again = self._messages(1, 0) + self._messages(1, 1000)
        client.push(QUEUES[0], again)
        if any(push.outcome != "pushed" for push in again):
            raise Failure(f"there is room again, and it is not pushed: {again}")
        client.close()

    def _claim_all(self, client):
        """Claims the due messages, and those that fall due while the claim waits; then there must
        be none."""
        held = []
        while True:
            deliveries = client.claim(QUEUES, HELD, LEASE_MS, 100)
            held += deliveries
            if not deliveries:
                self.figures["claimed while full"] += len(held)
                return held
