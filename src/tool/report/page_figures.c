// Figures of a page: an SVG for readers without the script, and the same shapes as data.
#include <math.h>
#include <string.h>

#include "io/svg.h"
#include "report/page_parts.h"

const char *od_drawn_series(int i) {
  static const char *const classes[OD_SERIES] = {"series s0", "series s1", "series s2",
                                                 "series s3", "series s4", "series s5"};
  return classes[i % OD_SERIES];
}

// Writes an escaped text between two pieces of HTML.
static void put(od_page *p, const char *begin, const char *text, const char *end) {
  fputs(begin, p->body);
  od_xml_text(p->body, text);
  fputs(end, p->body);
}

void od_page_legend(od_page *p, const od_legend *entries) {
  od_page_begin_content(p);
  fputs("<p class=\"legend\">", p->body);
  for (const od_legend *e = entries; e->text; e++) {
    bool band = !strcmp(e->drawn, OD_DRAWN_BAND), dots = !strcmp(e->drawn, OD_DRAWN_MEASURED);
    const char *shape = band ? "M1 1h28v10h-28z" : dots ? "M5 5v3m7 -4v4m7 -1v3m7 -6v4" : "M1 6h28";
    fprintf(p->body,
            "<span><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 30 12\"><path class=\"%s\" d=\"%s\"/>",
            e->drawn, shape);
    put(p, "</svg>", e->text, "</span>\n");
  }
  fputs("</p>\n", p->body);
}

void od_page_figures_begin(od_page *p, bool small) {
  od_page_begin_content(p);
  p->small = small;
  if (p->place == OD_PLACE_SECTIONS) fprintf(p->body, "<div class=\"figures%s\">\n", small ? " small" : "");
}

void od_page_figures_end(od_page *p) {
  if (p->place == OD_PLACE_SECTIONS) fputs("</div>\n", p->body);
}

// The sizes of a kind of figure, in pixels.
typedef struct sizes {
  double width, height, left, right, top, bottom, x_ticks, y_ticks;
} sizes;
static const sizes wide = {760, 240, 54, 14, 10, 40, 9, 5}, large = {460, 230, 54, 14, 10, 40, 6, 5},
                   little = {300, 170, 50, 12, 8, 38, 4, 4};

static void put_caption(od_page *p, const od_figure *f) {
  const char *card = p->place == OD_PLACE_CHARTS ? "card " : "";
  int number = od_page_data_charts(p->data);
  fprintf(p->body, "<figure class=\"%schart\" id=\"chart-%d\" data-chart=\"%d\">", card, number, number);
  put(p, "<figcaption><b>", f->title, "</b> <span class=\"unit\">");
  put(p, "", f->chart.vertical.unit, "</span> <span class=\"note\">");
  put(p, "", f->note ? f->note : "", "</span></figcaption>\n");
  if (f->legend) od_page_legend(p, f->legend);
}

static od_axis axis_of(bool is_log, double low, double high, const char *unit, double ticks) {
  return is_log ? od_axis_make_log(low, high, unit, ticks) : od_axis_make(low, high, unit, ticks);
}

// Returns the axis as data. Axes of charts have a unit with a prefix, in which numbers are short.
static od_data_axis data_axis(const od_axis *axis, const char *name, const char *si, const char *unit, double factor) {
  double drawn = factor > 0 ? factor : 1;
  return (od_data_axis){.name = name,
                        .si = si ? si : unit,
                        .unit = axis->unit,
                        .drawn = drawn,
                        .factor = drawn / axis->factor,
                        .low = axis->low / drawn,
                        .high = axis->high / drawn,
                        .is_log = axis->is_log};
}

static void listen(void *page, const od_drawn *drawn) {
  od_page *p = page;
  od_page_data_draw(p->data, &p->drawing, drawn);
}

FILE *od_page_still_begin(od_page *p, const char *title, const char *unit, const char *note, double width,
                          double height) {
  fprintf(p->body, "<figure class=\"%schart list\">", p->place == OD_PLACE_CHARTS ? "card " : "");
  put(p, "<figcaption><b>", title, "</b> <span class=\"unit\">");
  put(p, "", unit, "</span> <span class=\"note\">");
  put(p, "", note ? note : "", "</span></figcaption>\n");
  fprintf(p->body, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
          width, height);
  put(p, "", title, "\">\n");
  return p->body;
}

void od_page_still_end(od_page *p) {
  fputs("</svg></figure>\n", p->body);
}

void od_page_figure_begin(od_page *p, od_figure *f) {
  const sizes *s = p->place == OD_PLACE_CHARTS ? &wide : p->small ? &little : &large;
  f->to = p->body;
  f->chart = (od_chart){.x = s->left,
                        .y = s->top,
                        .width = s->width - s->left - s->right,
                        .height = s->height - s->top - s->bottom,
                        .horizontal = axis_of(f->x_log, f->x_low, f->x_high, f->x_unit, s->x_ticks),
                        .vertical = axis_of(f->y_log, f->y_low, f->y_high, f->y_unit, s->y_ticks),
                        .column = 2,
                        .is_compact = true,
                        .listen = listen,
                        .listener = p};
  const od_chart *c = &f->chart;
  put_caption(p, f);
  p->drawing = (od_data_chart){.title = f->title,
                               .note = f->is_note_static ? NULL : f->note,
                               .x = data_axis(&c->horizontal, f->x_name, f->x_si, f->x_unit, f->x_factor),
                               .y = data_axis(&c->vertical, NULL, f->y_si, f->y_unit, f->y_factor),
                               .is_over_time = f->is_over_time,
                               .has_equal_scales = f->has_equal_scales,
                               .has_outputs = f->has_outputs,
                               .subject = f->subject};
  od_page_data_chart_begin(p->data, &p->drawing);
  fprintf(f->to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
          s->width, s->height);
  od_xml_text(f->to, f->title);
  fputs("\">\n", f->to);
  od_chart_frame(f->to, c, "tick");
  char text[2 * OD_AXIS_TEXT];
  snprintf(text, sizeof text, c->horizontal.unit[0] ? "%.60s (%s)" : "%.60s", f->x_name, c->horizontal.unit);
  od_svg_text(f->to, "tick", c->x + c->width, s->height - 4, "end", text);
  od_chart_inside_begin(f->to, c);
}

void od_page_figure_end(od_page *p, const od_figure *f) {
  od_chart_inside_end(f->to);
  od_page_data_chart_end(p->data);
  fputs("</svg></figure>\n", p->body);
}
