# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Servers of the distribution that tests start by themselves, never as a service: redis, nginx and postgres, each with one thread that answers.

Their threads have a real-time priority, so that no other program takes the CPU of a request: what is slow is what the test makes slow. Each talks
over a socket in the test's folder only."""
import contextlib
import signal

from kernel_events import *

POSTGRES = "/usr/lib/postgresql/15/bin"
FIRST = ("chrt", "-f", "1")


def need_priority():
    need("chrt")
    if os.geteuid() != 0 or run(*FIRST, "true").status != 0:
        raise Skip("real-time priorities are not permitted here")


def unpacked(package, path):
    """A program of a package of this Debian, which is fetched and unpacked, not installed: its scripts would start a service."""
    for tool in ("apt-get", "dpkg-deb"):
        need(tool)
    with open("/etc/os-release", encoding="ascii") as file:
        suite = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/tmp"), ".cache"), "burin")
    place = os.path.join(cache, f"{package}-{suite.group(1) if suite else 'unknown'}")
    if not os.path.exists(place):
        new = fresh(package)
        os.mkdir(new)
        os.makedirs(cache, exist_ok=True)
        done = run("apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package, cwd=new, env=dict(os.environ))
        if done.status != 0:
            raise Skip(f"{package} cannot be fetched: {done.err[-200:]}")
        made("dpkg-deb", "-x", glob.glob(os.path.join(new, "*.deb"))[0], os.path.join(new, "tree"))
        partial = f"{place}.{os.getpid()}"
        shutil.copytree(os.path.join(new, "tree"), partial, symlinks=True)
        with contextlib.suppress(OSError):  # another test was faster
            os.rename(partial, place)
        shutil.rmtree(partial, ignore_errors=True)
    return os.path.join(place, path)


@contextlib.contextmanager
def serving(*command, ready, stop=None):
    """A server while the block runs; the value is its process id."""
    need_priority()
    process = start(*FIRST, *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(ready, "the server")
        yield process.pid
    finally:
        try:
            if stop:
                stop()
            else:
                process.send_signal(signal.SIGTERM)
        finally:
            ended(process)


@contextlib.contextmanager
def redis():
    """redis, started by a link: Debian's package with the name would start a service. The value: process id, program, how to begin a redis-cli."""
    need("redis-check-rdb")
    folder = fresh("redis")
    os.mkdir(folder)
    server, socket = os.path.join(folder, "redis-server"), os.path.join(folder, "s")
    os.symlink(shutil.which("redis-check-rdb"), server)
    cli = ("redis-cli", "-s", socket)
    with serving(server, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder, ready=lambda: run(*cli, "ping").out == "PONG\n",
                 stop=lambda: run(*cli, "shutdown", "nosave")) as pid:
        yield pid, server, cli


@contextlib.contextmanager
def postgres():
    """postgres, with pgbench's tables. The value: process id, program, how to begin a pgbench, its folder."""
    server = os.path.join(POSTGRES, "postgres")
    if not os.path.exists(server):
        raise Skip("postgres is not installed")
    need_priority()
    folder = fresh("postgres")
    user = ("setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups")
    os.mkdir(folder)
    shutil.chown(folder, "postgres", "postgres")
    os.chmod(os.path.dirname(folder), 0o755)
    data = os.path.join(folder, "data")
    made(*user, os.path.join(POSTGRES, "initdb"), "-D", data, "--no-sync", "-A", "trust", cwd=folder, limit=300)
    pgbench = (*user, os.path.join(POSTGRES, "pgbench"), "-h", folder)
    with serving(*user, server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "jit=off", "-c", "autovacuum=off",
                 "-c", "max_parallel_workers_per_gather=0",
                 ready=lambda: run(*user, os.path.join(POSTGRES, "pg_isready"), "-h", folder).status == 0,
                 stop=lambda: run(*user, os.path.join(POSTGRES, "pg_ctl"), "-D", data, "-m", "fast", "stop")) as pid:
        made(*pgbench, "-i", "-q", "postgres", limit=300)
        yield pid, server, pgbench, folder


NGINX = """daemon off; master_process off; error_log stderr; pid {0}/pid; events {{}}
http {{
    access_log off; keepalive_requests 1000000; types {{ text/plain txt; }}
    client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;
    gzip on; gzip_types text/plain; gzip_comp_level 9;
    server {{ listen unix:{0}/s; root {0}; location /late/ {{ proxy_pass http://unix:{0}/behind; }} }}
}}
"""


@contextlib.contextmanager
def nginx():
    """nginx of one process. The value: process id, program, its folder, where small.txt and large.txt are."""
    server = shutil.which("nginx") or unpacked("nginx", "usr/sbin/nginx")
    folder = fresh("nginx")
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    for name, text in (("nginx.conf", NGINX.format(folder)), ("small.txt", "small\n"), ("large.txt", "some words of a page " * 60000)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    with serving(server, "-c", os.path.join(folder, "nginx.conf"), "-p", folder, ready=lambda: os.path.exists(os.path.join(folder, "s"))) as pid:
        yield pid, server, folder


def recorded(pid, load, *options):
    """The trace of a server while a load ran."""
    path = fresh()
    recorder = start(BURIN, "record", "-p", pid, "-o", path, "--kernel-buffer", "16M", "--sample-buffer", "16M", *options)
    try:
        wait_until(lambda: attached(recorder, path), "the recorder")
        load()
        recorder.send_signal(signal.SIGINT)
        done = ended(recorder)
    finally:
        recorder.kill()
    equal(done.status, 0, f"status of the recorder ({done.err[-300:]})")
    return path
