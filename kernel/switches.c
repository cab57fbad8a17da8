// SPDX-License-Identifier: GPL-2.0-only
/* The switches of events; see switches.h. */
#include <linux/mm.h>

#include "checks.h"
#include "names.h"
#include "probes.h"
#include "switches.h"

/* The sites of each event, by its index. */
static struct burin_kernel_site **sites;

static void switch_site(struct burin_kernel_site *site, bool on)
{
	if (on)
		static_branch_enable(&site->mark.key);
	else
		static_branch_disable(&site->mark.key);
}

/* A function is also called while the event is off. */
static void switch_all(u32 index, bool on)
{
	const bool reached = on || checks_hook(index);

	for (struct burin_kernel_site *site = sites[index]; site; site = site->next)
		switch_site(site, reached);
	probes_switch(index, reached);
}

/* Records ask for the condition before the switch says that there is one, and until nothing reaches it any more. */
void switches_take_effect(u32 index)
{
	const u8 desired = burin_session.desired[index],
		 state = wire_is_on(desired) && !burin_session.shared->paused ? desired : WIRE_OFF;
	u8 *byte = &burin_session.switches[index], before = *byte;

	if (state == WIRE_CONDITIONAL && before != WIRE_CONDITIONAL)
		checks_want(index, true);
	if ((state != WIRE_OFF) != (before != WIRE_OFF))
		names_switch(state != WIRE_OFF);
	if (state == WIRE_OFF)
		WRITE_ONCE(*byte, WIRE_OFF);
	switch_all(index, state != WIRE_OFF);
	/* Release: the condition is complete. Pairs with the acquire in checks_pass(). */
	smp_store_release(byte, state);
	if (before == WIRE_CONDITIONAL && state != WIRE_CONDITIONAL)
		checks_want(index, false);
}

void switches_add_site(u32 index, struct burin_kernel_site *site)
{
	site->next = sites[index];
	sites[index] = site;
	switches_take_effect(index);
}

void switches_forget_sites(const struct module *module)
{
	for (u32 n = 0; n < session_event_count(&burin_session); n++) {
		struct burin_kernel_site **at = &sites[n];

		while (*at)
			if ((*at)->module == module)
				*at = (*at)->next;
			else
				at = &(*at)->next;
	}
}

int switches_begin(void)
{
	sites = kvcalloc(burin_session.geometry.events_max, sizeof(struct burin_kernel_site *), GFP_KERNEL);
	return sites ? 0 : -ENOMEM;
}

void switches_end(void)
{
	kvfree(sites);
}
