/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin record: options. A command is run by record_command.c, a running program is recorded by record_target.c. */
#include "cmd/record/cmd_record.h"
#include "cmd/selection_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/record/guests/guest_socket.h"
#include "wire/wire_context.h"
#include "wire/wire_terms.h"

enum {
	SOCKET_MIN = 3,	       /* descriptors below are the standard ones */
	FREQUENCY_MAX = 20000, /* beyond, samples take most of the time of a CPU, or are lost */
};

static char *no_command[] = { NULL };

/* A ring of 16M holds 140 ms at 120 MB/s: so long the recorder may be kept from running. */
static struct record_options options = {
	.session = { .mode = WIRE_MODE_STREAM,
		     .buffer_bytes = 16 << 20, /* per CPU */
		     .buffer_max = 64 << 20,
		     .packet_bytes = 64 << 10,
		     .string_max = WIRE_STRING_MAX },
	.sampling = { .event = SAMPLING_EVENT,
		      .frequency = 997,
		      .graph = PERF_GRAPH_BOTH,
		      .names_ns = CMD_SYMBOLS_DEADLINE_NS },
	.kernel = { .buffer_bytes = 4 << 20 },
	.follow = RECORD_FOLLOW_UNSAID,
	.command = no_command,
};
static struct view_globs events;
/* Given options: the last one that only a command can have, the last one of samples, the one that chooses processes, and
 * the last ones of calls and of guests. */
static char own[OPTION_NAME], asked[OPTION_NAME], whom[OPTION_NAME], calls_given[OPTION_NAME],
	guest_given[OPTION_NAME];

static bool parse_context(const char *value)
{
	return context_parse(value, &options.session.context);
}

static bool parse_sample_event(const char *value)
{
	static bool given;
	const bool again = given;

	given = true;
	options.sampling.event = value;
	return !again;
}

/* "10m" is ten minutes, not a size. */
static bool parse_split(const char *value)
{
	struct chunk_limits *split = &options.split;

	split->bytes = split->ns = 0;
	return (number_parse_duration(value, &split->ns) || number_parse_size(value, &split->bytes)) &&
	       (split->ns || split->bytes);
}

static const char *const contexts[] = { "correlation", "depth", NULL };

static const char *const formats[] = { [RECORD_BURIN] = "burin", [RECORD_UFTRACE] = "uftrace", NULL };

static const char *const follows[] = { [RECORD_FOLLOW_NO] = "no", [RECORD_FOLLOW_YES] = "yes", NULL };

static const char *const scheds[] = { [KERNEL_SCHED_NONE] = "none",
				      [KERNEL_SCHED_SWITCHES] = "switches",
				      [KERNEL_SCHED_STACKS] = "stacks",
				      [KERNEL_SCHED_WAKERS] = "wakers",
				      NULL };

static const struct cmd_option table[] = {
	OPTION_HEADING("what", "What is recorded"),
	OPTION_LIST("-e, --event GLOB", &events,
		    "record the events whose names match; may be repeated (default: all). With TARGET, "
		    "matching events are switched on meanwhile (default: all, if none is on), others not "
		    "recorded",
		    .often = 2),
	CMD_WHERE(&options.where.conditions,
		  "of the events that --event names, record only those of which EXPR is true, such as "
		  "'ms > 20'; 'GLOB: EXPR' is for the events of these names; may be repeated"),
	OPTION_FLAG("-a, --all", &options.sampling.system,
		    "sample the whole machine, while COMMAND runs, or until Ctrl-C", .given = whom,
		    .alone = true, .often = 3),
	OPTION_NUMBERS("-p, --pid PID,...", &options.sampling.processes, INT32_MAX,
		       "sample these processes and all that they have started and will start; with --calls: "
		       "record the "
		       "calls of this one",
		       .given = whom, .alone = true, .often = 4),
	OPTION_NUMBER("-t, --thread TID", &options.sampling.thread, 1, INT32_MAX, "sample this thread",
		      .given = whom, .alone = true,
		      .hint = "give a thread's number; only calls that take long: --min TIME"),
	OPTION_CHOICE("--follow[=WHETHER]", &options.follow, follows,
		      "go on after COMMAND's end until the last process that it started and that has "
		      "tracepoints or calls ends, such as a daemon, or until Ctrl-C: yes (default with "
		      "--calls) or no",
		      .absent = "yes", .given = own),
	OPTION_DURATION(
		"--counters[=TIME]", &options.counters.interval_ns, 1000000,
		"also record figures of the whole machine, each TIME (default: 100ms): how long tasks "
		"waited for CPUs, memory and disks (/proc/pressure), and what the disks did "
		"(/proc/diskstats), as events machine.*",
		.given = own, .absent = "100ms"),
	OPTION_DURATION("--duration TIME", &options.duration, 1,
			"end the recording after TIME; COMMAND goes on untraced (--for is the same)",
			.often = 10),
	OPTION_ALIAS("--for", "--duration"),
	OPTION_PARSED("--context FIELDS", parse_context, "give correlation, depth, or both with a comma",
		      "add to each record: correlation, depth, or both with a comma; see burin-context(3)",
		      .given = own, .names = contexts),
	OPTION_HEADING("samples", "Samples of the CPU time, and of waits"),
	OPTION_NUMBER("-F, --frequency HZ", &options.sampling.frequency, 1, FREQUENCY_MAX,
		      "samples per second and CPU (default: 997), at most 20000", .given = asked,
		      /* uftrace's -F has a function, its -t a time */
		      .hint = "give a number from 1 to 20000; functions by name: --calls=GLOB, below a "
			      "caller: --below GLOB",
		      .often = 5),
	OPTION_CHOICE("--call-graph HOW", &options.sampling.graph, perf_graph_names,
		      "how to unwind stacks: fp (frame pointers), dwarf (unwind tables, with a copy of each "
		      "stack), both (the default) or none",
		      .given = asked),
	OPTION_FLAG("--off-cpu", &options.sampling.off_cpu,
		    "also record where threads were blocked, and for how long", .given = asked, .often = 6),
	OPTION_PARSED("--sample-event E", parse_sample_event, "give it once: samples are of one event",
		      "cpu-clock (the default), cycles, page-faults, ..., a kernel tracepoint, such as "
		      "sched:sched_switch, or a probe, u:, uret: or usdt: as of -k: a stack of each hit",
		      .given = asked),
	OPTION_FLAG(
		"--timer", &options.sampling.timer,
		"sample by a timer in the program; automatic where the kernel does not permit perf events",
		.given = asked),
	OPTION_FLAG("--no-samples", &options.sampling.off, "record tracepoints only"),
	OPTION_HEADING("calls", "Calls of functions"),
	OPTION_LIST(
		"--calls[=GLOB]", &options.calls.globs,
		"record each call of the functions whose names match (default: all), of programs built with "
		"-finstrument-functions, -fpatchable-function-entry or -pg. GLOB may also be image:GLOB "
		"(programs and "
		"libraries), file:GLOB (source files; of a program that runs), 0xOFFSET or IMAGE+0xOFFSET; "
		"see "
		"burin-record(1). With a TARGET or one --pid: of a program that runs, if it has "
		"room for "
		"hooks. May be "
		"repeated",
		.given = calls_given, .absent = "*", .often = 7),
	OPTION_LIST("--no-calls GLOB", &options.calls.not, "all functions of --calls but these",
		    .given = calls_given),
	OPTION_NUMBER("--depth N", &options.calls.depth, 1, 65535,
		      "record a call if fewer than N recorded calls are open on its stack",
		      .given = calls_given),
	OPTION_DURATION("--min TIME", &options.calls.min_ns, 1, "record only calls that take TIME or longer",
			.given = calls_given),
	OPTION_LIST("--below GLOB", &options.calls.below,
		    "record only calls of these functions, and calls below them", .given = calls_given),
	OPTION_FLAG("--count-calls", &options.calls.count, "only count the calls of each function",
		    .given = calls_given),
	OPTION_LIST("--args GLOB@SPEC", &options.calls.arguments,
		    "also record arguments and results of these functions: SPEC is NAME/TYPE,... with a TYPE "
		    "of i, u, x "
		    "(perhaps with 8, 16, 32, 64), s, p, f, d, c, b, and retval/TYPE; such as "
		    "'open@path/s,flags/x,retval/i'",
		    .given = calls_given),
	OPTION_LIST(
		"--auto-args[=GLOB]", &options.calls.automatic,
		"also record arguments and results of the functions whose names match (default: all), as the "
		"debug information of COMMAND, its libraries and what it loads later describes them; --args "
		"comes first",
		.given = calls_given, .absent = "*"),
	OPTION_FLAG("--libcalls", &options.calls.libraries,
		    "record each call that a program makes to functions of libraries; it needs no hooks",
		    .given = calls_given),
	OPTION_FLAG("--nest-libcalls", &options.calls.nested,
		    "the same, also calls that libraries make to other libraries", .given = calls_given),
	OPTION_HEADING("guests", "Guests of QEMU"),
	OPTION_FLAG(
		"--guest", &options.guest.on,
		"record each call of the guest, kernel and programs; COMMAND is qemu-system-x86_64 or "
		"qemu-system-aarch64. burin symbols --guest vmlinux=FILE DIR gives the functions their names",
		.given = guest_given),
	OPTION_CHOICE("--guest-level LEVEL", &options.guest.level, guest_levels,
		      "with --guest: record calls of kernel code only, of user code only, or all (default)",
		      .given = guest_given),
	OPTION_LIST("--guest-range BEGIN-END", &options.guest.ranges,
		    "with --guest: record only functions whose addresses are in this range (hexadecimal, END "
		    "exclusive). May be repeated",
		    .given = guest_given),
	OPTION_LIST("--guest-calls GLOB", &options.guest.calls,
		    "with --guest-kernel or --guest-program: record only functions whose names match. May be "
		    "repeated",
		    .given = guest_given),
	OPTION_TEXT(
		"--guest-kernel FILE", &options.guest.kernel,
		"with --guest: the guest's kernel, for its functions, and for the names and pids of its "
		"processes: vmlinuz or vmlinux; or only for the functions a text such as System.map; or only "
		"for the processes a copy of /sys/kernel/btf/vmlinux",
		.given = guest_given),
	OPTION_LIST(
		"--guest-program FILE", &options.guest.programs,
		"with --guest: an ELF file of a program in the guest, for the names of its functions. May be "
		"repeated: each address space gets the file that fits it best",
		.given = guest_given),
	OPTION_TEXT(
		"--guest-start WHERE", &options.guest.start,
		"with --guest: record calls from when the guest executes this address, or function of "
		"--guest-kernel; from this time on, such as 2s, counted from its first call; or from when "
		"file:PATH exists",
		.given = guest_given),
	OPTION_TEXT("--guest-stop WHERE", &options.guest.stop,
		    "with --guest: record no call that begins after the guest executed this address, or "
		    "function; after this time; or when file:PATH exists",
		    .given = guest_given),
	OPTION_TEXT(
		"--guest-snapshot ADDRESS", &options.guest.snapshot,
		"with --guest and --mode flight: write a snapshot when the guest is about to execute this "
		"address, or function, for the first time",
		.given = guest_given),
	OPTION_CHOICE(
		"--guest-clock CLOCK", &options.guest.clock, guest_clocks,
		"with --guest: times are those of the host (default), or the number of instructions that "
		"the guest, of one processor, has executed",
		.given = guest_given),
	OPTION_CHOICE(
		"--guest-threads WHAT", &options.guest.threads, guest_threads,
		"with --guest: a thread of the trace is a stack of the guest (default), or a vcpu with its "
		"privilege level: id (vCPU + 1) * 100 + level in --format uftrace",
		.given = guest_given),
	OPTION_NUMBER("--guest-socket FD", &options.guest.socket, SOCKET_MIN, INT32_MAX, NULL,
		      .given = guest_given),
	OPTION_FLAG("--guest-lossless", &options.guest.lossless,
		    "with --guest: the guest waits while the recorder is too slow, so that no call is lost",
		    .given = guest_given),
	OPTION_FLAG("--guest-report", &options.guest.report,
		    "with --guest: print how many calls and returns there were", .given = guest_given),
	OPTION_HEADING("kernel", "Events of the kernel"),
	OPTION_LIST(
		"-k, --kernel GLOB", &options.kernel.globs,
		"also record the kernel's tracepoints whose names, such as sched:sched_switch or "
		"syscalls:sys_enter_openat, match, while COMMAND, TARGET or the processes of --pid run, or "
		"with --all of the whole machine; may be repeated. Also probes: u:FILE:FUNCTION, uret:..., "
		"with FUNCTION such as main, ns::Class::method, 'ns::f(int)', main+0x10, 0x1234 or "
		"parse.c:120, "
		"usdt:FILE:PROVIDER:NAME, k:FUNCTION. See burin-kernel(7)",
		.often = 8),
	OPTION_LIST(
		"--k-where EXPR", &options.kernel.where,
		"with --kernel: record only events of which EXPR is true, such as 'ret < 0'; 'GLOB: EXPR' is "
		"for those of these names; may be repeated. See burin-kernel(7)"),
	OPTION_SIZE("--kernel-buffer SIZE", &options.kernel.buffer_bytes, 4 * KERNEL_PACKET, 512 << 20,
		    "size of each CPU's two ring buffers of kernel events (default: 4M)"),
	OPTION_CHOICE("--sched[=WHAT]", &options.kernel.sched, scheds,
		      "the same for what burin report --sched needs\n"
		      "switches: switches, wake-ups, migrations, forks and exits (default)\n"
		      "stacks: also the stacks of threads that wait, as --off-cpu\n"
		      "wakers: also the stacks of the threads that wake them",
		      .absent = "switches", .often = 9),
	OPTION_HEADING("output", "The trace"),
	OPTION_TEXT("-o, --output DIR", &options.output,
		    "the trace; must not exist (default: COMMAND.burin). The umask decides which users may "
		    "read it; with --all, --kernel, and for a program of another user, only its owner may",
		    .often = 1),
	OPTION_CHOICE("--format FORMAT", &options.format, formats,
		      "burin: a trace (default)\n"
		      "uftrace: with --calls, --libcalls or --guest, a data directory for uftrace (default: "
		      "uftrace.data); see "
		      "burin-export(1)",
		      .given = own),
	OPTION_CHOICE(
		"--mode MODE", &options.session.mode, wire_mode_keys,
		"stream: write all records to disk; if the disk is too slow, new records are "
		"discarded, and counted (default)\n"
		"flight: keep the last records of each CPU in memory, and write them at the end; and as a "
		"snapshot, OUTPUT-1 and so on, for each SIGUSR1",
		.given = own),
	OPTION_PARSED("--split LIMIT", parse_split, "give a size, such as 1G, or a time, such as 10m",
		      "split the trace into DIR/0001, DIR/0002, ..., each a trace of about this size (1G) or "
		      "age (10m)"),
	OPTION_NUMBER("--keep N", &options.split.keep, 1, 1000000,
		      "remove the oldest chunks of --split, so that at most N stay"),
	OPTION_FLAG("--no-symbols", &options.sampling.no_symbols,
		    "do not look up function names; burin symbols does it later"),
	OPTION_DURATION(
		"--names-deadline TIME", &options.sampling.names_ns, 0,
		"stop the look-up of names after TIME; 0s: no limit (default: " CMD_SYMBOLS_DEADLINE_TEXT
		")"),
	OPTION_FLAG("-q, --quiet", &options.quiet, "print no summary and no progress"),
	OPTION_HEADING("limits", "Sizes and limits"),
	OPTION_SIZE("--buffer SIZE", &options.session.buffer_bytes, 4 * WIRE_PACKET_MIN, UINT64_C(16) << 30,
		    "size of each CPU's ring buffer (default: 16M)", .given = own),
	OPTION_SIZE("--buffer-max SIZE", &options.session.buffer_max, 4 * WIRE_PACKET_MIN, UINT64_C(16) << 30,
		    "the limit of burin resize (default: 64M)", .given = own),
	OPTION_SIZE("--packet SIZE", &options.session.packet_bytes, WIRE_PACKET_MIN, WIRE_PACKET_MAX,
		    "size of a ring's packets (default: 64K)", .given = own),
	OPTION_SIZE("--sample-buffer SIZE", &options.sampling.buffer_bytes, SAMPLING_BUFFER_MIN,
		    SAMPLING_BUFFER_MAX,
		    "size of each CPU's ring of samples (default: 8M with copies of stacks, else 512K)",
		    .given = asked),
	OPTION_SIZE(
		"--stack-size SIZE", &options.sampling.stack_bytes, 8, PERF_STACK_MAX,
		"largest copy of a stack (default: 65528, the kernel's limit; 32K above 2 kHz and in small "
		"rings)",
		.given = asked),
	OPTION_NUMBER("--string-max N", &options.session.string_max, 16, 60000,
		      "longest string kept, in bytes (default: 4096)", .given = own),
	OPTION_NUMBER("--functions-max N", &options.calls.functions_max, 1, WIRE_CALL_FUNCTIONS_MAX - 1,
		      "room for functions whose calls are recorded (default: 262143)", .given = own),
	OPTION_COMMAND(&options.command),
	{ 0 },
};

/* --sched with stacks is --off-cpu, and more. Return: 0 or CMD_USAGE. */
static int add_stacks_of_sched(void)
{
	struct sampling_options *sampling = &options.sampling;

	if (options.kernel.sched < KERNEL_SCHED_STACKS)
		return 0;
	if (sampling->off || sampling->timer)
		return cmd_usage("--sched=%s: stacks are taken with samples; remove %s",
				 scheds[options.kernel.sched], sampling->off ? "--no-samples" : "--timer");
	sampling->off_cpu = true;
	sampling->wakers = options.kernel.sched == KERNEL_SCHED_WAKERS;
	snprintf(asked, sizeof(asked), "--sched=%s", scheds[options.kernel.sched]);
	return 0;
}

/* Return: 0 or CMD_USAGE. */
static int check_conflicts(void)
{
	const struct sampling_options *sampling = &options.sampling;
	const bool split = options.split.bytes || options.split.ns;

	if (!options.target && !*options.command && (!record_has_machine(&options) || !*whom))
		return cmd_usage("no command given; try: burin record -- PROGRAM ARGUMENTS");
	if (options.kernel.globs.count && (options.guest.on || options.format == RECORD_UFTRACE))
		return cmd_usage("--kernel: remove %s", options.guest.on ? "--guest" : "--format uftrace");
	if (options.counters.interval_ns && (options.guest.on || options.format == RECORD_UFTRACE))
		return cmd_usage("--counters: remove %s", options.guest.on ? "--guest" : "--format uftrace");
	if (options.counters.interval_ns > COUNTERS_INTERVAL_MAX)
		return cmd_usage("--counters: give at most 1h");
	if (options.kernel.where.count && !options.kernel.globs.count)
		return cmd_usage("--k-where: there are no kernel events; add --kernel");
	if (options.where.conditions.count && !*options.command && !options.target)
		return cmd_usage("--where: there is no COMMAND or TARGET whose events it is for");
	if (options.split.keep && !split)
		return cmd_usage("--keep: there are no chunks; add --split, which makes them");
	if (options.target && *own)
		return cmd_usage("%s: %s has its own buffers, as a running program; remove this option", own,
				 options.target);
	if (*calls_given && !options.target && *whom)
		return cmd_usage("%s: give a COMMAND, a TARGET or one pid: --pid PID; remove %s", calls_given,
				 whom);
	if (options.target && (options.calls.libraries || options.calls.nested))
		return cmd_usage("--libcalls: only a COMMAND can be started with them; remove %s",
				 options.target);
	if (options.target && options.calls.automatic.count)
		return cmd_usage("--auto-args: only for a COMMAND that is started with it; remove %s",
				 options.target);
	if (options.calls.functions_max && !*calls_given && !options.guest.on)
		return cmd_usage("--functions-max: there are no calls; add --calls, --libcalls or --guest");
	if (options.format == RECORD_UFTRACE && !*calls_given && !options.guest.on)
		return cmd_usage("--format uftrace: it has calls only; add --calls, --libcalls or --guest");
	if (options.format == RECORD_UFTRACE && split)
		return cmd_usage("--format uftrace: it cannot be split; remove --split");
	if (split && options.session.mode == WIRE_MODE_FLIGHT)
		return cmd_usage("--split: --mode flight writes only at the end; use --mode stream");
	if (sampling->timer &&
	    (options.target || *whom || sampling->off_cpu || strcmp(sampling->event, SAMPLING_EVENT) != 0))
		return cmd_usage("--timer: it can sample only the CPU time of a COMMAND; remove %s",
				 options.target	     ? options.target
				 : *whom	     ? whom
				 : sampling->off_cpu ? "--off-cpu"
						     : "--sample-event");
	return 0;
}

/* Return: 0 or CMD_USAGE. */
static int check_guest(void)
{
	const char *with = options.target	     ? options.target
			   : *whom		     ? whom
			   : *calls_given	     ? calls_given
			   : options.session.context ? "--context"
						     : NULL;

	if (*guest_given && !options.guest.on)
		return cmd_usage("%s: there is no guest; add --guest", guest_given);
	if (guest_check(&options.guest, options.session.mode == WIRE_MODE_FLIGHT))
		return CMD_USAGE;
	if (options.guest.clock == GUEST_CLOCK_INSTRUCTIONS && *asked)
		return cmd_usage("--guest-clock instructions: samples have the host's clock; remove %s",
				 asked);
	if (options.guest.on && with)
		return cmd_usage("--guest: it records a COMMAND, which is QEMU, and its guest; remove %s",
				 with);
	return 0;
}

/* With --calls, --pid means a TARGET. */
static void choose_target(void)
{
	static char word[TEXT_SHORT];
	struct view_set *processes = &options.sampling.processes;

	if (!*calls_given || options.target || *options.command || processes->count != 1)
		return;
	snprintf(word, sizeof(word), "%" PRIu64, processes->numbers[0]);
	options.target = word;
	processes->count = 0;
	*whom = 0;
}

static bool is_among_events(const char *glob)
{
	for (size_t n = 0; n < events.count; n++)
		if (strcmp(events.globs[n], glob) == 0)
			return true;
	return false;
}

/* --event must not leave out events that another option asks for. Return: 0, or CMD_FAULTS after a message. */
static int cmd_record_add_events(const char *const *globs)
{
	for (; events.count && *globs; globs++) {
		if (is_among_events(*globs))
			continue;
		if (!array_reserve(events.globs, events.room, events.count + 2))
			return cmd_failed("out of memory");
		events.globs[events.count++] = *globs;
		events.globs[events.count] = NULL;
	}
	return 0;
}

static int add_events_of_options(void)
{
	static const char *const calls[] = { WIRE_CALL_EVENT, WIRE_CALL_PREFIX "*", NULL };
	int result = options.calls.on ? cmd_record_add_events(calls) : 0;

	for (size_t n = 0; !result && n < options.where.conditions.count; n++)
		result = cmd_record_add_events(
			(const char *const[]){ record_where_glob(options.where.conditions.globs[n]), NULL });

	if (!result && options.counters.interval_ns)
		result = cmd_record_add_events(counters_events);
	return result;
}

/* Return: 0, or CMD_FAULTS after a message. */
static int add_events_of_sched(void)
{
	/* Forks are task_newtask, which every recording of kernel events has. */
	static const char *const points[] = { "sched:sched_switch", "sched:sched_waking",
					      "sched:sched_migrate_task", "sched:sched_process_exit" };
	struct view_globs *globs = &options.kernel.globs;

	if (!options.kernel.sched)
		return 0;
	if (!array_reserve(globs->globs, globs->room, globs->count + sizeof(points) / sizeof(points[0]) + 1))
		return cmd_failed("out of memory");
	for (unsigned n = 0; n < sizeof(points) / sizeof(points[0]); n++)
		globs->globs[globs->count++] = points[n];
	globs->globs[globs->count] = NULL;
	return 0;
}

/* Set defaults that depend on other options. */
static void cmd_record_complete(void)
{
	static const char *all[] = { "*", NULL }, *calls[] = { WIRE_CALL_EVENT "*", NULL };

	if (options.session.mode == WIRE_MODE_FLIGHT && !*asked && !*whom)
		options.sampling.off = true; /* samples would fill the disk, unlike the rings */
	options.globs = events.count ? events.globs : !options.target ? all : *calls_given ? calls : all + 1;
	options.globs_given = events.count;
	options.session.globs = options.globs;
	options.session.program = *options.command;
	if (options.follow == RECORD_FOLLOW_UNSAID)
		options.follow = *calls_given ? RECORD_FOLLOW_YES : RECORD_FOLLOW_NO;
	options.calls.libraries |= options.calls.nested;
	options.calls.no_hooks = options.calls.libraries && !options.calls.globs.count;
	options.calls.no_symbols = options.sampling.no_symbols; /* a TARGET may have calls, too */
	options.calls.names_ns = options.sampling.names_ns;
	if (options.calls.on) {
		/* The number 0 stands for no function. */
		options.session.functions_max =
			options.calls.functions_max ? options.calls.functions_max + 1 : WIRE_CALL_FUNCTIONS;
		options.session.guest_clock = options.guest.clock == GUEST_CLOCK_INSTRUCTIONS;
		options.sampling.off |= !*asked; /* both at once disturb each other */
	}
	/* A ring needs room for at least four packets. */
	if (options.session.packet_bytes * 4 > options.session.buffer_bytes)
		options.session.buffer_bytes = options.session.packet_bytes * 4;
}

static int cmd_record_run(char **operands)
{
	pid_t qemu = 0;
	int result;

	options.target = operands[0];
	if (options.guest.socket) {
		qemu = guest_socket_peer(options.guest.socket, &options.command);
		if (!qemu)
			return CMD_FAULTS;
	}
	choose_target();
	result = add_events_of_sched();
	if (!result)
		result = add_stacks_of_sched();
	if (!result)
		result = check_conflicts();
	options.where.events = events.count;
	if (!result)
		result = record_where_check(&options.where);
	if (!result)
		result = sampling_check(&options.sampling);
	if (!result)
		result = calls_check(&options.calls);
	if (!result)
		result = check_guest();
	options.calls.guest = options.guest.on;
	options.calls.on = *calls_given || options.guest.on;
	if (!result)
		result = add_events_of_options();
	if (result)
		return result;
	cmd_record_complete();
	if (qemu && !options.sampling.off && sampling_choose(&options.sampling, qemu))
		return cmd_failed("out of memory");
	if (options.guest.on) {
		result = guest_command(&options.guest, &options.command);
		if (result)
			return result;
	}
	return options.target ? record_target(&options) : record_command(&options);
}

const struct cmd cmd_record = {
	.name = "record",
	.line = "run a program, or attach to a running one, and write a trace directory",
	.usage = "Usage: burin record [OPTION]... -- COMMAND [ARGUMENT]...\n"
		 "       burin record [OPTION]... TARGET\n"
		 "\n"
		 "Run COMMAND, and write the events of it and of every process that it starts into a\n"
		 "trace directory. Exits with COMMAND's status.\n"
		 "Or attach to TARGET, a running program (a pid, a name or a session's path; see\n"
		 "burin ls) or kernel, and record it until Ctrl-C or its end, without disturbing it.\n"
		 "Both are also sampled: the trace has stacks of where the CPU time went.\n",
	.notes = "TARGET has its own buffers, so --mode, --buffer, --buffer-max, --packet, --string-max\n"
		 "and --context are for COMMAND only (burin resize changes the size). Records of TARGET\n"
		 "that are overwritten before they are read are counted as lost.\n"
		 "Sizes take K, M or G; times are such as 250ms, 10s, 5m, 1h. Ctrl-C (SIGINT) reaches\n"
		 "COMMAND; the trace is complete when COMMAND has ended. A second Ctrl-C ends the\n"
		 "recording at once.\n"
		 "If DEBUGINFOD_URLS names debuginfod servers, missing names are downloaded at the end.\n",
	.options = table,
	.operands = { 0, 1, NULL, { CMD_IS_TARGET } },
	.main = cmd_record_run,
};
