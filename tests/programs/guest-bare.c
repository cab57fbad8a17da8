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

// A function that jumps to the next one, which jumps to a third.
void jumps(int n);
void jumped_to(int n);
#ifdef __aarch64__
__asm__(".type jumps, %function\n"
	".type jumped_to, %function\n"
	"jumps: add w0, w0, #1\n"
	"b jumped_to\n"
	".size jumps, . - jumps\n"
	"jumped_to: add w0, w0, #1\n"
	"b leaf\n"
	".size jumped_to, . - jumped_to\n");
#else
__asm__(".type jumps, @function\n"
	".type jumped_to, @function\n"
	"jumps: nop\n"
	"jmp jumped_to\n"
	".size jumps, . - jumps\n"
	"jumped_to: nop\n"
	"jmp leaf\n"
	".size jumped_to, . - jumped_to\n");
#endif

static void (*volatile chosen)(int);

#ifdef TASKS // two tasks, whose stacks lie side by side

void switch_to(void *save, void *load);
#ifdef __aarch64__
__asm__("switch_to: stp x29, x30, [sp, #-16]!\n"
	"stp x19, x20, [sp, #-16]!\n"
	"mov x9, sp\n"
	"str x9, [x0]\n"
	"mov sp, x1\n"
	"ldp x19, x20, [sp], #16\n"
	"ldp x29, x30, [sp], #16\n"
	"ret\n");
enum {
	SAVED = 4,
	LINK = 3
};
#else
__asm__("switch_to: mov 4(%esp), %eax\n"
	"mov 8(%esp), %edx\n"
	"push %ebp; push %ebx; push %esi; push %edi\n"
	"mov %esp, (%eax)\n"
	"mov %edx, %esp\n"
	"pop %edi; pop %esi; pop %ebx; pop %ebp\n"
	"ret\n");
enum {
	SAVED = 6,
	LINK = 4
};
#endif

static __attribute__((aligned(4096))) unsigned long stacks[2][4096 / sizeof(long)];
static void *saved[3]; // stack pointers of both tasks, and of the first one

KNOWN void spin(void)
{
	for (int n = 0; n < 10; n++)
		sum++;
}

KNOWN void inner(int task)
{
	spin();
	switch_to(&saved[task], saved[!task]);
	sum++;
}

KNOWN void outer_a(void)
{
	for (int n = 0; n < 100; n++)
		inner(0);
	sum++;
}

KNOWN void outer_b(void)
{
	for (int n = 0; n < 100; n++)
		inner(1);
	sum++;
}

static void task_a(void)
{
	outer_a();
	switch_to(&saved[0], saved[1]);
}

static void task_b(void)
{
	outer_b();
	switch_to(&saved[1], saved[2]);
}

// Memory on the stack whose size varies: the stack pointer moves, and is loaded from where it was kept.
KNOWN void arrays(int size)
{
	for (int n = 1; n < 10; n++) {
		volatile char array[n * size];

		array[0] = 1;
		spin();
	}
}

KNOWN void all(void)
{
	saved[0] = &stacks[1][512 / sizeof(long)];
	saved[1] = &stacks[0][4096 / sizeof(long) - 2 * SAVED];
	((unsigned long *)saved[0])[LINK] = (unsigned long)task_a;
	((unsigned long *)saved[1])[LINK] = (unsigned long)task_b;
	switch_to(&saved[2], saved[0]);
	arrays(1000);
}

#else

KNOWN void all(void)
{
#ifdef JUMPS
	for (int n = 0; n < 20; n++)
		jumps(n);
#endif
	for (int n = 0; n < 100; n++)
		twice(n);
	recursion(30);
	chosen = stub;
	for (int n = 0; n < 10; n++)
		chosen(n);
}

#endif

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
