#!/usr/bin/env python3
"""Every flag of every command is named by a test, in one statement together with its command, so
that a new flag is not forgotten. This test cannot see whether the other test would fail if the flag
were ignored: its author must remove the flag once and look.
"""

import ast
import json
import re
import subprocess
import unittest

import config_test
from program import PROGRAM, SOURCE, environment

# Flags of every command; cli_test.py tests what they do.
GENERAL = {"-h", "--help", "--version", "--store", "-o", "--output", "--json"}
# A statement that only checks how a flag is refused does not test what the flag does.
REFUSES = re.compile(r"refused\(|code=USAGE|code=2\b")


def asked(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60,
                          env=environment(), check=True).stdout


def commands():
    """The flags of each command, from the words that completion offers."""
    offered = re.findall(r"^    '([a-z ]*)'\) flags='([^']*)'", asked("completion", "bash"),
                         re.MULTILINE)
    return {command: set(names.split()) for command, names in offered}


def flags():
    return {(command, flag) for command, names in commands().items() for flag in names - GENERAL}


def parts_of(node):
    """The parts of a node that count as one statement: for a loop, all statements in it except
    refusals; for a `with`, its head."""
    if isinstance(node, ast.With):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.For):
        return [node.iter, *(part for below in node.body for part in parts_of(below))]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Try, ast.If)):
        return []
    return [node] if isinstance(node, ast.stmt) else []


def statements(path):
    """The text of each statement, with the values of the constants that it names."""
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")

    def written(node):
        return "\n".join(lines[node.lineno - 1:node.end_lineno])

    tree = ast.parse(source)
    constants = {node.targets[0].id: written(node)
                 for node in tree.body if isinstance(node, ast.Assign)
                 and isinstance(node.targets[0], ast.Name)}
    for node in ast.walk(tree):
        told = [written(part) for part in parts_of(node)]
        text = "\n".join(part for part in told if not REFUSES.search(part))
        named = set(re.findall(r"\b[A-Z_]+\b", text)) & constants.keys()
        yield text + "".join(constants[name] for name in sorted(named))


def functions(path):
    """The same for C++, but by function."""
    yield from re.split(r"^ {0,2}}", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def texts():
    """For each flag, all texts that name it."""
    tests = SOURCE / "tests"
    found = [text for path in sorted(tests.rglob("*.py")) if path.name != "flags_test.py"
             for text in statements(path)]
    found += [text for path in [*tests.rglob("*.cpp"), *(SOURCE / "src").rglob("*_test.cpp")]
              for text in functions(path)]
    naming = {}
    for text in found:
        for flag in flags_in(text):
            naming.setdefault(flag, []).append(text.replace("Server(", "serve("))
    return naming


def flags_in(text):
    return set(re.findall(r"[\"' ](--[a-z-]+)(?=[\"' =])", text))


def says(text, command):
    return all(re.search(rf"(?<![a-z-]){word}(?![a-z-])", text) for word in command.split())


class Flags(unittest.TestCase):
    """The flags are those of the built program."""

    def test_each_is_named(self):
        every = flags()
        self.assertGreater(len(every), 100)
        told = texts()
        unnamed = {(command, flag) for command, flag in every
                  if not any(says(text, command) for text in told.get(flag, ()))}
        # config_test.py takes its flags from the program's list, and has a value for each.
        listed = json.loads(asked("-o", "json", "config", "check"))["settings"]
        unnamed -= {("config check", setting["flag"]) for setting in listed
                    if setting["name"] in config_test.Config.VALUES}
        self.assertEqual(sorted(unnamed), [])

    def test_what_counts(self):
        text = 'self.tarry("queue", "set", "q", "--lease", "1m", "--dead-keep=1d", "--if: no")'
        self.assertEqual(flags_in(text), {"--lease", "--dead-keep"})
        self.assertTrue(says(text, "queue set"))
        self.assertTrue(says('self.queue_set("--lease", "1m")', "queue set"))
        self.assertFalse(says('self.tarry("queue", "reset", "--lease", "1m")', "queue set"))


if __name__ == "__main__":
    unittest.main()
