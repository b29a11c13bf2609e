"""The tables of a run, as docs/performance.md has them between two marks."""

import sys
from pathlib import Path

from entries import ENTRIES

sys.path.append(str(Path(__file__).resolve().parents[1] / "page"))
from cells import ms, number, spread, table  # noqa: E402  pylint: disable=wrong-import-position

BEGIN = "<!-- scripts/bench rivals writes what follows -->"
END = "<!-- the end of what scripts/bench rivals writes -->"
MADE = ("Measured from {date} to {ended}: {cpu}, {cores} cores, {memory}, Linux {kernel}; "
        "{packages}. {rounds}The load average was {load} before it began{busy}.")
BUSY = (": other programs used the cores too, and not equally during each row. Rates and lateness "
        "depend on that more than processor time does. Do not take these figures for what the "
        "queues can do")
CALM_LOAD = 0.5
NOT_USED = ("libsqlite3-0", "Redisson")  # not used, or named in the second table
HEADS = ["", "lives/s, one at a time", "in batches", "server's µs a life", "in batches",
         "late p50", "late p99", "memory, B a message", "disk, B a message", "restart"]
SETTING_HEADS = ["", "settings", "client", "batch"]


def _bytes(value):
    # Less than a byte is noise.
    return "-" if value is None or value < 1 else number(value, 4)


def _title(entry):
    return f"{entry.title} `{entry.name}`" if _is_one_of_several(entry) else entry.title


def _is_one_of_several(entry):
    return sum(other.title == entry.title for other in ENTRIES) > 1


def _seconds(value):
    return "-" if value is None else ms(value * 1e3)


def figures(lines):
    rows = []
    for entry, line in _ran(lines):
        rows.append([_title(entry), *(spread(line, name, words) for name, words in (
            ("single_rate", number), ("batch_rate", number), ("single_cpu_us", number),
            ("batch_cpu_us", number), ("late_p50_ms", ms), ("late_p99_ms", ms),
            ("memory_bytes", _bytes), ("disk_bytes", _bytes), ("restart_s", _seconds)))])
    return table(HEADS, rows)


def settings(lines):
    rows = [[_title(entry), entry.settings, entry.client, str(entry.batch or "-")]
            for entry, _ in _ran(lines)]
    return table(SETTING_HEADS, rows).replace("|---|--:|--:|--:|", "|---|---|---|--:|")


def _ran(lines):
    by_name = {line["id"]: line for line in lines}
    return [(entry, by_name[entry.name]) for entry in ENTRIES
            if entry.name in by_name and not by_name[entry.name]["skipped"]]


def left_out(lines):
    told = [f"- {line['id']}: {line['skipped'] or line['failures']}"
            for line in lines if line["skipped"] or line["failures"]]
    return "\n\nLeft out, or only in part:\n\n" + "\n".join(told) if told else ""


def text(run, lines):
    """All that is between the marks."""
    packages = ", ".join(f"{name} {version}" for name, version in run["packages"].items()
                         if name not in NOT_USED)
    rounds = "" if run["rounds"] == 1 else (
        f"{run['rounds']} rounds: medians, with the lowest and the highest in brackets. ")
    made = MADE.format(**{**run, "packages": packages, "rounds": rounds,
                          "busy": BUSY if float(run["load"]) > CALM_LOAD else ""})
    if run["quick"]:
        made += " It was a `--quick` run: shorter, with fewer messages, and not to be quoted."
    return (f"{made} {run['pending']:,} messages were pending for the last three columns."
            f"\n\n{figures(lines)}\n\n{settings(lines)}{left_out(lines)}")


def put_into(page, told):
    """The page with that text between its marks."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN!r} and {END!r}")
    return f"{head}{begin}\n\n{told}\n\n{end}{tail}"
