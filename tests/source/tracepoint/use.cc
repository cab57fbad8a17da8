/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Everything that tracepoints can do, in C++. */
extern "C" {
#include "use.h"
}
#include "shared.h"

#include <stdexcept>
#include <string>

enum class level : unsigned char {
	low = 3
};
enum class plain {
	one = 1
};

template <class T> static void from_template(const char *format_unused, T value)
{
	(void)format_unused;
	BURIN_TRACE("t.template", "%s", value);
}

template <class T> struct holder {
	T value;
	void trace() const
	{
		BURIN_SCOPE("t.holder");
		BURIN_COUNTER("t.held", value);
	}
};

inline int inline_function(int value)
{
	BURIN_TRACE("t.inline", "%d", value);
	return value;
}

static void throws(int value)
{
	BURIN_SCOPE("t.throws", "%d", value);
	if (value)
		throw std::runtime_error("left by an exception");
}

struct early_object {
	early_object()
	{
		BURIN_TRACE("t.constructor", "%d", 5);
	}
	~early_object()
	{
		BURIN_TRACE("t.destructor", "%d", 5);
	}
};
static early_object early;

static void test_cpp()
{
	std::string text = "a std::string";
	auto lambda = [&](auto argument) {
		BURIN_TRACE("t.lambda", "%s %d", text.c_str(), (int)argument);
		return 1;
	};
	int result;

	BURIN_TRACE("t.nullptr", "%p %p", nullptr, (void *)&text);
	want_int(0, 8), want_int((uintptr_t)&text, 8);
	check("t.nullptr", 0xcc, "%p %p");
	BURIN_TRACE("t.level", "%hhu %d", level::low, plain::one);
	want_int(3, 1), want_int(1, 4);
	check("t.level", 0x46, "%hhu %d");
	BURIN_TRACE("t.wide", "%d %d %u", (int)L'x', u'y', U'z');
	want_int('x', 4), want_int('y', 2), want_int('z', 4);
	check("t.wide", 0x874, "%d %d %u");
	/* a temporary that lives to the end of the full expression */
	BURIN_TRACE("t.temporary", "%s %d", (text + " and a longer one, on the heap").c_str(), 1);
	want_text("a std::string and a longer one, on the heap"), want_int(1, 4);
	check("t.temporary", 0x4d, "%s %d");
	result = lambda(2L);
	want_text("a std::string"), want_int(2, 4);
	check("t.lambda", 0x4d, "%s %d");
	check_that(result == 1);
	from_template("", "pointer");
	want_text("pointer");
	check("t.template", 0xd, "%s");
	holder<long>{ 5 }.trace();
	check_log("t.holder.begin t.held t.holder.end");
	holder<double>{ 5 }.trace();
	check_log("t.holder.begin t.held t.holder.end");
	inline_function(7);
	want_int(7, 4);
	check("t.inline", 4, "%d");
	try {
		throws(1);
	} catch (const std::runtime_error &) {
	}
	check_log("t.throws.begin t.throws.end");
#if __cplusplus >= 202002L
	BURIN_TRACE("t.lambda_argument", "%d", [] { return 4; }());
	want_int(4, 4);
	check("t.lambda_argument", 4, "%d");
	BURIN_TRACE("t.char8", "%s", (const char *)u8"\u00e4");
	want_text("\xc3\xa4");
	check("t.char8", 0xd, "%s");
#endif
}

int main()
{
	check_that(capture_objects == BURIN_OBJECTS);
	check_that(capture_sites > 50);
	check_log("t.constructor");
	test_common();
	test_cpp();
	trace_in_header(1, "main");
	want_int(1, 4), want_text("main");
	check("t.header", 0xd4, "%d %s");
	other_file(2);
	want_int(2, 4), want_text("other");
	check("t.header", 0xd4, "%d %s");
#if BURIN_OBJECTS > 1
	object_trace(3);
	check_log("t.object t.header");
#endif
	return check_result();
}
