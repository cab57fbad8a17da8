/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names and types of columns, and values that columns of several tables have. */
#include <stdio.h>
#include <strings.h>

#include "query/query_kinds.h"

static enum query_type field_column_type(unsigned type)
{
	switch (type) {
	case BURIN_TYPE_F32:
	case BURIN_TYPE_F64:
		return QUERY_REAL;
	case BURIN_TYPE_STR:
		return QUERY_TEXT;
	case BURIN_TYPE_BYTES:
	case BURIN_TYPE_ARRAY:
		return QUERY_BLOB;
	default:
		return QUERY_INTEGER;
	}
}

/* Whether a name is that of a column before the fields, or of one of the first fields. */
static bool column_name_used(const struct query_table *table, unsigned fields, const char *name)
{
	for (unsigned n = 0; n < table->kind->field_count; n++)
		if (!strcasecmp(table->kind->fields[n].name, name))
			return true;
	for (unsigned n = 0; n < fields; n++)
		if (!strcasecmp(burin_event_field(table->event, n)->name, name))
			return true;
	return false;
}

/* A name that is used gets the field's number, and underscores until no field has it. So two of them end in different numbers. */
static void column_name(const struct query_table *table, unsigned number, char name[QUERY_NAME])
{
	const char *wanted = burin_event_field(table->event, number)->name;
	size_t end;

	snprintf(name, QUERY_NAME, "%.400s", wanted);
	if (!column_name_used(table, number, name))
		return;
	snprintf(name, QUERY_NAME, "%.400s_%u", wanted, number + 1);
	for (end = strlen(name); end < QUERY_NAME - 1 && column_name_used(table, table->event->fields, name);
	     end++) {
		name[end] = '_';
		name[end + 1] = '\0';
	}
}

enum query_type query_column_type(const struct query_table *table, unsigned column)
{
	const unsigned fixed = table->kind->field_count;

	return column < fixed ? table->kind->fields[column].type
			      : field_column_type(burin_event_field(table->event, column - fixed)->type);
}

enum query_type query_column(const struct query_table *table, unsigned column, char name[QUERY_NAME])
{
	const unsigned fixed = table->kind->field_count;

	if (column < fixed)
		strcpy(name, table->kind->fields[column].name);
	else
		column_name(table, column - fixed, name);
	return query_column_type(table, column);
}

void query_of_thread(const struct burin_thread *thread, enum query_of of, struct query_value *value)
{
	query_null(value);
	if (!thread)
		return;
	if (of == QUERY_OF_PID) {
		query_integer(value, thread->pid);
	} else if (of == QUERY_OF_THREAD) {
		query_text(value, thread->name);
	} else if (thread->process) {
		query_program(value, thread->process->exe);
	}
}

bool query_value_is(const struct query_value *value, const struct query_value *wanted)
{
	if (value->type != wanted->type)
		return false;
	if (value->type == QUERY_INTEGER)
		return value->integer == wanted->integer;
	return value->size == wanted->size && !memcmp(value->bytes, wanted->bytes, value->size);
}
