/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rules, as text; see rules.h.
 *
 *	"+L:GLOB" NUL						on, up to level L
 *	"-L:GLOB" NUL						off
 *	"?L:GLOB" NUL "SAMPLE LIMIT EXPRESSION" NUL		on under conditions
 *
 * An empty string ends the list, and the area's last byte is never a part of it. The last rule that matches
 * an event decides, so a new rule for a glob replaces the former one and goes to the end.
 *
 * Changes are made to the journal's copy, by the owner of events_lock, and become valid with the transaction.
 * Another process may have written the rules: each function here ends with the area, and unknown signs mean
 * off.
 */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/nolibc.h"
#include "base/text.h"
#include "session/events/history.h"
#include "session/events/rules.h"

enum {
	RULE_GLOB = 3, /* offset of the glob: behind sign, level and ':' */
};

static const char signs[] = { [WIRE_OFF] = '-', [WIRE_ON] = '+', [WIRE_CONDITIONAL] = '?' };

/* A rule in its text. */
struct rule {
	const char *text, *conditions;
	size_t text_bytes, conditions_bytes; /* with NUL; 0: none */
};

/* The bytes of the string at @at, with its NUL; 0: the list ends here. */
static size_t string_bytes(const char *rules, size_t at)
{
	return at + 1 < WIRE_RULES_MAX && rules[at] ? strnlen(rules + at, WIRE_RULES_MAX - 1 - at) + 1 : 0;
}

/* The rule at @at. Return: the bytes of its strings; 0: the list ends here. */
static size_t next_rule(const char *rules, size_t at, struct rule *rule)
{
	*rule = (struct rule){ .text = rules + at, .text_bytes = string_bytes(rules, at) };
	if (rule->text_bytes && *rule->text == signs[WIRE_CONDITIONAL]) {
		rule->conditions = rules + at + rule->text_bytes;
		rule->conditions_bytes = string_bytes(rules, at + rule->text_bytes);
		/* If they are missing, the next rule does not take their place: they begin with a digit. */
		if (rule->conditions_bytes && (*rule->conditions < '0' || *rule->conditions > '9'))
			rule->conditions_bytes = 0;
	}
	return rule->text_bytes + rule->conditions_bytes;
}

static const char *glob_of(const struct rule *rule)
{
	return rule->text_bytes > RULE_GLOB ? rule->text + RULE_GLOB : "";
}

static bool rules_is_for(const struct rule *rule, const char *glob)
{
	return rule->text_bytes == RULE_GLOB + strlen(glob) + 1 &&
	       memcmp(glob_of(rule), glob, rule->text_bytes - RULE_GLOB - 1) == 0;
}

/* "SAMPLE LIMIT EXPRESSION" */
static void read_conditions(const char *text, struct session_rule *out)
{
	out->sample = (uint32_t)nolibc_number(text, 10, &text);
	text += *text == ' ';
	out->limit = (uint32_t)nolibc_number(text, 10, &text);
	text += *text == ' ';
	out->where = text;
}

static void read_rule(const struct rule *rule, struct session_rule *out)
{
	*out = (struct session_rule){ .state = *rule->text == signs[WIRE_ON] ? WIRE_ON : WIRE_OFF,
				      .where = "" };
	if (rule->text_bytes > 1)
		out->level = (unsigned)(rule->text[1] - '0') % (WIRE_LEVEL_MAX + 1);
	if (rule->conditions_bytes) {
		out->state = WIRE_CONDITIONAL;
		read_conditions(rule->conditions, out);
	}
}

bool session_rule_find(const char *rules, const char *glob, struct session_rule *out)
{
	struct rule rule;

	for (size_t at = 0, bytes; (bytes = next_rule(rules, at, &rule)) != 0; at += bytes) {
		if (!rules_is_for(&rule, glob))
			continue;
		read_rule(&rule, out);
		return true;
	}
	return false;
}

void session_rules_match(const char *rules, const char *name, unsigned level, struct session_rule *out)
{
	struct rule rule;

	*out = (struct session_rule){ .state = WIRE_OFF, .where = "" };
	for (size_t at = 0, bytes; (bytes = next_rule(rules, at, &rule)) != 0; at += bytes) {
		if (!glob_match(glob_of(&rule), name))
			continue;
		read_rule(&rule, out);
		if (level > out->level)
			out->state = WIRE_OFF;
	}
}

/* Remove the rules for a glob. */
static void rules_remove(char *rules, const char *glob)
{
	struct rule rule;
	size_t at = 0, bytes;

	rules[WIRE_RULES_MAX - 1] = 0;
	while ((bytes = next_rule(rules, at, &rule)) != 0) {
		if (!rules_is_for(&rule, glob)) {
			at += bytes;
			continue;
		}
		memmove(rules + at, rules + at + bytes, WIRE_RULES_MAX - at - bytes);
		memset(rules + WIRE_RULES_MAX - bytes, 0, bytes);
	}
}

bool rules_add(char *rules, const char *glob, const struct session_rule *rule)
{
	struct nolibc_string out;
	struct rule last;
	size_t at = 0, bytes;

	rules[WIRE_RULES_MAX - 1] = 0;
	while ((bytes = next_rule(rules, at, &last)) != 0)
		at += bytes;
	if (WIRE_RULES_MAX - at < 2)
		return false;
	/* The last byte of the area ends the list. */
	out = (struct nolibc_string){ rules + at, WIRE_RULES_MAX - at - 1, 0, false };
	nolibc_bytes(&out, &signs[rule->state], 1);
	nolibc_decimal(&out, rule->level % (WIRE_LEVEL_MAX + 1));
	nolibc_text(&out, ":");
	nolibc_text(&out, glob);
	if (rule->state == WIRE_CONDITIONAL) {
		nolibc_bytes(&out, "", 1);
		nolibc_decimal(&out, rule->sample);
		nolibc_text(&out, " ");
		nolibc_decimal(&out, rule->limit);
		nolibc_text(&out, " ");
		nolibc_text(&out, rule->where);
	}
	if (out.truncated)
		rules[at] = 0;
	else
		rules[at + out.used + 1] = 0;
	return !out.truncated;
}

/* Add a rule to the history's text: "+GLOB", "-GLOB", "+GLOB:2"; "GLOB" if it was removed. */
static void note_rule(struct session *session, const char *glob, const struct session_rule *rule)
{
	char text[WIRE_CHANGE_TEXT];
	struct nolibc_string out = { text, sizeof(text), 0, false };

	session->draft.rules = true;
	if (rule)
		nolibc_text(&out, rule->state == WIRE_OFF ? "-" : "+");
	nolibc_text(&out, glob);
	if (rule && rule->state != WIRE_OFF && rule->level < WIRE_LEVEL_MAX) {
		nolibc_text(&out, ":");
		nolibc_decimal(&out, rule->level);
	}
	history_text(session, text);
}

int session_change_rule(struct session *session, const char *glob, const struct session_rule *rule)
{
	char *rules = session->shared->journal_rules;

	rules_remove(rules, glob);
	note_rule(session, glob, rule);
	return !rule || rules_add(rules, glob, rule) ? 0 : -ENOSPC;
}

/* Note a number of an option, such as "--limit 100". */
static void note_number(struct session *session, const char *option, uint32_t number)
{
	char text[TEXT_SHORT];
	struct nolibc_string out = { text, sizeof(text), 0, false };

	nolibc_text(&out, option);
	nolibc_decimal(&out, number);
	history_text(session, text);
}

void session_change_conditions_text(struct session *session, const struct session_rule *rule)
{
	if (rule->sample > 1)
		note_number(session, "--sample ", rule->sample);
	if (rule->limit)
		note_number(session, "--limit ", rule->limit);
	if (*rule->where) {
		history_text(session, "--where");
		history_text(session, rule->where);
	}
}
