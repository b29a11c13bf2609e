"""celery_worker.py fill|work REDIS-URL COUNT: pushes so many tasks, or works on them with Celery's
default settings and prints the seconds from first to last."""

import multiprocessing
import os
import sys
import threading
import time

from celery import Celery

command, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
app = Celery("bench", broker=url)
# Celery forks its pool: the processes count together.
seen = multiprocessing.Value("l", 0)
began = multiprocessing.Value("d", 0.0)
ended = multiprocessing.Value("d", 0.0)


@app.task(name="bench")
def bench(_payload):
    with seen.get_lock():
        seen.value += 1
        if seen.value == 1:
            began.value = time.monotonic()
        if seen.value == count:
            ended.value = time.monotonic()


def tell():
    while not ended.value:
        time.sleep(0.05)
    print(ended.value - began.value, file=sys.__stdout__, flush=True)  # Celery takes sys.stdout
    os.kill(os.getpid(), 15)


if command == "fill":
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(count):
            bench.apply_async(("x" * 100,), producer=producer)
else:
    threading.Thread(target=tell, daemon=True).start()
    app.worker_main(["worker", "--loglevel=ERROR"])
