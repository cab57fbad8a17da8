/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Everything that tracepoints can do, in C. */
#include "use.h"
#include "shared.h"

/* Before the object has joined: off, and harmless. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
#endif
static __attribute__((constructor(100))) void too_early(void)
{
	BURIN_TRACE("t.too_early", "%d", 1);
}

static __attribute__((constructor)) void early(void)
{
	BURIN_TRACE("t.early", "%d", 1);
}

static void test_c(void)
{
	struct pair {
		char text[8];
	} pair = { "pair" };

	BURIN_TRACE("t.compound", "%s %p", (struct pair){ "temp" }.text, BURIN_BYTES(&pair, sizeof(pair)));
	want_text("temp"), want_bytes(&pair, sizeof(pair));
	check("t.compound", 0xe0d, "%s %p");
	BURIN_TRACE("t.enumerator", "%d", GREEN);
	want_int(7, 4);
	check("t.enumerator", 4, "%d");
#ifndef __STRICT_ANSI__
	/* a tracepoint within an argument of a tracepoint: fine, but the inner one's variables shadow the
	 * outer one's */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
	BURIN_TRACE("t.outer", "%d", __extension__({
			    BURIN_TRACE("t.nested", "%s", "x");
			    3;
		    }));
#pragma GCC diagnostic pop
	check_log("t.nested t.outer");
#endif
}

int main(void)
{
	unsigned sites = capture_sites;

	check_that(capture_objects == BURIN_OBJECTS);
	check_that(sites > 50);
	check_log("t.early");
	test_common();
	test_c();
	trace_in_header(1, "main");
	want_int(1, 4), want_text("main");
	check("t.header", 0xd4, "%d %s");
	other_file(2);
	want_int(2, 4), want_text("other");
	check("t.header", 0xd4, "%d %s");
#if BURIN_OBJECTS > 1
	object_trace(3);
	check_log("t.object t.header");
#endif
	return check_result();
}
