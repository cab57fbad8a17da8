/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A process's view of a session file (wire/wire_session.h has its layout). One process makes the file, many join it.
 *
 * A struct session is private memory. When joining, the geometry is copied from the file and checked. From then on only
 * the copy is trusted, because any process that may write the file may corrupt it.
 */
#ifndef BURIN_SESSION_SESSION_H
#define BURIN_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "ring/ring_deps.h"
#include "wire/wire_call.h"
#include "wire/wire_change.h"
#include "wire/wire_event.h"
#include "wire/wire_session.h"

#define SESSION_SHARED __attribute__((visibility("default"))) /* for libburin-calls.so */

/* The history entries of a transaction that is not committed yet (session/events/history.h). */
struct session_draft {
	uint8_t entry[WIRE_CHANGE_KINDS]; /* of each kind: the number of its entry, from 1; 0: none */
	uint8_t count;
	bool rules; /* rules were set, perhaps to their old values */
	size_t used;
	char text[WIRE_CHANGE_TEXT];
};

/* The calls area (session_calls.h). */
struct session_calls {
	struct wire_calls *header; /* NULL: the session has none */
	struct wire_call_image *images;
	char *text;
	struct wire_call_function *functions;
	uint32_t *index, index_mask;
	uint8_t *switches;
	uint64_t *counts; /* of calls whose switch is WIRE_CALL_COUNT */
	struct wire_call_spec *specs;
	char *spec_text;
	char *segments;
};

/* Texts by which entries of the event table are found (event_index.h). */
enum session_index {
	SESSION_BY_NAME,
	SESSION_BY_ENUMS,
	SESSION_INDEXES,
};

struct session_event_index {
	struct session_index_slot *slots; /* NULL: not needed so far */
	uint32_t entries;		  /* of the table that are in it */
};

struct session;

/* How the kernel's session is changed, which commands map read-only (session/kernel_device.h). */
struct session_device {
	/* Copy the head into private memory, and let the session's pointers lead there; as session_change_begin(). */
	int (*begin)(struct session *session);
	/* Carry the transaction out, or not; the pointers lead to the device again. */
	int (*commit)(struct session *session);
	void (*cancel)(struct session *session);
	void (*give_back)(const struct session *session, unsigned ring, uint64_t sequence);
	void (*leave)(struct session *session);
	int file;
	char *draft;	       /* the private head, while a transaction is prepared */
	uint32_t filters_used; /* of the head, before the transaction */
};

struct session {
	char *base; /* the mapping; NULL: no session */
	struct wire_geometry geometry;
	struct wire_session *shared;
	struct wire_packet header;	 /* of record packets; struct ring points to them */
	struct wire_packet names_header; /* of names packets */
	uint8_t *switches;
	uint8_t *desired;
	struct wire_condition *conditions;
	struct wire_journal_entry *journal;
	char *filters;
	char *history;
	const char *command; /* the subcommand of burin, for the history; NULL: a program's own change */
	struct session_draft draft;
	struct wire_events *events;
	struct wire_event *entries;
	char *text;
	struct ring *rings;  /* ring_count of them; slots NULL until session_ring_use() */
	unsigned ring_count; /* cpus + locked + 1 */
	bool closed;	     /* its rings have no access before they are used: layout_map() */
	bool looked;	     /* mapped for reading only: session_look() */
	bool nameless;	     /* no other process can join it: session_create_nameless() */
	struct session_calls calls;
	struct session_event_index indexes[SESSION_INDEXES];
	struct session_device *device; /* NULL: the session is a file */
};

struct session_options {
	enum wire_owner owner;
	enum wire_mode mode;
	uint64_t buffer_bytes; /* of each ring */
	uint64_t buffer_max;   /* its largest size later, if there is address space; 0: it cannot grow */
	uint64_t packet_bytes;
	uint32_t string_max;
	uint32_t context;	  /* enum wire_context of the records */
	const char *program;	  /* name for listings; NULL: the calling program's */
	const char *const *globs; /* events that are on from the start; ends with NULL */
	bool without_rseq;	  /* locked rings only */
	bool guest_clock;	  /* the time is what a guest counts; it needs functions_max */
	uint32_t functions_max;	  /* room for functions whose calls are recorded; 0: none are */
};

enum {
	SESSION_PATH_MAX = 256, /* bytes of a session file's name, with its NUL */
};

/* session_cpus - the number of CPUs that the machine may ever have. A session without a ring for each of them has fewer. */
long session_cpus(void);

/*
 * session_create - make a session file and map it, in the spare place while the usual one is full (directory.h).
 * @path: receives its name
 *
 * Context: a recorder, or a traced program before its first event. Return: 0; -errno, and *why is the reason in a few
 * words.
 */
int session_create(struct session *session, const struct session_options *options, char *path,
		   size_t path_bytes, const char **why);

/*
 * session_create_nameless - the same without a name, in memory of its own, for a recorder that records no program's tracepoints:
 * no program can join it. It ends with the recorder.
 */
int session_create_nameless(struct session *session, const struct session_options *options, const char **why);

/*
 * session_open_per_process - open the calling process's own session: the one that it made before an exec, or a new one.
 * @path: receives its name, of SESSION_PATH_MAX bytes
 *
 * Context: as for session_create(). Return: 0; -errno and *why: the program runs untraced.
 */
int session_open_per_process(struct session *session, const struct session_options *options, char *path,
			     const char **why);

/*
 * session_join - map a session that another process made, to record into it.
 *
 * Context: the traced program; allocates by mmap only, leaves no descriptor open.
 * Return: 0; -errno and *why: the program runs untraced.
 */
int session_join(struct session *session, const char *path, const char **why);

/*
 * session_file - open a session's file, without waiting and without following a link.
 * @directory: directory of `name`, or AT_FDCWD; @write: for session_open(), not session_look()
 * Return: a descriptor; -errno and *why.
 */
int session_file(int directory, const char *name, bool write, const char **why);

/*
 * session_open, session_look - map a session of other processes. session_open() is for switching its events.
 * session_look() maps it read-only (a store is SIGSEGV), and accepts one of another PID namespace.
 * @fd: of session_file(); stays the caller's
 * Context: a command, not a traced program. Root may open every user's. Return: 0; -errno and *why.
 */
int session_open(struct session *session, int fd, const char **why);
int session_look(struct session *session, int fd, const char **why);

/*
 * session_clock_hz - the rate of its clock, Hz. A calibration may take some milliseconds. Only readers call it, so
 * neither a traced program nor a command that switches events waits for that.
 */
uint64_t session_clock_hz(const struct session *session);

/*
 * session_enter, session_exit - add the calling process to the session's list of processes, or remove it. A killed
 * process stays in the list, so readers of the list also ask the kernel.
 * session_has_recorded - mark it as having recorded: if it is killed, its session is kept.
 * Context: any thread, signal handlers; session_exit() makes no system call.
 */
void session_enter(struct session *session);
void session_has_recorded(struct session *session);
void session_exit(struct session *session);

/*
 * session_expect - before a fork: reserve an entry in the list for the child, so that the session is not taken for
 * unused before the child has entered; NULL: the list is full.
 * session_enter_expected - enter it in the child, without a system call. @entry: NULL: none was reserved
 */
uint32_t *session_expect(struct session *session);
void session_enter_expected(struct session *session, uint32_t *entry, uint32_t pid);

/* session_expects - whether an entry is reserved for a child. */
bool session_expects(const struct wire_session *header);

/*
 * session_thread_is_gone - whether a thread, or a process, has ended. A guest's stacks count as threads. The kernel does not
 * know them, and they do not end.
 */
static inline bool session_thread_is_gone(uint32_t tid)
{
	return tid < WIRE_GUEST_TID && ring_owner_is_dead(tid);
}

/*
 * The process's own id and rings, in a page that the kernel clears in the child of every fork, also of one that runs no handler:
 * _Fork(), clone(). Children that share their parent's memory, as those of vfork, see the parent's.
 */
#ifdef __x86_64__
#define SESSION_PAGE 4096
#else
#define SESSION_PAGE 65536 /* the largest page of any kernel */
#endif

union session_identity {
	struct {
		/* Set by source/calls: the distance from here to the switch of all calls. 0: that byte is this number's own, so calls seem off. */
		int64_t calls;
		uint32_t pid; /* 0: to be asked */
		/* Set by the session's writer: the rings that its fast paths may use. 0: a slow path asks session_is_forked(). */
		uint32_t cpus;
		struct ring *rings; /* of that session */
	};
	char page[SESSION_PAGE];
} __attribute__((aligned(SESSION_PAGE)));
extern union session_identity session_identity SESSION_SHARED;

/* session_self - the calling process's pid; asks the kernel only once. In a child of vfork it is the parent's. */
SESSION_SHARED uint32_t session_self(void);

/*
 * session_is_forked - whether the process is a child that has not called session_enter_expected() since. Before Linux 4.14: never.
 * Context: any; no system call.
 */
bool session_is_forked(void);

/* session_process - the pid in an entry of the list; 0: it is free. */
static inline uint32_t session_process(const struct wire_session *header, unsigned index)
{
	return __atomic_load_n(&header->processes[index], __ATOMIC_RELAXED) & ~WIRE_PROCESS_RECORDED;
}

/*
 * session_is_here - whether the session's pids are valid for this process: both are in one PID namespace, and /proc
 * shows it. For other sessions this process cannot find out whether they are used.
 */
bool session_is_here(const struct wire_geometry *geometry);

/*
 * session_was_killed - of a session that no process uses: whether its owner was killed, or another process that had
 * recorded something. A child that executed another program after that counts as killed, too.
 */
bool session_was_killed(const struct wire_session *header);

/* Limits for the sessions of killed programs; more are removed. */
struct session_limits {
	unsigned count;
	uint64_t bytes; /* of memory */
};

/*
 * session_end - the session has no reader any more: switch all events off, also those that register later. Their desired
 * states and the rules stay.
 */
void session_end(struct session *session);

/*
 * session_start_time - the start time of a process, field 22 of /proc/PID/stat; 0: it does not exist or is a zombie;
 * SESSION_START_UNKNOWN: /proc cannot be read.
 * @pid: 0: the calling process; for it, 0 also means unknown
 */
#define SESSION_START_UNKNOWN UINT64_MAX
uint64_t session_start_time(uint32_t pid);

/* session_leave - unmap. No thread may be using it any more. */
void session_leave(struct session *session);

/*
 * session_ring_use - the ring, for writing by this process.
 * Context: any thread, signal handlers; several at once are harmless. Return: NULL: the process has no room for another mapping.
 */
struct ring *session_ring_use(struct session *session, unsigned index);

/* session_ring_view - the same for reading; NULL, too: the ring has not been used. */
struct ring *session_ring_view(struct session *session, unsigned index);

static inline unsigned session_names_index(const struct session *session)
{
	return session->ring_count - 1;
}

/* session_have_memory - allocate memory for a part of the file, so that a later store is not SIGBUS. */
bool session_have_memory(struct session *session, uint64_t offset, uint64_t bytes);

/*
 * session_populate - allocate the memory of all rings and ask the kernel for the process's names. From then on recording
 * makes no system call, in this process and in forked ones. A record that would need one counts as lost: one in a ring
 * that was enlarged later, and names of more threads than the names ring has room for.
 * Context: before the first record. Return: 0; -ENOMEM: records that need missing memory will be lost.
 */
int session_populate(struct session *session);

/* session_ask_beforehand - the part of it that asks for names. Return: false: no memory. */
bool session_ask_beforehand(void);

enum {
	SESSION_THREAD_NAME = 16, /* bytes, with the NUL */
};

/*
 * session_thread_name - the kernel's name of the calling thread; after session_ask_beforehand(), which promises that there are no system
 * calls, the name that the process had then.
 * session_program_name - the last part of the path of the process's executable file. @room: at most WIRE_NAME_TEXT_MAX + 1 are needed
 * Context: any thread, signal handlers.
 */
void session_thread_name(char name[SESSION_THREAD_NAME]);
void session_program_name(char *name, size_t room);

/* An event to be registered; the strings live at least as long as the call. */
struct session_event {
	const char *name;
	const char *format;
	const char *file;
	const char *enums; /* that the format refers to (wire/wire_enum.h); NULL: none */
	uint64_t types;
	uint32_t line;
	uint8_t kind;
	uint8_t level;
};

/*
 * session_event_register - find or add events.
 * @ids: receives one id for each; 0: refused (the format is not valid, or the name has another format, types or kind) or
 * the table is full
 *
 * Context: a thread, not a signal handler: waits up to a second for other processes that register or switch.
 * Return: 0; -ETIMEDOUT or -ENOMEM: nothing was registered.
 */
SESSION_SHARED int session_event_register(struct session *session, const struct session_event *events,
					  unsigned count, uint16_t *ids);

/* session_event_is_taken - whether another event has the name of an event. Context: as session_event_register(). */
SESSION_SHARED bool session_event_is_taken(struct session *session, const struct session_event *event);

/* session_event_fault - the reason why an event got no id. */
const char *session_event_fault(const struct session *session, const struct session_event *event);

/*
 * Switching. A transaction changes several events. It is first written into the journal, then carried out. A listing
 * shows it as one change. If its process dies, the next process that takes the lock completes it, or it does not happen
 * at all. To tracepoints each event changes by itself. The transaction becomes an entry of the session's history.
 */

/*
 * session_change_begin - begin a transaction. End it by session_change_commit() or session_change_cancel().
 * Context: a thread, not a signal handler. Return: 0; -ETIMEDOUT: other processes have held the lock for a second.
 * session_change_commit - carry it out.
 * Return: 0; of the kernel's session only: -EAGAIN: it has changed since the begin; another -errno. Then nothing has changed.
 */
int session_change_begin(struct session *session);
int session_change_commit(struct session *session);
void session_change_cancel(struct session *session);

/*
 * session_change - set the desired state of event `id`.
 * @condition: NULL, or its condition for WIRE_CONDITIONAL: filter, sample and limit are used
 * Return: 0; -ENOSPC: there is no memory for it.
 */
int session_change(struct session *session, uint16_t id, enum wire_switch desired,
		   const struct wire_condition *condition);

/* session_change_paused - pause: switch everything off; or resume: restore the desired states. */
void session_change_paused(struct session *session, bool paused);

/* session_change_size - set the size of each ring of records; the ring's window has that many packets. */
void session_change_size(struct session *session, uint32_t packets);

/* The state of events that register later. */
struct session_rule {
	enum wire_switch state; /* WIRE_OFF, WIRE_ON or WIRE_CONDITIONAL */
	unsigned level;		/* the highest that is switched on */
	uint32_t sample, limit; /* of WIRE_CONDITIONAL, as in struct wire_condition */
	const char *where;	/* the expression of its filter; "": none */
};

/*
 * session_change_rule - set the state of events that register later.
 * @rule: NULL: remove the rule for this glob
 * Return: 0; -ENOSPC: there is no room for another rule.
 */
int session_change_rule(struct session *session, const char *glob, const struct session_rule *rule);

/* session_change_conditions_text - append a rule's conditions to the text of this change in the history. */
void session_change_conditions_text(struct session *session, const struct session_rule *rule);

/*
 * session_rules_match - the rule that decides an event's state; WIRE_OFF if there is none, or if its level is too low.
 * session_rule_find - the rule for a glob. Return: whether there is one.
 * @rules: WIRE_RULES_MAX bytes, the last of them 0; *out points into them
 */
void session_rules_match(const char *rules, const char *name, unsigned level, struct session_rule *out);
bool session_rule_find(const char *rules, const char *glob, struct session_rule *out);

/*
 * session_filter_add - add a filter program to the session, unless it is already there.
 * @bytes: of the program, a multiple of 64
 * Return: its offset; 0: there is no room.
 */
uint32_t session_filter_add(struct session *session, const void *program, uint32_t bytes);

/*
 * session_switch_glob - switch all events that match, also those that register later.
 * @desired: WIRE_ON or WIRE_OFF
 * @matched: receives the number of registered events that match
 * Context: as session_change_begin(). Return: 0, -ETIMEDOUT or -ENOSPC.
 */
int session_switch_glob(struct session *session, const char *glob, enum wire_switch desired, unsigned level,
			unsigned *matched);

/*
 * session_event_copy - copy a string of the event table, which another process may be changing.
 * @room: of @out, with the NUL
 * Return: whether it lies in the text and fits; otherwise @out is "".
 */
bool session_event_copy(const struct session *session, uint32_t offset, char *out, size_t room);

/*
 * session_event_text - a string of the event table, or "?" if its offset is not valid.
 * Context: only for the kernel's session, which no process writes: elsewhere the string may lose its end while it is read.
 */
const char *session_event_text(const struct session *session, uint32_t offset);

/* session_event_count - entries of the event table. */
uint32_t session_event_count(const struct session *session);

/*
 * session_write_record - append a record with prepared headers to this CPU's ring, or to a locked one. Losses are
 * counted in the ring.
 * @tid: the calling thread
 * @locked: only to a locked one: the kernel does not know the calling thread's rseq area
 * Context: any thread, signal handlers.
 */
void session_write_record(struct session *session, struct ring_record record, uint32_t tid, bool locked);

/*
 * session_append_name - append a record to the names ring; wait a moment if other writers hold its lock.
 * @self: the calling thread
 * Context, return: as session_announce_process().
 */
enum ring_result session_append_name(struct session *session, struct ring_record record, uint32_t self);

/*
 * session_announce_process, session_announce_thread - write a names record.
 * @pid: the calling process
 * @self: the calling thread
 * @tid: the announced thread
 * @name: its name; NULL: that of the calling thread
 * @since: the time of the name, ticks; 0: now
 *
 * Context: any thread, signal handlers.
 * Return: RING_DONE; RING_BUSY: try again later; RING_FULL: in a recorder's session try again later, since the recorder
 * makes room; in a program's own session the name is lost.
 */
enum ring_result session_announce_process(struct session *session, uint32_t pid, uint32_t self);
enum ring_result session_announce_thread(struct session *session, uint32_t pid, uint32_t self, uint32_t tid,
					 const char *name, uint64_t since);

/* session_announce_guest - the same for a process of a guest, which the kernel does not know. @program: its name */
enum ring_result session_announce_guest(struct session *session, uint32_t pid, const char *program,
					uint32_t self, uint64_t since);

#endif
