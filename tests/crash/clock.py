"""Rounds with a clock that the test moves. It is advanced, suspended, and stepped forward and back,
while messages with times and with delays are pushed, claimed, settled, moved and cancelled.

Everything happens at a time that is known to the millisecond, so a model says what each answer must
be. There is one exception: the store may take a step of up to a second for none. A delay may then
end up to two seconds too early or too late, by the time that has really passed.
"""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass

from client import Client, Lost, WrongAnswer
from history import TOKEN, Extend, History, Push, Reschedule, Settle
from rounds import Failure, add
from server import FAILURE_SECONDS, Server, ServerFailure, run

QUEUES = ("orders", "mail")
START = (1_577_836_800_000, 3_600_000)  # the time at which `tarry serve --test-clock` starts
HOUR = 3_600_000
SMALL_STEP = 1000  # up to this size, the store may have taken a step for none
LEAVE = 2 * SMALL_STEP
OPERATIONS = 60  # per round
ROUNDS_A_STORE = 10
MANY = 5000


@dataclass
class Message:
    queue: str
    key: str
    due: int  # by the wall clock
    # The BOOTTIME at which its delay has passed; None for a message with a due time.
    passed: int | None
    receipt: str | None = None
    lease_end: int = 0
    stopping: bool = False

    def leased(self, boottime):
        return self.receipt is not None and boottime < self.lease_end

    def may_come(self, realtime, boottime):
        return (not self.leased(boottime) and not self.stopping and realtime >= self.due and
                (self.passed is None or boottime >= self.passed - LEAVE))

    def must_come(self, realtime, boottime):
        return (not self.leased(boottime) and not self.stopping and realtime >= self.due and
                (self.passed is None or boottime >= self.passed + LEAVE))


class ClockLife:
    def __init__(self, plan, number, rng):
        self._plan = plan
        self._random = rng
        self.shards = plan.shards[number % len(plan.shards)]
        self.server = Server(f"shards={self.shards}&segment={plan.segment}&sync={plan.sync}",
                             plan.parent, words=("--test-clock",))
        self.realtime, self.boottime = START
        # Until this wall-clock time the store waits after a small step back.
        self._sat_out = START[0]
        self.figures = Counter()
        self._messages = {}  # (queue, key) -> Message
        self._receipts = []  # (receipt, its message, lease_end): receipts that may be live or stale
        self._number = 0
        self._client = None
        self._told = []  # the last events, for a report

    # -- the life

    def live(self, rounds):
        self.server.start()
        self._connect()
        for queue in QUEUES:
            self._client.configure(queue, {"max_attempts": 1000})
        verbs = ((self._push, 22), (self._move, 26), (self._take, 16), (self._settle, 12),
                 (self._extend, 5), (self._cancel, 5), (self._reschedule, 5), (self._wait, 5),
                 (self._crash, 1))
        for _ in range(rounds):
            for _ in range(OPERATIONS):
                verb, = self._random.choices([v for v, _ in verbs], [w for _, w in verbs])
                verb()
                self.figures["operations"] += 1
            self._count()
            self._heal()
            self.figures["rounds of the clock"] += 1
        self._client.close()
        self.server.stop()
        for words in (("store", "audit"), ("store", "check", "--deep")):
            code, said = run(*words, "--store", self.server.store)
            if code != 0:
                raise Failure(f"{words}: {code}\n{said}")

    def _connect(self):
        # This test does not use the history's times, which are of the real clock.
        self._client = Client(self.server, History({}))

    def tell(self):
        return "\n".join(self._told[-60:])

    def _say(self, text):
        self._told.append(f"  {self.realtime - START[0]:+12} {self.boottime - START[1]:+12} {text}")

    def _wrong(self, text, message=None):
        self._say(f"WRONG: {text} {message or ''}")
        raise Failure(f"{text} {message or ''}; the offset is "
                      f"{self.realtime - self.boottime - START[0] + START[1]} ms")

    # -- the clock

    def _ask_clock(self, move, by):
        self._client._ask([], "POST", f"/v1/clock/{move}", {"by_ms": by})
        before = self.realtime
        self.realtime += by
        if move != "step":
            self.boottime += by
        # After a small step back, a message that falls due in the repeated time may wait for its
        # end.
        self._sat_out = min(max(self._sat_out, before), self.realtime + LEAVE)
        if move == "step" and abs(by) > LEAVE:
            self._sat_out = self.realtime
        self.figures[{"advance": "advances", "suspend": "suspends", "step": "steps"}[move]] += 1
        self._say(f"{move} {by}")
        self._drop_stopped()

    def _drop_stopped(self):
        """A message that was cancelled while leased is gone when its lease ends."""
        for name, message in list(self._messages.items()):
            if message.stopping and not message.leased(self.boottime):
                del self._messages[name]

    def _move(self):
        r = self._random
        dice = r.random()
        if dice < 0.45:
            self._ask_clock("advance", r.choice((0, 1, 20, 499, 1000, 1500, 5000, 60_000,
                                                 r.randrange(HOUR))))
        elif dice < 0.60:
            self._ask_clock("suspend", r.choice((2000, 600_000, HOUR)))
        else:
            by = r.choice((SMALL_STEP, HOUR, HOUR, 2500)) * r.choice((1, -1))
            self._ask_clock("step", by)

    # -- requests of clients

    def _time(self):
        """(delay, due) of which one is none."""
        r = self._random
        span = r.choice((0, 1, 500, 999, 2000, 10_000, 600_000, HOUR, r.randrange(2 * HOUR)))
        if r.random() < 0.5:
            return span, None
        return None, self.realtime + span - r.choice((0, 0, 1, 5000))

    def _times(self, delay, due):
        return (due, None) if delay is None else (self.realtime + delay, self.boottime + delay)

    def _push(self):
        queue = self._random.choice(QUEUES)
        pushes = []
        for _ in range(self._random.choice((1, 1, 3, 10))):
            self._number += 1
            delay, due = self._time()
            pushes.append(Push(0, queue=queue, key=f"k{self._number}", token=self._number,
                               headers=((TOKEN, str(self._number).encode()),),
                               payload=str(self._number).encode(), delay=delay, due=due))
        self._client.push(queue, pushes)
        for push in pushes:
            message = Message(queue, push.key, *self._times(push.delay, push.due))
            self._say(f"push {push.key} delay={push.delay} due={message.due - START[0]}")
            if push.outcome != "pushed" or push.due_ms != message.due:
                self._wrong(f"pushed: {push.outcome}, due at {push.due_ms}", message)
            self._messages[queue, push.key] = message
            self.figures["pushed"] += 1

    def _deliver(self, delivery, lease, instants):
        """Checks one delivery: it must be allowed at one of these moments."""
        name = delivery.queue, delivery.key
        message = self._messages.get(name)
        if message is None:
            self._wrong(f"delivered after its end: {delivery}")
        if delivery.payload != delivery.key[1:].encode():
            self._wrong(f"not what was pushed: {delivery}")
        possible = [(realtime, boottime) for realtime, boottime in instants
                    if realtime == delivery.claimed_ms and message.may_come(realtime, boottime)]
        if not possible:
            early = delivery.claimed_ms < message.due
            self._wrong(f"{'EARLY' if early else 'not to be had'}: {delivery} at {instants}",
                        message)
        if delivery.due_ms != message.due:
            self._wrong(f"due at {delivery.due_ms}", message)
        if message.passed is not None and len(possible) == 1:
            most = "ms of a delay that a small step took, at most"
            self.figures[most] = max(self.figures[most], message.passed - possible[0][1])
        if message.receipt is not None:
            self.figures["redelivered: " + ("lease ran out" if message.lease_end > 0
                                            else "given back")] += 1
        message.receipt = delivery.receipt
        message.lease_end = min(boottime for _, boottime in possible) + lease
        self.figures["delivered"] += 1
        self._say(f"got {delivery.key}")

    def _claim_all(self, lease, wait=0):
        """Claims until nothing more comes. After that, everything that had to come must have
        come."""
        got = []
        while True:
            deliveries = self._client.claim(QUEUES, self._random.choice((3, MANY)), lease, wait)
            if not deliveries:
                break
            for delivery in deliveries:
                self._deliver(delivery, lease, [(self.realtime, self.boottime)])
            got += deliveries
            wait = 0
        for message in self._messages.values():
            if self.realtime >= self._sat_out and message.must_come(self.realtime, self.boottime):
                self._wrong("STUCK: it is due, and a claim does not find it", message)
        return got

    def _take(self):
        lease = self._random.choice((500, 2000, 60_000, HOUR))
        self._say(f"claim for {lease}")
        for delivery in self._claim_all(lease):
            message = self._messages[delivery.queue, delivery.key]
            self._receipts.append((delivery.receipt, message, message.lease_end))
        del self._receipts[:-200]

    def _alive(self, receipt, message):
        return (self._messages.get((message.queue, message.key)) is message and
                message.receipt == receipt and message.leased(self.boottime))

    def _some_receipts(self, most):
        r = self._random
        picked = r.sample(self._receipts, min(len(self._receipts), r.randrange(1, most)))
        return [(receipt, message) for receipt, message, _ in picked if not message.stopping]

    def _settle(self):
        r = self._random
        for receipt, message in self._some_receipts(30):
            settle = Settle(0, receipt=receipt, action=r.choice(("ack", "ack", "release", "retry")))
            if settle.action == "retry":
                settle.delay = r.choice((0, 700, 5000, HOUR))
            alive = self._alive(receipt, message)
            self._client.settle([settle])
            self._say(f"{settle.action} {message.key} delay={settle.delay} {settle.outcome}")
            if settle.outcome != ("done" if alive else "stale"):
                self._wrong(f"{settle.action} was answered {settle.outcome}", message)
            self.figures["settled" if alive else "stale receipts refused"] += 1
            if not alive:
                continue
            if settle.action == "ack":
                del self._messages[message.queue, message.key]
                continue
            message.lease_end = 0
            if settle.action == "retry":
                message.due, message.passed = self._times(settle.delay, None)

    def _extend(self):
        for receipt, message in self._some_receipts(10):
            extend = Extend(0, receipt=receipt, lease=self._random.choice((1000, 30_000)))
            alive = self._alive(receipt, message)
            self._client.extend([extend])
            self._say(f"extend {message.key} {extend.lease} {extend.outcome}")
            if extend.outcome != ("done" if alive else "stale"):
                self._wrong(f"extend was answered {extend.outcome}", message)
            if alive:
                message.lease_end = self.boottime + extend.lease

    def _some_messages(self):
        messages = [m for m in self._messages.values() if not m.stopping]
        return self._random.sample(messages, min(len(messages), self._random.choice((1, 3))))

    def _cancel(self):
        for message in self._some_messages():
            leased = message.leased(self.boottime)
            cancel, = self._client.cancel(message.queue, [message.key])
            self._say(f"cancel {message.key} {cancel.outcome}")
            if cancel.outcome != ("stopping" if leased else "cancelled"):
                self._wrong(f"cancel was answered {cancel.outcome}", message)
            self.figures["cancelled"] += 1
            if leased:
                message.stopping = True
            else:
                del self._messages[message.queue, message.key]

    def _reschedule(self):
        for message in self._some_messages():
            delay, due = self._time()
            move = Reschedule(0, queue=message.queue, key=message.key, delay=delay, due=due)
            leased = message.leased(self.boottime)
            self._client.reschedule([move])
            self._say(f"reschedule {message.key} delay={delay} due={due} {move.outcome}")
            if move.outcome != ("in_flight" if leased else "rescheduled"):
                self._wrong(f"reschedule was answered {move.outcome}", message)
            if not leased:
                message.due, message.passed = self._times(delay, due)
                self.figures["rescheduled"] += 1

    # -- a claim that waits while the clock moves

    def _wait(self):
        r = self._random
        wait, lease = r.choice((1000, 10_000)), 60_000
        instants = [(self.realtime, self.boottime)]
        got, errors = [], []
        client = Client(self.server, History({}))

        def claim():
            try:
                got.extend(client.claim(QUEUES, MANY, lease, wait))
            except Exception as error:  # the main thread reports it
                errors.append(error)

        self._say(f"claim, waiting {wait}")
        before = [m for m in self._messages.values() if m.must_come(*instants[0])]
        waiter = threading.Thread(target=claim)
        waiter.start()
        for _ in range(r.randrange(1, 5)):
            self._move()
            instants.append((self.realtime, self.boottime))
        # The server may begin the claim only now, and then its wait begins now too.
        deadline = time.monotonic() + FAILURE_SECONDS
        while waiter.is_alive():
            if time.monotonic() > deadline:
                self._wrong(f"STUCK: a claim waits {wait} ms and is not answered")
            self._ask_clock("advance", wait)
            instants.append((self.realtime, self.boottime))
            waiter.join(0.02)
        client.close()
        if errors:
            raise errors[0]
        self.figures["waiting claims"] += 1
        always = [m for m in before if all(m.must_come(*instant) for instant in instants)]
        if self.realtime < self._sat_out:
            always = []
        if always and not got:
            self._wrong("STUCK: it was due, and a claim that waited got nothing", always[0])
        for delivery in got:
            self._deliver(delivery, lease, instants)
            message = self._messages[delivery.queue, delivery.key]
            settle = Settle(0, receipt=delivery.receipt)
            self._client.settle([settle])
            alive = message.leased(self.boottime)
            # A lease begins when the claim is on disk, which may have been after the next move of
            # the clock.
            if alive and settle.outcome != "done":
                self._wrong(f"ack was answered {settle.outcome}", message)
            if settle.outcome == "done":
                del self._messages[message.queue, message.key]
                self.figures["settled"] += 1
            else:
                message.lease_end = self.boottime

    # -- crash, end

    def _crash(self):
        """Kills the server. The next one's clock begins where all test clocks begin, so it is set
        right first."""
        self.server.kill()
        self._client.close()
        self.server.start()
        self._connect()
        realtime, boottime = self.realtime, self.boottime
        self.realtime, self.boottime = START
        self._ask_clock("suspend", boottime - START[1])
        self._ask_clock("step", realtime - self.realtime)
        self.figures["kills"] += 1
        self._say("kill")

    def _count(self):
        figures = self._client.figures().values()
        there = sum(queue[state] for queue in figures
                    for state in ("scheduled", "ready", "leased", "dead"))
        leased = sum(queue["leased"] for queue in figures)
        held = sum(1 for m in self._messages.values() if m.leased(self.boottime))
        if (there, leased) != (len(self._messages), held):
            self._wrong(f"{there} messages are there, {leased} of them leased, and it must be "
                        f"{len(self._messages)} and {held}")

    def _heal(self):
        """Sets the wall clock right, and lets time pass: then everything must be delivered without
        another push."""
        self._ask_clock("step", START[0] - START[1] - (self.realtime - self.boottime))
        while self._messages:
            far = max(max(m.due - self.realtime, m.lease_end - self.boottime,
                          0 if m.passed is None else m.passed + LEAVE - self.boottime)
                      for m in self._messages.values())
            self._ask_clock("advance", max(0, self._random.choice((far, far // 2 + 1))))
            if not self._messages:  # the last one was a cancelled one
                return
            for delivery in self._claim_all(60_000):
                settle = Settle(0, receipt=delivery.receipt)
                self._client.settle([settle])
                if settle.outcome != "done":
                    self._wrong(f"ack was answered {settle.outcome}")
                del self._messages[delivery.queue, delivery.key]
                self.figures["settled"] += 1


def run_clock(plan, figures):
    """Runs all rounds, and adds to the figures. Raises Failure at the first store that fails."""
    rng = random.Random(plan.seed)
    done = number = 0
    while done < plan.rounds and not plan.over():
        rounds = min(ROUNDS_A_STORE, plan.rounds - done)
        life = ClockLife(plan, number, random.Random(rng.random()))
        kept = False
        try:
            life.live(rounds)
        except (Failure, ServerFailure, WrongAnswer, Lost, OSError) as error:
            kept = plan.keep
            raise Failure(f"seed {plan.seed}, store {number} ({life.shards} shards): {error!r}\n"
                          f"the clocks since the start, and what was done:\n{life.tell()}\n"
                          f"server log:\n{life.server.log()}") from error
        finally:
            life.server.close(kept)
        add(figures, life.figures)
        done += rounds
        number += 1
        figures["rounds"] += rounds
        plan.say(f"{done} rounds, " + ", ".join(f"{name} {figures[name]}" for name in
                                                ("pushed", "delivered", "settled")))
