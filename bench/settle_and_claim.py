#!/usr/bin/env python3
"""What it saves to settle in the next claim: lifecycles a second, and the server's processor time
for each, with two requests (push; claim that settles) and with three (push; claim; settle).

usage: settle_and_claim.py PROGRAM [--clients N] [--lifecycles N] [--rounds N] [SERVE-FLAG...]

Each client has one connection and one message at a time. Both ways take turns on one server, whose
store is a file store of its own unless the flags name another one. The client is one process, so
the rates say less than the processor times.
"""

import argparse
import json
import os
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


def request(path, body):
    data = json.dumps(body).encode()
    head = (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n")
    return head.encode() + data


PUSH = request("/v1/queues/bench/messages", {"payload": "x" * 100})


def claim_body(settle=None):
    body = {"queues": ["bench"], "max": 1, "wait": "10s", "lease": "1h"}
    if settle:
        body["settle"] = [{"receipt": settle, "action": "ack"}]
    return body


class Client:
    """A connection that pushes, claims and settles, over and over."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.receipt = None
        self.step = "idle"

    def send(self, step, data):
        self.step = step
        self.socket.sendall(data)

    def begin(self):
        self.send("push", PUSH)

    def answer(self):
        """The next answer's body; None: it is not there in full."""
        self.buffer += self.socket.recv(65536)
        head, end, body = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(body) < length:
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(self.buffer.decode())
        self.buffer = body[length:]
        return json.loads(body[:length])

    def go_on(self, joins):
        """Takes what has come. True: a lifecycle is over, and nothing is on its way."""
        answer = self.answer()
        if answer is None:
            return False
        if self.step == "push":
            settle = self.receipt if joins else None
            self.send("claim", request("/v1/claim", claim_body(settle)))
            return False
        if self.step == "claim":
            if len(answer["messages"]) != 1:
                raise RuntimeError(f"claimed {answer}")
            if joins and self.receipt and answer["settled"] != [{"outcome": "done"}]:
                raise RuntimeError(f"settled {answer['settled']}")
            self.receipt = answer["messages"][0]["receipt"]
            if joins:
                return True
            self.settle()
            return False
        self.receipt = None
        return True

    def settle(self):
        items = [{"receipt": self.receipt, "action": "ack"}]
        self.send("settle", request("/v1/settle", {"items": items}))


def run(clients, lifecycles, joins):
    selector = selectors.DefaultSelector()
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
    begun = min(len(clients), lifecycles)
    busy = begun
    for client in clients[:begun]:
        client.begin()
    while busy:
        for key, _ in selector.select():
            client = key.data
            if not client.go_on(joins):
                continue
            if begun < lifecycles:
                begun += 1
                client.begin()
            elif client.receipt:  # the last one of this client has nothing to join
                client.settle()
            else:
                busy -= 1
    selector.close()


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--lifecycles", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked, flags = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as directory:
        if "--store" not in flags:
            flags = ["--store", f"file:{directory}/store", *flags]
        port_file = os.path.join(directory, "port")
        server = subprocess.Popen([asked.program, "serve", "--listen", "127.0.0.1:0",
                                   "--port-file", port_file, *flags],
                                  stdout=subprocess.PIPE, text=True)
        try:
            if not server.stdout.readline():
                sys.exit("settle_and_claim: the server did not start")
            with open(port_file, encoding="ascii") as file:
                port = int(file.read().split(":")[-1])
            clients = [Client(port) for _ in range(asked.clients)]
            figures = {True: [], False: []}
            run(clients, asked.lifecycles // 5, True)
            for _ in range(asked.rounds):
                for joins in (False, True):
                    before, start = processor_seconds(server.pid), time.monotonic()
                    run(clients, asked.lifecycles, joins)
                    took = time.monotonic() - start
                    spent = processor_seconds(server.pid) - before
                    figures[joins].append((asked.lifecycles / took,
                                           spent / asked.lifecycles * 1e6))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)
    for joins, name in ((False, "three requests"), (True, "two requests")):
        rates, costs = zip(*figures[joins])
        print(f"{name}: {statistics.median(rates):.0f} lifecycles/s "
              f"({min(rates):.0f} to {max(rates):.0f}), "
              f"{statistics.median(costs):.0f} us of the server for each "
              f"({min(costs):.0f} to {max(costs):.0f})")


if __name__ == "__main__":
    main()
