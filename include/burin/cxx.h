/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The types of a tracepoint's arguments in C++, and the checks of its name and format. Private: programs include
 * burin/burin.h.
 */
#ifndef BURIN_BURIN_H
#include <burin/burin.h>
#elif defined(__cplusplus) && !defined(BURIN_CXX_H)
#define BURIN_CXX_H

/* This header includes no other, so it may be included inside extern "C". */
extern "C++" {

/* clang-format off */
#define BURIN__MEMBER static inline __attribute__((__always_inline__, __no_instrument_function__))

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

BURIN__INLINE uint64_t burin__bits(long double value) { return burin__bits(static_cast<double>(value)); }

struct burin_label {
	const char *name = nullptr;
	long long value = 0;
	constexpr burin_label() = default;
	template <class T> constexpr burin_label(const char *label, T number) : name(label), value(static_cast<long long>(number)) {}
};
#define BURIN__NO_LABEL burin_label()

/* The value of BURIN_ARRAY. */
template <class T> struct burin__elements {
	const T *pointer;
	size_t count;
};

template <bool condition> struct burin__if {};
template <> struct burin__if<true> { using type = void; };
template <class T> T &burin__any();
template <class T, class U> struct burin__same { enum { value = 0 }; };
template <class T> struct burin__same<T, T> { enum { value = 1 }; };

/* The type for printf's format check: the number behind an enum class, the double that printf gets for a float. */
template <class T, bool is_enum> struct burin__printed_as { using type = T; };
template <class T> struct burin__printed_as<T, true> { using type = __underlying_type(T); };
template <class T> struct burin__printed : burin__printed_as<T, __is_enum(T)> {};
template <> struct burin__printed<float> { using type = double; };

/* For each type: its code in a record (0: cannot be recorded; 16 are added for those with a length) and as a counter.
 * First the types without a line below. Enums have the code of their underlying type. Classes with data() and size() of
 * chars are texts: std::string, std::string_view. All others have 0. */
template <class T, int kind, class = void> struct burin__other {
	enum { type = 0, number = 0 };
	static void set(burin_arg *, const T &) {}
	static int shown(const T &) { return 0; }
};
template <class T> struct burin__traits : burin__other<T, __is_enum(T) ? 1 : __is_class(T) ? 2 : 0> {};
template <class T>
struct burin__other<T, 2, typename burin__if<burin__same<decltype(burin__any<const T>().data()), const char *>::value &&
					     burin__same<decltype(burin__any<const T>().size()), size_t>::value>::type> {
	enum { type = 16 + 13, number = 0 };
	BURIN__MEMBER void set(burin_arg *arg, const T &text)
	{
		arg[0].u = text.size();
		arg[1].u = reinterpret_cast<uintptr_t>(text.data());
	}
	static const char *shown(const T &) { return nullptr; }
};
template <class T> struct burin__other<T, 1> {
	using integer = burin__traits<__underlying_type(T)>;
	enum { type = integer::type, number = integer::number };
	BURIN__MEMBER void set(burin_arg *arg, T value) { integer::set(arg, static_cast<__underlying_type(T)>(value)); }
	BURIN__MEMBER void count(burin_arg *arg, T value) { integer::count(arg, static_cast<__underlying_type(T)>(value)); }
};

template <class T, int code, int wide> struct burin__integer {
	enum { type = code, number = wide };
	BURIN__MEMBER void set(burin_arg *arg, T value) { arg->u = static_cast<uint64_t>(value); }
	BURIN__MEMBER void count(burin_arg *arg, T value) { arg->u = static_cast<uint64_t>(value); }
};
template <class T, int code> struct burin__real {
	enum { type = code, number = 11 };
	BURIN__MEMBER void set(burin_arg *arg, T value) { arg->u = burin__bits(value); }
	BURIN__MEMBER void count(burin_arg *arg, T value) { arg->u = burin__bits(static_cast<double>(value)); }
};
template <> struct burin__traits<bool> : burin__integer<bool, 1, 9> {};
template <> struct burin__traits<char> : burin__integer<char, 15, 5> {};
template <> struct burin__traits<signed char> : burin__integer<signed char, 2, 5> {};
template <> struct burin__traits<short> : burin__integer<short, 3, 5> {};
template <> struct burin__traits<int> : burin__integer<int, 4, 5> {};
template <> struct burin__traits<long> : burin__integer<long, 5, 5> {};
template <> struct burin__traits<long long> : burin__integer<long long, 5, 5> {};
template <> struct burin__traits<unsigned char> : burin__integer<unsigned char, 6, 9> {};
template <> struct burin__traits<unsigned short> : burin__integer<unsigned short, 7, 9> {};
template <> struct burin__traits<unsigned> : burin__integer<unsigned, 8, 9> {};
template <> struct burin__traits<unsigned long> : burin__integer<unsigned long, 9, 9> {};
template <> struct burin__traits<unsigned long long> : burin__integer<unsigned long long, 9, 9> {};
template <> struct burin__traits<wchar_t> : burin__integer<wchar_t, (wchar_t(-1) > 0 ? 8 : 4), (wchar_t(-1) > 0 ? 9 : 5)> {};
template <> struct burin__traits<char16_t> : burin__integer<char16_t, 7, 9> {};
template <> struct burin__traits<char32_t> : burin__integer<char32_t, 8, 9> {};
template <> struct burin__traits<float> : burin__real<float, 10> {};
template <> struct burin__traits<double> : burin__real<double, 11> {};
template <> struct burin__traits<long double> : burin__real<long double, 11> {};

template <class T> struct burin__pointed { enum { type = 12 }; };
template <class T> struct burin__pointed<const T> : burin__pointed<T> {};
template <class T> struct burin__pointed<volatile T> : burin__pointed<T> {};
template <class T> struct burin__pointed<const volatile T> : burin__pointed<T> {};
template <> struct burin__pointed<char> { enum { type = 13 }; };
template <> struct burin__pointed<signed char> : burin__pointed<char> {};
template <> struct burin__pointed<unsigned char> : burin__pointed<char> {};
#ifdef __cpp_char8_t
template <> struct burin__traits<char8_t> : burin__integer<char8_t, 6, 9> {};
template <> struct burin__pointed<char8_t> : burin__pointed<char> {};
#endif
template <class T> struct burin__traits<T *> {
	enum { type = burin__pointed<T>::type, number = 0 };
	BURIN__MEMBER void set(burin_arg *arg, T *value) { arg->u = reinterpret_cast<uintptr_t>(value); }
};
template <> struct burin__traits<decltype(nullptr)> {
	enum { type = 12, number = 0 };
	BURIN__MEMBER void set(burin_arg *arg, decltype(nullptr)) { arg->u = 0; }
};
template <> struct burin__traits<burin_bytes> {
	enum { type = 16 + 14, number = 0 };
	BURIN__MEMBER void set(burin_arg *arg, burin_bytes value)
	{
		arg[0].u = value.length;
		arg[1].u = reinterpret_cast<uintptr_t>(value.pointer);
	}
	static const void *shown(burin_bytes) { return nullptr; }
};
/* Elements are numbers, in memory as in a record: no pointers, no long double. */
template <class T> struct burin__traits<burin__elements<T>> {
	enum { element = burin__traits<T>::type, number = 0,
	       type = (element >= 1 && element <= 11 && sizeof(T) <= 8) || element == 15 ? 16 + element : 0 };
	BURIN__MEMBER void set(burin_arg *arg, burin__elements<T> value)
	{
		arg[0].u = value.count;
		arg[1].u = reinterpret_cast<uintptr_t>(value.pointer);
	}
	static typename burin__printed<T>::type shown(burin__elements<T>) { return {}; }
};
/* clang-format on */

template <class N> BURIN__INLINE burin_bytes burin__bytes(const volatile void *pointer, N length)
{
	return burin_bytes{ static_cast<size_t>(length), const_cast<const void *>(pointer) };
}

template <class T, class N> BURIN__INLINE burin__elements<T> burin__array(const volatile T *pointer, N count)
{
	return burin__elements<T>{ const_cast<const T *>(pointer), static_cast<size_t>(count) };
}

/* By value, so that arrays decay and qualifiers and bit-fields vanish; classes need not be copied. */
template <class T, class = typename burin__if<!__is_class(T)>::type> burin__traits<T> burin__traits_of(T);
template <class T, class = typename burin__if<__is_class(T)>::type, class = void>
burin__traits<T> burin__traits_of(const T &);

template <class T, class = typename burin__if<!__is_class(T)>::type>
BURIN__INLINE void burin__set(burin_arg *arg, T value)
{
	burin__traits<T>::set(arg, value);
}

template <class T, class = typename burin__if<__is_class(T)>::type, class = void>
BURIN__INLINE void burin__set(burin_arg *arg, const T &value)
{
	burin__traits<T>::set(arg, value);
}

template <class T> BURIN__INLINE void burin__count(burin_arg *arg, T value)
{
	burin__traits<T>::count(arg, value);
}

template <class T> BURIN__INLINE uint64_t burin__id(T value)
{
	return static_cast<uint64_t>(value);
}

/* The value for that check: the number behind an enum class, an address for bytes, an element of an array. */
template <class T, class = typename burin__if<!__is_class(T)>::type>
BURIN__INLINE typename burin__printed<T>::type burin__shown(T value)
{
	return static_cast<typename burin__printed<T>::type>(value);
}
template <class T, class = typename burin__if<__is_class(T)>::type, class = void>
BURIN__INLINE auto burin__shown(const T &value)
{
	return burin__traits<T>::shown(value);
}
BURIN__INLINE const void *burin__shown(decltype(nullptr))
{
	return nullptr;
}

/* Whether a format has a conversion that cannot be recorded. */
constexpr bool burin__refused(const char *format)
{
	while (*format) {
		bool wide = false;

		if (*format++ != '%')
			continue;
		while (*format && __builtin_strchr("-+ #0'123456789.hljztLq", *format))
			wide = *format++ == 'l';
		if (format[0] == '*' && format[-1] == '.' && format[1] == 's')
			format++;
		if (*format == '*' || *format == 'n' || *format == 'm' || *format == 'b' || *format == 'B' ||
		    *format == 'S' || *format == 'C' || (wide && (*format == 's' || *format == 'c')))
			return true;
		if (*format)
			format++;
	}
	return false;
}

/* Whether a name has a character other than letters, digits and _ . : - */
constexpr bool burin__name_refused(const char *name)
{
	for (; *name; name++)
		if (!((*name >= 'a' && *name <= 'z') || *name == '.' || *name == '_' ||
		      (*name >= '0' && *name <= ':') || (*name >= 'A' && *name <= 'Z') || *name == '-'))
			return true;
	return false;
}

/* clang-format off */
#define BURIN__TYPE(x) decltype(burin__traits_of(x))::type
#define BURIN__SET(type, arg, x) burin__set(arg, x)
#define BURIN__SHOWN(x) burin__shown(x)
#define BURIN__NUMBER(x) decltype(burin__traits_of(x))::number
#define BURIN__SET_NUMBER(type, arg, x) burin__count(arg, x)
#define BURIN__ID(x) burin__id(x)
#define BURIN__REFUSED(format) burin__refused(format)
#define BURIN__CHECK_NAME(name) BURIN__ASSERT(!burin__name_refused(name), BURIN__NAME_FAULT)
/* clang-format on */

} /* extern "C++" */

#endif
