/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The formats there are. */
#include <stddef.h>

#include "export/export.h"

const struct export_format export_formats[] = {
	{ "folded", "a line for each stack, for flame graph scripts", export_folded },
	{ "speedscope", "JSON, for speedscope", export_speedscope },
	{ "pprof", "profile.proto, for pprof and what reads its files", export_pprof },
	{ "callgrind", "for KCachegrind and callgrind_annotate", export_callgrind },
	{ "perf", "what perf script prints, sample by sample", export_perf },
	{ NULL, NULL, NULL },
};
