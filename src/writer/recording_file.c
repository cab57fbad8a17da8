/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* .burin/recording: the conditions and the result of a recording; see metadata.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/uuid.h"
#include "writer/metadata.h"
#include "file/create.h"
#include "file/write.h"
#include "wire/wire_context.h"
#include "wire/wire_terms.h"

static const char file_name[] = ".burin/recording";

/* The kind of processor; flags in the kernel's events are those of its system calls. A process with a personality has another one by uname(). */
#ifdef __x86_64__
static const char machine[] = "x86_64";
#else
static const char machine[] = "aarch64";
#endif

enum {
	RECORDING_BYTES = 4096,
	RECORDING_VALUE_MAX = 1000,
};

struct block {
	char text[RECORDING_BYTES];
	size_t used;
};

/* Add a line. A line that does not fit is left out as a whole. */
__attribute__((format(printf, 3, 4))) static void recording_file_add(struct block *block, const char *key,
								     const char *format, ...)
{
	char value[RECORDING_VALUE_MAX];
	size_t used = block->used;
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	used += (size_t)snprintf(block->text + used, sizeof(block->text) - used, "%s=", key);
	for (const char *c = value; *c && used + 3 < sizeof(block->text); c++) {
		if (*c == '\\' || *c == '\n') {
			block->text[used++] = '\\';
			block->text[used++] = *c == '\n' ? 'n' : '\\';
		} else {
			block->text[used++] = *c;
		}
	}
	if (used + 1 >= sizeof(block->text))
		return;
	block->text[used++] = '\n';
	block->used = used;
}

static void recording_file_add_text(struct block *block, const char *key, const char *value)
{
	if (value && *value)
		recording_file_add(block, key, "%s", value);
}

static void add_number(struct block *block, const char *key, uint64_t value)
{
	recording_file_add(block, key, "%llu", (unsigned long long)value);
}

static void recording_file_fill(struct block *block, const struct session *session,
				const struct recording *recording)
{
	const struct wire_geometry *geometry = &session->geometry;
	char uuid[UUID_TEXT], context[WIRE_CONTEXT_TEXT];
	struct utsname host;

	block->used = (size_t)snprintf(block->text, sizeof(block->text), "burin recording 1\n");
	recording_file_add_text(block, "state", recording->state);
	uuid_text(geometry->uuid, uuid);
	recording_file_add_text(block, "uuid", uuid);
	uuid_text(geometry->boot_id, uuid);
	recording_file_add_text(block, "boot_id", uuid);
	uname(&host);
	recording_file_add_text(block, "hostname", host.nodename);
	recording_file_add_text(block, "kernel", host.release);
	recording_file_add_text(block, "machine", machine);
	recording_file_add_text(block, "clock", wire_clock_keys[geometry->clock]);
	add_number(block, "clock_hz", recording->clock.hz);
	recording_file_add(block, "clock_offset_ns", "%lld", (long long)recording->clock.offset_ns);
	recording_file_add_text(block, "mode", wire_mode_keys[geometry->mode]);
	add_number(block, "packet_bytes", geometry->packet_bytes);
	add_number(block, "ring_packets", ring_size(&session->rings[0]));
	add_number(block, "cpus", geometry->cpus);
	add_number(block, "locked", geometry->locked);
	recording_file_add_text(block, "context", context_text(geometry->context, context));
	recording_file_add_text(block, "session", recording->session_path);
	recording_file_add_text(block, "result", recording->result);
	add_number(block, "lost_late", recording->lost_late);
	add_number(block, "lost_names", recording->lost_names);
	add_number(block, "lost_unreported", recording->lost_unreported);
	add_number(block, "clock_steps", recording->clock_steps);
	for (unsigned cause = 0; cause < WIRE_CALL_LOSSES; cause++)
		if (recording->lost_calls[cause])
			add_number(block, wire_call_terms[cause].key, recording->lost_calls[cause]);
	recording_file_add_text(block, "trouble", recording->trouble);
	recording_file_add_text(block, "kernel_tasks", recording->kernel_tasks);
	recording_file_add_text(block, "kernel_calls", recording->kernel_calls);
	recording_file_add_text(block, "kernel_threads", recording->kernel_threads);
	recording_file_add_text(block, "command", recording->command);
	memset(block->text + block->used, '\n', sizeof(block->text) - block->used);
}

int recording_write(int directory, const struct session *session, const struct recording *recording)
{
	struct block block;
	int fd, error;

	recording_file_fill(&block, session, recording);
	fd = create_reopen(directory, file_name);
	if (fd == -ENOENT) /* the file must never be empty: a directory that has it is a trace */
		return replace_file(directory, file_name, block.text, sizeof(block.text));
	if (fd < 0)
		return fd;
	error = write_fully(fd, block.text, sizeof(block.text), 0);
	close(fd);
	return error;
}
