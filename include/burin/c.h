/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The types of a tracepoint's arguments in C, and the checks of its name and format. Private: programs include
 * burin/burin.h.
 */
#ifndef BURIN_BURIN_H
#include <burin/burin.h>
#elif !defined(__cplusplus) && !defined(BURIN_C_H)
#define BURIN_C_H

__extension__ typedef __int128 burin__i128;
__extension__ typedef unsigned __int128 burin__u128;

/* For casts: types that no argument has, since gcc 14 can warn about a cast to the type that the value has already. The kernel has
 * no floating-point numbers. */
#ifdef __clang__
typedef uint64_t burin__u64;
typedef uint64_t burin__id64;
#else
__extension__ typedef enum {
	BURIN__U64 = 0xffffffffffffffffull
} burin__u64;
__extension__ typedef enum {
	BURIN__ID64 = 0xffffffffffffffffull
} burin__id64;
#endif
#if defined(__clang__) || defined(BURIN__KERNEL)
typedef double burin__f64;
#else
__extension__ typedef _Float64 burin__f64;
#endif

/* clang-format off */

struct burin_label {
	const char *name;
	long long value;
};
#define BURIN__NO_LABEL { 0, 0 }

/* Arrays, by the types of their elements. Each points to a struct burin_bytes. */
typedef struct burin__array_bool *burin__Ab;
typedef struct burin__array_char *burin__Ac;
typedef struct burin__array_i8 *burin__Ai8;
typedef struct burin__array_i16 *burin__Ai16;
typedef struct burin__array_i32 *burin__Ai32;
typedef struct burin__array_long *burin__Al;
typedef struct burin__array_llong *burin__All;
typedef struct burin__array_u8 *burin__Au8;
typedef struct burin__array_u16 *burin__Au16;
typedef struct burin__array_u32 *burin__Au32;
typedef struct burin__array_ulong *burin__Aul;
typedef struct burin__array_ullong *burin__Aull;
typedef struct burin__array_float *burin__Af;
typedef struct burin__array_double *burin__Ad;
typedef struct burin__array_none *burin__An;

#define BURIN__ARRAY_OF(element) \
	_Generic((element), _Bool: (burin__Ab)0, char: (burin__Ac)0, signed char: (burin__Ai8)0, short: (burin__Ai16)0, \
		int: (burin__Ai32)0, long: (burin__Al)0, long long: (burin__All)0, unsigned char: (burin__Au8)0, \
		unsigned short: (burin__Au16)0, unsigned: (burin__Au32)0, unsigned long: (burin__Aul)0, \
		unsigned long long: (burin__Aull)0, float: (burin__Af)0, double: (burin__Ad)0, default: (burin__An)0)

/* Of other types: bit-fields (for which gcc has own types; classes 1 to 4) are integers, then come pointers (5); the rest
 * is refused. In three steps, since a compiler compares each type of a list with all before it. Within sizeof gcc does not
 * warn that a float would become a double. */
#ifdef __clang__
#define BURIN__CLASS(x) __builtin_classify_type(x)
#else
#define BURIN__CLASS(x) (sizeof(char[__builtin_classify_type(x) + 2]) - 2)
#endif
#define BURIN__OTHER(x, classes) (classes >> 4 * (BURIN__CLASS(x) & 15) & 15)
#define BURIN__TYPE(x) \
	_Generic((x), _Bool: 1, char: 15, signed char: 2, short: 3, int: 4, long: 5, long long: 5, unsigned char: 6, \
		unsigned short: 7, unsigned: 8, unsigned long: 9, unsigned long long: 9, float: 10, double: 11, long double: 11, \
		default: _Generic((x), char *: 13, const char *: 13, volatile char *: 13, const volatile char *: 13, \
		signed char *: 13, const signed char *: 13, volatile signed char *: 13, const volatile signed char *: 13, \
		unsigned char *: 13, const unsigned char *: 13, volatile unsigned char *: 13, \
		const volatile unsigned char *: 13, \
		default: _Generic((x), struct burin_bytes *: 30, burin__Ab: 17, burin__Ac: 31, burin__Ai8: 18, burin__Ai16: 19, \
		burin__Ai32: 20, burin__Al: 21, burin__All: 21, burin__Au8: 22, burin__Au16: 23, \
		burin__Au32: 24, burin__Aul: 25, burin__Aull: 25, burin__Af: 26, burin__Ad: 27, burin__An: 0, \
		burin__i128: 0, burin__u128: 0, default: BURIN__OTHER(x, 0xc55550ull))))
/* Expressions, not functions: see BURIN__PACK. Only the one for the argument's type gets its value; the cast also takes
 * a pointer. */
#define BURIN__IF(condition, x) __builtin_choose_expr(condition, x, 0)
#define BURIN__SET(type, arg, x) \
	(type > 15 ? burin__set_pair(arg, BURIN__IF(type > 15, x)) : \
	 type == 10 ? (void)((arg)->u = 0, (arg)->f = BURIN__IF(type == 10, x)) : \
	 type == 11 ? (void)((arg)->d = (burin__f64)BURIN__IF(type == 11, x)) : \
	 (void)((arg)->u = (burin__u64)BURIN__IF(0xf3fe >> type & 1, x))) /* neither 0, f32, f64 nor a pair */
/* The value for printf's format check: the first element of an array, an address for bytes, the double that printf gets for
 * a float. */
#define BURIN__SHOWN(x) \
	_Generic((x), struct burin_bytes *: (const void *)0, burin__Ab: 0, burin__Ac: (char)0, burin__Ai8: (signed char)0, \
		burin__Ai16: (short)0, burin__Ai32: 0, burin__Al: 0l, burin__All: 0ll, burin__Au8: (unsigned char)0, \
		burin__Au16: (unsigned short)0, burin__Au32: 0u, \
		burin__Aul: 0ul, burin__Aull: 0ull, burin__Af: 0.0, burin__Ad: 0.0, float: 0.0, default: (x))

#define BURIN__NUMBER(x) \
	_Generic((x), unsigned: 9, unsigned long: 9, unsigned long long: 9, float: 11, double: 11, long double: 11, \
		burin__i128: 0, burin__u128: 0, default: BURIN__OTHER(x, 0x55550ull))
#define BURIN__SET_NUMBER(type, arg, x) BURIN__SET(type, arg, x)
#define BURIN__ID(x) ((burin__id64) + (x)) /* the sign since gcc can warn about a cast of what a function returns */

/* The usual ways to write them; registration refuses the rest. Each call costs gcc 35,000 instructions for each tracepoint. */
#if defined(__clang__)
#define BURIN__REFUSED(format) 0
#else
#define BURIN__REFUSED(format) \
	(__builtin_strstr(format, "%%") == 0 && (__builtin_strstr(format, "%*") != 0 || __builtin_strstr(format, "%-*") != 0 || __builtin_strstr(format, "%0*") != 0 || \
		(__builtin_strstr(format, "%.*") != 0 && __builtin_strstr(format, "%.*s") == 0) || __builtin_strstr(format, "%n") != 0 || \
		__builtin_strstr(format, "%hn") != 0 || __builtin_strstr(format, "%hhn") != 0 || __builtin_strstr(format, "%ln") != 0 || \
		__builtin_strstr(format, "%lln") != 0 || __builtin_strstr(format, "%m") != 0 || __builtin_strstr(format, "%ls") != 0 || \
		__builtin_strstr(format, "%lc") != 0 || __builtin_strstr(format, "%S") != 0 || __builtin_strstr(format, "%C") != 0))
#endif

#if defined(__clang__)
#define BURIN__CHECK_NAME(name) \
	if (0) \
	burin__check_name(name)
#else
#define BURIN__CHECK_NAME(name) \
	__extension__ BURIN__ASSERT(__builtin_strspn(name, BURIN__NAME_BYTES) == sizeof(name) - 1, BURIN__NAME_FAULT)
#endif

/* clang-format on */

/* Fill in the struct that BURIN_BYTES made in the caller's block. */
BURIN__INLINE struct burin_bytes *burin__bytes(struct burin_bytes *bytes, const volatile void *pointer,
					       size_t length)
{
	bytes->pointer = (const void *)(uintptr_t)pointer;
	bytes->length = length;
	return bytes;
}

BURIN__INLINE void burin__set_pair(union burin_arg *arg, const void *value)
{
	const struct burin_bytes *pair = (const struct burin_bytes *)value;

	arg[0].u = pair->length;
	arg[1].p = pair->pointer;
}

#endif
