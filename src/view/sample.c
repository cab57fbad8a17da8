/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A sample in a dump. */
#include "view/sample.h"

#include <string.h>

enum {
	ADDRESS_BYTES = 512,
};

/* A function, or what stands for it. */
struct shown {
	char address[ADDRESS_BYTES];
	const char *function, *image, *file;
	uint32_t line;
};

/* Function n of a place; of a place without any, the place itself is the first. */
static bool show(const struct burin_profile *profile, uint32_t number, uint32_t n, struct shown *shown)
{
	struct burin_place place;
	struct burin_frame frame = { .function = NULL };

	if (burin_profile_place(profile, number, &place) || (n && n >= place.frames))
		return false;
	burin_profile_frame(profile, number, n, &frame);
	burin_profile_address(profile, number, shown->address, sizeof(shown->address));
	shown->function = frame.function ? frame.function : shown->address;
	shown->image = place.image ? burin_image_name(burin_profile_image(profile, place.image)) : "";
	shown->file = frame.file;
	shown->line = frame.line;
	return true;
}

static void print_frame(const struct shown *shown, struct view_buffer *out)
{
	view_buffer_escape(out, shown->function);
	if (*shown->image) {
		view_buffer_print(out, " (");
		view_buffer_escape(out, shown->image);
		view_buffer_print(out, ")");
	}
}

void view_sample_text(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct view_buffer *out)
{
	struct burin_stack stack;
	struct shown shown;

	if (burin_profile_stack(profile, sample->stack, &stack)) {
		view_buffer_print(out, sample->stack ? "(unknown stack)" : "(no stack)");
		return;
	}
	if (show(profile, stack.place, 0, &shown))
		print_frame(&shown, out);
	for (uint32_t number = sample->stack; stacks && !burin_profile_stack(profile, number, &stack);
	     number = stack.caller) {
		for (uint32_t n = 0; show(profile, stack.place, n, &shown); n++) {
			view_buffer_print(out, "\n        ");
			print_frame(&shown, out);
			if (shown.file) {
				view_buffer_print(out, " ");
				view_buffer_escape(out, shown.file);
				view_buffer_print(out, ":%u", shown.line);
			}
		}
	}
}

static void json_frame(const struct shown *shown, struct view_buffer *out)
{
	view_buffer_print(out, "\"function\":");
	view_buffer_json(out, shown->function);
	view_buffer_print(out, ",\"image\":");
	view_buffer_json(out, shown->image);
}

void view_sample_json(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct view_buffer *out)
{
	struct burin_stack stack;
	struct shown shown;
	const char *comma = "";

	if (burin_profile_stack(profile, sample->stack, &stack) || !show(profile, stack.place, 0, &shown)) {
		view_buffer_print(out, ",\"function\":null,\"image\":null");
		return;
	}
	view_buffer_print(out, ",");
	json_frame(&shown, out);
	if (!stacks)
		return;
	view_buffer_print(out, ",\"stack\":[");
	for (uint32_t number = sample->stack; !burin_profile_stack(profile, number, &stack);
	     number = stack.caller) {
		for (uint32_t n = 0; show(profile, stack.place, n, &shown); n++) {
			view_buffer_print(out, "%s{", comma);
			json_frame(&shown, out);
			if (shown.file) {
				view_buffer_print(out, ",\"file\":");
				view_buffer_json(out, shown.file);
				view_buffer_print(out, ",\"line\":%u", shown.line);
			}
			view_buffer_print(out, "}");
			comma = ",";
		}
	}
	view_buffer_print(out, "]");
}
