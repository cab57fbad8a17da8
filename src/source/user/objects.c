/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Objects and the session.
 *
 * The first object that comes makes the process get into a session, before any of its tracepoints can be on. Each object's sites are registered when it is loaded, which is when their switch
 * pointers leave burin_off; when it is unloaded only the memory of the sites goes, the events stay in the
 * session.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "source/user/callback.h"
#include "source/user/objects.h"
#include "source/user/process.h"
#include "source/user/stage.h"
#include "source/user/thread.h"

const unsigned char burin_off = WIRE_OFF;

struct object {
	struct object *next;
	struct burin_site *begin, *end;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

void objects_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void objects_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

const unsigned char *objects_session_switch(const struct burin_site *site)
{
	return user_session.base && site->id ? &user_session.switches[site->id - 1] : &burin_off;
}

static void register_sites(struct burin_site *begin, struct burin_site *end)
{
	const unsigned count = (unsigned)(end - begin);
	struct session_event *events = calloc(count, sizeof(*events));
	uint16_t *ids = calloc(count, sizeof(*ids));
	int error = events && ids ? 0 : -ENOMEM;

	for (unsigned n = 0; !error && n < count; n++)
		events[n] =
			(struct session_event){ begin[n].name, begin[n].format, begin[n].file, begin[n].types,
						begin[n].line, begin[n].kind,	begin[n].level };
	if (!error)
		error = session_event_register(&user_session, events, count, ids);
	for (unsigned n = 0; !error && n < count; n++)
		begin[n].id = ids[n];
	if (error)
		process_complain("session", "its events cannot be registered", error);
	free(events);
	free(ids);
}

static bool known(const struct burin_site *begin)
{
	for (const struct object *object = objects; object; object = object->next)
		if (object->begin == begin)
			return true;
	return false;
}

void burin_object_join(struct burin_site *begin, struct burin_site *end)
{
	struct object *object;
	int saved = errno;

	objects_lock();
	object = begin < end && !known(begin) ? malloc(sizeof(*object)) : NULL;
	if (object) {
		*object = (struct object){ objects, begin, end };
		objects = object;
		process_begin();
		/* A `char *` under %p is an address and no text: the format alone tells. */
		for (struct burin_site *site = begin; site < end; site++)
			site->types = stage_types(site->format, site->types);
		if (user_session.base)
			register_sites(begin, end);
		for (struct burin_site *site = begin; site < end; site++)
			callback_attach(site, objects_session_switch(site));
	}
	objects_unlock();
	errno = saved;
}

void burin_object_leave(struct burin_site *begin, struct burin_site *end)
{
	(void)end;
	objects_lock();
	for (struct object **link = &objects; *link; link = &(*link)->next) {
		if ((*link)->begin == begin) {
			struct object *gone = *link;

			*link = gone->next;
			free(gone);
			break;
		}
	}
	objects_unlock();
}

void objects_each_site(void (*visit)(struct burin_site *site, void *data), void *data)
{
	for (const struct object *object = objects; object; object = object->next)
		for (struct burin_site *site = object->begin; site < object->end; site++)
			visit(site, data);
}

/* A fork may happen while another thread holds the lock: the child must find it free. */
static __attribute__((constructor(101))) void watch_fork(void)
{
	pthread_atfork(objects_lock, objects_unlock, objects_unlock);
}
