/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Telling the recorder of tasks and mappings, in the kernel's words; see timer.h. */
#include <errno.h>

#include "source/timer/timer.h"
#include "source/timer/writer.h"

enum {
	TELL_NAME = 16,	      /* bytes of a thread's name, with its NUL */
	TELL_PATH = 4096 + 8, /* of a file's */
};

static void put_text(struct writer *writer, const char *text, size_t max)
{
	const size_t bytes = strnlen(text, max - 1);

	memcpy(writer->buffer + writer->used, text, bytes);
	memset(writer->buffer + writer->used + bytes, 0, 8);
	writer->used += (bytes + 8) & ~(size_t)7;
}

/* The end that all but samples have, and away with it. */
static bool tell(struct writer *writer, uint32_t type, uint16_t misc, uint32_t tid)
{
	struct session *session = &timer_process.session;
	const int saved = errno;
	enum ring_result result;

	writer_u32(writer, timer_process.pid);
	writer_u32(writer, tid);
	writer_u64(writer, 0);
	result = session_tell(session, writer_end(writer, type, misc, tid), timer_thread->tid);
	if (result != RING_DONE)
		ring_lose(&session->rings[session_names_index(session)], WIRE_LOST_FULL);
	errno = saved;
	return result == RING_DONE;
}

bool timer_tell_name(uint32_t tid, const char *name, bool exec)
{
	_Alignas(8) char buffer[WRITER_BEGIN + 64];
	struct writer writer = writer_begin(buffer);

	writer_u32(&writer, timer_process.pid);
	writer_u32(&writer, tid);
	put_text(&writer, name, TELL_NAME);
	return tell(&writer, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, tid);
}

static bool tell_task(uint32_t type, uint32_t parent_pid, uint32_t parent_tid)
{
	_Alignas(8) char buffer[WRITER_BEGIN + 64];
	struct writer writer = writer_begin(buffer);

	writer_u32(&writer, timer_process.pid);
	writer_u32(&writer, parent_pid);
	writer_u32(&writer, timer_thread->tid);
	writer_u32(&writer, parent_tid);
	writer_u64(&writer, 0);
	return tell(&writer, type, 0, timer_thread->tid);
}

bool timer_tell_fork(uint32_t parent_pid, uint32_t parent_tid)
{
	return tell_task(PERF_RECORD_FORK, parent_pid, parent_tid);
}

bool timer_tell_exit(void)
{
	return tell_task(PERF_RECORD_EXIT, 0, 0);
}

bool timer_tell_map(const struct timer_map *map)
{
	/* Not on the stack, which may be a small one. */
	static _Alignas(8) char buffer[WRITER_BEGIN + 128 + TELL_PATH];
	struct writer writer = writer_begin(buffer);

	writer_u32(&writer, timer_process.pid);
	writer_u32(&writer, timer_thread->tid);
	writer_u64(&writer, map->begin);
	writer_u64(&writer, map->end - map->begin);
	writer_u64(&writer, map->offset);
	writer_u32(&writer, map->major);
	writer_u32(&writer, map->minor);
	writer_u64(&writer, map->inode);
	writer_u64(&writer, 0); /* its generation: nobody knows */
	writer_u64(&writer, 0); /* protection, flags */
	put_text(&writer, map->path, TELL_PATH);
	return tell(&writer, PERF_RECORD_MMAP2, 0, timer_thread->tid);
}
