#include "components/component_picture.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "components/component_curve.h"
#include "io/atomic_file.h"
#include "io/chart.h"
#include "io/display.h"
#include "io/svg.h"

// Dimensions of the picture, in pixels.
static const double page_width = 480, page_height = 262, left = 62, right = 14, top = 24, bottom = 98, legend_line = 16;
enum { MOST_CURVES = 6 };

static const char style[] =
    "text{font-family:system-ui,'Segoe UI',Roboto,Arial,sans-serif;fill:#3d4654;font-size:11px}"
    ".unit{font-weight:600}.note{font-size:9.5px;fill:#6b7685}.page{fill:#fff}.frame{fill:#fbfcfd;stroke:#c5ccd6}"
    ".grid{stroke:#e4e8ee}.zero{stroke:#b3bcc8}.curve{fill:none;stroke:currentColor;stroke-width:1.6}.dot{fill:currentColor}"
    ".c0{color:#1769d1}.c1{color:#d1490c}.c2{color:#23823b}.c3{color:#8e36ad}.c4{color:#0b7a8f}.c5{color:#c22a4b}";

// The drawn columns. `bare`: the legend omits the value that differs between the curves.
typedef struct choice {
  int column[MOST_CURVES], count;
  bool bare;
} choice;

static bool is_same(const od_table *t, int one, int other) {
  od_summary s = od_table_summary(t, one);
  for (long k = 0; k < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    if (fabs(row[one] - row[other]) > 0.005 * (s.max - s.min)) return false;
  }
  return true;
}

// If only one flow or force changes, and its first and last member differ, chooses all its members. Otherwise chooses the last
// member of each changing flow, or of each changing force.
static choice choose(const od_component_curve *curve) {
  const od_table *t = curve->table;
  int outs = (t->columns - 1) / curve->members, members = curve->members;
  choice c = {.bare = true};
  for (int i = 0; i < outs && c.count < MOST_CURVES; i++) {
    bool any = false;
    for (int k = 0; k < members; k++) any = any || curve->lively[1 + i * members + k];
    int last = (i + 1) * members;
    if (any && (c.count == 0 || strcmp(t->unit[c.column[0]], t->unit[last]) == 0)) c.column[c.count++] = last;
  }
  int last = c.column[0], first = last - members + 1;
  if (c.count > 1 || members == 1 || is_same(t, first, last)) return c;
  for (c.count = 0, c.bare = false; c.count < members && c.count < MOST_CURVES; c.count++)
    c.column[c.count] = first + c.count;
  return c;
}

static od_series series(const od_table *t, int column, double factor) {
  return (od_series){t->data + column, t->rows, t->columns, factor};
}

// Draws the names of the curves below the chart, two per line.
static void draw_legend(FILE *to, const od_table *t, const choice *c, double y) {
  for (int i = 0; i < c->count; i++) {
    char color[24], name[120];
    int row = i / 2;
    double x = i % 2 ? page_width / 2 + 10 : left, line = y + row * legend_line;
    const char *full = t->name[c->column[i]];
    snprintf(color, sizeof color, "dot c%d", i);
    snprintf(name, sizeof name, "%.*s", (int)(c->bare ? strcspn(full, ",") : strlen(full)), full);
    od_svg_circle(to, color, x + 4, line - 4, 4);
    od_svg_text(to, "name", x + 13, line, "start", name);
  }
}

static void draw(FILE *to, const od_element_description *c, const od_component_curve *curve) {
  const od_table *t = curve->table;
  choice chosen = choose(curve);
  const int *column = chosen.column, count = chosen.count, more_lines = (count - 1) / 2;
  double low = INFINITY, high = -INFINITY, height = page_height + legend_line * more_lines;
  for (int i = 0; i < count; i++) {
    od_summary s = od_table_summary(t, column[i]);
    low = fmin(low, s.min), high = fmax(high, s.max);
  }
  od_summary over = od_table_summary(t, 0);
  od_display across = od_display_unit(t->unit[0], fmax(fabs(over.min), fabs(over.max)));
  od_display upright = od_display_unit(t->unit[column[0]], fmax(fabs(low), fabs(high)));
  double room = 0.07 * (high - low);
  od_chart chart = {left,
                    top,
                    page_width - left - right,
                    page_height - top - bottom,
                    od_axis_make(over.min * across.factor, over.max * across.factor, across.unit, 7),
                    od_axis_make((low - room) * upright.factor, (high + room) * upright.factor, upright.unit, 5)};
  char text[256];
  od_svg_begin(to, page_width, height, c->equations->name, style);
  od_svg_rectangle(to, "page", 0, 0, page_width, height);
  od_chart_frame(to, &chart, "tick");
  for (int i = 0; i < count; i++) {
    snprintf(text, sizeof text, "curve c%d", i);
    od_chart_line(to, &chart, series(t, 0, across.factor), series(t, column[i], upright.factor), text, NULL);
  }
  od_svg_text(to, "unit", left, top - 9, "start", chart.vertical.unit);
  snprintf(text, sizeof text, chart.horizontal.unit[0] ? "%s (%s)" : "%s", t->name[0], chart.horizontal.unit);
  od_svg_text(to, "unit", left + chart.width / 2, top + chart.height + 35, "middle", text);
  draw_legend(to, t, &chosen, top + chart.height + 56);
  // If several flows or forces are drawn, the note contains the value that their last members share.
  const char *with = count > 1 && chosen.bare ? strchr(t->name[column[0]], ',') : NULL;
  snprintf(text, sizeof text, "%s%s%s", curve->note, with ? "; with" : "", with ? with + 1 : "");
  od_svg_text(to, "note", 12, height - 10, "start", text);
  od_svg_end(to);
}

static void file_name(const od_element_description *c, char *name, size_t size) {
  snprintf(name, size, "%s.svg", c->equations->name);
  for (char *p = name; strcmp(p, ".svg") != 0; p++)
    if (!isalnum((unsigned char)*p)) *p = '-';
}

od_status od_component_picture_name(const od_element_description *c, char *name, size_t size, od_error *err) {
  od_component_curve curve;
  od_status status = od_component_curve_make(c, &curve, err);
  file_name(c, name, size);
  if (!curve.table) name[0] = '\0';
  od_table_free(curve.table);
  return status;
}

od_status od_component_picture_write(const od_element_description *c, const char *folder, od_error *err) {
  char name[80], path[4096];
  od_component_curve curve;
  od_atomic_file f;
  file_name(c, name, sizeof name);
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
    return od_fail(err, OD_BAD_ARGUMENT, "the name of the folder is too long; choose a shorter folder name");
  od_status status = od_component_curve_make(c, &curve, err);
  if (status != OD_OK) return status;
  if (!curve.table)
    return od_fail(err, OD_BAD_ARGUMENT, "'%s' has no picture, because its class has no curve", c->equations->name);
  status = od_atomic_open(&f, path, err);
  if (status == OD_OK) {
    draw(f.file, c, &curve);
    status = od_atomic_commit(&f, err);
  }
  od_table_free(curve.table);
  return status;
}
