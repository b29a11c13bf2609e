"""Combines the rounds of a run into one line for each design: the median figure, and the lowest and
the highest round.
"""

import json
import statistics
from pathlib import Path

# Counted over all rounds. The largest lateness is that of any round.
_ADDED = ("kills", "kill_pushed", "kill_lost", "kill_doubled", "lateness_missing", "lateness_early")
_LARGEST = ("lateness_max_ms",)
_OF_A_MEASURE = {"rates": "push_rate", "lateness": "lateness_missing", "kills": "kills"}


def _joined(name, values):
    if name in _ADDED:
        return sum(values)
    return max(values) if name in _LARGEST else statistics.median(values)


def one_line_each(lines):
    """Combines `lines` (one for each design and round) into one line for each design. `range` holds
    the lowest and the highest round of each figure that has several."""
    designs = {}
    for line in lines:
        designs.setdefault(line["id"], []).append(line)
    return [_one(name, rounds) for name, rounds in designs.items()]


def _one(name, rounds):
    values = {}
    for line in rounds:
        for figure, value in line["results"].items():
            values.setdefault(figure, []).append(value)
    results = {figure: _joined(figure, several) for figure, several in values.items()}
    ranges = {figure: (min(several), max(several)) for figure, several in values.items()
              if len(several) > 1}
    failures = dict.fromkeys(line["failures"] for line in rounds if line["failures"])
    return {"id": name, "skipped": rounds[0]["skipped"], "failures": "; ".join(failures),
            "results": results, "range": ranges}


def rounds_of(lines):
    """The number of rounds of each measure: {"rates": 3, ...}."""
    counts = {}
    for measure, figure in _OF_A_MEASURE.items():
        each = {}
        for line in lines:
            if figure in line["results"]:
                each[line["id"]] = each.get(line["id"], 0) + 1
        counts[measure] = max(each.values(), default=0)
    return counts


def kept(files):
    """A run that was kept, with the lines of further files."""
    run, lines = None, []
    for file in files.split(","):
        first, *rest = map(json.loads, Path(file).read_text(encoding="utf-8").splitlines())
        run = {**(run or first), "ended": first["ended"]}
        lines += rest
    return run, lines
