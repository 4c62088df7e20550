// Minimum degree: the row with the fewest neighbors is eliminated first. Its neighbors then become neighbors of each other. Rows
// with very many neighbors (a temperature that acts on all elements, a mechanism) come last without a search. Otherwise these rows
// would be in the lists of all other rows.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "math/sparse.h"

// The remaining neighbors of a row.
typedef struct list {
  int *item, count, room;
} list;

typedef struct graph {
  int n, left;  // left: rows to be ordered by degree
  list *near;
  // Rows with the same number of neighbors form a doubly linked list. head is indexed by the number of neighbors; next and before
  // are indexed by the row.
  int *head, *next, *before;
  int *mark, stamp;  // rows whose mark is the current stamp have been visited; -1: eliminated
  bool *last;        // for each row: whether the row has too many neighbors and comes last
} graph;

static void unlink_row(graph *g, int row) {
  int degree = g->near[row].count;
  if (g->before[row] >= 0)
    g->next[g->before[row]] = g->next[row];
  else
    g->head[degree] = g->next[row];
  if (g->next[row] >= 0) g->before[g->next[row]] = g->before[row];
}

static void link_row(graph *g, int row) {
  int degree = g->near[row].count;
  g->before[row] = -1;
  g->next[row] = g->head[degree];
  if (g->head[degree] >= 0) g->before[g->head[degree]] = row;
  g->head[degree] = row;
}

// Appends an item to a list. Returns false if an allocation fails.
static bool add(list *l, int item) {
  if (l->count == l->room) {
    int room = 2 * l->room + 8, *items = od_realloc(l->item, (size_t)room * sizeof *items);
    if (!items) return false;
    l->item = items;
    l->room = room;
  }
  l->item[l->count++] = item;
  return true;
}

// Builds the graph without the rows that come last. Returns false if an allocation fails.
static bool begin(graph *g, int n, const int *start, const int *neighbor) {
  size_t size = (size_t)n + 1;
  *g = (graph){.n = n,
               .near = od_calloc(size, sizeof *g->near),
               .head = od_malloc(size * sizeof *g->head),
               .next = od_malloc(size * sizeof *g->next),
               .before = od_malloc(size * sizeof *g->before),
               .mark = od_calloc(size, sizeof *g->mark),
               .last = od_calloc(size, sizeof *g->last)};
  if (!g->near || !g->head || !g->next || !g->before || !g->mark || !g->last) return false;
  double many = 16 + 10 * sqrt(n);
  for (int i = 0; i < n; i++) g->last[i] = start[i + 1] - start[i] > many;
  for (int i = 0; i <= n; i++) g->head[i] = -1;
  for (int i = n - 1; i >= 0; i--) {
    if (g->last[i]) continue;
    g->left++;
    for (int k = start[i]; k < start[i + 1]; k++)
      if (!g->last[neighbor[k]] && !add(&g->near[i], neighbor[k])) return false;
    link_row(g, i);
  }
  return true;
}

static void end(graph *g) {
  for (int i = 0; g->near && i < g->n; i++) od_free(g->near[i].item);
  od_free(g->near);
  od_free(g->head);
  od_free(g->next);
  od_free(g->before);
  od_free(g->mark);
  od_free(g->last);
}

// Adds the neighbors of the eliminated row `gone` to the neighbors of `row`. Returns false if an allocation fails.
static bool join(graph *g, int row, int gone) {
  list *l = &g->near[row];
  const list *others = &g->near[gone];
  unlink_row(g, row);
  g->stamp++;
  g->mark[row] = g->mark[gone] = g->stamp;
  int kept = 0;
  for (int i = 0; i < l->count; i++)
    if (l->item[i] != gone) {
      g->mark[l->item[i]] = g->stamp;
      l->item[kept++] = l->item[i];
    }
  l->count = kept;
  for (int i = 0; i < others->count; i++)
    if (g->mark[others->item[i]] != g->stamp && !add(l, others->item[i])) return false;
  link_row(g, row);
  return true;
}

bool od_sparse_order(int n, const int *start, const int *neighbor, long most, int *order) {
  graph g;
  bool ok = begin(&g, n, start, neighbor);
  int count = 0, degree = 0;
  long values = n;
  while (ok && count < g.left && values <= most) {
    while (g.head[degree] < 0) degree++;
    int row = g.head[degree];
    unlink_row(&g, row);
    order[count++] = row;
    values += 2L * g.near[row].count;
    for (int i = 0; ok && i < g.near[row].count; i++) ok = join(&g, g.near[row].item[i], row);
    od_free(g.near[row].item);
    g.near[row] = (list){0};
    if (degree > 0) degree--;  // the degrees of the neighbors of `row` may have decreased by one
    g.mark[row] = -1;
  }
  // If the limit `most` ended the search, the remaining rows follow in any order. The rows with too many neighbors are last.
  for (int i = 0; ok && values > most && i < n; i++)
    if (!g.last[i] && g.mark[i] != -1) order[count++] = i;
  for (int i = 0; ok && i < n; i++)
    if (g.last[i]) order[count++] = i;
  end(&g);
  return ok;
}
