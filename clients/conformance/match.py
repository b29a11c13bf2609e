"""Compares an answer with the expected one of the table, and keeps the values it names."""

import re


class Mismatch(Exception):
    """Says where the two differ, and how."""


def match(expected, actual, names, where="answer"):
    """Raises Mismatch unless `actual` is as expected. `=NAME` is put into `names`."""
    if isinstance(expected, dict):
        _match_object(expected, actual, names, where)
    elif isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            raise Mismatch(f"{where}: expected {len(expected)} items, got {actual!r}")
        for index, (one, other) in enumerate(zip(expected, actual)):
            match(one, other, names, f"{where}[{index}]")
    elif isinstance(expected, str) and expected.startswith("="):
        if actual is None:
            raise Mismatch(f"{where}: nothing is there")
        names[expected[1:]] = actual
    elif isinstance(expected, str) and expected.startswith("~"):
        if not isinstance(actual, str) or not re.search(expected[1:], actual):
            raise Mismatch(f"{where}: expected a match of {expected[1:]!r}, got {actual!r}")
    elif expected == "*":
        if actual is None:
            raise Mismatch(f"{where}: nothing is there")
    elif isinstance(expected, bool) is not isinstance(actual, bool) or expected != actual:
        raise Mismatch(f"{where}: expected {expected!r}, got {actual!r}")


def _match_object(expected, actual, names, where):
    if "any_order" in expected:
        left = list(actual) if isinstance(actual, list) else []
        for one in expected["any_order"]:
            for other in left:
                try:
                    match(one, other, names, where)
                except Mismatch:
                    continue
                left.remove(other)
                break
            else:
                raise Mismatch(f"{where}: {one!r} is not among {actual!r}")
        if left or not isinstance(actual, list):
            raise Mismatch(f"{where}: not expected: {left or actual!r}")
        return
    if not isinstance(actual, dict):
        raise Mismatch(f"{where}: expected an object, got {actual!r}")
    for name, value in expected.items():
        match(value, actual.get(name), names, f"{where}.{name}")


def filled(value, names):
    """The value with each text `$NAME` replaced by what was kept."""
    if isinstance(value, dict):
        return {name: filled(one, names) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, names) for one in value]
    if isinstance(value, str) and value.startswith("$") and value[1:] in names:
        return names[value[1:]]
    return value
