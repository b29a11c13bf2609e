#!/usr/bin/env python3
"""newer_store.py STORE OUT: writes the file STORE of a store as if it had format version 99."""

import sys
from pathlib import Path


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def newer(store):
    """The bytes of that file with another version."""
    assert crc32c(store[12:]) == int.from_bytes(store[8:12], "little"), "docs/formats/journal.md"
    changed = (99).to_bytes(4, "little") + store[16:]
    return store[:8] + crc32c(changed).to_bytes(4, "little") + changed


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(newer(Path(sys.argv[1]).read_bytes()))
