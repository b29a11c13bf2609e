"""Reading the tree: which files are ours, and C++ without its comments and strings."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

CPP = (".h", ".cpp")
SKIPPED_DIRECTORIES = {".git", "build", "__pycache__", "node_modules"}


@dataclass(frozen=True)
class Finding:
    """One broken rule. Line 0 means the file as a whole."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.message}"


@dataclass(frozen=True)
class Source:
    """A file of the tree. `path` is relative to its root, with forward slashes."""

    path: str
    text: str

    @property
    def lines(self):
        return self.text.split("\n")

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)


def is_test(path):
    """Tests, and headers that only tests include (test_*.h beside them)."""
    name = path.rsplit("/", 1)[-1]
    return (path.startswith("tests/") or name.endswith("_test.cpp")
            or (name.startswith("test_") and name.endswith(".h")))


def files(root, tops):
    """The text files below each of `tops` (folders or files) that exist, in a stable order."""
    root = Path(root)
    for top in tops:
        start = root / top
        found = [start] if start.is_file() else []
        for directory, folders, names in os.walk(start):
            folders[:] = sorted(f for f in folders if f not in SKIPPED_DIRECTORIES)
            found += [Path(directory) / name for name in sorted(names)]
        for path in found:
            try:
                text = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                continue  # golden files and the like
            yield Source(path.relative_to(root).as_posix(), text)


# Raw strings come first, then comments, strings and characters; a digit separator is none of them.
_TOKEN = re.compile(
    r'R"(?P<tag>[^()\\\s]{0,16})\((?:.|\n)*?\)(?P=tag)"'
    r"|//[^\n]*(?:\\\n[^\n]*)*"
    r"|/\*(?:.|\n)*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
)


def code_only(text):
    """The text with comments and literals replaced by blanks, line for line."""
    return _TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/")


def includes(text):
    """(line, name, quoted) of every #include that is not commented out."""
    plain = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for match in _INCLUDE.finditer(plain):
        name = match.group(1)
        yield plain.count("\n", 0, match.start(1)) + 1, name[1:-1], name[0] == '"'
