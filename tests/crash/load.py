"""Random clients, which use every verb of a store: producers and consumers.

Only the producer that made a key pushes, cancels and moves its message, one request after the
other. Consumers claim messages of all producers. Their knowledge of the store survives a crash of
the store.
"""

import random

from client import Lost
from history import TOKEN, Extend, Push, Reschedule, Settle, now_ms

QUEUES = ("orders", "mail")
QUIET_MS = 3_600_000  # delay of messages that do not fall due in any round
MOST_KEYS = 200
RULES = ("reject", "reject", "keep", "replace", "earlier", "later")


class Producer:
    def __init__(self, name, seed, history, tokens):
        self.name = name
        self.history = history
        self._random = random.Random(seed)
        self._tokens = tokens
        self._made = 0
        self._keys = []  # (queue, key), the newest last
        self._doubtful = []  # pushes without an answer
        self._room = 0

    def work(self, client, room):
        """Works until the server is lost. Pushes at most `room` new messages."""
        self._room = room
        try:
            self._ask_again(client)
            while True:
                self._step(client)
        except Lost:
            pass

    def _step(self, client):
        dice = self._random.random()
        if (dice < 0.50 and self._room > 0) or not self._keys:
            # A step must send something, otherwise a lost server is not noticed.
            self._push_new(client)
        elif dice < 0.60:
            self._push_again(client)
        elif dice < 0.80:
            self._cancel(client)
        else:
            self._reschedule(client)

    # -- push

    def _message(self, queue, key, rule="reject"):
        r = self._random
        token = next(self._tokens)
        headers = [(TOKEN, str(token).encode())]
        if r.random() < 0.3:
            headers.append(("kind", r.choice((b"plain", b"\xff\x00\x80", "ü€".encode()))))
        push = Push(0, queue=queue, key=key, token=token, rule=rule, headers=tuple(headers),
                    payload=self._payload(token))
        if r.random() < 0.2:
            push.priority = r.choice((0, 1, 4096))
        self._time(push)
        return push

    def _payload(self, token):
        r = self._random
        head = f"{token}:".encode()
        dice = r.random()
        if dice < 0.003:
            return head + r.randbytes(300_000)  # larger than a segment
        if dice < 0.15:
            return head + r.randbytes(r.randrange(2000))
        return head + b"x" * r.choice((0, 10, 100, 700, 3000))

    def _time(self, operation):
        r = self._random
        dice = r.random()
        delay = 0 if dice < 0.2 else QUIET_MS if dice < 0.26 else r.randrange(2000)
        if r.random() < 0.5:
            operation.delay = delay
        else:
            operation.due = int(now_ms()) + delay - (r.randrange(50) if delay == 0 else 0)

    def _new_key(self):
        if self._random.random() < 0.2:
            return ""
        self._made += 1
        tail = self._random.choice(("", "", "-ü", "-" + "k" * 200))
        return f"{self.name}-{self._made}{tail}"

    def _queue(self):
        return QUEUES[0] if self._random.random() < 0.75 else QUEUES[1]

    def _send(self, client, pushes, single=False):
        try:
            client.push(pushes[0].queue, pushes, single)
        except Lost:
            self._doubtful.extend(push for push in pushes if push.key)
            raise
        self._doubtful.extend(push for push in pushes if push.key and not push.known)
        self._keys.extend((push.queue, push.key or push.generated_key) for push in pushes
                          if push.outcome == "pushed")
        del self._keys[:-MOST_KEYS]

    def _push_new(self, client):
        queue = self._queue()
        count = self._random.choice((1, 1, 1, 5, 20))
        self._room -= count
        pushes = [self._message(queue, self._new_key()) for _ in range(count)]
        self._send(client, pushes, single=count == 1 and self._random.random() < 0.5)

    def _push_again(self, client):
        """Pushes a key that was used before: the outcome depends on the message that has it."""
        picked = self._pick(1)
        if picked:
            queue, key = picked[0]
            self._send(client, [self._message(queue, key, self._random.choice(RULES))], True)

    def _ask_again(self, client):
        """After a crash: pushes again, and the answer says whether the earlier push was
        accepted."""
        while self._doubtful:
            queue = self._doubtful[-1].queue
            again = [push for push in self._doubtful if push.queue == queue]
            self._doubtful = [push for push in self._doubtful if push.queue != queue]
            self._send(client, [self._message(queue, push.key) for push in again])

    # -- keys

    def _pick(self, count):
        """Different keys of one queue."""
        if not self._keys:
            return []
        queue, _ = self._random.choice(self._keys)
        mine = list({key: None for key in self._keys[-MOST_KEYS:] if key[0] == queue})
        return self._random.sample(mine, min(count, len(mine)))

    def _cancel(self, client):
        picked = self._pick(self._random.choice((1, 1, 3)))
        if picked:
            client.cancel(picked[0][0], [key for _, key in picked])

    def _reschedule(self, client):
        picked = self._pick(self._random.choice((1, 1, 5)))
        if not picked:
            return
        moves = [Reschedule(0, queue=queue, key=key) for queue, key in picked]
        for move in moves:
            self._time(move)
        client.reschedule(moves)


class Consumer:
    def __init__(self, seed):
        self._random = random.Random(seed)
        self._kept = []  # (the time from which it may be used, receipt)

    def work(self, client):
        """Works until the server is lost."""
        try:
            while True:
                self._step(client)
        except Lost:
            pass

    def _step(self, client):
        r = self._random
        queues = r.choice((QUEUES, QUEUES[:1], QUEUES[1:], QUEUES[:1]))
        lease = r.randrange(60, 700)
        if r.random() < 0.02:
            client.claim_and_hang_up(queues, r.randrange(1, 5), lease, r.randrange(20))
            return
        deliveries = client.claim(queues, r.choice((1, 3, 20, 50)), lease,
                                  0 if r.random() < 0.3 else r.randrange(1, 100))
        receipts = [delivery.receipt for delivery in deliveries]
        extends = [Extend(0, receipt=receipt, lease=r.randrange(100, 700))
                   for receipt in receipts if r.random() < 0.05]
        if extends:
            client.extend(extends)
        settles = []
        for receipt in receipts:
            settles.extend(self._settle(receipt))
        settles.extend(self._kept_for_now())
        r.shuffle(settles)
        while settles:
            count = r.choice((1, 5, 50))
            client.settle(settles[:count])
            del settles[:count]

    def _settle(self, receipt):
        r = self._random
        dice = r.random()
        if dice < 0.70:
            times = 1 if r.random() < 0.97 else 2
            return [Settle(0, receipt=receipt) for _ in range(times)]
        if dice < 0.78:
            return [Settle(0, receipt=receipt, action="retry", delay=r.choice((0, 100, 1000)))]
        if dice < 0.84:
            return [Settle(0, receipt=receipt, action="release")]
        if dice < 0.87:
            return [Settle(0, receipt=receipt, action="bury")]
        # Its lease may run out, the server may die, or neither happens.
        self._kept.append((now_ms() + r.choice((0, 20, 400, 900)), receipt))
        return []

    def _kept_for_now(self):
        now = now_ms()
        ready = [receipt for since, receipt in self._kept if since <= now]
        self._kept = [kept for kept in self._kept if kept[0] > now]
        return [Settle(0, receipt=receipt, action=self._random.choice(("ack", "ack", "release")))
                for receipt in ready]
