/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Programs for the kernel; see bpf_program.h. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/bpf_program.h"

/* ---- instructions */

void bpf_begin(struct bpf_program *program)
{
	program->count = 0;
	program->full = false;
	program->call_count = 0;
}

void bpf_put(struct bpf_program *to, unsigned code, unsigned target, unsigned source, int offset, int number)
{
	if (to->count == BPF_PROGRAM_MAX) {
		to->full = true;
		return;
	}
	to->code[to->count++] = (struct bpf_insn){ .code = (uint8_t)code,
						   .dst_reg = (uint8_t)(target & 15),
						   .src_reg = (uint8_t)(source & 15),
						   .off = (int16_t)offset,
						   .imm = number };
}

void bpf_put_set(struct bpf_program *to, unsigned target, int number)
{
	bpf_put(to, BPF_ALU64 | BPF_MOV | BPF_K, target, 0, 0, number);
}

void bpf_put_number(struct bpf_program *to, unsigned target, uint64_t number)
{
	bpf_put(to, BPF_LD | BPF_DW | BPF_IMM, target, 0, 0, (int)(uint32_t)number);
	bpf_put(to, 0, 0, 0, 0, (int)(uint32_t)(number >> 32));
}

void bpf_put_copy(struct bpf_program *to, unsigned target, unsigned source)
{
	bpf_put(to, BPF_ALU64 | BPF_MOV | BPF_X, target, source, 0, 0);
}

void bpf_put_load(struct bpf_program *to, unsigned size, unsigned target, unsigned from, int offset)
{
	bpf_put(to, BPF_LDX | BPF_MEM | size, target, from, offset, 0);
}

void bpf_put_store(struct bpf_program *to, unsigned size, unsigned to_address, int offset, unsigned source)
{
	bpf_put(to, BPF_STX | BPF_MEM | size, to_address, source, offset, 0);
}

void bpf_put_address(struct bpf_program *to, unsigned target, int offset)
{
	bpf_put_copy(to, target, BPF_REG_10);
	bpf_put(to, BPF_ALU64 | BPF_ADD | BPF_K, target, 0, 0, offset);
}

void bpf_put_map(struct bpf_program *to, unsigned target, int map)
{
	bpf_put(to, BPF_LD | BPF_DW | BPF_IMM, target, BPF_PSEUDO_MAP_FD, 0, map);
	bpf_put(to, 0, 0, 0, 0, 0); /* the upper half */
}

void bpf_put_value(struct bpf_program *to, unsigned target, int map)
{
	bpf_put(to, BPF_LD | BPF_DW | BPF_IMM, target, BPF_PSEUDO_MAP_VALUE, 0, map);
	bpf_put(to, 0, 0, 0, 0, 0); /* the offset in the value */
}

void bpf_put_call(struct bpf_program *to, int function)
{
	bpf_put(to, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

void bpf_put_find(struct bpf_program *to, int map, int key)
{
	bpf_put_map(to, BPF_REG_1, map);
	bpf_put_address(to, BPF_REG_2, key);
	bpf_put_call(to, BPF_FUNC_map_lookup_elem);
}

unsigned bpf_put_jump(struct bpf_program *to, unsigned op, unsigned left, int number)
{
	bpf_put(to, BPF_JMP | op | BPF_K, left, 0, 0, number);
	return to->count - 1;
}

unsigned bpf_put_jump_register(struct bpf_program *to, unsigned op, unsigned left, unsigned right)
{
	bpf_put(to, BPF_JMP | op | BPF_X, left, right, 0, 0);
	return to->count - 1;
}

void bpf_land(struct bpf_program *to, unsigned jump)
{
	if (jump < BPF_PROGRAM_MAX)
		to->code[jump].off = (int16_t)(to->count - jump - 1);
}

void bpf_put_alu(struct bpf_program *to, unsigned op, unsigned target, int number)
{
	bpf_put(to, BPF_ALU64 | op | BPF_K, target, 0, 0, number);
}

void bpf_put_alu_register(struct bpf_program *to, unsigned op, unsigned target, unsigned source)
{
	bpf_put(to, BPF_ALU64 | op | BPF_X, target, source, 0, 0);
}

void bpf_put_end(struct bpf_program *to)
{
	bpf_put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* ---- the kernel's part */

static uint64_t bpf_program_address_of(const void *data)
{
	return (uint64_t)(uintptr_t)data;
}

static int bpf_program_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	const long result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return result < 0 ? -errno : (int)result;
}

int bpf_load(enum bpf_prog_type type, const struct bpf_program *program)
{
	static const char license[] = "Dual MIT/GPL";

	if (program->full)
		return -E2BIG;
	return bpf_program_bpf(BPF_PROG_LOAD,
			       &(union bpf_attr){ .prog_type = type,
						  .insns = bpf_program_address_of(program->code),
						  .insn_cnt = program->count,
						  .license = bpf_program_address_of(license) });
}

int bpf_load_typed(const struct bpf_program *program, uint32_t type)
{
	static const char license[] = "Dual MIT/GPL";

	if (program->full)
		return -E2BIG;
	return bpf_program_bpf(BPF_PROG_LOAD,
			       &(union bpf_attr){ .prog_type = BPF_PROG_TYPE_TRACING,
						  .expected_attach_type = BPF_TRACE_RAW_TP,
						  .attach_btf_id = type,
						  .insns = bpf_program_address_of(program->code),
						  .insn_cnt = program->count,
						  .license = bpf_program_address_of(license) });
}

int bpf_attach_tracepoint(unsigned id, int program)
{
	/* perf itself records nothing */
	return bpf_attach_event(&(struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT,
							   .size = sizeof(struct perf_event_attr),
							   .config = id,
							   .disabled = 1 },
				program);
}

int bpf_attach_event(const struct perf_event_attr *attr, int program)
{
	/* The event is of one CPU. The program runs on all of them. */
	const int event = (int)syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	int error;

	if (event < 0)
		return -errno;
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return event;
	error = -errno;
	close(event);
	return error;
}

int bpf_load_function(const struct bpf_program *program, uint32_t function, bool returns)
{
	static const char license[] = "Dual MIT/GPL";

	return bpf_program_bpf(
		BPF_PROG_LOAD,
		&(union bpf_attr){ .prog_type = BPF_PROG_TYPE_TRACING,
				   .insns = bpf_program_address_of(program->code),
				   .insn_cnt = program->count,
				   .license = bpf_program_address_of(license),
				   .attach_btf_id = function,
				   .expected_attach_type = returns ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY });
}

int bpf_load_iterator(const struct bpf_program *program, uint32_t function)
{
	static const char license[] = "Dual MIT/GPL";

	if (program->full)
		return -E2BIG;
	return bpf_program_bpf(BPF_PROG_LOAD,
			       &(union bpf_attr){ .prog_type = BPF_PROG_TYPE_TRACING,
						  .expected_attach_type = BPF_TRACE_ITER,
						  .attach_btf_id = function,
						  .insns = bpf_program_address_of(program->code),
						  .insn_cnt = program->count,
						  .license = bpf_program_address_of(license) });
}

int bpf_iterate(int program)
{
	const int link = bpf_program_bpf(
		BPF_LINK_CREATE, &(union bpf_attr){ .link_create = { .prog_fd = (uint32_t)program,
								     .attach_type = BPF_TRACE_ITER } });
	int file;

	if (link < 0)
		return link;
	file = bpf_program_bpf(BPF_ITER_CREATE,
			       &(union bpf_attr){ .iter_create = { .link_fd = (uint32_t)link } });
	close(link);
	return file;
}

int bpf_attach_function(int program)
{
	return bpf_program_bpf(BPF_RAW_TRACEPOINT_OPEN,
			       &(union bpf_attr){ .raw_tracepoint = { .prog_fd = (uint32_t)program } });
}

/* Newer than the headers of Debian 12: of BPF_LINK_CREATE. */
enum {
	ATTACH_PLACES = 48, /* BPF_TRACE_UPROBE_MULTI */
	ATTACH_RETURNS = 1, /* BPF_F_UPROBE_MULTI_RETURN */
};

struct link_places {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t count, more_flags, process;
};

int bpf_load_places(const struct bpf_program *program)
{
	static const char license[] = "Dual MIT/GPL";

	return bpf_program_bpf(
		BPF_PROG_LOAD,
		&(union bpf_attr){ .prog_type = BPF_PROG_TYPE_KPROBE,
				   .insns = bpf_program_address_of(program->code),
				   .insn_cnt = program->count,
				   .license = bpf_program_address_of(license),
				   .expected_attach_type = (enum bpf_attach_type)ATTACH_PLACES });
}

int bpf_attach_places(const struct bpf_places *places, int program)
{
	const struct link_places link = { .program = (uint32_t)program,
					  .type = ATTACH_PLACES,
					  .path = bpf_program_address_of(places->path),
					  .offsets = bpf_program_address_of(places->offsets),
					  .counters = bpf_program_address_of(places->counters),
					  .cookies = bpf_program_address_of(places->cookies),
					  .count = places->count,
					  .more_flags = places->returns ? ATTACH_RETURNS : 0 };
	union bpf_attr attr = { 0 };

	memcpy(&attr, &link, sizeof(link));
	return bpf_program_bpf(BPF_LINK_CREATE, &attr);
}

int bpf_watch(const char *tracepoint, int program)
{
	return bpf_program_bpf(
		BPF_RAW_TRACEPOINT_OPEN,
		&(union bpf_attr){ .raw_tracepoint = { .name = bpf_program_address_of(tracepoint),
						       .prog_fd = (uint32_t)program } });
}

int bpf_run(int program, const uint64_t *arguments, unsigned count, uint32_t *result)
{
	union bpf_attr attr = { .test = { .prog_fd = (uint32_t)program,
					  .ctx_in = bpf_program_address_of(arguments),
					  .ctx_size_in = count * (uint32_t)sizeof(*arguments) } };
	const int error = bpf_program_bpf(BPF_PROG_TEST_RUN, &attr);

	*result = attr.test.retval;
	return error;
}

uint64_t bpf_missed(int program)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { .info.bpf_fd = (uint32_t)program,
				.info.info_len = sizeof(info),
				.info.info = bpf_program_address_of(&info) };

	return bpf_program_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 ? info.recursion_misses : 0;
}

int bpf_map_make(const struct bpf_map *map)
{
	return bpf_program_bpf(BPF_MAP_CREATE, &(union bpf_attr){ .map_type = map->type,
								  .key_size = map->key_bytes,
								  .value_size = map->value_bytes,
								  .max_entries = map->entries,
								  .map_flags = map->flags });
}

int bpf_map_describe(int map, struct bpf_map *description)
{
	struct bpf_map_info info = { 0 };
	union bpf_attr attr = { .info.bpf_fd = (uint32_t)map,
				.info.info_len = sizeof(info),
				.info.info = bpf_program_address_of(&info) };
	const int error = bpf_program_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);

	*description = (struct bpf_map){ .type = info.type,
					 .key_bytes = info.key_size,
					 .value_bytes = info.value_size,
					 .entries = info.max_entries,
					 .flags = info.map_flags };
	return error;
}

int bpf_map_set(int map, const void *key, const void *value)
{
	return bpf_program_bpf(BPF_MAP_UPDATE_ELEM,
			       &(union bpf_attr){ .map_fd = (uint32_t)map,
						  .key = bpf_program_address_of(key),
						  .value = bpf_program_address_of(value) });
}

int bpf_map_get(int map, const void *key, void *value)
{
	return bpf_program_bpf(BPF_MAP_LOOKUP_ELEM,
			       &(union bpf_attr){ .map_fd = (uint32_t)map,
						  .key = bpf_program_address_of(key),
						  .value = bpf_program_address_of(value) });
}

int bpf_map_remove(int map, const void *key)
{
	return bpf_program_bpf(BPF_MAP_DELETE_ELEM, &(union bpf_attr){ .map_fd = (uint32_t)map,
								       .key = bpf_program_address_of(key) });
}

bool bpf_map_next(int map, const void *key, void *next)
{
	return bpf_program_bpf(BPF_MAP_GET_NEXT_KEY,
			       &(union bpf_attr){ .map_fd = (uint32_t)map,
						  .key = bpf_program_address_of(key),
						  .next_key = bpf_program_address_of(next) }) == 0;
}

unsigned bpf_map_count(int map, void *key, unsigned most)
{
	unsigned count = 0;

	while (count < most && bpf_map_next(map, count ? key : NULL, key))
		count++;
	return count;
}

int bpf_map_constant(const void *value, unsigned bytes)
{
	const int map = bpf_map_make(&(struct bpf_map){ BPF_MAP_TYPE_ARRAY, 4, bytes, 1, BPF_F_RDONLY_PROG });
	int error = map < 0 ? map : bpf_map_set(map, &(uint32_t){ 0 }, value);

	if (!error)
		error = bpf_program_bpf(BPF_MAP_FREEZE, &(union bpf_attr){ .map_fd = (uint32_t)map });
	if (error && map >= 0)
		close(map);
	return error ? error : map;
}
