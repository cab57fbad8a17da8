/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The session file from inside a process: made by one, joined by many (wire/session.h has its layout).
 *
 * A struct session is private memory. At joining, the geometry is copied out of the file and checked; from
 * then on the copy alone is trusted, because anybody who may write the file may scribble over it.
 */
#ifndef BURIN_SESSION_SESSION_H
#define BURIN_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "wire/event.h"
#include "wire/session.h"

struct session {
	char *base; /* the mapping; NULL: no session */
	struct wire_geometry geometry;
	struct wire_session *shared;
	struct wire_packet header;	 /* of record packets; struct ring points to them */
	struct wire_packet names_header; /* of names packets */
	uint8_t *switches;
	uint8_t *wants;
	struct wire_check *checks;
	struct wire_intent *intents;
	char *filters;
	struct wire_events *events;
	struct wire_event *entries;
	char *text;
	struct ring *rings;  /* ring_count of them; slots NULL until session_ring_use() */
	unsigned ring_count; /* cpus + locked + 1 */
};

struct session_options {
	enum wire_owner owner;
	enum wire_mode mode;
	uint64_t buffer_bytes; /* of each ring */
	uint64_t
		buffer_max; /* what it may be made later, if so much address space can be had; 0: no more than it is */
	uint64_t packet_bytes;
	uint32_t string_max;
	uint32_t context;	  /* enum wire_context: what records carry besides their payload */
	const char *const *globs; /* events that are on from the start; NULL ends */
	bool without_rseq;	  /* no rings for restartable sequences, as where there are none */
};

enum {
	SESSION_PATH_MAX = 256, /* bytes of a session file's name, with its NUL */
};

/*
 * session_create - make a session file and map it.
 * @path: filled in with its name
 *
 * Context: a recorder, or a traced program before its first event. Return: 0; -errno; *why then says in a few
 * words what could not be done.
 */
int session_create(struct session *session, const struct session_options *options, char *path,
		   size_t path_bytes, const char **why);

/*
 * session_own - the session that the calling program has for itself: the one that it made before an exec, or
 * a new one.
 * @path: filled in with its name, of SESSION_PATH_MAX bytes
 *
 * Context: as for session_create(). Return: 0; -errno and *why, then the program runs untraced.
 */
int session_own(struct session *session, const struct session_options *options, char *path, const char **why);

/*
 * session_join - map a session that another process made, to trace into it.
 *
 * Context: the traced program; allocates by mmap only, leaves no descriptor open.
 * Return: 0; -errno and *why, then the program runs untraced.
 */
int session_join(struct session *session, const char *path, const char **why);

/*
 * session_open, session_look - map a session of which others dispose: to switch its events; for reading only, when
 * a store into it is SIGSEGV.
 * Context: a command, not a traced program. Root may open anybody's. Return: 0; -errno and *why.
 */
int session_open(struct session *session, const char *path, const char **why);
int session_look(struct session *session, const char *path, const char **why);

/*
 * session_clock_hz - the rate of its clock, Hz. May take some milliseconds: neither a program that makes its own
 * session waits for a calibration, nor who switches its events, but who reads them.
 */
uint64_t session_clock_hz(const struct session *session);

/*
 * session_enter, session_exit - the calling process uses the session, uses it no more. A process that dies
 * without a word stays in the list; whoever looks at it asks the kernel as well.
 * Context: any thread, signal handlers; after a fork the child enters anew.
 * session_has_recorded: its end without a word is worth to be known.
 * session_exit returns whether other processes that live are left.
 */
void session_enter(struct session *session);
void session_has_recorded(struct session *session);
bool session_exit(struct session *session);

/* session_process - the pid in a place of the list, 0 if there is none. */
static inline uint32_t session_process(const struct wire_session *header, unsigned place)
{
	return __atomic_load_n(&header->processes[place], __ATOMIC_RELAXED) & ~WIRE_PROCESS_RECORDED;
}

/*
 * session_was_killed - of a session that nobody uses: whether its owner was, or another process that had recorded
 * something. A child that executed another program after that is taken for killed, too.
 */
bool session_was_killed(const struct wire_session *header);

/* How much of what programs that were killed left behind is kept. */
struct session_limits {
	unsigned count;
	uint64_t bytes; /* of memory */
};

/* session_end - nobody reads this session any more: all events off, now and later. */
void session_end(struct session *session);

/*
 * session_start_time - when a process was started, as field 22 of /proc/PID/stat; 0 if there is no such
 * process, it is dead and only waits to be reaped, or it cannot be seen.
 */
uint64_t session_start_time(uint32_t pid);

/* session_leave - unmap. Nobody may be using it any more. */
void session_leave(struct session *session);

/*
 * session_ring_use - the ring, for writing by this process.
 * Context: any thread, signal handlers; several at once are harmless.
 */
struct ring *session_ring_use(struct session *session, unsigned index);

/* session_ring_view - the same for reading: NULL if nobody has used the ring. */
struct ring *session_ring_view(struct session *session, unsigned index);

static inline unsigned session_names_index(const struct session *session)
{
	return session->ring_count - 1;
}

/* session_have_memory - have memory behind a part of the file, so that a later store finds it. */
bool session_have_memory(struct session *session, uint64_t offset, uint64_t bytes);

/* What registering an event needs to know; the strings live at least as long as the call. */
struct session_event {
	const char *name;
	const char *format;
	const char *file;
	uint64_t types;
	uint32_t line;
	uint8_t kind;
	uint8_t level;
};

/*
 * session_event_register - find or add events.
 * @ids: filled in, one for each: the id; 0 if refused (its format is not valid, or the name is taken by
 * another format, types or kind) or if the table is full
 *
 * Context: a thread, not a signal handler: waits a moment for other processes that register.
 * Return: 0; -ETIMEDOUT or -ENOMEM: nothing was registered.
 */
int session_event_register(struct session *session, const struct session_event *events, unsigned count,
			   uint16_t *ids);

/*
 * Switching. A change of several events is first written down as an intent, then carried out: it appears to a
 * listing at once, and if its author dies it is done wholly, by whoever comes next, or not at all. To
 * tracepoints each event changes by itself.
 */

/*
 * session_change_begin - begin a change. It is ended by session_change_commit() or session_change_cancel().
 * Context: a thread, not a signal handler. Return: 0; -ETIMEDOUT: others have been at it for a second.
 */
int session_change_begin(struct session *session);
void session_change_commit(struct session *session);
void session_change_cancel(struct session *session);

/*
 * session_change - what event `id` is to do.
 * @check: NULL, or its check for WIRE_CHECKED: filter, sample and limit are used
 * Return: 0; -ENOSPC: there is no memory for it.
 */
int session_change(struct session *session, uint16_t id, enum wire_switch want,
		   const struct wire_check *check);

/* session_change_stopped - stop everything, or let go again what is wanted. */
void session_change_stopped(struct session *session, bool stopped);

/*
 * session_change_rule - what events that are registered later are to do.
 * @sign: '+' on, '-' off, 0: nothing is said of this glob any more; @level: of '+', the highest that is switched on
 * Return: 0; -ENOSPC: there is no room for another rule.
 */
int session_change_rule(struct session *session, char sign, unsigned level, const char *glob);

/* session_rules_want - what rules say of an event: WIRE_ON or WIRE_OFF. @rules: WIRE_RULES_MAX bytes */
enum wire_switch session_rules_want(const char *rules, const char *name, unsigned level);

/* session_rule_find - the rule about a glob: its sign, level, ':' and glob; NULL if there is none. */
const char *session_rule_find(const char *rules, const char *glob);

/*
 * session_filter_add - put a filter program into the session, or find it there.
 * @program, @bytes: a multiple of 64
 * Return: its offset; 0: there is no room.
 */
uint32_t session_filter_add(struct session *session, const void *program, uint32_t bytes);

/*
 * session_switch_glob - switch all events that match, and those that come later.
 * @want: WIRE_ON or WIRE_OFF
 * @matched: how many are there now
 * Context: as session_change_begin(). Return: 0, -ETIMEDOUT or -ENOSPC.
 */
int session_switch_glob(struct session *session, const char *glob, enum wire_switch want, unsigned level,
			unsigned *matched);

/* session_event_text - a string of the event table, or "?" if its offset cannot be; always ends in NUL. */
const char *session_event_text(const struct session *session, uint32_t offset);

/* session_event_count - entries of the event table. */
uint32_t session_event_count(const struct session *session);

/*
 * session_put - append a record whose headers are ready to the ring of this CPU, or to a locked one. What cannot
 * be kept is counted there.
 * @tid: the calling thread
 * @locked: in any case to a locked one: the kernel does not know the calling thread's rseq area
 * Context: any thread, signal handlers.
 */
void session_put(struct session *session, struct ring_record record, uint32_t tid, bool locked);

/*
 * session_tell - append a record to the ring of names, and wait a moment for others who are at it.
 * @self: the calling thread
 * Context, return: as session_announce_process().
 */
enum ring_result session_tell(struct session *session, struct ring_record record, uint32_t self);

/*
 * session_announce_process, session_announce_thread - write a names record.
 * @self: the calling thread
 * @tid: the thread that is announced
 * @name: its name; NULL: that of the calling thread
 * @since: when it got that name, ticks; 0: now
 *
 * Context: any thread, signal handlers.
 * Return: RING_DONE; RING_BUSY: try again later; RING_FULL: the same if the session is a recorder's, who makes
 * room; in a program's own, its name is lost.
 */
enum ring_result session_announce_process(struct session *session, uint32_t self);
enum ring_result session_announce_thread(struct session *session, uint32_t self, uint32_t tid,
					 const char *name, uint64_t since);

#endif
