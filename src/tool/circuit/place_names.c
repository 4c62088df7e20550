// Places names of nets beside their lines, frames around sections, and enclosures around parallel elements.
#include <math.h>
#include <string.h>

#include "circuit/pen.h"
#include "circuit/place_names.h"

// --- Marks ------------------------------------------------------------------------------------------------------------

// Draws all cells without output, to collect what they cover and which outputs they use.
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

enum { NAME_SIZE = OD_NAME_SIZE, VALUE_ROOM = 38, MOST_NET_NAME = 18 };

static bool overlaps(double a0, double a1, double b0, double b1) {
  return a0 < b1 && b0 < a1;
}

// Returns the number of things that a rectangle overlaps; symbols and texts count 10.
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
        overlaps(top, bottom, n->y - 7.5, n->y + 2.5))
      hits += 10;
  }
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    if (overlaps(left, right, g->x1 - 1.5, g->x2 + 1.5) && overlaps(top, bottom, g->y1 - 1.5, g->y2 + 1.5)) hits++;
  }
  for (int i = 0; i < s->frames; i++) {  // names do not lie on borders
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

// The best place of a name so far.
typedef struct choice {
  double x, y, cost;
  int hits;
  bool is_right;
} choice;

// Returns the number of lines of other nets beside a name, which make the name ambiguous.
static int count_neighbors(const od_sheet *s, int net, double left, double top, double right, double bottom) {
  int count = 0;
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    if (g->net != net && overlaps(left, right, g->x1, g->x2 + 0.1) && overlaps(top, bottom, g->y1, g->y2 + 0.1))
      count++;
  }
  return count;
}

static void consider(const od_sheet *s, choice *best, int net, double x, double y, double width, double cost,
                     bool is_right) {
  enum { NEAR = 6, NEIGHBOR_COST = 2 };
  if (best->hits == 0 && best->cost <= cost) return;
  cost += NEIGHBOR_COST * count_neighbors(s, net, x - NEAR, y - 7.5 - NEAR, x + width + NEAR, y + 2.5 + NEAR);
  int hits = count_hits(s, x - 1, y - 7.5, x + width + 1, y + 2.5);
  if (hits < best->hits || (hits == best->hits && cost < best->cost)) *best = (choice){x, y, cost, hits, is_right};
}

// Considers places along a segment: above and below a horizontal one, right and left of a vertical one.
static void consider_segment(const od_sheet *s, choice *best, const od_segment *g, double width) {
  static const double share[] = {0.02, 0.5, 0.98, 0.25, 0.75, 0.12, 0.88};
  int count = sizeof share / sizeof *share;
  if (g->y1 == g->y2 && g->x2 - g->x1 >= 0.5 * width)
    for (int i = 0; i < count; i++) {
      double x = g->x1 + 3 + share[i] * fmax(g->x2 - g->x1 - width - 6, 0), cost = i - 0.02 * (g->x2 - g->x1);
      consider(s, best, g->net, x, g->y1 - 3.5, width, cost, share[i] > 0.9);
      consider(s, best, g->net, x, g->y1 + 10, width, cost + 0.5, share[i] > 0.9);
    }
  if (g->x1 == g->x2 && g->y2 - g->y1 >= 10)
    for (int i = 0; i < count; i++) {
      double y = g->y1 + 9 + share[i] * fmax(g->y2 - g->y1 - 12, 0), cost = 20 + i - 0.02 * (g->y2 - g->y1);
      consider(s, best, g->net, g->x1 + 5, y, width, cost, false);
      consider(s, best, g->net, g->x1 - 5 - width, y, width, cost + 0.5, true);
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

// Names a net. A name without the name of the section must be inside the frame of the section.
static void name_net(od_sheet *s, int net) {
  const od_net *n = &s->graph->net[net];
  choice best = {0, 0, INFINITY, 1 << 20, false};
  const char *text = NULL;
  double width = 0;
  for (int is_full = n->label == n->name; is_full < 2 && best.hits > 0; is_full++) {
    const char *shown = od_text_shortened(is_full ? n->name : n->label, MOST_NET_NAME, s->arena);
    if (!shown) {
      s->failed = true;
      return;
    }
    double room = od_text_width(shown, NAME_SIZE, false) + 3;
    choice other = {0, 0, INFINITY, 1 << 20, false};
    for (int i = 0; i < s->segments; i++)
      if (s->segment[i].net == net && (is_full || is_in_frame(s, &s->segment[i], n->section)))
        consider_segment(s, &other, &s->segment[i], room + VALUE_ROOM);
    if (other.hits < best.hits) best = other, text = shown, width = room;
  }
  if (text)
    s->name[s->names++] = (od_node_name){net, text, best.x, best.y, width, VALUE_ROOM, best.is_right, best.hits == 0};
}

// --- Frames -----------------------------------------------------------------------------------------------------------

enum { FRAME_SIDE = 8, FRAME_HEAD = 22, FRAME_FOOT = 6 };

static bool in_frame(const od_sheet *s, const od_cell *c, int section) {
  return c->section == section && !c->is_feed && (c->symbol->station != OD_STATION_SUPPLY || s->graph->sections < 2);
}

// Returns whether frames are apart from each other and from cells of other sections.
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

// Frames sections if there are several, or one template instance.
static void frame_sections(od_sheet *s) {
  int sections = s->graph->sections;
  s->frame = OD_TAKE(s->arena, od_frame, sections + 1);
  if (!s->frame) {
    s->failed = true;
    return;
  }
  bool has_titles = false;
  for (int k = 0; k < sections; k++) {
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
    // Other sections have the name of their actuator, which its symbol shows.
    bool is_instance = s->graph->section[k].is_instance;
    const char *title = is_instance ? od_text_shortened(s->graph->section[k].name, 30, s->arena) : NULL;
    has_titles = has_titles || title;
    s->frame[s->frames++] = (od_frame){k,
                                       title,
                                       left - FRAME_SIDE,
                                       top - FRAME_HEAD,
                                       right - left + 2 * FRAME_SIDE,
                                       bottom - top + FRAME_HEAD + FRAME_FOOT};
  }
  if ((s->frames == 1 && !s->graph->section[s->frame[0].section].is_instance) || !frames_are_apart(s)) s->frames = 0;
  int top = 1 << 28;
  for (int i = 0; i < s->frames; i++)
    if (s->frame[i].y < top) top = s->frame[i].y;
  for (int i = 0; i < s->frames; i++) {
    od_frame *f = &s->frame[i];
    f->height += f->y - top, f->y = top;
    if (!has_titles) f->y += FRAME_HEAD - FRAME_FOOT, f->height -= FRAME_HEAD - FRAME_FOOT;
    if (!f->title) continue;
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

// Encloses neighbors that are parallel: a pressure valve or restriction with a check valve.
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
  s->name = OD_TAKE(s->arena, od_node_name, s->graph->nets + 1);
  if (!s->name || od_arena_status(s->arena) != OD_OK) {
    s->failed = true;
    return;
  }
  for (int net = 0; net < s->graph->nets; net++) name_net(s, net);
}
