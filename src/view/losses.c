/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Losses of a trace; see losses.h. */
#include "view/losses.h"

#include <string.h>

#include "base/print.h"
#include "base/text.h"
#include "view/chunks_text.h"
#include "wire/wire_terms.h"

static const char *const warn = print_styles[PRINT_WARN], *const off = print_styles[PRINT_OFF];

#define UNFINISHED "unfinished: still being recorded, or its recorder was killed; then "

const char view_lost_calls[] = "; the callees of a lost call are its caller's";

void view_losses_add(struct view_losses *losses, struct view_loss loss)
{
	if (!loss.count)
		return;
	losses->list[losses->count++] = loss;
	losses->sum += loss.adds ? loss.count : 0;
}

uint64_t view_recorded(const struct burin_trace *trace, const char *key)
{
	uint64_t value;

	return read_recording_number(trace, key, &value) ? 0 : value;
}

void view_losses_read(const struct burin_trace *trace, struct view_losses *losses)
{
	*losses = (struct view_losses){ .unfinished = view_unfinished(trace) };
	for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
		view_losses_add(losses, (struct view_loss){ burin_loss_name(cause), burin_loss_name(cause),
							    burin_trace_lost(trace, cause), true, true });
	view_losses_add(losses, (struct view_loss){ "lost_late", "written after the recorder's last read",
						    view_recorded(trace, "lost_late"), false, true });
	view_losses_add(losses, (struct view_loss){ "lost_unreported", "when the recorder could not write",
						    view_recorded(trace, "lost_unreported"), false, true });
	for (unsigned cause = 0; cause < WIRE_CALL_LOSSES; cause++) {
		const struct wire_term *term = &wire_call_terms[cause];

		view_losses_add(losses,
				(struct view_loss){ term->key, term->text, view_recorded(trace, term->key),
						    false, cause != WIRE_CALL_LOST_PATCH });
	}
	view_losses_add(losses, (struct view_loss){ "lost_names", "names of threads or processes are missing",
						    view_recorded(trace, "lost_names"), false, false });
}

const char *view_unfinished(const struct burin_trace *trace)
{
	const char *state = burin_trace_recording(trace, "state");

	if (!state)
		return "damaged: .burin/recording, which has counts of losses, cannot be read or has no "
		       "state";
	if (strcmp(state, "recording") != 0)
		return NULL;
	return burin_trace_recording(trace, "session")
		       ? UNFINISHED "burin recover adds what is still in memory"
		       : UNFINISHED "burin snapshot has what is still in the program's memory";
}

static void print_unfinished(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	const char *unfinished = view_unfinished(trace);

	if (unfinished)
		view_buffer_print(out, "%sthe recording is %s%s\n", color ? warn : "", unfinished,
				  color ? off : "");
}

void view_losses_text(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	struct view_losses losses;
	char number[TEXT_SHORT];

	view_losses_read(trace, &losses);
	if (losses.sum)
		view_buffer_print(out, "%s%s records were lost%s\n", color ? warn : "",
				  text_count(number, losses.sum), color ? off : "");
	for (unsigned n = 0; n < burin_trace_rings(trace); n++) {
		const struct burin_ring *ring = burin_trace_ring(trace, n);

		for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
			if (ring->lost[cause])
				view_buffer_print(out, "%16s  %s: %s\n",
						  text_count(number, ring->lost[cause]), ring->name,
						  burin_loss_name(cause));
	}
	for (unsigned n = 0; n < losses.count; n++)
		if (!losses.list[n].of_rings)
			view_buffer_print(out, "%16s  %s\n", text_count(number, losses.list[n].count),
					  losses.list[n].text);
	print_unfinished(trace, color, out);
	view_chunks_text(trace, out);
}

void view_losses_print(const struct view_losses *losses, const char *what, const char *about,
		       struct view_buffer *out)
{
	char text[TEXT_SHORT];

	if (losses->sum)
		view_buffer_print(out, "lost: ");
	else if (losses->unfinished)
		view_buffer_print(out, "no loss is known");
	else
		view_buffer_print(out, "no %s was lost", what);
	for (unsigned n = 0; n < losses->count; n++) {
		const struct view_loss *loss = &losses->list[n];

		view_buffer_print(out, "%s%s%s %s", n || !losses->sum ? ", " : "",
				  text_count(text, loss->count),
				  !loss->of_rings    ? ""
				  : loss->count == 1 ? " record:"
						     : " records:",
				  loss->text);
	}
	view_buffer_print(out, "%s\n", losses->sum ? about : "");
}

bool view_losses_line(const struct burin_trace *trace, const char *about, struct view_buffer *out)
{
	struct view_losses losses;

	view_losses_read(trace, &losses);
	view_losses_print(&losses, "record", about, out);
	print_unfinished(trace, false, out);
	view_chunks_text(trace, out);
	return losses.count || losses.unfinished;
}

void view_losses_object(const struct view_losses *losses, struct json *json)
{
	json_object(json, "lost");
	for (unsigned n = 0; n < losses->count; n++)
		json_u64(json, losses->list[n].key, losses->list[n].count);
	json_end(json);
	json_bool(json, "unfinished", losses->unfinished);
}

void view_losses_json(const struct burin_trace *trace, struct json *json)
{
	struct view_losses losses;

	view_losses_read(trace, &losses);
	view_losses_object(&losses, json);
}
