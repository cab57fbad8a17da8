/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Announce threads and processes in the names ring (wire/wire_names.h).
 *
 * The ring is a locked one. If it is locked, the append is tried again a few times. A signal handler that interrupted
 * its own thread inside the append would wait in vain, so the caller tries again with its next event.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "ring/lock.h"
#include "session/names.h"
#include "wire/wire_name_record.h"

enum {
	NAMES_TRIES = 64,
	OWN_TRIES = 8,
};

/* One attempt. @self: the calling thread, the lock's owner */
static enum ring_result names_append(struct session *session, struct ring *ring, struct ring_record record,
				     uint32_t self)
{
	enum ring_result result;

	if (!lock_take(&ring->control->lock, self))
		return RING_BUSY;
	result = session->geometry.mode == WIRE_MODE_FLIGHT ? names_append_compacting(session, ring, record)
							    : ring_append_extended(ring, record);
	lock_drop(&ring->control->lock);
	return result == RING_MOVED ? RING_BUSY : result;
}

enum ring_result session_append_name(struct session *session, struct ring_record record, uint32_t self)
{
	struct ring *ring = session_ring_use(session, session_names_index(session));
	const struct timespec pause = { .tv_nsec = 100000 }; /* the lock's owner has been preempted */
	enum ring_result result = ring ? RING_BUSY : RING_FULL;

	for (int tries = 0; result == RING_BUSY && tries < NAMES_TRIES; tries++) {
		if (tries && !ring_silent)
			sched_yield();
		if (tries % 16 == 15 && !ring_silent && !ring_break_stale_lock(ring))
			nanosleep(&pause, NULL);
		result = names_append(session, ring, record, self);
	}
	return result;
}

/* @length: of the extended form */
static enum ring_result names_announce(struct session *session, char *buffer, uint32_t length, uint16_t id,
				       uint32_t self, uint32_t tid)
{
	const struct ring_record out = { buffer, length - 8 };

	ring_prepare(buffer, id, out.length, tid);
	return session_append_name(session, out, self);
}

/* Read the beginning of a file under /proc; NULs become blanks. */
static void names_read_line(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	if (got < 0)
		got = 0;
	while (got > 0 && text[got - 1] == 0)
		got--;
	for (ssize_t n = 0; n < got; n++)
		if (text[n] == 0)
			text[n] = ' ';
	text[got] = 0;
}

/* The kernel's data about this process, and its name at that time. */
struct self {
	uint32_t pid, parent;
	char exe[WIRE_NAME_TEXT_MAX + 1], command[WIRE_NAME_TEXT_MAX + 1], name[16];
};

static struct self *cached; /* NULL: the kernel is asked when an announcement needs it */

static void names_ask(struct self *self, uint32_t pid)
{
	ssize_t got = readlink("/proc/self/exe", self->exe, sizeof(self->exe) - 1);

	self->exe[got > 0 ? got : 0] = 0;
	names_read_line("/proc/self/cmdline", self->command, sizeof(self->command));
	self->parent = (uint32_t)getppid();
	self->pid = pid;
}

bool session_ask_beforehand(void)
{
	struct self *self =
		mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (self == MAP_FAILED)
		return false;
	names_ask(self, session_self());
	prctl(PR_GET_NAME, self->name, 0, 0, 0);
	cached = self;
	return true;
}

void session_thread_name(char name[SESSION_THREAD_NAME])
{
	const int saved = errno;

	memset(name, 0, SESSION_THREAD_NAME);
	if (cached)
		memcpy(name, cached->name, sizeof(cached->name));
	else
		prctl(PR_GET_NAME, name, 0, 0, 0);
	errno = saved;
}

void session_program_name(char *name, size_t room)
{
	const int saved = errno;
	char path[WIRE_NAME_TEXT_MAX + 1] = "";
	const char *exe = cached ? cached->exe : path, *slash;

	if (!cached && readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		path[0] = 0;
	slash = strrchr(exe, '/');
	exe = slash ? slash + 1 : exe;
	memcpy(name, exe, strnlen(exe, room - 1) + 1);
	name[room - 1] = 0;
	errno = saved;
}

static enum ring_result names_announce_process(struct session *session, uint32_t pid, uint32_t parent,
					       const char *exe, const char *command, uint32_t self,
					       uint64_t since)
{
	_Alignas(8) char buffer[WIRE_NAME_ROOM(WIRE_NAME_TEXT_MAX)];
	const uint32_t length =
		wire_name_process(buffer, WIRE_NAME_TEXT_MAX, pid, parent, exe, command, since);

	return names_announce(session, buffer, length, WIRE_NAME_PROCESS, self, self);
}

enum ring_result session_announce_guest(struct session *session, uint32_t pid, const char *program,
					uint32_t self, uint64_t since)
{
	return names_announce_process(session, pid, 0, program, "", self, since);
}

enum ring_result session_announce_process(struct session *session, uint32_t pid, uint32_t self)
{
	struct self asked;
	const struct self *process = cached ? cached : &asked;
	int saved = errno;
	enum ring_result result;

	if (!cached)
		names_ask(&asked, pid);
	/* Another pid: this is a child forked since then. Its parent is the cached process, or a child of that. */
	result = names_announce_process(session, pid, process->pid == pid ? process->parent : process->pid,
					process->exe, process->command, self, 0);
	session_has_recorded(session);
	errno = saved;
	return result;
}

static enum ring_result names_announce_thread(struct session *session, uint32_t pid, uint32_t self,
					      uint32_t tid, const char *name, uint64_t since)
{
	_Alignas(8) char buffer[WIRE_NAME_ROOM(WIRE_NAME_TEXT_MAX)];
	const uint32_t length = wire_name_thread(buffer, WIRE_NAME_TEXT_MAX, pid, name, since);

	return names_announce(session, buffer, length, WIRE_NAME_THREAD, self, tid);
}

/* Another thread may change the name, and announce it, between our look at it and our record: then we announce again, so the last one is right. */
static enum ring_result announce_own(struct session *session, uint32_t pid, uint32_t self, uint64_t since)
{
	char name[16] = "", announced[16];
	enum ring_result result = RING_DONE;
	unsigned tries = 0;

	prctl(PR_GET_NAME, name, 0, 0, 0);
	do {
		memcpy(announced, name, sizeof(announced));
		result = names_announce_thread(session, pid, self, self, announced, since);
		prctl(PR_GET_NAME, name, 0, 0, 0);
	} while (result == RING_DONE && memcmp(name, announced, sizeof(name)) != 0 && ++tries < OWN_TRIES);
	return result;
}

enum ring_result session_announce_thread(struct session *session, uint32_t pid, uint32_t self, uint32_t tid,
					 const char *name, uint64_t since)
{
	int saved = errno;
	enum ring_result result;

	if (!name && cached)
		name = cached->name;
	result = name ? names_announce_thread(session, pid, self, tid, name, since)
		      : announce_own(session, pid, self, since);
	errno = saved;
	return result;
}
