# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Where the fields of a session lie, as the compiler has them (tests/programs/layout.c), for tests that read or damage one.

A session begins with its header. Fields of `event` and `ring` count from the beginning of each entry of their tables.
"""
import os
import struct

from cases import *

FIELDS = {name: (int(at), int(size)) for name, at, size in (line.split() for line in run(program("layout")).out.splitlines())}
NUMBERS = [name for name in FIELDS if "." not in name and FIELDS[name][1] in (4, 8) and name not in ("magic", "event", "ring")]
AREAS = [name for name in FIELDS if name.endswith("_offset") and name != "calls_offset"]
FORMS = {4: "<I", 8: "<Q"}


def at(field):
    return FIELDS[field][0]


def size(field):
    return FIELDS[field][1]


def form(field):
    return FORMS[size(field)]


def value(data, field, base=0):
    """A number in bytes, in a mapping or in a file. @base: where the table's entry begins."""
    if hasattr(data, "fileno"):
        return struct.unpack(form(field), os.pread(data.fileno(), size(field), base + at(field)))[0]
    return struct.unpack_from(form(field), data, base + at(field))[0]


def put(file, field, number, base=0):
    os.pwrite(file.fileno(), struct.pack(form(field), number), base + at(field))


def rules(path):
    """The rules of a session for events to come."""
    with open(path, "rb", buffering=0) as file:
        return [rule.decode() for rule in os.pread(file.fileno(), size("rules"), at("rules")).split(b"\0") if rule]
