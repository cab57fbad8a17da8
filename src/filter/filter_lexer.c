/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tokens of filter expressions; see filter_lexer.h.
 *
 * A token is as long as what its user meant, also where that is wrong: 12abc is one bad number, and not a
 * number and a word. So the mark under an error is below all of it. Offsets and sizes are bytes of the
 * expression; a mark never ends within a character of UTF-8.
 *
 * Numbers are read without their sign, so that -0x10 is possible. A leading 0 is refused, since C would take
 * it for octal. Strings are copied without their escapes.
 */
#include "filter/filter_lexer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGITS_MAX = 64, /* of a number */
};

static bool filter_lexer_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The size of a character in UTF-8, so that a mark is under the whole character. */
static size_t character_bytes(const char *at)
{
	size_t bytes = 1;

	while (((unsigned char)at[bytes] & 0xc0) == 0x80)
		bytes++;
	return bytes;
}

/* The byte for an escape sequence; 0: there is none. */
static char filter_lexer_escaped(char c, char quote)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == '\\' || c == quote ? c : 0;
}

static bool read_string(const char *text, struct token *token, struct filter_error *fault)
{
	const char *at = text + token->offset + 1;

	for (; *at != '"'; at++) {
		char c = *at;

		if (!c)
			return filter_error_set(fault, token->offset, 1,
						"this string has no end: \" is missing");
		if (c == '\\') {
			c = filter_lexer_escaped(*++at, '"');
			if (!c)
				return filter_error_set(fault, (size_t)(at - text) - 1,
							*at ? 1 + character_bytes(at) : 1,
							"a backslash may only precede \", \\, n or t; "
							"write [*] for a literal star");
		}
		if (token->string_bytes + 1 == sizeof(token->string))
			return filter_error_set(fault, token->offset, (size_t)(at - text) - token->offset,
						"this string is too long: a filter has at most %d bytes",
						WIRE_FILTER_MAX);
		token->string[token->string_bytes++] = c;
	}
	token->string[token->string_bytes] = '\0';
	token->bytes = (size_t)(at + 1 - text) - token->offset;
	return true;
}

static bool read_character(const char *text, struct token *token, struct filter_error *fault)
{
	const char *at = text + token->offset + 1;
	char c = *at++;

	if (c == '\\')
		c = *at ? filter_lexer_escaped(*at++, '\'') : 0;
	else if (c == '\'' || (unsigned char)c >= 0x80)
		c = 0;
	if (!c || *at != '\'')
		return filter_error_set(fault, token->offset, 1,
					"write one ASCII character between two ', such as 'x' or '\\n'; "
					"write a string between two \"");
	token->number = c;
	token->bytes = (size_t)(at + 1 - text) - token->offset;
	return true;
}

/* The size of a number, valid or not. */
static size_t number_bytes(const char *at)
{
	const char *begin = at;
	bool hex;

	if (*at == '-' || *at == '+')
		at++;
	hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	for (; filter_lexer_is_word(*at) || *at == '.'; at++)
		if (!hex && (*at == 'e' || *at == 'E') && (at[1] == '-' || at[1] == '+'))
			at++;
	return (size_t)(at - begin);
}

static bool filter_lexer_read_number(const char *text, struct token *token, struct filter_error *fault)
{
	static const char units[] = "KMG";
	char digits[DIGITS_MAX + 1], *begin = digits, *end;
	const char *unit;
	bool negative;
	size_t bytes = number_bytes(text + token->offset);

	token->bytes = bytes;
	if (bytes > DIGITS_MAX)
		return filter_error_set(fault, token->offset, bytes, "this number has more than %d digits",
					DIGITS_MAX);
	memcpy(digits, text + token->offset, bytes);
	digits[bytes] = '\0';
	negative = *begin == '-';
	begin += negative || *begin == '+';
	if (begin[0] == '0' && isdigit((unsigned char)begin[1]))
		return filter_error_set(fault, token->offset, bytes,
					"this number begins with 0: write it in decimal or, with 0x, in hex");
	/* A long double has each integer of 64 bits exactly, on both architectures. */
	errno = 0;
	if (begin[0] == '0' && toupper((unsigned char)begin[1]) == 'X') {
		token->number = strtoull(begin, &end, 16);
	} else if (strpbrk(begin, ".eE")) {
		token->number = strtod(begin, &end);
		if (!isinf((double)token->number))
			errno = 0; /* an underflow is not an error */
	} else {
		token->number = strtoull(begin, &end, 10);
	}
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		token->number *= (long double)(UINT64_C(1) << 10 * (unit - units + 1));
		end++;
	}
	if (*end || end == begin)
		return filter_error_set(fault, token->offset, bytes,
					"this is not a number; examples: 12, -1, 0x1f, 4K, 1.5, 2e-3");
	if (errno == ERANGE)
		return filter_error_set(fault, token->offset, bytes, "this number is too large");
	if (negative)
		token->number = -token->number;
	return true;
}

static bool read_operator(const char *text, struct token *token, struct filter_error *fault)
{
	static const struct {
		char text[3];
		enum token_kind kind;
		enum comparison comparison;
	} operators[] = {
		{ "==", TOKEN_COMPARISON, COMPARE_EQ }, { "!=", TOKEN_COMPARISON, COMPARE_NE },
		{ "<=", TOKEN_COMPARISON, COMPARE_LE }, { ">=", TOKEN_COMPARISON, COMPARE_GE },
		{ "<", TOKEN_COMPARISON, COMPARE_LT },	{ ">", TOKEN_COMPARISON, COMPARE_GT },
		{ "&&", TOKEN_AND, COMPARE_EQ },	{ "||", TOKEN_OR, COMPARE_EQ },
		{ "!", TOKEN_NOT, COMPARE_EQ },		{ "(", TOKEN_OPEN, COMPARE_EQ },
		{ ")", TOKEN_CLOSE, COMPARE_EQ },	{ "&", TOKEN_BITS, COMPARE_EQ },
		{ "%", TOKEN_REMAINDER, COMPARE_EQ },
	};
	const char *at = text + token->offset;

	for (size_t n = 0; n < sizeof(operators) / sizeof(operators[0]); n++) {
		size_t bytes = strlen(operators[n].text);

		if (strncmp(at, operators[n].text, bytes) != 0)
			continue;
		token->kind = operators[n].kind;
		token->comparison = operators[n].comparison;
		token->bytes = bytes;
		return true;
	}
	switch (*at) {
	case '=':
		return filter_error_set(fault, token->offset, 1, "there is no operator =: write ==");
	case '|':
		return filter_error_set(fault, token->offset, 1, "there is no operator |: write ||");
	default:
		return filter_error_set(fault, token->offset, character_bytes(at), "unexpected character");
	}
}

static bool read_token(const char *text, struct token *token, struct filter_error *fault)
{
	const char *at = text + token->offset;
	const char *digit = *at == '-' || *at == '+' ? at + 1 : at;

	if (!*at) {
		token->kind = TOKEN_END;
		return true;
	}
	if (*at == '"') {
		token->kind = TOKEN_STRING;
		return read_string(text, token, fault);
	}
	if (*at == '\'') {
		token->kind = TOKEN_NUMBER;
		return read_character(text, token, fault);
	}
	if (isdigit((unsigned char)*digit) || (*digit == '.' && isdigit((unsigned char)digit[1]))) {
		token->kind = TOKEN_NUMBER;
		return filter_lexer_read_number(text, token, fault);
	}
	if (filter_lexer_is_word(at[*at == FILTER_FACT])) {
		token->kind = TOKEN_WORD;
		token->bytes = *at == FILTER_FACT;
		while (filter_lexer_is_word(at[token->bytes]))
			token->bytes++;
		/* The suffix belongs to the word: there is no operator that it could be. */
		if (strncmp(at + token->bytes, FILTER_COUNT, strlen(FILTER_COUNT)) == 0 &&
		    !filter_lexer_is_word(at[token->bytes + strlen(FILTER_COUNT)]))
			token->bytes += strlen(FILTER_COUNT);
		return true;
	}
	return read_operator(text, token, fault);
}

bool filter_token_next(const char *text, size_t offset, struct token *token, struct filter_error *fault)
{
	offset += strspn(text + offset, " \t\n");
	token->offset = offset;
	token->bytes = token->string_bytes = 0;
	if (read_token(text, token, fault))
		return true;
	token->kind = TOKEN_WRONG;
	return false;
}
