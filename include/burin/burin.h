/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin.h - tracepoints for programs in C (C17) and C++ (C++17); manual: burin(3).
 *
 *	BURIN_TRACE("net.rx", "len=%u proto=%s", len, proto);
 *
 * is a complete tracepoint. Switched off, which it is until somebody outside asks for it, it costs two loads,
 * a test and a branch that is not taken; the arguments are not evaluated. Switched on, each argument is
 * evaluated once and stored with the type it has; nothing is formatted. Tracepoints may be used in any
 * thread, in signal handlers, in constructors and destructors, in shared objects, inline functions, lambdas
 * and templates.
 *
 * How it works. Every use of a macro leaves one `struct burin_site` in the section `burin_sites` of its
 * object (program or shared object), written by inline assembly since a variable with a section attribute
 * cannot live in a template or an inline function. The first site of an object also leaves an entry in its
 * list of constructors that hands the section to the library, and one in its list of destructors that takes
 * it back. The site points to the byte that is its switch.
 *
 * Names that begin with burin__ or BURIN__ are nobody's business but this file's.
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

#define BURIN__API    __attribute__((__visibility__("default"), __nothrow__))
#define BURIN__DATA   __attribute__((__visibility__("default")))
#define BURIN__INLINE static inline __attribute__((__always_inline__, __unused__))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what the library and the macros agree upon -------------------------------------------------------- */

/*
 * One place in the source. 8-aligned, a multiple of 8 bytes. Lives as long as the object that it is in. The
 * library alone changes it, in burin_object_join, burin_object_leave and burin_callback_set.
 */
struct burin_site {
	const unsigned char *state; /* the switch: 0 off, 1 on, 2 on with a check; a 0 until joined */
	const char *name;
	const char *format;
	const char *file;
	uint64_t types; /* enum wire_type, 4 bits per argument, the first lowest; see also stage.h */
	uint32_t line;
	uint8_t kind;  /* enum wire_kind: 0 event, 1 begin, 2 end, 3 counter */
	uint8_t level; /* 0..9, of BURIN_TRACE_LEVEL */
	uint16_t id;   /* 0 until registered */
	void *hook;    /* the library's */
};

/* One argument, as burin_emit_args takes it. Bytes take two: the pointer, then the length. */
union burin_arg {
	uint64_t u;    /* integers, extended to 64 bits by their sign; f32, f64: their bits; pointers */
	const void *p; /* str: the text or NULL; bytes: the first */
};

struct burin_bytes { /* what BURIN_BYTES makes */
	const void *pointer;
	size_t length; /* bytes */
};

/*
 * burin_object_join, burin_object_leave - an object's sites come and go. Called by the constructor and
 * destructor that the macros leave in each object; programs need not.
 * @begin, @end: the object's section burin_sites
 * Context: any thread; idempotent. Return: nothing; sites that cannot be registered stay off.
 */
BURIN__API void burin_object_join(struct burin_site *begin, struct burin_site *end);
BURIN__API void burin_object_leave(struct burin_site *begin, struct burin_site *end);

/*
 * burin_emit - record a payload that the site has packed.
 * @site: the site; its types are all of fixed size
 * @state: the switch's value as loaded, not 0
 * @buffer: 8-aligned, the caller's; 20 bytes of room, which burin_emit may use, then the payload, then
 *	zeros up to a multiple of 8. NULL if the record is known to be too large: it is counted as lost
 * @payload_bytes: bytes of the payload
 * Context: any thread, signal-safe. Return: nothing; losses are counted in the ring.
 */
BURIN__API void burin_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes);

/*
 * burin_emit_args - record arguments of any types, strings and byte arrays included.
 * @site, @state: as for burin_emit
 * @args: the caller's, in the order of site->types
 * Context: any thread, signal-safe. Return: nothing.
 */
BURIN__API void burin_emit_args(struct burin_site *site, unsigned state, const union burin_arg *args);

extern BURIN__DATA const unsigned char burin_off; /* always 0 */

/* ---- what programs may call besides the macros --------------------------------------------------------- */

/* Called when an event is passed, in the thread that passes it, before it is recorded. */
typedef void burin_callback(const struct burin_site *site, const void *payload, size_t bytes, void *data);

#ifndef BURIN_DISABLE
/*
 * burin_callback_set - call a function for every record of an event.
 * @name: the event's name, exactly; copied. It need not exist yet. A span's two events are NAME.begin and
 *	NAME.end
 * @fn: the function, or NULL to call none any more. It gets the site, the payload as recorded
 *	(docs/format.md, "Payload"), which is the caller's and ends with the call, and @data. It must not
 *	throw or longjmp. A tracepoint inside it is recorded but calls no function
 * @data: handed to @fn; the caller's, and must live until the callback has been taken away and calls have
 *	ended
 *
 * The function is called whether or not the event is switched on; whether it is recorded, its switch decides.
 * Other events cost nothing more. A call that has begun in another thread may still be running when this
 * function returns. One function per event: a later one replaces the earlier.
 *
 * Context: any thread, not signal-safe; may allocate.
 * Return: 0; -EINVAL: no valid name; -ENOMEM; -ENOTSUP: built with BURIN_DISABLE.
 */
BURIN__API int burin_callback_set(const char *name, burin_callback *fn, void *data);

/* burin_active - has this process a session, so that its events can be switched on? Context: any thread,
 * signal-safe. Return: 1 or 0. */
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
 * format: string literal as for printf, at most 1023 bytes; no `*`, no `%n`. `word=%u` names the field `word`
 * argument: at most 16; integers, bool, enums, floating point, pointers, strings, BURIN_BYTES
 * Context: any thread, signal-safe.
 */
#define BURIN_TRACE(...) BURIN__EVENT(0, "", BURIN__NOTHING, ~, __VA_ARGS__)

/* BURIN_TRACE_LEVEL(level, name [, format [, argument ...]]): an event of a level, from 0 (as BURIN_TRACE) to 9:
 * the higher, the finer the detail. Who switches events on can say up to which. */
#define BURIN_TRACE_LEVEL(level, ...) BURIN__EVENT(((level) << 8), "", BURIN__CHECK_LEVEL, level, __VA_ARGS__)

/* BURIN_BEGIN, BURIN_END(name [, format [, argument ...]]): the ends of a span; events NAME.begin and
 * NAME.end. */
#define BURIN_BEGIN(...) BURIN__EVENT(1, ".begin", BURIN__NOTHING, ~, __VA_ARGS__)
#define BURIN_END(...)   BURIN__EVENT(2, ".end", BURIN__NOTHING, ~, __VA_ARGS__)

/*
 * BURIN_SCOPE(name [, format [, argument ...]]): a span that ends when the enclosing block is left in
 * whatever way. The end is recorded only if the beginning was. A declaration: several in one block are fine.
 */
#define BURIN_SCOPE(...) BURIN__SCOPE(BURIN__JOIN(burin__scope_, __COUNTER__), __VA_ARGS__)

/* BURIN_COUNTER(name, value): a number that holds until the next. Recorded as 64-bit integer or double. A
 * statement. */
#define BURIN_COUNTER(name, value) BURIN__COUNTER(name, value)

/*
 * BURIN_BYTES(pointer, length): an argument for %p: the bytes themselves, cut at the session's limit for
 * strings.
 * pointer: any object pointer, the caller's; NULL records no bytes. length: in bytes
 */
#ifdef __cplusplus
#define BURIN_BYTES(pointer, length) burin__bytes((pointer), (size_t)(length))
#else
#define BURIN_BYTES(pointer, length) \
	burin__bytes((struct burin_bytes[1]){ { 0, 0 } }, (pointer), (size_t)(length))
#endif

/* ---- counting arguments -------------------------------------------------------------------------------- */

#define BURIN__JOIN_(a, b) a##b
#define BURIN__JOIN(a, b)  BURIN__JOIN_(a, b)

/* Of a name, a format and arguments: how many arguments; N: not even a format; X: too many. */
#define BURIN__PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
	a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, pick, ...) pick
#define BURIN__COUNT(...) BURIN__PICK(__VA_ARGS__, X, X, X, X, X, X, X, X, X, X, X, X, X, X, 16, 15, 14, 13, 12, 11, \
	10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, N, ~)
/* The same, coarser. */
#define BURIN__FORM(...) BURIN__PICK(__VA_ARGS__, X, X, X, X, X, X, X, X, X, X, X, X, X, X, M, M, M, M, M, M, M, M, M, \
	M, M, M, M, M, M, M, 0, N, ~)

#define BURIN__EVENT(kind, suffix, then, with, ...) \
	BURIN__JOIN(BURIN__EVENT_, BURIN__FORM(__VA_ARGS__)) \
	(BURIN__COUNT(__VA_ARGS__), kind, suffix, then, with, __VA_ARGS__)
#define BURIN__EVENT_N(n, kind, suffix, then, with, name) \
	BURIN__POINT(0, kind, name, suffix, "", BURIN__NOTHING, BURIN__DECLARE, BURIN__PUT, then, with, ~)
#define BURIN__EVENT_0(n, kind, suffix, then, with, name, format) \
	BURIN__POINT(0, kind, name, suffix, format, BURIN__CHECK, BURIN__DECLARE, BURIN__PUT, then, with, ~)
#define BURIN__EVENT_M(n, kind, suffix, then, with, name, format, ...) \
	BURIN__POINT(n, kind, name, suffix, format, BURIN__CHECK, BURIN__DECLARE, BURIN__PUT, then, with, __VA_ARGS__)
#define BURIN__EVENT_X(n, ...) BURIN__ASSERT(0, "Burin: a tracepoint takes at most 16 arguments")

#define BURIN__NOTHING(...)
#define BURIN__CHECK_LEVEL(level, name) \
	BURIN__ASSERT((level) >= 0 && (level) <= 9, "Burin: a level is a constant from 0 to 9");

/* m(k, k - 1, argument) for each argument k, from 1. */
#define BURIN__EACH_0(m, none)
#define BURIN__EACH_1(m, a) m(1, 0, a)
#define BURIN__EACH_2(m, a, b) BURIN__EACH_1(m, a) m(2, 1, b)
#define BURIN__EACH_3(m, a, b, c) BURIN__EACH_2(m, a, b) m(3, 2, c)
#define BURIN__EACH_4(m, a, b, c, d) BURIN__EACH_3(m, a, b, c) m(4, 3, d)
#define BURIN__EACH_5(m, a, b, c, d, e) BURIN__EACH_4(m, a, b, c, d) m(5, 4, e)
#define BURIN__EACH_6(m, a, b, c, d, e, f) BURIN__EACH_5(m, a, b, c, d, e) m(6, 5, f)
#define BURIN__EACH_7(m, a, b, c, d, e, f, g) BURIN__EACH_6(m, a, b, c, d, e, f) m(7, 6, g)
#define BURIN__EACH_8(m, a, b, c, d, e, f, g, h) BURIN__EACH_7(m, a, b, c, d, e, f, g) m(8, 7, h)
#define BURIN__EACH_9(m, a, b, c, d, e, f, g, h, i) BURIN__EACH_8(m, a, b, c, d, e, f, g, h) m(9, 8, i)
#define BURIN__EACH_10(m, a, b, c, d, e, f, g, h, i, j) BURIN__EACH_9(m, a, b, c, d, e, f, g, h, i) m(10, 9, j)
#define BURIN__EACH_11(m, a, b, c, d, e, f, g, h, i, j, k) BURIN__EACH_10(m, a, b, c, d, e, f, g, h, i, j) m(11, 10, k)
#define BURIN__EACH_12(m, a, b, c, d, e, f, g, h, i, j, k, l) BURIN__EACH_11(m, a, b, c, d, e, f, g, h, i, j, k) m(12, 11, l)
#define BURIN__EACH_13(m, a, b, c, d, e, f, g, h, i, j, k, l, n) BURIN__EACH_12(m, a, b, c, d, e, f, g, h, i, j, k, l) m(13, 12, n)
#define BURIN__EACH_14(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o) BURIN__EACH_13(m, a, b, c, d, e, f, g, h, i, j, k, l, n) m(14, 13, o)
#define BURIN__EACH_15(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o, p) BURIN__EACH_14(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o) m(15, 14, p)
#define BURIN__EACH_16(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o, p, q) BURIN__EACH_15(m, a, b, c, d, e, f, g, h, i, j, k, l, n, o, p) m(16, 15, q)

/* ---- one tracepoint ------------------------------------------------------------------------------------ */

/* The arguments also stand where only their types matter, which clang remarks upon. */
#ifdef __clang__
#define BURIN__QUIET \
	_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wunevaluated-expression\"")
#define BURIN__LOUD _Pragma("clang diagnostic pop")
#else
#define BURIN__QUIET
#define BURIN__LOUD
#endif

#ifdef __cplusplus
#define BURIN__ASSERT(condition, text) static_assert(condition, text)
#else
#define BURIN__ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Bytes of a type in the payload, 0 if they vary: a table of 16 nibbles. */
#define BURIN__BYTES(t) ((int)(0x1008848421842110ull >> (4 * (t)) & 15))

/* Argument k: its type, the offset of its bytes in the buffer, its place among the burin_args; whether there
 * is text. */
#define BURIN__DECLARE_AS(k, before, type) \
	burin__type_##k = (type), \
	burin__offset_##k = burin__offset_##before + BURIN__BYTES(burin__type_##before), \
	burin__place_##k = burin__place_##before + 1 + (burin__type_##before == 14), \
	burin__text_##k = burin__text_##before || burin__type_##k == 13 || burin__type_##k == 14,
#define BURIN__DECLARE(k, before, x)        BURIN__DECLARE_AS(k, before, BURIN__TYPE(x))
#define BURIN__DECLARE_NUMBER(k, before, x) BURIN__DECLARE_AS(k, before, BURIN__NUMBER(x))

/* What the assertions need, and the rest of the record's layout: n is the number of arguments. */
#define BURIN__LAYOUT(n, declare, ...) \
	enum { \
		burin__type_0 = 0, burin__offset_0 = 20, burin__place_0 = -1, burin__text_0 = 0, \
		BURIN__EACH_##n(declare, __VA_ARGS__) \
		burin__payload = burin__offset_##n + BURIN__BYTES(burin__type_##n) - 20, \
		burin__places = burin__place_##n + 1 + (burin__type_##n == 14) + (n == 0), \
		burin__has_text = burin__text_##n, \
		burin__words = burin__has_text ? 3 : (burin__payload + 27) / 8 \
	}; \
	BURIN__EACH_##n(BURIN__ASSERT_TYPE, __VA_ARGS__)
#define BURIN__ASSERT_TYPE(k, before, x) \
	BURIN__ASSERT(burin__type_##k != 0, "Burin cannot record an argument of this type");
#define BURIN__ASSERT_NAME(name, suffix) \
	BURIN__ASSERT(sizeof("" name "" suffix) > sizeof(suffix) && sizeof("" name "" suffix) <= 128, \
		      "Burin: an event's name has 1 to 127 bytes")

/* The compiler's own check against printf's rules; never evaluated. No literal of ours before the user's
 * format: in an installed header the compiler would take the format for the system's and be silent. */
#define BURIN__CHECK(n, format, ...) \
	BURIN__ASSERT(sizeof("" format "") <= 1024, "Burin: a format has at most 1023 bytes"); \
	__extension__ BURIN__ASSERT(!BURIN__REFUSED("" format ""), "Burin: a format may contain neither %n nor *"); \
	if (0) \
		burin__check(format BURIN__EACH_##n(BURIN__SHOW, __VA_ARGS__));
#define BURIN__SHOW(k, before, x)           , BURIN__SHOWN(x)
#define BURIN__CHECK_NUMBER(n, format, value) \
	if (0) \
		(void)(value);
#define BURIN__NUMBER_FORMAT (burin__type_1 == 5 ? "value=%lld" : burin__type_1 == 9 ? "value=%llu" : "value=%g")

#define BURIN__TYPES(k, before, x)      | (unsigned long long)burin__type_##k << (4 * (k - 1))
#define BURIN__PUT(k, before, x)        BURIN__SET(x)(&burin__args[burin__place_##k], (x)),
#define BURIN__PUT_NUMBER(k, before, x) BURIN__SET_NUMBER(x)(&burin__args[burin__place_##k], (x)),
#define BURIN__PACK(k, before, x) \
	burin__pack(burin__buffer, burin__offset_##k, BURIN__BYTES(burin__type_##k), burin__args[burin__place_##k].u),

#ifndef BURIN_DISABLE

/* The record is one full expression, so that what the arguments point to lives until it is recorded. One of
 * its two calls is compiled. */
#define BURIN__POINT(n, kind, name, suffix, format, check, declare, put, then, with, ...) \
	do { \
		BURIN__QUIET \
		BURIN__LAYOUT(n, declare, __VA_ARGS__) \
		BURIN__ASSERT_NAME(name, suffix); \
		check(n, format, __VA_ARGS__) \
		struct burin_site *burin__site; \
		BURIN__SITE(burin__site, "" name "" suffix, format, kind, (0ull BURIN__EACH_##n(BURIN__TYPES, __VA_ARGS__))); \
		const unsigned burin__state = burin__switch(burin__site); \
		if (__builtin_expect(burin__state != 0, 0)) { \
			union burin_arg burin__args[burin__places]; \
			uint64_t burin__buffer[burin__words]; \
			(void)(BURIN__EACH_##n(put, __VA_ARGS__) burin__has_text ? \
				burin_emit_args(burin__site, burin__state, burin__args) : \
				(burin__buffer[2] = 0, BURIN__EACH_##n(BURIN__PACK, __VA_ARGS__) \
				 burin_emit(burin__site, burin__state, burin__buffer, (size_t)burin__payload))); \
			then(with, name) \
		} \
		BURIN__LOUD \
	} while (0)

#define BURIN__SCOPE(var, ...) \
	BURIN__SCOPE_VARIABLE(var); \
	BURIN__EVENT(1, ".begin", BURIN__SCOPE_OPEN, var, __VA_ARGS__)
#define BURIN__SCOPE_OPEN(var, name) BURIN__SITE(var.site, "" name ".end", "", 2, 0ull);

#else /* BURIN_DISABLE: check, and let the arguments count as used */

#define BURIN__POINT(n, kind, name, suffix, format, check, declare, put, then, with, ...) \
	do { \
		BURIN__QUIET \
		BURIN__LAYOUT(n, declare, __VA_ARGS__) \
		BURIN__ASSERT_NAME(name, suffix); \
		check(n, format, __VA_ARGS__) \
		(void)(burin__places + burin__words); \
		BURIN__LOUD \
	} while (0)

#define BURIN__SCOPE(var, ...) BURIN__EVENT(1, ".begin", BURIN__NOTHING, var, __VA_ARGS__)

#endif

#define BURIN__COUNTER(name, value) \
	BURIN__POINT(1, 3, name, "", BURIN__NUMBER_FORMAT, BURIN__CHECK_NUMBER, BURIN__DECLARE_NUMBER, BURIN__PUT_NUMBER, \
		     BURIN__NOTHING, ~, value)

/*
 * The site itself. The operands are constants, which `%c` prints bare; the type code comes in halves because
 * gcc prints nothing that way that does not fit an instruction. The label is numeric and used at once, so any
 * number of copies of this code, which inlining and unrolling make, each have their own site. Once per object
 * file: the entries in the lists of constructors and destructors, in a COMDAT group so that the linker keeps
 * one pair per object. Priority 101 is the earliest that is not reserved, and makes the destructor the last.
 */
#if defined(__x86_64__)
#define BURIN__SYMBOL "i"
#define BURIN__LOCATE "lea {771b(%%rip), %[site]|%[site], [rip + 771b]}\n"
#else
#define BURIN__SYMBOL "S"
#define BURIN__LOCATE "adrp %[site], 771b\nadd %[site], %[site], :lo12:771b\n"
#endif

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
		  [file] BURIN__SYMBOL(__FILE__), [low] "i"((int)(uint32_t)(types_)), \
		  [high] "i"((int)(uint32_t)((types_) >> 32)), [line] "i"(__LINE__), \
		  [kind] "i"(kind_), [join] BURIN__SYMBOL(burin__object_join), \
		  [leave] BURIN__SYMBOL(burin__object_leave))

/* clang-format on */

#ifndef BURIN_DISABLE
/* What the switch of a site points to until the library joins it. Local, so that it needs no symbol at load
 * time. */
__attribute__((__unused__)) static const unsigned char burin__off = 0;

extern struct burin_site __start_burin_sites[] __attribute__((__weak__, __visibility__("hidden")));
extern struct burin_site __stop_burin_sites[] __attribute__((__weak__, __visibility__("hidden")));

__attribute__((__unused__)) static void burin__object_join(void)
{
	burin_object_join(__start_burin_sites, __stop_burin_sites);
}

__attribute__((__unused__)) static void burin__object_leave(void)
{
	burin_object_leave(__start_burin_sites, __stop_burin_sites);
}
#endif

/* The switch. Volatile: somebody else's store, at any time; it says nothing about any other memory. */
BURIN__INLINE unsigned burin__switch(const struct burin_site *site)
{
#if defined(__x86_64__)
	const unsigned char *state = *(const unsigned char *const volatile *)&site->state;
#else
	/* Acquire: whoever sees the library's pointer sees the id. Pairs with the release in
	 * burin_object_join. */
	const unsigned char *state = __atomic_load_n(&site->state, __ATOMIC_ACQUIRE);
#endif
	return *(const volatile unsigned char *)state;
}

/*
 * Puts the low `bytes` bytes of a value at an offset, in whole words: what is stored is then loaded as it was
 * stored when the record is copied, and the bytes after the last argument are zero. The arguments follow each
 * other from offset 20 on, so the one that reaches a word first assigns it. All but the value is constant.
 */
BURIN__INLINE void burin__pack(uint64_t *buffer, int offset, int bytes, uint64_t value)
{
	int word = offset / 8, shift = offset % 8 * 8;

	if (bytes < 8)
		value &= ((uint64_t)1 << 8 * bytes % 64) - 1;
	if (shift == 0 || offset == 20)
		buffer[word] = value << shift;
	else
		buffer[word] |= value << shift;
	if (shift + 8 * bytes > 64)
		buffer[word + 1] = value >> (64 - shift) % 64;
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#endif
/* Never called: the compiler's check of a format. */
#if defined(__clang__) && !defined(__cplusplus)
/* clang-format off */
/* C has no constant expression that walks a string, but this attribute takes one that steps from one '%' to
 * the next; where there is none, the condition is not constant and says nothing. */
#define BURIN__BAD(p) \
	__attribute__((__diagnose_if__((p)[1] == 'n' || (p)[1] == '*' || \
		((p)[1] == '.' && (p)[2] == '*') || \
		(((p)[1] == '-' || (p)[1] == '0' || (p)[1] == '+' || (p)[1] == ' ' || (p)[1] == '#') && (p)[2] == '*') || \
		(((p)[1] == 'h' || (p)[1] == 'l' || (p)[1] == 'j' || (p)[1] == 'z' || (p)[1] == 't') && \
		 ((p)[2] == 'n' || ((p)[2] == (p)[1] && (p)[3] == 'n'))), \
		"Burin: a format may contain neither %n nor *", "error")))
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
/* clang-format on */
#else
#define BURIN__ALL_BAD
#endif
__attribute__((__format__(__printf__, 1, 2), __unused__)) static inline void burin__check(const char *format,
											  ...) BURIN__ALL_BAD;
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
static inline void burin__check(const char *format, ...)
{
	(void)format;
}

/* ---- the types of arguments, in C ---------------------------------------------------------------------- */

#ifndef __cplusplus

__extension__ typedef __int128 burin__i128;
__extension__ typedef unsigned __int128 burin__u128;

/* clang-format off */

/*
 * `default` meets pointers and bit-fields (whose type gcc names differently); of those two, `1 ? x : 0LL`
 * keeps the pointer's type and makes the bit-field a long long. It does not accept structs.
 */
#define BURIN__CHOOSE(x, b, c, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, ld, str, bytes, ptr, none) \
	_Generic((x), _Bool: b, char: c, signed char: i8, short: i16, int: i32, long: i64, long long: i64, \
		unsigned char: u8, unsigned short: u16, unsigned: u32, unsigned long: u64, unsigned long long: u64, \
		float: f32, double: f64, long double: ld, \
		char *: str, const char *: str, volatile char *: str, const volatile char *: str, \
		signed char *: str, const signed char *: str, volatile signed char *: str, \
		const volatile signed char *: str, \
		unsigned char *: str, const unsigned char *: str, volatile unsigned char *: str, \
		const volatile unsigned char *: str, \
		struct burin_bytes *: bytes, \
		default: _Generic(1 ? (x) : 0LL, long long: i64, burin__i128: none, burin__u128: none, default: ptr))
#define BURIN__TYPE(x) BURIN__CHOOSE(x, 1, 15, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 13, 14, 12, 0)
#define BURIN__SET(x) \
	BURIN__CHOOSE(x, burin__set_u, burin__set_i, burin__set_i, burin__set_i, burin__set_i, burin__set_i, \
		burin__set_u, burin__set_u, burin__set_u, burin__set_u, burin__set_float, burin__set_double, \
		burin__set_long_double, burin__set_pointer, burin__set_bytes, burin__set_pointer, burin__set_i)
#define BURIN__SHOWN(x) _Generic((x), struct burin_bytes *: (const void *)0, default: (x))

#define BURIN__CHOOSE_NUMBER(x, i, u, f, ld, none) \
	_Generic(+(x), float: f, double: f, long double: ld, unsigned: u, unsigned long: u, unsigned long long: u, \
		burin__i128: none, burin__u128: none, default: i)
#define BURIN__NUMBER(x) BURIN__CHOOSE_NUMBER(x, 5, 9, 11, 11, 0)
#define BURIN__SET_NUMBER(x) \
	BURIN__CHOOSE_NUMBER(x, burin__set_i, burin__set_u, burin__set_double, burin__set_long_double, burin__set_i)

/* Exact, but for odd mixtures of flags and widths, which are refused when the event is registered. */
#if defined(__clang__)
#define BURIN__REFUSED(format) 0
#else
#define BURIN__HAS(format, what) (__builtin_strstr(format, what) != 0)
#define BURIN__REFUSED(format) \
	(!BURIN__HAS(format, "%%") && (BURIN__HAS(format, "%*") || BURIN__HAS(format, "%-*") || \
		BURIN__HAS(format, "%0*") || BURIN__HAS(format, "%+*") || BURIN__HAS(format, "% *") || \
		BURIN__HAS(format, "%#*") || BURIN__HAS(format, "%.*") || BURIN__HAS(format, "%n") || \
		BURIN__HAS(format, "%hn") || BURIN__HAS(format, "%hhn") || BURIN__HAS(format, "%ln") || \
		BURIN__HAS(format, "%lln") || BURIN__HAS(format, "%jn") || BURIN__HAS(format, "%zn") || \
		BURIN__HAS(format, "%tn")))
#endif

#define BURIN__SCOPE_VARIABLE(var) struct burin__scope var __attribute__((__cleanup__(burin__scope_leave))) = { 0 }

/* clang-format on */

/* clang-format off */
BURIN__INLINE void burin__set_i(union burin_arg *arg, long long value) { arg->u = (uint64_t)value; }
BURIN__INLINE void burin__set_u(union burin_arg *arg, unsigned long long value) { arg->u = value; }
BURIN__INLINE void burin__set_pointer(union burin_arg *arg, const volatile void *value) { arg->u = (uintptr_t)value; }
BURIN__INLINE void burin__set_double(union burin_arg *arg, double value) { __builtin_memcpy(&arg->u, &value, 8); }
BURIN__INLINE void burin__set_long_double(union burin_arg *arg, long double value) { burin__set_double(arg, (double)value); }
/* clang-format on */

BURIN__INLINE void burin__set_float(union burin_arg *arg, float value)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	arg->u = bits;
}

/* Fills in what BURIN_BYTES made in the caller's block. */
BURIN__INLINE struct burin_bytes *burin__bytes(struct burin_bytes *bytes, const volatile void *pointer,
					       size_t length)
{
	bytes->pointer = (const void *)(uintptr_t)pointer;
	bytes->length = length;
	return bytes;
}

BURIN__INLINE void burin__set_bytes(union burin_arg *arg, const struct burin_bytes *value)
{
	arg[0].u = (uintptr_t)value->pointer;
	arg[1].u = value->length;
}

#endif /* C */

/* ---- the types of arguments, in C++ -------------------------------------------------------------------- */

#ifdef __cplusplus
} /* extern "C" */

/* No header is included here, so that this one may be included inside extern "C". */
extern "C++" {

/* clang-format off */
#define BURIN__MEMBER static inline __attribute__((__always_inline__))

BURIN__INLINE uint64_t burin__bits(float value)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

BURIN__INLINE uint64_t burin__bits(double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

BURIN__INLINE uint64_t burin__bits(long double value) { return burin__bits((double)value); }

/* For each type: its code in a record (0: none) and as a counter. First what no line below knows: enums are
 * what they are made of, the rest cannot be recorded. */
template <class T, bool is_enum> struct burin__other {
	enum { type = 0, number = 0 };
	static void set(union burin_arg *, const T &) {}
};
template <class T> struct burin__traits : burin__other<T, __is_enum(T)> {};
template <class T> struct burin__other<T, true> {
	using integer = burin__traits<__underlying_type(T)>;
	enum { type = integer::type, number = integer::number };
	BURIN__MEMBER void set(union burin_arg *arg, T value) { integer::set(arg, static_cast<__underlying_type(T)>(value)); }
	BURIN__MEMBER void count(union burin_arg *arg, T value) { integer::count(arg, static_cast<__underlying_type(T)>(value)); }
};

#define BURIN__TRAITS(T, code, wide, convert) \
	template <> struct burin__traits<T> { \
		enum { type = code, number = wide }; \
		BURIN__MEMBER void set(union burin_arg *arg, T value) { arg->u = convert(value); } \
		BURIN__MEMBER void count(union burin_arg *arg, T value) \
		{ \
			if constexpr (wide == 11) \
				arg->u = burin__bits((double)value); \
			else \
				arg->u = convert(value); \
		} \
	}
BURIN__TRAITS(bool, 1, 9, (uint64_t));
BURIN__TRAITS(char, 15, 5, (uint64_t)(long long));
BURIN__TRAITS(signed char, 2, 5, (uint64_t)(long long));
BURIN__TRAITS(short, 3, 5, (uint64_t)(long long));
BURIN__TRAITS(int, 4, 5, (uint64_t)(long long));
BURIN__TRAITS(long, 5, 5, (uint64_t)(long long));
BURIN__TRAITS(long long, 5, 5, (uint64_t)(long long));
BURIN__TRAITS(unsigned char, 6, 9, (uint64_t));
BURIN__TRAITS(unsigned short, 7, 9, (uint64_t));
BURIN__TRAITS(unsigned, 8, 9, (uint64_t));
BURIN__TRAITS(unsigned long, 9, 9, (uint64_t));
BURIN__TRAITS(unsigned long long, 9, 9, (uint64_t));
BURIN__TRAITS(wchar_t, ((wchar_t)-1 < 0 ? 4 : 8), ((wchar_t)-1 < 0 ? 5 : 9), (uint64_t)(long long));
BURIN__TRAITS(char16_t, 7, 9, (uint64_t));
BURIN__TRAITS(char32_t, 8, 9, (uint64_t));
BURIN__TRAITS(float, 10, 11, burin__bits);
BURIN__TRAITS(double, 11, 11, burin__bits);
BURIN__TRAITS(long double, 11, 11, burin__bits);

template <class T> struct burin__pointed { enum { type = 12 }; };
template <class T> struct burin__pointed<const T> : burin__pointed<T> {};
template <class T> struct burin__pointed<volatile T> : burin__pointed<T> {};
template <class T> struct burin__pointed<const volatile T> : burin__pointed<T> {};
template <> struct burin__pointed<char> { enum { type = 13 }; };
template <> struct burin__pointed<signed char> : burin__pointed<char> {};
template <> struct burin__pointed<unsigned char> : burin__pointed<char> {};
#ifdef __cpp_char8_t
BURIN__TRAITS(char8_t, 6, 9, (uint64_t));
template <> struct burin__pointed<char8_t> : burin__pointed<char> {};
#endif
template <class T> struct burin__traits<T *> {
	enum { type = burin__pointed<T>::type, number = 0 };
	BURIN__MEMBER void set(union burin_arg *arg, T *value) { arg->u = reinterpret_cast<uintptr_t>(value); }
};
template <> struct burin__traits<decltype(nullptr)> {
	enum { type = 12, number = 0 };
	BURIN__MEMBER void set(union burin_arg *arg, decltype(nullptr)) { arg->u = 0; }
};
template <> struct burin__traits<burin_bytes> {
	enum { type = 14, number = 0 };
	BURIN__MEMBER void set(union burin_arg *arg, burin_bytes value)
	{
		arg[0].u = reinterpret_cast<uintptr_t>(value.pointer);
		arg[1].u = value.length;
	}
};
/* clang-format on */

BURIN__INLINE burin_bytes burin__bytes(const volatile void *pointer, size_t length)
{
	return burin_bytes{ const_cast<const void *>(pointer), length };
}

/* By value: arrays decay, qualifiers and bit-fields vanish. */
template <class T> burin__traits<T> burin__traits_of(T);

template <class T> BURIN__INLINE void burin__set(union burin_arg *arg, T value)
{
	burin__traits<T>::set(arg, value);
}

template <class T> BURIN__INLINE void burin__count(union burin_arg *arg, T value)
{
	burin__traits<T>::count(arg, value);
}

/* What printf would get: the number behind an enum class; an address for bytes. */
/* clang-format off */
template <class T, bool is_enum> struct burin__printed_as { using type = T; };
template <class T> struct burin__printed_as<T, true> { using type = __underlying_type(T); };
template <class T> struct burin__printed : burin__printed_as<T, __is_enum(T)> {};
/* clang-format on */
template <class T> BURIN__INLINE typename burin__printed<T>::type burin__shown(T value)
{
	return static_cast<typename burin__printed<T>::type>(value);
}
BURIN__INLINE const void *burin__shown(burin_bytes)
{
	return nullptr;
}
BURIN__INLINE const void *burin__shown(decltype(nullptr))
{
	return nullptr;
}

/* Has a format %n or `*`? */
constexpr bool burin__refused(const char *format)
{
	while (*format) {
		if (*format++ != '%')
			continue;
		while (*format && __builtin_strchr("-+ #0123456789.'hljztLq", *format))
			format++;
		if (*format == '*' || *format == 'n')
			return true;
		if (*format)
			format++;
	}
	return false;
}

/* clang-format off */
#define BURIN__TYPE(x) decltype(burin__traits_of(x))::type
#define BURIN__SET(x) burin__set
#define BURIN__SHOWN(x) burin__shown(x)
#define BURIN__NUMBER(x) decltype(burin__traits_of(x))::number
#define BURIN__SET_NUMBER(x) burin__count
#define BURIN__REFUSED(format) burin__refused(format)
#define BURIN__SCOPE_VARIABLE(var) struct burin__scope var
/* clang-format on */

} /* extern "C++" */

extern "C" {
#endif /* C++ */

/* ---- spans --------------------------------------------------------------------------------------------- */

#ifndef BURIN_DISABLE
/* The end that a BURIN_SCOPE owes: its site, or NULL. */
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
#endif

BURIN__INLINE void burin__scope_leave(struct burin__scope *scope)
{
	uint64_t buffer[3];
	unsigned state;

	if (__builtin_expect(!scope->site, 1))
		return;
	state = burin__switch(scope->site);
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

#endif
