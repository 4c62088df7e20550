// Messages of Sparkplug B: the first byte chooses columns and device. Each message is a byte for its topic, two bytes for its length, and the
// payload. The samples pass through the rules of their order.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fuzz/fuzz.h"
#include "samples/sample_order.h"
#include "sources/sparkplug_node.h"
#include "sources/sparkplug_payload.h"

typedef struct taker {
  od_sample_order order;
  const od_table *head;
  double last;
  int64_t number;
} taker;

static void take(void *user, const od_raw_sample *s) {
  taker *t = user;
  if (!(s->t > t->last)) abort();  // the order is strict
  t->last = s->t;
}

static void take_cells(void *user, const od_table *head, const double *cells, bool is_historical) {
  taker *t = user;
  if (t->head && t->head != head) abort();  // the columns are final
  t->head = head;
  if (cells[0] > 1e12 || cells[0] < 0) abort();
  if (isfinite(cells[0]))
    od_sample_order_take(
        &t->order, &(od_raw_sample){.t = cells[0], .sequence = -1, .is_historical = is_historical, .cell = cells});
}

static void take_number(void *user, int64_t number) {
  taker *t = user;
  if (number < -1) abort();
  if (number > t->number + 2 * 256) abort();  // at most 255 are lost, and a birth begins with the next 256
  if (number > t->number) t->number = number;
  od_sample_order_number(&t->order, number);
}

static void take_event(void *user, const char *kind, const char *text) {
  (void)user;
  if (!kind[0] || !text[0]) abort();
}

static void refuse(void *user, const char *why) {
  (void)user;
  if (!why[0]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *columns[] = {"p [bar]", "u", NULL};
  static const char *const kinds[] = {"NBIRTH", "NDEATH", "NDATA", "DBIRTH", "DDEATH", "DDATA", "NCMD", "STATE"};
  static taker t;
  if (size == 0) return 0;
  const od_twin_source source = {.name = "fuzz",
                                 .type = OD_SOURCE_SPARKPLUG,
                                 .group = "g",
                                 .node = "n",
                                 .device = data[0] & 1 ? "d" : NULL,
                                 .column = data[0] & 2 ? columns : NULL};
  const od_receiver to = {
      .cells = take_cells, .number = take_number, .event = take_event, .refuse = refuse, .user = &t};
  od_sparkplug_node *node = NULL;
  od_arena memory = {0};
  od_error err = {0};
  double now = 0;
  t.head = NULL;
  t.last = -INFINITY;
  t.number = -1;
  if (od_sparkplug_node_new(&source, &node, &err) != OD_OK ||
      od_sample_order_init(&t.order, &memory, data[0] & 4 ? 0.5 : 0, 1, -INFINITY, -1) != OD_OK)
    abort();
  t.order.pass = take;
  t.order.user = &t;
  for (size_t at = 1; at + 3 <= size;) {
    char topic[64];
    const uint8_t what = data[at];
    size_t length = (size_t)(data[at + 1] | data[at + 2] << 8);
    at += 3;
    if (length > size - at) length = size - at;
    snprintf(topic, sizeof topic, "spBv1.0/g/%s/n%s", kinds[what & 7],
             (what & 7) >= 3 && (what & 7) <= 5 ? (what & 8 ? "/e" : "/d") : "");
    if (what & 64) od_sparkplug_node_connect(node, now);
    od_sparkplug_node_take(node, topic, data + at, length, now, &to);
    (void)od_sparkplug_node_asks(node, now);
    now += what & 16 ? 2 : 0.01;
    at += length;
  }
  od_sample_order_flush(&t.order);
  if (t.order.ranges < 0 || t.order.ranges > OD_MOST_RANGES || t.order.counts.missing < 0) abort();
  od_sparkplug_node_free(node);
  od_arena_free(&memory);
  return 0;
}
