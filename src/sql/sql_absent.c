/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* In the place of SQLite, if this program is built without it. */
#include "sql/sql_engine.h"

const struct sql_engine sql_sqlite = { .open = NULL };
