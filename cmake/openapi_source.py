"""openapi_source.py YAML OUT: the document as JSON in a C++ source, for the server to serve.

In pieces, because a compiler need not take a longer string than 65,536 bytes.
"""

import json
import sys
from pathlib import Path

import yaml

_PIECE = 8000


def literal(text):
    """A C++ string of ASCII text."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(source, out):
    document = yaml.safe_load(Path(source).read_text(encoding="utf-8"))
    text = json.dumps(document, separators=(",", ":"))
    pieces = [text[at:at + _PIECE] for at in range(0, len(text), _PIECE)]
    lines = ['#include "server/http/handlers/openapi.h"', "", "namespace tarry::http {", "",
             "std::string openapi_document() {", "  std::string text;"]
    lines += [f"  text += {literal(piece)};" for piece in pieces]
    lines += ["  return text;", "}", "", "}  // namespace tarry::http", ""]
    Path(out).write_text("\n".join(lines), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
