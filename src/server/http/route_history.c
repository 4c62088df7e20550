// The history of channels in bins, and the stored frames of the moving pictures. Answers are limited to 100 kB: with many channels there are
// fewer bins.
#include <math.h>
#include <string.h>

#include "http/live.h"

enum {
  MOST_POINTS = 2000,
  DEFAULT_POINTS = 400,
  MOST_BYTES = 100000,
  HEAD_BYTES = 400,
  MOST_CHANNELS = OD_MOST_QUERY_TEXTS
};
// Largest numbers of bytes of a time, and of a value, with their commas.
enum { TIME_BYTES = 18, VALUE_BYTES = 13 };

const od_query_key od_history_query[] = {
    {"channel", OD_QUERY_TEXTS, "name of a channel, such as estimate.A.pressure; may be repeated", 0, 0},
    {"channels", OD_QUERY_LIST, "names of channels, separated by commas", 0, 0},
    {"from", OD_QUERY_NUMBER, "first time, s; default: start of the history", 0, 0},
    {"to", OD_QUERY_NUMBER, "last time, s; default: end of the history", 0, 0},
    {"points", OD_QUERY_WHOLE, "largest number of bins; default 400", 1, MOST_POINTS},
};
const od_query_key od_frames_query[] = {
    {"from", OD_QUERY_NUMBER, "first time, s; default: start of the history", 0, 0},
    {"to", OD_QUERY_NUMBER, "last time, s; default: end of the history", 0, 0},
    {"points", OD_QUERY_WHOLE, "largest number of frames; default 400", 1, MOST_POINTS},
};

// Reads the times of a request, s. If these times are not possible, answers with an error and returns false.
static bool read_times(od_request *r, od_history_span *span, double *from, double *to) {
  if (!r->door->history) {
    od_answer_error(r, 404, "this twin has no history; add the section 'history' to its file");
    return false;
  }
  *span = od_live_span(r->door, r->machine);
  *from = od_query_number(&r->query, "from", isnan(span->first) ? 0 : span->first);
  *to = od_query_number(&r->query, "to", isnan(span->last) ? *from : span->last);
  if (*to < *from || fabs(*from) > 1e12 || fabs(*to) > 1e12) {
    od_answer_error(
        r, 400, "'from' is %.13g s and 'to' is %.13g s; expected 'from' not after 'to', both from -1e12 s to 1e12 s",
        *from, *to);
    return false;
  }
  return true;
}

static void put_head(FILE *to, od_request *r, const od_history_span *span, double from, double until) {
  long alarms;
  const od_machine_status s = od_board_status(r->door->board, r->machine, &alarms);
  fputs("{\"machine\":", to);
  od_put_text(to, r->door->twin->machine[r->machine].name);
  const struct {
    const char *name;
    double value;
  } times[] = {
      {"from", from}, {"to", until}, {"first", span->first}, {"last", span->last}, {"offset", od_clock_offset(&s)}};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    fprintf(to, ",\"%s\":", times[i].name);
    od_put_time(to, times[i].value);
  }
}

static void put_values(FILE *to, const char *name, const double *value, int count,
                       void (*put)(FILE *to, double value)) {
  fprintf(to, ",\"%s\":[", name);
  for (int i = 0; i < count; i++) {
    if (i) putc(',', to);
    put(to, value[i]);
  }
  putc(']', to);
}

// Returns the name of the channel with the standard deviation of a channel; NULL: none.
static const char *sigma_of(od_arena *memory, const char *channel) {
  if (strncmp(channel, "estimate.", 9) == 0) return od_arena_format(memory, "sigma.%s", channel + 9);
  if (strncmp(channel, "innovation.", 11) == 0) return od_arena_format(memory, "innovation_sigma.%s", channel + 11);
  return NULL;
}

// Writes the mean standard deviation for each bin of the channel; null: none.
static void put_sigma(FILE *to, const od_history_bins *bins, const od_history_bins *sigma) {
  int at = 0;
  fputs(",\"sigma\":[", to);
  for (int i = 0; i < bins->count; i++) {
    while (at < sigma->count && sigma->t[at] < bins->t[i]) at++;
    if (i) putc(',', to);
    od_put_value(to, at < sigma->count && sigma->t[at] == bins->t[i] ? sigma->mean[at] : (double)NAN);
  }
  putc(']', to);
}

static void put_series(FILE *to, const char *channel, const od_history_bins *bins, const od_history_bins *sigma) {
  fputs("{\"channel\":", to);
  od_put_text(to, channel);
  fprintf(to, ",\"level\":%d,\"dt\":", bins->level);
  od_put_time(to, bins->width);
  put_values(to, "t", bins->t, bins->count, od_put_time);
  put_values(to, "mean", bins->mean, bins->count, od_put_value);
  if (bins->width > 0) {
    put_values(to, "min", bins->min, bins->count, od_put_value);
    put_values(to, "max", bins->max, bins->count, od_put_value);
  }
  if (sigma) put_sigma(to, bins, sigma);
  putc('}', to);
}

void od_route_history(od_request *r) {
  const char *const *one, *const *list;
  const int ones = od_query_texts(&r->query, "channel", &one), lists = od_query_texts(&r->query, "channels", &list);
  const int channels = ones + lists;
  const char *name[2 * MOST_CHANNELS];
  int sigma[MOST_CHANNELS], count = channels;
  double from, to;
  od_history_span span;
  od_error err = {0};
  if (channels == 0 || channels > MOST_CHANNELS) {
    od_answer_error(r, 400, "found %d channels; expected 1 to %d, as 'channel' or 'channels'", channels, MOST_CHANNELS);
    return;
  }
  if (!read_times(r, &span, &from, &to)) return;
  size_t names = 0;
  for (int i = 0; i < channels; i++) {
    name[i] = i < ones ? one[i] : list[i - ones];
    names += 6 * strlen(name[i]) + 80;
  }
  for (int i = 0; i < channels; i++) {
    const char *of = sigma_of(&r->memory, name[i]);
    sigma[i] = of ? count : -1;
    if (of) name[count++] = of;
  }
  // A bin has a time and three values, or four values with a standard deviation. The interval adds at most one bin.
  const double room = MOST_BYTES - HEAD_BYTES - (double)names,
               bytes = channels * (TIME_BYTES + 3 * VALUE_BYTES) + (count - channels) * VALUE_BYTES;
  const int points = (int)fmin(od_query_number(&r->query, "points", DEFAULT_POINTS), room / bytes - 1);
  od_history_bins bins[2 * MOST_CHANNELS];
  if (points < 1) {
    od_answer_error(r, 400, "an answer has no room for the names and values of %d channels; request fewer channels",
                    channels);
    return;
  }
  od_status status = od_history_reader_bins(r->door->history, &r->memory, r->door->twin->machine[r->machine].name, name,
                                            count, from, to, points, bins, &err);
  od_text_stream t;
  if (status != OD_OK || !od_text_begin(&t)) {
    od_answer_status(r, status == OD_OK ? OD_NO_MEMORY : status, &err);
    return;
  }
  put_head(t.to, r, &span, from, to);
  fprintf(t.to, ",\"points\":%d,\"series\":[", points);
  for (int i = 0; i < channels; i++) {
    if (i) putc(',', t.to);
    put_series(t.to, name[i], &bins[i], sigma[i] >= 0 ? &bins[sigma[i]] : NULL);
  }
  fputs("]}", t.to);
  od_answer_stream(r, "application/json", &t);
}

void od_route_frames(od_request *r) {
  od_door *d = r->door;
  double from, to;
  od_history_span span;
  od_error err = {0};
  if (!read_times(r, &span, &from, &to)) return;
  od_live_take(d, r->machine);
  const od_frame_head *head = d->live[r->machine].head;
  const int channels = head ? head->columns - head->rows : 0;
  const char **name = OD_TAKE(&r->memory, const char *, channels);
  double names = 0;
  for (int i = 0; name && i < channels; i++) {
    name[i] = head->name[head->rows + i];
    names += 6 * (double)strlen(name[i]) + 3;
  }
  const double room = MOST_BYTES - HEAD_BYTES - names, bytes = TIME_BYTES + 2 + channels * VALUE_BYTES;
  const int points = (int)fmin(od_query_number(&r->query, "points", DEFAULT_POINTS), fmax(room / bytes, 1));
  od_history_rows rows = {0};
  const char *machine = od_arena_format(&r->memory, "%s" OD_FRAMES_SUFFIX, d->twin->machine[r->machine].name);
  od_status status = name && machine ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK && channels > 0)
    status = od_history_reader_rows(d->history, &r->memory, machine, name, channels, from, to, points, &rows, &err);
  od_text_stream t;
  if (status != OD_OK || !od_text_begin(&t)) {
    od_answer_status(r, status == OD_OK ? OD_NO_MEMORY : status, &err);
    return;
  }
  put_head(t.to, r, &span, from, to);
  fputs(",\"channels\":[", t.to);
  for (int i = 0; i < channels; i++) {
    if (i) putc(',', t.to);
    od_put_text(t.to, name[i]);
  }
  putc(']', t.to);
  put_values(t.to, "t", rows.t, rows.count, od_put_time);
  fputs(",\"values\":[", t.to);
  for (int i = 0; i < rows.count; i++) {
    fputs(i ? ",[" : "[", t.to);
    for (int c = 0; c < channels; c++) {
      if (c) putc(',', t.to);
      od_put_value(t.to, rows.value[i * channels + c]);
    }
    putc(']', t.to);
  }
  fputs("]}", t.to);
  od_answer_stream(r, "application/json", &t);
}
