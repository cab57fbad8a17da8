#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A source file with many tracepoints, of six shapes in turns: many_points.py COUNT PER_FUNCTION >many.c"""
import sys

SHAPES = ["", ', "value=%d", i', ', "a=%d b=%u", i, (unsigned)i', ', "name=%s", s', ', "value=%d name=%s", i, s',
          ', "a=%d b=%ld c=%g d=%p", i, l, d, p']
PARAMETERS = "int i, const char *s, long l, double d, void *p"


def source(count, each):
    lines = ["#include <burin/burin.h>"]
    for first in range(0, count, each):
        function = f"void function{first}({PARAMETERS})"
        lines += [function + ";", function, "{", "\t(void)i, (void)s, (void)l, (void)d, (void)p;"]
        lines += [f'\tBURIN_TRACE("many.event{n}"{SHAPES[n % len(SHAPES)]});' for n in range(first, min(first + each, count))]
        lines.append("}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(source(int(sys.argv[1]), int(sys.argv[2])), end="")
