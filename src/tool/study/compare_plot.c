// Plots a comparison: a panel per metric, and a line per row with its value and 99 % interval on a logarithmic scale.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/display.h"
#include "io/svg.h"
#include "study/study_summary.h"

static const double width = 960, left = 300, right = 120, top = 88, row_height = 24, panel_gap = 64, bottom = 28;
static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#3d4654;font-size:13px}"
    ".title{font-size:21px;font-weight:600;fill:#1c2430}.subtitle{font-size:13.5px;fill:#6b7685}"
    ".name{font-weight:600}.note{font-weight:400;fill:#6b7685}.tick{font-size:12px;fill:#8a94a3}"
    ".page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}.grid{stroke:#e4e8ee}"
    ".bar{stroke:#1769d1;stroke-width:2}.dot{fill:#1769d1}.free{fill:#8a94a3}.bar.free{stroke:#8a94a3}";

// A logarithmic scale over all values of a panel.
typedef struct scale {
  double low, high;
} scale;

static double place(const scale *s, double value) {
  return left + (width - left - right) * log(value / s->low) / log(s->high / s->low);
}

static scale scale_of(const od_comparison *c, const od_study_result *r, const char *metric) {
  scale s = {INFINITY, 0};
  for (int i = 0; i < c->rows; i++) {
    const od_study_row *row = od_comparison_find(c, r, &c->row[i], metric);
    double value = row ? fabs(row->value) : 0;
    if (!(value > 0) || isinf(value)) continue;
    s.low = fmin(s.low, value), s.high = fmax(s.high, value);
  }
  if (s.high == 0) return (scale){0.1, 10};
  return (scale){s.low / 1.5, s.high * 1.5};
}

static void row_name(const od_comparison *c, const od_compared *row, char *text, size_t size) {
  snprintf(text, size, "%s", row->filter ? row->filter : "no correction");
  const struct {
    bool shown;
    const char *text;
  } parts[] = {{c->by_sensors, row->sensors}, {c->by_variant, row->variant}, {c->by_step, row->step}};
  for (int i = 0; i < 3; i++)
    if (parts[i].shown && parts[i].text) snprintf(text + strlen(text), size - strlen(text), ", %.60s", parts[i].text);
}

static void draw_ticks(FILE *to, const scale *s, const char *unit, double y, double height) {
  od_display shown = od_display_unit(unit, s->high);
  for (double decade = pow(10, floor(log10(s->low * shown.factor))); decade <= s->high * shown.factor; decade *= 10)
    for (int k = 1; k < 10; k += k == 1 ? 1 : k == 2 ? 3 : 5) {
      double value = k * decade / shown.factor;
      char text[OD_NUMBER_SIZE];
      if (value < s->low || value > s->high) continue;
      snprintf(text, sizeof text, "%g", k * decade);
      od_svg_line(to, "grid", place(s, value), y, place(s, value), y + height);
      od_svg_text(to, "tick", place(s, value), y + height + 16, "middle", text);
    }
}

static void draw_row(FILE *to, const scale *s, const od_compared *row, const od_study_row *found, double y) {
  const char *free_class = row->filter ? "" : " free";
  char class_name[32], text[OD_NUMBER_SIZE];
  double value = found ? fabs(found->value) : 0, middle = y + row_height / 2;
  if (!(value > 0) || isinf(value)) {
    od_svg_text(to, "tick", left + 6, middle + 4, "start", row->problem ? row->problem : "no value");
    return;
  }
  if (!od_study_row_expects(found) && found->low > 0) {
    snprintf(class_name, sizeof class_name, "bar%s", free_class);
    od_svg_line(to, class_name, place(s, fmax(found->low, s->low)), middle, place(s, fmin(found->high, s->high)),
                middle);
  }
  snprintf(class_name, sizeof class_name, "dot%s", free_class);
  od_svg_circle(to, class_name, place(s, value), middle, 4);
  od_display shown = od_display_unit(found->metric->unit, value);
  snprintf(text, sizeof text, "%.4g", found->value * shown.factor);
  char full[OD_NUMBER_SIZE + 32];
  snprintf(full, sizeof full, "%s %s", text, shown.unit);
  od_svg_text(to, "", width - right + 8, middle + 4, "start", full);
}

static void draw_panel(FILE *to, const od_comparison *c, const od_study_result *r, const od_metric *metric, double y) {
  scale s = scale_of(c, r, metric->name);
  double height = row_height * c->rows;
  od_display shown = od_display_unit(metric->unit, s.high);
  od_svg_label(to, left, y - 10, metric->name, shown.unit);
  od_svg_rectangle(to, "frame", left, y, width - left - right, height);
  draw_ticks(to, &s, metric->unit, y, height);
  for (int i = 0; i < c->rows; i++) {
    char name[256];
    row_name(c, &c->row[i], name, sizeof name);
    od_svg_text(to, "", left - 10, y + row_height * (i + 0.5) + 4, "end", name);
    draw_row(to, &s, &c->row[i], od_comparison_find(c, r, &c->row[i], metric->name), y + row_height * i);
  }
}

// Returns whether a metric has a panel: the metrics of the file and the time of a step have panels.
static bool is_drawn(const od_metric *m) {
  static const char *const others[] = {OD_COMPARE_NIS, OD_COMPARE_DIVERGED, "doubtful", "redrawn_impossible",
                                       "redrawn_dead_point"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(m->name, others[i]) == 0) return false;
  return strncmp(m->name, "converged_s", 11) != 0;
}

void od_picture_add_comparison(od_picture *p, const od_comparison *c, const od_study_result *r) {
  const od_case *first = c->study.cases > 0 ? &c->study.item[0] : NULL;
  const char **name = OD_TAKE(&p->arena, const char *, c->rows);
  double *value = OD_TAKE(&p->arena, double, 2L * c->rows), *half = value ? value + c->rows : NULL;
  if (!name || !value) return;
  for (int k = 0; first && k < first->metrics; k++) {
    const od_metric *metric = &first->metric[k];
    int count = 0;
    if (!is_drawn(metric)) continue;
    for (int i = 0; i < c->rows; i++) {
      const od_study_row *row = od_comparison_find(c, r, &c->row[i], metric->name);
      char text[256];
      if (!row || !(fabs(row->value) > 0) || isinf(row->value)) continue;
      row_name(c, &c->row[i], text, sizeof text);
      name[count] = od_arena_text(&p->arena, text);
      if (!name[count]) return;
      value[count] = fabs(row->value);
      half[count++] = od_study_row_expects(row) ? (double)NAN : 0.5 * (row->high - row->low);
    }
    od_panel *panel = od_picture_add_list(p, metric->name, metric->unit, name, value, half, count);
    if (panel) panel->y_log = true;
  }
}

od_status od_comparison_plot(const od_comparison *c, const od_study_result *r, const char *path, od_error *err) {
  const od_case *first = c->study.cases > 0 ? &c->study.item[0] : NULL;
  int panels = 0;
  for (int i = 0; first && i < first->metrics; i++) panels += is_drawn(&first->metric[i]);
  if (strcmp(path, "-") == 0) {
    OD_SCOPED(od_picture_free) od_picture picture = {.title = c->study.title};
    od_picture_add_comparison(&picture, c, r);
    return od_picture_show(&picture, path, err);
  }
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  double panel = row_height * c->rows + panel_gap, y = top + 24;
  char subtitle[512];
  snprintf(subtitle, sizeof subtitle, "%.300s: mean of %ld runs with its 99 %% interval", c->study.path,
           first ? first->runs : 0);
  od_svg_begin(file.file, width, top + panels * panel + bottom, c->study.title, style);
  od_svg_text(file.file, "title", 24, 38, "start", c->study.title);
  od_svg_text(file.file, "subtitle", 24, 62, "start", subtitle);
  for (int i = 0; first && i < first->metrics; i++) {
    if (!is_drawn(&first->metric[i])) continue;
    draw_panel(file.file, c, r, &first->metric[i], y);
    y += panel;
  }
  od_svg_end(file.file);
  return od_atomic_commit(&file, err);
}
