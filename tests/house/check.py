#!/usr/bin/env python3
"""check.py arrows|fuzzers|tidy ROOT: prints what breaks the house's rules; exit 1 if any."""

import sys

import arrows
import fuzzers
import tidy


def main(arguments):
    checks = {"arrows": arrows.check, "fuzzers": fuzzers.check, "tidy": tidy.check}
    if len(arguments) != 2 or arguments[0] not in checks:
        print(__doc__, file=sys.stderr)
        return 2
    findings = list(checks[arguments[0]](arguments[1]))
    for finding in findings:
        print(finding)
    print(f"{arguments[0]}: {len(findings)} broken rules")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
