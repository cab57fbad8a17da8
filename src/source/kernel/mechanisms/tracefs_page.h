/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A page of the kernel's own trace buffer, as per_cpu/cpuN/trace_pipe_raw of tracefs has it: a time, the bytes that are used, and records,
 * each with the time since the one before.
 */
#ifndef BURIN_SOURCE_KERNEL_MECHANISMS_TRACEFS_PAGE_H
#define BURIN_SOURCE_KERNEL_MECHANISMS_TRACEFS_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tracefs_page {
	const char *at, *end;
	uint64_t time; /* of the last record */
};

struct tracefs_record {
	uint64_t time;	 /* by the buffer's clock */
	const char *raw; /* in the form of its tracepoint's description */
	unsigned bytes;	 /* of it, a multiple of 4 */
};

/* tracefs_page_begin - begin to read a page. @bytes: @count of them, which live as long as @page. Return: false: it is none. */
bool tracefs_page_begin(struct tracefs_page *page, const char *bytes, unsigned count);

/* tracefs_page_next - the next record. Return: false: there is none. */
bool tracefs_page_next(struct tracefs_page *page, struct tracefs_record *record);

/* tracefs_page_is_full - whether more than half of a page is used. */
bool tracefs_page_is_full(const char *bytes, unsigned count);

#endif
