#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Write the page of burin flame as two C strings: the text before its data, and the text after it.

    embed.py page.html flame.css flame.js > flame_page.c
"""
import sys


def literal(name, text):
    """A constant string, with one line of source per line of text."""
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") for line in text.split("\n")]
    lines = "\n".join(f'\t"{line}\\n"' for line in escaped[:-1]) + f'\n\t"{escaped[-1]}"'
    return f"extern const char {name}[];\nconst char {name}[] =\n{lines};\n"


def main():
    page, css, js = (open(path, encoding="utf-8").read() for path in sys.argv[1:4])
    page = page.replace("@CSS@", css).replace("@JS@", js)
    head, tail = page.split("@DATA@")
    sys.stdout.reconfigure(encoding="utf-8")
    print("/* Made by embed.py; do not edit. */")
    print(literal("view_flame_head", head) + literal("view_flame_tail", tail), end="")


main()
