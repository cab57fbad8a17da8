/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts with a length, arrays and enums, in C and, compiled as C++, with the types of C++. types.test builds it itself. */
#include <stdbool.h>
#include <stdio.h>

#include "burin/burin.h"

#ifdef __cplusplus
#include <string>
#include <string_view>
#include <utility>

enum class method : short {
	get,
	post = 7,
	odd = -9
};
#define METHOD(name) method::name
#else
typedef enum {
	get,
	post = 7,
	odd = -9
} method;
#define METHOD(name) name
#endif

BURIN_ENUM(methods, { "GET", METHOD(get) }, { "POST", METHOD(post) }, { "a.b:c-D_9", 12 });
BURIN_ENUM(huge, { "least", -9223372036854775807ll - 1 }, { "most", 9223372036854775807ll });

static void texts(void)
{
	const char unended[] = { 'u', 'n', 'e', 'n', 'd', 'e', 'd' };
	const char *text = "a text that is longer than sixteen bytes";

	BURIN_TRACE("text.counted", "n=%d s=%.*s after=%d", 1, (int)sizeof(unended), unended, 2);
	BURIN_TRACE("text.counted", "n=%d s=%.*s after=%d", 2, 0, unended, 2);
	BURIN_TRACE("text.counted", "n=%d s=%.*s after=%d", 3, 1000, text, 2);
	BURIN_TRACE("text.counted", "n=%d s=%.*s after=%d", 4, -1, text, 2);
	BURIN_TRACE("text.counted", "n=%d s=%.*s after=%d", 5, 3, (const char *)NULL, 2);
	BURIN_TRACE("text.wide", "s=[%-10.*s]", 3, text);
}

static void arrays(void)
{
	const int ints[] = { 1, -2, 3 };
	const double reals[] = { 0.5, -1e300 };
	const float floats[] = { 1.5f };
	const unsigned char bytes[] = { 1, 255 };
	const long longs[] = { -1 };
	const unsigned long long big[] = { 18446744073709551615ull };
	const short shorts[] = { -32768, 32767 };
	const bool bools[] = { true, false };
	const char chars[] = { 'o', '"', 'k' };

	BURIN_TRACE("array.some", "v=%d d=%g f=%g u=%hhx after=%d", BURIN_ARRAY(ints, 3),
		    BURIN_ARRAY(reals, 2), BURIN_ARRAY(floats, 1), BURIN_ARRAY(bytes, 2), 9);
	BURIN_TRACE("array.more", "l=%ld b=%llu s=%hd t=%d c=%c", BURIN_ARRAY(longs, 1), BURIN_ARRAY(big, 1),
		    BURIN_ARRAY(shorts, 2), BURIN_ARRAY(bools, 2), BURIN_ARRAY(chars, 3));
	BURIN_TRACE("array.none", "v=%d after=%s", BURIN_ARRAY((const int *)NULL, 3), "behind");
}

static void enums(void)
{
	const method all[] = { METHOD(get), METHOD(post), METHOD(odd) };

	for (int n = 0; n < 3; n++)
		BURIN_TRACE("enum.one", "m=%d{methods} n=%d{no_such} w=%5d{methods}", all[n], n, all[n]);
	BURIN_TRACE("enum.many", "m=%d{methods}", BURIN_ARRAY(all, 3));
	BURIN_TRACE("enum.huge", "h=%lld{huge} c=%hhu{methods}", 9223372036854775807ll, (unsigned char)12);
}

#ifdef __cplusplus
static void of_cxx(void)
{
	const std::string text = "a std::string that is longer than sixteen bytes";
	auto [number, name] = std::pair<int, std::string>(5, "bound");

	BURIN_TRACE("cxx.texts", "s=%s v=%s e=%s t=%s after=%d", text, std::string_view(text).substr(2, 11),
		    std::string_view(), text + "!", 1);
	BURIN_TRACE("cxx.bound", "number=%d name=%s", number, name);
}
#endif

int main(void)
{
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	texts();
	arrays();
	enums();
#ifdef __cplusplus
	of_cxx();
#endif
	return 0;
}
