/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The layout of a session file; see layout.h.
 *
 * A geometry is trusted in one way only: its counts are within bounds, and all offsets and sizes are those
 * that layout_decide() computes from these counts. Bounds are such that no sum overflows. The caller has a
 * private copy of it and uses no other, so a later change of the file moves no pointer.
 *
 * A ring is in one of these states for a process:
 *
 *	->slots NULL		not used here; a program that has joined cannot access it (PROT_NONE)
 *	->slots set		writers of this process may use it: session_ring_use(), by the first of them
 *	->control->state READY	any process has used it: readers look at it, session_ring_view()
 *
 * Two threads may run session_ring_use() for one ring at a time. Both store the same values, and
 * ->ready_words comes last, with release. No state goes back.
 *
 * Also part of libburin.so: functions of the C library that would load another page are avoided
 * (base/nolibc.h).
 */
#include <errno.h>
#include <string.h>
#if defined(__x86_64__)
#include <sys/rseq.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "ring/ring_deps.h"
#include "session/event_index.h"
#include "session/layout.h"
#include "session/layout_place.h"
#include "wire/wire_change.h"
#include "wire/wire_context.h"

enum {
	LAYOUT_PAGE = 4096,
	LAYOUT_CPUS_MAX = 8192,
	LAYOUT_TEXT_MAX = 16 << 20,
	LAYOUT_FILTERS_MAX = 4 << 20, /* 2^16 granules of 64 */
};

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + LAYOUT_PAGE - 1) & ~(uint64_t)(LAYOUT_PAGE - 1);
}

static bool power_of_two(uint64_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

static bool packets_fit(uint64_t packet_bytes, uint64_t packets)
{
	return power_of_two(packet_bytes) && packet_bytes >= WIRE_PACKET_MIN &&
	       packet_bytes <= WIRE_PACKET_MAX && power_of_two(packets) && packets >= 4 && packets <= 1 << 20;
}

static bool calls_fit(const struct wire_geometry *geometry)
{
	if (!geometry->functions_max)
		return geometry->call_segments == 0;
	return power_of_two(geometry->functions_max) && geometry->functions_max <= WIRE_CALL_FUNCTIONS_MAX &&
	       geometry->call_segments != 0 && geometry->call_segments <= WIRE_CALL_SEGMENTS_MAX;
}

/* Without memcmp(), which would load one more page (base/nolibc.h). */
static bool layout_is_same(const struct wire_geometry *one, const struct wire_geometry *other)
{
	const char *a = (const char *)one, *b = (const char *)other;

	for (size_t at = 0; at < sizeof(*one); at += 4)
		if (number_load32(a + at) != number_load32(b + at))
			return false;
	return true;
}

bool layout_has_magic(const struct wire_geometry *geometry)
{
	return memcmp(geometry->magic, WIRE_SESSION_MAGIC, sizeof(geometry->magic)) == 0;
}

const char *layout_check(const struct wire_geometry *geometry, uint64_t file_bytes)
{
	struct wire_geometry same = *geometry;

	if (!layout_has_magic(geometry))
		return "it is not a session file";
	if (geometry->version != WIRE_SESSION_VERSION ||
	    geometry->header_bytes != sizeof(struct wire_session))
		return "it was made by another version of Burin";
	if (!packets_fit(geometry->packet_bytes, geometry->ring_packets) ||
	    !packets_fit(geometry->names_packet_bytes, geometry->names_packets) ||
	    geometry->cpus > LAYOUT_CPUS_MAX || geometry->locked == 0 || geometry->locked > LAYOUT_CPUS_MAX ||
	    geometry->events_max == 0 || geometry->events_max > WIRE_ID_MAX ||
	    geometry->text_bytes < LAYOUT_PAGE || geometry->text_bytes > LAYOUT_TEXT_MAX ||
	    geometry->filters_bytes < LAYOUT_PAGE || geometry->filters_bytes > LAYOUT_FILTERS_MAX ||
	    geometry->owner_kind > WIRE_OWNER_PROGRAM || geometry->program[WIRE_PROGRAM_MAX - 1] != 0 ||
	    geometry->mode > WIRE_MODE_FLIGHT || geometry->clock >= WIRE_CLOCKS ||
	    (geometry->clock == WIRE_CLOCK_GUEST && !geometry->functions_max) || geometry->string_max < 16 ||
	    geometry->string_max > WIRE_LENGTH_MAX ||
	    (geometry->context & ~(uint32_t)WIRE_CONTEXT_ALL) != 0 || !calls_fit(geometry))
		return "its header is damaged";
	layout_decide(&same);
	if (!layout_is_same(&same, geometry))
		return "its header is damaged";
	if (geometry->file_bytes != file_bytes)
		return "its size differs from that in its header";
	return NULL;
}

int layout_attach(struct session *session)
{
	const struct wire_geometry *geometry = &session->geometry;
	void *rings;

	layout_place(session);
	/* mmap, not malloc: the program may have an allocator of its own that traces */
	rings = mmap(NULL, round_up(session->ring_count * sizeof(struct ring)), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (rings == MAP_FAILED)
		return -ENOMEM;
	session->rings = rings;
	ring_clock_source = (enum wire_clock)geometry->clock;
	if (ring_clock_source == WIRE_CLOCK_GUEST)
		ring_guest_clock = &session->calls.header->guest_clock;
#if RING_HAVE_RSEQ
	ring_rseq_offset = __rseq_offset;
#endif
	for (unsigned index = 0; index < session->ring_count; index++)
		layout_ring(session, index);
	return 0;
}

void session_leave(struct session *session)
{
	static const uint64_t none;

	if (ring_guest_clock)
		ring_guest_clock = &none;
	event_index_free(session);
	if (session->rings)
		munmap(session->rings, round_up(session->ring_count * sizeof(struct ring)));
	if (session->base)
		munmap(session->base, session->geometry.file_bytes);
	if (session->device)
		session->device->leave(session);
	*session = (struct session){ 0 };
}

static bool layout_open_part(struct session *session, uint64_t begin, uint64_t end)
{
	return mprotect(session->base + begin, end - begin, PROT_READ | PROT_WRITE) == 0;
}

bool layout_has_room(uint64_t bytes)
{
	struct {
		uint64_t now, most;
	} limit;

	/* Not by getrlimit(), which may be the program's own. RLIM_INFINITY is the largest number. */
	return syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) != 0 || bytes <= limit.now / 4;
}

int layout_map(struct session *session, int fd, enum layout_purpose purpose)
{
	static const int access[] = {
		[LAYOUT_JOIN] = PROT_NONE,
		[LAYOUT_OPEN] = PROT_READ | PROT_WRITE,
		[LAYOUT_LOOK] = PROT_READ,
	};
	const struct wire_geometry *geometry = &session->geometry;
	char *base = mmap(NULL, geometry->file_bytes, access[purpose], MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	session->base = base;
	session->closed = purpose == LAYOUT_JOIN;
	/* All but the rings. mlockall(2) would otherwise allocate every ring at once. */
	if (session->closed && (!layout_open_part(session, 0, geometry->rings_offset) ||
				!layout_open_part(session, geometry->calls_offset, geometry->file_bytes)))
		return -errno;
	return 0;
}

bool session_have_memory(struct session *session, uint64_t offset, uint64_t bytes)
{
	/* A transaction of the kernel's session is prepared in private memory, which is there. */
	return session->device || ring_have_memory(session->base + offset, bytes);
}

static char *ring_slots(struct session *session, unsigned index)
{
	const struct wire_geometry *geometry = &session->geometry;
	const bool names = index == session_names_index(session);
	const uint64_t begin = names ? geometry->names_offset
				     : geometry->rings_offset + index * layout_ring_bytes(geometry),
		       end = names ? geometry->calls_offset : begin + layout_ring_bytes(geometry);

	return !session->closed || layout_open_part(session, begin, end) ? session->base + begin : NULL;
}

struct ring *session_ring_use(struct session *session, unsigned index)
{
	struct ring *ring = &session->rings[index];
	char *slots;

	if (__atomic_load_n(&ring->slots, __ATOMIC_RELAXED))
		return ring;
	slots = ring_slots(session, index);
	if (!slots)
		return NULL;
	__atomic_store_n(&ring->control->state, WIRE_RING_READY, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->slots, slots, __ATOMIC_RELAXED);
	/* Release: a thread that sees it also sees the slots. */
	__atomic_store_n(&ring->ready_words, (uint32_t)ring->packet_words, __ATOMIC_RELEASE);
	return ring;
}

struct ring *session_ring_view(struct session *session, unsigned index)
{
	struct ring *ring = &session->rings[index];

	if (__atomic_load_n(&ring->control->state, __ATOMIC_RELAXED) != WIRE_RING_READY)
		return NULL;
	if (!ring->slots)
		ring->slots = ring_slots(session, index);
	if (!ring->slots)
		return NULL;
	ring->ready_words = (uint32_t)ring->packet_words;
	return ring;
}

uint64_t layout_pid_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/* Whether /proc is of this process's PID namespace: then it shows the process under its own pid. */
static bool proc_is_ours(void)
{
	char target[NUMBER_DIGITS_MAX];
	ssize_t bytes = readlink("/proc/self", target, sizeof(target) - 1);

	if (bytes <= 0)
		return false;
	target[bytes] = 0;
	return nolibc_number(target, 10, NULL) == nolibc_pid();
}

bool session_is_here(const struct wire_geometry *geometry)
{
	return geometry->pid_namespace != 0 && geometry->pid_namespace == layout_pid_namespace() &&
	       proc_is_ours();
}
