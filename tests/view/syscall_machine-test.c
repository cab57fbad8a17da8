/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Flags of system calls get the names of the machine that recorded them, whichever one the reader runs on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <asm/mman.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#include "synth.h"
#include "view/syscalls/syscall_dump.h"
#include "view/syscalls/values/syscall_words.h"
#include "wire/wire_event.h"

/* Calls with a number as their last argument. */
static void write_trace(const char *path, const char *machine)
{
	const struct synth_options options = { .machine = machine };
	struct synth *synth = synth_new(path, &options);
	const uint32_t opens = synth_event(synth, "kernel.syscalls:sys_enter_openat",
					   "dfd=%d filename=%s flags=%d", 0x4d4, WIRE_KIND_EVENT, "", 0);
	const uint32_t maps = synth_event(synth, "kernel.syscalls:sys_enter_mmap", "prot=%lu flags=%lu", 0x99,
					  WIRE_KIND_EVENT, "", 0);
	const uint32_t sets = synth_event(synth, "kernel.syscalls:sys_enter_arch_prctl", "option=%d", 0x4,
					  WIRE_KIND_EVENT, "", 0);
	struct synth_ring *ring = synth_ring(synth, 0, false);

	synth_recordf(ring, 1000, opens, 1, "dsd", -100, "a", 040000);
	synth_recordf(ring, 2000, opens, 1, "dsd", -100, "a", 0100000);
	synth_recordf(ring, 3000, opens, 1, "dsd", -100, "a", 0200000);
	synth_recordf(ring, 4000, opens, 1, "dsd", -100, "a", 0400000);
	synth_recordf(ring, 5000, opens, 1, "dsd", -100, "a", 020200002);
	synth_recordf(ring, 6000, opens, 1, "dsd", -100, "a", 020040002);
	synth_recordf(ring, 7000, opens, 1, "dsd", -100, "a", 02000101);
	synth_recordf(ring, 8000, maps, 1, "qq", (uint64_t)0x31, (uint64_t)0x62);
	synth_recordf(ring, 9000, sets, 1, "d", 0x1002);
	synth_finish(synth);
}

/* The arguments of all lines, which end in ` <unfinished ...>`. */
static char *dumped(const char *path)
{
	static char text[8192], found[8192];
	struct burin_trace *trace;
	struct view_dump dump = { .file = memfd_create("dump", MFD_CLOEXEC) };
	ssize_t bytes;

	assert_true(dump.file >= 0);
	assert_int_equal(burin_trace_open(&trace, path, NULL, NULL), 0);
	assert_int_equal(view_syscall_dump(trace, &dump), 0);
	burin_trace_close(trace);
	bytes = pread(dump.file, text, sizeof(text) - 1, 0);
	close(dump.file);
	assert_true(bytes > 0);
	text[bytes] = 0;
	found[0] = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = strstr(line, " <unfinished");

		assert_non_null(end);
		*end = 0;
		strcat(strcat(found,
			      strstr(line, "a\", ") ? strstr(line, "a\", ") + 4 : strchr(line, '(') + 1),
		       "\n");
	}
	return found;
}

static void compare(const char *machine, const char *wanted)
{
	char root[128], path[160];

	assert_non_null(synth_directory(root, sizeof(root)));
	snprintf(path, sizeof(path), "%s/trace", root);
	write_trace(path, machine);
	assert_string_equal(dumped(path), wanted);
	synth_remove(root);
}

static void names_of_each_machine(void **state)
{
	const char x86[] = "O_RDONLY|O_DIRECT\nO_RDONLY|O_LARGEFILE\nO_RDONLY|O_DIRECTORY\nO_RDONLY|O_"
			   "NOFOLLOW\nO_RDWR|O_TMPFILE\n"
			   "O_RDWR|O_DIRECT|0x400000\nO_WRONLY|O_CREAT|O_CLOEXEC\nPROT_READ|0x10|0x20, "
			   "MAP_PRIVATE|MAP_ANONYMOUS|MAP_32BIT\nARCH_SET_FS\n";
	const char arm[] = "O_RDONLY|O_DIRECTORY\nO_RDONLY|O_NOFOLLOW\nO_RDONLY|O_DIRECT\nO_RDONLY|O_"
			   "LARGEFILE\nO_RDWR|O_DIRECT|0x400000\n"
			   "O_RDWR|O_TMPFILE\nO_WRONLY|O_CREAT|O_CLOEXEC\nPROT_READ|PROT_BTI|PROT_MTE, "
			   "MAP_PRIVATE|MAP_ANONYMOUS|0x40\n4098\n";

	(void)state;
	compare("x86_64", x86);
	compare("aarch64", arm);
	compare(NULL, x86);
}

/* A number is better than the name that it has elsewhere. */
static void numbers_of_an_unknown_machine(void **state)
{
	(void)state;
	compare("riscv64", "16384\n32768\n65536\n131072\n4259842\n4210690\n524353\n49, 98\n4098\n");
}

/* 0: no argument has such a word. */
static uint64_t value_of(const struct syscall_machine *machine, const char *name)
{
	for (unsigned n = 0; n < syscall_argument_count; n++) {
		const struct syscall_words *words = &machine->words[syscall_arguments[n].words];

		for (unsigned word = 0; syscall_arguments[n].form == SYSCALL_WORDS && word < words->count;
		     word++)
			if (strcmp(words->words[word].name, name) == 0)
				return words->words[word].value;
	}
	return 0;
}

/* The values of this machine are those of its headers, also where the script states them. */
static void values_of_the_headers(void **state)
{
#define WORD(word)          \
	{                   \
#word, word \
	}
	static const struct {
		const char *name;
		uint64_t value;
	} words[] = {
		WORD(O_DIRECT),	   WORD(O_DIRECTORY),	 WORD(O_NOFOLLOW),
		WORD(O_TMPFILE),   WORD(O_CLOEXEC),	 WORD(MAP_ANONYMOUS),
#ifdef MAP_32BIT
		WORD(MAP_32BIT),
#endif
#ifdef PROT_BTI
		WORD(PROT_BTI),
#endif
#ifdef PROT_MTE
		WORD(PROT_MTE),
#endif
#ifdef ARCH_SET_FS
		WORD(ARCH_SET_FS), WORD(ARCH_GET_CPUID),
#endif
	};
	const struct syscall_machine *machine = NULL;
	struct utsname host;

	(void)state;
	assert_int_equal(uname(&host), 0);
	for (unsigned n = 0; n < syscall_machine_count; n++)
		if (strcmp(syscall_machines[n].name, host.machine) == 0)
			machine = &syscall_machines[n];
	assert_non_null(machine);
	for (unsigned n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (value_of(machine, words[n].name) != words[n].value)
			fail_msg("%s is %#llx, not %#llx", words[n].name, (unsigned long long)words[n].value,
				 (unsigned long long)value_of(machine, words[n].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_each_machine),
		cmocka_unit_test(numbers_of_an_unknown_machine),
		cmocka_unit_test(values_of_the_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
