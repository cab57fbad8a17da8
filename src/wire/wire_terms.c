/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables of words; see wire_terms.h. */
#include "wire/wire_terms.h"

const struct wire_term wire_loss_terms[WIRE_LOST_CAUSES] = {
	[WIRE_LOST_FULL] = { "full", "buffer full", NULL },
	[WIRE_LOST_BUSY] = { "busy", "all rings locked", NULL },
	[WIRE_LOST_SIZE] = { "size", "too large", NULL },
	[WIRE_LOST_OVERWRITTEN] = { "overwritten", "overwritten", NULL },
	[WIRE_LOST_CORRUPT] = { "corrupt", "damaged in memory", NULL },
	[WIRE_LOST_UNREAD] = { "unread", "not written to disk", NULL },
};

const struct wire_term wire_call_terms[WIRE_CALL_LOSSES] = {
	[WIRE_CALL_LOST_FUNCTION] = { "lost_calls_function", "calls: no room for another function", NULL },
	[WIRE_CALL_LOST_STACK] = { "lost_calls_stack",
				   "calls: no memory for another open call or within a fork", NULL },
	[WIRE_CALL_LOST_PATCH] = { "unpatched_functions", "functions whose code could not be changed", NULL },
	[WIRE_CALL_LOST_OPEN] = { "lost_calls_open",
				  "open calls of processes that had ended, or in a damaged stack", NULL },
	[WIRE_CALL_LOST_ARGUMENTS] = { "lost_call_arguments", "calls without their arguments", NULL },
};

const struct wire_term wire_sample_terms[WIRE_SAMPLE_LOSSES] = {
	[WIRE_SAMPLE_RING] = { "ring", "the kernel's ring was full",
			       "record with a larger --sample-buffer, or a lower --frequency" },
	[WIRE_SAMPLE_LATE] = { "late", "arrived too late to be sorted",
			       "the machine was overloaded: use a lower --frequency" },
	[WIRE_SAMPLE_TASK] = { "task", "of unknown threads",
			       "they started before the recording, or their names were lost" },
	[WIRE_SAMPLE_MAPPING] = { "mapping", "outside all mappings",
				  "the code was unmapped, or its mapping was lost" },
	[WIRE_SAMPLE_CONTEXT] = { "context", "of neither the kernel nor a program",
				  "a hypervisor or its guests ran" },
	[WIRE_SAMPLE_DAMAGED] = { "damaged", "with damaged records",
				  "the kernel's ring was overwritten: please report this" },
	[WIRE_SAMPLE_WRITE] = { "write", "that could not be written", "see \"trouble\" in burin info" },
};

/* The keys are those of `.burin/recording`. */
const struct wire_term wire_truncation_terms[WIRE_TRUNCATIONS] = {
	[WIRE_TRUNCATION_NONE] = { "complete", "whole", NULL },
	[WIRE_TRUNCATION_DEPTH] = { "depth", "stack too deep", NULL },
	[WIRE_TRUNCATION_STACK] = { "stack", "copy of the stack ended", "record with a larger --stack-size" },
	[WIRE_TRUNCATION_TABLES] = { "tables", "no unwind information",
				     "build C, C++ and Rust with -fno-omit-frame-pointer, or keep "
				     ".eh_frame" },
	[WIRE_TRUNCATION_MEMORY] = { "memory", "address in no mapping",
				     "code made at run time, or an overwritten stack" },
	[WIRE_TRUNCATION_IMAGE] = { "image", "image unreadable",
				    "record as root or as the user that owns the file" },
	[WIRE_TRUNCATION_RING] = { "ring", "stack lost",
				   "the kernel's ring had no room for it; record with --call-graph fp" },
};

const struct wire_term wire_symbols_terms[WIRE_SYMBOLS_STATES + 1] = {
	[WIRE_SYMBOLS_NONE] = { "none", "no names", NULL },
	[WIRE_SYMBOLS_DYNAMIC] = { "exported", "exported names only", NULL },
	[WIRE_SYMBOLS_TABLE] = { "functions", "no lines", NULL },
	[WIRE_SYMBOLS_LINES] = { "lines", "", NULL },
	[WIRE_SYMBOLS_STATES] = { "unknown", "", NULL },
};

const char *const wire_type_keys[WIRE_ARRAY + 1] = {
	"",    "bool", "i8",  "i16", "i32", "i64",   "u8",   "u16",   "u32",
	"u64", "f32",  "f64", "ptr", "str", "bytes", "char", "array",
};
const char *const wire_file_keys[WIRE_FILE_KINDS] = {
	[WIRE_FILE_CPU] = "cpu",       [WIRE_FILE_LOCKED] = "locked", [WIRE_FILE_SAMPLES] = "samples",
	[WIRE_FILE_KERNEL] = "kernel", [WIRE_FILE_NAMES] = "names",   [WIRE_FILE_CHANGES] = "changes",
};

const char *const wire_kind_keys[WIRE_KINDS] = {
	[WIRE_KIND_EVENT] = "event",
	[WIRE_KIND_BEGIN] = "begin",
	[WIRE_KIND_END] = "end",
	[WIRE_KIND_COUNTER] = "counter",
	[WIRE_KIND_SPAN_BEGIN] = "span_begin",
	[WIRE_KIND_SPAN_END] = "span_end",
};
const char *const wire_kind_words[WIRE_KINDS] = {
	[WIRE_KIND_EVENT] = "event",
	[WIRE_KIND_BEGIN] = "begin",
	[WIRE_KIND_END] = "end",
	[WIRE_KIND_COUNTER] = "counter",
	[WIRE_KIND_SPAN_BEGIN] = "span begin",
	[WIRE_KIND_SPAN_END] = "span end",
};

const char *const wire_mode_keys[WIRE_MODES + 1] = {
	[WIRE_MODE_STREAM] = "stream", [WIRE_MODE_FLIGHT] = "flight"
};
const char *const wire_clock_keys[WIRE_CLOCKS] = {
	[WIRE_CLOCK_TSC] = "tsc", [WIRE_CLOCK_MONOTONIC] = "monotonic", [WIRE_CLOCK_GUEST] = "guest"
};

const char *const wire_change_keys[WIRE_CHANGE_KINDS] = {
	[WIRE_CHANGE_STATE] = "state",	 [WIRE_CHANGE_ON] = "on",	[WIRE_CHANGE_OFF] = "off",
	[WIRE_CHANGE_FILTER] = "filter", [WIRE_CHANGE_PLAIN] = "plain", [WIRE_CHANGE_PAUSE] = "pause",
	[WIRE_CHANGE_RESUME] = "resume", [WIRE_CHANGE_SIZE] = "size",	[WIRE_CHANGE_RULE] = "rule",
	[WIRE_CHANGE_UNFIT] = "unfit",	 [WIRE_CHANGE_CALLS] = "calls",
};
