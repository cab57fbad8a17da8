// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A machine's whole software: known calls, then it ends the emulator. Compiled by tests/source/guest, for x86 (Multiboot, 32 bits) and
// aarch64.
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

#if defined(__aarch64__)
// Code as linkers make it, between a call and a function that is far away.
void stub(int n);
__asm__("stub: adrp x16, by_pointer\n"
	"add x16, x16, :lo12:by_pointer\n"
	"br x16\n");
#else
#define stub by_pointer
#endif

static void (*volatile chosen)(int);

KNOWN void all(void)
{
	for (int n = 0; n < 100; n++)
		twice(n);
	recursion(30);
	chosen = stub;
	for (int n = 0; n < 10; n++)
		chosen(n);
}

#if defined(__aarch64__)

// A function without a frame of its own, which calls one.
__asm__(".type shared, %function\n"
	"shared: mov x28, x30\n"
	"bl leaf\n"
	"bl leaf\n"
	"ret x28\n"
	".size shared, . - shared\n");

KNOWN void start(void)
{
	all();
	for (int n = 0; n < 3; n++)
		__asm__ volatile("bl shared" : : : "x0", "x1", "x2", "x3", "x28", "x30", "memory");
	// SYSTEM_OFF of the Power State Coordination Interface
	__asm__ volatile("ldr x0, =0x84000008; hvc #0" : : : "x0");
	for (;;)
		__asm__ volatile("wfi");
}

__asm__(".globl _start\n"
	"_start: ldr x0, =stack_end\n"
	"mov sp, x0\n"
#ifdef __ARM_FEATURE_PAC_DEFAULT // return addresses are signed, once the processor is asked to
	"mov x0, #0x1234\n"
	"msr APIAKeyLo_EL1, x0\n"
	"mrs x0, sctlr_el1\n"
	"orr x0, x0, #0x80000000\n"
	"msr sctlr_el1, x0\n"
	"isb\n"
#endif
	"bl start\n"
	".bss\n"
	".balign 16\n"
	".skip 65536\n"
	"stack_end:\n"
	".text\n");

#else

KNOWN void start(void)
{
#ifdef ENDLESS
	for (;;)
#endif
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

#endif
