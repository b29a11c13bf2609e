#!/usr/bin/env python3
"""Builds the client of the real Redisson (bench/designs/redisson_client), and prints the class path
of it and of Redisson's library. Prints a reason on standard error and exits 1 if Java, Maven or the
library is missing. scripts/bench gives the class path to the programs as TARRY_REDISSON_CLASSPATH.

usage: redisson_classpath.py [DIRECTORY]     where it is built; build/bench/redisson
"""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
POM = SOURCE / "tests" / "redisson" / "pom.xml"
CLIENT = SOURCE / "bench" / "designs" / "redisson_client" / "Client.java"
BUILT = SOURCE / "build" / "bench" / "redisson"


def redisson_classpath(built=BUILT):
    """The class path; None if Java, Maven or the library is missing."""
    built.mkdir(parents=True, exist_ok=True)
    libraries = built / "libraries"
    try:
        # Maven first runs offline with the files of an earlier run, because a registry may be
        # unreachable.
        for offline in (["-o"], []):
            if not libraries.exists():
                subprocess.run(["mvn", "-q", "-B", *offline, "-f", str(POM),
                                "dependency:build-classpath", f"-Dmdep.outputFile={libraries}"],
                               capture_output=True, timeout=300, check=False)
        path = libraries.read_text(encoding="utf-8")
        subprocess.run(["javac", "-nowarn", "-cp", path, "-d", str(built), str(CLIENT)],
                       capture_output=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"bench: without the real Redisson: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    return f"{built}:{path}"


if __name__ == "__main__":
    found = redisson_classpath(*map(Path, sys.argv[1:2]))
    if found is None:
        sys.exit(1)
    print(found)
