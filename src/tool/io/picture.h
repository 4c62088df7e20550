// A picture of results: panels with lines, points, limits and marks. A picture is described once, in SI units.
// picture_svg.c writes the picture as an SVG file, picture_text.c prints the picture on a terminal, and
// report/picture_figures.c adds the picture to a page.
//
// The functions that add something may fail for lack of memory; od_arena_status(&picture.arena) then returns
// OD_NO_MEMORY, and the writers fail.
#ifndef OD_IO_PICTURE_H
#define OD_IO_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "io/chart.h"
#include "io/table.h"

typedef enum od_drawn_as {
  OD_AS_LINE,
  OD_AS_POINTS,  // a dot per value, with an interval if `half` has data
  OD_AS_AREA,    // a line and the filled area between the line and zero
} od_drawn_as;

typedef struct od_panel_line {
  const char *label;  // NULL: not in the legend
  od_drawn_as as;
  od_series x, y;  // SI; NAN is a gap. The values are not copied
  od_series half;  // half widths of intervals; data NULL: none
  struct od_panel_line *next;
} od_panel_line;

// A dashed line over the whole panel, or a marked point.
typedef struct od_panel_mark {
  enum { OD_LIMIT_LEVEL, OD_LIMIT_INSTANT, OD_POINT_MARK } kind;  // horizontal line, vertical line, point
  od_mark_shape shape;
  double x, y;
  const char *text;
  struct od_panel_mark *next;
} od_panel_mark;

typedef struct od_panel {
  const char *title, *note;              // note: NULL or a text in a lighter tone
  const char *x_name, *x_unit, *y_unit;  // SI units
  bool x_log, y_log;
  bool has_equal_scales;    // whether a unit has the same length in both directions, as in a Nyquist plot
  const char *const *name;  // value names of the first line, drawn as a list; NULL: x is a number
  // The functions below set these fields.
  od_panel_line *line, *last_line;
  od_panel_mark *mark, *last_mark;
  int lines;
  struct od_panel *next;
} od_panel;

typedef struct od_picture {
  od_arena arena;
  const char *title, *subtitle;  // owned by the caller
  od_panel *panel, *last;
  int panels;
} od_picture;
void od_picture_free(od_picture *p);

// Adds a panel with these fields, whose texts are copied. Returns the panel, or NULL if out of memory. The functions
// below accept NULL.
od_panel *od_picture_add(od_picture *p, od_panel panel);
// Adds a line; its label is copied.
void od_panel_add(od_picture *p, od_panel *panel, od_panel_line line);
// Add a horizontal or a vertical dashed line, or a mark. A value that is not finite is ignored.
void od_panel_level(od_picture *p, od_panel *panel, double y, const char *text);
void od_panel_instant(od_picture *p, od_panel *panel, double x, const char *text);
void od_panel_mark_point(od_picture *p, od_panel *panel, double x, double y, od_mark_shape shape, const char *text);

// Adds a panel for each column of a table, over its first column. Columns with the same number in `panel` share a panel; NULL: each
// column has its own panel. The table must outlive the picture.
void od_picture_add_table(od_picture *p, const od_table *table, const int *panel);
// Adds a histogram of the values, which are not kept. Values that are not finite are ignored. Returns NULL for fewer
// than two values, or if out of memory.
od_panel *od_picture_add_histogram(od_picture *p, const char *title, const char *unit, const double *value, long count);
// Adds a panel with a named value per row and its interval (half may be NULL). The names are copied. Returns NULL if
// `count` is zero or out of memory.
od_panel *od_picture_add_list(od_picture *p, const char *title, const char *unit, const char *const *name,
                              const double *value, const double *half, int count);

// --- What all writers need ----------------------------------------------------------------------------------------

// The displayed ranges and units of a panel: displayed number = SI number * factor. Ranges include all lines with a margin, and
// limits that are not far outside.
typedef struct od_panel_view {
  double x_low, x_high, y_low, y_high;
  double x_factor, y_factor;
  const char *x_unit, *y_unit;
} od_panel_view;
od_panel_view od_panel_view_of(const od_panel *panel);

// --- Lists ------------------------------------------------------------------------------------------------------------

// The frame of a list: place of its upper left corner and width, px; number of ticks; classes of the points and of the
// intervals. Names are left of the frame, numbers right of it, ticks below it.
typedef struct od_list_style {
  double x, y, width, ticks;
  const char *point, *bar;
} od_list_style;
// Writes a list as SVG: a row per value of the panel, which must have names.
void od_panel_draw_list(FILE *to, const od_panel *panel, const od_list_style *style);
// Return the height of the frame, px, and the unit of the ticks.
double od_panel_list_height(const od_panel *panel);
const char *od_panel_list_unit(const od_panel *panel, char unit[OD_AXIS_TEXT]);

// --- Writers ------------------------------------------------------------------------------------------------------

// Writes an SVG file, or no file on failure. This function and the other writers fail with OD_BAD_ARGUMENT if the picture has no panel,
// with OD_IO or with OD_NO_MEMORY.
od_status od_picture_write(const od_picture *p, const char *path, od_error *err);

// Ways to print a picture as text.
typedef struct od_text_style {
  int width;       // number of columns, at least 40
  bool is_ascii;   // whether only ASCII characters are used
  bool has_color;  // whether lines have colors, by terminal control codes
} od_text_style;
// Returns the style for a terminal or a file: the width of the terminal, else the variable COLUMNS, else 80, limited to 40 to 160; ASCII
// unless the locale of the environment is UTF-8; colors only on terminals, unless NO_COLOR is set or TERM is "dumb".
od_text_style od_text_style_of(FILE *to);
od_status od_picture_print(const od_picture *p, od_text_style style, FILE *to, od_error *err);

// Prints the picture on standard output if the path is "-", else writes an SVG file.
od_status od_picture_show(const od_picture *p, const char *path, od_error *err);

#endif
