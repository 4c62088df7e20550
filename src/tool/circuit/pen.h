// A pen draws in the coordinates of a cell and writes SVG. The pen mirrors the shapes of mirrored cells, but not their
// texts. The pen also collects the rectangles of all shapes and texts.
#ifndef OD_CIRCUIT_PEN_H
#define OD_CIRCUIT_PEN_H

#include <stdio.h>

#include "circuit/sheet.h"

typedef struct od_pen {
  const od_sheet *sheet;
  const od_cell *cell;
  FILE *to;  // output file; NULL: nothing is written
  // Owner of the two lists below; NULL: marks and outputs are not collected.
  od_arena *arena;
  od_mark *mark;
  int marks;
  int *output;  // indices of the outputs that moving parts use, with repetitions
  int outputs;
} od_pen;

typedef enum od_anchor { OD_ANCHOR_START, OD_ANCHOR_MIDDLE, OD_ANCHOR_END } od_anchor;

// Write a number and an attribute of SVG; texts are escaped.
void od_put_number(FILE *to, double value);
void od_put_attribute(FILE *to, const char *name, const char *value);

// Return the coordinates in the sheet of a point of the cell.
double od_pen_x(const od_pen *pen, double x);
double od_pen_y(const od_pen *pen, double y);

// Shapes. class_name: "ink" lines, "body" filled symbols, "solid" filled black, "rod", "chamber" and others (diagram_style.c).
void od_pen_line(od_pen *pen, const char *class_name, double x1, double y1, double x2, double y2);
void od_pen_path(od_pen *pen, const char *class_name, bool is_closed, int points, const double *xy);
void od_pen_rectangle(od_pen *pen, const char *class_name, double x, double y, double width, double height,
                      double round);
void od_pen_circle(od_pen *pen, const char *class_name, double x, double y, double radius);
// Draws an arc between two points. bulges: in a cell that is not mirrored, 1: clockwise; 0: counterclockwise.
void od_pen_arc(od_pen *pen, const char *class_name, double x1, double y1, double x2, double y2, double radius,
                int bulges);
void od_pen_arrow(od_pen *pen, double x1, double y1, double x2, double y2, double head, bool at_both_ends);
void od_pen_spring(od_pen *pen, double x, double y, double width, int turns, double height);
void od_pen_tank(od_pen *pen, double x, double y);
// Draws a line of a net inside a symbol, such as an internal pilot line.
void od_pen_wire(od_pen *pen, int net, int points, const double *xy);
void od_pen_text(od_pen *pen, const char *class_name, double x, double y, od_anchor anchor, double size, bool is_bold,
                 const char *text);
// Writes the label of a cell at label_x. The label is centered at y or begins at y.
void od_pen_label(od_pen *pen, double y, bool is_centered);

// Moving parts. A group moves linearly by (dx, dy) while an output goes from `from` to `to`; the group is drawn at the
// fraction `at` of this path. In mirrored cells the group moves in the opposite horizontal direction. Without an output
// (-1) the group does not move.
void od_pen_move_begin(od_pen *pen, const char *what, int output, double from, double to, double dx, double dy,
                       double at);
// Begins a group that turns about (x, y) from angle turn0 to turn1, in degrees, while an output goes from `from` to
// `to`. The shapes of the group are drawn at angle 0.
void od_pen_turn_begin(od_pen *pen, const char *what, int output, double from, double to, double x, double y,
                       double turn0, double turn1);
void od_pen_group_end(od_pen *pen);
// Position and size of the rectangle of a chamber along one axis, at the output values `from` and `to`.
typedef struct od_extent {
  double at0, size0, at1, size1;  // at `from`: at0, size0; at `to`: at1, size1
} od_extent;
void od_pen_chamber(od_pen *pen, int net, int output, double from, double to, double share, bool is_vertical,
                    od_extent along, double across, double across_size);
// Draws a box of a valve. The page colors the box according to the position of the spool: `output` divided by `scale`.
void od_pen_box(od_pen *pen, double x, double y, double width, double height, int position, int output, double scale);

#endif
