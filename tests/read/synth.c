/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writes synthetic traces. It trusts its callers: any error ends the test. */
#include "synth.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/wire_format.h"
#include "wire/wire_event.h"
#include "wire/wire_names.h"
#include "wire/wire_profile.h"
#include "wire/wire_record.h"

enum {
	RINGS_MAX = 40,
	EVENTS_MAX = 256,
	TEXT_MAX = 1 << 16,
};

static const uint8_t trace_uuid[16] = { 0x12, 0x34, 0x56, 0x78, 0x12, 0x34, 0x46, 0x78,
					0x92, 0x34, 0x56, 0x78, 0x12, 0x34, 0x56, 0x78 };
static const char uuid_text[] = "12345678-1234-4678-9234-567812345678";
static const char boot_text[] = "87654321-4321-4765-8432-876543218765";

struct synth_ring {
	struct synth *synth;
	char base[32];
	uint32_t stream_id, instance, cpu;
	FILE *file;
	uint32_t files, packets_in_file;
	unsigned char *packet; /* the current one; NULL: none */
	uint32_t at, last_end; /* next record, and end of the last without padding */
	uint32_t count;	       /* records in it */
	uint64_t sequence, events_before, records, last_time, base_time;
	uint64_t lost[WIRE_LOST_CAUSES];
};

struct synth {
	char path[512];
	struct synth_options options;
	struct wire_event events[EVENTS_MAX];
	uint32_t event_count, text_bytes;
	char text[TEXT_MAX];
	struct synth_ring *rings[RINGS_MAX];
	unsigned ring_count;
	struct synth_ring *names;
};

#define must(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

struct synth *synth_new(const char *path, const struct synth_options *options)
{
	struct synth *synth = calloc(1, sizeof(*synth));
	char extras[600];

	must(synth);
	if (options)
		synth->options = *options;
	options = &synth->options;
	synth->options.packet_bytes = options->packet_bytes ? options->packet_bytes : 4096;
	synth->options.packets_per_file = options->packets_per_file ? options->packets_per_file : 8;
	synth->options.cpus = options->cpus ? options->cpus : 2;
	synth->options.hz = options->hz ? options->hz : 2600000000;
	synth->options.offset_ns = options->offset_ns ? options->offset_ns : 1700000000000000000;
	synth->options.state = options->state ? options->state : "finished";
	synth->options.command = options->command ? options->command : "./demo";
	snprintf(synth->path, sizeof(synth->path), "%s", path);
	snprintf(extras, sizeof(extras), "%s/.burin", path);
	must(!mkdir(path, 0700) && !mkdir(extras, 0700));
	synth->text_bytes = 1;
	return synth;
}

static uint32_t add_text(struct synth *synth, const char *text)
{
	uint32_t at = synth->text_bytes;

	if (!*text)
		return 0;
	must(at + strlen(text) + 1 <= TEXT_MAX);
	strcpy(synth->text + at, text);
	synth->text_bytes += (uint32_t)strlen(text) + 1;
	return at;
}

uint32_t synth_event(struct synth *synth, const char *name, const char *format, uint64_t types, unsigned kind,
		     const char *file, uint32_t line)
{
	must(synth->event_count < EVENTS_MAX);
	synth->events[synth->event_count++] = (struct wire_event){
		.types = types,
		.name = add_text(synth, name),
		.format = add_text(synth, format),
		.file = add_text(synth, file),
		.line = line,
		.kind = (uint16_t)kind,
		.pid = 100,
	};
	return synth->event_count;
}

void synth_refuse(struct synth *synth, uint32_t id, unsigned times, const char *file, uint32_t line)
{
	struct wire_event *event = &synth->events[id - 1];

	event->refused = (uint16_t)times;
	event->refused_file = add_text(synth, file);
	event->refused_line = line;
}

static struct synth_ring *add_ring(struct synth *synth, const char *base, uint32_t stream_id,
				   uint32_t instance, uint32_t cpu)
{
	struct synth_ring *ring = calloc(1, sizeof(*ring));

	must(ring && synth->ring_count < RINGS_MAX);
	synth->rings[synth->ring_count++] = ring;
	ring->synth = synth;
	snprintf(ring->base, sizeof(ring->base), "%s", base);
	ring->stream_id = stream_id;
	ring->instance = instance;
	ring->cpu = cpu;
	return ring;
}

struct synth_ring *synth_ring(struct synth *synth, uint32_t number, bool locked)
{
	char base[32];

	snprintf(base, sizeof(base), "%s%u", locked ? "locked" : "cpu", number);
	return add_ring(synth, base, WIRE_STREAM_RECORDS, number + (locked ? synth->options.cpus : 0),
			locked ? 0 : number);
}

struct synth_ring *synth_samples(struct synth *synth, uint32_t cpu)
{
	char base[32];

	snprintf(base, sizeof(base), "samples%u", cpu);
	return add_ring(synth, base, WIRE_STREAM_RECORDS, WIRE_SAMPLES_INSTANCE + cpu, cpu);
}

struct synth_ring *synth_names(struct synth *synth)
{
	if (!synth->names)
		synth->names = add_ring(synth, "names", WIRE_STREAM_NAMES, UINT32_MAX, 0);
	return synth->names;
}

static void open_packet(struct synth_ring *ring, uint64_t time)
{
	struct wire_packet *packet = calloc(1, ring->synth->options.packet_bytes);

	must(packet);
	ring->packet = (unsigned char *)packet;
	packet->magic = WIRE_MAGIC;
	memcpy(packet->uuid, trace_uuid, sizeof(trace_uuid));
	packet->stream_id = ring->stream_id;
	packet->stream_instance = ring->instance;
	packet->time_begin = packet->base_time = ring->base_time = time;
	packet->sequence = ring->sequence++;
	packet->events_before = ring->events_before;
	packet->cpu = ring->cpu;
	ring->at = ring->last_end = sizeof(*packet);
	ring->count = 0;
}

static void open_file(struct synth_ring *ring)
{
	char path[600];

	if (ring->files)
		snprintf(path, sizeof(path), "%s/%s.%u", ring->synth->path, ring->base, ring->files);
	else
		snprintf(path, sizeof(path), "%s/%s", ring->synth->path, ring->base);
	ring->files++;
	ring->packets_in_file = 0;
	ring->file = fopen(path, "wb");
	must(ring->file);
}

void synth_next_file(struct synth_ring *ring)
{
	synth_close_packet(ring, 0, 0);
	if (ring->file)
		must(!fclose(ring->file));
	ring->file = NULL;
}

void synth_close_packet(struct synth_ring *ring, unsigned overwritten, uint64_t records_overwritten)
{
	struct wire_packet *packet = (struct wire_packet *)ring->packet;
	uint32_t bytes = (ring->last_end + 7) & ~7u;

	if (packet) {
		packet->time_end = ring->count ? ring->last_time : packet->time_begin;
		packet->content_bits = 8 * (uint64_t)ring->last_end;
		if (ring->sequence % 2) /* every other packet fills its slot, as in a ring */
			bytes = ring->synth->options.packet_bytes;
		packet->packet_bits = 8 * (uint64_t)bytes;
		memcpy(packet->lost, ring->lost, sizeof(packet->lost));
		for (unsigned n = 0; n < WIRE_LOST_CAUSES; n++)
			packet->discarded += ring->lost[n];
		if (ring->file && ring->packets_in_file == ring->synth->options.packets_per_file) {
			must(!fclose(ring->file));
			ring->file = NULL;
		}
		if (!ring->file)
			open_file(ring);
		must(fwrite(packet, 1, bytes, ring->file) == bytes);
		ring->packets_in_file++;
		ring->events_before += ring->count;
		free(packet);
		ring->packet = NULL;
	}
	ring->sequence += overwritten;
	ring->events_before += records_overwritten;
	ring->lost[WIRE_LOST_OVERWRITTEN] += records_overwritten;
}

void synth_empty_packet(struct synth_ring *ring, uint64_t time)
{
	synth_close_packet(ring, 0, 0);
	open_packet(ring, time);
	ring->last_time = time;
	synth_close_packet(ring, 0, 0);
}

void synth_lose(struct synth_ring *ring, unsigned cause, uint64_t count)
{
	ring->lost[cause] += count;
}

static void put_header(struct synth_ring *ring, uint64_t time, uint32_t id, uint32_t tid, uint16_t length,
		       bool extended)
{
	unsigned char *at = ring->packet + ring->at;

	if (extended) {
		struct wire_extended header = { WIRE_ID_EXTENDED,	length, id, (uint32_t)time,
						(uint32_t)(time >> 32), tid };

		memcpy(at, &header, sizeof(header));
		((struct wire_packet *)ring->packet)->base_time = ring->base_time = time;
		((struct wire_packet *)ring->packet)->base_offset = ring->at;
	} else {
		struct wire_compact header = { (uint16_t)id, length, (uint32_t)time, tid };

		memcpy(at, &header, sizeof(header));
	}
}

void synth_record(struct synth_ring *ring, uint64_t time, uint32_t id, uint32_t tid, const void *payload,
		  size_t bytes)
{
	size_t header;
	bool extended;

	must(time >= ring->last_time);
	if (!ring->packet)
		open_packet(ring, time);
	extended = time - ring->base_time >= (uint64_t)1 << 32;
	header = extended ? sizeof(struct wire_extended) : sizeof(struct wire_compact);
	if (ring->at + header + bytes > ring->synth->options.packet_bytes) {
		synth_close_packet(ring, 0, 0);
		open_packet(ring, time);
		extended = false;
		header = sizeof(struct wire_compact);
	}
	must(ring->at + header + bytes <= ring->synth->options.packet_bytes);
	put_header(ring, time, id, tid, (uint16_t)(header + bytes), extended);
	if (bytes)
		memcpy(ring->packet + ring->at + header, payload, bytes);
	ring->last_end = ring->at + (uint32_t)(header + bytes);
	ring->at += wire_stride((uint32_t)(header + bytes));
	ring->last_time = time;
	ring->count++;
	ring->records++;
}

static size_t pack(unsigned char *out, const char *pattern, va_list arguments)
{
	unsigned char *start = out;

	for (; *pattern; pattern++) {
		uint64_t value = 0;
		size_t bytes = 0;
		float single;
		double number;
		const char *text = NULL;

		switch (*pattern) {
		case 'b':
		case 'w':
			value = (uint64_t)va_arg(arguments, int);
			bytes = *pattern == 'b' ? 1 : 2;
			break;
		case 'd':
			value = va_arg(arguments, uint32_t);
			bytes = 4;
			break;
		case 'q':
			value = va_arg(arguments, uint64_t);
			bytes = 8;
			break;
		case 'f':
			single = (float)va_arg(arguments, double);
			memcpy(&value, &single, bytes = 4);
			break;
		case 'g':
			number = va_arg(arguments, double);
			memcpy(&value, &number, bytes = 8);
			break;
		case 's':
			text = va_arg(arguments, const char *);
			bytes = strlen(text) + 1;
			break;
		case 'x':
			text = va_arg(arguments, const char *);
			value = (uint64_t)va_arg(arguments, int);
			memcpy(out, &value, 2);
			out += 2;
			bytes = value;
			break;
		default:
			must(!"pattern");
		}
		if (bytes)
			memcpy(out, text ? (const void *)text : &value, bytes);
		out += bytes;
	}
	return (size_t)(out - start);
}

void synth_recordf(struct synth_ring *ring, uint64_t time, uint32_t id, uint32_t tid, const char *pattern,
		   ...)
{
	unsigned char payload[8192];
	va_list arguments;
	size_t bytes;

	va_start(arguments, pattern);
	bytes = pack(payload, pattern, arguments);
	va_end(arguments);
	synth_record(ring, time, id, tid, payload, bytes);
}

void synth_process(struct synth *synth, uint64_t time, uint32_t pid, uint32_t parent, const char *exe,
		   const char *command)
{
	synth_recordf(synth_names(synth), time, WIRE_NAME_PROCESS, pid, "ddssqq", pid, parent, exe, command,
		      UINT64_C(0), UINT64_C(0));
}

void synth_thread(struct synth *synth, uint64_t time, uint32_t tid, uint32_t pid, const char *name)
{
	synth_recordf(synth_names(synth), time, WIRE_NAME_THREAD, tid, "dsqq", pid, name, UINT64_C(0),
		      UINT64_C(0));
}

static FILE *create(const struct synth *synth, const char *name)
{
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", synth->path, name);
	file = fopen(path, "wb");
	must(file);
	return file;
}

static void write_events(const struct synth *synth)
{
	struct wire_events header = { WIRE_EVENTS_MAGIC, synth->event_count, synth->text_bytes, 0 };
	FILE *file = create(synth, ".burin/events");

	must(fwrite(&header, sizeof(header), 1, file) == 1);
	if (synth->event_count)
		must(fwrite(synth->events, sizeof(*synth->events), synth->event_count, file) ==
		     synth->event_count);
	must(fwrite(synth->text, 1, synth->text_bytes, file) == synth->text_bytes);
	must(!fclose(file));
}

static void write_recording(const struct synth *synth)
{
	char text[4097], machine[64] = "", calls[64] = "";
	FILE *file;
	int bytes;

	if (synth->options.machine)
		snprintf(machine, sizeof(machine), "machine=%s\n", synth->options.machine);
	if (synth->options.kernel_calls)
		snprintf(calls, sizeof(calls), "kernel_calls=%s\n", synth->options.kernel_calls);
	bytes = snprintf(
		text, sizeof(text),
		"burin recording 1\nstate=%s\nuuid=%s\nboot_id=%s\nhostname=synthetic\nkernel=Linux 6.1\n%s"
		"clock=tsc\nclock_hz=%llu\nclock_offset_ns=%lld\nmode=stream\npacket_bytes=%u\n"
		"ring_packets=16\ncpus=%u\nlocked=2\ncommand=%s\n%slost_late=0\nlost_names=0\nclock_steps="
		"0\n%s",
		synth->options.state, uuid_text, boot_text, machine, (unsigned long long)synth->options.hz,
		(long long)synth->options.offset_ns, synth->options.packet_bytes, synth->options.cpus,
		synth->options.command,
		strcmp(synth->options.state, "finished") ? "session=/dev/null\n" : "result=exit 0\n", calls);
	file = create(synth, ".burin/recording");
	must(bytes > 0 && bytes < 4096);
	memset(text + bytes, '\n', 4096 - (size_t)bytes);
	must(fwrite(text, 1, 4096, file) == 4096 && !fclose(file));
}

/* Metadata by the format, sufficient for other CTF readers. */
static void write_field(FILE *file, const struct format_field *field)
{
	static const struct {
		unsigned bits, is_signed;
	} integers[] = {
		[WIRE_BOOL] = { 8, 0 }, [WIRE_I8] = { 8, 1 },	[WIRE_I16] = { 16, 1 },
		[WIRE_I32] = { 32, 1 }, [WIRE_I64] = { 64, 1 }, [WIRE_U8] = { 8, 0 },
		[WIRE_U16] = { 16, 0 }, [WIRE_U32] = { 32, 0 }, [WIRE_U64] = { 64, 0 },
		[WIRE_PTR] = { 64, 0 }, [WIRE_CHAR] = { 8, 0 },
	};

	if (field->type == WIRE_STR)
		fprintf(file, "string %s; ", field->name);
	else if (field->type == WIRE_BYTES)
		fprintf(file, "uint16_t __%s_length; uint8_t %s[__%s_length]; ", field->name, field->name,
			field->name);
	else if (field->type == WIRE_F32 || field->type == WIRE_F64)
		fprintf(file, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; } %s; ",
			field->type == WIRE_F32 ? 8 : 11, field->type == WIRE_F32 ? 24 : 53, field->name);
	else
		fprintf(file, "integer { size = %u; align = 8; signed = %u; base = %s; } %s; ",
			integers[field->type].bits, integers[field->type].is_signed,
			strchr("xXp", field->conversion) ? "16" : "10", field->name);
}

static void write_metadata(const struct synth *synth)
{
	FILE *file = create(synth, "metadata");
	int64_t hz = (int64_t)synth->options.hz, seconds = synth->options.offset_ns / 1000000000;

	fprintf(file,
		"/* CTF 1.8 */\n"
		"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
		"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
		"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
		"trace { major = 1; minor = 8; uuid = \"%s\"; byte_order = le; packet.header := struct { "
		"uint32_t magic;\n"
		" uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }; };\n"
		"env { hostname = \"synthetic\"; domain = \"ust\"; tracer_name = \"burin\"; };\n"
		"clock { name = \"clock\"; uuid = \"%s\"; freq = %lld; offset_s = %lld; offset = %lld; "
		"absolute = true; };\n",
		uuid_text, boot_text, (long long)hz, (long long)seconds,
		(long long)((synth->options.offset_ns - seconds * 1000000000) * (__int128)hz / 1000000000));
	fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.clock.value; } := t64;\n"
	      "typealias integer { size = 32; align = 32; signed = false; map = clock.clock.value; } := "
	      "t32a;\n"
	      "typealias integer { size = 64; align = 32; signed = false; map = clock.clock.value; } := "
	      "t64a;\n"
	      "typealias integer { size = 32; align = 32; signed = false; } := u32a;\n",
	      file);
	for (unsigned id = 0; id < 2; id++)
		fprintf(file,
			"stream { id = %u; packet.context := struct { t64 timestamp_begin; t64 "
			"timestamp_end; uint64_t content_size;\n"
			" uint64_t packet_size; uint64_t packet_seq_num; uint64_t events_discarded; uint64_t "
			"cpu_id; } align(1024);\n"
			" event.header := struct { enum : uint16_t { compact = 0 ... 65534, extended = 65535 "
			"} id; variant <id> {\n"
			" struct { t32a timestamp; } compact; struct { u32a id; t64a timestamp; } extended; "
			"} v; } align(64);\n"
			" event.context := struct { uint32_t vtid; }; };\n",
			id);
	for (uint32_t n = 0; n < synth->event_count; n++) {
		struct format format = { .count = 0 };

		format_parse(synth->text + synth->events[n].format, synth->events[n].types, &format, NULL);
		fprintf(file, "event { id = %u; stream_id = 0; name = \"%s\"; fields := struct { ", n + 1,
			synth->text + synth->events[n].name);
		for (unsigned field = 0; field < format.count; field++)
			write_field(file, &format.fields[field]);
		fputs("}; };\n", file);
	}
	fputs("event { id = 1; stream_id = 1; name = \"burin.process\"; fields := struct { uint32_t pid; "
	      "uint32_t parent;\n"
	      " string exe; string command; uint64_t since; uint64_t gone; }; };\n"
	      "event { id = 2; stream_id = 1; name = \"burin.thread\"; fields := struct { uint32_t pid; "
	      "string name; uint64_t since; uint64_t gone; }; };\n",
	      file);
	must(!fclose(file));
}

void synth_finish(struct synth *synth)
{
	for (unsigned n = 0; n < synth->ring_count; n++) {
		synth_close_packet(synth->rings[n], 0, 0);
		if (synth->rings[n]->file)
			must(!fclose(synth->rings[n]->file));
		free(synth->rings[n]);
	}
	write_events(synth);
	write_recording(synth);
	write_metadata(synth);
	free(synth);
}

char *synth_directory(char *path, size_t size)
{
	const char *base = getenv("TMPDIR");

	snprintf(path, size, "%s/burin-test-XXXXXX", base && *base ? base : "/tmp");
	must(mkdtemp(path));
	return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

void synth_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
