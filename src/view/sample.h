/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a dump shows of a sample instead of its numbers: the innermost function and its image, or the whole stack. */
#ifndef BURIN_VIEW_SAMPLE_H
#define BURIN_VIEW_SAMPLE_H

#include "burin/profile.h"
#include "view/buffer.h"

/* "parse (server)", and with stacks a line for each frame below; without the last newline. */
void view_sample_text(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct view_buffer *out);
/* Members of a JSON object: `,"function":"parse","image":"server"`, and with stacks `,"stack":[...]`. */
void view_sample_json(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct view_buffer *out);

#endif
