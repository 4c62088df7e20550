// Charts of a run by quantity: pressures, flows, lengths, forces, joint loads and powers of all parts.
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "report/figure_range.h"
#include "report/run_views.h"

enum { MOST_LINES = 12, MOST_FINE_LINES = 4 };  // largest number of lines in a chart, and with columns of two pixels

// A chart shows the recorded outputs with this quantity and unit, at most the MOST_LINES largest. Reactions of joints are also forces,
// but have a separate chart.
typedef struct chart_rule {
  const char *title, *quantity, *unit;
  bool is_reaction;
  bool is_always;  // whether all such outputs of the machine are recorded for this chart
} chart_rule;

static const chart_rule rules[] = {
    {"Node pressures", "pressure", "Pa"},        {"Element flows", "flow", "m3/s"},
    {"Cylinder lengths", "length", "m"},         {"Element forces", "force", "N"},
    {"Element torques", "torque", "N m"},        {"Joint loads", "force", "N", .is_reaction = true, .is_always = true},
    {"Powers", "power", "W", .is_always = true},
};
enum { RULES = sizeof rules / sizeof *rules };

static const char *quantity_of(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? dot + 1 : name;
}

static bool is_reaction(const od_machine *machine, int output) {
  const od_model *m = od_machine_model(machine);
  return output < m->outputs && m->output[output].kind == OD_OUT_JOINT_FORCE;
}

static bool matches(const chart_rule *rule, const od_machine *machine, int output) {
  return strcmp(quantity_of(od_machine_output_name(machine, output)), rule->quantity) == 0 &&
         strcmp(od_machine_output_unit(machine, output), rule->unit) == 0 &&
         is_reaction(machine, output) == rule->is_reaction;
}

bool od_run_charts_show(const od_machine *machine, int output) {
  for (int i = 0; i < RULES; i++)
    if (rules[i].is_always && matches(&rules[i], machine, output)) return true;
  return false;
}

// A line of a chart.
typedef struct line {
  int column;  // column of the frames
  double low, high;
} line;

static double size_of(const line *x) {
  return fmax(fabs(x->low), fabs(x->high));
}

// Returns whether two outputs have nearly the same extremes, possibly with opposite signs: flows through elements in series.
static bool are_alike(const line *a, const line *b) {
  double near = 1e-3 * fmax(size_of(a), size_of(b));
  return (fabs(a->low - b->low) <= near && fabs(a->high - b->high) <= near) ||
         (fabs(a->low + b->high) <= near && fabs(a->high + b->low) <= near);
}

// Adds a line to the lines that are drawn, if the line is among the largest lines. once: whether a line that is like a drawn line is
// left out. Returns the number of lines.
static int add_line(line *lines, int count, line added, bool once) {
  for (int i = 0; once && i < count; i++)
    if (are_alike(&lines[i], &added)) return count;
  if (count < MOST_LINES) {
    lines[count] = added;
    return count + 1;
  }
  int least = 0;
  for (int i = 1; i < count; i++)
    if (size_of(&lines[i]) < size_of(&lines[least])) least = i;
  if (size_of(&added) <= size_of(&lines[least])) return count;
  memmove(lines + least, lines + least + 1, (size_t)(count - least - 1) * sizeof *lines);
  lines[count - 1] = added;
  return count;
}

static line line_of(const od_run_views *v, int column) {
  od_frame_column c = od_frames_column(v->frames, column);
  line x = {column, INFINITY, -INFINITY};
  for (long i = 0; i < c.count; i++) {
    x.low = fmin(x.low, c.low[i * c.stride]);
    x.high = fmax(x.high, c.high[i * c.stride]);
  }
  return x;
}

static void draw_line(od_page *p, od_figure *f, const od_run_views *v, const line *x, od_display time, od_display shown,
                      const char *class_name) {
  OD_SCRATCH(scratch);
  od_frame_column c = od_frames_column(v->frames, x->column);
  long points = od_frame_points(&c);
  double *at = OD_TAKE(&scratch, double, points), *value = OD_TAKE(&scratch, double, points);
  if (!od_page_require(p, od_arena_status(&scratch) == OD_OK)) return;
  for (long i = 0; i < points; i++) od_frame_point(&c, points != c.count, i, &at[i], &value[i]);
  od_chart_line(f->to, &f->chart, (od_series){at, points, 1, time.factor}, (od_series){value, points, 1, shown.factor},
                class_name, od_machine_output_name(v->machine, v->output[x->column]));
}

// Adds the series of the lines to the data. The lines of the figure then refer to these series.
static void add_series(od_page *p, const od_run_views *v, const line *x, od_display shown) {
  od_series_facts facts = {.name = od_machine_output_name(v->machine, v->output[x->column]),
                           .si = shown.si,
                           .unit = shown.unit,
                           .factor = shown.factor};
  if (od_page_data_find(od_page_get_data(p), facts.name, NULL) < 0)
    od_page_data_frames(od_page_get_data(p), &facts, od_frames_column(v->frames, x->column), false);
}

static void draw_chart(od_page *p, const od_run_views *v, const chart_rule *rule) {
  line lines[MOST_LINES];
  int count = 0, all = 0;
  for (int i = 0; i < v->outputs; i++) {
    if (!matches(rule, v->machine, v->output[i])) continue;
    line x = line_of(v, i);
    if (!(size_of(&x) > 0) || !isfinite(size_of(&x))) continue;
    all++;
    count = add_line(lines, count, x, strcmp(rule->unit, "m3/s") == 0);
  }
  if (count == 0) return;
  od_frame_column c = od_frames_column(v->frames, 0);
  double end = c.x[c.count - 1];
  od_figure_range range = od_no_figure_range;
  od_legend legend[MOST_LINES + 1] = {{0}};
  char note[60] = "";
  for (int i = 0; i < count; i++) {
    od_figure_range_include(&range, lines[i].low);
    od_figure_range_include(&range, lines[i].high);
    legend[i] = (od_legend){od_machine_output_name(v->machine, v->output[lines[i].column]), od_drawn_series(i)};
  }
  if (all > count) snprintf(note, sizeof note, "%d of %d", count, all);
  od_display shown = od_figure_unit(rule->unit, od_figure_range_size(range)), time = od_display_unit("s", end);
  for (int i = 0; i < count; i++) add_series(p, v, &lines[i], shown);
  od_figure f = od_figure_over_time(rule->title, note, c.x[0], end, time, range, shown);
  f.has_outputs = true;
  f.legend = legend;
  od_page_figure_begin(p, &f);
  if (count > MOST_FINE_LINES) f.chart.column = 3;
  for (int i = 0; i < count; i++) draw_line(p, &f, v, &lines[i], time, shown, od_drawn_series(i));
  od_page_figure_end(p, &f);
}

void od_run_views_draw_charts(const od_run_views *v, od_page *p) {
  if (!v->frames) return;
  od_page_figures_begin(p, false);
  for (int i = 0; i < RULES; i++) draw_chart(p, v, &rules[i]);
  od_page_figures_end(p);
}
