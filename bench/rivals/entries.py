"""The rivals, and tarry as often as it has settings worth comparing."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import servers

CLIENTS = Path(__file__).resolve().parents[1] / "clients" / "rivals"


def go_module(name):
    """"nats.go 1.52.0": the module with its pinned version."""
    text = (CLIENTS / "go/go.mod").read_text(encoding="utf-8")
    version = re.search(rf"{re.escape(name)}(?:/v\d+)? v(\S+)", text)[1]
    return f"{name.rpartition('/')[2]} {version}"


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


def _nats(programs):
    servers.Nats.program = programs.nats_server()[0]


def _tarry(name, title, settings, server):
    return Entry(name, title, "tarry's for Go", settings, server,
                 lambda programs: programs.go("tarry"), 100)


ENTRIES = (
    _tarry("tarry-always", "tarry", "`sync=always`: a message is on the disk before the answer",
           servers.Tarry),
    _tarry("tarry-100ms", "tarry", "`sync=100ms`: synced within 0.1 s", servers.Tarry100ms),
    _tarry("tarry-redis", "tarry on Redis", "Redis with AOF everysec; both processes count",
           servers.TarryRedis),
    Entry("beanstalkd", "beanstalkd", go_module("github.com/beanstalkd/go-beanstalk"),
          "`-f 50`: its log is synced within 50 ms", servers.Beanstalkd,
          lambda programs: programs.go("beanstalkd")),
    Entry("beanstalkd-f0", "beanstalkd", go_module("github.com/beanstalkd/go-beanstalk"),
          "`-f 0`: synced before the answer", servers.Beanstalkd0,
          lambda programs: programs.go("beanstalkd")),
    Entry("nats", "NATS JetStream", go_module("github.com/nats-io/nats.go"),
          "scheduled messages in files, `sync_interval` 100 ms; acks are confirmed, in batches the "
          "last one's", servers.Nats, lambda programs: programs.go("nats"), 100, _nats),
)
NAMES = [entry.name for entry in ENTRIES]
