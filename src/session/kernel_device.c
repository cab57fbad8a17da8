/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's session; see kernel_device.h. wire/wire_device.h has the requests, kernel/ the other side.
 *
 * The mapping is for reading only. Code that changes a session stores through its pointers, so a transaction
 * gets other ones:
 *
 *	begin	take a lock on the device among commands, copy the head, let the pointers lead into the copy
 *	...	the same code as for other sessions fills the journal and drafts the history, in the copy
 *	commit	send journal, rules, filters and history to the kernel; then as cancel
 *	cancel	let the pointers lead into the mapping again, free the copy, release the lock
 *
 * So nothing is half done if this process dies: the kernel has the request as a whole or not at all, and the
 * lock ends with the descriptor. The request has the number of changes of the copy. If another one came in
 * between, the kernel refuses (EAGAIN), and nothing has changed.
 *
 * The head is all before the event table. Events, controls and rings are read in the mapping, also during a
 * transaction.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/kernel_device.h"
#include "session/layout.h"

enum {
	DEVICE_PAGE = 4096,
	DEVICE_TRIES = 200, /* with pauses of 5 ms: a second */
	DEVICE_PAUSE_NS = 5000000,
};

bool kernel_device_is_there(void)
{
	struct stat status;

	return lstat(WIRE_DEVICE_PATH, &status) == 0 && S_ISCHR(status.st_mode);
}

/* Why the device cannot be opened. */
static const char *explain_open(int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return "burin.ko is not loaded; load it by modprobe burin, see burin-module(7)";
	case EACCES:
		return "only root may read the kernel's events";
	case EPERM:
		return "the kernel does not permit it; is it locked down?";
	default:
		return "it cannot be opened";
	}
}

int kernel_device_file(bool write, const char **why)
{
	const int file = open(WIRE_DEVICE_PATH,
			      (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (file < 0) {
		const int error = errno;

		*why = explain_open(error);
		return -error;
	}
	if (fstat(file, &status) == 0 && S_ISCHR(status.st_mode) && status.st_uid == 0 &&
	    (status.st_mode & 077) == 0)
		return file;
	*why = "it is not a private device of root";
	close(file);
	return -EPERM;
}

int kernel_device_header(int file, struct wire_session *header, const char **why)
{
	const size_t bytes = (sizeof(*header) + DEVICE_PAGE - 1) & ~(size_t)(DEVICE_PAGE - 1);
	void *head = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);

	if (head == MAP_FAILED) {
		*why = "it cannot be mapped";
		return -errno;
	}
	memcpy(header, head, sizeof(*header));
	munmap(head, bytes);
	*why = layout_check(&header->geometry, header->geometry.file_bytes);
	return *why ? -EINVAL : 0;
}

/* ---- Transactions */

static size_t head_bytes(const struct session *session)
{
	return session->geometry.events_offset;
}

/* Commands take turns. Changes by others than commands are found by the kernel (EAGAIN). */
static int take_turn(int file)
{
	for (unsigned tries = 0; tries < DEVICE_TRIES; tries++) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		nanosleep(&(struct timespec){ .tv_nsec = DEVICE_PAUSE_NS }, NULL);
	}
	return -ETIMEDOUT;
}

/* Copy the head at one moment: `changes` is the same before and after. */
static int copy_head(const struct session *session, char *draft)
{
	const uint32_t *changes = &((const struct wire_session *)session->base)->changes;

	for (unsigned tries = 0; tries < DEVICE_TRIES; tries++) {
		const uint32_t before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);

		memcpy(draft, session->base, head_bytes(session));
		/* The copy is finished before the second load, as in listing_read(). */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(changes, __ATOMIC_RELAXED) == before)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = DEVICE_PAUSE_NS }, NULL);
	}
	return -ETIMEDOUT;
}

/* Let the pointers into the head lead into another copy of it. */
static void kernel_device_lead(struct session *session, const char *from, char *to)
{
	void **pointers[] = { (void **)&session->shared,  (void **)&session->switches,
			      (void **)&session->desired, (void **)&session->conditions,
			      (void **)&session->journal, (void **)&session->filters,
			      (void **)&session->history };

	for (unsigned n = 0; n < sizeof(pointers) / sizeof(pointers[0]); n++)
		*pointers[n] = to + ((char *)*pointers[n] - from);
}

static int kernel_device_begin(struct session *session)
{
	struct session_device *device = session->device;
	int error = take_turn(device->file);

	if (error)
		return error;
	device->draft = malloc(head_bytes(session));
	error = device->draft ? copy_head(session, device->draft) : -ENOMEM;
	if (!error) {
		kernel_device_lead(session, session->base, device->draft);
		device->filters_used = session->shared->filters_used;
		return 0;
	}
	free(device->draft);
	device->draft = NULL;
	flock(device->file, LOCK_UN);
	return error;
}

static void kernel_device_cancel(struct session *session)
{
	struct session_device *device = session->device;

	kernel_device_lead(session, device->draft, session->base);
	free(device->draft);
	device->draft = NULL;
	flock(device->file, LOCK_UN);
}

/* Put the entries of the history, which lie in a ring, one behind the other. */
static char *collect_history(const struct session *session)
{
	const uint64_t bytes = wire_change_bytes(session->geometry.events_max);
	char *entries = calloc(session->draft.count + 1u, bytes);

	for (unsigned n = 0; entries && n < session->draft.count; n++) {
		const uint64_t number = session->shared->history + 1 + n;

		memcpy(entries + n * bytes, session->history + number % WIRE_CHANGES * bytes, bytes);
	}
	return entries;
}

static int kernel_device_commit(struct session *session)
{
	const struct wire_session *shared = session->shared;
	char *history = collect_history(session);
	struct wire_device_change change = {
		.version = WIRE_DEVICE_VERSION,
		.changes = shared->changes,
		.count = shared->journal_count,
		.paused = shared->journal_paused,
		.size_packets = (uint32_t)shared->journal_size,
		.drafts = session->draft.count,
		.entries = (uintptr_t)session->journal,
		.rules = (uintptr_t)shared->journal_rules,
		.history = (uintptr_t)history,
	};
	int error = history ? 0 : -ENOMEM;

	/* Only those that this transaction has added, behind the ones that the kernel has. */
	change.filters = (uintptr_t)(session->filters + session->device->filters_used);
	change.filters_bytes = shared->filters_used - session->device->filters_used;
	if (!error && ioctl(session->device->file, WIRE_DEVICE_CHANGE, &change) != 0)
		error = -errno;
	free(history);
	/* Also after a success: the mapping has the new states by now. */
	session->device->cancel(session);
	return error;
}

/* ---- */

static void kernel_device_give_back(const struct session *session, unsigned ring, uint64_t sequence)
{
	struct wire_device_consume consume = { .ring = ring, .sequence = sequence };

	/* An error leaves the packets in the ring; a full ring is a loss that the kernel counts. */
	ioctl(session->device->file, WIRE_DEVICE_CONSUME, &consume);
}

static void kernel_device_leave(struct session *session)
{
	free(session->device->draft);
	close(session->device->file);
	free(session->device);
}

static struct session_device *make_device(int file)
{
	struct session_device *device = malloc(sizeof(*device));

	if (device)
		*device = (struct session_device){ kernel_device_begin,
						   kernel_device_commit,
						   kernel_device_cancel,
						   kernel_device_give_back,
						   kernel_device_leave,
						   file,
						   NULL,
						   0 };
	return device;
}

static int kernel_device_map(struct session *session, int file, const char **why)
{
	struct wire_session header;
	int error = kernel_device_header(file, &header, why);
	void *base;

	if (error)
		return error;
	base = mmap(NULL, header.geometry.file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (base == MAP_FAILED) {
		*why = "it cannot be mapped";
		return -errno;
	}
	session->base = base;
	session->geometry = header.geometry;
	*why = "no memory";
	return layout_attach(session);
}

int kernel_device_open(struct session *session, bool write, const char **why)
{
	const int file = kernel_device_file(write, why);
	int error;

	*session = (struct session){ 0 };
	if (file < 0)
		return file;
	session->device = make_device(file);
	if (!session->device) {
		close(file);
		*why = "no memory";
		return -ENOMEM;
	}
	error = kernel_device_map(session, file, why);
	if (error)
		session_leave(session);
	return error;
}

int kernel_device_claim(const struct session *session)
{
	return ioctl(session->device->file, WIRE_DEVICE_CLAIM) == 0 ? 0 : -errno;
}

void kernel_device_close_packets(const struct session *session)
{
	/* Where the module cannot, the next reader finds the records of the open packets again. */
	ioctl(session->device->file, WIRE_DEVICE_CLOSE);
}

const char *kernel_device_explain(int error)
{
	switch (error) {
	case -EAGAIN:
		return "its events have changed meanwhile; try again";
	case -EBUSY:
		return "its records have to be read first; see burin record kernel";
	case -ETIMEDOUT:
		return "another command has been changing events for a second; try again";
	default:
		return strerror(-error);
	}
}
