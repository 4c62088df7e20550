// The body of the page is collected in memory, because the links to the sections are written before the sections.
#include "report/page.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/atomic_file.h"
#include "io/number.h"
#include "io/svg.h"
#include "oleodyn/oleodyn.h"
#include "report/style.h"

enum { MOST_SECTIONS = 40, MOST_COLUMNS = 24 };

struct od_page {
  const char *kind, *title;
  FILE *body;
  char *text;
  size_t length;
  const char *section[MOST_SECTIONS];
  int sections;
  const char *list;  // tag of the open list; NULL: none
  bool words[MOST_COLUMNS];
  int columns, column;
  bool small, any_figure, failed;  // failed: whether an allocation failed
  locale_t plain, before;          // locale of this thread while the page is created, and the previous locale
};

// --- The page -----------------------------------------------------------------------------------------------------

od_page *od_page_new(const char *kind, const char *title) {
  OD_OWNED(od_page_free) od_page *p = od_calloc(1, sizeof *p);
  if (!p) return NULL;
  p->kind = kind;
  p->title = title;
  p->body = open_memstream(&p->text, &p->length);
  p->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (p->plain) p->before = uselocale(p->plain);
  return p->body && p->plain ? OD_GIVE(p) : NULL;
}

void od_page_free(od_page *p) {
  if (p->plain) {
    uselocale(p->before);
    freelocale(p->plain);
  }
  if (p->body) fclose(p->body);
  od_libc_free(p->text);
  od_free(p);
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

bool od_page_require(od_page *p, bool has_memory) {
  p->failed = p->failed || !has_memory;
  return has_memory;
}

// Closes the open list and opens a list with this tag (NULL: no list). Does nothing if a list with this tag is open.
static void use_list(od_page *p, const char *tag) {
  if (p->list == tag) return;
  if (p->list) fprintf(p->body, "</%s>\n", p->list);
  if (tag) fprintf(p->body, "<%s>\n", tag);
  p->list = tag;
}

od_status od_page_write(od_page *p, const char *path, od_error *err) {
  od_atomic_file f;
  use_list(p, NULL);
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

static const char facts[] = "dl", items[] = "ul";  // tags of lists

// Writes an escaped text between two pieces of HTML.
static void put(od_page *p, const char *begin, const char *text, const char *end) {
  fputs(begin, p->body);
  od_xml_text(p->body, text);
  fputs(end, p->body);
}

void od_page_section(od_page *p, const char *title) {
  char begin[40];
  use_list(p, NULL);
  if (p->sections < MOST_SECTIONS) p->section[p->sections++] = title;
  snprintf(begin, sizeof begin, "<h2 id=\"s%d\">", p->sections);
  put(p, begin, title, "</h2>\n");
}

void od_page_heading(od_page *p, const char *title) {
  use_list(p, NULL);
  put(p, "<h3>", title, "</h3>\n");
}

void od_page_text(od_page *p, const char *format, ...) {
  OD_SCRATCH(scratch);
  va_list list;
  va_start(list, format);
  size_t size = (size_t)vsnprintf(NULL, 0, format, list) + 1;
  va_end(list);
  char *text = od_arena_take(&scratch, size);
  if (!od_page_require(p, text != NULL)) return;
  va_start(list, format);
  vsnprintf(text, size, format, list);
  va_end(list);
  use_list(p, NULL);
  put(p, "<p>", text, "</p>\n");
}

void od_page_notice(od_page *p, od_trust trust, const char *lead, const char *text) {
  static const char *const begin[] = {[OD_SOUND] = "<p class=\"notice good\"><b>",
                                      [OD_DOUBTFUL] = "<p class=\"notice doubt\"><b>",
                                      [OD_UNSOUND] = "<p class=\"notice bad\"><b>"};
  use_list(p, NULL);
  put(p, begin[trust], lead, "</b> ");
  put(p, "", text, "</p>\n");
}

void od_page_fact(od_page *p, const char *name, const char *value) {
  use_list(p, facts);
  put(p, "<dt>", name, "</dt><dd>");
  put(p, "", value, "</dd>\n");
}

void od_page_item(od_page *p, const char *lead, const char *text) {
  use_list(p, items);
  put(p, "<li><b>", lead, "</b> ");
  put(p, "", text, "</li>\n");
}

// --- Tables -------------------------------------------------------------------------------------------------------

void od_page_table_begin(od_page *p, const od_page_column *columns, int count) {
  use_list(p, NULL);
  fputs("<div class=\"wide\"><table>\n<thead><tr>", p->body);
  p->columns = count < MOST_COLUMNS ? count : MOST_COLUMNS;
  p->column = -1;
  for (int i = 0; i < p->columns; i++) {
    p->words[i] = columns[i].words;
    put(p, columns[i].words ? "<th scope=\"col\" class=\"words\">" : "<th scope=\"col\">", columns[i].title, "</th>");
  }
  fputs("</tr></thead>\n<tbody>\n", p->body);
}

static void end_row(od_page *p) {
  if (p->column >= 0) fputs("</tr>\n", p->body);
}

void od_page_row(od_page *p, const char *name) {
  end_row(p);
  put(p, "<tr><th scope=\"row\">", name, "</th>");
  p->column = 1;
}

void od_page_cell(od_page *p, bool is_marked, const char *text) {
  static const char *const begin[2][2] = {{"<td>", "<td class=\"marked\">"},
                                          {"<td class=\"words\">", "<td class=\"words marked\">"}};
  put(p, begin[p->column < p->columns && p->words[p->column]][is_marked], text, "</td>\n");
  p->column++;
}

// Adds the cell. The background color is weak, so that the number is readable in light and in dark mode.
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
  use_list(p, NULL);
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
  use_list(p, NULL);
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

// Writes the two ends of an axis in the displayed unit, for the cross-hair.
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
  put(p, "<figure><figcaption>", f->title, " <span>");
  if (f->chart.vertical.unit[0]) put(p, "(", f->chart.vertical.unit, ") ");
  put(p, "", f->note ? f->note : "", "</span></figcaption>\n");
  if (f->legend) od_page_legend(p, f->legend);
  fputs("<div class=\"plot\">", p->body);
}

static od_axis axis_of(bool is_log, double low, double high, const char *unit, double ticks) {
  return is_log ? od_axis_make_log(low, high, unit, ticks) : od_axis_make(low, high, unit, ticks);
}

void od_page_figure_begin(od_page *p, od_figure *f) {
  const sizes *s = p->small ? &little : &large;
  f->to = p->body;
  f->chart = (od_chart){.x = s->left,
                        .y = s->top,
                        .width = s->width - s->left - s->right,
                        .height = s->height - s->top - s->bottom,
                        .horizontal = axis_of(f->x_log, f->x_low, f->x_high, f->x_unit, s->x_ticks),
                        .vertical = axis_of(f->y_log, f->y_low, f->y_high, f->y_unit, s->y_ticks)};
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
