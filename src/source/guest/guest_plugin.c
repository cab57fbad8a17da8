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

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "source/guest/guest_call.h"
#include "source/guest/guest_follow.h"
#include "source/guest/guest_link.h"
#include "source/guest/guest_options.h"
#include "source/guest/guest_recorder.h"
#include "source/guest/guest_version.h"

static const struct guest_machine *const machines[] = { &guest_x86, &guest_aarch64 };
static const struct guest_machine *machine; /* that QEMU emulates */

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
		    site->target == wanted->target && site->kind == wanted->kind &&
		    site->target_register == wanted->target_register && site->segment == wanted->segment)
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

/*
 * QEMU has discarded all translated code, while no vCPU runs: nothing has a site any more. It does so also when it loads a state of the machine, for
 * which it has no other callback. A guest can make new code all the time, so
 * sites have the bounds that QEMU has for it.
 */
static void on_flush(void)
{
	pthread_mutex_lock(&lock);
	for (size_t n = 0; n < site_count; n++)
		free(sites[n]);
	free(sites);
	sites = NULL;
	site_count = site_room = 0;
	hash_table_free(&table);
	table = (struct hash_table){ 0 };
	pthread_mutex_unlock(&lock);
	guest_follow_forget();
	guest_vcpu_doubt();
}

/* Functions were chosen that lie elsewhere now: forget what was concluded from where they were. */
static void forget(void)
{
	pthread_mutex_lock(&lock);
	for (size_t n = 0; n < site_count; n++)
		__atomic_store_n(&sites[n]->known, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	for (unsigned n = 0; n < GUEST_VCPUS; n++) /* one that is added later may have any number */
		if (guest_vcpus[n])
			memset(guest_vcpus[n]->functions, 0, sizeof(guest_vcpus[n]->functions));
}

/*
 * KASLR moves a kernel by a multiple of some size. The first block with the anchor's place in that, as early as in the begin of a
 * kernel, is the anchor. After a reset of the guest another block with as many instructions is.
 */
static void look_for_anchor(uint64_t address, size_t count)
{
	static size_t known; /* its instructions; 0: it was not found yet */
	const uint64_t distance = address - guest_options.anchor;

	if (!guest_options.anchor || !(address >> 63) || distance % WIRE_GUEST_STEP ||
	    (known && count != known))
		return;
	known = count;
	guest_session_moved(distance);
	guest_options_move(distance);
	forget();
}

static struct guest_instruction decode(const struct qemu_instruction *instruction, uint64_t *address,
				       uint64_t *after)
{
	uint8_t bytes[GUEST_INSTRUCTION];
	const size_t count = qemu_plugin_insn_data(instruction, bytes, sizeof(bytes));

	*address = qemu_plugin_insn_vaddr(instruction);
	*after = *address + count;
	return machine->decode(bytes, count, *address);
}

static void instrument_call(struct qemu_instruction *instruction, const struct guest_site *wanted,
			    bool is_shared)
{
	struct guest_site *site = site_of(wanted);

	if (site && machine->links)
		guest_link_instrument(instruction, site);
	else if (site)
		guest_call_instrument(instruction, site, is_shared);
}

static void instrument_return(struct qemu_instruction *instruction, const struct guest_site *wanted,
			      bool is_shared)
{
	struct guest_site *site = machine->links ? site_of(wanted) : NULL;

	if (!machine->links)
		guest_call_instrument_return(instruction, is_shared);
	else if (site)
		guest_link_instrument_return(instruction, site);
}

static void instrument_tail(struct qemu_instruction *instruction, const struct guest_site *wanted)
{
	struct guest_site *site = site_of(wanted);

	if (site && machine->links)
		guest_link_instrument_tail(instruction, site);
	else if (site)
		guest_call_instrument_tail(instruction, site);
}

/* @stub: the address of its block */
static void instrument_jump(struct qemu_instruction *instruction, const struct guest_site *wanted,
			    uint64_t stub)
{
	struct guest_site site = *wanted, *found;

	site.address = stub;
	found = site_of(&site);
	if (found)
		guest_link_instrument_jump(instruction, found);
}

/* QEMU never uses a program's translation for a kernel. */
static bool is_shared_code(uint64_t address)
{
	return !machine->links && guest_options_is_shared(address) && !guest_vcpu_runs_program(machine);
}

/* The last instruction of a block. @stub: the address of the block if the others are those of a stub; 0: they are not */
static void instrument_last(struct qemu_instruction *instruction, uint64_t stub)
{
	struct guest_site site = { 0 };
	const struct guest_instruction found = decode(instruction, &site.address, &site.after);

	const bool is_shared = found.kind != GUEST_OTHER && is_shared_code(site.address);

	if (found.kind != GUEST_SWITCH && !is_shared && !guest_options_code(site.address))
		return;
	if (found.kind == GUEST_CALL && !guest_follow(machine, found.target, site.after))
		return;
	if (found.kind == GUEST_JUMP_TO && (is_shared || !guest_follow_jump(machine, found.target)))
		return;
	site.kind = found.kind;
	site.target = found.target;
	site.target_register = found.register_number;
	site.segment = found.segment;
	switch (found.kind) {
	case GUEST_CALL:
	case GUEST_CALL_REGISTER:
	case GUEST_CALL_MEMORY:
	case GUEST_CALL_FAR:
	case GUEST_CALL_FAR_MEMORY:
		instrument_call(instruction, &site, is_shared);
		break;
	case GUEST_RETURN_FAR:
		if (!is_shared)
			guest_call_instrument_return_far(instruction);
		break;
	case GUEST_RETURN:
		instrument_return(instruction, &site, is_shared);
		break;
	case GUEST_JUMP_TO:
		instrument_tail(instruction, &site);
		break;
	case GUEST_JUMP:
		if (stub)
			instrument_jump(instruction, &site, stub);
		break;
	case GUEST_SWITCH:
		guest_call_instrument_switch(instruction);
		break;
	default:
		break;
	}
}

/*
 * Whether an instruction loads the stack pointer from elsewhere, where a region may have several stacks. A value that was computed from the stack pointer
 * in this block does not count: code makes room for variable arrays so.
 * @copies: a bit for each register with such a value
 */
static bool is_stack_jump(const struct guest_instruction *found, uint64_t address, uint32_t *copies)
{
	const bool jumps = found->jumps_sp && guest_has_parts(address) &&
			   !(found->sp_from && *copies >> (found->sp_from - 1) & 1);

	if (found->loads)
		*copies &= ~(UINT32_C(1) << (found->loads - 1));
	if (found->sp_to)
		*copies |= UINT32_C(1) << (found->sp_to - 1);
	return jumps;
}

/* All instructions of a block. Return: its address, if those before the last are those of a stub; otherwise 0. */
static uint64_t instrument_each(const struct qemu_block *block, size_t count)
{
	bool is_stub = true;
	uint64_t address = 0, after;
	uint32_t copies = 0;

	for (size_t n = 0; n < count; n++) {
		struct qemu_instruction *instruction = qemu_plugin_tb_get_insn(block, n);
		const struct guest_instruction found = decode(instruction, &address, &after);
		const bool jumps = is_stack_jump(&found, address, &copies);

		is_stub = is_stub && (found.in_stub || n + 1 == count);
		if (found.kind != GUEST_SWITCH && !guest_options_code(address))
			continue;
		if (machine->links)
			guest_link_instrument_sp(instruction, &found);
		if (jumps)
			guest_call_instrument_jump(
				instruction, n + 1 < count ? qemu_plugin_tb_get_insn(block, n + 1) : NULL);
	}
	return is_stub ? qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0)) : 0;
}

/* Instructions at which the recording starts or stops, or at which the recorder writes a snapshot. */
static void instrument_marks(struct qemu_block *block, size_t count)
{
	const uint64_t start = guest_options.start.address, stop = guest_options.stop.address,
		       snapshot = guest_options.snapshot.address;

	for (size_t n = 0; n < count && (start || stop || snapshot); n++) {
		struct qemu_instruction *instruction = qemu_plugin_tb_get_insn(block, n);
		const uint64_t address = qemu_plugin_insn_vaddr(instruction);

		if (start && address == start)
			guest_call_instrument_mark(instruction, true);
		if (stop && address == stop)
			guest_call_instrument_mark(instruction, false);
		if (snapshot && address == snapshot)
			guest_call_instrument_snapshot(instruction);
	}
}

static void on_block(struct qemu_block *block)
{
	const size_t count = qemu_plugin_tb_n_insns(block);
	const uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
	uint64_t stub = 0;

	look_for_anchor(address, count);
	guest_clock_instrument(block);
	instrument_marks(block, count);
	if (machine->links || guest_has_parts(address))
		stub = instrument_each(block, count);
	instrument_last(qemu_plugin_tb_get_insn(block, count - 1), stub);
}

static void on_vcpu(unsigned index)
{
	if (!guest_vcpu_begin(index, machine))
		_exit(1);
}

static void report(void)
{
	struct guest_vcpu sum = { 0 };
	uint32_t kept;
	const uint32_t stacks = guest_stack_count(&kept);

	for (unsigned n = 0; n < GUEST_VCPUS; n++) {
		if (!guest_vcpus[n] || guest_vcpus[n]->number != n)
			continue;
		sum.calls += guest_vcpus[n]->calls;
		sum.returns += guest_vcpus[n]->returns + guest_vcpus[n]->quiet;
		sum.unmatched += guest_vcpus[n]->unmatched + guest_vcpus[n]->quiet;
		sum.redirected += guest_vcpus[n]->redirected;
		sum.unwound += guest_vcpus[n]->unwound;
	}
	guest_session_report(
		"guest: %lu calls, %lu returns, %lu of them without a call, %lu indirect jumps, %lu calls "
		"without a return, %u stacks, %u of them at the end",
		sum.calls, sum.returns, sum.unmatched, sum.redirected, sum.unwound, stacks, kept);
}

static void on_exit_of_qemu(void)
{
	if (guest_options.report)
		report();
	if (guest_options.has_tasks && !guest_task_found())
		guest_session_report("no task of the guest was found: its kernel is another one than that of "
				     "--guest-kernel, or has no tasks yet");
	guest_stack_announce_all();
	guest_session_end();
	guest_recorder_end();
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

/* Take the arguments, or let the recorder take them. Return: the path of a session; NULL after a message. */
static const char *find_session(int count, char **arguments)
{
	const char *path = getenv("BURIN_SESSION");

	if (guest_recorder_is_wanted(count, arguments))
		return guest_recorder_begin(count, arguments, take_argument);
	for (int n = 0; n < count; n++)
		if (!take_argument(arguments[n]))
			return NULL;
	if (path && *path)
		return path;
	guest_session_report(
		"libburin-qemu.so: there is no recording; add out=DIR, or use: burin record --guest -- "
		"qemu-system-...");
	return NULL;
}

/* NULL: its guests are not supported. */
static const struct guest_machine *find_machine(const char *target)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(*machines); n++)
		if (strcmp(machines[n]->target, target) == 0)
			return machines[n];
	return NULL;
}

static bool is_suitable(const struct qemu_info *info)
{
	machine = find_machine(info->target_name);
	if (info->version.cur < QEMU_VERSION_MIN)
		guest_session_report(
			"libburin-qemu.so: this QEMU has plugin interface %d; %d is needed: QEMU 10.0",
			info->version.cur, QEMU_VERSION_MIN);
	else if (!info->system_emulation || !machine)
		guest_session_report("libburin-qemu.so: guests of %s%s are not supported; use "
				     "qemu-system-x86_64 or qemu-system-aarch64",
				     info->target_name, info->system_emulation ? "" : " in user mode");
	else
		return true;
	return false;
}

/* Return: false after a message. */
static bool begin(const struct qemu_info *info, int count, char **arguments)
{
	static bool is_loaded;
	const char *path;

	if (is_loaded) {
		guest_session_report(
			"libburin-qemu.so: it is loaded already; remove one -plugin, or burin record");
		return false;
	}
	is_loaded = true;
	path = find_session(count, arguments);
	if (!path)
		return false;
	guest_options_complete();
	if (guest_session_begin(path) && guest_clock_begin(info) && (!machine->links || guest_link_begin()))
		return true;
	guest_recorder_end();
	return false;
}

int qemu_plugin_install(qemu_id id, const struct qemu_info *info, int count, char **arguments)
{
	static const struct guest_callbacks callbacks = { on_vcpu, on_block, on_flush, on_exit_of_qemu };

	if (!is_suitable(info) || !begin(info, count, arguments))
		return -1;
	guest_version_register(id, &callbacks);
	return 0;
}
