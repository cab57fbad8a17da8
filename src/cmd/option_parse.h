/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses the arguments of a command by its table of options. */
#ifndef BURIN_CMD_OPTION_PARSE_H
#define BURIN_CMD_OPTION_PARSE_H

#include "cmd/cmd.h"

enum {
	OPTIONS_HELP = -1, /* of options_parse(): it has printed the help */
};

/*
 * options_parse - parse the arguments of a command by its table.
 * @argv: [0] is skipped. Receives the operands, and NULL behind them. Its strings must stay
 * Return: 0; OPTIONS_HELP; CMD_USAGE or CMD_FAULTS after a message.
 */
int options_parse(const struct cmd *command, int argc, char **argv);

#endif
