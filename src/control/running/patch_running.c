/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Changes of code without a stop; see patch_running.h. */
#if defined(__x86_64__)

#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/running/patch_running.h"

enum {
	CALL_BYTES = 6, /* of a call through a slot */
};

static const uint8_t *patch_running_text_of(const struct patch_change *change)
{
	return change->wanted ? change->patch.on_text : change->patch.off_text;
}

/* How a text changes: by a neutral byte, by which those behind it are not executed, or only as an operand. */
struct way {
	uint8_t at; /* of the neutral byte in the text */
	uint8_t neutral;
	uint8_t end; /* of the bytes that differ; 0: there is no such way */
};

/* Whether bytes behind the jump are the same in each text. */
static bool has_same_end(const struct wire_patch *patch, unsigned end)
{
	const unsigned bytes = patch->bytes - end;

	return memcmp(patch->on_text + end, patch->off_text + end, bytes) == 0 &&
	       memcmp(patch->on_text + end, patch->now + end, bytes) == 0;
}

/* Whether the compiler's text is one NOP or call as long as a jump, so that no thread is inside. */
static bool is_one_instruction(const struct wire_patch *patch)
{
	static const uint8_t long_nop[] = { 0x0f, 0x1f, 0x44, 0x00 }, short_nop[] = { 0x66, 0x90 };

	if (patch->bytes == WIRE_PATCH_SHORT)
		return memcmp(patch->now, short_nop, sizeof(short_nop)) == 0;
	return patch->bytes == WIRE_PATCH_LONG &&
	       (patch->now[0] == 0xe8 || memcmp(patch->now, long_nop, sizeof(long_nop)) == 0);
}

/* Whether it is NOPs of one byte each, and threads inside come to the body with each text. */
static bool is_passable(const struct patch_change *change)
{
	const struct wire_patch *patch = &change->patch;

	return patch->bytes <= WIRE_PATCH_LONG && patch->now[0] == 0x90 &&
	       wire_patch_is_passable(patch->now, patch->bytes) &&
	       wire_patch_is_passable(patch_running_text_of(change), patch->bytes);
}

/* Whether it is a call through a slot, of which the library has made a copy, so that its last byte may be a NOP. */
static bool is_call(const struct wire_patch *patch)
{
	return patch->bytes == CALL_BYTES && patch->now[0] == 0xff && patch->now[1] == 0x15 &&
	       patch->on_text[CALL_BYTES - 1] == patch->off_text[CALL_BYTES - 1] &&
	       wire_patch_is_harmless(patch->on_text[CALL_BYTES - 1], true);
}

/* Off, a sled returns, or jumps over the bytes that differ from the compiler's. */
static struct way way_of_sled(const struct wire_patch *patch)
{
	const uint8_t at = patch->off_text[0] == 0xeb;

	return (struct way){ at, patch->off_text[at],
			     ((at && patch->off_text[1] == WIRE_PATCH_SLED - 2 &&
			       patch->on_text[0] == 0xeb) ||
			      patch->off_text[0] == 0xc3) &&
					     memcmp(patch->on_text + at + 1, patch->off_text + at + 1,
						    WIRE_PATCH_SLED - 1U - at) == 0
				     ? WIRE_PATCH_SLED
				     : 0 };
}

static struct way way_of(const struct patch_change *change)
{
	const struct wire_patch *patch = &change->patch;
	const uint8_t jump = (uint8_t)wire_patch_jump(patch);
	bool possible;

	if (patch->bytes == WIRE_PATCH_SLED)
		return way_of_sled(patch);
	possible = jump && (patch->raw ? is_one_instruction(patch) || is_passable(change) || is_call(patch)
				       : has_same_end(patch, jump));
	return (struct way){ 0, wire_patch_test(patch), possible ? jump : 0 };
}

/* Each CPU enters the kernel; about a tick of its clock. */
static bool patch_running_synchronize(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
}

static bool can_synchronize(void)
{
	const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL);
}

static bool patch_running_store(const struct process_memory *memory, const struct patch_change *change,
				unsigned at, uint8_t byte)
{
	return process_memory_write(memory, change->patch.address + at, &byte, 1);
}

/* Whether the code is as the process says. */
static bool patch_running_is_known(const struct process_memory *memory, const struct wire_patch *patch)
{
	uint8_t text[WIRE_PATCH_BYTES];

	return process_memory_is_code(memory, patch->address, patch->bytes) &&
	       process_memory_read(memory, patch->address, text, patch->bytes) &&
	       wire_patch_is_text(patch, text);
}

/* Calls through slots go through another one from now on. Return: whether there are any. */
static bool put_last_bytes(const struct process_memory *memory, struct patch_change *changes, size_t count)
{
	bool some = false;

	for (size_t n = 0; n < count; n++) {
		const struct wire_patch *patch = &changes[n].patch;

		if (!changes[n].under_way || !patch->raw || !is_call(patch))
			continue;
		changes[n].under_way = patch_running_store(memory, &changes[n], CALL_BYTES - 1,
							   patch->on_text[CALL_BYTES - 1]);
		some = true;
	}
	return some;
}

/* The function is off from now on, and its table says so, also if the command is killed. */
static bool put_neutral(const struct process_memory *memory, struct patch_change *change)
{
	const struct way way = way_of(change);
	struct wire_patch *patch = &change->patch;

	if (!patch_running_store(memory, change, way.at, way.neutral))
		return false;
	if (patch->on) {
		patch->on = false;
		process_memory_write(memory, change->entry, patch, sizeof(*patch));
	}
	return true;
}

/* Whether the bytes that are not executed now differ from what they are to be. */
static bool has_others(const struct process_memory *memory, const struct patch_change *change)
{
	const struct way way = way_of(change);
	uint8_t text[WIRE_PATCH_BYTES];

	return !process_memory_read(memory, change->patch.address, text, way.end) ||
	       memcmp(text + way.at + 1, patch_running_text_of(change) + way.at + 1, way.end - way.at - 1U) !=
		       0;
}

static bool put_others(const struct process_memory *memory, struct patch_change *changes, size_t count)
{
	bool some = false;

	for (size_t n = 0; n < count; n++)
		some |= changes[n].under_way && has_others(memory, &changes[n]);
	if (!some)
		return true;
	if (!patch_running_synchronize())
		return false;
	for (size_t n = 0; n < count; n++) {
		const struct way way = way_of(&changes[n]);

		if (changes[n].under_way &&
		    !process_memory_write(memory, changes[n].patch.address + way.at + 1,
					  patch_running_text_of(&changes[n]) + way.at + 1,
					  way.end - way.at - 1U))
			changes[n].under_way = false;
	}
	return patch_running_synchronize();
}

void patch_running(const struct process_memory *memory, struct patch_change *changes, size_t count)
{
	if (!can_synchronize())
		return;
	for (size_t n = 0; n < count; n++)
		changes[n].under_way =
			way_of(&changes[n]).end && patch_running_is_known(memory, &changes[n].patch);
	if (put_last_bytes(memory, changes, count) && !patch_running_synchronize())
		return;
	for (size_t n = 0; n < count; n++)
		changes[n].under_way = changes[n].under_way && put_neutral(memory, &changes[n]);
	if (!put_others(memory, changes, count))
		return;
	for (size_t n = 0; n < count; n++) {
		const unsigned at = way_of(&changes[n]).at;

		changes[n].done =
			changes[n].under_way &&
			patch_running_store(memory, &changes[n], at, patch_running_text_of(&changes[n])[at]);
	}
}

void patch_note(const struct process_memory *memory, struct patch_change *change)
{
	struct wire_patch *patch = &change->patch;

	patch->on = change->wanted;
	patch->raw = false;
	memcpy(patch->now, patch->on ? patch->on_text : patch->off_text, sizeof(patch->now));
	process_memory_write(memory, change->entry, patch, sizeof(*patch));
}

#endif
