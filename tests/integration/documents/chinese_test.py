#!/usr/bin/env python3
"""Each Chinese page says what its English page says: the same headings, code, tables and links."""

import re
import unittest
from collections import Counter
from pathlib import PurePosixPath

from pages import anchors, blocks, links, prose
from program import SOURCE

MARK = ".zh-CN."  # in the names of pages and of their pictures
ENDING = MARK + "md"
CHINESE = sorted(str(path.relative_to(SOURCE)) for folder in (".", "docs", "docs/guide")
                 for path in (SOURCE / folder).glob("*" + ENDING))
# Their comments are translated in these languages. All other code is the same in both pages.
TRANSLATED = {"README.md": ("sh",), "docs/guide/python.md": ("python",)}
# `scripts/bench designs` writes both languages of this page.
GENERATED = "docs/designs.md"


def english(name):
    """The page that it translates."""
    return name.removesuffix(ENDING) + ".md"


def of_each_page(test):
    """Makes a test of one page a test of all."""
    def tests(self):
        for name in CHINESE:
            with self.subTest(name):
                test(self, name)
    return tests


class Chinese(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertGreaterEqual(len(CHINESE), 3)

    @of_each_page
    def test_the_headings_are_the_same(self, name):
        levels = [re.findall(r"^(#+) ", prose(one), re.MULTILINE)
                  for one in (name, english(name))]
        self.assertEqual(*levels)

    @of_each_page
    def test_the_code_is_the_same(self, name):
        translated = TRANSLATED.get(english(name), ())
        code = [[(mark, language,
                  re.sub(r" *# .*", "", text) if language in translated else text)
                 for mark, language, text in blocks(one)] for one in (name, english(name))]
        self.assertEqual(*code)

    @of_each_page
    def test_the_tables_are_the_same(self, name):
        cells = [[line.replace(r"\|", "").count("|") for line in prose(one).splitlines()
                  if line.strip().startswith("|")] for one in (name, english(name))]
        self.assertEqual(*cells)

    @of_each_page
    def test_the_links_are_the_same(self, name):
        # Anchors differ, and each page links to the other language.
        others = {PurePosixPath(english(name)).name, "README.md"}
        targets = [Counter(target for link in links(one)
                           if (target := link.partition("#")[0].replace(MARK, "."))
                           not in others) for one in (name, english(name))]
        self.assertEqual(*targets)

    @of_each_page
    def test_the_pages_link_to_each_other(self, name):
        for one, other in ((name, english(name)), (english(name), name)):
            self.assertIn(PurePosixPath(other).name, links(one))

    @of_each_page
    def test_links_lead_to_chinese_pages(self, name):
        for link in links(name):
            target, _, _ = link.partition("#")
            there = (SOURCE / name).parent / (target.removesuffix(".md") + ENDING)
            if target.endswith(".md") and target != PurePosixPath(english(name)).name:
                self.assertFalse(there.exists(), link)

    @of_each_page
    def test_a_link_to_an_english_page_says_so(self, name):
        if english(name) == GENERATED:
            return
        # In a row of links, the last one says that the pages are in English.
        silent = re.findall(r"(?<!\!)\[[^\]]*\]\(([^):]*(?<!zh-CN)\.(?:md|yaml)(?:#[^)]*)?)\)"
                            r"(?!\**（英文）|，英文）|[^（\n]{0,4}、\[|[^（\n]{0,6}和 ?\[)", prose(name))
        own = PurePosixPath(english(name)).name
        self.assertEqual([link for link in silent if link != own], [])
        self.assertNotRegex(prose(name), r"zh-CN\.md[^)]*\)\**[（，]英文")

    @of_each_page
    def test_links_lead_somewhere(self, name):
        for link in links(name):
            target, _, anchor = link.partition("#")
            if "://" in link:
                continue
            there = (SOURCE / name).parent / target if target else SOURCE / name
            self.assertTrue(there.exists(), link)
            if anchor and there.suffix == ".md":
                self.assertIn(anchor, anchors(str(there.resolve().relative_to(SOURCE.resolve()))),
                              link)


if __name__ == "__main__":
    unittest.main()
