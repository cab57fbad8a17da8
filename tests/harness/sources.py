# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The project's files, and planted trees with faults, for the checks of style."""
from cases import *

# What has not changed since the last run, in this clone or another one, compiles as it did then.
CACHE = ["ccache"] if shutil.which("ccache") else []
os.environ["CCACHE_NOHASHDIR"] = "1"


def files(top=TOP):
    """The project's own files: those of git, or all files of a tree without git."""
    done = run("git", "-C", top, "ls-files", "-co", "--exclude-standard", "-z") if os.path.isdir(os.path.join(top, ".git")) else None
    if done and done.status == 0:
        return sorted(f for f in set(done.out.split("\0")) if f and os.path.isfile(os.path.join(top, f)))
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if not f.startswith((".git", "build", "__pycache__")) or f == ".github"]
        found += [os.path.relpath(os.path.join(folder, n), top) for n in names]
    return sorted(found)


def text(path, top=TOP):
    """A file's text; None if it is not text."""
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
    top = fresh("tree")
    for path, content in planted.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "w", encoding="utf-8") as file:
            file.write(content)
    return top


def finds(name, check, planted, clean):
    """A case for a check: it finds a fault in each planted file, and none in the clean ones."""
    @case(name)
    def _():
        for path, content in planted:
            if not list(check(plant({path: content}))):
                yield f"{path} with {content[:60]!r} passes"
        for path, content in clean:
            yield from (f"{path} does not pass: {fault}" for fault in check(plant({path: content})))
