#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""bpf_table.py HEADER DEPFILE FOO.bpf.c CLANG...: compiles a source for BPF, and writes a C header with its functions.

Each function that is not static becomes a `struct bpf_code` (bpf/bpf_code.h) of its name: its instructions, and behind them those of the
static functions that it calls, so it can be put anywhere. Symbols that the object does not define are maps, numbers, and functions that
are known when the program is loaded: `places` has the instructions that load or call them.

ELF: the System V ABI; relocations of BPF: Documentation/bpf/llvm_reloc.rst of Linux."""
import os
import struct
import subprocess
import sys
import tempfile

INSTRUCTION = 8
CALL, PSEUDO_CALL = 0x85, 1
RELOCATION_64, RELOCATION_CALL = 1, 10
FUNCTION, GLOBAL, WEAK = 2, 1, 2
# v3: the first with all atomic operations; Linux 5.12.
OPTIONS = ["-target", "bpf", "-mcpu=v3", "-O2", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable", "-Wno-unused-function",
           "-ffreestanding", "-nostdlibinc", "-ffunction-sections", "-fno-jump-tables"]


def fail(why):
    sys.exit(f"bpf_table.py: {sys.argv[3]}: {why}")


def text(data, at):
    return data[at:data.index(b"\0", at)].decode()


class Object:
    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            fail("not an ELF file of 64 bits, little endian")
        begin, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, begin + 64 * n) for n in range(count)]
        self.bodies = [data[h[4]:h[4] + h[5]] if h[1] != 8 else b"" for h in headers]
        self.sections = [text(self.bodies[names], h[0]) for h in headers]
        table = next(n for n, h in enumerate(headers) if h[1] == 2)
        strings = self.bodies[headers[table][6]]
        self.symbols = []
        for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", self.bodies[table]):
            self.symbols.append((text(strings, name), info & 15, info >> 4, section, value))
        self.relocations = {h[7]: list(struct.iter_unpack("<QQ", self.bodies[n])) for n, h in enumerate(headers) if h[1] == 9}

    def functions(self):
        return [(s[0], s[3]) for s in self.symbols if s[1] == FUNCTION and s[2] in (GLOBAL, WEAK) and s[3]]


def collect(found, section, code, places, begins):
    """Append the function in a section, then those that it calls."""
    begins[section] = len(code) // INSTRUCTION
    code += found.bodies[section]
    calls = []
    for offset, info in found.relocations.get(section, ()):
        name, kind, _, target, value = found.symbols[info >> 32]
        at = begins[section] + offset // INSTRUCTION
        if info & 0xffffffff == RELOCATION_CALL and target:
            if value:
                fail(f"a call of {name}, which does not begin its section")
            calls.append((at, target))
        elif info & 0xffffffff in (RELOCATION_64, RELOCATION_CALL) and not target:
            places.append((at, name))
        else:
            fail(f"{found.sections[section]} refers to {name or found.sections[target]}: a program has no data of its own")
    for at, target in calls:
        if target not in begins:
            collect(found, target, code, places, begins)
        struct.pack_into("<BBhi", code, at * INSTRUCTION, CALL, PSEUDO_CALL << 4, 0, begins[target] - at - 1)


def table(found, name, section):
    code, places = bytearray(), []
    collect(found, section, code, places, {})
    yield f"static const struct bpf_insn {name}_code[] = {{"
    for operation, registers, offset, number in struct.iter_unpack("<BBhi", code):
        yield f"\t{{ {operation}, {registers & 15}, {registers >> 4}, {offset}, {number} }},"
    yield "};"
    if places:
        yield f"static const struct bpf_place {name}_places[] = {{"
        for at, symbol in places:
            yield f'\t{{ {at}, "{symbol}" }},'
        yield "};"
    yield (f"static const struct bpf_code {name} = {{ {name}_code, {name + '_places' if places else 'NULL'}, "
           f"{len(code) // INSTRUCTION}, {len(places)} }};\n")


def main():
    header, depfile, source, *clang = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "object")
        done = subprocess.run([*clang, *OPTIONS, "-MD", "-MT", header, "-MF", depfile, "-c", source, "-o", made])
        if done.returncode:
            sys.exit(1)
        with open(made, "rb") as file:
            found = Object(file.read())
    with open(header, "w", encoding="utf-8") as out:
        print('/* Made by bpf_table.py. */\n#include "bpf/bpf_code.h"\n', file=out)
        for name, section in found.functions():
            print("\n".join(table(found, name, section)), file=out)


main()
