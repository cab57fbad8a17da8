/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The begins of calls whose arguments are recorded; see hook_values.h. */
#include <errno.h>

#include "source/calls/stack/call_segment.h"
#include "source/calls/hooks/hook_values.h"

bool call_values_begin(uint32_t function, const struct call_registers *registers)
{
	const unsigned state = call_switches[function] & ~WIRE_CALL_ARGUMENTS;
	const uint64_t *slot = (const uint64_t *)(uintptr_t)(registers->slot & ~(uint64_t)1);
	const bool sled = registers->slot & 1;
	const int saved = errno;
	struct wire_call_frame *frame;
	uint64_t mark;
	uint32_t number;
	bool shown;

	if (state == WIRE_CALL_OFF || (state != WIRE_CALL_ON && !call_is_permitted(function, state)))
		return false;
	if (call_thread.stopped) {
		call_lose_stopped();
		return false;
	}
	number = call_values_keep(function, registers);
	frame = call_thread.top;
	if (call_is_segment_end(frame))
		frame = call_stack_more();
	shown = number && frame && !call_thread.forking; /* else the frame is not in the session */
	if (shown)
		call_values_place(number, frame);
	else if (number && !frame)
		call_values_drop(number);
	errno = saved;
	if (!frame)
		return false;
	mark = number ? CALL_VALUES_MARK : 0;
	/* As in hook_entry.c: a sled is known by its function and place. */
	if (sled)
		call_begin(frame, function, ((uint64_t)function << 40 ^ registers->slot) ^ mark,
			   registers->slot);
	else
		call_begin(frame, function, *slot, registers->slot | mark);
	frame->flags = number << CALL_VALUES_SHIFT | (sled ? 0 : CALL_FRAME_REPLACED);
	if (shown)
		call_values_show(number, frame);
	return true;
}
