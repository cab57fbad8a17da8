/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A data directory for uftrace; see uftrace_export.h. */
#include <errno.h>

#include "export/uftrace/uftrace_export.h"
#include "export/uftrace/uftrace_images.h"
#include "export/uftrace/uftrace_order.h"
#include "export/uftrace/uftrace_tasks.h"

static void uftrace_export_describe(const struct uftrace_order *order,
				    const struct uftrace_directory *directory, struct uftrace_export *result)
{
	*result = (struct uftrace_export){ .calls = order->call_count,
					   .open = order->open_count,
					   .events = order->event_count,
					   .samples = order->sample_count,
					   .other_stacks = order->other_stacks,
					   .left_out = order->left_out,
					   .lost = order->lost,
					   .deepest = uftrace_order_deepest(order),
					   .bytes = directory->bytes };
	for (size_t n = 0; n < order->lane_count; n++) {
		result->tasks += order->lanes[n].words != 0;
		result->bytes += order->lanes[n].words * sizeof(uint64_t);
	}
}

int uftrace_export(const struct burin_trace *trace, int directory, struct uftrace_export *result)
{
	struct uftrace_directory files = { .fd = directory };
	struct uftrace_images images = { .count = 0 };
	struct uftrace_order order = { .trace = trace, .directory = &files };
	struct burin_calls *calls;
	int error = burin_calls_open(&calls, trace);

	*result = (struct uftrace_export){ 0 };
	if (error)
		return error;
	order.calls = calls;
	error = uftrace_order_count(&order);
	if (!error && !order.call_count && !order.open_count)
		error = -ENODATA;
	if (!error)
		error = uftrace_images_write(&images, calls, &files);
	if (!error)
		error = uftrace_tasks_write(&order, &files);
	order.addresses = images.addresses;
	if (!error)
		error = uftrace_order_write(&order);
	if (error)
		uftrace_directory_remove(&files);
	else
		uftrace_export_describe(&order, &files, result);
	uftrace_order_free(&order);
	uftrace_images_free(&images);
	uftrace_directory_free(&files);
	burin_calls_close(calls);
	return error;
}
