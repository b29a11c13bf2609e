"""The servers of the rivals and of tarry. Each has a directory and free ports of its own."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from process import Process, memory_bytes, processor_seconds

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "harness"))
from ports import free_port  # noqa: E402  pylint: disable=wrong-import-position

TRY_SECONDS = 5
REST_SECONDS = 30
IDLE_SECONDS = 0.05  # of the processor in a second


def talked(port, words, ends):
    """The answer to these bytes, up to a pattern; empty if there is none."""
    heard = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=TRY_SECONDS) as connection:
            connection.sendall(words)
            while not re.search(ends, heard):
                piece = connection.recv(65536)
                if not piece:
                    return b""
                heard += piece
    except OSError:
        return b""
    return heard


def fetched(url):
    """The page, if the answer is 200; else nothing."""
    try:
        with urllib.request.urlopen(url, timeout=TRY_SECONDS) as answer:
            return answer.read()
    except (OSError, urllib.error.URLError):
        return b""


def disk_bytes(directory):
    """What the files take on the disk, as `du` counts it."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                pass  # removed meanwhile
    return total


class Server:
    """Processes that serve one queue, with their data in `directory`."""

    needed = ()  # programs that have to be installed
    user = None
    forgets = False  # whether it has all messages in memory only

    def __init__(self, parent):
        self.directory = Path(tempfile.mkdtemp(prefix=f"{type(self).__name__.lower()}-",
                                               dir=parent))
        self.port = free_port()
        self.processes = self.made()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def made(self):
        """The processes, in the order in which they start."""
        raise NotImplementedError

    def process(self, words, answers):
        return Process(words, self.directory / "output", answers, self.user)

    def address(self):
        return f"127.0.0.1:{self.port}"

    def pending(self):
        """How many messages it says that it holds."""
        raise NotImplementedError

    def roots(self):
        return [one.pid for one in self.processes]

    def start(self):
        for one in self.processes:
            one.start()

    def kill(self):
        for one in reversed(self.processes):
            one.kill()

    def close(self):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def processor_seconds(self):
        return processor_seconds(self.roots())

    def rest(self):
        """Waits until it has done what it does after its answers."""
        deadline = time.monotonic() + REST_SECONDS
        while time.monotonic() < deadline:
            before = self.processor_seconds()
            time.sleep(1)
            if self.processor_seconds() - before < IDLE_SECONDS:
                return

    def memory_bytes(self):
        return memory_bytes(self.roots())

    def disk_bytes(self):
        return disk_bytes(self.directory)


class Tarry(Server):
    """tarry serve with a store in its directory."""

    program = None
    sync = "always"

    def made(self):
        return [self.serve(f"file:{self.directory}/store?sync={self.sync}")]

    def serve(self, store):
        return self.process([self.program, "serve", "--store", store, "--listen",
                             f"127.0.0.1:{self.port}"],
                            lambda: bool(fetched(f"{self.address()}/readyz")))

    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def pending(self):
        return json.loads(fetched(f"{self.address()}/v1/queues/bench"))["scheduled"]


class Tarry100ms(Tarry):
    sync = "100ms"


class Redis(Server):
    """What the rivals' users are told to set, so that a restart loses at most a second."""

    needed = ("redis-server",)
    key = ()  # the command that counts the rival's messages

    def redis(self, port):
        return self.process(["redis-server", "--port", port, "--bind", "127.0.0.1", "--dir",
                             self.directory, "--save", "", "--appendonly", "yes", "--appendfsync",
                             "everysec", "--loglevel", "warning"],
                            lambda: talked(port, b"PING\r\n", rb"\n").startswith(b"+PONG"))

    def made(self):
        return [self.redis(self.port)]

    def pending(self):
        command = " ".join(self.key).encode() + b"\r\n"
        return int(talked(self.port, command, rb"\n")[1:])


class TarryRedis(Tarry, Redis):
    """Both processes are one server: what either takes counts."""

    needed = Redis.needed

    def made(self):
        port = free_port()
        return [self.redis(port), self.serve(f"redis://127.0.0.1:{port}/0")]

    pending = Tarry.pending


class Beanstalkd(Server):
    needed = ("beanstalkd",)
    sync_ms = 50

    def made(self):
        return [self.process(["beanstalkd", "-l", "127.0.0.1", "-p", self.port, "-b",
                              self.directory, "-f", self.sync_ms], lambda: bool(self._stats()))]

    def _stats(self):
        return talked(self.port, b"stats\r\n", rb"\n\r\n$")

    def pending(self):
        return int(re.search(rb"current-jobs-delayed: (\d+)", self._stats())[1])


class Beanstalkd0(Beanstalkd):
    sync_ms = 0


class Nats(Server):
    program = None

    def made(self):
        self.watched = free_port()
        config = self.directory / "nats.conf"
        config.write_text(f'listen: "127.0.0.1:{self.port}"\nhttp: "127.0.0.1:{self.watched}"\n'
                          f'jetstream {{\n  store_dir: "{self.directory}/store"\n'
                          '  sync_interval: "100ms"\n}\n', encoding="utf-8")
        return [self.process([self.program, "-c", config],
                             lambda: bool(fetched(f"http://127.0.0.1:{self.watched}/healthz")))]

    def pending(self):
        return json.loads(fetched(f"http://127.0.0.1:{self.watched}/jsz"))["messages"]


class PostgreSql(Server):
    """A new cluster with PostgreSQL's own defaults: each commit is synced."""

    user = "postgres"
    programs = None  # the directory of its programs

    def made(self):
        self.data = self.directory / "data"
        if os.getuid() == 0:
            shutil.chown(self.directory, self.user, self.user)
        return [self.process([self.programs / "postgres", "-D", self.data, "-k", self.directory,
                              "-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1"],
                             lambda: self._psql("select 1") == "1")]

    def start(self):
        if not self.data.exists():
            self._run("initdb", "-D", self.data, "-U", self.user, "-A", "trust", "-E", "UTF8",
                      "--locale=C")
        super().start()

    def _run(self, name, *words):
        user = self.user if os.getuid() == 0 else None
        done = subprocess.run([self.programs / name, *words], capture_output=True, text=True,
                              user=user, group=user, cwd="/", check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def _psql(self, query):
        return self._run("psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", self.user, "-XtAc",
                         query)

    def address(self):
        return f"postgres://{self.user}@127.0.0.1:{self.port}/postgres"

    def pending(self):
        return int(self._psql("select count(*) from river_job"))


class RabbitMq(Server):
    """The tests' rabbitmq-server, without plugins."""

    def made(self):
        from rabbit_server import RabbitServer  # pylint: disable=import-outside-toplevel
        self._rabbit = RabbitServer()
        return []

    def address(self):
        return f"amqp://guest:guest@127.0.0.1:{self._rabbit.port}/"

    def roots(self):
        return [self._rabbit.group]

    def start(self):
        self._rabbit.start()

    def kill(self):
        self._rabbit.shoot()

    def close(self):
        self._rabbit.close()
        super().close()

    def disk_bytes(self):
        return disk_bytes(self._rabbit.path / "mnesia")

    def pending(self):
        told = self._rabbit.control("-q", "list_queues", "--no-table-headers", "name", "messages")
        return int(re.search(r"^waiting\s+(\d+)", told, re.MULTILINE)[1])


class ElasticMq(Server):
    """In its memory only, which is its default."""

    classpath = None
    forgets = True

    def made(self):
        return [self.process(
            ["java", "-Drest-sqs.bind-hostname=127.0.0.1", f"-Drest-sqs.bind-port={self.port}",
             f"-Dnode-address.port={self.port}", "-Drest-stats.enabled=false", "-cp",
             self.classpath, "org.elasticmq.server.Main"],
            lambda: bool(fetched(f"{self.address()}/?Action=ListQueues")))]

    def address(self):
        return f"http://127.0.0.1:{self.port}"


def counted_by(*command):
    """Redis that counts a rival's waiting messages with this command."""
    return type("Redis", (Redis,), {"key": command})
