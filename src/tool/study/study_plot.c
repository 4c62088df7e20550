#include "study/study_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/plot.h"
#include "io/table.h"

enum { POINTS = 201, MOST_CHARTS = 40 };

// Returns a quantile by linear interpolation between the sorted values.
static double quantile(const od_study_row *row, double part) {
  double at = part * (double)(row->runs - 1);
  long below = (long)at;
  if (below + 1 >= row->runs) return row->sorted[row->runs - 1];
  return row->sorted[below] + (at - (double)below) * (row->sorted[below + 1] - row->sorted[below]);
}

// Sets the label of a column: "CASE: VALUE", without the level of the quantile. Fails with OD_NO_MEMORY.
static od_status label(od_table *t, int column, const od_study_row *row) {
  char text[400];
  const char *level = strstr(row->metric->name, " 50 %");
  int length = level ? (int)(level - row->metric->name) : (int)strlen(row->metric->name);
  snprintf(text, sizeof text, "%.150s: %.*s", row->case_name, length > 200 ? 200 : length, row->metric->name);
  return od_table_label(t, column, text, row->metric->unit);
}

// Returns whether a row has the sorted values of its runs.
static bool has_quantiles(const od_study_row *row) {
  return row->sorted && row->runs > 1;
}

bool od_study_has_quantiles(const od_study_result *r) {
  for (int i = 0; i < r->rows; i++)
    if (has_quantiles(&r->row[i])) return true;
  return false;
}

od_status od_study_plot(const od_study *s, const od_study_result *r, const char *path, od_error *err) {
  const od_study_row *drawn[MOST_CHARTS];
  int count = 0;
  for (int i = 0; i < r->rows && count < MOST_CHARTS; i++)
    if (has_quantiles(&r->row[i])) drawn[count++] = &r->row[i];
  OD_OWNED(od_table_free) od_table *t = od_table_new(1 + count);
  od_status status = t ? od_table_label(t, 0, "fraction of the runs", "1") : OD_NO_MEMORY;
  for (int i = 0; i < count && status == OD_OK; i++) status = label(t, 1 + i, drawn[i]);
  for (int k = 0; k < POINTS && status == OD_OK; k++) {
    double row[1 + MOST_CHARTS] = {(double)k / (POINTS - 1)};
    for (int i = 0; i < count; i++) row[1 + i] = quantile(drawn[i], row[0]);
    status = od_table_append(t, row);
  }
  if (status == OD_NO_MEMORY) od_fail(err, status, "out of memory");
  if (status == OD_OK)
    status = od_plot_write(t, NULL, s->title, "quantiles: value that the given fraction of the runs does not exceed",
                           path, err);
  return status;
}

// --- Histograms -------------------------------------------------------------------------------------------------------

void od_picture_add_study(od_picture *p, const od_study_result *r) {
  for (int i = 0; i < r->rows; i++) {
    const od_study_row *row = &r->row[i];
    const od_metric *m = row->metric;
    char title[400], text[120];
    if (!row->values || row->runs < 2 || m->gather == OD_GATHER_COUNT) continue;
    // Quantiles of one value have one histogram, at the median.
    if (m->gather == OD_GATHER_QUANTILE && m->expected != 0.5) continue;
    snprintf(title, sizeof title, "%.150s: %.200s", row->case_name, m->name);
    od_panel *panel = od_picture_add_histogram(p, title, m->unit, row->values, row->runs);
    snprintf(text, sizeof text, "result: %s", od_display_quantity(row->value, m->unit).text);
    od_panel_instant(p, panel, row->value, text);
    if (isfinite(m->bound)) {
      snprintf(text, sizeof text, "bound: %s", od_display_quantity(m->bound, m->unit).text);
      od_panel_instant(p, panel, m->bound, text);
    }
    for (int k = 0; k < OD_ORIGINS; k++) {
      if (!isfinite(m->known[k])) continue;
      snprintf(text, sizeof text, "%s: %s", od_origin_names[k], od_display_quantity(m->known[k], m->unit).text);
      od_panel_instant(p, panel, m->known[k], text);
    }
  }
}
