"""Celery on Redis, with the contract of go/drive: ADDRESS rate|late|fill NUMBER NUMBER. A worker
has four processes, as many as others have consumers; it acks a task before it runs, as is its
default.

ADDRESS work COUNT, for scripts/bench clients: works on as many tasks with Celery's default
settings, and prints the seconds from first to last.
"""

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

from celery import Celery
from celery.signals import worker_ready

sys.path.append(str(Path(__file__).resolve().parents[2]))
from children import die_with_parent  # noqa: E402  pylint: disable=wrong-import-position

CLIENTS = 4
MOST_OUTSTANDING = 5000
PAYLOAD_BYTES = 100
LATE_DELAY = 1.0
LONGEST_DRAIN = 120
LONGEST_STOP = 20
WARM = 1 / 3  # of the time, which does not count
POLL = 0.002

address, verb, *numbers = sys.argv[1:]
app = Celery("bench", broker=f"redis://{address}/0")
app.conf.task_ignore_result = True
# Celery forks its pool: the processes count together.
ready = multiprocessing.Event()
seen = multiprocessing.Value("l", 0)
began = multiprocessing.Value("d", 0.0)
ended = multiprocessing.Value("d", 0.0)
lateness = multiprocessing.Array("d", 1_000_000 if verb == "late" else 0)


@worker_ready.connect
def tell_ready(**_):
    ready.set()


@app.task(name="bench")
def bench(payload):
    now = time.time()
    with seen.get_lock():
        if verb == "late":
            lateness[seen.value] = now - float(payload.split()[0])
        ended.value = time.monotonic()
        if not seen.value:
            began.value = ended.value
        seen.value += 1


def serve(words):
    os.setsid()  # so that it can be ended with its pool
    die_with_parent()
    app.worker_main(["worker", "--loglevel=ERROR", *words])


def worker(*words):
    """A worker that is ready."""
    process = multiprocessing.Process(target=serve, args=(words,))
    process.start()
    if not ready.wait(60):
        sys.exit("Celery's worker does not start")
    return process


def end(process):
    """Lets it wait for its pool, whose processor time is then that of a child which has ended."""
    process.terminate()
    process.join(LONGEST_STOP)
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        process.join()


def push(delay):
    payload = f"{time.time() + delay:.6f} ".ljust(PAYLOAD_BYTES, "x")
    with app.producer_pool.acquire(block=True) as producer:
        bench.apply_async((payload,), producer=producer, **({"countdown": delay} if delay else {}))


def in_threads(produce):
    threads = [threading.Thread(target=produce, args=(number,)) for number in range(CLIENTS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def drain(count):
    limit = time.monotonic() + LONGEST_DRAIN
    while seen.value < count:
        if time.monotonic() > limit:
            sys.exit(f"{seen.value} of {count} messages came")
        time.sleep(POLL)


def rate(seconds, _batch):
    process = worker(f"--concurrency={CLIENTS}")
    pushed = multiprocessing.Value("l", 0)
    begin = time.monotonic()
    warm = []

    def produce(number):
        while (passed := time.monotonic() - begin) < seconds:
            if number == 0 and not warm and passed > seconds * WARM:
                warm[:] = [time.monotonic(), seen.value]
            if pushed.value - seen.value >= MOST_OUTSTANDING:
                time.sleep(POLL)
                continue
            push(0)
            with pushed.get_lock():
                pushed.value += 1

    in_threads(produce)
    drain(pushed.value)
    end(process)
    return {"lives": seen.value - warm[1], "seconds": ended.value - warm[0], "all": seen.value}


def late(seconds, a_second):
    process = worker(f"--concurrency={CLIENTS}")
    pace = CLIENTS / a_second
    each = int(seconds / pace)
    begin = time.monotonic()

    def produce(number):
        for turn in range(each):
            time.sleep(max(0, begin + pace * (number / CLIENTS + turn) - time.monotonic()))
            push(LATE_DELAY)

    in_threads(produce)
    drain(each * CLIENTS)
    end(process)
    told = sorted(lateness[:each * CLIENTS])
    return {"messages": len(told), "p50_ms": told[len(told) // 2] * 1e3,
            "p99_ms": told[len(told) * 99 // 100] * 1e3, "max_ms": told[-1] * 1e3}


def fill(count, seconds):
    in_threads(lambda number: [push(seconds) for _ in range(number, int(count), CLIENTS)])
    return {"filled": int(count)}


def work(count):
    process = worker()
    drain(count)
    end(process)
    return ended.value - began.value


if __name__ == "__main__":
    verbs = {"rate": rate, "late": late, "fill": fill, "work": work}
    print(json.dumps(verbs[verb](*map(float, numbers))), flush=True)
