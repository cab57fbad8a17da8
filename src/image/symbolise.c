/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Symbolising by children: who does what, and what becomes of what they say; see symbolise.h. */
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
#include "image/lines.h"
#include "image/packages.h"
#include "image/symbolise_child.h"
#include "image/texts.h"

enum {
	CHILDREN_MAX = 64,
	SLICE_MIN = 4096, /* places of an image that are worth a child of their own */
	PATIENCE_MS = 60000,
	REMEDY_MAX = 4096 + 256,
};

/* What is known of an image, put together from what its children say. */
struct result {
	bool told; /* a child has told of it; the fields are from the one that knows least */
	enum wire_symbols_state state;
	bool missing; /* the debug information; `remedy` is the file that was looked for */
	bool damaged;
	char *remedy;
};

/* A part of an image's places, and the child that has it. */
struct job {
	struct child_task task;
	struct result *result;
	uint64_t *left; /* the places, if it has them from a child that died */
	bool *answered; /* of each place */
	pid_t child;
	int pipe;
	uint64_t done, heard_ms; /* places; when it spoke last */
	bool finished;		 /* it has told of the image, which comes last */
	bool wrong;		 /* it said what it cannot mean */
	struct function {
		uint64_t begin, size;
		uint32_t name;
	} function;	 /* the last that has an entry */
	uint32_t *texts; /* their numbers, by the child's */
	size_t text_count, text_room;
	unsigned char *buffer; /* of messages that have not come as a whole */
	size_t filled;
};

struct symbolise {
	const struct symbolise_options *options;
	struct symbolise_counts *counts;
	const char *root;
	struct job **queue; /* all, in the order of their beginnings */
	size_t job_count, job_room, next;
	struct job *running[CHILDREN_MAX];
	unsigned running_count, children_max;
	uint64_t done; /* places of jobs that ended */
	struct texts texts;
	unsigned char *entry; /* room for one */
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

/* ---- messages */

/* What is left of a message. Numbers that are not there are 0, and noted. */
struct message {
	const unsigned char *at, *end;
	bool wrong;
};

static uint64_t take(struct message *message, uint64_t most)
{
	uint64_t value = 0;
	const unsigned char *at = message->wrong ? NULL : leb128_get(message->at, message->end, &value);

	if (!at || value > most) {
		message->wrong = true;
		return 0;
	}
	message->at = at;
	return value;
}

static const char *take_text(struct message *message, size_t *bytes)
{
	const char *text = (const char *)message->at;

	*bytes = take(message, WIRE_TEXT_MAX);
	text = (const char *)message->at;
	if (*bytes > (size_t)(message->end - message->at))
		message->wrong = true;
	if (message->wrong)
		*bytes = 0;
	message->at += *bytes;
	return text;
}

static unsigned char *put_text(unsigned char *at, const char *text, size_t bytes)
{
	bytes = bytes < WIRE_TEXT_MAX ? bytes : WIRE_TEXT_MAX;
	at = leb128_put(at, bytes);
	return (unsigned char *)memcpy(at, text, bytes) + bytes;
}

static int hand_out(const struct symbolise *all, const unsigned char *end)
{
	return all->options->entry(all->options->data, all->entry, (size_t)(end - all->entry));
}

static int heard_text(struct symbolise *all, struct job *job, struct message *message)
{
	size_t bytes;
	const char *text = take_text(message, &bytes);
	uint32_t number;
	bool fresh;

	if (job->text_count == job->text_room) {
		const size_t room = job->text_room ? job->text_room * 2 : 1024;
		uint32_t *texts = reallocarray(job->texts, room, sizeof(*texts));

		if (!texts)
			return -ENOMEM;
		job->texts = texts;
		job->text_room = room;
	}
	number = texts_number(&all->texts, text, bytes, &fresh);
	if (!number)
		return -ENOMEM;
	job->texts[job->text_count++] = number;
	if (!fresh)
		return 0;
	return hand_out(all, put_text(leb128_put(all->entry, WIRE_SYMBOLS_TEXT), text, bytes));
}

/* The trace's number of a text of a child's. */
static uint32_t take_number(struct message *message, const struct job *job)
{
	const uint64_t number = take(message, job->text_count);

	return number ? job->texts[number - 1] : 0;
}

static int compare_offsets(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/*
 * Tell of the function, and so of all places in it. Not if one that was told of may contain them, too, nor for a child
 * that came after another one, which may have seen it otherwise: the place has an entry then.
 * @end: of the place's entry
 */
static int tell_function(struct symbolise *all, struct job *job, const struct function *function,
			 const unsigned char *end)
{
	const struct function *last = &job->function;
	unsigned char *at = all->entry;

	if (function->begin == last->begin && function->size == last->size && function->name == last->name)
		return 0;
	if (job->left || function->begin < last->begin || function->begin - last->begin < last->size)
		return hand_out(all, end);
	job->function = *function;
	at = leb128_put(at, WIRE_SYMBOLS_FUNCTION);
	at = leb128_put(at, job->task.image->number);
	at = leb128_put(leb128_put(at, function->begin), function->size);
	return hand_out(all, leb128_put(at, function->name));
}

static int heard_place(struct symbolise *all, struct job *job, struct message *message)
{
	const uint64_t offset = take(message, UINT64_MAX);
	const uint64_t *asked =
		bsearch(&offset, job->task.offsets, job->task.count, sizeof(offset), compare_offsets);
	bool named = false, lined = false, filed = false;
	struct function function = { 0 };
	unsigned char *at = leb128_put(all->entry, WIRE_SYMBOLS_PLACE);
	uint64_t frames;

	at = leb128_put(at, job->task.image->number);
	at = leb128_put(at, offset);
	function.begin = take(message, UINT64_MAX);
	function.size = take(message, UINT64_MAX);
	at = leb128_put(leb128_put(at, function.begin), function.size);
	frames = take(message, LINES_FRAMES_MAX);
	at = leb128_put(at, frames);
	for (uint64_t n = 0; n < frames && !message->wrong; n++) {
		const uint32_t name = take_number(message, job), file = take_number(message, job);
		const uint64_t line = take(message, UINT32_MAX);

		at = leb128_put(leb128_put(leb128_put(at, name), file), line);
		function.name = name;
		named |= name;
		lined |= line;
		filed |= file;
	}
	if (message->wrong || !asked || job->answered[asked - job->task.offsets]) {
		message->wrong = true;
		return 0;
	}
	job->answered[asked - job->task.offsets] = true;
	all->counts->named += named;
	all->counts->lined += lined;
	if (frames <= 1 && !lined && !filed && offset - function.begin < function.size)
		return tell_function(all, job, &function, at);
	return hand_out(all, at);
}

static int set_remedy(struct result *result, const char *text, size_t bytes)
{
	char *copy = strndup(text, bytes);

	if (!copy)
		return -ENOMEM;
	free(result->remedy);
	result->remedy = copy;
	return 0;
}

static int heard_image(struct job *job, struct message *message)
{
	const enum wire_symbols_state state = (enum wire_symbols_state)take(message, WIRE_SYMBOLS_STATES - 1);
	const bool missing = take(message, 1);
	size_t bytes;
	const char *remedy = take_text(message, &bytes);
	struct result *result = job->result;

	if (message->wrong)
		return 0;
	job->finished = true;
	if (result->told && result->state <= state)
		return 0;
	result->state = state;
	result->missing = missing && !result->damaged;
	result->told = true;
	return result->damaged ? 0 : set_remedy(result, remedy, bytes);
}

static int heard(struct symbolise *all, struct job *job, const unsigned char *bytes, size_t count)
{
	struct message message = { bytes, bytes + count, false };
	int error = 0;

	switch (take(&message, CHILD_IMAGE)) {
	case CHILD_TEXT:
		error = heard_text(all, job, &message);
		break;
	case CHILD_PLACE:
		error = heard_place(all, job, &message);
		break;
	case CHILD_DONE:
		job->done = take(&message, job->task.count);
		break;
	case CHILD_IMAGE:
		error = heard_image(job, &message);
		break;
	default:
		message.wrong = true;
		break;
	}
	job->wrong |= message.wrong || message.at != message.end;
	return error;
}

/* Takes what has come as a whole. */
static int take_messages(struct symbolise *all, struct job *job)
{
	size_t at = 0;
	int error = 0;

	while (!error && !job->wrong && job->filled - at >= sizeof(uint32_t)) {
		uint32_t bytes;

		memcpy(&bytes, job->buffer + at, sizeof(bytes));
		if (bytes > CHILD_MESSAGE_MAX)
			job->wrong = true;
		if (job->wrong || bytes > job->filled - at - sizeof(bytes))
			break;
		error = heard(all, job, job->buffer + at + sizeof(bytes), bytes);
		at += sizeof(bytes) + bytes;
	}
	job->filled -= at;
	memmove(job->buffer, job->buffer + at, job->filled);
	return error;
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
		return set_remedy(result, text, strlen(text)) ? -ENOMEM : try_again(all, job);
	result->state = WIRE_SYMBOLS_NONE;
	result->told = true;
	return set_remedy(result, text, strlen(text));
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
	return take_messages(all, job);
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
		error = hand_out(all, put_text(at, remedy, strlen(remedy)));
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
