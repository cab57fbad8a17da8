/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the subcommands: messages, memory limits, opening of traces. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/print.h"
#include "base/text.h"
#include "burin/read.h"
#include "cmd/cmd.h"
#include "cmd/newest_trace.h"
#include "file/named.h"
#include "read/trace.h"
#include "view/buffer.h"
#include "view/view_threads.h"

enum {
	MESSAGE_BYTES = 4096,
};

const char *cmd_name;

static void cmd_write_all(const char *text, size_t bytes)
{
	while (bytes) {
		const ssize_t part = write(STDERR_FILENO, text, bytes);

		if (part < 0 && errno != EINTR)
			return;
		if (part > 0) {
			text += part;
			bytes -= (size_t)part;
		}
	}
}

/* Write "burin NAME: ..." as a line, or only the format, at once. Allocates nothing: it reports lack of memory, too. */
static void cmd_message(bool named, const char *format, va_list arguments)
{
	char text[MESSAGE_BYTES];
	size_t used = named ? print_text(text, 64, "burin %s: ", cmd_name) : 0;

	used += print_arguments(text + used, sizeof(text) - used, format, arguments);
	if (used >= sizeof(text)) {
		used = print_whole(text, strlen(text) - 1);
		text[used++] = '\n';
	} else if (named) {
		text[used++] = '\n';
	}
	cmd_write_all(text, used);
}

void cmd_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cmd_message(false, format, arguments);
	va_end(arguments);
}

int cmd_usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cmd_message(true, format, arguments);
	va_end(arguments);
	return CMD_USAGE;
}

int cmd_failed(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cmd_message(true, format, arguments);
	va_end(arguments);
	return CMD_FAULTS;
}

const char *cmd_error(int error)
{
	return error == -ENOMEM ? "out of memory; raise the limit with --memory" : strerror(-error);
}

uint64_t cmd_memory;

/* The present size of the process as RLIMIT_DATA counts it; terabytes under a sanitizer. 0: unknown. */
static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t cmd_memory_of_machine(void)
{
	return cmd_memory ? cmd_memory : CMD_MEMORY_DEFAULT;
}

uint64_t cmd_output_max(void)
{
	return cmd_memory_of_machine() > (UINT64_MAX - CMD_MEMORY_OWN) / CMD_MEMORY_TIMES
		       ? UINT64_MAX
		       : CMD_MEMORY_OWN + cmd_memory_of_machine() * CMD_MEMORY_TIMES;
}

void cmd_memory_limit(void)
{
	const uint64_t bytes = cmd_memory_of_machine(), own = data_bytes() + CMD_MEMORY_OWN;
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) || own > limit.rlim_cur ||
	    bytes > (limit.rlim_cur - own) / CMD_MEMORY_TIMES)
		return;
	limit.rlim_cur = own + bytes * CMD_MEMORY_TIMES;
	setrlimit(RLIMIT_DATA, &limit);
}

static const char *cmd_hint(int code)
{
	if (code == -ENOENT)
		return "; record one with: burin record -o DIR PROGRAM";
	if (code == BURIN_FAULT_NOT_A_TRACE)
		return "; give the directory that burin record wrote";
	if (code == -ENOMEM)
		return "; raise the limit with --memory";
	if (code == -EACCES)
		return "; ask its owner, or change its permissions";
	return "";
}

static int not_opened(const char *path, int result, const struct burin_diagnosis *why)
{
	char inside[NAME_MAX + 1] = "";

	if (result == BURIN_FAULT_NOT_A_TRACE)
		newest_trace(path, true, inside);
	if (*inside)
		return cmd_usage("%s: not a trace; the newest trace in it is %s/%s", path, path, inside);
	return cmd_usage("%s: %s%s", path, *why->reason ? why->reason : burin_fault_name(result),
			 cmd_hint(result));
}

int cmd_open(struct burin_trace **trace, const char *path, struct cmd_faults *faults)
{
	const struct burin_open_options options = { sizeof(options), cmd_on_fault, faults, cmd_memory };
	struct burin_diagnosis why;
	int result = burin_trace_open(trace, path, &options, &why);

	return result ? not_opened(path, result, &why) : 0;
}

int cmd_open_at(struct burin_trace **trace, int directory, const char *path, struct cmd_faults *faults)
{
	const struct burin_open_options options = { sizeof(options), cmd_on_fault, faults, cmd_memory };
	struct burin_diagnosis why;
	int result = read_trace_open_at(trace, directory, &options, &why);

	return result ? not_opened(path, result, &why) : 0;
}

/* The owner of a trace could redirect the writes of root, or of any other user, by links. */
static void report_owner(const char *path, uid_t owner)
{
	const struct passwd *user = getpwuid(owner);
	char owner_name[64];

	if (user)
		snprintf(owner_name, sizeof(owner_name), "%s", user->pw_name);
	else
		snprintf(owner_name, sizeof(owner_name), "'#%u'", (unsigned)owner);
	cmd_failed("%s: the trace belongs to another user; run: sudo -u %s burin %s %s", path, owner_name,
		   cmd_name, path);
}

int cmd_open_own(const char *path)
{
	const struct burin_diagnosis none = { .reason = "" };
	uid_t owner = 0;
	int directory = named_own(path, &owner);

	if (directory == -EPERM)
		report_owner(path, owner);
	else if (directory < 0)
		not_opened(path, directory, &none);
	return directory < 0 ? -1 : directory;
}

void cmd_on_fault(void *data, const struct burin_diagnosis *fault)
{
	struct cmd_faults *faults = data;

	faults->count++;
	if (faults->shown >= faults->show_max)
		return;
	faults->shown++;
	cmd_note("burin %s: %s: byte %" PRIu64 ": %s: %s\n", cmd_name, *fault->file ? fault->file : ".",
		 fault->offset, burin_fault_name(fault->code), fault->reason);
}

void cmd_faults_foot(const struct cmd_faults *faults, const char *path)
{
	char number[TEXT_SHORT];

	if (faults->count > faults->shown)
		cmd_note("burin %s: and %s more faults; list all with: burin check --all %s\n", cmd_name,
			 text_count(number, faults->count - faults->shown), path);
}

void cmd_output_begin(void)
{
	signal(SIGPIPE, SIG_IGN);
}

bool cmd_color(int file)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0 && isatty(file);
}

unsigned cmd_threads(void)
{
	return view_threads();
}

int cmd_create(const char *path, bool private)
{
	char why[NAMED_WHY];
	int file = named_file(path, private, why);

	if (file >= 0)
		return file;
	cmd_failed("%s: %s", path, *why ? why : strerror(-file));
	return -1;
}

int cmd_written(int result)
{
	if (!result || result == -EPIPE)
		return 0;
	return cmd_failed("cannot write the output: %s", cmd_error(result));
}

int cmd_print(struct view_buffer *out, int file)
{
	const int result = cmd_written(view_buffer_write(out, file));

	view_buffer_free(out);
	return result;
}
