/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parses records of the kernel's rings; see perf_record.h.
 *
 * The layouts are those of `enum perf_event_type` in include/uapi/linux/perf_event.h. A sample has its fields
 * in the order of that comment, each only if its bit of sample_type is set. All other records end in a
 * trailer, since events have sample_id_all: pid, tid and time.
 *
 * Records come from the kernel, but also from programs that sample themselves (preload_reader.c). So no
 * length is believed: each field is taken from the rest of the record, and a missing one sets ->overrun, once
 * for all. Fields behind it are 0 or NULL, and the record is damaged as a whole. Nothing is copied but
 * numbers and build ids; arrays and texts point into the record, so they live as long as its chunk.
 */
#include <string.h>

#include <linux/perf_event.h>

#include "source/perf/rings/perf_record.h"

enum {
	TRAILER = 16, /* pid, tid, time: the end of all records but samples */
	SAMPLE_KNOWN = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
		       PERF_SAMPLE_STACK_USER,
};

/* The unread rest of a record. `overrun`: a field was missing or invalid. */
struct rest {
	const unsigned char *at, *end;
	bool overrun;
};

static const void *perf_record_take(struct rest *rest, uint64_t bytes)
{
	const void *at = rest->at;

	if ((uint64_t)(rest->end - rest->at) < bytes) {
		rest->overrun = true;
		return NULL;
	}
	rest->at += bytes;
	return at;
}

static uint64_t take_u64(struct rest *rest)
{
	const void *at = perf_record_take(rest, 8);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, 8);
	return value;
}

static uint32_t take_u32(struct rest *rest)
{
	const void *at = perf_record_take(rest, 4);
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, 4);
	return value;
}

/* An array of u64s; all @count of them must be there. */
static const uint64_t *take_array(struct rest *rest, uint64_t count)
{
	/* A division, since the product of a foreign count could wrap. */
	if (count > (uint64_t)(rest->end - rest->at) / 8) {
		rest->overrun = true;
		return NULL;
	}
	return perf_record_take(rest, count * 8);
}

/* The rest, which must be a NUL-terminated text. */
static const char *perf_record_take_text(struct rest *rest)
{
	const char *text = (const char *)rest->at;

	if (!memchr(text, 0, (size_t)(rest->end - rest->at))) {
		rest->overrun = true;
		return "";
	}
	return text;
}

static void header_of(const void *bytes, struct perf_event_header *header)
{
	memcpy(header, bytes, sizeof(*header));
}

static enum record_mode mode_of(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return RECORD_MODE_KERNEL;
	case PERF_RECORD_MISC_USER:
		return RECORD_MODE_USER;
	default:
		return RECORD_MODE_NONE;
	}
}

static void take_user(struct rest *rest, uint64_t sample_type, uint64_t registers, struct record_user *user)
{
	uint64_t bytes, valid;

	if (sample_type & PERF_SAMPLE_REGS_USER) {
		user->abi = take_u64(rest);
		user->register_count = user->abi ? (unsigned)__builtin_popcountll(registers) : 0;
		user->registers = take_array(rest, user->register_count);
	}
	if (sample_type & PERF_SAMPLE_STACK_USER) {
		bytes = take_u64(rest);
		user->stack = bytes ? perf_record_take(rest, bytes) : NULL;
		/*
		 * Behind the stack is how much of it the kernel could copy; the field is missing if the copy
		 * has no bytes.
		 */
		valid = bytes ? take_u64(rest) : 0;
		user->stack_bytes = valid < bytes ? valid : bytes;
	}
}

static void perf_record_take_sample(struct rest *rest, uint64_t sample_type, uint64_t registers,
				    uint16_t misc, struct record *out)
{
	struct record_sample *sample = &out->sample;

	sample->mode = mode_of(misc);
	sample->ip = take_u64(rest);
	out->pid = take_u32(rest);
	out->tid = take_u32(rest);
	out->time = take_u64(rest);
	if (sample_type & PERF_SAMPLE_PERIOD)
		sample->period = take_u64(rest);
	if (sample_type & PERF_SAMPLE_CALLCHAIN) {
		sample->chain_count = take_u64(rest);
		sample->chain = take_array(rest, sample->chain_count);
	}
	if (sample_type & PERF_SAMPLE_RAW) {
		sample->raw_bytes = take_u32(rest);
		sample->raw = perf_record_take(rest, sample->raw_bytes);
	}
	take_user(rest, sample_type, registers, &sample->user);
}

static void perf_record_take_map(struct rest *rest, uint16_t misc, struct record *out)
{
	struct record_map *map = &out->map;
	const unsigned char *id;

	out->pid = take_u32(rest);
	out->tid = take_u32(rest);
	map->begin = take_u64(rest);
	map->bytes = take_u64(rest);
	map->offset = take_u64(rest);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		/* A size of one byte, three unused ones, 20 of the id. */
		id = perf_record_take(rest, 24);
		if (id && id[0] <= RECORD_BUILD_ID_MAX) {
			map->build_id_bytes = id[0];
			memcpy(map->build_id, id + 4, id[0]);
		}
	} else {
		map->major = take_u32(rest);
		map->minor = take_u32(rest);
		map->inode = take_u64(rest);
		map->generation = take_u64(rest);
	}
	perf_record_take(rest, 8); /* protection, flags */
	map->path = perf_record_take_text(rest);
	/* Mappings are kept by begin and end: an empty one, or one that wraps, would lie nowhere. */
	if (map->bytes == 0 || map->begin + map->bytes < map->begin)
		rest->overrun = true;
}

static void perf_record_take_task(struct rest *rest, struct record *out)
{
	out->pid = take_u32(rest);
	out->parent_pid = take_u32(rest);
	out->tid = take_u32(rest);
	out->parent_tid = take_u32(rest);
}

static void take_trailer(struct rest *rest, struct record *out)
{
	out->pid = take_u32(rest);
	out->tid = take_u32(rest);
	out->time = take_u64(rest);
}

/* The trailer at the record's end; @rest ends before it then. */
static void take_last(struct rest *rest, struct record *out)
{
	struct rest trailer = { rest->end - TRAILER, rest->end, false };

	if (rest->end - rest->at < TRAILER) {
		rest->overrun = true;
		return;
	}
	take_trailer(&trailer, out);
	rest->end -= TRAILER;
}

/*
 * The kernel adds the trailer's bytes to the record's length once more for each event that it writes the record for (seen in
 * 6.18): all but the first get a record with bytes of earlier ones at its end. So the trailer is found behind the name, which
 * is padded to 8 bytes.
 */
static void take_kernel_code(struct rest *rest, struct record *out)
{
	uint32_t kind;

	out->map.begin = take_u64(rest);
	out->map.bytes = take_u32(rest);
	kind = take_u32(rest); /* u16 type, u16 flags */
	out->gone = kind >> 16 & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	out->name = perf_record_take_text(rest);
	perf_record_take(rest, (strlen(out->name) / 8 + 1) * 8);
	take_trailer(rest, out);
}

enum record_kind record_kind_of(const void *bytes)
{
	struct perf_event_header header;

	header_of(bytes, &header);
	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		return RECORD_SAMPLE;
	case PERF_RECORD_LOST:
		return RECORD_LOST;
	case PERF_RECORD_THROTTLE:
		return RECORD_THROTTLE;
	case PERF_RECORD_MMAP2:
		return RECORD_MAP;
	case PERF_RECORD_COMM:
		return RECORD_NAME;
	case PERF_RECORD_FORK:
		return RECORD_FORK;
	case PERF_RECORD_EXIT:
		return RECORD_EXIT;
	case PERF_RECORD_KSYMBOL:
		return RECORD_KERNEL_CODE;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return RECORD_SWITCH;
	default:
		return RECORD_OTHER;
	}
}

size_t record_bytes(const void *bytes)
{
	struct perf_event_header header;

	header_of(bytes, &header);
	return header.size;
}

static void take_other(struct rest *rest, uint16_t misc, struct record *out)
{
	switch (out->kind) {
	case RECORD_LOST:
		perf_record_take(rest, 8); /* the event's id */
		out->lost = take_u64(rest);
		break;
	case RECORD_MAP:
		perf_record_take_map(rest, misc, out);
		break;
	case RECORD_NAME:
		out->pid = take_u32(rest);
		out->tid = take_u32(rest);
		out->name = perf_record_take_text(rest);
		out->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		perf_record_take_task(rest, out);
		break;
	case RECORD_SWITCH: /* the thread is in the trailer */
		out->out = misc & PERF_RECORD_MISC_SWITCH_OUT;
		out->preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		break;
	default:
		break;
	}
}

void record_parse(const void *bytes, size_t size, uint64_t sample_type, uint64_t registers,
		  struct record *out)
{
	struct rest rest = { (const unsigned char *)bytes + RECORD_HEAD, (const unsigned char *)bytes + size,
			     false };
	struct perf_event_header header;

	*out = (struct record){ .kind = RECORD_DAMAGED, .name = "" };
	if (size < RECORD_HEAD)
		return;
	header_of(bytes, &header);
	if (header.size != size)
		return;
	out->kind = record_kind_of(bytes);
	if (out->kind == RECORD_SAMPLE) {
		rest.overrun = sample_type & ~(uint64_t)SAMPLE_KNOWN;
		perf_record_take_sample(&rest, sample_type, registers, header.misc, out);
	} else if (out->kind == RECORD_KERNEL_CODE) {
		take_kernel_code(&rest, out);
	} else {
		take_last(&rest, out);
		if (!rest.overrun)
			take_other(&rest, header.misc, out);
	}
	if (rest.overrun)
		out->kind = RECORD_DAMAGED;
}

size_t record_pack(void *to, const void *bytes, size_t size, uint64_t sample_type, uint64_t registers)
{
	struct perf_event_header header;
	struct record record = { .kind = RECORD_OTHER };
	const struct record_user *user = &record.sample.user;
	uint64_t filled, kept;
	size_t front, packed;

	if (sample_type & PERF_SAMPLE_STACK_USER && size >= RECORD_HEAD &&
	    record_kind_of(bytes) == RECORD_SAMPLE)
		record_parse(bytes, size, sample_type, registers, &record);
	filled = user->stack_bytes;
	kept = filled ? (filled + 7) & ~UINT64_C(7)
		      : 8; /* not 0: then the format has no `filled` behind it */
	front = user->stack ? (size_t)(user->stack - (const unsigned char *)bytes) : size;
	packed = front + kept + sizeof(filled);
	if (record.kind != RECORD_SAMPLE || packed >= size) {
		memmove(to, bytes, size);
		return size;
	}
	header_of(bytes, &header);
	header.size = (uint16_t)packed;
	memmove(to, bytes, front + kept);
	memcpy(to, &header, sizeof(header));
	memcpy((char *)to + front - sizeof(kept), &kept, sizeof(kept));
	memcpy((char *)to + front + kept, &filled, sizeof(filled));
	return packed;
}
