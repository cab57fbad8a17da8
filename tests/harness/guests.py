# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Machines in QEMU, and what they run."""
import glob
import gzip
import platform
import struct

import archive
from recording import *

class Machine:
    """A kind of machine: the emulator and its arguments, the compilers of C and C++, and Debian's kernel."""

    def __init__(self, qemu, arguments, compiler, cxx, bare, debian, console):
        self.qemu, self.arguments, self.compiler, self.cxx, self.bare, self.debian, self.console = qemu, arguments, compiler, cxx, bare, debian, console
        self.kernel = os.path.join(BUILD, "tests", f"guest-kernel-{debian}")  # downloaded once


X86 = Machine("qemu-system-x86_64", ("-M", "q35", "-vga", "none"), "gcc", "g++",
              ("-m32", "-fcf-protection=none", "-Wl,-Ttext=0x101000,--section-start=.multiboot=0x100000"), "amd64", "ttyS0")
AARCH64 = Machine("qemu-system-aarch64", ("-M", "virt", "-cpu", "cortex-a72"), "aarch64-linux-gnu-gcc", None,
                  ("-mgeneral-regs-only", "-mstrict-align", "-Wl,-Ttext=0x40200000"), "arm64", "ttyAMA0")
ENDS = ("-device", "isa-debug-exit,iobase=0xf4,iosize=4")  # with status 1
HERE = os.path.join(TOP, "tests", "programs")
BARE = {"all": 1, "twice": 100, "recursion": 31, "by_pointer": 10, "leaf": 241}  # calls of guest-bare.c
KNOWN = ("recursion", "leaf", "jumper", "busy", "together")  # functions of guest-init.c
THROWN = ("thrower", "cleaned", "caught", "catcher")  # and of guest-throws.cc

# Debian's releases: versions of Linux, and the release that has the package; None: the same.
KERNELS = {"bookworm": {"6.1": None, "6.12": "bookworm-backports"}, "trixie": {"6.12": None}}


def need_qemu(kind=X86):
    need(kind.qemu)
    version = re.search(r"version (\d+)", made(kind.qemu, "--version"))
    if not version or int(version[1]) < 10:
        raise Skip("QEMU 10 is not installed; scripts/install-packages check")
    if platform.machine() != "x86_64":
        raise Skip("what the machines run is compiled on x86-64")


def machine(*arguments, kind=X86):
    """A command that runs a machine without a screen and network."""
    return [kind.qemu, *kind.arguments, "-m", "256", "-display", "none", "-nic", "none", "-no-reboot", *arguments]


def bare_machine(program):
    """A command that runs a program without an operating system, which ends the machine."""
    return machine("-kernel", program, *ENDS)


def recorded(command, *options, status=0):
    """Record a machine. Return: the trace's path and what the command printed."""
    path = fresh()
    # A ring for what a machine makes while the recorder waits for a CPU on a busy host.
    done = run(BURIN, "record", "-o", path, "--buffer", "256M", "--guest", "--guest-report", *options, "--", *command)
    equal(done.status, status, f"status ({done.err[-400:]})")
    check(re.search(r", lost 0$", done.err, re.M), f"losses: {done.err[-400:]}")
    return path, Report(done.err)


class Report:
    """The line of --guest-report."""

    def __init__(self, text):
        found = re.search(r"guest: (\d+) calls, (\d+) returns, (\d+) of them without a call.* (\d+) calls without a return, (\d+) stacks, "
                          r"(\d+) of them at the end", text)
        check(found, f"no report: {text[-300:]}")
        self.calls, self.returns, self.unmatched, self.unwound, self.stacks, self.kept = map(int, found.groups())


def named(path, *guests):
    words = [word for guest in guests for word in ("--guest", guest)]
    made(BURIN, "symbols", "-q", "--force", *words, path)
    equal(run(BURIN, "check", path).status, 0, "burin check")


def rows(path):
    """[(function, image, calls)] of all functions."""
    table = json.loads(made(BURIN, "report", "--calls", "--json", "--min", "0", path))
    return [(row["symbol"], row["image"], row["calls"]) for row in table["rows"]]


def depths(path, function):
    """{thread: how many calls were open around each call of a function, in the order of their ends}."""
    found = collections.defaultdict(list)
    for record in sorted(dump(path, "-e", "burin.call", "-f", function), key=lambda record: record["time_ns"]):
        found[record["tid"]].append(record["fields"]["depth"])
    return found


def check_together(path, name="together", calls=11):
    """Two processes with one stack address, or two threads: each has its own calls, the inner ones end first."""
    found = depths(path, name)
    equal([len(ends) for ends in found.values()], [calls] * 2, f"calls of both in turns: {dict(found)}")
    for ends in found.values():
        equal(ends, list(range(ends[-1] + calls - 1, ends[-1] - 1, -1)), "open calls around each")


def size_of(path):
    """Bytes of a trace's records."""
    return sum(os.path.getsize(name) for name in glob.glob(f"{path}/cpu*"))


def calls_by_thread(path):
    """{function: {(program, thread): calls}}."""
    table = json.loads(made(BURIN, "report", "--calls", "--json", "--min", "0", "--by", "symbol,program,thread", path))
    found = collections.defaultdict(dict)
    for row in table["rows"]:
        found[row["symbol"]][row["program"], row["thread"]] = row["calls"]
    return found


def check_tasks(path):
    """Calls of the processes of guest-init.c by their threads."""
    calls = calls_by_thread(path)
    found, threads, ends = calls["recursion"], calls["busy"], calls["do_exit"]
    equal(found.pop(("init", "user init 1"), 0), 51, f"calls of the first process, beside {found}")
    equal((list(found.values()), {name for name, _ in found}), ([21] * 3, {"init"}), f"calls of processes that it forked: {found}")
    equal((list(threads.values()), {name for name, _ in threads}), ([100] * 4, {"init"}), f"calls of its threads: {threads}")
    # Their ends in the kernel, one for each. A kernel's stack is used again by the next task.
    pids = {int(name.split()[-1]) for _, name in [*found, *threads]}
    equal(len(pids | {1}), 8, "threads of programs")
    equal({pid: ends.get(("init", f"kernel init {pid}"), 0) for pid in pids}, {pid: 1 for pid in pids}, f"ends of tasks: {ends}")
    check(("kthreadd", "kernel kthreadd 2") in calls["schedule"], "the kernel's own threads")


def counts(path, names):
    found = collections.Counter()
    for function, image, calls in rows(path):
        if function in names:
            found[function] += calls
    return dict(found)


def moved_calls(path):
    """Calls inside the page of code that processes of guest-init.c have at different addresses: {address: calls}."""
    found = collections.Counter()
    for name, _, calls in rows(path):
        address = re.search(r"\+0x([123]0000040)$", name)
        if address:
            found[int(address[1], 16)] += calls
    return dict(found)


MOVED = {0x10000040: 10, 0x20000040: 20, 0x30000040: 30}


def inexact_calls(path, functions):
    """Calls of the kernel's own code that go to no function's beginning. functions: what the guest's /proc/kallsyms has."""
    own = [(int(line.split()[0], 16), line.split()[2]) for line in open(functions, encoding="utf-8") if len(line.split()) > 2]
    exact, begin = {address for address, _ in own}, dict((name, address) for address, name in own)["_stext"]
    made(BURIN, "symbols", "-q", "--force", path)  # without names, functions have their addresses
    calls = 0
    for name, image, count in rows(path):
        address = int(name.split("+")[1], 16) if image == "[guest kernel]" else 0
        calls += count if address >= begin and address not in exact else 0
    return calls


def check_parts(path):
    """Two tasks of guest-bare.c with -DTASKS, whose stacks lie side by side: each has its own calls."""
    equal(counts(path, ("outer_a", "outer_b", "inner", "spin", "arrays")), {"outer_a": 1, "outer_b": 1, "inner": 200, "spin": 209, "arrays": 1}, "calls")
    outer = [depths(path, name) for name in ("outer_a", "outer_b", "arrays")]
    tids = [min(found) for found in outer]
    equal(len(set(tids)), 3, f"a stack each for two tasks, and one for what began before: {tids}")
    equal(depths(path, "inner"), {tid: [1] * 100 for tid in tids[:2]}, "calls of the tasks, each in its outer one")
    equal({tid: len(found) for tid, found in depths(path, "spin").items()}, dict(zip(tids, (100, 100, 9))), "calls of one function by all")


def check_jumps(path, more=0):
    """The program guest-bare.c with -DJUMPS, recorded with its functions: a jump to a function is a call of it. more: calls of leaf() by others."""
    known = {**BARE, "jumps": 20, "jumped_to": 20, "leaf": BARE["leaf"] + 20 + more}
    equal(counts(path, known), known, "calls")
    calls = {name: [(record["fields"]["depth"], record["time_ns"], record["fields"]["begin_ns"]) for record in dump(path, "-e", "burin.call", "-f", name)]
             for name in ("jumps", "jumped_to", "leaf")}
    depth = calls["jumps"][0][0]
    for name, more in (("jumps", 0), ("jumped_to", 1)):
        equal({call[0] for call in calls[name]}, {depth + more}, f"open calls around {name}()")
    leaves = sorted((call for call in calls["leaf"] if call[0] == depth + 2), key=lambda call: call[2])[:20]
    equal(len(leaves), 20, "calls of leaf() by a jump, with four functions around each")
    for (_, end, begin), (_, end_of_leaf, begin_of_leaf) in zip(sorted(calls["jumps"], key=lambda call: call[1]), sorted(leaves, key=lambda call: call[1])):
        check(begin <= begin_of_leaf <= end_of_leaf <= end, "a function that was jumped to lies inside the one that jumped")


def bare_program(*options, kind=X86):
    """A program for a machine without an operating system."""
    need(kind.compiler)
    path = os.path.join(fresh("bare"), "bare")
    os.makedirs(os.path.dirname(path))
    made(kind.compiler, "-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-asynchronous-unwind-tables",
         "-Wl,--build-id=none", *kind.bare, *options, "-o", path, os.path.join(HERE, "guest-bare.c"))
    return path


def init_program(name="guest-init", *options, kind=X86):
    """The program guest-init.c; where there is a compiler of C++, with exceptions."""
    need(kind.compiler)
    path = os.path.join(fresh("init"), name)
    os.makedirs(os.path.dirname(path))
    parts = [(kind.compiler, "guest-init.c")] + ([(kind.cxx, "guest-throws.cc")] if kind.cxx else [])
    for compiler, source in parts:
        made(compiler, "-O1", "-c", *options, "-o", f"{path}-{source}.o", os.path.join(HERE, source))
    made(parts[-1][0], "-pthread", *options, "-o", path, *[f"{path}-{source}.o" for _, source in parts])
    return path


def initial_files(init, files=()):
    """The archive (cpio) of a machine whose first process is a program. files: {path there: contents} besides."""
    path = fresh("initrd")
    folders = {"/".join(words[:n]) for words in (name.split("/") for name in files) for n in range(1, len(words))}
    with open(init, "rb") as program:
        archive.write(path, [("proc", archive.FOLDER, b""), ("init", archive.PROGRAM, program.read())] +
                      [(name, archive.FOLDER, b"") for name in sorted(folders)] +
                      [(name, archive.PROGRAM, contents) for name, contents in dict(files).items()])
    return path


def with_libraries(*programs, kind=X86):
    """{path without its first slash: contents} of programs and of all that the loader loads for them."""
    def loaded(program):
        if kind is X86:
            return made("ldd", program)
        loader = re.search(r"interpreter: (/\S+?)]", made("readelf", "-l", program))[1]
        return f"{made('qemu-aarch64', loader, '--list', program)} {loader} (0x"
    names = {name for program in programs for name in [program, *re.findall(r"(/\S+) \(0x", loaded(program))]}
    return {os.path.normpath(name)[1:]: open(name, "rb").read() for name in names}


def run_there(kernel, commands, programs, *arguments, kind=X86):
    """Boot a kernel, run commands as root, each a list of words, and return of each (status, output)."""
    init = os.path.join(fresh("init"), "init")
    os.makedirs(os.path.dirname(init))
    made(kind.compiler, "-O1", "-static", "-o", init, os.path.join(HERE, "guest-run.c"))
    files = with_libraries(*programs, kind=kind)
    files["commands"] = "".join(" ".join(words) + "\n" for words in commands).encode()
    done = run(*machine("-smp", "2", "-m", "768", "-kernel", kernel, "-initrd", initial_files(init, files), "-serial", "stdio", "-append",
                        " ".join((f"console={kind.console} quiet loglevel=1 panic=-1", *arguments)), kind=kind), limit=300)
    text = done.out.replace("\r", "")
    check("\n== end\n" in text, f"the machine did not end well: {text[-400:]}{done.err[-200:]}")
    parts = {int(number): (int(status), output) for number, output, status in re.findall(r"^== (\d+)\n(.*?)\n== \1 (\d+)$", text, re.S | re.M)}
    return [parts[n] for n in range(len(commands))]


def apt_options(kind, place):
    """Options by which apt knows the packages of another architecture. The system's own lists stay as they are."""
    if made("dpkg", "--print-architecture").strip() == kind.debian:
        return []
    for name in ("lists/partial", "cache"):
        os.makedirs(f"{place}/{name}")
    open(f"{place}/status", "wb").close()
    settings = {"APT::Architecture": kind.debian, "APT::Architectures": kind.debian, "Dir::State::Lists": f"{place}/lists",
                "Dir::State::status": f"{place}/status", "Dir::Cache": f"{place}/cache", "Acquire::Languages": "none"}
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    run("apt-get", *options, "update")  # of all sources: some may lack the architecture
    return options


def kernel_release(version):
    """Where apt has a version of Linux; None: where packages come from here."""
    here = platform.freedesktop_os_release().get("VERSION_CODENAME")
    if version not in KERNELS.get(here, {}):
        raise Skip(f"this release of Debian ({here}) has no package of Linux {version}")
    return KERNELS[here][version]


def debian_kernel(kind=X86, version=None):
    """The kernel of Debian's package for virtual machines, which is unpacked and not installed. version: of Linux; None: that of the
    release of Debian. Of its modules, that of loop devices is kept."""
    release = kernel_release(version) if version else None
    kept = kind.kernel + (f"-{release}" if release else "")
    found = glob.glob(os.path.join(kept, "boot", "vmlinuz-*"))
    if found and os.path.isdir(os.path.join(kept, "lib")):
        return found[0]
    need("apt-get")
    place = fresh("package")
    os.mkdir(place)
    options, meta = apt_options(kind, place), f"linux-image-cloud-{kind.debian}" + (f"/{release}" if release else "")
    depends = run("apt-cache", *options, "depends", "--important", meta).out
    package = re.search(r"Depends: (linux-image-[^\s:]+)", depends)
    if not package or run("apt-get", *options, "download", package[1], cwd=place).status != 0:
        raise Skip(f"Debian's kernel cannot be downloaded (apt-get download {meta})")
    made("dpkg-deb", "--fsys-tarfile", *glob.glob(f"{place}/*.deb"), stdout=open(f"{place}/files.tar", "wb"))
    # In newer packages /lib is /usr/lib.
    made("tar", "--directory", place, "--transform", r"s,^\./usr/,./,", "--wildcards", "-xf", f"{place}/files.tar", "./boot/vmlinuz-*",
         "./*lib/modules/*/kernel/drivers/block/loop.ko*")
    shutil.rmtree(kept, True)
    os.mkdir(kept)
    for name in ("boot", "lib"):
        shutil.move(f"{place}/{name}", kept)
    return glob.glob(os.path.join(kept, "boot", "vmlinuz-*"))[0]


def unpacked(path):
    """The kernel of aarch64, which may be compressed."""
    packed = open(path, "rb").read()
    return gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed


def plain_kernel(packed):
    """The ELF file inside a kernel of x86-64, which QEMU boots as well (PVH)."""
    data, path = open(packed, "rb").read(), fresh("vmlinux")
    offset, size = struct.unpack_from("<II", data, 0x248)
    begin = (data[0x1f1] + 1) * 512 + offset  # behind the code that boots it
    tools = {b"\x02!L\x18": "lz4", b"\xfd7zX": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
    tool = tools.get(data[begin:begin + 4])
    if not tool:
        raise Skip("Debian's kernel is compressed in an unknown way")
    need(tool)
    with open(path, "wb") as file:  # behind it is its size, which the tool does not know
        subprocess.run([tool, "-dc"], input=data[begin:begin + size - 4], stdout=file, stderr=subprocess.DEVNULL, check=False)
    check(open(path, "rb").read(4) == b"\x7fELF", f"the kernel in {packed} is no ELF file")
    return path


def section_of(elf, name):
    """Where a section is in an ELF file: its address, its offset, its size."""
    table, count, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HH", elf, 0x3c)
    sections = [struct.unpack_from("<IIQQQQ", elf, table + 64 * n) for n in range(count)]
    texts = sections[names][4]
    for word, _, _, address, offset, size in sections:
        if elf[texts + word:elf.index(b"\0", texts + word)] == name:
            return address, offset, size
    raise Skip(f"Debian's kernel has no {name}")


def changed_kernel(path, codes, cleared=()):
    """The same kernel with other functions, by name: their code, behind the place that ftrace uses. cleared: sections that become zeros."""
    grep = os.path.realpath(shutil.which("grep"))
    (status, out), = run_there(path, [[grep, "-E", r"\s(" + "|".join(codes) + ")$", "/proc/kallsyms"]], [grep], "nokaslr")
    equal(status, 0, f"status of grep ({out})")
    elf = bytearray(open(path, "rb").read())
    address, offset, _ = section_of(elf, b".text")
    for line in out.splitlines():
        place, _, name = line.split()
        begin = int(place, 16) - address + offset
        begin += 9 if elf[begin:begin + 4] == b"\xf3\x0f\x1e\xfa" else 5  # endbr64 comes first
        elf[begin:begin + len(codes[name])] = codes[name]
    for name in cleared:
        _, offset, size = section_of(elf, name)
        elf[offset:offset + size] = bytes(size)
    changed = fresh("vmlinux")
    with open(changed, "wb") as file:
        file.write(elf)
    return changed


def aarch64_types(packed):
    """The type information (BTF) inside a kernel of aarch64, as the guest has it in /sys/kernel/btf/vmlinux."""
    path, kernel = fresh("btf"), unpacked(packed)
    for found in re.finditer(re.escape(struct.pack("<HBBI", 0xeb9f, 1, 0, 24)), kernel):
        places = struct.unpack_from("<4I", kernel, found.start() + 8)  # of types and strings
        if places[0] == 0 and places[2] == places[1]:
            with open(path, "wb") as file:
                file.write(kernel[found.start():found.start() + 24 + places[2] + places[3]])
            return path
    raise Skip("Debian's kernel for arm64 has no type information")


def own_functions(listing):
    """{(address, name)} of the kernel's functions in a text like /proc/kallsyms, without those of modules."""
    words = (line.split() for line in listing.splitlines())
    return {(int(word[0], 16), word[2]) for word in words if len(word) == 3 and word[1] in "tTwW"}


def functions_of(file):
    """The same of a file."""
    return {(int(address, 16), name) for address, name in (line.split() for line in made(os.path.join(BUILD, "tests/source/guest/guest-list"), file).splitlines())}
