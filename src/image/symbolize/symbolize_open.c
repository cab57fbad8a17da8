/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opens files that a child without rights requests; see symbolize_messages.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "file/descriptor.h"
#include "image/elf/debugfile.h"
#include "image/symbolize/symbolize_parts.h"

enum {
	BESIDE_NAMES_MAX = 8, /* trailing names of a path that are tried beside the image */
};

/*
 * Debug information has the directory where a program was compiled, but the program may have been moved with its parts.
 * The image's directory is then used in its place, as in gdb. It is not known how many names of the path were below it, so
 * the longest tail is tried first. libdw compares ids, so a file of another program with the same name does no harm.
 */
static int open_beside(const struct job *job, const char *path)
{
	const char *image = job->task.image->path, *slash = strrchr(image, '/'), *at = path + strlen(path);
	const char *names[BESIDE_NAMES_MAX];
	char beside[PATH_MAX];
	unsigned count = 0;
	int file = -ENOENT;

	while (slash && at > path && count < BESIDE_NAMES_MAX)
		if (*--at == '/')
			names[count++] = at + 1;
	while (count-- && file < 0)
		if ((size_t)snprintf(beside, sizeof(beside), "%.*s/%s", (int)(slash - image), image,
				     names[count]) < sizeof(beside))
			file = debugfile_named(beside, job->task.root, job->result->owner);
	return file;
}

/* Opens a part of split debug information. The path is from a foreign file, whose owner must be able to read the part. */
static int symbolize_open_part(const struct job *job, const char *path)
{
	const char *end = strrchr(path, '.');
	int file;

	if (*path != '/' || !end || (strcmp(end, ".dwo") != 0 && strcmp(end, ".dwp") != 0))
		return -EACCES;
	file = debugfile_named(path, job->task.root, job->result->owner);
	return file < 0 ? open_beside(job, path) : file;
}

bool symbolize_open(const struct job *job)
{
	char path[PATH_MAX];
	const ssize_t bytes = recv(job->asks, path, sizeof(path) - 1, MSG_DONTWAIT);
	bool answered;
	int file;

	if (bytes <= 0)
		return bytes < 0 && (errno == EAGAIN || errno == EINTR);
	path[bytes] = 0;
	job->result->parts = true;
	file = strlen(path) == (size_t)bytes ? symbolize_open_part(job, path) : -EINVAL;
	answered = descriptor_send(job->asks, file);
	if (file >= 0)
		close(file);
	return answered;
}
