// Messages of sources: the first byte chooses form and columns, each line is a message. The samples pass through the rules of their order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "samples/message.h"
#include "samples/sample_order.h"

static double last;
static void take(void *user, const od_raw_sample *s) {
  (void)user;
  if (!(s->t > last)) abort();  // the order is strict
  last = s->t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static double cells[OD_MOST_CELLS];
  static const char *names[] = {"seq", "time", "p [bar]", NULL};
  static const od_table_wish wish = {.time = "time", .time_form = "dd/mm/yyyy"};
  if (size == 0) return 0;
  const od_twin_source source = {
      .name = "fuzz", .form = data[0] & 1 ? OD_MESSAGE_JSON : OD_MESSAGE_CSV, .column = data[0] & 2 ? names : NULL};
  od_message_reader reader;
  od_sample_order order;
  od_arena memory = {0};
  od_error err = {0};
  last = -INFINITY;
  if (od_message_begin(&reader, &source, data[0] & 8 ? &wish : NULL, &err) != OD_OK ||
      od_sample_order_init(&order, &memory, data[0] & 4 ? 0.5 : 0, 1, -INFINITY, -1) != OD_OK)
    abort();
  order.pass = take;
  const char *text = (const char *)data + 1, *end = (const char *)data + size;
  while (text < end) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    const size_t length = (size_t)((stop ? stop : end) - text);
    const od_message_use use = od_message_read(&reader, text, length, cells, &err);
    const int columns = od_message_columns(&reader) ? od_message_columns(&reader)->columns : 0;
    if (use == OD_USE_SAMPLE && columns >= 2 && isfinite(cells[1])) {
      const bool is_number = cells[0] >= 0 && cells[0] <= 9007199254740992.0;
      od_sample_order_take(
          &order, &(od_raw_sample){.t = cells[1], .sequence = is_number ? (int64_t)cells[0] : -1, .cell = cells});
    }
    text += length + 1;
  }
  od_sample_order_flush(&order);
  if (order.ranges < 0 || order.ranges > OD_MOST_RANGES || order.counts.missing < 0) abort();
  od_message_end(&reader);
  od_arena_free(&memory);
  return 0;
}
