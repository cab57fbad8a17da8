/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The table of formats. */
#include <stddef.h>

#include "export/export.h"

const struct export_format export_formats[] = {
	{ "folded", "a line for each stack, for flame graph scripts", export_folded },
	{ "speedscope", "JSON, for speedscope", export_speedscope },
	{ "pprof", "profile.proto, for pprof and compatible tools", export_pprof },
	{ "callgrind", "for KCachegrind and callgrind_annotate", export_callgrind },
	{ "perf", "the output of perf script, sample by sample", export_perf },
	{ NULL, NULL, NULL },
};
