// Routes lines through the channels between rows. A knot is the set of pins of a net in a channel. A knot has one
// horizontal track, or no track if its pins are aligned. The cost of knot i above knot j is the number of crossings
// that this order causes. If a line from i down and a line from j up share a column, i must not be above j. Knots are
// reordered greedily; knots with disjoint ranges share a track.
#include <stdlib.h>

#include "circuit/sheet.h"

enum { FORBIDDEN = 1000, SAME_COLUMN = 4, TRACK_GAP = 9 };

static bool is_from_above(const od_pin *p) {
  return p->side == OD_SIDE_BOTTOM;
}

// Returns the cost of knot a above knot b.
static int order_cost(const od_sheet *s, const od_knot *a, const od_knot *b) {
  int cost = 0;
  for (int i = a->first; i < a->first + a->count; i++) {
    const od_pin *p = &s->pin[s->knot_pin[i]];
    if (is_from_above(p)) continue;
    int x = od_pin_x(s, p);
    if (b->low <= x && x <= b->high) cost++;
    for (int k = b->first; k < b->first + b->count; k++) {
      const od_pin *q = &s->pin[s->knot_pin[k]];
      if (is_from_above(q) && abs(od_pin_x(s, q) - x) < SAME_COLUMN) cost += FORBIDDEN;
    }
  }
  for (int k = b->first; k < b->first + b->count; k++) {
    const od_pin *q = &s->pin[s->knot_pin[k]];
    int x = od_pin_x(s, q);
    if (is_from_above(q) && a->low <= x && x <= a->high) cost++;
  }
  return cost;
}

// Returns the number of pins below the channel minus the number of pins above.
static int lean(const od_sheet *s, const od_knot *k) {
  int sum = 0;
  for (int i = k->first; i < k->first + k->count; i++) sum += is_from_above(&s->pin[s->knot_pin[i]]) ? -1 : 1;
  return sum;
}

// Reorders `order` by moving single knots, as long as the sum of the costs decreases. cost[a * count + b] is the cost
// of knot a above knot b.
static void improve_order(int *order, int count, const int *cost) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < count; i++) {
      int best = 0, place = i, a = order[i];
      for (int k = i + 1, delta = 0; k < count; k++) {
        delta += cost[order[k] * count + a] - cost[a * count + order[k]];
        if (delta < best) best = delta, place = k;
      }
      for (int k = i - 1, delta = 0; k >= 0; k--) {
        delta += cost[a * count + order[k]] - cost[order[k] * count + a];
        if (delta < best) best = delta, place = k;
      }
      if (place == i) continue;
      for (int k = i; k < place; k++) order[k] = order[k + 1];
      for (int k = i; k > place; k--) order[k] = order[k - 1];
      order[place] = a;
      changed = true;
    }
  }
}

// Assigns tracks to the knots of a channel. Returns the number of tracks.
static int assign_tracks(od_sheet *s, int channel) {
  int begin = s->channel_knot[channel], all = s->channel_knot[channel + 1] - begin, count = 0, tracks = 0;
  int *item = s->scratch, *order = item + all, *cost = s->route_cost;
  for (int k = begin; k < begin + all; k++) {
    od_knot *knot = &s->knot[k];
    bool above = false, below = false;
    knot->low = 1 << 28, knot->high = -(1 << 28), knot->track = -1;
    for (int i = knot->first; i < knot->first + knot->count; i++) {
      const od_pin *p = &s->pin[s->knot_pin[i]];
      int x = od_pin_x(s, p);
      if (x < knot->low) knot->low = x;
      if (x > knot->high) knot->high = x;
      if (is_from_above(p))
        above = true;
      else
        below = true;
    }
    bool is_straight = knot->low == knot->high && (knot->count == 1 || (above && below));
    if (!is_straight) item[count++] = k;
  }
  for (int i = 0; i < count; i++) {
    order[i] = i;
    for (int k = 0; k < count; k++)
      cost[i * count + k] = i == k ? 0 : order_cost(s, &s->knot[item[i]], &s->knot[item[k]]);
  }
  for (int i = 1; i < count; i++)
    for (int k = i; k > 0; k--) {
      const od_knot *a = &s->knot[item[order[k - 1]]], *b = &s->knot[item[order[k]]];
      int la = lean(s, a), lb = lean(s, b);
      if (la < lb || (la == lb && a->low <= b->low)) break;
      int other = order[k];
      order[k] = order[k - 1], order[k - 1] = other;
    }
  improve_order(order, count, cost);
  for (int i = 0; i < count; i++) {
    od_knot *a = &s->knot[item[order[i]]];
    a->track = 0;
    for (int k = 0; k < i; k++) {
      const od_knot *b = &s->knot[item[order[k]]];
      if (a->low <= b->high + TRACK_GAP && b->low <= a->high + TRACK_GAP && b->track + 1 > a->track)
        a->track = b->track + 1;
    }
    if (a->track + 1 > tracks) tracks = a->track + 1;
  }
  return tracks;
}

// --- Places -----------------------------------------------------------------------------------------------------------

enum { VALVE_ROOM = 10, FLOW_ROOM = 14, FRAME_ROOM = 8 };

// Returns whether a row has directional valves.
static bool has_valves(const od_sheet *s, int row) {
  for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
    const od_cell *c = &s->cell[s->order[k]];
    if (!c->is_feed && c->symbol->station == OD_STATION_DIRECTIONAL) return true;
  }
  return false;
}

// Returns whether a row has symbols in frames: parts of template instances.
static bool has_framed(const od_sheet *s, int row) {
  for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
    const od_cell *c = &s->cell[s->order[k]];
    if (!c->is_feed && c->section >= 0 && s->graph->section[c->section].is_instance) return true;
  }
  return false;
}

static void place_rows(od_sheet *s) {
  int y = s->top;
  for (int row = 0; row < s->rows; row++) {
    if (row > 0 && has_framed(s, row - 1) && !has_framed(s, row)) y += FRAME_ROOM;
    s->channel_y[row] = y;
    // Space for the names of lines. Below another row, tank symbols and labels may be beside the lines; there is also
    // space for the flows that pages show below the names.
    if (row > 0 && has_valves(s, row)) y += row > 1 ? VALVE_ROOM + FLOW_ROOM : VALVE_ROOM;
    if (row > 0 || s->tracks[0] > 0) y += (s->tracks[row] + 1) * OD_TRACK + (s->tracks[row] > 0 ? 4 : 6);
    int height = 2 * OD_GRID;
    for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
      const od_cell *c = &s->cell[s->order[k]];
      if (!c->is_feed && c->height > height) height = c->height;
    }
    s->row_y[row] = y, s->row_height[row] = height;
    for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
      od_cell *c = &s->cell[s->order[k]];
      if (c->is_feed) c->height = height;
      c->y = row == 0 ? y + height - c->height : y;
    }
    y += height;
  }
  s->channel_y[s->rows] = y;
  if (s->tracks[s->rows] > 0) y += (s->tracks[s->rows] + 1) * OD_TRACK;
  s->height = y;
}

// --- Segments ---------------------------------------------------------------------------------------------------------

static void add_segment(od_sheet *s, int net, int x1, int y1, int x2, int y2, bool is_dashed) {
  if (x1 == x2 && y1 == y2) return;
  if (s->segments == s->segment_room) {
    s->failed = true;
    return;
  }
  s->segment[s->segments++] = (od_segment){net,
                                           x1 < x2 ? x1 : x2,
                                           y1 < y2 ? y1 : y2,
                                           x1 < x2 ? x2 : x1,
                                           y1 < y2 ? y2 : y1,
                                           is_dashed || s->graph->net[net].is_sense};
}

static void add_dot(od_sheet *s, int net, int x, int y) {
  if (s->dots < s->dot_room) s->dot[s->dots++] = (od_dot){net, x, y};
}

// Draws a knot without a track: one vertical line. If the knot has only one pin, the line ends in a dot.
static void draw_straight(od_sheet *s, const od_knot *k) {
  int low = 1 << 28, high = -(1 << 28);
  bool is_dashed = false;
  for (int i = k->first; i < k->first + k->count; i++) {
    const od_pin *p = &s->pin[s->knot_pin[i]];
    int y = od_pin_y(s, p);
    if (y < low) low = y;
    if (y > high) high = y;
    is_dashed = is_dashed || p->is_dashed;
  }
  if (k->count == 1) {
    const od_pin *p = &s->pin[s->knot_pin[k->first]];
    int edge = is_from_above(p) ? s->channel_y[k->channel] + 8 : s->row_y[k->channel] - 8;
    add_dot(s, k->net, k->low, edge);
    if (edge < low) low = edge;
    if (edge > high) high = edge;
  }
  add_segment(s, k->net, k->low, low, k->low, high, is_dashed);
}

// Draws the track of a knot and the lines to its pins. Beyond the outermost pins with flow, the track is dashed.
static void draw_track(od_sheet *s, const od_knot *k) {
  int y = s->channel_y[k->channel] + (k->track + 1) * OD_TRACK;
  int low = 1 << 28, high = -(1 << 28);
  for (int i = k->first; i < k->first + k->count; i++) {
    const od_pin *p = &s->pin[s->knot_pin[i]];
    int x = od_pin_x(s, p);
    if (p->is_dashed) continue;
    if (x < low) low = x;
    if (x > high) high = x;
  }
  if (low > high)
    add_segment(s, k->net, k->low, y, k->high, y, true);
  else {
    add_segment(s, k->net, k->low, y, low, y, true);
    add_segment(s, k->net, low, y, high, y, false);
    add_segment(s, k->net, high, y, k->high, y, true);
  }
  for (int i = k->first; i < k->first + k->count; i++) {
    const od_pin *p = &s->pin[s->knot_pin[i]];
    int x = od_pin_x(s, p), ends = (x > k->low) + (x < k->high);
    bool is_first = true;
    for (int j = k->first; j < k->first + k->count; j++) {
      const od_pin *q = &s->pin[s->knot_pin[j]];
      if (od_pin_x(s, q) != x) continue;
      ends++;
      if (j < i) is_first = false;
    }
    add_segment(s, k->net, x, y, x, od_pin_y(s, p), p->is_dashed);
    if (ends >= 3 && is_first) add_dot(s, k->net, x, y);
  }
}

void od_sheet_route(od_sheet *s) {
  for (int channel = 0; channel <= s->rows; channel++) s->tracks[channel] = assign_tracks(s, channel);
  place_rows(s);
  s->segments = s->dots = 0;
  for (int k = 0; k < s->knots; k++)
    if (s->knot[k].track < 0)
      draw_straight(s, &s->knot[k]);
    else
      draw_track(s, &s->knot[k]);
  for (int i = 0; i < s->pins; i++) {
    const od_pin *p = &s->pin[i];
    const od_cell *c = &s->cell[p->cell];
    int x = od_pin_x(s, p), y = od_pin_y(s, p);
    if (p->reach != 0) add_segment(s, p->net, x, y, x + (c->is_mirrored ? -p->reach : p->reach), y, p->is_dashed);
    if (c->is_feed && p->side == OD_SIDE_TOP) add_segment(s, p->net, x, c->y, x, c->y + c->height, c->is_dashed);
  }
}

void od_sheet_count(od_sheet *s) {
  s->crossings = s->overlaps = 0;
  for (int i = 0; i < s->segments; i++) {
    const od_segment *a = &s->segment[i];
    for (int k = i + 1; k < s->segments; k++) {
      const od_segment *b = &s->segment[k];
      if (a->net == b->net) continue;
      if (a->x1 > b->x2 + 3 || b->x1 > a->x2 + 3 || a->y1 > b->y2 + 3 || b->y1 > a->y2 + 3) continue;
      bool is_flat = a->y1 == a->y2, other_flat = b->y1 == b->y2;
      if (is_flat != other_flat) {
        const od_segment *h = is_flat ? a : b, *v = is_flat ? b : a;
        if (h->x1 - 1 <= v->x1 && v->x1 <= h->x2 + 1 && v->y1 - 1 <= h->y1 && h->y1 <= v->y2 + 1) s->crossings++;
      } else if (is_flat ? (a->x1 < b->x2 && b->x1 < a->x2) : (a->y1 < b->y2 && b->y1 < a->y2))
        s->overlaps++;
    }
  }
}
