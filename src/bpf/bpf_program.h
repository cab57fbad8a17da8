/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Small programs that the kernel runs for us, written instruction by instruction and loaded with bpf(2), without a library.
 * The kernel verifies them, and frees programs and maps when their descriptors are closed.
 *
 * Needs root, or CAP_BPF and CAP_PERFMON.
 */
#ifndef BURIN_BPF_BPF_PROGRAM_H
#define BURIN_BPF_BPF_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

enum {
	BPF_PROGRAM_MAX = 8192, /* instructions */
	BPF_PROGRAM_CALLS = 128,
};

struct bpf_code;

struct bpf_program {
	struct bpf_insn code[BPF_PROGRAM_MAX];
	unsigned count;
	bool full; /* an instruction had no room: the program cannot be loaded */
	/* Calls of functions that are not in the program yet: bpf_put_code_call() */
	struct {
		unsigned at;
		const struct bpf_code *code;
	} calls[BPF_PROGRAM_CALLS];
	unsigned call_count;
};

/* bpf_begin - empty a program that was not initialized. */
void bpf_begin(struct bpf_program *program);

/* ---- instructions; registers are BPF_REG_*, an @offset is relative to an address, mostly the stack's end (BPF_REG_10) */

/* bpf_put - any instruction: its code, registers, offset and number. */
void bpf_put(struct bpf_program *to, unsigned code, unsigned target, unsigned source, int offset, int number);

/* bpf_put_set, bpf_put_number - a number of 32 bits, extended by its sign; a number of 64 bits, which takes two instructions. */
void bpf_put_set(struct bpf_program *to, unsigned target, int number);
void bpf_put_number(struct bpf_program *to, unsigned target, uint64_t number);

void bpf_put_copy(struct bpf_program *to, unsigned target, unsigned source);

/* bpf_put_load, bpf_put_store - @size: BPF_W, BPF_DW; the memory is at register @from or @to_address plus the offset */
void bpf_put_load(struct bpf_program *to, unsigned size, unsigned target, unsigned from, int offset);
void bpf_put_store(struct bpf_program *to, unsigned size, unsigned to_address, int offset, unsigned source);

/* bpf_put_address - the address of @offset in the program's stack. */
void bpf_put_address(struct bpf_program *to, unsigned target, int offset);

/* bpf_put_map, bpf_put_value - a map; the address of the first value of an array. @map: its descriptor */
void bpf_put_map(struct bpf_program *to, unsigned target, int map);
void bpf_put_value(struct bpf_program *to, unsigned target, int map);

/* bpf_put_call - call BPF_FUNC_*, with the registers 1 to 5. */
void bpf_put_call(struct bpf_program *to, int function);

/* bpf_put_find - register 0: the address of a key's value in a map, or 0. @key: its offset in the program's stack */
void bpf_put_find(struct bpf_program *to, int map, int key);

/*
 * bpf_put_jump - jump forward if register @left compares so with the number. @op: BPF_JEQ, BPF_JNE, BPF_JSGT, ...; BPF_JA: always
 * bpf_land - let that jump lead to the next instruction. @jump: what bpf_put_jump() returned
 */
unsigned bpf_put_jump(struct bpf_program *to, unsigned op, unsigned left, int number);
void bpf_land(struct bpf_program *to, unsigned jump);

/* bpf_put_jump_register - the same, compared with register @right. */
unsigned bpf_put_jump_register(struct bpf_program *to, unsigned op, unsigned left, unsigned right);

/* bpf_put_alu, bpf_put_alu_register - arithmetic of 64 bits. @op: BPF_ADD, BPF_AND, BPF_RSH, ... */
void bpf_put_alu(struct bpf_program *to, unsigned op, unsigned target, int number);
void bpf_put_alu_register(struct bpf_program *to, unsigned op, unsigned target, unsigned source);

/* bpf_put_end - end the program with register 0 as its result. */
void bpf_put_end(struct bpf_program *to);

/* ---- the kernel's part; all return a descriptor or 0, or -errno */

/*
 * bpf_attach_tracepoint - run a program of BPF_PROG_TYPE_TRACEPOINT at a tracepoint, until the returned descriptor is closed.
 * Closing waits for the kernel's other CPUs, some 50 ms each. @id: of the tracepoint, in tracefs
 */
int bpf_attach_tracepoint(unsigned id, int program);

/* bpf_attach_event - run a program at the perf event of these attributes, until the returned descriptor is closed. Return: -errno. */
int bpf_attach_event(const struct perf_event_attr *attr, int program);

/* bpf_load - have a program verified. The caller closes the descriptor. -E2BIG: it is full. */
int bpf_load(enum bpf_prog_type type, const struct bpf_program *program);

/*
 * bpf_load_typed - the same, for a program at a raw tracepoint that loads directly from what its arguments point to: the kernel
 * knows their types.
 * @type: the number of the typedef btf_trace_NAME in the kernel's BTF
 */
int bpf_load_typed(const struct bpf_program *program, uint32_t type);

/*
 * bpf_load_function - have a program of BPF_PROG_TYPE_TRACING verified, which runs at a function of the kernel.
 * @function: the number of its type in the kernel's BTF; @returns: at its return, not at its entry
 */
int bpf_load_function(const struct bpf_program *program, uint32_t function, bool returns);

/*
 * bpf_load_iterator - have a program verified that runs for each object of a kind.
 * @function: the number of bpf_iter_KIND in the kernel's BTF
 */
int bpf_load_iterator(const struct bpf_program *program, uint32_t function);

/* bpf_iterate - a descriptor from which what that program writes can be read, once; -errno. */
int bpf_iterate(int program);

/* bpf_attach_function - run that program until the returned descriptor is closed. */
int bpf_attach_function(int program);

/* Places in one file, for bpf_attach_places(). */
struct bpf_places {
	const char *path;
	unsigned count;
	bool returns; /* at the return of the functions that begin there */
	const uint64_t *offsets, *counters,
		*cookies; /* in the file; of counters of users, 0: none; for the program */
};

/* bpf_load_places - have a program of BPF_PROG_TYPE_KPROBE verified that runs at many places. */
int bpf_load_places(const struct bpf_program *program);

/*
 * bpf_attach_places - run that program at places of a program's file, until the returned descriptor is closed. All of them are
 * detached at once, which one event for each is not.
 * Return: also -EINVAL: the kernel cannot (before 6.6), or one of the places cannot have a breakpoint.
 */
int bpf_attach_places(const struct bpf_places *places, int program);

/* bpf_watch - run a program at a raw tracepoint until the returned descriptor is closed. @tracepoint: NULL: of bpf_load_typed() */
int bpf_watch(const char *tracepoint, int program);

/*
 * bpf_run - run a program once, now.
 * @program: of BPF_PROG_TYPE_RAW_TRACEPOINT; @arguments: what it finds in its context
 * @result: of the program
 */
int bpf_run(int program, const uint64_t *arguments, unsigned count, uint32_t *result);

/* bpf_missed - how often the kernel did not run a program, since it would have interrupted another one. 0: also if unknown. */
uint64_t bpf_missed(int program);

struct bpf_map {
	enum bpf_map_type type;
	unsigned key_bytes, value_bytes, entries;
	unsigned flags; /* BPF_F_* */
};

/* bpf_map_make - make a map. The caller closes the descriptor. */
int bpf_map_make(const struct bpf_map *map);

/* bpf_map_describe - what a map is like. Return: 0; -errno: the descriptor is not a map's. */
int bpf_map_describe(int map, struct bpf_map *description);

/* bpf_map_set, bpf_map_get, bpf_map_remove - an entry, by its key. */
int bpf_map_set(int map, const void *key, const void *value);
int bpf_map_get(int map, const void *key, void *value);
int bpf_map_remove(int map, const void *key);

/* bpf_map_next - the key behind another one of a hash. @key: NULL: the first one. Return: false: there is none. */
bool bpf_map_next(int map, const void *key, void *next);

/* bpf_map_count - the entries of a hash, at most @most. @key: room for a key. */
unsigned bpf_map_count(int map, void *key, unsigned most);

/*
 * bpf_map_constant - an array of one value that cannot be changed any more. The kernel accepts a format only in such memory, and the
 * verifier knows what is there.
 */
int bpf_map_constant(const void *value, unsigned bytes);

#endif
