/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Callbacks; see callback.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/tracepoint/callback.h"
#include "source/tracepoint/site_registry.h"
#include "source/tracepoint/thread.h"

/* One per name, never freed: a thread may be about to call it. */
struct callback {
	struct callback *next;
	char name[WIRE_NAME_MAX + 1];
	struct callback_target *target; /* both in one pointer, so that they change at once */
};

struct callback_target {
	burin_callback *function;
	void *data;
};

static const unsigned char called = WIRE_CALLED;
static struct callback *callbacks;
static __thread bool inside; /* this thread is in a callback: its tracepoints call no function */

void callback_call(struct burin_site *site, const void *payload, size_t payload_bytes)
{
	/* Acquire pairs with the release in burin_callback_set() and callback_attach(). */
	struct callback *callback = __atomic_load_n(&site->hook, __ATOMIC_ACQUIRE);
	struct callback_target *target =
		callback ? __atomic_load_n(&callback->target, __ATOMIC_ACQUIRE) : NULL;
	int saved = errno; /* the function may change it, a tracepoint must not */

	if (!target || inside)
		return;
	inside = true;
	target->function(site, payload, payload_bytes, target->data);
	inside = false;
	errno = saved;
}

static struct callback *find(const char *name)
{
	struct callback *callback = callbacks;

	while (callback && strcmp(callback->name, name) != 0)
		callback = callback->next;
	return callback;
}

static void set_hook(struct burin_site *site, struct callback *callback, const unsigned char *session_switch)
{
	bool set = callback && callback->target;

	__atomic_store_n(&site->hook, set ? callback : NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&site->state, set ? &called : session_switch, __ATOMIC_RELEASE);
}

void callback_attach(struct burin_site *site, const unsigned char *session_switch)
{
	set_hook(site, find(site->name), session_switch);
}

static void attach_everywhere(struct burin_site *site, void *name)
{
	if (strcmp(site->name, name) == 0)
		callback_attach(site, site_registry_session_switch(site));
}

int burin_callback_set(const char *name, burin_callback *function, void *data)
{
	struct callback_target *target = NULL;
	struct callback *callback;

	if (!name || !*name || strlen(name) > WIRE_NAME_MAX)
		return -EINVAL;
	if (function) {
		target = malloc(sizeof(*target));
		if (!target)
			return -ENOMEM;
		*target = (struct callback_target){ function, data };
	}
	site_registry_lock();
	callback = find(name);
	if (!callback) {
		callback = calloc(1, sizeof(*callback));
		if (!callback) {
			site_registry_unlock();
			free(target);
			return -ENOMEM;
		}
		strcpy(callback->name, name);
		callback->next = callbacks;
		callbacks = callback;
	}
	/* The old target is not freed: another thread may be using it. Callbacks are rarely set. */
	__atomic_store_n(&callback->target, target, __ATOMIC_RELEASE);
	site_registry_each_site(attach_everywhere, callback->name);
	site_registry_unlock();
	return 0;
}
