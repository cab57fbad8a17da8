# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Modules of the kernel: built for Debian's kernels, and tried in machines of their own.

    done = booted("6.1", "insmod /burin.ko && part events && burin events kernel", modules=[burin_module("6.1")], programs=[BURIN])
    check("sched_switch" in done.part("events"), done.output)
    quiet(done)
"""
import contextlib
import fcntl
import hashlib
import lzma

from guests import *

VERSIONS = ("6.1", "6.12")
CHOSEN = VERSIONS if LONG else VERSIONS[-1:]  # for tests that boot a machine for each
TREE = os.environ.get("TEST_KERNEL_TREE")  # the folder in which a kernel was built, for the version "tree"
KEPT = os.path.join(BUILD, "tests", "modules")
BUILT_MAX = 4  # builds of one module for one kernel that are kept: branches that take turns
ALARM = re.compile(r"\b(?:BUG|WARNING|Oops|KASAN|UBSAN|KCSAN|lockdep|INFO: (?:task|rcu|trying|possible|suspicious)|general protection fault|"
                   r"Kernel panic|Call Trace|possible (?:circular|recursive)|inconsistent lock|sleeping function|scheduling while atomic|"
                   r"unable to handle|refcount_t|list_(?:add|del) corruption)\b", re.I)
# Lines with such words that say nothing of a module.
HARMLESS = re.compile(r"debug: |KernelAddressSanitizer initialized|Lock dependency validator|RCU lockdep checking|oops=|panic=|lockdown|Kernel command line|KASLR|warned|alternatives|lockdep is turned off")


# ---- Debian's kernels


def kernel_image(version):
    """The path of the kernel of Debian's package."""
    need_qemu()
    if version == "tree":
        return os.path.join(TREE, "arch/x86/boot/bzImage")
    with locked(f"kernel-{version}"):
        path = debian_kernel(version=version)
    check(f"vmlinuz-{version}." in path, f"Debian's kernel is {path}")
    return path


def loop_module(version):
    """The contents of Debian's module of loop devices, a disk in a file."""
    (path,) = glob.glob(os.path.join(os.path.dirname(kernel_image(version)), "..", "lib/modules/*/kernel/drivers/block/loop.ko*"))
    contents = open(path, "rb").read()
    return lzma.decompress(contents) if path.endswith(".xz") else contents


def kernel_headers(version):
    """The folder that modules for that kernel are built with. Its packages are unpacked and not installed."""
    if version == "tree":
        return TREE
    release = os.path.basename(kernel_image(version)).removeprefix("vmlinuz-")
    place = os.path.join(KEPT, f"headers-{release}")
    found = os.path.join(place, "usr/src", f"linux-headers-{release}")
    with locked(f"headers-{version}"):
        if not os.path.isdir(found):
            unpack_headers(release, place)
    return found


def unpack_headers(release, place):
    new, names = fresh("headers"), [f"linux-headers-{release}"]
    os.makedirs(new)
    depends = run("apt-cache", "depends", "--important", names[0]).out
    names += re.findall(r"Depends: (linux-headers-\S+-common|linux-kbuild-\S+)", depends)
    if len(names) != 3 or run("apt-get", "download", *names, cwd=new).status != 0:
        raise Skip(f"Debian's headers for {release} cannot be downloaded (apt-get download {' '.join(names)})")
    for package in glob.glob(f"{new}/*.deb"):
        made("dpkg-deb", "--extract", package, new)
        os.unlink(package)
    makefile = f"{new}/usr/src/linux-headers-{release}/Makefile"
    text = open(makefile, encoding="utf-8").read()
    with open(makefile, "w", encoding="utf-8") as file:  # its folder is another one here
        file.write(text.replace("include /usr/src/", "include $(dir $(abspath $(lastword $(MAKEFILE_LIST))))../"))
    shutil.rmtree(place, True)
    shutil.move(new, place)


def kernel_compiler(headers):
    """The compiler of that kernel, which modules need, too."""
    for name in (".config", "include/config/auto.conf"):
        if os.path.exists(path := os.path.join(headers, name)):
            compiler = re.search(r'^CONFIG_CC_VERSION_TEXT="?(\S+)', open(path, encoding="utf-8").read(), re.M)[1]
            need(compiler)
            return compiler
    raise Wrong(f"{headers} has no configuration")


@contextlib.contextmanager
def locked(name):
    """Tests run at a time, and one of them makes what all of them use."""
    os.makedirs(KEPT, exist_ok=True)
    with open(os.path.join(KEPT, f"{name}.lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ---- modules


def sources_of(top, folders):
    """[(path below top, contents)] of all files that a module may be made of."""
    found = []
    for folder in folders:
        for where, below, names in os.walk(os.path.join(top, folder)):
            below[:] = [name for name in below if not name.startswith(".")]
            found += [os.path.join(where, name) for name in names if name.endswith((".c", ".h", ".S", ".lds", ".awk")) or name in ("Kbuild", "Makefile")]
    return [(os.path.relpath(path, top), open(path, "rb").read()) for path in sorted(found)]


def built_modules(version, top, folder, folders=(), extra=(), variables=()):
    """Build what the Kbuild of a folder below top lists, and return {name: path of NAME.ko}. folders: all folders below top that have its
    sources. extra: files that are laid beside its sources, such as the Module.symvers of another module. Nothing is built twice."""
    headers, files = kernel_headers(version), sources_of(top, (folder, *folders))
    files += [(os.path.join(folder, os.path.basename(path)), open(path, "rb").read()) for path in extra]
    made_at = os.path.getmtime(kernel_image(version)) if version == "tree" else 0
    key = hashlib.sha256(repr((os.path.basename(headers), made_at, folder, files, variables)).encode()).hexdigest()[:20]
    name = f"{version}-{folder.replace('/', '-')}"
    place = os.path.join(KEPT, f"{name}-{key}")
    with locked(name):
        if not os.path.isdir(place):
            new = place + ".new"
            shutil.rmtree(new, True)
            for path, contents in files:
                os.makedirs(os.path.dirname(os.path.join(new, path)), exist_ok=True)
                with open(os.path.join(new, path), "wb") as file:
                    file.write(contents)
            make_modules(headers, os.path.join(new, folder), variables)
            os.rename(new, place)
        os.utime(place)
        for path in sorted(glob.glob(os.path.join(KEPT, f"{name}-" + "[0-9a-f]" * 20)), key=os.path.getmtime)[:-BUILT_MAX]:
            shutil.rmtree(path, True)
    return {os.path.basename(path)[:-3]: path for path in glob.glob(os.path.join(place, folder, "*.ko"))}


def make_modules(headers, folder, variables):
    """Without type information (BTF), for which the kernel's own would be needed. A warning is an error."""
    done = run("make", "-C", headers, f"M={folder}", f"CC={kernel_compiler(headers)}", "CONFIG_DEBUG_INFO_BTF_MODULES=", "CONFIG_DEBUG_INFO_BTF=", *variables, "modules", limit=900)
    text = done.out + done.err
    wrong = [line for line in text.splitlines() if re.search(r"\b(?:warning|error|undefined)\b|\*\*\*", line, re.I)]
    check(done.status == 0 and not wrong, f"{folder}: status {done.status}: {wrong[:6] or text[-600:]}")


def lay_out():
    """The sources of burin.ko, as scripts/build-kernel gives them to DKMS: a file that is missing there is missing here. Return: the folder."""
    place = fresh("sources")
    made(os.path.join(TOP, "scripts/build-kernel"), "--tree", place)
    return place


def compile_changed(version, name, before, after):
    """Compile one source of burin.ko after a change of its text. Return: the status, and what was printed."""
    place = lay_out()
    path = f"{place}/kernel/{name}.c"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check(before in text, f"{path} has no '{before}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(before, after))
    headers = kernel_headers(version)
    done = run("make", "-C", headers, f"M={place}/kernel", f"CC={kernel_compiler(headers)}", f"{name}.o", limit=300)
    return done.status, done.out + done.err


def burin_module(version):
    """The path of burin.ko for one of Debian's kernels."""
    return built_modules(version, lay_out(), "kernel", ("include", "src"))["burin"]


def module_beside_burin(version, folder):
    """The path of the only module of a folder, which includes burin.h of the kernel and uses what burin.ko exports."""
    symbols = os.path.join(os.path.dirname(burin_module(version)), "Module.symvers")
    (path,) = built_modules(version, TOP, folder, ("kernel/include", "include"), variables=(f"KBUILD_EXTRA_SYMBOLS={symbols}",)).values()
    return path


# ---- machines


class Booted:
    """A machine that ended: what its script printed, its status, the log of the kernel, and the files that it left in /out."""

    def __init__(self, output, status, log, files):
        self.output, self.status, self.log, self.files = output, status, log, files

    def part(self, name):
        """Output between `part NAME` and the next part."""
        found = re.search(rf"^== {re.escape(name)}\n(.*?)(?=^== |\Z)", self.output, re.M | re.S)
        check(found, f"no part '{name}' in {short(self.output)}")
        return found[1]

    def file(self, name):
        return os.path.join(self.files, name)


def busybox():
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path):
            check("not a dynamic" in run("ldd", path).err or "statically" in run("ldd", path).out, f"{path} is not Debian's busybox-static")
            return path
    raise Skip("busybox is not installed (Debian's busybox-static)")


def machine_files(script, modules, programs, files):
    """The archive of the first files: modules are in /, programs at their paths and, by their names, in /usr/bin."""
    contents = with_libraries(*programs) if programs else {}
    for path in programs:
        contents.setdefault(f"usr/bin/{os.path.basename(path)}", open(path, "rb").read())
    for path in modules:
        contents[os.path.basename(path)] = open(path, "rb").read()
    contents["bin/busybox"] = open(busybox(), "rb").read()
    contents["script"] = script.encode()
    for name, what in dict(files).items():
        contents[name.lstrip("/")] = what if isinstance(what, bytes) else what.encode()
    return initial_files(os.path.join(HERE, "guest-init.sh"), contents)


def emulator(image, archive, place, arguments=(), cpus=2, memory=512, counted=False, qemu=()):
    """The command that boots a machine. counted: each instruction is a nanosecond and a tick of the TSC, and costs repeat exactly."""
    words = ["console=ttyS0", "quiet", "panic=-1", "oops=panic", "tsc=reliable", "clocksource=tsc", "no_timer_check", "loglevel=5"]
    words += ["mitigations=off"] if counted else []
    counting = ["-icount", "shift=0"] if counted else []
    lines = [word for name in ("log", "output", "files") for word in ("-serial", f"file:{place}/{name}")]
    return [X86.qemu, *X86.arguments, "-accel", "tcg", *counting, "-smp", "1" if counted else str(cpus), "-m", str(memory), "-display", "none",
            "-nic", "none", "-no-reboot", "-monitor", "none", "-kernel", image, "-initrd", archive, *lines, *qemu, "-append", " ".join([*words, *arguments])]


def booted(version, script, modules=(), programs=(), files=(), limit=300, image=None, **options):
    """Boot one of Debian's kernels, run a script of busybox's shell there as root, and wait for the end.
    files: {path there: contents}. image: another kernel instead. options: see emulator()."""
    place = fresh("machine")
    os.makedirs(f"{place}/out")
    archive = machine_files(script, modules, programs, files)
    try:
        done = run(*emulator(image or kernel_image(version), archive, place, **options), limit=limit)
    except Wrong as why:
        said = [open(f"{place}/{name}", "rb").read().decode("utf-8", "replace") for name in ("output", "log")]
        raise Wrong(f"{why}; output {said[0][-400:]!r}, log {said[1][-700:]!r}") from None
    os.unlink(archive)
    output, log = (open(f"{place}/{name}", encoding="utf-8", errors="surrogateescape", newline="").read().replace("\r", "") for name in ("output", "log"))
    end = re.search(r"^== end (\d+)\n\Z", output, re.M)
    check(end, f"the machine did not end well: output {output[-400:]!r}, log {log[-700:]!r} {done.err[-200:]}")
    if os.path.getsize(f"{place}/files"):
        made("tar", "-xzf", f"{place}/files", "-C", f"{place}/out")
    return Booted(output[:end.start()], int(end[1]), log, f"{place}/out")


def alarms(log):
    """Lines of a kernel's log that report a fault."""
    return [line for line in log.splitlines() if ALARM.search(line) and not HARMLESS.search(line)]


def quiet(done):
    """The kernel complained about nothing."""
    found = alarms(done.log)
    check(not found, f"the kernel complained: {found[:5]}")
