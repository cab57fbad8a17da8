#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Print the numbers of system calls as C, sorted by name: syscall_numbers.py COMPILER [ARGUMENT]..., which preprocesses."""
import re
import subprocess
import sys

# Names of the kernel's functions that are not those of the calls.
FUNCTIONS = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "sendfile": "sendfile64",
             "umount2": "umount", "_sysctl": "sysctl"}

# Those of arm64 besides.
FUNCTIONS_ARM64 = {"fadvise64": "fadvise64_64", "personality": "arm64_personality"}

macros = subprocess.run(sys.argv[1:] + ["-E", "-dM", "-include", "sys/syscall.h", "-xc", "/dev/null"], check=True,
                        stdout=subprocess.PIPE, text=True).stdout
if re.search(r"^#define __aarch64__ ", macros, re.M):
    FUNCTIONS.update(FUNCTIONS_ARM64)
names = sorted((FUNCTIONS.get(name, name), name) for name in re.findall(r"^#define SYS_(\w+) ", macros, re.M))
print('#include <sys/syscall.h>\n\n#include "source/kernel/syscall_numbers.h"\n')
print("const struct syscall_number syscall_numbers[] = {")
for function, name in names:
    print(f'\t{{ "{function}", SYS_{name} }},')
print("};\n\nconst unsigned syscall_count = sizeof(syscall_numbers) / sizeof(syscall_numbers[0]);")
