#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Print the names of flags of system calls as C: syscall_words.py COMPILER [ARGUMENT]..., which preprocesses.

The names are the macros of the system's headers that match; their values are the compiler's. A set may have a mask: its bits are
one number, such as O_RDONLY or O_RDWR, and have one name; each other bit is a flag.
"""
import re
import subprocess
import sys

HEADERS = ["asm/ioctls.h", "errno.h", "fcntl.h", "linux/futex.h", "linux/membarrier.h", "linux/memfd.h", "linux/rseq.h", "linux/stat.h", "sched.h", "signal.h",
           "sys/epoll.h", "sys/eventfd.h", "sys/file.h", "sys/inotify.h", "sys/mman.h", "sys/mount.h", "sys/prctl.h", "sys/random.h",
           "sys/resource.h", "sys/signalfd.h", "sys/socket.h", "sys/timerfd.h", "sys/wait.h", "time.h", "unistd.h"]
# Set: the names that it has, those that it has not, its mask.
SETS = {
    "open": (r"__O_TMPFILE|O_\w+", r"O_(ACCMODE|NDELAY|FSYNC|RSYNC|LARGEFILE|TMPFILE)", "O_ACCMODE"),
    "descriptor": (r"O_(CLOEXEC|NONBLOCK|DIRECT)", "", "0"),
    "at": (r"AT_FDCWD", "", "~0ull"),
    "at_flags": (r"AT_(SYMLINK_\w+|REMOVEDIR|NO_AUTOMOUNT|EMPTY_PATH|EACCESS|STATX_FORCE_SYNC|STATX_DONT_SYNC|RECURSIVE)", r"AT_EACCESS", "0"),
    "access": (r"[FRWX]_OK", "", "0"),
    "prot": (r"PROT_\w+", r"PROT_(MTE|BTI|SAO|ADI)", "0"),
    "map": (r"MAP_\w+", r"MAP_(ANON|FAILED|FILE|TYPE|HUGE_\w+|UNINITIALIZED|RENAME|AUTOGROW|AUTORSRV|COPY|LOCAL|HASSEMAPHORE|NOEXTEND|INHERIT)", "MAP_TYPE"),
    "mremap": (r"MREMAP_\w+", "", "0"),
    "msync": (r"MS_(ASYNC|SYNC|INVALIDATE)", "", "0"),
    "madvise": (r"MADV_\w+", "", "~0ull"),
    "clone": (r"CLONE_\w+|SIGCHLD", r"CLONE_(NEWTIME|INTO_CGROUP|CLEAR_SIGHAND|ARGS_\w+)", "CSIGNAL"),
    "family": (r"AF_\w+", r"AF_(LOCAL|FILE|MAX|ROUTE)", "~0ull"),
    "socket": (r"SOCK_(STREAM|DGRAM|RAW|RDM|SEQPACKET|DCCP|PACKET|CLOEXEC|NONBLOCK)", "", "15"),
    "message": (r"MSG_\w+", r"MSG_(TRYHARD|EOF|PAGE_\w+|STAT\w*|INFO|EXCEPT|NOERROR|COPY)", "0"),
    "shutdown": (r"SHUT_\w+", "", "~0ull"),
    "futex": (r"FUTEX_(WAIT|WAKE|FD|REQUEUE|CMP_REQUEUE|WAKE_OP|LOCK_PI|UNLOCK_PI|TRYLOCK_PI|WAIT_BITSET|WAKE_BITSET|WAIT_REQUEUE_PI|CMP_REQUEUE_PI|LOCK_PI2|PRIVATE_FLAG|CLOCK_REALTIME)",
              "", "FUTEX_CMD_MASK"),
    "whence": (r"SEEK_\w+", "", "~0ull"),
    "fcntl": (r"F_(DUPFD\w*|GET\w+|SET\w+|OFD_\w+|ADD_SEALS|NOTIFY)", r"F_(GET|SET)LK(W)?64|F_GETLK64", "~0ull"),
    "ioctl": (r"TC[GS]ET[SAW]*|TIOC[GS]\w+|FIO\w+", r"TIOC[GS]ISO7816", "~0ull"),
    "epoll": (r"EPOLL_CTL_\w+", "", "~0ull"),
    "epoll_flags": (r"EPOLL_CLOEXEC", "", "0"),
    "eventfd": (r"EFD_\w+", "", "0"),
    "inotify": (r"IN_(CLOEXEC|NONBLOCK)", "", "0"),
    "signalfd": (r"SFD_\w+", "", "0"),
    "timerfd": (r"TFD_(CLOEXEC|NONBLOCK)", "", "0"),
    "timer": (r"TIMER_ABSTIME", "", "0"),
    "clock": (r"CLOCK_\w+", "", "~0ull"),
    "signal": (r"SIG(HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR[12]|SEGV|PIPE|ALRM|TERM|STKFLT|CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|XCPU|XFSZ|VTALRM|PROF|WINCH|IO|PWR|SYS)",
               "", "~0ull"),
    "mask": (r"SIG_(BLOCK|UNBLOCK|SETMASK)", "", "~0ull"),
    "wait": (r"W(NOHANG|UNTRACED|STOPPED|EXITED|CONTINUED|NOWAIT)|__W(NOTHREAD|ALL|CLONE)", r"WUNTRACED", "0"),
    "prctl": (r"PR_[GS]ET_\w+|PR_CAPBSET_\w+", r"PR_SET_(MM|PTRACER)_\w+", "~0ull"),
    "limit": (r"RLIMIT_\w+", r"RLIMIT_OFILE", "~0ull"),
    "random": (r"GRND_\w+", "", "0"),
    "memfd": (r"MFD_(CLOEXEC|ALLOW_SEALING|HUGETLB|NOEXEC_SEAL|EXEC)", "", "0"),
    "rename": (r"RENAME_\w+", "", "0"),
    "flock": (r"LOCK_(SH|EX|NB|UN)", "", "0"),
    "statx": (r"STATX_\w+", r"STATX_(ALL|_RESERVED|ATTR\w*|BASIC_STATS)", "0"),
    "mount": (r"MS_\w+", r"MS_(ASYNC|SYNC|INVALIDATE|RMT_MASK|MGC_\w+)", "0"),
    "unmount": (r"MNT_(FORCE|DETACH|EXPIRE)|UMOUNT_NOFOLLOW", "", "0"),
    "membarrier": (r"MEMBARRIER_CMD_\w+", "", "~0ull"),
}
# An argument of calls: their names, separated by blanks, the argument's name, and its set or form.
ARGUMENTS = """
open openat|flags|open
pipe2 dup3|flags|descriptor
* |dfd|at
* |newdfd|at
* |olddfd|at
newfstatat|flag|at_flags
statx|flags|at_flags
statx|mask|statx
fchownat unlinkat faccessat2 fchmodat2|flag|at_flags
faccessat2 linkat execveat fchmodat2|flags|at_flags
access faccessat faccessat2|mode|access
* |mode|octal
* |umode|octal
umask|mask|octal
mmap mprotect pkey_mprotect|prot|prot
mmap|flags|map
mmap|fd|integer
mmap munmap mprotect|addr|address
brk|brk|address
munmap mprotect mremap msync madvise mincore mlock|start|address
mremap|addr|address
mremap|new_addr|address
mremap|flags|mremap
msync|flags|msync
madvise process_madvise|behavior|madvise
clone|clone_flags|clone
clone|newsp|address
clone|tls|hexadecimal
unshare|unshare_flags|clone
setns|flags|clone
socket socketpair|family|family
socket socketpair|type|socket
accept4|flags|socket
sendto sendmsg recvfrom recvmsg sendmmsg recvmmsg|flags|message
shutdown|how|shutdown
futex|op|futex
lseek|offset|signed
lseek|whence|whence
fcntl|cmd|fcntl
ioctl|cmd|ioctl
ioctl|arg|hexadecimal
fcntl|arg|hexadecimal
epoll_ctl|op|epoll
epoll_create1|flags|epoll_flags
eventfd2|flags|eventfd
inotify_init1|flags|inotify
signalfd4|flags|signalfd
timerfd_create|flags|timerfd
timerfd_settime clock_nanosleep|flags|timer
clock_gettime clock_settime clock_getres clock_nanosleep timer_create|which_clock|clock
timerfd_create|clockid|clock
kill tkill tgkill rt_sigaction|sig|signal
rt_sigprocmask|how|mask
wait4 waitid|options|wait
prctl|option|prctl
prlimit64 getrlimit setrlimit|resource|limit
getrandom|flags|random
memfd_create|flags|memfd
renameat2|flags|rename
flock|cmd|flock
mount|flags|mount
umount|flags|unmount
membarrier|cmd|membarrier
"""

source = "".join(f"#include <{name}>\n" for name in HEADERS)
macros = subprocess.run(sys.argv[1:] + ["-D_GNU_SOURCE", "-E", "-dM", "-xc", "-"], input=source, check=True, stdout=subprocess.PIPE, text=True).stdout
names = re.findall(r"^#define (\w+) +\S", macros, re.M)
print(source + '\n#include "view/kernel/syscall_words.h"\n')
for name, (wanted, unwanted, mask) in SETS.items():
    found = sorted(one for one in names if re.fullmatch(wanted, one) and not (unwanted and re.fullmatch(unwanted, one)))
    print(f"static const struct syscall_word words_{name}[] = {{")
    for one in found:
        shown = "O_TMPFILE" if one == "__O_TMPFILE" else one
        print(f'\t{{ "{shown}", (uint64_t)({one}) }},')
    print("};\n")
print("const struct syscall_words syscall_words[] = {")
for name, (_, _, mask) in SETS.items():
    print(f"\t{{ words_{name}, sizeof(words_{name}) / sizeof(words_{name}[0]), (uint64_t)({mask}) }},")
print("};\n")
order = list(SETS)
print("const struct syscall_argument syscall_arguments[] = {")
for line in ARGUMENTS.split("\n"):
    if not line:
        continue
    calls, argument, form = line.split("|")
    number = str(order.index(form)) if form in SETS else "0"
    kind = "SYSCALL_WORDS" if form in SETS else "SYSCALL_" + form.upper()
    for call in calls.split():
        print(f'\t{{ "{call}", "{argument}", {kind}, {number} }},')
print("};\n")
print("const unsigned syscall_argument_count = sizeof(syscall_arguments) / sizeof(syscall_arguments[0]);")
