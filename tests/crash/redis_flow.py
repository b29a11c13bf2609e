"""Four producers and four workers. Each is a process with its own daemon between it and the one
Redis. At the end, the observations of all workers are put together for each message.
"""

import multiprocessing
import random
import threading
import time
from collections import Counter, defaultdict
from types import SimpleNamespace

from client import Client
from history import now_ms
from redis_server import RedisServer
from rounds import Failure
from server import FAILURE_SECONDS, Daemon

PAIRS = 4
QUEUE = "flow"
SHARDS = 4
MOST_DELAY_MS = 5000
PUSHED_AT_ONCE = 50
CLAIMED_AT_ONCE = 100
LEASE_MS = 3000
# Part of the first deliveries that are not settled, and so must be delivered again.
FORGOTTEN = 0.005
PERCENTILES = (50, 99, 99.9)


def payload_of(token):
    return f"{token}:" + "x" * (token % 200)


def key_of(token):
    return f"k{token}" if token % 2 else ""


def client_of(port):
    return Client(SimpleNamespace(port=port, dying=False), None)


def produce(port, tokens, rate, seed, pipe):
    """Pushes `rate` messages a second. Sends how many were accepted, and how long it took."""
    r = random.Random(seed)
    client = client_of(port)
    pace = threading.Event()  # nobody sets it: waiting for it keeps the rate
    began = time.monotonic()
    accepted = 0
    for start in range(0, len(tokens), PUSHED_AT_ONCE):
        pace.wait(max(0, began + start / rate - time.monotonic()))
        messages = []
        for token in tokens[start:start + PUSHED_AT_ONCE]:
            delay = 0 if r.random() < 0.2 else r.randrange(MOST_DELAY_MS)
            messages.append({"payload": payload_of(token), "delay_ms": delay})
            if key_of(token):
                messages[-1]["key"] = key_of(token)
        answer = client.ask("POST", f"/v1/queues/{QUEUE}/messages", {"messages": messages})
        accepted += sum(1 for result in answer["results"] if result.get("outcome") == "pushed")
    client.close()
    pipe.send((accepted, time.monotonic() - began))


def work(port, seed, stop, pipe):
    """Works until told to stop. Sends its observations, one list per delivery: token, attempt,
    leases that ran out, lateness in ms, whether the message was the pushed one and not early, and
    how it was settled."""
    r = random.Random(seed)
    client = client_of(port)
    seen = []
    while not stop.is_set():
        claimed = client.ask("POST", "/v1/claim", {"queues": [QUEUE], "max": CLAIMED_AT_ONCE,
                                                   "lease_ms": LEASE_MS, "wait_ms": 500})
        here = now_ms()
        acked, items = [], []
        for message in claimed["messages"]:
            token = int(message["payload"].partition(":")[0])
            late = message["claimed_ms"] - message["due_ms"]
            right = late >= 0 and here >= message["due_ms"] and \
                message["payload"] == payload_of(token) and \
                (message["key"] == key_of(token) or not key_of(token))
            delivery = [token, message["attempt"], message["tallies"]["run_outs"], late, right,
                        "forgotten"]
            seen.append(delivery)
            if message["attempt"] > 1 or r.random() >= FORGOTTEN:
                items.append({"receipt": message["receipt"], "action": "ack"})
                acked.append(delivery)
        if items:
            results = client.ask("POST", "/v1/settle", {"items": items})["results"]
            for result, delivery in zip(results, acked):
                delivery[-1] = result["outcome"]
    client.close()
    pipe.send(seen)


class Flow:
    def __init__(self, seed, messages, rate, say):
        self._random = random.Random(seed)
        self._tokens = range(messages)
        self._rate = rate
        self._say = say
        self._redis = RedisServer("--appendonly", "yes")
        self._daemons = [Daemon(f"{self._redis.url}?shards={SHARDS}") for _ in range(2 * PAIRS)]
        self._processes = []
        self.figures = Counter()

    def _spawn(self, what, daemon, *words):
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=what, daemon=True,
                                          args=(daemon.port, *words, there))
        process.start()
        there.close()
        self._processes.append(process)
        return here

    @staticmethod
    def _heard(pipe):
        try:
            return pipe.recv()
        except EOFError as error:
            raise Failure("a producer or a worker has failed") from error

    def run(self):
        self._redis.start()
        for daemon in self._daemons:
            daemon.start()
        stop = multiprocessing.Event()
        began = time.monotonic()
        workers = [self._spawn(work, daemon, self._random.random(), stop)
                   for daemon in self._daemons[:PAIRS]]
        producers = [self._spawn(produce, daemon, self._tokens[i::PAIRS], self._rate / PAIRS,
                                 self._random.random())
                     for i, daemon in enumerate(self._daemons[PAIRS:])]
        pushed = [self._heard(pipe) for pipe in producers]
        self._until_acked()
        took = time.monotonic() - began
        stop.set()
        seen = [delivery for pipe in workers for delivery in self._heard(pipe)]
        accepted = sum(count for count, _ in pushed)
        self._judge(seen, accepted)
        self._table(seen)
        self._say(f"pushed {accepted / max(seconds for _, seconds in pushed):.0f}/s, all done at "
                  f"{accepted / took:.0f}/s")

    def _queue(self):
        client = client_of(self._daemons[0].port)
        queue, = client.ask("GET", "/v1/stats")["queues"]
        client.close()
        return queue

    def _until_acked(self):
        """Fails if there is no progress for too long. As long as there is progress, it may take any
        time."""
        acked = -1
        while acked < len(self._tokens):
            before = acked
            deadline = time.monotonic() + FAILURE_SECONDS
            while acked == before:
                if time.monotonic() > deadline:
                    raise Failure(f"{FAILURE_SECONDS} s without an ack: {self._queue()}")
                if not all(daemon.alive_for(0.1) for daemon in self._daemons[:1]):
                    raise Failure("a daemon died by itself")
                acked = self._queue()["counters"]["acked"]

    def _judge(self, seen, accepted):
        by_token = defaultdict(list)
        for token, attempt, run_outs, _, right, outcome in seen:
            by_token[token].append((attempt, run_outs, outcome))
            if not right:
                raise Failure(f"early, or not what was pushed: {token}")
        if accepted != len(self._tokens) or len(by_token) != accepted:
            raise Failure(f"{len(self._tokens)} pushed, {accepted} accepted, {len(by_token)} came")
        for token, deliveries in by_token.items():
            deliveries.sort()
            outcomes = [outcome for _, _, outcome in deliveries]
            # Each delivery except the last must have ended by its lease, and the last one by its
            # ack.
            explained = [(i + 1, i) for i in range(len(deliveries))]
            if [delivery[:2] for delivery in deliveries] != explained or \
                    outcomes.count("done") != 1 or outcomes[-1] != "done":
                raise Failure(f"message {token} was delivered so, without a cause: {deliveries}")
        queue = self._queue()
        counters = queue["counters"]
        duplicates = len(seen) - len(by_token)
        right = {"accepted": accepted, "acked": accepted, "claims": len(seen),
                 "run_outs": duplicates}
        wrong = {name: counters[name] for name in counters if counters[name] != right.get(name, 0)}
        left = {state: queue[state] for state in ("scheduled", "ready", "leased", "dead")}
        if wrong or any(left.values()):
            raise Failure(f"the books are wrong: {wrong} {left}; {right} is right")
        self.figures.update({"messages": accepted, "delivered": len(seen), "lost": 0,
                             "duplicates, each after its lease": duplicates})

    def _table(self, seen):
        late = sorted(delivery[3] for delivery in seen if delivery[1] == 1)
        row = [late[min(len(late) - 1, int(len(late) * percent / 100))] for percent in PERCENTILES]
        self._say("late, in ms: " + ", ".join(
            f"{name} {value}" for name, value in zip(("p50", "p99", "p99.9", "max"),
                                                     row + [late[-1]])))

    def close(self):
        for process in self._processes:
            process.kill()
            process.join()
        for closed in (*self._daemons, self._redis):
            closed.close()


def run_flow(seed, messages, rate, say):
    flow = Flow(seed, messages, rate, say)
    try:
        flow.run()
        return flow.figures
    finally:
        flow.close()
