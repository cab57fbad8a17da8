/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A child gives up its rights, and from then on requests files from its parent; see symbolize_confine.h. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/descriptor.h"
#include "image/symbolize/confine.h"
#include "image/symbolize/symbolize_confine.h"

enum {
	FILES_MAX = 8,
	MEMORY_LEAST = 256 << 20, /* bytes, for any image */
	MEMORY_PER_BYTE = 16,	  /* of a file, whose debug information may be compressed */
	MEMORY_PER_LOCATION = 1024,
};

static int request_socket; /* for a signal handler */

/* Has the parent open a file. Context: also in a signal handler. */
static int request_file(const char *path)
{
	int file;

	if (write(request_socket, path, strnlen(path, PATH_MAX)) < 0)
		return -EACCES;
	file = descriptor_receive(request_socket);
	return file == -EPIPE ? -EACCES : file;
}

static int compare_files(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

/* In proportion to the files' sizes: a small file must not inflate to gigabytes. */
static uint64_t memory_for(const struct child_task *task, const int *files, unsigned count)
{
	uint64_t bytes = MEMORY_LEAST + (uint64_t)task->count * MEMORY_PER_LOCATION;
	struct stat status;

	for (unsigned n = 0; n < count; n++) {
		if (fstat(files[n], &status) == 0 && status.st_size > 0)
			bytes +=
				MEMORY_PER_BYTE * ((uint64_t)status.st_size >> 40 ? UINT64_C(1) << 40
										  : (uint64_t)status.st_size);
	}
	return bytes < task->memory_max ? bytes : task->memory_max;
}

void child_confine(struct child *child, const int *files, unsigned count)
{
	int keep[FILES_MAX + 2], error;

	for (unsigned n = 0; n < count; n++)
		keep[n] = files[n];
	keep[count] = child->pipe;
	keep[count + 1] = request_socket = child->asks;
	qsort(keep, count + 2, sizeof(*keep), compare_files);
	error = confine_process(&(struct confine){ .memory = memory_for(child->task, files, count),
						   .seconds = child->task->seconds,
						   .keep = keep,
						   .keep_count = count + 2,
						   .open = request_file,
						   .asks = child->asks });
	if (!error)
		return;
	child_begin(child, CHILD_FREE);
	child_put(child, (uint64_t)-error);
	child_end(child);
}
