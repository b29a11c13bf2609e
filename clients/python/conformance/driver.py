#!/usr/bin/env python3
"""The driver of the conformance table for the Python client: clients/conformance/README.md."""

import threading
from collections.abc import Iterator

import protocol
import tarry
from protocol import say


class Driver(protocol.Driver):
    def open(self, patience, timeout, **options):
        self.client = tarry.Client(patience=patience.total_seconds(),
                                   timeout=timeout.total_seconds(), **options)

    def close(self):
        self.client.close()

    def wait(self, answer):
        return list(answer) if isinstance(answer, Iterator) else answer

    def work(self, queues, drain=None, **options):
        options["drain"] = drain and drain.total_seconds()
        self.worker = tarry.Worker(self.client, {queue: self.handle for queue in queues},
                                   **options)
        self.thread = threading.Thread(target=self.worker.run)
        self.thread.start()

    def handle(self, delivery):
        about = {"queue": delivery.queue, "key": delivery.key,
                 "receipt": delivery.message.receipt}
        say({"event": "begun", "attempt": delivery.attempt, **about})
        try:
            if delivery.text == "hold":
                threading.Thread(target=self.tell, args=[delivery], daemon=True).start()
                self.gate(delivery.key).wait()
            return protocol.verdict(delivery.text)
        finally:
            say({"event": "ended", **about})

    def tell(self, delivery):
        delivery.stop.wait()
        say({"event": "signalled", "key": delivery.key})

    def begin_stop(self):
        self.worker.stop()

    def stop_work(self):
        self.worker.stop()
        self.thread.join()
        return self.worker.counts


if __name__ == "__main__":
    Driver().main()
