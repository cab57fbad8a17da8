/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The helper that may wait in another's place; see timed_open.h.
 *
 * One request is under way at a time. A helper that has missed a deadline gets no other request, so no answer belongs to an
 * earlier one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file/descriptor.h"
#include "file/timed_open.h"

enum {
	LOOK_MS = 5, /* between two looks at the helper's state */
	ROOT_MAX = 64,
	PIECE = 1 << 16, /* of a copy */
};

/* A request on its way; what its pointers point to is beside them. */
struct message {
	struct timed_request request;
	struct foreign how;
	struct foreign_user reader, owner;
	char root[ROOT_MAX];
	char path[PATH_MAX];
};

static struct {
	pid_t owner; /* a fork of the owner has a helper of its own */
	pid_t pid;   /* 0: there is none */
	int socket;
	pid_t left[TIMED_LEFT_MAX];
	unsigned left_count;
} helper;

int timed_open_directly(const struct timed_request *request)
{
	int root, file;

	if (request->kind == TIMED_COPY) {
		file = open(request->path, O_RDONLY | O_CLOEXEC);
		if (file >= 0 && request->begin && lseek(file, (off_t)request->begin, SEEK_SET) < 0) {
			root = -errno;
			close(file);
			return root;
		}
		return file < 0 ? -errno : file;
	}
	if (request->kind == TIMED_LINK)
		return foreign_open_link(request->how, request->path);
	root = foreign_root(request->root);
	if (root < 0)
		return root;
	file = foreign_open(request->how, root, request->path);
	close(root);
	return file;
}

/* ---- the helper */

/* Return: 0: the whole file was copied, or as much as is asked for. */
static int copy_pieces(int from, int to, const struct timed_request *request)
{
	const size_t bytes = request->bytes;
	static char piece[PIECE];
	size_t done = 0;

	while (!bytes || done < bytes) {
		const size_t next = bytes && bytes - done < sizeof(piece) ? bytes - done : sizeof(piece);
		const ssize_t got = read(from, piece, next);

		if (got < 0 && done && request->begin) /* memory that is not mapped */
			return 0;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		if (write(to, piece, (size_t)got) != got)
			return -ENOMEM;
		done += (size_t)got;
		if (done > TIMED_COPY_MAX)
			return -EFBIG;
	}
	return 0;
}

static int timed_open_copy_file(const struct timed_request *request)
{
	const int from = timed_open_directly(request);
	const int to = from < 0 ? -1 : memfd_create("burin-copy", MFD_CLOEXEC);
	int error = from < 0 ? from : to < 0 ? -errno : copy_pieces(from, to, request);

	if (!error && lseek(to, 0, SEEK_SET) < 0)
		error = -errno;
	if (from >= 0)
		close(from);
	if (error && to >= 0)
		close(to);
	return error ? error : to;
}

static int timed_open_perform(struct message *message)
{
	struct timed_request *request = &message->request;

	if (message->how.reader)
		message->how.reader = &message->reader;
	if (message->how.owner)
		message->how.owner = &message->owner;
	request->how = &message->how;
	request->root = message->root;
	request->path = message->path;
	return request->kind == TIMED_COPY ? timed_open_copy_file(request) : timed_open_directly(request);
}

/*
 * It ends when the other end of the socket is closed, or with the thread that started it. Signals of the terminal are for the
 * recorder alone.
 */
static _Noreturn void timed_open_serve(int socket, pid_t parent)
{
	static struct message message;
	sigset_t all;
	ssize_t got;
	int file;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "burin-open");
	if (getppid() != parent)
		_exit(0);
	if (socket > 0)
		close_range(0, (unsigned)socket - 1, 0);
	close_range((unsigned)socket + 1, ~0U, 0);
	while ((got = recv(socket, &message, sizeof(message) - 1, 0)) > 0) {
		((char *)&message)[got] = 0;
		file = timed_open_perform(&message);
		if (!descriptor_send(socket, file))
			break;
		if (file >= 0)
			close(file);
	}
	_exit(0);
}

/* ---- its parent */

/* Those that were killed have ended, as soon as their wait in the kernel did. */
static void reap_left(void)
{
	unsigned kept = 0;

	for (unsigned n = 0; n < helper.left_count; n++)
		if (waitpid(helper.left[n], NULL, WNOHANG | __WALL) == 0)
			helper.left[kept++] = helper.left[n];
	helper.left_count = kept;
}

static void leave_helper(void)
{
	close(helper.socket);
	kill(helper.pid, SIGKILL); /* it was not reaped, so its pid is still its own */
	helper.left[helper.left_count++] = helper.pid;
	helper.pid = 0;
	reap_left();
}

/* Another process's copy of this state: its helper is none of ours. */
static void forget_copied(void)
{
	if (helper.owner == getpid())
		return;
	if (helper.pid)
		close(helper.socket);
	helper.pid = 0;
	helper.left_count = 0;
	helper.owner = getpid();
}

/* clone(2) instead of fork(2): without a signal at its end, it is no child that a command could mistake for its own. */
static int timed_open_start(void)
{
	int ends[2], error;
	pid_t pid;

	reap_left();
	if (helper.left_count == TIMED_LEFT_MAX)
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid == 0)
		timed_open_serve(ends[1], helper.owner);
	error = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error == EINVAL || error == ENOSYS || error == EPERM ? -ECHILD : -EBUSY;
	}
	helper.pid = pid;
	helper.socket = ends[0];
	return 0;
}

static int send_request(const struct timed_request *request)
{
	static struct message message; /* not on the stack, which a sampled recorder copies */
	const size_t length = strlen(request->path);

	memset(&message, 0, offsetof(struct message, path));
	message.request = *request;
	if (length >= sizeof(message.path) ||
	    (request->root && strlen(request->root) >= sizeof(message.root)))
		return -ENAMETOOLONG;
	if (request->how) {
		message.how = *request->how;
		if (request->how->reader)
			message.reader = *request->how->reader;
		if (request->how->owner)
			message.owner = *request->how->owner;
	}
	if (request->root)
		strcpy(message.root, request->root);
	memcpy(message.path, request->path, length);
	return send(helper.socket, &message, offsetof(struct message, path) + length, MSG_NOSIGNAL) < 0
		       ? -EPIPE
		       : 0;
}

/* Whether the helper waits in the kernel: it neither runs nor waits for a processor. Its own stat takes no lock of its memory. */
static bool is_blocked(void)
{
	char path[32], text[256];
	const char *state;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)helper.pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	got = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[got > 0 ? got : 0] = 0;
	state = strrchr(text, ')');
	return state && state[1] == ' ' && (state[2] == 'D' || state[2] == 'S');
}

static uint64_t timed_open_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * The deadline is one of waiting, not of time: on a machine that is busy, a helper that only lacks a processor has more of it.
 * Return: 0 or -ETIMEDOUT.
 */
static int wait_answer(uint64_t *blocked_us)
{
	const uint64_t begin = timed_open_now_ms();
	struct pollfd answer = { .fd = helper.socket, .events = POLLIN };
	unsigned blocked_ms = 0;
	int ready;

	while ((ready = poll(&answer, 1, LOOK_MS)) <= 0) {
		if (ready == 0 && is_blocked())
			blocked_ms += LOOK_MS;
		if (blocked_ms >= TIMED_BLOCKED_MS || timed_open_now_ms() - begin >= TIMED_ALL_MS) {
			*blocked_us = blocked_ms * UINT64_C(1000);
			return -ETIMEDOUT;
		}
	}
	*blocked_us = blocked_ms * UINT64_C(1000);
	return 0;
}

static int timed_open_ask(const struct timed_request *request, uint64_t *blocked_us)
{
	int result = helper.pid ? 0 : timed_open_start();

	if (result)
		return result;
	result = send_request(request);
	if (result == -ENAMETOOLONG)
		return result;
	if (!result)
		result = wait_answer(blocked_us);
	if (!result)
		result = descriptor_receive(helper.socket);
	if (result == -ETIMEDOUT || result == -EPIPE)
		leave_helper();
	return result;
}

int timed_open(const struct timed_request *request, uint64_t *blocked_us)
{
	int result;

	*blocked_us = 0;
	forget_copied();
	result = timed_open_ask(request, blocked_us);
	return result == -EPIPE ? timed_open_ask(request, blocked_us)
				: result; /* once: it was killed, as by the OOM killer */
}
