#include "sweep/sweep_picture.h"

#include <stdio.h>

#include "io/display.h"
#include "memory/scoped.h"

enum { MOST_PANELS = 24, MOST_CURVES = 12 };

static void add_curves(od_picture *p, const od_sweep_plan *plan, const od_table *t, int column) {
  int across = plan->axes - 1;
  bool is_points = plan->axes > 2;
  long each = is_points ? t->rows : plan->axis[across].count;
  od_panel *panel = od_picture_add(
      p,
      (od_panel){
          .title = t->name[column], .x_name = t->name[across], .x_unit = t->unit[across], .y_unit = t->unit[column]});
  for (long curve = 0; curve * each < t->rows && curve < MOST_CURVES; curve++) {
    const double *first = t->data + curve * each * t->columns;
    char label[400];
    snprintf(label, sizeof label, "%.200s = %s", t->name[0], od_display_quantity(first[0], t->unit[0]).text);
    od_panel_add(p, panel,
                 (od_panel_line){.label = plan->axes == 2 ? label : NULL,
                                 .as = is_points || each == 1 ? OD_AS_POINTS : OD_AS_LINE,
                                 .x = {first + across, each, t->columns, 1},
                                 .y = {first + column, each, t->columns, 1}});
  }
}

static void add_histogram(od_picture *p, const od_table *t, int column) {
  OD_SCRATCH(scratch);
  double *value = OD_TAKE(&scratch, double, t->rows);
  if (!value) {
    p->arena.exhausted = true;
    return;
  }
  for (long i = 0; i < t->rows; i++) value[i] = t->data[i * t->columns + column];
  od_picture_add_histogram(p, t->name[column], t->unit[column], value, t->rows);
}

void od_picture_add_sweep(od_picture *p, const od_sweep_plan *plan, const od_table *t, int columns) {
  int most = columns > 0 ? columns : MOST_PANELS;
  for (int c = plan->axes; c < t->columns && c < plan->axes + most; c++) {
    if (plan->is_drawn)
      add_histogram(p, t, c);
    else
      add_curves(p, plan, t, c);
  }
}
