#!/usr/bin/env python3
"""Writes examples/orders.jsonl: 5,000 orders that wait for their payment, one push a line.

    python3 examples/make_orders.py > examples/orders.jsonl

It writes the same file every time. Delays are between 0 and 10 seconds. Every fifth order will be
paid, so its time-out will be cancelled; every tenth order will get more time. `fate` says which
orders these are; scripts/demo, which plays the shop, calls it. These orders have a delay of at
least two seconds, so that there is time to act.
"""

import json
import random
import sys

ORDERS = 5000
FIRST = 10001
PAID, MOVED, LEFT = "paid", "moved", "left"

_CITIES = ["Lisbon", "Århus", "Kraków", "北京", "São Paulo", "Graz", "Cork", "Zürich", "大阪"]
_GOODS = ["tea", "a lamp", "a bicycle bell", "a kettle", "wool socks", "an atlas", "a chess set"]


def fate(index):
    """What becomes of the order: PAID, MOVED or LEFT to time out."""
    if index % 5 == 2:
        return PAID
    return MOVED if index % 10 == 4 else LEFT


def order(index, dice):
    """The push of one order."""
    least = 0 if fate(index) == LEFT else 2000
    total = dice.randint(500, 25000) / 100
    return {
        "key": f"order:{FIRST + index}",
        "delay": f"{dice.randint(least, 10000)}ms",
        "payload": f"{dice.choice(_GOODS)} for {dice.choice(_CITIES)}, {total:.2f} EUR",
    }


def lines():
    """The lines of the file."""
    dice = random.Random(7733)
    for index in range(ORDERS):
        yield json.dumps(order(index, dice), ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.buffer.write("".join(lines()).encode("utf-8"))
