// Kinds of nets: supplies, chambers, work nets, pressure signals; and their colors.
#include "circuit/circuit_graph.h"

static void mark_supplies_and_chambers(od_graph *g) {
  for (int i = 0; i < g->nets; i++) g->net[i].is_supply = g->net[i].kind == OD_NODE_SOURCE;
  for (int i = 0; i < g->parts; i++) {
    const od_part *part = &g->part[i];
    od_station at = part->symbol->station;
    for (int k = 0; k < part->ends; k++) {
      int net = od_end_line(g, &part->end[k]);
      if (net < 0) continue;
      if (at == OD_STATION_ACTUATOR) g->net[net].is_chamber = true;
      if (at == OD_STATION_DIRECTIONAL && (part->end[k].letter == OD_LETTER_A || part->end[k].letter == OD_LETTER_B))
        g->net[net].is_work = true;
      if (at == OD_STATION_DIRECTIONAL && (part->end[k].letter == OD_LETTER_P || part->end[k].letter == OD_LETTER_L ||
                                           part->end[k].letter == OD_LETTER_T))
        g->net[net].is_feed = true;
    }
    // The outlet of a pump is its last flow end.
    if (at == OD_STATION_SUPPLY)
      for (int k = part->ends - 1; k >= 0; k--)
        if (part->end[k].role == OD_END_FLOW) {
          int net = od_end_line(g, &part->end[k]);
          if (net >= 0) g->net[net].is_supply = true;
          break;
        }
  }
}

// Clears is_supply of pump nets that are at actuators: these nets are the lines of a closed circuit.
static void mark_closed_circuits(od_graph *g) {
  for (int i = 0; i < g->parts; i++) {
    const od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_SUPPLY) continue;
    for (int k = 0; k < part->ends; k++) {
      int net = od_end_line(g, &part->end[k]);
      if (net >= 0 && g->net[net].is_chamber) g->net[net].is_supply = false;
    }
  }
}

// Marks the sense nets. A sense net has at least one pilot, sense port or shuttle. All its other elements are
// restrictions.
static void mark_sense(od_graph *g) {
  for (int net = 0; net < g->nets; net++) {
    bool signal = false, flow = false;
    for (int i = 0; i < g->parts; i++) {
      const od_part *part = &g->part[i];
      bool shuttle = part->symbol->glyph == &od_glyph_shuttle;
      bool narrow = part->symbol->kind == OD_SYMBOL_ORIFICE || part->symbol->kind == OD_SYMBOL_THROTTLE ||
                    part->symbol->kind == OD_SYMBOL_LEAK;
      for (int k = 0; k < part->ends; k++) {
        if (od_end_line(g, &part->end[k]) != net) continue;
        bool pilot = part->end[k].role == OD_END_PILOT || part->end[k].role == OD_END_SENSE;
        bool brake = part->symbol->station == OD_STATION_ACTUATOR;
        bool sense = part->end[k].letter == OD_LETTER_L;
        if ((pilot && !brake) || shuttle) signal = true;
        if (!pilot && !shuttle && !narrow && !sense) flow = true;
        if (brake) flow = true;
      }
    }
    g->net[net].is_sense = signal && !flow && g->net[net].kind != OD_NODE_SOURCE;
  }
}

// Marks the work nets of the second side: nets that are only at second chambers of actuators or, without an actuator,
// only at ports B.
static void mark_sides(od_graph *g) {
  enum { CHAMBER_1 = 1, CHAMBER_2 = 2, PORT_A = 4, PORT_B = 8 };
  for (int net = 0; net < g->nets; net++) {
    unsigned seen = 0;
    for (int i = 0; i < g->parts; i++) {
      const od_part *part = &g->part[i];
      for (int k = 0; k < part->ends; k++) {
        const od_part_end *end = &part->end[k];
        if (od_end_line(g, end) != net) continue;
        if (part->symbol->station == OD_STATION_ACTUATOR && end->role == OD_END_FLOW)
          seen |= end == od_part_flow(part, 1) ? CHAMBER_2 : CHAMBER_1;
        if (end->letter == OD_LETTER_A) seen |= PORT_A;
        if (end->letter == OD_LETTER_B) seen |= PORT_B;
      }
    }
    unsigned chambers = seen & (CHAMBER_1 | CHAMBER_2);
    g->net[net].is_second = chambers ? chambers == CHAMBER_2 : seen == PORT_B;
  }
}

static void choose_colors(od_graph *g) {
  for (int i = 0; i < g->nets; i++) {
    od_net *net = &g->net[i];
    net->color = net->is_tank                      ? OD_NET_TANK
                 : net->is_sense                   ? OD_NET_SENSE
                 : net->is_supply                  ? OD_NET_SUPPLY
                 : net->is_second                  ? OD_NET_LOOP_B
                 : net->is_work || net->is_chamber ? OD_NET_WORK
                                                   : OD_NET_FEED;
  }
  for (int i = 0; i < g->parts; i++) {
    const od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_SUPPLY) continue;
    int a = od_end_line(g, od_part_flow(part, 0)), b = od_end_line(g, od_part_flow(part, 1));
    if (a < 0 || b < 0 || a == b || !g->net[a].is_chamber || !g->net[b].is_chamber) continue;
    g->net[b].color = OD_NET_LOOP_A, g->net[a].color = OD_NET_LOOP_B;
  }
}

void od_graph_mark_nets(od_graph *g) {
  mark_supplies_and_chambers(g);
  mark_closed_circuits(g);
  mark_sense(g);
  mark_sides(g);
  choose_colors(g);
}
