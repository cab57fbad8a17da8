/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changes of code from outside; see patch_process.h and decision 0043.
 *
 * The library exports a table of places with both texts of each (wire/wire_patch.h). read_changes() copies it
 * and keeps the places whose state differs from the switch of their function. The command executes nothing by
 * this table: it only writes texts of the process into code of the process, and only where the code is one of
 * the texts that the table has.
 *
 * A change is ->done, ->busy (a thread is inside: tried again), or neither (missed: the code is another one).
 * The order:
 *
 *	change_running()	what can change while threads execute it
 *	change_batch()		the rest, up to BATCH_PAGES pages for one stop: touch pages, stop all, move
 *				threads out of the way, write, let all go
 *	patch_note()		the table says what the code is now, so the next command can go on
 *
 * Pages are written before the stop once (patch_process_touch()), so that none is copied while threads stand.
 * After a stop the process is compared with the memory that was read (check_program()): it may have executed
 * another program.
 */
#if defined(__x86_64__)

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "control/running/patch_process.h"
#include "control/running/patch_running.h"
#include "control/running/process_memory.h"
#include "control/running/process_threads.h"
#include "session/clock.h"
#include "wire/wire_patch.h"

enum {
	PAGE = 4096,
	PATCHES_MAX = 1 << 22,
	BATCH_PAGES = 64,      /* that are written while threads stand still */
	STACK_LOOK = 16 << 10, /* bytes of a stack that are searched for addresses inside functions' begins */
	PATCH_SHORT = 2,
};

/* The first limit for a stop, the last one, for a batch in all, and between two tries. */
static const uint64_t STOP_NS = UINT64_C(100000000), STOP_MAX_NS = UINT64_C(800000000),
		      GIVE_UP_NS = UINT64_C(5000000000), PAUSE_NS = UINT64_C(1000000);

struct patcher {
	struct process_memory memory;
	struct process_threads threads;
	const struct session *session;
	struct patch_change *changes; /* by address */
	size_t count, room;
	uint64_t left; /* patches that may still be read */
	struct patch_process_result *result;
};

/* ---- what has to change */

static bool patch_process_is_wanted(const struct session *session, uint32_t function)
{
	return function < session->geometry.functions_max &&
	       __atomic_load_n(&session->calls.switches[function], __ATOMIC_RELAXED) != WIRE_CALL_OFF;
}

static bool patch_process_is_valid(const struct wire_patch *patch)
{
	return patch->bytes >= PATCH_SHORT && patch->bytes <= WIRE_PATCH_BYTES;
}

static int add_change(struct patcher *patcher, uint64_t entry, const struct wire_patch *patch)
{
	const bool wanted = patch_process_is_wanted(patcher->session, patch->function);

	if (!patch_process_is_valid(patch) || wanted == (patch->on != 0))
		return 0;
	if (!array_reserve(patcher->changes, patcher->room, patcher->count + 1))
		return -ENOMEM;
	patcher->changes[patcher->count++] =
		(struct patch_change){ .entry = entry, .patch = *patch, .wanted = wanted };
	return 0;
}

static int read_object(struct patcher *patcher, const struct wire_patch_object *object)
{
	struct wire_patch *patches;
	int error = 0;

	if (!object->end || !object->count || object->count > patcher->left)
		return 0;
	patcher->left -= object->count;
	patches = malloc(object->count * sizeof(*patches));
	if (!patches)
		return -ENOMEM;
	if (process_memory_read(&patcher->memory, object->patches, patches, object->count * sizeof(*patches)))
		for (uint64_t n = 0; !error && n < object->count; n++)
			error = add_change(patcher, object->patches + n * sizeof(*patches), &patches[n]);
	free(patches);
	return error;
}

static int by_address(const void *one, const void *other)
{
	const struct patch_change *a = one, *b = other;

	return number_order(a->patch.address, b->patch.address);
}

static int read_changes(struct patcher *patcher)
{
	static struct wire_patches table;
	const uint64_t library = process_memory_object(&patcher->memory, "libburin-calls"),
		       at = process_memory_symbol(&patcher->memory, library, "call_patches");
	int error = 0;

	if (!at || !process_memory_read(&patcher->memory, at, &table, sizeof(table)) ||
	    table.version != WIRE_PATCH_VERSION)
		return -ENOENT;
	for (uint64_t n = 0; !error && n < table.objects && n < WIRE_PATCH_OBJECTS; n++)
		error = read_object(patcher, &table.object[n]);
	if (patcher->count)
		qsort(patcher->changes, patcher->count, sizeof(*patcher->changes), by_address);
	return error;
}

/* ---- threads that are in the way */

/* The change whose text an address lies inside of, not at its begin; NULL: none. */
static struct patch_change *patch_process_inside(struct patch_change *changes, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (changes[middle].patch.address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - changes[low - 1].patch.address < changes[low - 1].patch.bytes
		       ? &changes[low - 1]
		       : NULL;
}

static bool begins_with_nop(const struct wire_patch *patch)
{
	return patch->now[0] == 0x90 || patch->now[0] == 0x66 || patch->now[0] == 0x2e ||
	       patch->now[0] == 0x0f;
}

/* A thread inside NOPs goes on behind them; one inside other instructions is waited for. */
static void move_thread(struct process_thread *thread, struct patch_change *changes, size_t count)
{
	struct patch_change *change = patch_process_inside(changes, count, thread->registers.rip);

	if (!change || !change->patch.raw)
		return;
	if (!begins_with_nop(&change->patch)) {
		change->busy = true;
		return;
	}
	thread->registers.rip = change->patch.address + change->patch.bytes;
	thread->changed = true;
}

/* Signal handlers, and functions that are called there, will return to where they came from. */
static void look_at_stack(const struct patcher *patcher, const struct process_thread *thread,
			  struct patch_change *changes, size_t count)
{
	static uint64_t words[STACK_LOOK / 8];
	const uint64_t sp = thread->registers.rsp & ~(uint64_t)7, lowest = changes[0].patch.address,
		       highest = changes[count - 1].patch.address + PAGE;
	size_t bytes = STACK_LOOK;

	while (bytes && !process_memory_read(&patcher->memory, sp, words, bytes))
		bytes /= 2;
	for (size_t n = 0; n < bytes / 8; n++) {
		struct patch_change *change = words[n] - lowest < highest - lowest
						      ? patch_process_inside(changes, count, words[n])
						      : NULL;

		if (change && change->patch.raw)
			change->busy = true;
	}
}

/* ---- the change */

/* Changes that begin in one page. Code that is not as the table says belongs to another object by now. */
static void patch_process_write_page(struct patcher *patcher, struct patch_change *changes, size_t count)
{
	static uint8_t text[PAGE + WIRE_PATCH_BYTES];
	const uint64_t begin = changes[0].patch.address,
		       bytes = changes[count - 1].patch.address + changes[count - 1].patch.bytes - begin;

	if (!process_memory_is_code(&patcher->memory, begin, bytes) ||
	    !process_memory_read(&patcher->memory, begin, text, bytes))
		return;
	for (size_t n = 0; n < count; n++) {
		const struct wire_patch *patch = &changes[n].patch;
		uint8_t *at = text + (patch->address - begin);

		changes[n].done = !changes[n].busy && !changes[n].done && wire_patch_is_text(patch, at);
		if (changes[n].done)
			memcpy(at, changes[n].wanted ? patch->on_text : patch->off_text, patch->bytes);
	}
	if (process_memory_write(&patcher->memory, begin, text, bytes))
		return;
	for (size_t n = 0; n < count; n++)
		changes[n].done = false;
}

static size_t same_page(const struct patch_change *changes, size_t count)
{
	size_t n = 1;

	while (n < count && changes[n].patch.address / PAGE == changes[0].patch.address / PAGE)
		n++;
	return n;
}

static size_t batch_of(const struct patch_change *changes, size_t count)
{
	size_t n = 0;

	for (unsigned pages = 0; n < count && pages < BATCH_PAGES; pages++)
		n += same_page(changes + n, count - n);
	return n;
}

/*
 * Give the process its own copy of the pages, by a store of the byte that is there. It takes longer than to write the texts, and
 * is done before the threads stand still.
 */
static void patch_process_touch(struct patcher *patcher, const struct patch_change *changes, size_t count)
{
	uint8_t byte;

	for (size_t n = 0; n < count; n += same_page(changes + n, count - n))
		if (process_memory_is_code(&patcher->memory, changes[n].patch.address, 1) &&
		    process_memory_read(&patcher->memory, changes[n].patch.address, &byte, 1))
			process_memory_write(&patcher->memory, changes[n].patch.address, &byte, 1);
}

/* Whether the threads, which stand still, execute the program whose code is to be changed. Return: 0; -ESTALE; -ESRCH: all have ended. */
static int check_program(const struct patcher *patcher)
{
	for (size_t n = 0; n < patcher->threads.count; n++)
		if (patcher->threads.all[n].stopped)
			return process_memory_is_of(&patcher->memory, patcher->threads.all[n].tid) ? 0
												   : -ESTALE;
	return -ESRCH;
}

static int change_batch(struct patcher *patcher, struct patch_change *changes, size_t count, uint64_t stop_ns)
{
	int error;

	patch_process_touch(patcher, changes, count);
	error = process_threads_stop(&patcher->threads, stop_ns);
	if (error)
		return error;
	error = check_program(patcher);
	if (error) {
		process_threads_go(&patcher->threads);
		return error;
	}
	for (size_t n = 0; n < patcher->threads.count; n++) {
		struct process_thread *thread = &patcher->threads.all[n];

		if (!thread->stopped)
			continue;
		move_thread(thread, changes, count);
		look_at_stack(patcher, thread, changes, count);
	}
	for (size_t n = 0; n < count; n += same_page(changes + n, count - n))
		patch_process_write_page(patcher, changes + n, same_page(changes + n, count - n));
	process_threads_go(&patcher->threads);
	return 0;
}

/* Keep the changes that are to be tried again. */
static void sort_out(struct patcher *patcher, struct patch_change *changes, size_t *count)
{
	size_t kept = 0;

	for (size_t n = 0; n < *count; n++) {
		if (changes[n].done) {
			patch_note(&patcher->memory, &changes[n]);
			patcher->result->changed++;
		} else if (changes[n].busy) {
			changes[n].busy = false;
			changes[kept++] = changes[n];
		} else {
			patcher->result->missed++;
		}
	}
	*count = kept;
}

static int change_until_done(struct patcher *patcher, struct patch_change *changes, size_t count)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + GIVE_UP_NS;
	uint64_t stop_ns = STOP_NS;
	int error = -ETIMEDOUT;

	while (count && clock_ns(CLOCK_MONOTONIC) < until) {
		error = change_batch(patcher, changes, count, stop_ns);
		if (error && error != -ETIMEDOUT)
			break;
		/* On busy CPUs each thread waits for one before it stops. */
		if (error && stop_ns < STOP_MAX_NS)
			stop_ns *= 2;
		if (!error)
			sort_out(patcher, changes, &count);
		if (count)
			process_threads_pass(&patcher->threads, PAUSE_NS);
	}
	patcher->result->missed += count;
	return error;
}

static bool maps_file(const struct process_memory *memory, uint64_t inode)
{
	for (size_t n = 0; n < memory->count; n++)
		if (memory->maps[n].inode == inode)
			return true;
	return false;
}

/* Make all changes that need no stop, and keep the others. */
static void change_running(struct patcher *patcher)
{
	size_t kept = 0;

	patch_running(&patcher->memory, patcher->changes, patcher->count);
	for (size_t n = 0; n < patcher->count; n++) {
		if (patcher->changes[n].done) {
			patch_note(&patcher->memory, &patcher->changes[n]);
			patcher->result->changed++;
		} else {
			patcher->changes[kept++] = patcher->changes[n];
		}
	}
	patcher->count = kept;
}

int patch_process(pid_t pid, const struct session *session, uint64_t inode, bool running,
		  struct patch_process_result *result)
{
	struct patcher patcher = { .session = session, .left = PATCHES_MAX, .result = result };
	int error = process_threads_begin(&patcher.threads, pid);

	*result = (struct patch_process_result){ 0 };
	if (!error)
		error = process_memory_open(&patcher.memory, pid);
	if (error) {
		process_threads_end(&patcher.threads);
		return error;
	}
	error = maps_file(&patcher.memory, inode) ? read_changes(&patcher) : -ENOENT;
	if (!error && running)
		change_running(&patcher);
	for (size_t n = 0, batch; !error && n < patcher.count; n += batch) {
		batch = batch_of(patcher.changes + n, patcher.count - n);
		error = change_until_done(&patcher, patcher.changes + n, batch);
	}
	result->longest_ns = patcher.threads.longest_ns;
	process_threads_end(&patcher.threads);
	free(patcher.changes);
	process_memory_close(&patcher.memory);
	return error;
}

#endif
