/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* See cases.h. BEHIND() after a call prevents a tail call. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define SHAPE	 __attribute__((noinline, noipa))
#define BEHIND() __asm__ volatile("" ::: "memory")

void *case_return;

/* Functions without tables, as made at run time or written by hand. */
void through_record(reached then);
void through_bare(reached then);
void through_misled(reached then);
__asm__(".pushsection .text\n"
	".type through_record, @function\n"
	"through_record:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $32, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	".size through_record, . - through_record\n"
	".skip 64, 0x90\n"
	".type through_bare, @function\n"
	"through_bare:\n"
	"	sub $40, %rsp\n"
	"	call *%rdi\n"
	"	add $40, %rsp\n"
	"	ret\n"
	".size through_bare, . - through_bare\n"
	".skip 64, 0x90\n"
	".type through_misled, @function\n"
	"through_misled:\n"
	"	push %rbp\n"
	"	mov $1, %ebp\n"
	"	call *%rdi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size through_misled, . - through_misled\n"
	".skip 64, 0x90\n"
	".popsection\n");

SHAPE void case_plain(reached then)
{
	then();
	BEHIND();
}

SHAPE void case_deep(unsigned frames, reached then)
{
	if (frames > 1)
		case_deep(frames - 1, then);
	else
		then();
	BEHIND();
}

SHAPE void case_alloca(unsigned bytes, reached then)
{
	char *space = (char *)alloca(bytes);

	memset(space, 1, bytes);
	__asm__ volatile("" : : "r"(space) : "memory");
	then();
	BEHIND();
}

/* Variables that need more alignment than the stack has: the CFA is in a register, or in memory. */
SHAPE void case_aligned(reached then)
{
	_Alignas(128) char space[256];
	char *more = (char *)alloca(strlen("some") + (size_t)(rand() & 1));

	__asm__ volatile("" : : "r"(space), "r"(more) : "memory");
	then();
	BEHIND();
}

static reached signal_then;

static SHAPE void handler(int number)
{
	(void)number;
	signal_then();
	BEHIND();
}

SHAPE void case_signal(reached then)
{
	const struct sigaction action = { .sa_handler = handler };
	struct sigaction before;

	signal_then = then;
	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
}

static reached sort_then;

static SHAPE int compare(const void *left, const void *right)
{
	if (sort_then)
		sort_then();
	sort_then = NULL;
	return *(const int *)left - *(const int *)right;
}

SHAPE void case_sort(reached then)
{
	int numbers[] = { 3, 1, 2 };

	sort_then = then;
	qsort(numbers, 3, sizeof(int), compare);
	BEHIND();
}

static SHAPE void *thread(void *argument)
{
	reached *then = (reached *)argument;

	case_plain(*then);
	return NULL;
}

SHAPE void case_thread(reached then)
{
	pthread_t other;

	if (pthread_create(&other, NULL, thread, &then))
		abort();
	pthread_join(other, NULL);
}

SHAPE void case_record(reached then)
{
	case_return = __builtin_return_address(0);
	through_record(then);
	BEHIND();
}

SHAPE __attribute__((optimize("no-omit-frame-pointer"))) void case_bare(reached then)
{
	case_return = __builtin_return_address(0);
	through_bare(then);
	BEHIND();
}

SHAPE void case_misled(reached then)
{
	through_misled(then);
	BEHIND();
}

SHAPE __attribute__((optimize("no-omit-frame-pointer"))) void case_framed(unsigned frames, reached then)
{
	char space[200];

	__asm__ volatile("" : : "r"(space) : "memory");
	if (frames > 1)
		case_framed(frames - 1, then);
	else
		then();
	BEHIND();
}
