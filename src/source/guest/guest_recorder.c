/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder that the plugin starts; see guest_recorder.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/print.h"
#include "source/guest/guest_options.h"
#include "source/guest/guest_recorder.h"
#include "source/guest/guest_session.h"

enum {
	WORDS_MAX = 4096, /* of the recorder's command line */
	WORD_BYTES = PATH_MAX + 32,
	SOCKET = 3,	     /* the recorder's descriptor of it */
	REPLY_MAX = 1 << 18, /* bytes: more than the longest argument of a program */
};

static int own_end = -1; /* of the socket */
static pid_t recorder;

bool guest_recorder_is_wanted(int count, char *const *arguments)
{
	for (int n = 0; n < count; n++)
		if (guest_options_value(arguments[n], "out"))
			return true;
	return false;
}

/* Options of `burin record` that begin with --guest. */
static bool is_of_guest(const char *argument)
{
	static const char *const keys[] = { "level", "range", "kernel",	  "program", "calls", "start",
					    "stop",  "clock", "snapshot", "threads", "report" };

	for (size_t n = 0; n < sizeof(keys) / sizeof(*keys); n++)
		if (guest_options_value(argument, keys[n]))
			return true;
	return false;
}

/* An argument as an option: "level=user" is "--guest-level=user", "no-symbols=on" is "--no-symbols". Return: NULL: no memory. */
static char *option_of(const char *argument)
{
	const char *value = strchr(argument, '='), *directory = guest_options_value(argument, "out");
	const bool is_flag = value && strcmp(value, "=on") == 0;
	char word[WORD_BYTES];

	if (directory)
		print_text(word, sizeof(word), "--output=%s", directory);
	else
		print_text(word, sizeof(word), "--%s%.*s", is_of_guest(argument) ? "guest-" : "",
			   (int)(is_flag ? value - argument : (ptrdiff_t)strlen(argument)), argument);
	return strdup(word);
}

/* The program `burin` beside the plugin: in the build directory, or as both are installed. Return: whether it is there. */
static bool find_program(char *path, size_t bytes)
{
	static const char *const folders[] = { "", "/bin" };
	static const char below_prefix[] = "/" BURIN_LIBDIR "/burin"; /* where the plugin is installed */
	char self[PATH_MAX];
	Dl_info info;
	size_t length;

	if (!dladdr(&own_end, &info) || !realpath(info.dli_fname, self))
		return false;
	*strrchr(self, '/') = 0;
	length = strlen(self);
	for (unsigned n = 0; n < 2; n++) {
		print_text(path, bytes, "%s%s/burin", self, folders[n]);
		if (access(path, X_OK) == 0)
			return true;
		if (length > strlen(below_prefix) &&
		    strcmp(self + length - strlen(below_prefix), below_prefix) == 0)
			self[length - strlen(below_prefix)] = 0;
	}
	return false;
}

/* Start the recorder without the terminal, the blocked signals and the files of QEMU. Return: 0 or an errno. */
static int spawn(const char *program, char **words, int end)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return ENOMEM;
	}
	error = posix_spawn_file_actions_adddup2(&actions, end, SOCKET)			    ?:
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)	    ?:
		posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)    ?:
		posix_spawn_file_actions_addclosefrom_np(&actions, SOCKET + 1)		    ?:
		posix_spawnattr_setsigmask(&attributes, &none)				    ?:
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK) ?:
		posix_spawn(&recorder, program, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* The recorder's command line. Return: false: no memory, or there are too many. */
static bool fill(char **words, char *program, int count, char *const *arguments)
{
	static char record[] = "record", guest[] = "--guest", socket[] = "--guest-socket=3";
	size_t used = 0;

	words[used++] = program;
	words[used++] = record;
	words[used++] = guest;
	words[used++] = socket;
	for (int n = 0; n < count; n++) {
		if (used + 1 == WORDS_MAX || !(words[used] = option_of(arguments[n])))
			return false;
		used++;
	}
	return true;
}

/* Return: an errno, after which there is no recorder; 0. */
static int start(char *program, int count, char *const *arguments)
{
	char **words = calloc(WORDS_MAX, sizeof(*words));
	int ends[2], error = ENOMEM;

	if (!words)
		return error;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		free(words);
		return errno;
	}
	if (fill(words, program, count, arguments))
		error = spawn(program, words, ends[1]);
	close(ends[1]);
	if (error)
		close(ends[0]);
	else
		own_end = ends[0];
	for (size_t n = 4; words[n]; n++)
		free(words[n]);
	free(words);
	return error;
}

/* Two texts, each with its NUL. Return: whether both came. */
static bool receive(char *reply)
{
	size_t used = 0, ends = 0;
	ssize_t got = 1;

	while (ends < 2 && got != 0 && used < REPLY_MAX) {
		got = read(own_end, reply + used, REPLY_MAX - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		for (ssize_t n = 0; n < got; n++)
			ends += !reply[used + (size_t)n];
		used += (size_t)got;
	}
	return ends == 2;
}

/* Wait for the recorder's end. */
static void wait_for_end(void)
{
	int status = 0;

	while (waitpid(recorder, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		guest_session_report("libburin-qemu.so: the recorder was ended by signal %d",
				     WTERMSIG(status));
	close(own_end);
	own_end = -1;
}

static bool take_all(char *text, bool (*take)(const char *argument))
{
	char *rest = NULL;

	for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (!take(word))
			return false;
	return true;
}

const char *guest_recorder_begin(int count, char *const *arguments, bool (*take)(const char *argument))
{
	char program[PATH_MAX + 16], *reply;
	int error;

	if (!find_program(program, sizeof(program))) {
		guest_session_report(
			"libburin-qemu.so: the program burin is not beside it, and cannot write the trace");
		return NULL;
	}
	error = start(program, count, arguments);
	reply = error ? NULL : malloc(REPLY_MAX);
	if (!reply) {
		guest_session_report("libburin-qemu.so: cannot run %.250s: %s", program,
				     strerror(error ? error : ENOMEM));
		if (!error)
			guest_recorder_end();
		return NULL;
	}
	if (receive(reply) && take_all(reply + strlen(reply) + 1, take))
		return reply;
	guest_recorder_end(); /* it has printed why */
	free(reply);
	return NULL;
}

void guest_recorder_end(void)
{
	if (own_end < 0)
		return;
	shutdown(own_end, SHUT_WR);
	wait_for_end();
}
