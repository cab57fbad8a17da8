/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A program that executes another one while a recorder's function call is under way, as an attacker would execute a set-user-id
 * program. It has a C library of its own, whose dlopen() does that; another process keeps the memory of the program and stores
 * there that the call has returned, and that the thread waits for the recorder to put its registers back. The program that is executed runs in a loop where the recorder expects the end of its call.
 * It is not harmed if the recorder leaves its registers as they are.
 *
 *	executes EVIL		wait, with the library EVIL loaded (compiled with -DEVIL)
 *	executes loop ADDRESS	loop at the address, until a second has passed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef EVIL
enum {
	STACK = 64 << 10,
	EXECUTE_US = 300000,
	KEEP_US = 3000000
};

static char stack[STACK];

/* The recorder looks for the end of signal handlers: mov $15, %rax; syscall. */
__asm__(".text\n.byte 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05");

/* Others that the recorder looks for. */
__attribute__((visibility("default"))) int *__errno_location(void)
{
	static int error;

	return &error;
}

__attribute__((visibility("default"))) void *dlsym(void *object, const char *name)
{
	(void)object;
	(void)name;
	return NULL;
}

/* Where the recorder waits for the result. */
static int keep(void *result)
{
	usleep(EXECUTE_US);
	*(volatile uint64_t *)result = 0x101; /* a step, and REMOTE_CODE_WAITS */
	usleep(KEEP_US);
	_exit(0);
}

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
	uint64_t *result, back = (uint64_t)__builtin_return_address(0);
	char address[32];

	__asm__("mov %%r12, %0" : "=r"(result));
	(void)name;
	(void)flags;
	clone(keep, stack + STACK, CLONE_VM | SIGCHLD, result);
	snprintf(address, sizeof(address), "%#llx", (unsigned long long)back);
	execl("/proc/self/exe", "executes", "loop", address, (char *)NULL);
	_exit(3);
}
#else

static void on_alarm(int number)
{
	(void)number;
	_exit(0);
}

static void loop(uint64_t address)
{
	static const uint8_t code[] = { 0xeb, 0xfe }; /* jmp to itself */
	sigset_t none;
	char *page = mmap((void *)(address & ~UINT64_C(4095)), 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page == MAP_FAILED)
		_exit(4);
	memcpy((void *)address, code, sizeof(code));
	sigemptyset(&none); /* the recorder has blocked all */
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, on_alarm);
	alarm(1);
	((void (*)(void))address)();
}

int main(int count, char **arguments)
{
	if (count == 3)
		loop(strtoull(arguments[2], NULL, 16));
	if (count != 2 || !dlopen(arguments[1], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 2;
}
#endif
