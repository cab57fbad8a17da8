/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The records of a packet that are valid and asked for. drain/validate.h finds them; trace_output.h writes them. */
#ifndef BURIN_WRITER_VALIDATED_H
#define BURIN_WRITER_VALIDATED_H

#include <stdbool.h>
#include <stdint.h>

struct validated {
	uint32_t end;	  /* offset in the packet of the first byte that is not valid */
	uint32_t begin;	  /* offset of the first record that was asked for */
	uint32_t content; /* end of the last one, without its padding */
	uint32_t count;	  /* of the records that were asked for */
	uint32_t before;  /* records in front of them, earlier than the window */
	uint64_t first;	  /* time of the first record that was asked for */
	uint64_t time;	  /* of the last valid record */
	uint64_t base;	  /* the time base behind it */
	uint32_t
		unknown; /* the id that ended validation, since the table does not have it; 0: there was none */
	bool sound;	 /* the whole piece is valid */
	bool past_window; /* the record at `end` is valid and later than the window, as are all that follow */
};

#endif
