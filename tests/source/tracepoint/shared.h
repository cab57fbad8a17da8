/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A header with a tracepoint in an inline function, as several files include it. */
#ifndef BURIN_TESTS_TRACE_SHARED_H
#define BURIN_TESTS_TRACE_SHARED_H

#include <burin/burin.h>

static inline void trace_in_header(int value, const char *text)
{
	BURIN_TRACE("t.header", "%d %s", value, text);
}

#ifdef __cplusplus
extern "C" {
#endif
void other_file(int value);   /* other.c */
void object_trace(int value); /* object.c, in a shared object */
#ifdef __cplusplus
}
#endif

#endif
