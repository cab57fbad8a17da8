# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""All functions of a real program: sqlite3's shell, recorded by Burin and by uftrace, for bench/run."""
import os
import re
import shutil
import statistics

from common import QUICK, ROUNDS, Skipped, call, first_line

ROWS = 20_000 if QUICK else 200_000
QUERY = f""".timer on
CREATE TABLE t(a INTEGER, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) INSERT INTO t SELECT i, hex(i * 7919 % 200003) FROM n;
CREATE INDEX ib ON t(b);
SELECT count(*), sum(x.a) FROM t x JOIN t y ON x.b = y.b WHERE y.a % 3 = 1;
SELECT max(length(b)), min(a) FROM (SELECT a, b FROM t ORDER BY b DESC, a LIMIT {ROWS // 4});
"""


def seconds(output):
    """The time of the queries, which the shell itself measures: without the start and what recorders do at the end."""
    return sum(float(real) for real in re.findall(r"^Run Time: real ([\d.]+)", output, re.M))


class Sqlite:
    def row_sqlite(self):
        place = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.join(os.environ.get("HOME", "/tmp"), ".cache")), "burin", "sqlite")
        plain, program = (os.path.join(place, name) for name in ("sqlite3-plain", "sqlite3-patchable"))
        if not os.access(program, os.X_OK):
            raise Skipped("sqlite3 is not built; run scripts/fetch-sqlite")
        if not shutil.which("uftrace"):
            raise Skipped("uftrace is not installed (apt install uftrace)")
        query = os.path.join(self.dir, "sqlite.sql")
        with open(query, "w") as file:
            file.write(QUERY)
        arguments = ["-batch", "-init", query, ":memory:"]
        bare, ours, theirs, info = [], [], [], {}
        for _ in range(min(ROUNDS, 5)):
            bare.append(seconds(call([plain, *arguments])))
            shutil.rmtree(self.trace_dir, ignore_errors=True)
            ours.append(seconds(call([self.burin, "record", "--calls", "-q", "--no-symbols", "--buffer", "64M", "-o", self.trace_dir, "--",
                                      program, *arguments])))
            info = self.info("trace")
            shutil.rmtree(self.trace_dir)
            theirs.append(seconds(call(["uftrace", "record", "--no-libcall", "-P", ".", "-d", self.trace_dir, program, *arguments])))
            shutil.rmtree(self.trace_dir)
        none, mine, other = (statistics.median(some) for some in (bare, ours, theirs))
        ratio = statistics.median(their / my for my, their in zip(ours, theirs))
        return (f"{mine:.2f} s = {mine / none:.1f}x", f"untraced {none:.2f} s; {first_line(['uftrace', '--version']).split(' (')[0]} {other:.2f} s = "
                f"{other / none:.1f}x; {info['records']:,} calls, {info['lost_all']:,} lost", f"{ratio:.1f}x cheaper", ratio >= 3, ratio)


SQLITE_ROWS = {
    "sqlite": ("all functions of sqlite3's shell, some queries", "burin record --calls, uftrace record -P .: scripts/fetch-sqlite builds the program",
               f"median of {min(ROUNDS, 5)}", "slow-down <= 1/3 of uftrace's"),
}
