"""The systems to which a relay hands messages: Redis, RabbitMQ and a receiver of webhooks. Each can
be killed and started again with its data, and each says which messages have arrived.
"""

import collections
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from redis_server import RedisServer

# A message that arrived. at_ms is by the clock of the far end, or of its reader; both are this
# machine's.
Arrival = collections.namedtuple("Arrival", "at_ms key attempt due_ms payload")


class RedisEnd:
    """A stream. Each entry is on disk before it is confirmed."""

    name = "redis"

    def __init__(self, directory):
        self._server = RedisServer("--appendonly", "yes", "--appendfsync", "always",
                                   parent=directory)
        self._server.start()
        self.to = self._server.url + "?stream=due"

    def shoot(self):
        self._server.shoot()
        self._server.bury()

    def start(self):
        self._server.start()

    def close(self):
        self._server.close()

    def arrived(self):
        found = []
        for at, fields in self._server.ask("XRANGE", "due", "-", "+"):
            row = dict(zip(fields[::2], fields[1::2]))
            found.append(Arrival(int(at.split("-")[0]), row["key"], int(row["attempt"]),
                                 int(row["due_ms"]), row["payload"]))
        return found


class RabbitEnd:
    """A durable queue, and a consumer that connects again when the broker is back."""

    name = "rabbitmq"

    def __init__(self, _):
        # Imported only if needed: pika may not be installed.
        import rabbit_server  # pylint: disable=import-outside-toplevel
        self._errors = (rabbit_server.pika.exceptions.AMQPError, OSError)
        self._server = rabbit_server.RabbitServer()
        self._server.start()
        with self._server.connect() as connection:
            connection.channel().queue_declare("due", durable=True)
        # The broker writes the queue down only later, and forgets it if it is killed before that.
        self._server.control("eval", "mnesia:sync_log().")
        self.to = f"amqp://127.0.0.1:{self._server.port}/?routing_key=due"
        self._arrived = {}  # by key and attempt
        self._ended = threading.Event()
        self._consumer = threading.Thread(target=self._run)
        self._consumer.start()

    def _run(self):
        while not self._ended.is_set():
            try:
                with self._server.connect() as connection:
                    self._consume(connection.channel())
            except self._errors:
                self._ended.wait(0.1)

    def _consume(self, channel):
        channel.basic_qos(prefetch_count=1000)
        for method, properties, body in channel.consume("due", inactivity_timeout=0.1):
            if self._ended.is_set():
                return
            if not method:
                continue
            said = properties.headers
            arrival = Arrival(int(time.time() * 1000), said["tarry-key"], said["tarry-attempt"],
                              said["tarry-due-ms"], body.decode())
            # A message that this consumer had not acked when the broker died is redelivered. The
            # relay did not send it again.
            again = method.redelivered and (arrival.key, arrival.attempt) in self._arrived
            if not again:
                self._arrived.setdefault((arrival.key, arrival.attempt), []).append(arrival)
            channel.basic_ack(method.delivery_tag)

    def shoot(self):
        self._server.shoot()

    def start(self):
        self._server.start()

    def close(self):
        self._ended.set()
        self._consumer.join()
        self._server.close()

    def arrived(self):
        return [arrival for arrivals in list(self._arrived.values()) for arrival in arrivals]


class WebhookEnd:
    """A process that writes each request into a file before it answers."""

    name = "webhook"

    def __init__(self, directory):
        self._file = Path(directory) / "requests"
        self._file.touch()
        self._port = 0
        self._process = None
        self.start()
        self.to = f"http://127.0.0.1:{self._port}/#allow_private=yes"

    def start(self):
        self._process = subprocess.Popen(
            [sys.executable, "-B", str(Path(__file__).parent / "webhook_receiver.py"),
             str(self._port), str(self._file)], stdout=subprocess.PIPE)
        self._port = int(self._process.stdout.readline())

    def shoot(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()

    def close(self):
        if self._process.poll() is None:
            self.shoot()

    def arrived(self):
        # A kill may have cut the last line of the receiver's life; that request was not confirmed.
        lines = self._file.read_text().split("\n")
        return [Arrival(*json.loads(line)) for line in lines if line.endswith("]")]


ENDS = {end.name: end for end in (RedisEnd, RabbitEnd, WebhookEnd)}
