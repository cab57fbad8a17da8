/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Each macro of burin.h in a user's file, in C and, compiled as C++, in templates: headers.test compiles it with strict warnings.
 * Every warning would be one of the headers, so this file itself does nothing that a compiler could warn about.
 */
#include <burin/burin.h>
#include <burin/calls.h>
#include <burin/context.h>
#include <burin/control.h>
#include <burin/profile.h>
#include <burin/read.h>
#include <burin/version.h>
/* Twice, and what includes another one behind it. */
#include <burin/burin.h>
#include <burin/calls.h>

#ifdef __cplusplus
#include <string>
#include <string_view>
#include <tuple>
#define NONE	    nullptr
#define TO(type, x) static_cast<type>(x)
#else
#include <stdbool.h>
#define NONE	    NULL
#define TO(type, x) ((type)(x))
#endif

enum colour {
	RED,
	GREEN = 7
};

enum direction {
	BACK = -1,
	FORTH = 1
};

struct point {
	int x, y;
	unsigned flags : 3;
	int small : 5;
	bool set : 1;
	char name[16];
};

BURIN_ENUM(colours, { "red", RED }, { "green", GREEN });
BURIN_ENUM(directions, { "back", BACK }, { "forth", FORTH }, { "none", 0 });

static void integers(bool flag, char letter, signed char tiny, unsigned char octet, short few,
		     unsigned short port);
static void integers(bool flag, char letter, signed char tiny, unsigned char octet, short few,
		     unsigned short port)
{
	const volatile int shared = 3;
	const int constant = 4;

	BURIN_TRACE("u.none");
	BURIN_TRACE("u.text", "no arguments, 100%%");
	BURIN_TRACE("u.small", "%d %c %hhd %hhu %hd %hu", flag, letter, tiny, octet, few, port);
	BURIN_TRACE("u.bool", "%d", flag);
	BURIN_TRACE("u.char", "%c", letter);
	BURIN_TRACE("u.schar", "%hhd", tiny);
	BURIN_TRACE("u.uchar", "%hhu", octet);
	BURIN_TRACE("u.short", "%hd", few);
	BURIN_TRACE("u.ushort", "%hu", port);
	BURIN_TRACE("u.qualified", "%d %d", shared, constant);
	BURIN_TRACE("u.literals", "%d %u %ld %lu %lld %llu %c", 1, 1u, 1l, 1ul, 1ll, 1ull, 'x');
	BURIN_TRACE("u.computed", "%d %d", few + 1, flag ? 1 : 0);
	BURIN_COUNTER("u.counter", few);
	BURIN_COUNTER("u.counter2", port);
	BURIN_COUNTER("u.counter3", flag);
	BURIN_COUNTER("u.counter4", letter);
}

static void wide(int some, unsigned mask, long ticks, unsigned long size, long long ns,
		 unsigned long long bits);
static void wide(int some, unsigned mask, long ticks, unsigned long size, long long ns,
		 unsigned long long bits)
{
	const uint64_t id = size;
	const int64_t when = ns;
	const size_t bytes = size;

	BURIN_TRACE("u.wide", "%d %u %ld %lu %lld %llu", some, mask, ticks, size, ns, bits);
	BURIN_TRACE("u.int", "%d", some);
	BURIN_TRACE("u.unsigned", "%u", mask);
	BURIN_TRACE("u.long", "%ld", ticks);
	BURIN_TRACE("u.ulong", "%lu", size);
	BURIN_TRACE("u.llong", "%lld", ns);
	BURIN_TRACE("u.ullong", "%llu", bits);
	BURIN_TRACE("u.stdint", "%zu", bytes);
	BURIN_TRACE("u.sixteen", "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		    13, 14, 15, some);
	BURIN_TRACE("u.shift", "%d%c%llx%hd%llx%c", some, TO(char, 1), bits, TO(short, 2), bits, TO(char, 3));
	BURIN_COUNTER("u.some", some);
	BURIN_COUNTER("u.mask", mask);
	BURIN_COUNTER("u.ticks", ticks);
	BURIN_COUNTER("u.size", size);
	BURIN_COUNTER("u.ns", ns);
	BURIN_COUNTER("u.bits", bits);
	BURIN_COUNTER("u.id", id);
	BURIN_COUNTER("u.when", when);
}

static void floats(float ratio, double load, long double exact);
static void floats(float ratio, double load, long double exact)
{
	BURIN_TRACE("u.floats", "%f %g %Lg", TO(double, ratio), load, exact);
	BURIN_TRACE("u.float", "%f", ratio);
	BURIN_TRACE("u.double", "%f", load);
	BURIN_TRACE("u.long_double", "%Lf", exact);
	BURIN_COUNTER("u.ratio", ratio);
	BURIN_COUNTER("u.load", load);
	BURIN_COUNTER("u.exact", exact);
}

static void enums(enum colour colour, enum direction direction);
static void enums(enum colour colour, enum direction direction)
{
	const enum direction both[2] = { BACK, FORTH };

	BURIN_TRACE("u.enum", "%u{colours} %d{directions}", colour, direction);
	BURIN_TRACE("u.colour", "%u", colour);
	BURIN_TRACE("u.direction", "%d", direction);
	BURIN_TRACE("u.enumerator", "%d", BACK);
	BURIN_TRACE("u.directions", "%d{directions}", BURIN_ARRAY(both, 2));
	BURIN_COUNTER("u.colour_now", colour);
	BURIN_COUNTER("u.direction_now", direction);
}

static void pointers(void *any, const void *fixed, struct point *point, const struct point *where,
		     const char *text);
static void pointers(void *any, const void *fixed, struct point *point, const struct point *where,
		     const char *text)
{
	char array[8] = "array";
	const char letters[] = "letters";
	const unsigned char *octets = TO(const unsigned char *, fixed);
	const int length = 3;
	const size_t bytes = sizeof(*where);

	BURIN_TRACE("u.pointers", "%p %p %p %p", any, fixed, TO(void *, point), TO(const void *, where));
	BURIN_TRACE("u.any", "%p", any);
	BURIN_TRACE("u.fixed", "%p", fixed);
	BURIN_TRACE("u.null", "%p", NONE);
	BURIN_TRACE("u.strings", "%s %s %s %s %s", text, array, letters, "literal", point->name);
	BURIN_TRACE("u.string", "%s", text);
	BURIN_TRACE("u.counted", "%.*s %d", length, text, length);
	BURIN_TRACE("u.members", "%d %d %s", where->x, point->y, where->name);
	BURIN_TRACE("u.bits", "%d %d", point->small, point->set);
	BURIN_COUNTER("u.flags", where->flags);
	BURIN_COUNTER("u.small", point->small);
	BURIN_TRACE("u.bytes", "%p", BURIN_BYTES(where, bytes));
	BURIN_TRACE("u.bytes2", "%p %p %p", BURIN_BYTES(where, sizeof(*where)), BURIN_BYTES(octets, length),
		    BURIN_BYTES(text, length));
	BURIN_TRACE("u.no_bytes", "%p %p", BURIN_BYTES(NONE, 0), BURIN_BYTES(array, 4u));
}

static void arrays(const int *numbers, int count, size_t size, double *reals, volatile short *shorts);
static void arrays(const int *numbers, int count, size_t size, double *reals, volatile short *shorts)
{
	static const bool bools[2] = { true, false };
	static const char chars[2] = { 'a', 'b' };
	static const signed char tiny[1] = { -1 };
	static const unsigned char octets[1] = { 1 };
	static const unsigned short ports[1] = { 80 };
	static const unsigned masks[1] = { 1 };
	static const long longs[1] = { 1 };
	static const unsigned long sizes[1] = { 1 };
	static const long long times[1] = { 1 };
	static const unsigned long long bits[1] = { 1 };
	static const float ratios[1] = { 1.0f };

	BURIN_TRACE("u.array", "%d %d %g %hd", BURIN_ARRAY(numbers, count), BURIN_ARRAY(numbers, size),
		    BURIN_ARRAY(reals, 2), BURIN_ARRAY(shorts, 1));
	BURIN_TRACE("u.array2", "%d %c %hhd %hhu %hu %u", BURIN_ARRAY(bools, 2), BURIN_ARRAY(chars, 2),
		    BURIN_ARRAY(tiny, 1), BURIN_ARRAY(octets, 1), BURIN_ARRAY(ports, 1),
		    BURIN_ARRAY(masks, 1));
	BURIN_TRACE("u.array3", "%ld %lu %lld %llu %f", BURIN_ARRAY(longs, 1), BURIN_ARRAY(sizes, 1),
		    BURIN_ARRAY(times, 1), BURIN_ARRAY(bits, 1), BURIN_ARRAY(ratios, 1));
}

#define LOG(number)	   BURIN_TRACE("u.log", "%d", number)
#define LOG_ANY(name, ...) BURIN_TRACE("u." name, __VA_ARGS__)
#define LOG_BLOCK(number)                                \
	do {                                             \
		BURIN_SCOPE("u.block", "%d", number);    \
		LOG(number);                             \
		BURIN_COUNTER("u.block_number", number); \
	} while (0)

static uint64_t spans_id(int number);
static uint64_t spans_id(int number)
{
	return TO(uint64_t, number);
}

static int spans(int number);
static int spans(int number)
{
	BURIN_SCOPE("u.function", "%d", number);
	BURIN_SCOPE("u.no_arguments");
	BURIN_BEGIN("u.span", "%d", number);
	BURIN_BEGIN("u.bare");
	LOG(number);
	LOG_ANY("any", "%d %s", number, "text");
	LOG_BLOCK(number);
	for (int i = 0; i < 2; i++)
		BURIN_TRACE("u.loop", "%d", i);
	for (int i = 0; i < 2; i++) {
		BURIN_SCOPE("u.turn");
		BURIN_TRACE_LEVEL(3, "u.level", "%d", i);
		BURIN_TRACE_LEVEL(0u, "u.level0");
		BURIN_TRACE_LEVEL(9u, "u.level9", "nine");
	}
	BURIN_END("u.bare");
	BURIN_END("u.span", "%d", number);
	BURIN_SPAN_BEGIN(number, "u.async");
	BURIN_SPAN_BEGIN(spans_id(number), "u.async2", "%d %s", number, "text");
	BURIN_SPAN_END(spans_id(number), "u.async", "text");
	BURIN_SPAN128_BEGIN(spans_id(number), number, "u.trace", "%d", number);
	BURIN_SPAN128_END(1, 2u, "u.trace");
	return number;
}

static inline void branches(int number)
{
	if (number)
		BURIN_TRACE("u.then");
	if (number > 1)
		BURIN_TRACE("u.then2", "%d", number);
	else if (number < 0)
		BURIN_BEGIN("u.negative");
	else
		BURIN_COUNTER("u.else", number);
	switch (number) {
	case 1:
		BURIN_TRACE("u.case");
		break;
	case 2: {
		BURIN_SCOPE("u.case2", "%d", number);
		break;
	}
	default:
		BURIN_TRACE("u.default", "%d", number);
	}
	while (number-- > 0)
		BURIN_END("u.negative");
	if (number)
		BURIN_SPAN_END(number, "u.then_id");
	do
		BURIN_TRACE("u.do", "%d", number);
	while (number > 0);
}

static int control(void);
static int control(void)
{
	struct burin_session_status status;
	const uint64_t id = burin_correlation();

	status.size = sizeof(status);
	burin_correlation_set(id + 1);
	return burin_status(&status) + burin_enable("u.*") + burin_active() +
	       burin_callback_set("u.none", NONE, NONE);
}

#ifdef __cplusplus
enum class level : unsigned char {
	low,
	high = 3
};
enum class plain {
	one = 1
};
BURIN_ENUM(levels, { "low", level::low }, { "high", level::high });

namespace inner
{
BURIN_ENUM(plains, { "one", plain::one });
}

template <class T> static void integer(T value, const char *text)
{
	const T fixed = value;

	BURIN_TRACE("t.dependent", "%s %d", text, value);
	BURIN_TRACE("t.fixed", "%d", fixed);
	BURIN_TRACE("t.size", "%zu %s", sizeof(T), text);
	BURIN_TRACE("t.independent", "%d", 1);
	BURIN_COUNTER("t.count", value);
	BURIN_BEGIN("t.span", "%d", value);
	BURIN_END("t.span");
	BURIN_SPAN_BEGIN(value, "t.async", "%d", value);
	BURIN_SPAN128_END(fixed, value, "t.async");
	BURIN_SCOPE("t.scope", "%d", value);
	BURIN_TRACE_LEVEL(2, "t.level", "%d", value);
	BURIN_TRACE("t.array", "%d", BURIN_ARRAY(&fixed, 1));
	BURIN_TRACE("t.bytes", "%p", BURIN_BYTES(&fixed, sizeof(T)));
	if (value)
		BURIN_TRACE("t.then");
	else
		BURIN_TRACE("t.else", "%d", value);
	if constexpr (sizeof(T) > 4)
		BURIN_TRACE("t.large");
	else
		BURIN_TRACE("t.small", "%d", value);
	LOG(value);
	LOG_BLOCK(value);
}

template <class T> static void integer64(T value)
{
	BURIN_TRACE("t.count64", "%lu", value);
	BURIN_COUNTER("t.counter64", value);
	BURIN_TRACE("t.bytes64", "%p", BURIN_BYTES(&value, value));
	BURIN_TRACE("t.array64", "%lu", BURIN_ARRAY(&value, value));
}

template <class T> static void real(T value)
{
	BURIN_TRACE("t.real", "%f", value);
	BURIN_COUNTER("t.real_now", value);
	BURIN_TRACE("t.reals", "%f", BURIN_ARRAY(&value, 1));
}

template <class T> static void pointer(T value)
{
	BURIN_TRACE("t.pointer", "%p", value);
}

template <class T> static void text(const T &value)
{
	BURIN_TRACE("t.text", "%s", value);
}

template <class T, unsigned size> class holder
{
	T value{};
	T all[size]{};

      public:
	holder()
	{
		BURIN_TRACE("t.constructed", "%u", size);
	}
	holder(const holder &) = delete;
	holder &operator=(const holder &) = delete;
	~holder()
	{
		BURIN_TRACE("t.destroyed", "%d", value);
	}
	template <class U> T trace(const U &other) const noexcept
	{
		BURIN_SCOPE("t.member", "%d", value);
		BURIN_TRACE("t.members", "%d %d %d", value, this->value, other);
		BURIN_TRACE("t.all", "%d", BURIN_ARRAY(all, size));
		BURIN_COUNTER("t.value", value);
		return value;
	}
};

template <class... T> static void pack(const T &...values)
{
	BURIN_TRACE("t.pack", "%zu", sizeof...(values));
	(text(values), ...);
}

#if __cplusplus >= 202002L
constexpr int square(int number)
{
	if (!__builtin_is_constant_evaluated())
		BURIN_TRACE("c.square", "%d", number);
	return number * number;
}
static_assert(square(3) == 9, "a tracepoint is no obstacle to a constant");
#endif

static void of_cxx(const std::string &string, std::string_view view, level depth);
static void of_cxx(const std::string &string, std::string_view view, level depth)
{
	const auto [number, name] = std::tuple<int, std::string>(5, "bound");
	const auto lambda = [&](auto argument) {
		BURIN_TRACE("c.lambda", "%s %d", string, argument);
		BURIN_SCOPE("c.lambda_scope", "%zu", view.size());
		return argument;
	};

	BURIN_TRACE("c.texts", "%s %s %s %s", string, view, string + "!", std::string_view("literal"));
	BURIN_TRACE("c.string", "%s", string);
	BURIN_TRACE("c.view", "%s", view);
	BURIN_TRACE("c.c_str", "%s %zu", string.c_str(), string.size());
	BURIN_TRACE("c.bound", "%d %s", number, name);
	BURIN_TRACE("c.class", "%hhu{levels} %d{plains}", depth, plain::one);
	BURIN_TRACE("c.level", "%hhu", depth);
	BURIN_COUNTER("c.level_now", depth);
	BURIN_TRACE("c.null", "%p", nullptr);
	BURIN_TRACE("c.wide", "%d %u %u", L'x', u'y', U'z');
	BURIN_TRACE("c.cast", "%d", lambda(4));
	BURIN_TRACE("c.bytes", "%p", BURIN_BYTES(string.data(), string.size()));
	for (const char letter : view)
		BURIN_TRACE("c.letter", "%c", letter);
	[captured = number] { BURIN_TRACE("c.captured", "%d", captured); }();
#if __cplusplus >= 202002L
	BURIN_TRACE("c.lambda_argument", "%d", [] { return 4; }());
	BURIN_TRACE("c.square", "%d", square(number));
#endif
}

static void templates(int some, unsigned long size);
static void templates(int some, unsigned long size)
{
	enum colour colour = GREEN;

	integer(some, "int");
	integer(TO(short, 1), "short");
	integer(true, "bool");
	integer64(size);
	integer64(TO(unsigned long, 1));
	real(1.0f);
	real(1.0);
	pointer(TO(void *, &some));
	pointer(TO(const void *, NONE));
	pointer(NONE);
	text("literal");
	text(TO(const char *, "pointer"));
	text(std::string("string"));
	text(std::string_view("view"));
	holder<int, 3> held;
	some += held.trace(some) + held.trace(TO(short, some));
	pack(std::string("one"), "two");
	integer(TO(int, colour), "enum");
}
#endif

int main(int argc, char **argv)
{
	struct point point = { 1, 2, 3, 4, true, "name" };
	double reals[2] = { 0.5, 1.5 };
	short shorts[1] = { 1 };

	BURIN_TRACE("u.main", "%d %s", argc, argv[0]);
	integers(true, 'x', -1, 1, -2, 2);
	wide(argc, 1, -1, 2, -2, 3);
	floats(0.5f, 0.5, 0.25L);
	enums(GREEN, FORTH);
	pointers(&point, &point, &point, &point, argv[0]);
	arrays(&argc, 1, 1, reals, shorts);
	branches(argc);
#ifdef __cplusplus
	of_cxx("text", "view", level::high);
	templates(argc, 3);
#endif
	return spans(argc) + control() == 0;
}
