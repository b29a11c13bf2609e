"""Copies the repository's pages to where mkdocs reads them, and says where each is in the menu."""

import os
import re
import shutil
from pathlib import Path, PurePosixPath

CHINESE = ".zh-CN.md"
# The menu: what a reader wants, and the pages for it. "*" stands for the pages of a folder that are
# not named here.
MENU = (
    ("Start", ("README.md", "docs/guide/first-steps.md", "docs/guide/command-line.md",
               "docs/comparison.md", "docs/designs.md")),
    ("Clients", ("docs/guide/http.md", "docs/guide/python.md", "docs/guide/java.md",
                 "docs/guide/go.md", "docs/guide/typescript.md", "docs/guide/cpp.md",
                 "docs/guide/sqs.md", "docs/guide/beanstalkd.md", "docs/guide/testing.md")),
    ("Stores and relays", ("docs/guide/redis.md", "docs/guide/rabbitmq.md",
                           "docs/guide/relays.md", "docs/guide/schedules.md")),
    ("Operate", ("docs/guide/operating.md", "docs/guide/containers.md", "docs/guide/console.md",
                 "docs/guide/network.md", "docs/guide/proxies.md", "docs/guide/sizing.md",
                 "docs/guide/top.md", "docs/guide/*", "docs/reliability.md",
                 "docs/performance.md", "CHANGELOG.md")),
    ("Reference", ("docs/reference/command-line.md", "docs/reference/config.md",
                   "docs/reference/urls.md", "docs/reference/errors.md",
                   "docs/reference/limits.md", "docs/reference/metrics.md", "docs/reference/*")),
    ("Semantics", ("docs/semantics.md", "docs/architecture.md", "docs/formats/*")),
    ("Decisions", ("CONTRIBUTING.md", "docs/releasing.md", "docs/decisions/*", "docs/*")),
)
FENCED = re.compile(r"(^[ \t]*```.*?^[ \t]*```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
ITEM = re.compile(r"(?P<before> *)(?P<sign>[-*]|\d+\.) +")


class PagesError(Exception):
    """A page cannot be used as it is."""


def menu(root):
    """(section, pages in their order) of the menu, Chinese pages left out."""
    named = {name for _, names in MENU for name in names}
    for section, names in MENU:
        pages = []
        for name in names:
            found = [name] if not name.endswith("*") else sorted(
                str(path.relative_to(root)) for path in root.glob(name[:-1] + "*.md"))
            pages += [one for one in found if (one == name or one not in named)
                      and not one.endswith(CHINESE) and (root / one).is_file()]
        yield section, pages


def place(name):
    """Where the site has a page of the repository."""
    if name.startswith("README"):
        return name.replace("README", "index")
    return name.removeprefix("docs/")


def title(text, name):
    """The page's first heading."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    if not found:
        raise PagesError(f"{name} has no heading")
    return found[1].replace("`", "")


def indented(text):
    """What belongs to an item of a list, four columns to the right of it: so mkdocs wants it."""
    out, items, fence = [], [], False
    for line in text.split("\n"):
        width = len(line) - len(line.lstrip(" "))
        item = None if fence else ITEM.match(line)
        if line.strip():
            while items and width < items[-1] and not (fence and width):
                items.pop()
        if item and not items and out and out[-1].strip() and not ITEM.match(out[-1]):
            out.append("")  # a list that begins in a paragraph
        moved = 4 * len(items) + width - (items[-1] if items else 0) if line.strip() else 0
        out.append(" " * max(0, moved) + line.lstrip(" "))
        if line.lstrip().startswith("```"):
            fence = not fence
        if item and width <= (items[-1] if items else 0) + 3:
            items.append(item.end())
    return "\n".join(out)


class Stage:
    """One copy of all pages. Not thread safe."""

    def __init__(self, root, to):
        self._root, self._to = root, to
        self._pages = {}  # of the repository -> of the site

    def copy(self):
        """Writes every page and what it needs; answers the menu."""
        shutil.rmtree(self._to, ignore_errors=True)
        sections = list(menu(self._root))
        for _, pages in sections:
            for name in pages:
                chinese = name.removesuffix(".md") + CHINESE
                self._pages[name] = place(name)
                if (self._root / chinese).is_file():
                    self._pages[chinese] = place(chinese)
        titles = {name: self._write(name) for name in self._pages}
        navigation = [{section: [{titles[name]: self._pages[name]} for name in pages]}
                      for section, pages in sections if pages]
        navigation.append({"中文": [
            {titles[name]: self._pages[name]} for _, pages in sections
            for page in pages if (name := page.removesuffix(".md") + CHINESE) in titles]})
        return navigation

    def _write(self, name):
        text = (self._root / name).read_text(encoding="utf-8")
        parts = FENCED.split(text)
        for at in range(0, len(parts), 2):
            plain = re.sub(r"<!--.*?-->\n?", "", parts[at], flags=re.DOTALL)
            parts[at] = LINK.sub(lambda link: self._link(name, link), plain)
        self._put(self._pages[name], indented("".join(parts)))
        return title(text, name)

    def _put(self, name, text):
        file = self._to / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _link(self, page, link):
        picture, words, target = link.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return link[0]
        there = (self._root / page).parent.joinpath(path).resolve()
        if not there.exists() or self._root not in (there, *there.parents):
            raise PagesError(f"{page}: no file for the link {target}")
        if there.is_dir():
            return words
        name = str(there.relative_to(self._root))
        if name not in self._pages:  # a file of the repository: the site has a copy of it
            shown = PurePosixPath("files", name if not name.endswith(".md") else name + ".txt")
            if name.startswith(("docs/pictures/", "docs/plots/")):
                shown = PurePosixPath(place(name))
            (self._to / shown).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(there, self._to / shown)
        else:
            shown = PurePosixPath(self._pages[name])
        up = "../" * (len(PurePosixPath(self._pages[page]).parts) - 1)
        return f"{picture}[{words}]({up}{shown}{'#' + anchor if anchor else ''})"


def stage(root, to):
    """Copies the pages of `root` to the folder `to`, which is made anew; answers mkdocs's menu."""
    return Stage(Path(root), Path(to)).copy()


def switched(html, file, text):
    """A page of the folder `html`, whose language switch leads to its translation or, if there is
    none, to that language's first page."""
    ending = CHINESE.replace(".md", ".html")
    english = file.with_name(file.name.replace(ending, ".html"))
    for mark, there, first in (("in-english", english, "index.html"),
                               ("in-chinese", english.with_name(english.stem + ending),
                                "index" + ending)):
        if not there.is_file():
            there = html / first
            text = re.sub(rf'<link rel="alternate" href="[./]*{mark}"[^>]*>', "", text)
        target = os.path.relpath(there, file.parent)
        text = re.sub(rf'href="[./]*{mark}"', f'href="{target}"', text)
    return text
