"""Which folder may include which. Arrows point one way, to folders that know less; siblings never
include each other. Only this table says so; the DEPS of the CMake files are compared with it too.
"""

import re
from pathlib import Path

from source import Finding, files, includes, is_test

# Folder of src/ -> the folders whose headers it may include, besides its own and <tarry/...>.
ALLOWED = {
    "base": [],
    "base/text": ["base"],
    "base/threads": ["base"],
    "base/secrets": ["base/text", "base"],
    "core": ["base"],
    "core/settings": ["core", "base"],
    "core/rules": ["core/settings", "core", "base"],
    "core/figures": ["core/rules", "core/settings", "core", "base"],
    "core/engine_parts": ["core/rules", "core", "base"],
    "timing": ["base"],
    "storage": ["base"],
    "net": ["base"],
    "net/tls": ["base"],
    "net/http": ["net/tls", "base"],
    "net/rabbit": ["base"],
    "net/redis/protocol": ["base"],
    "net/redis": ["net/redis/protocol", "net/tls", "base"],
    "wire/json": ["core", "base"],
    "wire/parts": ["wire/json", "core", "base"],
    "wire": ["wire/parts", "wire/json", "core", "base"],
    # The embedded engine, from the ground up.
    "engines/embedded/records": ["core", "base"],
    "engines/embedded/gates": ["core", "base"],
    "engines/embedded/state/messages": ["engines/embedded/records", "core", "base"],
    "engines/embedded/state/lanes": ["engines/embedded/state/messages", "engines/embedded/gates",
                                     "engines/embedded/records", "core", "base"],
    "engines/embedded/state": ["engines/embedded/state/lanes", "engines/embedded/state/messages",
                               "engines/embedded/records", "core", "timing", "base"],
    "engines/embedded/journal": ["engines/embedded/records", "core", "timing", "storage", "base"],
    "engines/embedded/store": ["engines/embedded/journal", "engines/embedded/records", "core",
                               "storage", "base"],
    "engines/embedded/recovery": ["engines/embedded/state", "engines/embedded/journal",
                                  "engines/embedded/records", "core", "storage", "base"],
    "engines/embedded/reading": ["engines/embedded/journal", "engines/embedded/records", "core",
                                 "storage", "base"],
    "engines/embedded/shard/requests": ["engines/embedded/journal", "engines/embedded/records",
                                        "core", "base"],
    "engines/embedded/shard/context": ["engines/embedded/shard/requests",
                                       "engines/embedded/state", "engines/embedded/gates",
                                       "engines/embedded/journal", "engines/embedded/records",
                                       "core", "timing", "storage", "base"],
    "engines/embedded/shard/claims": ["engines/embedded/shard/context",
                                      "engines/embedded/shard/requests",
                                      "engines/embedded/reading", "engines/embedded/state",
                                      "engines/embedded/journal", "engines/embedded/records",
                                      "core", "base"],
    "engines/embedded/shard/verbs": ["engines/embedded/shard/context",
                                     "engines/embedded/shard/requests", "engines/embedded/reading",
                                     "engines/embedded/records", "core", "timing", "base"],
    "engines/embedded/shard": ["engines/embedded/shard/verbs", "engines/embedded/shard/claims",
                               "engines/embedded/shard/context", "engines/embedded/shard/requests",
                               "engines/embedded/reading", "engines/embedded/state",
                               "engines/embedded/journal", "engines/embedded/records", "core",
                               "timing", "storage", "base"],
    "engines/embedded/tools": ["engines/embedded/store", "engines/embedded/recovery",
                               "engines/embedded/state", "engines/embedded/journal", "core",
                               "timing", "storage", "base"],
    "engines/embedded/threads": ["engines/embedded/shard", "engines/embedded/shard/requests",
                                 "engines/embedded/reading", "engines/embedded/state",
                                 "engines/embedded/journal", "core", "timing", "storage", "base"],
    "engines/embedded/front": ["engines/embedded/threads", "engines/embedded/store",
                               "engines/embedded/gates",
                               "engines/embedded/shard/requests", "engines/embedded/records",
                               "core", "timing", "storage", "base"],
    "engines/embedded": ["engines/embedded/front", "engines/embedded/tools",
                         "engines/embedded/recovery", "engines/embedded/store",
                         "engines/embedded/journal", "core", "timing", "storage", "base"],
    "engines/remote": ["core", "net/http", "net/tls", "wire", "wire/parts", "base"],
    # The engine on Redis, from the ground up: the texts of the scripts, how a message is written,
    # one server; then the verbs. `layouts` is an engine of its own, for queues of other programs.
    "engines/redis/scripts": [],
    "engines/redis/records": ["core", "net/redis", "net/redis/protocol", "base"],
    "engines/redis/node": ["engines/redis/records", "engines/redis/scripts", "core", "timing",
                           "net/redis", "base"],
    "engines/redis/queues": ["engines/redis/node", "engines/redis/records", "core", "net/redis",
                             "base"],
    "engines/redis/verbs": ["engines/redis/queues", "engines/redis/node", "engines/redis/records",
                            "core", "net/redis", "base"],
    "engines/redis/claims": ["engines/redis/verbs", "engines/redis/node", "engines/redis/records",
                             "core", "timing", "net/redis", "base"],
    "engines/redis/inbox": ["engines/redis/verbs", "engines/redis/records", "core",
                            "net/redis/protocol", "base"],
    "engines/redis/reshard": ["engines/redis/inbox", "engines/redis/verbs", "engines/redis/queues",
                              "engines/redis/node", "engines/redis/records", "core", "base"],
    "engines/redis/layouts/redisson": ["engines/redis/records", "base"],
    "engines/redis/layouts/keys": ["engines/redis/layouts/redisson", "engines/redis/verbs",
                                   "engines/redis/node", "engines/redis/records", "core", "base"],
    "engines/redis/layouts/verbs": ["engines/redis/layouts/keys", "engines/redis/layouts/redisson",
                                    "engines/redis/claims", "engines/redis/verbs",
                                    "engines/redis/node", "engines/redis/records", "core", "net",
                                    "base"],
    "engines/redis/layouts": ["engines/redis/layouts/verbs", "engines/redis/layouts/keys",
                              "engines/redis/layouts/redisson", "engines/redis/claims",
                              "engines/redis/node", "engines/redis/records", "core", "timing",
                              "net/redis", "base"],
    "engines/redis": ["engines/redis/reshard", "engines/redis/inbox", "engines/redis/claims",
                      "engines/redis/verbs", "engines/redis/queues", "engines/redis/node",
                      "engines/redis/records", "core", "timing", "net/redis", "net/redis/protocol",
                      "base"],
    "engines/rabbitmq/ladder": ["core", "net/rabbit", "base"],
    "engines/rabbitmq/messages": ["engines/rabbitmq/ladder", "core", "timing", "net/rabbit",
                                  "base"],
    "engines/rabbitmq": ["engines/rabbitmq/messages", "engines/rabbitmq/ladder", "core", "timing",
                         "net/rabbit", "base"],
    "metrics": ["core", "base"],
    "open/urls": ["engines/embedded", "engines/redis/records", "core", "net/tls", "base"],
    "open/redis": ["open/urls", "engines/redis/node", "net/redis", "core", "base"],
    "open/handles": ["metrics", "open/urls", "core", "base"],
    "open": ["open/handles", "open/redis", "open/urls", "engines/embedded/tools",
             "engines/embedded/store", "engines/embedded/journal", "engines/remote",
             "engines/redis", "engines/redis/layouts", "engines/rabbitmq", "core", "timing",
             "storage", "net/http", "net/rabbit", "base"],
    "leases": ["core", "base"],
    "worker": ["leases", "core", "base"],
    # A sink is a folder, and includes no other sink. All of them may include files directly in
    # `relay/sinks`.
    "relay/coordination": ["net/redis", "wire", "wire/parts", "base"],
    "relay": ["relay/coordination", "leases", "wire", "wire/json", "wire/parts", "core", "base"],
    "relay/rabbit": ["net/rabbit", "leases", "core", "base"],
    "relay/intakes": ["relay/rabbit", "net/rabbit", "leases", "core", "base"],
    "relay/sinks": ["relay", "base"],
    "relay/sinks/stdout": ["relay/sinks", "relay", "base"],
    "relay/sinks/command": ["relay/sinks", "relay", "base"],
    "relay/sinks/redis": ["relay/sinks", "relay", "net/redis", "base"],
    "relay/sinks/rabbitmq": ["relay/sinks", "relay", "relay/rabbit", "net/rabbit", "base"],
    "relay/sinks/kafka": ["relay/sinks", "relay", "base"],
    "relay/sinks/webhook": ["relay/sinks", "relay", "net", "net/tls", "base"],
    "schedule/calendar": ["core", "base"],
    "schedule": ["schedule/calendar", "leases", "open", "open/handles", "wire", "wire/json",
                 "wire/parts", "core", "base"],
    "server/limits": ["base"],
    "server/metrics": ["server/limits", "metrics", "core", "base"],
    "server/presets": ["core", "base"],
    "server/listening": ["base"],
    "server/identity": ["core", "net", "base"],
    "server/audit": ["core", "wire", "wire/json", "wire/parts", "base"],
    # The common part of all fronts, and the fronts: no front includes another one. What a session
    # is made of knows no session.
    "server/session_parts": ["server/listening", "server/identity", "server/limits", "server/audit",
                             "core", "base"],
    "server/session": ["server/session_parts", "server/listening", "server/identity",
                       "server/limits", "server/audit", "server/metrics", "core", "base"],
    # The common part of the fronts over HTTP.
    "server/http_session": ["server/session", "server/listening", "server/session_parts", "core",
                            "net/http", "base"],
    "server/console": ["server/identity", "core", "net/http", "wire", "base"],
    "server/http/handlers": ["server/session_parts", "server/audit", "server/console",
                             "server/http_session", "server/identity", "server/limits",
                             "server/metrics", "net/http", "schedule", "wire", "wire/json",
                             "wire/parts", "core", "base"],
    "server/http": ["server/http/handlers", "server/session_parts", "server/http_session",
                    "server/session", "server/console", "server/listening", "server/identity",
                    "server/metrics", "metrics", "core", "net/http", "wire", "wire/json",
                    "wire/parts", "base"],
    "server/sqs/protocol": ["server/http_session", "server/identity", "server/session_parts",
                            "core", "net/http", "net", "base"],
    "server/sqs/queues": ["server/sqs/protocol", "core", "net", "base"],
    "server/sqs/operations": ["server/sqs/queues", "server/sqs/protocol", "server/audit", "core",
                              "net", "base"],
    "server/sqs": ["server/sqs/operations", "server/sqs/queues", "server/sqs/protocol",
                   "server/http_session", "server/session", "server/identity", "server/audit",
                   "core", "net/http", "net", "base"],
    "server/beanstalk": ["server/session", "server/identity", "server/session_parts", "core",
                         "base"],
    "server": ["server/http", "server/sqs", "server/beanstalk", "server/session",
               "server/listening", "core", "base"],
    # The program, from the ground up. `app` itself is main and the composition root.
    "app/system": ["base"],
    "app/output": ["app/system", "wire", "wire/json", "wire/parts", "core", "base"],
    "app/relays": ["app/system", "relay", "relay/coordination", "relay/intakes", "relay/sinks",
                   "relay/sinks/stdout", "relay/sinks/command", "relay/sinks/redis",
                   "relay/sinks/rabbitmq", "relay/sinks/kafka", "relay/sinks/webhook", "open",
                   "open/redis", "open/urls", "core", "base"],
    "app/pictures": ["app/output", "core", "wire", "wire/json", "wire/parts", "base"],
    "app/sizing": ["net/redis/protocol", "base"],
    "app/transfer": ["app/system", "open", "open/handles", "wire", "wire/json", "wire/parts",
                     "core", "base"],
    "app/config": ["app/relays", "app/output", "app/system", "server/listening", "server/presets",
                   "schedule", "open", "open/urls", "core", "base"],
    "app/command_line": ["app/config", "app/relays", "app/output", "open", "open/urls", "core",
                         "base"],
    "app/serve": ["app/config", "app/output", "app/system", "server/session", "server/listening",
                  "server/identity", "server/audit", "server/presets", "server/session_parts",
                  "schedule", "open", "open/handles", "open/urls", "wire", "wire/json", "core",
                  "base"],
    "app/commands": ["app/command_line", "app/output", "wire", "core", "base"],
    "app/commands/messages": ["app/commands", "app/command_line", "app/transfer", "app/output",
                              "app/system", "wire", "wire/parts", "core", "base"],
    "app/commands/schedules": ["app/commands", "app/command_line", "app/output", "app/system",
                               "schedule", "schedule/calendar", "core", "base"],
    "app/commands/queues": ["app/commands", "app/command_line", "app/pictures", "app/output",
                            "app/system", "open", "open/urls", "wire", "wire/parts", "core",
                            "base"],
    "app/commands/store": ["app/commands", "app/command_line", "app/transfer", "app/output",
                           "app/system", "open", "open/redis", "open/urls", "wire", "wire/json",
                           "core", "base"],
    # This folder puts the server together.
    "app/commands/service": ["app/commands", "app/command_line", "app/serve", "app/config",
                             "app/relays", "app/output", "app/system", "server/http", "server/sqs",
                             "server/beanstalk", "server/http_session", "server/session",
                             "server/listening", "server/identity", "server/audit",
                             "server/presets", "server/metrics", "relay", "relay/intakes",
                             "schedule", "open", "open/handles", "open/urls", "wire", "wire/json",
                             "wire/parts", "core", "base"],
    "app/commands/program": ["app/commands", "app/command_line", "app/relays", "app/pictures",
                             "app/output", "app/sizing", "app/system", "core", "base"],
    "app": ["app/commands", "app/command_line", "app/output", "app/system", "server", "relay",
            "worker", "open", "wire", "core", "base"],
}
# Modules whose folders are open to all: whoever may include one may include all of its folders.
WHOLE = ("base", "core")


def below(top):
    """That folder of the table, and all folders in it."""
    return [folder for folder in ALLOWED if folder == top or folder.startswith(top + "/")]


def allowed(folder):
    """All folders that `folder` may include, itself among them."""
    opened = [part for top in WHOLE if top in ALLOWED[folder] and _module(folder) != top
              for part in below(top)]
    return {folder, *ALLOWED[folder], *opened}


# Outside library (the start of the name in <...>) -> the folders that may use it.
OUTSIDE = {
    "boost/": [*below("net"), *below("wire"), "engines/remote", *below("engines/redis"),
               "relay/coordination", "relay/sinks/redis", *below("server"), "app/transfer"],
    "xxhash": ["base"],
    "fmt/": [*below("relay"), *below("app")],
    "spdlog/": ["app/serve"],
    "CLI/": ["app", "app/command_line", *below("app/commands")],
    "toml++/": ["app/config"],
    "openssl/": ["net", "net/tls", "server/listening"],
    "hiredis/": ["net/redis/protocol"],
    "amqp": ["net/rabbit"],
    "rabbitmq-c/": ["net/rabbit"],
    "curl/": ["relay/sinks/webhook"],
    "librdkafka/": ["relay/sinks/kafka"],
    "zookeeper/": ["relay/coordination"],
}
TEST_LIBRARIES = ("gtest/", "gmock/", "rapidcheck")

# What a public header may include from outside. Headers of the standard library have neither slash
# nor dot; those of C and POSIX are written <cstdint>, not <stdint.h>.
_STANDARD = re.compile(r"^[a-z_0-9]+$")
# Headers for programs that have the other library anyway; no other header of ours includes them.
ADAPTERS = {"include/tarry/asio.h": "boost/asio/"}


def folder_of(path, table=ALLOWED):
    """The innermost folder of the table that holds src/PATH, or None. If the table names folders
    within a folder, that folder has no others."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in table:
            is_divided = any(other.startswith(name + "/") for other in table)
            return None if is_divided and length < len(parts) else name
    return None


def _module(folder):
    """The part that is built as one: `engines/redis` for engines/redis/verbs, `relay` for
    relay/sinks."""
    return "/".join(folder.split("/")[:2 if folder.startswith("engines/") else 1])


def _check_public(source):
    for line, name, quoted in includes(source.text):
        if quoted:
            yield Finding(source.path, line, "arrow", f'"{name}": public headers use <tarry/...>')
        elif name.removeprefix("tarry/") in (Path(path).name for path in ADAPTERS):
            yield Finding(source.path, line, "arrow", f"<{name}> is included by users alone")
        elif not name.startswith(("tarry/", ADAPTERS.get(source.path, "tarry/"))) \
                and not _STANDARD.match(name):
            yield Finding(source.path, line, "arrow",
                          f"<{name}>: include/tarry includes only itself and std")


def _check_private(source):
    inside = source.path.removeprefix("src/")
    folder = folder_of(inside)
    if folder is None:
        yield Finding(source.path, 0, "arrow",
                      "in no folder of the table in tests/house/arrows.py")
        return
    test = is_test(source.path)
    for line, name, quoted in includes(source.text):
        if quoted:
            target = folder_of(name)
            if target is None and not (test and name.startswith("support/")):
                yield Finding(source.path, line, "arrow",
                              f'"{name}": write it from src, as "base/units.h"')
            elif target is not None and target not in allowed(folder):
                yield Finding(source.path, line, "arrow", f"{folder} may not include {target}")
            continue
        if name.startswith(TEST_LIBRARIES) and not test:
            yield Finding(source.path, line, "outside", f"<{name}> outside a test")
        for prefix, users in OUTSIDE.items():
            if name.startswith(prefix) and folder not in users:
                yield Finding(source.path, line, "outside", f"{folder} may not use <{name}>")


_DEPS = re.compile(r"tarry_module\(\s*(\w+)([^)]*)\)")
_KEYWORDS = {"DEPS", "LIBS", "DEFINES", "PCH", "SOURCES", "EXCLUDE", "TEST_LIBS"}


def _check_cmake(source):
    folder = source.path.removeprefix("src/").removesuffix("/CMakeLists.txt")
    modules = {_module(name) for name in ALLOWED}
    short = {name.rsplit("/", 1)[-1]: name for name in modules}
    allowed = {_module(name) for part in below(folder) for name in ALLOWED[part]}
    for match in _DEPS.finditer(source.text):
        keyword = None
        line = source.text.count("\n", 0, match.start()) + 1
        for word in match.group(2).split():
            if word in _KEYWORDS:
                keyword = word
            elif keyword == "DEPS" and short.get(word) not in allowed:
                yield Finding(source.path, line, "arrow", f"{folder} may not depend on {word}")


def check(root):
    """Every include of the tree that breaks the table."""
    for source in files(root, ["include", "src"]):
        if source.path.endswith("/CMakeLists.txt"):
            yield from _check_cmake(source)
        elif source.path.startswith("include/"):
            yield from _check_public(source)
        elif source.is_cpp:
            yield from _check_private(source)
