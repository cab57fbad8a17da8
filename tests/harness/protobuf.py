# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Protocol buffers, read without their descriptions: those of pprof."""
import re


def fields(message):
    """A protocol buffer's fields: [(tag, number or bytes)]."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            assert key & 7 == 2, key
            size = number()
            yield key >> 3, message[at:at + size]
            at += size


def packed(message):
    return [value for _, value in fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", message)))]
