#!/usr/bin/env python3
"""chaos.py: workers and the server are killed while messages are worked on. By hand.

    TARRY_PROGRAM=build/release/tarry python3 clients/python/tests/chaos.py [--messages 20000] \
        [--worker COMMAND]

COMMAND starts another client's worker; the server's address and a log file follow it:
`node clients/typescript/conformance/chaos.mjs`, the program that is built from
clients/go/conformance/chaos, or `java -cp ... Chaos` (clients/java/conformance/Chaos.java).

Two worker processes share a queue on a file store. Each is killed several times, and halted for
longer than its lease; the server is killed too. One message in 200 takes longer than its lease.
At the end nothing may be lost, no delivery may have begun after a later one of its message, and
each duplicate must have a kill or a halt between its deliveries.
"""

import argparse
import collections
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
import tarry  # noqa: E402

LEASE = 2.0
QUEUE = "chaos"


def work(url, log_file):
    """A worker process: writes a line when a delivery begins, and one when it ends."""
    client = tarry.Client(url, timeout=5)
    log = os.open(log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def handle(delivery):
        attempt = delivery.attempt
        os.write(log, f"{time.time()} {os.getpid()} begin {delivery.key} {attempt}\n".encode())
        if int(delivery.id) % 200 == 0 and attempt == 1:
            time.sleep(1.5 * LEASE)
        os.write(log, f"{time.time()} {os.getpid()} end {delivery.key} {attempt}\n".encode())

    tarry.Worker(client, {QUEUE: handle}, concurrency=4, prefetch=64,
                 lease=f"{int(LEASE * 1000)}ms").run(signals=True)


class Chaos:
    def __init__(self, options):
        self.options = options
        self.place = tempfile.TemporaryDirectory(prefix="tarry-chaos-")
        self.log = Path(self.place.name) / "log"
        self.port = 0
        self.server = None
        self.workers = []
        self.faults = []  # (time, what, pid)
        self.outcomes = collections.Counter()
        self.url = self.start_server()

    def start_server(self):
        port_file = Path(self.place.name) / "port"
        self.server = subprocess.Popen(
            [os.environ["TARRY_PROGRAM"], "serve", "--store", f"file:{self.place.name}/store",
             "--listen", f"127.0.0.1:{self.port}", "--port-file", str(port_file)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.server.stdout.readline()
        self.port = int(port_file.read_text().split()[0])
        return f"http://127.0.0.1:{self.port}"

    def start_worker(self):
        command = shlex.split(self.options.worker) or [sys.executable, "-B", __file__, "--work"]
        return subprocess.Popen([*command, self.url, str(self.log)], stderr=subprocess.DEVNULL)

    def push_all(self):
        """Pushes every key until its outcome is known."""
        client = tarry.Client(self.url, patience=60, timeout=10)
        queue = client.queue(QUEUE)
        keys = [f"k{number}" for number in range(self.options.messages)]
        while keys:
            batch, keys = keys[:500], keys[500:]
            try:
                results = queue.push_many(
                    [tarry.Message(key=key, delay="100ms") for key in batch])
            except tarry.TarryError as error:
                results = [error] * len(batch)
            for key, result in zip(batch, results):
                if isinstance(result, tarry.TarryError):
                    self.outcomes[result.code] += 1
                    keys.append(key)
                else:
                    self.outcomes[str(result.outcome)] += 1
            time.sleep(0.2)

    def fault(self, what, pid):
        self.faults.append((time.time(), what, pid))

    def torment(self):
        kills = ["worker"] * self.options.worker_kills + ["server"] * self.options.server_kills + [
            "halt"] * self.options.halts
        random.Random(7).shuffle(kills)
        for what in kills:
            time.sleep(random.uniform(0.5, 1.2))
            if what == "server":
                self.fault(what, 0)
                self.server.kill()
                self.server.wait()
                time.sleep(0.3)
                self.start_server()
                continue
            number = random.randrange(len(self.workers))
            victim = self.workers[number]
            self.fault(what, victim.pid)
            if what == "worker":
                victim.kill()
                victim.wait()
                self.workers[number] = self.start_worker()
            else:
                victim.send_signal(signal.SIGSTOP)
                time.sleep(1.3 * LEASE)
                victim.send_signal(signal.SIGCONT)
                self.fault(what, victim.pid)  # what it was given meanwhile may be late, too

    def run(self):
        client = tarry.Client(self.url, patience=60)
        queue = client.queue(QUEUE)
        queue.configure(remember="1h", max_attempts=1000)
        self.workers = [self.start_worker() for _ in range(2)]
        pusher = threading.Thread(target=self.push_all)
        pusher.start()
        self.torment()
        pusher.join()
        deadline = time.time() + 120
        while time.time() < deadline:
            info = queue.info()
            if not (info.ready or info.leased or info.scheduled):
                break
            time.sleep(0.2)
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait(60)
        info = queue.info()
        self.server.terminate()
        self.server.wait()
        return self.judge(info)

    def judge(self, info):
        begun = collections.defaultdict(list)
        ended = set()
        for line in self.log.read_text().splitlines():
            at, pid, what, key, attempt = line.split()
            if what == "begin":
                begun[key].append((float(at), int(pid), int(attempt)))
            else:
                ended.add(key)
        lost = [key for key in (f"k{n}" for n in range(self.options.messages))
                if key not in ended]
        late, duplicates, unexplained = 0, 0, []
        for key, deliveries in begun.items():
            deliveries.sort()
            for (at, pid, attempt), (then, _, later) in zip(deliveries, deliveries[1:]):
                duplicates += 1
                late += later <= attempt
                # A lease that was not extended while the server was away may end a while after.
                if not any(at - LEASE <= moment <= then and (what == "server" or one == pid)
                           for moment, what, one in self.faults):
                    unexplained.append(key)
        for key in sorted(set(unexplained))[:3]:
            self.tell(key, begun[key])
        left = info.ready + info.leased + info.scheduled + info.dead
        print(f"pushes: {dict(self.outcomes)}")
        print(f"faults: {collections.Counter(what for _, what, _ in self.faults)} (begin and end "
              "of each halt)")
        print(f"messages {len(begun)}, lost {len(lost)}, left {left}, acked "
              f"{info.counters['acked']}, begun after a later delivery {late}, duplicates "
              f"{duplicates}, unexplained {len(unexplained)}")
        return 0 if not (lost or left or late or unexplained) else 1

    def tell(self, key, deliveries):
        """What is known of an unexplained duplicate: its lines of the log, and the faults near."""
        first, last = deliveries[0][0] - 3 * LEASE, deliveries[-1][0]
        told = [(float(line.split()[0]), line) for line in self.log.read_text().splitlines()
                if line.split()[3] == key]
        told += [(at, f"{at} {pid} {what} (fault)") for at, what, pid in self.faults
                 if first <= at <= last]
        print(*(line for _, line in sorted(told)), sep="\n")


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(*sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=20000)
    parser.add_argument("--worker-kills", type=int, default=10)
    parser.add_argument("--server-kills", type=int, default=5)
    parser.add_argument("--worker", default="", help="the command of another client's worker")
    parser.add_argument("--halts", type=int, default=3)
    return Chaos(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
