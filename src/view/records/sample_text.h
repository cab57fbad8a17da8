/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A sample in a dump: the innermost function and its image, or the whole stack, instead of numbers. */
#ifndef BURIN_VIEW_RECORDS_SAMPLE_TEXT_H
#define BURIN_VIEW_RECORDS_SAMPLE_TEXT_H

#include "burin/profile.h"
#include "view/json.h"

/* "parse (server)", and with @stacks a line for each frame below, without the last newline. */
void view_sample_text(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct view_buffer *out);
/* Members of an object: `"function":"parse","image":"server"`, and with @stacks `"stack":[...]`. */
void view_sample_json(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct json *json);

#endif
