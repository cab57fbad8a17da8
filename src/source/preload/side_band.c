/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Side-band records of tasks and mappings, in the kernel's format; see preload.h. */
#include <errno.h>

#include "source/preload/preload.h"
#include "source/preload/record_writer.h"

enum {
	SIDE_BAND_NAME = 16,	   /* bytes of a thread's name, with its NUL */
	SIDE_BAND_PATH = 4096 + 8, /* of a file's path */
};

static void put_text(struct writer *writer, const char *text, size_t max)
{
	const size_t bytes = strnlen(text, max - 1);

	memcpy(writer->buffer + writer->used, text, bytes);
	memset(writer->buffer + writer->used + bytes, 0, 8);
	writer->used += (bytes + 8) & ~(size_t)7;
}

/* Append the fields that end all records but samples, and write the record. */
static bool write_record(struct writer *writer, uint32_t type, uint16_t misc, uint32_t tid)
{
	struct session *session = &preload_process.session;
	const int saved = errno;
	enum ring_result result;

	writer_u32(writer, preload_process.pid);
	writer_u32(writer, tid);
	writer_u64(writer, 0);
	result = session_append_name(session, writer_end(writer, type, misc, tid), preload_thread->tid);
	if (result != RING_DONE)
		ring_lose(&session->rings[session_names_index(session)], WIRE_LOST_FULL);
	errno = saved;
	return result == RING_DONE;
}

bool preload_put_name(uint32_t tid, const char *name, bool exec)
{
	_Alignas(8) char buffer[WRITER_BEGIN + 64];
	struct writer writer = writer_begin(buffer);

	writer_u32(&writer, preload_process.pid);
	writer_u32(&writer, tid);
	put_text(&writer, name, SIDE_BAND_NAME);
	return write_record(&writer, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, tid);
}

static bool write_task(uint32_t type, uint32_t parent_pid, uint32_t parent_tid)
{
	_Alignas(8) char buffer[WRITER_BEGIN + 64];
	struct writer writer = writer_begin(buffer);

	writer_u32(&writer, preload_process.pid);
	writer_u32(&writer, parent_pid);
	writer_u32(&writer, preload_thread->tid);
	writer_u32(&writer, parent_tid);
	writer_u64(&writer, 0);
	return write_record(&writer, type, 0, preload_thread->tid);
}

bool preload_put_fork(uint32_t parent_pid, uint32_t parent_tid)
{
	return write_task(PERF_RECORD_FORK, parent_pid, parent_tid);
}

bool preload_put_exit(void)
{
	return write_task(PERF_RECORD_EXIT, 0, 0);
}

bool preload_put_map(const struct preload_map *map)
{
	/* Not on the stack, which may be small. */
	static _Alignas(8) char buffer[WRITER_BEGIN + 128 + SIDE_BAND_PATH];
	struct writer writer = writer_begin(buffer);

	writer_u32(&writer, preload_process.pid);
	writer_u32(&writer, preload_thread->tid);
	writer_u64(&writer, map->begin);
	writer_u64(&writer, map->end - map->begin);
	writer_u64(&writer, map->offset);
	writer_u32(&writer, map->major);
	writer_u32(&writer, map->minor);
	writer_u64(&writer, map->inode);
	writer_u64(&writer, 0); /* the inode's generation is unknown */
	writer_u64(&writer, 0); /* protection, flags */
	put_text(&writer, map->path, SIDE_BAND_PATH);
	return write_record(&writer, PERF_RECORD_MMAP2, 0, preload_thread->tid);
}
