"""The rivals, and tarry as often as it has settings worth comparing."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import servers

sys.path += [str(Path(__file__).resolve().parents[1] / "clients"),
             str(Path(__file__).resolve().parents[1])]
from java_classpath import KINDS, SOURCE  # noqa: E402  pylint: disable=wrong-import-position
from install import (  # noqa: E402  pylint: disable=wrong-import-position
    CELERY, HERE, NATS_SERVER, Failed)

REDIS = "AOF everysec: a power failure loses about a second"


def go_module(name):
    """"nats.go 1.52.0": the module with its pinned version."""
    text = (HERE / "rivals/go/go.mod").read_text(encoding="utf-8")
    version = re.search(rf"{re.escape(name)}(?:/v\d+)? v(\S+)", text)[1]
    return f"{name.rpartition('/')[2]} {version}"


def pinned(file, name):
    """The version of that package in a file below clients/rivals."""
    text = (HERE / "rivals" / file).read_text(encoding="utf-8")
    return re.search(rf'"?{re.escape(name)}"?(?:: "|==)([\d.]+)', text)[1]


def maven(kind):
    """The version in that pom of java_classpath.KINDS."""
    text = (SOURCE / KINDS[kind][0]).read_text(encoding="utf-8")
    return re.search(r"<(?:redisson\.)?version>([\d.]+\d)</", text[text.index("</version>"):])[1]


@dataclass(frozen=True)
class Entry:
    """A server with its settings, driven by a client's program."""

    name: str
    title: str
    client: str
    settings: str  # durability, and what else decides about the figures
    server: type
    program: Callable  # of install.Programs: the first words of the command line
    batch: int = 0  # messages in a batch; 0 if the client has no batches
    needs: Callable = lambda programs: None  # gives the server's class what it needs
    pending_delay: int = 24 * 3600  # seconds: nothing of what is pending falls due
    warm_ups: int = 1  # runs whose figures do not count


def _nats(programs):
    servers.Nats.program = programs.nats_server()[0]


def _postgresql(_programs):
    """Debian's newest; its programs are not in the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise Failed("PostgreSQL is not installed")
    servers.PostgreSql.programs = found[-1].parent


def _rabbitmq(_programs):
    for need in ("/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/lib/python3/dist-packages/pika"):
        if not Path(need).exists():
            raise Failed(f"there is no {need}")


def _elasticmq(programs):
    servers.ElasticMq.classpath = programs.classpath("elasticmq")


def _tarry(name, title, settings, server):
    return Entry(name, title, "tarry's for Go", settings, server,
                 lambda programs: programs.go("tarry"), 100)


ENTRIES = (
    _tarry("tarry-always", "tarry", "`sync=always`: a message is on the disk before the answer",
           servers.Tarry),
    _tarry("tarry-100ms", "tarry", "`sync=100ms`: synced within 0.1 s", servers.Tarry100ms),
    _tarry("tarry-redis", "tarry on Redis",
           "Redis with AOF everysec; the figures are of both processes",
           servers.TarryRedis),
    Entry("beanstalkd", "beanstalkd", go_module("github.com/beanstalkd/go-beanstalk"),
          "`-f 50`: its log is synced within 50 ms", servers.Beanstalkd,
          lambda programs: programs.go("beanstalkd")),
    Entry("beanstalkd-f0", "beanstalkd", go_module("github.com/beanstalkd/go-beanstalk"),
          "`-f 0`: synced before the answer", servers.Beanstalkd0,
          lambda programs: programs.go("beanstalkd")),
    Entry("nats", "NATS JetStream", go_module("github.com/nats-io/nats.go"),
          f"nats-server {NATS_SERVER.rpartition('@v')[2]}, scheduled messages in files, "
          "`sync_interval` 100 ms; acks are confirmed, in batches the last one's", servers.Nats,
          lambda programs: programs.go("nats"), 100, _nats),
    Entry("rabbitmq", "RabbitMQ, TTL and dead-letter exchange",
          go_module("github.com/rabbitmq/amqp091-go"),
          "durable classic queues, persistent, confirms, acks", servers.RabbitMq,
          lambda programs: programs.go("rabbitmq"), 100, _rabbitmq),
    Entry("river", "River on PostgreSQL", go_module("github.com/riverqueue/river"),
          "each commit is synced; 1,000 workers, since it fetches ten times a second; it looks for "
          "due jobs every 5 s; its memory is a cache of fixed size", servers.PostgreSql,
          lambda programs: programs.go("river"), 100, _postgresql),
    Entry("asynq", "asynq on Redis", go_module("github.com/hibiken/asynq"),
          REDIS + "; 10 handlers, as in its README; it looks for due tasks every 5 s, its default",
          servers.counted_by("ZCARD", "asynq:{default}:scheduled"),
          lambda programs: programs.go("asynq")),
    Entry("bullmq", "BullMQ on Redis", f"bullmq {pinned('package.json', 'bullmq')}",
          REDIS + "; batches are of pushes, a worker has as many jobs at once",
          servers.counted_by("ZCARD", "bull:bench:delayed"),
          lambda programs: programs.bullmq(), 100),
    Entry("redisson", "Redisson's RDelayedQueue on Redis", f"Redisson {maven('redisson')}",
          REDIS + "; a value that was taken is gone",
          servers.counted_by("ZCARD", "redisson_delay_queue_timeout:{bench}"),
          lambda programs: programs.java("RedissonRival", "redisson"), 100),
    Entry("celery", "Celery on Redis", f"Celery {CELERY.partition('==')[2]}",
          REDIS + "; acks before the task runs, its default; the server is Redis alone, and the "
          "worker holds what is due later in its own memory",
          servers.counted_by("LLEN", "celery"), lambda programs: programs.celery()),
    Entry("elasticmq", "ElasticMQ", f"AWS SDK for Java {maven('sqs-client')}",
          "in memory only; delays up to 15 minutes", servers.ElasticMq,
          lambda programs: programs.java("SqsRival", "sqs-client"), 10, _elasticmq, 900, 5),
)
NAMES = [entry.name for entry in ENTRIES]
