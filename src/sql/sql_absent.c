/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* In the place of the engine, where SQLite was not there when Burin was built. */
#include <errno.h>

#include "sql/sql_engine.h"

bool sql_available(void)
{
	return false;
}

int sql_run(const struct query *query, const char *text, bool csv, int file, char message[SQL_MESSAGE])
{
	(void)query, (void)text, (void)csv, (void)file, (void)message;
	return -ENOSYS;
}
