/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions for several events: "EXPR" for each event, or "GLOB: EXPR" for those whose names match. All conditions of an event must
 * hold.
 */
#ifndef BURIN_FILTER_FILTER_CONDITIONS_H
#define BURIN_FILTER_FILTER_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>

enum {
	FILTER_CONDITIONS_MAX = 2048, /* bytes of those of an event */
};

/* filter_condition_fits - whether a condition is for the event of this name. */
bool filter_condition_fits(const char *condition, const char *event);

/* filter_condition_expression - what is behind the glob of a condition. */
const char *filter_condition_expression(const char *condition);

/*
 * filter_conditions_join - one expression of all conditions of an event; if one of them is no expression, that one.
 * @conditions: the last one is NULL
 * @out: FILTER_CONDITIONS_MAX bytes
 * Return: how many there are; -E2BIG: they are too long.
 */
int filter_conditions_join(const char *const *conditions, const char *event, char *out);

#endif
