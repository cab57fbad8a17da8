/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Make a session file.
 *
 * Each step may fail, and then nothing is left behind. The order:
 *
 *	geometry	all counts and offsets, in private memory
 *	file		a new name (O_EXCL), mode 0600, its full size, without memory
 *	memory		the parts that must not fail later: header, event table, text, controls of the rings
 *	content		sizes of rings, rules, the geometry
 *	magic		one store, last: a process that finds the file before takes it for no session
 *
 * A full /dev/shm is the only error for which another place is tried (0104). A session that may grow
 * (buffer_max) is made without that if it does not fit otherwise.
 *
 * Programs do this before main(), with no right to fail or to be slow: so no allocator, no stdio, and system
 * calls instead of functions of the C library that would load another page.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "ring/ring_deps.h"
#include "session/clock.h"
#include "session/places/directory.h"
#include "session/layout.h"
#include "session/layout_place.h"
#include "session/events/rules.h"

enum {
	CREATE_EVENTS_MAX = 16384,
	CREATE_TEXT_BYTES = 4 << 20,
	CREATE_FILTERS_BYTES = 1 << 20,
	CREATE_NAMES_PACKET = 16 << 10,
	/* Some 35,000 threads: between two rounds of a recorder, or in flight mode at a time. */
	CREATE_NAMES_PACKETS = 128,
	CREATE_NAME_SHOWN = 16, /* bytes of a program's name in the kernel, with its NUL */
	CREATE_LOCKED_MIN = 4,	/* locked rings: one per CPU, but enough to find a free one */
};

static uint64_t power_of_two_above(uint64_t value)
{
	uint64_t power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

/* The number of packets of a buffer. */
static uint32_t packets_of(uint64_t buffer_bytes, uint32_t packet_bytes)
{
	const uint64_t packets = (buffer_bytes + packet_bytes - 1) / packet_bytes;

	return packets < WIRE_RING_PACKETS_MIN ? WIRE_RING_PACKETS_MIN : (uint32_t)packets;
}

/* Store the globs as rules; false: there is no room for them. */
static bool pack_rules(char *rules, const char *const *globs)
{
	const struct session_rule on = { .state = WIRE_ON, .level = WIRE_LEVEL_MAX, .where = "" };

	for (; globs && *globs; globs++)
		if (!rules_add(rules, *globs, &on))
			return false;
	return true;
}

/* The program's name, as `ps` shows it: the last part of its path, cut to 15 bytes. */
static void program_name(const char *program, char *name, size_t bytes)
{
	const char *slash = program ? strrchr(program, '/') : NULL;

	memset(name, 0, bytes);
	if (program)
		nolibc_text(&(struct nolibc_string){ name, CREATE_NAME_SHOWN, 0, false },
			    slash ? slash + 1 : program);
	if (!name[0])
		prctl(PR_GET_NAME, name, 0, 0, 0);
	name[bytes - 1] = 0;
}

/* The last number of "0-1", plus one. */
long session_cpus(void)
{
	char text[256], *last = text;
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return sysconf(_SC_NPROCESSORS_CONF);
	text[got] = 0;
	for (char *at = text; *at; at++)
		if (*at == '-' || *at == ',')
			last = at + 1;
	return (long)nolibc_number(last, 10, NULL) + 1;
}

static int decide_geometry(struct wire_geometry *geometry, const struct session_options *options,
			   const char **why)
{
	long cpus = session_cpus();
	struct timespec now;
	struct clock_info clock;

	clock_detect(&clock);
	/* Not by clock_gettime(), which would load another page for this one call. */
	if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0)
		now = (struct timespec){ 0, 0 };
	*geometry = (struct wire_geometry){
		.version = WIRE_SESSION_VERSION,
		.header_bytes = sizeof(struct wire_session),
		.mode = options->mode,
		.clock = options->guest_clock ? WIRE_CLOCK_GUEST
			 : clock.is_tsc	      ? WIRE_CLOCK_TSC
					      : WIRE_CLOCK_MONOTONIC,
		.clock_hz = 0, /* no start waits for a calibration; a reader of the session finds the rate */
		.packet_bytes = (uint32_t)power_of_two_above(options->packet_bytes),
		.names_packet_bytes = CREATE_NAMES_PACKET,
		.names_packets = CREATE_NAMES_PACKETS,
		.string_max = options->string_max,
		.context = options->context,
		.events_max = CREATE_EVENTS_MAX,
		.filters_bytes = CREATE_FILTERS_BYTES,
		.text_bytes = CREATE_TEXT_BYTES,
		.owner_kind = options->owner,
		.owner = nolibc_pid(),
		.owner_start = session_start_time(0),
		.created_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
		.pid_namespace = layout_pid_namespace(),
	};
	if (options->functions_max) {
		geometry->functions_max = (uint32_t)power_of_two_above(options->functions_max);
		geometry->call_segments = WIRE_CALL_SEGMENTS;
	}
	memcpy(geometry->boot_id, clock.boot_id, sizeof(geometry->boot_id));
	geometry->ring_packets = (uint32_t)power_of_two_above(packets_of(
		options->buffer_max > options->buffer_bytes ? options->buffer_max : options->buffer_bytes,
		geometry->packet_bytes));
	if (cpus < 1)
		cpus = 1;
	/* Without the processor's counter there is no clock that a restartable sequence can read. */
	geometry->cpus = geometry->clock == WIRE_CLOCK_TSC && RING_HAVE_RSEQ && !options->without_rseq
				 ? (uint32_t)cpus
				 : 0;
	geometry->locked = cpus < CREATE_LOCKED_MIN ? CREATE_LOCKED_MIN : (uint32_t)cpus;
	program_name(options->program, geometry->program, sizeof(geometry->program));
	if (getrandom(geometry->uuid, sizeof(geometry->uuid), 0) != (ssize_t)sizeof(geometry->uuid)) {
		*why = "there are no random bytes for its identity";
		return -EIO;
	}
	layout_decide(geometry);
	return 0;
}

/* @path: empty: the file has no name */
static int open_new(const char *path, uint64_t bytes, const char **why)
{
	struct rlimit limit;
	int fd;

	/* Beyond this limit the program would get a signal (SIGXFSZ), not an error. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
		*why = "the limit on the size of files (ulimit -f) is too low";
		return -EFBIG;
	}
	fd = *path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
		   : memfd_create("burin", MFD_CLOEXEC);
	if (fd < 0) {
		*why = errno == ENOSPC || errno == EDQUOT ? DIRECTORY_FULL
							  : "the session file cannot be made";
		return errno == EDQUOT ? -ENOSPC : -errno;
	}
	fchmod(fd, 0600); /* whatever the umask */
	return fd;
}

/*
 * Whether the file system of the session has room for a packet of each ring that threads usually write to. Another user may have
 * filled it almost: then the session could be made, but would record nothing.
 */
static bool has_space(int fd, const struct wire_geometry *geometry)
{
	const uint64_t rings = geometry->cpus ? geometry->cpus : geometry->locked;
	struct statfs system;

	/* Not by fstatfs(), which would load another page. No blocks: the file system has no limit. */
	return syscall(SYS_fstatfs, fd, &system) != 0 || !system.f_blocks ||
	       (uint64_t)system.f_bavail * (uint64_t)system.f_bsize >= rings * geometry->packet_bytes;
}

static int session_create_fill(struct session *session, int fd, const struct session_options *options,
			       const char **why)
{
	const struct wire_geometry *geometry = &session->geometry;
	const uint64_t rings = (uint64_t)geometry->cpus + geometry->locked + 1;
	uint64_t magic;
	int error;

	if (ftruncate(fd, (off_t)geometry->file_bytes) != 0) {
		*why = "the session file cannot be made that large";
		return -errno;
	}
	error = layout_map(session, fd, options->owner == WIRE_OWNER_PROGRAM ? LAYOUT_JOIN : LAYOUT_OPEN);
	if (error) {
		*why = "the session file cannot be mapped";
		return error;
	}
	*why = DIRECTORY_FULL;
	if (!has_space(fd, geometry) || !session_have_memory(session, 0, sizeof(*session->shared)) ||
	    !session_have_memory(session, geometry->events_offset, sizeof(struct wire_events)) ||
	    !session_have_memory(session, geometry->text_offset, 1) ||
	    !session_have_memory(session, geometry->controls_offset, rings * sizeof(struct wire_ring)))
		return -ENOSPC;
	error = layout_attach(session);
	if (error)
		return error;
	if (session->calls.header &&
	    (!session_have_memory(session, geometry->calls_offset, sizeof(struct wire_calls)) ||
	     !session_have_memory(session, (uint64_t)(session->calls.text - session->base), 1)))
		return -ENOSPC;
	if (session->calls.header)
		session->calls.header->text_bytes = 1;
	for (unsigned n = 0; n < rings; n++)
		session->rings[n].control->size = packets_of(options->buffer_bytes, geometry->packet_bytes);
	session->rings[rings - 1].control->size = geometry->names_packets;
	*session->events = (struct wire_events){ .magic = WIRE_EVENTS_MAGIC, .text_bytes = 1 };
	session->shared->filters_used = WIRE_FILTERS_FIRST;
	if (!pack_rules(session->shared->rules, options->globs)) {
		*why = "the globs together are too long";
		return -E2BIG;
	}
	session->shared->geometry = *geometry;
	/* Release: a process that sees the magic sees the whole header. Until then it finds no session in the file. */
	memcpy(&magic, WIRE_SESSION_MAGIC, sizeof(magic));
	__atomic_store_n((uint64_t *)session->base, magic, __ATOMIC_RELEASE);
	return 0;
}

/* Make the session file @path. */
static int session_create_make(struct session *session, const struct session_options *options,
			       const char *path, const char **why)
{
	int fd = open_new(path, session->geometry.file_bytes, why), error;

	if (fd < 0)
		return fd;
	error = session_create_fill(session, fd, options, why);
	close(fd);
	memcpy(session->geometry.magic, WIRE_SESSION_MAGIC, sizeof(session->geometry.magic));
	if (error) {
		if (*path)
			unlink(path);
		session_leave(session);
	}
	return error;
}

static int session_create_named(struct session *session, const struct session_options *options,
				enum directory_place place, char *path, size_t path_bytes, const char **why)
{
	int error;

	*session = (struct session){ 0 };
	error = decide_geometry(&session->geometry, options, why);
	if (error)
		return error;
	if (options->buffer_max && !layout_has_room(session->geometry.file_bytes))
		return -ENOMEM;
	error = directory_file(path, path_bytes, place, true, &session->geometry, why);
	return error ? error : session_create_make(session, options, path, why);
}

/* In one place, if it cannot grow, then with rings that cannot grow. */
static int create_at(struct session *session, const struct session_options *options,
		     enum directory_place place, char *path, size_t path_bytes, const char **why)
{
	struct session_options smaller = *options;
	int error = session_create_named(session, options, place, path, path_bytes, why);

	smaller.buffer_max = 0;
	return error && error != -ENOSPC && options->buffer_max
		       ? session_create_named(session, &smaller, place, path, path_bytes, why)
		       : error;
}

int session_create(struct session *session, const struct session_options *options, char *path,
		   size_t path_bytes, const char **why)
{
	const char *why_not = "";
	int error = create_at(session, options, DIRECTORY_USUAL, path, path_bytes, why);

	return error == -ENOSPC &&
			       create_at(session, options, DIRECTORY_SPARE, path, path_bytes, &why_not) == 0
		       ? 0
		       : error;
}

int session_create_nameless(struct session *session, const struct session_options *options, const char **why)
{
	int error;

	*session = (struct session){ 0 };
	error = decide_geometry(&session->geometry, options, why);
	error = error ? error : session_create_make(session, options, "", why);
	session->nameless = !error;
	return error;
}
