/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A virtual table. Constraints on its first column, on the number of a row, and on a column that must have a value narrow the scan; SQLite
 * checks each row again, so a value of another type just narrows nothing. The text of the plan, which EXPLAIN QUERY PLAN prints, has a word
 * for each: "time>= tid=". The number of the plan has a bit for each column that the query reads.
 */
#include "sql/sql_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/query.h"

enum {
	SQL_ROW = -1, /* the column of a row's number */
};

struct sql_table {
	sqlite3_vtab base;
	struct query *query;
	struct query_table *table;
	char **names; /* of the columns */
	enum query_type *types;
};

struct sql_cursor {
	sqlite3_vtab_cursor base;
	struct query_scan scan;
	struct query_bounds bounds;
	char *texts[QUERY_EQUALS];
};

static const char sql_row_word[] = "row#"; /* no column has such a name */
#ifdef SQL_EXTENSION
static const char sql_no_memory[] = "no memory for these rows";
#else
static const char sql_no_memory[] = "no memory for these rows; raise the limit with --memory";
#endif
static const char *const type_names[] = { "", "INTEGER", "REAL", "TEXT", "BLOB" };

static int sql_table_disconnect(sqlite3_vtab *base)
{
	struct sql_table *table = (struct sql_table *)base;

	for (unsigned n = 0; table->names && n < table->table->columns; n++)
		free(table->names[n]);
	free(table->names);
	free(table->types);
	free(table);
	return SQLITE_OK;
}

static int sql_table_columns(struct sql_table *table)
{
	const unsigned count = table->table->columns;
	char name[QUERY_NAME];

	table->names = calloc(count, sizeof(*table->names));
	table->types = calloc(count, sizeof(*table->types));
	for (unsigned n = 0; table->names && table->types && n < count; n++) {
		table->types[n] = query_column(table->table, n, name);
		table->names[n] = strdup(name);
		if (!table->names[n])
			return SQLITE_NOMEM;
	}
	return table->names && table->types ? SQLITE_OK : SQLITE_NOMEM;
}

static int sql_table_declare(sqlite3 *base, const struct sql_table *table)
{
	sqlite3_str *text = sqlite3_str_new(base);
	char *declared;
	int result;

	for (unsigned n = 0; n < table->table->columns; n++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", n ? ", " : "CREATE TABLE rows(", table->names[n],
				    type_names[table->types[n]]);
	sqlite3_str_appendall(text, ")");
	result = sqlite3_str_errcode(text); /* also if the text is above a limit of the connection */
	declared = sqlite3_str_finish(text);
	if (!result)
		result = declared ? sqlite3_declare_vtab(base, declared) : SQLITE_NOMEM;
	sqlite3_free(declared);
	return result;
}

static int sql_table_connect(sqlite3 *base, void *data, int count, const char *const *words,
			     sqlite3_vtab **made, char **error)
{
	const struct sql_trace *trace = data;
	unsigned number = count > 3 ? (unsigned)strtoul(words[3], NULL, 10) : UINT32_MAX;
	struct sql_table *table;
	int result;

	if (number >= trace->query->count) {
		*error = sqlite3_mprintf("the trace has no such table");
		return SQLITE_ERROR;
	}
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->query = trace->query;
	table->table = &trace->query->tables[number];
	result = sql_table_columns(table);
	if (!result)
		result = sql_table_declare(base, table);
	if (!result)
		result = sqlite3_vtab_config(base, SQLITE_VTAB_DIRECTONLY);
	if (result)
		sql_table_disconnect(&table->base);
	else
		*made = &table->base;
	return result;
}

/* ---- Plans */

/* The rows of a plan, about. */
struct sql_estimate {
	double rows;  /* that are read ... */
	double found; /* ... and of them those that are wanted */
	bool unique;
};

static const char *constraint_operator(unsigned char operator, bool ranges)
{
	switch (operator) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return "=";
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return ranges ? ">=" : NULL;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return ranges ? "<=" : NULL;
	default:
		return NULL;
	}
}

/* A text is compared by its bytes, unless the query asks for another order. */
static bool constraint_compares_bytes(sqlite3_index_info *info, int number)
{
	return !strcmp(sqlite3_vtab_collation(info, number), "BINARY");
}

/* The operator of a constraint that narrows the scan; NULL: it does not. */
static const char *constraint_narrows(const struct sql_table *table, sqlite3_index_info *info, int number)
{
	const int column = info->aConstraint[number].iColumn;
	const unsigned char operator= info->aConstraint[number].op;

	if (!info->aConstraint[number].usable)
		return NULL;
	if (column < 0)
		return constraint_operator(operator, false);
	if (table->types[column] == QUERY_INTEGER)
		return constraint_operator(operator, column == 0);
	return table->types[column] == QUERY_TEXT && constraint_compares_bytes(info, number)
		       ? constraint_operator(operator, false)
		       : NULL;
}

static void constraint_estimate(struct sql_estimate *estimate, int column, bool equal)
{
	if (column == SQL_ROW) {
		*estimate = (struct sql_estimate){ 1, 1, true };
	} else if (column == 0) {
		estimate->rows /= equal ? 10000 : 8;
		estimate->found /= equal ? 10000 : 8;
	} else {
		estimate->found /= 20;
	}
}

static int sql_table_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_table *table = (struct sql_table *)base;
	const double rows = query_rows(table->query, table->table);
	struct sql_estimate estimate = { rows, rows, false };
	sqlite3_str *text = sqlite3_str_new(NULL);
	unsigned equals = 0;
	int used = 0;

	for (int n = 0; n < info->nConstraint; n++) {
		const char *operator= constraint_narrows(table, info, n);
		const int column = info->aConstraint[n].iColumn;
		const bool is_equal = operator&& * operator== '=';

		if (!operator||(is_equal &&column > 0 && equals++ >= QUERY_EQUALS))
			continue;
		sqlite3_str_appendf(text, "%s%s%s", used ? " " : "",
				    column < 0 ? sql_row_word : table->names[column], operator);
		info->aConstraintUsage[n].argvIndex = ++used;
		constraint_estimate(&estimate, column < 0 ? SQL_ROW : column, is_equal);
	}
	info->idxStr = sqlite3_str_finish(text);
	info->needToFreeIdxStr = 1;
	info->idxNum = (int)(info->colUsed & INT32_MAX);
	info->estimatedCost = 10 + estimate.rows;
	info->estimatedRows = 1 + (sqlite3_int64)estimate.found;
	info->idxFlags = estimate.unique ? SQLITE_INDEX_SCAN_UNIQUE : 0;
	info->orderByConsumed =
		info->nOrderBy == 1 && info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc;
	return SQLITE_OK;
}

/* ---- Cursors */

static int sql_table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **made)
{
	struct sql_cursor *cursor = calloc(1, sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*made = &cursor->base;
	return SQLITE_OK;
}

static void sql_cursor_end(struct sql_cursor *cursor)
{
	query_scan_end(&cursor->scan);
	for (unsigned n = 0; n < QUERY_EQUALS; n++) {
		free(cursor->texts[n]);
		cursor->texts[n] = NULL;
	}
	cursor->bounds = query_all();
}

static int sql_table_close(sqlite3_vtab_cursor *base)
{
	sql_cursor_end((struct sql_cursor *)base);
	free(base);
	return SQLITE_OK;
}

/* No row is between these. */
static void bounds_exclude_all(struct query_bounds *bounds)
{
	bounds->from = INT64_MAX;
	bounds->to = INT64_MIN;
}

/* A real number narrows to the integers around it. */
static bool bound_number(sqlite3_value *value, int64_t *low, int64_t *high)
{
	double real;

	if (sqlite3_value_type(value) == SQLITE_INTEGER) {
		*low = *high = sqlite3_value_int64(value);
		return true;
	}
	if (sqlite3_value_type(value) != SQLITE_FLOAT)
		return false;
	real = sqlite3_value_double(value);
	*low = real <= -0x1p63 ? INT64_MIN : real >= 0x1p63 ? INT64_MAX : (int64_t)floor(real);
	*high = real >= 0x1p62 * 2 ? INT64_MAX : real <= -0x1p63 ? INT64_MIN : (int64_t)ceil(real);
	return true;
}

static void bounds_range(struct query_bounds *bounds, const char *operator, sqlite3_value * value)
{
	int64_t low, high;

	if (!bound_number(value, &low, &high))
		return;
	if (*operator!= '<' && low> bounds->from)
		bounds->from = low;
	if (*operator!= '>' && high<bounds->to)
		bounds->to = high;
}

/* Return: a code of SQLite. */
static int bounds_equal(struct sql_cursor *cursor, unsigned column, enum query_type type,
			sqlite3_value *value)
{
	struct query_bounds *bounds = &cursor->bounds;
	struct query_equal *equal = &bounds->equals[bounds->equal_count];
	char **text = &cursor->texts[bounds->equal_count];

	if (sqlite3_value_type(value) != (type == QUERY_INTEGER ? SQLITE_INTEGER : SQLITE_TEXT))
		return SQLITE_OK;
	*equal = (struct query_equal){ .column = column, .value.type = type };
	if (type == QUERY_INTEGER) {
		equal->value.integer = sqlite3_value_int64(value);
	} else {
		equal->value.size = (size_t)sqlite3_value_bytes(value);
		*text = malloc(equal->value.size + 1);
		if (!*text)
			return SQLITE_NOMEM;
		memcpy(*text, sqlite3_value_text(value), equal->value.size);
		equal->value.bytes = *text;
	}
	bounds->equal_count++;
	return SQLITE_OK;
}

/* The column of a word of the plan, and its operator. */
static unsigned word_column(const struct sql_table *table, const char *word, const char **operator)
{
	const size_t length = strcspn(word, "<>=");

	*operator= word + length;
	for (unsigned n = 0; n < table->table->columns; n++)
		if (!strncmp(table->names[n], word, length) && !table->names[n][length])
			return n;
	return table->table->columns;
}

static int bounds_narrow(struct sql_cursor *cursor, const struct sql_table *table, const char *word,
			 sqlite3_value *value)
{
	const char *operator;
	const unsigned column = word_column(table, word, &operator);

	if (sqlite3_value_type(value) == SQLITE_NULL) {
		bounds_exclude_all(&cursor->bounds);
		return SQLITE_OK;
	}
	if (column == table->table->columns) {
		if (sqlite3_value_type(value) == SQLITE_INTEGER) {
			cursor->bounds.has_row = true;
			cursor->bounds.row = sqlite3_value_int64(value);
		}
		return SQLITE_OK;
	}
	if (column > 0)
		return bounds_equal(cursor, column, table->types[column], value);
	bounds_range(&cursor->bounds, operator, value);
	return SQLITE_OK;
}

static int sql_scan_result(struct sql_cursor *cursor, int error)
{
	if (!error)
		return SQLITE_OK;
	sqlite3_free(cursor->base.pVtab->zErrMsg);
	cursor->base.pVtab->zErrMsg = sqlite3_mprintf("%s", sql_no_memory);
	return SQLITE_ERROR;
}

static int sql_table_filter(sqlite3_vtab_cursor *base, int plan, const char *words, int count,
			    sqlite3_value **values)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const struct sql_table *table = (const struct sql_table *)base->pVtab;
	int result = SQLITE_OK;

	sql_cursor_end(cursor);
	cursor->bounds.columns = (unsigned)plan;
	for (int n = 0; n < count && words && !result; n++) {
		result = bounds_narrow(cursor, table, words, values[n]);
		words = strchr(words, ' ');
		words = words ? words + 1 : NULL;
	}
	if (result)
		return result;
	return sql_scan_result(cursor,
			       query_scan_begin(&cursor->scan, table->query, table->table, &cursor->bounds));
}

static int sql_table_next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;

	return sql_scan_result(cursor, query_scan_next(&cursor->scan));
}

static int sql_table_eof(sqlite3_vtab_cursor *base)
{
	return ((struct sql_cursor *)base)->scan.done;
}

static int sql_table_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
	struct query_value value;

	query_scan_value(&((struct sql_cursor *)base)->scan, (unsigned)column, &value);
	switch (value.type) {
	case QUERY_INTEGER:
		sqlite3_result_int64(out, value.integer);
		break;
	case QUERY_REAL:
		sqlite3_result_double(out, value.real);
		break;
	case QUERY_TEXT:
		sqlite3_result_text64(out, value.bytes, value.size,
				      value.lasting ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case QUERY_BLOB:
		sqlite3_result_blob64(out, value.bytes, value.size, SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_result_null(out);
	}
	return SQLITE_OK;
}

static int sql_table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	*row = query_scan_row(&((struct sql_cursor *)base)->scan);
	return SQLITE_OK;
}

static const sqlite3_module sql_table_module = {
	.xCreate = sql_table_connect,
	.xConnect = sql_table_connect,
	.xBestIndex = sql_table_best,
	.xDisconnect = sql_table_disconnect,
	.xDestroy = sql_table_disconnect,
	.xOpen = sql_table_open,
	.xClose = sql_table_close,
	.xFilter = sql_table_filter,
	.xNext = sql_table_next,
	.xEof = sql_table_eof,
	.xColumn = sql_table_column,
	.xRowid = sql_table_rowid,
};

enum {
	SQL_MODULE = TEXT_SHORT + 8,
};

/* A module's name is global to the connection, so each trace has its own. */
static void sql_module_name(const struct sql_trace *trace, char module[SQL_MODULE])
{
	snprintf(module, SQL_MODULE, "burin_%p", (const void *)trace);
}

int sql_trace_attach(sqlite3 *base, const struct sql_trace *trace, void (*release)(void *trace))
{
	char module[SQL_MODULE];
	int result;

	sql_module_name(trace, module);
	result = sqlite3_create_module_v2(base, module, &sql_table_module, (void *)trace, release);
	for (unsigned n = 0; !result && n < trace->query->count; n++) {
		char *text = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING %s(%u)", trace->schema,
					     trace->query->tables[n].name, module, n);

		result = text ? sqlite3_exec(base, text, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(text);
	}
	return result;
}

void sql_trace_detach(sqlite3 *base, const struct sql_trace *trace)
{
	char module[SQL_MODULE];

	sql_module_name(trace, module);
	sqlite3_create_module_v2(base, module, NULL, NULL, NULL);
}
