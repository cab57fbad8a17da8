/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Limits the work that foreign unwind tables cause. Each step of the unwinder is bounded, but a sample has a thousand
 * frames, each may be in another image, and the next sample may repeat all of it.
 *
 * The work is counted, not measured: a unit takes about 10 ns. Known rows cost nothing, so valid tables cause almost no
 * work after the first samples of a program.
 */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_METER_H
#define BURIN_IMAGE_UNWIND_UNWIND_METER_H

#include <stdbool.h>
#include <stdint.h>

/* Units of work. An instruction of a row's program is one. */
enum {
	UNWIND_WORK_ENTRY = 3,	     /* an entry of a table, when an index is made of all */
	UNWIND_WORK_READ = 50,	     /* a read of some bytes of the file */
	UNWIND_WORK_PAGE = 600,	     /* of a page, into new memory */
	UNWIND_WORK_EXPRESSION = 64, /* the evaluation of an expression */
};

struct unwind_meter {
	uint64_t spent, limit;
	bool refused; /* work beyond the limit was not done; the user of the meter clears it */
};

/* unwind_meter_permits - whether work may begin, which may then exceed the limit. @meter: NULL: always */
static inline bool unwind_meter_permits(struct unwind_meter *meter)
{
	if (!meter || meter->spent < meter->limit)
		return true;
	meter->refused = true;
	return false;
}

#endif
