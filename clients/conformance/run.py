#!/usr/bin/env python3
"""run.py --driver COMMAND [options]: tries a client library against the table of cases."""

import argparse
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from case import Run, Skipped, why_not
from driver_process import DriverGone, Drivers
from match import Mismatch
from servers import Certificates, Redis

HERE = Path(__file__).resolve().parent
STORES = ("memory:", "file:", "redis:")
TRANSPORTS = ("tcp", "tls", "unix")


def cases(words):
    """The cases whose file or name contains all of the words."""
    found = []
    for path in sorted((HERE / "cases").glob("*.yaml")):
        for case in yaml.safe_load(path.read_text()):
            case["file"] = path.stem
            found.append(case)
    names = [case["case"] for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SystemExit(f"two cases have the same name: {sorted(twice)}")
    return [case for case in found
            if all(word in f"{case['file']}: {case['case']}" for word in words)]


class Table:
    """Runs cases beside each other, and prints how each ended."""

    def __init__(self, options):
        self._options = options
        self._printing = threading.Lock()
        self._drivers = Drivers(options.driver)
        self._certificates = Certificates() if options.transport == "tls" else None
        self._redis = Redis() if options.store == "redis:" else None
        self.results = []

    def run(self, chosen):
        with ThreadPoolExecutor(self._options.jobs) as pool:
            self.results = list(pool.map(self._one, chosen))
        self._drivers.close()
        if self._redis:
            self._redis.close()
        return self.results

    def _one(self, case):
        lines = []
        shown = lines.append if self._options.verbose else None
        store = self._redis.store() if self._redis else self._options.store
        why = why_not(case, store, self._options.transport)
        result = "skipped"
        try:
            if why is None:
                Run(case, self._drivers, store, self._options.transport,
                    self._certificates, shown).run()
                result = "passed"
        except Skipped as skipped:
            why = str(skipped)
        except (Mismatch, DriverGone, AssertionError, OSError) as error:
            result, why = "failed", f"{type(error).__name__}: {error}"
        with self._printing:
            reason = f" ({why})" if why else ""
            print(f"{result:8}{case['file']}: {case['case']}{reason}", *lines, sep="\n",
                  flush=True)
        return {"client": self._options.client, "store": self._options.store,
                "transport": self._options.transport, "file": case["file"], "case": case["case"],
                "result": result, "why": why}


def summary(paths):
    """Prints what reports say: a line for each case, a column for each client."""
    rows = {}
    clients = []
    for path in paths:
        for line in Path(path).read_text().splitlines():
            one = json.loads(line)
            column = f"{one['client']} {one['store']} {one['transport']}"
            if column not in clients:
                clients.append(column)
            rows.setdefault(f"{one['file']}: {one['case']}", {})[column] = one["result"]
    print("| case | " + " | ".join(clients) + " |")
    print("|---|" + "---|" * len(clients))
    for case, row in rows.items():
        print(f"| {case} | " + " | ".join(row.get(client, "-") for client in clients) + " |")
    print("| passed | " + " | ".join(
        str(sum(row.get(client) == "passed" for row in rows.values())) for client in clients)
        + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", help="the command that starts the driver")
    parser.add_argument("--client", default="client", help="its name in the report")
    parser.add_argument("--store", default="memory:", choices=STORES)
    parser.add_argument("--transport", default="tcp", choices=TRANSPORTS)
    parser.add_argument("--all", action="store_true", help="each store, over each transport")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORDS")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--report", help="append a line of JSON for each case to this file")
    parser.add_argument("--summary", nargs="+", metavar="FILE", help="print reports as a table")
    parser.add_argument("--list", action="store_true", help="print the cases")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    if options.summary:
        return summary(options.summary)
    chosen = cases(options.only)
    if options.list:
        print(*(f"{case['file']}: {case['case']}" for case in chosen), sep="\n")
        return 0
    if not options.driver or not chosen:
        parser.error("--driver is missing" if chosen else f"no case has {options.only}")
    results = []
    for store in STORES if options.all else [options.store]:
        for transport in TRANSPORTS if options.all else [options.transport]:
            print(f"{store} over {transport}", flush=True)
            options.store, options.transport = store, transport
            results += Table(options).run(chosen)
    if options.report:
        with open(options.report, "a", encoding="utf-8") as report:
            for one in results:
                report.write(json.dumps(one) + "\n")
    counts = {how: sum(one["result"] == how for one in results)
              for how in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {how}" for how, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
