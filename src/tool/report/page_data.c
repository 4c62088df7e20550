// Columns are encoded when they are added, so that callers may free their arrays. A column of n values becomes n numbers from 0 to 65534
// (envelopes: 4094, because their values hold for whole intervals), or 65535 for a missing value. Stored are first or second differences
// of consecutive numbers modulo 65536 (see difference_order()): all low bytes, then all high bytes. zlib compresses these bytes well if the
// series is smooth.
#include "report/page_data.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/allocate.h"
#include "io/json.h"

enum { STEPS = 65534, ENVELOPE_STEPS = 4094, MISSING = 65535, USUAL_INTERVALS = 2000 };

// The x values of series: start + i * step, with another last value `end`, or the values of a series.
typedef struct grid {
  long count;
  double start, step, end;
  int series;  // -1: none
  bool is_envelope;
} grid;

typedef struct column {
  size_t at, size;  // offset in the bytes of all columns
  uint64_t hash;
  int order;  // order of the stored differences
  int steps;  // between `low` and `high`
  double low, high;
} column;

typedef struct entry {
  const char *name, *of, *si;
  int grid;
  column values;
  bool is_log;
} entry;

struct od_page_data {
  od_arena arena;
  unsigned char *bytes;
  size_t used, capacity;
  grid *grid;
  int grids;
  entry *entry;
  int entries;
  long limit;
  json_t *fields, *series, *charts, *chart, *lines, *limits, *marks;
  bool failed;
};

od_page_data *od_page_data_new(void) {
  OD_OWNED(od_page_data_free) od_page_data *d = od_calloc(1, sizeof *d);
  if (!d) return NULL;
  d->limit = USUAL_INTERVALS;
  d->fields = json_object();
  d->series = json_array();
  d->charts = json_array();
  return d->fields && d->series && d->charts ? OD_GIVE(d) : NULL;
}

void od_page_data_free(od_page_data *d) {
  if (!d) return;
  json_decref(d->fields);
  json_decref(d->series);
  json_decref(d->charts);
  od_arena_free(&d->arena);
  od_free(d->bytes);
  od_free(d);
}

bool od_page_data_is_complete(const od_page_data *d) {
  return !d->failed && od_arena_status(&d->arena) == OD_OK;
}

void od_page_data_limit(od_page_data *d, long intervals) {
  d->limit = intervals > 16 ? intervals : 16;
}

static void require(od_page_data *d, bool ok) {
  d->failed = d->failed || !ok;
}

static void set(od_page_data *d, json_t *object, const char *key, json_t *value) {
  require(d, json_object_set_new(object, key, value) == 0);
}

static void set_text(od_page_data *d, json_t *object, const char *key, const char *text) {
  if (text && text[0]) set(d, object, key, od_json_text(text));
}

void od_page_data_set(od_page_data *d, const char *key, json_t *value) {
  set(d, d->fields, key, value);
}

int od_page_data_charts(const od_page_data *d) {
  return (int)json_array_size(d->charts);
}

// --- Columns ------------------------------------------------------------------------------------------------------

static uint64_t hash_of(const unsigned char *bytes, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static bool make_room(od_page_data *d, size_t size) {
  if (d->used + size <= d->capacity) return true;
  size_t more = 2 * d->capacity > d->used + size ? 2 * d->capacity : d->used + size + 65536;
  unsigned char *bytes = od_realloc(d->bytes, more);
  if (bytes) d->bytes = bytes, d->capacity = more;
  require(d, bytes != NULL);
  return bytes != NULL;
}

static unsigned quantized(double value, const column *c) {
  if (!isfinite(value)) return MISSING;
  return (unsigned)lround((fmin(fmax(value, c->low), c->high) - c->low) / (c->high - c->low) * c->steps);
}

// Returns the order of the stored differences. The sum of their logarithms estimates the size after compression: 2 if the sum of the
// second differences is at least 5 % smaller, else 1.
static int difference_order(const double *value, long count, const column *c) {
  double first_size = 0, second_size = 0;
  int before = 0, first_before = 0;
  for (long i = 0; i < count; i++) {
    int q = (int)quantized(value[i], c), first = q - before;
    first_size += log2(1 + fabs((double)first));
    second_size += log2(1 + fabs((double)first - (double)first_before));
    before = q;
    first_before = first;
  }
  return second_size < 0.95 * first_size ? 2 : 1;
}

// Encodes the values. Equal columns share their bytes. size 0: all values are equal to `low`.
static column encode(od_page_data *d, const double *value, long count, int steps) {
  column c = {.low = INFINITY, .high = -INFINITY, .steps = steps};
  bool has_gap = false;
  for (long i = 0; i < count; i++) {
    has_gap = has_gap || !isfinite(value[i]);
    if (!isfinite(value[i])) continue;
    c.low = fmin(c.low, value[i]);
    c.high = fmax(c.high, value[i]);
  }
  if (c.low > c.high) c.low = 0, c.high = 1;
  if (c.low == c.high && !has_gap) return c;
  // The differences are below the resolution of the file. A series without gaps is stored as a constant; a series with
  // gaps has an artificial range.
  if (!(c.high - c.low > 1e-11 * fmax(fabs(c.low), fabs(c.high)))) {
    if (!has_gap) {
      c.high = c.low;
      return c;
    }
    c.high = c.low + fmax(1e-6 * fabs(c.low), 1e-300);
  }
  if (!isfinite(c.high - c.low)) {
    c.low = fmax(c.low, -1e300);
    c.high = fmin(c.high, 1e300);
  }
  size_t n = (size_t)count;
  if (!make_room(d, 2 * n)) return c;
  c.order = difference_order(value, count, &c);
  unsigned char *low_bytes = d->bytes + d->used, *high_bytes = low_bytes + n;
  unsigned before = 0, first_before = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned q = quantized(value[i], &c), first = q - before;
    unsigned difference = (c.order == 2 ? first - first_before : first) & 0xffff;
    low_bytes[i] = (unsigned char)(difference & 0xff);
    high_bytes[i] = (unsigned char)(difference >> 8);
    before = q;
    first_before = first;
  }
  c.size = 2 * n;
  c.at = d->used;
  c.hash = hash_of(low_bytes, c.size);
  for (int i = 0; i < d->entries; i++) {
    const column *o = &d->entry[i].values;
    if (o->size != c.size || o->hash != c.hash || o->order != c.order ||
        memcmp(d->bytes + o->at, low_bytes, c.size) != 0)
      continue;
    c.at = o->at;
    return c;
  }
  d->used += c.size;
  return c;
}

// --- Series -------------------------------------------------------------------------------------------------------

static bool same_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *kept(od_page_data *d, const char *text) {
  return text && text[0] ? od_arena_text(&d->arena, text) : NULL;
}

// Adds the parts of a name to the description: "lift.A.pressure" is the quantity "pressure" of the part "lift.A". Components of a pose are
// quantities of the body: "boom.pose.x".
static void describe_name(od_page_data *d, json_t *s, const char *name) {
  OD_SCRATCH(scratch);
  const char *dot = strrchr(name, '.'), *pose = strstr(name, ".pose.");
  if (pose) dot = pose;
  char *part = od_arena_text(&scratch, name);
  require(d, part != NULL);
  if (!part) return;
  if (dot) part[dot - name] = '\0';
  if (dot) set_text(d, s, "part", part);
  set_text(d, s, "quantity", pose ? "pose" : dot ? dot + 1 : name);
}

// Returns the index of a series with these values; -1: an allocation failed. Equal series are stored once.
static int add_entry(od_page_data *d, const od_series_facts *f, int on, column values) {
  for (int i = 0; i < d->entries; i++) {
    const entry *e = &d->entry[i];
    if (e->grid == on && e->values.size == values.size && e->values.at == values.at &&
        e->values.steps == values.steps && e->values.low == values.low && e->values.high == values.high &&
        same_text(e->name, f->name) && same_text(e->of, f->of) && same_text(e->si, f->si) && e->is_log == f->is_log)
      return i;
  }
  entry *list = od_arena_extend(&d->arena, d->entry, d->entries, sizeof *list);
  require(d, list != NULL);
  if (!list) return -1;
  d->entry = list;
  list[d->entries] = (entry){kept(d, f->name), kept(d, f->of), kept(d, f->si), on, values, f->is_log};
  json_t *s = json_object();
  set_text(d, s, "name", f->name);
  if (f->name) describe_name(d, s, f->name);
  set_text(d, s, "of", f->of);
  set_text(d, s, "si", f->si && strcmp(f->si, "1") != 0 ? f->si : NULL);
  set_text(d, s, "unit", f->unit);
  if (f->factor != 0 && f->factor != 1) set(d, s, "factor", od_json_number(f->factor));
  if (f->is_log) set(d, s, "log", json_true());
  if (on >= 0) set(d, s, "grid", json_integer(on));
  set(d, s, "low", od_json_number(values.low));
  set(d, s, "high", od_json_number(values.high));
  if (values.size > 0) set(d, s, "at", json_integer((json_int_t)values.at));
  if (values.order == 2) set(d, s, "order", json_integer(2));
  if (values.size > 0 && values.steps != STEPS) set(d, s, "steps", json_integer(values.steps));
  require(d, json_array_append_new(d->series, s) == 0);
  return d->entries++;
}

static int add_grid(od_page_data *d, grid g) {
  for (int i = 0; i < d->grids; i++) {
    const grid *o = &d->grid[i];
    if (o->count == g.count && o->start == g.start && o->step == g.step && o->end == g.end && o->series == g.series &&
        o->is_envelope == g.is_envelope)
      return i;
  }
  grid *list = od_arena_extend(&d->arena, d->grid, d->grids, sizeof *list);
  require(d, list != NULL);
  if (!list) return -1;
  d->grid = list;
  list[d->grids] = g;
  return d->grids++;
}

// Rounds a time to ten digits, so that grids of equal rows are equal.
static double rounded(double value) {
  if (value == 0 || !isfinite(value)) return value;
  double unit = pow(10, 9 - floor(log10(fabs(value))));
  return isfinite(unit) && unit > 0 ? round(value * unit) / unit : value;
}

// Returns the grid of the frames x[0..count-1], or of their envelope with two points per interval.
static int grid_of(od_page_data *d, const double *x, long count, bool is_envelope, const od_series_facts *facts) {
  bool is_uniform = count > 1 && !facts->is_log;
  double step = count > 2 ? (x[count - 2] - x[0]) / (double)(count - 2) : count > 1 ? x[1] - x[0] : 1;
  is_uniform = is_uniform && step > 0;
  for (long i = 0; i < count - 1 && is_uniform; i++) is_uniform = fabs(x[i] - x[0] - (double)i * step) <= 1e-6 * step;
  long points = is_envelope ? 2 * (count - 1) : count;
  grid g = {.count = points, .series = -1, .is_envelope = is_envelope};
  if (is_uniform || count == 1) {
    double end = x[count - 1], regular = x[0] + (double)(count - 1) * step;
    g.start = rounded(x[0]);
    g.step = rounded(is_envelope ? step / 2 : step);
    g.end = is_envelope || fabs(end - regular) > 1e-6 * step ? rounded(end) : NAN;
    if (isnan(g.end)) g.end = g.start + (double)(points - 1) * g.step;
    return add_grid(d, g);
  }
  OD_SCRATCH(scratch);
  double *at = OD_TAKE(&scratch, double, points);
  require(d, at != NULL);
  if (!at) return -1;
  for (long i = 0; i < points; i++) {
    double v = !is_envelope      ? x[i]
               : i == points - 1 ? x[count - 1]
               : i % 2 == 0      ? x[i / 2]
                                 : (x[i / 2] + x[i / 2 + 1]) / 2;
    at[i] = facts->is_log ? log10(v) : v;
  }
  int index = add_grid(d, (grid){.count = points, .step = 1, .end = (double)(points - 1), .series = -1});
  g.series = add_entry(d, facts, index, encode(d, at, points, STEPS));
  return g.series >= 0 ? add_grid(d, g) : -1;
}

// Adds a column with its x values. x_facts: unit and scale of x.
static int add_column(od_page_data *d, const od_series_facts *facts, const od_series_facts *x_facts, od_frame_column c,
                      bool is_exact) {
  OD_SCRATCH(scratch);
  if (c.count <= 0) return -1;
  bool is_envelope = !is_exact && c.count > 1 && !od_frames_are_enough(&c);
  long points = is_envelope ? 2 * (c.count - 1) : c.count;
  double *value = OD_TAKE(&scratch, double, points);
  require(d, value != NULL);
  if (!value) return -1;
  for (long i = 0; i < points; i++) {
    double x;
    od_frame_point(&c, is_envelope, i, &x, &value[i]);
    if (facts->is_log) value[i] = log10(value[i]);
  }
  int on = grid_of(d, c.x, c.count, is_envelope, x_facts);
  return on >= 0 ? add_entry(d, facts, on, encode(d, value, points, is_envelope ? ENVELOPE_STEPS : STEPS)) : -1;
}

int od_page_data_frames(od_page_data *d, const od_series_facts *facts, od_frame_column c, bool is_exact) {
  return add_column(d, facts, &(od_series_facts){.si = "s", .unit = "s"}, c, is_exact);
}

static bool increases(const od_series *x) {
  for (long i = 1; i < x->count; i++)
    if (!(od_series_at(x, i) >= od_series_at(x, i - 1))) return false;
  return true;
}

static int add_over(od_page_data *d, const od_series_facts *facts, const od_series_facts *x_facts, od_series x,
                    od_series y, bool is_exact) {
  OD_SCRATCH(scratch);
  if (y.count <= 0) return -1;
  od_frame_column c = od_frames_of(&x, &y, d->limit, &scratch);
  require(d, c.count >= 0);
  // Rows that were not combined have gaps only at missing values.
  bool is_whole = c.count == y.count;
  return add_column(d, facts, x_facts, c, is_exact || is_whole);
}

int od_page_data_series(od_page_data *d, const od_series_facts *facts, od_series x, od_series y, bool is_exact) {
  return add_over(d, facts, &(od_series_facts){.si = "s", .unit = "s"}, x, y, is_exact);
}

int od_page_data_find(const od_page_data *d, const char *name, const char *of) {
  for (int i = 0; i < d->entries; i++)
    if (d->entry[i].name && same_text(d->entry[i].name, name) && same_text(d->entry[i].of, of)) return i;
  return -1;
}

// --- Charts -------------------------------------------------------------------------------------------------------

static json_t *axis_json(od_page_data *d, const od_data_axis *a) {
  json_t *o = json_object();
  set_text(d, o, "name", a->name);
  set_text(d, o, "si", a->si && strcmp(a->si, "1") != 0 ? a->si : NULL);
  set_text(d, o, "unit", a->unit);
  set(d, o, "factor", od_json_number(a->factor));
  set(d, o, "scale", json_string(a->is_log ? "log" : "linear"));
  set(d, o, "low", od_json_number(a->low));
  set(d, o, "high", od_json_number(a->high));
  return o;
}

void od_page_data_chart_begin(od_page_data *d, const od_data_chart *chart) {
  json_t *c = json_object();
  require(d, json_array_append_new(d->charts, c) == 0);
  set_text(d, c, "title", chart->title);
  set_text(d, c, "note", chart->note);
  set(d, c, "x", axis_json(d, &chart->x));
  set(d, c, "y", axis_json(d, &chart->y));
  set(d, c, "over_time", json_boolean(chart->is_over_time));
  if (chart->has_equal_scales) set(d, c, "equal_scales", json_true());
  d->chart = c;
  d->lines = json_array();
  set(d, c, "lines", d->lines);
  d->limits = json_array();
  d->marks = json_array();
}

// Returns the kind of a shape: "band", "bars" or "stems"; of other shapes the first word of the class if the word is a kind of series of
// a report, else "points" or "line".
static const char *kind_of(const od_drawn *drawn) {
  static const char *const kinds[] = {"estimate", "truth", "start", "measured", "limit"};
  if (drawn->kind == OD_DREW_BAND) return "band";
  if (drawn->kind == OD_DREW_BARS) return "bars";
  if (drawn->kind == OD_DREW_STEMS) return "stems";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t n = strlen(kinds[i]);
    if (!strncmp(drawn->class_name, kinds[i], n) && (drawn->class_name[n] == '\0' || drawn->class_name[n] == ' '))
      return kinds[i];
  }
  return drawn->kind == OD_DREW_DOTS ? "points" : "line";
}

static od_series scaled(od_series s, double by) {
  s.factor *= by;
  return s;
}

static od_series_facts facts_of(const od_data_axis *a) {
  return (od_series_facts){.si = a->si, .unit = a->unit, .factor = a->factor, .is_log = a->is_log};
}

// Adds a series of a chart, and the series of its x values if x does not increase. Returns the index of the series.
static int add_drawn(od_page_data *d, const od_data_chart *chart, od_series_facts facts, od_series x, od_series y,
                     json_t *line) {
  od_series_facts x_facts = facts_of(&chart->x);
  if (increases(&x)) return add_over(d, &facts, &x_facts, x, y, false);
  // A curve whose x does not always increase: both coordinates are series over the number of the point. Every nth point
  // of a long curve is stored.
  OD_SCRATCH(scratch);
  long every = y.count / (2 * d->limit) + 1, count = (y.count + every - 1) / every;
  double *number = OD_TAKE(&scratch, double, count);
  require(d, number != NULL);
  if (!number) return -1;
  for (long i = 0; i < count; i++) number[i] = (double)i;
  x.count = y.count = count;
  x.stride *= every;
  y.stride *= every;
  od_series over = {number, count, 1, 1};
  long limit = d->limit;
  d->limit = 2 * limit + 1;
  int across = add_over(d, &x_facts, &(od_series_facts){0}, over, x, true);
  int index = add_over(d, &facts, &(od_series_facts){0}, over, y, true);
  d->limit = limit;
  if (across >= 0) set(d, line, "x", json_integer(across));
  return index;
}

// Adds the series middle + sign * half, an edge of a band.
static int add_edge(od_page_data *d, const od_data_chart *chart, od_series_facts facts, const od_drawn *drawn,
                    double sign, json_t *line) {
  OD_SCRATCH(scratch);
  long count = drawn->y.count;
  double *edge = OD_TAKE(&scratch, double, count);
  require(d, edge != NULL);
  if (!edge) return -1;
  for (long i = 0; i < count; i++)
    edge[i] = (od_series_at(&drawn->y, i) + sign * od_series_at(&drawn->half, i)) / chart->y.drawn;
  return add_drawn(d, chart, facts, scaled(drawn->x, 1 / chart->x.drawn), (od_series){edge, count, 1, 1}, line);
}

static const char interval_label[] = "95 % interval";

static void draw_line(od_page_data *d, const od_data_chart *chart, const od_drawn *drawn) {
  const char *kind = kind_of(drawn);
  bool is_output = chart->has_outputs && drawn->name && drawn->name[0], is_band = drawn->kind == OD_DREW_BAND;
  od_series_facts facts = facts_of(&chart->y);
  if (drawn->y.count <= 0) return;
  if (is_output) facts.name = drawn->name;
  if (chart->subject && !is_band && drawn->kind != OD_DREW_BARS) {
    facts.name = chart->subject;
    facts.of = kind;
  }
  json_t *line = json_object();
  od_series x = scaled(drawn->x, 1 / chart->x.drawn), y = scaled(drawn->y, 1 / chart->y.drawn);
  // The pictures may already have recorded the series.
  int index = facts.name ? od_page_data_find(d, facts.name, facts.of) : -1;
  if (index < 0) index = is_band ? add_edge(d, chart, facts, drawn, -1, line) : add_drawn(d, chart, facts, x, y, line);
  set(d, line, "series", json_integer(index));
  set(d, line, "kind", json_string(kind));
  if (is_band || drawn->kind == OD_DREW_BARS)
    set(d, line, "upper", json_integer(add_edge(d, chart, facts, drawn, 1, line)));
  if (drawn->kind == OD_DREW_BARS) set(d, line, "lower", json_integer(add_edge(d, chart, facts, drawn, -1, line)));
  if (drawn->kind == OD_DREW_DOTS) set(d, line, "points", json_true());
  // Without a name, the label of a line is its kind, and an area is not in the legend.
  const char *label = is_band ? drawn->name ? interval_label : "" : kind;
  set_text(d, line, "label", drawn->name && drawn->name[0] ? drawn->name : label);
  if (index >= 0)
    require(d, json_array_append_new(d->lines, line) == 0);
  else
    json_decref(line);
}

void od_page_data_move(od_page_data *d, int by, od_series x, od_series weight) {
  json_t *line = json_array_get(d->lines, json_array_size(d->lines) - 1), *moves = json_object_get(line, "moves");
  if (!line || by < 0) return;
  if (!moves) set(d, line, "moves", moves = json_array());
  int index = add_over(d, &(od_series_facts){.factor = 1}, &(od_series_facts){.factor = 1}, x, weight, true);
  require(d, json_array_append_new(moves, json_pack("[i, i]", by, index)) == 0);
}

void od_page_data_draw(od_page_data *d, const od_data_chart *chart, const od_drawn *drawn) {
  json_t *mark = json_object();
  switch (drawn->kind) {
    case OD_DREW_LEVEL:
      set(d, mark, "value", od_json_number(drawn->at_y / chart->y.drawn));
      set(d, mark, "kind", json_string(kind_of(drawn)));
      set_text(d, mark, "text", drawn->name);
      require(d, json_array_append(d->limits, mark) == 0);
      break;
    case OD_DREW_INSTANT:
    case OD_DREW_MARK:
      set(d, mark, "x", od_json_number(drawn->at_x / chart->x.drawn));
      if (drawn->kind == OD_DREW_MARK) {
        set(d, mark, "y", od_json_number(drawn->at_y / chart->y.drawn));
        set(d, mark, "shape", json_string(drawn->shape == OD_MARK_CROSS ? "cross" : "ring"));
      }
      set(d, mark, "kind", json_string(kind_of(drawn)));
      set_text(d, mark, "text", drawn->name);
      require(d, json_array_append(d->marks, mark) == 0);
      break;
    default: draw_line(d, chart, drawn);
  }
  json_decref(mark);
}

// Lines of a chart that show the same quantity of different parts have the names of the parts as labels.
static void shorten_labels(od_page_data *d) {
  const char *quantity = NULL;
  size_t count = json_array_size(d->lines);
  for (size_t i = 0; i < count; i++) {
    json_t *line = json_array_get(d->lines, i);
    json_t *s = json_array_get(d->series, (size_t)json_integer_value(json_object_get(line, "series")));
    const char *own = json_string_value(json_object_get(s, "quantity"));
    if (!own || !json_object_get(s, "part") || json_object_get(s, "of") || (quantity && strcmp(own, quantity) != 0))
      return;
    quantity = own;
  }
  for (size_t i = 0; i < count && count > 1; i++) {
    json_t *line = json_array_get(d->lines, i);
    json_t *s = json_array_get(d->series, (size_t)json_integer_value(json_object_get(line, "series")));
    require(d, json_object_set(line, "label", json_object_get(s, "part")) == 0);
  }
}

// The only line of a chart has the title of the chart as label if its label is only its kind, for example "estimate".
// The estimate in an interval keeps this label.
static void name_single_line(od_page_data *d) {
  json_t *single = NULL, *line;
  size_t i;
  json_array_foreach(d->lines, i, line) {
    const char *label = json_string_value(json_object_get(line, "label"));
    if (strcmp(json_string_value(json_object_get(line, "kind")), "band") == 0) {
      if (label && strcmp(label, interval_label) == 0) return;
    } else if (single) {
      return;
    } else {
      single = line;
    }
  }
  json_t *label = json_object_get(single, "label"), *title = json_object_get(d->chart, "title");
  if (single && title && json_equal(label, json_object_get(single, "kind")) &&
      !json_object_get(json_array_get(d->series, (size_t)json_integer_value(json_object_get(single, "series"))), "of"))
    require(d, json_object_set(single, "label", title) == 0);
}

void od_page_data_chart_end(od_page_data *d) {
  shorten_labels(d);
  name_single_line(d);
  if (json_array_size(d->limits) > 0)
    set(d, d->chart, "limits", d->limits);
  else
    json_decref(d->limits);
  if (json_array_size(d->marks) > 0)
    set(d, d->chart, "marks", d->marks);
  else
    json_decref(d->marks);
  d->limits = d->marks = NULL;
}

// --- File ---------------------------------------------------------------------------------------------------------

static json_t *grids_json(od_page_data *d) {
  json_t *list = json_array();
  for (int i = 0; i < d->grids; i++) {
    const grid *g = &d->grid[i];
    json_t *o = json_object();
    set(d, o, "count", json_integer(g->count));
    if (g->series >= 0) {
      set(d, o, "series", json_integer(g->series));
    } else {
      set(d, o, "start", od_json_number(g->start));
      set(d, o, "step", od_json_number(g->step));
      if (fabs(g->end - g->start - (double)(g->count - 1) * g->step) > 1e-6 * g->step)
        set(d, o, "end", od_json_number(g->end));
    }
    if (g->is_envelope) set(d, o, "envelope", json_true());
    require(d, json_array_append_new(list, o) == 0);
  }
  return list;
}

// Adds the group of each series: the group with the longest name of a part that the part of the series is equal to or begins with.
static void add_groups(od_page_data *d) {
  json_t *groups = json_object_get(d->fields, "groups");
  for (size_t i = 0; i < json_array_size(d->series); i++) {
    json_t *s = json_array_get(d->series, i);
    const char *part = json_string_value(json_object_get(s, "part"));
    size_t best = 0;
    json_t *found = NULL;
    for (size_t g = 0; part && g < json_array_size(groups); g++) {
      json_t *parts = json_object_get(json_array_get(groups, g), "parts");
      for (size_t k = 0; k < json_array_size(parts); k++) {
        const char *name = json_string_value(json_array_get(parts, k));
        size_t n = name ? strlen(name) : 0;
        if (n <= best || strncmp(part, name, n) != 0 || (part[n] != '\0' && part[n] != '.')) continue;
        best = n;
        found = json_object_get(json_array_get(groups, g), "name");
      }
    }
    if (found) require(d, json_object_set(s, "group", found) == 0);
  }
}

static void write_base64(FILE *to, const unsigned char *bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    unsigned long word = (unsigned long)bytes[i] << 16;
    if (i + 1 < size) word |= (unsigned long)bytes[i + 1] << 8;
    if (i + 2 < size) word |= bytes[i + 2];
    char text[4] = {digits[word >> 18], digits[word >> 12 & 63], i + 1 < size ? digits[word >> 6 & 63] : '=',
                    i + 2 < size ? digits[word & 63] : '='};
    fwrite(text, 1, sizeof text, to);
  }
}

bool od_page_data_write_packed(const void *bytes, size_t size, FILE *to) {
  OD_SCRATCH(scratch);
  uLongf packed_size = compressBound((uLong)size);
  unsigned char *packed = od_arena_take(&scratch, packed_size);
  if (!packed || compress2(packed, &packed_size, bytes, (uLong)size, 9) != Z_OK) return false;
  write_base64(to, packed, packed_size);
  return true;
}

static bool write_blob(od_page_data *d, FILE *to) {
  fputs(",\n\"blob\":\"", to);
  bool ok = od_page_data_write_packed(d->bytes, d->used, to);
  fputc('"', to);
  return ok;
}

bool od_page_data_write(od_page_data *d, FILE *to) {
  set(d, d->fields, "grids", grids_json(d));
  add_groups(d);
  set(d, d->fields, "series", json_incref(d->series));
  set(d, d->fields, "charts", json_incref(d->charts));
  if (!od_page_data_is_complete(d)) return false;
  fputs("{\"format\":1", to);
  for (void *i = json_object_iter(d->fields); i; i = json_object_iter_next(d->fields, i)) {
    fputs(",\n", to);
    od_json_write_safe(to, json_object_iter_key(i), json_object_iter_value(i));
  }
  if (d->used > 0 && !write_blob(d, to)) return false;
  fputs("}\n", to);
  return true;
}
