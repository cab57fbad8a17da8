# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Queries in SQL, for bench/run: rows a second of one event, and the same question without Burin's tables."""
import os
import shutil
import time

from common import QUICK, ROUNDS, Failed, Skipped, call

ROWS = 500_000 if QUICK else 10_000_000
PEER_ROWS = 50_000 if QUICK else 500_000
SUM = r'''/bench\.row/ { count++; for (n = 1; n <= NF; n++) if ($n == "size") total += $(n + 2) } END { print count, total }'''
TOTAL = 'SELECT count(*), sum(size) FROM "bench.row"'


class Queries:
    def sql_trace(self, count):
        shutil.rmtree(self.trace_dir, ignore_errors=True)
        call([self.burin, "record", "--no-samples", "-q", "--buffer", "64M", "-o", self.trace_dir, "--", os.path.join(self.build, "bench", "rows"), str(count)])

    def sql_rows(self):
        """The rows that were recorded, and the bounds of a time that has 1 % of them: the program may outrun its recorder, and be kept waiting."""
        rows = int(call([self.burin, "sql", "--csv", self.trace_dir, 'SELECT count(*) FROM "bench.row"']).split()[-1])
        low, high = (int(call([self.burin, "sql", "--csv", self.trace_dir, f'SELECT time FROM "bench.row" LIMIT 1 OFFSET {at}']).split()[-1])
                     for at in (rows // 2, rows // 2 + rows // 100))
        return rows, low, high

    def sql_seconds(self, *queries, options=()):
        """The least time of each query, all of them in turns."""
        times = [[] for _ in queries]
        for _ in range(ROUNDS):
            for query, of in zip(queries, times):
                begin = time.monotonic()
                call([self.burin, "sql", "--csv", *options, self.trace_dir, query])
                of.append(time.monotonic() - begin)
        return [min(of) for of in times]

    def sql_by_import(self, database):
        """The same answer from a table of SQLite that the rows were imported into."""
        if os.path.exists(database):
            os.unlink(database)
        begin = time.monotonic()
        call(["sh", "-c", f"'{self.burin}' sql --csv '{self.trace_dir}' 'SELECT * FROM \"bench.row\"' | sqlite3 -csv '{database}' '.import /dev/stdin r' "
              "'SELECT count(*), sum(size) FROM r'"])
        os.unlink(database)
        return time.monotonic() - begin

    def row_sql(self):
        for tool in ("babeltrace2", "sqlite3"):
            if not shutil.which(tool):
                raise Skipped(f"{tool} is not installed (apt install {tool})")
        self.sql_trace(PEER_ROWS)
        begin = time.monotonic()
        call(["sh", "-c", f"babeltrace2 '{self.trace_dir}' | tr -d '[],' | awk '{SUM}'"])
        awk = PEER_ROWS / (time.monotonic() - begin)
        imported = PEER_ROWS / self.sql_by_import(self.trace_dir + ".sqlite")
        self.sql_trace(ROWS)
        rows, low, high = self.sql_rows()
        total, group, window, nothing = self.sql_seconds(TOTAL, 'SELECT path, count(*), sum(size) FROM "bench.row" GROUP BY path',
                                                         f"{TOTAL} WHERE time BETWEEN {low} AND {high}", "SELECT 1")
        shutil.rmtree(self.trace_dir)
        rate = rows / total
        return (f"{rate / 1e6:.1f} M rows/s", f"GROUP BY {rows / group / 1e6:.1f} M rows/s; a window of 1 % {(total - nothing) / max(window - nothing, 1e-4):.0f}x faster; "
                f"{rate / awk:.0f}x babeltrace2 | awk, {rate / imported:.0f}x an import", f"{rate / awk:.0f}x faster", rate >= 10e6, rate / 1e6)

    def row_duckdb(self):
        try:
            place = call([os.path.join(os.path.dirname(__file__), "..", "scripts", "fetch-npm"), "duckdb"]).strip()
        except Failed as why:
            raise Skipped(str(why)) from why
        self.sql_trace(ROWS)
        rows, low, high = self.sql_rows()
        by_sqlite, none = self.sql_seconds(f"{TOTAL} WHERE time BETWEEN {low} AND {high}", "SELECT 1")
        total, group, window, nothing = self.sql_seconds(TOTAL, 'SELECT path, count(*), sum(size) FROM "bench.row" GROUP BY path',
                                                         f'SELECT count(*), sum(size) FROM "bench.row"(since := {low}, until := {high})', "SELECT 1",
                                                         options=("--engine", "duckdb", "--library", os.path.join(place, "libduckdb.so")))
        shutil.rmtree(self.trace_dir)
        rate, grouped = rows / (total - nothing), rows / (group - nothing)
        ratio = (window - nothing) / max(by_sqlite - none, 1e-4)
        return (f"{rate / 1e6:.0f} M rows/s", f"GROUP BY {grouped / 1e6:.0f} M rows/s; a window of 1 % takes {ratio:.1f}x SQLite's time; without the start of {nothing:.2f} s",
                f"{rate / 50e6:.2f}x the goal", rate >= 50e6 and grouped >= 50e6 and ratio <= 1.5, rate / 1e6)

    def row_arrow(self):
        self.sql_trace(ROWS)
        rows, times = self.sql_rows()[0], []
        for _ in range(ROUNDS):
            begin = time.monotonic()
            size = int(call(["sh", "-c", f"'{self.burin}' export arrow-stream '{self.trace_dir}' bench.row 2>/dev/null | wc -c"]))
            times.append(time.monotonic() - begin)
        shutil.rmtree(self.trace_dir)
        rate = size / min(times)
        return (f"{rate / 1e6:.0f} MB/s", f"{rows / min(times) / 1e6:.1f} M rows/s, {size / rows:.0f} bytes a row", f"{rate / 100e6:.1f}x the goal", rate >= 100e6, rate / 1e6)


SQL_ROWS = {
    "duckdb": ("the same by DuckDB", f"burin sql --engine duckdb: bench/rows {ROWS}", f"best of {ROUNDS}", ">= 50 M rows/s, with GROUP BY too; a window <= 1.5x SQLite's"),
    "arrow": ("a table as Arrow, through a pipe", f"burin export arrow-stream: bench/rows {ROWS}", f"best of {ROUNDS}", ">= 100 MB/s"),
    "sql": ("a sum in SQL over the records of one event", f"burin sql: bench/rows {ROWS}; babeltrace2 | awk, an import into sqlite3: bench/rows {PEER_ROWS}", f"best of {ROUNDS}",
            ">= 10 M rows/s"),
}
