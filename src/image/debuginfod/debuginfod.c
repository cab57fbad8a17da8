/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Debug files from servers; see debuginfod.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "image/debuginfod/debuginfod.h"
#include "image/debuginfod/debuginfod_download.h"
#include "image/elf/debugfile.h"

enum {
	POLL_MS = 250,
	END_MS = 2, /* between looks for the end of a child that has closed its pipe */
};

/* A running download. */
struct download {
	pid_t child;
	int pipe, signals;
	sigset_t before;
	struct download_progress progress;
};

static uint64_t debuginfod_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool debuginfod_is_wanted(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return servers && servers[strspn(servers, " \t\n")];
}

static const char *debuginfod_text_of(int error)
{
	switch (-error) {
	case ETIME:
		return "no answer in time";
	case ETIMEDOUT:
		return "the time for downloads is over";
	case EINTR:
		return "interrupted";
	case EHOSTUNREACH:
		return "the server's host is unknown";
	case ECONNREFUSED:
		return "the server cannot be reached, or its certificate is invalid";
	case EMLINK:
		return "the server redirects without an end";
	case EIO:
		return "a file could not be received or written";
	case ELIBACC:
		return "libdebuginfod.so.1 is not installed (Debian: libdebuginfod1)";
	case ECHILD:
		return "the downloading process died";
	default:
		return strerror(-error);
	}
}

static void debuginfod_stop(struct debuginfod *from, int error)
{
	from->stopped = true;
	snprintf(from->why, sizeof(from->why), "%s", debuginfod_text_of(error));
}

/* ---- one download */

static int debuginfod_start(struct download *download, int work, const unsigned char *id, size_t bytes,
			    const char *source)
{
	sigset_t set;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &download->before);
	sigaddset(&set, SIGTERM); /* this one and the next are received if the caller has blocked them */
	sigaddset(&set, SIGHUP);
	download->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	download->pipe = ends[0];
	download->child = fork();
	if (download->child == 0)
		debuginfod_download(work, ends[1], id, bytes, source);
	close(ends[1]);
	return download->child < 0 ? -EAGAIN : 0;
}

/* @how: of waitpid(2). Return: whether the child has ended; @result: 0 or its negative errno; -ECHILD: it died. */
static bool has_ended(const struct download *download, int how, int *result)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(download->child, &status, how);
	while (got < 0 && errno == EINTR);
	*result = got > 0 && WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
	return got;
}

/* Return: false: the child has closed its end. */
static bool read_progress(struct debuginfod *from, struct download *download)
{
	struct download_progress progress;
	const ssize_t got = read(download->pipe, &progress, sizeof(progress));

	if (got < 0 && errno == EINTR)
		return true;
	if (got != (ssize_t)sizeof(progress))
		return false;
	download->progress = progress;
	if (from->progress)
		from->progress(from->data, progress.bytes, progress.total);
	return true;
}

/* Return: 0 or the child's negative errno; -EINTR, -ETIMEDOUT: it was ended. */
static int debuginfod_finish(struct debuginfod *from, struct download *download, uint64_t until_ms)
{
	struct pollfd wait[] = { { .fd = download->pipe, .events = POLLIN },
				 { .fd = download->signals, .events = POLLIN } };
	struct signalfd_siginfo signal;
	int error = 0, result;

	while (!has_ended(download, WNOHANG, &result)) {
		wait[0].revents = wait[1].revents = 0;
		if (poll(wait, 2, wait[0].fd < 0 ? END_MS : POLL_MS) < 0 && errno != EINTR)
			error = -errno;
		else if (wait[1].revents && read(download->signals, &signal, sizeof(signal)) > 0)
			error = -EINTR;
		else if (until_ms && debuginfod_now_ms() >= until_ms)
			error = -ETIMEDOUT;
		else if (wait[0].revents && !read_progress(from, download))
			wait[0].fd = -1;
		if (!error)
			continue;
		kill(download->child, SIGKILL);
		has_ended(download, 0, &result);
		return error;
	}
	return result;
}

static int download_file(struct debuginfod *from, const unsigned char *id, size_t bytes, const char *source,
			 uint64_t until_ms)
{
	struct download download = { .child = -1, .pipe = -1, .signals = -1 };
	int error = debuginfod_start(&download, from->cache.work, id, bytes, source);

	if (!error)
		error = debuginfod_finish(from, &download, until_ms);
	if (download.pipe >= 0) {
		close(download.pipe);
		sigprocmask(SIG_SETMASK, &download.before, NULL);
	}
	if (download.signals >= 0)
		close(download.signals);
	return error;
}

/* ---- one file, from the cache or the server */

static int find_cached(const struct debuginfod *from, const char *name, const unsigned char *id, size_t bytes,
		       struct image *image)
{
	const int file = debuginfod_cache_find(&from->cache, name, NULL);
	int error = file < 0 ? file : image_open(image, file);

	if (error)
		return error == -ENODATA ? error : -ENOENT;
	if (image->build_id_bytes == bytes && !memcmp(image->build_id, id, bytes))
		return 0;
	image_close(image);
	return -ENOENT;
}

static int debuginfod_request(struct debuginfod *from, const char *name, const unsigned char *id,
			      size_t bytes, uint64_t until_ms, struct image *image)
{
	int error = download_file(from, id, bytes, NULL, until_ms);

	if (!error)
		error = debuginfod_cache_take(&from->cache, name, id, bytes, image);
	if (!error) {
		const off_t end = lseek(image->fd, 0, SEEK_END);

		from->bytes += end < 0 ? 0 : (uint64_t)end;
	} else if (error == -ENOENT) {
		debuginfod_cache_note_missing(&from->cache, name, NULL);
	}
	return error;
}

/* @error: of one file */
static void debuginfod_count(struct debuginfod *from, int error)
{
	if (!error)
		from->found++;
	else if (error == -ENOENT || error == -ENODATA)
		from->unknown++;
	else if (error == -EBADMSG || error == -EFBIG)
		from->refused++;
	else
		debuginfod_stop(from, error);
}

static int debuginfod_find_file(struct debuginfod *from, const unsigned char *id, size_t bytes,
				uint64_t until_ms, struct image *image)
{
	char name[DEBUGINFOD_NAME_MAX];
	int error;

	if (from->stopped || !bytes || bytes > IMAGE_BUILD_ID_MAX)
		return -ENOENT;
	from->asked++;
	name[text_hex(name, id, bytes)] = '\0';
	error = find_cached(from, name, id, bytes, image);
	if (error == -ENOENT)
		error = debuginfod_request(from, name, id, bytes, until_ms, image);
	debuginfod_count(from, error);
	return error;
}

static void debuginfod_open_cache(struct debuginfod *from)
{
	const int error = debuginfod_cache_open(&from->cache);

	from->opened = true;
	if (!error)
		return;
	from->stopped = true;
	if (!*from->cache.path)
		snprintf(from->why, sizeof(from->why), "no directory for its cache: HOME is not set");
	else
		snprintf(from->why, sizeof(from->why), "the cache %.200s %s; set DEBUGINFOD_CACHE_PATH",
			 from->cache.path,
			 error == -EPERM ? "belongs to another user, or others may write to it"
					 : strerror(-error));
}

void debuginfod_find(struct debuginfod *from, const unsigned char *build_id, size_t bytes, uint64_t until_ms,
		     int files[2])
{
	unsigned char other[IMAGE_BUILD_ID_MAX];
	struct image image, alternate;
	size_t other_bytes;

	files[0] = files[1] = -1;
	if (!from->opened)
		debuginfod_open_cache(from);
	if (debuginfod_find_file(from, build_id, bytes, until_ms, &image) != 0)
		return;
	files[0] = dup(image.fd);
	other_bytes = debugfile_alternate_id(&image, other);
	if (other_bytes && debuginfod_find_file(from, other, other_bytes, until_ms, &alternate) == 0) {
		files[1] = dup(alternate.fd);
		image_close(&alternate);
	}
	image_close(&image);
}

static int request_source(struct debuginfod *from, const char *name, const char *entry,
			  const unsigned char *id, size_t bytes, const char *path, uint64_t until_ms)
{
	const int error = download_file(from, id, bytes, path, until_ms),
		  file = error ? error : debuginfod_cache_take_source(&from->cache, name, entry);
	const off_t end = file < 0 ? -1 : lseek(file, 0, SEEK_END);

	from->bytes += end < 0 ? 0 : (uint64_t)end;
	if (file >= 0)
		lseek(file, 0, SEEK_SET);
	if (file == -ENOENT)
		debuginfod_cache_note_missing(&from->cache, name, entry);
	return file;
}

int debuginfod_find_source(struct debuginfod *from, const unsigned char *build_id, size_t bytes,
			   const char *path, uint64_t until_ms)
{
	char name[DEBUGINFOD_NAME_MAX], entry[NAME_MAX + 1];
	int file;

	if (!from->opened)
		debuginfod_open_cache(from);
	if (from->stopped || !bytes || bytes > IMAGE_BUILD_ID_MAX)
		return -ENOENT;
	file = debuginfod_cache_file(path, entry);
	if (file)
		return file;
	from->asked++;
	name[text_hex(name, build_id, bytes)] = '\0';
	file = debuginfod_cache_find(&from->cache, name, entry);
	if (file < 0 && file != -ENODATA)
		file = request_source(from, name, entry, build_id, bytes, path, until_ms);
	debuginfod_count(from, file < 0 ? file : 0);
	return file;
}

void debuginfod_close(struct debuginfod *from, char *text, size_t size)
{
	char bytes[TEXT_SHORT];
	int at;

	*text = '\0';
	if (!from->opened)
		return;
	debuginfod_cache_close(&from->cache);
	at = snprintf(text, size, "%u of %u %s found", from->found, from->asked,
		      from->what ? from->what : "debug files");
	if (from->bytes)
		at += snprintf(text + at, size - (size_t)at, ", %s downloaded",
			       text_size(bytes, from->bytes));
	if (from->unknown)
		at += snprintf(text + at, size - (size_t)at, ", %u not known to the servers", from->unknown);
	if (from->refused)
		at += snprintf(text + at, size - (size_t)at,
			       ", %u refused: too large, or not the file of that build id", from->refused);
	if (from->stopped)
		snprintf(text + at, size - (size_t)at, "; no more were requested: %s", from->why);
}
