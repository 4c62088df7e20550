// Prints a picture as text, for terminals. Lines consist of Braille characters with 2 x 4 dots each, or of ASCII characters.
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/display.h"
#include "io/picture.h"
#include "io/utf8.h"
#include "memory/scoped.h"

enum {
  LEAST_WIDTH = 40,
  MOST_WIDTH = 160,
  LABEL = 10,   // width of the numbers at the left
  LETTERS = 4,  // width of the letters at the right, which name lines of a shared panel
  ROWS = 11,    // rows of a panel
  MOST_PANELS = 24,
  MOST_LETTERS = 26,
};

od_text_style od_text_style_of(FILE *to) {
  od_text_style s = {.width = 80, .is_ascii = true};
  int file = fileno(to);
  struct winsize size = {0};
  const char *columns = getenv("COLUMNS"), *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
  if (file >= 0 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    s.width = size.ws_col;
  else if (columns && atoi(columns) > 0)
    s.width = atoi(columns);
  if (s.width < LEAST_WIDTH) s.width = LEAST_WIDTH;
  if (s.width > MOST_WIDTH) s.width = MOST_WIDTH;
  // The first variable that is set determines the character set, as in setlocale().
  const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (int i = 0; i < 3; i++) {
    const char *locale = getenv(variables[i]);
    if (!locale || !locale[0]) continue;
    const char *code = strchr(locale, '.');
    s.is_ascii = !code || (strncasecmp(code, ".utf-8", 6) != 0 && strncasecmp(code, ".utf8", 5) != 0);
    break;
  }
  s.has_color = file >= 0 && isatty(file) && !(no_color && no_color[0]) && !(term && strcmp(term, "dumb") == 0);
  return s;
}

// --- Texts --------------------------------------------------------------------------------------------------------

// Prints a text. For ASCII, common symbols of units are replaced, other characters become '?'.
static void put_text(FILE *to, od_text_style style, const char *text) {
  static const struct {
    const char *character, *ascii;
  } table[] = {{"\u2212", "-"}, {"\u00b5", "u"},   {"\u03bc", "u"},  {"\u00b2", "2"}, {"\u00b3", "3"},
               {"\u00b7", "*"}, {"\u00b0", "deg"}, {"\u00b1", "+-"}, {"\u00a0", " "}};
  const unsigned char *s = (const unsigned char *)text;
  for (size_t left = strlen(text); left > 0;) {
    size_t length = od_utf8_length(s, left);
    // Bytes that are not UTF-8 become '?'; line ends and tabs become spaces. So no text can control the terminal.
    if (length == 0 || *s == '\n' || *s == '\r' || *s == '\t') {
      fputc(length == 0 ? '?' : ' ', to);
      length = length == 0 ? 1 : length;
    } else if (length == 1 || !style.is_ascii) {
      fwrite(s, 1, length, to);
    } else {
      const char *ascii = "?";
      for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp((const char *)s, table[i].character, length) == 0) ascii = table[i].ascii;
      fputs(ascii, to);
    }
    s += length;
    left -= length;
  }
}

// Prints at most `width` characters of a text, and spaces up to `width`. Texts that are too long end with "~".
static void put_field(FILE *to, od_text_style style, const char *text, int width, bool to_right) {
  int used = od_utf8_width(text);
  if (used <= width) {
    for (int i = used; to_right && i < width; i++) fputc(' ', to);
    put_text(to, style, text);
    for (int i = used; !to_right && i < width; i++) fputc(' ', to);
    return;
  }
  size_t length = 0, left = strlen(text);
  for (int i = 0; i < width - 1 && length < left; i++) {
    size_t next = od_utf8_length((const unsigned char *)text + length, left - length);
    length += next ? next : 1;
  }
  char kept[400];
  snprintf(kept, sizeof kept, "%.*s~", (int)(length < 390 ? length : 390), text);
  put_text(to, style, kept);
}

static void put_color(FILE *to, od_text_style style, int line) {
  static const int colors[] = {34, 31, 32, 35, 36, 33};
  if (style.has_color) fprintf(to, "\033[%dm", colors[line % 6]);
}

static void end_color(FILE *to, od_text_style style) {
  if (style.has_color) fputs("\033[0m", to);
}

static void put_bold(FILE *to, od_text_style style, const char *text) {
  if (style.has_color) fputs("\033[1m", to);
  put_text(to, style, text);
  if (style.has_color) fputs("\033[0m", to);
}

// --- The grid of characters -----------------------------------------------------------------------------------------

typedef struct cell {
  uint8_t dots;  // Braille dots
  char ascii;    // character that replaces dots: a mark, or a dot in ASCII; 0: none
  int8_t line;   // index of the line that was drawn last; -1: a limit or a mark
} cell;

typedef struct grid {
  od_text_style style;
  int columns, rows;
  cell *cell;
  od_axis across, up;
} grid;

static const char symbols[] = "*+ox#@%&";

// Sets the dot at a place, given in dots from the left and from the top.
static void set_dot(grid *g, int x, int y, int line) {
  static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  if (x < 0 || y < 0 || x >= 2 * g->columns || y >= 4 * g->rows) return;
  cell *c = &g->cell[(y / 4) * g->columns + x / 2];
  c->dots |= braille[y % 4][x % 2];
  if (g->style.is_ascii) c->ascii = symbols[line % (int)(sizeof symbols - 1)];
  c->line = (int8_t)(line % 100);
}

static double dot_x(const grid *g, double value) {
  return od_axis_place(&g->across, value) * (2 * g->columns - 1);
}
static double dot_y(const grid *g, double value) {
  return (1 - od_axis_place(&g->up, value)) * (4 * g->rows - 1);
}

// Draws a straight line between two places in dots. Places far outside are clipped first.
static void draw_segment(grid *g, double x0, double y0, double x1, double y1, int line) {
  double most_x = 4.0 * g->columns, most_y = 8.0 * g->rows;
  if (!isfinite(x0 + y0 + x1 + y1)) return;
  y0 = fmin(fmax(y0, -most_y), most_y), y1 = fmin(fmax(y1, -most_y), most_y);
  x0 = fmin(fmax(x0, -most_x), most_x), x1 = fmin(fmax(x1, -most_x), most_x);
  int steps = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
  for (int i = 0; i <= steps; i++) {
    double part = steps ? (double)i / steps : 0;
    set_dot(g, (int)lround(x0 + part * (x1 - x0)), (int)lround(y0 + part * (y1 - y0)), line);
  }
}

static void draw_line(grid *g, const od_panel_line *l, const od_panel_view *v, int line) {
  double x0 = NAN, y0 = NAN;
  for (long i = 0; i < l->y.count; i++) {
    double x = dot_x(g, od_series_at(&l->x, i) * v->x_factor), y = dot_y(g, od_series_at(&l->y, i) * v->y_factor);
    if (isfinite(x + y) && (l->as == OD_AS_POINTS || !isfinite(x0 + y0)))
      set_dot(g, (int)lround(x), (int)lround(y), line);
    if (l->as == OD_AS_AREA) {
      double zero = dot_y(g, 0);
      for (double at = isfinite(x0) ? x0 : x; at <= x; at++)
        if (isfinite(zero + y)) draw_segment(g, at, zero, at, y, line);
    } else if (l->as == OD_AS_LINE) {
      draw_segment(g, x0, y0, x, y, line);
    }
    if (l->as == OD_AS_POINTS && l->half.data && isfinite(od_series_at(&l->half, i))) {
      double value = od_series_at(&l->y, i), half = od_series_at(&l->half, i);
      draw_segment(g, x, dot_y(g, (value - half) * v->y_factor), x, dot_y(g, (value + half) * v->y_factor), line);
    }
    x0 = x, y0 = y;
  }
}

static cell *cell_at(const grid *g, double x, double y) {
  int column = (int)lround(x) / 2, row = (int)lround(y) / 4;
  if (!isfinite(x + y) || x < -0.5 || y < -0.5 || column >= g->columns || row >= g->rows) return NULL;
  return &g->cell[row * g->columns + column];
}

// Draws limits below the lines: only into empty cells.
static void draw_limit(grid *g, const od_panel_mark *m, const od_panel_view *v) {
  bool is_level = m->kind == OD_LIMIT_LEVEL;
  int count = is_level ? g->columns : g->rows;
  for (int i = 0; i < count; i++) {
    cell *c =
        is_level ? cell_at(g, 2 * i, dot_y(g, m->y * v->y_factor)) : cell_at(g, dot_x(g, m->x * v->x_factor), 4 * i);
    if (c && !c->dots && !c->ascii && i % 2 == 0) *c = (cell){.ascii = is_level ? '-' : ':', .line = -1};
  }
}

static void draw_mark(grid *g, const od_panel_mark *m, const od_panel_view *v) {
  cell *c = cell_at(g, dot_x(g, m->x * v->x_factor), dot_y(g, m->y * v->y_factor));
  if (c) *c = (cell){.ascii = m->shape == OD_MARK_CROSS ? 'x' : 'o', .line = -1};
}

// --- Output of a panel ----------------------------------------------------------------------------------------------

static void put_cell(FILE *to, od_text_style style, const cell *c) {
  if (!c->ascii && !c->dots) {
    fputc(' ', to);
    return;
  }
  if (c->line >= 0) put_color(to, style, c->line);
  if (c->ascii)
    fputc(c->ascii, to);
  else  // U+2800 + dots
    fprintf(to, "%c%c%c", 0xe2, 0xa0 | (c->dots >> 6), 0x80 | (c->dots & 0x3f));
  if (c->line >= 0) end_color(to, style);
}

// Returns the row of the grid with tick i of the vertical axis; -1: outside.
static int row_of_tick(const grid *g, int i) {
  double y = dot_y(g, od_axis_tick(&g->up, i));
  int row = (int)lround(y) / 4;
  return y >= -0.5 && row < g->rows ? row : -1;
}

// Prints the letters of the lines that end in this row.
static void put_letters(FILE *to, const grid *g, const od_panel *panel, const od_panel_view *v, int row) {
  int i = 0, printed = 0;
  for (const od_panel_line *l = panel->line; l && i < MOST_LETTERS; l = l->next, i++) {
    if (!l->label || l->as == OD_AS_POINTS) continue;
    long end = l->y.count - 1;
    while (end >= 0 && !isfinite(od_series_at(&l->y, end))) end--;
    if (end < 0) continue;
    double y = dot_y(g, od_series_at(&l->y, end) * v->y_factor);
    int at = (int)lround(fmin(fmax(y, 0), 4.0 * g->rows - 1)) / 4;
    if (at != row || printed >= LETTERS - 1) continue;
    fputc(' ', to);
    put_color(to, g->style, i);
    fputc('a' + i, to);
    end_color(to, g->style);
    printed += 2;
  }
}

static void put_horizontal_axis(FILE *to, const grid *g, const od_panel *panel) {
  char line[4 * MOST_WIDTH + 1];
  int at = 0;
  bool *is_tick = (bool[MOST_WIDTH]){false};
  for (int i = 0; i < g->across.ticks; i++) {
    int column = (int)lround(dot_x(g, od_axis_tick(&g->across, i))) / 2;
    if (column >= 0 && column < g->columns) is_tick[column] = true;
  }
  fprintf(to, "%*s%s", LABEL, "", g->style.is_ascii ? "+" : "\u2514");
  for (int i = 0; i < g->columns; i++)
    fputs(g->style.is_ascii ? (is_tick[i] ? "+" : "-") : (is_tick[i] ? "\u2534" : "\u2500"), to);
  fprintf(to, "\n%*s", LABEL + 1, "");
  // The labels of ticks are centered below the ticks, as far as there is room.
  for (int i = 0; i < g->across.ticks; i++) {
    char text[OD_AXIS_TEXT];
    od_axis_label(&g->across, i, text);
    int width = od_utf8_width(text), from = (int)lround(dot_x(g, od_axis_tick(&g->across, i))) / 2 - width / 2;
    if (from + width > g->columns + LETTERS) from = g->columns + LETTERS - width;
    if (from < 0) from = 0;
    if (from < at + (at > 0) || from + width > g->columns + LETTERS) continue;
    for (; at < from; at++) fputc(' ', to);
    put_text(to, g->style, text);
    at += width;
  }
  snprintf(line, sizeof line, g->across.unit[0] ? "%.300s (%s)" : "%.300s", panel->x_name, g->across.unit);
  fprintf(to, "\n%*s", LABEL + 1, "");
  put_field(to, g->style, line, g->columns, true);
  fputc('\n', to);
}

static void put_legend(FILE *to, od_text_style style, const od_panel *panel) {
  int i = 0, used = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next, i++) {
    if (!l->label) continue;
    int width = od_utf8_width(l->label) + 5;
    if (used > 0 && used + width > style.width - LABEL - 1) fputc('\n', to), used = 0;
    if (used == 0) fprintf(to, "%*s", LABEL + 1, "");
    put_color(to, style, i);
    if (style.is_ascii || l->as == OD_AS_POINTS)
      fputc(style.is_ascii ? symbols[i % (int)(sizeof symbols - 1)] : '.', to);
    if (l->as != OD_AS_POINTS && i < MOST_LETTERS) fprintf(to, "%s%c", style.is_ascii ? " " : "", 'a' + i);
    end_color(to, style);
    fputc(' ', to);
    put_text(to, style, l->label);
    fputs("   ", to);
    used += width + 1;
  }
  if (used > 0) fputc('\n', to);
  for (const od_panel_mark *m = panel->mark; m; m = m->next) {
    if (!m->text[0]) continue;
    const char *sign = m->kind == OD_LIMIT_LEVEL     ? "- "
                       : m->kind == OD_LIMIT_INSTANT ? ": "
                       : m->shape == OD_MARK_CROSS   ? "x "
                                                     : "o ";
    // Marks of the same shape with the same text, as for poles, are listed once.
    bool is_repeated = false;
    for (const od_panel_mark *b = panel->mark; b != m; b = b->next)
      is_repeated = is_repeated || (b->kind == m->kind && b->shape == m->shape && strcmp(b->text, m->text) == 0);
    if (is_repeated) continue;
    fprintf(to, "%*s%s", LABEL + 1, "", sign);
    put_text(to, style, m->text);
    fputc('\n', to);
  }
}

static od_axis axis_of(bool is_log, double low, double high, const char *unit, double ticks) {
  return is_log ? od_axis_make_log(low, high, unit, ticks) : od_axis_make(low, high, unit, ticks);
}

static void put_title(FILE *to, od_text_style style, const od_panel *panel, const char *unit) {
  char text[500];
  snprintf(text, sizeof text, "%.300s", panel->title);
  fputc('\n', to);
  put_bold(to, style, text);
  snprintf(text, sizeof text, "%s%s%s%s%.300s", unit[0] ? " (" : "", unit, unit[0] ? ")" : "", panel->note ? "  " : "",
           panel->note ? panel->note : "");
  put_text(to, style, text);
  fputc('\n', to);
}

static void print_chart(FILE *to, od_text_style style, const od_panel *panel, int rows, cell *cells) {
  od_panel_view v = od_panel_view_of(panel);
  grid g = {.style = style, .columns = style.width - LABEL - 1 - LETTERS, .rows = rows, .cell = cells};
  memset(cells, 0, (size_t)g.columns * (size_t)g.rows * sizeof *cells);
  g.across = axis_of(panel->x_log, v.x_low, v.x_high, v.x_unit, g.columns / 12.0);
  g.up = axis_of(panel->y_log, v.y_low, v.y_high, v.y_unit, rows / 2.5);
  int i = 0;
  for (const od_panel_line *l = panel->line; l; l = l->next) draw_line(&g, l, &v, i++);
  for (const od_panel_mark *m = panel->mark; m; m = m->next)
    if (m->kind == OD_POINT_MARK)
      draw_mark(&g, m, &v);
    else
      draw_limit(&g, m, &v);
  put_title(to, style, panel, g.up.unit);
  for (int row = 0; row < g.rows; row++) {
    char label[OD_AXIS_TEXT] = "";
    for (int k = 0; k < g.up.ticks; k++)
      if (row_of_tick(&g, k) == row) od_axis_label(&g.up, k, label);
    put_field(to, style, label, LABEL - 1, true);
    fputs(style.is_ascii ? (label[0] ? " +" : " |") : (label[0] ? " \u2524" : " \u2502"), to);
    int last = g.columns;
    const cell *line = &g.cell[row * g.columns];
    if (panel->lines < 2)
      while (last > 0 && !line[last - 1].dots && !line[last - 1].ascii) last--;
    for (int k = 0; k < last; k++) put_cell(to, style, &line[k]);
    put_letters(to, &g, panel, &v, row);
    fputc('\n', to);
  }
  put_horizontal_axis(to, &g, panel);
  put_legend(to, style, panel);
}

// Prints named values: a row per value with its name, its number and a bar.
static void print_list(FILE *to, od_text_style style, const od_panel *panel) {
  enum { NUMBER = 12 };
  od_panel_view v = od_panel_view_of(panel);
  const od_panel_line *l = panel->line;
  od_axis axis = axis_of(panel->y_log, v.y_low, v.y_high, v.y_unit, 6);
  int names = 8, bars;
  for (long i = 0; l && i < l->y.count; i++)
    names = od_utf8_width(panel->name[i]) > names ? od_utf8_width(panel->name[i]) : names;
  if (names > style.width / 3) names = style.width / 3;
  bars = style.width - names - NUMBER - 3;
  put_title(to, style, panel, axis.unit);
  for (long i = 0; l && i < l->y.count; i++) {
    double value = od_series_at(&l->y, i) * v.y_factor;
    char text[OD_AXIS_TEXT] = "-";
    if (isfinite(value)) od_axis_value(&axis, value, text);
    put_field(to, style, panel->name[i], names, false);
    put_field(to, style, text, NUMBER, true);
    fputs(style.is_ascii ? " |" : " \u2502", to);
    // A bar from zero to the value; on a logarithmic axis a dot at the value.
    double zero = panel->y_log ? NAN : od_axis_place(&axis, 0), end = od_axis_place(&axis, value);
    if (!isfinite(end)) zero = end = -1;
    int until = (int)lround((bars - 1) * fmax(isfinite(zero) ? zero : end, end));
    int from = isfinite(zero) ? (int)lround((bars - 1) * fmin(zero, end)) : until;
    put_color(to, style, 0);
    for (int k = 0; k <= until && k < bars; k++)
      fputs(k < from ? " " : isfinite(zero) ? (style.is_ascii ? "=" : "\u2501") : style.is_ascii ? "o" : "\u25cf", to);
    end_color(to, style);
    fputc('\n', to);
  }
}

od_status od_picture_print(const od_picture *p, od_text_style style, FILE *to, od_error *err) {
  OD_SCRATCH(scratch);
  if (style.width < LEAST_WIDTH) style.width = LEAST_WIDTH;
  if (style.width > MOST_WIDTH) style.width = MOST_WIDTH;
  int rows = p->panels == 1 ? ROWS + 6 : ROWS, printed = 0;
  cell *cells = OD_TAKE(&scratch, cell, style.width * (ROWS + 6));
  if (!cells || od_arena_status(&p->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (p->panels == 0)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "nothing to plot: the result has no values over a range; expected a series or a curve");
  for (const od_panel *panel = p->panel; panel && printed < MOST_PANELS; panel = panel->next, printed++) {
    if (panel->name)
      print_list(to, style, panel);
    else
      print_chart(to, style, panel, rows, cells);
  }
  if (p->panels > printed)
    fprintf(to, "\nnumber of further panels that are not shown: %d; --plot FILE.svg shows all panels\n",
            p->panels - printed);
  if (fflush(to) != 0 || ferror(to)) return od_fail(err, OD_IO, "cannot write to standard output: %s", strerror(errno));
  return OD_OK;
}

od_status od_picture_show(const od_picture *p, const char *path, od_error *err) {
  if (strcmp(path, "-") != 0) return od_picture_write(p, path, err);
  return od_picture_print(p, od_text_style_of(stdout), stdout, err);
}
