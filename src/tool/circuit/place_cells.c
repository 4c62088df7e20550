// Computes the x of all cells for a given order. Sweeps over the rows alternate in direction. In each row, a
// least-squares problem minimizes the distances of the pins from connected pins in neighboring rows, with fixed order
// and minimum spacing (pool adjacent violators). Then cells are moved to the grid and to places with straight lines,
// and sections get disjoint columns. Equal sections are copies of the section with the straightest lines.
#include <math.h>
#include <stdlib.h>

#include "circuit/sheet.h"

enum { SWEEPS = 14, GAP = 10, SECTION_GAP = 30, FRAME_GAP = 20 };

// Returns the space between two neighboring cells of a row, px.
static int gap_between(const od_sheet *s, int a, int b) {
  const od_cell *left = &s->cell[a], *right = &s->cell[b];
  if (left->is_feed && right->is_feed && left->section == right->section) return 0;
  if (left->section != right->section && left->section >= 0 && right->section >= 0) return SECTION_GAP;
  return GAP;
}

static int offset_of(const od_cell *c, const od_pin *p) {
  return c->is_mirrored ? c->width - p->x : p->x;
}

// Computes the desired x of a cell from the connected pins, and the weight of this x.
static void find_wish(const od_sheet *s, const od_cell *c, const double *x, double *wish, double *weight) {
  double sum = 0, total = 0;
  for (int i = c->pin; i < c->pin + c->pins; i++) {
    const od_pin *pin = &s->pin[i];
    const od_knot *knot = &s->knot[pin->knot];
    int offset = offset_of(c, pin), others = 0, beside = 0;
    double mean = 0, near = 0, own = x[c - s->cell];
    for (int pass = 0; pass < 2 && others == 0; pass++)  // pass 0: pins of other rows; pass 1: pins of the same row
      for (int k = knot->first; k < knot->first + knot->count; k++) {
        const od_pin *other = &s->pin[s->knot_pin[k]];
        const od_cell *d = &s->cell[other->cell];
        if (d == c || (d->row != c->row) == pass) continue;
        double target = x[other->cell] + offset_of(d, other) - offset;
        if (others == 0 || fabs(target - own) < fabs(near - own)) near = target;
        mean += target, others++, beside = pass;
      }
    if (others == 0) continue;
    double w = beside ? 0.15 : 1;
    if (pin->is_dashed) w *= 0.3;
    if (!beside && others == 1 && knot->count == 2) w *= 4;
    if (c->is_feed) w *= 1.5;
    sum += w * (0.5 * near + 0.5 * mean / others), total += w;
  }
  if (total == 0) sum = 0.05 * x[c - s->cell], total = 0.05;
  *wish = sum / total, *weight = total;
}

// Moves the cells of a row to the least-squares solution.
static void solve_row(od_sheet *s, int row, double *x) {
  int begin = s->row_begin[row], count = od_row_count(s, row);
  double *sum = s->wish + s->cells, *weight = sum + s->cells, *offset = weight + s->cells;
  int *size = s->scratch, blocks = 0;
  double at = 0;
  for (int i = 0; i < count; i++) {
    int cell = s->order[begin + i];
    double wish, w;
    find_wish(s, &s->cell[cell], x, &wish, &w);
    at += s->pad[cell];
    offset[i] = at;
    at += s->cell[cell].width + (i + 1 < count ? gap_between(s, cell, s->order[begin + i + 1]) : 0);
    sum[blocks] = (wish - offset[i]) * w, weight[blocks] = w, size[blocks++] = 1;
    while (blocks > 1 && sum[blocks - 2] / weight[blocks - 2] > sum[blocks - 1] / weight[blocks - 1]) {
      blocks--;
      sum[blocks - 1] += sum[blocks], weight[blocks - 1] += weight[blocks], size[blocks - 1] += size[blocks];
    }
  }
  for (int b = 0, i = 0; b < blocks; b++)
    for (int k = 0; k < size[b]; k++, i++) x[s->order[begin + i]] = sum[b] / weight[b] + offset[i];
}

static void round_to_grid(od_sheet *s, const double *x) {
  for (int row = 0; row < s->rows; row++) {
    int last = -(1 << 28);
    for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
      od_cell *c = &s->cell[s->order[k]];
      c->x = (int)(floor(x[s->order[k]] / OD_GRID + 0.5) * OD_GRID);
      if (c->x < last) c->x = last;
      last = c->x + c->width + (k + 1 < s->row_begin[row + 1] ? gap_between(s, s->order[k], s->order[k + 1]) : 0);
    }
  }
}

// --- Straight lines ---------------------------------------------------------------------------------------------------

// Returns the cost of a cell at x: bends to neighboring rows, and pins of other nets in the same column.
static double bend_cost(const od_sheet *s, const od_cell *c, int x) {
  double cost = 0;
  for (int i = c->pin; i < c->pin + c->pins; i++) {
    const od_pin *pin = &s->pin[i];
    const od_knot *knot = &s->knot[pin->knot];
    int at = x + offset_of(c, pin), least = -1;
    for (int k = knot->first; k < knot->first + knot->count; k++) {
      const od_pin *other = &s->pin[s->knot_pin[k]];
      if (s->cell[other->cell].row == c->row) continue;
      int distance = abs(od_pin_x(s, other) - at);
      if (least < 0 || distance < least) least = distance;
    }
    if (least > 0) cost += (least + 25) * (pin->is_dashed ? 0.3 : 1);
    int row = pin->side == OD_SIDE_TOP ? c->row - 1 : c->row + 1;
    if (row < 0 || row >= s->rows) continue;
    for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
      const od_cell *d = &s->cell[s->order[k]];
      if (d->x + d->width < at || d->x > at) continue;
      for (int j = d->pin; j < d->pin + d->pins; j++)
        if (s->pin[j].side != pin->side && s->pin[j].net != pin->net && abs(od_pin_x(s, &s->pin[j]) - at) < 4)
          cost += 60;
    }
  }
  return cost;
}

// Moves cells to places where their lines are straight, if there is space. body: only cells with body[cell] < 0 are
// moved; NULL: all cells.
static void snap(od_sheet *s, const int *body) {
  for (int round = 0; round < 2; round++)
    for (int row = 0; row < s->rows; row++)
      for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
        int cell = s->order[k];
        od_cell *c = &s->cell[cell];
        if (body && body[cell] >= 0) continue;
        int low = -(1 << 28), high = 1 << 28;
        if (k > s->row_begin[row]) {
          const od_cell *d = &s->cell[s->order[k - 1]];
          low = d->x + d->width + gap_between(s, s->order[k - 1], cell);
        }
        if (k + 1 < s->row_begin[row + 1])
          high = s->cell[s->order[k + 1]].x - c->width - gap_between(s, cell, s->order[k + 1]);
        int best = c->x;
        double least = low <= c->x && c->x <= high ? bend_cost(s, c, c->x) : INFINITY;
        for (int i = c->pin; i < c->pin + c->pins; i++) {
          const od_knot *knot = &s->knot[s->pin[i].knot];
          for (int j = knot->first; j < knot->first + knot->count; j++) {
            const od_pin *other = &s->pin[s->knot_pin[j]];
            if (s->cell[other->cell].row == row) continue;
            int x = od_pin_x(s, other) - offset_of(c, &s->pin[i]);
            if (x < low || x > high || x == best) continue;
            double cost = bend_cost(s, c, x);
            if (cost < least || (cost == least && abs(x - c->x) < abs(best - c->x))) least = cost, best = x;
          }
        }
        c->x = best;
      }
}

// --- Sections ---------------------------------------------------------------------------------------------------------

// Returns the cost of a section: the deviation of its lines from straight lines, and its width.
static double bend_sum(const od_sheet *s, int section) {
  double sum = 0;
  int left = 1 << 28, right = -(1 << 28);
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    if (c->section != section) continue;
    if (c->x < left) left = c->x;
    if (c->x + c->width > right) right = c->x + c->width;
    for (int p = c->pin; p < c->pin + c->pins; p++) {
      const od_knot *knot = &s->knot[s->pin[p].knot];
      int least = -1;
      for (int k = knot->first; k < knot->first + knot->count; k++) {
        const od_pin *other = &s->pin[s->knot_pin[k]];
        const od_cell *d = &s->cell[other->cell];
        if (d->row == c->row || d->section != section) continue;
        int distance = abs(od_pin_x(s, other) - od_pin_x(s, &s->pin[p]));
        if (least < 0 || distance < least) least = distance;
      }
      if (least > 0) sum += least + 30;
    }
  }
  return sum + 0.3 * (right - left);
}

static int left_of(const od_sheet *s, int section) {
  int left = 1 << 28;
  for (int i = 0; i < s->cells; i++)
    if (s->cell[i].section == section && s->cell[i].x < left) left = s->cell[i].x;
  return left;
}

// Copies the places of the best section of each group of equal sections to the other sections of the group.
static void copy_twins(od_sheet *s) {
  for (int first = 0; first < s->graph->sections; first++) {
    if (s->twin_of[first] != first) continue;
    int best = first, count = 0;
    double least = INFINITY;
    for (int k = first; k < s->graph->sections; k++) {
      if (s->twin_of[k] != first) continue;
      double sum = bend_sum(s, k);
      count++;
      if (sum < least) least = sum, best = k;
    }
    if (count < 2) continue;
    int from = left_of(s, best), *place = s->scratch;  // place: x of each cell of the best section, relative to the
                                                       // left edge of the section
    for (int i = 0; i < s->cells; i++)
      if (s->cell[i].section == best) place[s->cell[i].twin] = s->cell[i].x - from;
    for (int k = first; k < s->graph->sections; k++) {
      if (s->twin_of[k] != first || k == best) continue;
      int left = left_of(s, k);
      for (int i = 0; i < s->cells; i++)
        if (s->cell[i].section == k) s->cell[i].x = left + place[s->cell[i].twin];
    }
  }
}

// Extent of a body. A body is a section, or a cell without a section; all cells of a body move together.
typedef struct body_extent {
  int left, right, top, bottom;  // smallest and largest x; first and last row
} body_extent;

// Raises the shift of body b to at least the shift of body a plus `distance`. Returns whether the shift has changed.
static bool keep_apart(int *shift, int a, int b, int distance) {
  if (shift[b] >= shift[a] + distance) return false;
  shift[b] = shift[a] + distance;
  return true;
}

// Moves sections so that they do not share columns. A cell between cells of one section moves with this section.
static void separate_sections(od_sheet *s) {
  int sections = s->graph->sections, shown = 0;                 // shown: number of drawn sections, template instances
                                                                // counted twice; if above 1, sections are separated and
                                                                // get frames
  int *body = s->scratch + s->cells, *shift = body + s->cells;  // body of each cell; shift of each body
  body_extent *extent = (body_extent *)(void *)(shift + s->cells + sections);
  for (int k = 0; k < sections; k++) extent[k] = (body_extent){1 << 28, -(1 << 28), 1 << 20, -1};
  for (int i = 0; i < s->cells; i++) body[i] = s->cell[i].section >= 0 ? s->cell[i].section : sections + i;
  for (int row = 0; row < s->rows; row++)
    for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
      int cell = s->order[k], before = -1, after = -1;
      if (s->cell[cell].section >= 0) continue;
      for (int j = s->row_begin[row]; j < s->row_begin[row + 1]; j++) {
        int section = s->cell[s->order[j]].section;
        if (section < 0) continue;
        if (j < k) before = section;
        if (j > k && after < 0) after = section;
      }
      if (before >= 0 && before == after) body[cell] = before;
    }
  for (int i = 0; i < s->cells; i++) {
    const od_cell *c = &s->cell[i];
    if (body[i] >= sections) continue;
    body_extent *e = &extent[body[i]];
    if (c->x < e->left) e->left = c->x;
    if (c->x + c->width > e->right) e->right = c->x + c->width;
    if (!c->is_feed && c->row < e->top) e->top = c->row;
    if (!c->is_feed && c->row > e->bottom) e->bottom = c->row;
  }
  for (int k = 0; k < sections; k++)
    if (extent[k].bottom >= 0) shown += s->graph->section[k].is_instance ? 2 : 1;
  for (int i = 0; i < sections + s->cells; i++) shift[i] = 0;
  bool changed = shown > 1;
  for (int round = 0; round < 60 && changed; round++) {
    changed = false;
    for (int k = 0, last = -1; k < sections; k++) {
      if (extent[k].bottom < 0) continue;
      if (last >= 0 && keep_apart(shift, last, k, extent[last].right + SECTION_GAP - extent[k].left)) changed = true;
      last = k;
    }
    for (int row = 0; row < s->rows; row++)
      for (int i = s->row_begin[row]; i < s->row_begin[row + 1]; i++)
        for (int j = i + 1; j < s->row_begin[row + 1]; j++) {
          const od_cell *a = &s->cell[s->order[i]], *b = &s->cell[s->order[j]];
          int from = body[s->order[i]], to = body[s->order[j]], right = a->x + a->width, left = b->x;
          if (from == to || (j > i + 1 && (from < sections) == (to < sections))) continue;
          int gap = j == i + 1 ? gap_between(s, s->order[i], s->order[j]) : GAP;
          // A cell next to a section has the distance FRAME_GAP from the frame of the section.
          if (from < sections && to >= sections && !b->is_feed && extent[from].top <= row && row <= extent[from].bottom)
            right = extent[from].right, gap = FRAME_GAP;
          if (to < sections && from >= sections && !a->is_feed && extent[to].top <= row && row <= extent[to].bottom)
            left = extent[to].left, gap = FRAME_GAP;
          if (keep_apart(shift, from, to, right + gap - left)) changed = true;
        }
  }
  for (int i = 0; i < s->cells; i++) s->cell[i].x += shift[body[i]];
  if (shown > 1) {
    for (int i = 0; i < s->cells; i++) body[i] = body[i] < sections ? body[i] : -1;
    snap(s, body);
  }
}

void od_sheet_place(od_sheet *s) {
  double *x = s->wish;
  for (int row = 0; row < s->rows; row++) {
    double at = 0;
    for (int k = s->row_begin[row]; k < s->row_begin[row + 1]; k++) {
      x[s->order[k]] = at;
      at += s->cell[s->order[k]].width +
            (k + 1 < s->row_begin[row + 1] ? gap_between(s, s->order[k], s->order[k + 1]) : 0);
    }
  }
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int i = 0; i < s->rows; i++) solve_row(s, sweep % 2 ? s->rows - 1 - i : i, x);
  round_to_grid(s, x);
  snap(s, NULL);
  copy_twins(s);
  separate_sections(s);
  int least = 1 << 28;
  for (int i = 0; i < s->cells; i++)
    if (s->cell[i].x < least) least = s->cell[i].x;
  s->width = 0;
  for (int i = 0; i < s->cells; i++) {
    s->cell[i].x -= least;
    if (s->cell[i].x + s->cell[i].width > s->width) s->width = s->cell[i].x + s->cell[i].width;
  }
}
