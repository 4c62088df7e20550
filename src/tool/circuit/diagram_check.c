// Counts flaws of a laid-out diagram.
#include "circuit/diagram_check.h"

#include <math.h>

#include "memory/scoped.h"

const char *od_flaw_name(od_flaw flaw) {
  static const char *const names[OD_FLAWS] = {"ends",
                                              "connection",
                                              "dangling lines",
                                              "dots",
                                              "touching nets",
                                              "overlapping cells",
                                              "lines through cells",
                                              "text outside cell",
                                              "overlapping texts",
                                              "names",
                                              "frames"};
  return names[flaw];
}

// --- Geometry ---------------------------------------------------------------------------------------------------------

// Returns whether a point is on a segment, ends included.
static bool is_on(const od_segment *g, int x, int y) {
  return g->x1 <= x && x <= g->x2 && g->y1 <= y && y <= g->y2;
}

static bool is_end(const od_segment *g, int x, int y) {
  return (g->x1 == x && g->y1 == y) || (g->x2 == x && g->y2 == y);
}

static bool meet(const od_segment *a, const od_segment *b) {
  return a->x1 <= b->x2 && b->x1 <= a->x2 && a->y1 <= b->y2 && b->y1 <= a->y2;
}

// Returns the x of the point where the line of a pin meets the symbol.
static int symbol_x(const od_sheet *s, const od_pin *p) {
  return od_pin_x(s, p) + (s->cell[p->cell].is_mirrored ? -p->reach : p->reach);
}

static bool is_shown(const od_sheet *s, const od_pin *p) {
  return !s->cell[p->cell].is_feed;
}

static int pins_of(const od_sheet *s, int net) {
  int count = 0;
  for (int i = 0; i < s->pins; i++) count += s->pin[i].net == net && is_shown(s, &s->pin[i]);
  return count;
}

// --- Nets -------------------------------------------------------------------------------------------------------------

static int count_ends(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    const od_part *part = od_cell_part(s, c);
    for (int k = 0; part && k < part->ends; k++) {
      int net = od_end_line(s->graph, &part->end[k]), right = 0, wrong = 0;
      for (int p = 0; p < s->pins; p++) {
        if (s->pin[p].cell != i || s->pin[p].end != k) continue;
        if (s->pin[p].net == net)
          right++;
        else
          wrong++;
      }
      flaws += wrong + (net >= 0 ? right != 1 : right);
    }
  }
  for (int i = 0; i < s->graph->parts; i++) {  // every part has exactly one cell
    int cells = 0;
    for (int k = 0; k < s->cells; k++) cells += s->cell[k].part == i;
    flaws += cells != 1;
  }
  return flaws;
}

static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static int count_connections(const od_sheet *s) {
  OD_SCRATCH(scratch);
  int *parent = OD_TAKE(&scratch, int, s->segments), flaws = 0;
  if (!parent) return -1;
  for (int i = 0; i < s->segments; i++) parent[i] = i;
  for (int i = 0; i < s->segments; i++)
    for (int k = 0; k < i; k++)
      if (s->segment[i].net == s->segment[k].net && meet(&s->segment[i], &s->segment[k]))
        parent[root_of(parent, i)] = root_of(parent, k);
  for (int net = 0; net < s->graph->nets; net++) {
    int first = -1;
    if (pins_of(s, net) < 2) continue;
    for (int i = 0; i < s->pins; i++) {
      const od_pin *p = &s->pin[i];
      if (p->net != net || !is_shown(s, p)) continue;
      int at = -1;
      for (int k = 0; k < s->segments && at < 0; k++)
        if (s->segment[k].net == net && is_on(&s->segment[k], symbol_x(s, p), od_pin_y(s, p))) at = root_of(parent, k);
      if (first < 0) first = at;
      flaws += at < 0 || at != first;
    }
  }
  return flaws;
}

static int count_dangling(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->segments; i++)
    for (int end = 0; end < 2; end++) {
      const od_segment *g = &s->segment[i];
      int x = end ? g->x2 : g->x1, y = end ? g->y2 : g->y1;
      bool held = pins_of(s, g->net) == 1;  // the line of a net with one pin ends in a dot
      for (int k = 0; k < s->pins && !held; k++)
        held = s->pin[k].net == g->net && is_shown(s, &s->pin[k]) && symbol_x(s, &s->pin[k]) == x &&
               od_pin_y(s, &s->pin[k]) == y;
      for (int k = 0; k < s->segments && !held; k++)
        held = k != i && s->segment[k].net == g->net && is_on(&s->segment[k], x, y);
      flaws += !held;
    }
  return flaws;
}

// Returns the number of directions, 0 to 4, in which lines of a net leave a point.
static int branches_at(const od_sheet *s, int net, int x, int y) {
  bool left = false, right = false, up = false, down = false;
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    if (g->net != net || !is_on(g, x, y)) continue;
    left = left || g->x1 < x, right = right || g->x2 > x, up = up || g->y1 < y, down = down || g->y2 > y;
  }
  return left + right + up + down;
}

static int count_dots(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->dots; i++) {
    const od_dot *d = &s->dot[i];
    flaws += branches_at(s, d->net, d->x, d->y) < 3 && pins_of(s, d->net) > 1;
  }
  for (int i = 0; i < s->segments; i++)
    for (int end = 0; end < 2; end++) {
      const od_segment *g = &s->segment[i];
      int x = end ? g->x2 : g->x1, y = end ? g->y2 : g->y1;
      bool dotted = branches_at(s, g->net, x, y) < 3;
      for (int k = 0; k < s->dots && !dotted; k++)
        dotted = s->dot[k].net == g->net && s->dot[k].x == x && s->dot[k].y == y;
      flaws += !dotted;
    }
  return flaws;
}

static int count_touches(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->segments; i++)
    for (int k = 0; k < i; k++) {
      const od_segment *a = &s->segment[i], *b = &s->segment[k];
      if (a->net == b->net || !meet(a, b)) continue;
      bool parallel = (a->x1 == a->x2) == (b->x1 == b->x2);
      int x = a->x1 == a->x2 ? a->x1 : b->x1, y = a->y1 == a->y2 ? a->y1 : b->y1;
      flaws += parallel || is_end(a, x, y) || is_end(b, x, y);
    }
  return flaws;
}

// --- Cells ------------------------------------------------------------------------------------------------------------

static int count_overlapping_cells(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->cells; i++)
    for (int k = 0; k < i; k++) {
      const od_cell *a = &s->cell[i], *b = &s->cell[k];
      if (a->is_feed && b->is_feed) continue;
      flaws += a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
    }
  return flaws;
}

// Returns whether a segment leads to a pin of a cell: a vertical segment in the column of the pin, on the side of the
// pin, or the horizontal segment between the pin and the symbol.
static bool leads_to_pin(const od_sheet *s, const od_cell *c, const od_segment *g) {
  for (int i = c->pin; i < c->pin + c->pins; i++) {
    const od_pin *p = &s->pin[i];
    int x = od_pin_x(s, p), y = od_pin_y(s, p), reach = symbol_x(s, p);
    if (p->net != g->net) continue;
    if (g->x1 == g->x2 && g->x1 == x && (p->side == OD_SIDE_TOP ? g->y2 <= y : g->y1 >= y)) return true;
    if (g->y1 == g->y2 && g->y1 == y && g->x1 == (x < reach ? x : reach) && g->x2 == (x < reach ? reach : x))
      return true;
  }
  return false;
}

static int count_lines_through_cells(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    if (c->is_feed) continue;
    for (int k = 0; k < s->segments; k++) {
      const od_segment *g = &s->segment[k];
      bool inside = g->x1 < c->x + c->width && c->x < g->x2 + (g->x1 == g->x2) && g->y1 < c->y + c->height &&
                    c->y < g->y2 + (g->y1 == g->y2);
      flaws += inside && !leads_to_pin(s, c, g);
    }
  }
  return flaws;
}

// --- Texts ------------------------------------------------------------------------------------------------------------

static int count_texts_outside(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->marks; i++) {
    const od_mark *m = &s->mark[i];
    if (!m->text || m->cell < 0) continue;
    const od_cell *c = &s->cell[m->cell];
    flaws += m->left < c->x - 0.5 || m->right > c->x + c->width + 0.5 || m->top < c->y - 0.5 ||
             m->bottom > c->y + c->height + 0.5;
  }
  return flaws;
}

static bool covers(const od_mark *m, double left, double top, double right, double bottom) {
  return m->left < right && left < m->right && m->top < bottom && top < m->bottom;
}

static int count_overlapping_texts(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->marks; i++) {
    const od_mark *m = &s->mark[i];
    if (!m->text) continue;
    for (int k = 0; k < i; k++) {
      const od_mark *o = &s->mark[k];
      flaws += o->text && covers(m, o->left, o->top, o->right, o->bottom);
    }
    for (int k = 0; k < s->segments; k++) {
      const od_segment *g = &s->segment[k];
      flaws += covers(m, g->x1 - 1, g->y1 - 1, g->x2 + 1, g->y2 + 1);
    }
  }
  return flaws;
}

// Returns whether the space of a name is free of marks, lines, dots and other names.
static bool is_free(const od_sheet *s, int name) {
  const od_node_name *n = &s->name[name];
  od_mark room = {n->x, n->y - 7, n->x + n->width + n->value_width, n->y + 2, -1, n->text};
  for (int i = 0; i < s->marks; i++)
    if (covers(&room, s->mark[i].left, s->mark[i].top, s->mark[i].right, s->mark[i].bottom)) return false;
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    if (covers(&room, g->x1 - 1, g->y1 - 1, g->x2 + 1, g->y2 + 1)) return false;
  }
  for (int i = 0; i < s->dots; i++)
    if (covers(&room, s->dot[i].x - 3, s->dot[i].y - 3, s->dot[i].x + 3, s->dot[i].y + 3)) return false;
  for (int i = 0; i < s->names; i++) {
    const od_node_name *o = &s->name[i];
    if (i != name && covers(&room, o->x, o->y - 7, o->x + o->width + o->value_width, o->y + 2)) return false;
  }
  return true;
}

static int count_names(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->names; i++) flaws += !is_free(s, i);
  for (int net = 0; net < s->graph->nets; net++) {
    int names = 0;
    for (int i = 0; i < s->names; i++) names += s->name[i].net == net;
    flaws += pins_of(s, net) > 0 ? names < 1 || names > 2 : names > 0;
  }
  return flaws;
}

static int count_frames(const od_sheet *s) {
  int flaws = 0;
  for (int i = 0; i < s->frames; i++) {
    const od_frame *f = &s->frame[i];
    for (int k = 0; k < i; k++) {
      const od_frame *o = &s->frame[k];
      flaws += f->x < o->x + o->width && o->x < f->x + f->width && f->y < o->y + o->height && o->y < f->y + f->height;
    }
    for (int k = 0; k < s->cells; k++) {
      const od_cell *c = &s->cell[k];
      if (c->is_feed || c->section == f->section) continue;
      flaws += c->x < f->x + f->width && f->x < c->x + c->width && c->y < f->y + f->height && f->y < c->y + c->height;
    }
  }
  return flaws;
}

int od_sheet_flaws(const od_sheet *s, od_flaw flaw) {
  switch (flaw) {
    case OD_FLAW_ENDS: return count_ends(s);
    case OD_FLAW_CONNECTION: return count_connections(s);
    case OD_FLAW_DANGLING: return count_dangling(s);
    case OD_FLAW_DOTS: return count_dots(s);
    case OD_FLAW_TOUCH: return count_touches(s);
    case OD_FLAW_CELLS: return count_overlapping_cells(s);
    case OD_FLAW_THROUGH: return count_lines_through_cells(s);
    case OD_FLAW_TEXT_OUTSIDE: return count_texts_outside(s);
    case OD_FLAW_TEXT_OVERLAP: return count_overlapping_texts(s);
    case OD_FLAW_NAMES: return count_names(s);
    case OD_FLAW_FRAMES: return count_frames(s);
    case OD_FLAWS: break;
  }
  return 0;
}

int od_sheet_crossings(const od_sheet *s) {
  int count = 0;
  for (int i = 0; i < s->segments; i++)
    for (int k = 0; k < i; k++) {
      const od_segment *a = &s->segment[i], *b = &s->segment[k];
      bool across = (a->x1 == a->x2) != (b->x1 == b->x2);
      count += a->net != b->net && across && meet(a, b);
    }
  return count;
}
