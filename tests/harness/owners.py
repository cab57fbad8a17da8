# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Functions of the tests of files: directories and files of several users."""
import stat

from recording import *


def place(uid=0, mode=0o755):
    """A new directory of a user."""
    path = fresh("place")
    os.mkdir(path)
    os.chmod(path, mode)
    if uid:
        os.chown(path, uid, uid)
    return path


def shared():
    """A directory such as /tmp."""
    return place(mode=0o1777)


def put(path, text, uid=0, mode=0o644):
    """Make a file of a user. Return: its path."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    os.chown(path, uid, uid)
    return path


def content(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def link(target, path, uid=0):
    os.symlink(target, path)
    os.chown(path, uid, uid, follow_symlinks=False)
    return path


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def env_of(home):
    env = environment(HOME=home)
    env.pop("XDG_RUNTIME_DIR", None)
    return env


def cut_off(home, prefix=(), options=(), records=100, umask=0o022):
    """Make a trace of a user and kill its recorder; the session stays in memory. Return: the trace's path."""
    path = os.path.join(home, f"trace-{next(numbers)}")
    process = start(*prefix, BURIN, "record", "--no-samples", "-o", path, *options, "--", program("writers"), "paced", records, 500,
                    env=env_of(home), cwd=home, preexec_fn=lambda: os.umask(umask))
    wait_until(lambda: any(f.startswith(("cpu", "0002")) for f in (os.listdir(path) if os.path.isdir(path) else ())), "the first records")
    process.kill()
    ended(process)
    if os.path.exists(draft := os.path.join(path, ".burin", "draft")):  # killed while it wrote one; tests plant a link there
        os.unlink(draft)
    return path


def clean():
    for uid in (USER, OTHER):
        if os.geteuid() == 0:
            shutil.rmtree(f"/dev/shm/burin-{uid}", True)
