/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The words for enumerators, each in one table: keys as they stand in files and JSON, texts and hints for the user.
 */
#ifndef BURIN_WIRE_WIRE_TERMS_H
#define BURIN_WIRE_WIRE_TERMS_H

#include "wire/wire_call.h"
#include "wire/wire_change.h"
#include "wire/wire_event.h"
#include "wire/wire_packet.h"
#include "wire/wire_call.h"
#include "wire/wire_profile.h"
#include "wire/wire_session.h"

struct wire_term {
	const char *key, *text;
	const char *hint; /* what to do; NULL: there is nothing */
};

extern const struct wire_term wire_loss_terms[WIRE_LOST_CAUSES];
extern const struct wire_term wire_call_terms[WIRE_CALL_LOSSES];     /* keys of .burin/recording */
extern const struct wire_term wire_sample_terms[WIRE_SAMPLE_LOSSES]; /* without WIRE_SAMPLE_KEPT */
extern const struct wire_term wire_truncation_terms[WIRE_TRUNCATIONS];
extern const struct wire_term wire_symbols_terms[WIRE_SYMBOLS_STATES + 1]; /* the last: not looked up yet */

extern const char *const wire_file_keys[WIRE_FILE_KINDS];
extern const char *const wire_kind_keys[WIRE_KINDS];
extern const char *const wire_kind_words[WIRE_KINDS];
extern const char *const wire_type_keys[WIRE_ARRAY + 1];
extern const char *const wire_mode_keys[WIRE_MODES + 1]; /* ends with NULL */
extern const char *const wire_clock_keys[WIRE_CLOCKS];
extern const char *const wire_change_keys[WIRE_CHANGE_KINDS];

#endif
