/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The words that may follow on a command line; see complete.h. */
#include "cmd/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/option_set.h"
#include "cmd/target_argument.h"
#include "control/listing.h"
#include "export/export.h"
#include "view/buffer.h"

struct completion {
	const char *typed;
	size_t lead; /* bytes of it before the part that is completed: "--mode=" */
	struct view_buffer out;
};

static int complete_finish(struct completion *completion)
{
	const int result = view_buffer_write(&completion->out, STDOUT_FILENO);

	view_buffer_free(&completion->out);
	return result ? CMD_FAULTS : 0;
}

static void offer_with(struct completion *completion, const char *word, const char *description, int bytes)
{
	const char *part = completion->typed + completion->lead;

	if (strncmp(word, part, strlen(part)) == 0)
		view_buffer_print(&completion->out, "%.*s%s\t%.*s\n", (int)completion->lead,
				  completion->typed, word, bytes, description);
}

static void complete_offer(struct completion *completion, const char *word, const char *description)
{
	offer_with(completion, word, description, (int)strlen(description));
}

/* A name that another process has chosen. */
static void offer_name(struct completion *completion, const char *name, const char *description)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:+@%-/";

	if (isalnum((unsigned char)*name) && name[strspn(name, plain)] == 0)
		complete_offer(completion, name, description);
}

/* ---- operands */

static bool is_repeated(const struct target_list *list, unsigned at)
{
	for (unsigned n = 0; n < list->count; n++)
		if (n != at && strcmp(list->targets[n].program, list->targets[at].program) == 0)
			return true;
	return false;
}

/* The sessions that burin ls lists: names of one session, and pids. */
static void offer_targets(struct completion *completion)
{
	struct target_list list = { 0 };
	char pid[16];

	if (target_list_all(&list) != 0)
		list.count = 0;
	for (unsigned n = 0; n < list.count; n++) {
		const struct target *target = &list.targets[n];
		const char *program = target->program;

		if (target->kernel) {
			complete_offer(completion, TARGET_KERNEL, "burin.ko");
			continue;
		}
		snprintf(pid, sizeof(pid), "%u", target->pid);
		complete_offer(completion, pid, program);
		if (!is_repeated(&list, n))
			offer_name(completion, program, pid);
	}
	target_list_free(&list);
}

static void offer_events(struct completion *completion, const char *word)
{
	struct listing listing = { 0 };
	struct session session;
	struct target target;

	if (cmd_target_look(word, &target, &session) != 0)
		return;
	if (listing_read(&listing, &session) == 0) {
		for (unsigned n = 0; n < listing.count; n++)
			offer_name(completion, listing.events[n].name, listing.events[n].format);
		listing_free(&listing);
	}
	cmd_target_leave(target.path, &session, 0);
}

static void offer_formats(struct completion *completion)
{
	for (const struct export_format *format = export_formats; format->name; format++)
		complete_offer(completion, format->name, format->line);
	complete_offer(completion, "uftrace", "all calls, as a directory for uftrace");
	complete_offer(completion, "arrow", "a table, as a file of Arrow");
	complete_offer(completion, "arrow-stream", "a table, as a stream of Arrow");
}

/* @before: the operands that are given */
static void offer_operand(struct completion *completion, const struct cmd *command, char *const *before,
			  int given)
{
	if (given >= command->operands.max)
		return;
	switch (command->operands.are[given != 0]) {
	case CMD_IS_TRACE:
		view_buffer_print(&completion->out, ":directories\n");
		break;
	case CMD_IS_TARGET:
		offer_targets(completion);
		break;
	case CMD_IS_EVENT:
		offer_events(completion, before[0]);
		break;
	case CMD_IS_FORMAT:
		offer_formats(completion);
		break;
	case CMD_IS_OTHER:
		break;
	}
}

/* ---- options */

/* The first clause of the help distinguishes options well enough. */
static int clause_bytes(const char *help)
{
	size_t bytes = strcspn(help, ";(.:\n");

	while (bytes && help[bytes - 1] == ' ')
		bytes--;
	return (int)bytes;
}

static void offer_options(struct completion *completion, const struct option_set *set)
{
	char name[OPTION_NAME];

	for (unsigned n = 0; n < set->count; n++) {
		const struct cmd_option *option = set->options[n];

		snprintf(name, sizeof(name), "%.*s", (int)option_name_bytes(option), option_name(option));
		if (option->help)
			offer_with(completion, name, option->help, clause_bytes(option->help));
	}
}

static void offer_groups(struct completion *completion, const struct option_set *set)
{
	for (unsigned n = 0; n < set->heading_count; n++)
		complete_offer(completion, set->headings[n].word, set->headings[n].title);
	complete_offer(completion, "all", "all options");
}

static void offer_value(struct completion *completion, const struct option_set *set,
			const struct cmd_option *option)
{
	const char *kind = option_name(option) + option_name_bytes(option);
	const char *last = strrchr(completion->typed + completion->lead, ',');

	kind += strspn(kind, " [=");
	if (option->kind == OPTION_IS_PARSED && last)
		completion->lead = (size_t)(last + 1 - completion->typed);
	for (const char *const *name = option->names; name && *name; name++)
		complete_offer(completion, *name, "");
	if (option->kind == OPTION_IS_HELP)
		offer_groups(completion, set);
	if (strncmp(kind, "DIR", 3) == 0)
		view_buffer_print(&completion->out, ":directories\n");
	else if (strncmp(kind, "FILE", 4) == 0)
		view_buffer_print(&completion->out, ":files\n");
}

/* The option whose value is the next word; NULL: none. */
static const struct cmd_option *open_option(const struct option_set *set, const char *word)
{
	const struct cmd_option *option = NULL;
	unsigned matches;

	if (strncmp(word, "--", 2) == 0) {
		option = strchr(word, '=') ? NULL : option_find_name(set, word, &matches);
		return option && option_has_value(option) && !option->absent ? option : NULL;
	}
	for (const char *letter = word + 1; *letter; letter++) {
		option = option_find_letter(set, *letter);
		if (!option || option_has_value(option))
			return option && !option->absent && !letter[1] ? option : NULL;
	}
	return NULL;
}

/* ---- a command line */

static void complete_last(struct completion *completion, const struct option_set *set)
{
	const char *equal = strchr(completion->typed, '=');
	unsigned matches;

	if (strncmp(completion->typed, "--", 2) == 0 && equal) {
		const struct cmd_option *option = option_find_name(set, completion->typed, &matches);

		completion->lead = (size_t)(equal + 1 - completion->typed);
		if (option && option_has_value(option))
			offer_value(completion, set, option);
	} else {
		offer_options(completion, set);
	}
}

int complete_words(const struct cmd *command, char *const *words)
{
	struct completion completion = { .typed = *words };
	const struct cmd_option *option = NULL;
	struct option_set set;
	char *operands[1] = { NULL };
	bool options = true;
	int given = 0;

	option_set_fill(&set, command);
	for (unsigned n = 0; words[n + 1]; n++) {
		completion.typed = words[n + 1];
		if (option &&
		    !(option->many && (words[n][0] != '-' || !words[n + 2]))) { /* the word is its value */
			option = NULL;
		} else if (options && strcmp(words[n], "--") == 0) {
			if (option_find_kind(&set, OPTION_IS_COMMAND)) {
				view_buffer_print(&completion.out, ":command %u\n", n + 2);
				return complete_finish(&completion);
			}
			options = false;
		} else if (options && words[n][0] == '-' && words[n][1]) {
			option = open_option(&set, words[n]);
		} else if (given++ == 0) {
			operands[0] = words[n];
		}
	}
	if (option)
		offer_value(&completion, &set, option);
	else if (options && *completion.typed == '-')
		complete_last(&completion, &set);
	else
		offer_operand(&completion, command, operands, given);
	return complete_finish(&completion);
}

int complete_commands(const struct cmd *const *commands, unsigned count, const char *typed, bool all)
{
	struct completion completion = { .typed = typed };

	for (unsigned n = 0; n < count; n++)
		complete_offer(&completion, commands[n]->name, commands[n]->line);
	if (all) {
		complete_offer(&completion, "help", "print the help of a command");
		if (*typed == '-') {
			complete_offer(&completion, "--help", "list the commands");
			complete_offer(&completion, "--version", "print the version");
		}
	}
	return complete_finish(&completion);
}
