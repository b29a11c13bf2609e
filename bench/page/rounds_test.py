"""Combining the rounds of a run: medians, sums, maxima, and ranges."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pages import page, pictures  # noqa: E402  pylint: disable=wrong-import-position
from rounds import one_line_each, rounds_of  # noqa: E402  pylint: disable=wrong-import-position
from texts import DESIGNS  # noqa: E402  pylint: disable=wrong-import-position


def line(name, number, **results):
    return {"id": name, "round": number, "skipped": "", "failures": "", "results": results}


LINES = [line("heap", 1, push_rate=100, kills=6, kill_lost=3, lateness_max_ms=9, memory_bytes=80,
              lateness_missing=0, growth_1000_claim_us=2),
         line("lua-batch", 1, push_rate=10),
         line("heap", 2, push_rate=80, kills=6, kill_lost=0, lateness_max_ms=20),
         line("heap", 3, push_rate=120, kills=6, kill_lost=1, lateness_max_ms=1)]
RUN = {"quick": False, "date": "D1", "ended": "D2", "cpu": "C", "cores": 2, "memory": "M",
       "kernel": "K", "load": "0.1", "packages": {"redis-server": "7"},
       "runs": 1}


class Rounds(unittest.TestCase):
    def test_the_middle_the_sum_and_the_largest(self):
        heap, batch = one_line_each(LINES)
        self.assertEqual(heap["results"], {
            "push_rate": 100, "kills": 18, "kill_lost": 4, "lateness_max_ms": 20,
            "memory_bytes": 80, "lateness_missing": 0, "growth_1000_claim_us": 2})
        self.assertEqual(heap["range"]["push_rate"], (80, 120))
        self.assertEqual(batch["range"], {})

    def test_how_many_there_are_of_each(self):
        self.assertEqual(rounds_of(LINES), {"rates": 3, "lateness": 1, "kills": 3})

    def test_a_failure_of_any_round_is_told_once(self):
        lines = [dict(each, failures="kills: no") for each in LINES]
        self.assertEqual(one_line_each(lines)[0]["failures"], "kills: no")


class Pages(unittest.TestCase):
    def test_each_design_has_a_paragraph_in_both_languages(self):
        for design in DESIGNS:
            for words in (design.name, design.how, design.when):
                self.assertTrue(words.en and words.zh, design.id)

    def test_a_page_holds_every_design_and_how_often_it_was_measured(self):
        lines = one_line_each([line(design.id, 1, push_rate=1, cancel=0) for design in DESIGNS])
        for language in ("en", "zh"):
            text = page(language, {**RUN, "rounds": rounds_of(LINES)}, lines)
            for design in DESIGNS:
                self.assertIn(f"**{getattr(design.name, language)}.**", text)
            for told in ("D1", "D2", "redis-server 7"):
                self.assertIn(told, text)
            self.assertNotIn("{", text.replace("${", ""))
        self.assertIn("rates 3, lateness 1, deaths 3",
                      page("en", {**RUN, "rounds": rounds_of(LINES)}, lines))

    def test_pictures_leave_out_what_was_not_measured(self):
        self.assertEqual(list(pictures(one_line_each(LINES))),
                         ["designs-rates", "designs-lateness", "designs-growth"])


if __name__ == "__main__":
    unittest.main()
