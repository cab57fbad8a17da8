/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Synthetic records in the kernel's format, and the headers of every unit test here. */
#ifndef BURIN_TESTS_PERF_SYNTHETIC_H
#define BURIN_TESTS_PERF_SYNTHETIC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "source/perf/rings/perf_record.h"

struct synthetic {
	_Alignas(8) unsigned char bytes[4096];
	size_t size;
};

static inline void synthetic_begin(struct synthetic *out, uint32_t type, uint16_t misc)
{
	const struct perf_event_header header = { .type = type, .misc = misc };

	memset(out, 0, sizeof(*out));
	memcpy(out->bytes, &header, sizeof(header));
	out->size = sizeof(header);
}

static inline void synthetic_add(struct synthetic *out, const void *data, size_t bytes)
{
	memcpy(out->bytes + out->size, data, bytes);
	out->size += bytes;
}

static inline void synthetic_u32(struct synthetic *out, uint32_t value)
{
	synthetic_add(out, &value, 4);
}

static inline void synthetic_u64(struct synthetic *out, uint64_t value)
{
	synthetic_add(out, &value, 8);
}

/* A text, padded to 8 bytes. */
static inline void synthetic_text(struct synthetic *out, const char *text)
{
	synthetic_add(out, text, strlen(text));
	out->size = (out->size + 8) & ~(size_t)7;
}

static inline void synthetic_end(struct synthetic *out)
{
	const uint16_t size = (uint16_t)out->size;

	memcpy(out->bytes + offsetof(struct perf_event_header, size), &size, 2);
}

static inline void synthetic_trailer(struct synthetic *out, uint32_t pid, uint32_t tid, uint64_t time)
{
	synthetic_u32(out, pid);
	synthetic_u32(out, tid);
	synthetic_u64(out, time);
	synthetic_end(out);
}

static inline void synthetic_map(struct synthetic *out, uint32_t pid, uint64_t time, uint64_t begin,
				 uint64_t bytes, uint64_t offset, uint64_t inode, const char *path)
{
	synthetic_begin(out, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	synthetic_u32(out, pid);
	synthetic_u32(out, pid);
	synthetic_u64(out, begin);
	synthetic_u64(out, bytes);
	synthetic_u64(out, offset);
	synthetic_u32(out, 0);
	synthetic_u32(out, 0);
	synthetic_u64(out, inode);
	synthetic_u64(out, 0);
	synthetic_u64(out, 5);
	synthetic_text(out, path);
	synthetic_trailer(out, pid, pid, time);
}

static inline void synthetic_name(struct synthetic *out, uint32_t pid, uint32_t tid, uint64_t time, int exec,
				  const char *name)
{
	synthetic_begin(out, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	synthetic_u32(out, pid);
	synthetic_u32(out, tid);
	synthetic_text(out, name);
	synthetic_trailer(out, pid, tid, time);
}

/* FORK or EXIT. */
static inline void synthetic_task(struct synthetic *out, uint32_t type, uint32_t pid, uint32_t tid,
				  uint32_t ppid, uint32_t ptid, uint64_t time)
{
	synthetic_begin(out, type, 0);
	synthetic_u32(out, pid);
	synthetic_u32(out, ppid);
	synthetic_u32(out, tid);
	synthetic_u32(out, ptid);
	synthetic_u64(out, time);
	synthetic_trailer(out, pid, tid, time);
}

enum {
	SYNTHETIC_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
};

static inline void synthetic_sample(struct synthetic *out, uint16_t misc, uint64_t ip, uint32_t pid,
				    uint32_t tid, uint64_t time, const uint64_t *chain, uint64_t count)
{
	synthetic_begin(out, PERF_RECORD_SAMPLE, misc);
	synthetic_u64(out, ip);
	synthetic_u32(out, pid);
	synthetic_u32(out, tid);
	synthetic_u64(out, time);
	synthetic_u64(out, count);
	synthetic_add(out, chain, count * 8);
	synthetic_end(out);
}

static inline struct record synthetic_parsed(const struct synthetic *in)
{
	struct record record;

	record_parse(in->bytes, in->size, SYNTHETIC_TYPE, 0, &record);
	return record;
}

#endif
