/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program in the place of QEMU: it loads the plugin, and "executes" what a scene says, through the plugin's callbacks. So the plugin meets
 * versions of the interface that no QEMU here has, kernels that cannot be had, and guests that lie.
 *
 *     guest-host VERSION SCENE -plugin PATH[,OPTIONS]
 *
 * It is compiled twice: with a text that the plugin takes for that of QEMU 11.1, it has version 7 of the interface and no other.
 *
 * At the end it prints how much of its own memory grew, in KiB.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "guest-host.h"

#ifndef QEMU
#define QEMU "10.0.2"
#endif

static const uint64_t code = 0xffffffff81000000;

/* A call and its return. */
static void run(uint64_t function, uint64_t sp)
{
	call(code, function, sp);
	leave(function + 3, code + 5, sp);
}

static void add_vcpu(unsigned index)
{
	if (is_7)
		on_vcpu.function.vcpu_7(index, on_vcpu.data);
	else
		on_vcpu.function.vcpu(1, index);
}

static void scene_calls(void)
{
	for (unsigned n = 0; n < 1000; n++)
		run(code + 0x1000, 0xffffc90000003f00);
}

/* A return whose address a tracer in the guest has changed; and an indirect jump that is made of a call and a return. */
static void scene_returns(void)
{
	const uint64_t sp = 0xffffc90000003f00;

	for (unsigned n = 0; n < 10; n++) {
		call(code, code + 0x1000, sp);
		leave(code + 0x1003, code + 0x6000, sp);
		call(code, code + 0x3000, sp);
		call(code + 0x3000, code + 0x300c, sp - 8);
		leave(code + 0x3010, code + 0x4000, sp - 8);
		leave(code + 0x4003, code + 5, sp);
	}
}

/*
 * Only code + 0x1000 is recorded. Its calls are ended by their returns, however many returns of others come before: on the same stack, on
 * another one, and in another program whose stack is at the same address.
 */
static void scene_part(void)
{
	const uint64_t kernel = 0xffffc90000003f00, other = 0xffffc90000007f00, program = 0x7ffffff0;

	for (unsigned n = 0; n < 10; n++) {
		leave(code + 0x2003, code + 0x3000, kernel);
		call(code, code + 0x1000, kernel);
		for (uint64_t depth = 8; depth < 80; depth += 8)
			leave(code + 0x2003, code + 0x3000, kernel - depth);
		leave(code + 0x2003, code + 0x3000, other);
		call(code, code + 0x1000, other);
		leave(code + 0x2003, code + 0x3000, kernel - 8);
		leave(code + 0x1003, code + 5, other);
		leave(code + 0x2003, code + 0x3000, kernel - 8);
		call(code, code + 0x1000, kernel - 0x100);
		leave(code + 0x1003, code + 5, kernel - 0x100);
		leave(code + 0x1003, code + 5, kernel);
	}
	registers[CS] = 3;
	for (unsigned n = 0; n < 20; n++) {
		registers[CR3] = 0x1000 * (1 + n % 2);
		come_back();
		leave(0x2003, 0x3000, program - 0x2000);
		if (n < 2)
			call(0x4000, code + 0x1000, program - 0x1000 * n);
		else if (n >= 18)
			leave(code + 0x1003, 0x4005, program - 0x1000 * (n % 2));
	}
}

/* A kernel that starts three times, each time with its functions elsewhere; the functions of one lie inside those of another. */
static void scene_again(void)
{
	for (unsigned boot = 0; boot < 3; boot++)
		for (unsigned n = 1; n <= 40; n++)
			run(code + boot * 0x400000 + n * 0x40130, 0xffffc90000003f00);
}

/* A guest that does not come further than its firmware. */
static void scene_firmware(void)
{
	for (unsigned n = 1; n <= 300; n++) {
		call(0xe0000, 0xe0100 + (n * 7919 & 0xffff) * 16, 0x7000);
		leave(0xe0103, 0xe0005, 0x7000);
	}
}

/* Tasks with stacks of 32 KiB, of which each uses the upper half, and one the lower half. */
static void scene_large(void)
{
	registers[GS_BASE] = base;
	for (unsigned turn = 0; turn < 10; turn++)
		for (unsigned n = 1; n <= 4; n++) {
			task.address = 0xffff888100000000 + n * 0x10000;
			task.stack = 0xffffc90000000000 + n * 0x10000;
			task.pid = task.process = n;
			snprintf(task.name, sizeof(task.name), "task%u", n);
			run(code + 0x1000, task.stack + 0x7f00);
			if (turn == 9)
				run(code + 0x1000, task.stack + 0x1000);
		}
}

/* Real mode, where the number of the code segment may be any, and a program at the same place. */
static void scene_real(void)
{
	for (unsigned n = 0; n < 10; n++) {
		registers[CS] = 0xf003 - n % 4;
		registers[CR0] = 0;
		come_back();
		call(0x1000, 0x2000, 0x7f00);
		leave(0x2003, 0x1005, 0x7f00);
	}
	registers[CS] = 0x33;
	registers[CR0] = 1;
	come_back();
	call(0x1000, 0x2000, 0x7f00);
	leave(0x2003, 0x1005, 0x7f00);
}

/* A task that executes a program: an interrupt comes after it has the new address space, and before it has the new name. */
static void scene_exec(void)
{
	registers[GS_BASE] = base;
	registers[CR3] = 0x1000;
	task.address = 0xffff888100010000;
	task.stack = 0xffffc90000010000;
	task.pid = task.process = 1;
	strcpy(task.name, "former");
	run(code + 0x1000, task.stack + 0x3f00);
	registers[CR3] = 0x2000;
	run(code + 0x2000, 0xffffc90000f03f00);
	run(code + 0x1000, task.stack + 0x3f00);
	strcpy(task.name, "new");
	run(code + 0x2000, 0xffffc90000f03f00);
	run(code + 0x1000, task.stack + 0x3f00);
}

/* A stack pointer at the end of the address space. An access there goes on at its begin. */
static void scene_edge(void)
{
	for (unsigned n = 0; n < 100; n++) {
		leave(code + 0x1003, code + 5, UINT64_MAX);
		call(code, code + 0x1000, UINT64_MAX);
		call(code, code + 0x1000, UINT64_MAX);
		leave(code + 0x1003, code + 5, UINT64_MAX);
		leave(code + 0x1003, code + 5, UINT64_MAX);
		run(code + 0x2000, 0xffffc90000003f00);
	}
}

/* Code that several vCPUs execute: a call, one over a few bytes, one of where that goes, and a return. */
static struct {
	on_access function;
	void *data;
} shared[4];

static void keep(unsigned n)
{
	shared[n].function = instruction->function;
	shared[n].data = instruction->data;
}

/* Execute such code once more. @value: what it stores or loads; code without callbacks has no function */
static void execute_kept(unsigned n, uint64_t sp, uint64_t value)
{
	accessed = value;
	if (shared[n].function)
		shared[n].function(0, 0, sp, shared[n].data);
}

/*
 * A kernel runs a call and a return in the lower half of the address space before its page tables have the upper one, where both run later.
 * They are translated once. Programs have both, too.
 */
static void scene_halves(void)
{
	const uint64_t early = 0x7f00, kernel = 0xffffc90000003f00, program = 0x7ffffff0;

	call(0x1000000, 0x1001000, early);
	keep(0);
	leave(0x1001003, 0x1000005, early);
	keep(1);
	for (unsigned n = 0; n < 100; n++) {
		registers[CS] = 0;
		call(code, code + 0x2000, kernel);
		execute_kept(0, kernel - 0x10, code + 5);
		execute_kept(1, kernel - 0x10, code + 5);
		execute_kept(1, kernel, code + 5);
		execute_kept(0, early - 0x10, code + 5); /* on a stack in the lower half */
		execute_kept(1, early - 0x10, code + 5);
		come_back();
		registers[CS] = 3;
		execute_kept(0, program, 0x1000005);
		execute_kept(1, program, 0x1000005);
		come_back();
	}
}

static void *run_shared(void *data)
{
	const unsigned vcpu = (unsigned)(uintptr_t)data;
	uint64_t state = 88172645463325252 + vcpu, sp = 0xffffc90000003ff8;

	add_vcpu(vcpu);
	for (unsigned n = 0; n < 1000000; n++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		if (state >> 55 == 0) /* far away, on the same stack */
			sp = 0xffffc90000000000 + (state >> 32 & 0x3ff8);
		else if (state >> 63)
			sp -= sp & 0x3ff8 ? 8 : 0;
		else
			sp += (~sp & 0x3ff8) != 0 ? 8 : 0;
		shared[state >> 60 & 3].function(vcpu, 0, sp, shared[state >> 60 & 3].data);
	}
	return NULL;
}

/* Two vCPUs run one stack at a time. Afterwards one runs another stack. */
static void scene_shared(void)
{
	pthread_t other;

	call(code, code + 0x1000, 0xffffc90000003ff8);
	keep(0);
	call(code + 0x1000, code + 0x100c, 0xffffc90000003ff0);
	keep(1);
	call(code + 0x20, code + 0x2000, 0xffffc90000003fe8);
	keep(2);
	leave(code + 0x1010, code + 0x3000, 0xffffc90000003fe8);
	keep(3);
	if (pthread_create(&other, NULL, run_shared, (void *)1) != 0)
		exit(3);
	run_shared((void *)2);
	pthread_join(other, NULL);
	for (unsigned n = 0; n < 1000; n++)
		run(code + 0x5000, 0xffffc90000007f00);
}

/* Two threads of a process, whose stacks lie side by side. */
static const uint64_t stacks_of_threads[] = { 0x7f1000, 0x7f8000 };

static uint64_t thread(unsigned n)
{
	registers[FS_BASE] = 0x100 * (n + 1);
	return stacks_of_threads[n];
}

/* Two vCPUs by turns in one thread of QEMU, which gives all callbacks one index: each runs a thread of a process. */
static void scene_turns(void)
{
	add_vcpu(1);
	registers[CS] = 3;
	registers[CR3] = 0x1000;
	for (unsigned n = 0; n < 100; n++) {
		for (unsigned one = 0; one < 2; one++)
			call(0x4000, 0x5000 + 0x1000 * one, thread(one));
		for (unsigned one = 0; one < 2; one++)
			call(0x5000 + 0x1000 * one, 0x7000, thread(one) - 0x10);
		for (unsigned one = 0; one < 2; one++)
			leave(0x7003, 0x5005 + 0x1000 * one, thread(one) - 0x10);
		for (unsigned one = 0; one < 2; one++)
			leave(0x5003 + 0x1000 * one, 0x4005, thread(one));
	}
}

/* Threads go to coroutines. Before the first call there, one is interrupted, and the other one runs. */
static void scene_coroutines(void)
{
	registers[CS] = 3;
	registers[CR3] = 0x1000;
	for (unsigned one = 0; one < 2; one++) {
		come_back();
		call(0x4000, 0x5000, thread(one));
	}
	for (unsigned one = 0; one < 2; one++) {
		come_back();
		load_sp(thread(one) - 0x10, thread(one) - 0x20000);
	}
	for (unsigned n = 0; n < 2; n++)
		for (unsigned one = 0; one < 2; one++) {
			come_back();
			call(0x6000, 0x7000, thread(one) - 0x20010);
			leave(0x7003, 0x6005, thread(one) - 0x20010);
		}
	for (unsigned one = 0; one < 2; one++) {
		come_back();
		load_sp(thread(one) - 0x20000, thread(one) - 0x10);
		leave(0x5003, 0x4005, thread(one));
	}
}

/*
 * QEMU loads a state that it saved in the middle of the second call. Later the third and fourth were open. Another program has then the process and
 * the address space of one that came later. Before that, QEMU discards its translations for another reason.
 */
static void scene_loaded(void)
{
	const uint64_t sp = 0xffffc90000003fc0;
	uint64_t saved[sizeof(kept) / sizeof(*kept)];

	registers[GS_BASE] = base;
	registers[CR3] = 0x10000;
	task.address = 0xffff888100010000;
	task.stack = 0xffffc90000000000;
	task.pid = task.process = 7;
	strcpy(task.name, "later");
	call(code, code + 0x1000, sp);
	call(code + 0x1000, code + 0x2000, sp - 0x40);
	flush();
	memcpy(saved, kept, sizeof(saved));
	leave(code + 0x2003, code + 0x1005, sp - 0x40);
	call(code + 0x1010, code + 0x3000, sp - 0x30);
	call(code + 0x3000, code + 0x4000, sp - 0x50);
	registers[CS] = 3;
	come_back();
	call(0x4000, 0x5000, 0x7ffffff0);
	leave(0x5003, 0x4005, 0x7ffffff0);
	registers[CS] = 0;
	memcpy(kept, saved, sizeof(saved));
	strcpy(task.name, "earlier");
	flush();
	call(code + 0x2000, code + 0x5000, sp - 0x80);
	leave(code + 0x5003, code + 0x2005, sp - 0x80);
	leave(code + 0x2003, code + 0x1005, sp - 0x40);
	leave(code + 0x1003, code + 5, sp);
	registers[CS] = 3;
	come_back();
	call(0x4000, 0x5000, 0x7ffffff0);
	leave(0x5003, 0x4005, 0x7ffffff0);
}

/* A task that executes another program and then ends, so that the next task gets its stack in the kernel. Calls of both programs do not return. */
static void scene_ends(void)
{
	registers[GS_BASE] = base;
	for (unsigned n = 0; n < 3; n++) {
		task.address = 0xffff888100010000 + (n == 2 ? 0x10000 : 0);
		task.stack = 0xffffc90000010000;
		task.pid = task.process = n == 2 ? 8 : 7;
		snprintf(task.name, sizeof(task.name), "program%u", n);
		registers[CR3] = 0x1000 * (n + 1);
		registers[CS] = 0;
		run(code + 0x1000, task.stack + 0x3f00);
		come_back();
		if (n == 2)
			break;
		registers[CS] = 3;
		call(0x4000, 0x5000 + 0x1000 * n, 0x7ffffff0);
		call(0x5000 + 0x1000 * n, 0x8000, 0x7fffffe0);
		come_back();
	}
}

/* Programs in address spaces of their own, each with functions at its own distance: two at one place, one that was moved, and an unknown one. */
static void scene_programs(void)
{
	static const struct {
		uint64_t at, distance, count;
	} programs[] = { { 0x401000, 0x100, 20 },
			 { 0x401000, 0x130, 20 },
			 { 0x555500001000, 0x1d0, 20 },
			 { 0x401000, 0x70, 10 } };

	for (unsigned program = 0; program < 4; program++) {
		registers[CS] = 0;
		registers[CR3] = 0x10000 * (program + 1);
		run(code + 0x1000, 0xffffc90000003f00);
		come_back();
		registers[CS] = 3;
		for (unsigned n = 1; n <= programs[program].count; n++) {
			const uint64_t function = programs[program].at + n * programs[program].distance;

			call(function - 0x10000, function, 0x7ffffff0);
			leave(function + 3, function - 0x10000 + 5, 0x7ffffff0);
		}
	}
}

/*
 * Processes that have one address space one after the other: of two programs at one place, then of the first one again. The second process changes
 * its name, and makes calls on another stack then.
 */
static void scene_reused(void)
{
	static const struct {
		uint32_t pid;
		const char *name;
		uint64_t distance, sp;
	} runs[] = { { 7, "a", 0x100, 0x7ffffff0 },
		     { 8, "b", 0x130, 0x7ffffff0 },
		     { 8, "other", 0x130, 0x6ffffff0 },
		     { 9, "a", 0x100, 0x7ffffff0 } };

	registers[GS_BASE] = base;
	registers[CR3] = 0x10000;
	for (unsigned n = 0; n < 4; n++) {
		task.address = 0xffff888100000000 + 0x10000 * runs[n].pid;
		task.stack = 0xffffc90000000000 + 0x10000 * runs[n].pid;
		task.pid = task.process = runs[n].pid;
		snprintf(task.name, sizeof(task.name), "%s", runs[n].name);
		registers[CS] = 0;
		run(code + 0x1000, task.stack + 0x3f00);
		come_back();
		registers[CS] = 3;
		for (unsigned at = 1; at <= 20; at++) {
			const uint64_t function = 0x401000 + at * runs[n].distance;

			call(function - 0x10000, function, runs[n].sp);
			leave(function + 3, function - 0x10000 + 5, runs[n].sp);
		}
		come_back();
	}
}

static uint64_t next_number(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* A guest whose stack pointers, address spaces, tasks and code are never the same again. */
static void scene_lies(unsigned rounds)
{
	registers[GS_BASE] = base;
	for (unsigned n = 0; n < rounds; n++) {
		const uint64_t sp = (n & 1 ? INT64_MIN : 0) | (next_number() & ~UINT64_C(7));
		const uint64_t function = code + (next_number() & 0xffffff0);

		task.address = UINT64_C(1) << 63 | next_number();
		task.stack = n & 2 ? next_number() : sp & ~UINT64_C(0x3fff);
		task.pid = (uint32_t)next_number();
		task.process = n & 4 ? (uint32_t)next_number() : (uint32_t)next_number() & 0xfffff;
		for (unsigned at = 0; at < sizeof(task.name); at++)
			task.name[at] = (char)next_number();
		registers[CS] = n & 1 ? 0 : 3;
		registers[CR3] = next_number();
		registers[FS_BASE] = next_number();
		call(code + (next_number() & 0xffffff0), function, sp);
		if (n & 8)
			leave(function, next_number(), sp + (next_number() & 0xff8));
		if (n % 1024 == 0)
			flush();
	}
}

/* KiB of memory that is neither a file's nor the session's. */
static long own_memory(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long found = 0;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "RssAnon: %ld", &found);
	if (file)
		fclose(file);
	return found;
}

/* Load a plugin as QEMU does. Return: whether it wants to run. */
static bool load(int version, char *path, int used, char **arguments)
{
	const bool only = strcmp(QEMU, "11.1.3") == 0;
	const struct info info = { "x86_64", { only ? version : 2, version }, true, { 1, 1 } };
	void *library = dlopen(path, RTLD_NOW);
	int (*install)(uint64_t, const struct info *, int, char **) =
		library ? (int (*)(uint64_t, const struct info *, int, char **))dlsym(library,
										      "qemu_plugin_install")
			: NULL;
	const int *wanted = library ? (const int *)dlsym(library, "qemu_plugin_version") : NULL;

	printf("QEMU emulator version " QEMU "\n");
	if (!install || !wanted || *wanted < info.version.min || (*wanted > version && version >= 4)) {
		fprintf(stderr, "version %d of the plugin is not %d to %d\n", wanted ? *wanted : 0,
			info.version.min, version);
		return false;
	}
	is_7 = *wanted >= 7;
	return install(1, &info, used, arguments) == 0;
}

static void run_scene(const char *name)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = {
		{ "calls", scene_calls },
		{ "returns", scene_returns },
		{ "part", scene_part },
		{ "again", scene_again },
		{ "firmware", scene_firmware },
		{ "large", scene_large },
		{ "exec", scene_exec },
		{ "ends", scene_ends },
		{ "programs", scene_programs },
		{ "reused", scene_reused },
		{ "edge", scene_edge },
		{ "real", scene_real },
		{ "halves", scene_halves },
		{ "turns", scene_turns },
		{ "coroutines", scene_coroutines },
		{ "shared", scene_shared },
		{ "loaded", scene_loaded },
	};

	for (size_t n = 0; n < sizeof(scenes) / sizeof(*scenes); n++)
		if (strcmp(scenes[n].name, name) == 0) {
			scenes[n].run();
			return;
		}
	scene_lies(40000);
}

int main(int count, char **words)
{
	char *arguments[64], *path, *rest;
	int used = 0;
	long before;

	if (count < 5)
		return 2;
	path = strtok_r(words[count - 1], ",", &rest);
	while (used < 64 && (arguments[used] = strtok_r(NULL, ",", &rest)))
		used++;
	if (!load(atoi(words[1]), path, used, arguments))
		return 1;
	add_vcpu(0);
	run_scene(words[2]);
	before = own_memory();
	if (strcmp(words[2], "lies") == 0)
		scene_lies(100000);
	printf("grew by %ld KiB\n", own_memory() - before);
	if (is_7)
		on_exit_of_host.function.any_7(on_exit_of_host.data);
	else
		on_exit_of_host.function.exit(1, on_exit_of_host.data);
	return 0;
}
