#include "io/search_history.h"

#include <math.h>
#include <string.h>

od_table *od_search_history_new(const char *const *name, int count) {
  OD_OWNED(od_table_free) od_table *t = od_table_new(2 + count);
  bool ok = t && od_table_label(t, 0, "iteration", "1") == OD_OK && od_table_label(t, 1, "cost", "1") == OD_OK;
  for (int i = 0; ok && i < count; i++) ok = od_table_label(t, 2 + i, name[i], "1") == OD_OK;
  return ok ? OD_GIVE(t) : NULL;
}

od_status od_search_history_add(od_table *t, double cost, const double *number) {
  OD_SCRATCH(scratch);
  double *row = OD_TAKE(&scratch, double, t->columns);
  if (!row) return OD_NO_MEMORY;
  if (!isfinite(cost)) return OD_OK;
  row[0] = (double)t->rows, row[1] = cost;
  memcpy(row + 2, number, (size_t)(t->columns - 2) * sizeof *row);
  return od_table_append(t, row);
}

void od_picture_add_history(od_picture *p, const od_table *t) {
  enum { MOST_NUMBERS = 12 };
  if (!t || t->rows < 2) return;
  od_series x = {t->data, t->rows, t->columns, 1};
  od_panel *cost = od_picture_add(
      p,
      (od_panel){.title = "cost", .note = "half the sum of squared residuals", .x_name = "iteration", .y_log = true});
  od_panel_add(p, cost, (od_panel_line){.x = x, .y = {t->data + 1, t->rows, t->columns, 1}});
  od_panel *panel = NULL;
  for (int c = 2, drawn = 0; c < t->columns && drawn < MOST_NUMBERS; c++) {
    double last = t->data[(t->rows - 1) * t->columns + c];
    if (!isfinite(last) || last == 0) continue;
    if (!panel)
      panel = od_picture_add(
          p, (od_panel){.title = "numbers", .note = "relative to their last values", .x_name = "iteration"});
    od_panel_add(p, panel,
                 (od_panel_line){.label = t->name[c], .x = x, .y = {t->data + c, t->rows, t->columns, 1 / last}});
    drawn++;
  }
}
