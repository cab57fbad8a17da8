/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The shell of burin sql; see sql_shell.h. */
#include "cmd/sql/sql_shell.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef BURIN_LIBEDIT
#include <editline/readline.h>
#endif

#include "cmd/cmd.h"

enum {
	HISTORY_LINES = 1000,
	HISTORY_PATH = 4096, /* bytes */
};

struct sql_shell {
	const struct sql_engine *engine;
	struct sql *sql;
	enum sql_format format;
	bool terminal, timer, failed, ended;
	char *text; /* of a statement that has not ended */
	size_t bytes;
};

/* For signals and for completion, which get no other argument. */
static struct sql *shell_sql;
static const struct sql_engine *shell_engine;

/* ---- Lines */

/* A line of standard input. */
static char *shell_read(void)
{
	char *line = NULL;
	size_t room = 0;
	const ssize_t length = getline(&line, &room, stdin);

	if (length < 0) {
		free(line);
		return NULL;
	}
	if (length && line[length - 1] == '\n')
		line[length - 1] = '\0';
	return line;
}

#ifdef BURIN_LIBEDIT
static char *shell_complete(const char *prefix, int state)
{
	static unsigned next;

	next = state ? next + 1 : 0;
	return shell_engine->word(shell_sql, prefix, next);
}

/* The path of the history. Return: false: there is none. */
static bool history_path(char path[HISTORY_PATH])
{
	const char *home = getenv("HOME");
	struct stat is;

	return home && *home == '/' && !stat(home, &is) && is.st_uid == geteuid() &&
	       !(is.st_mode & (S_IWGRP | S_IWOTH)) &&
	       snprintf(path, HISTORY_PATH, "%s/.burin_history", home) < HISTORY_PATH;
}

/* Return: NULL: it cannot be opened. */
static FILE *history_open(int flags, const char *mode)
{
	char path[HISTORY_PATH];
	const int descriptor =
		history_path(path) ? open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600) : -1;
	FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, mode);

	if (!file && descriptor >= 0)
		close(descriptor);
	return file;
}

static void history_read(void)
{
	FILE *file = history_open(O_RDONLY, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	using_history();
	stifle_history(HISTORY_LINES);
	while (file && (length = getline(&line, &room, file)) > 0) {
		line[length - (line[length - 1] == '\n')] = '\0';
		add_history(line);
	}
	free(line);
	if (file)
		fclose(file);
}

static void history_write(void)
{
	FILE *file = history_open(O_WRONLY | O_CREAT | O_TRUNC, "w");
	HIST_ENTRY *entry;

	for (int n = history_base; file && (entry = history_get(n)); n++)
		fprintf(file, "%s\n", entry->line);
	if (file)
		fclose(file);
}

/* Files of another user would decide what keys do, and what reaches the terminal: libedit reads ~/.editrc, its library descriptions of terminals. */
static void forget_files_of_others(void)
{
	char path[HISTORY_PATH];

	if (!history_path(path))
		unsetenv("HOME");
	else if (geteuid() != 0)
		return;
	unsetenv("EDITRC");
	unsetenv("TERMINFO");
	unsetenv("TERMINFO_DIRS");
	unsetenv("TERMCAP");
}

static void history_begin(struct sql_shell *shell)
{
	if (!shell->terminal)
		return;
	forget_files_of_others();
	rl_readline_name = "burin";
	rl_completion_entry_function = (rl_compentry_func_t *)shell_complete;
	rl_completer_word_break_characters = " \t\n\"'`@$><=;|&{(,";
	history_read();
}

/* A line from the terminal. */
static char *shell_ask(const char *prompt)
{
	char *line = readline(prompt);

	if (line && *line)
		add_history(line);
	return line;
}

static void history_end(struct sql_shell *shell)
{
	if (shell->terminal)
		history_write();
}
#else
static void history_begin(struct sql_shell *shell)
{
	(void)shell;
}

static char *shell_ask(const char *prompt)
{
	cmd_note("%s", prompt);
	return shell_read();
}

static void history_end(struct sql_shell *shell)
{
	(void)shell;
}
#endif

/* The next line, without its end; free() it. NULL: there are no more. */
static char *shell_next_line(const struct sql_shell *shell)
{
	return shell->terminal ? shell_ask(shell->bytes ? "  ...> " : "burin> ") : shell_read();
}

/* ---- Statements */

static void shell_interrupt(int number)
{
	(void)number;
	shell_engine->interrupt(shell_sql);
}

/* @argument: of ?1; NULL: none */
static void shell_run_with(struct sql_shell *shell, const char *text, const char *argument)
{
	const struct sigaction interrupt = { .sa_handler = shell_interrupt };
	struct timespec begin, end;
	struct sigaction before;
	char message[SQL_MESSAGE];
	int result;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	sigaction(SIGINT, &interrupt, &before);
	result = shell->engine->run(shell->sql, text, argument, shell->format, STDOUT_FILENO, message);
	sigaction(SIGINT, &before, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (result == SQL_NOTHING)
		return;
	if (result > 0)
		cmd_failed("%s", message);
	if (result) {
		shell->failed = true;
		shell->ended |= result < 0;
	} else if (shell->timer) {
		cmd_note("%.3f s\n",
			 (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	}
}

static void shell_run(struct sql_shell *shell, const char *text)
{
	shell_run_with(shell, text, NULL);
}

/* ---- Commands */

static void command_tables(struct sql_shell *shell, const char *word)
{
	(void)word;
	shell_run(shell, shell->engine->tables);
}

static void command_schema(struct sql_shell *shell, const char *word)
{
	shell_run_with(shell, shell->engine->columns, word);
}

static void command_losses(struct sql_shell *shell, const char *word)
{
	(void)word;
	shell_run(shell, shell->engine->losses);
}

static void command_format(struct sql_shell *shell, const char *word)
{
	static const char *const names[] = {
		[SQL_TABLE] = "table", [SQL_CSV] = "csv", [SQL_JSON] = "json", [SQL_MARKDOWN] = "markdown"
	};

	for (unsigned n = 0; n < sizeof(names) / sizeof(*names); n++)
		if (!strcmp(word, names[n])) {
			shell->format = n;
			return;
		}
	cmd_failed("give .format one of table, csv, json, markdown");
	shell->failed = true;
}

static void command_timer(struct sql_shell *shell, const char *word)
{
	shell->timer = strcmp(word, "off") != 0;
}

static void command_quit(struct sql_shell *shell, const char *word)
{
	(void)word;
	shell->ended = true;
}

static void command_help(struct sql_shell *shell, const char *word);

static const struct {
	const char *name;
	void (*run)(struct sql_shell *shell, const char *word);
	const char *line;
} commands[] = {
	{ ".tables", command_tables, "list the tables" },
	{ ".schema", command_schema, "TABLE: list its columns and their types" },
	{ ".losses", command_losses, "list lost records" },
	{ ".format", command_format, "table, csv, json or markdown" },
	{ ".timer", command_timer, "on or off: print how long a statement took" },
	{ ".help", command_help, "list these commands" },
	{ ".quit", command_quit, "end, as the end of the input does" },
};

static void command_help(struct sql_shell *shell, const char *word)
{
	(void)shell, (void)word;
	for (size_t n = 0; n < sizeof(commands) / sizeof(*commands); n++)
		cmd_note("%-8s  %s\n", commands[n].name, commands[n].line);
	cmd_note("A statement ends with a semicolon.\n");
}

static void shell_command(struct sql_shell *shell, char *line)
{
	const size_t length = strcspn(line, " \t");
	char *word = line + length + strspn(line + length, " \t");

	word[strcspn(word, " \t;")] = '\0';
	for (size_t n = 0; n < sizeof(commands) / sizeof(*commands); n++)
		if (strlen(commands[n].name) == length && !strncmp(commands[n].name, line, length)) {
			commands[n].run(shell, word);
			return;
		}
	cmd_failed("no such command: %.*s; .help lists them", (int)length, line);
	shell->failed = true;
}

/* ---- All */

/* Appends a line to the statement, and runs it if it is whole. Return: false: no memory. */
static bool shell_take(struct sql_shell *shell, const char *line)
{
	const size_t length = strlen(line);
	char *text = realloc(shell->text, shell->bytes + length + 2);

	if (!text)
		return false;
	shell->text = text;
	memcpy(text + shell->bytes, line, length);
	shell->bytes += length;
	text[shell->bytes++] = '\n';
	text[shell->bytes] = '\0';
	if (strspn(text, " \t\n") == shell->bytes) {
		shell->bytes = 0;
	} else if (shell->engine->complete(text)) {
		shell_run(shell, text);
		shell->bytes = 0;
	}
	return true;
}

int sql_shell(const struct sql_engine *engine, struct sql *sql, enum sql_format format)
{
	struct sql_shell shell = { .engine = engine,
				   .sql = sql,
				   .format = format,
				   .terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
	char *line;

	shell_sql = sql;
	shell_engine = engine;
	history_begin(&shell);
	if (shell.terminal)
		cmd_note(".help lists commands, .tables the tables; a statement ends with a semicolon\n");
	while (!shell.ended && (line = shell_next_line(&shell))) {
		if (*line == '.' && !shell.bytes)
			shell_command(&shell, line);
		else if (!shell_take(&shell, line))
			shell.ended = shell.failed = true;
		free(line);
	}
	if (shell.bytes && !shell.ended)
		shell_run(&shell, shell.text);
	if (shell.terminal && !shell.ended)
		cmd_note("\n");
	history_end(&shell);
	free(shell.text);
	return shell.failed ? CMD_FAULTS : 0;
}
