/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The plugin for QEMU; see guest.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/record/guests/guest.h"
#include "cmd/record/guests/guest_functions.h"
#include "cmd/record/names/guest_symbols.h"
#include "cmd/record/guests/guest_trigger.h"
#include "cmd/record/recorder/preload_libraries.h"
#include "image/elf/kernel_file.h"
#include "image/names/kernel/guest_tasks.h"

enum {
	RANGES_MAX = 2048, /* of the plugin; their text is shorter than the longest argument of a program */
	TASKS_BYTES = 192, /* of their argument */
	STACK = 1 << 14,   /* bytes of a kernel's stack, mostly */
};

static const char library_name[] = "libburin-qemu.so";
static char plugin_option[] = "-plugin";     /* of QEMU */
static const char anchor[] = "start_kernel"; /* Linux calls it once, when it has been moved */

const char *const guest_levels[] = {
	[GUEST_ALL] = "all", [GUEST_KERNEL] = "kernel", [GUEST_USER] = "user", NULL
};

const char *const guest_clocks[] = {
	[GUEST_CLOCK_HOST] = "host", [GUEST_CLOCK_INSTRUCTIONS] = "instructions", NULL
};

const char *const guest_threads[] = {
	[GUEST_THREADS_STACKS] = "stack", [GUEST_THREADS_VCPUS] = "vcpu", NULL
};

/* A hexadecimal address up to a character. Return: what is behind that; NULL: it is not one. */
static const char *guest_take_address(const char *text, char end, uint64_t *address)
{
	char *behind;

	if (!isxdigit((unsigned char)*text))
		return NULL;
	*address = strtoull(text, &behind, 16);
	return *behind == end ? behind + 1 : NULL;
}

/* Whether the level that is recorded has no code at these addresses. */
static bool is_elsewhere(const struct guest_options *options, uint64_t begin, uint64_t end)
{
	return options->level == GUEST_KERNEL ? !((end - 1) >> 63)
					      : options->level == GUEST_USER && begin >> 63;
}

/* Return: 0 or CMD_USAGE. @what: the option that chose functions, and its value */
static int refuse_level(const struct guest_options *options, const char *what, const char *value)
{
	return cmd_usage("--guest-level %s: nothing of %s %s is recorded: it lies in the %s's half of the "
			 "address space",
			 guest_levels[options->level], what, value,
			 options->level == GUEST_KERNEL ? "program" : "kernel");
}

/* Return: 0 or CMD_USAGE. */
static int check_range(const struct guest_options *options, const char *text)
{
	uint64_t begin, end;
	const char *second = guest_take_address(text, '-', &begin);

	if (!second || !guest_take_address(second, 0, &end) || begin >= end)
		return cmd_usage("--guest-range: '%s': give two hexadecimal addresses, the second behind "
				 "the range: ffffffff81000000-ffffffff81200000",
				 text);
	return is_elsewhere(options, begin, end) ? refuse_level(options, "--guest-range", text) : 0;
}

/* Return: 0 or CMD_USAGE. */
static int check_mark(const char *key, const struct guest_options *options, const char *word)
{
	uint64_t value;

	if (!word ||
	    (guest_take_address(word, 0, &value) ? value != 0
						 : options->kernel != NULL)) /* or it is a function there */
		return 0;
	if (word != options->snapshot &&
	    (guest_trigger_path(word) || (number_parse_duration(word, &value) && value)))
		return 0;
	return cmd_usage("--guest-%s: '%s': give a hexadecimal address%s, or add --guest-kernel", key, word,
			 word == options->snapshot ? "" : ", a time such as 2s, file:PATH");
}

/* Return: 0 or CMD_USAGE. */
static int check_times(const struct guest_options *options)
{
	uint64_t start, stop;

	if (options->start && options->stop && number_parse_duration(options->start, &start) &&
	    number_parse_duration(options->stop, &stop) && stop <= start)
		return cmd_usage("--guest-stop: %s is not behind --guest-start %s", options->stop,
				 options->start);
	return 0;
}

int guest_check(const struct guest_options *options, bool flight)
{
	if (options->ranges.count > RANGES_MAX)
		return cmd_usage("--guest-range: there are more than %d", RANGES_MAX);
	for (size_t n = 0; n < options->ranges.count; n++)
		if (check_range(options, options->ranges.globs[n]))
			return CMD_USAGE;
	if (options->calls.count && !options->kernel && !options->programs.count)
		return cmd_usage("--guest-calls: there are no functions; add --guest-kernel FILE or "
				 "--guest-program FILE, which has them");
	if (options->snapshot && !flight)
		return cmd_usage(
			"--guest-snapshot: the trace has all calls; add --mode flight, which keeps the "
			"last ones");
	if (options->lossless && flight)
		return cmd_usage("--guest-lossless: --mode flight keeps the last calls only; remove one");
	return check_mark("start", options, options->start)    ?:
	       check_mark("stop", options, options->stop)      ?:
	       check_mark("snapshot", options, options->snapshot) ?:
	       check_times(options)			       ?:
	       guest_trigger_check(options->start, options->stop);
}

static void put_option(FILE *text, const char *key, const char *value)
{
	if (value)
		fprintf(text, ",%s=%s", key, value);
}

/* A function, address or time. Return: false after a message. */
static bool guest_put_mark(FILE *text, const char *key, const char *word,
			   const struct guest_functions *functions)
{
	const bool is_snapshot = strcmp(key, "snapshot") == 0;
	uint64_t value;

	if (!word || (!is_snapshot && guest_trigger_path(word))) /* the recorder looks for the file */
		return true;
	if (guest_functions_address(functions, word, &value)) /* KASLR moves it */
		fprintf(text, ",%s=+%" PRIx64, key, value);
	else if (guest_take_address(word, 0, &value) && value)
		fprintf(text, ",%s=%" PRIx64, key, value);
	else if (!is_snapshot && number_parse_duration(word, &value) && value)
		fprintf(text, ",%s=%" PRIu64 "ns", key, value);
	else {
		cmd_failed("--guest-%s: '%s': it is neither a function of --guest-kernel nor a hexadecimal "
			   "address%s",
			   key, word, is_snapshot ? "" : ", nor a time such as 2s, nor file:PATH");
		return false;
	}
	return true;
}

/* The kernel's file is the first. */
static size_t count_files(const struct guest_options *options)
{
	return 1 + options->programs.count;
}

/* The selected functions. Return: 0, CMD_USAGE or CMD_FAULTS after a message. */
static int guest_select_functions(const struct guest_options *options)
{
	const size_t room = RANGES_MAX - options->ranges.count;
	const int result = guest_functions_select(options->files, count_files(options), &options->calls);
	size_t places = 0, elsewhere = 0;

	if (result)
		return result;
	for (size_t file = 0; file < count_files(options); file++) {
		const struct guest_functions *functions = &options->files[file];

		places += functions->count;
		for (size_t n = 0; n < functions->count; n++)
			elsewhere +=
				is_elsewhere(options, functions->ranges[n].begin, functions->ranges[n].end);
	}
	if (places > room)
		return cmd_failed(
			"--guest-calls: the functions lie at %zu places; choose functions at up to %zu",
			places, room);
	return places && elsewhere == places ? refuse_level(options, "--guest-calls", options->calls.globs[0])
					     : 0;
}

/* The selected functions of a file. */
static void put_ranges(FILE *text, const struct guest_functions *functions)
{
	for (size_t n = 0; n < functions->count; n++)
		fprintf(text, ",range=%s%" PRIx64 "-%" PRIx64,
			functions->program ? "" : "+", /* KASLR moves the kernel */
			functions->ranges[n].begin, functions->ranges[n].end);
}

/* The options that need the functions. Return: 0, CMD_USAGE or CMD_FAULTS after a message. */
static int put_functions(FILE *text, const struct guest_options *options)
{
	const struct guest_functions *functions = &options->files[0];
	const int result = guest_select_functions(options);
	uint64_t address;

	if (result)
		return result;
	for (size_t file = 0; file < count_files(options); file++)
		put_ranges(text, &options->files[file]);
	if (guest_functions_address(functions, anchor, &address))
		fprintf(text, ",anchor=%" PRIx64, address);
	return guest_put_mark(text, "start", options->start, functions) &&
			       guest_put_mark(text, "stop", options->stop, functions) &&
			       guest_put_mark(text, "snapshot", options->snapshot, functions)
		       ? 0
		       : CMD_FAULTS;
}

static const char *problem_of_tasks(int error)
{
	return error == -ENODATA ? "its type information (BTF) is not that of an x86-64 or aarch64 kernel"
	       : error == -ENOTSUP
		       ? "it does not have where Linux 6.15 and later keep the CPUs' data; give the vmlinux"
		       : strerror(-error);
}

/* Bytes of a kernel's stack, as the plugin takes them. */
static uint64_t guest_stack_of(const struct guest_tasks *tasks)
{
	const uint64_t bytes = tasks->stack_bytes;

	return bytes == STACK << 1 || bytes == STACK << 2 ? bytes : STACK;
}

/* Where the guest's tasks are, for the plugin. @text: "" if the file does not have it. Return: 0 or a negative errno. */
static int describe_tasks(const struct guest_options *options, int file, char text[TASKS_BYTES])
{
	struct guest_tasks tasks;
	const int error = guest_tasks_read(&tasks, file);

	if (!error)
		snprintf(text, TASKS_BYTES,
			 "%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64
			 ",stack=%" PRIx64,
			 tasks.current, tasks.base, tasks.stack, tasks.pid, tasks.tgid, tasks.leader,
			 tasks.name, guest_stack_of(&tasks));
	else if (error != -ENOEXEC)
		cmd_note("burin record: --guest-kernel: %s: no processes are recorded: %s\n", options->kernel,
			 problem_of_tasks(error));
	return error;
}

/* The functions and the tasks of --guest-kernel, as far as the file has them. Return: false after a message. */
static bool guest_read_kernel(struct guest_options *options, struct guest_functions *functions,
			      char tasks[TASKS_BYTES])
{
	int file, error, no_tasks = -ENOEXEC;

	*tasks = 0;
	if (!options->kernel)
		return true;
	file = kernel_file_open(options->kernel);
	error = file < 0 ? file : guest_names_read(&functions->names, file);
	options->named = !error;
	if (!error || error == -ENOEXEC || error == -EUCLEAN)
		no_tasks = describe_tasks(options, file, tasks);
	if (error == -EUCLEAN && !no_tasks)
		cmd_note("burin record: --guest-kernel: %s: its functions have no names: %s\n",
			 options->kernel, kernel_file_problem(error));
	if (file >= 0)
		close(file);
	if (!error || !no_tasks)
		return true;
	cmd_failed("--guest-kernel: %s: %s", options->kernel,
		   error == -ENOEXEC
			   ? "it has neither functions nor type information (BTF); give a vmlinux, a "
			     "text such as System.map, or a copy of /sys/kernel/btf/vmlinux"
			   : kernel_file_problem(error));
	return false;
}

/* The functions of a --guest-program. Return: false after a message. */
static bool read_program(struct guest_functions *functions, const char *path)
{
	int file, error;

	functions->program = path;
	if (!guest_symbols_is_path(path)) {
		cmd_failed("--guest-program: %s: a name with such an end stands for an address space or a "
			   "distance; give the file by another name",
			   path);
		return false;
	}
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	error = file < 0 ? -errno : guest_names_read(&functions->names, file);
	if (file >= 0)
		close(file);
	if (error)
		cmd_failed("--guest-program: %s: %s", path,
			   error == -ENOEXEC || error == -EUCLEAN
				   ? "it has no functions; give an ELF file with symbols"
				   : strerror(-error));
	return !error;
}

/* What is known of the guest's code before it runs. Return: false after a message. */
static bool guest_read_files(struct guest_options *options, char tasks[TASKS_BYTES])
{
	bool done;

	options->files = calloc(count_files(options), sizeof(*options->files));
	if (!options->files) {
		cmd_failed("out of memory");
		return false;
	}
	done = guest_read_kernel(options, &options->files[0], tasks);
	for (size_t n = 0; done && n < options->programs.count; n++)
		done = read_program(&options->files[1 + n], options->programs.globs[n]);
	return done;
}

static void guest_put_path(FILE *text, const char *path)
{
	for (; *path; path++) /* a comma ends the path, two are one of its own */
		fputs(*path == ',' ? ",," : (char[]){ *path, 0 }, text);
}

/* The argument of -plugin. Return: 0, CMD_USAGE or CMD_FAULTS after a message. */
static int plugin_argument(struct guest_options *options, const char *path, char **argument)
{
	char tasks[TASKS_BYTES];
	size_t bytes;
	FILE *text;
	int result;

	if (!guest_read_files(options, tasks))
		return CMD_FAULTS;
	text = open_memstream(argument, &bytes);
	if (!text)
		return cmd_failed("out of memory");
	guest_put_path(text, path);
	put_option(text, "level", options->level == GUEST_ALL ? NULL : guest_levels[options->level]);
	for (size_t n = 0; n < options->ranges.count; n++)
		put_option(text, "range", options->ranges.globs[n]);
	put_option(text, "clock", options->clock == GUEST_CLOCK_HOST ? NULL : guest_clocks[options->clock]);
	if (options->threads == GUEST_THREADS_VCPUS)
		put_option(text, "threads", guest_threads[options->threads]); /* tasks would have no thread */
	else
		put_option(text, "tasks", *tasks ? tasks : NULL);
	put_option(text, "lossless", options->lossless ? "on" : NULL);
	put_option(text, "report", options->report ? "on" : NULL);
	result = put_functions(text, options);
	if (fclose(text) != 0 && !result)
		result = cmd_failed("out of memory");
	return result;
}

/* Add a word of `burin symbols --guest`. */
static void guest_add_file(struct view_globs *files, const char *key, const char *path, const char *shift)
{
	char *word;

	if (!array_reserve(files->globs, files->room, files->count + 1) ||
	    asprintf(&word, "%s=%s%s", key, path, shift) < 0)
		cmd_failed("out of memory");
	else
		files->globs[files->count++] = word;
}

void guest_files(const struct guest_options *options, const struct session *session, struct view_globs *files)
{
	const uint32_t moved =
		options->named ? __atomic_load_n(&session->calls.header->guest_moved, __ATOMIC_RELAXED) : 0;
	char shift[32] = "";

	if (moved)
		snprintf(shift, sizeof(shift), "%c0x%" PRIx64, GUEST_SYMBOLS_FIRST,
			 (uint64_t)(moved - 1) * WIRE_GUEST_STEP);
	if (options->named)
		guest_add_file(files, "vmlinux", options->kernel, shift);
	for (size_t n = 0; n < options->programs.count; n++)
		guest_add_file(files, "prog", options->programs.globs[n], "");
}

/* Whether a command is QEMU's emulator of programs. It gives options behind the program to that, which would do something else then. */
static bool emulates_program(const char *command)
{
	static const char *const architectures[] = {
		"aarch64",     "aarch64_be",  "alpha",	 "arm",	       "armeb",	       "hexagon", "hppa",
		"i386",	       "loongarch64", "m68k",	 "microblaze", "microblazeel", "mips",	  "mips64",
		"mips64el",    "mipsel",      "mipsn32", "mipsn32el",  "or1k",	       "ppc",	  "ppc64",
		"ppc64le",     "riscv32",     "riscv64", "s390x",      "sh4",	       "sh4eb",	  "sparc",
		"sparc32plus", "sparc64",     "x86_64",	 "xtensa",     "xtensaeb",
	};
	const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;
	size_t length;

	if (strncmp(name, "qemu-", sizeof("qemu-") - 1) != 0)
		return false;
	name += sizeof("qemu-") - 1;
	length = strcspn(name, "-");
	for (size_t n = 0; n < sizeof(architectures) / sizeof(architectures[0]); n++)
		if (strlen(architectures[n]) == length && strncmp(name, architectures[n], length) == 0)
			return !name[length] || strcmp(name + length, "-static") == 0;
	return false;
}

int guest_command(struct guest_options *options, char ***command)
{
	char path[PRELOAD_PATH_MAX] = "", **longer;
	size_t count = 0;
	int error;

	if (!options->socket && emulates_program(**command))
		return cmd_usage("--guest: %s emulates a program, and Burin records machines only; give "
				 "qemu-system-x86_64 or qemu-system-aarch64",
				 **command);
	error = options->socket ? 0 : preload_find(library_name, path, sizeof(path));
	if (error)
		return cmd_failed("--guest: %s %s", library_name, preload_problem(error));
	error = plugin_argument(options, path, &options->arguments);
	if (error || options->socket)
		return error;
	while ((*command)[count])
		count++;
	longer = calloc(count + 3, sizeof(*longer));
	if (!longer)
		return cmd_failed("out of memory");
	memcpy(longer, *command, count * sizeof(*longer));
	longer[count] = plugin_option;
	longer[count + 1] = options->arguments;
	*command = longer;
	return 0;
}

/* ---- What a jump to is a call */

/* Parts of functions that compilers put elsewhere, and what is jumped to instead of a return. */
static bool is_jumped_to_otherwise(const char *name)
{
	return strstr(name, ".cold") || strstr(name, "return_thunk");
}

void guest_publish(const struct guest_options *options, struct session *session)
{
	const struct guest_names *names = options->files ? &options->files[0].names : NULL;
	struct wire_call_spec *specs = session->calls.specs;
	uint32_t count = 0;

	for (size_t n = 0; names && n < names->count && count < session->geometry.functions_max; n++) {
		const uint64_t address = names->all[n].address;

		if (is_jumped_to_otherwise(names->text + names->all[n].name) ||
		    (count && specs[count - 1].offset == address))
			continue;
		specs[count++].offset = address;
	}
	if (!count)
		return;
	session->calls.header->described_files[0] =
		(struct wire_call_described){ .device = UINT64_MAX, .inode = UINT64_MAX, .count = count };
	__atomic_store_n(&session->calls.header->described, 1, __ATOMIC_RELEASE);
}

/* ---- What was chosen, and was not called */

/* The addresses of all functions that were called, sorted. Return: NULL: no memory. */
static uint64_t *called_addresses(const struct session *session, size_t count)
{
	uint64_t *addresses = calloc(count + 1, sizeof(*addresses));

	for (size_t n = 0; addresses && n < count; n++)
		memcpy(&addresses[n], &session->calls.functions[n + 1].offset, sizeof(*addresses));
	if (addresses)
		qsort(addresses, count, sizeof(*addresses), guest_functions_order);
	return addresses;
}

static bool range_was_called(const char *text, const uint64_t *addresses, size_t count)
{
	uint64_t begin = 0, end = 0;

	text = guest_take_address(text, '-', &begin);
	if (text)
		guest_take_address(text, 0, &end);
	for (size_t n = 0; n < count; n++)
		if (addresses[n] - begin < end - begin)
			return true;
	return false;
}

static void note_uncalled(const char *option, const char *word)
{
	cmd_note("burin: %s %s: no calls: the guest called nothing of it; what begins without a call, such "
		 "as a handler of interrupts, has no record\n",
		 option, word);
}

/* Whether the guest called a function whose name matches. @moved: the kernel, by KASLR */
static bool glob_was_called(const struct guest_options *options, const char *glob, const uint64_t *addresses,
			    size_t count, uint64_t moved)
{
	for (size_t n = 0; n < count_files(options); n++)
		if (guest_functions_were_called(&options->files[n], glob, addresses, count, n ? 0 : moved))
			return true;
	return false;
}

static void note_words(const struct guest_options *options, const struct session *session, size_t count)
{
	const uint32_t steps = __atomic_load_n(&session->calls.header->guest_moved, __ATOMIC_RELAXED);
	uint64_t *addresses = called_addresses(session, count);

	for (size_t n = 0; addresses && n < options->ranges.count; n++)
		if (!range_was_called(options->ranges.globs[n], addresses, count))
			note_uncalled("--guest-range", options->ranges.globs[n]);
	for (size_t n = 0; addresses && n < options->calls.count; n++)
		if (!glob_was_called(options, options->calls.globs[n], addresses, count,
				     steps ? (steps - 1) * (uint64_t)WIRE_GUEST_STEP : 0))
			note_uncalled("--guest-calls", options->calls.globs[n]);
	free(addresses);
}

void guest_note_uncalled(const struct guest_options *options, const struct session *session)
{
	const struct wire_calls *header = session->calls.header;
	const uint32_t found = options->on ? __atomic_load_n(&header->functions, __ATOMIC_RELAXED) : 0;
	const uint32_t count =
		found < session->geometry.functions_max ? found : session->geometry.functions_max - 1;

	if (!options->on || __atomic_load_n(&header->lost[WIRE_CALL_LOST_FUNCTION], __ATOMIC_RELAXED))
		return;
	if (!count && __atomic_load_n(&header->guest_waits, __ATOMIC_RELAXED))
		cmd_note("burin: no calls: none began after --guest-start and before --guest-stop\n");
	else if (options->ranges.count || options->calls.count)
		note_words(options, session, count);
	else if (!count && options->level != GUEST_ALL)
		cmd_note("burin: no calls: none was made by code of --guest-level %s, or no guest ran; "
			 "--guest is for qemu-system-... without KVM\n",
			 guest_levels[options->level]);
	else if (!count)
		cmd_note("burin: no calls: no guest ran; --guest is for qemu-system-... without KVM\n");
}
