"""All keys of a Redis database as JSON, byte for byte, and back. Each byte is one character."""

import contextlib
import json
import socket

from redis_server import FAILURE_SECONDS, Refusal

# Of a shard: sets whose scores say when something that was begun or kept ends. A later test moves
# them, because leases and what is remembered do not outlast a year.
ENDS = ("leases", "done", "dead")


def _reply(file):
    line = file.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise Refusal(rest.decode())
    if kind in b"+:":
        return rest
    if int(rest) < 0:
        return None
    if kind == b"*":
        return [_reply(file) for _ in range(int(rest))]
    return file.read(int(rest) + 2)[:-2]


@contextlib.contextmanager
def connection(redis):
    """A function that sends a command to that RedisServer, and returns its reply as bytes."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(FAILURE_SECONDS)
        wire.connect(str(redis.socket))
        with wire.makefile("rb") as file:
            def ask(*words):
                raw = [word if isinstance(word, bytes) else str(word).encode() for word in words]
                wire.sendall(b"*%d\r\n" % len(raw) +
                             b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in raw))
                return _reply(file)
            yield ask


def _text(value):
    return [_text(inner) for inner in value] if isinstance(value, list) else value.decode("latin-1")


def _pairs(flat):
    return sorted(zip(flat[::2], flat[1::2]))


READ = {
    b"hash": lambda ask, key: _pairs(ask("HGETALL", key)),
    b"zset": lambda ask, key: _pairs(ask("ZRANGE", key, 0, -1, "WITHSCORES")),
    b"stream": lambda ask, key: ask("XRANGE", key, "-", "+"),
}


def dumped(ask):
    """The text of the whole database. Expiry times are not kept: there must be none."""
    keys = {}
    for key in sorted(ask("KEYS", "*")):
        kind = ask("TYPE", key)
        assert ask("PTTL", key) == b"-1", key
        keys[_text(key)] = [_text(kind), [_text(list(item)) for item in READ[kind](ask, key)]]
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in keys.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def load(ask, text, later_ms):
    """Fills an empty database. What ends at a time ends later by `later_ms`."""
    for name, (kind, items) in json.loads(text).items():
        key = name.encode("latin-1")
        if kind == "stream":
            for number, fields in items:
                ask("XADD", key, number, *[field.encode("latin-1") for field in fields])
            continue
        ends = name.rpartition(":")[2] in ENDS
        for member, value in items:
            raw = member.encode("latin-1")
            if kind == "hash":
                ask("HSET", key, raw, value.encode("latin-1"))
            elif ends and value != "inf":
                ask("ZADD", key, int(value) + later_ms, raw)
            else:
                ask("ZADD", key, value, raw)
