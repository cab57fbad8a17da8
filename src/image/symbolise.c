/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Symbolising by children: who does what, and what is said of images in the end; see symbolise.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/leb128.h"
#include "image/packages.h"
#include "image/symbolise_parts.h"

enum {
	SLICE_MIN = 4096, /* places of an image that are worth a child of their own */
	PATIENCE_MS = 60000,
	REMEDY_MAX = 4096 + 256,
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- jobs */

static void free_job(struct job *job)
{
	if (!job)
		return;
	free(job->left);
	free(job->answered);
	free(job->texts);
	free(job->buffer);
	free(job);
}

/* @left: becomes the job's, freed on failure too; NULL: the places are of the image. */
static int add_job(struct symbolise *all, const struct child_task *task, struct result *result,
		   uint64_t *left)
{
	struct job *job = calloc(1, sizeof(*job));

	if (all->job_count == all->job_room) {
		const size_t room = all->job_room ? all->job_room * 2 : 64;
		struct job **queue = reallocarray(all->queue, room, sizeof(struct job *));

		if (queue) {
			all->queue = queue;
			all->job_room = room;
		}
	}
	if (!job || all->job_count == all->job_room) {
		free(job);
		free(left);
		return -ENOMEM;
	}
	*job = (struct job){ .task = *task, .result = result, .left = left, .pipe = -1 };
	all->queue[all->job_count++] = job;
	return 0;
}

/* An image with many places is cut into as many parts as there are processors. */
static int add_image(struct symbolise *all, const struct symbolise_image *image, struct result *result)
{
	const size_t most = image->kind == WIRE_IMAGE_FILE ? image->count / SLICE_MIN : 0;
	const size_t parts = !image->count		? 0
			     : most < 1			? 1
			     : most < all->children_max ? most
							: all->children_max;
	int error = 0;

	for (size_t n = 0; n < parts && !error; n++) {
		const size_t from = image->count * n / parts, to = image->count * (n + 1) / parts;

		error = add_job(all,
				&(struct child_task){ .image = image,
						      .offsets = image->offsets + from,
						      .count = to - from,
						      .root = all->root },
				result, NULL);
	}
	return error;
}

/* The process is the child's own from here on. It goes when its parent goes, and is the first to be without memory. */
static void be_child(const struct child_task *task, int pipe)
{
	const struct rlimit none = { 0, 0 };
	const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	if (score >= 0 && write(score, "1000", 4) == 4)
		close(score);
	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* of the terminal: what becomes of that the parent decides */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	_exit(symbolise_child(task, pipe) ? 1 : 0);
}

static int start_job(struct symbolise *all, struct job *job)
{
	int ends[2];

	job->answered = calloc(job->task.count + 1, sizeof(*job->answered));
	job->buffer = malloc(CHILD_MESSAGE_MAX * 2);
	if (!job->answered || !job->buffer)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	job->child = fork();
	if (job->child == 0) {
		close(ends[0]);
		be_child(&job->task, ends[1]);
	}
	close(ends[1]);
	if (job->child < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	job->pipe = ends[0];
	job->heard_ms = now_ms();
	all->running[all->running_count++] = job;
	return 0;
}

/* ---- the end of a child */

/* Places that nothing was said of go to a child that looks less deep. */
static int try_again(struct symbolise *all, struct job *job)
{
	struct child_task task = job->task;
	uint64_t *left = calloc(task.count + 1, sizeof(*left));
	size_t count = 0;

	if (!left)
		return -ENOMEM;
	for (size_t n = 0; n < task.count; n++) {
		if (!job->answered[n])
			left[count++] = task.offsets[n];
	}
	task.offsets = left;
	task.count = count;
	task.level++;
	all->done -= count; /* of all that are taken for done when a job ends, these are not */
	return add_job(all, &task, job->result, left);
}

static int job_lost(struct symbolise *all, struct job *job, const char *how)
{
	static const char *const of[] = { "its debug information", "the file" };
	struct result *result = job->result;
	char text[REMEDY_MAX];

	snprintf(text, sizeof(text), "%s is damaged: who read it %s", of[job->task.level], how);
	all->counts->damaged += !result->damaged;
	result->damaged = true;
	result->missing = false;
	if (job->task.level + 1 < CHILD_LEVELS)
		return symbolise_remedy(result, text, strlen(text)) ? -ENOMEM : try_again(all, job);
	result->state = WIRE_SYMBOLS_NONE;
	result->told = true;
	return symbolise_remedy(result, text, strlen(text));
}

/* Takes a job out of those that run, and its child from the kernel. */
static int end_job(struct symbolise *all, unsigned number, bool late)
{
	struct job *job = all->running[number];
	char how[64] = "";
	int status = 0;

	all->running[number] = all->running[--all->running_count];
	close(job->pipe);
	if (late || job->wrong)
		kill(job->child, SIGKILL);
	while (waitpid(job->child, &status, 0) < 0 && errno == EINTR)
		;
	all->done += job->task.count;
	job->done = 0;
	if (late)
		snprintf(how, sizeof(how), "did not end");
	else if (job->wrong)
		snprintf(how, sizeof(how), "said what makes no sense");
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "died of signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) || !job->finished)
		snprintf(how, sizeof(how), "failed");
	return *how ? job_lost(all, job, how) : 0;
}

static int listen_to(struct symbolise *all, unsigned number)
{
	struct job *job = all->running[number];
	ssize_t got = read(job->pipe, job->buffer + job->filled, CHILD_MESSAGE_MAX * 2 - job->filled);

	if (got < 0 && errno == EINTR)
		return 0;
	if (got <= 0)
		return end_job(all, number, false);
	job->heard_ms = now_ms();
	job->filled += (size_t)got;
	return symbolise_hear(all, job);
}

/* ---- all of them */

static int start_jobs(struct symbolise *all)
{
	int error = 0;

	while (!error && all->next < all->job_count && all->running_count < all->children_max)
		error = start_job(all, all->queue[all->next++]);
	return error;
}

static int wait_for_some(struct symbolise *all)
{
	const uint64_t patience = all->options->patience_ms ? all->options->patience_ms : PATIENCE_MS;
	const unsigned count = all->running_count;
	struct pollfd polls[CHILDREN_MAX];
	int error = 0;

	for (unsigned n = 0; n < count; n++)
		polls[n] = (struct pollfd){ .fd = all->running[n]->pipe, .events = POLLIN };
	if (poll(polls, count, patience < 250 ? (int)patience : 250) < 0 && errno != EINTR)
		return -errno;
	for (unsigned n = count;
	     n-- && !error;) { /* from the last, since those that end are replaced by it */
		struct job *job = all->running[n];

		if (polls[n].revents || job->wrong)
			error = listen_to(all, n);
		else if (now_ms() - job->heard_ms > patience)
			error = end_job(all, n, true);
		if (!error && n < all->running_count && all->running[n] == job && job->wrong)
			error = end_job(all, n, false);
	}
	return error;
}

static int progress(const struct symbolise *all)
{
	uint64_t done = all->done;

	for (unsigned n = 0; n < all->running_count; n++)
		done += all->running[n]->done;
	if (!all->options->progress || all->options->progress(all->options->data, done, all->counts->places))
		return 0;
	return -ECANCELED;
}

static int run_jobs(struct symbolise *all)
{
	int error = start_jobs(all);

	while (!error && all->running_count) {
		error = wait_for_some(all);
		if (!error)
			error = progress(all);
		if (!error)
			error = start_jobs(all);
	}
	for (unsigned n = 0; n < all->running_count; n++) {
		kill(all->running[n]->child, SIGKILL);
		close(all->running[n]->pipe);
		while (waitpid(all->running[n]->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return error;
}

/* ---- images */

static void remedy_of(char out[REMEDY_MAX], const struct result *result, const char *package)
{
	const char *file = result->remedy ? result->remedy : "";
	char debug[PACKAGES_NAME_MAX + 16];

	packages_debug(debug, package);
	if (!result->missing)
		snprintf(out, REMEDY_MAX, "%.4096s", file);
	else if (*package)
		snprintf(out, REMEDY_MAX, "package %s%s%.4000s", debug, *file ? ", or " : "", file);
	else if (*file)
		snprintf(out, REMEDY_MAX, "%.4096s, or to build it with -g", file);
	else
		snprintf(out, REMEDY_MAX, "to build it with -g");
}

static int say_images(struct symbolise *all, const struct symbolise_image *images, size_t count,
		      const struct result *results)
{
	struct packages_file *files = calloc(count + 1, sizeof(*files));
	size_t missing = 0;
	int error = files ? 0 : -ENOMEM;

	for (size_t n = 0; n < count && !error; n++) {
		if (results[n].missing)
			files[missing++].path = images[n].path;
	}
	if (missing)
		packages_find(files, missing, all->root);
	missing = 0;
	for (size_t n = 0; n < count && !error; n++) {
		char remedy[REMEDY_MAX];
		unsigned char *at = leb128_put(all->entry, WIRE_SYMBOLS_IMAGE);

		if (!images[n].count)
			continue;
		remedy_of(remedy, &results[n], results[n].missing ? files[missing++].package : "");
		at = leb128_put(at, images[n].number);
		at = leb128_put(at, results[n].state);
		all->counts->images[results[n].state]++;
		if (all->options->image)
			all->options->image(all->options->data, images[n].number, results[n].state, remedy);
		error = symbolise_hand_out(all, symbolise_put_text(at, remedy, strlen(remedy)));
	}
	free(files);
	return error;
}

static unsigned processors(void)
{
	const long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1 ? 1 : (unsigned)count;
}

int symbolise(const struct symbolise_image *images, size_t count, const struct symbolise_options *options,
	      struct symbolise_counts *counts)
{
	struct symbolise all = { .options = options,
				 .counts = counts,
				 .root = options->root ? options->root : "" };
	struct result *results = calloc(count + 1, sizeof(*results));
	int error = 0;

	*counts = (struct symbolise_counts){ 0 };
	all.children_max = options->children ? options->children : processors();
	all.children_max = all.children_max < CHILDREN_MAX ? all.children_max : CHILDREN_MAX;
	all.entry = malloc(CHILD_MESSAGE_MAX);
	if (!results || !all.entry)
		error = -ENOMEM;
	for (size_t n = 0; n < count && !error; n++) {
		counts->places += images[n].count;
		error = add_image(&all, &images[n], &results[n]);
	}
	if (!error)
		error = run_jobs(&all);
	if (!error)
		error = say_images(&all, images, count, results);
	for (size_t n = 0; n < all.job_count; n++)
		free_job(all.queue[n]);
	free(all.queue);
	for (size_t n = 0; n < count && results; n++)
		free(results[n].remedy);
	free(results);
	free(all.entry);
	texts_free(&all.texts);
	return error;
}
