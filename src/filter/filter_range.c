/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ranges of the values of a type. The values are numbered in their order: an integer by itself, a floating-point number
 * by its key. A comparison depends only on the value nearest to the constant, and on which side of the constant it is.
 */
#include "filter/filter_range.h"

#include <string.h>

#include "base/number.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

__extension__ typedef __int128 wide;

/* The value of the type that is nearest to the constant. */
struct nearest {
	wide first, last; /* its number; 0 has two among floating-point numbers: -0 and +0 */
	int side;	  /* < 0: less than the constant, 0: equal, > 0: greater */
	wide min, max;	  /* the numbers of the type's least and greatest value */
};

static uint64_t key_f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return filter_key32(bits);
}

static uint64_t key_f64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return filter_key64(bits);
}

static struct nearest nearest_float(unsigned type, long double constant)
{
	double value;

	if (type == WIRE_F32) {
		float single = (float)constant;

		return (struct nearest){
			.first = single == 0 ? key_f32(-0.0f) : key_f32(single),
			.last = single == 0 ? key_f32(0.0f) : key_f32(single),
			.side = number_order(single, constant),
			.min = key_f32(-__builtin_inff()),
			.max = key_f32(__builtin_inff()),
		};
	}
	value = (double)constant;
	return (struct nearest){
		.first = value == 0 ? key_f64(-0.0) : key_f64(value),
		.last = value == 0 ? key_f64(0.0) : key_f64(value),
		.side = number_order(value, constant),
		.min = key_f64(-__builtin_inf()),
		.max = key_f64(__builtin_inf()),
	};
}

static struct nearest nearest_integer(unsigned type, long double constant)
{
	const long double far = 0x1p100L; /* beyond all values of all types */
	unsigned bits = 8 * format_type_bytes(type);
	bool has_sign = (type >= WIRE_I8 && type <= WIRE_I64) || type == WIRE_CHAR;
	wide one = 1, value = (wide)(constant > far ? far : constant < -far ? -far : constant);

	if (type == WIRE_BOOL)
		bits = 1;
	return (struct nearest){
		.first = value,
		.last = value,
		.side = number_order((long double)value, constant),
		.min = has_sign ? -(one << (bits - 1)) : 0,
		.max = (one << (has_sign ? bits - 1 : bits)) - 1,
	};
}

struct range range_of(unsigned type, enum comparison comparison, long double constant)
{
	bool is_float = type == WIRE_F32 || type == WIRE_F64;
	struct nearest near = is_float ? nearest_float(type, constant) : nearest_integer(type, constant);
	wide low = near.min, high = near.max;

	if (comparison == COMPARE_GE || comparison == COMPARE_EQ)
		low = near.side >= 0 ? near.first : near.last + 1;
	else if (comparison == COMPARE_GT)
		low = near.side > 0 ? near.first : near.last + 1;
	if (comparison == COMPARE_LE || comparison == COMPARE_EQ)
		high = near.side <= 0 ? near.last : near.first - 1;
	else if (comparison == COMPARE_LT)
		high = near.side < 0 ? near.last : near.first - 1;
	low = low < near.min ? near.min : low;
	high = high > near.max ? near.max : high;
	if (low > high)
		return (struct range){ .kind = RANGE_NEVER };
	if (!is_float && low == near.min && high == near.max)
		return (struct range){ .kind = RANGE_ALWAYS };
	return (struct range){ RANGE_TEST, (uint64_t)low, (uint64_t)(high - low) };
}
