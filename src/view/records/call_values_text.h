/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The arguments and results of calls, as lines print them. */
#ifndef BURIN_VIEW_RECORDS_CALL_VALUES_TEXT_H
#define BURIN_VIEW_RECORDS_CALL_VALUES_TEXT_H

#include "burin/calls.h"
#include "view/json.h"

/* view_values_find - whether arguments or the result of a call were recorded. */
bool view_values_find(const struct burin_calls *calls, const struct burin_record *record,
		      struct burin_call_values *values);

/* view_values_arguments - '("x", 0x2)' */
void view_values_arguments(const struct burin_record *record, const struct burin_call_values *values,
			   struct view_buffer *out);

/* view_values_result - ' = 3'; nothing if it is not known. */
void view_values_result(const struct burin_record *record, const struct burin_call_values *values,
			struct view_buffer *out);

/* view_values_json - the members "arguments" and "retval". */
void view_values_json(const struct burin_record *record, const struct burin_call_values *values,
		      struct json *json);

#endif
