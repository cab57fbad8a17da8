/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A virtual table. Constraints on time, tid and cpu narrow the scan; SQLite checks each row again, so a constraint that is not an
 * integer just narrows nothing. The text of the plan, which EXPLAIN QUERY PLAN prints, has a word for each: "time>= tid=".
 */
#include "sql/sql_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/query_table.h"

struct sql_table {
	sqlite3_vtab base;
	const struct query *query;
	const struct query_table *table;
};

struct sql_cursor {
	sqlite3_vtab_cursor base;
	struct query_scan scan;
};

static const char *const type_names[] = { "", "INTEGER", "REAL", "TEXT", "BLOB" };

static int sql_table_connect(sqlite3 *base, void *data, int count, const char *const *words,
			     sqlite3_vtab **made, char **error)
{
	const struct query *query = data;
	unsigned number = count > 3 ? (unsigned)strtoul(words[3], NULL, 10) : query->count;
	struct sql_table *table;
	sqlite3_str *text;
	char name[QUERY_NAME], *declared;
	int result;

	(void)error;
	if (number >= query->count)
		return SQLITE_ERROR;
	text = sqlite3_str_new(base);
	for (unsigned n = 0; n < query->tables[number].columns; n++) {
		enum query_type type = query_column(&query->tables[number], n, name);

		sqlite3_str_appendf(text, "%s\"%w\" %s", n ? ", " : "CREATE TABLE rows(", name,
				    type_names[type]);
	}
	sqlite3_str_appendall(text, ")");
	declared = sqlite3_str_finish(text);
	result = declared ? sqlite3_declare_vtab(base, declared) : SQLITE_NOMEM;
	sqlite3_free(declared);
	if (result)
		return result;
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->query = query;
	table->table = &query->tables[number];
	*made = &table->base;
	return SQLITE_OK;
}

static int sql_table_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

/* The word of a constraint that narrows the scan; NULL: it does not. */
static const char *constraint_word(int column, unsigned char operator)
{
	if (column == QUERY_TIME) {
		switch (operator) {
		case SQLITE_INDEX_CONSTRAINT_EQ:
			return "time=";
		case SQLITE_INDEX_CONSTRAINT_GT:
		case SQLITE_INDEX_CONSTRAINT_GE:
			return "time>=";
		case SQLITE_INDEX_CONSTRAINT_LT:
		case SQLITE_INDEX_CONSTRAINT_LE:
			return "time<=";
		default:
			return NULL;
		}
	}
	if (operator!= SQLITE_INDEX_CONSTRAINT_EQ)
		return NULL;
	return column == QUERY_TID ? "tid=" : column == QUERY_CPU ? "cpu=" : NULL;
}

static int sql_table_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct query_table *table = ((struct sql_table *)base)->table;
	sqlite3_str *text = sqlite3_str_new(NULL);
	int used = 0;

	info->estimatedCost = 1e7;
	for (int n = 0; table->kind != QUERY_LOSSES && n < info->nConstraint; n++) {
		const char *word = constraint_word(info->aConstraint[n].iColumn, info->aConstraint[n].op);

		if (!word || !info->aConstraint[n].usable)
			continue;
		sqlite3_str_appendf(text, "%s%s", used ? " " : "", word);
		info->aConstraintUsage[n].argvIndex = ++used;
		info->estimatedCost /= *word == 't' && word[2] == 'm' ? 10 : 1.1;
	}
	info->idxStr = sqlite3_str_finish(text);
	info->needToFreeIdxStr = 1;
	info->orderByConsumed = table->kind != QUERY_LOSSES && info->nOrderBy == 1 &&
				info->aOrderBy[0].iColumn == QUERY_TIME && !info->aOrderBy[0].desc;
	return SQLITE_OK;
}

static int sql_table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **made)
{
	struct sql_cursor *cursor = calloc(1, sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*made = &cursor->base;
	return SQLITE_OK;
}

static int sql_table_close(sqlite3_vtab_cursor *base)
{
	query_scan_end(&((struct sql_cursor *)base)->scan);
	free(base);
	return SQLITE_OK;
}

static void bounds_narrow(const struct query *query, struct query_bounds *bounds, const char *word,
			  int64_t number)
{
	if (!strncmp(word, "time", 4)) {
		if (word[4] != '<')
			query_from(query, bounds, number);
		if (word[4] != '>')
			query_to(query, bounds, number);
	} else if (number >= 0 && number < UINT32_MAX && *word == 't') {
		bounds->has_tid = true;
		bounds->tid = (uint32_t)number;
	} else if (number >= 0 && number < UINT32_MAX) {
		bounds->has_cpu = true;
		bounds->cpu = (uint32_t)number;
	}
}

static int sql_table_filter(sqlite3_vtab_cursor *base, int plan, const char *words, int count,
			    sqlite3_value **values)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const struct sql_table *table = (const struct sql_table *)base->pVtab;
	struct query_bounds bounds = { 0 };

	(void)plan;
	for (int n = 0; n < count && words; n++) {
		if (sqlite3_value_type(values[n]) == SQLITE_INTEGER)
			bounds_narrow(table->query, &bounds, words, sqlite3_value_int64(values[n]));
		words = strchr(words, ' ');
		words = words ? words + 1 : NULL;
	}
	query_scan_end(&cursor->scan);
	return query_scan_begin(&cursor->scan, table->query, table->table, &bounds) ? SQLITE_NOMEM
										    : SQLITE_OK;
}

static int sql_table_next(sqlite3_vtab_cursor *base)
{
	return query_scan_next(&((struct sql_cursor *)base)->scan) ? SQLITE_NOMEM : SQLITE_OK;
}

static int sql_table_eof(sqlite3_vtab_cursor *base)
{
	return query_scan_done(&((struct sql_cursor *)base)->scan);
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
		sqlite3_result_text64(out, value.bytes, value.size, SQLITE_TRANSIENT, SQLITE_UTF8);
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

const sqlite3_module sql_table_module = {
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
