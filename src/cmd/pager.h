/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A pager for text on a terminal: $PAGER, or less.
 *
 * A pager is a program that the environment names, and most can start others. So there is none where the environment may be
 * another user's: not for root, who often runs a command in the environment of somebody else, and not in a set-user-id program.
 */
#ifndef BURIN_CMD_PAGER_H
#define BURIN_CMD_PAGER_H

/* pager_begin - send stdout to a pager, if it is a terminal and there may be a pager. Context: before there are threads. */
void pager_begin(void);

/* pager_end - wait for the user to leave the pager, if there is one. */
void pager_end(void);

#endif
