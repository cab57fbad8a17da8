/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Symbolizing in child processes: jobs, their ends, and the states of images; see symbolize.h. */
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "base/number.h"
#include "image/elf/debugfile.h"
#include "image/elf/packages.h"
#include "image/symbolize/symbolize.h"
#include "image/symbolize/symbolize_child.h"
#include "image/symbolize/symbolize_parts.h"
#include "wire/wire_call.h"

enum {
	MEMORY_LEAST = 256 << 20, /* bytes for a child, even on small machines */
	PART_MIN = 4096,	  /* locations of an image that are worth a child of their own */
	PATIENCE_MS = 60000,
	CPU_MORE = 2, /* seconds after the deadline, in case the parent does not end the child */
	HINT_MAX = 4096 + 256,
};

static uint64_t symbolize_now_ms(void)
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

static void free_result(struct result *result)
{
	for (unsigned n = 0; n < 2; n++)
		if (result->fetched && result->debug[n] >= 0)
			close(result->debug[n]);
	free(result->hint);
	names_cache_free(&result->cache);
}

static void close_job(struct job *job)
{
	if (job->pipe >= 0)
		close(job->pipe);
	if (job->asks >= 0)
		close(job->asks);
	job->pipe = job->asks = -1;
}

/* @left: the job frees it, as does a failure; NULL: the locations are those of the image. */
static int add_job(struct symbolize *all, const struct child_task *task, struct result *result,
		   uint64_t *left)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job || !array_reserve(all->queue, all->job_room, all->job_count + 1)) {
		free(job);
		free(left);
		return -ENOMEM;
	}
	*job = (struct job){ .task = *task, .result = result, .left = left, .pipe = -1, .asks = -1 };
	all->queue[all->job_count++] = job;
	return 0;
}

/* ---- names of earlier look-ups */

static int symbolize_open_cache(const struct symbolize_options *options)
{
	return options->cached && !options->root && !options->fetch && !options->parameters && !options->place
		       ? names_cache_directory()
		       : -1;
}

/* Gives the kept names of an image, and queues the other locations. Return: 0 or a negative errno. */
static int use_cache(struct symbolize *all, const struct child_task *task, struct result *result)
{
	struct job kept = { .task = *task, .result = result };
	struct child_task rest = *task;
	uint64_t *left = calloc(task->count + 1, sizeof(*left));
	const ssize_t count = left ? symbolize_kept(all, &kept, left) : -ENOMEM;

	if (count > 0) {
		rest.offsets = left;
		rest.count = (size_t)count;
		all->done += task->count - rest.count;
		return add_job(all, &rest, result, left);
	}
	free(left);
	all->done += task->count;
	result->received = true;
	result->state = result->cache.state;
	result->missing = result->cache.missing;
	return count < 0 ? (int)count
			 : symbolize_hint(result, result->cache.hint, strlen(result->cache.hint));
}

/* Locations without an answer have none: the child would find none the next time either. */
static void keep_nothing_found(const struct job *job)
{
	for (size_t n = 0; n < job->task.count; n++) {
		struct names_cache_answer none = { .from = job->task.offsets[n],
						   .to = job->task.offsets[n] + 1 };

		if (!job->answered[n])
			names_cache_add(&job->result->cache, &none);
	}
}

/* Keeps the answers of children that read the whole of what they need, as it lies in files that are known again. */
static void fill_cache(const struct symbolize *all)
{
	for (size_t n = 0; n < all->job_count; n++) {
		const struct job *job = all->queue[n];
		struct result *result = job->result;
		struct names_cache *cache = &result->cache;

		if (!cache->usable || !result->lasting || result->parts || result->damaged || result->late)
			continue;
		keep_nothing_found(job);
		cache->state = result->state;
		cache->missing = result->missing;
		if (result->hint && (size_t)snprintf(cache->hint, sizeof(cache->hint), "%s", result->hint) >=
					    sizeof(cache->hint))
			continue;
		names_cache_save(cache, all->cache, job->task.image);
	}
}

/* An image with many locations is divided into as many parts as there are processors. */
static int symbolize_add_image(struct symbolize *all, const struct symbolize_image *image,
			       struct result *result)
{
	const size_t most = image->kind == WIRE_IMAGE_FILE ? image->count / PART_MIN : 0;
	const size_t parts = !image->count		? 0
			     : most < 1			? 1
			     : most < all->children_max ? most
							: all->children_max;
	int error = 0;

	if (image->file < 0 && image->path &&
	    strncmp(image->path, WIRE_GUEST_USER, sizeof(WIRE_GUEST_USER) - 1) == 0) {
		/* Memory of a guest has no file here, and there may be thousands of them: no child is needed to find that. */
		all->done += image->count;
		result->received = true;
		result->state = WIRE_SYMBOLS_NONE;
		return 0;
	}
	if (all->cache >= 0 && !(all->options->functions && image->kind == WIRE_IMAGE_FILE))
		names_cache_load(&result->cache, all->cache, image);
	for (size_t n = 0; n < parts && !error; n++) {
		const size_t from = image->count * n / parts, to = image->count * (n + 1) / parts;
		const struct child_task task = {
			.image = image,
			.offsets = image->offsets + from,
			.count = to - from,
			.root = all->root,
			.functions = all->options->functions,
			.parameters = all->options->parameters,
			.source = all->options->place ? all->options->source : NULL,
			.source_line = all->options->source_line,
			.may_want = all->options->fetch && image->kind == WIRE_IMAGE_FILE &&
				    image->build_id_bytes,
			.debug = { -1, -1 },
			.memory_max = all->memory_max,
		};

		error = result->cache.count ? use_cache(all, &task, result)
					    : add_job(all, &task, result, NULL);
	}
	return error;
}

/* The child's main function. It is killed when its parent ends, and is the first victim when memory runs out. */
static void symbolize_be_child(const struct child_task *task, int pipe, int asks)
{
	const struct rlimit none = { 0, 0 };
	const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	if (score >= 0 && write(score, "1000", 4) == 4)
		close(score);
	for (int number = 1; number < 32; number++)
		signal(number, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* from the terminal: the parent handles it */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	_exit(-symbolize_child(task, pipe, asks)); /* the parent reports the errno */
}

/* The owner of the image's file may have written anything into it. A map of code may also be a link to any large file. */
static void find_owner(struct result *result, const struct symbolize_image *image, const char *root)
{
	const bool is_map = image->kind == WIRE_IMAGE_JIT || image->kind == WIRE_IMAGE_JITDUMP ||
			    image->kind == WIRE_IMAGE_ANONYMOUS;
	const int opened = image->file >= 0	 ? -1
			   : *image->path == '/' ? debugfile_descriptor(image->path, root)
						 : -1;
	const int file = opened >= 0 ? opened : image->file;
	struct stat status;

	if (file >= 0 && fstat(file, &status) == 0) {
		result->owner = status.st_uid;
		if (is_map || (status.st_uid != 0 && status.st_uid != geteuid()))
			result->foreign_bytes = (uint64_t)status.st_size + 1;
	}
	if (opened >= 0)
		close(opened);
}

/* Files of others last, the largest at the end: whatever they make of the time, names of the others are found before. */
static int by_trust(const void *one, const void *other)
{
	const struct job *a = *(struct job *const *)one, *b = *(struct job *const *)other;

	return number_order(a->result->foreign_bytes, b->result->foreign_bytes)
		       ?: number_order((uintptr_t)a->task.image, (uintptr_t)b->task.image)
		       ?: number_order((uintptr_t)a->task.offsets, (uintptr_t)b->task.offsets);
}

/* Return: seconds until the deadline, at least 1; 0: there is none. */
static unsigned seconds_left(const struct symbolize *all)
{
	const uint64_t now = symbolize_now_ms();

	if (!all->deadline_ms)
		return 0;
	return now >= all->deadline_ms ? 1 : (unsigned)((all->deadline_ms - now) / 1000) + 1;
}

static int start_job(struct symbolize *all, struct job *job)
{
	int ends[2], sockets[2];

	job->answered = calloc(job->task.count + 1, sizeof(*job->answered));
	job->buffer = malloc(CHILD_MESSAGE_MAX * 2);
	if (!job->answered || !job->buffer)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
		const int error = -errno;

		close(ends[0]);
		close(ends[1]);
		return error;
	}
	job->task.seconds = all->deadline_ms ? seconds_left(all) + CPU_MORE : 0;
	job->child = fork();
	if (job->child == 0)
		symbolize_be_child(&job->task, ends[1], sockets[1]);
	close(ends[1]);
	close(sockets[1]);
	job->pipe = ends[0];
	job->asks = sockets[0];
	if (job->child < 0) {
		close_job(job);
		return -EAGAIN;
	}
	job->last_message_ms = symbolize_now_ms();
	all->running[all->running_count++] = job;
	return 0;
}

/* ---- the end of a child */

/* Queues the locations without an answer for a child that reads less of the file. */
static int try_again(struct symbolize *all, struct job *job)
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
	all->done -= count; /* end_job() has counted them as done */
	return add_job(all, &task, job->result, left);
}

static int job_lost(struct symbolize *all, struct job *job, const char *how)
{
	static const char *const of[] = { "its debug information", "the file" };
	struct result *result = job->result;
	char text[HINT_MAX];

	snprintf(text, sizeof(text), "%s could not be read: the process for it %s", of[job->task.level], how);
	all->counts->damaged += !result->damaged;
	result->damaged = true;
	result->missing = false;
	if (job->task.level + 1 < CHILD_LEVELS)
		return symbolize_hint(result, text, strlen(text)) ? -ENOMEM : try_again(all, job);
	result->state = WIRE_SYMBOLS_NONE;
	result->received = true;
	return symbolize_hint(result, text, strlen(text));
}

/* A child that lacked time or memory is not the fault of the file. @how: "" if it ended well */
static void describe_end(const struct job *job, int status, bool late, char *how, size_t size)
{
	const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const int error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	if (late)
		snprintf(how, size,
			 "did not answer in time; the machine may be busy: burin symbols tries again");
	else if (job->wrong)
		snprintf(how, size, "sent an invalid message; the file may be damaged");
	else if (signal == SIGKILL || signal == SIGXCPU) /* by the kernel */
		snprintf(how, size, "was killed at its limit of CPU time, or for lack of memory");
	else if (error == ENOMEM)
		snprintf(how, size, "had too little memory");
	else if (signal)
		snprintf(how, size, "died of signal %d; the file may be damaged", signal);
	else if (error)
		snprintf(how, size, "failed: %s", strerror(error));
	else if (!job->finished)
		snprintf(how, size, "did not finish");
}

/* Removes a job from the running ones and reaps its child. */
static int end_job(struct symbolize *all, unsigned number, bool late)
{
	struct job *job = all->running[number];
	char how[128] = "";
	int status = 0;

	all->running[number] = all->running[--all->running_count];
	close_job(job);
	if (late || job->wrong)
		kill(job->child, SIGKILL);
	while (waitpid(job->child, &status, 0) < 0 && errno == EINTR)
		;
	all->done += job->task.count;
	job->done = 0;
	describe_end(job, status, late, how, sizeof(how));
	return *how ? job_lost(all, job, how) : 0;
}

static int read_child(struct symbolize *all, unsigned number)
{
	struct job *job = all->running[number];
	ssize_t got = read(job->pipe, job->buffer + job->filled, CHILD_MESSAGE_MAX * 2 - job->filled);

	if (got < 0 && errno == EINTR)
		return 0;
	if (got <= 0)
		return end_job(all, number, false);
	job->last_message_ms = symbolize_now_ms();
	job->filled += (size_t)got;
	return symbolize_receive(all, job);
}

/* ---- all of them */

static int start_jobs(struct symbolize *all)
{
	int error = 0;

	while (!error && all->next < all->job_count && all->running_count < all->children_max)
		error = start_job(all, all->queue[all->next++]);
	return error;
}

static int poll_children(struct symbolize *all)
{
	const uint64_t patience = all->options->patience_ms ? all->options->patience_ms : PATIENCE_MS;
	const unsigned count = all->running_count;
	struct pollfd polls[2 * CHILDREN_MAX], *asks = polls + count;
	int error = 0;

	for (unsigned n = 0; n < count; n++) {
		polls[n] = (struct pollfd){ .fd = all->running[n]->pipe, .events = POLLIN };
		asks[n] = (struct pollfd){ .fd = all->running[n]->asks, .events = POLLIN };
	}
	if (poll(polls, 2 * count, patience < 250 ? (int)patience : 250) < 0 && errno != EINTR)
		return -errno;
	for (unsigned n = 0; n < count; n++) {
		struct job *job = all->running[n];

		if (asks[n].revents && !symbolize_open(job)) {
			close(job->asks);
			job->asks = -1;
		}
	}
	for (unsigned n = count; n-- && !error;) { /* from the last, which replaces a job that ends */
		struct job *job = all->running[n];

		if (polls[n].revents || job->wrong)
			error = read_child(all, n);
		else if (symbolize_now_ms() - job->last_message_ms > patience)
			error = end_job(all, n, true);
		if (!error && n < all->running_count && all->running[n] == job && job->wrong)
			error = end_job(all, n, false);
	}
	return error;
}

static int symbolize_progress(const struct symbolize *all)
{
	uint64_t done = all->done;

	for (unsigned n = 0; n < all->running_count; n++)
		done += all->running[n]->done;
	if (!all->options->progress ||
	    all->options->progress(all->options->data, done, all->counts->locations))
		return 0;
	return -ECANCELED;
}

static bool symbolize_is_late(const struct symbolize *all)
{
	return all->deadline_ms && symbolize_now_ms() >= all->deadline_ms;
}

static void mark_job_late(struct symbolize *all, const struct job *job)
{
	all->counts->late += !job->result->late;
	job->result->late = true;
}

/* The deadline has come: running jobs and those in the queue stay without the rest of their names. */
static void mark_late(struct symbolize *all)
{
	for (unsigned n = 0; n < all->running_count; n++)
		mark_job_late(all, all->running[n]);
	for (size_t n = all->next; n < all->job_count; n++)
		mark_job_late(all, all->queue[n]);
}

static int run_jobs(struct symbolize *all)
{
	int error = start_jobs(all);

	while (!error && all->running_count && !symbolize_is_late(all)) {
		error = poll_children(all);
		if (!error)
			error = symbolize_progress(all);
		if (!error && !symbolize_is_late(all))
			error = start_jobs(all);
	}
	if (!error && symbolize_is_late(all))
		mark_late(all);
	for (unsigned n = 0; n < all->running_count; n++) {
		kill(all->running[n]->child, SIGKILL);
		close_job(all->running[n]);
		while (waitpid(all->running[n]->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return error;
}

/* ---- debug files from elsewhere */

/* The part of the time that is left for reading, after the debug files have come. */
static uint64_t fetch_until(const struct symbolize *all)
{
	const uint64_t now = symbolize_now_ms();

	return !all->deadline_ms	 ? 0
	       : now >= all->deadline_ms ? now
					 : all->deadline_ms - (all->deadline_ms - now) / 4;
}

/*
 * Images without names: another child reads each, with the debug file if there is one. As root, images of other users
 * are not worth a request: their build ids may be invented.
 */
static int queue_wanted(struct symbolize *all)
{
	const size_t count = all->job_count;
	const uint64_t until = fetch_until(all);
	int error = 0;

	for (size_t n = 0; n < count && !error; n++) {
		const struct job *job = all->queue[n];
		struct result *result = job->result;
		struct child_task task = job->task;

		if (!job->wants || job->wrong)
			continue;
		if (!result->fetched && !symbolize_is_late(all) &&
		    (!result->owner || result->owner == geteuid()))
			all->options->fetch(all->options->data, task.image, until, result->debug);
		result->fetched = true;
		task.may_want = false;
		memcpy(task.debug, result->debug, sizeof(task.debug));
		all->done -= task.count;
		error = add_job(all, &task, result, NULL);
	}
	return error;
}

/* ---- images */

/* @served: a server was asked for it, or would have it by no build id */
static void hint_of(char out[HINT_MAX], const struct result *result, const char *package, bool served)
{
	const char *file = result->hint ? result->hint : "";
	const char *server = served || result->state == WIRE_SYMBOLS_TABLE
				     ? ""
				     : ", or a debuginfod server, set in DEBUGINFOD_URLS";
	char debug[PACKAGES_NAME_MAX + 16];

	packages_debug(debug, package);
	if (result->late)
		snprintf(out, HINT_MAX,
			 "more time: the deadline of names came first; burin symbols --deadline raises "
			 "it%s%.4000s",
			 result->damaged ? "; " : "", result->damaged ? file : "");
	else if (!result->missing)
		snprintf(out, HINT_MAX, "%.4096s", file);
	else if (*package)
		snprintf(out, HINT_MAX, "package %s%s%.4000s%s", debug, *file ? ", or " : "", file, server);
	else if (*file)
		snprintf(out, HINT_MAX, "%.4096s%s, or to build it with -g", file, server);
	else
		snprintf(out, HINT_MAX, "to build it with -g");
}

/* Whether a package may supply the names. */
static bool symbolize_is_missing(const struct result *result)
{
	return result->missing && !result->late;
}

static bool lacks_package(const struct result *result)
{
	return symbolize_is_missing(result) && !(result->cache.count && result->cache.missing);
}

/* Finds the packages of images that lack names, unless that is known from an earlier look-up. */
static void find_packages(const struct symbolize *all, const struct symbolize_image *images, size_t count,
			  struct result *results, struct packages_file *files)
{
	size_t missing = 0;

	for (size_t n = 0; n < count; n++)
		if (lacks_package(&results[n]))
			files[missing++].path = images[n].path;
	if (missing)
		packages_find(files, missing, all->root);
	missing = 0;
	for (size_t n = 0; n < count; n++)
		if (lacks_package(&results[n]))
			memcpy(results[n].cache.package, files[missing++].package, PACKAGES_NAME_MAX);
}

static int emit_images(struct symbolize *all, const struct symbolize_image *images, size_t count,
		       struct result *results)
{
	struct packages_file *files = calloc(count + 1, sizeof(*files));
	int error = files ? 0 : -ENOMEM;

	if (!error)
		find_packages(all, images, count, results, files);
	for (size_t n = 0; n < count && !error; n++) {
		char hint[HINT_MAX];
		unsigned char *at = leb128_put(all->entry, WIRE_SYMBOLS_IMAGE);
		enum wire_symbols_state state;

		if (!images[n].count)
			continue;
		hint_of(hint, &results[n], symbolize_is_missing(&results[n]) ? results[n].cache.package : "",
			all->options->fetch || !images[n].build_id_bytes);
		at = leb128_put(at, images[n].number);
		state = results[n].late ? WIRE_SYMBOLS_NONE : results[n].state;
		at = leb128_put(at, state);
		all->counts->images[state]++;
		if (all->options->image)
			all->options->image(all->options->data, images[n].number, state, hint);
		error = symbolize_emit_entry(all, symbolize_put_text(at, hint, strlen(hint)));
	}
	free(files);
	return error;
}

static unsigned symbolize_processors(void)
{
	const long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count < 1 ? 1 : (unsigned)count;
}

/* All children together may use half of the machine's memory. */
static uint64_t memory_max(unsigned children)
{
	const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	const uint64_t share = pages < 1 ? 0 : (uint64_t)pages * (uint64_t)bytes / 2 / children;

	return share < MEMORY_LEAST ? MEMORY_LEAST : share;
}

int symbolize(const struct symbolize_image *images, size_t count, const struct symbolize_options *options,
	      struct symbolize_counts *counts)
{
	struct symbolize all = { .options = options,
				 .counts = counts,
				 .root = options->root ? options->root : "" };
	struct result *results = calloc(count + 1, sizeof(*results));
	int error = 0;

	*counts = (struct symbolize_counts){ 0 };
	all.children_max = options->children ? options->children : symbolize_processors();
	all.children_max = all.children_max < CHILDREN_MAX ? all.children_max : CHILDREN_MAX;
	all.deadline_ms = options->deadline_ms ? symbolize_now_ms() + options->deadline_ms : 0;
	all.memory_max = memory_max(all.children_max);
	all.cache = symbolize_open_cache(options);
	all.entry = malloc(CHILD_MESSAGE_MAX);
	if (!results || !all.entry)
		error = -ENOMEM;
	for (size_t n = 0; n < count && !error; n++) {
		counts->locations += images[n].count;
		results[n].debug[0] = results[n].debug[1] = -1;
		if (images[n].count)
			find_owner(&results[n], &images[n], all.root);
		error = symbolize_add_image(&all, &images[n], &results[n]);
	}
	if (all.job_count)
		qsort(all.queue, all.job_count, sizeof(*all.queue), by_trust);
	if (!error)
		error = run_jobs(&all);
	if (!error && options->fetch)
		error = queue_wanted(&all);
	if (!error && counts->late)
		mark_late(&all);
	else if (!error && all.next < all.job_count)
		error = run_jobs(&all);
	if (!error)
		error = emit_images(&all, images, count, results);
	if (!error)
		fill_cache(&all);
	for (size_t n = 0; n < all.job_count; n++)
		free_job(all.queue[n]);
	free(all.queue);
	for (size_t n = 0; n < count && results; n++)
		free_result(&results[n]);
	free(results);
	free(all.entry);
	if (all.cache >= 0)
		close(all.cache);
	texts_free(&all.texts);
	return error;
}
