// Creates the cells of a sheet (symbols, sources, feedthroughs) and their initial order.
#include "circuit/sheet.h"

#include <stdlib.h>
#include <string.h>

// --- For shapes -------------------------------------------------------------------------------------------------------

const od_part *od_cell_part(const od_sheet *s, const od_cell *c) {
  return c->part >= 0 ? &s->graph->part[c->part] : NULL;
}

static od_pin *add_pin(od_sheet *s, od_cell *c, od_pin pin) {
  if (s->pins == s->pin_room) {
    s->failed = true;
    return NULL;
  }
  pin.cell = (int)(c - s->cell);
  if (c->pins == 0) c->pin = s->pins;
  c->pins++;
  s->pin[s->pins] = pin;
  return &s->pin[s->pins++];
}

od_pin *od_cell_pin(od_sheet *s, od_cell *c, int end, int x, od_side side, int y, int reach) {
  const od_part *part = od_cell_part(s, c);
  if (end < 0 || end >= part->ends || part->end[end].net < 0) return NULL;
  bool is_dashed = part->end[end].role != OD_END_FLOW;
  if (!s->graph->net[part->end[end].net].is_tank)
    return add_pin(s, c,
                   (od_pin){.net = part->end[end].net,
                            .end = end,
                            .x = x,
                            .y = y,
                            .reach = reach,
                            .side = side,
                            .is_dashed = is_dashed});
  bool up = side == OD_SIDE_TOP && reach == 0;
  if (c->stubs < OD_MOST_STUBS)
    c->stub[c->stubs++] = (od_tank_stub){end, x, y, reach, up ? -10 : c->height - 2 - y, is_dashed};
  return NULL;
}

// --- Cells ------------------------------------------------------------------------------------------------------------

static od_cell *add_cell(od_sheet *s, od_cell cell) {
  if (s->cells == s->cell_room) {
    s->failed = true;
    return NULL;
  }
  s->cell[s->cells] = cell;
  return &s->cell[s->cells++];
}

static void add_parts(od_sheet *s) {
  for (int i = 0; i < s->graph->parts; i++) {
    const od_part *part = &s->graph->part[i];
    od_cell *c = add_cell(s, (od_cell){.part = i,
                                       .net = -1,
                                       .symbol = part->symbol,
                                       .section = part->section,
                                       .row = part->row,
                                       .order = part->place ? part->place->order : -1,
                                       .keeps_side = part->place && part->place->is_mirrored >= 0,
                                       .is_mirrored = part->place && part->place->is_mirrored > 0,
                                       .above = -1,
                                       .below = -1,
                                       .twin = -1});
    if (c) part->symbol->glyph->lay(s, c);
  }
}

static void add_sources(od_sheet *s) {
  static const od_symbol symbol = {"source", &od_glyph_source, OD_STATION_SUPPLY, OD_SYMBOL_PLAIN, {{0}}};
  for (int i = 0; i < s->graph->nets; i++) {
    const od_net *net = &s->graph->net[i];
    if (net->kind != OD_NODE_SOURCE || !net->is_used) continue;
    od_cell *c = add_cell(s, (od_cell){.part = -1,
                                       .net = i,
                                       .symbol = &symbol,
                                       .section = -1,
                                       .row = s->graph->rows - 1,
                                       .order = -1,
                                       .above = -1,
                                       .below = -1,
                                       .twin = -1});
    if (!c) return;
    symbol.glyph->lay(s, c);
    add_pin(s, c, (od_pin){.net = i, .end = -1, .x = 20, .y = 14, .side = OD_SIDE_TOP});
  }
}

// Removes rows without cells. Keeps the order of the rows.
static void remove_empty_rows(od_sheet *s) {
  int rows = 0;
  for (int row = 0; row < s->rows; row++) {
    bool used = false;
    for (int i = 0; i < s->cells; i++) used = used || s->cell[i].row == row;
    if (!used) continue;
    for (int i = 0; i < s->cells; i++)
      if (s->cell[i].row == row) s->cell[i].row = rows;
    rows++;
  }
  s->rows = rows;
}

// Moves cells to the rows that the file gives. Row numbers beyond the last row give one additional row.
static void move_to_given_rows(od_sheet *s) {
  int rows = s->rows;
  for (int i = 0; i < s->cells; i++) {
    const od_part *part = od_cell_part(s, &s->cell[i]);
    if (!part || !part->place || part->place->row < 0) continue;
    s->cell[i].row = part->place->row < rows ? part->place->row : rows;
    if (s->cell[i].row == rows) s->rows = rows + 1;
  }
}

// --- Sides of pins ----------------------------------------------------------------------------------------------------

static int channel_distance(const od_sheet *s, const od_pin *pin, int channel, bool with_turning) {
  int least = 1 << 20;
  for (int i = 0; i < s->pins; i++) {
    const od_pin *other = &s->pin[i];
    if (other == pin || other->net != pin->net || (other->may_turn && !with_turning)) continue;
    int distance = abs(od_pin_channel(s, other) - channel);
    if (distance < least) least = distance;
  }
  return least;
}

// Moves pins of pilots to the side that is nearer to the other pins of the net. The second pass also considers the
// positions of these pins.
static void turn_pins(od_sheet *s) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < s->pins; i++) {
      od_pin *pin = &s->pin[i];
      if (!pin->may_turn) continue;
      int row = s->cell[pin->cell].row;
      int up = channel_distance(s, pin, row, pass > 0), down = channel_distance(s, pin, row + 1, pass > 0);
      pin->side = up <= down ? OD_SIDE_TOP : OD_SIDE_BOTTOM;
    }
}

// --- Feedthroughs -----------------------------------------------------------------------------------------------------

// The ranges of channels of a net: of all pins, and of the pins with flow.
typedef struct net_span {
  int low, high, flow_low, flow_high;
} net_span;

static net_span span_of(const od_sheet *s, int net) {
  net_span span = {1 << 20, -1, 1 << 20, -1};
  for (int i = 0; i < s->pins; i++) {
    const od_pin *pin = &s->pin[i];
    if (pin->net != net || s->cell[pin->cell].is_feed) continue;
    int channel = od_pin_channel(s, pin);
    if (channel < span.low) span.low = channel;
    if (channel > span.high) span.high = channel;
    if (pin->is_dashed) continue;
    if (channel < span.flow_low) span.flow_low = channel;
    if (channel > span.flow_high) span.flow_high = channel;
  }
  return span;
}

static void add_feeds(od_sheet *s) {
  int lowest = 0;  // the last row of the cells in sections
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    if (c->section >= 0 && c->symbol->station != OD_STATION_SUPPLY && c->row > lowest) lowest = c->row;
  }
  for (int net = 0; net < s->graph->nets; net++) {
    net_span span = span_of(s, net);
    for (int row = span.low; row < span.high; row++) {
      bool is_dashed = s->graph->net[net].is_sense || row < span.flow_low || row >= span.flow_high;
      od_cell *c = add_cell(s, (od_cell){.part = -1,
                                         .net = net,
                                         .is_feed = true,
                                         .is_dashed = is_dashed,
                                         .section = row <= lowest ? s->graph->net[net].section : -1,
                                         .row = row,
                                         .order = -1,
                                         .width = 2 * OD_GRID,
                                         .above = net,
                                         .below = net,
                                         .twin = -1});
      if (!c) return;
      for (int side = 0; side < 2; side++)
        add_pin(s, c,
                (od_pin){.net = net,
                         .end = -1,
                         .x = OD_GRID,
                         .side = side ? OD_SIDE_BOTTOM : OD_SIDE_TOP,
                         .is_dashed = is_dashed});
    }
  }
}

// An element may be upended only if each of its two nets has pins of other elements above and below the row of the
// element. Otherwise upending would require other feedthroughs.
static void check_upending(od_sheet *s) {
  for (int i = 0; i < s->cells; i++) {
    od_cell *c = &s->cell[i];
    for (int side = 0; side < 2 && c->may_upend; side++) {
      int net = side ? c->below : c->above, low = 1 << 20, high = -1;
      for (int k = 0; k < s->pins; k++) {
        const od_pin *pin = &s->pin[k];
        if (pin->net != net || pin->cell == i || s->cell[pin->cell].is_feed) continue;
        int channel = od_pin_channel(s, pin);
        if (channel < low) low = channel;
        if (channel > high) high = channel;
      }
      if (!(low <= c->row && high >= c->row + 1)) c->may_upend = false;
    }
  }
}

void od_sheet_upend(od_sheet *s, od_cell *c) {
  int net = c->above;
  c->above = c->below, c->below = net;
  c->flows_down = !c->flows_down;
  od_pin *upper = NULL, *lower = NULL;
  for (int i = c->pin; i < c->pin + c->pins; i++) {
    if (s->pin[i].is_dashed || s->pin[i].may_turn) continue;
    if (s->pin[i].side == OD_SIDE_TOP) upper = &s->pin[i];
    if (s->pin[i].side == OD_SIDE_BOTTOM) lower = &s->pin[i];
  }
  if (upper && lower) {
    int end = upper->end;
    upper->net = c->above, lower->net = c->below;
    upper->end = lower->end, lower->end = end;
  }
  od_sheet_tie(s);
}

// --- Knots ------------------------------------------------------------------------------------------------------------

void od_sheet_tie(od_sheet *s) {
  int nets = s->graph->nets, *slot = s->scratch;  // slot: index of the knot of each net in the current channel; -1:
                                                  // none
  s->knots = 0;
  int used = 0;
  for (int channel = 0; channel <= s->rows; channel++) {
    s->channel_knot[channel] = s->knots;
    for (int i = 0; i < nets; i++) slot[i] = -1;
    for (int pass = 0; pass < 2; pass++) {
      for (int row = channel - 1; row <= channel; row++) {
        if (row < 0 || row >= s->rows) continue;
        for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
          const od_cell *c = &s->cell[s->order[k]];
          for (int i = c->pin; i < c->pin + c->pins; i++) {
            od_pin *pin = &s->pin[i];
            if (row + (pin->side == OD_SIDE_BOTTOM) != channel) continue;
            if (pass == 0) {
              if (slot[pin->net] < 0) {
                slot[pin->net] = s->knots;
                s->knot[s->knots++] = (od_knot){.net = pin->net, .channel = channel};
              }
              s->knot[slot[pin->net]].count++;
            } else {
              od_knot *knot = &s->knot[slot[pin->net]];
              pin->knot = slot[pin->net];
              s->knot_pin[knot->first + knot->count++] = i;
            }
          }
        }
      }
      if (pass == 0)
        for (int k = s->channel_knot[channel]; k < s->knots; k++) {
          s->knot[k].first = used;
          used += s->knot[k].count;
          s->knot[k].count = 0;
        }
    }
  }
  s->channel_knot[s->rows + 1] = s->knots;
}

// --- Order ------------------------------------------------------------------------------------------------------------

// Sorts the cells of a row by section and key; equal cells keep their order. Cells without a section come last.
static void sort_row(od_sheet *s, int row, const double *key) {
  for (int i = s->row_begin[row] + 1; i < s->row_begin[row + 1]; i++)
    for (int k = i; k > s->row_begin[row]; k--) {
      int a = s->order[k - 1], b = s->order[k];
      unsigned sa = (unsigned)s->cell[a].section, sb = (unsigned)s->cell[b].section;
      if (sa < sb || (sa == sb && key[a] <= key[b])) break;
      s->order[k - 1] = b, s->order[k] = a;
    }
}

// Returns whether the order that the file gives for cells a and b of a row contradicts their places. Cell a is left of
// cell b.
static bool is_misplaced(const od_cell *a, const od_cell *b) {
  return a->section == b->section && a->order >= 0 && b->order >= 0 && a->order > b->order;
}

bool od_sheet_keeps_orders(const od_sheet *s) {
  for (int row = 0; row < s->rows; row++)
    for (int i = s->row_begin[row]; i < s->row_begin[row + 1]; i++)
      for (int k = i + 1; k < s->row_begin[row + 1]; k++)
        if (is_misplaced(&s->cell[s->order[i]], &s->cell[s->order[k]])) return false;
  return true;
}

// Exchanges cells of a row until they have the order that the file gives.
static void keep_orders(od_sheet *s, int row) {
  for (int i = s->row_begin[row]; i < s->row_begin[row + 1]; i++)
    for (int k = i + 1; k < s->row_begin[row + 1]; k++) {
      int a = s->order[i], b = s->order[k];
      if (is_misplaced(&s->cell[a], &s->cell[b])) s->order[i] = b, s->order[k] = a;
    }
}

// Orders the cells of each row by the mean place of connected pins in neighboring rows.
static void order_rows(od_sheet *s, double *key) {
  for (int i = 0; i < s->cells; i++) key[i] = 0;
  for (int row = 0; row < s->rows; row++) {
    sort_row(s, row, key);
    keep_orders(s, row);
  }
  od_sheet_tie(s);
  od_sheet_place(s);
  for (int round = 0; round < 6; round++) {
    for (int row = 0; row < s->rows; row++) {
      for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
        const od_cell *c = &s->cell[s->order[k]];
        double sum = 0;
        int count = 0;
        for (int i = c->pin; i < c->pin + c->pins; i++) {
          const od_knot *knot = &s->knot[s->pin[i].knot];
          double mean = 0;
          int others = 0;
          for (int j = knot->first; j < knot->first + knot->count; j++) {
            const od_pin *other = &s->pin[s->knot_pin[j]];
            if (s->cell[other->cell].row == row) continue;
            mean += od_pin_x(s, other), others++;
          }
          if (others > 0) sum += mean / others, count++;
        }
        key[s->order[k]] = count > 0 ? sum / count : c->x + 0.5 * c->width;
      }
      sort_row(s, row, key);
      keep_orders(s, row);
    }
    od_sheet_place(s);
  }
}

// --- Twins ------------------------------------------------------------------------------------------------------------

// Returns the name of a cell within its section, or the name of its class if the cell is not part of the section's
// template.
static const char *local_name(const od_sheet *s, const od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  const char *name = part ? part->name : s->graph->net[c->net].name,
             *label = part ? part->label : s->graph->net[c->net].label;
  return label != name || !part ? label : part->class_name;
}

static bool same_cell(const od_sheet *s, const od_cell *a, const od_cell *b) {
  const char *x = local_name(s, a), *y = local_name(s, b);
  return a->row == b->row && a->symbol == b->symbol && a->is_feed == b->is_feed && a->pins == b->pins &&
         a->order == b->order && a->keeps_side == b->keeps_side &&
         (!a->keeps_side || a->is_mirrored == b->is_mirrored) && a->width == b->width && strcmp(x, y) == 0;
}

// Returns the index of the first cell of a section that is equal to cell c, or -1.
static int equal_cell(const od_sheet *s, const od_cell *c, int section) {
  for (int i = 0; i < s->cells; i++)
    if (s->cell[i].section == section && same_cell(s, c, &s->cell[i])) return i;
  return -1;
}

// Returns whether no two cells of a section are equal.
static bool is_unique(const od_sheet *s, int section) {
  for (int i = 0; i < s->cells; i++)
    if (s->cell[i].section == section && equal_cell(s, &s->cell[i], section) != i) return false;
  return true;
}

static void find_twins(od_sheet *s) {
  int sections = s->graph->sections;
  for (int a = 0; a < sections; a++) s->twin_of[a] = a;
  for (int i = 0; i < s->cells; i++) s->cell[i].twin = i;
  for (int b = 1; b < sections; b++)
    for (int a = 0; a < b && s->twin_of[b] == b; a++) {
      if (s->twin_of[a] != a) continue;
      int count = 0, equal = 0, other = 0;
      for (int i = 0; i < s->cells; i++) {
        if (s->cell[i].section == b) count++, equal += equal_cell(s, &s->cell[i], a) >= 0;
        if (s->cell[i].section == a) other++;
      }
      if (count == 0 || count != equal || count != other) continue;
      if (!s->graph->section[a].is_instance || !s->graph->section[b].is_instance || !is_unique(s, b)) continue;
      s->twin_of[b] = a;
      for (int i = 0; i < s->cells; i++)
        if (s->cell[i].section == b) s->cell[i].twin = equal_cell(s, &s->cell[i], a);
    }
}

// --- All --------------------------------------------------------------------------------------------------------------

static void fill_order(od_sheet *s) {
  int at = 0;
  for (int row = 0; row < s->rows; row++) {
    s->row_begin[row] = at;
    for (int i = 0; i < s->cells; i++)
      if (s->cell[i].row == row) s->order[at++] = i;
  }
  s->row_begin[s->rows] = at;
}

void od_sheet_make(od_sheet *s, od_graph *g, od_arena *arena) {
  int ends = 0, rows = g->rows + 1;
  for (int i = 0; i < g->parts; i++) ends += g->part[i].ends;
  *s = (od_sheet){.graph = g, .arena = arena};
  s->cell_room = g->parts + g->nets + g->nets * rows;
  s->pin_room = ends + g->nets + 2 * g->nets * rows;
  s->cell = OD_TAKE(arena, od_cell, s->cell_room);
  s->pin = OD_TAKE(arena, od_pin, s->pin_room);
  s->twin_of = OD_TAKE(arena, int, g->sections + 1);
  if (!s->cell || !s->pin || !s->twin_of) {
    s->failed = true;
    return;
  }
  add_parts(s);
  add_sources(s);
  s->rows = g->rows;
  remove_empty_rows(s);
  move_to_given_rows(s);
  remove_empty_rows(s);
  turn_pins(s);
  add_feeds(s);
  check_upending(s);
  s->order = OD_TAKE(arena, int, s->cells);
  s->row_begin = OD_TAKE(arena, int, s->rows + 1);
  s->pad = OD_TAKE(arena, int, s->cells);
  s->knot = OD_TAKE(arena, od_knot, s->pins + 1);
  s->knot_pin = OD_TAKE(arena, int, s->pins + 1);
  s->channel_knot = OD_TAKE(arena, int, s->rows + 2);
  s->row_y = OD_TAKE(arena, int, 4 * (s->rows + 2));
  s->segment_room = 4 * s->pins + s->cells;
  s->segment = OD_TAKE(arena, od_segment, s->segment_room);
  s->dot_room = s->pins + 1;
  s->dot = OD_TAKE(arena, od_dot, s->dot_room);
  s->wish = OD_TAKE(arena, double, 4 * (s->cells + 1));
  s->scratch = OD_TAKE(arena, int, 4 * (s->cells + s->pins + g->nets + g->sections + 4));
  s->route_cost = OD_TAKE_MATRIX(arena, int, g->nets + 1, g->nets + 1);
  double *key = OD_TAKE(arena, double, s->cells);
  if (!key || od_arena_status(arena) != OD_OK) s->failed = true;
  if (s->failed) return;
  s->row_height = s->row_y + s->rows + 2;
  s->channel_y = s->row_height + s->rows + 2;
  s->tracks = s->channel_y + s->rows + 2;
  fill_order(s);
  find_twins(s);
  order_rows(s, key);
}
