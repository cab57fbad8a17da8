/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * burin/kernel.h - tracepoints for modules of the kernel; manual: kernel/README.md.
 *
 *	BURIN_TRACE("net.rx", "len=%u proto=%s", len, proto);
 *
 * The macros are those of burin/burin.h, without floating-point arguments. A tracepoint that is off is a NOP.
 * A module with tracepoints depends on burin.ko, which finds them when the module is loaded.
 *
 * Context: any, NMIs included.
 */
#ifndef BURIN_KERNEL_H
#define BURIN_KERNEL_H

#include <linux/container_of.h>
#include <linux/jump_label.h>
#include <linux/types.h>

#define BURIN__KERNEL 1
#include <burin/burin.h>

#define BURIN__KERNEL_MAGIC	 0x4b4e495255423031ull
#define BURIN__KERNEL_ENUM_MAGIC 0x4b4e495255423032ull

/* The beginning of what burin.ko finds by the module's jump labels: their keys are at a known place in it. */
struct burin_kernel_mark {
	uint64_t magic;
	struct burin_kernel_mark *self; /* with the magic: this is one */
	struct static_key_false key;
};

/* One tracepoint. */
struct burin_kernel_site {
	struct burin_kernel_mark mark;
	struct burin_site site;
	u32 head;			/* of its records, if they have a fixed size: id | length << 16 */
	struct burin_kernel_site *next; /* of the same event */
	struct module *module;
};

/* One BURIN_ENUM. */
struct burin_kernel_enum {
	struct burin_kernel_mark mark;
	struct burin_enum names;
};

/* burin_emit_N - record N words behind the header's first: the thread's id, `a`, then the rest of the payload. @head: of the site */
void burin_emit_2(u32 head, u32 a);
void burin_emit_3(u32 head, u32 a, u64 b);
void burin_emit_4(u32 head, u32 a, u64 b, u64 c);
void burin_emit_5(u32 head, u32 a, u64 b, u64 c, u64 d);
void burin_emit_6(u32 head, u32 a, u64 b, u64 c, u64 d, u64 e);

#ifndef BURIN__KERNEL_OWN
/* Only one of the calls is compiled. The others may read words that the record has not. The payload begins in the upper half of
 * the buffer's third word. */
static __always_inline void burin__kernel_emit(struct burin_site *site, uint64_t *buffer, size_t bytes)
{
	const u32 head = container_of(site, struct burin_kernel_site, site)->head, a = (u32)(buffer[2] >> 32);

	switch ((12 + bytes + 7) / 8) {
	case 2:
		burin_emit_2(head, a);
		break;
	case 3:
		burin_emit_3(head, a, buffer[3]);
		break;
	case 4:
		burin_emit_4(head, a, buffer[3], buffer[4]);
		break;
	case 5:
		burin_emit_5(head, a, buffer[3], buffer[4], buffer[5]);
		break;
	case 6:
		burin_emit_6(head, a, buffer[3], buffer[4], buffer[5], buffer[6]);
		break;
	default:
		burin_emit(site, 1, buffer, bytes);
	}
}
#define burin_emit(site, state, buffer, bytes) burin__kernel_emit(site, buffer, bytes)
#endif

/* clang-format off */

#define BURIN__KERNEL_SITE(variable, name_, format_, kind_, types_) \
	static struct burin_kernel_site variable = { \
		.mark = { BURIN__KERNEL_MAGIC, &variable.mark, STATIC_KEY_FALSE_INIT }, \
		.site = { .state = &burin__off, .name = name_, .format = format_, .file = __FILE__, .types = types_, \
			  .line = __LINE__, .kind = (kind_) & 255, .level = (kind_) >> 8 } }

#define BURIN__NO_FLOAT(k, before, x) && burin__type_##k != 10 && burin__type_##k != 11 && burin__type_##k != 26 && burin__type_##k != 27

#define BURIN__POINT(n, kind, name, suffix, format, check, declare, put, then, with, ...) \
	do { \
		BURIN__LAYOUT(n, declare, __VA_ARGS__) \
		BURIN__ASSERT(1 BURIN__EACH_##n(BURIN__NO_FLOAT, __VA_ARGS__), "Burin: the kernel has no floating-point numbers"); \
		BURIN__KERNEL_SITE(burin__kernel_site, "" name "" suffix, format, kind, \
				   (0ull BURIN__EACH_##n(BURIN__TYPES, __VA_ARGS__))); \
		BURIN__ASSERT_NAME(name, suffix) \
		check(n, format, __VA_ARGS__) \
		if (static_branch_unlikely(&burin__kernel_site.mark.key)) { \
			struct burin_site *const burin__site = &burin__kernel_site.site; \
			const unsigned burin__state = 1; \
			BURIN__RECORD(n, put, then, with, name, __VA_ARGS__) \
		} \
	} while (0)

/* The end of a scope. Its branch does nothing; it is there so that burin.ko finds the site. */
#define BURIN__SITE(variable, name_, format_, kind_, types_) \
	do { \
		BURIN__KERNEL_SITE(burin__end_site, name_, format_, kind_, types_); \
		if (static_branch_unlikely(&burin__end_site.mark.key)) \
			barrier(); \
		(variable) = &burin__end_site.site; \
	} while (0)

/* Nothing calls the function. Its jump label is there so that burin.ko finds the names. */
#define BURIN_ENUM(name_, ...) \
	static const struct burin_label burin__labels_##name_[] = { __VA_ARGS__, BURIN__NO_LABEL }; \
	static struct burin_kernel_enum burin__enum_##name_; \
	static __used __cold void burin__enum_mark_##name_(void) \
	{ \
		if (static_branch_unlikely(&burin__enum_##name_.mark.key)) \
			barrier(); \
	} \
	static struct burin_kernel_enum burin__enum_##name_ = { \
		.mark = { BURIN__KERNEL_ENUM_MAGIC, &burin__enum_##name_.mark, STATIC_KEY_FALSE_INIT }, \
		.names = { #name_, burin__labels_##name_ } }

/* clang-format on */

/*
 * burin_probe_set - call a function each time an event is reached, beside recording it and also while it is off.
 * @name: the event's exact name. It must exist
 * @fn: NULL removes it. It receives the payload as recorded (docs/format.md, "Payload") and the event's description,
 *	and runs with preemption off, perhaps in an interrupt or an NMI
 * An event has one function. Once it is removed, by its module, no call of it runs any more.
 * Context: may sleep. Return: 0; -ENOENT: no such event; -EBUSY: it has another function; -ENOMEM.
 */
int burin_probe_set(const char *name, burin_callback *fn, void *data);

#endif
