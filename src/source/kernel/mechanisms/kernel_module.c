/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's session beside a recorder's; see kernel_module.h.
 *
 * The rings are older than this recording, and others use them, too. So nothing here writes to them: cursors are
 * passive, and events are switched by a lease, which is not of this file. kernel_module_translate() changes a private copy. It
 * replaces ids of the module's table by those of the recorder's session, before the drain looks at the records. An
 * event that the module has registered since makes it read the table again.
 *
 * Bytes that are no record, and ids that nothing stands for, are left: 0 is no event, so validation ends there and
 * counts the damage.
 *
 * A thread that lives has no announcement in the module's session. It is asked for at its first record
 * (task_names_record()), and what the module announces at the end of a task or at its renaming is passed on in each
 * round.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/number.h"
#include "ring/ring_deps.h"
#include "session/kernel_device.h"
#include "source/kernel/probes/kernel_function.h"
#include "source/kernel/mechanisms/kernel_module.h"
#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/probes/probe.h"
#include "source/kernel/points/tracefs.h"
#include "wire/wire_head.h"
#include "wire/wire_names.h"

/* ---- Which events */

static const char *kernel_module_name_of(const struct kernel_module *module, uint32_t index)
{
	return table_text(&module->table, module->table.entries[index].name);
}

static bool kernel_module_has_event(const struct kernel_module *module, const char *name)
{
	for (uint32_t n = 0; n < module->table.count; n++)
		if (strcmp(kernel_module_name_of(module, n), name) == 0)
			return true;
	return false;
}

/* The events of the kernel that a glob means, and one that the module lacks. */
struct search {
	const struct kernel_module *module;
	char *why;
};

static int find_missing(void *context, const struct tracepoint *point)
{
	const struct search *search = context;
	bool enters;

	/* A call of another kind of program has no number, and is never recorded. */
	if (kernel_module_has_event(search->module, point->event) ||
	    (tracepoint_syscall(point, &enters) && kernel_points_call(point, &enters) < 0))
		return 0;
	snprintf(search->why, KERNEL_MODULE_WHY, "burin.ko does not have %.128s",
		 point->event + sizeof(TRACEPOINT_PREFIX) - 1);
	return -ENOENT;
}

static unsigned count_matches(const struct kernel_module *module, const char *glob)
{
	unsigned count = 0;

	for (uint32_t n = 0; n < module->table.count; n++)
		count += glob_match(glob, kernel_module_name_of(module, n));
	return count;
}

/* The glob of the names in the session. */
static const char *whole_glob(const char *asked)
{
	char *whole;

	if (!strchr(asked, ':') || strncmp(asked, TRACEPOINT_PREFIX, sizeof(TRACEPOINT_PREFIX) - 1) == 0)
		return strdup(asked);
	return asprintf(&whole, TRACEPOINT_PREFIX "%s", asked) < 0 ? NULL : whole;
}

static int choose_glob(struct kernel_module *module, int events, const char *asked, const char *glob,
		       char why[KERNEL_MODULE_WHY])
{
	const char *const one[] = { asked, NULL };
	const unsigned count = count_matches(module, glob);

	if (kernel_function_is_one(asked) || probe_is_one(asked)) {
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko has no probes, such as %.60s", asked);
		return -ENOENT;
	}
	if (!count) {
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko has no event that matches %.60s", asked);
		return -ENOENT;
	}
	module->events += count;
	return events < 0 ? 0 : tracefs_each(events, one, find_missing, &(struct search){ module, why });
}

/* Whether one of the globs matches a name. */
static bool has_matching(const struct kernel_module *module, const char *name)
{
	for (const char **glob = module->globs; *glob; glob++)
		if (glob_match(*glob, name))
			return true;
	return false;
}

static bool has_text(const struct wire_event *entry)
{
	for (uint64_t types = entry->types; types; types >>= 4)
		if ((types & 15) == WIRE_STR)
			return true;
	return false;
}

static bool takes_address(const char *call)
{
	static const char *const calls[] = { "bind",	"connect",  "accept",  "accept4",     "sendto",
					     "sendmsg", "recvfrom", "recvmsg", "getsockname", "getpeername" };

	for (unsigned n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		if (strcmp(call, calls[n]) == 0)
			return true;
	return false;
}

/* Programs read a text that is not in memory at the end of the call, and addresses of sockets (kernel_calls.bpf.c). */
static const char *find_lacks(const struct kernel_module *module)
{
	static const char begin[] = TRACEPOINT_PREFIX "syscalls:sys_enter_",
			  begin_unnamed[] = TRACEPOINT_PREFIX "syscalls:sys_enter_" UNNAMED_CALL;
	bool texts = false, found = false, calls = false;

	for (uint32_t n = 0; n < module->table.count; n++) {
		const struct wire_event *entry = &module->table.entries[n];
		const char *name = kernel_module_name_of(module, n), *call = name + sizeof(begin) - 1;

		if (strncmp(name, begin, sizeof(begin) - 1) != 0)
			continue;
		texts = texts || has_text(entry);
		if (!has_matching(module, name))
			continue;
		calls = true;
		found = found || has_text(entry) || takes_address(call);
	}
	return calls && !texts ? "burin.ko was loaded with texts=0, so texts of system calls are addresses"
	       : has_matching(module, begin_unnamed) ? "burin.ko records no system calls without a "
						       "tracepoint, no addresses of sockets, and no "
						       "texts that are not in memory"
	       : found ? "burin.ko records no addresses of sockets, and no texts that are not in memory"
		       : NULL;
}

static int kernel_module_choose(struct kernel_module *module, const char *const *asked,
				char why[KERNEL_MODULE_WHY])
{
	const int events = tracefs_open(); /* without it, what the module has is all there is */
	unsigned count = 0;
	int error = 0;

	while (asked[count])
		count++;
	module->globs = calloc(count + 2, sizeof(*module->globs));
	if (!module->globs)
		error = -ENOMEM;
	for (unsigned n = 0; n < count && !error; n++) {
		module->globs[n] = whole_glob(asked[n]);
		error = module->globs[n] ? choose_glob(module, events, asked[n], module->globs[n], why)
					 : -ENOMEM;
	}
	if (events >= 0)
		close(events);
	/* Every recording of the kernel has the forks, for the states of threads (burin report --sched). */
	if (!error && kernel_module_has_event(module, TRACEPOINT_PREFIX "task:task_newtask")) {
		module->globs[count] = strdup(TRACEPOINT_PREFIX "task:task_newtask");
		error = module->globs[count] ? 0 : -ENOMEM;
	} else if (!error && has_matching(module, TRACEPOINT_PREFIX "sched:sched_switch")) {
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko does not have task:task_newtask");
		error = -ENOENT;
	}
	if (!error)
		module->lacks = find_lacks(module);
	return error;
}

/* ---- Records */

/* The id in the recorder's session of an event, which is registered at its first record. Return: 0: it cannot be. */
static uint16_t kernel_module_id_of(struct kernel_module *module, uint32_t id)
{
	const struct wire_event *entry;
	struct session_event event;

	if (id > module->device.geometry.events_max)
		return 0;
	if (module->ids[id])
		return module->ids[id];
	if (id > module->table.count && event_table_update(&module->table, &module->device) != 0)
		return 0;
	if (!id || id > module->table.count)
		return 0;
	entry = &module->table.entries[id - 1];
	event = (struct session_event){ .name = table_text(&module->table, entry->name),
					.format = table_text(&module->table, entry->format),
					.file = table_text(&module->table, entry->file),
					.enums = table_text(&module->table, entry->enums),
					.types = entry->types,
					.line = entry->line,
					.kind = entry->kind,
					.level = entry->level };
	session_event_register(module->session, &event, 1, &module->ids[id]);
	return module->ids[id];
}

/*
 * Translate the ids. Bytes that are no record are left for validation, which counts them as damaged; and so is a record
 * of an event that could not be registered.
 */
static void kernel_module_translate(void *context, unsigned ring, struct wire_packet *packet,
				    const struct ring_piece *piece)
{
	struct kernel_module *module = context;
	char *bytes = (char *)packet;
	struct wire_walk walk = { bytes + piece->begin,
				  bytes + piece->end,
				  0,
				  { .time = piece->begin == sizeof(*packet) ? packet->time_begin : 0 } };
	const char *at;

	(void)ring;
	while ((at = wire_walk_next(&walk))) {
		const uint16_t id = kernel_module_id_of(module, walk.head.id);
		const uint32_t wide = id;
		char *place = bytes + (at - bytes);

		if (walk.head.extended)
			memcpy(place + offsetof(struct wire_extended, id), &wide, sizeof(wide));
		else
			memcpy(place, &id, sizeof(id));
		task_names_record(&module->names, 0, walk.head.tid, ring_clock(), NULL, 0);
	}
}

/* ---- Names */

static void kernel_module_take_name(struct kernel_module *module, const char *at,
				    const struct wire_head *head)
{
	const char *payload = at + head->bytes, *end = at + head->length - WIRE_NAME_TAIL;
	const uint32_t pid = number_load32(payload);
	uint64_t since = number_load64(end);

	since = since ? since : head->time;
	if (head->id == WIRE_NAME_THREAD)
		session_announce_thread(module->session, pid, module->names.self, head->tid, payload + 4,
					since);
	else if (head->id == WIRE_NAME_PROCESS)
		session_announce_guest(module->session, pid, payload + 8, head->tid, since);
}

/* Pass the names on that the kernel has announced: of tasks that have ended, and of renamed ones. */
static void kernel_module_round_begins(void *context)
{
	struct kernel_module *module = context;
	struct ring_reader *reader = &module->names_reader;
	const unsigned names = session_names_index(&module->device);
	const struct ring *ring = session_ring_view(&module->device, names);
	const struct wire_packet *packet = (const struct wire_packet *)module->buffer;
	struct ring_piece piece;

	for (uint32_t n = ring ? ring->window + 1 : 0; n > 0; n--) {
		struct validated validated;
		struct wire_walk walk;
		const char *at;
		uint64_t time;

		if (ring_copy(ring, &reader->cursor, module->buffer, &piece) <= 0)
			break;
		if (!ring_reader_piece(reader, packet, &piece, &time))
			continue;
		validated =
			validate_records(&module->names_table, module->buffer, piece.begin, piece.end, time,
					 reader->base, ring_clock(), (struct window){ 0, UINT64_MAX });
		ring_reader_take(reader, &piece, &validated, validated.count);
		walk = (struct wire_walk){ module->buffer + validated.begin,
					   module->buffer + validated.content,
					   0,
					   { .time = time } };
		while (validated.count && (at = wire_walk_next(&walk)))
			kernel_module_take_name(module, at, &walk.head);
	}
}

/* ---- Beginning and end */

static int kernel_module_make_rings(struct kernel_module *module)
{
	const struct wire_geometry *geometry = &module->device.geometry;
	unsigned count = 2 * geometry->cpus;

	if (geometry->locked < geometry->cpus)
		return -EBADMSG;
	module->rings = calloc(count, sizeof(*module->rings));
	if (!module->rings)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++) {
		const unsigned index = n % 2 * geometry->cpus + n / 2;

		/* Also of a ring that is not in use yet: its memory reads as zeros. */
		module->rings[n] = module->device.rings[index];
		module->rings[n].slots = module->device.base + geometry->rings_offset +
					 index * (uint64_t)geometry->ring_packets * geometry->packet_bytes;
		module->rings[n].ready_words = (uint32_t)module->rings[n].packet_words;
		module->rings[n].header = &module->session->header;
		module->rings[n].stream_instance = WIRE_KERNEL_INSTANCE + n;
	}
	module->names_reader = (struct ring_reader){
		.ring = &module->device.rings[session_names_index(&module->device)],
		.cursor = { .passive = true },
	};
	module->more = (struct drain_more){ .rings = module->rings,
					    .count = count,
					    .round = kernel_module_round_begins,
					    .translate = kernel_module_translate,
					    .globs = module->globs,
					    .context = module };
	return 0;
}

static int kernel_module_attach(struct kernel_module *module, const char *const *asked,
				char why[KERNEL_MODULE_WHY])
{
	const struct wire_geometry *geometry = &module->device.geometry;
	int error;

	if (geometry->mode ==
	    WIRE_MODE_STREAM) { /* its records are for one reader, and may be those of the boot */
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko is in stream mode; use burin record kernel");
		return -EINVAL;
	}
	if (geometry->clock != module->session->geometry.clock || module->session->geometry.context) {
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko has another clock, or the recording a context");
		return -EINVAL;
	}
	module->ids = calloc(geometry->events_max + 1, sizeof(*module->ids));
	module->buffer = malloc(geometry->names_packet_bytes);
	error = module->ids && module->buffer ? event_table_update(&module->table, &module->device) : -ENOMEM;
	if (!error)
		error = event_table_init_names(&module->names_table, false);
	if (!error)
		error = kernel_module_choose(module, asked, why);
	if (!error)
		error = kernel_module_make_rings(module);
	if (!error)
		error = task_names_begin(&module->names, module->session, -1);
	if (error && !*why)
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko: %s", strerror(-error));
	return error;
}

int kernel_module_open(struct kernel_module *module, struct session *session, const char *const *asked,
		       char why[KERNEL_MODULE_WHY])
{
	const char *reason = "";
	int error;

	*module = (struct kernel_module){ .session = session };
	*why = 0;
	error = kernel_device_open(&module->device, true, &reason);
	if (error) {
		snprintf(why, KERNEL_MODULE_WHY, "%s: %s", WIRE_DEVICE_PATH, reason);
		return error;
	}
	module->device.command = session->command ? session->command : "record";
	error = kernel_module_attach(module, asked, why);
	if (error)
		kernel_module_close(module);
	return error;
}

void kernel_module_begin(struct kernel_module *module)
{
	module->more.since = ring_clock();
}

void kernel_module_close(struct kernel_module *module)
{
	for (unsigned n = 0; module->globs && module->globs[n]; n++)
		free((char *)module->globs[n]);
	free(module->globs);
	free(module->ids);
	free(module->rings);
	free(module->buffer);
	event_table_free(&module->table);
	event_table_free(&module->names_table);
	task_names_free(&module->names);
	session_leave(&module->device);
	*module = (struct kernel_module){ .events = 0 };
}
