"""The README, the guide and the reference, and the blocks of code in them."""

import re
import textwrap

from program import SOURCE

# Blocks in a list item are indented.
_BLOCK = re.compile(r"^(?:[ \t]*<!-- (?P<mark>[^>\n]*) -->\n)?"
                    r"(?P<indent>[ \t]*)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$",
                    re.DOTALL | re.MULTILINE)
PAGES = ("README.md", "README.zh-CN.md", "docs/guide/first-steps.md", "docs/semantics.md",
         "docs/guide/redis.md", "docs/guide/http.md", "docs/reference/command-line.md",
         "docs/reference/config.md", "docs/reference/errors.md", "docs/reference/limits.md",
         "docs/guide/relays.md", "docs/guide/cpp.md", "docs/guide/testing.md",
         "docs/guide/top.md", "docs/guide/operating.md", "docs/reference/urls.md",
         "docs/guide/command-line.md", "docs/guide/sizing.md", "docs/guide/network.md",
         "docs/guide/proxies.md", "docs/guide/containers.md", "docs/guide/console.md")

# Their links are checked too. These pages are for readers who build tarry or read its files.
MORE = ("CONTRIBUTING.md", "CHANGELOG.md", "docs/releasing.md",
        "docs/architecture.md", "docs/reliability.md", "docs/performance.md",
        "docs/designs.md", "docs/designs.zh-CN.md",
        "docs/guide/python.md", "docs/guide/python.zh-CN.md", "docs/guide/java.md",
        "docs/guide/typescript.md", "docs/guide/go.md", "docs/guide/schedules.md",
        "clients/conformance/README.md",
        "packaging/helm/tarry/README.md",
        "docs/reference/metrics.md", "docs/reference/log.md",
        *(str(path.relative_to(SOURCE)) for folder in ("formats", "decisions")
          for path in sorted((SOURCE / "docs" / folder).glob("*.md"))))


def with_places(text, places):
    """The text with what stands here for each text of the page. What was put in is not looked at
    again: a port may well begin with 443."""
    if not places:
        return text
    longest_first = sorted(places, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: places[found[0]], text)


def page(name):
    """The text of a page."""
    return (SOURCE / name).read_text(encoding="utf-8")


def blocks_in(text):
    """(mark, language, text) of the page's code blocks. The mark is the comment above the block."""
    return [(m["mark"] or "", m["language"], textwrap.dedent(m["text"]))
            for m in _BLOCK.finditer(text)]


def blocks(name):
    """The blocks of a page."""
    return blocks_in(page(name))


def prose(name):
    """The text of a page without its code blocks."""
    return re.sub(r"```.*?```", "", page(name), flags=re.DOTALL)


def links(name):
    """Where the links and pictures of a page lead."""
    return re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "`", prose(name)))


def anchors(name):
    """The anchors of a page's headings, as GitHub and the documentation site make them."""
    titles = re.findall(r"^#+ (.*)$", prose(name), re.MULTILINE)
    words = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", each).strip().replace(" ", "-") for each in words}
