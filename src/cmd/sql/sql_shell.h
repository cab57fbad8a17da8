/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The shell of burin sql: statements and commands from a terminal, with completion and history, or from a pipe.
 *
 * The history is in $HOME/.burin_history. It is neither read nor written where the directory belongs to another user: root's environment often
 * is that of the user who became root. Nor are the files of libedit there.
 */
#ifndef BURIN_CMD_SQL_SQL_SHELL_H
#define BURIN_CMD_SQL_SQL_SHELL_H

#include "sql/sql_engine.h"

/* sql_shell - read statements until the input ends. Return: the exit code: 0; CMD_FAULTS: one failed. */
int sql_shell(const struct sql_engine *engine, struct sql *sql, enum sql_format format);

#endif
