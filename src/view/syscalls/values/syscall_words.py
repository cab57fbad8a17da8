#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Print the names of flags of system calls as C: syscall_words.py COMPILER [ARGUMENT]..., which preprocesses.

The names are the macros of the system's headers that match; their values are the compiler's. A set may have a mask: its bits are
one number, such as O_RDONLY or O_RDWR, and have one name; each other bit is a flag. What differs between machines stands in MACHINES,
so a reader on any machine prints what a program on any other one meant.
"""
import re
import subprocess
import sys

HEADERS = ["asm/ioctls.h", "asm/termbits.h", "errno.h", "fcntl.h", "linux/close_range.h", "linux/falloc.h", "linux/futex.h", "linux/magic.h", "linux/membarrier.h", "linux/memfd.h", "linux/rseq.h", "linux/stat.h", "netinet/in.h", "netinet/tcp.h", "poll.h", "sched.h", "signal.h",
           "sys/epoll.h", "sys/eventfd.h", "sys/file.h", "sys/inotify.h", "sys/mman.h", "sys/mount.h", "sys/prctl.h", "sys/random.h",
           "sys/resource.h", "sys/signalfd.h", "sys/socket.h", "sys/statvfs.h", "sys/time.h", "sys/timerfd.h", "sys/uio.h", "sys/wait.h", "time.h", "unistd.h"]
# The values that the kernel has for one kind of machine only, by the names of `uname -m`. Any other value is the same everywhere.
MACHINES = {
    "x86_64": {"O_DIRECT": 0o40000, "O_LARGEFILE": 0o100000, "O_DIRECTORY": 0o200000, "O_NOFOLLOW": 0o400000, "__O_TMPFILE": 0o20200000,
               "MAP_32BIT": 0x40, "MAP_ABOVE4G": 0x80, "ARCH_SET_GS": 0x1001, "ARCH_SET_FS": 0x1002, "ARCH_GET_FS": 0x1003, "ARCH_GET_GS": 0x1004,
               "ARCH_GET_CPUID": 0x1011, "ARCH_SET_CPUID": 0x1012, "SA_RESTORER": 0x4000000},
    "aarch64": {"O_DIRECTORY": 0o40000, "O_NOFOLLOW": 0o100000, "O_DIRECT": 0o200000, "O_LARGEFILE": 0o400000, "__O_TMPFILE": 0o20040000,
                "PROT_BTI": 0x10, "PROT_MTE": 0x20, "SA_RESTORER": 0x4000000},
}
# Names of sets that no header has.
MORE = {"signal": {"SIGRTMIN": 32, **{f"SIGRT_{n}": 32 + n for n in range(1, 33)}},
        "statfs": {"ST_VALID": 0x20, "ST_NOSYMFOLLOW": 0x2000}}
# Set: the names that it has, those that it has not, its mask.
SETS = {
    "action": (r"SA_\w+", r"SA_(STACK|ONESHOT|NOMASK|INTERRUPT)", "0"),
    "poll": (r"POLL(IN|PRI|OUT|ERR|HUP|NVAL|RDNORM|RDBAND|WRNORM|WRBAND|MSG|REMOVE|RDHUP)", "", "0"),
    "open": (r"__O_TMPFILE|O_\w+", r"O_(ACCMODE|NDELAY|FSYNC|RSYNC|TMPFILE)", "O_ACCMODE"),
    "open_flags": (r"O_(APPEND|ASYNC|DIRECT|LARGEFILE|NOATIME|NONBLOCK|RDONLY|WRONLY|RDWR)", "", "O_ACCMODE"),
    "descriptor": (r"O_(CLOEXEC|NONBLOCK|DIRECT)", "", "0"),
    "at": (r"AT_FDCWD", "", "~0ull"),
    "at_flags": (r"AT_(SYMLINK_\w+|REMOVEDIR|NO_AUTOMOUNT|EMPTY_PATH|EACCESS|STATX_FORCE_SYNC|STATX_DONT_SYNC|RECURSIVE)", r"AT_EACCESS", "0"),
    "access": (r"[FRWX]_OK", "", "0"),
    "prot": (r"PROT_\w+", r"PROT_(SAO|ADI)", "0"),
    "map": (r"MAP_\w+", r"MAP_(ANON|FAILED|FILE|TYPE|HUGE_\w+|UNINITIALIZED|RENAME|AUTOGROW|AUTORSRV|COPY|LOCAL|HASSEMAPHORE|NOEXTEND|INHERIT)", "MAP_TYPE"),
    "mremap": (r"MREMAP_\w+", "", "0"),
    "msync": (r"MS_(ASYNC|SYNC|INVALIDATE)", "", "0"),
    "madvise": (r"MADV_\w+", "", "~0ull"),
    "clone": (r"CLONE_\w+|SIGCHLD", r"CLONE_(NEWTIME|INTO_CGROUP|CLEAR_SIGHAND|ARGS_\w+)", "CSIGNAL"),
    "family": (r"AF_\w+", r"AF_(LOCAL|FILE|MAX|ROUTE)", "~0ull"),
    "socket": (r"SOCK_(STREAM|DGRAM|RAW|RDM|SEQPACKET|DCCP|PACKET|CLOEXEC|NONBLOCK)", "", "15"),
    "message": (r"MSG_\w+", r"MSG_(TRYHARD|EOF|PAGE_\w+|STAT\w*|INFO|EXCEPT|NOERROR|COPY)", "0"),
    "protocol": (r"IPPROTO_\w+", r"IPPROTO_(HOPOPTS|MAX|BEETPH|ENCAP|MTP|COMP)", "~0ull"),
    "level": (r"SOL_\w+", "", "~0ull"),
    "socket_option": (r"SO_\w+", r"SO_(GET_FILTER|DETACH_BPF|EE_\w+|TIMESTAMP\w*_(OLD|NEW)|(RCV|SND)TIMEO_(OLD|NEW))", "~0ull"),
    "ip_option": (r"IP_\w+", r"IP_(DEFAULT_\w+|MAX_\w+|PMTUDISC_\w+|RECVRETOPTS)", "~0ull"),
    "ip6_option": (r"IPV6_\w+", r"IPV6_(PMTUDISC_\w+|(JOIN|LEAVE)_GROUP|RX\w+|RTHDR_\w+)", "~0ull"),
    "tcp_option": (r"TCP_\w+", r"TCP_(ESTABLISHED|SYN_\w+|FIN_\w+|TIME_WAIT|CLOSE\w*|LAST_ACK|LISTEN|CLOSING|MSS_\w+|MAX_\w+|MD5SIG_\w+|REPAIR_(ON|OFF)\w*|\w*COOKIE_\w+|S_DATA_\w+|CA_\w+)",
                   "~0ull"),
    "shutdown": (r"SHUT_\w+", "", "~0ull"),
    "futex": (r"FUTEX_(WAIT|WAKE|FD|REQUEUE|CMP_REQUEUE|WAKE_OP|LOCK_PI|UNLOCK_PI|TRYLOCK_PI|WAIT_BITSET|WAKE_BITSET|WAIT_REQUEUE_PI|CMP_REQUEUE_PI|LOCK_PI2)(_PRIVATE)?|FUTEX_CLOCK_REALTIME",
              "", "FUTEX_CMD_MASK | FUTEX_PRIVATE_FLAG"),
    "bitset": (r"FUTEX_BITSET_MATCH_ANY", "", "~0ull"),
    "arch": (r"ARCH_(SET|GET)_(GS|FS|CPUID)", "", "~0ull"),
    "advice": (r"POSIX_FADV_\w+", "", "~0ull"),
    "interval": (r"ITIMER_\w+", "", "~0ull"),
    "priority": (r"PRIO_(PROCESS|PGRP|USER)", "", "~0ull"),
    "usage": (r"RUSAGE_\w+", r"RUSAGE_LWP", "~0ull"),
    "policy": (r"SCHED_(OTHER|FIFO|RR|BATCH|IDLE|DEADLINE|RESET_ON_FORK)", "", "0x3fffffff"),
    "close_range": (r"CLOSE_RANGE_\w+", "", "0"),
    "splice": (r"SPLICE_F_\w+", "", "0"),
    "fallocate": (r"FALLOC_FL_\w+", r"FALLOC_FL_ALLOCATE_RANGE", "0"),
    "lock_all": (r"MCL_\w+", "", "0"),
    "watch": (r"IN_\w+", r"IN_(CLOEXEC|NONBLOCK|ALL_EVENTS|CLOSE|MOVE|CLASS\w+|LOOPBACK\w*|MULTICAST\w*|BADCLASS\w*|EXPERIMENTAL\w*)", "0"),
    "control": (r"SCM_(RIGHTS|CREDENTIALS|TIMESTAMP\w*)", r"SCM_TIMESTAMPING_\w+", "~0ull"),
    "vector_flags": (r"RWF_\w+", "", "0"),
    "lock": (r"F_(RD|WR|UN)LCK", "", "~0ull"),
    "whence": (r"SEEK_\w+", "", "~0ull"),
    "fcntl": (r"F_(DUPFD\w*|GET\w+|SET\w+|OFD_\w+|ADD_SEALS|NOTIFY)", r"F_(GET|SET)LK(W)?64|F_GETLK64", "~0ull"),
    "descriptor_flags": (r"FD_CLOEXEC", "", "0"),
    "terminal_input": (r"IGN(BRK|PAR|CR)|BRKINT|PARMRK|INPCK|ISTRIP|INLCR|ICRNL|IUCLC|IX(ON|ANY|OFF)|IMAXBEL|IUTF8", "", "0"),
    **{f"terminal_{delay}": (rf"{delay}\d|X{delay}S", "TAB3", f"{delay}DLY") for delay in ("NL", "CR", "TAB", "BS", "VT", "FF")},
    "terminal_output": (r"OPOST|OLCUC|ONLCR|OCRNL|ONOCR|ONLRET|OFILL|OFDEL", "", "0"),
    "terminal_speed": (r"B\d+|BOTHER", "", "CBAUD"),
    "terminal_size": (r"CS[5-8]", "", "CSIZE"),
    "terminal_control": (r"CSTOPB|CREAD|PAR(ENB|ODD)|HUPCL|CLOCAL|CMSPAR|CRTSCTS", "", "0"),
    "terminal_local": (r"ISIG|ICANON|XCASE|ECHO\w*|NOFLSH|TOSTOP|FLUSHO|PENDIN|IEXTEN|EXTPROC", "", "0"),
    "ioctl": (r"TC[GS]ET[SAWF]*|TIOC[GS]\w+|TIOCOUTQ|FIO\w+", r"TIOC[GS]ISO7816", "~0ull"),
    "epoll": (r"EPOLL_CTL_\w+", "", "~0ull"),
    "epoll_events": (r"EPOLL(IN|PRI|OUT|RDNORM|RDBAND|WRNORM|WRBAND|MSG|ERR|HUP|RDHUP|EXCLUSIVE|WAKEUP|ONESHOT|ET)", "", "0"),
    "epoll_flags": (r"EPOLL_CLOEXEC", "", "0"),
    "eventfd": (r"EFD_\w+", "", "0"),
    "inotify": (r"IN_(CLOEXEC|NONBLOCK)", "", "0"),
    "signalfd": (r"SFD_\w+", "", "0"),
    "timerfd": (r"TFD_(CLOEXEC|NONBLOCK)", "", "0"),
    "timerfd_timer": (r"TFD_TIMER_\w+", "", "0"),
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
    "statx": (r"STATX_\w+", r"STATX_(_RESERVED|ATTR\w*)", "0"),
    "statx_flags": (r"AT_(STATX_\w+|SYMLINK_NOFOLLOW|NO_AUTOMOUNT|EMPTY_PATH)", r"AT_STATX_SYNC_TYPE", "AT_STATX_SYNC_TYPE"),
    "statx_attributes": (r"STATX_ATTR_\w+", "", "0"),
    "magic": (r"\w+_MAGIC(_NUMBER)?", r"EXT[34]_SUPER_MAGIC|STACK_END_MAGIC", "~0ull"),
    "statfs": (r"ST_(RDONLY|NOSUID|NODEV|NOEXEC|SYNCHRONOUS|MANDLOCK|NOATIME|NODIRATIME|RELATIME)", "", "0"),
    "stack": (r"SS_(ONSTACK|DISABLE|AUTODISARM)", "", "0"),
    "mount": (r"MS_\w+", r"MS_(ASYNC|SYNC|INVALIDATE|RMT_MASK|MGC_\w+)", "0"),
    "unmount": (r"MNT_(FORCE|DETACH|EXPIRE)|UMOUNT_NOFOLLOW", "", "0"),
    "membarrier": (r"MEMBARRIER_CMD_\w+", "", "~0ull"),
}
# An argument of calls: their names, separated by blanks, the argument's name, and its set or form. Then, at choice, another argument, the bits of it
# that count, and which values it has. The first line that fits counts. `buffer` names the argument that has its length.
ARGUMENTS = """
open openat|mode|none|flags&O_CREAT+__O_TMPFILE-O_DIRECTORY|0
write pwrite64|buf|buffer|count
mq_timedsend|u_msg_ptr|buffer|msg_len
preadv pwritev preadv2 pwritev2|pos_l|signed
preadv pwritev preadv2 pwritev2|pos_h|none
preadv2 pwritev2|flags|vector_flags
sendmsg|cmsg_level|level
sendmsg|cmsg_type|control
sendmsg|cmsg_ip|ip_option
sendmsg|cmsg_ip6|ip6_option
fallocate|mode|fallocate
open openat|flags|open
pipe2 dup3|flags|descriptor
* |dfd|at
execveat|fd|at
rt_sigaction|sa_flags|action
poll|events|poll
* |newdfd|at
* |olddfd|at
newfstatat|flag|at_flags
statx|flags|statx_flags
statx|mask|statx
statx|stx_mask|statx
statx|stx_attributes|statx_attributes
statfs|f_type|magic
statfs|f_flags|statfs
sigaltstack|ss_flags|stack
fchownat unlinkat faccessat2 fchmodat2|flag|at_flags
faccessat2 linkat execveat fchmodat2|flags|at_flags
access faccessat faccessat2|mode|access
* |mode|octal
* |umode|octal
umask|mask|octal
mmap mprotect pkey_mprotect|prot|prot
mmap|flags|map
mmap|fd|integer
mmap|off|hexadecimal
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
clone3|flags|clone
clone3|exit_signal|signal
clone|tls|hexadecimal
unshare|unshare_flags|clone
setns|flags|clone
socket socketpair|family|family
socket socketpair|type|socket
socket socketpair|protocol|protocol|family|AF_INET AF_INET6
getsockopt setsockopt|level|level
getsockopt setsockopt|optname|socket_option|level|SOL_SOCKET
getsockopt setsockopt|optname|tcp_option|level|SOL_TCP
getsockopt setsockopt|optname|ip_option|level|SOL_IP
getsockopt setsockopt|optname|ip6_option|level|SOL_IPV6
accept4|flags|socket
sendto sendmsg recvfrom recvmsg sendmmsg recvmmsg|flags|message
shutdown|how|shutdown
futex|op|futex
futex|val|none|op&FUTEX_CMD_MASK|FUTEX_LOCK_PI FUTEX_LOCK_PI2 FUTEX_UNLOCK_PI FUTEX_TRYLOCK_PI
futex|utime|none|op&FUTEX_CMD_MASK|FUTEX_WAKE FUTEX_FD FUTEX_UNLOCK_PI FUTEX_TRYLOCK_PI FUTEX_WAKE_BITSET
futex|utime|integer|op&FUTEX_CMD_MASK|FUTEX_REQUEUE FUTEX_CMP_REQUEUE FUTEX_WAKE_OP FUTEX_CMP_REQUEUE_PI
futex|uaddr2|none|op&FUTEX_CMD_MASK|FUTEX_WAIT FUTEX_WAKE FUTEX_FD FUTEX_LOCK_PI FUTEX_LOCK_PI2 FUTEX_UNLOCK_PI FUTEX_TRYLOCK_PI FUTEX_WAIT_BITSET FUTEX_WAKE_BITSET
futex|val3|none|op&FUTEX_CMD_MASK|FUTEX_WAIT FUTEX_WAIT_REQUEUE_PI FUTEX_WAKE FUTEX_FD FUTEX_LOCK_PI FUTEX_LOCK_PI2 FUTEX_UNLOCK_PI FUTEX_TRYLOCK_PI FUTEX_REQUEUE
futex|val3|bitset|op&FUTEX_CMD_MASK|FUTEX_WAIT_BITSET FUTEX_WAKE_BITSET
arch_prctl|option|arch
arch_prctl|arg2|address
fadvise64 fadvise64_64|advice|advice
getitimer setitimer|which|interval
getpriority setpriority|which|priority
getrusage|who|usage
sched_setscheduler|policy|policy
close_range|flags|close_range
splice tee vmsplice|flags|splice
mlockall|flags|lock_all
inotify_add_watch|mask|watch
rseq|rseq_len|hexadecimal
rseq|sig|hexadecimal
lseek|offset|signed
lseek|whence|whence
fcntl|cmd|fcntl
fcntl|l_type|lock
fcntl|l_whence|whence
fcntl|arg|address|cmd|F_GETLK F_OFD_GETLK
fcntl|arg|none|cmd|F_GETFD F_GETFL F_GETOWN F_GETSIG F_GETLEASE F_GETPIPE_SZ F_GET_SEALS
fcntl|arg|descriptor_flags|cmd|F_SETFD
fcntl|arg|open_flags|cmd|F_SETFL
fcntl|arg|integer|cmd|F_DUPFD F_DUPFD_CLOEXEC F_SETOWN F_SETSIG F_SETPIPE_SZ F_NOTIFY
ioctl|cmd|ioctl
ioctl|arg|none|cmd|FIOCLEX FIONCLEX
ioctl|arg|hexadecimal
ioctl|c_iflag|terminal_input
ioctl|c_oflag|terminal_NL
ioctl|c_oflag|terminal_CR
ioctl|c_oflag|terminal_TAB
ioctl|c_oflag|terminal_BS
ioctl|c_oflag|terminal_VT
ioctl|c_oflag|terminal_FF
ioctl|c_oflag|terminal_output
ioctl|c_cflag|terminal_speed
ioctl|c_cflag|terminal_size
ioctl|c_cflag|terminal_control
ioctl|c_lflag|terminal_local
fcntl|arg|hexadecimal
io_getevents io_pgetevents io_submit io_cancel|ctx_id|address
io_destroy|ctx|address
epoll_ctl|op|epoll
epoll_ctl|event|address|op|EPOLL_CTL_DEL
epoll_ctl|events|epoll_events
epoll_create1|flags|epoll_flags
eventfd2|flags|eventfd
inotify_init1|flags|inotify
signalfd4|flags|signalfd
timerfd_create|flags|timerfd
timer_settime clock_nanosleep|flags|timer
timerfd_settime|flags|timerfd_timer
clock_gettime clock_settime clock_getres clock_nanosleep timer_create|which_clock|clock
timerfd_create|clockid|clock
kill tkill tgkill rt_sigaction|sig|signal
rt_sigprocmask|how|mask
wait4 waitid|options|wait
prctl|option|prctl
prctl|arg2|address|option|PR_GET_NAME
prctl|arg2|none|option|PR_GET_DUMPABLE PR_GET_KEEPCAPS PR_GET_TIMERSLACK
prctl|arg3|none|option|PR_SET_NAME PR_GET_NAME PR_SET_DUMPABLE PR_GET_DUMPABLE PR_SET_PDEATHSIG PR_GET_PDEATHSIG PR_SET_KEEPCAPS PR_GET_KEEPCAPS PR_CAPBSET_READ PR_CAPBSET_DROP PR_SET_TIMERSLACK PR_GET_TIMERSLACK PR_SET_CHILD_SUBREAPER PR_GET_CHILD_SUBREAPER
prctl|arg4|none|option|PR_SET_NAME PR_GET_NAME PR_SET_DUMPABLE PR_GET_DUMPABLE PR_SET_PDEATHSIG PR_GET_PDEATHSIG PR_SET_KEEPCAPS PR_GET_KEEPCAPS PR_CAPBSET_READ PR_CAPBSET_DROP PR_SET_TIMERSLACK PR_GET_TIMERSLACK PR_SET_CHILD_SUBREAPER PR_GET_CHILD_SUBREAPER
prctl|arg5|none|option|PR_SET_NAME PR_GET_NAME PR_SET_DUMPABLE PR_GET_DUMPABLE PR_SET_PDEATHSIG PR_GET_PDEATHSIG PR_SET_KEEPCAPS PR_GET_KEEPCAPS PR_CAPBSET_READ PR_CAPBSET_DROP PR_SET_TIMERSLACK PR_GET_TIMERSLACK PR_SET_CHILD_SUBREAPER PR_GET_CHILD_SUBREAPER
prlimit64 getrlimit setrlimit|resource|limit
getrandom|flags|random
memfd_create|flags|memfd
renameat2|flags|rename
flock|cmd|flock
mount|flags|mount
umount2|flags|unmount
membarrier|cmd|membarrier
"""

source = "".join(f"#include <{name}>\n" for name in HEADERS)
macros = subprocess.run(sys.argv[1:] + ["-D_GNU_SOURCE", "-E", "-dM", "-xc", "-"], input=source, check=True, stdout=subprocess.PIPE, text=True).stdout
names = re.findall(r"^#define (\w+) +\S", macros, re.M)
print(source + '\n#include "view/syscalls/values/syscall_words.h"\n')
own = {name for values in MACHINES.values() for name in values}
arrays = {}  # (machine, set): the name of its array
for name, (wanted, unwanted, _) in SETS.items():
    found = sorted(one for one in {*names, *own} if re.fullmatch(wanted, one) and not (unwanted and re.fullmatch(unwanted, one)))
    for machine, values in MACHINES.items():
        arrays[machine, name] = f"words_{name}_{machine}" if own & {*found} else f"words_{name}"
        if arrays[machine, name] in [*arrays.values()][:-1]:
            continue
        print(f"static const struct syscall_word {arrays[machine, name]}[] = {{")
        for one in found:
            shown = "O_TMPFILE" if one == "__O_TMPFILE" else one
            if one in values or one not in own:
                print(f'\t{{ "{shown}", {hex(values[one]) if one in values else f"(uint64_t)({one})"} }},')
        for one, value in MORE.get(name, {}).items():
            print(f'\t{{ "{one}", {value} }},')
        print("};\n")
for machine in MACHINES:
    print(f"static const struct syscall_words words_of_{machine}[] = {{")
    for name, (_, _, mask) in SETS.items():
        array = arrays[machine, name]
        print(f"\t{{ {array}, sizeof({array}) / sizeof({array}[0]), (uint64_t)({mask}) }},")
    print("};\n")
print("const struct syscall_machine syscall_machines[] = {")
for machine in MACHINES:
    print(f'\t{{ "{machine}", words_of_{machine} }},')
print("};\n\nconst unsigned syscall_machine_count = sizeof(syscall_machines) / sizeof(syscall_machines[0]);\n")
order = list(SETS)
lines = [line.split("|") for line in ARGUMENTS.split("\n") if line]
for line in lines:
    if line[4:]:
        name = f"values_{lines.index(line)}"
        print(f"static const uint64_t {name}[] = {{ {', '.join(line[4].split())} }};")
print("\nconst struct syscall_argument syscall_arguments[] = {")
for line in lines:
    calls, argument, form = line[:3]
    other, _, mask = line[3].partition("&") if line[3:] else ("", "", "")
    condition = f'"{other}", {mask or "~0ull"}, ' + (f"values_{lines.index(line)}, {len(line[4].split())}" if line[4:] else "NULL, 0") if other else "NULL, 0, NULL, 0"
    number = str(order.index(form)) if form in SETS else "0"
    kind = "SYSCALL_WORDS" if form in SETS else "SYSCALL_" + form.upper()
    for call in calls.split():
        print(f'\t{{ "{call}", "{argument}", {kind}, {number}, {condition} }},')
print("};\n")
print("const unsigned syscall_argument_count = sizeof(syscall_arguments) / sizeof(syscall_arguments[0]);")
