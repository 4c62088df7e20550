// Channels of nets and rows of parts.
//
// Rows of symbols and channels of lines alternate: channel i lies above row i. Actuators are in row 0, so their nets
// are in channel 1. If n elements in line are between a net and an actuator, the net is in channel 1 + n. All
// directional valves share a row below the work nets. The nets at their ports P, L and T are in the channel below this
// row. A supply net lies below all nets that it feeds through elements in line. Pumps and sources are in the last row.
#include "circuit/circuit_graph.h"

typedef struct levels {
  od_graph *g;
  int *level;  // level of each net; 0: not yet known
  int *queue;  // nets with a level, in the order of assignment; `head`: first net with unvisited neighbors
  int head, tail;
} levels;

// Returns whether the part is neither an actuator nor a directional valve nor a pump.
static bool is_inner(const od_part *part) {
  od_station at = part->symbol->station;
  return at != OD_STATION_ACTUATOR && at != OD_STATION_DIRECTIONAL && at != OD_STATION_SUPPLY;
}

// Returns whether oil passes through the end. This is the case for flow ends and sense ports.
static bool is_passage(const od_part_end *end) {
  return end->role == OD_END_FLOW || end->role == OD_END_SENSE;
}

static bool has_flow_at(const od_graph *g, const od_part *part, int net) {
  for (int k = 0; k < part->ends; k++)
    if (is_passage(&part->end[k]) && od_end_line(g, &part->end[k]) == net) return true;
  return false;
}

static void set_level(levels *l, int net, int level) {
  l->level[net] = level;
  l->queue[l->tail++] = net;
}

// Assigns levels, starting from the nets in the queue. A net that an inner part connects to a net of level n gets level
// n + 1 unless it already has a level. stop: supply nets and nets at ports P, L and T get no level.
static void spread(levels *l, bool stop) {
  od_graph *g = l->g;
  while (l->head < l->tail) {
    int net = l->queue[l->head++];
    for (int i = 0; i < g->parts; i++) {
      const od_part *part = &g->part[i];
      if (!is_inner(part) || !has_flow_at(g, part, net)) continue;
      for (int k = 0; k < part->ends; k++) {
        int other = is_passage(&part->end[k]) ? od_end_line(g, &part->end[k]) : -1;
        if (other < 0 || l->level[other] > 0 || (stop && (g->net[other].is_supply || g->net[other].is_feed))) continue;
        set_level(l, other, l->level[net] + 1);
      }
    }
  }
}

static int highest_level(const levels *l) {
  int most = 1;
  for (int i = 0; i < l->g->nets; i++)
    if (l->level[i] > most) most = l->level[i];
  return most;
}

// --- Rows -------------------------------------------------------------------------------------------------------------

// Returns whether a net has a flow or sense end of an inner part other than an accumulator.
static bool has_shunt(const od_graph *g, int net) {
  for (int i = 0; i < g->parts; i++)
    if (is_inner(&g->part[i]) && g->part[i].symbol->station != OD_STATION_ABOVE && has_flow_at(g, &g->part[i], net))
      return true;
  return false;
}

static bool has_neighbor_at(const levels *l, int net, int level) {
  const od_graph *g = l->g;
  for (int i = 0; i < g->parts; i++) {
    if (!is_inner(&g->part[i]) || !has_flow_at(g, &g->part[i], net)) continue;
    for (int k = 0; k < g->part[i].ends; k++) {
      int other = od_end_line(g, &g->part[i].end[k]);
      if (other >= 0 && l->level[other] == level) return true;
    }
  }
  return false;
}

// Returns the row of the directional valves: the row below all work nets. If a work net of level 1 has shunts but no
// neighbor of level 2, the valves are one row lower.
static int directional_row(const levels *l) {
  const od_graph *g = l->g;
  int row = 1;
  for (int i = 0; i < g->nets; i++) {
    if (!g->net[i].is_work) continue;
    int need = l->level[i];
    if (need == 1 && has_shunt(g, i) && !has_neighbor_at(l, i, 2)) need++;
    if (need > row) row = need;
  }
  return row;
}

static void set_directional_rows(levels *l) {
  od_graph *g = l->g;
  int row = directional_row(l);
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_DIRECTIONAL) continue;
    part->row = row;
    for (int k = 0; k < part->ends; k++) {
      int net = od_end_line(g, &part->end[k]);
      bool below = part->end[k].letter != OD_LETTER_A && part->end[k].letter != OD_LETTER_B;
      if (net >= 0 && below && l->level[net] == 0) set_level(l, net, row + 1);
    }
  }
  spread(l, false);
}

// Moves each supply net below all nets that the supply net feeds through elements in line.
static void lower_supplies(levels *l) {
  od_graph *g = l->g;
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < g->parts; i++) {
      const od_part *part = &g->part[i];
      od_station at = part->symbol->station;
      if (at != OD_STATION_LINE && at != OD_STATION_SPLIT) continue;
      int from = od_end_line(g, od_part_flow(part, 0));
      if (from < 0 || !g->net[from].is_supply) continue;
      for (int k = 1; k < part->ends; k++) {
        int to = part->end[k].role == OD_END_FLOW ? od_end_line(g, &part->end[k]) : -1;
        if (to < 0 || g->net[to].is_supply || g->net[to].is_chamber || g->net[to].is_work) continue;
        if (l->level[from] <= l->level[to]) l->level[from] = l->level[to] + 1;
      }
    }
}

// Return the least level among the lines of all flow and sense ends, and the largest level among the lines of ends
// first to last - 1; 0: these ends have no lines.
static int least_level(const levels *l, const od_part *part) {
  int least = 0;
  for (int k = 0; k < part->ends; k++) {
    int net = is_passage(&part->end[k]) ? od_end_line(l->g, &part->end[k]) : -1;
    if (net >= 0 && (least == 0 || l->level[net] < least)) least = l->level[net];
  }
  return least;
}
static int largest_level(const levels *l, const od_part *part, int first, int last) {
  int most = 0;
  for (int k = first; k < last && k < part->ends; k++) {
    int net = od_end_line(l->g, &part->end[k]);
    if (net >= 0 && l->level[net] > most) most = l->level[net];
  }
  return most;
}

static void set_inner_rows(levels *l) {
  od_graph *g = l->g;
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    int least = least_level(l, part), any = largest_level(l, part, 0, part->ends);
    switch (part->symbol->station) {
      case OD_STATION_ACTUATOR: part->row = 0; break;
      case OD_STATION_DIRECTIONAL: break;
      case OD_STATION_SUPPLY: part->row = -1; break;
      case OD_STATION_ABOVE: part->row = any > 0 ? any - 1 : 0; break;
      case OD_STATION_BELOW: part->row = any; break;
      case OD_STATION_MERGE: part->row = largest_level(l, part, 0, part->ends - 1); break;
      case OD_STATION_SPLIT: part->row = largest_level(l, part, 1, part->ends); break;
      case OD_STATION_LINE: part->row = least > 0 ? least : any; break;
    }
    if (part->row == 0 && part->symbol->station != OD_STATION_ACTUATOR && part->symbol->station != OD_STATION_ABOVE)
      part->row = any > 0 ? any : 1;
  }
}

// Returns the largest number of shuttles in series between a net and the sections, at most `limit`.
static int shuttle_depth(const od_graph *g, int net, int limit) {
  if (limit == 0) return 0;
  for (int i = 0; i < g->parts; i++) {
    const od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_MERGE || part->section >= 0) continue;
    if (net < 0 || part->ends < 3 || part->end[2].net != net) continue;
    int a = shuttle_depth(g, part->end[0].net, limit - 1), b = shuttle_depth(g, part->end[1].net, limit - 1);
    return 1 + (a > b ? a : b);
  }
  return 0;
}

// Puts shuttles between two sections or more below the sections: a shuttle after n other shuttles is n rows lower. The
// outlet of each shuttle is below the shuttle. An element that connects only a sense net is below this net.
static void lower_shuttles(levels *l) {
  od_graph *g = l->g;
  int low = 0;
  for (int i = 0; i < g->parts; i++)
    if (g->part[i].section >= 0 && g->part[i].row > low) low = g->part[i].row;
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_MERGE || part->ends < 3) continue;
    int a = shuttle_depth(g, part->end[0].net, g->parts), b = shuttle_depth(g, part->end[1].net, g->parts);
    if (g->sections > 1 && part->section < 0) part->row = low + (a > b ? a : b) + 1;
  }
  for (int i = 0; i < g->parts; i++) {
    const od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_MERGE || part->ends < 3) continue;
    int out = od_end_line(g, &part->end[part->ends - 1]);
    if (out >= 0 && l->level[out] < part->row + 1) l->level[out] = part->row + 1;
  }
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    int net = part->symbol->station == OD_STATION_LINE ? od_end_line(g, od_part_flow(part, 0)) : -1;
    if (net >= 0 && g->net[net].is_sense && od_part_lines(g, part) == 1) part->row = l->level[net];
  }
}

// Puts pumps into the last row. If an element joins two nets of the same level, the last row is below this element, so
// that the nets have a channel there.
static void set_supply_rows(levels *l) {
  od_graph *g = l->g;
  int last = highest_level(l);
  for (int i = 0; i < g->parts; i++) {
    const od_part *part = &g->part[i];
    if (part->row > last) last = part->row;
    if (part->symbol->station != OD_STATION_LINE) continue;
    int a = od_end_line(g, od_part_flow(part, 0)), b = od_end_line(g, od_part_flow(part, 1));
    if (a >= 0 && b >= 0 && l->level[a] == l->level[b] && part->row + 1 > last) last = part->row + 1;
  }
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    if (part->symbol->station == OD_STATION_SUPPLY) part->row = last;
  }
  g->rows = last + 1;
}

bool od_graph_find_levels(od_graph *g, od_arena *arena) {
  levels l = {.g = g, .level = OD_TAKE(arena, int, g->nets), .queue = OD_TAKE(arena, int, g->nets)};
  if (!l.level || !l.queue) return false;
  for (int i = 0; i < g->nets; i++)
    if (g->net[i].is_chamber) set_level(&l, i, 1);
  spread(&l, true);
  for (int i = 0; i < g->nets; i++)
    if (g->net[i].is_work && l.level[i] == 0) set_level(&l, i, 1);
  set_directional_rows(&l);
  for (int i = 0; i < g->nets; i++)
    if (g->net[i].is_used && !g->net[i].is_tank && l.level[i] == 0) {
      set_level(&l, i, highest_level(&l) + 1);
      spread(&l, false);
    }
  lower_supplies(&l);
  set_inner_rows(&l);
  lower_shuttles(&l);
  set_supply_rows(&l);
  for (int i = 0; i < g->nets; i++) g->net[i].level = l.level[i];
  return true;
}
