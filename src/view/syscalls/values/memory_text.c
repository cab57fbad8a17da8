/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Memory of arguments as text; see memory_text.h. */
#include "view/syscalls/values/memory_text.h"

#include <inttypes.h>
#include <string.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/number.h"
#include "view/kernel/kernel_view.h"
#include "view/syscalls/values/socket_text.h"
#include "view/syscalls/values/structure_text.h"
#include "view/syscalls/values/word_text.h"

enum {
	STAT_BYTES = 56,
	SIGNALS = 64,
	UTSNAME = 65, /* bytes of a name */
	POLL_BYTES = 8,
};

static const struct memory_call calls[] = {
	{ "bind", { 1, MEMORY_SOCKET }, { 0 } },
	{ "connect", { 1, MEMORY_SOCKET }, { 0 } },
	{ "sendto", { 4, MEMORY_SOCKET }, { 0 } },
	{ "sendto", { 1, MEMORY_SENT }, { 0 } },
	{ "sendmsg", { 1, MEMORY_MESSAGE }, { 0 } },
	{ "accept", { 0 }, { 1, MEMORY_SOCKET_RETURNED } },
	{ "accept4", { 0 }, { 1, MEMORY_SOCKET_RETURNED } },
	{ "getsockname", { 0 }, { 1, MEMORY_SOCKET_RETURNED } },
	{ "getpeername", { 0 }, { 1, MEMORY_SOCKET_RETURNED } },
	{ "recvfrom", { 0 }, { 4, MEMORY_SOCKET_RETURNED } },
	{ "recvmsg", { 0 }, { 1, MEMORY_MESSAGE } },
	{ "stat", { 0 }, { 1, MEMORY_STAT } },
	{ "lstat", { 0 }, { 1, MEMORY_STAT } },
	{ "fstat", { 0 }, { 1, MEMORY_STAT } },
	{ "newfstatat", { 0 }, { 2, MEMORY_STAT } },
	{ "statx", { 0 }, { 4, MEMORY_STATX } },
	{ "statfs", { 0 }, { 1, MEMORY_STATFS } },
	{ "fstatfs", { 0 }, { 1, MEMORY_STATFS } },
	{ "sysinfo", { 0 }, { 0, MEMORY_SYSINFO } },
	{ "getrusage", { 0 }, { 1, MEMORY_USAGE } },
	{ "gettimeofday", { 0 }, { 0, MEMORY_TIMEVAL } },
	{ "clock_gettime", { 0 }, { 1, MEMORY_TIME } },
	{ "clock_getres", { 0 }, { 1, MEMORY_TIME } },
	{ "setitimer", { 1, MEMORY_INTERVAL }, { 2, MEMORY_INTERVAL } },
	{ "getitimer", { 0 }, { 1, MEMORY_INTERVAL } },
	{ "timerfd_settime", { 2, MEMORY_TIMER }, { 3, MEMORY_TIMER } },
	{ "timerfd_gettime", { 0 }, { 1, MEMORY_TIMER } },
	{ "timer_settime", { 2, MEMORY_TIMER }, { 3, MEMORY_TIMER } },
	{ "timer_gettime", { 0 }, { 1, MEMORY_TIMER } },
	{ "clock_settime", { 1, MEMORY_TIME }, { 0 } },
	{ "sched_rr_get_interval", { 0 }, { 1, MEMORY_TIME } },
	{ "sched_setscheduler", { 2, MEMORY_INTEGER }, { 0 } },
	{ "sched_setparam", { 1, MEMORY_INTEGER }, { 0 } },
	{ "sched_getparam", { 0 }, { 1, MEMORY_INTEGER } },
	{ "sched_setaffinity", { 2, MEMORY_CPUS }, { 0 } },
	{ "sched_getaffinity", { 0 }, { 2, MEMORY_CPUS } },
	{ "setsockopt", { 3, MEMORY_OPTION }, { 0 } },
	{ "getsockopt", { 0 }, { 3, MEMORY_OPTION_RETURNED } },
	{ "epoll_ctl", { 3, MEMORY_EPOLL }, { 0 } },
	{ "epoll_wait", { 0 }, { 1, MEMORY_EPOLL_RETURNED } },
	{ "epoll_pwait", { 0 }, { 1, MEMORY_EPOLL_RETURNED } },
	{ "epoll_pwait2", { 3, MEMORY_TIME }, { 1, MEMORY_EPOLL_RETURNED } },
	{ "readv", { 1, MEMORY_VECTOR }, { 0 } },
	{ "writev", { 1, MEMORY_VECTOR }, { 0 } },
	{ "preadv", { 1, MEMORY_VECTOR }, { 0 } },
	{ "pwritev", { 1, MEMORY_VECTOR }, { 0 } },
	{ "pwritev2", { 1, MEMORY_VECTOR }, { 0 } },
	{ "utimensat", { 2, MEMORY_FILE_TIMES }, { 0 } },
	{ "clone3", { 0, MEMORY_CLONE }, { 0 } },
	{ "sigaltstack", { 0, MEMORY_STACK }, { 1, MEMORY_STACK } },
	{ "rt_sigaction", { 1, MEMORY_ACTION }, { 2, MEMORY_ACTION } },
	{ "rt_sigprocmask", { 1, MEMORY_SIGNALS }, { 2, MEMORY_SIGNALS } },
	{ "wait4", { 0 }, { 1, MEMORY_STATUS } },
	{ "prlimit64", { 2, MEMORY_LIMIT64 }, { 3, MEMORY_LIMIT64 } },
	{ "setrlimit", { 1, MEMORY_LIMIT }, { 0 } },
	{ "getrlimit", { 0 }, { 1, MEMORY_LIMIT } },
	{ "pipe", { 0 }, { 0, MEMORY_FILES } },
	{ "pipe2", { 0 }, { 0, MEMORY_FILES } },
	{ "socketpair", { 0 }, { 3, MEMORY_FILES } },
	{ "futex", { 3, MEMORY_TIME }, { 0 } },
	{ "fcntl", { 2, MEMORY_LOCK_COMMAND }, { 2, MEMORY_LOCK_RETURNED } },
	{ "prctl", { 1, MEMORY_NAME_COMMAND }, { 1, MEMORY_NAME_RETURNED } },
	{ "nanosleep", { 0, MEMORY_TIME }, { 1, MEMORY_TIME } },
	{ "clock_nanosleep", { 2, MEMORY_TIME }, { 3, MEMORY_TIME } },
	{ "rt_sigtimedwait", { 0, MEMORY_SIGNALS }, { 0 } },
	{ "rt_sigtimedwait", { 2, MEMORY_TIME }, { 0 } },
	{ "semtimedop", { 3, MEMORY_TIME }, { 0 } },
	{ "mq_timedsend", { 4, MEMORY_TIME }, { 0 } },
	{ "mq_timedreceive", { 4, MEMORY_TIME }, { 0 } },
	{ "io_getevents", { 4, MEMORY_TIME }, { 0 } },
	{ "io_pgetevents", { 4, MEMORY_TIME }, { 0 } },
	{ "recvmmsg", { 4, MEMORY_TIME }, { 0 } },
	{ "uname", { 0 }, { 0, MEMORY_NAMES } },
	{ "readlink", { 0 }, { 1, MEMORY_CHARACTERS } },
	{ "readlinkat", { 0 }, { 2, MEMORY_CHARACTERS } },
	{ "getcwd", { 0 }, { 0, MEMORY_TEXT } },
	{ "ioctl", { 2, MEMORY_COMMAND }, { 2, MEMORY_COMMAND } },
	{ "poll", { 0, MEMORY_POLL }, { 0, MEMORY_POLL_RETURNED } },
	{ "ppoll", { 0, MEMORY_POLL }, { 0, MEMORY_POLL_RETURNED } },
	{ "ppoll", { 2, MEMORY_TIME }, { 0, MEMORY_LEFT } },
	{ "select", { 1, MEMORY_SET }, { 0, MEMORY_SET_IN } },
	{ "select", { 2, MEMORY_SET }, { 0, MEMORY_SET_OUT } },
	{ "select", { 3, MEMORY_SET }, { 0, MEMORY_SET_EXCEPT } },
	{ "select", { 4, MEMORY_TIMEVAL }, { 0, MEMORY_LEFT_MICRO } },
	{ "pselect6", { 1, MEMORY_SET }, { 0, MEMORY_SET_IN } },
	{ "pselect6", { 2, MEMORY_SET }, { 0, MEMORY_SET_OUT } },
	{ "pselect6", { 3, MEMORY_SET }, { 0, MEMORY_SET_EXCEPT } },
	{ "pselect6", { 4, MEMORY_TIME }, { 0, MEMORY_LEFT } },
};

const struct memory_call *memory_call_find(const char *call)
{
	for (unsigned n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		if (strcmp(calls[n].call, call) == 0)
			return &calls[n];
	return NULL;
}

const struct memory_call *memory_call_next(const struct memory_call *line)
{
	const struct memory_call *next = line + 1;

	return next < calls + sizeof(calls) / sizeof(calls[0]) && strcmp(next->call, line->call) == 0 ? next
												      : NULL;
}

enum memory_form memory_command_form(uint32_t command)
{
	switch (command) {
	case TCGETS:
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return MEMORY_TERMINAL;
	case TIOCGWINSZ:
	case TIOCSWINSZ:
		return MEMORY_WINDOW;
	case TIOCGPGRP:
	case TIOCSPGRP:
	case TIOCGSID:
	case TIOCGPTN:
	case TIOCSPTLCK:
	case TIOCOUTQ:
	case FIONREAD:
	case FIONBIO:
	case FIOASYNC:
		return MEMORY_INTEGER;
	default:
		return MEMORY_NONE;
	}
}

enum memory_form memory_lock_form(uint32_t command, bool returned)
{
	switch (command) {
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return returned ? MEMORY_NONE : MEMORY_LOCK;
	case F_GETLK:
	case F_OFD_GETLK:
		return returned ? MEMORY_LOCK_OF : MEMORY_NONE;
	default:
		return MEMORY_NONE;
	}
}

enum memory_form memory_name_form(uint32_t option, bool returned)
{
	return option == (returned ? PR_GET_NAME : PR_SET_NAME) ? MEMORY_NAME : MEMORY_NONE;
}

enum memory_form memory_option_form(uint32_t level, uint32_t option)
{
	static const struct {
		int level, option;
		enum memory_form form;
	} options[] = {
		{ SOL_SOCKET, SO_ERROR, MEMORY_ERROR },
		{ SOL_SOCKET, SO_LINGER, MEMORY_LINGER },
		{ SOL_SOCKET, SO_PEERCRED, MEMORY_CREDENTIALS },
		{ SOL_SOCKET, SO_RCVTIMEO, MEMORY_TIMEVAL },
		{ SOL_SOCKET, SO_SNDTIMEO, MEMORY_TIMEVAL },
		{ SOL_SOCKET, SO_BINDTODEVICE, MEMORY_OCTETS },
		{ SOL_TCP, TCP_CONGESTION, MEMORY_OCTETS },
		{ SOL_TCP, TCP_ULP, MEMORY_OCTETS },
	};

	for (unsigned n = 0; n < sizeof(options) / sizeof(options[0]); n++)
		if (options[n].level == (int)level && options[n].option == (int)option)
			return options[n].form;
	return MEMORY_VALUE;
}

static uint32_t memory_text_get32(const uint8_t *bytes, size_t at)
{
	return number_load32(bytes + at);
}

static uint64_t memory_text_get64(const uint8_t *bytes, size_t at)
{
	return number_load64(bytes + at);
}

static bool is_x86(const struct syscall_machine *machine)
{
	return machine && strcmp(machine->name, "x86_64") == 0;
}

/* ---- files */

static void put_descriptor(const struct descriptor_place *place, uint32_t descriptor, struct view_buffer *out)
{
	view_buffer_print(out, "%d", (int)descriptor);
	descriptor_text(descriptor_path(place, descriptor), out);
}

static bool put_pair(const struct descriptor_place *place, const uint8_t *bytes, size_t count,
		     struct view_buffer *out)
{
	if (count < 8)
		return false;
	view_buffer_print(out, "[");
	put_descriptor(place, memory_text_get32(bytes, 0), out);
	view_buffer_print(out, ", ");
	put_descriptor(place, memory_text_get32(bytes, 4), out);
	view_buffer_print(out, "]");
	return true;
}

static bool put_stat(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
		     struct view_buffer *out)
{
	const uint32_t mode = count < STAT_BYTES ? 0 : memory_text_get32(bytes, is_x86(machine) ? 24 : 16);
	uint64_t device;

	if (!machine || count < STAT_BYTES)
		return false;
	view_buffer_print(out, "{st_mode=");
	word_text_mode(out, mode);
	if (S_ISCHR(mode) || S_ISBLK(mode)) {
		device = memory_text_get64(bytes, is_x86(machine) ? 40 : 32);
		view_buffer_print(out, ", st_rdev=makedev(%#x, %#x)",
				  (unsigned)((device >> 8 & 0xfff) | (device >> 32 & ~0xfffu)),
				  (unsigned)((device & 0xff) | (device >> 12 & ~0xffu)));
	} else {
		view_buffer_print(out, ", st_size=%" PRIu64, memory_text_get64(bytes, 48));
	}
	view_buffer_print(out, ", ...}");
	return true;
}

/* ---- signals */

static void put_signal(const struct syscall_machine *machine, unsigned signal, const char *start,
		       struct view_buffer *out)
{
	const struct syscall_words *words = word_text_find(machine, "kill", "sig");

	for (unsigned n = 0; words && n < words->count; n++)
		if (words->words[n].value == signal) {
			view_buffer_print(out, "%s%s", start, words->words[n].name + strlen("SIG"));
			return;
		}
	view_buffer_print(out, "%u", signal);
}

/* A set of most signals is shown by those that it has not. */
static void put_signals(const struct syscall_machine *machine, uint64_t set, struct view_buffer *out)
{
	const bool most = __builtin_popcountll(set) >= SIGNALS * 2 / 3;
	const char *between = "";

	view_buffer_print(out, most ? "~[" : "[");
	for (unsigned signal = 1; signal <= SIGNALS; signal++) {
		if ((bool)(set >> (signal - 1) & 1) == most)
			continue;
		view_buffer_print(out, "%s", between);
		put_signal(machine, signal, "", out);
		between = " ";
	}
	view_buffer_print(out, "]");
}

static bool put_action(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
		       struct view_buffer *out)
{
	const struct syscall_words *words =
		machine ? word_text_find(machine, "rt_sigaction", "sa_flags") : NULL;
	uint64_t handler, flags;

	if (!words || count < 32)
		return false;
	handler = memory_text_get64(bytes, 0);
	flags = memory_text_get64(bytes, 8);
	view_buffer_print(out, "{sa_handler="); /* with SA_SIGINFO, too */
	if (handler > 1)
		view_buffer_print(out, "%#" PRIx64, handler);
	else
		view_buffer_print(out, "%s", handler ? "SIG_IGN" : "SIG_DFL");
	view_buffer_print(out, ", sa_mask=");
	put_signals(machine, memory_text_get64(bytes, 24), out);
	view_buffer_print(out, ", sa_flags=");
	word_text_put(out, words, flags, false);
	if (flags & 0x04000000) /* SA_RESTORER */
		view_buffer_print(out, ", sa_restorer=%#" PRIx64, memory_text_get64(bytes, 16));
	view_buffer_print(out, "}");
	return true;
}

static bool memory_text_put_status(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
				   int64_t result, struct view_buffer *out)
{
	const int status = count < 4 ? 0 : (int)memory_text_get32(bytes, 0);

	if (!machine || count < 4 || result <= 0) /* no process: it was not written */
		return false;
	if (WIFEXITED(status)) {
		view_buffer_print(out, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(status));
	} else if (WIFCONTINUED(status)) {
		view_buffer_print(out, "[{WIFCONTINUED(s)}]");
	} else if (WIFSTOPPED(status)) {
		if (status >> 16) /* an event of ptrace */
			return false;
		view_buffer_print(out, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		put_signal(machine, (unsigned)WSTOPSIG(status), "SIG", out);
		view_buffer_print(out, "}]");
	} else {
		view_buffer_print(out, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		put_signal(machine, (unsigned)WTERMSIG(status), "SIG", out);
		view_buffer_print(out, "%s}]", WCOREDUMP(status) ? " && WCOREDUMP(s)" : "");
	}
	return true;
}

/* ---- others */

static void memory_text_put_limit(uint64_t limit, const char *infinity, struct view_buffer *out)
{
	if (limit == UINT64_MAX)
		view_buffer_print(out, "%s", infinity);
	else if (limit > 1024 && limit % 1024 == 0)
		view_buffer_print(out, "%" PRIu64 "*1024", limit / 1024);
	else
		view_buffer_print(out, "%" PRIu64, limit);
}

static bool put_limits(const uint8_t *bytes, size_t count, const char *infinity, struct view_buffer *out)
{
	if (count < 16)
		return false;
	view_buffer_print(out, "{rlim_cur=");
	memory_text_put_limit(memory_text_get64(bytes, 0), infinity, out);
	view_buffer_print(out, ", rlim_max=");
	memory_text_put_limit(memory_text_get64(bytes, 8), infinity, out);
	view_buffer_print(out, "}");
	return true;
}

/* @whole: bytes that there should be; fewer end in dots */
static bool put_characters(const uint8_t *bytes, size_t count, int64_t whole, struct view_buffer *out)
{
	char text[MEMORY_MAX + 1];

	if (count > MEMORY_MAX || whole < 0)
		return false;
	if ((uint64_t)whole < count)
		count = (size_t)whole;
	memcpy(text, bytes, count);
	text[count] = 0;
	word_text_quoted(out, text, (size_t)whole);
	return true;
}

/* @whole: bytes that there should be, or -1; fewer end in dots */
static bool put_octets(const uint8_t *bytes, size_t count, int64_t whole, struct view_buffer *out)
{
	word_text_octets(out, bytes, count);
	if (whole < 0 || (uint64_t)whole > count)
		view_buffer_print(out, "...");
	return true;
}

/* The kernel takes the begin of a name that is too long. */
static bool memory_text_put_name(const uint8_t *bytes, size_t count, struct view_buffer *out)
{
	const size_t length = strnlen((const char *)bytes, count);

	if (!count)
		return false;
	return length < count ? put_octets(bytes, length, (int64_t)length, out)
			      : put_octets(bytes, count - 1, -1, out);
}

static bool memory_text_put_integer(const uint8_t *bytes, size_t count, struct view_buffer *out)
{
	if (count == 4)
		view_buffer_print(out, "[%d]", (int)memory_text_get32(bytes, 0));
	return count == 4;
}

static bool put_error(const uint8_t *bytes, size_t count, struct view_buffer *out)
{
	const int error = count == 4 ? (int)memory_text_get32(bytes, 0) : 0;
	char text[TEXT_SHORT];

	if (error <= 0)
		return memory_text_put_integer(bytes, count, out);
	view_buffer_print(out, "[%s]", kernel_errno_name(error, text));
	return true;
}

/* A set of CPUs by their numbers. */
static bool put_cpus(const uint8_t *bytes, size_t count, int64_t whole, struct view_buffer *out)
{
	const char *between = "";

	if (whole > (int64_t)count)
		return false;
	view_buffer_print(out, "[");
	for (size_t cpu = 0; cpu < count * 8; cpu++) {
		if (!(bytes[cpu / 8] >> (cpu % 8) & 1))
			continue;
		view_buffer_print(out, "%s%zu", between, cpu);
		between = " ";
	}
	view_buffer_print(out, "]");
	return true;
}

static bool put_names(const uint8_t *bytes, size_t count, struct view_buffer *out)
{
	const size_t rest = count > UTSNAME ? count - UTSNAME : 0,
		     length = strnlen((const char *)bytes + count - rest, rest);

	if (!rest || !memchr(bytes, 0, UTSNAME))
		return false;
	view_buffer_print(out, "{sysname=");
	word_text_quoted(out, (const char *)bytes, SIZE_MAX);
	view_buffer_print(out, ", nodename=");
	put_characters(bytes + UTSNAME, length, (int64_t)length + (length == rest), out);
	view_buffer_print(out, ", ...}");
	return true;
}

static bool put_poll(const struct syscall_machine *machine, const struct descriptor_place *place,
		     const uint8_t *bytes, size_t count, int64_t times, struct view_buffer *out)
{
	const struct syscall_words *words = machine ? word_text_find(machine, "poll", "events") : NULL;
	int64_t shown = 0;

	if (!words || times < 0 || (times && count < POLL_BYTES))
		return false;
	view_buffer_print(out, "[");
	for (; shown < times && (size_t)(shown + 1) * POLL_BYTES <= count; shown++) {
		const uint8_t *one = bytes + shown * POLL_BYTES;

		view_buffer_print(out, shown ? ", {fd=" : "{fd=");
		put_descriptor(place, memory_text_get32(one, 0), out);
		if ((int)memory_text_get32(one, 0) >= 0) {
			view_buffer_print(out, ", events=");
			word_text_put(out, words, number_load16(one + 4), false);
		}
		view_buffer_print(out, "}");
	}
	view_buffer_print(out, shown < times ? ", ...]" : "]");
	return true;
}

/* Those that have events, whose paths stand at the begin. @ready: how many there are */
static bool put_polled(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
		       int64_t ready, struct view_buffer *out)
{
	const struct syscall_words *words = machine ? word_text_find(machine, "poll", "events") : NULL;
	int64_t shown = 0;

	if (!ready)
		view_buffer_print(out, "Timeout");
	if (ready <= 0 || !words || count < POLL_BYTES)
		return !ready;
	view_buffer_print(out, "[");
	for (size_t at = 0; at + POLL_BYTES <= count && shown < ready; at += POLL_BYTES) {
		const uint16_t events = number_load16(bytes + at + 6);

		if (!events)
			continue;
		view_buffer_print(out, "%s{fd=%d, revents=", shown++ ? ", " : "",
				  (int)memory_text_get32(bytes, at));
		word_text_put(out, words, events, false);
		view_buffer_print(out, "}");
	}
	view_buffer_print(out, shown == ready ? "]" : shown ? ", ...]" : "...]");
	return true;
}

/* The next descriptor of a set, from @n on. Return: @times, or the first one that the record lacks: there is none. */
static int64_t next_descriptor(const uint8_t *bytes, size_t count, int64_t n, int64_t times)
{
	const int64_t end = times < (int64_t)count * 8 ? times : (int64_t)count * 8;

	while (n < end && !(bytes[n / 8] >> (n % 8) & 1))
		n++;
	return n < end ? n : end;
}

/* @place: NULL: without paths */
static bool put_set(const struct descriptor_place *place, const uint8_t *bytes, size_t count, int64_t times,
		    struct view_buffer *out)
{
	const int64_t there = (int64_t)count * 8, end = times < there ? times : there;
	const char *between = "";

	if (times < 0 || (times && !count))
		return false;
	view_buffer_print(out, "[");
	for (int64_t n = 0; (n = next_descriptor(bytes, count, n, times)) < end; n++) {
		view_buffer_print(out, "%s%" PRId64, between, n);
		if (place)
			descriptor_text(descriptor_path(place, (uint64_t)n), out);
		between = " ";
	}
	view_buffer_print(out, times > there ? "%s...]" : "]", between);
	return true;
}

int64_t memory_set_end(const uint8_t *bytes, size_t count, int64_t times, int64_t *ready)
{
	int64_t last = -1, n = -1;

	while (*ready && (n = next_descriptor(bytes, count, n + 1, times)) < times &&
	       n < (int64_t)count * 8) {
		last = n;
		--*ready;
	}
	return *ready ? times : last + 1;
}

/* One of the sets that select returns. An empty one is left out. @times: 0: no descriptor was ready */
static bool put_returned_set(enum memory_form form, const uint8_t *bytes, size_t count, int64_t times,
			     struct view_buffer *out)
{
	if (!times && form == MEMORY_SET_IN)
		view_buffer_print(out, "Timeout");
	if (times <= 0 || next_descriptor(bytes, count, 0, times) == times)
		return !times && form == MEMORY_SET_IN;
	view_buffer_print(out, form == MEMORY_SET_IN ? "in " : form == MEMORY_SET_OUT ? "out " : "except ");
	return put_set(NULL, bytes, count, times, out);
}

/* @times: 0: all of it has passed */
static bool put_left(enum memory_form form, const struct syscall_machine *machine, const uint8_t *bytes,
		     size_t count, int64_t times, struct view_buffer *out)
{
	if (times <= 0 || count < 16)
		return false;
	view_buffer_print(out, "left ");
	return structure_text(form == MEMORY_LEFT ? MEMORY_TIME : MEMORY_TIMEVAL, machine, bytes, count, out);
}

static bool put_epoll(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
		      struct view_buffer *out)
{
	const size_t data = is_x86(machine) ? 4 : 8;

	if (!machine || count < data + 8)
		return false;
	view_buffer_print(out, "{events=");
	word_text_put(out, word_text_find(machine, "epoll_ctl", "events"), memory_text_get32(bytes, 0),
		      false);
	view_buffer_print(out, ", data={u32=%" PRIu32 ", u64=%" PRIu64 "}}", memory_text_get32(bytes, data),
			  memory_text_get64(bytes, data));
	return true;
}

static bool put_epolls(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
		       int64_t times, struct view_buffer *out)
{
	const size_t size = is_x86(machine) ? 12 : 16;
	int64_t shown = 0;

	if (!machine || times < 0 || (times && count < size))
		return false;
	view_buffer_print(out, "[");
	for (; shown < times && (size_t)(shown + 1) * size <= count; shown++) {
		view_buffer_print(out, "%s", shown ? ", " : "");
		put_epoll(machine, bytes + (size_t)shown * size, size, out);
	}
	view_buffer_print(out, shown < times ? ", ...]" : "]");
	return true;
}

static bool memory_text_put_vector(const uint8_t *bytes, size_t count, int64_t times, struct view_buffer *out)
{
	int64_t shown = 0;

	if (times < 0 || (times && count < 16))
		return false;
	view_buffer_print(out, "[");
	for (; shown < times && (size_t)(shown + 1) * 16 <= count; shown++) {
		view_buffer_print(out, "%s{iov_base=", shown ? ", " : "");
		word_text_address(out, memory_text_get64(bytes, (size_t)shown * 16));
		view_buffer_print(out, ", iov_len=%" PRIu64 "}",
				  memory_text_get64(bytes, (size_t)shown * 16 + 8));
	}
	view_buffer_print(out, shown < times ? ", ...]" : "]");
	return true;
}

/* A time as a date, too, of the reader's zone. */
static void put_file_time(const struct syscall_machine *machine, const uint8_t *bytes,
			  struct view_buffer *out)
{
	const int64_t nanoseconds = (int64_t)memory_text_get64(bytes, 8);
	const time_t seconds = (time_t)memory_text_get64(bytes, 0);
	char date[64], zone[16];
	struct tm parts;

	if (nanoseconds == UTIME_NOW || nanoseconds == UTIME_OMIT) {
		view_buffer_print(out, nanoseconds == UTIME_NOW ? "UTIME_NOW" : "UTIME_OMIT");
		return;
	}
	structure_text(MEMORY_TIME, machine, bytes, 16, out);
	if (nanoseconds < 0 || nanoseconds > 999999999 || !localtime_r(&seconds, &parts) ||
	    !strftime(date, sizeof(date), "%FT%T", &parts) || !strftime(zone, sizeof(zone), "%z", &parts))
		return;
	view_buffer_print(out, " /* %s", date);
	if (nanoseconds)
		view_buffer_print(out, ".%09" PRId64, nanoseconds);
	view_buffer_print(out, "%s */", zone);
}

static bool put_file_times(const struct syscall_machine *machine, const uint8_t *bytes, size_t count,
			   struct view_buffer *out)
{
	if (count < 32)
		return false;
	view_buffer_print(out, "[");
	put_file_time(machine, bytes, out);
	view_buffer_print(out, ", ");
	put_file_time(machine, bytes + 16, out);
	view_buffer_print(out, "]");
	return true;
}

bool memory_text(enum memory_form form, const struct syscall_machine *machine,
		 const struct descriptor_place *place, const uint8_t *bytes, size_t count, int64_t times,
		 struct view_buffer *out)
{
	switch (form) {
	case MEMORY_SOCKET:
	case MEMORY_SOCKET_RETURNED:
		socket_text(bytes, count, out);
		return true;
	case MEMORY_STAT:
		return put_stat(machine, bytes, count, out);
	case MEMORY_ACTION:
		return put_action(machine, bytes, count, out);
	case MEMORY_SIGNALS:
		if (machine && count >= 8)
			put_signals(machine, memory_text_get64(bytes, 0), out);
		return machine && count >= 8;
	case MEMORY_STATUS:
		return memory_text_put_status(machine, bytes, count, times, out);
	case MEMORY_LIMIT:
		return put_limits(bytes, count, "RLIM_INFINITY", out);
	case MEMORY_LIMIT64:
		return put_limits(bytes, count, "RLIM64_INFINITY", out);
	case MEMORY_FILES:
		return put_pair(place, bytes, count, out);
	case MEMORY_INTEGER:
		return memory_text_put_integer(bytes, count, out);
	case MEMORY_ERROR:
		return put_error(bytes, count, out);
	case MEMORY_VALUE:
		return memory_text_put_integer(bytes, count, out) || put_octets(bytes, count, times, out);
	case MEMORY_NAME:
		return memory_text_put_name(bytes, count, out);
	case MEMORY_SENT:
	case MEMORY_OCTETS:
		return put_octets(bytes, count, times, out);
	case MEMORY_CPUS:
		return put_cpus(bytes, count, times, out);
	case MEMORY_NAMES:
		return put_names(bytes, count, out);
	case MEMORY_CHARACTERS:
		return put_characters(bytes, count, times, out);
	case MEMORY_TEXT: /* the result counts the NUL */
		return put_characters(bytes, count, times - 1, out);
	case MEMORY_POLL:
		return put_poll(machine, place, bytes, count, times, out);
	case MEMORY_POLL_RETURNED:
		return put_polled(machine, bytes, count, times, out);
	case MEMORY_SET:
		return put_set(place, bytes, count, times, out);
	case MEMORY_SET_IN:
	case MEMORY_SET_OUT:
	case MEMORY_SET_EXCEPT:
		return put_returned_set(form, bytes, count, times, out);
	case MEMORY_LEFT:
	case MEMORY_LEFT_MICRO:
		return put_left(form, machine, bytes, count, times, out);
	case MEMORY_EPOLL:
		return put_epoll(machine, bytes, count, out);
	case MEMORY_EPOLL_RETURNED:
		return put_epolls(machine, bytes, count, times, out);
	case MEMORY_VECTOR:
		return memory_text_put_vector(bytes, count, times, out);
	case MEMORY_FILE_TIMES:
		return put_file_times(machine, bytes, count, out);
	default:
		return structure_text(form, machine, bytes, count, out);
	}
}
