/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Programs that are executed with another environment.
 *
 * A program takes part in a recording by variables of its environment: BURIN_..., LD_PRELOAD with the libraries of Burin, and ASAN_OPTIONS,
 * without which AddressSanitizer refuses preloaded libraries. A program that gives its children an environment of its own would hide
 * them. So the functions that execute programs are replaced: the variables that this program began with are put back.
 *
 * It happens in children of fork and vfork, and in signal handlers: nothing is allocated, and only the C library's own
 * functions are called. The new environment lies on the stack, unless it is large.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/calls/interpose_exec.h"
#include "source/tracepoint/thread.h"

#define HOOK __attribute__((visibility("default")))

enum {
	ON_STACK = 8 << 10,  /* bytes of an environment that lies there */
	KEPT_MAX = 8,	     /* variables BURIN_... */
	KEPT_BYTES = 16384,  /* of all that is kept */
	ADDED = 2 + KEPT_MAX /* entries, at most */
};

static const char preload_name[] = "LD_PRELOAD=", asan_name[] = "ASAN_OPTIONS=", own_name[] = "BURIN_",
		  session_name[] = "BURIN_SESSION=", library_name[] = "libburin",
		  asan_option[] = "verify_asan_link_order=0";

/* Of the environment that this process began with. Copies: a program may write over it. */
static struct {
	char text[KEPT_BYTES];
	size_t used;
	char *own[KEPT_MAX]; /* "BURIN_NAME=value" */
	unsigned count;
	char *preload; /* "/.../libburin-calls.so:/.../libburin-timer.so"; NULL: there is nothing to put back */
} kept;

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- the begin of the process */

static char *keep(const char *text, size_t bytes)
{
	char *at = kept.text + kept.used;

	if (bytes + 1 > sizeof(kept.text) - kept.used)
		return NULL;
	memcpy(at, text, bytes);
	at[bytes] = 0;
	kept.used += bytes + 1;
	return at;
}

static bool is_library(const char *path, size_t bytes)
{
	const char *slash = memrchr(path, '/', bytes), *name = slash ? slash + 1 : path;

	return (size_t)(path + bytes - name) >= sizeof(library_name) - 1 && begins(name, library_name);
}

/* Burin's of the libraries. The user's are left to the program. */
static void keep_preload(const char *list)
{
	char *first = NULL;

	while (*list) {
		const size_t bytes = strcspn(list, ": ");

		if (is_library(list, bytes)) {
			char *at = keep(list, bytes);

			if (!at)
				return;
			if (first)
				at[-1] = ':';
			first = first ?: at;
		}
		list += bytes + (list[bytes] != 0);
	}
	kept.preload = first;
}

/* Burin's variables, and the list of libraries. */
static void keep_environment(void)
{
	const char *list = NULL;
	bool in_session = false;

	for (char **at = environ; at && *at; at++) {
		if (begins(*at, own_name) && kept.count < KEPT_MAX) {
			kept.own[kept.count] = keep(*at, strlen(*at));
			kept.count += kept.own[kept.count] != NULL;
			in_session |= begins(*at, session_name);
		}
		if (begins(*at, preload_name))
			list = *at + sizeof(preload_name) - 1;
	}
	if (in_session && list)
		keep_preload(list);
}

/* ---- an environment */

/* The facts of an environment that decide how it is replaced. */
struct given {
	size_t count;
	const char *preload, *asan; /* values; "": it has none */
	bool has_session;
};

static struct given look(char *const *environment)
{
	struct given given = { .preload = "", .asan = "" };

	for (; environment && environment[given.count]; given.count++) {
		const char *at = environment[given.count];

		given.has_session |= begins(at, session_name);
		if (begins(at, preload_name))
			given.preload = at + sizeof(preload_name) - 1;
		else if (begins(at, asan_name))
			given.asan = at + sizeof(asan_name) - 1;
	}
	return given;
}

/*
 * Bytes of the environment that replaces another; 0: it stays as it is. One that has the session, but no libraries, is left: so a user can
 * except a program by `env -u LD_PRELOAD`.
 */
static size_t bytes_of(const struct given *given)
{
	if (!kept.preload || strstr(given->preload, kept.preload) || (given->has_session && !*given->preload))
		return 0;
	return (given->count + ADDED + 1) * sizeof(char *) + sizeof(preload_name) + strlen(kept.preload) +
	       strlen(given->preload) + sizeof(asan_name) + strlen(given->asan) + sizeof(asan_option) + 2;
}

/* "NAME=one:other". Return: behind its NUL. */
static char *join(char *to, const char *name, const char *one, const char *other)
{
	to = stpcpy(stpcpy(to, name), one);
	if (*one && *other)
		*to++ = ':';
	return stpcpy(to, other) + 1;
}

/* @memory: bytes_of() */
static char **make(void *memory, const struct given *given, char *const *environment)
{
	char **made = memory, **next = made;
	char *text = (char *)(made + given->count + ADDED + 1);

	for (size_t n = 0; n < given->count; n++)
		if (!begins(environment[n], preload_name) && !begins(environment[n], asan_name))
			*next++ = environment[n];
	for (unsigned n = 0; !given->has_session && n < kept.count; n++)
		*next++ = kept.own[n];
	*next++ = text;
	text = join(text, preload_name, kept.preload, given->preload);
	*next++ = text;
	join(text, asan_name, given->asan, strstr(given->asan, asan_option) ? "" : asan_option);
	*next = NULL;
	return made;
}

/* Of a large environment. A child of vfork would leave it behind in its parent. */
static void *map(size_t bytes)
{
	void *memory = tracepoint_thread.in_vfork ? MAP_FAILED
						  : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
							 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void *lost(void)
{
	static const char message[] = "burin: a program is executed by vfork with a large environment of its "
				      "own; its calls are not recorded\n";

	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		return NULL;
	return NULL;
}

/* Run @call with `to`, which is @environment or what replaces it. */
#define WITH(environment, call)                                                          \
	({                                                                               \
		char *const *from_ = (environment);                                      \
		const struct given given_ = look(from_);                                 \
		const size_t bytes_ = bytes_of(&given_);                                 \
		void *mapped_ = bytes_ > ON_STACK ? (map(bytes_) ?: lost()) : NULL,      \
		     *memory_ = bytes_ && bytes_ <= ON_STACK ? alloca(bytes_) : mapped_; \
		char *const *to = memory_ ? make(memory_, &given_, from_) : from_;       \
		const int result_ = (call);                                              \
		if (mapped_)                                                             \
			munmap(mapped_, bytes_);                                         \
		result_;                                                                 \
	})

/* ---- the functions that are replaced */

#define EACH(each)    each(execve) each(execvpe) each(fexecve) each(posix_spawn) each(posix_spawnp)
#define DECLARE(name) __typeof__(&(name)) name##_;
#define FIND(name)    *(void **)&next.name##_ = dlsym(RTLD_NEXT, #name);

static struct {
	EACH(DECLARE)
	bool found;
} next;

static void find_next(void)
{
	EACH(FIND)
	next.found = true;
}

/* Signal handlers, and children of vfork, may not call dlsym(). */
void interpose_exec_begin(void)
{
	keep_environment();
	find_next();
}

/* Constructors that run earlier may call a function before it is found. */
#define NEXT(name) (next.found ? (void)0 : find_next(), next.name##_)

/* The program may have some of these functions itself, which call others of them: they do not call each other by name. */
static int execute(const char *path, char *const arguments[], char *const environment[])
{
	return WITH(environment, NEXT(execve)(path, arguments, to));
}

static int search(const char *file, char *const arguments[], char *const environment[])
{
	return WITH(environment, NEXT(execvpe)(file, arguments, to));
}

HOOK int execve(const char *path, char *const arguments[], char *const environment[])
{
	return execute(path, arguments, environment);
}

HOOK int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return search(file, arguments, environment);
}

HOOK int fexecve(int file, char *const arguments[], char *const environment[])
{
	return WITH(environment, NEXT(fexecve)(file, arguments, to));
}

HOOK int execv(const char *path, char *const arguments[])
{
	return execute(path, arguments, environ);
}

HOOK int execvp(const char *file, char *const arguments[])
{
	return search(file, arguments, environ);
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	return WITH(environment, NEXT(posix_spawn)(pid, path, actions, attributes, arguments, to));
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	return WITH(environment, NEXT(posix_spawnp)(pid, file, actions, attributes, arguments, to));
}

/* ---- arguments that are parameters */

static size_t count_of(va_list list)
{
	size_t count = 1;

	while (va_arg(list, char *))
		count++;
	return count;
}

static void fill(char **arguments, const char *first, va_list list)
{
	*arguments = (char *)(uintptr_t)first; // NOLINT: as execv() takes them
	while (*arguments)
		*++arguments = va_arg(list, char *);
}

/* The arguments of a function whose last named parameter is @first. @more: run behind them, on `list` */
#define ARGUMENTS(first, more)                                                              \
	({                                                                                  \
		va_list counted, list;                                                      \
		char **arguments;                                                           \
		va_start(list, first);                                                      \
		va_copy(counted, list);                                                     \
		arguments = alloca(((first ? count_of(counted) : 0) + 1) * sizeof(char *)); \
		fill(arguments, first, list);                                               \
		more;                                                                       \
		va_end(counted);                                                            \
		va_end(list);                                                               \
		arguments;                                                                  \
	})

HOOK int execl(const char *path, const char *first, ...)
{
	return execute(path, ARGUMENTS(first, (void)0), environ);
}

HOOK int execlp(const char *file, const char *first, ...)
{
	return search(file, ARGUMENTS(first, (void)0), environ);
}

HOOK int execle(const char *path, const char *first, ...)
{
	char *const *environment;
	char **const all = ARGUMENTS(first, environment = va_arg(list, char *const *));

	return execute(path, all, environment);
}
