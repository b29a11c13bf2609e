"""python_worker.py URL COUNT: handles that many messages of the queue bench, and prints the seconds
from first to last."""

import sys
import threading
import time

import tarry

url, count = sys.argv[1], int(sys.argv[2])
lock = threading.Lock()
seen = 0
began = ended = 0.0


def handle(_delivery):
    global seen, began, ended
    with lock:
        seen += 1
        if seen == 1:
            began = time.monotonic()
        if seen == count:
            ended = time.monotonic()
            threading.Thread(target=worker.stop).start()


worker = tarry.Worker(tarry.Client(url), {"bench": handle})
worker.run()
print(ended - began)
