# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tests/unstable.txt: cases that have failed once and passed when they were repeated alone."""
import datetime
import os

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATH = os.path.join(TOP, "tests", "unstable.txt")
WHOLE = "*"  # in place of the case, where the test was repeated as a whole
MENDED = "mended"
TIMES = 3


class Entry:
    def __init__(self, number, fields):
        self.number = number
        self.date, self.test, self.case, self.cause = fields

    def mended(self):
        return self.cause.startswith(MENDED)


def parse(text):
    """([Entry], [fault]) of the file's text."""
    entries, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ", 3)]
        if len(fields) != 4 or not all(fields):
            faults.append(f"line {number}: it is not DATE | TEST | CASE | CAUSE")
            continue
        try:
            datetime.date.fromisoformat(fields[0])
        except ValueError:
            faults.append(f"line {number}: {fields[0]} is not a date such as 2026-11-26")
        entries.append(Entry(number, fields))
    if [entry.date for entry in entries] != sorted(entry.date for entry in entries):
        faults.append("the lines are not in the order of their dates")
    return entries, faults


def read(path=PATH):
    with open(path, encoding="utf-8") as file:
        return parse(file.read())


def too_often(entries):
    """[(test, case, times)] of what was unstable TIMES times or more since it was last mended."""
    times = {}
    for entry in entries:
        times[entry.test, entry.case] = 0 if entry.mended() else times.get((entry.test, entry.case), 0) + 1
    return [(*what, count) for what, count in times.items() if count >= TIMES]


def line(test, case):
    """What is to be added to the file for a case that was unstable today."""
    return f"{datetime.date.today().isoformat()} | {test} | {case or WHOLE} | CAUSE"
