/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of DuckDB's C API that Burin calls, from libduckdb.so, which is loaded when they are needed: Debian has no package of it. Its
 * objects are opaque pointers here.
 */
#ifndef BURIN_SQL_DUCKDB_DUCK_LIBRARY_H
#define BURIN_SQL_DUCKDB_DUCK_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of types. */
enum duck_type {
	DUCK_BOOLEAN = 1,
	DUCK_TINYINT = 2,
	DUCK_SMALLINT = 3,
	DUCK_INTEGER = 4,
	DUCK_BIGINT = 5,
	DUCK_UTINYINT = 6,
	DUCK_USMALLINT = 7,
	DUCK_UINTEGER = 8,
	DUCK_UBIGINT = 9,
	DUCK_FLOAT = 10,
	DUCK_DOUBLE = 11,
	DUCK_HUGEINT = 16,
	DUCK_VARCHAR = 17,
	DUCK_BLOB = 18,
	DUCK_DECIMAL = 19,
};

/* Kinds of statements. */
enum duck_statement {
	DUCK_SELECT = 1,
	DUCK_EXPLAIN = 4,
	DUCK_COPY = 11,
};

struct duck_result {
	uint64_t unused[3];
	void *columns;
	char *message;
	void *internal;
};

struct duck_hugeint {
	uint64_t low;
	int64_t high;
};

/* A text or blob of up to 12 bytes is in place; of a longer one the last eight bytes are a pointer to it. */
struct duck_text {
	_Alignas(8) uint32_t length;
	char place[12];
};

typedef void *duck_handle;
typedef void (*duck_callback)(duck_handle info);

/* F(type of the result, name without duckdb_, arguments) */
#define DUCK_FUNCTIONS(F)                                                                                    \
	F(int, create_config, (duck_handle * config))                                                        \
	F(int, set_config, (duck_handle config, const char *name, const char *value))                        \
	F(void, destroy_config, (duck_handle * config))                                                      \
	F(int, open_ext, (const char *path, duck_handle *base, duck_handle config, char **error))            \
	F(void, close, (duck_handle * base))                                                                 \
	F(int, connect, (duck_handle base, duck_handle * connection))                                        \
	F(void, disconnect, (duck_handle * connection))                                                      \
	F(void, interrupt, (duck_handle connection))                                                         \
	F(void, free, (void *memory))                                                                        \
	F(int, query, (duck_handle connection, const char *text, struct duck_result *result))                \
	F(void, destroy_result, (struct duck_result * result))                                               \
	F(const char *, result_error, (struct duck_result * result))                                         \
	F(int, prepare, (duck_handle connection, const char *text, duck_handle *statement))                  \
	F(const char *, prepare_error, (duck_handle statement))                                              \
	F(void, destroy_prepare, (duck_handle * statement))                                                  \
	F(int, prepared_statement_type, (duck_handle statement))                                             \
	F(uint64_t, prepared_statement_column_count, (duck_handle statement))                                \
	F(const char *, prepared_statement_column_name, (duck_handle statement, uint64_t column))            \
	F(int, prepared_statement_column_type, (duck_handle statement, uint64_t column))                     \
	F(void, scalar_function_set_error, (duck_handle info, const char *text))                             \
	F(uint64_t, nparams, (duck_handle statement))                                                        \
	F(int, bind_varchar, (duck_handle statement, uint64_t number, const char *text))                     \
	F(int, execute_prepared_streaming, (duck_handle statement, struct duck_result * result))             \
	F(uint64_t, column_count, (struct duck_result * result))                                             \
	F(const char *, column_name, (struct duck_result * result, uint64_t column))                         \
	F(int, column_type, (struct duck_result * result, uint64_t column))                                  \
	F(duck_handle, fetch_chunk, (struct duck_result result))                                             \
	F(void, destroy_data_chunk, (duck_handle * chunk))                                                   \
	F(uint64_t, data_chunk_get_size, (duck_handle chunk))                                                \
	F(void, data_chunk_set_size, (duck_handle chunk, uint64_t rows))                                     \
	F(duck_handle, data_chunk_get_vector, (duck_handle chunk, uint64_t column))                          \
	F(void *, vector_get_data, (duck_handle vector))                                                     \
	F(uint64_t *, vector_get_validity, (duck_handle vector))                                             \
	F(void, vector_ensure_validity_writable, (duck_handle vector))                                       \
	F(void, vector_assign_string_element_len,                                                            \
	  (duck_handle vector, uint64_t row, const char *text, uint64_t length))                             \
	F(uint64_t, vector_size, (void))                                                                     \
	F(duck_handle, create_logical_type, (int type))                                                      \
	F(void, destroy_logical_type, (duck_handle * type))                                                  \
	F(duck_handle, create_table_function, (void))                                                        \
	F(void, destroy_table_function, (duck_handle * function))                                            \
	F(void, table_function_set_name, (duck_handle function, const char *name))                           \
	F(void, table_function_set_extra_info, (duck_handle function, void *data, void (*destroy)(void *)))  \
	F(void, table_function_add_named_parameter,                                                          \
	  (duck_handle function, const char *name, duck_handle type))                                        \
	F(void, table_function_set_bind, (duck_handle function, duck_callback callback))                     \
	F(void, table_function_set_init, (duck_handle function, duck_callback callback))                     \
	F(void, table_function_set_local_init, (duck_handle function, duck_callback callback))               \
	F(void, table_function_set_function,                                                                 \
	  (duck_handle function, void (*callback)(duck_handle info, duck_handle chunk)))                     \
	F(void, table_function_supports_projection_pushdown, (duck_handle function, bool supports))          \
	F(int, register_table_function, (duck_handle connection, duck_handle function))                      \
	F(void *, bind_get_extra_info, (duck_handle info))                                                   \
	F(void, bind_add_result_column, (duck_handle info, const char *name, duck_handle type))              \
	F(duck_handle, bind_get_named_parameter, (duck_handle info, const char *name))                       \
	F(void, bind_set_bind_data, (duck_handle info, void *data, void (*destroy)(void *)))                 \
	F(void, bind_set_cardinality, (duck_handle info, uint64_t rows, bool exact))                         \
	F(void, bind_set_error, (duck_handle info, const char *text))                                        \
	F(int64_t, get_int64, (duck_handle value))                                                           \
	F(bool, is_null_value, (duck_handle value))                                                          \
	F(void, destroy_value, (duck_handle * value))                                                        \
	F(void *, init_get_bind_data, (duck_handle info))                                                    \
	F(uint64_t, init_get_column_count, (duck_handle info))                                               \
	F(uint64_t, init_get_column_index, (duck_handle info, uint64_t number))                              \
	F(void, init_set_init_data, (duck_handle info, void *data, void (*destroy)(void *)))                 \
	F(void, init_set_max_threads, (duck_handle info, uint64_t threads))                                  \
	F(void, init_set_error, (duck_handle info, const char *text))                                        \
	F(void *, function_get_init_data, (duck_handle info))                                                \
	F(void *, function_get_local_init_data, (duck_handle info))                                          \
	F(void, function_set_error, (duck_handle info, const char *text))                                    \
	F(duck_handle, create_scalar_function, (void))                                                       \
	F(void, destroy_scalar_function, (duck_handle * function))                                           \
	F(void, scalar_function_set_name, (duck_handle function, const char *name))                          \
	F(void, scalar_function_add_parameter, (duck_handle function, duck_handle type))                     \
	F(void, scalar_function_set_return_type, (duck_handle function, duck_handle type))                   \
	F(void, scalar_function_set_extra_info, (duck_handle function, void *data, void (*destroy)(void *))) \
	F(void, scalar_function_set_function,                                                                \
	  (duck_handle function, void (*callback)(duck_handle info, duck_handle chunk, duck_handle vector))) \
	F(void *, scalar_function_get_extra_info, (duck_handle info))                                        \
	F(int, register_scalar_function, (duck_handle connection, duck_handle function))

struct duck_library {
	void *loaded;
#define DUCK_MEMBER(result, name, arguments) result(*name) arguments;
	DUCK_FUNCTIONS(DUCK_MEMBER)
#undef DUCK_MEMBER
};

/* It is loaded once. */
extern struct duck_library duck;

/* duck_library_load - @path: of libduckdb.so; NULL: where the loader finds it. Return: false: @message says why. */
bool duck_library_load(const char *path, char *message, size_t bytes);

#endif
