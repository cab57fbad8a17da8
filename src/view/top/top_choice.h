/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of a screen that the user wants, in the order that the user wants. */
#ifndef BURIN_VIEW_TOP_TOP_CHOICE_H
#define BURIN_VIEW_TOP_TOP_CHOICE_H

#include "view/top/top.h"

enum top_view {
	TOP_OVERVIEW, /* the first rows of all others */
	TOP_SPANS,
	TOP_EVENTS,
	TOP_FUNCTIONS,
	TOP_THREADS,
	TOP_VIEWS
};

enum {
	TOP_FILTER = 64, /* bytes of a filter, with its NUL */
};

struct top_choice {
	char filter[TOP_FILTER];   /* a glob of names, or a part of them; "": all */
	unsigned order[TOP_VIEWS]; /* the number of an order of each view */
};

/* top_order_name - the order of a view, for people. @number: any; TOP_OVERVIEW has none: "" */
const char *top_order_name(enum top_view view, unsigned number);

/*
 * top_choose - copy the rows that are wanted. The texts stay those of @rows.
 * Return: false: no memory; top_chosen_free() is due in both cases.
 */
bool top_choose(const struct top_rows *rows, const struct top_choice *choice, struct top_rows *chosen);
void top_chosen_free(struct top_rows *chosen);

#endif
