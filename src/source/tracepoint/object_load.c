/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Objects with tracepoints are loaded and unloaded (burin_object_join() and burin_object_leave(), burin/burin.h).
 *
 * The first object makes the process join a session, before any of its tracepoints can be on. The sites of each object
 * are registered when it is loaded; then their state pointers leave burin__off. When it is unloaded, the memory of its
 * sites goes, but its events stay in the session.
 */
#include <errno.h>
#include <stdlib.h>

#include "source/tracepoint/callback.h"
#include "source/tracepoint/fields/enum_text.h"
#include "source/tracepoint/process.h"
#include "source/tracepoint/site_registry.h"
#include "source/tracepoint/fields/site_types.h"
#include "source/tracepoint/thread.h"

/* Report the first object with refused events; `burin events` lists all. */
static void report_refused(const struct session_event *event, unsigned count)
{
	static bool reported;

	if (count && !reported)
		process_report_refused(event->name, event->file, event->line,
				       session_event_fault(&tracepoint_session, event), count);
	reported |= count != 0;
}

static void register_sites(struct burin_site *begin, struct burin_site *end, const struct burin_enum *enums,
			   const struct burin_enum *enums_end)
{
	const unsigned count = (unsigned)(end - begin);
	struct session_event *events = calloc(count, sizeof(*events));
	uint16_t *ids = calloc(count, sizeof(*ids));
	const struct session_event *first = NULL;
	unsigned refused = 0;
	int error = events && ids ? 0 : -ENOMEM;

	for (unsigned n = 0; !error && n < count; n++)
		events[n] = (struct session_event){ .name = begin[n].name,
						    .format = begin[n].format,
						    .file = begin[n].file,
						    .enums = enum_text(begin[n].format, enums, enums_end),
						    .types = site_types_of_records(begin[n].types),
						    .line = begin[n].line,
						    .kind = begin[n].kind,
						    .level = begin[n].level };
	if (!error)
		error = session_event_register(&tracepoint_session, events, count, ids);
	for (unsigned n = count; !error && n-- > 0;) {
		begin[n].id = ids[n];
		if (!ids[n]) {
			first = &events[n];
			refused++;
		}
	}
	report_refused(first, refused);
	if (error)
		process_report_untraced("session", "its events cannot be registered", error);
	for (unsigned n = 0; events && n < count; n++)
		free((char *)(uintptr_t)events[n].enums);
	free(events);
	free(ids);
}

void burin_object_join(struct burin_site *begin, struct burin_site *end, const struct burin_enum *enums,
		       const struct burin_enum *enums_end)
{
	int saved = errno;

	site_registry_lock();
	if (begin < end && site_registry_add(begin, end)) {
		process_begin();
		/* Only the format shows what a `char *` is. */
		for (struct burin_site *site = begin; site < end; site++)
			site->types = site_types_complete(site->format, site->types);
		if (tracepoint_session.base)
			register_sites(begin, end, enums, enums_end);
		for (struct burin_site *site = begin; site < end; site++)
			callback_attach(site, site_registry_session_switch(site));
	}
	site_registry_unlock();
	errno = saved;
}

void burin_object_leave(struct burin_site *begin, struct burin_site *end)
{
	(void)end;
	site_registry_lock();
	site_registry_remove(begin);
	site_registry_unlock();
}
