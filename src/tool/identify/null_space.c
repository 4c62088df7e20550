// The most readable basis of a null space: directions with few parameters and simple ratios.
//
// Candidates are the directions for which count - 1 conditions hold: a parameter is constant, or two parameters change
// by the same factor, or by opposite factors. If there are too many choices of conditions, only constant parameters count as
// conditions. The directions of a Gauss-Jordan elimination are also candidates. Each candidate is written as powers of a factor, as
// multiples of an amount, and as small relative changes. A form has a price, which increases with the number of parameters and with
// ratios that are not simple. The price of a candidate is the price of its cheapest form. The cheapest independent
// candidates are the basis.
#include "identify/null_space.h"

#include <math.h>
#include <string.h>

static const double negligible = 1e-7;  // fraction of the largest coefficient; smaller coefficients are zero
static const double ratio_tolerance =
    1e-5;  // largest relative difference between a ratio and a simple ratio (simple_ratio())
enum { MOST_CANDIDATES = 200000 };

typedef struct candidate {
  double price;
  od_null_form form;
  double *coefficient;  // n: coefficients of the parameters in the form `form`
  double *direction;    // n: changes of the parameters, in units of their scales
} candidate;

typedef struct search {
  int n, count;
  const double *basis, *scale, *value;
  double *conditions;  // rows of `count` numbers: coefficients of each condition on the combination of basis vectors
  int condition_count;
  candidate *best;  // independent candidates, cheapest first; allocated for count + 1 candidates
  int filled;
  double *work, *matrix, *trial[3], *direction;
} search;

// ---- Price of a direction

static double simple_ratio(double ratio) {
  static const double simple[] = {1, 2, 3, 4, 1.0 / 2, 1.0 / 3, 1.0 / 4, 3.0 / 2, 2.0 / 3};
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
    if (fabs(fabs(ratio) - simple[i]) <= ratio_tolerance * simple[i]) return copysign(simple[i], ratio);
  return 0;
}

static double price_of_ratio(double ratio) {
  double simple = simple_ratio(ratio);
  return simple == 0 ? 4 : fabs(simple) == 1 ? 1 : 1.5;
}

// Divides all entries by the entry for which the ratios are simplest, rounds simple ratios, and returns the price.
static double simplify(int n, double *c) {
  double best = INFINITY, unit = 1;
  for (int i = 0; i < n; i++) {
    if (c[i] == 0) continue;
    double price = 0;
    for (int j = 0; j < n; j++)
      if (c[j] != 0) price += price_of_ratio(c[j] / c[i]);
    if (price < best) best = price, unit = c[i];
  }
  for (int i = 0; i < n; i++) {
    c[i] /= unit;
    double simple = simple_ratio(c[i]);
    if (simple != 0) c[i] = simple;
  }
  return best;
}

// Returns the cheapest of the three forms of a direction (in units of scale), with its price. Stores the coefficients of all
// forms in s->trial.
static candidate judge(const search *s, const double *direction) {
  candidate c = {.price = INFINITY};
  bool powers = true;
  for (int i = 0; i < s->n; i++) {
    double change = direction[i] * s->scale[i];
    s->trial[OD_NULL_ADDS][i] = change;
    s->trial[OD_NULL_SCALES][i] = s->value[i] != 0 ? change / s->value[i] : 0;
    s->trial[OD_NULL_LOCAL][i] = direction[i];
    powers = powers && (s->value[i] != 0 || fabs(direction[i]) <= negligible);
  }
  for (int form = OD_NULL_SCALES; form <= OD_NULL_LOCAL; form++) {
    // Amounts of different units cannot be compared. The scaled direction determines which entries are negligible.
    for (int i = 0; i < s->n; i++)
      if (fabs(direction[i]) <= negligible) s->trial[form][i] = 0;
    if (form == OD_NULL_SCALES && !powers) continue;
    double price = simplify(s->n, s->trial[form]);
    if (form == OD_NULL_LOCAL) price += 1;
    if (price < c.price) c.price = price, c.form = (od_null_form)form;
  }
  return c;
}

// ---- Cheapest independent candidates

// Returns the index of the first candidate that depends linearly on the previous candidates; `filled`: all candidates are
// independent.
static int first_dependent(const search *s) {
  for (int k = 0; k < s->filled; k++) {
    double *v = s->work + k * s->n, size = 0;
    memcpy(v, s->best[k].direction, (size_t)s->n * sizeof *v);
    for (int pass = 0; pass < 2; pass++)
      for (int q = 0; q < k; q++) {
        const double *kept = s->work + q * s->n;
        double dot = 0;
        for (int i = 0; i < s->n; i++) dot += kept[i] * v[i];
        for (int i = 0; i < s->n; i++) v[i] -= dot * kept[i];
      }
    for (int i = 0; i < s->n; i++) size += v[i] * v[i];
    if (!(size > 1e-10)) return k;
    for (int i = 0; i < s->n; i++) v[i] /= sqrt(size);
  }
  return s->filled;
}

// Returns whether candidate a comes before candidate b: by price; for equal prices, by the first parameter that only one
// of the candidates involves.
static bool comes_before(const search *s, const candidate *a, const candidate *b) {
  if (a->price != b->price) return a->price < b->price;
  for (int i = 0; i < s->n; i++)
    if ((a->coefficient[i] != 0) != (b->coefficient[i] != 0)) return a->coefficient[i] != 0;
  return false;
}

// Inserts a candidate in the order of prices and removes a candidate that depends linearly on cheaper
// candidates.
static void offer(search *s, const double *direction) {
  candidate c = judge(s, direction);
  if (s->filled == s->count && c.price > s->best[s->count - 1].price) return;
  candidate room = s->best[s->filled];
  c.coefficient = room.coefficient, c.direction = room.direction;
  memcpy(c.coefficient, s->trial[c.form], (size_t)s->n * sizeof(double));
  memcpy(c.direction, direction, (size_t)s->n * sizeof(double));
  int place = s->filled++;
  for (; place > 0 && comes_before(s, &c, &s->best[place - 1]); place--) s->best[place] = s->best[place - 1];
  s->best[place] = c;
  int superfluous = first_dependent(s);
  if (superfluous == s->filled) return;
  room = s->best[superfluous];
  for (int k = superfluous; k + 1 < s->filled; k++) s->best[k] = s->best[k + 1];
  s->best[--s->filled] = room;
}

// ---- Candidates from conditions

static void add_condition(search *s, int i, double factor_i, int j, double factor_j) {
  double *row = s->conditions + s->condition_count * s->count;
  for (int k = 0; k < s->count; k++)
    row[k] = factor_i * s->basis[k * s->n + i] + (j >= 0 ? factor_j * s->basis[k * s->n + j] : 0);
  s->condition_count++;
}

static bool takes_part(const search *s, int i) {
  for (int k = 0; k < s->count; k++)
    if (fabs(s->basis[k * s->n + i]) > negligible) return true;
  return false;
}

static void find_conditions(search *s, bool pairs) {
  s->condition_count = 0;
  for (int i = 0; i < s->n; i++)
    if (takes_part(s, i)) add_condition(s, i, 1, -1, 0);
  for (int i = 0; pairs && i < s->n; i++)
    for (int j = i + 1; j < s->n; j++) {
      if (!takes_part(s, i) || !takes_part(s, j) || s->value[i] == 0 || s->value[j] == 0) continue;
      double a = s->scale[i] / s->value[i], b = s->scale[j] / s->value[j];
      add_condition(s, i, a, j, -b);
      add_condition(s, i, a, j, b);
    }
}

// Finds the combination of basis vectors that meets count - 1 conditions. The length of the combination is arbitrary.
// Returns false if the conditions are dependent.
static bool solve(search *s, const int *chosen, double *combination) {
  int n = s->count, rows = n - 1, pivot_of[16], used = 0;
  double *M = s->matrix;
  for (int r = 0; r < rows; r++) memcpy(M + r * n, s->conditions + chosen[r] * n, (size_t)n * sizeof *M);
  bool taken[16] = {false};
  for (int r = 0; r < rows; r++) {
    int best_row = r, best_column = -1;
    double best = 1e-9;
    for (int i = r; i < rows; i++)
      for (int j = 0; j < n; j++)
        if (!taken[j] && fabs(M[i * n + j]) > best) best = fabs(M[i * n + j]), best_row = i, best_column = j;
    if (best_column < 0) return false;
    for (int j = 0; j < n; j++) {
      double swap = M[r * n + j];
      M[r * n + j] = M[best_row * n + j], M[best_row * n + j] = swap;
    }
    taken[best_column] = true, pivot_of[r] = best_column, used++;
    for (int i = 0; i < rows; i++) {
      if (i == r) continue;
      double factor = M[i * n + best_column] / M[r * n + best_column];
      for (int j = 0; j < n; j++) M[i * n + j] -= factor * M[r * n + j];
    }
  }
  int open = 0;
  while (taken[open]) open++;
  combination[open] = 1;
  for (int r = 0; r < used; r++) combination[pivot_of[r]] = -M[r * n + open] / M[r * n + pivot_of[r]];
  return true;
}

static void offer_combination(search *s, const double *combination) {
  double size = 0, *direction = s->direction;
  for (int i = 0; i < s->n; i++) {
    direction[i] = 0;
    for (int k = 0; k < s->count; k++) direction[i] += combination[k] * s->basis[k * s->n + i];
    size = fmax(size, fabs(direction[i]));
  }
  for (int i = 0; i < s->n; i++) direction[i] /= size;
  offer(s, direction);
}

// Returns the number of ways to choose `few` of `many`. If this number exceeds `limit`, the result is any number above
// `limit`.
static double choices(int many, int few, double limit) {
  double ways = 1;
  for (int i = 0; i < few && ways <= limit; i++) ways *= (double)(many - i) / (i + 1);
  return ways;
}

// Tries all choices of count - 1 conditions in lexicographic order.
static void try_all(search *s) {
  int few = s->count - 1, chosen[16];
  double combination[16];
  for (int i = 0; i < few; i++) chosen[i] = i;
  for (;;) {
    if (solve(s, chosen, combination)) offer_combination(s, combination);
    int at = few - 1;
    while (at >= 0 && chosen[at] == s->condition_count - few + at) at--;
    if (at < 0) return;
    chosen[at]++;
    for (int i = at + 1; i < few; i++) chosen[i] = chosen[i - 1] + 1;
  }
}

// Offers candidates from a Gauss-Jordan elimination with full pivoting: each direction has a parameter that no other
// direction has.
static void offer_echelon(search *s) {
  int n = s->n, count = s->count;
  double *M = s->work + n * (count + 1), *direction = s->direction;
  memcpy(M, s->basis, (size_t)(n * count) * sizeof *M);
  for (int k = 0; k < count; k++) {
    int row = k, column = 0;
    for (int i = k; i < count; i++)
      for (int j = 0; j < n; j++)
        if (fabs(M[i * n + j]) > fabs(M[row * n + column])) row = i, column = j;
    for (int j = 0; j < n; j++) {
      double swap = M[k * n + j];
      M[k * n + j] = M[row * n + j], M[row * n + j] = swap;
    }
    for (int i = 0; i < count; i++) {
      if (i == k) continue;
      double factor = M[i * n + column] / M[k * n + column];
      for (int j = 0; j < n; j++) M[i * n + j] -= factor * M[k * n + j];
    }
  }
  for (int k = 0; k < count; k++) {
    double size = 0;
    for (int j = 0; j < n; j++) size = fmax(size, fabs(M[k * n + j]));
    for (int j = 0; j < n; j++) direction[j] = M[k * n + j] / size;
    offer(s, direction);
  }
}

od_status od_null_space_find(int n, int count, const double *basis, const double *scale, const double *value,
                             od_null *null) {
  if (count == 0) return OD_OK;
  OD_SCRATCH(scratch);
  search s = {.n = n, .count = count, .basis = basis, .scale = scale, .value = value};
  s.conditions = OD_TAKE(&scratch, double, (long long)n *n *count);
  s.work = OD_TAKE_MATRIX(&scratch, double, n, 2 * count + 1);
  s.matrix = OD_TAKE_MATRIX(&scratch, double, count, count);
  s.best = OD_TAKE(&scratch, candidate, count + 1);
  s.direction = OD_TAKE(&scratch, double, n);
  for (int k = 0; k < 3; k++) s.trial[k] = OD_TAKE(&scratch, double, n);
  double *memory = OD_TAKE(&scratch, double, 2 * n * (count + 1));
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  for (int k = 0; k <= count; k++)
    s.best[k] = (candidate){INFINITY, OD_NULL_LOCAL, memory + 2 * n * k, memory + 2 * n * k + n};
  offer_echelon(&s);
  find_conditions(&s, true);
  if (count > 16 || choices(s.condition_count, count - 1, MOST_CANDIDATES) > MOST_CANDIDATES)
    find_conditions(&s, false);
  if (count <= 16 && choices(s.condition_count, count - 1, MOST_CANDIDATES) <= MOST_CANDIDATES &&
      s.condition_count >= count - 1)
    try_all(&s);
  for (int k = 0; k < count; k++) {
    null[k].form = s.best[k].form;
    memcpy(null[k].coefficient, s.best[k].coefficient, (size_t)n * sizeof(double));
  }
  return OD_OK;
}
