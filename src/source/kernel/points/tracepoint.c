/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A tracepoint of the kernel; see tracepoint.h.
 *
 * The description of a tracepoint is a text of tracefs, and the only source: names and offsets of fields are not
 * built in, since they differ between kernels. A field whose kind is not known, or whose place a program could not
 * read, is TRACEPOINT_OTHER: it is not recorded, and the others are.
 *
 * Fields that the kernel does not have come behind its own: memory that arguments point to, lists, numbers. Their
 * order is fixed by adapt_syscall(), and tracepoint_arguments() finds the kernel's by taking them off again. The
 * programs and kernel_raw.c write the fields in this order, so it is part of the record's form.
 *
 * An event has 64 bits for its types, and a format of limited length. tracepoint_make_event() takes the fields in
 * order, and leaves out one that has no room; `recorded` says which are in. Each use of a record's layout must ask
 * it.
 *
 * The tables of system calls (socket_calls, memory_calls) say what an argument points to. They hold for the 64-bit
 * interface of Linux, whose structures do not change. A size is the most that is copied: the process may have less
 * there, and then the array is empty.
 */
#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "source/kernel/points/tracepoint.h"

enum {
	TRACEPOINT_COMMON =
		8, /* bytes at the record's begin that all tracepoints have; BPF programs cannot read them */
	TRACEPOINT_END = 8192, /* the largest record of the kernel */
};

static const char field_word[] = "field:", dynamic_word[] = "__data_loc ", enter_word[] = "sys_enter_",
		  exit_word[] = "sys_exit_";

const char *tracepoint_syscall(const struct tracepoint *point, bool *enters)
{
	if (strcmp(point->system, TRACEPOINT_SYSCALLS) != 0)
		return NULL;
	if (point->is_late)
		return NULL;
	*enters = strncmp(point->name, enter_word, sizeof(enter_word) - 1) == 0;
	if (*enters)
		return point->name + sizeof(enter_word) - 1;
	return strncmp(point->name, exit_word, sizeof(exit_word) - 1) == 0
		       ? point->name + sizeof(exit_word) - 1
		       : NULL;
}

const struct tracepoint_field *tracepoint_field(const struct tracepoint *point, const char *name)
{
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].recorded && strcmp(point->fields[n].name, name) == 0)
			return &point->fields[n];
	return NULL;
}

static bool has_kind(const struct tracepoint *point, enum tracepoint_kind kind)
{
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].kind == kind)
			return true;
	return false;
}

bool tracepoint_has_calls(const struct tracepoint *point)
{
	return has_kind(point, TRACEPOINT_CALL);
}

bool tracepoint_needs_registers(const struct tracepoint *point)
{
	return has_kind(point, TRACEPOINT_CALL) || has_kind(point, TRACEPOINT_INTERRUPT);
}

/* ---- one line: `	field:TYPE NAME[N];	offset:N;	size:N;	signed:N;` */

/* The number behind a word; @found is cleared if there is none. */
static unsigned number_behind(const char *line, const char *word, bool *found)
{
	const char *at = strstr(line, word);
	unsigned long value;

	if (!at) {
		*found = false;
		return 0;
	}
	value = strtoul(at + strlen(word), NULL, 10);
	*found &= value < TRACEPOINT_END;
	return (unsigned)value;
}

static bool tracepoint_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool tracepoint_copy_word(char *out, const char *from, const char *to)
{
	if (to <= from || to - from >= TRACEPOINT_NAME)
		return false;
	memcpy(out, from, (size_t)(to - from));
	out[to - from] = 0;
	return true;
}

/* Split `TYPE NAME[N]`. @end: behind it. Return: the elements; 0: it is no array; -1: it is not a declaration. */
static int tracepoint_split(struct tracepoint_field *field, const char *text, const char *end)
{
	const char *bracket = end, *name;
	int count = 0;

	if (end > text && end[-1] == ']') {
		bracket = memrchr(text, '[', (size_t)(end - text));
		if (!bracket)
			return -1;
		count = isdigit((unsigned char)bracket[1]) ? (int)strtoul(bracket + 1, NULL, 10) : 1;
	}
	for (name = bracket; name > text && tracepoint_is_word(name[-1]);)
		name--;
	if (!tracepoint_copy_word(field->name, name, bracket))
		return -1;
	while (name > text && name[-1] == ' ')
		name--;
	return tracepoint_copy_word(field->type, text, name) ? count : -1;
}

static bool tracepoint_is_whole(unsigned bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool is_chars(const char *type)
{
	return strcmp(type, "char") == 0 || strcmp(type, "const char") == 0;
}

static void choose_kind(struct tracepoint_field *field, int count)
{
	const char *type = field->type;

	if (strncmp(type, dynamic_word, sizeof(dynamic_word) - 1) == 0) {
		if (strcmp(type + sizeof(dynamic_word) - 1, "char[]") == 0 && field->size == 4)
			field->kind = TRACEPOINT_TEXT;
	} else if (count > 0 && is_chars(type)) {
		field->kind = field->size && field->size <= TRACEPOINT_TEXT_MAX ? TRACEPOINT_CHARS
										: TRACEPOINT_OTHER;
	} else if (count > 0) {
		field->element = (uint16_t)(field->size / (unsigned)count);
		if (tracepoint_is_whole(field->element) && field->element * (unsigned)count == field->size &&
		    field->size <= TRACEPOINT_ARRAY_MAX && !strchr(type, '*') && !strstr(type, "struct "))
			field->kind = TRACEPOINT_ARRAY;
	} else if (strchr(type, '*')) {
		field->kind = field->size == 8 ? TRACEPOINT_POINTER : TRACEPOINT_OTHER;
	} else if (tracepoint_is_whole(field->size) && strncmp(type, "struct ", 7) != 0 &&
		   strncmp(type, "union ", 6) != 0 && strncmp(type, "__rel_loc ", 10) != 0) {
		field->kind = TRACEPOINT_INTEGER;
	}
	/* A program of the kernel reads aligned numbers only. */
	if ((field->kind == TRACEPOINT_INTEGER || field->kind == TRACEPOINT_POINTER) &&
	    field->offset % field->size)
		field->kind = TRACEPOINT_OTHER;
	if (field->kind == TRACEPOINT_ARRAY && field->offset % field->element)
		field->kind = TRACEPOINT_OTHER;
}

static bool tracepoint_parse_line(struct tracepoint *out, const char *line)
{
	struct tracepoint_field *field = &out->fields[out->count];
	const char *text = strstr(line, field_word), *end = text ? strchr(text, ';') : NULL;
	bool good = end != NULL;
	int count;

	if (!good || out->count == TRACEPOINT_FIELDS)
		return false;
	*field = (struct tracepoint_field){ .name = "" };
	count = tracepoint_split(field, text + sizeof(field_word) - 1, end);
	field->offset = (uint16_t)number_behind(end, "offset:", &good);
	field->size = (uint16_t)number_behind(end, "size:", &good);
	field->is_signed = number_behind(end, "signed:", &good) != 0;
	if (!good || count < 0 || field->offset + field->size > TRACEPOINT_END)
		return false;
	if (field->offset < TRACEPOINT_COMMON)
		return true;
	choose_kind(field, count);
	field->bytes = (uint8_t)(field->kind == TRACEPOINT_INTEGER ? field->size : 8);
	out->count++;
	return true;
}

/* ---- system calls: each argument is a register of 8 bytes */

/* Whether C passes this type in 32 bits. */
static bool is_int(const char *type, bool *is_signed)
{
	static const struct {
		const char *name;
		bool is_signed;
	} types[] = {
		{ "int", true },       { "unsigned int", false },   { "unsigned", false },
		{ "u32", false },      { "__u32", false },	    { "s32", true },
		{ "__s32", true },     { "umode_t", false },	    { "mode_t", false },
		{ "pid_t", true },     { "uid_t", false },	    { "gid_t", false },
		{ "key_t", true },     { "key_serial_t", true },    { "mqd_t", true },
		{ "timer_t", true },   { "const clockid_t", true }, { "clockid_t", true },
		{ "qid_t", false },    { "rwf_t", true },	    { "enum landlock_rule_type", false },
		{ "const int", true }, { "unsigned short", false },
	};

	for (unsigned n = 0; n < sizeof(types) / sizeof(types[0]); n++) {
		if (strcmp(type, types[n].name) == 0) {
			*is_signed = types[n].is_signed;
			return true;
		}
	}
	return false;
}

/* System calls whose record has bytes of whose length the next argument decides: a socket's address, or an option's value. */
static const struct {
	const char *name;
	enum tracepoint_socket socket;
} socket_calls[] = {
	{ "sys_enter_bind", TRACEPOINT_SOCKET_SECOND },
	{ "sys_enter_connect", TRACEPOINT_SOCKET_SECOND },
	{ "sys_enter_sendto", TRACEPOINT_SOCKET_FIFTH },
	{ "sys_enter_sendmsg", TRACEPOINT_SOCKET_MESSAGE },
	{ "sys_exit_accept", TRACEPOINT_SOCKET_SECOND },
	{ "sys_exit_accept4", TRACEPOINT_SOCKET_SECOND },
	{ "sys_exit_getsockname", TRACEPOINT_SOCKET_SECOND },
	{ "sys_exit_getpeername", TRACEPOINT_SOCKET_SECOND },
	{ "sys_exit_getsockopt", TRACEPOINT_SOCKET_FOURTH },
	{ "sys_exit_recvfrom", TRACEPOINT_SOCKET_FIFTH },
	{ "sys_exit_recvmsg", TRACEPOINT_SOCKET_MESSAGE },
};

enum {
	SOCKET_CALLS = sizeof(socket_calls) / sizeof(socket_calls[0]),
};

static unsigned find_socket_call(const char *name)
{
	unsigned n = 0;

	while (n < SOCKET_CALLS && strcmp(name, socket_calls[n].name) != 0)
		n++;
	return n;
}

enum {
	STAT_BYTES = 56,   /* of struct stat: up to the size */
	STATX_BYTES = 48,  /* the same of struct statx */
	STATFS_BYTES = 88, /* struct statfs up to the flags */
	SYSINFO_BYTES = 108,
	ACTION_BYTES = 32, /* the kernel's struct sigaction */
	LOCK_BYTES = 28,   /* struct flock up to the process */
	NAME_BYTES = 16,   /* of a thread */
	TIMES_SECOND = TRACEPOINT_TIMES_ARGUMENT + 1,
	TIMES_THIRD = TRACEPOINT_TIMES_ARGUMENT + 2,
	TIMES_FIFTH = TRACEPOINT_TIMES_ARGUMENT + 4,
	IF_FUTEX_WAITS = TRACEPOINT_TIMES_IF,
	IF_LOCK_IS_SET,
	IF_LOCK_IS_READ,
	IF_NAME_IS_SET,
	IF_NAME_IS_READ,
};

#define VALUE(n) (UINT64_C(1) << (n))

const struct tracepoint_condition tracepoint_conditions[TRACEPOINT_CONDITIONS] = {
	[IF_FUTEX_WAITS -
	 TRACEPOINT_TIMES_IF] = { 1, (uint32_t)FUTEX_CMD_MASK,
				  VALUE(FUTEX_WAIT) | VALUE(FUTEX_LOCK_PI) | VALUE(FUTEX_WAIT_BITSET) |
					  VALUE(FUTEX_WAIT_REQUEUE_PI) | VALUE(FUTEX_LOCK_PI2) },
	[IF_LOCK_IS_SET - TRACEPOINT_TIMES_IF] = { 1, UINT32_MAX,
						   VALUE(F_SETLK) | VALUE(F_SETLKW) | VALUE(F_OFD_SETLK) |
							   VALUE(F_OFD_SETLKW) },
	[IF_LOCK_IS_READ - TRACEPOINT_TIMES_IF] = { 1, UINT32_MAX, VALUE(F_GETLK) | VALUE(F_OFD_GETLK) },
	[IF_NAME_IS_SET - TRACEPOINT_TIMES_IF] = { 0, UINT32_MAX, VALUE(PR_SET_NAME) },
	[IF_NAME_IS_READ - TRACEPOINT_TIMES_IF] = { 0, UINT32_MAX, VALUE(PR_GET_NAME) },
};

/* Of struct termios, the flags. */
const struct tracepoint_command tracepoint_commands[] = {
	{ TCGETS, 16, true },	 { TCSETS, 16, false },	   { TCSETSW, 16, false },   { TCSETSF, 16, false },
	{ TIOCGWINSZ, 8, true }, { TIOCSWINSZ, 8, false }, { TIOCGPGRP, 4, true },   { TIOCSPGRP, 4, false },
	{ TIOCGSID, 4, true },	 { TIOCGPTN, 4, true },	   { TIOCSPTLCK, 4, false }, { TIOCOUTQ, 4, true },
	{ FIONREAD, 4, true },	 { FIONBIO, 4, false },	   { FIOASYNC, 4, false },
};
const unsigned tracepoint_command_count = sizeof(tracepoint_commands) / sizeof(tracepoint_commands[0]);

static_assert(sizeof(tracepoint_commands) / sizeof(tracepoint_commands[0]) <= KERNEL_COMMANDS,
	      "commands have room");

/* Three sets of descriptors, and a time. */
#define SET_LINES(name)                                                               \
	{ name, 1, 1, TRACEPOINT_TIMES_BITS }, { name, 2, 1, TRACEPOINT_TIMES_BITS }, \
		{ name, 3, 1, TRACEPOINT_TIMES_BITS },                                \
	{                                                                             \
		name, 4, 16, 0                                                        \
	}

/* System calls whose record has what an argument points to; at the exit, if there was no error. Further lines of a call are further pieces. */
static const struct memory_call {
	const char *name;
	uint8_t argument, bytes, times;
} memory_calls[] = {
	{ "sys_exit_newstat", 1, STAT_BYTES, 0 },
	{ "sys_exit_newlstat", 1, STAT_BYTES, 0 },
	{ "sys_exit_newfstat", 1, STAT_BYTES, 0 },
	{ "sys_exit_newfstatat", 2, STAT_BYTES, 0 },
	{ "sys_exit_statx", 4, STATX_BYTES, 0 },
	{ "sys_exit_statfs", 1, STATFS_BYTES, 0 },
	{ "sys_exit_fstatfs", 1, STATFS_BYTES, 0 },
	{ "sys_exit_sysinfo", 0, SYSINFO_BYTES, 0 },
	{ "sys_exit_getrusage", 1, 32, 0 },
	{ "sys_exit_gettimeofday", 0, 16, 0 },
	{ "sys_exit_clock_gettime", 1, 16, 0 },
	{ "sys_exit_clock_getres", 1, 16, 0 },
	{ "sys_enter_setitimer", 1, 32, 0 },
	{ "sys_exit_setitimer", 2, 32, 0 },
	{ "sys_exit_getitimer", 1, 32, 0 },
	{ "sys_enter_timerfd_settime", 2, 32, 0 },
	{ "sys_exit_timerfd_settime", 3, 32, 0 },
	{ "sys_exit_timerfd_gettime", 1, 32, 0 },
	{ "sys_enter_timer_settime", 2, 32, 0 },
	{ "sys_exit_timer_settime", 3, 32, 0 },
	{ "sys_exit_timer_gettime", 1, 32, 0 },
	{ "sys_enter_clock_settime", 1, 16, 0 },
	{ "sys_exit_sched_rr_get_interval", 1, 16, 0 },
	{ "sys_enter_sched_setscheduler", 2, 4, 0 },
	{ "sys_enter_sched_setparam", 1, 4, 0 },
	{ "sys_exit_sched_getparam", 1, 4, 0 },
	{ "sys_enter_sched_setaffinity", 2, 1, TIMES_SECOND },
	{ "sys_exit_sched_getaffinity", 2, 1, TRACEPOINT_TIMES_RESULT },
	{ "sys_enter_setsockopt", 3, 1, TIMES_FIFTH },
	{ "sys_enter_epoll_ctl", 3, sizeof(struct epoll_event), 0 },
	{ "sys_exit_epoll_wait", 1, sizeof(struct epoll_event), TRACEPOINT_TIMES_RESULT },
	{ "sys_exit_epoll_pwait", 1, sizeof(struct epoll_event), TRACEPOINT_TIMES_RESULT },
	{ "sys_exit_epoll_pwait2", 1, sizeof(struct epoll_event), TRACEPOINT_TIMES_RESULT },
	{ "sys_enter_readv", 1, sizeof(struct iovec), TIMES_THIRD },
	{ "sys_enter_preadv", 1, sizeof(struct iovec), TIMES_THIRD },
	{ "sys_enter_utimensat", 2, 32, 0 },
	{ "sys_enter_clone3", 0, 1, TIMES_SECOND },
	{ "sys_enter_sigaltstack", 0, 24, 0 },
	{ "sys_exit_sigaltstack", 1, 24, 0 },
	{ "sys_enter_rt_sigaction", 1, ACTION_BYTES, 0 },
	{ "sys_exit_rt_sigaction", 2, ACTION_BYTES, 0 },
	{ "sys_enter_rt_sigprocmask", 1, 8, 0 },
	{ "sys_exit_rt_sigprocmask", 2, 8, 0 },
	{ "sys_enter_sendmsg", 1, TRACEPOINT_MESSAGE_HEAD, 0 }, /* and more: kernel_message_c.h */
	{ "sys_enter_sendmsg", 1, 1, 0 },			/* its control messages */
	{ "sys_exit_recvmsg", 1, TRACEPOINT_MESSAGE_HEAD, 0 },
	{ "sys_exit_recvmsg", 1, 1, 0 },
	{ "sys_exit_wait4", 1, 4, 0 },
	{ "sys_enter_prlimit64", 2, 16, 0 },
	{ "sys_exit_prlimit64", 3, 16, 0 },
	{ "sys_enter_setrlimit", 1, 16, 0 },
	{ "sys_exit_getrlimit", 1, 16, 0 },
	{ "sys_exit_pipe", 0, 8, 0 },
	{ "sys_exit_pipe2", 0, 8, 0 },
	{ "sys_exit_socketpair", 3, 8, 0 },
	{ "sys_enter_futex", 3, 16, IF_FUTEX_WAITS },
	{ "sys_enter_fcntl", 2, LOCK_BYTES, IF_LOCK_IS_SET },
	{ "sys_exit_fcntl", 2, LOCK_BYTES, IF_LOCK_IS_READ },
	{ "sys_enter_prctl", 1, NAME_BYTES, IF_NAME_IS_SET },
	{ "sys_exit_prctl", 1, NAME_BYTES, IF_NAME_IS_READ },
	{ "sys_enter_nanosleep", 0, 16, 0 },
	{ "sys_exit_nanosleep", 1, 16, TRACEPOINT_TIMES_STOPPED },
	{ "sys_enter_clock_nanosleep", 2, 16, 0 },
	{ "sys_exit_clock_nanosleep", 3, 16, TRACEPOINT_TIMES_STOPPED },
	{ "sys_enter_rt_sigtimedwait", 0, 8, 0 },
	{ "sys_enter_rt_sigtimedwait", 2, 16, 0 },
	{ "sys_enter_semtimedop", 3, 16, 0 },
	{ "sys_enter_mq_timedsend", 4, 16, 0 },
	{ "sys_enter_mq_timedreceive", 4, 16, 0 },
	{ "sys_enter_io_getevents", 4, 16, 0 },
	{ "sys_enter_io_pgetevents", 4, 16, 0 },
	{ "sys_enter_epoll_pwait2", 3, 16, 0 },
	{ "sys_enter_recvmmsg", 4, 16, 0 },
	{ "sys_exit_newuname", 0, TRACEPOINT_SOCKET_MAX, 0 },
	{ "sys_exit_readlink", 1, 1, TRACEPOINT_TIMES_RESULT },
	{ "sys_exit_readlinkat", 2, 1, TRACEPOINT_TIMES_RESULT },
	{ "sys_exit_getcwd", 0, 1, TRACEPOINT_TIMES_RESULT },
	{ "sys_enter_poll", 0, 8, TIMES_SECOND },
	{ "sys_exit_poll", 0, 8, TIMES_SECOND },
	{ "sys_enter_ppoll", 0, 8, TIMES_SECOND },
	{ "sys_enter_ppoll", 2, 16, 0 },
	{ "sys_exit_ppoll", 0, 8, TIMES_SECOND },
	{ "sys_exit_ppoll", 2, 16, 0 },
	SET_LINES("sys_enter_select"),
	SET_LINES("sys_exit_select"),
	SET_LINES("sys_enter_pselect6"),
	SET_LINES("sys_exit_pselect6"),
	{ "sys_enter_ioctl", 2, 1, TRACEPOINT_TIMES_COMMAND },
	{ "sys_exit_ioctl", 2, 1, TRACEPOINT_TIMES_COMMAND },
};

enum {
	MEMORY_CALLS = sizeof(memory_calls) / sizeof(memory_calls[0]),
};

/* The next piece of memory of a call. @n: line to begin at. Return: MEMORY_CALLS: there is none. */
static unsigned find_memory_call(unsigned n, const char *name)
{
	while (n < MEMORY_CALLS && strcmp(name, memory_calls[n].name) != 0)
		n++;
	return n;
}

bool tracepoint_has_memory(const char *name)
{
	return find_socket_call(name) < SOCKET_CALLS || find_memory_call(0, name) < MEMORY_CALLS;
}

static void add_memory(struct tracepoint *point)
{
	unsigned n = find_memory_call(0, point->name);

	for (unsigned piece = 1; n < MEMORY_CALLS && point->count < TRACEPOINT_FIELDS; piece++) {
		struct tracepoint_field *field = &point->fields[point->count++];

		*field = (struct tracepoint_field){ .name = "memory",
						    .type = "unsigned char[]",
						    .kind = TRACEPOINT_POINTED,
						    .size = memory_calls[n].bytes,
						    .list = memory_calls[n].argument,
						    .times = memory_calls[n].times,
						    .element = 1 };
		if (piece > 1)
			snprintf(field->name, sizeof(field->name), "memory%u", piece);
		n = find_memory_call(n + 1, point->name);
	}
}

/* The fields are behind the kernel's. sendto has what it sends behind the address. */
static void add_socket(struct tracepoint *point)
{
	const unsigned call = find_socket_call(point->name);
	struct tracepoint_field *field = &point->fields[point->count];

	if (call == SOCKET_CALLS || point->count == TRACEPOINT_FIELDS)
		return;
	*field = (struct tracepoint_field){ .type = "unsigned char[]",
					    .kind = TRACEPOINT_SOCKET,
					    .size = TRACEPOINT_SOCKET_MAX,
					    .socket = (uint8_t)socket_calls[call].socket,
					    .element = 1 };
	snprintf(field->name, sizeof(field->name), "%s",
		 field->socket == TRACEPOINT_SOCKET_FOURTH ? "memory" : "sockaddr");
	point->count++;
	if (strcmp(point->name, "sys_enter_sendto") == 0 && point->count < TRACEPOINT_FIELDS)
		point->fields[point->count++] = (struct tracepoint_field){
			.name = "data", .type = "unsigned char[]", .kind = TRACEPOINT_POINTED, .element = 1
		};
}

static void add_vectors(struct tracepoint *point)
{
	static const char *const names[] = { "sys_enter_writev", "sys_enter_pwritev", "sys_enter_pwritev2" };

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(point->name, names[n]) == 0 && point->count < TRACEPOINT_FIELDS)
			point->fields[point->count++] = (struct tracepoint_field){ .name = "vectors",
										   .type = "unsigned char[]",
										   .kind = TRACEPOINT_VECTORS,
										   .element = 1 };
}

/* An exec has the texts of its arguments, behind the kernel's fields. */
static void add_list(struct tracepoint *point)
{
	static const struct {
		const char *name;
		uint8_t list;
	} calls[] = { { "sys_enter_execve", 1 }, { "sys_enter_execveat", 2 } };
	static const struct tracepoint_field fields[] = {
		{ .name = "argc",
		  .type = "int",
		  .kind = TRACEPOINT_LIST_COUNT,
		  .is_signed = true,
		  .bytes = 4 },
		{ .name = "vars",
		  .type = "int",
		  .kind = TRACEPOINT_LIST_COUNT,
		  .is_signed = true,
		  .bytes = 4 },
		{ .name = "args", .type = "char[]", .kind = TRACEPOINT_LIST, .element = 1 },
	};

	for (unsigned n = 0; n < sizeof(calls) / sizeof(calls[0]); n++) {
		if (strcmp(point->name, calls[n].name) != 0 ||
		    point->count + sizeof(fields) / sizeof(fields[0]) > TRACEPOINT_FIELDS)
			continue;
		memcpy(&point->fields[point->count], fields, sizeof(fields));
		point->count += sizeof(fields) / sizeof(fields[0]);
		point->fields[point->count - 1].list = calls[n].list;
	}
}

/* Remove the number of the call, which the name implies, and give arguments their types. */
static void adapt_syscall(struct tracepoint *point)
{
	bool enters;
	unsigned kept = 0;

	if (!tracepoint_syscall(point, &enters))
		return;
	for (unsigned n = 0; n < point->count; n++) {
		struct tracepoint_field *field = &point->fields[n];

		/* From Linux 6.19 on, also copies of texts behind the arguments: they are no registers. */
		if (field->offset == TRACEPOINT_COMMON || strncmp(field->name, "__", 2) == 0)
			continue;
		if (field->kind == TRACEPOINT_POINTER && strcmp(field->type, "const char *") == 0)
			field->kind = TRACEPOINT_USER_TEXT;
		else if (field->kind == TRACEPOINT_INTEGER && enters &&
			 is_int(field->type, &field->is_signed))
			field->bytes = 4;
		point->fields[kept++] = *field;
	}
	point->count = kept;
	add_socket(point);
	add_list(point);
	add_vectors(point);
	add_memory(point);
}

/*
 * The kernel's records lack in which call a thread goes to sleep, and whether the current thread wakes another one or was
 * interrupted.
 */
static void tracepoint_add_field(struct tracepoint *point)
{
	static const struct {
		const char *name;
		struct tracepoint_field field;
	} more[] = {
		{ "sched_switch",
		  { .name = "prev_syscall",
		    .type = "short",
		    .kind = TRACEPOINT_CALL,
		    .is_signed = true,
		    .bytes = 2 } },
		{ "sched_waking",
		  { .name = "interrupt",
		    .type = "char",
		    .kind = TRACEPOINT_INTERRUPT,
		    .is_signed = true,
		    .bytes = 1 } },
	};

	for (unsigned n = 0; n < sizeof(more) / sizeof(more[0]); n++)
		if (strcmp(point->system, "sched") == 0 && strcmp(point->name, more[n].name) == 0 &&
		    point->count < TRACEPOINT_FIELDS)
			point->fields[point->count++] = more[n].field;
}

/* ---- the event */

static unsigned integer_type(unsigned bytes, bool is_signed)
{
	const unsigned power = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;

	return (is_signed ? WIRE_I8 : WIRE_U8) + power;
}

static bool has_elements(const struct tracepoint_field *field)
{
	return field->kind == TRACEPOINT_ARRAY || field->kind == TRACEPOINT_SOCKET ||
	       field->kind == TRACEPOINT_LIST || field->kind == TRACEPOINT_POINTED ||
	       field->kind == TRACEPOINT_VECTORS;
}

/* The type of a field in the list of types, with 4 bits or, of an array, 8. */
static unsigned tracepoint_type_of(const struct tracepoint_field *field, unsigned *bits)
{
	*bits = has_elements(field) ? 8 : 4;
	switch (field->kind) {
	case TRACEPOINT_INTEGER:
	case TRACEPOINT_CALL:
	case TRACEPOINT_INTERRUPT:
	case TRACEPOINT_ELAPSED:
	case TRACEPOINT_CALL_NUMBER:
	case TRACEPOINT_LIST_COUNT:
		return integer_type(field->bytes, field->is_signed);
	case TRACEPOINT_POINTER:
		return WIRE_PTR;
	case TRACEPOINT_ARRAY:
	case TRACEPOINT_SOCKET:
	case TRACEPOINT_LIST:
	case TRACEPOINT_POINTED:
	case TRACEPOINT_VECTORS:
		return integer_type(field->element, field->is_signed) << 4;
	default:
		return WIRE_STR;
	}
}

static const char *conversion_of(const struct tracepoint_field *field)
{
	static const char *const numbers[2][4] = { { "%hhu", "%hu", "%u", "%llu" },
						   { "%hhd", "%hd", "%d", "%lld" } };
	const unsigned bytes = has_elements(field) ? field->element : field->bytes;

	if (field->kind == TRACEPOINT_CALL)
		return "%hd{" TRACEPOINT_CALLS "}";
	if (field->kind == TRACEPOINT_POINTER)
		return "%p";
	if (field->kind != TRACEPOINT_INTEGER && !has_elements(field) &&
	    field->kind != TRACEPOINT_INTERRUPT && field->kind != TRACEPOINT_ELAPSED &&
	    field->kind != TRACEPOINT_CALL_NUMBER && field->kind != TRACEPOINT_LIST_COUNT)
		return "%s";
	return numbers[field->is_signed][bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0];
}

void tracepoint_make_event(struct tracepoint *point)
{
	unsigned at = 0, used = 0;

	point->types = 0;
	point->format[0] = 0;
	used = (unsigned)snprintf(point->event, sizeof(point->event),
				  TRACEPOINT_PREFIX "%.56s:", point->system);
	snprintf(point->event + used, sizeof(point->event) - used, "%.*s",
		 (int)(sizeof(point->event) - used - 1), point->name);
	used = 0;
	for (unsigned n = 0; n < point->count; n++) {
		struct tracepoint_field *field = &point->fields[n];
		char conversion[TRACEPOINT_NAME + 16];
		size_t bytes;
		unsigned bits;
		const uint64_t type = tracepoint_type_of(field, &bits);

		snprintf(conversion, sizeof(conversion), field->labelled ? "%s{%s}" : "%s",
			 conversion_of(field), field->name);
		bytes = strlen(field->name) + strlen(conversion) + 3;
		field->recorded = false;
		if (field->kind == TRACEPOINT_OTHER || at + bits > 64 || used + bytes > sizeof(point->format))
			continue;
		field->recorded = true;
		point->types |= type << at;
		at += bits;
		used += (unsigned)snprintf(point->format + used, sizeof(point->format) - used, "%s%s=%s",
					   used ? " " : "", field->name, conversion);
	}
}

/* Whether it is read in the process's memory, behind the arguments. */
static bool is_of_memory(const struct tracepoint_field *field)
{
	return field->kind == TRACEPOINT_SOCKET || field->kind == TRACEPOINT_LIST ||
	       field->kind == TRACEPOINT_LIST_COUNT || field->kind == TRACEPOINT_POINTED ||
	       field->kind == TRACEPOINT_VECTORS;
}

bool tracepoint_without_texts(struct tracepoint *point)
{
	const unsigned count = point->count;
	const bool has_text = has_kind(point, TRACEPOINT_USER_TEXT);

	while (point->count && is_of_memory(&point->fields[point->count - 1]))
		point->count--;
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].kind == TRACEPOINT_USER_TEXT)
			point->fields[n].kind = TRACEPOINT_POINTER;
	tracepoint_make_event(point);
	return point->count != count || has_text;
}

void tracepoint_copy(struct tracepoint *to, const struct tracepoint *from)
{
	memcpy(to, from, offsetof(struct tracepoint, fields[from->count]));
}

unsigned tracepoint_arguments(const struct tracepoint *point)
{
	unsigned count = point->count;

	while (count && (is_of_memory(&point->fields[count - 1]) ||
			 point->fields[count - 1].kind == TRACEPOINT_CALL_NUMBER))
		count--;
	return count;
}

bool tracepoint_late(struct tracepoint *out, const struct tracepoint *enter)
{
	if (!has_kind(enter, TRACEPOINT_USER_TEXT) && !has_kind(enter, TRACEPOINT_SOCKET))
		return false;
	tracepoint_copy(out, enter);
	snprintf(out->name, sizeof(out->name), "sys_late_%.54s", enter->name + sizeof(enter_word) - 1);
	out->is_late = true;
	memmove(&out->fields[1], &out->fields[0], out->count++ * sizeof(out->fields[0]));
	out->fields[0] = (struct tracepoint_field){
		.name = "after_ns", .type = "u64", .kind = TRACEPOINT_ELAPSED, .bytes = 8
	};
	tracepoint_make_event(out);
	return true;
}

bool tracepoint_parse(struct tracepoint *out, const char *system, const char *name, const char *text)
{
	const char *line = strstr(text, "\nID: ");

	*out = (struct tracepoint){ .id = line ? (unsigned)strtoul(line + 5, NULL, 10) : 0 };
	snprintf(out->system, sizeof(out->system), "%s", system);
	snprintf(out->name, sizeof(out->name), "%s", name);
	if (!out->id)
		return false;
	for (line = strstr(text, "\tfield:"); line; line = strstr(line + 1, "\tfield:")) {
		char copied[512];
		const size_t bytes = strcspn(line, "\n");

		snprintf(copied, sizeof(copied), "%.*s", (int)(bytes < sizeof(copied) ? bytes : 0), line);
		if (!tracepoint_parse_line(out, copied) && out->count == TRACEPOINT_FIELDS)
			break;
	}
	adapt_syscall(out);
	tracepoint_add_field(out);
	tracepoint_make_event(out);
	return true;
}
