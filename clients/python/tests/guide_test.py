"""The guide's examples, in both languages, run as they stand."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from tarry.testing import Server

SOURCE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "clients/conformance"))
import readme  # noqa: E402

PAGES = ("docs/guide/python.md", "docs/guide/python.zh-CN.md")
BLOCK = re.compile(r"<!-- (run|show)([^>]*) -->\n```python\n(.*?)```", re.DOTALL)


def blocks(page):
    """(mark, words that its output must have, text) of each block."""
    return [(mark, re.findall(r'"([^"]*)"', words), text)
            for mark, words, text in BLOCK.findall((SOURCE / page).read_text(encoding="utf-8"))]


class Guide(unittest.TestCase):
    def test_each_block_runs(self):
        found = blocks(PAGES[0])  # the Chinese page has the same code
        self.assertGreaterEqual(len(found), 5)
        for _, words, text in found:
            with self.subTest(block=text[:60]), Server() as server:
                self.run_block(server.url, words, text)

    def run_block(self, url, words, text):
        # The guide's programs work until a signal; here they end with their last line.
        done = subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True,
                              timeout=100, env={**os.environ, "TARRY_URL": url}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in words:
            self.assertIn(word, done.stdout)

    def test_every_block_of_code_is_run(self):
        for page in PAGES:
            text = (SOURCE / page).read_text(encoding="utf-8")
            self.assertEqual(text.count("```python"), len(blocks(page)), page)

    def test_both_languages_have_the_same_code(self):
        first, second = (blocks(page) for page in PAGES)
        code = [[re.sub(r"#.*", "", text) for _, _, text in page] for page in (first, second)]
        self.assertEqual(code[0], code[1])

    def test_the_readme(self):
        page = SOURCE / "clients/python/README.md"
        worker = "from tarry.tasks import main; main(['shop:client'])"  # tarry-worker
        said = readme.said(page, "shop.py", [sys.executable, "-B", "shop.py"],
                           [sys.executable, "-B", "-c", worker])
        self.assertEqual(said, ["cancelled", "closed 42"])

    def test_the_order_example_is_short(self):
        example = next(text for _, _, text in blocks(PAGES[0]) if "close_order" in text
                       and "Server" in text)
        self.assertLessEqual(len(example.splitlines()), 40)


if __name__ == "__main__":
    unittest.main()
