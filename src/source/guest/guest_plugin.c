/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin: records the calls of a guest that QEMU emulates.
 *
 * QEMU translates the guest's code block by block, and calls on_block() for each. A call or return ends its block, so only the
 * last instruction is decoded, and only these instructions become slower.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "source/guest/guest_call.h"
#include "source/guest/guest_options.h"
#include "source/guest/guest_x86.h"

enum {
	INSTRUCTION_MAX = 16, /* bytes */
};

int qemu_plugin_version = QEMU_VERSION_MIN;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct guest_site **sites; /* code may be translated several times */
static size_t site_count, site_room;
static struct hash_table table; /* their numbers, from 1 */

static struct guest_site *find_site(const struct guest_site *wanted, uint64_t hash)
{
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&table, hash, &at));) {
		struct guest_site *site = sites[number - 1];

		if (site->address == wanted->address && site->after == wanted->after &&
		    site->target == wanted->target && site->target_register == wanted->target_register)
			return site;
	}
	return NULL;
}

static struct guest_site *add_site(const struct guest_site *wanted, uint64_t hash)
{
	struct guest_site *site;

	if (!array_reserve(sites, site_room, site_count + 1) || !hash_table_reserve(&table))
		return NULL;
	site = malloc(sizeof(*site));
	if (!site)
		return NULL;
	*site = *wanted;
	sites[site_count++] = site;
	hash_table_add(&table, hash, (uint32_t)site_count);
	return site;
}

/* NULL: no memory. */
static struct guest_site *site_of(const struct guest_site *wanted)
{
	const uint64_t hash = hash_pair(wanted->address, wanted->target);
	struct guest_site *site;

	pthread_mutex_lock(&lock);
	site = find_site(wanted, hash);
	if (!site)
		site = add_site(wanted, hash);
	pthread_mutex_unlock(&lock);
	return site;
}

static void instrument(struct qemu_instruction *instruction)
{
	const uint64_t address = qemu_plugin_insn_vaddr(instruction);
	uint8_t bytes[INSTRUCTION_MAX];
	const size_t count = qemu_plugin_insn_data(instruction, bytes, sizeof(bytes));
	const struct guest_instruction found = guest_x86_decode(bytes, count, address);
	struct guest_site *site;

	if (found.kind != GUEST_SWITCH && !guest_options_code(address))
		return;
	switch (found.kind) {
	case GUEST_CALL:
	case GUEST_CALL_REGISTER:
	case GUEST_CALL_MEMORY:
		site = site_of(&(struct guest_site){ .address = address,
						     .after = address + count,
						     .target = found.target,
						     .target_register = found.register_number });
		if (site)
			guest_call_instrument(instruction, found.kind, site);
		break;
	case GUEST_RETURN:
		guest_call_instrument_return(instruction);
		break;
	case GUEST_SWITCH:
		guest_call_instrument_switch(instruction);
		break;
	default:
		break;
	}
}

/* Instructions at which the recording starts or stops. */
static void instrument_marks(struct qemu_block *block, size_t count)
{
	for (size_t n = 0; n < count && (guest_options.starts || guest_options.stops); n++) {
		struct qemu_instruction *instruction = qemu_plugin_tb_get_insn(block, n);
		const uint64_t address = qemu_plugin_insn_vaddr(instruction);

		if (guest_options.starts && address == guest_options.start)
			guest_call_instrument_mark(instruction, true);
		if (guest_options.stops && address == guest_options.stop)
			guest_call_instrument_mark(instruction, false);
	}
}

static void on_block(qemu_id id, struct qemu_block *block)
{
	const size_t count = qemu_plugin_tb_n_insns(block);

	(void)id;
	instrument_marks(block, count);
	instrument(qemu_plugin_tb_get_insn(block, count - 1));
}

static void on_vcpu(qemu_id id, unsigned index)
{
	(void)id;
	if (!guest_vcpu_begin(index))
		_exit(1);
}

static void report(void)
{
	struct guest_vcpu sum = { 0 };

	for (unsigned n = 0; n < GUEST_VCPUS && guest_vcpus[n]; n++) {
		sum.calls += guest_vcpus[n]->calls;
		sum.returns += guest_vcpus[n]->returns;
		sum.unmatched += guest_vcpus[n]->unmatched;
		sum.redirected += guest_vcpus[n]->redirected;
		sum.unwound += guest_vcpus[n]->unwound;
	}
	guest_session_report(
		"guest: %lu calls, %lu returns, %lu of them without a call, %lu indirect jumps, %lu calls "
		"without a return, %u stacks",
		sum.calls, sum.returns, sum.unmatched, sum.redirected, sum.unwound, guest_stack_count());
}

static void on_exit_of_qemu(qemu_id id, void *data)
{
	(void)id;
	(void)data;
	if (guest_options.report)
		report();
	if (guest_options.has_tasks && !guest_task_found())
		guest_session_report("no task of the guest was found: its kernel is another one than that of "
				     "--guest-kernel, or has no tasks yet");
	guest_stack_announce_all();
	guest_session_end();
}

/* Return: false after a message. */
static bool take_argument(const char *argument)
{
	const bool valid = guest_options_take(argument);

	if (!valid)
		guest_session_report(
			"libburin-qemu.so: '%.100s' is not valid; burin-guest(7) lists the options",
			argument);
	return valid;
}

static bool is_suitable(const struct qemu_info *info)
{
	if (info->version.cur < QEMU_VERSION_MIN)
		guest_session_report(
			"libburin-qemu.so: this QEMU has plugin interface %d; %d is needed: QEMU 10.0",
			info->version.cur, QEMU_VERSION_MIN);
	else if (!info->system_emulation || strcmp(info->target_name, "x86_64") != 0)
		guest_session_report(
			"libburin-qemu.so: guests of %s%s are not supported; use qemu-system-x86_64",
			info->target_name, info->system_emulation ? "" : " in user mode");
	else
		return true;
	return false;
}

int qemu_plugin_install(qemu_id id, const struct qemu_info *info, int count, char **arguments)
{
	if (!is_suitable(info))
		return -1;
	for (int n = 0; n < count; n++)
		if (!take_argument(arguments[n]))
			return -1;
	if (!guest_session_begin())
		return -1;
	if (guest_options.starts)
		guest_call_wait();
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
