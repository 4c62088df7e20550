// Writes shapes as SVG and collects their rectangles.
#include "circuit/pen.h"

#include <math.h>
#include <string.h>

#include "io/number.h"
#include "io/svg.h"

void od_put_number(FILE *to, double value) {
  char text[OD_NUMBER_SIZE];
  od_number_round(text, value == 0 ? 0 : value, 6);
  fputs(text, to);
}

void od_put_attribute(FILE *to, const char *name, const char *value) {
  fprintf(to, " %s=\"", name);
  od_xml_text(to, value);
  fputc('"', to);
}

static void put_pair(FILE *to, double a, double b) {
  od_put_number(to, a), fputc(' ', to), od_put_number(to, b);
}

static void put_numbers(FILE *to, const char *name, double a, double b) {
  fprintf(to, " %s=\"", name), put_pair(to, a, b), fputc('"', to);
}

static void put_one(FILE *to, const char *name, double a) {
  fprintf(to, " %s=\"", name), od_put_number(to, a), fputc('"', to);
}

double od_pen_x(const od_pen *pen, double x) {
  return pen->cell->x + (pen->cell->is_mirrored ? pen->cell->width - x : x);
}

double od_pen_y(const od_pen *pen, double y) {
  return pen->cell->y + y;
}

// Adds the rectangle with these two opposite corners to the marks, in coordinates of the sheet.
static void mark(od_pen *pen, double x1, double y1, double x2, double y2, const char *text) {
  if (!pen->arena) return;
  od_mark *list = od_arena_extend(pen->arena, pen->mark, pen->marks, sizeof *list);
  if (!list) return;
  pen->mark = list;
  list[pen->marks++] =
      (od_mark){fmin(x1, x2), fmin(y1, y2), fmax(x1, x2), fmax(y1, y2), (int)(pen->cell - pen->sheet->cell), text};
}

// Adds an output to the list of outputs.
static void use_output(od_pen *pen, int output) {
  if (!pen->arena || output < 0) return;
  int *list = od_arena_extend(pen->arena, pen->output, pen->outputs, sizeof *list);
  if (!list) return;
  pen->output = list;
  list[pen->outputs++] = output;
}

// --- Shapes -----------------------------------------------------------------------------------------------------------

void od_pen_path(od_pen *pen, const char *class_name, bool is_closed, int points, const double *xy) {
  double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
  if (pen->to) fprintf(pen->to, "<path class=\"%s\" d=\"", class_name);
  for (int i = 0; i < points; i++) {
    double x = od_pen_x(pen, xy[2 * i]), y = od_pen_y(pen, xy[2 * i + 1]);
    left = fmin(left, x), right = fmax(right, x), top = fmin(top, y), bottom = fmax(bottom, y);
    if (pen->to) fputc(i == 0 ? 'M' : 'L', pen->to), put_pair(pen->to, x, y);
  }
  if (pen->to) fprintf(pen->to, "%s\"/>", is_closed ? "Z" : "");
  mark(pen, left, top, right, bottom, NULL);
}

void od_pen_line(od_pen *pen, const char *class_name, double x1, double y1, double x2, double y2) {
  od_pen_path(pen, class_name, false, 2, (const double[]){x1, y1, x2, y2});
}

void od_pen_rectangle(od_pen *pen, const char *class_name, double x, double y, double width, double height,
                      double round) {
  double x1 = od_pen_x(pen, x), x2 = od_pen_x(pen, x + width), top = od_pen_y(pen, y);
  if (pen->to) {
    fprintf(pen->to, "<rect class=\"%s\"", class_name);
    put_one(pen->to, "x", fmin(x1, x2)), put_one(pen->to, "y", top);
    put_one(pen->to, "width", width), put_one(pen->to, "height", height);
    if (round > 0) put_one(pen->to, "rx", round);
    fputs("/>", pen->to);
  }
  mark(pen, x1, top, x2, top + height, NULL);
}

void od_pen_circle(od_pen *pen, const char *class_name, double x, double y, double radius) {
  double at = od_pen_x(pen, x), top = od_pen_y(pen, y);
  if (pen->to) {
    fprintf(pen->to, "<circle class=\"%s\"", class_name);
    put_one(pen->to, "cx", at), put_one(pen->to, "cy", top), put_one(pen->to, "r", radius);
    fputs("/>", pen->to);
  }
  mark(pen, at - radius, top - radius, at + radius, top + radius, NULL);
}

void od_pen_arc(od_pen *pen, const char *class_name, double x1, double y1, double x2, double y2, double radius,
                int bulges) {
  double a = od_pen_x(pen, x1), b = od_pen_y(pen, y1), c = od_pen_x(pen, x2), d = od_pen_y(pen, y2);
  int sweep = pen->cell->is_mirrored ? 1 - bulges : bulges;
  if (pen->to) {
    fprintf(pen->to, "<path class=\"%s\" d=\"M", class_name);
    put_pair(pen->to, a, b), fputc('A', pen->to), put_pair(pen->to, radius, radius);
    fprintf(pen->to, " 0 0 %d ", sweep), put_pair(pen->to, c, d);
    fputs("\"/>", pen->to);
  }
  mark(pen, fmin(a, c) - 2, b, fmax(a, c) + 2, d, NULL);
}

// Draws a filled triangle with its tip at (x2, y2).
static void arrow_head(od_pen *pen, double x1, double y1, double x2, double y2, double head) {
  double length = hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / length, uy = (y2 - y1) / length, half = 0.42 * head;
  od_pen_path(pen, "solid", true, 3,
              (const double[]){x2, y2, x2 - ux * head - uy * half, y2 - uy * head + ux * half,
                               x2 - ux * head + uy * half, y2 - uy * head - ux * half});
}

void od_pen_arrow(od_pen *pen, double x1, double y1, double x2, double y2, double head, bool at_both_ends) {
  double length = hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / length, uy = (y2 - y1) / length, cut = 0.7 * head;
  double back = at_both_ends ? cut : 0;
  od_pen_line(pen, "ink", x1 + back * ux, y1 + back * uy, x2 - cut * ux, y2 - cut * uy);
  arrow_head(pen, x1, y1, x2, y2, head);
  if (at_both_ends) arrow_head(pen, x2, y2, x1, y1, head);
}

void od_pen_spring(od_pen *pen, double x, double y, double width, int turns, double height) {
  double xy[40] = {x, y};
  int points = 1;
  for (int i = 0; i < 2 * turns && points < 18; i++, points++) {
    xy[2 * points] = x + width * (i + 0.5) / (2 * turns);
    xy[2 * points + 1] = y + (i % 2 ? height : -height);
  }
  xy[2 * points] = x + width, xy[2 * points + 1] = y;
  od_pen_path(pen, "ink", false, points + 1, xy);
}

void od_pen_tank(od_pen *pen, double x, double y) {
  od_pen_path(pen, "ink", false, 4, (const double[]){x - 8, y - 5, x - 8, y + 2, x + 8, y + 2, x + 8, y - 5});
}

void od_pen_wire(od_pen *pen, int net, int points, const double *xy) {
  static const char *const color[OD_NET_COLORS] = {"supply", "work", "feed", "sense", "loop-a", "loop-b", "tank"};
  const od_net *n = &pen->sheet->graph->net[net];
  double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
  if (pen->to) {
    fprintf(pen->to, "<path class=\"line pilot %s\"", color[n->color]);
    od_put_attribute(pen->to, "data-node", n->name);
    fputs(" d=\"", pen->to);
  }
  for (int i = 0; i < points; i++) {
    double x = od_pen_x(pen, xy[2 * i]), y = od_pen_y(pen, xy[2 * i + 1]);
    left = fmin(left, x), right = fmax(right, x), top = fmin(top, y), bottom = fmax(bottom, y);
    if (pen->to) fputc(i == 0 ? 'M' : 'L', pen->to), put_pair(pen->to, x, y);
  }
  if (pen->to) fputs("\"/>", pen->to);
  mark(pen, left, top, right, bottom, NULL);
}

void od_pen_text(od_pen *pen, const char *class_name, double x, double y, od_anchor anchor, double size, bool is_bold,
                 const char *text) {
  static const char *const words[] = {"start", "middle", "end"};
  double at = od_pen_x(pen, x), base = od_pen_y(pen, y), width = od_text_width(text, size, is_bold);
  if (pen->cell->is_mirrored) anchor = (od_anchor)(OD_ANCHOR_END - anchor);
  if (pen->to) {
    fprintf(pen->to, "<text class=\"%s\"", class_name);
    put_one(pen->to, "x", at), put_one(pen->to, "y", base);
    if (anchor != OD_ANCHOR_START) od_put_attribute(pen->to, "text-anchor", words[anchor]);
    fputc('>', pen->to);
    od_xml_text(pen->to, text);
    fputs("</text>", pen->to);
  }
  double left = anchor == OD_ANCHOR_START ? at : anchor == OD_ANCHOR_MIDDLE ? at - width / 2 : at - width;
  mark(pen, left, base - 0.75 * size, left + width, base + 0.2 * size, text);
}

void od_pen_label(od_pen *pen, double y, bool is_centered) {
  const od_cell *c = pen->cell;
  bool has_signal = c->signal && !c->signal_is_apart;
  double first = is_centered ? y + 3.5 - (c->labels + has_signal - 1) * 6 : y;
  for (int i = 0; i < c->labels; i++)
    od_pen_text(pen, i == 0 ? "name" : "value", c->label_x, first + 12 * i, OD_ANCHOR_START, OD_LABEL_SIZE, i == 0,
                c->label[i]);
  if (has_signal)
    od_pen_text(pen, "signal", c->label_x, first + 12 * c->labels, OD_ANCHOR_START, OD_NAME_SIZE, false, c->signal);
}

// --- Moving parts -----------------------------------------------------------------------------------------------------

// Writes the attributes of a moving part: kind, output and range of the output. Writes nothing if there is no output.
static void put_motion(od_pen *pen, const char *what, int output, double from, double to) {
  if (!pen->to || output < 0) return;
  od_put_attribute(pen->to, "data-move", what);
  od_put_attribute(pen->to, "data-output", od_model_output_name(pen->sheet->graph->model, output));
  put_one(pen->to, "data-from", from), put_one(pen->to, "data-to", to);
}

void od_pen_move_begin(od_pen *pen, const char *what, int output, double from, double to, double dx, double dy,
                       double at) {
  if (pen->cell->is_mirrored) dx = -dx;
  use_output(pen, output);
  if (!pen->to) return;
  fputs("<g class=\"move\"", pen->to);
  put_motion(pen, what, output, from, to);
  if (output >= 0) put_numbers(pen->to, "data-travel", dx, dy);
  fputs(" transform=\"translate(", pen->to), put_pair(pen->to, at * dx, at * dy), fputs(")\">", pen->to);
}

void od_pen_turn_begin(od_pen *pen, const char *what, int output, double from, double to, double x, double y,
                       double turn0, double turn1) {
  double side = pen->cell->is_mirrored ? -1 : 1;
  use_output(pen, output);
  if (!pen->to) return;
  fputs("<g class=\"move\"", pen->to);
  put_motion(pen, what, output, from, to);
  if (output >= 0) put_numbers(pen->to, "data-turn", side * turn0, side * turn1);
  put_numbers(pen->to, "data-center", od_pen_x(pen, x), od_pen_y(pen, y));
  fputc('>', pen->to);
}

void od_pen_group_end(od_pen *pen) {
  if (pen->to) fputs("</g>", pen->to);
}

void od_pen_chamber(od_pen *pen, int net, int output, double from, double to, double share, bool is_vertical,
                    od_extent along, double across, double across_size) {
  double size = along.size0 + share * (along.size1 - along.size0), at = along.at0 + share * (along.at1 - along.at0);
  use_output(pen, output);
  if (!pen->to) return;
  double x0 = along.at0, x1 = along.at1;
  if (!is_vertical && pen->cell->is_mirrored) {  // the left edge after mirroring
    double width = pen->cell->width;
    x0 = width - along.at0 - along.size0, x1 = width - along.at1 - along.size1, at = width - at - size;
  }
  double origin = is_vertical ? pen->cell->y : pen->cell->x;
  fputs("<rect class=\"chamber\"", pen->to);
  if (net >= 0) od_put_attribute(pen->to, "data-node", pen->sheet->graph->net[net].name);
  put_motion(pen, "chamber", output, from, to);
  if (output >= 0) {
    put_numbers(pen->to, is_vertical ? "data-y" : "data-x", origin + x0, origin + x1);
    put_numbers(pen->to, is_vertical ? "data-height" : "data-width", along.size0, along.size1);
  }
  if (is_vertical) {
    double a = od_pen_x(pen, across), b = od_pen_x(pen, across + across_size);
    put_one(pen->to, "x", fmin(a, b)), put_one(pen->to, "y", origin + at);
    put_one(pen->to, "width", across_size), put_one(pen->to, "height", size);
  } else {
    put_one(pen->to, "x", origin + at), put_one(pen->to, "y", od_pen_y(pen, across));
    put_one(pen->to, "width", size), put_one(pen->to, "height", across_size);
  }
  fputs("/>", pen->to);
}

void od_pen_box(od_pen *pen, double x, double y, double width, double height, int position, int output, double scale) {
  use_output(pen, output);
  double x1 = od_pen_x(pen, x), x2 = od_pen_x(pen, x + width), top = od_pen_y(pen, y);
  mark(pen, x1, top, x2, top + height, NULL);
  if (!pen->to) return;
  fprintf(pen->to, "<rect class=\"box\" data-box=\"%d\"", position);
  if (output >= 0) {
    od_put_attribute(pen->to, "data-output", od_model_output_name(pen->sheet->graph->model, output));
    put_one(pen->to, "data-scale", scale);
  }
  put_one(pen->to, "x", fmin(x1, x2)), put_one(pen->to, "y", top);
  put_one(pen->to, "width", width), put_one(pen->to, "height", height);
  fputs("/>", pen->to);
}
