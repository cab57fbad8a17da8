/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The libraries of a program; see loaded_files.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/record/sources/loaded_files.h"
#include "image/elf/image.h"
#include "session/clock.h"

enum {
	ANSWER_MAX = 1 << 20, /* bytes */
	WAIT_MS = 5000,
	SYMBOLS_MAX = 1 << 22, /* bytes */
};

extern char **environ;

static bool loaded_files_open_image(struct image *image, int file)
{
	const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);

	return own >= 0 && image_open(image, own) == 0;
}

/* Whether a library needs a function that hooks call: the C library has some of these names itself. */
static bool needs_hook(const struct image *image)
{
	static const char *const hooks[] = { "__cyg_profile_func_enter", "__fentry__", "mcount", "_mcount" };
	struct image_section symbols, names;
	Elf64_Sym symbol;
	bool found = false;

	if (!image->wide || image_section(image, ".dynsym", &symbols) ||
	    image_section(image, ".dynstr", &names))
		return false;
	for (uint64_t at = 0; !found && at < symbols.bytes && at < SYMBOLS_MAX; at += sizeof(symbol)) {
		char name[sizeof("__cyg_profile_func_enter")] = "";

		if (image_read(image, symbols.offset + at, &symbol, sizeof(symbol)) != sizeof(symbol))
			break;
		if (symbol.st_shndx != SHN_UNDEF || symbol.st_name >= names.bytes)
			continue;
		image_read(image, names.offset + symbol.st_name, name, sizeof(name));
		name[sizeof(name) - 1] = 0;
		for (size_t n = 0; n < sizeof(hooks) / sizeof(*hooks); n++)
			found |= strcmp(name, hooks[n]) == 0;
	}
	return found;
}

bool loaded_file_has_hooks(int file)
{
	static const char *const sections[] = { "__patchable_function_entries", "__mcount_loc",
						"xray_instr_map" };
	struct image_section section;
	struct image image;
	bool found = false;

	if (!loaded_files_open_image(&image, file))
		return false;
	for (size_t n = 0; n < sizeof(sections) / sizeof(*sections); n++)
		found |= image_section(&image, sections[n], &section) == 0;
	found = found || needs_hook(&image);
	image_close(&image);
	return found;
}

/* Return: false: the program has no dynamic loader. */
static bool find_loader(int file, char path[PATH_MAX])
{
	struct image_section section;
	struct image image;
	size_t bytes = 0;

	if (!loaded_files_open_image(&image, file))
		return false;
	if (image_section(&image, ".interp", &section) == 0)
		bytes = image_read(&image, section.offset, path,
				   section.bytes < PATH_MAX ? section.bytes : PATH_MAX - 1);
	image_close(&image);
	path[bytes] = 0;
	return *path == '/';
}

/* Return: the loader's pid; -1: it was not started. */
static pid_t loaded_files_start(char *loader, const char *program, int pipe[2])
{
	char list[] = "--list", *copy = strdup(program);
	char *const arguments[] = { loader, list, copy, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	if (!copy)
		return -1;
	if (posix_spawn_file_actions_init(&actions) == 0) {
		if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
		    posix_spawn_file_actions_adddup2(&actions, pipe[1], 1) != 0 ||
		    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) != 0 ||
		    posix_spawn(&pid, loader, &actions, NULL, arguments, environ) != 0)
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
	}
	free(copy);
	return pid;
}

/* Read until the end of the answer. It may be on a file system that does not answer. */
static void read_answer(int from, char *answer)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + WAIT_MS * UINT64_C(1000000);
	struct pollfd ready = { .fd = from, .events = POLLIN };
	size_t used = 0;

	while (used < ANSWER_MAX) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		ssize_t got;

		if (now >= until || poll(&ready, 1, (int)((until - now) / 1000000) + 1) <= 0)
			break;
		got = read(from, answer + used, ANSWER_MAX - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	answer[used] = 0;
}

/* "\tlibm.so.6 => /lib/libm.so.6 (0x7f12)"; "\t./libnet.so (0x7f13)". */
static void loaded_files_report(char *answer, void (*found)(void *data, const char *path), void *data)
{
	char *rest, whole[PATH_MAX];

	for (char *line = strtok_r(answer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line + strspn(line, "\t "),
		     *end = strstr(path, " (0x");

		if (!end)
			continue;
		*end = 0;
		if (strchr(path, '/') && realpath(path, whole))
			found(data, whole);
	}
}

void loaded_files_find(const char *program, int file, void (*found)(void *data, const char *path), void *data)
{
	char loader[PATH_MAX], *answer = malloc(ANSWER_MAX + 1);
	int pipe[2];
	pid_t pid;

	if (answer && find_loader(file, loader) && pipe2(pipe, O_CLOEXEC) == 0) {
		pid = loaded_files_start(loader, program, pipe);
		close(pipe[1]);
		if (pid > 0) {
			read_answer(pipe[0], answer);
			kill(pid, SIGKILL);
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
			loaded_files_report(answer, found, data);
		}
		close(pipe[0]);
	}
	free(answer);
}
