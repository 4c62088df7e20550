#include "formats/mdf_bus.h"

#include <string.h>

#include "base/allocate.h"
#include "formats/mdf_fields.h"

enum { BUFFER = 1 << 16 };

// The channels of a frame.
typedef enum part { ID, BYTES, EXTENDED, BUS, LENGTH, CODE, DIRECTION, TIME, PARTS } part;
static const char *const part_name[] = {"ID", "DataBytes", "IDE", "BusChannel", "DataLength", "DLC", "Dir"};

// A group of frames.
typedef struct frames {
  int group;
  int channel[PARTS];  // index of the channel; -1: the group has no such channel
  od_mdf_cursor records;
  od_mdf_field field[PARTS];
  double scale;  // factor that converts the times to s
  double now;    // time of the current frame, s
  bool has_record;
} frames;

typedef struct bus {
  const od_mdf_log *log;
  od_mdf_budget budget;
  frames *group;
  int groups;
  bool is_started, is_cut;
} bus;

// Returns whether a channel is this part of a frame.
static bool is_part(const od_mdf_channel *c, const char *name) {
  static const char frame[] = "CAN_DataFrame";
  const char *last = strrchr(c->name, '.'), *own = last ? last + 1 : c->name;
  size_t length = sizeof frame - 1, before = last ? (size_t)(last - c->name) : 0;
  bool is_named = before >= length && strncmp(last - length, frame, length) == 0;
  return strcmp(own, name) == 0 && (is_named || strcmp(c->parent, frame) == 0);
}

// Finds the channels of a frame in a group. Returns whether the group has frames.
static bool find_parts(const od_mdf_contents *all, int group, int *channel) {
  const od_mdf_group *g = &all->group[group];
  for (int p = 0; p < PARTS; p++) channel[p] = -1;
  channel[TIME] = g->time;
  for (int i = g->first; i < g->first + g->channels; i++)
    for (int p = 0; p < TIME; p++)
      if (channel[p] < 0 && is_part(&all->channel[i], part_name[p])) channel[p] = i;
  return channel[ID] >= 0 && channel[BYTES] >= 0 && channel[TIME] >= 0;
}

static void stop(bus *b) {
  for (int i = 0; i < b->groups; i++) {
    od_mdf_cursor_free(&b->group[i].records);
    for (int p = 0; p < PARTS; p++) od_mdf_field_free(&b->group[i].field[p]);
  }
  b->budget = (od_mdf_budget){0};
  b->is_started = b->is_cut = false;
}

static void close_bus(void *source) {
  bus *b = source;
  stop(b);
  od_free(b->group);
  od_free(b);
}

od_status od_mdf_bus_open(const od_mdf_log *log, void **out, od_error *err) {
  int channel[PARTS], count = 0;
  *out = NULL;
  for (int g = 0; g < log->all.groups; g++) count += find_parts(&log->all, g, channel);
  if (count == 0) return OD_OK;
  bus *b = od_calloc(1, sizeof *b);
  if (b) b->group = od_calloc((size_t)count, sizeof *b->group);
  if (!b || !b->group) {
    od_free(b);
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", log->path);
  }
  b->log = log;
  for (int g = 0; g < log->all.groups; g++) {
    if (!find_parts(&log->all, g, channel)) continue;
    frames *f = &b->group[b->groups++];
    f->group = g;
    memcpy(f->channel, channel, sizeof channel);
  }
  *out = b;
  return OD_OK;
}

static od_status again(const void *source, void **out, od_error *err) {
  return od_mdf_bus_open(((const bus *)source)->log, out, err);
}

// Reads the next record of a group, and skips records whose time is missing. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status advance(bus *b, frames *f, od_error *err) {
  do {
    od_status status = od_mdf_cursor_next(&f->records, &f->has_record, err);
    if (status == OD_OK && f->has_record) status = od_mdf_field_value(&f->field[TIME], &f->records, &f->now, err);
    if (status != OD_OK) return status;
    f->now *= f->scale;
  } while (f->has_record && !isfinite(f->now));
  b->is_cut = b->is_cut || f->records.is_cut;
  return OD_OK;
}

// Begins the reading of a group. Groups of one data group share a scan. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status start_group(bus *b, frames *f, od_error *err) {
  const od_mdf_contents *all = &b->log->all;
  od_mdf_cursor *shared = NULL;
  for (frames *other = b->group; other < f && !shared; other++)
    if (all->group[other->group].part == all->group[f->group].part) shared = &other->records;
  od_status status =
      od_mdf_cursor_init(&f->records, &b->log->file, all, f->group, &b->budget, BUFFER, shared, false, err);
  for (int p = 0; p < PARTS && status == OD_OK; p++)
    if (f->channel[p] >= 0)
      status = od_mdf_field_init(&f->field[p], &b->log->file, all, f->channel[p], 0, true, &b->budget, BUFFER, err);
  f->scale = od_mdf_time_scale(all->channel[f->channel[TIME]].unit);
  return status;
}

static od_status start(bus *b, od_error *err) {
  od_status status = OD_OK;
  for (int i = 0; status == OD_OK && i < b->groups; i++) status = start_group(b, &b->group[i], err);
  for (int i = 0; status == OD_OK && i < b->groups; i++) status = advance(b, &b->group[i], err);
  b->is_started = true;
  return status;
}

// Computes the value of a part of the current frame; 0 if there is no such channel or no value from 0 to UINT32_MAX. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status number_of(frames *f, part p, double *value, od_error *err) {
  *value = 0;
  if (f->channel[p] < 0) return OD_OK;
  od_status status = od_mdf_field_value(&f->field[p], &f->records, value, err);
  if (!isfinite(*value) || *value < 0 || *value > UINT32_MAX) *value = 0;
  return status;
}

// Fills the data of the current frame. The number of bytes is the length of the field, or less if the frame states a
// smaller number. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status take_bytes(bus *b, frames *f, od_can_frame *frame, od_error *err) {
  static const uint8_t coded[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64};
  const unsigned char *bytes;
  size_t length;
  double stated;
  part p = f->channel[LENGTH] >= 0 ? LENGTH : CODE;
  od_status status = od_mdf_field_bytes(&f->field[BYTES], &f->records, &bytes, &length, err);
  if (status == OD_OK) status = number_of(f, p, &stated, err);
  if (status != OD_OK) return status;
  b->is_cut = b->is_cut || f->field[BYTES].is_cut;
  if (p == CODE && f->channel[CODE] >= 0) stated = coded[stated < 15 ? (int)stated : 15];
  if (length > OD_CAN_BYTES) length = OD_CAN_BYTES;
  if (f->channel[p] >= 0 && stated < (double)length) length = (size_t)stated;
  frame->length = (uint8_t)(bytes ? length : 0);
  memset(frame->data, 0, sizeof frame->data);
  if (bytes) memcpy(frame->data, bytes, length);
  return OD_OK;
}

// Fills the current frame of a group. Some files mark identifiers of 29 bits by their highest bit. Fails with OD_BAD_INPUT, OD_IO
// or OD_NO_MEMORY.
static od_status take_frame(bus *b, frames *f, od_can_frame *frame, od_error *err) {
  const uint32_t extended = UINT32_C(1) << 31, all_bits = (UINT32_C(1) << 29) - 1, short_bits = (1 << 11) - 1;
  double id, is_extended, number, is_sent;
  od_status status = number_of(f, ID, &id, err);
  if (status == OD_OK) status = number_of(f, EXTENDED, &is_extended, err);
  if (status == OD_OK) status = number_of(f, BUS, &number, err);
  if (status == OD_OK) status = number_of(f, DIRECTION, &is_sent, err);
  if (status == OD_OK) status = take_bytes(b, f, frame, err);
  if (status != OD_OK) return status;
  uint32_t bits = (uint32_t)id;
  bool is_long = is_extended > 0 || (bits & extended) || (bits & all_bits) > short_bits;
  frame->time = f->now;
  frame->id = bits & all_bits;
  frame->bus = (uint16_t)(number < OD_CAN_BUSES ? number : 0);
  frame->flags = (uint8_t)((is_long ? OD_CAN_EXTENDED : 0) | (is_sent > 0 ? OD_CAN_SENT : 0));
  return OD_OK;
}

static od_status next(void *source, od_can_frame *frame, bool *end, od_error *err) {
  bus *b = source;
  od_error own = {0};
  if (!err) err = &own;
  od_status status = b->is_started ? OD_OK : start(b, err);
  if (status != OD_OK) return status;
  frames *first = NULL;
  for (frames *f = b->group; f < b->group + b->groups; f++)
    if (f->has_record && (!first || f->now < first->now)) first = f;
  *end = !first;
  if (!first) return OD_OK;
  status = take_frame(b, first, frame, err);
  return status == OD_OK ? advance(b, first, err) : status;
}

static void rewind_bus(void *source) {
  stop(source);
}

static bool is_cut(const void *source) {
  return ((const bus *)source)->is_cut;
}

static const char *start_time(const void *source) {
  return ((const bus *)source)->log->all.start_time;
}

const od_can_source od_mdf_bus_source = {
    .again = again, .close = close_bus, .next = next, .rewind = rewind_bus, .is_cut = is_cut, .start_time = start_time};
