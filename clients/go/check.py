#!/usr/bin/env python3
"""Formatter, linter and tests of the Go client, and the code of its guide; exit 1 if any fails.

The module for OpenTelemetry needs a newer Go than the client: with an older one it is not tested.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import readme  # noqa: E402

SPANS = HERE / "opentelemetry"
GUIDE = HERE.parents[1] / "docs/guide/go.md"
BLOCK = re.compile(r"<!-- test -->\n```go\n(.*?)```", re.DOTALL)


def run(*command, folder=HERE):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    print("$", *command, done.stdout + done.stderr, sep=" ", flush=True)
    return done


def module(place):
    Path(place, "go.mod").write_text(
        "module guide\n\ngo 1.21\n\nrequire tarry.io/go/tarry v0.0.0\n\n"
        f"replace tarry.io/go/tarry => {HERE}\n")


def newcomer():
    with tempfile.TemporaryDirectory(prefix="tarry-readme-") as place:
        module(place)
        said = readme.said(HERE / "README.md", "main.go", ["go", "build", "-o", "shop", "."],
                           [str(Path(place, "shop"))], folder=place)
        print("README.md:", said)
        return said != ["cancelled <nil>", "closed order:42"]


def guide():
    """Each block of the guide is a test file of its own package."""
    if not GUIDE.exists():
        return 0
    text = GUIDE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    if len(blocks) != text.count("```go\n") or not blocks:
        print(f"{GUIDE}: {len(blocks)} blocks of Go are marked as tests, of "
              f"{text.count('```go')}")
        return 1
    with tempfile.TemporaryDirectory(prefix="tarry-guide-") as place:
        module(place)
        for number, block in enumerate(blocks):
            folder = Path(place, f"block{number}")
            folder.mkdir()
            (folder / "guide_test.go").write_text(block)
        failed = bool(run("gofmt", "-l", ".", folder=place).stdout)
        return failed or run("go", "vet", "./...", folder=place).returncode or run(
            "go", "test", "-count=1", "./...", folder=place).returncode


def spans():
    wanted = re.search(r"^go (\d+)\.(\d+)", (SPANS / "go.mod").read_text(), re.MULTILINE)
    there = re.search(r"go(\d+)\.(\d+)", run("go", "env", "GOVERSION").stdout)
    if tuple(map(int, there.groups())) < tuple(map(int, wanted.groups())):
        print(f"not tested: {SPANS} needs Go {wanted[0]}")
        return 0
    return run("go", "vet", "./...", folder=SPANS).returncode or run(
        "go", "test", "-count=1", "./...", folder=SPANS).returncode


def main():
    os.environ["GOFLAGS"] = "-mod=mod"
    os.environ["GOTOOLCHAIN"] = "local"
    results = [bool(run("gofmt", "-l", ".").stdout), run("go", "vet", "./...").returncode,
               run("go", "test", "-count=1", "./...").returncode, guide(), newcomer(), spans()]
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
