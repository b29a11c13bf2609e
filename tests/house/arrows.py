"""Who may include whom. Arrows point one way, to what knows less; siblings never meet.

This table is the only place that says so: the CMake files' DEPS are held against it too.
"""

import re
from pathlib import Path

from source import Finding, files, includes, is_test

# Folder of src/ -> the folders whose headers it may include, besides its own and <tarry/...>.
ALLOWED = {
    "base": [],
    "core": ["base"],
    "timing": ["base"],
    "storage": ["base"],
    "net": ["base"],
    "wire": ["core", "base"],
    "engines/embedded": ["core", "timing", "storage", "base"],
    "engines/remote": ["core", "net", "wire", "base"],
    "engines/redis": ["core", "timing", "net", "base"],
    "metrics": ["core", "base"],
    "open": ["engines/embedded", "engines/remote", "engines/redis", "metrics", "core", "timing",
             "storage", "net", "base"],
    "worker": ["core", "base"],
    "relay": ["worker", "net", "wire", "core", "base"],
    "server": ["metrics", "core", "net", "wire", "base"],
    "app": ["server", "relay", "worker", "open", "wire", "core", "base"],
}

# Outside library (the start of the name in <...>) -> the folders that may use it.
OUTSIDE = {
    "boost/": ["net", "wire", "engines/remote", "engines/redis", "relay", "server", "app"],
    "xxhash": ["base", "core", "engines/embedded"],
    "fmt/": ["relay", "server", "app"],
    "spdlog/": ["server", "app"],
    "CLI/": ["app"],
    "toml++/": ["app"],
    "openssl/": ["net"],
    "hiredis/": ["net"],
    "amqp": ["relay"],
    "rabbitmq-c/": ["relay"],
    "curl/": ["relay"],
    "librdkafka/": ["relay"],
}
TEST_LIBRARIES = ("gtest/", "gmock/", "rapidcheck")

# What a public header may name from outside: the standard library's headers have neither slash
# nor dot; C's and POSIX's are written <cstdint>, not <stdint.h>.
_STANDARD = re.compile(r"^[a-z_0-9]+$")
# Headers for those who have the other library anyway; no other header of ours includes them.
ADAPTERS = {"include/tarry/asio.h": "boost/asio/"}


def folder_of(path, table=ALLOWED):
    """The folder of the table that holds src/PATH, or None."""
    parts = path.split("/")
    for length in (2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and name in table:
            return name
    return None


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
            elif target not in (None, folder, *ALLOWED[folder]):
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
    short = {name.rsplit("/", 1)[-1]: name for name in ALLOWED}
    for match in _DEPS.finditer(source.text):
        keyword = None
        line = source.text.count("\n", 0, match.start()) + 1
        for word in match.group(2).split():
            if word in _KEYWORDS:
                keyword = word
            elif keyword == "DEPS" and short.get(word) not in ALLOWED.get(folder, []):
                yield Finding(source.path, line, "arrow", f"{folder} may not depend on {word}")


def check(root):
    """Every arrow of the tree that runs the wrong way."""
    for source in files(root, ["include", "src"]):
        if source.path.endswith("/CMakeLists.txt"):
            yield from _check_cmake(source)
        elif source.path.startswith("include/"):
            yield from _check_public(source)
        elif source.is_cpp:
            yield from _check_private(source)
