// Symbols of elements in a line: pressure valves, check valves, restrictions, pipes, 2/2 valves, and boxes of other classes.
#include "circuit/pen.h"
#include "machine/machine_parts.h"

// Finds the upper and the lower net of an element in line. The upper net is the net in the upper channel, which has the
// lower index; a tank is always below. *top and *bottom: indices of the ends at these nets, or -1.
static void find_sides(od_sheet *s, od_cell *c, int *top, int *bottom) {
  const od_part *part = od_cell_part(s, c);
  const od_graph *g = s->graph;
  int first = -1, second = -1;
  for (int i = 0; i < part->ends; i++) {
    if (part->end[i].role != OD_END_FLOW || part->end[i].net < 0) continue;
    if (first < 0)
      first = i;
    else if (second < 0)
      second = i;
  }
  int a = first >= 0 ? od_end_line(g, &part->end[first]) : -1,
      b = second >= 0 ? od_end_line(g, &part->end[second]) : -1;
  c->flows_down = a >= 0 && (b < 0 || g->net[a].level <= g->net[b].level);
  *top = c->flows_down ? first : second;
  *bottom = c->flows_down ? second : first;
  c->above = c->flows_down ? a : b;
  c->below = c->flows_down ? b : a;
  c->may_upend = a >= 0 && b >= 0 && a != b && g->net[a].level == g->net[b].level;
}

// Adds the pins of an element in line at x, at the distance `edge` above and below the middle of the symbol.
static void add_line_pins(od_sheet *s, od_cell *c, int x, int middle, int edge) {
  int top, bottom;
  find_sides(s, c, &top, &bottom);
  if (c->above >= 0) od_cell_pin(s, c, top, x, OD_SIDE_TOP, middle - edge, 0);
  if (bottom >= 0) od_cell_pin(s, c, bottom, x, OD_SIDE_BOTTOM, middle + edge, 0);
}

static void set_width(od_sheet *s, od_cell *c, int core) {
  od_cell_label(s, c);
  c->core = core - 4;
  c->label_x = core;
  c->width = od_grid_up(core + od_cell_label_width(c) + 4);
}

// Returns the index of the first end with this role, or -1.
static int end_with(const od_part *part, od_end_role role) {
  const od_part_end *end = od_part_role(part, role);
  return end ? (int)(end - part->end) : -1;
}

// Adds a dashed pin on the side of the other pins of its net.
static void add_pilot(od_sheet *s, od_cell *c, int end, int x, int y, int reach) {
  if (end < 0) return;
  od_pin *pin = od_cell_pin(s, c, end, x, OD_SIDE_TOP, y, reach);
  if (pin) pin->may_turn = pin->is_dashed = true;
}

// --- Pressure valves: box 28 x 28 around the line, pilots on the left, spring on the right -----------------------------------------------------

enum { BOX_MIDDLE = 31, BOX_HALF = 14 };

// Returns the x of the line. In a valve with two pilots, there is space for both pilots opposite the spring.
static int box_x(const od_cell *c) {
  return c->symbol->kind == OD_SYMBOL_HOLDS ? 40 : 30;
}

static void lay_pressure_valve(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  od_symbol_kind kind = c->symbol->kind;
  int pilot = end_with(part, OD_END_PILOT), drain = end_with(part, OD_END_DRAIN);
  bool at_spring = kind == OD_SYMBOL_BALANCES || drain >= 0;
  c->height = 62;
  int x = box_x(c);
  set_width(s, c, x + (at_spring ? 46 : 32));
  add_line_pins(s, c, x, BOX_MIDDLE, BOX_HALF);
  if (kind == OD_SYMBOL_BALANCES)
    add_pilot(s, c, pilot, x + 40, BOX_MIDDLE, -14);
  else
    add_pilot(s, c, pilot, 10, BOX_MIDDLE, x - BOX_HALF - 10);
  add_pilot(s, c, drain, x + 40, BOX_MIDDLE, -14);
}

static void draw_pressure_valve(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  od_symbol_kind kind = c->symbol->kind;
  bool down = c->flows_down, opens = kind != OD_SYMBOL_REDUCES && kind != OD_SYMBOL_BALANCES;
  double top = BOX_MIDDLE - BOX_HALF, bottom = BOX_MIDDLE + BOX_HALF;
  double line = box_x(c), x = opens ? line - 6 : line;
  int opening = od_part_output(s->graph, part, "opening"), flow = od_part_output(s->graph, part, "flow");
  od_pen_rectangle(pen, "body", line - BOX_HALF, top, 2 * BOX_HALF, 2 * BOX_HALF, 0);
  // The arrow of a closed valve is next to the line. When the valve opens, the arrow moves to the line.
  if (opens) od_pen_move_begin(pen, "spool", opening >= 0 ? opening : flow, 0, opening >= 0 ? 0.5 : 1e-5, 6, 0, 0);
  od_pen_arrow(pen, x, down ? top + 1 : bottom - 1, x, down ? bottom - 1 : top + 1, 6, false);
  if (opens) od_pen_group_end(pen);
  od_pen_spring(pen, line + BOX_HALF, BOX_MIDDLE, 12, 3, 4);
  if (kind == OD_SYMBOL_REMOTE) return;
  // The internal pilot starts at the inlet if it opens the valve, and at the outlet if it closes the valve.
  bool from_top = opens == down;
  int net = from_top ? c->above : c->below;
  double y = from_top ? 6 : c->height - 6, middle = BOX_MIDDLE, left = line - BOX_HALF - 8;
  if (net < 0) return;
  if (kind == OD_SYMBOL_HOLDS)
    // the internal pilot must not touch the external pilot
    middle = from_top ? BOX_MIDDLE - 9 : BOX_MIDDLE + 9, left = line - BOX_HALF - 6;
  od_pen_wire(pen, net, 4, (const double[]){line, y, left, y, left, middle, line - BOX_HALF, middle});
}

static void draw_pressure_valve_and_label(const od_sheet *s, const od_cell *c, od_pen *pen) {
  draw_pressure_valve(s, c, pen);
  od_pen_label(pen, BOX_MIDDLE, true);
}

const od_glyph od_glyph_pressure_valve = {lay_pressure_valve, draw_pressure_valve_and_label};

// --- Check valves -------------------------------------------------------------------------------------------------------

enum { LINE_MIDDLE = 25 };

static int line_x(const od_sheet *s, const od_cell *c) {
  return end_with(od_cell_part(s, c), OD_END_PILOT) >= 0 ? 30 : 20;
}

static void lay_check(od_sheet *s, od_cell *c) {
  int x = line_x(s, c);
  c->height = 50;
  set_width(s, c, x + 14);
  add_line_pins(s, c, x, LINE_MIDDLE, 8);
  add_pilot(s, c, end_with(od_cell_part(s, c), OD_END_PILOT), 10, LINE_MIDDLE, x - 9 - 10);
}

static void draw_check(const od_sheet *s, const od_cell *c, od_pen *pen) {
  double x = line_x(s, c), side = c->flows_down ? -1 : 1, m = LINE_MIDDLE;
  const od_part *part = od_cell_part(s, c);
  int opening = od_part_output(s->graph, part, "opening"), flow = od_part_output(s->graph, part, "flow");
  od_pen_path(pen, "ink", false, 3, (const double[]){x - 9, m - side * 3, x, m + side * 8, x + 9, m - side * 3});
  od_pen_move_begin(pen, "ball", opening >= 0 ? opening : flow, 0, opening >= 0 ? 0.5 : 1e-5, 0, -3 * side, 0);
  od_pen_circle(pen, "body", x, m - side * 2, 5.5);
  od_pen_group_end(pen);
  od_pen_label(pen, m, true);
}

const od_glyph od_glyph_check = {lay_check, draw_check};

// --- Restrictions ---------------------------------------------------------------------------------------------------------

enum { LEAK_HALF = 18 };

static void lay_restriction(od_sheet *s, od_cell *c) {
  c->height = 50;
  set_width(s, c, 36);
  add_line_pins(s, c, 20, LINE_MIDDLE, c->symbol->kind == OD_SYMBOL_LEAK ? LEAK_HALF : 2);
}

// Draws a restriction: an orifice with edges, a throttle with arcs, a leak as a thin dashed line.

static void draw_restriction(const od_sheet *s, const od_cell *c, od_pen *pen) {
  od_symbol_kind kind = c->symbol->kind;
  double m = LINE_MIDDLE;
  if (kind == OD_SYMBOL_LEAK) {
    od_pen_line(pen, "tap", 20, m - LEAK_HALF, 20, m + LEAK_HALF);
  } else if (kind == OD_SYMBOL_ORIFICE) {
    od_pen_line(pen, "ink", 20, m - 2, 20, m + 2);
    od_pen_path(pen, "ink", false, 3, (const double[]){9, m - 8, 16, m, 9, m + 8});
    od_pen_path(pen, "ink", false, 3, (const double[]){31, m - 8, 24, m, 31, m + 8});
  } else {
    od_pen_line(pen, "ink", 20, m - 2, 20, m + 2);
    od_pen_arc(pen, "ink", 12, m - 12, 12, m + 12, 20, 1);
    od_pen_arc(pen, "ink", 28, m - 12, 28, m + 12, 20, 0);
  }
  if (kind == OD_SYMBOL_CUSHION || od_part_signal_name(s->graph, od_cell_part(s, c)))
    od_pen_arrow(pen, 8, m + 12, 32, m - 12, 6, false);
  od_pen_label(pen, m, true);
}

const od_glyph od_glyph_restriction = {lay_restriction, draw_restriction};

// --- Pipes ----------------------------------------------------------------------------------------------------------------

static void lay_pipe(od_sheet *s, od_cell *c) {
  c->height = 50;
  set_width(s, c, 34);
  add_line_pins(s, c, 20, LINE_MIDDLE, 14);
}

static void draw_pipe(const od_sheet *s, const od_cell *c, od_pen *pen) {
  (void)s;
  double m = LINE_MIDDLE;
  od_pen_rectangle(pen, "body", 15, m - 14, 10, 28, 3);
  if (c->symbol->kind == OD_SYMBOL_WAVE) {
    od_pen_arc(pen, "ink", 20, m - 9, 20, m, 6, 1);
    od_pen_arc(pen, "ink", 20, m, 20, m + 9, 6, 0);
  }
  od_pen_label(pen, m, true);
}

const od_glyph od_glyph_pipe = {lay_pipe, draw_pipe};

// --- 2/2 valves: two boxes 32 x 32, the rest position at the ports, spring on the right, solenoid on the left --------------

static void lay_two_way(od_sheet *s, od_cell *c) {
  c->height = 60;
  set_width(s, c, 108);
  add_line_pins(s, c, 70, 30, 16);
}

static void draw_two_way(const od_sheet *s, const od_cell *c, od_pen *pen) {
  const od_part *part = od_cell_part(s, c);
  int spool = od_part_spool(s->graph, part);
  double stroke = od_valve_stroke(s->graph->model, &s->graph->model->instance[part->instance]);
  for (int position = 1; position >= 0; position--) {
    double opening[OD_MOST_ENDS * OD_MOST_ENDS] = {0}, left = position ? 24 : 56, x = left + 14;
    od_valve_openings(s->graph->model, part->instance, position, opening);
    od_pen_box(pen, left, 14, 32, 32, position, spool, stroke);
    if (opening[1] > 0 || opening[2] > 0)
      od_pen_arrow(pen, x, c->flows_down ? 15 : 45, x, c->flows_down ? 45 : 15, 6, opening[1] > 0 && opening[2] > 0);
    else
      for (int side = 1; side >= -1; side -= 2) {
        double y = 30 - 16 * side;
        od_pen_line(pen, "ink", x, y, x, y + 8 * side);
        od_pen_line(pen, "ink", x - 4, y + 8 * side, x + 4, y + 8 * side);
      }
  }
  od_pen_rectangle(pen, "body", 2, 22, 22, 14, 0);
  od_pen_line(pen, "ink", 8, 36, 18, 22);
  od_pen_spring(pen, 88, 30, 14, 3, 4);
  od_pen_label(pen, 30, true);
}

const od_glyph od_glyph_two_way = {lay_two_way, draw_two_way};

// --- Boxes of classes without a symbol --------------------------------------------------------------------------------------

static void lay_box(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  int connected = 0, last = -1;
  od_cell_label(s, c);
  if (c->labels < OD_MOST_LABELS) c->label[c->labels++] = part->class_name;
  for (int i = 0; i < part->ends; i++)
    if (part->end[i].net >= 0) connected++, last = i;
  int body = connected > 2 ? 20 * connected : 40;
  c->height = 60;
  c->label_x = body + 4;
  c->core = body;
  c->width = od_grid_up(c->label_x + od_cell_label_width(c) + 4);
  if (c->symbol->station == OD_STATION_LINE) {
    add_line_pins(s, c, 20, 30, 15);
    for (int i = 0; i < part->ends; i++)
      if (part->end[i].role != OD_END_FLOW) add_pilot(s, c, i, 10 + 20 * (i % 2), 30, 0);
    return;
  }
  for (int i = 0, at = 0; i < part->ends; i++) {
    if (part->end[i].net < 0) continue;
    od_pin *pin = i == last
                      ? od_cell_pin(s, c, i, connected > 2 ? 10 + 10 * (connected / 2) : 20, OD_SIDE_BOTTOM, 45, 0)
                      : od_cell_pin(s, c, i, 10 + 20 * at++, OD_SIDE_TOP, 15, 0);
    if (pin && part->end[i].role != OD_END_FLOW) pin->is_dashed = true;
  }
}

static void draw_box(const od_sheet *s, const od_cell *c, od_pen *pen) {
  (void)s;
  od_pen_rectangle(pen, "body", 2, 15, c->core - 4, 30, 3);
  od_pen_label(pen, 30, true);
}

const od_glyph od_glyph_box = {lay_box, draw_box};
