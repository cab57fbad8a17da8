/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's plugin interface that is used here, versions 4 to 7. QEMU and its packages need not be there when the
 * library is built.
 *
 * All symbols are weak. An older QEMU, which lacks some of them, can then load the library, compare the version, and refuse
 * it by one clear line.
 *
 * From version 7 on, callbacks of the machine have other arguments; see guest_version.h.
 */
#ifndef BURIN_SOURCE_GUEST_QEMU_PLUGIN_H
#define BURIN_SOURCE_GUEST_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	QEMU_VERSION_MIN = 4, /* the values of registers and of memory */
	QEMU_VERSION_DATA =
		7, /* callbacks get a pointer instead of the plugin's id; older plugins are refused */
};

enum qemu_registers {
	QEMU_NO_REGISTERS,
	QEMU_READ_REGISTERS,
};

enum qemu_access {
	QEMU_LOAD = 1,
	QEMU_STORE,
};

enum qemu_value_type {
	QEMU_VALUE_U8,
	QEMU_VALUE_U16,
	QEMU_VALUE_U32,
	QEMU_VALUE_U64,
	QEMU_VALUE_U128,
};

enum qemu_operation {
	QEMU_ADD,
	QEMU_STORE_NUMBER,
};

typedef uint64_t qemu_id; /* of a loaded plugin */

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

struct qemu_value {
	enum qemu_value_type type;
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		struct {
			uint64_t low, high;
		} u128;
	} data;
};

struct qemu_block; /* translated instructions */
struct qemu_instruction;
struct qemu_register;
struct qemu_scoreboard; /* memory of each vCPU */

/* A number in a scoreboard. */
struct qemu_number {
	struct qemu_scoreboard *scoreboard;
	size_t offset;
};

/* GLib's arrays, as far as they are the interface's. */
struct qemu_bytes {
	uint8_t *data;
	unsigned length;
};

/* Later versions append members: see g_array_get_element_size(). */
struct qemu_register_description {
	struct qemu_register *handle;
	const char *name;
};

struct qemu_register_list {
	char *data;
	unsigned length;
};

typedef void (*qemu_callback)(void); /* its arguments depend on the version */
typedef void (*qemu_on_execution)(unsigned vcpu, void *data);
typedef void (*qemu_on_access)(unsigned vcpu, uint32_t access, uint64_t address, void *data);

#pragma GCC visibility push(default)
#pragma weak qemu_plugin_register_vcpu_init_cb
#pragma weak qemu_plugin_register_vcpu_tb_trans_cb
#pragma weak qemu_plugin_register_flush_cb
#pragma weak qemu_plugin_register_atexit_cb
#pragma weak qemu_plugin_register_vcpu_insn_exec_cb
#pragma weak qemu_plugin_register_vcpu_mem_cb
#pragma weak qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu
#pragma weak qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu
#pragma weak qemu_plugin_scoreboard_new
#pragma weak qemu_plugin_scoreboard_find
#pragma weak qemu_plugin_tb_n_insns
#pragma weak qemu_plugin_tb_get_insn
#pragma weak qemu_plugin_insn_data
#pragma weak qemu_plugin_insn_vaddr
#pragma weak qemu_plugin_mem_get_value
#pragma weak qemu_plugin_read_memory_vaddr
#pragma weak qemu_plugin_get_registers
#pragma weak qemu_plugin_read_register
#pragma weak g_byte_array_new
#pragma weak g_array_get_element_size

/* The data are not an argument of older versions, which ignore them; of atexit they always are. */
void qemu_plugin_register_vcpu_init_cb(qemu_id id, qemu_callback function, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_id id, qemu_callback function, void *data);
void qemu_plugin_register_flush_cb(qemu_id id, qemu_callback function, void *data);
void qemu_plugin_register_atexit_cb(qemu_id id, qemu_callback function, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_instruction *instruction, qemu_on_execution function,
					    enum qemu_registers registers, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_instruction *instruction, qemu_on_access function,
				      enum qemu_registers registers, enum qemu_access access, void *data);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_block *block,
						       enum qemu_operation operation,
						       struct qemu_number number, uint64_t operand);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_instruction *instruction,
							 enum qemu_operation operation,
							 struct qemu_number number, uint64_t operand);
struct qemu_scoreboard *qemu_plugin_scoreboard_new(size_t bytes);
void *qemu_plugin_scoreboard_find(struct qemu_scoreboard *scoreboard, unsigned vcpu);
size_t qemu_plugin_tb_n_insns(const struct qemu_block *block);
struct qemu_instruction *qemu_plugin_tb_get_insn(const struct qemu_block *block, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_instruction *instruction, void *bytes, size_t room);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_instruction *instruction);
struct qemu_value qemu_plugin_mem_get_value(uint32_t access);
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct qemu_bytes *bytes, size_t count);
struct qemu_register_list *qemu_plugin_get_registers(void);
/* It appends to the bytes, or nothing if it fails. Its result was a number of bytes, and is a truth value now. */
void qemu_plugin_read_register(struct qemu_register *handle, struct qemu_bytes *bytes);
struct qemu_bytes *g_byte_array_new(void);
unsigned g_array_get_element_size(const struct qemu_register_list *array);

/* What QEMU looks for in a plugin. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_id id, const struct qemu_info *info, int count, char **arguments);
#pragma GCC visibility pop

#endif
