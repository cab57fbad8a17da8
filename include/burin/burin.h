/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin.h - tracepoints for programs in C (C17) and C++ (C++17); manual: burin(3).
 *
 *	BURIN_TRACE("net.rx", "len=%u proto=%s", len, proto);
 *
 * is a complete tracepoint. It is off until a user or the program's settings switch it on. Off, it costs two loads,
 * a test and a branch that is not taken; the arguments are not evaluated. On, each argument is evaluated once and
 * stored with its type; nothing is formatted. Tracepoints may be used in any thread, in signal handlers, constructors,
 * destructors, shared objects, inline functions, lambdas and templates.
 *
 * How it works. Every use of a macro leaves one `struct burin_site` in the section `burin_sites` of its object
 * (program or shared object). Inline assembly writes it, since a variable with a section attribute cannot be in a
 * template or an inline function. The first site of an object also adds a constructor, which registers the section
 * with the library, and a destructor, which removes it. The site points to a byte, its state.
 *
 * Names that begin with burin__ or BURIN__ are private to the headers of Burin.
 *
 * With BURIN_DISABLE defined, tracepoints compile to nothing: arguments are checked, but neither evaluated nor
 * reported as unused, and the program does not need the library.
 */
#ifndef BURIN_BURIN_H
#define BURIN_BURIN_H

#include <stddef.h>
#include <stdint.h>

#if !((defined(__x86_64__) && defined(__LP64__)) || \
      (defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)))
#error "burin.h: tracepoints need 64-bit x86-64 or little-endian aarch64 (BURIN_DISABLE does not help: types differ)"
#endif
#if !defined(__GNUC__)
#error "burin.h: tracepoints need gcc or clang"
#endif
#if defined(__cplusplus) && __cplusplus < 201703L
#error "burin.h: tracepoints need C++17 or later (-std=c++17)"
#endif
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "burin.h: tracepoints need C11 or later (-std=c17)"
#endif

/*
 * Warnings that nothing else silences, all of them off by default. -Wshadow: a program may have declared a variable with the
 * name of any parameter. -Wreserved: C++ reserves names with `__`, which here marks them as private. -Wunsafe-buffer-usage: a
 * record is made in an array.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#ifdef __clang__
#if __has_warning("-Wreserved-macro-identifier")
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"
#endif
#if __has_warning("-Wreserved-identifier")
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
#if __has_warning("-Wunsafe-buffer-usage")
#pragma clang diagnostic ignored "-Wunsafe-buffer-usage"
#endif
#endif

#define BURIN__API  __attribute__((__visibility__("default"), __nothrow__))
#define BURIN__DATA __attribute__((__visibility__("default")))
/* clang never reports that a header's constant is unused, but can report that it is used although it is marked as unused. */
#ifdef __clang__
#define BURIN__UNUSED
#else
#define BURIN__UNUSED __attribute__((__unused__))
#endif
/* For programs, whose code is kept apart from its calls. The library is compiled for speed. */
#ifndef BURIN__COLD
#define BURIN__COLD __attribute__((__cold__))
#endif
/* The library's own functions are not calls of the program (burin record --calls). */
#if defined(__has_attribute)
#if __has_attribute(__patchable_function_entry__)
#define BURIN__NO_CALL __attribute__((__no_instrument_function__, __patchable_function_entry__(0)))
#endif
#endif
#ifndef BURIN__NO_CALL
#define BURIN__NO_CALL __attribute__((__no_instrument_function__))
#endif
#define BURIN__INLINE static inline __attribute__((__always_inline__, __no_instrument_function__))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the interface between the macros and the library -------------------------------------------------- */

/*
 * One tracepoint in the source. 8-aligned, a multiple of 8 bytes. It lives as long as its object. Only the
 * library changes it, in burin_object_join, burin_object_leave and burin_callback_set.
 */
struct burin_site {
	const unsigned char *state; /* the event's state: 0 off, 1 on, 2 conditional; a 0 until registered */
	const char *name;
	const char *format;
	const char *file;
	/* enum wire_type, 4 bits per burin_arg, the first lowest. 0 before another type: the length of the text, bytes or
	 * array of that type, which follows; 0 up to the end: no more arguments. */
	uint64_t types;
	uint32_t line;
	uint8_t kind;  /* enum wire_kind: 0 event, 1 begin, 2 end, 3 counter, 4 span begin, 5 span end */
	uint8_t level; /* 0..9, of BURIN_TRACE_LEVEL */
	uint16_t id;   /* 0 until registered */
	void *hook;    /* private to the library */
};

/* An argument of burin_emit_args. Bytes, arrays and texts with a length take two: the length, then the pointer. */
union burin_arg {
	uint64_t u; /* integers, sign- or zero-extended to 64 bits; f32, f64: their bits; pointers; lengths */
	const void *p; /* str: the text or NULL; bytes, arrays: the first byte */
	float f;       /* the macros' way to the bits of a number; the library reads u and p */
	double d;
};

struct burin_bytes {   /* the value of BURIN_BYTES and BURIN_ARRAY */
	size_t length; /* bytes or elements */
	const void *pointer;
};

struct burin_label; /* a value of an enum and its name */

struct burin_enum { /* of BURIN_ENUM; 8-aligned, a multiple of 8 bytes, changed by nothing */
	const char *name;
	const struct burin_label *labels; /* the last one's name is NULL */
};

/*
 * burin_object_join, burin_object_leave - register or remove an object's sites. The constructor and destructor
 * that the macros leave in each object call them; programs need not.
 * @begin, @end: the object's section burin_sites
 * @enums, @enums_end: its section burin_enums; both NULL if it has none
 * Context: any thread; idempotent. Sites that cannot be registered stay off.
 */
BURIN__API void burin_object_join(struct burin_site *begin, struct burin_site *end,
				  const struct burin_enum *enums, const struct burin_enum *enums_end);
BURIN__API void burin_object_leave(struct burin_site *begin, struct burin_site *end);

/*
 * burin_emit - record a payload that the site has packed.
 * @site: the site; its types are all of fixed size
 * @state: the state as loaded, not 0
 * @buffer: 8-aligned; stays the caller's. 20 bytes that burin_emit may overwrite, then the payload, then zeros
 *	up to a multiple of 8. NULL if the record is known to be too large: it is counted as lost
 * @payload_bytes: bytes of the payload
 * Context: any thread, signal-safe. Losses are counted in the ring.
 */
BURIN__API BURIN__COLD void burin_emit(struct burin_site *site, unsigned state, void *buffer,
				       size_t payload_bytes);

/*
 * burin_emit_args - record arguments of any types, strings and byte arrays included.
 * @site, @state: as for burin_emit
 * @args: in the order of site->types; stay the caller's
 * Context: any thread, signal-safe. Losses are counted in the ring.
 */
BURIN__API BURIN__COLD void burin_emit_args(struct burin_site *site, unsigned state,
					    const union burin_arg *args);

extern BURIN__DATA const unsigned char burin_off; /* always 0 */

/* ---- functions for programs ---------------------------------------------------------------------------- */

/* Called in the thread that reaches the tracepoint, before the event is recorded. */
typedef void burin_callback(const struct burin_site *site, const void *payload, size_t bytes, void *data);

#ifndef BURIN_DISABLE
/*
 * burin_callback_set - call a function each time an event's tracepoint is reached.
 * @name: the event's exact name; copied. The event need not exist yet. A span's two events are NAME.begin and
 *	NAME.end
 * @fn: the function, or NULL to remove it. It receives the site, the payload as recorded (docs/format.md,
 *	"Payload"), which is valid during the call, and @data. It must not throw or longjmp. A tracepoint inside
 *	it is recorded but calls no function
 * @data: passed to @fn. It must live until the callback has been removed and running calls have ended
 *
 * The function is called whether the event is on or off; the event's state only decides whether it is recorded.
 * Other events become no slower. A call that has begun in another thread may still run when this function
 * returns. An event has one function: a later one replaces the earlier.
 *
 * Context: any thread, not signal-safe; may allocate.
 * Return: 0; -EINVAL: the name is not valid; -ENOMEM; -ENOTSUP: built with BURIN_DISABLE.
 */
BURIN__API int burin_callback_set(const char *name, burin_callback *fn, void *data);

/* burin_active - whether this process has a session; without one its events cannot be switched on. Context: any
 * thread, signal-safe. Return: 1 or 0. */
BURIN__API int burin_active(void);
#else
/* clang-format off */
BURIN__INLINE int burin_callback_set(const char *name, burin_callback *fn, void *data)
{
	return (void)name, (void)fn, (void)data, -95; /* ENOTSUP */
}
BURIN__INLINE int burin_active(void) { return 0; }
/* clang-format on */
#endif

/* ---- the macros ---------------------------------------------------------------------------------------- */

/* clang-format off */

/*
 * BURIN_TRACE(name [, format [, argument ...]]): one event. A statement.
 * name: string literal, `subsystem.event`, 1 to 127 of letters, digits and _ . : -
 * format: string literal as for printf, at most 1023 bytes; no `*` but in `%.*s`, no `%n`. `word=%u` names the field
 *	`word`; `%d{states}` prints the names of BURIN_ENUM(states, ...)
 * argument: at most 16; integers, bool, enums, floating point, pointers, strings, in C++ std::string and
 *	std::string_view, BURIN_BYTES, BURIN_ARRAY. BURIN_BYTES, BURIN_ARRAY and those of C++ count as two
 * Context: any thread, signal-safe.
 */
#define BURIN_TRACE(...) BURIN__EVENT(0, "", BURIN__CHECK, BURIN__NOTHING, ~, __VA_ARGS__)

/* BURIN_TRACE_LEVEL(level, name [, format [, argument ...]]): an event with a level, a constant from 0 (as
 * BURIN_TRACE) to 9. Finer details have higher levels. `burin enable --level N` enables levels up to N. */
#define BURIN_TRACE_LEVEL(level, ...) BURIN__EVENT(((level) << 8), "", BURIN__CHECK, BURIN__CHECK_LEVEL, level, __VA_ARGS__)

/* BURIN_BEGIN, BURIN_END(name [, format [, argument ...]]): the two ends of a span of one thread, recorded as the events
 * NAME.begin and NAME.end. Spans of a thread are nested. Statements. */
#define BURIN_BEGIN(...) BURIN__EVENT(1, ".begin", BURIN__CHECK, BURIN__NOTHING, ~, __VA_ARGS__)
#define BURIN_END(...)   BURIN__EVENT(2, ".end", BURIN__CHECK, BURIN__NOTHING, ~, __VA_ARGS__)

/*
 * BURIN_SCOPE(name [, format [, argument ...]]): a span that ends when the enclosing block is left, in any way
 * but longjmp. The end is recorded only if the begin was on. A declaration, so it needs braces after `if` and the like;
 * a block may have several.
 */
#define BURIN_SCOPE(...) \
	BURIN__SCOPE(BURIN__JOIN(BURIN_SCOPE_is_a_declaration_put_it_between_braces_, __COUNTER__), __VA_ARGS__)

/*
 * BURIN_SPAN_BEGIN, BURIN_SPAN_END(id, name [, format [, argument ...]]): the two ends of a span that its name and its id
 * identify. Each may be reached in any thread, in a coroutine, and in any process of the recording. Recorded as the events
 * NAME.begin and NAME.end. These spans need not be nested, and do not count as open spans of a thread (burin/context.h).
 * Statements.
 * id: an integer of at most 64 bits, or an enum, that no other open span of this name has. Evaluated once. Its 64 bits, of
 *	a negative one with the sign, are the record's first field, `span_id`
 * argument: at most 15
 *
 * BURIN_SPAN128_BEGIN, BURIN_SPAN128_END(high, low, name [, format [, argument ...]]): the same for an id of 128 bits, such
 * as a trace id of W3C Trace Context. The first fields are `span_id_high` and `span_id`.
 * high, low: its upper and its lower half, each as id above
 * argument: at most 14
 *
 * All sites of a name are of one kind, and their ids of one width; others are refused, as those with another format.
 */
#define BURIN_SPAN_BEGIN(id, ...) BURIN__SPAN(4, ".begin", BURIN__ID_64(id), __VA_ARGS__)
#define BURIN_SPAN_END(id, ...)   BURIN__SPAN(5, ".end", BURIN__ID_64(id), __VA_ARGS__)
#define BURIN_SPAN128_BEGIN(high, low, ...) BURIN__SPAN(4, ".begin", BURIN__ID_128(high, low), __VA_ARGS__)
#define BURIN_SPAN128_END(high, low, ...)   BURIN__SPAN(5, ".end", BURIN__ID_128(high, low), __VA_ARGS__)

/* BURIN_COUNTER(name, value): a number that holds until the next record of this name. Recorded as 64-bit integer
 * or double. A statement. */
#define BURIN_COUNTER(name, value) BURIN__COUNTER(name, value)

/*
 * BURIN_BYTES(pointer, length): an argument for %p that records the bytes themselves, up to the session's limit
 * for strings.
 * pointer: any object pointer, stays the caller's; NULL records no bytes. length: in bytes
 *
 * BURIN_ARRAY(pointer, count): an argument that records an array of integers, floating-point numbers, bool or char.
 * Its conversion is that of an element: `sizes=%d` prints sizes=[1, 2, 3].
 * count: of elements; the array is cut at the session's limit for strings, in bytes
 */
#ifdef __cplusplus
#define BURIN_BYTES(pointer, length) burin__bytes((pointer), (length))
#define BURIN_ARRAY(pointer, count)  burin__array((pointer), (count))
#else
#define BURIN_BYTES(pointer, length) \
	burin__bytes(&(struct burin_bytes){ 0, 0 }, (pointer), (burin__u64)(length))
#define BURIN_ARRAY(pointer, count) \
	((__typeof__(BURIN__ARRAY_OF(*(pointer))))BURIN_BYTES(pointer, count))
#endif

/*
 * BURIN_ENUM(name, { "label", value }, ...): names for the values of an enum. A declaration, at file scope or in a
 * namespace, not in a function. An integer, or an array of them, has these names if `{name}` follows its conversion:
 *
 *	BURIN_ENUM(methods, { "GET", METHOD_GET }, { "POST", METHOD_POST });
 *	BURIN_TRACE("http.request", "method=%d{methods} bytes=%zu", method, bytes);
 *
 * It holds for the tracepoints of the same object (program or shared object). A value without a name is a number.
 * name: an identifier
 * label: a string literal, 1 to 63 of letters, digits and _ . : -
 * value: a constant that fits a long long
 */
#ifdef BURIN_DISABLE
#define BURIN_ENUM(name, ...) BURIN__ASSERT(sizeof(#name) > 1, "Burin: an enum has a name")
#elif !defined(BURIN__KERNEL)
#define BURIN_ENUM(name, ...) \
	BURIN__QUIET \
	static const struct burin_label burin__labels_##name[] = { __VA_ARGS__, BURIN__NO_LABEL }; \
	static struct burin_enum burin__enum_##name \
		__attribute__((__used__, __section__("burin_enums"), __aligned__(8))) = { #name, burin__labels_##name } \
	BURIN__LOUD
#endif

/* ---- counting arguments -------------------------------------------------------------------------------- */

#define BURIN__JOIN_(a, b) a##b
#define BURIN__JOIN(a, b)  BURIN__JOIN_(a, b)

/* The number of arguments behind name and format; N: there is no format; X: too many. */
#define BURIN__PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
	a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, pick, ...) pick
#define BURIN__COUNT(...) BURIN__PICK(__VA_ARGS__, X, X, X, X, X, X, X, X, X, X, X, X, X, X, 16, 15, 14, 13, 12, 11, \
	10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, N, ~)

#define BURIN__EVENT(kind, suffix, check, then, with, ...) \
	BURIN__JOIN(BURIN__EVENT_, BURIN__COUNT(__VA_ARGS__))(kind, suffix, check, then, with, __VA_ARGS__)
#define BURIN__EVENT_N(kind, suffix, check, then, with, name) \
	BURIN__POINT(0, kind, name, suffix, "", BURIN__NOTHING, BURIN__DECLARE, BURIN__PUT, then, with, ~)
#define BURIN__EVENT_0(kind, suffix, check, then, with, name, format) \
	BURIN__POINT(0, kind, name, suffix, format, check, BURIN__DECLARE, BURIN__PUT, then, with, ~)
#define BURIN__EVENT_M(n, kind, suffix, check, then, with, name, format, ...) \
	BURIN__POINT(n, kind, name, suffix, format, check, BURIN__DECLARE, BURIN__PUT, then, with, __VA_ARGS__)
#define BURIN__EVENT_X(...) BURIN__ASSERT(0, "Burin: a tracepoint takes at most 16 arguments")
#define BURIN__EVENT_1(...) BURIN__EVENT_M(1, __VA_ARGS__)
#define BURIN__EVENT_2(...) BURIN__EVENT_M(2, __VA_ARGS__)
#define BURIN__EVENT_3(...) BURIN__EVENT_M(3, __VA_ARGS__)
#define BURIN__EVENT_4(...) BURIN__EVENT_M(4, __VA_ARGS__)
#define BURIN__EVENT_5(...) BURIN__EVENT_M(5, __VA_ARGS__)
#define BURIN__EVENT_6(...) BURIN__EVENT_M(6, __VA_ARGS__)
#define BURIN__EVENT_7(...) BURIN__EVENT_M(7, __VA_ARGS__)
#define BURIN__EVENT_8(...) BURIN__EVENT_M(8, __VA_ARGS__)
#define BURIN__EVENT_9(...) BURIN__EVENT_M(9, __VA_ARGS__)
#define BURIN__EVENT_10(...) BURIN__EVENT_M(10, __VA_ARGS__)
#define BURIN__EVENT_11(...) BURIN__EVENT_M(11, __VA_ARGS__)
#define BURIN__EVENT_12(...) BURIN__EVENT_M(12, __VA_ARGS__)
#define BURIN__EVENT_13(...) BURIN__EVENT_M(13, __VA_ARGS__)
#define BURIN__EVENT_14(...) BURIN__EVENT_M(14, __VA_ARGS__)
#define BURIN__EVENT_15(...) BURIN__EVENT_M(15, __VA_ARGS__)
#define BURIN__EVENT_16(...) BURIN__EVENT_M(16, __VA_ARGS__)

/* A span with an id. BURIN__ID_*: the format of its fields; the check of its parts; its parts. The last two have commas, so they
 * are in parentheses. The program's format is checked alone: see BURIN__CHECK about literals of this header. */
#define BURIN__ID_64(id) "span_id=%#llx", (BURIN__CHECK_ID(id)), (BURIN__ID(id))
#define BURIN__ID_128(high, low) \
	"span_id_high=%#llx span_id=%#llx", (BURIN__CHECK_ID(high) BURIN__CHECK_ID(low)), (BURIN__ID(high), BURIN__ID(low))
#define BURIN__BARE(...) __VA_ARGS__
#define BURIN__SPAN_FORM(...) \
	BURIN__PICK(__VA_ARGS__, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, 0, N, ~)
#define BURIN__SPAN(kind, suffix, ...) BURIN__SPAN_AS(kind, suffix, __VA_ARGS__)
#define BURIN__SPAN_AS(kind, suffix, fields, checks, ids, ...) \
	BURIN__JOIN(BURIN__SPAN_, BURIN__SPAN_FORM(__VA_ARGS__))(kind, suffix, fields, checks, ids, __VA_ARGS__)
#define BURIN__SPAN_POINT(kind, suffix, checks, check, ...) \
	do { \
		BURIN__QUIET BURIN__BARE checks check BURIN__LOUD \
		BURIN__EVENT(kind, suffix, BURIN__CHECK_LENGTH, BURIN__NOTHING, ~, __VA_ARGS__); \
	} while (0)
#define BURIN__SPAN_N(kind, suffix, fields, checks, ids, name) \
	BURIN__SPAN_POINT(kind, suffix, checks, , name, fields, BURIN__BARE ids)
#define BURIN__SPAN_0(kind, suffix, fields, checks, ids, name, format) \
	BURIN__SPAN_POINT(kind, suffix, checks, BURIN__CHECK(0, format, ~), name, fields " " format, BURIN__BARE ids)
#define BURIN__SPAN_M(kind, suffix, fields, checks, ids, name, format, ...) \
	BURIN__SPAN_POINT(kind, suffix, checks, BURIN__CHECK_OF(BURIN__COUNT(name, format, __VA_ARGS__), format, __VA_ARGS__), \
			  name, fields " " format, BURIN__BARE ids, __VA_ARGS__)
#define BURIN__NOTHING(...)
#define BURIN__CHECK_LEVEL(level, name) \
	{ BURIN__ASSERT((level) >= 0 && (level) <= 9, "Burin: a level is a constant from 0 to 9"); }

/* m(k, k - 1, argument) for each argument k, from 1. */
#define BURIN__EACH_0(m, none)
#define BURIN__EACH_X(...)
#define BURIN__EACH_1(m, a) m(1, 0, a)
#define BURIN__EACH_2(m, a, b) m(1, 0, a) m(2, 1, b)
#define BURIN__EACH_3(m, a, b, c) m(1, 0, a) m(2, 1, b) m(3, 2, c)
#define BURIN__EACH_4(m, a, b, c, d) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d)
#define BURIN__EACH_5(m, a, b, c, d, e) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e)
#define BURIN__EACH_6(m, a, b, c, d, e, f) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f)
#define BURIN__EACH_7(m, a, b, c, d, e, f, g) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g)
#define BURIN__EACH_8(m, a, b, c, d, e, f, g, h) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h)
#define BURIN__EACH_9(m, a, b, c, d, e, f, g, h, i) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i)
#define BURIN__EACH_10(m, a, b, c, d, e, f, g, h, i, j) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j)
#define BURIN__EACH_11(m, a, b, c, d, e, f, g, h, i, j, k) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j) m(11, 10, k)
#define BURIN__EACH_12(m, a, b, c, d, e, f, g, h, i, j, k, l) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j) m(11, 10, k) m(12, 11, l)
#define BURIN__EACH_13(m, a, b, c, d, e, f, g, h, i, j, k, l, n) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j) m(11, 10, k) m(12, 11, l) m(13, 12, n)
#define BURIN__EACH_14(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j) m(11, 10, k) m(12, 11, l) m(13, 12, n) m(14, 13, o)
#define BURIN__EACH_15(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o, p) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j) m(11, 10, k) m(12, 11, l) m(13, 12, n) m(14, 13, o) m(15, 14, p)
#define BURIN__EACH_16(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o, p, q) \
	m(1, 0, a) m(2, 1, b) m(3, 2, c) m(4, 3, d) m(5, 4, e) m(6, 5, f) m(7, 6, g) m(8, 7, h) \
	m(9, 8, i) m(10, 9, j) m(11, 10, k) m(12, 11, l) m(13, 12, n) m(14, 13, o) m(15, 14, p) m(16, 15, q)

/* ---- one tracepoint ------------------------------------------------------------------------------------ */

/* The same in a user's file. The arguments are also used where only their types matter; clang warns about that. */
#ifdef __clang__
#if defined(__cplusplus) && __has_warning("-Wreserved-identifier")
#define BURIN__QUIET_NAMES _Pragma("clang diagnostic ignored \"-Wreserved-identifier\"")
#else
#define BURIN__QUIET_NAMES
#endif
#if __has_warning("-Wunsafe-buffer-usage")
#define BURIN__QUIET_ARRAYS _Pragma("clang diagnostic ignored \"-Wunsafe-buffer-usage\"")
#else
#define BURIN__QUIET_ARRAYS
#endif
#define BURIN__QUIET \
	_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wunevaluated-expression\"") \
	BURIN__QUIET_NAMES BURIN__QUIET_ARRAYS
#define BURIN__LOUD _Pragma("clang diagnostic pop")
#else
#define BURIN__QUIET
#define BURIN__LOUD
#endif

#ifdef __cplusplus
#define BURIN__ASSERT(condition, text) static_assert(condition, text)
/* No enum: clang 14 takes its enumerators for another scope and refuses structured bindings there. */
#define BURIN__CONSTANTS(...)          [[maybe_unused]] constexpr int __VA_ARGS__;
#define BURIN__AS(type)                static_cast<type>
#else
#define BURIN__ASSERT(condition, text) _Static_assert(condition, text)
#define BURIN__CONSTANTS(...)          enum { __VA_ARGS__ };
#define BURIN__AS(type)                (type)
#endif

#if defined(__clang__) || __GNUC__ >= 9
#define BURIN__NEVER(condition) __builtin_expect_with_probability(!!(condition), 0, 1.0)
#else
#define BURIN__NEVER(condition) __builtin_expect(!!(condition), 0)
#endif

#define BURIN__NAME_FAULT "Burin: an event's name has letters, digits and _ . : - only"
#define BURIN__NAME_BYTES "_.:-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define BURIN__FORMAT_FAULT \
	"Burin: a format must not contain %n, %m, %b, wide characters or strings, nor * except in %.*s"

/*
 * The code of an argument's type is that of enum wire_type; 16 are added if the argument takes two burin_args, the length
 * and the pointer. BURIN__BYTES: its bytes in the payload, 0 if they vary, from a table of 16 nibbles.
 */
#define BURIN__BYTES(t) ((t) > 15 ? 0 : BURIN__AS(int)(0x1008848421842110ull >> (4 * ((t) & 15)) & 15))

/* Argument k: its type, the number and offset of its bytes in the buffer, its first word and the bits before it there, its
 * index among the burin_args, and whether any argument up to it is of variable size. */
#define BURIN__DECLARE_AS(k, before, type) \
	burin__type_##k = (type), \
	burin__bytes_##k = BURIN__BYTES(burin__type_##k), \
	burin__offset_##k = burin__offset_##before + burin__bytes_##before, \
	burin__at_##k = burin__offset_##k / 8, \
	burin__shift_##k = burin__offset_##k % 8 * 8, \
	burin__place_##k = burin__place_##before + 1 + (burin__type_##before > 15), \
	burin__text_##k = burin__text_##before || burin__type_##k == 13 || burin__type_##k > 15,
#define BURIN__DECLARE(k, before, x)        BURIN__DECLARE_AS(k, before, BURIN__TYPE(x))
#define BURIN__DECLARE_NUMBER(k, before, x) BURIN__DECLARE_AS(k, before, BURIN__NUMBER(x))

/* The record's layout as constants, and the assertions about types. n: the number of arguments */
#define BURIN__LAYOUT(n, declare, ...) \
	BURIN__CONSTANTS( \
		burin__type_0 = 0, burin__bytes_0 = 0, burin__offset_0 = 20, burin__place_0 = -1, burin__text_0 = 0, \
		BURIN__EACH_##n(declare, __VA_ARGS__) \
		burin__payload = burin__offset_##n + burin__bytes_##n - 20, \
		burin__places = burin__place_##n + 1 + (burin__type_##n > 15), \
		burin__has_text = burin__text_##n) \
	BURIN__ASSERT(1 BURIN__EACH_##n(BURIN__IS_TYPE, __VA_ARGS__), \
		      "Burin cannot record an argument of this type; a struct: pass its members, or BURIN_BYTES"); \
	BURIN__ASSERT(burin__places <= 16, \
		"Burin: too many arguments (at most 16; BURIN_BYTES, BURIN_ARRAY and a std::string count as two)");
#define BURIN__IS_TYPE(k, before, x) && burin__type_##k != 0
/* A statement, since clang needs one there. */
#define BURIN__ASSERT_NAME(name, suffix) \
	{ \
		BURIN__ASSERT(sizeof("" name "" suffix) > sizeof(suffix) && sizeof("" name "" suffix) <= 128, \
			      "Burin: an event's name has 1 to 127 bytes"); \
		BURIN__CHECK_NAME("" name ""); \
	}

/* The compiler's own check of a printf format; never evaluated. The format must not begin with a literal of this
 * header: the compiler would take it for a system header's and suppress the warnings. */
#define BURIN__CHECK(n, format, ...) \
	{ \
		BURIN__ASSERT(sizeof("" format "") <= 1024, "Burin: a format has at most 1023 bytes"); \
		__extension__ BURIN__ASSERT(!BURIN__REFUSED(format), BURIN__FORMAT_FAULT); \
		if (0) \
			burin__check(format BURIN__EACH_##n(BURIN__SHOW, __VA_ARGS__)); \
	}
#define BURIN__CHECK_OF(n, ...) BURIN__CHECK(n, __VA_ARGS__)
#define BURIN__CHECK_LENGTH(n, format, ...) \
	{ BURIN__ASSERT(sizeof(format) <= 1024, "Burin: a format has at most 1023 bytes, of which the id of a span takes some"); }
#define BURIN__CHECK_ID(x) \
	{ BURIN__ASSERT(0x220 >> BURIN__NUMBER(x) & 1, "Burin: the id of a span is an integer of at most 64 bits"); } \
	BURIN__CHECK_NUMBER(1, "", x)
#define BURIN__SHOW(k, before, x)           , BURIN__SHOWN(x)
#define BURIN__CHECK_NUMBER(n, format, value) \
	if (0) \
		(void)(value);
#define BURIN__NUMBER_FORMAT (burin__type_1 == 5 ? "value=%lld" : burin__type_1 == 9 ? "value=%llu" : "value=%g")

#define BURIN__TYPES(k, before, x) \
	| (burin__type_##k & 15ull) << 4 * ((burin__place_##k + (burin__type_##k > 15)) & 15)

#define BURIN__PUT(k, before, x)        BURIN__SET(burin__type_##k, burin__args + burin__place_##k, x),
#define BURIN__PUT_NUMBER(k, before, x) BURIN__SET_NUMBER(burin__type_##k, burin__args + burin__place_##k, x),

/*
 * Store the bytes of a value at an offset. It stores whole words: the copy of the record loads whole words, which store
 * forwarding serves only if they were stored whole. It also makes the bytes behind the last argument zero. Arguments
 * follow each other from offset 20 on, so the first one in a word assigns the word. Expressions, not a function: with
 * constant offsets little of it remains, and a compiler has that done sooner than it inlines a call.
 */
#define BURIN__PACK(k, before, x) \
	burin__word = burin__args[burin__place_##k].u & (~0ul >> (64 - 8 * burin__bytes_##k) % 64), \
	burin__buffer[burin__at_##k] = (burin__shift_##k == 0 || burin__offset_##k == 20 ? 0 : burin__buffer[burin__at_##k]) | \
		burin__word << burin__shift_##k, \
	burin__shift_##k + 8 * burin__bytes_##k > 64 ? \
		(void)(burin__buffer[burin__at_##k + 1] = burin__word >> (64 - burin__shift_##k) % 64) : (void)0,

#ifndef BURIN_DISABLE

/* Load the event's state. Volatile: other processes store it at any time. It orders no other memory access; but where
 * loads may be reordered, a thread that sees the library's pointer also sees the id: the acquire pairs with the release in
 * burin_object_join. */
#if defined(__x86_64__)
#define BURIN__SWITCH(site) \
	(*BURIN__AS(const volatile unsigned char *)(*BURIN__AS(const unsigned char *const volatile *)(&(site)->state)))
#else
#define BURIN__SWITCH(site) (*BURIN__AS(const volatile unsigned char *)(__atomic_load_n(&(site)->state, __ATOMIC_ACQUIRE)))
#endif

/* The record is one full expression, so that temporaries in the arguments live until it is recorded. Only one of
 * its two calls is compiled. */
#define BURIN__RECORD(n, put, then, with, name, ...) \
	union burin_arg burin__args[BURIN__AS(size_t)(burin__places + 1)]; \
	uint64_t burin__buffer[BURIN__AS(size_t)(burin__payload / 8 + 4)], burin__word = 0; \
	BURIN__EACH_##n(put, __VA_ARGS__) burin__has_text ? \
		burin_emit_args(burin__site, burin__state, burin__args) : \
		(burin__buffer[2] = burin__word, BURIN__EACH_##n(BURIN__PACK, __VA_ARGS__) \
		 burin_emit(burin__site, burin__state, burin__buffer, BURIN__AS(size_t)(burin__payload))); \
	then(with, name)

/* Compilers that can put all of the record apart from the hot code. The kernel has its own (kernel/include/burin/kernel.h). */
#ifndef BURIN__KERNEL
#define BURIN__POINT(n, kind, name, suffix, format, check, declare, put, then, with, ...) \
	do { \
		BURIN__QUIET \
		BURIN__LAYOUT(n, declare, __VA_ARGS__) \
		struct burin_site *burin__site; \
		unsigned burin__state; \
		BURIN__ASSERT_NAME(name, suffix) \
		check(n, format, __VA_ARGS__) \
		BURIN__SITE(burin__site, "" name "" suffix, format, kind, (0ull BURIN__EACH_##n(BURIN__TYPES, __VA_ARGS__))); \
		burin__state = BURIN__SWITCH(burin__site); \
		if (BURIN__NEVER(burin__state != 0)) { \
			BURIN__RECORD(n, put, then, with, name, __VA_ARGS__) \
		} \
		BURIN__LOUD \
	} while (0)
#endif

#ifdef __cplusplus
#define BURIN__SCOPE(var, ...) \
	struct burin__scope var; \
	BURIN__EVENT(1, ".begin", BURIN__CHECK, BURIN__SCOPE_OPEN, var.site, __VA_ARGS__)
#else
/* All of it is one declaration, so that others may follow it. The error for a scope without braces names the type. */
#define BURIN__SCOPE(var, ...) \
	BURIN_SCOPE_is_a_declaration_put_it_between_braces var \
		__attribute__((__unused__, __cleanup__(burin__scope_leave))) = { \
		__extension__({ \
			struct burin_site *burin__end = 0; \
			BURIN__EVENT(1, ".begin", BURIN__CHECK, BURIN__SCOPE_OPEN, burin__end, __VA_ARGS__); \
			burin__end; \
		}) \
	}
#endif
#define BURIN__SCOPE_OPEN(site, name) BURIN__SITE(site, "" name ".end", "", 2, 0ull);

#else /* BURIN_DISABLE: check the arguments and mark them as used */

#define BURIN__POINT(n, kind, name, suffix, format, check, declare, put, then, with, ...) \
	do { \
		BURIN__QUIET \
		BURIN__LAYOUT(n, declare, __VA_ARGS__) \
		BURIN__ASSERT_NAME(name, suffix) \
		check(n, format, __VA_ARGS__) \
		(void)(burin__payload + burin__has_text); \
		BURIN__LOUD \
	} while (0)

#ifdef __cplusplus
#define BURIN__SCOPE(var, ...) BURIN__EVENT(1, ".begin", BURIN__CHECK, BURIN__NOTHING, var, __VA_ARGS__)
#else
typedef int BURIN_SCOPE_is_a_declaration_put_it_between_braces;
#define BURIN__SCOPE(var, ...) \
	BURIN_SCOPE_is_a_declaration_put_it_between_braces var __attribute__((__unused__)) = __extension__({ \
		BURIN__EVENT(1, ".begin", BURIN__CHECK, BURIN__NOTHING, var, __VA_ARGS__); \
		0; \
	})
#endif

#endif

#define BURIN__COUNTER(name, value) \
	BURIN__POINT(1, 3, name, "", BURIN__NUMBER_FORMAT, BURIN__CHECK_NUMBER, BURIN__DECLARE_NUMBER, BURIN__PUT_NUMBER, \
		     BURIN__NOTHING, ~, value)

/*
 * The site itself. The operands are constants, which `%c` prints without punctuation. The types are split into
 * halves, because gcc prints only constants that fit an instruction. The label is numeric and used at once, so
 * each copy of this code (inlining and unrolling make some) has its own site. Each object file has one constructor
 * and one destructor; their COMDAT group makes the linker keep one pair per object. Priority 101 is the earliest
 * that is not reserved: this constructor is the first, the destructor the last.
 */
#if defined(__x86_64__)
#define BURIN__SYMBOL "i"
#define BURIN__LOCATE "lea {771b(%%rip), %[site]|%[site], [rip + 771b]}\n"
#else
#define BURIN__SYMBOL "S"
#define BURIN__LOCATE "adrp %[site], 771b\nadd %[site], %[site], :lo12:771b\n"
#endif

#ifndef BURIN__KERNEL
#define BURIN__SITE(variable, name_, format_, kind_, types_) \
	__asm__ __inline__(".pushsection burin_sites,\"aw\",%%progbits\n" \
		".balign 8\n" \
		"771:\n" \
		".quad %c[off], %c[name], %c[format], %c[file]\n" \
		".long %c[low], %c[high], %c[line]\n" \
		".short %c[kind], 0\n" /* kind, level; id */ \
		".quad 0\n" \
		".popsection\n" \
		".ifndef .Lburin__object\n" \
		".set .Lburin__object, 1\n" \
		".pushsection .init_array.00101,\"awG\",%%init_array,burin__object,comdat\n" \
		".balign 8\n" \
		".quad %c[join]\n" \
		".popsection\n" \
		".pushsection .fini_array.00101,\"awG\",%%fini_array,burin__object,comdat\n" \
		".balign 8\n" \
		".quad %c[leave]\n" \
		".popsection\n" \
		".endif\n" \
		BURIN__LOCATE \
		: [site] "=r"(variable) \
		: [off] BURIN__SYMBOL(&burin__off), [name] BURIN__SYMBOL(name_), [format] BURIN__SYMBOL(format_), \
		  [file] BURIN__SYMBOL(__FILE__), [low] "i"(BURIN__AS(int)(types_)), \
		  [high] "i"(BURIN__AS(int)((types_) >> 32)), [line] "i"(__LINE__), \
		  [kind] "i"(kind_), [join] BURIN__SYMBOL(burin__object_join), \
		  [leave] BURIN__SYMBOL(burin__object_leave))
#endif

/* clang-format on */

#ifndef BURIN_DISABLE
/* The state that a site points to until it is registered. Local, so that it needs no symbol at load time. */
BURIN__UNUSED static const unsigned char burin__off = 0;
#endif

#if !defined(BURIN_DISABLE) && !defined(BURIN__KERNEL)
extern struct burin_site __start_burin_sites[] __attribute__((__weak__, __visibility__("hidden")));
extern struct burin_site __stop_burin_sites[] __attribute__((__weak__, __visibility__("hidden")));
extern struct burin_enum __start_burin_enums[] __attribute__((__weak__, __visibility__("hidden")));
extern struct burin_enum __stop_burin_enums[] __attribute__((__weak__, __visibility__("hidden")));

BURIN__NO_CALL static inline void burin__object_join(void)
{
	burin_object_join(__start_burin_sites, __stop_burin_sites, __start_burin_enums, __stop_burin_enums);
}

BURIN__NO_CALL static inline void burin__object_leave(void)
{
	burin_object_leave(__start_burin_sites, __stop_burin_sites);
}
#endif

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#endif
/* burin__check is never called: the compiler checks its format. */
#if defined(__clang__) && !defined(__cplusplus)
/* clang-format off */
/* C has no constant expression that walks a string, but this attribute accepts one that goes from one '%' to the
 * next. Without a next '%' the condition is not constant, and there is no error. */
#define BURIN__BAD(p) \
	__attribute__((__diagnose_if__((p)[1] == 'n' || (p)[1] == '*' || (p)[1] == 'm' || (p)[1] == 'b' || (p)[1] == 'B' || \
		(p)[1] == 'S' || (p)[1] == 'C' || ((p)[1] == 'l' && ((p)[2] == 's' || (p)[2] == 'c')) || \
		((p)[1] == '.' && (p)[2] == '*' && (p)[3] != 's') || \
		(((p)[1] == '-' || (p)[1] == '0' || (p)[1] == '+' || (p)[1] == ' ' || (p)[1] == '#') && (p)[2] == '*') || \
		(((p)[1] == 'h' || (p)[1] == 'l' || (p)[1] == 'j' || (p)[1] == 'z' || (p)[1] == 't') && \
		 ((p)[2] == 'n' || ((p)[2] == (p)[1] && (p)[3] == 'n'))), \
		BURIN__FORMAT_FAULT, "error")))
#define BURIN__P1 __builtin_strchr(format, '%')
#define BURIN__P2 __builtin_strchr(BURIN__P1 + 2, '%')
#define BURIN__P3 __builtin_strchr(BURIN__P2 + 2, '%')
#define BURIN__P4 __builtin_strchr(BURIN__P3 + 2, '%')
#define BURIN__P5 __builtin_strchr(BURIN__P4 + 2, '%')
#define BURIN__P6 __builtin_strchr(BURIN__P5 + 2, '%')
#define BURIN__P7 __builtin_strchr(BURIN__P6 + 2, '%')
#define BURIN__P8 __builtin_strchr(BURIN__P7 + 2, '%')
#define BURIN__ALL_BAD \
	BURIN__BAD(BURIN__P1) BURIN__BAD(BURIN__P2) BURIN__BAD(BURIN__P3) BURIN__BAD(BURIN__P4) \
	BURIN__BAD(BURIN__P5) BURIN__BAD(BURIN__P6) BURIN__BAD(BURIN__P7) BURIN__BAD(BURIN__P8)

/* The same for the characters of a name; evaluation stops at its end. */
#define BURIN__N1(i) \
	(name[i] && (!((name[i] >= 'a' && name[i] <= 'z') || name[i] == '.' || name[i] == '_' || \
		       (name[i] >= '0' && name[i] <= ':') || (name[i] >= 'A' && name[i] <= 'Z') || name[i] == '-') ||
#define BURIN__N4(i)  BURIN__N1(i) BURIN__N1(i + 1) BURIN__N1(i + 2) BURIN__N1(i + 3)
#define BURIN__N16(i) BURIN__N4(i) BURIN__N4(i + 4) BURIN__N4(i + 8) BURIN__N4(i + 12)
#define BURIN__N64(i) BURIN__N16(i) BURIN__N16(i + 16) BURIN__N16(i + 32) BURIN__N16(i + 48)
#define BURIN__E4     )) )) )) ))
#define BURIN__E16    BURIN__E4 BURIN__E4 BURIN__E4 BURIN__E4
#define BURIN__E64    BURIN__E16 BURIN__E16 BURIN__E16 BURIN__E16
__attribute__((__no_instrument_function__)) static inline void burin__check_name(const char *name)
	__attribute__((__diagnose_if__(BURIN__N64(0) 0 BURIN__E64, BURIN__NAME_FAULT, "error")));
static inline void burin__check_name(const char *name) { (void)name; }
/* clang-format on */
#else
#define BURIN__ALL_BAD
#endif
__attribute__((__format__(__printf__, 1, 2), __no_instrument_function__)) static inline void
burin__check(const char *format, ...) BURIN__ALL_BAD;
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
static inline void burin__check(const char *format, ...)
{
	(void)format;
}

/* ---- the types of arguments ---------------------------------------------------------------------------- */

#ifdef __cplusplus
} /* extern "C" */
#include <burin/cxx.h>
extern "C" {
#else
#include <burin/c.h>
#endif

/* ---- spans --------------------------------------------------------------------------------------------- */

#ifndef BURIN_DISABLE
/* A BURIN_SCOPE: the site of its end, or NULL if the begin was off. */
#ifdef __cplusplus
struct burin__scope {
	struct burin_site *site = nullptr;
	burin__scope() = default;
	burin__scope(const burin__scope &) = delete;
	burin__scope &operator=(const burin__scope &) = delete;
	inline __attribute__((__always_inline__)) ~burin__scope();
};
#else
struct burin__scope {
	struct burin_site *site;
};
typedef struct burin__scope BURIN_SCOPE_is_a_declaration_put_it_between_braces;
#endif

BURIN__INLINE void burin__scope_leave(struct burin__scope *scope)
{
	uint64_t buffer[3];
	unsigned state;

	if (__builtin_expect(!scope->site, 1))
		return;
	state = BURIN__SWITCH(scope->site);
	if (state == 0)
		return;
	buffer[2] = 0;
	burin_emit(scope->site, state, buffer, 0);
}

#ifdef __cplusplus
inline burin__scope::~burin__scope()
{
	burin__scope_leave(this);
}
#endif
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#pragma GCC diagnostic pop

#endif
