/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The screen of burin top; see top_screen.h.
 *
 * A screen is the text that --batch prints, a line each, with a head, a cursor, and a line of keys. So there is one renderer, and each of its
 * texts is safe for a terminal. The lines are cut to the width.
 *
 * Signals come by a descriptor (attach.h, recording.h), so all ends restore the terminal in the same place. SIGWINCH is that of ncurses.
 */
#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/top/top_screen.h"
#include "cmd/top/top_terminal.h"
#include "session/clock.h"
#include "view/top/top_choice.h"

enum {
	SCREEN_OVERVIEW = 8, /* rows of a table in the overview */
	SCREEN_STATUS = 256, /* bytes of a message */
	SCREEN_ESCAPE = 27,
};

struct screen {
	struct top_sources *sources;
	struct top_rows rows;
	struct top_choice choice;
	enum top_view view;
	size_t cursor; /* a line of the text: those before ->first are not shown */
	size_t first;
	size_t lines;		    /* of the text */
	char status[SCREEN_STATUS]; /* instead of the keys */
	bool typing;		    /* a filter is typed */
	bool help, done;
	struct top_rows chosen; /* what is shown */
	size_t heading;		/* the line with the titles of the view; rows are behind it */
};

static const char *const screen_views[TOP_VIEWS] = { "all", "spans", "events", "functions", "threads" };

/* clang-format off */
#define SCREEN_HELP \
	"\nKeys of burin top\n\n" \
	"  1 2 3 4 5    all, spans, events, functions, threads; Tab: the next one\n" \
	"  Up, Down     move; PgUp, PgDn, Home, End\n" \
	"  o            another order of the rows\n" \
	"  /            show names with this part, or that match this glob; Enter ends it, Escape removes " \
	"it\n" \
	"  Space        events: switch the event on or off, as burin enable and disable do\n" \
	"  s            take a snapshot of the program's last records, as burin snapshot does\n" \
	"  Ctrl-L       draw the screen again\n" \
	"  h, ?         this help; any key leaves it\n" \
	"  q            quit\n"
/* clang-format on */

/* ---- text */

static void screen_table(struct screen *screen, enum top_view view, uint64_t limit, struct view_buffer *out)
{
	if (view == TOP_SPANS)
		top_spans_text(&screen->chosen, limit, false, out);
	else if (view == TOP_EVENTS && screen->view == TOP_OVERVIEW)
		top_events_text(&screen->chosen, limit, false, out);
	else if (view == TOP_EVENTS)
		top_all_events_text(&screen->chosen, limit, false, out);
	else if (view == TOP_FUNCTIONS)
		top_functions_text(&screen->chosen, limit, false, out);
	else
		top_threads_text(&screen->chosen, limit, false, out);
}

/* The text below the head. Rows far below the window are left out: there may be thousands. */
static void screen_text(struct screen *screen, size_t height, struct view_buffer *out)
{
	top_chosen_free(&screen->chosen);
	if (!top_choose(&screen->rows, &screen->choice, &screen->chosen)) {
		out->failed = true;
		return;
	}
	screen->heading = 1;
	if (screen->help)
		view_buffer_print(out, SCREEN_HELP);
	else if (screen->view != TOP_OVERVIEW)
		screen_table(screen, screen->view, screen->first + 2 * height, out);
	else
		for (unsigned view = TOP_OVERVIEW + 1; view < TOP_VIEWS; view++)
			screen_table(screen, view,
				     view == TOP_THREADS ? screen->first + height : SCREEN_OVERVIEW, out);
}

/* The part of a line that fits, in bytes; each character takes a column. */
static int screen_fit(const char *line, size_t bytes, int columns)
{
	size_t at = 0;

	for (int column = 0; at < bytes && column < columns; column++)
		do
			at++;
		while (at < bytes && ((unsigned char)line[at] & 0xc0) == 0x80);
	return (int)at;
}

static void screen_line(int y, const char *line, size_t bytes, attr_t how)
{
	move(y, 0);
	clrtoeol();
	attrset(how);
	addnstr(line, screen_fit(line, bytes, COLS - 1));
	attrset(A_NORMAL);
}

static int screen_lines(int y, const char *text, size_t bytes)
{
	while (bytes && y < LINES - 1) {
		const char *end = memchr(text, '\n', bytes);
		const size_t line = end ? (size_t)(end - text) : bytes;

		screen_line(y++, text, line, A_NORMAL);
		text += line + (end != NULL);
		bytes -= line + (end != NULL);
	}
	return y;
}

/* Whether a line has the titles of a table: capitals, digits and blanks, and a capital at least. */
static bool screen_is_heading(const char *line, size_t bytes)
{
	bool any = false;

	for (size_t n = 0; n < bytes; n++) {
		const bool capital = line[n] >= 'A' && line[n] <= 'Z';

		if (!capital && line[n] != ' ' && (line[n] < '0' || line[n] > '9'))
			return false;
		any |= capital;
	}
	return any;
}

static void screen_body(struct screen *screen, int y, const struct view_buffer *text)
{
	const char *at = text->bytes, *end = at + text->used;
	int height = LINES - 1 - y;

	screen->lines = 0;
	for (const char *next; at < end; at = next) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		const size_t bytes = (size_t)((line_end ? line_end : end) - at), number = screen->lines++;
		attr_t how = screen_is_heading(at, bytes) ? A_BOLD : A_NORMAL;

		next = line_end ? line_end + 1 : end;
		if (number < screen->first || number >= screen->first + (size_t)(height > 0 ? height : 0))
			continue;
		if (number == screen->cursor && !screen->help && screen->view != TOP_OVERVIEW)
			how |= A_REVERSE;
		screen_line(y++, at, bytes, how);
	}
	while (y < LINES - 1)
		screen_line(y++, "", 0, A_NORMAL);
}

static void screen_keys(const struct screen *screen)
{
	struct view_buffer line = { .used = 0 };

	if (screen->typing)
		view_buffer_print(&line, "filter: %s_", screen->choice.filter);
	else if (*screen->status)
		view_buffer_print(&line, "%s", screen->status);
	else
		view_buffer_print(
			&line,
			"[%s%s%s%s%s] 1-5 view  o order  / filter  space switch  s snapshot  h help  q quit",
			screen_views[screen->view], screen->view == TOP_OVERVIEW ? "" : " by ",
			top_order_name(screen->view, screen->choice.order[screen->view]),
			*screen->choice.filter ? " /" : "", screen->choice.filter);
	screen_line(LINES - 1, line.bytes ? line.bytes : "", line.used, A_REVERSE);
	view_buffer_free(&line);
}

static void screen_draw(struct screen *screen)
{
	struct view_buffer head = { .used = 0 }, text = { .used = 0 };
	int y;

	if (LINES < 1 || COLS < 2)
		return;
	top_sources_head(screen->sources, &screen->rows, &head);
	screen_text(screen, (size_t)LINES, &text);
	y = screen_lines(0, head.bytes ? head.bytes : "", head.used);
	screen_body(screen, y, &text);
	screen_keys(screen);
	refresh();
	if (head.failed || text.failed)
		snprintf(screen->status, sizeof(screen->status), "out of memory");
	view_buffer_free(&head);
	view_buffer_free(&text);
}

/* ---- actions */

/* The cursor is on a line of a row: the window follows it. */
static void screen_move(struct screen *screen, long lines)
{
	const size_t height = LINES > 4 ? (size_t)LINES - 4 : 1;
	const size_t least = screen->heading + 1, most = screen->lines ? screen->lines - 1 : 0;
	size_t cursor = screen->cursor;

	cursor = lines < 0 && cursor < (size_t)-lines ? 0 : cursor + (size_t)lines;
	cursor = cursor > most ? most : cursor;
	screen->cursor = cursor < least ? least : cursor;
	if (screen->cursor < screen->first)
		screen->first = screen->cursor;
	if (screen->cursor >= screen->first + height)
		screen->first = screen->cursor - height + 1;
	if (screen->cursor == least)
		screen->first = 0;
}

static void screen_show(struct screen *screen, enum top_view view)
{
	screen->view = view;
	screen->first = 0;
	screen->cursor = screen->heading + 1;
}

static void screen_switch(struct screen *screen)
{
	const size_t row = screen->cursor - screen->heading - 1;
	struct session *session = &screen->sources->attachment.session;
	const struct top_event *event;
	enum wire_switch desired;
	int error;

	if (screen->view != TOP_EVENTS || screen->cursor <= screen->heading ||
	    row >= screen->chosen.event_count) {
		snprintf(screen->status, sizeof(screen->status),
			 "3 shows the events; choose one by Up and Down, then switch it");
		return;
	}
	event = &screen->chosen.events[row];
	desired = strcmp(event->state, "off") == 0 ? WIRE_ON : WIRE_OFF;
	error = session_change_begin(session);
	if (!error) {
		error = session_change(session, (uint16_t)event->id, desired, NULL);
		if (error)
			session_change_cancel(session);
		else
			error = session_change_commit(session);
	}
	snprintf(screen->status, sizeof(screen->status), "%s: %s", event->name,
		 error		      ? strerror(-error)
		 : desired == WIRE_ON ? "switched on"
				      : "switched off");
}

/* Messages that functions print to standard error: the last line becomes the status. */
static int screen_catch(int *before)
{
	const int file = memfd_create("burin-messages", MFD_CLOEXEC);

	fflush(stderr);
	*before = dup(STDERR_FILENO);
	if (file >= 0)
		dup2(file, STDERR_FILENO);
	return file;
}

static void screen_release(struct screen *screen, int file, int before)
{
	char text[4096], *line = text;
	ssize_t bytes;

	fflush(stderr);
	if (before >= 0) {
		dup2(before, STDERR_FILENO);
		close(before);
	}
	if (file < 0)
		return;
	bytes = pread(file, text, sizeof(text) - 1, 0);
	close(file);
	text[bytes > 0 ? bytes : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	if (*line)
		snprintf(screen->status, sizeof(screen->status), "%.*s", SCREEN_STATUS - 1, line);
}

static void screen_snapshot(struct screen *screen)
{
	struct attachment *attachment = &screen->sources->attachment;
	struct drain_options options = { 0 };
	struct drain_totals totals;
	char output[4096];
	int file, before, directory;

	if (!screen->sources->attached) {
		snprintf(screen->status, sizeof(screen->status), "a snapshot is of a TARGET");
		return;
	}
	file = screen_catch(&before);
	recording_output(NULL, attachment->target.geometry.program, 1, output, sizeof(output));
	directory = recording_create("burin snapshot -o", output, attachment->target.user != geteuid());
	if (directory >= 0 && recording_snapshot(&attachment->session, &attachment->target, directory, output,
						 &options, &totals) == 0)
		recording_summary(&totals, output);
	screen_release(screen, file, before);
}

static void screen_type(struct screen *screen, int key)
{
	char *filter = screen->choice.filter;
	const size_t length = strlen(filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		screen->typing = false;
	} else if (key == SCREEN_ESCAPE) {
		screen->typing = false;
		filter[0] = 0;
	} else if (key == KEY_BACKSPACE || key == '\b' || key == 127) {
		filter[length ? length - 1 : 0] = 0;
	} else if (key >= ' ' && key < 127 && length + 1 < TOP_FILTER) {
		filter[length] = (char)key;
		filter[length + 1] = 0;
	}
	screen_show(screen, screen->view);
}

static void screen_act(struct screen *screen, int key)
{
	const long page = LINES > 5 ? LINES - 5 : 1;

	switch (key) {
	case 'q':
		screen->done = true;
		return;
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
		screen_show(screen, (enum top_view)(key - '1'));
		return;
	case '\t':
		screen_show(screen, (screen->view + 1) % TOP_VIEWS);
		return;
	case 'o':
		screen->choice.order[screen->view]++;
		return;
	case '/':
		screen->typing = true;
		return;
	case ' ':
		screen_switch(screen);
		return;
	case 's':
		screen_snapshot(screen);
		return;
	case 'h':
	case '?':
		screen->help = true;
		return;
	case KEY_UP:
		screen_move(screen, -1);
		return;
	case KEY_DOWN:
		screen_move(screen, 1);
		return;
	case KEY_PPAGE:
		screen_move(screen, -page);
		return;
	case KEY_NPAGE:
		screen_move(screen, page);
		return;
	case KEY_HOME:
		screen_move(screen, -(long)screen->lines);
		return;
	case KEY_END:
		screen_move(screen, (long)screen->lines);
		return;
	default:
		return;
	}
}

/* Return: whether there was a key. */
static bool screen_read_keys(struct screen *screen)
{
	bool any = false;

	for (int key; !screen->done && (key = getch()) != ERR; any = true) {
		if (key == KEY_RESIZE)
			continue;
		if (key == '\f') { /* something else has written to the terminal */
			redrawwin(stdscr);
			screen_draw(screen);
			continue;
		}
		screen->status[0] = 0;
		if (screen->help)
			screen->help = false;
		else if (screen->typing)
			screen_type(screen, key);
		else
			screen_act(screen, key);
		screen_draw(screen); /* the next key may depend on what is shown */
	}
	return any;
}

/* ---- life */

/* Wait until the next screen is due, and do what keys ask for. Return: as top_sources_wait(). */
static int screen_pause(struct screen *screen, uint64_t until)
{
	struct pollfd wait[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				 { .fd = screen->sources->attachment.signals, .events = POLLIN } };
	int result = 0;
	bool over = false;

	/* Once at least: where rows take longer than the delay, keys are read, too. */
	while (!result && !screen->done && !over) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		const uint64_t left = now < until ? (until - now + 999999) / 1000000 : 0;
		const int ready = poll(wait, 2, left < TOP_ROUND_MS ? (int)left : TOP_ROUND_MS);

		if (wait[0].revents & (POLLHUP | POLLERR) || (ready < 0 && errno != EINTR))
			return 1; /* the terminal is gone */
		if (screen_read_keys(screen) || ready < 0)
			screen_draw(screen);
		result = top_sources_wait(screen->sources, 0);
		over = clock_ns(CLOCK_MONOTONIC) >= until;
	}
	return result;
}

static int screen_loop(struct screen *screen, const char **over)
{
	const struct top_options *options = screen->sources->options;
	uint64_t due = clock_ns(CLOCK_MONOTONIC);

	for (uint64_t n = 0; !screen->done && (!options->count || n < options->count); n++) {
		int result = top_sources_rows(screen->sources, &screen->rows);

		if (result)
			return result;
		screen_draw(screen);
		due += options->delay;
		result = screen_pause(screen, due);
		if (result < 0)
			return result;
		if (result) {
			*over = "";
			return 0;
		}
	}
	return 0;
}

/*
 * ncurses reads the description of the terminal from files that the environment names, which may be another user's: root has those of the
 * system.
 */
static void screen_own_files(void)
{
	if (geteuid() != 0)
		return;
	unsetenv("TERMINFO");
	unsetenv("TERMINFO_DIRS");
	unsetenv("TERMCAP");
}

/* An unknown terminal would end the process in newterm(). Return: 0, or CMD_USAGE and a message. */
static int screen_check(void)
{
	const char *name = getenv("TERM");

	switch (top_terminal_look(name)) {
	case TOP_TERMINAL_UNKNOWN:
		return cmd_usage("the terminal \"%s\" is not known; use --batch", name ? name : "");
	case TOP_TERMINAL_PLAIN:
		return cmd_usage("the terminal \"%s\" cannot move its cursor; use --batch", name);
	default:
		return 0;
	}
}

/* Return: NULL: the terminal is not known. */
static SCREEN *screen_open(void)
{
	const char *home = getenv("HOME");
	char *kept = home ? strdup(home) : NULL;
	SCREEN *terminal = NULL;
	int result;

	setlocale(LC_CTYPE, "");
	screen_own_files();
	if (geteuid() == 0)
		unsetenv("HOME"); /* it may have a .terminfo */
	result = screen_check();
	if (!result)
		terminal = newterm(NULL, stdout, stdin);
	if (!result && !terminal)
		cmd_usage("the terminal cannot show a screen; use --batch");
	if (kept)
		setenv("HOME", kept, 1);
	free(kept);
	return terminal;
}

static void screen_setup(void)
{
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
}

int top_screen_run(struct top_sources *sources)
{
	struct screen screen = { .sources = sources,
				 .view = sources->options->pid || sources->options->all ? TOP_THREADS
											: TOP_OVERVIEW,
				 .heading = 1,
				 .cursor = 2 };
	const char *over = NULL;
	SCREEN *terminal = screen_open();
	int result;

	if (!terminal)
		return CMD_USAGE;
	screen_setup();
	result = screen_loop(&screen, &over);
	endwin();
	delscreen(terminal);
	top_chosen_free(&screen.chosen);
	if (result == -ENOMEM)
		return cmd_failed("out of memory");
	if (result && result != -ESRCH)
		return top_sources_refused((uint32_t)sources->options->pid, result);
	if (over || result)
		top_sources_over(sources);
	return 0;
}
