/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The part of QEMU's interface that the plugin uses, and a machine behind it: registers, memory, and blocks of code that are executed. */
#ifndef BURIN_TESTS_PROGRAMS_GUEST_HOST_H
#define BURIN_TESTS_PROGRAMS_GUEST_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* a header of QEMU would declare them */
#define EXPORT __attribute__((visibility("default"), used))

struct value {
	int type; /* 3: 64 bits */
	uint64_t low, high;
};

struct bytes {
	uint8_t *data;
	unsigned length;
};

struct info {
	const char *target;
	struct {
		int min, cur;
	} version;
	bool system;
	struct {
		int smp, max;
	} machine;
};

struct description {
	void *handle;
	const char *name, *feature;
	bool is_readonly; /* of later versions */
};

struct list {
	struct description *data;
	unsigned length;
};

typedef void (*on_access)(unsigned vcpu, uint32_t access, uint64_t address, void *data);

/* The instructions of a block, and what the plugin wants to see of each. Most blocks have only the first. */
static struct instruction {
	uint64_t address;
	uint8_t bytes[8];
	size_t count;
	on_access function;
	void (*executed)(unsigned vcpu, void *data);
	void *data;
} block[2];
static struct instruction *const instruction = block;
static size_t instructions = 1;

/* The callbacks of the machine; version 7 gives them data instead of an id. */
static struct {
	union {
		void (*vcpu)(uint64_t, unsigned);
		void (*vcpu_7)(unsigned, void *);
		void (*block)(uint64_t, void *);
		void (*block_7)(void *, void *);
		void (*flush)(uint64_t);
		void (*exit)(uint64_t, void *);
		void (*any_7)(void *);
		void (*any)(void);
	} function;
	void *data;
} on_vcpu, on_block, on_exit_of_host, on_flush;
static bool is_7;
static uint64_t accessed; /* the value that a call stores or a return loads */

/* Registers by their names. */
enum {
	CS,
	CR3,
	FS_BASE,
	GS_BASE,
	CR0,
	RSP,
	REGISTERS
};
static const char *const names[REGISTERS] = { "cs", "cr3", "fs_base", "gs_base", "cr0", "rsp" };
static uint64_t registers[REGISTERS] = { [CR0] = 1 };

/* The guest's memory: the CPU's own data, and one task at an address. */
enum {
	CURRENT = 0x100, /* as the test has them in tasks= */
	OFFSET = 0x108,
	STACK = 0x10,
	PID = 0x18,
	PROCESS = 0x1c,
	LEADER = 0x20,
	COMM = 0x28,
};
static const uint64_t base = 0xffff888000000000;
static struct {
	uint64_t address, stack;
	uint32_t pid, process;
	char name[16];
} task;

/* A part of a stack. */
static const uint64_t kept_stack = 0xffffc90000003e00;
static uint64_t kept[64];

static uint64_t *word_of_stack(uint64_t address)
{
	return address - kept_stack < sizeof(kept) ? &kept[(address - kept_stack) / sizeof(*kept)] : NULL;
}

EXPORT struct bytes *g_byte_array_new(void)
{
	struct bytes *bytes = calloc(1, sizeof(*bytes));

	bytes->data = malloc(1 << 16);
	return bytes;
}

EXPORT void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*function)(void), void *data)
{
	(void)id;
	on_vcpu.function.any = function;
	on_vcpu.data = data;
}

EXPORT void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*function)(void), void *data)
{
	(void)id;
	on_block.function.any = function;
	on_block.data = data;
}

EXPORT void qemu_plugin_register_flush_cb(uint64_t id, void (*function)(void), void *data)
{
	(void)id;
	on_flush.function.any = function;
	on_flush.data = data;
}

EXPORT void qemu_plugin_register_atexit_cb(uint64_t id, void (*function)(void), void *data)
{
	(void)id;
	on_exit_of_host.function.any = function;
	on_exit_of_host.data = data;
}

EXPORT void qemu_plugin_register_vcpu_mem_cb(struct instruction *of, on_access function, int what, int access,
					     void *data)
{
	(void)what;
	(void)access;
	of->function = function;
	of->data = data;
}

EXPORT void qemu_plugin_register_vcpu_insn_exec_cb(struct instruction *of, void (*function)(unsigned, void *),
						   int what, void *data)
{
	(void)what;
	of->executed = function;
	of->data = data;
}

EXPORT size_t qemu_plugin_tb_n_insns(const void *of)
{
	(void)of;
	return instructions;
}

EXPORT struct instruction *qemu_plugin_tb_get_insn(struct instruction *of, size_t index)
{
	return &of[index];
}

EXPORT size_t qemu_plugin_insn_data(const struct instruction *of, void *bytes, size_t room)
{
	memcpy(bytes, of->bytes, of->count < room ? of->count : room);
	return of->count;
}

EXPORT uint64_t qemu_plugin_insn_vaddr(const struct instruction *of)
{
	return of->address;
}

EXPORT struct value qemu_plugin_mem_get_value(uint32_t access)
{
	(void)access;
	return (struct value){ .type = 3, .low = accessed };
}

EXPORT struct list *qemu_plugin_get_registers(void)
{
	static struct description all[REGISTERS];
	static struct list list = { all, REGISTERS };

	for (unsigned n = 0; n < REGISTERS; n++)
		all[n] = (struct description){ &registers[n], names[n], "", false };
	return &list;
}

EXPORT unsigned g_array_get_element_size(const struct list *array)
{
	(void)array;
	return sizeof(struct description);
}

/* Later versions return a truth value, and leave the rest of the register as it was. */
EXPORT uint64_t qemu_plugin_read_register(void *handle, struct bytes *bytes)
{
	memcpy(bytes->data + bytes->length, handle, sizeof(uint64_t));
	bytes->length += sizeof(uint64_t);
	return UINT64_C(0xffffff01);
}

/* A word of the guest's memory. */
static uint64_t word_at(uint64_t address)
{
	uint64_t word = 0;

	if (word_of_stack(address))
		return *word_of_stack(address);
	if (address == base + CURRENT)
		return task.address;
	if (address == base + OFFSET)
		return base;
	if (address == task.address + STACK)
		return task.stack;
	if (address == task.address + PID)
		return task.pid | (uint64_t)task.process << 32;
	if (address == task.address + LEADER)
		return task.address;
	if (address - task.address - COMM < sizeof(task.name))
		memcpy(&word, task.name + (address - task.address - COMM), sizeof(word));
	return word;
}

EXPORT bool qemu_plugin_read_memory_vaddr(uint64_t address, struct bytes *bytes, size_t count)
{
	for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
		const uint64_t word = word_at(address + at);

		memcpy(bytes->data + at, &word, sizeof(word));
	}
	bytes->length = (unsigned)count;
	return true;
}

static void translate(uint64_t address, const uint8_t *bytes, size_t count)
{
	instruction->address = address;
	instruction->count = count;
	memcpy(instruction->bytes, bytes, count);
	instruction->function = NULL;
	instruction->executed = NULL;
	if (is_7)
		on_block.function.block_7(block, on_block.data);
	else
		on_block.function.block(1, block);
}

static void execute(uint64_t sp, uint64_t value)
{
	accessed = value;
	if (word_of_stack(sp))
		*word_of_stack(sp) = value;
	if (instruction->function)
		instruction->function(0, 0, sp, instruction->data);
}

static void call(uint64_t from, uint64_t to, uint64_t sp)
{
	const int32_t distance = (int32_t)(to - from - 5);
	uint8_t bytes[5] = { 0xe8 };

	memcpy(bytes + 1, &distance, sizeof(distance));
	translate(from, bytes, sizeof(bytes));
	execute(sp, from + 5);
}

static void leave(uint64_t from, uint64_t to, uint64_t sp)
{
	translate(from, (const uint8_t[]){ 0xc3 }, 1);
	execute(sp, to);
}

/* The end of an interrupt or system call: another program may run then. */
static void come_back(void)
{
	translate(0xffffffff81f00000, (const uint8_t[]){ 0x48, 0xcf }, 2);
	if (instruction->executed)
		instruction->executed(0, instruction->data);
}

/* QEMU discards its translations. */
static void flush(void)
{
	if (is_7)
		on_flush.function.any_7(on_flush.data);
	else
		on_flush.function.flush(1);
}

/* A program loads its stack pointer, in a block with one more instruction. */
static void load_sp(uint64_t from, uint64_t to)
{
	const uint64_t address = 0x9000;

	block[1] = (struct instruction){ .address = address + 3, .bytes = { 0x90 }, .count = 1 };
	instructions = 2;
	translate(address, (const uint8_t[]){ 0x48, 0x8b, 0x20 }, 3);
	instructions = 1;
	for (unsigned n = 0; n < 2; n++) {
		registers[RSP] = n ? to : from;
		if (block[n].executed)
			block[n].executed(0, block[n].data);
	}
}

#endif
