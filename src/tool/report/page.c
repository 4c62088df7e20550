// The body of the page is collected in memory, because the links to the sections are written before the sections.
#include "report/page.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/number.h"
#include "io/svg.h"
#include "oleodyn/oleodyn.h"
#include "report/style.h"

enum { MOST_SECTIONS = 40, MOST_COLUMNS = 24 };

struct od_page {
  char *kind, *title;
  FILE *body;
  char *text;
  size_t length;
  char *section[MOST_SECTIONS];
  int sections;
  bool words[MOST_COLUMNS];
  int columns, column;
  bool small, any_figure, failed;  // failed: an allocation failed
  locale_t plain, before;          // locale of this thread while the page is made, and the previous one
};

// --- The page -----------------------------------------------------------------------------------------------------

od_page *od_page_new(const char *kind, const char *title) {
  od_page *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->kind = strdup(kind);
  p->title = strdup(title);
  p->body = open_memstream(&p->text, &p->length);
  p->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (p->plain) p->before = uselocale(p->plain);
  if (p->kind && p->title && p->body && p->plain) return p;
  od_page_free(p);
  return NULL;
}

void od_page_free(od_page *p) {
  if (!p) return;
  if (p->plain) {
    uselocale(p->before);
    freelocale(p->plain);
  }
  if (p->body) fclose(p->body);
  for (int i = 0; i < p->sections; i++) free(p->section[i]);
  free(p->text);
  free(p->kind);
  free(p->title);
  free(p);
}

static void write_head(const od_page *p, FILE *to) {
  fputs(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
      to);
  od_xml_text(to, p->title);
  fprintf(to, "</title>\n<style>\n%s%s%s</style>\n</head>\n<body>\n<header>\n<p class=\"kind\">", page_colors,
          page_layout, page_charts);
  od_xml_text(to, p->kind);
  fputs("</p>\n<h1>", to);
  od_xml_text(to, p->title);
  fputs("</h1>\n</header>\n", to);
}

static void write_links(const od_page *p, FILE *to) {
  if (p->sections == 0) return;
  fputs("<nav>", to);
  for (int i = 0; i < p->sections; i++) {
    fprintf(to, "<a href=\"#s%d\">", i + 1);
    od_xml_text(to, p->section[i]);
    fputs("</a>\n", to);
  }
  fputs("</nav>\n", to);
}

void od_page_fail(od_page *p) {
  p->failed = true;
}

od_status od_page_write(od_page *p, const char *path, od_error *err) {
  od_atomic_file f;
  if (p->failed || fflush(p->body) != 0 || ferror(p->body)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  write_head(p, f.file);
  write_links(p, f.file);
  fputs("<main>\n", f.file);
  fwrite(p->text, 1, p->length, f.file);
  fputs("</main>\n<footer>Written by oleodyn " OD_VERSION ".</footer>\n", f.file);
  if (p->any_figure) fprintf(f.file, "<script>\n//<![CDATA[\n%s//]]>\n</script>\n", page_script);
  fputs("</body>\n</html>\n", f.file);
  return od_atomic_commit(&f, err);
}

// --- Texts --------------------------------------------------------------------------------------------------------

static void put_escaped(od_page *p, const char *format, va_list list) {
  va_list again;
  va_copy(again, list);
  int length = vsnprintf(NULL, 0, format, list);
  char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (text) {
    vsnprintf(text, (size_t)length + 1, format, again);
    od_xml_text(p->body, text);
  }
  p->failed = p->failed || !text;
  free(text);
  va_end(again);
}

// Writes an element whose text is the escaped result of the caller's format.
#define PUT_ELEMENT(begin, end)   \
  do {                            \
    va_list list;                 \
    va_start(list, format);       \
    fputs(begin, p->body);        \
    put_escaped(p, format, list); \
    fputs(end "\n", p->body);     \
    va_end(list);                 \
  } while (0)

void od_page_section(od_page *p, const char *title) {
  if (p->sections < MOST_SECTIONS) {
    p->section[p->sections] = strdup(title);
    if (p->section[p->sections])
      p->sections++;
    else
      p->failed = true;
  }
  fprintf(p->body, "<h2 id=\"s%d\">", p->sections);
  od_xml_text(p->body, title);
  fputs("</h2>\n", p->body);
}

void od_page_heading(od_page *p, const char *title) {
  fputs("<h3>", p->body);
  od_xml_text(p->body, title);
  fputs("</h3>\n", p->body);
}

void od_page_text(od_page *p, const char *format, ...) {
  PUT_ELEMENT("<p>", "</p>");
}

void od_page_notice(od_page *p, od_tone tone, const char *lead, const char *format, ...) {
  static const char *const tones[] = {"good", "doubt", "bad"};
  fprintf(p->body, "<p class=\"notice %s\"><b>", tones[tone]);
  od_xml_text(p->body, lead);
  PUT_ELEMENT("</b> ", "</p>");
}

void od_page_verdict(od_page *p, const od_verdict *v) {
  static const od_tone tone[] = {[OD_SOUND] = OD_TONE_GOOD, [OD_DOUBTFUL] = OD_TONE_DOUBT, [OD_UNSOUND] = OD_TONE_BAD};
  od_page_notice(p, tone[v->trust], "Verdict:", "%s.", od_trust_text(v->trust));
  for (int i = 0; i < v->count; i++)
    od_page_notice(p, tone[v->remark[i].trust], v->remark[i].lead, "%s", v->remark[i].text);
}

void od_page_facts_begin(od_page *p) {
  fputs("<dl>\n", p->body);
}

void od_page_fact(od_page *p, const char *name, const char *format, ...) {
  fputs("<dt>", p->body);
  od_xml_text(p->body, name);
  PUT_ELEMENT("</dt><dd>", "</dd>");
}

void od_page_facts_end(od_page *p) {
  fputs("</dl>\n", p->body);
}

void od_page_items_begin(od_page *p) {
  fputs("<ul>\n", p->body);
}

void od_page_item(od_page *p, const char *lead, const char *format, ...) {
  fputs("<li><b>", p->body);
  od_xml_text(p->body, lead);
  PUT_ELEMENT("</b> ", "</li>");
}

void od_page_items_end(od_page *p) {
  fputs("</ul>\n", p->body);
}

// --- Tables -------------------------------------------------------------------------------------------------------

void od_page_table_begin(od_page *p, const od_page_column *columns, int count) {
  fputs("<div class=\"wide\"><table>\n<thead><tr>", p->body);
  p->columns = count < MOST_COLUMNS ? count : MOST_COLUMNS;
  p->column = -1;
  for (int i = 0; i < p->columns; i++) {
    p->words[i] = columns[i].words;
    fputs(columns[i].words ? "<th scope=\"col\" class=\"words\">" : "<th scope=\"col\">", p->body);
    od_xml_text(p->body, columns[i].title);
    fputs("</th>", p->body);
  }
  fputs("</tr></thead>\n<tbody>\n", p->body);
}

static void end_row(od_page *p) {
  if (p->column >= 0) fputs("</tr>\n", p->body);
}

void od_page_row(od_page *p, const char *name) {
  end_row(p);
  fputs("<tr><th scope=\"row\">", p->body);
  od_xml_text(p->body, name);
  fputs("</th>", p->body);
  p->column = 1;
}

static void begin_cell(od_page *p, bool marked) {
  bool words = p->column < p->columns && p->words[p->column];
  fputs(marked && words ? "<td class=\"words marked\">"
        : marked        ? "<td class=\"marked\">"
        : words         ? "<td class=\"words\">"
                        : "<td>",
        p->body);
  p->column++;
}

void od_page_cell(od_page *p, const char *format, ...) {
  begin_cell(p, false);
  PUT_ELEMENT("", "</td>");
}

void od_page_marked_cell(od_page *p, bool marked, const char *format, ...) {
  begin_cell(p, marked);
  PUT_ELEMENT("", "</td>");
}

// Adds the cell. Its background color remains weak enough for the number to be readable, in light and in dark mode.
void od_page_heat_cell(od_page *p, double value) {
  char shade[OD_NUMBER_SIZE], text[OD_NUMBER_SIZE] = "-";
  od_number_fixed(shade, isnan(value) ? 0 : 0.55 * fmin(fabs(value), 1), 2);
  if (!isnan(value)) od_number_fixed(text, value, 2);
  fprintf(p->body, "<td style=\"background:rgba(%s,%s)\">%s</td>\n", value < 0 ? "213,94,0" : "0,114,178", shade, text);
  p->column++;
}

void od_page_table_end(od_page *p) {
  end_row(p);
  fputs("</tbody>\n</table></div>\n", p->body);
}

// --- Figures ------------------------------------------------------------------------------------------------------

const char *od_drawn_series(int i) {
  static const char *const classes[OD_SERIES] = {"series s0", "series s1", "series s2",
                                                 "series s3", "series s4", "series s5"};
  return classes[i % OD_SERIES];
}

void od_page_legend(od_page *p, const od_legend *entries) {
  fputs("<p class=\"legend\">", p->body);
  for (const od_legend *e = entries; e->text; e++) {
    bool band = !strcmp(e->drawn, OD_DRAWN_BAND), dots = !strcmp(e->drawn, OD_DRAWN_MEASURED);
    const char *shape = band ? "M1 1h28v10h-28z" : dots ? "M5 5v3m7 -4v4m7 -1v3m7 -6v4" : "M1 6h28";
    fprintf(p->body,
            "<span><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 30 12\"><path class=\"%s\" d=\"%s\"/>",
            e->drawn, shape);
    fputs("</svg>", p->body);
    od_xml_text(p->body, e->text);
    fputs("</span>\n", p->body);
  }
  fputs("</p>\n", p->body);
}

void od_page_figures_begin(od_page *p, bool small) {
  p->small = small;
  fprintf(p->body, "<div class=\"figures%s\">\n", small ? " small" : "");
}

void od_page_figures_end(od_page *p) {
  fputs("</div>\n", p->body);
}

// The sizes of a kind of figure, in pixels.
typedef struct sizes {
  double width, height, left, right, top, bottom, x_ticks, y_ticks;
} sizes;
static const sizes large = {460, 230, 54, 14, 10, 40, 6, 5}, little = {300, 170, 50, 12, 8, 38, 4, 4};

// Writes two numbers and a unit for the cross-hair.
static void put_range(FILE *to, const od_axis *axis) {
  const double ends[] = {axis->low, axis->high};
  for (int i = 0; i < 2; i++) {
    char text[OD_NUMBER_SIZE];
    od_number_round(text, ends[i] / axis->factor, 8);
    fprintf(to, " %s", text);
  }
}

static void put_unit(FILE *to, const char *name, const od_axis *axis) {
  fprintf(to, " data-%s=\"", name);
  if (axis->unit[0]) fputc(' ', to);
  od_xml_text(to, axis->unit);
  fputc('"', to);
}

static void put_caption(od_page *p, const od_figure *f) {
  fputs("<figure><figcaption>", p->body);
  od_xml_text(p->body, f->title);
  fputs(" <span>", p->body);
  if (f->chart.vertical.unit[0]) {
    fputc('(', p->body);
    od_xml_text(p->body, f->chart.vertical.unit);
    fputs(") ", p->body);
  }
  if (f->note) od_xml_text(p->body, f->note);
  fputs("</span></figcaption>\n", p->body);
  if (f->legend) od_page_legend(p, f->legend);
  fputs("<div class=\"plot\">", p->body);
}

void od_page_figure_begin(od_page *p, od_figure *f) {
  const sizes *s = p->small ? &little : &large;
  f->to = p->body;
  f->chart = (od_chart){.x = s->left,
                        .y = s->top,
                        .width = s->width - s->left - s->right,
                        .height = s->height - s->top - s->bottom,
                        .horizontal = od_axis_make(f->x_low, f->x_high, f->x_unit, s->x_ticks),
                        .vertical = od_axis_make(f->y_low, f->y_high, f->y_unit, s->y_ticks)};
  const od_chart *c = &f->chart;
  put_caption(p, f);
  fprintf(f->to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
          "aria-label=\"",
          s->width, s->height);
  od_xml_text(f->to, f->title);
  fprintf(f->to, "\" data-frame=\"%.0f %.0f %.0f %.0f", c->x, c->y, c->width, c->height);
  put_range(f->to, &c->horizontal);
  put_range(f->to, &c->vertical);
  fputc('"', f->to);
  put_unit(f->to, "x", &c->horizontal);
  put_unit(f->to, "y", &c->vertical);
  fputs(">\n", f->to);
  od_chart_frame(f->to, c, "tick");
  char text[2 * OD_AXIS_TEXT];
  snprintf(text, sizeof text, c->horizontal.unit[0] ? "%.60s (%s)" : "%.60s", f->x_name, c->horizontal.unit);
  od_svg_text(f->to, "tick", c->x + c->width, s->height - 4, "end", text);
  od_chart_inside_begin(f->to, c);
  p->any_figure = true;
}

void od_page_figure_end(od_page *p, const od_figure *f) {
  od_chart_inside_end(f->to);
  fputs("</svg><div class=\"readout\"></div></div></figure>\n", p->body);
}
