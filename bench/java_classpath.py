#!/usr/bin/env python3
"""Builds a client of a real rival that is written in Java, and prints the class path of it and of
its libraries. Prints a reason on standard error and exits 1 if Java, Maven or a library is missing.
scripts/bench gives the class paths to the programs as TARRY_REDISSON_CLASSPATH and so on.

usage: java_classpath.py redisson|elasticmq|sqs-client [DIRECTORY]

It is built in DIRECTORY; build/bench/ and the name if there is none.
"""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
# The libraries, and what is compiled with them.
KINDS = {
    "redisson": ("tests/redisson/pom.xml", "bench/designs/redisson_client/Client.java"),
    "elasticmq": ("tests/elasticmq/pom.xml", None),
    "sqs-client": ("bench/figures/sqs_client/pom.xml", "bench/figures/sqs_client/SqsRate.java"),
}


def java_classpath(kind, built=None):
    """The class path; None if Java, Maven or a library is missing."""
    pom, client = KINDS[kind]
    built = built or SOURCE / "build" / "bench" / kind
    built.mkdir(parents=True, exist_ok=True)
    libraries = built / "libraries"
    try:
        # Maven first runs offline with the files of an earlier run, because a registry may be
        # unreachable.
        for offline in (["-o"], []):
            if not libraries.exists():
                subprocess.run(["mvn", "-q", "-B", *offline, "-f", str(SOURCE / pom), CLASSPATH,
                                f"-Dmdep.outputFile={libraries}"],
                               capture_output=True, timeout=300, check=False)
        path = libraries.read_text(encoding="utf-8")
        if client is None:
            return path
        subprocess.run(["javac", "-nowarn", "-cp", path, "-d", str(built), str(SOURCE / client)],
                       capture_output=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"bench: without {kind}: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    return f"{built}:{path}"


if __name__ == "__main__":
    found = java_classpath(sys.argv[1], *map(Path, sys.argv[2:3]))
    if found is None:
        sys.exit(1)
    print(found)
