#!/usr/bin/env python3
"""make.py PROGRAM: makes store/ and expected.json beside this script, by that tarry.

Its messages go through the same states as those of version 1. A run continues in the segment of the
run before, unless a backup shares that file. So the segments get second names before each run, and
the store has several segments.
"""

import importlib.util
import itertools
import os
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINKS = HERE / "links"
SPEC = importlib.util.spec_from_file_location("make_v1", HERE.parent / "journal-v1" / "make.py")

make = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)
make.HERE, make.STORE = HERE, HERE / "store"


class Server(make.Server):
    """A server on a store of which a backup has the files too."""

    numbers = itertools.count()

    def __init__(self, *words, **named):
        LINKS.mkdir(exist_ok=True)
        for segment in make.STORE.glob("shard-*/*.seg"):
            os.link(segment, LINKS / str(next(self.numbers)))
        super().__init__(*words, **named)


make.Server = Server

if __name__ == "__main__":
    try:
        make.main()
    finally:
        shutil.rmtree(LINKS, ignore_errors=True)
