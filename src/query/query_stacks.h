/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts of stacks and locations. */
#ifndef BURIN_QUERY_QUERY_STACKS_H
#define BURIN_QUERY_QUERY_STACKS_H

#include "query/query.h"

/*
 * query_location_function - the function at a location: the one into which the compiler has put the others; without a name, its address.
 * query_stack_function - the function whose own cost a sample with a stack is (view_own_frame()). Both: NULL: there is none.
 * @text: room for an address
 */
const char *query_location_function(const struct query *query, uint32_t location, char *text, size_t bytes);
const char *query_stack_function(const struct query *query, uint32_t stack, bool waiting, char *text,
				 size_t bytes);

/* query_stack_text - all functions of a stack, from the outermost one on, with `;` between. */
void query_stack_text(const struct query *query, uint32_t stack, struct view_buffer *out);

#endif
