"""The text of docs/designs.md and docs/designs.zh-CN.md, and their pictures, from a run's lines."""

from cells import count, ms, number, spread, table
from picture import svg
from texts import DESIGNS
from words import WORDS

_BY_ID = {design.id: design for design in DESIGNS}


class _Page:
    def __init__(self, language, run, lines):
        self.language = language
        self.words = WORDS[language]
        self.run = run
        self.lines = [line for line in lines if line["id"] in _BY_ID]
        self.ran = [line for line in self.lines if not line["skipped"]]

    def say(self, words):
        return getattr(words, self.language)

    def name(self, line):
        return self.say(_BY_ID[line["id"]].name)

    def yes(self, value):
        return self.words["unknown"] if value is None else self.words["yes" if value else "no"]

    def what(self):
        rows = []
        for line in self.lines:
            design = _BY_ID[line["id"]]
            told = line["results"]
            rows.append([f"[{self.say(design.name)}](../bench/designs/{design.file})",
                         design.source or "-", self.say(design.how),
                         self.yes(told.get("cancel")), self.yes(told.get("reschedule"))])
        text = table(self.words["what_heads"], rows)
        return text.replace("|---|--:|--:|--:|--:|", "|---|---|---|---|---|")

    def rates(self):
        rows = [[self.name(line), *(spread(line, name, number) for name in (
            "push_rate", "claim_rate", "lifecycle_rate")),
            *(number(line["results"].get(name) or None) for name in ("commands", "redis_us"))]
            for line in self.ran]
        return table(self.words["rate_heads"], rows)

    def lateness(self):
        rows = []
        for line in self.ran:
            told = line["results"]
            rows.append([self.name(line), ms(told.get("lateness_p50_ms")),
                         spread(line, "lateness_p99_ms", ms), ms(told.get("lateness_max_ms")),
                         count(told.get("lateness_missing")), count(told.get("lateness_early"))])
        return table(self.words["late_heads"], rows)

    def levels(self):
        found = {int(name.split("_")[1]) for line in self.ran for name in line["results"]
                 if name.startswith("growth_") and name.endswith("_us")}
        return sorted(found)

    def growth(self):
        levels = self.levels()
        heads = [self.words["design"]]
        for verb in ("push", "claim"):
            heads += [f"{self.words[verb]}, {number(level)}" for level in levels]
        rows = [[self.name(line), *(number(line["results"].get(f"growth_{level}_{verb}_us"))
                                    for verb in ("push", "claim") for level in levels)]
                for line in self.ran]
        return table(heads, rows)

    def space(self):
        rows = []
        for line in self.ran:
            told = line["results"]
            # Less than a byte is noise: a broker that returned memory meanwhile may even be below
            # 0.
            space = [told.get(name) or 0 for name in ("memory_bytes", "disk_bytes")]
            rows.append([self.name(line), count(told.get("growth_reached")),
                         *(number(each, 4) if each > 1 else "-" for each in space)])
        return table(self.words["space_heads"], rows)

    def kills(self):
        rows = []
        for line in self.ran:
            told = line["results"]
            rows.append([self.name(line), *(count(told.get(name)) for name in (
                "kills", "kill_pushed", "kill_lost", "kill_doubled"))])
        return table(self.words["kill_heads"], rows)

    def line(self):
        rows = []
        for line in self.ran:
            late = line["results"].get("short_late_ms")
            rows.append([self.name(line), ms(max(late, 0)) if late is not None
                         else self.words["not_in_time"]])
        return table(self.words["line_heads"], rows)

    def when(self):
        return "\n\n".join(f"**{self.name(line)}.** {self.say(_BY_ID[line['id']].when)}"
                           for line in self.lines)

    def left_out(self):
        told = [f"- {self.name(line)}: {line['skipped'] or line['failures']}"
                for line in self.lines if line["skipped"] or line["failures"]]
        if not told:
            return ""
        return self.words["left_out"] + "\n\n" + "\n".join(told) + "\n\n"

    def text(self):
        run = self.run
        packages = ", ".join(f"{name} {version}" for name, version in run["packages"].items())
        words = self.words
        made = words["made"].format(**{**run, "packages": packages})
        made += " " + words["quick" if run["quick"] else "rounds"].format(**run["rounds"])
        if run["runs"] > 1:
            made += " " + words["runs"].format(**run)
        return words["page"].format(
            made=made, what=self.what(), rates=self.rates(), lateness=self.lateness(),
            growth=self.growth(), space=self.space(), kills=self.kills(), line=self.line(),
            when=self.when(), left_out=self.left_out(),
            effort=words["effort_quick" if run["quick"] else "effort_full"])


def page(language, run, lines):
    """The whole page."""
    return _Page(language, run, lines).text()


def pictures(lines):
    """The pictures by name, in English for both pages."""
    ran = [line for line in lines if not line["skipped"] and line["id"] in _BY_ID]

    def rows(*names):
        return [(_BY_ID[line["id"]].name.en.replace("`", ""),
                 [line["results"].get(name) for name in names]) for line in ran]

    levels = sorted({int(name.split("_")[1]) for line in ran for name in line["results"]
                     if name.startswith("growth_") and name.endswith("_us")})
    drawn = {
        "designs-rates": svg("messages a second", "/s", ("push", "claim", "lifecycle"),
                             rows("push_rate", "claim_rate", "lifecycle_rate")),
        "designs-lateness": svg("lateness at 5,000 messages a second", "ms", ("p50", "p99", "max"),
                                rows("lateness_p50_ms", "lateness_p99_ms", "lateness_max_ms")),
        "designs-growth": svg("a claim among so many pending", "us",
                              [number(level) for level in levels],
                              rows(*(f"growth_{level}_claim_us" for level in levels))),
    }
    return {name: text for name, text in drawn.items() if text}
