# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Questions about spans, for bench/run: how many records a second are read for an answer, beside what is done without Burin's readers."""
import json
import os
import shutil
import time

from common import QUICK, ROUNDS, Skipped, call

SPANS = 1_000_000 if QUICK else 20_000_000
PEER_SPANS = 20_000 if QUICK else 200_000
SUM = r"""
/outer\.begin/ { begin = $1; next }
/outer\.end/ { count++; total += $1 - begin }
END { print count, total }
"""


class Spans:
    def spans_trace(self, count):
        shutil.rmtree(self.trace_dir, ignore_errors=True)
        call([self.burin, "record", "--no-samples", "-q", "--buffer", "64M", "-o", self.trace_dir, "--", os.path.join(self.build, "bench", "spans"), str(count)])
        return self.info("trace")["records"]

    def spans_rate(self, records, *options):
        """Millions of records a second, at best."""
        times = []
        for _ in range(ROUNDS):
            begin = time.monotonic()
            json.loads(call([self.burin, "report", "--spans", "--json", *options, self.trace_dir]))
            times.append(time.monotonic() - begin)
        return records / min(times) / 1e6

    def row_spans(self):
        if not shutil.which("babeltrace2"):
            raise Skipped("babeltrace2 is not installed (apt install babeltrace2)")
        records = self.spans_trace(PEER_SPANS)
        begin = time.monotonic()
        call(["sh", "-c", f"babeltrace2 --clock-seconds --no-delta '{self.trace_dir}' | tr -d '[]' | awk '{SUM}'"])
        theirs = records / (time.monotonic() - begin) / 1e6
        records = self.spans_trace(SPANS)
        plain, by_field = self.spans_rate(records), self.spans_rate(records, "--by", "path")
        shutil.rmtree(self.trace_dir)
        return (f"{plain:.1f} M records/s", f"with --by path {by_field:.1f}; babeltrace2 | awk {theirs:.2f}; {records:,} records", f"{plain / theirs:.0f}x faster",
                plain >= 20, plain)


SPAN_ROWS = {
    "spans": ("a report of spans, beside babeltrace2 and awk", f"burin report --spans --json: bench/spans {SPANS}; babeltrace2 | awk: bench/spans {PEER_SPANS}",
              f"best of {ROUNDS}", ">= 20 M records/s"),
}
