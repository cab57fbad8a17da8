# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""For tests of the tables of traces: packages of npm, traces with all kinds of values, and rows as burin sql prints them."""
import functools

from cases import *

SOURCE = r"""
#define _GNU_SOURCE
#include <burin/burin.h>
#include <pthread.h>
#include <unistd.h>
static void *thread(void *at)
{
	pthread_setname_np(pthread_self(), at ? "\"x\" \xff\033[1m|," : "");
	for (int i = 0; i < 9000; i++) {
		BURIN_SCOPE("request", "path=%s", i % 3 ? "/a" : "/\"b\" \xff\xc3(\xe2\x82\xac\xed\xa0\x80|,\n");
		if (i % 30 == 0)
			BURIN_COUNTER("queue", i % 7);
		BURIN_TRACE("one.event:x-y", "n=%d big=%llu least=%lld text=%s real=%f", i, 0xffffffffffffff00ull + i % 7, -9223372036854775807ll - 1,
			    i % 2 ? "" : "a,\"b\"", i / 4.0);
		BURIN_TRACE("EVENTS", "time=%d Time_6=%d select=%d bytes=%p", i, i + 1, i + 2, BURIN_BYTES("\0\1\377", at ? 3 : 0));
		if (i % 1000 == 0)
			usleep(1000);
	}
	return at;
}
int main(void)
{
	pthread_t other;

	pthread_create(&other, 0, thread, &other);
	thread(0);
	pthread_join(other, 0);
	return 0;
}
"""


def fetched(name):
    """The folder of a package of npm."""
    done = run(os.path.join(TOP, "scripts", "fetch-npm"), name)
    if done.status:
        raise Skip(done.err.strip().splitlines()[-1] if done.err.strip() else f"{name} cannot be had")
    return done.out.strip()


def need_sql():
    if "without SQLite" in run(BURIN, "sql", os.devnull, "SELECT 1").err:
        raise Skip("this burin was built without SQLite")


def compiled(source, *options):
    """A trace of a program in C."""
    need("gcc")
    path, library, trace = fresh(), os.path.dirname(BURIN), fresh()
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    made("gcc", "-pthread", "-I", os.path.join(TOP, "include"), path + ".c", "-o", path, "-L", library, "-lburin", f"-Wl,-rpath,{library}")
    made(BURIN, "record", "-q", "--no-samples", *options, "-o", trace, "--", path)
    return trace


@functools.cache
def many_values():
    """A trace of two threads with values of all types, and names that need quotes."""
    return compiled(SOURCE, "--buffer", "32M")


@functools.cache
def recorded(name, *words):
    trace = fresh()
    made(BURIN, "record", "-q", "--no-samples", "--buffer", "32M", "-o", trace, "--", program(name), *words)
    return trace


@functools.cache
def samples():
    trace = fresh()
    made(os.path.join(BUILD, "tests", "read", "make-profile"), trace, "waits")
    return trace


def traces():
    return [many_values(), recorded("values", "types"), recorded("values", "numbers"), samples()]


def sql(trace, query, *words):
    """The rows of a query, in order: lists of values. Blobs are texts of their digits."""
    done = run(BURIN, "sql", "--json", *words, trace, query)
    check(done.status == 0, f"{query}: {done.err}")
    return [list(json.loads(line).values()) for line in done.out.splitlines()]


@functools.cache
def tables(trace):
    names = [name for name, in sql(trace, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE 'json!_%' ESCAPE '!' "
                                   "AND name NOT LIKE 'pragma!_%' ESCAPE '!'")]
    check({"events", "losses", "spans"} <= set(names), f"{names}")
    return names


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@functools.cache
def table_rows(trace, table):
    return sql(trace, f"SELECT * FROM {quoted(table)}")


def columns(trace, table):
    return [name for name, in sql(trace, f"SELECT name FROM pragma_table_info('{table.replace(chr(39), chr(39) * 2)}')")]
