/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Heads of areas; see call_area.h. */
#if defined(__x86_64__)

#include <string.h>
#include <unistd.h>

#include "base/print.h"
#include "ring/ring_deps.h"
#include "source/calls/patch/call_area.h"
#include "source/calls/hooks/hook_entry.h"
#include "source/tracepoint/thread.h"

static bool reported;

/* A distance, counted from the end of its 4 bytes. @at: where the text will be */
static void put_distance(uint8_t *text, uint64_t at, uint64_t target)
{
	const uint32_t distance = (uint32_t)(target - (at + 4));

	memcpy(text, &distance, sizeof(distance));
}

struct hook_near call_area_head(uint8_t *area)
{
	const bool tsc = ring_clock_source == WIRE_CLOCK_TSC;
	const uint64_t at = (uint64_t)(uintptr_t)area;
	const char *const code[] = { tsc ? call_entry_begin : call_entry_begin_other, call_entry_end,
				     tsc ? call_sled_begin : call_sled_begin_other, call_sled_end,
				     call_sled_tail };
	struct hook_near near;

	memcpy(area, code, sizeof(code));
	for (unsigned n = 0; n < 3; n++) {
		uint8_t *jump = area + 64 + 8 * n;

		jump[0] = 0xff;
		jump[1] = 0x25;
		put_distance(jump + 2, at + 64 + 8 * n + 2, at + 8 * (2 + n));
	}
	near = hook_near_put(area + CALL_PATCH_NEAR, (uint64_t)(uintptr_t)code[0],
			     (uint64_t)(uintptr_t)code[1]);
	return (struct hook_near){ at + CALL_PATCH_NEAR + near.begin, at + CALL_PATCH_NEAR + near.end,
				   at + CALL_PATCH_NEAR + near.enter, at + CALL_PATCH_NEAR + near.exit };
}

void call_area_report(const struct dl_phdr_info *object, const char *what, const char *remedy)
{
	char text[512];

	if (__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		return;
	print_text(text, sizeof(text), "burin: --calls: %.250s%s%s\n",
		   *object->dlpi_name ? object->dlpi_name : "the program", what, remedy);
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

#endif
