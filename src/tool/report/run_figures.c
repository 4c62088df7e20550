// Figures of a run: bounds of requirements, and all outputs over time.
#include "report/run_result.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report/figure_range.h"
#include "report/page_values.h"

enum { MOST_FIGURES = 40, LONGEST_TITLE = 42 };  // limits that keep a page readable

static int column_of(const od_run_findings *r, int output) {
  const char *name = output >= 0 ? od_machine_output_name(r->machine, output) : NULL;
  for (int c = 1; name && c < r->table->columns; c++)
    if (strcmp(r->table->name[c], name) == 0) return c;
  return -1;
}

// The bounds of a requirement over its window, drawn with the signal: up to two horizontal lines.
typedef struct bounds {
  int count;
  double value[2];
} bounds;

static bounds bounds_of(const od_requirement *q) {
  switch (q->kind) {
    case OD_REQUIRE_MAX:
    case OD_REQUIRE_MIN: return (bounds){1, {q->bound}};
    case OD_REQUIRE_WITHIN: return (bounds){2, {q->bound, -q->bound}};
    case OD_REQUIRE_SETTLING: return (bounds){2, {q->band, -q->band}};
    default: return (bounds){0};
  }
}

// Computes the judged signal, one value per row: output - reference, optionally relative to another quantity. NULL: the output was
// not recorded, or out of memory.
static double *judged_signal(const od_run_findings *r, const od_requirement *q, od_arena *arena) {
  const od_table *t = r->table;
  int output = column_of(r, q->signal.output), reference = column_of(r, q->signal.reference);
  int relative = column_of(r, q->signal.relative);
  double *x = output > 0 ? OD_TAKE(arena, double, t->rows) : NULL;
  for (long i = 0; x && i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    x[i] = row[output] - (reference > 0 ? row[reference] : q->signal.constant);
    if (relative > 0) x[i] = x[i] == 0 ? 0 : x[i] / fabs(row[relative]);
  }
  return x;
}

static void draw_requirement(od_page *p, const od_run_findings *r, const od_judgment *j) {
  OD_SCRATCH(scratch);
  const od_requirement *q = j->requirement;
  const od_table *t = r->table;
  bounds b = bounds_of(q);
  double *x = b.count ? judged_signal(r, q, &scratch) : NULL, end = t->data[(t->rows - 1) * t->columns];
  double to = isnan(q->to) ? end : fmin(q->to, end);
  if (!od_page_require(p, od_arena_status(&scratch) == OD_OK) || !x || !(to > q->from)) return;
  const char *unit = q->kind == OD_REQUIRE_SETTLING ? q->band_unit : q->unit;
  od_figure_range range = od_no_figure_range;
  for (long i = 0; i < t->rows; i++)
    if (t->data[i * t->columns] >= q->from && t->data[i * t->columns] <= to) od_figure_range_include(&range, x[i]);
  for (int i = 0; i < b.count; i++) od_figure_range_include(&range, b.value[i]);
  od_display shown = od_display_unit(unit, od_figure_range_size(range)), time = od_display_unit("s", end);
  char note[200];
  od_judgment_text words = od_judgment_words(j);
  snprintf(note, sizeof note, "%.80s: %s", words.required, od_outcome_text(j->outcome));
  od_figure f = od_figure_over_time(q->name, note, q->from, to, time, range, shown);
  od_page_figure_begin(p, &f);
  od_chart_line(f.to, &f.chart, (od_series){t->data, t->rows, t->columns, time.factor},
                (od_series){x, t->rows, 1, shown.factor}, OD_DRAWN_ESTIMATE, q->name);
  double from = q->from + (q->kind == OD_REQUIRE_SETTLING ? q->bound : 0);
  const double window[2] = {from, to};
  for (int i = 0; i < b.count; i++) {
    const double level[2] = {b.value[i], b.value[i]};
    od_chart_line(f.to, &f.chart, (od_series){window, 2, 1, time.factor}, (od_series){level, 2, 1, shown.factor},
                  OD_DRAWN_LIMIT, "bound");
  }
  od_page_figure_end(p, &f);
}

// The columns of a chart: the given column and the following columns that share its panel.
enum { MOST_SHARED = 16 };
typedef struct shared_chart {
  int column[MOST_SHARED], count;
} shared_chart;

static shared_chart chart_at(const od_run_findings *r, int first) {
  shared_chart s = {.column = {first}, .count = 1};
  for (int c = first + 1; r->panel && c < r->table->columns && s.count < MOST_SHARED; c++)
    if (r->panel[c] == r->panel[first]) s.column[s.count++] = c;
  return s;
}

// Returns whether a column is drawn in the chart of an earlier column. A chart has at most MOST_SHARED columns; the next column
// begins another chart.
static bool is_drawn_before(const od_run_findings *r, int column) {
  int before = 0;
  for (int c = 1; r->panel && c < column; c++) before += r->panel[c] == r->panel[column];
  return before % MOST_SHARED != 0;
}

// Returns the quantity that ends all names of a chart with several outputs, ".pressure"; NULL: there is none.
static const char *common_quantity(const od_table *t, const shared_chart *s) {
  const char *quantity = strrchr(t->name[s->column[0]], '.');
  for (int i = 1; quantity && i < s->count; i++) {
    const char *other = strrchr(t->name[s->column[i]], '.');
    if (!other || strcmp(other, quantity) != 0) return NULL;
  }
  return s->count > 1 ? quantity : NULL;
}

// Returns the title of charts of a quantity: "Pressures"; NULL: the quantity has no word.
static const char *word_of(const char *quantity, const char *unit) {
  static const struct {
    const char *quantity, *unit, *word;
  } words[] = {
      {"pressure", "Pa", "Pressures"},   {"flow", "m3/s", "Flows"},         {"length", "m", "Lengths"},
      {"force", "N", "Forces"},          {"torque", "N m", "Torques"},      {"power", "W", "Powers"},
      {"angle", "rad", "Angles"},        {"position", "m", "Positions"},    {"temperature", "K", "Temperatures"},
      {"error", "m", "Position errors"}, {"error", "rad", "Angle errors"},  {"error", "Pa", "Pressure errors"},
      {"error", "m/s", "Speed errors"},  {"error", "rad/s", "Speed errors"}};
  for (size_t i = 0; quantity && i < sizeof words / sizeof *words; i++)
    if (strcmp(quantity + 1, words[i].quantity) == 0 && strcmp(unit, words[i].unit) == 0) return words[i].word;
  return NULL;
}

// Returns whether only one chart has this quantity.
static bool is_only_chart(const od_run_findings *r, const char *quantity) {
  int count = 0;
  for (int c = 1; c < r->table->columns; c++) {
    shared_chart s = chart_at(r, c);
    const char *own = is_drawn_before(r, c) ? NULL : common_quantity(r->table, &s);
    count += own && strcmp(own, quantity) == 0;
  }
  return count == 1;
}

// Writes the title of a chart: "Pressures" if all names end with this quantity, "Forces: a, b" if several charts have the quantity, else
// the names. The legend has all names, so a long title ends with "...".
static void write_title(const od_run_findings *r, const shared_chart *s, char *title, size_t size) {
  const od_table *t = r->table;
  const char *quantity = common_quantity(t, s), *word = word_of(quantity, t->unit[s->column[0]]);
  if (word && is_only_chart(r, quantity)) {
    snprintf(title, size, "%s", word);
    return;
  }
  size_t used = quantity ? (size_t)snprintf(title, size, "%s", word ? word : quantity + 1) : 0;
  if (quantity) title[0] = (char)toupper((unsigned char)title[0]);
  for (int i = 0; i < s->count && used < size; i++) {
    const char *name = t->name[s->column[i]], *between = i ? ", " : quantity ? ": " : "";
    int length = (int)(strlen(name) - (quantity ? strlen(quantity) : 0));
    if (i && used + (size_t)length > LONGEST_TITLE) {
      snprintf(title + used, size - used, ", ...");
      break;
    }
    used += (size_t)snprintf(title + used, size - used, "%s%.*s", between, length, name);
  }
}

static void draw_outputs(od_page *p, const od_run_findings *r, int first) {
  const od_table *t = r->table;
  shared_chart s = chart_at(r, first);
  double end = t->data[(t->rows - 1) * t->columns];
  od_figure_range range = od_no_figure_range;
  od_legend legend[MOST_SHARED + 1] = {{0}};
  char note[120], title[200] = "";
  write_title(r, &s, title, sizeof title);
  for (int i = 0; i < s.count; i++) {
    const char *name = t->name[s.column[i]];
    od_summary summary = od_table_summary(t, s.column[i]);
    od_figure_range_include(&range, summary.min);
    od_figure_range_include(&range, summary.max);
    legend[i] = (od_legend){name, od_drawn_series(i)};
  }
  od_display shown = od_figure_unit(t->unit[first], od_figure_range_size(range)), time = od_display_unit("s", end);
  snprintf(note, sizeof note, "%.5g to %.5g", range.low * shown.factor, range.high * shown.factor);
  od_figure f = od_figure_over_time(title, note, 0, end, time, range, shown);
  f.has_outputs = true;
  f.is_note_static = true;
  if (s.count > 1) f.legend = legend;
  od_page_figure_begin(p, &f);
  for (int i = 0; i < s.count; i++)
    od_chart_line(f.to, &f.chart, (od_series){t->data, t->rows, t->columns, time.factor},
                  (od_series){t->data + s.column[i], t->rows, t->columns, shown.factor}, od_drawn_series(i),
                  t->name[s.column[i]]);
  od_page_figure_end(p, &f);
}

bool od_run_has_bounds(const od_run_findings *run) {
  int count = 0;
  const od_judgment *j = run->judge ? od_judge_results(run->judge, &count) : NULL;
  for (int i = 0; i < count; i++)
    if (bounds_of(j[i].requirement).count > 0) return true;
  return false;
}

void od_run_draw_bounds(od_page *p, const void *run) {
  static const od_legend legend[] = {
      {"judged signal", OD_DRAWN_ESTIMATE}, {"bound in its window", OD_DRAWN_LIMIT}, {0}};
  const od_run_findings *r = run;
  int count;
  const od_judgment *j = od_judge_results(r->judge, &count);
  od_page_legend(p, legend);
  od_page_figures_begin(p, false);
  for (int i = 0; i < count && i < MOST_FIGURES; i++) draw_requirement(p, r, &j[i]);
  od_page_figures_end(p);
}

// Returns the time that still pictures show: the time of the worst warning that has a time, or else the start of the run.
static double telling_time(const od_run_findings *r) {
  int count = 0;
  const od_finding *f = r->found ? od_findings_list(r->found, &count) : NULL;
  for (int i = 0; i < count; i++)
    if (f[i].severity >= OD_FINDING_WARNING && !isnan(f[i].at)) return f[i].at;
  return 0;
}

void od_run_draw_views(od_page *p, const void *run) {
  const od_run_findings *r = run;
  if (r->views) od_run_views_draw(r->views, p, telling_time(r));
  if (r->interactive) od_interactive_draw(r->interactive, r->machine, p);
}

void od_run_draw_outputs(od_page *p, const void *run) {
  const od_run_findings *r = run;
  od_page_figures_begin(p, false);
  for (int c = 1; c < r->table->columns && c <= MOST_FIGURES; c++)
    if (!is_drawn_before(r, c)) draw_outputs(p, r, c);
  od_page_figures_end(p);
  if (r->table->columns - 1 > MOST_FIGURES)
    od_page_text(p, "The page shows %d of %d outputs.", MOST_FIGURES, r->table->columns - 1);
  if (r->views) od_run_views_draw_charts(r->views, p);
}
