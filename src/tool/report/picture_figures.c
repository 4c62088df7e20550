#include "report/picture_figures.h"

#include <string.h>

#include "memory/scoped.h"
#include "report/page.h"

enum { MOST_FIGURES = 48, MOST_LEGEND = 16 };  // limits that keep a page readable

static od_series scaled(od_series s, double factor) {
  s.factor *= factor;
  return s;
}

static const char *class_of(const od_panel *panel, const od_panel_line *l, int i) {
  if (l->as == OD_AS_POINTS && !l->half.data) return OD_DRAWN_MEASURED;
  return panel->lines > 1 ? od_drawn_series(i) : OD_DRAWN_ESTIMATE;
}

static void draw_line(od_figure *f, const od_panel *panel, const od_panel_view *v, const od_panel_line *l, int i) {
  od_series x = scaled(l->x, v->x_factor), y = scaled(l->y, v->y_factor), half = scaled(l->half, v->y_factor);
  const char *class_name = class_of(panel, l, i);
  f->chart.label = l->label;
  if (l->as == OD_AS_POINTS && l->half.data)
    od_chart_bars(f->to, &f->chart, x, y, half, class_name);
  else if (l->as == OD_AS_POINTS)
    od_chart_dots(f->to, &f->chart, x, y, class_name);
  if (l->as == OD_AS_AREA) {
    od_series middle = scaled(y, 0.5);
    od_chart_band(f->to, &f->chart, x, middle, middle, OD_DRAWN_BAND, NULL);
  }
  if (l->as != OD_AS_POINTS) od_chart_line(f->to, &f->chart, x, y, class_name, l->label);
}

static void draw_marks(od_figure *f, const od_panel *panel, const od_panel_view *v) {
  for (const od_panel_mark *m = panel->mark; m; m = m->next) {
    double x = m->x * v->x_factor, y = m->y * v->y_factor;
    if (m->kind == OD_LIMIT_LEVEL)
      od_chart_level(f->to, &f->chart, y, OD_DRAWN_LIMIT, m->text);
    else if (m->kind == OD_LIMIT_INSTANT)
      od_chart_instant(f->to, &f->chart, x, OD_DRAWN_LIMIT, m->text);
    else
      od_chart_mark(f->to, &f->chart, x, y, m->shape, OD_DRAWN_START, m->text);
  }
}

// Draws named values as a list. The page shows the list without changes.
static void draw_list(od_page *page, const od_panel *panel) {
  static const double width = 480, left = 180, right = 74, top = 4, bottom = 24;
  char unit[OD_AXIS_TEXT];
  FILE *to = od_page_still_begin(page, panel->title, od_panel_list_unit(panel, unit), panel->note, width,
                                 top + od_panel_list_height(panel) + bottom);
  od_panel_draw_list(to, panel,
                     &(od_list_style){.x = left,
                                      .y = top,
                                      .width = width - left - right,
                                      .ticks = 4,
                                      .point = "point " OD_DRAWN_ESTIMATE,
                                      .bar = OD_DRAWN_ESTIMATE});
  od_page_still_end(page);
}

// Fills the legend with the labels of lines and the texts of limits. Returns whether the legend has an entry.
static bool fill_legend(const od_panel *panel, od_legend legend[MOST_LEGEND + 1]) {
  int count = 0, i = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next, i++)
    if (l->label && count < MOST_LEGEND) legend[count++] = (od_legend){l->label, class_of(panel, l, i)};
  for (const od_panel_mark *m = panel->mark; m; m = m->next)
    if (m->kind != OD_POINT_MARK && m->text[0] && count < MOST_LEGEND)
      legend[count++] = (od_legend){m->text, OD_DRAWN_LIMIT};
  legend[count] = (od_legend){0};
  return count > 0;
}

static void draw_panel(od_page *page, const od_panel *panel) {
  od_panel_view v = od_panel_view_of(panel);
  od_legend legend[MOST_LEGEND + 1];
  od_figure f = {.title = panel->title,
                 .note = panel->note,
                 .x_low = v.x_low,
                 .x_high = v.x_high,
                 .y_low = v.y_low,
                 .y_high = v.y_high,
                 .x_log = panel->x_log,
                 .y_log = panel->y_log,
                 .x_name = panel->x_name,
                 .x_unit = v.x_unit,
                 .y_unit = v.y_unit,
                 .x_si = panel->x_unit,
                 .y_si = panel->y_unit,
                 .x_factor = v.x_factor,
                 .y_factor = v.y_factor,
                 .has_equal_scales = panel->has_equal_scales,
                 .is_over_time = !strcmp(panel->x_name, "time") && !strcmp(panel->x_unit, "s")};
  if (fill_legend(panel, legend)) f.legend = legend;
  od_page_figure_begin(page, &f);
  int i = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next) draw_line(&f, panel, &v, l, i++);
  draw_marks(&f, panel, &v);
  od_page_figure_end(page, &f);
}

static void draw_picture(od_page *page, const void *user) {
  const od_picture *p = user;
  int drawn = 0;
  if (!od_page_require(page, od_arena_status(&p->arena) == OD_OK)) return;
  od_page_figures_begin(page, false);
  for (const od_panel *panel = p->panel; panel && drawn < MOST_FIGURES; panel = panel->next, drawn++)
    (panel->name ? draw_list : draw_panel)(page, panel);
  od_page_figures_end(page);
  if (drawn < p->panels) od_page_text(page, "The page shows %d of %d charts.", drawn, p->panels);
}

void od_result_add_picture(od_result *r, const char *section, const od_picture *picture) {
  od_audience before = r->audience;
  if (od_arena_status(&picture->arena) != OD_OK) r->is_short_of_memory = true;
  if (picture->panels == 0) return;
  od_result_audience(r, OD_FOR_PAGE);
  od_result_section(r, section);
  od_result_charts(r, draw_picture, picture);
  od_result_audience(r, before);
}
