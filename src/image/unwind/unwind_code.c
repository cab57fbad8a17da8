/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Instructions around a return address; see unwind_code.h. */
#include <string.h>

#include "base/number.h"
#include "image/unwind/unwind_code.h"

#if defined(__aarch64__)
bool unwind_code_calls(const struct unwind_code *code, uint64_t address, uint64_t *target)
{
	const uint32_t call = number_load32(code->bytes + UNWIND_CODE_BEFORE - 4);

	*target = 0;
	if (!code->known || (call & 0xfffffc1f) == 0xd63f0000) /* blr */
		return true;
	if ((call & 0xfc000000) != 0x94000000) /* bl */
		return false;
	*target = address - 4 + (uint64_t)((int64_t)((uint64_t)call << 38) >> 36);
	return true;
}

bool unwind_code_exits(const struct unwind_code *code)
{
	(void)code;
	return false;
}

bool unwind_code_makes_frame(const struct unwind_code *code)
{
	(void)code;
	return true; /* the return address of others is in a register, and not on the stack */
}

bool unwind_code_calls_first(const struct unwind_code *code, uint64_t address, uint64_t *next)
{
	(void)code, (void)address;
	*next = 0;
	return false;
}
#else
/* Whether `ff /2`, a call through a register or memory, is so many bytes long at the end of the instructions. */
static bool is_indirect(const unsigned char *end, unsigned bytes)
{
	const unsigned char *call = end - bytes;
	const unsigned mode = call[1] >> 6, base = call[1] & 7;
	unsigned length = 2;

	if (call[0] != 0xff || (call[1] >> 3 & 7) != 2)
		return false;
	if (mode != 3 && base == 4) /* an index byte */
		length++;
	if (mode == 1)
		length++;
	if (mode == 2 || (mode == 0 && base == 5))
		length += 4;
	return length == bytes;
}

bool unwind_code_calls(const struct unwind_code *code, uint64_t address, uint64_t *target)
{
	const unsigned char *end = code->bytes + UNWIND_CODE_BEFORE;

	*target = 0;
	if (!code->known)
		return true;
	for (unsigned bytes = 2; bytes <= 7; bytes++) {
		if (is_indirect(end, bytes))
			return true;
	}
	*target = address + (uint64_t)(int64_t)(int32_t)number_load32(end - 4);
	return end[-5] == 0xe8;
}

bool unwind_code_exits(const struct unwind_code *code)
{
	/* The number of the system call exit, in each form that compilers and people write, then `syscall`. */
	static const struct {
		unsigned char bytes[7], count;
	} exits[] = {
		{ { 0xb0, 0x3c, 0x0f, 0x05 }, 4 },
		{ { 0x6a, 0x3c, 0x58, 0x0f, 0x05 }, 5 },
		{ { 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05 }, 7 },
	};
	const unsigned char *begin = code->bytes + UNWIND_CODE_BEFORE;

	for (unsigned at = 0; code->known && at < UNWIND_CODE_BEHIND; at++) {
		for (unsigned n = 0; n < sizeof(exits) / sizeof(exits[0]); n++) {
			if (at + exits[n].count <= UNWIND_CODE_BEHIND &&
			    !memcmp(begin + at, exits[n].bytes, exits[n].count))
				return true;
		}
	}
	return false;
}

bool unwind_code_makes_frame(const struct unwind_code *code)
{
	const unsigned char *begin = code->bytes + UNWIND_CODE_BEFORE;

	if (!memcmp(begin, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		begin += 4;
	return !code->known || (begin[0] & 0xf8) == 0x50 ||	  /* push */
	       (begin[0] == 0x41 && (begin[1] & 0xf8) == 0x50) || /* push of r8 to r15 */
	       !memcmp(begin, "\x48\x83\xec", 3) || !memcmp(begin, "\x48\x81\xec", 3) || /* sub from rsp */
	       !memcmp(begin, "\x49\x3b\x66\x10", 4) ||
	       !memcmp(begin, "\x4c\x8d", 2); /* Go's test of the stack */
}

bool unwind_code_calls_first(const struct unwind_code *code, uint64_t address, uint64_t *next)
{
	const unsigned char *begin = code->bytes + UNWIND_CODE_BEFORE;

	*next = 0;
	if (!code->known)
		return false;
	if (begin[0] == 0xe9)
		*next = address + 5 + (uint64_t)(int64_t)(int32_t)number_load32(begin + 1);
	else if (begin[0] == 0xeb)
		*next = address + 2 + (uint64_t)(int64_t)(int8_t)begin[1];
	/* Go's goexit, to which a goroutine returns as if it had been called behind its first instruction: nop; call; nop */
	if (begin[-1] == 0x90 && begin[0] == 0xe8 && begin[5] == 0x90)
		return true;
	/* mov %eax,%edi; call. Or mov %rax,%fs:OFFSET: behind the thread pointer is the descriptor, before it the program's data */
	return !memcmp(begin, "\x89\xc7\xe8", 3) ||
	       (!memcmp(begin, "\x64\x48\x89\x04\x25", 5) && !(begin[8] & 0x80));
}
#endif
