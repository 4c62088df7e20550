// Symbols of directional valves, shuttle valves and flow dividers.
#include <math.h>

#include "circuit/pen.h"
#include "machine/machine_parts.h"

// --- Directional valves: boxes 40 x 40 (60 x 40 with a sense port), 30 on each side for solenoids and springs --------------

enum { BOX_TOP = 28, BOX_HEIGHT = 40, BOX_BOTTOM = BOX_TOP + BOX_HEIGHT, SIDE = 30 };
// The gauge of the spool position: distance from the box at the ports, length of the scale, space of the text "+100 %".
enum { GAUGE_GAP = 14, GAUGE = 40, GAUGE_TEXT = 42 };
enum { LABEL_BESIDE = 64 };  // largest width of a label beside the valve

typedef struct valve_plan {
  int box, count, left, ports_left;  // width of a box; number of boxes; left edges of the first box and of the box at
                                     // the ports
} valve_plan;

static valve_plan plan_of(const od_sheet *s, const od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  valve_plan p = {od_part_port(part, OD_LETTER_L) ? 60 : 40, part->boxes->count, c->core, 0};
  p.ports_left = p.left + part->boxes->rest * p.box;
  return p;
}

// Returns the x of a text with the width `width`, px, left of the ports. The text is above or below the left solenoid
// if there is space.
static double text_x(const valve_plan *p, double width) {
  return fmax(0, fmin(p->left - 22, p->ports_left - 2 - width));
}

// Returns the width of the signal in the largest size of pages, 12 px.
static double signal_room(const od_cell *c) {
  return 12.0 / OD_NAME_SIZE * od_cell_signal_width(c);
}

static bool is_top(od_letter letter) {
  return letter == OD_LETTER_A || letter == OD_LETTER_B;
}

// Returns the x of a port relative to the left edge of its box.
static int port_x(const valve_plan *p, od_letter letter) {
  switch (letter) {
    case OD_LETTER_L: return 30;
    case OD_LETTER_B:
    case OD_LETTER_T: return p->box - 10;
    default: return 10;
  }
}

// Returns whether the name and the values are right of the operators of the right side. Long texts, which would widen the
// diagram, are above the left solenoid.
static bool is_named_right(const od_cell *c) {
  return od_cell_label_width(c) <= LABEL_BESIDE;
}

// Returns the x of the name and the values.
static double name_x(const od_cell *c, const valve_plan *p) {
  return is_named_right(c) ? p->left + p->count * p->box + SIDE : text_x(p, od_cell_label_width(c));
}

// Joins the values of the label to one line.
static void join_values(od_sheet *s, od_cell *c) {
  while (c->labels > 2) {
    const char *line = od_arena_format(s->arena, "%s %s", c->label[1], c->label[2]);
    if (!line) {
      s->failed = true;
      return;
    }
    c->label[1] = line;
    c->labels--;
    for (int i = 2; i < c->labels; i++) c->label[i] = c->label[i + 1];
  }
}

static void lay_directional(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  c->signal_is_apart = true;
  od_cell_label(s, c);
  join_values(s, c);
  // The name and the values are right of the boxes, or left of port A. The signal is below the left solenoid and left of
  // port P.
  c->core = SIDE;
  valve_plan p = plan_of(s, c);
  double text = fmax(is_named_right(c) ? 0 : od_cell_label_width(c), signal_room(c));
  int room = p.ports_left - 2;
  if (text > room) c->core += od_grid_up(text - room);
  p = plan_of(s, c);
  c->height = BOX_BOTTOM + 26;
  // The gauge of the spool position is right of port T.
  double gauge = p.ports_left + p.box + GAUGE_GAP + GAUGE + GAUGE_TEXT;
  c->width = od_grid_up(fmax(fmax(gauge, p.left + p.count * p.box + SIDE), name_x(c, &p) + od_cell_label_width(c) + 2));
  for (int i = 0; i < part->ends; i++) {
    od_letter letter = part->end[i].letter;
    if (letter == OD_LETTER_NONE || part->end[i].net < 0) continue;
    // All tanks share the port T.
    if (letter == OD_LETTER_T && od_part_port(part, OD_LETTER_T) != &part->end[i]) continue;
    od_pin *pin = od_cell_pin(s, c, i, p.ports_left + port_x(&p, letter), is_top(letter) ? OD_SIDE_TOP : OD_SIDE_BOTTOM,
                              is_top(letter) ? BOX_TOP : BOX_BOTTOM, 0);
    if (pin && letter == OD_LETTER_L) pin->is_dashed = true;
  }
}

// Draws a tap from the path that feeds port `from` to the sense port.
static void draw_tap(od_pen *pen, const valve_plan *p, const od_valve_box *box, double left, od_letter from) {
  for (int i = 0; i < box->paths; i++) {
    if (box->path[i].to != from) continue;
    double x1 = left + port_x(p, box->path[i].from), x2 = left + port_x(p, from), xl = left + port_x(p, OD_LETTER_L);
    double x = x1 + 0.7 * (x2 - x1), y = BOX_BOTTOM - 0.7 * BOX_HEIGHT;
    double turn = x1 == x2 ? y : BOX_BOTTOM - 7;
    od_pen_path(pen, "tap", false, 4, (const double[]){x, y, x, turn, xl, turn, xl, BOX_BOTTOM});
    od_pen_circle(pen, "solid", x, y, 1.8);
    return;
  }
}

static void draw_position(const od_sheet *s, const od_cell *c, od_pen *pen, const valve_plan *p,
                          const od_valve_box *box, double left) {
  const od_part *part = od_cell_part(s, c);
  bool used[OD_LETTERS] = {false};
  for (int i = 0; i < box->paths; i++) {
    od_valve_path path = box->path[i];
    double x1 = left + port_x(p, path.from), x2 = left + port_x(p, path.to);
    double y1 = is_top(path.from) ? BOX_TOP + 1 : BOX_BOTTOM - 1, y2 = is_top(path.to) ? BOX_TOP + 1 : BOX_BOTTOM - 1;
    used[path.from] = used[path.to] = true;
    if (path.to == OD_LETTER_L && is_top(path.from))
      draw_tap(pen, p, box, left, path.from);
    else if (is_top(path.from) == is_top(path.to)) {
      double turn = is_top(path.from) ? y1 + 12 : y1 - 12;
      od_pen_path(pen, "ink", false, 4, (const double[]){x1, y1, x1, turn, x2, turn, x2, y2});
    } else
      od_pen_arrow(pen, x1, y1, x2, y2, 6, path.is_two_way);
  }
  for (od_letter k = OD_LETTER_P; k < OD_LETTERS; k++) {
    if (used[k] || !od_part_port(part, k)) continue;
    double x = left + port_x(p, k), y = is_top(k) ? BOX_TOP : BOX_BOTTOM, end = is_top(k) ? y + 8 : y - 8;
    od_pen_line(pen, "ink", x, y, x, end);
    od_pen_line(pen, "ink", x - 4, end, x + 4, end);
  }
}

static void draw_solenoid(od_pen *pen, double x, bool is_continuous) {
  od_pen_rectangle(pen, "body", x, BOX_TOP + 5, 22, 14, 0);
  od_pen_line(pen, "ink", x + 6, BOX_TOP + 19, x + 16, BOX_TOP + 5);
  if (is_continuous) od_pen_arrow(pen, x + 1, BOX_TOP + 23, x + 21, BOX_TOP + 1, 5, false);
}

// Draws solenoids and springs. A valve with three boxes has a solenoid and a spring on each side. Any other valve has a spring on the
// side of the rest position and a solenoid on the other side.
static void draw_operators(const od_cell *c, od_pen *pen, const valve_plan *p, int rest) {
  double right = p->left + p->count * p->box;
  bool is_continuous = c->symbol->kind != OD_SYMBOL_SWITCHED;
  if (p->count == 3) {
    draw_solenoid(pen, p->left - 22, is_continuous);
    draw_solenoid(pen, right, is_continuous);
    od_pen_spring(pen, p->left - 12, BOX_BOTTOM - 8, 12, 2, 4);
    od_pen_spring(pen, right, BOX_BOTTOM - 8, 12, 2, 4);
  } else {
    draw_solenoid(pen, rest == 0 ? right : p->left - 22, is_continuous);
    od_pen_spring(pen, rest == 0 ? p->left - 14 : right, BOX_TOP + 20, 14, 3, 4);
  }
  if (is_continuous) {
    od_pen_line(pen, "ink", p->left, BOX_TOP - 3, right, BOX_TOP - 3);
    od_pen_line(pen, "ink", p->left, BOX_BOTTOM + 3, right, BOX_BOTTOM + 3);
  }
}

// Draws the gauge of the spool position: a scale with a marker, and space for the position in percent.
static void draw_gauge(const od_cell *c, od_pen *pen, const valve_plan *p, int spool, double stroke) {
  double x = p->ports_left + p->box + GAUGE_GAP, y = BOX_BOTTOM + 17;
  if (spool < 0) return;
  od_pen_line(pen, "scale", x, y, x + GAUGE, y);
  for (int i = 0; i <= 2; i++) od_pen_line(pen, "scale", x + 0.5 * GAUGE * i, y - 3, x + 0.5 * GAUGE * i, y + 3);
  double begin = c->is_mirrored ? stroke : -stroke;  // mirroring of the cell does not change the scale
  od_pen_move_begin(pen, "spool", spool, begin, -begin, GAUGE, 0, 0.5);
  od_pen_path(pen, "marker", true, 3, (const double[]){x, y - 1, x - 4, y - 8, x + 4, y - 8});
  od_pen_group_end(pen);
  if (pen->to) {
    double from = od_pen_x(pen, x + GAUGE + 5), to = od_pen_x(pen, x + GAUGE + GAUGE_TEXT);
    fputs("<text class=\"spool-value\"", pen->to);
    od_put_attribute(pen->to, "data-output", od_model_output_name(pen->sheet->graph->model, spool));
    fputs(" data-scale=\"", pen->to), od_put_number(pen->to, stroke), fputs("\" x=\"", pen->to);
    od_put_number(pen->to, fmin(from, to)), fputs("\" y=\"", pen->to), od_put_number(pen->to, od_pen_y(pen, y));
    fputs("\"></text>", pen->to);
  }
}

static void draw_directional(const od_sheet *s, const od_cell *c, od_pen *pen) {
  static const char *const letters[OD_LETTERS] = {"", "P", "T", "A", "B", "L"};
  const od_part *part = od_cell_part(s, c);
  valve_plan p = plan_of(s, c);
  int spool = od_part_spool(s->graph, part), rest = part->boxes->rest;
  double stroke = od_valve_stroke(s->graph->model, &s->graph->model->instance[part->instance]);
  draw_operators(c, pen, &p, rest);
  for (int i = 0; i < p.count; i++) {
    const od_valve_box *box = &part->boxes->box[i];
    od_pen_box(pen, p.left + i * p.box, BOX_TOP, p.box, BOX_HEIGHT, box->position, spool, stroke);
    draw_position(s, c, pen, &p, box, p.left + i * p.box);
  }
  for (od_letter k = OD_LETTER_P; k < OD_LETTERS; k++) {
    if (!od_part_port(part, k)) continue;
    bool left = port_x(&p, k) < p.box / 2 || k == OD_LETTER_L;
    od_pen_text(pen, "letter", p.ports_left + port_x(&p, k) + (left ? -4.5 : 4.5),
                is_top(k) ? BOX_TOP - 6 : BOX_BOTTOM + 13, left ? OD_ANCHOR_END : OD_ANCHOR_START, OD_NAME_SIZE, true,
                letters[k]);
  }
  double signal = text_x(&p, signal_room(c));
  double first = is_named_right(c) ? BOX_TOP + 18 : BOX_TOP - 8 - 12 * (c->labels - 1);
  for (int i = 0; i < c->labels; i++)
    od_pen_text(pen, i == 0 ? "name" : "value", name_x(c, &p), first + 12 * i, OD_ANCHOR_START, OD_LABEL_SIZE, i == 0,
                c->label[i]);
  if (c->signal) od_pen_text(pen, "signal", signal, BOX_BOTTOM + 14, OD_ANCHOR_START, OD_NAME_SIZE, false, c->signal);
  draw_gauge(c, pen, &p, spool, stroke);
}

const od_glyph od_glyph_directional = {lay_directional, draw_directional};

// --- Shuttle valves ------------------------------------------------------------------------------------------------------------

static void lay_shuttle(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  od_cell_label(s, c);
  c->height = 50;
  c->core = 74;
  c->label_x = 46;
  c->width = od_grid_up(fmax(80, c->label_x + od_cell_label_width(c) + 2));
  bool is_signal = od_end_line(s->graph, &part->end[2]) >= 0 && s->graph->net[part->end[2].net].is_sense;
  for (int i = 0; i < 3; i++) {
    od_pin *pin = i < 2 ? od_cell_pin(s, c, i, i ? 70 : 10, OD_SIDE_TOP, 20, i ? -14 : 14)
                        : od_cell_pin(s, c, i, 40, OD_SIDE_BOTTOM, 31, 0);
    if (pin) pin->is_dashed = is_signal;
  }
}

static void draw_shuttle(const od_sheet *s, const od_cell *c, od_pen *pen) {
  int ball = od_part_output(s->graph, od_cell_part(s, c), "ball");
  od_pen_rectangle(pen, "body", 24, 9, 32, 22, 0);
  od_pen_path(pen, "ink", false, 3, (const double[]){32, 13, 26, 20, 32, 27});
  od_pen_path(pen, "ink", false, 3, (const double[]){48, 13, 54, 20, 48, 27});
  od_pen_move_begin(pen, "ball", ball, 0, 1, 12, 0, 0);
  od_pen_circle(pen, "body", 34, 20, 4.5);
  od_pen_group_end(pen);
  od_pen_label(pen, 44, false);
}

const od_glyph od_glyph_shuttle = {lay_shuttle, draw_shuttle};

// --- Flow dividers -------------------------------------------------------------------------------------------------------------

static void lay_divider(od_sheet *s, od_cell *c) {
  od_cell_label(s, c);
  c->height = 60;
  c->core = 58;
  c->label_x = 62;
  c->width = od_grid_up(c->label_x + od_cell_label_width(c) + 2);
  od_cell_pin(s, c, 1, 20, OD_SIDE_TOP, 16, 0);
  od_cell_pin(s, c, 2, 40, OD_SIDE_TOP, 16, 0);
  od_cell_pin(s, c, 0, 30, OD_SIDE_BOTTOM, 44, 0);
}

static void draw_divider(const od_sheet *s, const od_cell *c, od_pen *pen) {
  (void)s, (void)c;
  od_pen_rectangle(pen, "body", 6, 16, 48, 28, 0);
  od_pen_path(pen, "ink", false, 4, (const double[]){30, 44, 30, 37, 20, 37, 20, 34});
  od_pen_path(pen, "ink", false, 3, (const double[]){30, 37, 40, 37, 40, 34});
  for (int i = 0; i < 2; i++) {
    double x = 20 + 20 * i;
    od_pen_arrow(pen, x, 37, x, 17, 5, false);
    od_pen_arc(pen, "ink", x - 5, 24, x - 5, 32, 5, 1);
    od_pen_arc(pen, "ink", x + 5, 24, x + 5, 32, 5, 0);
  }
  od_pen_label(pen, 30, true);
}

const od_glyph od_glyph_divider = {lay_divider, draw_divider};
