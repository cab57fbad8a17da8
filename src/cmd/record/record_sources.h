/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sources of `burin record`, in the order in which they are opened: one line for each in record_sources.c. */
#ifndef BURIN_CMD_RECORD_RECORD_SOURCES_H
#define BURIN_CMD_RECORD_RECORD_SOURCES_H

#include "cmd/record/cmd_record.h"
#include "cmd/record/recorder/source.h"

/*
 * record_sources_of_command, record_sources_of_target - the sources of a command or of processes, and those of a program that
 * runs already.
 * @options: they stay in use. Context: called once, since the sources are static: another recorder that samples this one gets
 * a copy of its stack, 64 KiB, which ends at the first page that was never touched.
 */
const struct source *record_sources_of_command(const struct record_options *options);
const struct source *record_sources_of_target(const struct record_options *options);

#endif
