#!/usr/bin/env python3
"""Standard input, output and error that are closed, or that cannot be written: output goes nowhere
else, and messages claimed for it are not lost.
"""

import os
import subprocess
import unittest

from program import FAILED, PROGRAM, USAGE, Answer, ProgramTest, environment


class StandardDescriptors(ProgramTest):
    def run_in_shell(self, redirections, *words, code):
        """Runs the program with redirections of the shell, such as `<&- >&-`."""
        finished = subprocess.run(
            ["sh", "-c", f'exec "$0" "$@" {redirections}', PROGRAM, *words], capture_output=True,
            timeout=100, env=environment(TARRY_STORE=self.store), stdin=subprocess.DEVNULL,
            cwd=self.directory, check=False)
        answer = Answer(finished)
        self.assertEqual(answer.code, code, f"{redirections} {words}: {answer}")
        return answer

    def files(self):
        """All bytes in the files of the store."""
        return b"".join(path.read_bytes() for path in sorted((self.directory / "store").rglob("*"))
                        if path.is_file())

    def stats(self):
        figures, = self.asked("stats")["queues"]
        return figures

    def acked(self):
        return self.asked("queue", "info", "q")["counters"]["acked"]

    def test_a_relay_to_stdout_that_is_closed_takes_nothing(self):
        self.tarry("push", "q", "a-payload-to-be-found", "--key", "a")
        for redirections in ("<&- >&-", ">&-", "<&- >&- 2>&-", ">/dev/null 1</dev/null"):
            with self.subTest(redirections):
                answer = self.run_in_shell(redirections, "relay", "q", "--to", "stdout", code=USAGE)
                if "2>&-" not in redirections:
                    self.assertIn("--to: stdout is closed, or not open for writing", answer.err)
                lock = self.directory / "store" / "LOCK"
                self.assertNotIn(b"a-payload", lock.read_bytes() if lock.exists() else b"")
        self.assertEqual((self.stats()["ready"], self.acked()), (1, 0))
        self.assertEqual(self.asked("get", "q", "a")["tallies"]["claims"], 0)

    def test_answers_are_never_written_into_the_store(self):
        self.tarry("push", "q", "x", "--key", "a")
        for redirections in ("<&- >&- 2>&-", ">&-", "<&- >&-"):
            for words in (("get", "q", "a"), ("stats",), ("ls", "q"), ("version",)):
                with self.subTest(words=words, redirections=redirections):
                    self.run_in_shell(redirections, *words, code=FAILED)
        self.assertNotIn(b"PAYLOAD", self.files())
        self.assertTrue(self.asked("store", "audit")["balanced"])
        self.tarry("store", "check")

    def test_an_input_that_is_closed_is_no_empty_one(self):
        answer = self.run_in_shell("<&-", "push", "q", "--jsonl", "-", code=FAILED)
        self.assertIn("cannot read the input", answer.err)

    def test_a_claim_that_cannot_be_printed_is_released(self):
        for key in ("a", "b"):
            self.tarry("push", "q", "x", "--key", key)
        for redirections in (">/dev/full", ">&-"):
            for words in ((), ("-o", "json")):
                with self.subTest(redirections=redirections, words=words):
                    answer = self.run_in_shell(redirections, "claim", "q", "--max", "2", "--lease",
                                               "1h", *words, code=FAILED)
                    self.assertIn("2 messages claimed and could not be printed; released again: 2",
                                  answer.err)
                    self.assertIn("cannot write the output", answer.err)
                    self.assertEqual((self.stats()["ready"], self.stats()["leased"]), (2, 0))
        self.assertEqual(self.asked("get", "q", "a")["attempt"], 0)

    def test_a_claim_whose_reader_has_gone_is_released(self):
        self.tarry("push", "q", "x")
        reading, writing = os.pipe()
        os.close(reading)
        try:
            finished = subprocess.run([PROGRAM, "claim", "q", "--lease", "1h"], stdout=writing,
                                      stderr=subprocess.PIPE, timeout=100, check=False,
                                      env=environment(TARRY_STORE=self.store))
        finally:
            os.close(writing)
        self.assertEqual(finished.returncode, FAILED, finished.stderr)
        self.assertEqual((self.stats()["ready"], self.stats()["leased"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
