"""Rules that neither the formatter nor the compiler checks: each one is a line of text to search
for.
"""

import re
from dataclasses import dataclass
from typing import Callable

from source import Finding, code_only, files, includes, is_test

TOPS = ["include", "src", "tests", "bench", "fuzz", "cmake", "scripts", "examples", ".ci",
        "clients", "CMakeLists.txt"]
TEXT = (".h", ".cpp", ".py", ".sh", ".cmake", ".in", "CMakeLists.txt")
MAX_COLUMNS = 100
MAX_LINES = 800


def _is_text(path):
    return path.endswith(TEXT) or path.startswith(("scripts/", ".ci/"))


def _is_cpp(path):
    return path.endswith((".h", ".cpp"))


def _is_told_the_time(path):
    """Whether this code gets the time from its caller, and must not read a clock."""
    return path.startswith(("src/core/", "src/timing/", "src/engines/embedded/")) and not (
        path.startswith("src/timing/real_clock"))


@dataclass(frozen=True)
class Ban:
    """A pattern that is forbidden in code (comments and strings do not count)."""

    rule: str
    applies: Callable[[str], bool]
    pattern: str
    why: str


BANS = [
    Ban("clock", lambda p: _is_cpp(p) and _is_told_the_time(p),
        r"\b(system|steady|high_resolution|utc)_clock::now\b|\bclock_gettime\b|\bgettimeofday\b"
        r"|\btime\(\s*(nullptr|NULL|0)\s*\)",
        "time is handed in here; only timing/real_clock asks for it"),
    Ban("random", _is_cpp, r"\b(std::)?s?rand\(|\brandom_shuffle\b",
        "rand() is neither seeded by us nor thread safe"),
    Ban("sleep", lambda p: _is_cpp(p) and is_test(p),
        r"\bsleep_(for|until)\b|\b(u|nano)?sleep\(", "wait for the event instead"),
    Ban("sleep", lambda p: p.startswith("tests/") and p.endswith(".py")
        and not p.startswith("tests/house/"), r"\btime\.sleep\(", "wait for the event instead"),
    Ban("format", _is_cpp, r"\bstd::v?format(_to|_to_n|ted_size)?\b", "g++ 12 has no std::format"),
    Ban("thread", lambda p: p.startswith("src/") and _is_cpp(p) and not is_test(p)
        and not p.startswith("src/base/thread"),
        r"\bstd::j?thread(\s+\w+)?\s*[({]|\bthreads?_?\.emplace_back\(|\bstd::async\b"
        r"|\bpthread_create\b|\bthread_pool\b",
        "base/threads/thread.h starts threads: named, and without the program's signals"),
    Ban("coroutine", _is_cpp, r"\bco_(await|return|yield)\b", "g++ 12 miscompiles some"),
]
_BANNED_HEADERS = {"format": "format", "coroutine": "coroutine", "print": "format"}


def _check_text(source):
    for number, line in enumerate(source.lines, 1):
        if "\t" in line:
            yield Finding(source.path, number, "tab", "spaces only")
        if "\r" in line:
            yield Finding(source.path, number, "line-end", "a carriage return")
        if line != line.rstrip():
            yield Finding(source.path, number, "trailing-space", "a space at the line's end")
        if len(line) > MAX_COLUMNS:
            yield Finding(source.path, number, "columns", f"{len(line)} columns of {MAX_COLUMNS}")
    if source.text and not source.text.endswith("\n"):
        yield Finding(source.path, len(source.lines), "line-end", "no newline at the end")
    length = source.text.count("\n")
    if length > MAX_LINES and source.path.startswith(("src/", "include/", "tests/")):
        yield Finding(source.path, 0, "length", f"{length} lines of {MAX_LINES}: split it")


def _check_code(source):
    code = code_only(source.text) if source.is_cpp else source.text
    for number, line in enumerate(code.split("\n"), 1):
        if not source.is_cpp:
            line = line.split("#")[0]
        for ban in BANS:
            if ban.applies(source.path) and re.search(ban.pattern, line):
                yield Finding(source.path, number, ban.rule, ban.why)
    if not source.is_cpp:
        return
    for number, name, _ in includes(source.text):
        if name in _BANNED_HEADERS:
            yield Finding(source.path, number, _BANNED_HEADERS[name], f"<{name}>")
    if source.path.endswith(".h") and not re.search(r"^#pragma once$", code, re.MULTILINE):
        yield Finding(source.path, 0, "pragma-once", "a header without #pragma once")


def _check_dead(sources):
    """Finds headers that nobody includes, and source files that no build rule contains."""
    included = {name for source in sources if source.is_cpp
                for _, name, _ in includes(source.text)}
    for source in sources:
        if source.path.startswith("src/"):
            if source.path.endswith((".cc", ".cxx", ".hpp", ".hh", ".ipp")):
                yield Finding(source.path, 0, "dead", "only *.h and *.cpp are built")
            if source.path.endswith(".h") and source.path.removeprefix("src/") not in included:
                yield Finding(source.path, 0, "dead", "no file includes this header")


def check(root):
    """Every broken rule of the tree."""
    sources = list(files(root, TOPS))
    for source in sources:
        if _is_text(source.path):
            yield from _check_text(source)
            yield from _check_code(source)
    yield from _check_dead(sources)
