# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Shared by the tests of symbols: programs built here, symbolize()'s results for locations in them, and those of other tools."""
import collections

from recording import *

NAME = os.path.join(BUILD, "tests", "image", "name")
STATES = ["none", "exported", "functions", "lines"]
Frame = collections.namedtuple("Frame", "name file line")
Named = collections.namedtuple("Named", "places state hint counts")  # places: {offset: (begin, size, [Frame])}


def build(source, *flags, compiler="gcc", suffix=".c", name=None):
    """Builds a program or library from a text, which is kept beside it. Returns its path."""
    need(compiler)
    out = name or fresh("built")
    with open(out + suffix, "w", encoding="utf-8") as file:
        file.write(source)
    made(compiler, *flags, "-o", out, out + suffix)
    return out


def as_lines(places):
    return "".join(f"0x{p:x}\n" for p in places).encode()


def name(path, places, *options, tool=NAME):
    """symbolize()'s results for offsets; status 0 and valid lines are checked."""
    done = run(tool, *options, path, stdin=as_lines(places))
    check(done.status == 0, f"{tool} {path}: status {done.status}: {done.err[-2000:]}")
    found, state, hint, counts = {}, None, None, None
    for line in done.out.splitlines():
        word, _, rest = line.partition(" ")
        if word == "place":
            head, *frames = rest.split("\t")
            offset, begin, size = (int(n, 16) for n in head.split())
            check(offset not in found, f"place {offset:x} twice")
            found[offset] = (begin, size, [Frame(n, f, int(l)) for n, f, l in (frame.rsplit("|", 2) for frame in frames)])
        elif word == "image":
            check(state is None, "two states of the image")
            state, _, hint = rest.partition(" ")
        else:
            counts = tuple(map(int, rest.split()))
    check(state is not None and counts is not None, f"no end: {done.out[-200:]!r}")
    return Named(found, STATES[int(state)], hint, counts)


def symbols(path):
    """{name: (address, size)} of nm, defined ones in code."""
    found = {}
    for line in made("nm", "-S", "--defined-only", path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwWi":
            found[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
    return found


def code(path, section=".text"):
    """(address, offset, size) of a section."""
    for line in made("readelf", "-SW", path).splitlines():
        match = re.search(r"\] " + re.escape(section) + r"\s+\w+\s+(\w+) (\w+) (\w+)", line)
        if match:
            return tuple(int(n, 16) for n in match.groups())
    raise Wrong(f"{path} has no {section}")


def within(path, function, of=None):
    """All addresses of a function, of the symbols of another file if need be."""
    address, size = symbols(of or path)[function]
    return range(address, address + size)


def offsets(path, addresses):
    base, offset, size = code(path)
    return {a: a - base + offset for a in addresses if base <= a < base + size}


def asked(tool, path, addresses, of=None):
    """{address: [Frame]}, the innermost first, by addr2line or llvm-symbolizer; names are not demangled."""
    need(tool)
    options = {"addr2line": ("-a", "-i", "-f", "-e", of or path),
               "llvm-symbolizer": ("--inlines", "--no-demangle", "--output-style=GNU", "-a", f"--obj={of or path}")}[tool]
    done = run(tool, *options, stdin=as_lines(addresses))
    found, frames, lines = {}, None, iter([l for l in done.out.splitlines() if l])
    for line in lines:
        if line.startswith("0x"):
            frames = found.setdefault(int(line, 16), [])
            continue
        file, _, number = next(lines).split(" (")[0].rpartition(":")
        frames.append(Frame(line.replace("??", "?"), file.replace("??", "?"), int(number.replace("?", "0") or 0)))
    return found
