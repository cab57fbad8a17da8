#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Print the numbers of system calls as C, sorted by name: syscall_numbers.py COMPILER [ARGUMENT]..., which preprocesses."""
import re
import subprocess
import sys

# Names of the kernel's functions that are not those of the calls.
FUNCTIONS = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "sendfile": "sendfile64",
             "umount2": "umount", "_sysctl": "sysctl"}

# Calls that are newer than the headers may be: the kernel here may have them. From 424 on a number is the same on each architecture.
NEWER = {"futex_waitv": 449, "set_mempolicy_home_node": 450, "cachestat": 451, "fchmodat2": 452, "map_shadow_stack": 453, "futex_wake": 454,
         "futex_wait": 455, "futex_requeue": 456, "statmount": 457, "listmount": 458, "lsm_get_self_attr": 459, "lsm_set_self_attr": 460,
         "lsm_list_modules": 461, "mseal": 462, "setxattrat": 463, "getxattrat": 464, "listxattrat": 465, "removexattrat": 466,
         "open_tree_attr": 467, "file_getattr": 468, "file_setattr": 469}
NEWER_X86 = {"uretprobe": 335, "uprobe": 336}

# Those of arm64 besides.
FUNCTIONS_ARM64 = {"fadvise64": "fadvise64_64", "personality": "arm64_personality"}

macros = subprocess.run(sys.argv[1:] + ["-E", "-dM", "-include", "sys/syscall.h", "-xc", "/dev/null"], check=True,
                        stdout=subprocess.PIPE, text=True).stdout
if re.search(r"^#define __aarch64__ ", macros, re.M):
    FUNCTIONS.update(FUNCTIONS_ARM64)
else:
    NEWER.update(NEWER_X86)
numbers = {name: f"SYS_{name}" for name in re.findall(r"^#define SYS_(\w+) ", macros, re.M)}
names = sorted((FUNCTIONS.get(name, name), number) for name, number in {**NEWER, **numbers}.items())
print('#include <sys/syscall.h>\n\n#include "source/kernel/points/syscall_numbers.h"\n')
print("const struct syscall_number syscall_numbers[] = {")
for function, number in names:
    print(f'\t{{ "{function}", {number} }},')
print("};\n\nconst unsigned syscall_count = sizeof(syscall_numbers) / sizeof(syscall_numbers[0]);")
