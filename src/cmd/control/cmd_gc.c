/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin gc: remove the sessions of killed programs. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target_argument.h"
#include "control/remains.h"
#include "session/places/directory.h"

static struct directory_gc how = { .limits = { .count = 0, .bytes = UINT64_MAX }, .thorough = true };
static bool quiet;
static char of_all[OPTION_NAME];
static unsigned removed;

static const struct cmd_option table[] = {
	OPTION_NUMBER("-k, --keep N", &how.limits.count, 0, 1000000,
		      "keep the newest N sessions of killed programs (default: 0)", .given = of_all),
	OPTION_SIZE("-b, --bytes SIZE", &how.limits.bytes, 0, UINT64_MAX,
		    "but at most SIZE of memory together (default: no limit)", .given = of_all),
	OPTION_FLAG("--dry-run", &how.dry_run, "remove nothing; list what would be removed"),
	OPTION_FLAG("-q, --quiet", &quiet, "do not print how many were removed"),
	{ 0 },
};

static void cmd_gc_list(void *data, const char *session)
{
	const char *directory = data;

	cmd_note("%s%s%s\n", directory, *directory ? "/" : "", session);
}

/* The sessions of a directory. @data: the exit code */
static void cmd_gc_collect(void *data, int fd, const char *path, uint32_t user)
{
	int *result = data;

	(void)user;
	if (fd < 0) {
		*result = cmd_failed("%s: cannot read the directory: %s; its sessions stay", path,
				     strerror(-fd));
		return;
	}
	how.data = (void *)path;
	removed += directory_gc(path, &how);
}

/* Return: 0 or an exit code. */
static int remove_target(const struct target *target)
{
	int error = how.dry_run ? 0 : remains_remove_path(target->path, target->user, target->geometry.uuid);

	if (error)
		return cmd_failed("%s: cannot remove the session: %s", target->path, strerror(-error));
	removed++;
	if (how.dry_run)
		cmd_gc_list("", target->path);
	return 0;
}

/* The sessions that match a word and that no process uses. Return: 0 or an exit code. */
static int collect_target(const char *word)
{
	struct target_list targets = { 0 };
	const char *why = "";
	unsigned unused = 0;
	int result = target_list_matching(&targets, word, &why);

	if (result)
		return cmd_failed("%s: %s%s%s", word, strerror(-result), *why ? ": " : "", why);
	for (unsigned n = 0; n < targets.count && !result; n++) {
		const enum target_state state = targets.targets[n].state;

		if (state != TARGET_ENDED && state != TARGET_DIED)
			continue;
		unused++;
		result = remove_target(&targets.targets[n]);
	}
	if (!targets.count) {
		cmd_failed("%s: there is no such session; see burin ls", word);
		result = CMD_USAGE;
	} else if (!unused) {
		cmd_failed("%s: a process uses its session, or may use it; it stays", word);
		result = CMD_USAGE;
	}
	target_list_free(&targets);
	return result;
}

static int cmd_gc_run(char **operands)
{
	int result = 0;

	if (*operands && *of_all)
		return cmd_usage("%s: is for all sessions; give no TARGET", of_all);
	if (how.dry_run)
		how.visit = cmd_gc_list;
	if (!*operands)
		directory_each(false, cmd_gc_collect, &result);
	for (; *operands; operands++) {
		const int failed = collect_target(*operands);

		result = failed ? failed : result;
	}
	if (!quiet)
		cmd_note("burin: %u session%s %s\n", removed, text_plural(removed),
			 how.dry_run ? "would be removed" : "removed");
	return result;
}

const struct cmd cmd_gc = {
	.name = "gc",
	.line = "remove the sessions of killed programs",
	.usage = "Usage: burin gc [options] [TARGET...]\n"
		 "\n"
		 "Remove your sessions that no process uses any more: those without records, those of\n"
		 "programs that have exited, and those of killed programs (--keep spares the newest).\n"
		 "With TARGETs (pids, names or paths; see burin ls), only theirs.\n"
		 "Sessions of another PID namespace, such as a container's, stay as long as it has\n"
		 "processes; only root, outside of all containers, can find that out.\n",
	.notes = "Programs with tracepoints do the same when they start, with the limits of their\n"
		 "configuration (default: 16 sessions and 256M; see burin(3)).\n"
		 "\n"
		 "Exit code: 0; 1 if a session could not be removed, or a directory of sessions not be\n"
		 "read; 2 for a wrong option, or a TARGET that has no session or uses it.\n",
	.options = table,
	.operands = { 0, INT_MAX, NULL, { CMD_IS_TARGET, CMD_IS_TARGET } },
	.main = cmd_gc_run,
};
