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
	struct wire_session geometry;
	struct wire_packet header;	 /* of record packets; struct ring points to them */
	struct wire_packet names_header; /* of names packets */
	uint8_t *switches;
	struct wire_events *events;
	struct wire_event *entries;
	char *text;
	struct ring *rings;  /* ring_count of them; slots NULL until session_ring_use() */
	unsigned ring_count; /* cpus + locked + 1 */
};

struct session_options {
	enum wire_mode mode;
	uint64_t buffer_bytes; /* of each ring */
	uint64_t packet_bytes;
	uint32_t string_max;
	const char *const *globs; /* events that are on from the start; NULL ends */
	bool without_rseq;	  /* no rings for restartable sequences, as where there are none */
};

/*
 * session_create - make a session file and map it.
 * @path: filled in with its name
 *
 * Context: the recorder. Return: 0; -errno; *why then says in a few words what could not be done.
 */
int session_create(struct session *session, const struct session_options *options, char *path,
		   size_t path_bytes, const char **why);

/*
 * session_join - map a session that another process made.
 *
 * Context: the traced program; allocates by mmap only, leaves no descriptor open.
 * Return: 0; -errno and *why, then the program runs untraced.
 */
int session_join(struct session *session, const char *path, const char **why);

/*
 * session_look - map a session of which somebody else disposes, for reading only: a store into it is SIGSEGV.
 * Context: a command. Return: 0; -errno and *why.
 */
int session_look(struct session *session, const char *path, const char **why);

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

/*
 * session_directory - the private directory of this user's sessions; made if it is missing, refused unless it
 * is a directory (no link) of mode 0700 that belongs to this user. Return: 0 or -errno and *why.
 */
int session_directory(char *path, size_t path_bytes, const char **why);

/* What registering an event needs to know; the strings live at least as long as the call. */
struct session_event {
	const char *name;
	const char *format;
	const char *file;
	uint64_t types;
	uint32_t line;
	uint16_t kind;
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
 * session_announce_process, session_announce_thread - write a names record.
 *
 * Context: any thread, signal handlers. Return: whether it was written; if not, try again later.
 */
bool session_announce_process(struct session *session, uint32_t tid);
bool session_announce_thread(struct session *session, uint32_t tid);

#endif
