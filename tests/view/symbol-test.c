/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names with templates and parameters: what fits them, and how they are shortened. */
#include "view/symbol_label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_fits(void **state)
{
	static const struct {
		const char *glob, *name;
		bool fits;
	} cases[] = {
		{ "main", "main", true },
		{ "mai", "main", false },
		{ "m*", "main", true },
		{ "work", "work(std::vector<int, std::allocator<int> >&)", true },
		{ "work", "ns::work<int>(int)", true },
		{ "ns::work", "ns::work<int>(int)", true },
		{ "other::work", "ns::work<int>(int)", false },
		{ "ns::work<int>(int)", "ns::work<int>(int)", true },
		{ "ns::work<char>(int)", "ns::work<int>(int)", false },
		{ "size", "std::vector<int>::size() const", true },
		{ "std::vector::size", "std::vector<int>::size() const", true },
		{ "group", "group[abi:cxx11](int)", true },
		{ "operator()", "work(int)::{lambda(int)#1}::operator()(int) const", true },
		{ "operator<", "std::operator< <char>(int, int)", false },
		{ "std::operator< ", "std::operator< <char>(int, int)", true },
		{ "operator--", "it<A, B>::operator--()", true },
		{ "operator->", "it<A, B>::operator->() const", true },
		{ "f", "(anonymous namespace)::f(int)", true },
		{ "(anonymous namespace)::f", "(anonymous namespace)::f(int)", true },
		{ "method", "<crate::Thing<T> as crate::Trait>::method", true },
		{ "ns::work<…>(int) const", "ns::work<char>(int) const", true }, /* as it is shown */
		{ "ns::work<…>(…) const", "ns::work<char>(int) const", true },
		{ "ns::work<…>(char) const", "ns::work<char>(int) const", false },
		{ "Hot.words", "int Hot.words(int)", true }, /* as Java writes it into its map */
		{ "Hot.*", "java.lang.Object Hot.words(int)", true },
		{ "words", "int Hot.words(int)", false },
		{ "ns::work", "std::vector<int> ns::work<int>(char)", true },
		{ "work", "std::vector<int> ns::work<int>(char)", true },
		{ "vector*", "std::vector<int> ns::work<int>(char)", false },
		{ "namespace)::f", "(anonymous namespace)::f(int)", false },
		{ "int", "A::operator int() const", false },
		{ "operator int", "A::operator int() const", true },
		{ "work", "int ns::work<int>(int) const [clone .isra.0]", true },
		{ "f", "f<(A->b)>(int", false },
		{ "", "f<", false },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		if (view_symbol_fits(cases[n].glob, cases[n].name) != cases[n].fits)
			fail_msg("%s, %s", cases[n].glob, cases[n].name);
	}
}

static void test_short(void **state)
{
	char room[64];

	(void)state;
	assert_string_equal(view_symbol_short("f<int>(char)", 12, 0, room, sizeof(room)), "f<int>(char)");
	assert_string_equal(view_symbol_short("f<int>(char)", 11, 0, room, sizeof(room)), "f<…>(char)");
	assert_string_equal(view_symbol_short("f<int>(char)", 8, 0, room, sizeof(room)), "f<…>(…)");
	assert_string_equal(view_symbol_short("a<b>::operator()(c const&) const", 25, 0, room, sizeof(room)),
			    "a<…>::operator()(…) const");
	assert_string_equal(view_symbol_short("<T<u8> as U>::f<x>()", 12, 0, room, sizeof(room)),
			    "<T<u8> as U>::f<…>()");
	assert_string_equal(view_symbol_short("f<int>(char)", 8, 1, room, sizeof(room)), "f<…>(char)");
	assert_string_equal(view_symbol_short("f<int>(char)", 8, 2, room, sizeof(room)), "f<int>(char)");
	assert_string_equal(view_symbol_short("f<int>(char)", 11, 1, room, sizeof(room)), "f<int>(char)");
	assert_string_equal(view_symbol_short("f<g<h<(", 3, 0, room, sizeof(room)), "f<g<h<(");
	assert_string_equal(view_symbol_short("f<int>::abcdef", 3, 0, room, 8), "f<…>:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
