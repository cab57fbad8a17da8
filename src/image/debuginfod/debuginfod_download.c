/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process that downloads; see debuginfod_download.h. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "image/debuginfod/debuginfod_download.h"
#include "image/symbolize/confine.h"

#define TIMEOUT_S "20" /* without an answer, or with less than 100 KiB in that time */
#define RETRIES	  "0"  /* the library's 2 would triple that time */

static const uint64_t SIZE_MAX_DEFAULT = UINT64_C(2) << 30, MEMORY_MAX = UINT64_C(2) << 30,
		      PROGRESS_NS = 100000000;
/* Beyond the largest size: the library can write so much before it reports progress. If a write fails first, it returns EIO. */
static const uint64_t BETWEEN_REPORTS = UINT64_C(1) << 20;

/*
 * The library's interface since elfutils 0.178 (elfutils/debuginfod.h). It is loaded here and not linked, since it brings
 * some thirty libraries for HTTP and TLS, which no other process of Burin needs.
 */
struct library {
	void *(*begin)(void);
	void (*set_progress)(void *client, int (*progress)(void *client, long bytes, long total));
	int (*find)(void *client, const unsigned char *id, int bytes, char **path);
	int (*find_source)(void *client, const unsigned char *id, int bytes, const char *name, char **path);
};

static int progress_pipe;
static uint64_t size_max, next_ns;
static bool too_large;

uint64_t debuginfod_download_max(void)
{
	const char *text = getenv("DEBUGINFOD_MAXSIZE");
	const long long asked = text ? strtoll(text, NULL, 10) : 0;

	return asked > 0 ? (uint64_t)asked : SIZE_MAX_DEFAULT;
}

static int debuginfod_download_on_progress(void *client, long bytes, long total)
{
	const struct download_progress message = { (uint64_t)(bytes < 0 ? 0 : bytes),
						   (uint64_t)(total < 0 ? 0 : total) };
	struct timespec now;
	uint64_t ns;

	(void)client;
	too_large |= message.bytes > size_max || message.total > size_max;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (ns >= next_ns && write(progress_pipe, &message, sizeof(message)) < 0)
		return 1;
	next_ns = ns >= next_ns ? ns + PROGRESS_NS : next_ns;
	return too_large;
}

static bool debuginfod_download_load(struct library *library)
{
	void *file = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!file)
		return false;
	*(void **)&library->begin = dlsym(file, "debuginfod_begin");
	*(void **)&library->set_progress = dlsym(file, "debuginfod_set_progressfn");
	*(void **)&library->find = dlsym(file, "debuginfod_find_debuginfo");
	*(void **)&library->find_source = dlsym(file, "debuginfod_find_source");
	return library->begin && library->set_progress && library->find && library->find_source;
}

/* The library sees a directory of its own in place of the user's cache, and bounds where the user gave none. */
static void set_environment(void)
{
	setenv("DEBUGINFOD_CACHE_PATH", ".", 1);
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_S, 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", RETRIES, 0);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
}

/* Gives a source file, which the library names by its path, a name that the parent knows. */
static int name_source(const char *path)
{
	char name[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const int length = slash ? (int)(slash - path) : 0;

	if (snprintf(name, sizeof(name), "%.*s/source", length, path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	return rename(path, name) == 0 ? 0 : -errno;
}

static int debuginfod_download_file(const unsigned char *id, size_t bytes, const char *source)
{
	struct library library;
	char *path = NULL;
	void *client;
	int file;

	if (!debuginfod_download_load(&library))
		return -ELIBACC;
	client = library.begin();
	if (!client)
		return -ENOMEM;
	library.set_progress(client, debuginfod_download_on_progress);
	file = source ? library.find_source(client, id, (int)bytes, source, &path)
		      : library.find(client, id, (int)bytes, NULL);
	if (too_large || file < 0)
		return too_large ? -EFBIG : file;
	return path ? name_source(path) : 0;
}

_Noreturn void debuginfod_download(int work, int pipe, const unsigned char *id, size_t bytes,
				   const char *source)
{
	int error = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* from the terminal: the parent handles it */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* writing fails with EFBIG */
	size_max = debuginfod_download_max();
	progress_pipe = pipe;
	set_environment();
	if (fchdir(work) != 0)
		_exit(errno);
	confine_process(&(struct confine){ .download = true,
					   .memory = MEMORY_MAX,
					   .file_bytes = size_max + BETWEEN_REPORTS,
					   .keep = &pipe,
					   .keep_count = 1,
					   .asks = -1 });
	error = debuginfod_download_file(id, bytes, source);
	_exit(-error);
}
