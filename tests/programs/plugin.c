/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A shared object with tracepoints, built three times under other names (OBJECT): `shared.event` is the same
 * event in all of them and in the program, `clash.event` has another format where CLASH is defined.
 */
#include "burin/burin.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TEXT_(a)    #a
#define TEXT(a)	    TEXT_(a)

void JOIN(object_, OBJECT)(int n);

__attribute__((visibility("default"))) void JOIN(object_, OBJECT)(int n)
{
	BURIN_TRACE("shared.event", "n=%d", n);
	BURIN_TRACE("own." TEXT(OBJECT), "n=%d", n);
#ifdef CLASH
	BURIN_TRACE("clash.event", "n=%u other=%s", (unsigned)n, "clash");
#else
	BURIN_TRACE("clash.event", "n=%d", n);
#endif
}

static __attribute__((constructor)) void loaded(void)
{
	BURIN_TRACE("loaded." TEXT(OBJECT));
}

static __attribute__((destructor)) void unloaded(void)
{
	BURIN_TRACE("unloaded." TEXT(OBJECT));
}
