/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The plugin for QEMU; see guest.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/guest.h"
#include "cmd/record/preload_libraries.h"
#include "image/names/guest_tasks.h"

enum {
	RANGES_MAX = 256, /* of the plugin */
};

enum {
	TASKS_BYTES = 128, /* of their argument */
};

static const char library_name[] = "libburin-qemu.so";

const char *const guest_levels[] = {
	[GUEST_ALL] = "all", [GUEST_KERNEL] = "kernel", [GUEST_USER] = "user", NULL
};

/* A hexadecimal address up to a character. Return: what is behind that; NULL: it is not one. */
static const char *take_address(const char *text, char end, uint64_t *address)
{
	char *behind;

	if (!isxdigit((unsigned char)*text))
		return NULL;
	*address = strtoull(text, &behind, 16);
	return *behind == end ? behind + 1 : NULL;
}

static bool is_range(const char *text)
{
	uint64_t begin, end;

	text = take_address(text, '-', &begin);
	return text && take_address(text, 0, &end) && begin < end;
}

int guest_check(const struct guest_options *options)
{
	uint64_t address;

	if (options->ranges.count > RANGES_MAX)
		return cmd_usage("--guest-range: there are more than %d", RANGES_MAX);
	for (size_t n = 0; n < options->ranges.count; n++)
		if (!is_range(options->ranges.globs[n]))
			return cmd_usage(
				"--guest-range: '%s': give two hexadecimal addresses, the second behind "
				"the range: ffffffff81000000-ffffffff81200000",
				options->ranges.globs[n]);
	if (options->start && !take_address(options->start, 0, &address))
		return cmd_usage("--guest-start: '%s': give a hexadecimal address", options->start);
	if (options->stop && !take_address(options->stop, 0, &address))
		return cmd_usage("--guest-stop: '%s': give a hexadecimal address", options->stop);
	return 0;
}

static void put_option(FILE *text, const char *key, const char *value)
{
	if (value)
		fprintf(text, ",%s=%s", key, value);
}

static int read_tasks(const char *path, struct guest_tasks *tasks)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int error;

	if (file < 0)
		return -errno;
	error = guest_tasks_read(tasks, file);
	close(file);
	return error;
}

static const char *problem(int error)
{
	return error == -ENOEXEC
		       ? "it has no type information (BTF); give a vmlinux with a section .BTF, or a copy of "
			 "the guest's /sys/kernel/btf/vmlinux"
	       : error == -ENODATA ? "its type information (BTF) is not that of an x86-64 kernel"
	       : error == -ENOTSUP
		       ? "its CPUs' data are not at 0; kernels from Linux 6.15 on are not supported"
		       : strerror(-error);
}

/* Where the guest's tasks are, for the plugin. @text: "" if no kernel was given. Return: false after a message. */
static bool describe_tasks(const struct guest_options *options, char text[TASKS_BYTES])
{
	struct guest_tasks tasks;
	int error;

	*text = 0;
	if (!options->kernel)
		return true;
	error = read_tasks(options->kernel, &tasks);
	if (error)
		cmd_failed("--guest-kernel: %s: %s", options->kernel, problem(error));
	else
		snprintf(text, TASKS_BYTES,
			 "%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64,
			 tasks.current, tasks.base, tasks.stack, tasks.pid, tasks.tgid, tasks.leader,
			 tasks.name);
	return !error;
}

/* The argument of -plugin. Return: NULL: no memory. */
static char *plugin_argument(const struct guest_options *options, const char *path, const char *tasks)
{
	char *argument = NULL;
	size_t bytes;
	FILE *text = open_memstream(&argument, &bytes);

	if (!text)
		return NULL;
	for (; *path; path++) /* a comma ends the path, two are one of its own */
		fputs(*path == ',' ? ",," : (char[]){ *path, 0 }, text);
	put_option(text, "level", options->level == GUEST_ALL ? NULL : guest_levels[options->level]);
	for (size_t n = 0; n < options->ranges.count; n++)
		put_option(text, "range", options->ranges.globs[n]);
	put_option(text, "start", options->start);
	put_option(text, "stop", options->stop);
	put_option(text, "tasks", *tasks ? tasks : NULL);
	put_option(text, "report", options->report ? "on" : NULL);
	if (fclose(text) != 0) {
		free(argument);
		return NULL;
	}
	return argument;
}

char **guest_command(const struct guest_options *options, char **command)
{
	char path[PRELOAD_PATH_MAX], tasks[TASKS_BYTES], **longer;
	const int error = preload_find(library_name, path, sizeof(path));
	size_t count = 0;

	if (error) {
		cmd_failed("--guest: %s %s", library_name, preload_problem(error));
		return NULL;
	}
	if (!describe_tasks(options, tasks))
		return NULL;
	while (command[count])
		count++;
	longer = calloc(count + 3, sizeof(*longer));
	if (longer) {
		memcpy(longer, command, count * sizeof(*longer));
		longer[count] = strdup("-plugin");
		longer[count + 1] = plugin_argument(options, path, tasks);
	}
	if (!longer || !longer[count] || !longer[count + 1]) {
		cmd_failed("out of memory");
		return NULL;
	}
	return longer;
}
