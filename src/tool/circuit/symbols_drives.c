// Symbols of cylinders, motors, brakes, pumps, accumulators, tanks and sources.
#include <math.h>
#include <stdio.h>

#include "circuit/label_text.h"
#include "circuit/pen.h"
#include "io/display.h"

// --- Cylinders: barrel 90 x 32, the piston moves by 66 ---------------------------------------------------------------------

enum {
  BARREL = 90,
  BARREL_TOP = 20,
  BARREL_HEIGHT = 32,
  PISTON = 8,
  PISTON_LEFT = 6,
  TRAVEL = 66,
  CYLINDER_WIDTH = 170
};

// Returns the index of flow end number `place`, counted from 0, or -1.
static int flow_end(const od_part *part, int place) {
  const od_part_end *end = od_part_flow(part, place);
  return end ? (int)(end - part->end) : -1;
}

// Returns the distance of the barrel from the left end of the symbol, px: space for the rod of a cylinder with equal
// areas, which passes through both ends of the barrel.
static double barrel_left(const od_sheet *s, const od_part *part) {
  const od_instance *e = &s->graph->model->instance[part->instance];
  double a = od_part_number(s->graph, part, "areas[0]"), b = od_part_number(s->graph, part, "areas[1]");
  bool is_equal = !e->choice[OD_CYLINDER_DIAMETERS] && fabs(a - b) < 1e-6 * a;
  return is_equal ? 80 : 0;
}

// Adds the size of a cylinder to the label: areas, which are often computed, with three digits, or diameters.
static void add_cylinder_size(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  const od_instance *e = &s->graph->model->instance[part->instance];
  double a = od_part_number(s->graph, part, "areas[0]"), b = od_part_number(s->graph, part, "areas[1]");
  char text[160], first[OD_NUMBER_SIZE], second[OD_NUMBER_SIZE], third[OD_NUMBER_SIZE];
  if (isnan(a) || c->labels == OD_MOST_LABELS) return;
  bool diameters = e->choice[OD_CYLINDER_DIAMETERS];
  int digits = diameters ? 4 : 3;
  od_value_text(first, (diameters ? 1e3 : 1e4) * a, digits);
  od_value_text(second, (diameters ? 1e3 : 1e4) * b, digits);
  od_value_text(third, 1e3 * od_part_number(s->graph, part, "stroke"), 4);
  if (diameters)
    snprintf(text, sizeof text, "%s/%s \u00d7 %s mm", first, second, third);
  else
    snprintf(text, sizeof text, "%s / %s cm\u00b2", first, second);
  const char *line = od_arena_text(s->arena, text);
  if (line) c->label[c->labels++] = line;
}

// Sets the width of a cell whose label is one line above the symbol.
static void widen_for_title(od_cell *c, double left) {
  double width = od_text_width(c->label[0], OD_LABEL_SIZE, true) + 8;
  if (c->labels > 1) width += od_text_width(c->label[1], OD_LABEL_SIZE, false);
  c->width = od_grid_up(left + fmax(CYLINDER_WIDTH, width));
}

static void draw_title(od_pen *pen, double left) {
  const od_cell *c = pen->cell;
  od_pen_text(pen, "name", left, 12, OD_ANCHOR_START, OD_LABEL_SIZE, true, c->label[0]);
  if (c->labels > 1)
    od_pen_text(pen, "value", left + od_text_width(c->label[0], OD_LABEL_SIZE, true) + 6, 12, OD_ANCHOR_START,
                OD_LABEL_SIZE, false, c->label[1]);
}

static void lay_cylinder(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  c->height = BARREL_TOP + BARREL_HEIGHT + 18;
  od_cell_label(s, c);
  add_cylinder_size(s, c);
  if (c->labels == 0) return;
  double left = barrel_left(s, part);
  widen_for_title(c, left);
  bool has_tank = false;
  for (int i = 0; i < 2; i++) {
    int end = flow_end(part, i);
    if (end < 0) continue;
    od_cell_pin(s, c, end, (int)left + (i ? BARREL - 10 : 10), OD_SIDE_BOTTOM, BARREL_TOP + BARREL_HEIGHT, 0);
    has_tank = has_tank || (part->end[end].net >= 0 && s->graph->net[part->end[end].net].is_tank);
  }
  if (!has_tank) c->height -= 14;
}

static void draw_cylinder(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  int length = od_part_output(s->graph, part, "length");
  double closed = od_part_number(s->graph, part, "closed"), stroke = od_part_number(s->graph, part, "stroke");
  int a = flow_end(part, 0), b = flow_end(part, 1);
  int net_a = a >= 0 ? part->end[a].net : -1, net_b = b >= 0 ? part->end[b].net : -1;
  double left = barrel_left(s, part), piston = left + PISTON_LEFT;
  od_pen_rectangle(pen, "body", left, BARREL_TOP, BARREL, BARREL_HEIGHT, 0);
  od_pen_chamber(pen, net_a, length, closed, closed + stroke, 0.4, false,
                 (od_extent){left + 0.5, PISTON_LEFT - 0.5, left + 0.5, PISTON_LEFT + TRAVEL - 0.5}, BARREL_TOP + 0.5,
                 BARREL_HEIGHT - 1);
  od_pen_chamber(pen, net_b, length, closed, closed + stroke, 0.4, false,
                 (od_extent){piston + PISTON, BARREL - PISTON_LEFT - PISTON - 0.5, piston + PISTON + TRAVEL,
                             BARREL - PISTON_LEFT - PISTON - TRAVEL - 0.5},
                 BARREL_TOP + 0.5, BARREL_HEIGHT - 1);
  od_pen_move_begin(pen, "piston", length, closed, closed + stroke, TRAVEL, 0, 0.4);
  double tip = left + BARREL + 10, middle = BARREL_TOP + BARREL_HEIGHT / 2.0;
  od_pen_rectangle(pen, "rod", piston + PISTON, middle - 4, tip - piston - PISTON, 8, 0);
  if (left > 0) od_pen_rectangle(pen, "rod", 4, middle - 4, piston - 4, 8, 0);
  od_pen_rectangle(pen, "piston", piston, BARREL_TOP, PISTON, BARREL_HEIGHT, 0);
  od_pen_line(pen, "ink", tip, middle - 8, tip, middle + 8);
  od_pen_group_end(pen);
  od_pen_rectangle(pen, "outline", left, BARREL_TOP, BARREL, BARREL_HEIGHT, 0);
  draw_title(pen, left);
}

const od_glyph od_glyph_cylinder = {lay_cylinder, draw_cylinder};

// --- Telescopic cylinders ----------------------------------------------------------------------------------------------------

static void lay_telescopic(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  c->height = BARREL_TOP + BARREL_HEIGHT + 18;
  od_cell_label(s, c);
  if (c->labels == 0) return;
  widen_for_title(c, 0);
  od_cell_pin(s, c, flow_end(part, 0), 10, OD_SIDE_BOTTOM, BARREL_TOP + BARREL_HEIGHT, 0);
}

static void draw_telescopic(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  int length = od_part_output(s->graph, part, "length"), stages = 0;
  static const char *const keys[] = {"stroke_1", "stroke_2", "stroke_3", "stroke_4"};
  double at = od_part_number(s->graph, part, "closed"), stroke[4] = {0};
  for (int i = 0; i < 4; i++) {
    double value = od_part_number(s->graph, part, keys[i]);
    if (value > 0) stroke[stages++] = value;
  }
  od_pen_rectangle(pen, "body", 0, BARREL_TOP, BARREL, BARREL_HEIGHT, 0);
  od_pen_chamber(pen, part->end[0].net, length, at, at + stroke[0], 1, false,
                 (od_extent){0.5, 6, 0.5, 6 + 66.0 / (stages ? stages : 1)}, BARREL_TOP + 0.5, BARREL_HEIGHT - 1);
  double step = stages ? 66.0 / stages : 0;
  for (int i = 0; i < stages; i++) {
    double half = 12 - 3 * i, middle = BARREL_TOP + BARREL_HEIGHT / 2.0;
    od_pen_move_begin(pen, "piston", length, at, at + stroke[i], step, 0, i == 0 ? 1 : 0.4);
    od_pen_rectangle(pen, "rod", 6 + 4 * i, middle - half, BARREL - 4 - 2 * i, 2 * half, 0);
    at += stroke[i];
  }
  od_pen_line(pen, "ink", BARREL + 2, BARREL_TOP + 8, BARREL + 2, BARREL_TOP + 24);
  for (int i = 0; i < stages; i++) od_pen_group_end(pen);
  od_pen_rectangle(pen, "outline", 0, BARREL_TOP, BARREL, BARREL_HEIGHT, 0);
  draw_title(pen, 0);
}

const od_glyph od_glyph_telescopic = {lay_telescopic, draw_telescopic};

// --- Motors --------------------------------------------------------------------------------------------------------------------

static void lay_motor(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  c->height = 70;
  od_cell_label(s, c);
  c->core = 74;
  c->label_x = 76;
  c->width = od_grid_up(c->label_x + od_cell_label_width(c) + 2);
  for (int i = 0; i < 2; i++) {
    int end = flow_end(part, i);
    if (end >= 0) od_cell_pin(s, c, end, i ? 70 : 10, OD_SIDE_BOTTOM, 46, i ? -10 : 10);
  }
}

static void draw_motor(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  od_pen_line(pen, "ink", 38, 27, 38, 10);
  od_pen_line(pen, "ink", 42, 27, 42, 10);
  od_pen_rectangle(pen, "piston", 30, 4, 20, 6, 0);
  od_pen_circle(pen, "body", 40, 46, 20);
  od_pen_path(pen, "solid", true, 3, (const double[]){31, 46, 21, 40, 21, 52});
  od_pen_path(pen, "solid", true, 3, (const double[]){49, 46, 59, 40, 59, 52});
  if (od_part_signal_name(s->graph, part)) {
    od_pen_turn_begin(pen, "swash", od_part_signal(s->graph, part), -1, 1, 40, 46, 90, 0);
    od_pen_arrow(pen, 21, 66, 60, 25, 7, false);
    od_pen_group_end(pen);
  }
  od_pen_label(pen, 16, false);
}

const od_glyph od_glyph_motor = {lay_motor, draw_motor};

// --- Brakes --------------------------------------------------------------------------------------------------------------------

static void lay_brake(od_sheet *s, od_cell *c) {
  c->height = 60;
  od_cell_label(s, c);
  c->core = 44;
  c->label_x = 48;
  c->width = od_grid_up(c->label_x + od_cell_label_width(c) + 2);
  od_pin *pin = od_cell_pin(s, c, 0, 20, OD_SIDE_BOTTOM, 44, 0);
  if (pin) pin->is_dashed = true;
}

static void draw_brake(const od_sheet *s, const od_cell *c, od_pen *pen) {
  (void)s, (void)c;
  od_pen_rectangle(pen, "body", 10, 24, 20, 20, 0);
  od_pen_line(pen, "ink", 10, 36, 30, 36);
  od_pen_line(pen, "ink", 20, 36, 20, 14);
  od_pen_rectangle(pen, "piston", 8, 10, 24, 5, 0);
  od_pen_spring(pen, 30, 30, 12, 2, 4);
  od_pen_label(pen, 22, false);
}

const od_glyph od_glyph_brake = {lay_brake, draw_brake};

// --- Pumps ---------------------------------------------------------------------------------------------------------------------

// Returns the index of the suction end; -1: the pump has only one flow end, the outlet.
static int suction_end(const od_part *part) {
  return flow_end(part, 1) >= 0 ? flow_end(part, 0) : -1;
}
static int outlet_end(const od_part *part) {
  return flow_end(part, 1) >= 0 ? flow_end(part, 1) : flow_end(part, 0);
}

// Returns whether the suction side is a line instead of a tank.
static bool is_closed_pump(const od_sheet *s, const od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  int suction = suction_end(part);
  return suction >= 0 && od_end_line(s->graph, &part->end[suction]) >= 0;
}

enum { PUMP_X = 60, DRIVE_SIGNAL = 56 };

// Returns the x of a pump in an open circuit. Left of the suction line there must be space for the signal of the drive.
static int open_pump_x(const od_cell *c) {
  double wide = c->signal_is_apart ? od_cell_signal_width(c) + 14 : 0;
  return wide > PUMP_X ? od_grid_up(wide) : PUMP_X;
}

static void lay_pump(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  int suction = suction_end(part), outlet = outlet_end(part);
  const od_part_end *load = od_part_role(part, OD_END_SENSE);
  double signal_end = 0;
  c->signal_is_apart = c->symbol->kind == OD_SYMBOL_PLAIN;
  od_cell_label(s, c);
  if (is_closed_pump(s, c)) {
    c->height = 92;
    c->label_x = 76;
    od_cell_pin(s, c, outlet, 10, OD_SIDE_TOP, 34, 10);
    od_cell_pin(s, c, suction, 70, OD_SIDE_TOP, 34, -10);
    if (c->signal_is_apart) signal_end = DRIVE_SIGNAL + od_cell_signal_width(c) + 2;
  } else {
    int x = open_pump_x(c);
    c->height = 72;
    c->label_x = x + (load ? 38 : 26);
    od_cell_pin(s, c, outlet, x, OD_SIDE_TOP, 14, 0);
    if (suction >= 0 && part->end[suction].net >= 0) od_cell_pin(s, c, suction, x, OD_SIDE_BOTTOM, 54, 0);
    if (load) {  // pin at the arrow of the displacement
      od_pin *pin = od_cell_pin(s, c, (int)(load - part->end), x + 30, OD_SIDE_TOP, 14, -10);
      if (pin) pin->is_dashed = true;
    }
  }
  c->core = c->label_x - 2;
  c->width = od_grid_up(fmax(c->label_x + od_cell_label_width(c) + 2, signal_end));
}

// Draws the arrow of a variable displacement through (x, y). The arrow turns with the swash plate.
static void draw_swash(const od_sheet *s, const od_cell *c, od_pen *pen, double x, double y) {
  int swash = od_part_output(s->graph, od_cell_part(s, c), "swash");
  od_pen_turn_begin(pen, "swash", swash, 0, 1, x, y, 45, 0);
  od_pen_arrow(pen, x - 19, y + 20, x + 19, y - 20, 7, false);
  od_pen_group_end(pen);
}

static void draw_pump(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  bool is_closed = is_closed_pump(s, c), is_variable = c->symbol->kind != OD_SYMBOL_PLAIN;
  double x = is_closed ? 40 : open_pump_x(c), y = 34;
  if (is_closed) {
    od_pen_line(pen, "ink", 38, 53, 38, 66);
    od_pen_line(pen, "ink", 42, 53, 42, 66);
    od_pen_circle(pen, "body", 40, 78, 12);
    od_pen_text(pen, "value", 40, 82, OD_ANCHOR_MIDDLE, OD_LABEL_SIZE, false, "M");
    if (c->signal && c->signal_is_apart)
      od_pen_text(pen, "signal", DRIVE_SIGNAL, 82, OD_ANCHOR_START, OD_NAME_SIZE, false, c->signal);
    od_pen_circle(pen, "body", x, y, 20);
    od_pen_path(pen, "solid", true, 3, (const double[]){20, y, 31, y - 7, 31, y + 7});
  } else {
    double drive = x - 46;
    od_pen_line(pen, "ink", drive + 12, y - 2, x - 19, y - 2);
    od_pen_line(pen, "ink", drive + 12, y + 2, x - 19, y + 2);
    od_pen_circle(pen, "body", drive, y, 12);
    od_pen_text(pen, "value", drive, y + 4, OD_ANCHOR_MIDDLE, OD_LABEL_SIZE, false, "M");
    if (c->signal && c->signal_is_apart)
      od_pen_text(pen, "signal", x - 12, y + 24, OD_ANCHOR_END, OD_NAME_SIZE, false, c->signal);
    od_pen_circle(pen, "body", x, y, 20);
    od_pen_path(pen, "solid", true, 3, (const double[]){x, y - 20, x - 8, y - 8, x + 8, y - 8});
    if (suction_end(part) < 0 || part->end[suction_end(part)].net < 0) {
      od_pen_line(pen, "ink", x, 54, x, 68);
      od_pen_tank(pen, x, 68);
    }
    int outlet = od_end_line(s->graph, &part->end[outlet_end(part)]);
    if (c->symbol->kind == OD_SYMBOL_PRESSURE && outlet >= 0)
      od_pen_wire(pen, outlet, 3, (const double[]){x, 6, x + 19, 6, x + 19, y - 20});
  }
  if (is_variable) draw_swash(s, c, pen, x, y);
  int lines = c->labels + (c->signal && !c->signal_is_apart);
  od_pen_label(pen, fmin(is_closed ? y + 24 : y + 6, c->height - 4 - 12 * (lines - 1)), false);
}

const od_glyph od_glyph_pump = {lay_pump, draw_pump};

// --- Accumulators and tanks ------------------------------------------------------------------------------------------------------

static void lay_accumulator(od_sheet *s, od_cell *c) {
  c->height = 62;
  od_cell_label(s, c);
  c->core = 34;
  c->label_x = 38;
  c->width = od_grid_up(c->label_x + od_cell_label_width(c) + 2);
  od_cell_pin(s, c, 0, 20, OD_SIDE_BOTTOM, 48, 0);
}

static void draw_accumulator(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  int oil = od_part_output(s->graph, part, "oil");
  double volume = od_part_number(s->graph, part, "volume");
  od_pen_rectangle(pen, "body", 8, 4, 24, 44, 12);
  od_pen_chamber(pen, part->end[0].net, oil, 0, volume, 0.5, true, (od_extent){44, 0, 16, 28}, 11, 18);
  od_pen_move_begin(pen, "level", oil, 0, volume, 0, -28, 0.5);
  od_pen_line(pen, "ink", 8, 44, 32, 44);
  od_pen_group_end(pen);
  od_pen_path(pen, "ink", true, 3, (const double[]){20, 8, 15, 16, 25, 16});
  od_pen_label(pen, 20, false);
}

const od_glyph od_glyph_accumulator = {lay_accumulator, draw_accumulator};

static void lay_oil_tank(od_sheet *s, od_cell *c) {
  c->height = 50;
  od_cell_label(s, c);
  c->core = 60;
  c->label_x = 64;
  c->width = od_grid_up(c->label_x + od_cell_label_width(c) + 2);
  od_cell_pin(s, c, 0, 30, OD_SIDE_TOP, 40, 0);
}

static void draw_oil_tank(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  int filled = od_part_output(s->graph, part, "filled");
  od_pen_chamber(pen, part->end[0].net, filled, 0, 1, 0.6, true, (od_extent){46, 0, 18, 28}, 2.5, 55);
  od_pen_path(pen, "ink", false, 4, (const double[]){2, 14, 2, 46, 58, 46, 58, 14});
  od_pen_label(pen, 24, false);
}

const od_glyph od_glyph_oil_tank = {lay_oil_tank, draw_oil_tank};

// --- Sources -----------------------------------------------------------------------------------------------------------------------

static void lay_source(od_sheet *s, od_cell *c) {
  const od_model *m = s->graph->model;
  const od_node *node = &m->node[c->net];
  c->height = 44;
  c->label[c->labels++] = od_text_shortened(s->graph->net[c->net].name, 26, s->arena);
  double pressure = m->theta[node->number];
  od_display unit = od_display_unit("Pa", pressure);
  char number[OD_NUMBER_SIZE];
  od_value_text(number, pressure * unit.factor, 4);
  const char *value = od_arena_format(s->arena, "%s %s", number, unit.unit);
  if (node->input >= 0) value = od_arena_format(s->arena, "\u2190 %s", od_model_text(m, m->input[node->input].name));
  if (value) c->label[c->labels++] = od_text_shortened(value, 26, s->arena);
  for (int i = 0; i < c->labels; i++)
    if (!c->label[i]) {
      s->failed = true;
      c->label[i] = "";
    }
  c->core = 34;
  c->label_x = 38;
  double name = od_text_width(c->label[0], OD_LABEL_SIZE, true) + 3 + OD_VALUE_ROOM;
  c->width = od_grid_up(c->label_x + fmax(od_cell_label_width(c), name) + 2);
}

// Draws a source without the name. place_names.c places this name, which is the name of the net.
static void draw_source(const od_sheet *s, const od_cell *c, od_pen *pen) {
  (void)s, (void)c;
  od_pen_path(pen, "solid", true, 3, (const double[]){20, 14, 10, 32, 30, 32});
  for (int i = 1; i < c->labels; i++)
    od_pen_text(pen, "value", c->label_x, OD_SOURCE_NAME_Y + 12 * i, OD_ANCHOR_START, OD_LABEL_SIZE, false,
                c->label[i]);
}

const od_glyph od_glyph_source = {lay_source, draw_source};
