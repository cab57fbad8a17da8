# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`python3 shares.py SECONDS`: a script with work of several kinds, in the interpreter and in its modules."""
import json
import re
import sys
import time


def summed(steps):
    total = 0
    for n in range(steps):
        total += n * 3 & 255
    return total


def counted(words):
    found = {}
    for n in range(words):
        key = f"k{n * 7919 % 1009}"
        found[key] = found.get(key, 0) + 1
    return len(found)


def ordered(count):
    return sorted((n * 7919 % 10007 for n in range(count)), key=lambda number: -number)[0]


def parsed(times):
    text = json.dumps({"a": [1, 2, 3, "x" * 20], "b": {"c": 1.5}})
    return sum(json.loads(text)["a"][1] for _ in range(times))


def matched(times):
    pattern = re.compile(r"(\w+)-(\d+)")
    return sum(bool(pattern.search("abc def-123 ghi")) for _ in range(times))


end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    summed(20000), counted(5000), ordered(5000), parsed(500), matched(2000)
