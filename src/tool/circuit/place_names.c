// Places names of nets beside their lines, frames around sections, and enclosures around parallel elements.
#include <math.h>
#include <string.h>

#include "circuit/pen.h"
#include "circuit/place_names.h"

// --- Marks ------------------------------------------------------------------------------------------------------------

// Draws all cells without writing SVG, to collect the covered rectangles and the outputs in use.
static void collect_marks(od_sheet *s, int **outputs, int *count) {
  od_pen pen = {.sheet = s, .arena = s->arena};
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    if (c->is_feed) continue;
    pen.cell = c;
    c->symbol->glyph->draw(s, c, &pen);
    for (int k = 0; k < c->stubs; k++) {
      const od_tank_stub *t = &c->stub[k];
      od_pen_tank(&pen, t->x, t->y + t->length);
      od_pen_line(&pen, "ink", t->x, t->y, t->x, t->y + t->length);
    }
  }
  s->mark = pen.mark, s->marks = pen.marks;
  *outputs = pen.output, *count = pen.outputs;
}

// --- Names ------------------------------------------------------------------------------------------------------------

enum { NAME_SIZE = OD_LABEL_SIZE, VALUE_ROOM = OD_VALUE_ROOM, MOST_NET_NAME = 18, REPEAT_DISTANCE = 900 };
// Room of a name above and below its baseline, and distance of the baseline of a name below a line, px. The room also
// suffices for texts of 12 px, the largest on pages, and for lines of 5 px, which show large flows.
static const double ascent = 9, descent = 2.5, under = 13;

static bool overlaps(double a0, double a1, double b0, double b1) {
  return a0 < b1 && b0 < a1;
}

// Returns the cost of the overlaps of a rectangle: 10 for each symbol, text or name, 1 for each line, frame border or
// dot.
static int count_hits(const od_sheet *s, double left, double top, double right, double bottom) {
  int hits = 0;
  for (int i = 0; i < s->marks; i++) {
    const od_mark *m = &s->mark[i];
    if (overlaps(left, right, m->left - 1, m->right + 1) && overlaps(top, bottom, m->top - 1, m->bottom + 1))
      hits += 10;
  }
  for (int i = 0; i < s->names; i++) {
    const od_node_name *n = &s->name[i];
    if (overlaps(left, right, n->x - 1, n->x + n->width + n->value_width + 1) &&
        overlaps(top, bottom, n->y - ascent, n->y + descent))
      hits += 10;
  }
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    if (overlaps(left, right, g->x1 - 1.5, g->x2 + 1.5) && overlaps(top, bottom, g->y1 - 1.5, g->y2 + 1.5)) hits++;
  }
  for (int i = 0; i < s->frames; i++) {  // names must not overlap the borders of frames
    const od_frame *f = &s->frame[i];
    bool inside_x = left > f->x && right<f->x + f->width, inside_y = top> f->y && bottom < f->y + f->height;
    bool meets = overlaps(left, right, f->x, f->x + f->width) && overlaps(top, bottom, f->y, f->y + f->height);
    if (meets && !(inside_x && inside_y)) hits++;
  }
  for (int i = 0; i < s->dots; i++)
    if (overlaps(left, right, s->dot[i].x - 3, s->dot[i].x + 3) &&
        overlaps(top, bottom, s->dot[i].y - 3, s->dot[i].y + 3))
      hits++;
  return hits;
}

// The best place so far for a name.
typedef struct choice {
  double x, y, cost;
  int hits, piece;  // piece: index of the piece beside the name; -1: none
  bool is_right;
  bool has_main;              // whether the net has main pieces
  const od_node_name *first;  // for a net with two names: the first name, which must be far away; NULL: none
} choice;

// Returns the number of lines of other nets in a rectangle around a name. Such lines make the name ambiguous.
static int count_neighbors(const od_sheet *s, int net, double left, double top, double right, double bottom) {
  int count = 0;
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    if (g->net != net && overlaps(left, right, g->x1, g->x2 + 0.1) && overlaps(top, bottom, g->y1, g->y2 + 0.1))
      count++;
  }
  return count;
}

// Returns the closeness of a name to symbols and texts: 0 at distances of APART or more, 1 at a symbol. A name close to
// a symbol looks like the label of the symbol.
static double nearness(const od_sheet *s, double left, double top, double right, double bottom) {
  enum { APART = 14 };
  double most = 0;
  for (int i = 0; i < s->marks; i++) {
    const od_mark *m = &s->mark[i];
    double dx = fmax(m->left - right, left - m->right), dy = fmax(m->top - bottom, top - m->bottom);
    most = fmax(most, 1 - fmax(fmax(dx, dy), 0) / APART);
  }
  return most;
}

// Returns the distance of a point from a horizontal or vertical line between two points.
static double distance_to(const int *a, const int *b, double x, double y) {
  double dx = fmax(fmax(fmin(a[0], b[0]) - x, x - fmax(a[0], b[0])), 0);
  double dy = fmax(fmax(fmin(a[1], b[1]) - y, y - fmax(a[1], b[1])), 0);
  return hypot(dx, dy);
}

// Returns the index of the piece of a net nearest to a point, main pieces first among equals; -1: none.
static int piece_at(const od_sheet *s, int net, double x, double y) {
  int nearest = -1;
  double least = INFINITY;
  for (int i = 0; i < s->pieces; i++) {
    const od_piece *p = &s->piece[i];
    if (p->net != net || p->cell >= 0) continue;
    for (int k = 0; k + 1 < p->points; k++) {
      double distance = distance_to(&p->xy[2 * k], &p->xy[2 * k + 2], x, y);
      if (distance > least || (distance == least && !p->is_main)) continue;
      nearest = i, least = distance;
    }
  }
  return nearest;
}

static bool has_main_pieces(const od_sheet *s, int net) {
  for (int i = 0; i < s->pieces; i++)
    if (s->piece[i].net == net && s->piece[i].is_main) return true;
  return false;
}

// Considers a place beside a segment. A place beside a branch of a net with main pieces costs more: the pressure and the
// flow that follow the name on a page would look like the pressure and flow of the branch.
static void consider(const od_sheet *s, choice *best, const od_segment *g, double x, double y, double width,
                     double cost, bool is_right) {
  enum { NEAR = 6, NEIGHBOR_COST = 2, MARK_COST = 24, BRANCH_COST = 30 };
  int net = g->net;
  if (best->first) {
    double distance = hypot(x - best->first->x, y - best->first->y);
    if (distance < REPEAT_DISTANCE) return;
    cost -= 0.02 * distance;
  }
  if (best->hits == 0 && best->cost <= cost) return;
  int piece = piece_at(s, net, fmin(fmax(x + width / 2, g->x1), g->x2), fmin(fmax(y - ascent / 2, g->y1), g->y2));
  cost += NEIGHBOR_COST * count_neighbors(s, net, x - NEAR, y - ascent - NEAR, x + width + NEAR, y + descent + NEAR);
  double near = nearness(s, x, y - ascent, x + width, y + descent);
  if (best->first && near > 0.4) return;  // a second name must be far from symbols and texts
  cost += MARK_COST * near;
  if (best->has_main && !(piece >= 0 && s->piece[piece].is_main)) cost += BRANCH_COST;
  int hits = count_hits(s, x - 1, y - ascent, x + width + 1, y + descent);
  if (hits < best->hits || (hits == best->hits && cost < best->cost))
    *best = (choice){x, y, cost, hits, piece, is_right, best->has_main, best->first};
}

// Considers the places right and left of a vertical segment at height y.
static void consider_beside(const od_sheet *s, choice *best, const od_segment *g, double y, double width, double cost) {
  consider(s, best, g, g->x1 + 5, y, width, cost, false);
  consider(s, best, g, g->x1 - 5 - width, y, width, cost + 0.5, true);
}

// Considers places along a segment: above and below a horizontal segment, right and left of a vertical segment.
static void consider_segment(const od_sheet *s, choice *best, const od_segment *g, double width) {
  static const double share[] = {0.02, 0.5, 0.98, 0.25, 0.75, 0.12, 0.88};
  // Distance at which lines are neighbors, px; gain in cost of a name at the height of a neighboring name.
  enum { STEPS = 16, NEIGHBOR = 40, ALIGNED = 20 };
  int count = sizeof share / sizeof *share;
  if (g->y1 == g->y2 && g->x2 - g->x1 >= 0.5 * width)
    for (int i = 0; i < count; i++) {
      double x = g->x1 + 3 + share[i] * fmax(g->x2 - g->x1 - width - 6, 0), cost = i - 0.02 * (g->x2 - g->x1);
      consider(s, best, g, x, g->y1 - 3.5, width, cost, share[i] > 0.9);
      consider(s, best, g, x, g->y1 + under, width, cost + 0.5, share[i] > 0.9);
    }
  // A name may extend beyond one end of a short line.
  if (g->y1 == g->y2 && g->x2 - g->x1 < width + 6 && g->x2 - g->x1 >= 0.5 * width)
    for (int below = 0; below < 2; below++) {
      double y = below ? g->y1 + under : g->y1 - 3.5;
      consider(s, best, g, g->x2 - 3 - width, y, width, 4 + 0.5 * below, true);
    }
  double length = g->y2 - g->y1;
  if (g->x1 == g->x2 && length >= 10) {
    for (int i = 0; i <= STEPS; i++)
      consider_beside(s, best, g, g->y1 + 9 + i * fmax(length - 12, 0) / STEPS, width,
                      20 + 6 * fabs((double)i / STEPS - 0.5) - 0.02 * length);
    // Names of neighboring lines are at the same height if possible: A left of its line, B right of its line.
    for (int i = 0; i < s->names; i++) {
      const od_node_name *n = &s->name[i];
      bool is_near = n->x < g->x1 + NEIGHBOR && n->x + n->width + n->value_width > g->x1 - NEIGHBOR;
      if (is_near && n->y >= g->y1 + 9 && n->y <= g->y2 - 3)
        consider_beside(s, best, g, n->y, width, 20 - ALIGNED - 0.02 * length);
    }
  }
}

// Returns whether a segment is inside the frame of a section.
static bool is_in_frame(const od_sheet *s, const od_segment *g, int section) {
  for (int i = 0; i < s->frames; i++) {
    const od_frame *f = &s->frame[i];
    if (f->section == section)
      return f->x <= g->x1 && g->x2 <= f->x + f->width && f->y <= g->y1 && g->y2 <= f->y + f->height;
  }
  return false;
}

static const choice no_choice = {.cost = INFINITY, .hits = 1 << 20, .piece = -1};

// Considers all places of a net's name. A name without the name of the section is placed only inside the frame of the
// section. is_full: whether the name contains the name of the section.
static void consider_net(const od_sheet *s, choice *best, int net, bool is_full, double room) {
  for (int i = 0; i < s->segments; i++)
    if (s->segment[i].net == net && (is_full || is_in_frame(s, &s->segment[i], s->graph->net[net].section)))
      consider_segment(s, best, &s->segment[i], room + VALUE_ROOM);
}

// Places the name of a net at the symbol of its source. Returns false if the net has no source.
static bool name_source(od_sheet *s, int net) {
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    if (c->part >= 0 || c->is_feed || c->net != net || c->labels == 0) continue;
    double width = od_text_width(c->label[0], NAME_SIZE, true) + 3;
    double x = c->is_mirrored ? c->x + c->width - c->label_x - width - VALUE_ROOM : c->x + c->label_x;
    s->name[s->names++] =
        (od_node_name){net, c->label[0], x, c->y + OD_SOURCE_NAME_Y, width, VALUE_ROOM, c->is_mirrored, true, -1};
    return true;
  }
  return false;
}

// Places the name of a net. A name without the name of the section must be inside the frame of the section.
static void name_net(od_sheet *s, int net) {
  const od_net *n = &s->graph->net[net];
  choice best = no_choice;
  const char *text = NULL;
  double width = 0;
  bool has_full = true;
  if (name_source(s, net)) return;
  for (int is_full = n->label == n->name; is_full < 2 && best.hits > 0; is_full++) {
    const char *shown = od_text_shortened(is_full ? n->name : n->label, MOST_NET_NAME, s->arena);
    if (!shown) {
      s->failed = true;
      return;
    }
    double room = od_text_width(shown, NAME_SIZE, true) + 3;
    choice other = no_choice;
    other.has_main = has_main_pieces(s, net);
    consider_net(s, &other, net, is_full, room);
    if (other.hits < best.hits) best = other, text = shown, width = room, has_full = is_full;
  }
  if (!text) return;
  const od_node_name *first = &s->name[s->names];
  s->name[s->names++] =
      (od_node_name){net, text, best.x, best.y, width, VALUE_ROOM, best.is_right, best.hits == 0, best.piece};
  // A long net shows its name twice.
  best = no_choice, best.has_main = has_main_pieces(s, net), best.first = first;
  consider_net(s, &best, net, has_full, width);
  if (best.hits == 0)
    s->name[s->names++] = (od_node_name){net, text, best.x, best.y, width, VALUE_ROOM, best.is_right, true, best.piece};
}

// --- Frames -----------------------------------------------------------------------------------------------------------

enum { FRAME_SIDE = 8, FRAME_HEAD = 22, FRAME_FOOT = 6 };

static bool in_frame(const od_sheet *s, const od_cell *c, int section) {
  return c->section == section && !c->is_feed && (c->symbol->station != OD_STATION_SUPPLY || s->graph->sections < 2);
}

// Returns whether there are frames, and no frame overlaps another frame or a cell of another section.
static bool frames_are_apart(const od_sheet *s) {
  for (int i = 0; i < s->frames; i++) {
    const od_frame *f = &s->frame[i];
    for (int k = 0; k < i; k++)
      if (overlaps(f->x, f->x + f->width, s->frame[k].x, s->frame[k].x + s->frame[k].width)) return false;
    for (int k = 0; k < s->cells; k++) {
      const od_cell *c = &s->cell[k];
      if (c->is_feed || in_frame(s, c, f->section)) continue;
      if (overlaps(f->x, f->x + f->width, c->x, c->x + c->width) &&
          overlaps(f->y, f->y + f->height, c->y, c->y + c->height))
        return false;
    }
  }
  return s->frames > 0;
}

// Creates frames around the sections that are template instances. Creates no frame if two frames would overlap, or a
// frame and a cell of another section.
static void frame_sections(od_sheet *s) {
  int sections = s->graph->sections;
  s->frame = OD_TAKE(s->arena, od_frame, sections + 1);
  if (!s->frame) {
    s->failed = true;
    return;
  }
  for (int k = 0; k < sections; k++) {
    if (!s->graph->section[k].is_instance) continue;
    int left = 1 << 28, right = -(1 << 28), top = 1 << 28, bottom = -(1 << 28);
    for (int i = 0; i < s->cells; i++) {
      const od_cell *c = &s->cell[i];
      if (!in_frame(s, c, k)) continue;
      if (c->x < left) left = c->x;
      if (c->x + c->width > right) right = c->x + c->width;
      if (c->y < top) top = c->y;
      if (c->y + c->height > bottom) bottom = c->y + c->height;
    }
    if (left > right) continue;
    for (int i = 0; i < s->cells; i++) {
      const od_cell *c = &s->cell[i];
      if (!c->is_feed || c->section != k || c->y >= bottom) continue;
      if (c->x < left) left = c->x;
      if (c->x + c->width > right) right = c->x + c->width;
    }
    const char *title = od_text_shortened(s->graph->section[k].name, 30, s->arena);
    if (!title) {
      s->failed = true;
      return;
    }
    s->frame[s->frames++] = (od_frame){k,
                                       title,
                                       left - FRAME_SIDE,
                                       top - FRAME_HEAD,
                                       right - left + 2 * FRAME_SIDE,
                                       bottom - top + FRAME_HEAD + FRAME_FOOT};
  }
  if (!frames_are_apart(s)) s->frames = 0;
  int top = 1 << 28;
  for (int i = 0; i < s->frames; i++)
    if (s->frame[i].y < top) top = s->frame[i].y;
  for (int i = 0; i < s->frames; i++) {
    od_frame *f = &s->frame[i];
    f->height += f->y - top, f->y = top;
    od_mark *list = od_arena_extend(s->arena, s->mark, s->marks, sizeof *list);
    if (!list) {
      s->failed = true;
      return;
    }
    s->mark = list;
    list[s->marks++] =
        (od_mark){f->x + 10, f->y + 8, f->x + 10 + od_text_width(f->title, 11, true), f->y + 18, -1, f->title};
  }
}

// Creates enclosures around neighboring parallel elements: a pressure valve or restriction, and a check valve.
static void enclose_partners(od_sheet *s) {
  s->enclosure = OD_TAKE(s->arena, od_frame, s->cells + 1);
  if (!s->enclosure) {
    s->failed = true;
    return;
  }
  for (int row = 0; row < s->rows; row++)
    for (int i = 0; i < od_row_count(s, row); i++) {
      int k = od_sheet_partner(s, row, i);
      if (k < 0 || (k != i - 1 && k != i + 1)) continue;
      const od_cell *a = &s->cell[s->order[s->row_begin[row] + (i < k ? i : k)]];
      const od_cell *b = &s->cell[s->order[s->row_begin[row] + (i < k ? k : i)]];
      int height = a->height > b->height ? a->height : b->height;
      s->enclosure[s->enclosures++] = (od_frame){-1, NULL, a->x - 3, a->y + 1, b->x + b->width - a->x + 6, height - 2};
    }
}

void od_sheet_finish(od_sheet *s, int **outputs, int *count) {
  collect_marks(s, outputs, count);
  frame_sections(s);
  enclose_partners(s);
  s->name = OD_TAKE(s->arena, od_node_name, 2 * s->graph->nets + 1);
  if (!s->name || od_arena_status(s->arena) != OD_OK) {
    s->failed = true;
    return;
  }
  for (int net = 0; net < s->graph->nets; net++) name_net(s, net);
}
