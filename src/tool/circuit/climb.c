// Improves a sheet by hill climbing: swaps, moves, mirroring, upending and additional space, in a fixed sequence. Each
// trial is placed and routed completely, and is kept if its cost is lower.
#include <string.h>

#include "circuit/sheet.h"

// The limit of the number of trials decreases with the size of the sheet, so that the search takes less than half a
// second for usual machines.
enum { PASSES = 8, RESTARTS = 4, TRIALS = 500, TRIAL_CELLS = 30000 };

// A state of the sheet: the variables that the search changes.
typedef struct state {
  int *order, *pad;
  bool *is_mirrored, *flows_down;
} state;

typedef struct search {
  od_sheet *s;
  state kept;
  double cost;
  int trials, most;  // number of trials, and its limit
} search;

int od_sheet_partner(const od_sheet *s, int row, int place) {
  const od_cell *a = &s->cell[s->order[s->row_begin[row] + place]];
  if (a->part < 0 || a->above < 0 || a->below < 0) return -1;
  if (a->symbol->glyph != &od_glyph_pressure_valve && a->symbol->glyph != &od_glyph_restriction) return -1;
  for (int i = 0; i < od_row_count(s, row); i++) {
    const od_cell *b = &s->cell[s->order[s->row_begin[row] + i]];
    if (b->part >= 0 && b->symbol->glyph == &od_glyph_check && b->above == a->above && b->below == a->below &&
        b->flows_down != a->flows_down)
      return i;
  }
  return -1;
}

// Returns the part of the cost that does not depend on lines: cells without a section between cells of sections,
// overlaps, separated parallel elements, mirroring.
static double arrangement_cost(const od_sheet *s) {
  double cost = 0;
  for (int row = 0; row < s->rows; row++) {
    int begin = s->row_begin[row], count = od_row_count(s, row), last_section = -1;
    bool has_valves = false;
    for (int i = 0; i < count; i++) {
      const od_cell *c = &s->cell[s->order[begin + i]];
      if (c->section >= 0) last_section = i;
      if (c->part >= 0 && (c->symbol->station == OD_STATION_DIRECTIONAL || c->symbol->glyph == &od_glyph_cylinder))
        has_valves = true;
    }
    bool after_section = false;
    for (int i = 0; i < count; i++) {
      const od_cell *c = &s->cell[s->order[begin + i]];
      if (c->section >= 0) after_section = true;
      if (has_valves && c->section < 0 && !c->is_feed && after_section && i < last_section) cost += 50;
      if (i + 1 < count && s->cell[s->order[begin + i + 1]].x < c->x + c->width) cost += 5000;
      int partner = od_sheet_partner(s, row, i);
      if (partner >= 0 && partner != i - 1 && partner != i + 1) cost += 25;
      if (!c->is_feed && c->is_mirrored) {
        cost += 3;
        if (c->part >= 0 && (c->symbol->station == OD_STATION_DIRECTIONAL || c->symbol->glyph == &od_glyph_cylinder))
          cost += 15;
      }
    }
  }
  return cost;
}

static double cost_of(od_sheet *s) {
  double length = 0;
  int flat = 0;
  od_sheet_place(s);
  od_sheet_route(s);
  od_sheet_count(s);
  for (int i = 0; i < s->segments; i++) {
    const od_segment *g = &s->segment[i];
    length += g->x2 - g->x1 + g->y2 - g->y1;
    flat += g->y1 == g->y2;
  }
  return arrangement_cost(s) + 3000.0 * s->overlaps + 60.0 * s->crossings + 0.1 * length + 6.0 * flat + 0.3 * s->width;
}

static void keep(search *h) {
  const od_sheet *s = h->s;
  memcpy(h->kept.order, s->order, (size_t)s->cells * sizeof *s->order);
  memcpy(h->kept.pad, s->pad, (size_t)s->cells * sizeof *s->pad);
  for (int i = 0; i < s->cells; i++) {
    h->kept.is_mirrored[i] = s->cell[i].is_mirrored;
    h->kept.flows_down[i] = s->cell[i].flows_down;
  }
}

static void restore(search *h) {
  od_sheet *s = h->s;
  memcpy(s->order, h->kept.order, (size_t)s->cells * sizeof *s->order);
  memcpy(s->pad, h->kept.pad, (size_t)s->cells * sizeof *s->pad);
  for (int i = 0; i < s->cells; i++) {
    s->cell[i].is_mirrored = h->kept.is_mirrored[i];
    if (s->cell[i].flows_down != h->kept.flows_down[i]) od_sheet_upend(s, &s->cell[i]);
  }
}

// Copies order, mirroring and spacing of the first section of each group of equal sections to the other sections of the group.
static void copy_to_twins(od_sheet *s) {
  for (int section = 0; section < s->graph->sections; section++) {
    int first = s->twin_of[section];
    if (first == section) continue;
    for (int row = 0; row < s->rows; row++) {
      int begin = s->row_begin[row], end = s->row_begin[row + 1], from = begin;
      int *own = s->scratch + s->graph->nets, count = 0;  // the cells of the section in this row
      for (int k = begin; k < end; k++)
        if (s->cell[s->order[k]].section == section) own[count++] = s->order[k];
      for (int k = begin; k < end; k++) {
        if (s->cell[s->order[k]].section != section) continue;
        while (from < end && s->cell[s->order[from]].section != first) from++;
        if (from == end) break;
        int model = s->order[from++];
        for (int i = 0; i < count; i++) {
          od_cell *c = &s->cell[own[i]];
          if (c->twin != model) continue;
          s->order[k] = own[i];
          c->is_mirrored = s->cell[model].is_mirrored;
          s->pad[own[i]] = s->pad[model];
          if (c->may_upend && c->flows_down != s->cell[model].flows_down) od_sheet_upend(s, c);
        }
      }
    }
  }
}

// Keeps the current sheet if its rows have the order that the file gives and its cost is less than the lowest cost so far. Otherwise
// restores the previous sheet. Returns whether the current sheet is kept.
static bool judge(search *h) {
  copy_to_twins(h->s);
  if (!od_sheet_keeps_orders(h->s)) {
    restore(h);
    return false;
  }
  double cost = cost_of(h->s);
  h->trials++;
  if (cost < h->cost - 1e-6) {
    h->cost = cost;
    keep(h);
    return true;
  }
  restore(h);
  return false;
}

// Returns whether the search may move a cell. The cells of a section that is a copy of another section must not be
// moved.
static bool is_free(const od_sheet *s, const od_cell *c) {
  return c->section < 0 || s->twin_of[c->section] == c->section;
}

static void try_swaps(search *h, int row) {
  od_sheet *s = h->s;
  int begin = s->row_begin[row], count = od_row_count(s, row);
  for (int distance = 1; distance <= 2; distance++)
    for (int i = 0; i + distance < count && h->trials < h->most; i++) {
      int *a = &s->order[begin + i], *b = a + distance, cell = *a;
      const od_cell *c = &s->cell[*a], *d = &s->cell[*b];
      if (c->section >= 0 && d->section >= 0 && (c->section != d->section || !is_free(s, c))) continue;
      *a = *b, *b = cell;
      judge(h);
    }
}

static void try_moves(search *h, int row) {
  od_sheet *s = h->s;
  int begin = s->row_begin[row], count = od_row_count(s, row);
  for (int start = 0; start < count; start++) {
    int cell = h->kept.order[begin + start];
    const od_cell *c = &s->cell[cell];
    if (!is_free(s, c)) continue;
    for (int to = 0; to < count && h->trials < h->most; to++) {
      int from = 0;
      while (s->order[begin + from] != cell) from++;
      int beside = s->cell[s->order[begin + to]].section;
      if (to - from < 2 && from - to < 2) continue;
      if (c->section >= 0 && beside >= 0 && beside != c->section) continue;
      for (int k = from; k < to; k++) s->order[begin + k] = s->order[begin + k + 1];
      for (int k = from; k > to; k--) s->order[begin + k] = s->order[begin + k - 1];
      s->order[begin + to] = cell;
      judge(h);
    }
  }
}

static void try_variants(search *h, int row) {
  static const int pads[] = {10, 20, 40, 0};
  od_sheet *s = h->s;
  int begin = s->row_begin[row], count = od_row_count(s, row);
  for (int start = 0; start < count && h->trials < h->most; start++) {
    int cell = h->kept.order[begin + start];
    od_cell *c = &s->cell[cell];
    if (!is_free(s, c)) continue;
    if (!c->is_feed && !c->keeps_side) {
      c->is_mirrored = !c->is_mirrored;
      judge(h);
    }
    if (c->may_upend) {
      od_sheet_upend(s, c);
      judge(h);
    }
    for (int i = 0; i < 4; i++) {
      if (s->pad[cell] == pads[i]) continue;
      s->pad[cell] = pads[i];
      judge(h);
    }
  }
}

// Repeats passes until a pass lowers the cost by less than 1, or until the limit of passes or trials.
static void climb(search *h) {
  for (int pass = 0; pass < PASSES && h->trials < h->most; pass++) {
    double start = h->cost;
    for (int row = 0; row < h->s->rows; row++) {
      try_swaps(h, row);
      try_moves(h, row);
      try_variants(h, row);
    }
    if (h->cost > start - 1) break;
  }
}

// Returns the next pseudo-random number of a fixed sequence, 0 to count - 1.
static int draw(unsigned *seed, int count) {
  *seed = *seed * 1664525U + 1013904223U;
  return (int)((*seed >> 8) % (unsigned)count);
}

// Changes the sheet at several places: exchanges neighbors of one section, and mirrors cells.
static void disturb(search *h, unsigned *seed) {
  od_sheet *s = h->s;
  for (int i = 0; i < 2 + s->cells / 6; i++) {
    int at = draw(seed, s->cells), a = s->order[at];
    if (draw(seed, 3) == 0) {
      if (!s->cell[a].is_feed && !s->cell[a].keeps_side) s->cell[a].is_mirrored = !s->cell[a].is_mirrored;
    } else if (at + 1 < s->cells) {
      int b = s->order[at + 1];
      if (s->cell[a].row != s->cell[b].row || s->cell[a].section != s->cell[b].section) continue;
      if (s->cell[a].order >= 0 || s->cell[b].order >= 0) continue;
      s->order[at] = b, s->order[at + 1] = a;
    }
  }
}

static state take_state(od_sheet *s) {
  return (state){OD_TAKE(s->arena, int, s->cells), OD_TAKE(s->arena, int, s->cells), OD_TAKE(s->arena, bool, s->cells),
                 OD_TAKE(s->arena, bool, s->cells)};
}

void od_sheet_climb(od_sheet *s) {
  search h = {.s = s, .kept = take_state(s), .most = TRIALS + TRIAL_CELLS / (s->cells + 1)};
  state best = take_state(s);
  if (od_arena_status(s->arena) != OD_OK) {
    s->failed = true;
    return;
  }
  copy_to_twins(s);
  h.cost = cost_of(s);
  keep(&h);
  climb(&h);
  unsigned seed = 1;
  double least = h.cost;
  for (int restart = 0; restart < RESTARTS && h.trials < h.most; restart++) {
    state climbed = h.kept;
    h.kept = best, best = climbed;  // `best` contains the best state so far
    disturb(&h, &seed);
    copy_to_twins(s);
    h.cost = cost_of(s);
    keep(&h);
    climb(&h);
    if (h.cost < least - 1e-6)
      least = h.cost;
    else {
      climbed = h.kept;
      h.kept = best, best = climbed;
      h.cost = least;
      restore(&h);
    }
  }
  cost_of(s);
}
