/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A line for split recordings whose oldest chunks were removed. */
#ifndef BURIN_VIEW_CHUNKS_TEXT_H
#define BURIN_VIEW_CHUNKS_TEXT_H

#include "burin/read.h"
#include "view/buffer.h"

/* A line with the number of chunks before the first one; nothing if there are none. */
void view_chunks_text(const struct burin_trace *trace, struct view_buffer *out);

#endif
