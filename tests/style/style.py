# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the checks of style share: cases, the project's files, and a place for faulty ones."""
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit("usage: NAME.test BUILD")
BURIN = os.path.join(BUILD, "src", "burin")
failures = 0


class Skip(Exception):
    pass


def verdict(name, faults):
    """One case: its faults, each a line, or none."""
    global failures
    faults = list(faults)
    if faults:
        failures += 1
        for fault in faults[1:12]:
            print(f"# {fault}")
        print(f"not ok {name}: {faults[0]}" + (f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""))
    else:
        print(f"ok {name}")
    sys.stdout.flush()


def case(name):
    """Runs the function that it decorates as one case; it returns or yields faults."""
    def run(function):
        try:
            verdict(name, function() or ())
        except Skip as why:
            print(f"skip {name}: {why}")
        except Exception as why:  # a test's own mistake, or a command that took too long, is a failure too
            verdict(name, [f"{type(why).__name__}: {' '.join(str(why).split())[:300]}"])
        return function
    return run


def finish():
    sys.exit(1 if failures else 0)


def need(tool):
    if not shutil.which(tool):
        raise Skip(f"{tool} is not installed")


def run(*command, **more):
    more.setdefault("timeout", 300)
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", **more)


def files(top=TOP):
    """The project's own files, as git sees them, or all that are there."""
    done = run("git", "-C", top, "ls-files", "-co", "--exclude-standard", "-z") if os.path.isdir(os.path.join(top, ".git")) else None
    if done and done.returncode == 0:
        return sorted(f for f in set(done.stdout.split("\0")) if f and os.path.isfile(os.path.join(top, f)))
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if not f.startswith((".git", "build", "__pycache__")) or f == ".github"]
        found += [os.path.relpath(os.path.join(folder, n), top) for n in names]
    return sorted(found)


def text(path, top=TOP):
    """A file's text, None if it is none."""
    with open(os.path.join(top, path), "rb") as file:
        data = file.read()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def plant(planted):
    """A tree with these files: {path: text}."""
    top = tempfile.mkdtemp(prefix="burin-style-")
    for path, content in planted.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w", encoding="utf-8") as file:
            file.write(content)
    return top


def finds(name, check, planted, clean):
    """The check itself: it finds exactly one fault for each planted file, and none in the clean ones."""
    faults = []
    for path, content in planted:
        top = plant({path: content})
        if not list(check(top)):
            faults.append(f"{path} with {content[:60]!r} passes")
        shutil.rmtree(top)
    for path, content in clean:
        top = plant({path: content})
        faults += [f"{path} does not pass: {fault}" for fault in check(top)]
        shutil.rmtree(top)
    verdict(name, faults)
