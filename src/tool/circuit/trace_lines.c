// Joins the segments of lines into pieces with one flow each.
//
// The lines of a net are a tree. Its root is the source of the net; without a source, a branching point; otherwise the
// pin of an actuator. The flow in a piece is the sum of the flows of all pins beyond the piece. The remainder at the
// root is the compression of the oil. The main pieces of a net join actuators, directional valves, pumps and sources; in
// a net with fewer than two of these, they also join elements that pass oil on to another net.
#include <string.h>

#include "circuit/sheet.h"

typedef struct vertex {
  int x, y;
  int edge;  // index of the first edge of the vertex, or -1
  int degree;
  bool is_pin, is_seen;
  int rank;                // rank of the pin, see rank_of(); 0: no pin
  const od_part_end *end;  // end of the part at a pin; NULL: no such end
} vertex;

typedef struct edge {
  int from, to;
  bool is_dashed;
} edge;

// The lines of one net as a tree.
typedef struct tree {
  od_sheet *s;
  int net;
  vertex *at;
  int vertices;
  edge *edge;
  int edges, edge_room, vertex_room;
  od_flow_term *term;  // terms of the subtree that is being traced
  int terms, term_room;
  int *path;  // vertices of the piece that is being traced
  // Main pieces join pins of at least this rank. joined: number of these pins; beyond: number of these pins in the subtree that
  // is being traced.
  int rank, joined, beyond;
} tree;

static int vertex_at(tree *t, int x, int y) {
  for (int i = 0; i < t->vertices; i++)
    if (t->at[i].x == x && t->at[i].y == y) return i;
  if (t->vertices == t->vertex_room) {
    t->s->failed = true;
    return 0;
  }
  t->at[t->vertices] = (vertex){.x = x, .y = y, .edge = -1};
  return t->vertices++;
}

static void add_edge(tree *t, int from, int to, bool is_dashed) {
  for (int i = 0; i < t->edges; i++)
    if ((t->edge[i].from == from && t->edge[i].to == to) || (t->edge[i].from == to && t->edge[i].to == from)) {
      t->edge[i].is_dashed = t->edge[i].is_dashed && is_dashed;
      return;
    }
  if (t->edges == t->edge_room) {
    t->s->failed = true;
    return;
  }
  t->edge[t->edges++] = (edge){from, to, is_dashed};
  t->at[from].degree++, t->at[to].degree++;
}

// Adds the edges of a segment between all vertices on the segment.
static void split_segment(tree *t, const od_segment *g) {
  int last = -1, first = vertex_at(t, g->x1, g->y1), end = vertex_at(t, g->x2, g->y2);
  for (last = first; last != end;) {
    int next = end, here = t->at[last].x + t->at[last].y, least = t->at[end].x + t->at[end].y;
    for (int i = 0; i < t->vertices; i++) {
      const vertex *v = &t->at[i];
      if (v->x < g->x1 || v->x > g->x2 || v->y < g->y1 || v->y > g->y2) continue;
      if (v->x + v->y > here && v->x + v->y < least) least = v->x + v->y, next = i;
    }
    add_edge(t, last, next, g->is_dashed);
    last = next;
  }
}

static void build_tree(tree *t) {
  od_sheet *s = t->s;
  for (int i = 0; i < s->segments; i++)
    if (s->segment[i].net == t->net) {
      vertex_at(t, s->segment[i].x1, s->segment[i].y1);
      vertex_at(t, s->segment[i].x2, s->segment[i].y2);
    }
  for (int i = 0; i < s->segments; i++)
    if (s->segment[i].net == t->net) split_segment(t, &s->segment[i]);
}

// Returns the rank of a pin: 2 for the flow ends of actuators, directional valves, pumps and sources, 1 for the flow ends of
// elements between two lines, 0 for all other ends (elements between a line and a tank, pilots).
static int rank_of(const od_sheet *s, const od_cell *c, const od_pin *p) {
  const od_part *part = od_cell_part(s, c);
  od_station station = c->symbol->station;
  if (!part) return 2;
  if (part->end[p->end].role != OD_END_FLOW) return 0;
  if (station == OD_STATION_ACTUATOR || station == OD_STATION_DIRECTIONAL || station == OD_STATION_SUPPLY) return 2;
  int flows = 0;
  for (int i = 0; i < part->ends; i++)
    flows += part->end[i].role == OD_END_FLOW && od_end_line(s->graph, &part->end[i]) >= 0;
  return flows > 1;
}

// Marks the pins. Returns the root: a source; without a source, the branching point with the most lines; otherwise the
// pin of an actuator, or the first pin.
static int find_root(tree *t) {
  od_sheet *s = t->s;
  int source = -1, actuator = -1, first = -1, branch = -1;
  for (int i = 0; i < s->pins; i++) {
    const od_pin *p = &s->pin[i];
    const od_cell *c = &s->cell[p->cell];
    if (p->net != t->net || c->is_feed) continue;
    int at = vertex_at(t, od_pin_x(s, p) + (c->is_mirrored ? -p->reach : p->reach), od_pin_y(s, p));
    t->at[at].is_pin = true;
    t->at[at].rank = rank_of(s, c, p);
    if (first < 0) first = at;
    if (c->part < 0)
      source = at;
    else {
      t->at[at].end = &od_cell_part(s, c)->end[p->end];
      if (actuator < 0 && c->symbol->station == OD_STATION_ACTUATOR) actuator = at;
    }
  }
  for (int i = 0; i < t->vertices; i++)
    if (t->at[i].degree > 2 && (branch < 0 || t->at[i].degree > t->at[branch].degree)) branch = i;
  return source >= 0 ? source : branch >= 0 ? branch : actuator >= 0 ? actuator : first;
}

// Adds a term; two terms of one output with opposite signs cancel.
static void add_term(tree *t, od_flow_term term) {
  for (int i = 0; i < t->terms; i++)
    if (t->term[i].output == term.output && t->term[i].sign == -term.sign) {
      t->term[i] = t->term[--t->terms];
      return;
    }
  if (t->terms == t->term_room) {
    t->s->failed = true;
    return;
  }
  t->term[t->terms++] = term;
}

// Stores a piece. The path leads from the subtree to the root. If all terms are negative, the direction of the piece is
// reversed.
static void add_piece(od_sheet *s, int net, int cell, bool is_dashed, bool is_main, int points, const int *xy,
                      int terms, const od_flow_term *term) {
  bool is_reversed = terms > 0;
  for (int i = 0; i < terms; i++) is_reversed = is_reversed && term[i].sign < 0;
  od_piece *list = od_arena_extend(s->arena, s->piece, s->pieces, sizeof *list);
  od_piece piece = {net,
                    is_dashed,
                    is_main,
                    cell,
                    points,
                    OD_TAKE(s->arena, int, 2 * points),
                    OD_TAKE(s->arena, od_flow_term, terms),
                    terms};
  if (!list || !piece.xy || !piece.term) {
    s->failed = true;
    return;
  }
  for (int i = 0; i < points; i++) {
    int from = is_reversed ? points - 1 - i : i;
    piece.xy[2 * i] = xy[2 * from], piece.xy[2 * i + 1] = xy[2 * from + 1];
  }
  for (int i = 0; i < terms; i++)
    piece.term[i] = (od_flow_term){term[i].output, is_reversed ? -term[i].sign : term[i].sign};
  s->piece = list;
  list[s->pieces++] = piece;
}

// Returns whether points a, b and c are on one straight line.
static bool is_straight(const vertex *a, const vertex *b, const vertex *c) {
  return (a->x == b->x && b->x == c->x) || (a->y == b->y && b->y == c->y);
}

// Adds the terms of all pins of the subtree that begins at a vertex, without the edge `via`, and counts the joined pins.
static void collect(tree *t, int at, int via) {
  t->beyond += t->at[at].rank >= t->rank;
  if (t->at[at].end)
    for (int i = 0; i < t->at[at].end->terms; i++) add_term(t, t->at[at].end->term[i]);
  t->at[at].is_seen = true;
  for (int i = 0; i < t->edges; i++) {
    if (i == via || (t->edge[i].from != at && t->edge[i].to != at)) continue;
    int next = t->edge[i].from == at ? t->edge[i].to : t->edge[i].from;
    if (!t->at[next].is_seen) collect(t, next, i);
  }
  t->at[at].is_seen = false;
}

// Traces the pieces beyond a vertex, away from the root.
static void trace(tree *t, int at, int via) {
  od_sheet *s = t->s;
  t->at[at].is_seen = true;
  for (int first = 0; first < t->edges; first++) {
    if (first == via || (t->edge[first].from != at && t->edge[first].to != at)) continue;
    int count = 0, last = at, used = first, next = t->edge[first].from == at ? t->edge[first].to : t->edge[first].from;
    if (t->at[next].is_seen) continue;
    bool is_dashed = t->edge[first].is_dashed;
    t->path[count++] = at;
    // Follow the line to the next pin, branching point, or change between dashed and solid.
    for (;;) {
      t->path[count++] = next;
      if (t->at[next].is_pin || t->at[next].degree != 2) break;
      int following = -1;
      for (int i = 0; i < t->edges && following < 0; i++)
        if (i != used && (t->edge[i].from == next || t->edge[i].to == next)) following = i;
      if (following < 0 || t->edge[following].is_dashed != is_dashed) break;
      last = next, used = following;
      next = t->edge[used].from == last ? t->edge[used].to : t->edge[used].from;
      if (t->at[next].is_seen) break;
    }
    int *xy = OD_TAKE(s->arena, int, 2 * count), points = 0;
    if (!xy) {
      s->failed = true;
      return;
    }
    for (int i = count - 1; i >= 0; i--) {  // points from the subtree to the root, without points in the middle of
                                            // straight lines
      if (i > 0 && i < count - 1 && is_straight(&t->at[t->path[i - 1]], &t->at[t->path[i]], &t->at[t->path[i + 1]]))
        continue;
      xy[2 * points] = t->at[t->path[i]].x, xy[2 * points++ + 1] = t->at[t->path[i]].y;
    }
    t->terms = t->beyond = 0;
    collect(t, next, used);
    bool is_main = !is_dashed && t->beyond > 0 && t->beyond < t->joined;
    add_piece(s, t->net, -1, is_dashed, is_main, points, xy, t->terms, t->term);
    trace(t, next, used);
  }
  t->at[at].is_seen = false;
}

static void trace_net(int net, tree *t) {
  t->net = net, t->vertices = t->edges = 0;
  build_tree(t);
  int root = t->vertices > 0 ? find_root(t) : -1;
  t->rank = 3, t->joined = 0;
  while (t->rank > 1 && t->joined < 2) {
    t->rank--, t->joined = 0;
    for (int i = 0; i < t->vertices; i++) t->joined += t->at[i].rank >= t->rank;
  }
  if (root >= 0) trace(t, root, -1);
}

// Adds the lines from pins to tank symbols. Positive flow leads into the tank.
static void trace_stubs(od_sheet *s) {
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    for (int k = 0; k < c->stubs; k++) {
      const od_tank_stub *stub = &c->stub[k];
      const od_part_end *end = &od_cell_part(s, c)->end[stub->end];
      int x = c->x + (c->is_mirrored ? c->width - stub->x : stub->x), y = c->y + stub->y;
      int from = x + (c->is_mirrored ? -stub->reach : stub->reach);
      int xy[6] = {from, y, x, y, x, y + stub->length};
      bool bent = from != x;
      add_piece(s, end->net, i, stub->is_dashed, false, bent ? 3 : 2, bent ? xy : xy + 2, end->terms, end->term);
    }
  }
}

void od_sheet_trace(od_sheet *s) {
  int terms = 1;
  for (int i = 0; i < s->graph->parts; i++)
    for (int k = 0; k < s->graph->part[i].ends; k++) terms += s->graph->part[i].end[k].terms;
  tree t = {.s = s,
            .vertex_room = 2 * s->segments + s->pins + 2,
            .edge_room = 6 * s->segments + s->pins + 2,
            .term_room = terms};
  t.at = OD_TAKE(s->arena, vertex, t.vertex_room);
  t.edge = OD_TAKE(s->arena, edge, t.edge_room);
  t.term = OD_TAKE(s->arena, od_flow_term, t.term_room);
  t.path = OD_TAKE(s->arena, int, t.vertex_room + 1);
  if (!t.at || !t.edge || !t.term || !t.path) {
    s->failed = true;
    return;
  }
  s->piece = NULL, s->pieces = 0;
  for (int net = 0; net < s->graph->nets; net++) trace_net(net, &t);
  trace_stubs(s);
}
