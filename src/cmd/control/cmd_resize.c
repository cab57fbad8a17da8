/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin resize: change the buffers of a running program. */
#include <errno.h>

#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target_argument.h"
#include "control/resize_rings.h"

static bool quiet;

static const struct cmd_option table[] = {
	OPTION_FLAG("-q, --quiet", &quiet, "do not print the sizes"),
	{ 0 },
};

static int too_large(const struct session *session, const char *size, const struct resized *resized)
{
	const bool recorded = session->geometry.owner_kind == WIRE_OWNER_RECORDER;
	char most[TEXT_SHORT];

	if (session->device)
		return cmd_usage(
			"%s is too large: the module has room for %s per CPU; for more, load it with "
			"buffer_max=",
			size, text_size(most, resized->most));
	return cmd_usage(
		"%s is too large: this session has room for %s per CPU; for more, start the program with "
		"%s%s",
		size, text_size(most, resized->most),
		recorded ? "burin record --buffer-max " : "BURIN_BUFFER_MAX=", size);
}

static void print_sizes(const struct resized *resized)
{
	char after[TEXT_SHORT], before[TEXT_SHORT], memory[TEXT_SHORT];

	cmd_note("burin: %s per CPU, formerly %s", text_size(after, resized->after),
		 text_size(before, resized->before));
	if (resized->freed)
		cmd_note("; %s of memory returned", text_size(memory, resized->freed));
	if (resized->kept)
		cmd_note("; %s %s: run the same command again", text_size(memory, resized->kept),
			 resized->unread ? "have not been read yet" : "are still in use");
	cmd_note("\n");
}

static int cmd_resize_run(char **operands)
{
	const char *word = operands[0], *size = operands[1];
	struct resized resized;
	struct session session;
	struct target target;
	int result, error;
	uint64_t bytes;

	if (!number_parse_size(size, &bytes) || bytes == 0)
		return cmd_usage("invalid size '%s'; give one such as 512K or 32M", size);
	result = cmd_target_change(word, &target, &session);
	if (result)
		return result;
	error = resize_rings(&session, bytes, &resized);
	if (error == -E2BIG)
		result = too_large(&session, size, &resized);
	else if (error && target.kernel)
		result = cmd_target_uncommitted(word, error);
	else if (error)
		result = cmd_failed("%s: another command has been resizing it for a second; try again", word);
	else if (!quiet)
		print_sizes(&resized);
	return cmd_target_leave(target.path, &session, result);
}

const struct cmd cmd_resize = {
	.name = "resize",
	.line = "change the size of the buffers",
	.usage = "Usage: burin resize [options] TARGET SIZE\n"
		 "\n"
		 "Set the size of each CPU's buffer (such as 512K or 32M) in a running program, with or\n"
		 "without a recorder. It takes effect with the next packet; the program does not wait.\n"
		 "A smaller buffer returns memory to the system. In stream mode its records are read\n"
		 "first. In flight mode they are lost to later snapshots.\n",
	.notes = "The largest SIZE is fixed when the session is created: 64M by default; burin record\n"
		 "--buffer-max or, for a program that runs by itself, BURIN_BUFFER_MAX change it.\n"
		 "\n"
		 "Exit code: 0; 1 if it failed; 2 if nothing was changed: no such TARGET, the program has\n"
		 "ended, or SIZE is invalid or too large.\n",
	.options = table,
	.operands = { 2, 2, "give TARGET and SIZE, such as: burin resize 4711 32M", { CMD_IS_TARGET } },
	.main = cmd_resize_run,
};
