/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The fields of records as JSON (docs/json.md). */
#ifndef BURIN_VIEW_RECORDS_FIELD_JSON_H
#define BURIN_VIEW_RECORDS_FIELD_JSON_H

#include "burin/read.h"
#include "view/json.h"

/* view_json_value - a field of a record, behind its key. */
void view_json_value(struct json *json, const struct burin_record *record, unsigned number);

#endif
