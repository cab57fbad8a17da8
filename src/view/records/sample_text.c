/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples in a dump; see sample_text.h. */
#include "view/records/sample_text.h"

enum {
	ADDRESS_BYTES = 512,
};

/* A function, or the address of one without a name. */
struct shown {
	char address[ADDRESS_BYTES];
	const char *function, *image, *file;
	uint32_t line;
};

/* Function n of a location. A location without functions has one entry, its address. */
static bool sample_text_look_up(const struct burin_profile *profile, uint32_t number, uint32_t n,
				struct shown *shown)
{
	struct burin_location location;
	struct burin_frame frame = { .function = NULL };

	if (burin_profile_location(profile, number, &location) || (n && n >= location.frames))
		return false;
	burin_profile_frame(profile, number, n, &frame);
	burin_profile_address(profile, number, shown->address, sizeof(shown->address));
	shown->function = frame.function ? frame.function : shown->address;
	shown->image = location.image ? burin_image_name(burin_profile_image(profile, location.image)) : "";
	shown->file = frame.file;
	shown->line = frame.line;
	return true;
}

/* A call for each string is faster here: with %s, dump --stacks executes 8 % more instructions. */
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
	if (sample_text_look_up(profile, stack.location, 0, &shown))
		print_frame(&shown, out);
	for (uint32_t number = sample->stack; stacks && !burin_profile_stack(profile, number, &stack);
	     number = stack.caller) {
		for (uint32_t n = 0; sample_text_look_up(profile, stack.location, n, &shown); n++) {
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

static void json_frame(const struct shown *shown, struct json *json)
{
	json_text(json, "function", shown->function);
	json_text(json, "image", shown->image);
}

void view_sample_json(const struct burin_profile *profile, const struct burin_sample *sample, bool stacks,
		      struct json *json)
{
	struct burin_stack stack;
	struct shown shown = { .function = NULL };

	if (!burin_profile_stack(profile, sample->stack, &stack))
		sample_text_look_up(profile, stack.location, 0, &shown);
	json_frame(&shown, json);
	if (!stacks || !shown.function)
		return;
	json_array(json, "stack");
	for (uint32_t number = sample->stack; !burin_profile_stack(profile, number, &stack);
	     number = stack.caller) {
		for (uint32_t n = 0; sample_text_look_up(profile, stack.location, n, &shown); n++) {
			json_object(json, NULL);
			json_frame(&shown, json);
			if (shown.file) {
				json_text(json, "file", shown.file);
				json_u64(json, "line", shown.line);
			}
			json_end(json);
		}
	}
	json_end(json);
}
