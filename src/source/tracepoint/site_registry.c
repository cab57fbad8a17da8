/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The registry of loaded objects and their sites; see site_registry.h. */
#include <pthread.h>
#include <stdlib.h>

#include "source/tracepoint/site_registry.h"
#include "source/tracepoint/thread.h"

const unsigned char burin_off = WIRE_OFF;

struct object {
	struct object *next;
	struct burin_site *begin, *end;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

void site_registry_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void site_registry_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static bool is_registered(const struct burin_site *begin)
{
	for (const struct object *object = objects; object; object = object->next)
		if (object->begin == begin)
			return true;
	return false;
}

bool site_registry_add(struct burin_site *begin, struct burin_site *end)
{
	struct object *object = is_registered(begin) ? NULL : malloc(sizeof(*object));

	if (!object)
		return false;
	*object = (struct object){ objects, begin, end };
	objects = object;
	return true;
}

void site_registry_remove(const struct burin_site *begin)
{
	for (struct object **link = &objects; *link; link = &(*link)->next) {
		if ((*link)->begin == begin) {
			struct object *gone = *link;

			*link = gone->next;
			free(gone);
			return;
		}
	}
}

void site_registry_each_site(void (*visit)(struct burin_site *site, void *data), void *data)
{
	for (const struct object *object = objects; object; object = object->next)
		for (struct burin_site *site = object->begin; site < object->end; site++)
			visit(site, data);
}

const unsigned char *site_registry_session_switch(const struct burin_site *site)
{
	return tracepoint_session.base && site->id ? &tracepoint_session.switches[site->id - 1] : &burin_off;
}

/* A fork may happen while another thread holds the lock: the child must find it free. */
static __attribute__((constructor(101))) void watch_fork(void)
{
	pthread_atfork(site_registry_lock, site_registry_unlock, site_registry_unlock);
}
