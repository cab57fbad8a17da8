/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Structures as text; see structure_text.h. */
#include "view/syscalls/values/structure_text.h"

#include <inttypes.h>
#include <linux/sched.h>

#include "base/number.h"
#include "view/syscalls/values/word_text.h"

enum member_kind {
	MEMBER_NUMBER,
	MEMBER_WORDS, /* names: those of the call's argument that is called as the member is */
	MEMBER_MODE,
	MEMBER_SIGNED,
	MEMBER_INTEGER, /* of 4 bytes, with a sign */
	MEMBER_POINTER,
	MEMBER_HEXADECIMAL,
	MEMBER_MICRO, /* struct timeval */
	MEMBER_NANO,  /* struct timespec */
	MEMBER_FILES, /* the number of a file system, in two halves */
	MEMBER_LOADS, /* three numbers */
};

struct member {
	const char *name;
	uint8_t at, bytes;
	enum member_kind kind;
	uint64_t flags; /* it is shown only if the first member has one of these; 0: always */
};

struct structure {
	const char *call; /* whose words its members have; NULL: none has */
	uint8_t bytes;	  /* that must be there */
	bool more;	  /* there are members that are not shown */
	const struct member *members;
	unsigned count;
};

static const struct member statx_members[] = {
	{ "stx_mask", 0, 4, MEMBER_WORDS, 0 },
	{ "stx_attributes", 8, 8, MEMBER_WORDS, 0 },
	{ "stx_mode", 28, 2, MEMBER_MODE, 0 },
	{ "stx_size", 40, 8, MEMBER_NUMBER, 0 },
};

static const struct member statfs_members[] = {
	{ "f_type", 0, 8, MEMBER_WORDS, 0 },	  { "f_bsize", 8, 8, MEMBER_NUMBER, 0 },
	{ "f_blocks", 16, 8, MEMBER_NUMBER, 0 },  { "f_bfree", 24, 8, MEMBER_NUMBER, 0 },
	{ "f_bavail", 32, 8, MEMBER_NUMBER, 0 },  { "f_files", 40, 8, MEMBER_NUMBER, 0 },
	{ "f_ffree", 48, 8, MEMBER_NUMBER, 0 },	  { "f_fsid", 56, 8, MEMBER_FILES, 0 },
	{ "f_namelen", 64, 8, MEMBER_NUMBER, 0 }, { "f_frsize", 72, 8, MEMBER_NUMBER, 0 },
	{ "f_flags", 80, 8, MEMBER_WORDS, 0 },
};

static const struct member sysinfo_members[] = {
	{ "uptime", 0, 8, MEMBER_SIGNED, 0 },	  { "loads", 8, 8, MEMBER_LOADS, 0 },
	{ "totalram", 32, 8, MEMBER_NUMBER, 0 },  { "freeram", 40, 8, MEMBER_NUMBER, 0 },
	{ "sharedram", 48, 8, MEMBER_NUMBER, 0 }, { "bufferram", 56, 8, MEMBER_NUMBER, 0 },
	{ "totalswap", 64, 8, MEMBER_NUMBER, 0 }, { "freeswap", 72, 8, MEMBER_NUMBER, 0 },
	{ "procs", 80, 2, MEMBER_NUMBER, 0 },	  { "totalhigh", 88, 8, MEMBER_NUMBER, 0 },
	{ "freehigh", 96, 8, MEMBER_NUMBER, 0 },  { "mem_unit", 104, 4, MEMBER_NUMBER, 0 },
};

static const struct member time_members[] = {
	{ "tv_sec", 0, 8, MEMBER_SIGNED, 0 },
	{ "tv_nsec", 8, 8, MEMBER_NUMBER, 0 },
};

static const struct member timeval_members[] = {
	{ "tv_sec", 0, 8, MEMBER_SIGNED, 0 },
	{ "tv_usec", 8, 8, MEMBER_NUMBER, 0 },
};

static const struct member usage_members[] = {
	{ "ru_utime", 0, 16, MEMBER_MICRO, 0 },
	{ "ru_stime", 16, 16, MEMBER_MICRO, 0 },
};

static const struct member linger_members[] = {
	{ "l_onoff", 0, 4, MEMBER_INTEGER, 0 },
	{ "l_linger", 4, 4, MEMBER_INTEGER, 0 },
};

static const struct member credentials_members[] = {
	{ "pid", 0, 4, MEMBER_INTEGER, 0 },
	{ "uid", 4, 4, MEMBER_INTEGER, 0 },
	{ "gid", 8, 4, MEMBER_INTEGER, 0 },
};

static const struct member interval_members[] = {
	{ "it_interval", 0, 16, MEMBER_MICRO, 0 },
	{ "it_value", 16, 16, MEMBER_MICRO, 0 },
};

static const struct member timer_members[] = {
	{ "it_interval", 0, 16, MEMBER_NANO, 0 },
	{ "it_value", 16, 16, MEMBER_NANO, 0 },
};

static const struct member stack_members[] = {
	{ "ss_sp", 0, 8, MEMBER_POINTER, 0 },
	{ "ss_flags", 8, 4, MEMBER_WORDS, 0 },
	{ "ss_size", 16, 8, MEMBER_NUMBER, 0 },
};

static const struct member clone_members[] = {
	{ "flags", 0, 8, MEMBER_WORDS, 0 },
	{ "pidfd", 8, 8, MEMBER_POINTER, CLONE_PIDFD },
	{ "child_tid", 16, 8, MEMBER_POINTER, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID },
	{ "parent_tid", 24, 8, MEMBER_POINTER, CLONE_PARENT_SETTID },
	{ "exit_signal", 32, 8, MEMBER_WORDS, 0 },
	{ "stack", 40, 8, MEMBER_POINTER, 0 },
	{ "stack_size", 48, 8, MEMBER_HEXADECIMAL, 0 },
	{ "tls", 56, 8, MEMBER_HEXADECIMAL, CLONE_SETTLS },
};

static const struct member terminal_members[] = {
	{ "c_iflag", 0, 4, MEMBER_WORDS, 0 },
	{ "c_oflag", 4, 4, MEMBER_WORDS, 0 },
	{ "c_cflag", 8, 4, MEMBER_WORDS, 0 },
	{ "c_lflag", 12, 4, MEMBER_WORDS, 0 },
};

static const struct member window_members[] = {
	{ "ws_row", 0, 2, MEMBER_NUMBER, 0 },
	{ "ws_col", 2, 2, MEMBER_NUMBER, 0 },
	{ "ws_xpixel", 4, 2, MEMBER_NUMBER, 0 },
	{ "ws_ypixel", 6, 2, MEMBER_NUMBER, 0 },
};

static const struct member lock_members[] = {
	{ "l_type", 0, 2, MEMBER_WORDS, 0 },   { "l_whence", 2, 2, MEMBER_WORDS, 0 },
	{ "l_start", 8, 8, MEMBER_SIGNED, 0 }, { "l_len", 16, 8, MEMBER_SIGNED, 0 },
	{ "l_pid", 24, 4, MEMBER_INTEGER, 0 },
};

enum {
	MEMBER_LOCK_PID = 4, /* of lock_members */
};

#define MEMBERS(array) array, sizeof(array) / sizeof(array[0])

/* Each is the same on all machines of 64 bits. */
static const struct structure structures[MEMORY_FORMS] = {
	[MEMORY_STATX] = { "statx", 48, true, MEMBERS(statx_members) },
	[MEMORY_STATFS] = { "statfs", 88, false, MEMBERS(statfs_members) },
	[MEMORY_SYSINFO] = { NULL, 108, false, MEMBERS(sysinfo_members) },
	[MEMORY_TIME] = { NULL, 16, false, MEMBERS(time_members) },
	[MEMORY_TIMEVAL] = { NULL, 16, false, MEMBERS(timeval_members) },
	[MEMORY_USAGE] = { NULL, 32, true, MEMBERS(usage_members) },
	[MEMORY_LINGER] = { NULL, 8, false, MEMBERS(linger_members) },
	[MEMORY_CREDENTIALS] = { NULL, 12, false, MEMBERS(credentials_members) },
	[MEMORY_INTERVAL] = { NULL, 32, false, MEMBERS(interval_members) },
	[MEMORY_TIMER] = { NULL, 32, false, MEMBERS(timer_members) },
	[MEMORY_STACK] = { "sigaltstack", 24, false, MEMBERS(stack_members) },
	[MEMORY_CLONE] = { "clone3", 64, false, MEMBERS(clone_members) },
	[MEMORY_TERMINAL] = { "ioctl", 16, true, MEMBERS(terminal_members) },
	[MEMORY_LOCK] = { "fcntl", 24, false, lock_members, MEMBER_LOCK_PID },
	[MEMORY_LOCK_OF] = { "fcntl", 28, false, MEMBERS(lock_members) },
	[MEMORY_WINDOW] = { NULL, 8, false, MEMBERS(window_members) },
};

static uint64_t structure_text_number_of(const struct member *member, const uint8_t *bytes)
{
	switch (member->bytes) {
	case 2:
		return number_load16(bytes + member->at);
	case 4:
		return number_load32(bytes + member->at);
	default:
		return number_load64(bytes + member->at);
	}
}

static void put_member(const struct structure *structure, const struct syscall_machine *machine,
		       const struct member *member, const uint8_t *bytes, struct view_buffer *out)
{
	const uint64_t value = structure_text_number_of(member, bytes);

	view_buffer_print(out, "%s=", member->name);
	switch (member->kind) {
	case MEMBER_WORDS:
		word_text_member(out, machine, structure->call, member->name, value);
		break;
	case MEMBER_MODE:
		word_text_mode(out, (uint32_t)value);
		break;
	case MEMBER_SIGNED:
		view_buffer_print(out, "%" PRId64, (int64_t)value);
		break;
	case MEMBER_INTEGER:
		view_buffer_print(out, "%d", (int)value);
		break;
	case MEMBER_POINTER:
		word_text_address(out, value);
		break;
	case MEMBER_HEXADECIMAL:
		view_buffer_print(out, "%#" PRIx64, value);
		break;
	case MEMBER_MICRO:
		structure_text(MEMORY_TIMEVAL, machine, bytes + member->at, member->bytes, out);
		break;
	case MEMBER_NANO:
		structure_text(MEMORY_TIME, machine, bytes + member->at, member->bytes, out);
		break;
	case MEMBER_FILES:
		view_buffer_print(out, "{val=[%#x, %#x]}", (unsigned)value, (unsigned)(value >> 32));
		break;
	case MEMBER_LOADS:
		view_buffer_print(out, "[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", value,
				  number_load64(bytes + member->at + 8),
				  number_load64(bytes + member->at + 16));
		break;
	default:
		view_buffer_print(out, "%" PRIu64, value);
	}
}

bool structure_text(enum memory_form form, const struct syscall_machine *machine, const uint8_t *bytes,
		    size_t count, struct view_buffer *out)
{
	const struct structure *structure = &structures[form];

	if (!structure->count || count < structure->bytes || (structure->call && !machine))
		return false;
	for (unsigned n = 0; n < structure->count; n++) {
		const uint64_t flags = structure->members[n].flags;

		if (flags && !(structure_text_number_of(&structure->members[0], bytes) & flags))
			continue;
		view_buffer_print(out, n ? ", " : "{");
		put_member(structure, machine, &structure->members[n], bytes, out);
	}
	view_buffer_print(out, structure->more ? ", ...}" : "}");
	return true;
}
