// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A machine's whole software (Multiboot, 32-bit): known calls, then it ends the emulator. Compiled by tests/source/guest.
#define KNOWN __attribute__((noinline, noclone, used))

static volatile int sum;

KNOWN void leaf(int n)
{
	sum += n;
}

KNOWN void twice(int n)
{
	leaf(n);
	leaf(n);
}

KNOWN void recursion(int n)
{
	if (n)
		recursion(n - 1);
	leaf(n);
}

KNOWN void by_pointer(int n)
{
	sum ^= n;
	leaf(n);
}

static void (*volatile chosen)(int);

KNOWN void all(void)
{
	for (int n = 0; n < 100; n++)
		twice(n);
	recursion(30);
	chosen = by_pointer;
	for (int n = 0; n < 10; n++)
		chosen(n);
}

KNOWN void start(void)
{
	all();
	__asm__ volatile("outb %%al, $0xf4" : : "a"(0)); // isa-debug-exit: status 1
	for (;;)
		__asm__ volatile("hlt");
}

__asm__(".section .multiboot, \"a\"\n"
	".long 0x1badb002, 0, -0x1badb002\n"
	".text\n"
	".globl _start\n"
	"_start: mov $stack_end, %esp\n"
	"call start\n"
	".bss\n"
	".skip 65536\n"
	"stack_end:\n"
	".text\n");
