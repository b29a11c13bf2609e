#!/usr/bin/env python3
"""`tarry schedule next` agrees with Python's zoneinfo on the times at which local clocks change.

By default: some zones, and of each the days around every change from 1970 to 2040. With
TARRY_SCHEDULE_ZONES=all: every zone, and every day (some minutes).
"""

import os
import unittest
import zoneinfo
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

from program import ProgramTest

UTC = timezone.utc
BEGIN, END = datetime(1970, 1, 1, tzinfo=UTC), datetime(2041, 1, 1, tzinfo=UTC)
# Clocks that have been changed at midnight, by half an hour, by a day, to and from odd offsets, or
# in winter; and both halves of the globe.
REMARKABLE = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
              "Africa/Casablanca", "Africa/Monrovia", "America/Sao_Paulo", "Asia/Beirut",
              "Europe/Dublin", "Pacific/Kwajalein", "Asia/Kathmandu", "America/Caracas",
              "Antarctica/Troll", "America/Nuuk", "Asia/Gaza")
ALL = os.environ.get("TARRY_SCHEDULE_ZONES") == "all"


def zones():
    """Also what links to another zone; without the machine's own."""
    known = sorted(zoneinfo.available_timezones() - {"localtime", "Factory"})
    return known if ALL else sorted({*REMARKABLE, *known[::90]} & set(known))


def offset(zone, moment):
    return moment.astimezone(zone).utcoffset()


def changes(zone):
    """The moments at which the zone's offset changes, found by bisection between days."""
    found = []
    day, before = BEGIN, offset(zone, BEGIN)
    while day < END:
        following = day + timedelta(days=1)
        after = offset(zone, following)
        if after != before:
            low, high = day, following
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) // 2
                middle = middle.replace(microsecond=0)
                low, high = (middle, high) if offset(zone, middle) == before else (low, middle)
            found.append(high)
        day, before = following, after
    return found


def moment_of(zone, local):
    """When a daily schedule for that local time happens: the rule of docs/guide/schedules.md."""
    first = local.replace(tzinfo=zone, fold=0)
    moment = first.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == local:
        return moment
    # The local time is skipped. With the offset before the change it lies after the change, with
    # the offset after the change before it.
    low = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    before = offset(zone, low)
    while moment - low > timedelta(seconds=1):
        middle = (low + (moment - low) // 2).replace(microsecond=0)
        if offset(zone, middle) == before:
            low = middle
        else:
            moment = middle
    return moment


def daily(zone, hour, minute, begin, end):
    """The moments of a daily schedule between two moments."""
    moments = set()
    day = (begin - timedelta(days=3)).replace(tzinfo=None)
    while day.replace(tzinfo=UTC) < end + timedelta(days=3):
        moments.add(moment_of(zone, day.replace(hour=hour, minute=minute, second=0)))
        day += timedelta(days=1)
    return sorted(moment for moment in moments if begin < moment <= end)


def hourly(zone, minute, begin, end):
    """The moments at which the local clock shows that minute."""
    moments = []
    step = timedelta(seconds=30)  # some offsets have half minutes
    moment = begin.replace(second=0) + timedelta(minutes=1)
    while moment <= end:
        local = moment.astimezone(zone)
        if local.minute == minute and local.second == 0:
            moments.append(moment)
        moment += step
    return moments


def spans(zone):
    if ALL:
        return [(BEGIN, END)]
    # Some changes of each kind are enough here.
    found = changes(zone)
    return [(change - timedelta(days=2), change + timedelta(days=2))
            for change in [*found[:2], *found[len(found) // 2:][:1], *found[-2:]]]


class Zones(ProgramTest):
    """One test for all zones, because they share the machine's two processors."""

    def said(self, expression, zone, begin, end, count):
        """The program's answer."""
        found = self.tarry("schedule", "next", expression, "--zone", zone.key, "--from",
                           begin.strftime("%Y-%m-%dT%H:%M:%SZ"), "--count", str(count), "-o",
                           "json").json["occurrences"]
        moments = [datetime.fromtimestamp(each["time_ms"] / 1000, UTC) for each in found]
        return [moment for moment in moments if moment <= end]

    def check(self, name):
        zone = zoneinfo.ZoneInfo(name)
        differences = []
        for begin, end in spans(zone):
            for hour, minute in ((2, 30), (0, 0), (23, 59)):
                wanted = daily(zone, hour, minute, begin, end)
                days = (end - begin).days + 2
                got = self.said(f"{minute} {hour} * * *", zone, begin, end, days)
                if got != wanted:
                    differences.append((name, hour, minute, begin, set(got) ^ set(wanted)))
        for change in changes(zone) if ALL else [end - timedelta(days=2) for _, end in spans(zone)]:
            begin, end = change - timedelta(hours=5), change + timedelta(hours=30)
            wanted = hourly(zone, 15, begin, end)
            if (got := self.said("15 * * * *", zone, begin, end, 40)) != wanted:
                differences.append((name, "hourly", begin, set(got) ^ set(wanted)))
        return differences

    def test_every_change(self):
        self.assertGreater(len(zones()), 15)
        with ThreadPoolExecutor(2) as pool:
            differences = [each for found in pool.map(self.check, zones()) for each in found]
        self.assertEqual(differences, [])


class Next(ProgramTest):
    """`tarry schedule next` itself."""

    def test_shows_when_a_schedule_happens(self):
        words = ("schedule", "next", "0 9 * * MON-FRI", "--zone", "Europe/Berlin", "--start",
                 "2026-10-23T00:00:00Z", "--end", "2026-10-27T00:00:00Z", "--from",
                 "2026-10-01T00:00:00Z")
        answer = self.tarry(*words)
        self.assertEqual(answer.out,
                         "LOCAL TIME                 TIME\n"
                         "2026-10-23T09:00:00+02:00  2026-10-23T07:00:00.000Z\n"
                         "2026-10-26T09:00:00+01:00  2026-10-26T08:00:00.000Z\n")
        one = self.tarry(*words, "--count", "1", "-o", "json").json["occurrences"]
        self.assertEqual(len(one), 1)
        late = self.tarry("schedule", "next", "@daily", "--end", "2026-01-01T00:00:00Z", "--from",
                          "2026-01-01T00:00:00Z")
        self.assertIn("no occurrence", late.err)

    def test_jitter_follows_from_the_name(self):
        def due(name):
            return self.tarry("schedule", "next", "every 1h", "--jitter", "10m", "--name", name,
                              "--from", "2026-01-01T00:00:00Z", "-o", "json").json["occurrences"]
        self.assertEqual(due("a"), due("a"))
        self.assertNotEqual(due("a"), due("b"))
        for each in due("a"):
            self.assertLess(each["due_ms"] - each["time_ms"], 600_000)
            self.assertGreaterEqual(each["due_ms"], each["time_ms"])

    def test_refuses_in_one_line(self):
        for words, line in (
                (("0 0 30 2 *",), "such a day never comes"),
                (("*/61 * * * *",), 'step "61" must be from 1 to 59'),
                (("61 * * * *",), 'minute "61" must be from 0 to 59'),
                (("@daily", "--zone", "Mars/Base"), 'no time zone "Mars/Base"'),
                (("@daily", "--start", "2026-01-02T00:00:00Z", "--end", "2026-01-01T00:00:00Z"),
                 "is before the start"),
                (("every 15m", "--jitter", "16m"), "jitter 16m is longer than"),
                (("every 10ms",), 'interval "10ms" must be from 1s to 3650d')):
            answer = self.refused("schedule", "next", *words, says=(line,))
            self.assertEqual(answer.err.count("\n"), 1, answer.err)


if __name__ == "__main__":
    unittest.main()
