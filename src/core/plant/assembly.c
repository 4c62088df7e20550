// Assembly: computes an initial state from approximate initial values. In this state all loops are closed and all exact values
// hold.
//
// Positions: the z nearest to the approximate values (weighted least squares) with Phi(z) = 0 and c(z) = value, found by
// minimum-norm Gauss-Newton steps. Redundant rows make the matrix singular; a small regularization makes the equations solvable.
// Rates: the same method for the linear problem Phi_z z' = 0, c_z z' = value. Complex steps give the derivatives of the conditions.
#include "plant/assembly.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "math/dense.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "plant/model_plant_work.h"
#include "plant/model_plant.h"

#if OD_WITH_COMPLEX

static const double tiny = 1e-30;  // size of the imaginary step of complex steps

// Copies the model's numbers and reference rotations into the real and the complex work memory.
void od_assembly_load_numbers(od_assembly *s) {
  const od_model *m = s->m;
  const od_layout *l = &m->layout;
  memcpy(s->w + l->theta, m->theta, (size_t)m->numbers * sizeof(double));
  memcpy(s->w + l->chart, m->chart0, OD_CHART_SIZE * (size_t)m->charts * sizeof(double));
  for (int i = 0; i < m->numbers; i++) s->wc[l->theta + i] = m->theta[i];
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) s->wc[l->chart + i] = s->w[l->chart + i];
  od_mechanics(m)->prepare(m, s->w);
  od_mechanics_with_derivatives(m)->prepare(m, s->wc);
}

// ---- reference rotations

// Returns whether a condition prescribes one of the three angles, or their rates, of the spherical joint whose first link is `first`.
static bool is_of_joint(const od_model *m, const od_condition *c, int first) {
  int index = c->output.index - m->link[first].coordinate;
  bool coordinate = c->output.kind == OD_OUT_COORDINATE || c->output.kind == OD_OUT_COORDINATE_RATE;
  return coordinate && index >= 0 && index < 3;
}

// Counts the conditions of a list that prescribe one of the three angles, or their rates, of a spherical joint.
static int count_of_joint(const od_model *m, const od_condition *list, int count, int first) {
  int found = 0;
  for (int i = 0; i < count; i++) found += is_of_joint(m, &list[i], first);
  return found;
}

// Returns whether the assembly may replace exact values of a joint's angles by values for another reference rotation. The
// replacement is not allowed if an angle is balanced. Otherwise it is allowed if all three angles, or none, have exact values, and
// the same holds for their rates. It is also allowed if the machine has no loops and all exact values are joint coordinates or their
// rates.
static bool may_move_chart(const od_assembly *s, int first) {
  const od_model *m = s->m;
  int positions = count_of_joint(m, s->at_position, s->positions, first),
      rates = count_of_joint(m, s->at_rate, s->rates, first);
  if (count_of_joint(m, s->balanced, s->balances, first) > 0) return false;
  if (positions % 3 == 0 && rates % 3 == 0) return true;
  bool alone = m->rows == 0;
  for (int i = 0; i < s->positions; i++) alone = alone && s->at_position[i].output.kind == OD_OUT_COORDINATE;
  for (int i = 0; i < s->rates; i++) alone = alone && s->at_rate[i].output.kind == OD_OUT_COORDINATE_RATE;
  return alone;
}

static void replace_values(const od_model *m, od_condition *list, int count, int first, const double *values) {
  for (int i = 0; i < count; i++)
    if (is_of_joint(m, &list[i], first)) list[i].value = values[list[i].output.index];
}

// Changes the reference rotation of each spherical joint whose middle angle starts near 90 degrees, if may_move_chart() allows this
// change. At 90 degrees the first
// and the last angle turn about the same axis, so the angles are singular. The new angles are measured from the initial
// orientation.
void od_assembly_choose_charts(od_assembly *s) {
  od_model *m = s->m;
  const od_layout *l = &m->layout;
  size_t size = (size_t)m->coordinates * sizeof(double);
  if (m->charts == 0) return;
  memcpy(s->w + l->z, m->z0, size);
  memcpy(s->w + l->zd, m->zd0, size);
  od_mechanics(m)->open_positions(m, s->w);
  for (int i = 1; i < m->links; i++) {
    if (!od_model_chart_is_bad(m, s->w, i) || !may_move_chart(s, i)) continue;
    od_model_move_chart(m, s->w, i, NULL, NULL, 0);
    replace_values(m, s->at_position, s->positions, i, s->w + l->z);
    replace_values(m, s->at_rate, s->rates, i, s->w + l->zd);
  }
  memcpy(m->z0, s->w + l->z, size);
  memcpy(m->zd0, s->w + l->zd, size);
  memcpy(m->chart0, s->w + l->chart, OD_CHART_SIZE * (size_t)m->charts * sizeof(double));
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) s->wc[l->chart + i] = s->w[l->chart + i];
}

// ---- positions and rates

// Writes the derivatives of the closures, the first rows of J, to a dense matrix.
static void closure_rows(const od_assembly *s, double *matrix) {
  const od_model *m = s->m;
  int n = m->coordinates;
  memset(matrix, 0, (size_t)(m->rows * n) * sizeof *matrix);
  for (int c = 0; c < m->closures; c++) {
    const od_closure *closure = &m->closure[c];
    for (int k = 0; k < closure->rows; k++)
      for (int e = 0; e < closure->path_count; e++)
        matrix[(closure->row + k) * n + m->link[m->path_step[closure->path + e].link].coordinate] =
            s->w[m->layout.jacobian + closure->entry + k * closure->path_count + e];
  }
}

// Computes the rows of J and the residuals of the conditions in `list`. A row contains the derivatives of a condition
// with respect to z (with respect to z' if `rate`), from the complex kernel.
static void condition_rows(od_assembly *s, const od_condition *list, int count, bool rate) {
  const od_model *m = s->m;
  const od_layout *l = &m->layout;
  const od_mechanics_complex *mech = od_mechanics_with_derivatives(m);
  int n = m->coordinates, moved = rate ? l->zd : l->z;
  if (count == 0) return;
  for (int j = 0; j < n; j++) s->wc[l->z + j] = s->w[l->z + j], s->wc[l->zd + j] = s->w[l->zd + j];
  for (int j = 0; j < n; j++) {
    od_complex step = OD_COMPLEX_OF(0.0, tiny);
    s->wc[moved + j] += step;
    mech->open_positions(m, s->wc);
    mech->open_velocities(m, s->wc);
    for (int i = 0; i < count; i++) {
      od_complex y = od_model_output_value_complex(m, s->wc, &list[i].output);
      s->matrix[(m->rows + i) * n + j] = od_imaginary(y) / tiny;
      s->r[m->rows + i] = od_real(y) - list[i].value;
    }
    s->wc[moved + j] -= step;
  }
}

// Computes the minimum-norm step: y = (J W^2 J' + mu)^-1 r, step = -W^2 J' y, where W contains the typical sizes of the
// coordinates and mu is the regularization.
static void least_norm_step(od_assembly *s, int rows, double *step) {
  const od_model *m = s->m;
  int n = m->coordinates;
  double trace = 0;
  // The matrix is summed column by column of J, because a column of a long chain has few nonzero rows.
  memset(s->normal, 0, (size_t)(rows * rows) * sizeof *s->normal);
  for (int j = 0; j < n; j++) {
    double weight = od_model_coordinate_unit(m, j);
    int count = 0;
    for (int i = 0; i < rows; i++)
      if (s->matrix[i * n + j] != 0) s->pivot[count++] = i;
    for (int a = 0; a < count; a++)
      for (int b = 0; b < count; b++)
        s->normal[s->pivot[a] * rows + s->pivot[b]] +=
            s->matrix[s->pivot[a] * n + j] * weight * weight * s->matrix[s->pivot[b] * n + j];
  }
  for (int i = 0; i < rows; i++) trace += s->normal[i * rows + i];
  for (int i = 0; i < rows; i++) s->normal[i * rows + i] += 1e-14 * trace + 1e-300;
  memcpy(s->y, s->r, (size_t)rows * sizeof *s->y);
  if (od_lu_factor(rows, s->normal, s->pivot) == OD_OK) od_lu_solve(rows, s->normal, s->pivot, s->y, 1);
  for (int j = 0; j < n; j++) {
    double weight = od_model_coordinate_unit(m, j), sum = 0;
    for (int i = 0; i < rows; i++) sum += s->matrix[i * n + j] * s->y[i];
    step[j] = -weight * weight * sum;
  }
}

// Computes the position residual with the first `conditions` conditions, and J if `derivatives`. Returns the norm of the
// residual.
static double position_residual(od_assembly *s, int conditions, bool derivatives) {
  const od_model *m = s->m;
  const od_mechanics_real *mech = od_mechanics(m);
  mech->open_positions(m, s->w);
  memcpy(s->r, s->w + m->layout.phi, (size_t)m->rows * sizeof *s->r);
  mech->open_velocities(m, s->w);
  for (int i = 0; i < conditions; i++)
    s->r[m->rows + i] = od_model_output_value(m, s->w, &s->at_position[i].output) - s->at_position[i].value;
  if (derivatives) {
    closure_rows(s, s->matrix);
    condition_rows(s, s->at_position, conditions, false);
  }
  double sum = 0;
  for (int i = 0; i < m->rows + conditions; i++) sum += s->r[i] * s->r[i];
  return sqrt(sum);
}

// Finds positions that close the loops and meet the first `conditions` conditions, by Gauss-Newton iterations with step
// control. Returns whether all residuals are zero up to round-off.
static bool find_positions(od_assembly *s, int conditions) {
  od_model *m = s->m;
  int n = m->coordinates, rows = m->rows + conditions;
  double *z = s->w + m->layout.z, *step = s->trial;
  memcpy(z, m->z0, (size_t)n * sizeof *z);
  double size = position_residual(s, conditions, true), tolerance = 1e-13 * (1 + m->size);
  if (rows == 0) return true;
  for (int round = 0; round < 200; round++) {
    least_norm_step(s, rows, step);
    // No coordinate changes by more than half a radian or half of its typical length in one step.
    double largest = 0;
    for (int j = 0; j < n; j++) {
      double weight = od_model_coordinate_unit(m, j);
      largest = fmax(largest, fabs(step[j]) / weight);
    }
    double part = largest > 0.5 ? 0.5 / largest : 1;
    double *before = s->trial + n;
    memcpy(before, z, (size_t)n * sizeof *z);
    double smaller = INFINITY;
    for (int halving = 0; halving < 12 && !(smaller < size); halving++, part /= 2) {
      for (int j = 0; j < n; j++) z[j] = before[j] + part * step[j];
      smaller = position_residual(s, conditions, false);
      if (size < 1e-9 * (1 + m->size))
        break;  // near round-off, a step is accepted even if the residual does not decrease
    }
    bool stuck = !(smaller < size);
    size = position_residual(s, conditions, true);
    if (size <= tolerance && (largest < 1e-12 || stuck)) return true;
    if (stuck) break;
  }
  return size < 1e-10 * (1 + m->size);
}

// Reports the loop with the largest gap.
static void report_loop(od_assembly *s) {
  const od_model *m = s->m;
  const od_closure *worst = &m->closure[0];
  double gap = -1;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    double sum = 0;
    for (int k = 0; k < c->rows; k++) sum += s->r[c->row + k] * s->r[c->row + k];
    if (sqrt(sum) > gap) gap = sqrt(sum), worst = c;
  }
  const char *unit = worst->kind == OD_CLOSE_DOT ? " rad" : " m";
  if (worst->joint >= 0)
    od_build_report(s->b, OD_ABOUT_JOINT, worst->joint,
                    "the loop through joint '%s' cannot close: a gap of %.3g%s remains; change lengths or axes, "
                    "or initial values that are approximate ('about')",
                    od_model_text(m, m->joint[worst->joint].name), gap, unit);
  else
    od_build_report(s->b, OD_ABOUT_ROD, worst->rod,
                    "the loop through rod '%s' cannot close: the rod is %.3g m too long or too short; change lengths, "
                    "or initial values that are approximate ('about')",
                    od_model_text(m, m->rod[worst->rod].name), gap);
}

// Reports each exact value that cannot be reached although the loops are closed, with the nearest value that was found.
static void report_conditions(od_assembly *s) {
  const od_model *m = s->m;
  for (int i = 0; i < s->positions; i++) {
    double miss = s->r[m->rows + i];
    if (fabs(miss) > 1e-9 * (1 + m->size))
      od_build_report(s->b, OD_ABOUT_INITIAL, s->at_position[i].initial,
                      "'%s' cannot be %.6g together with the loops and the other exact values; the nearest value "
                      "found is %.6g (SI units)",
                      s->b->initial[s->at_position[i].initial].quantity, s->at_position[i].value,
                      s->at_position[i].value + miss);
  }
}

// Stores the positions of the last search as initial positions.
static void keep_positions(od_assembly *s) {
  memcpy(s->m->z0, s->w + s->m->layout.z, (size_t)s->m->coordinates * sizeof *s->m->z0);
}

void od_assembly_positions(od_assembly *s) {
  od_model *m = s->m;
  if (find_positions(s, s->positions)) {
    keep_positions(s);
    return;
  }
  int before = s->b->problems;
  double *r = od_malloc((size_t)s->rows * sizeof *r), *z = od_malloc(((size_t)m->coordinates + 1) * sizeof *z);
  if (r) memcpy(r, s->r, (size_t)s->rows * sizeof *r);
  if (z) memcpy(z, s->w + m->layout.z, (size_t)m->coordinates * sizeof *z);
  if (s->positions > 0 && find_positions(s, 0)) {
    if (r) memcpy(s->r, r, (size_t)s->rows * sizeof *r);
    report_conditions(s);
  }
  bool is_closed = s->b->problems > before;  // true if the second search has closed the loops
  if (z && !is_closed) memcpy(s->w + m->layout.z, z, (size_t)m->coordinates * sizeof *z);
  keep_positions(s);
  if (!is_closed && m->closures > 0) report_loop(s);
  if (s->b->problems == before)
    od_build_report(
        s->b, OD_ABOUT_MACHINE, -1,
        "the exact initial values contradict each other; remove one of these values, or make one value approximate ('about')");
  od_free(r);
  od_free(z);
}

void od_assembly_guess_positions(od_assembly *s) {
  find_positions(s, s->positions);
  keep_positions(s);
}

// Computes the initial rates. Rounds after the first only reduce round-off.
void od_assembly_rates(od_assembly *s) {
  od_model *m = s->m;
  const od_layout *l = &m->layout;
  int n = m->coordinates, rows = m->rows + s->rates;
  double *zd = s->w + l->zd;
  memcpy(zd, m->zd0, (size_t)n * sizeof *zd);
  double size = 0;
  for (int j = 0; j < n; j++) size = fmax(size, fabs(zd[j]));
  for (int round = 0; round < 3 && rows > 0; round++) {
    od_mechanics(m)->open_positions(m, s->w);
    closure_rows(s, s->matrix);
    for (int i = 0; i < m->rows; i++) {
      s->r[i] = 0;
      for (int j = 0; j < n; j++) s->r[i] += s->matrix[i * n + j] * zd[j];
    }
    condition_rows(s, s->at_rate, s->rates, true);
    least_norm_step(s, rows, s->trial);
    for (int j = 0; j < n; j++) zd[j] += s->trial[j], size = fmax(size, fabs(zd[j]));
  }
  for (int i = 0; i < s->rates; i++)
    if (fabs(s->r[m->rows + i]) > 1e-8 * (1 + size))
      od_build_report(
          s->b, OD_ABOUT_INITIAL, s->at_rate[i].initial,
          "the rate '%s' cannot be %.6g (SI units) together with the loops and the other rates; change or remove one of these rates",
          s->b->initial[s->at_rate[i].initial].quantity, s->at_rate[i].value);
  memcpy(m->zd0, zd, (size_t)n * sizeof *zd);
}

// ---- the rank of the closure Jacobian

int od_assembly_rank(od_assembly *s, int *integers, double *matrix) {
  od_model *m = s->m;
  m->freedom = -1;  // not determined before the rank is computed
  od_mechanics(m)->open_positions(m, s->w);
  return od_partition_choose(m, s->w + m->layout.jacobian, integers, matrix);
}

// Takes a small step from `start` along a motion that the loops allow, and closes the loops again. Returns false if the
// loops cannot be closed.
static bool step_aside(od_assembly *s, const double *start, double sense) {
  od_model *m = s->m;
  int n = m->coordinates;
  double *way = m->z0;
  memcpy(s->w + m->layout.z, start, (size_t)n * sizeof *start);
  od_mechanics(m)->open_positions(m, s->w);
  closure_rows(s, s->matrix);
  for (int j = 0; j < n; j++) way[j] = sense * sin(1 + 1.7 * j);
  for (int i = 0; i < m->rows; i++) {
    s->r[i] = 0;
    for (int j = 0; j < n; j++) s->r[i] += s->matrix[i * n + j] * way[j];
  }
  least_norm_step(s, m->rows, s->trial);
  for (int j = 0; j < n; j++) {
    double weight = od_model_coordinate_unit(m, j);
    m->z0[j] = start[j] + 1e-3 * weight * (way[j] + s->trial[j]);
  }
  return find_positions(s, 0);
}

int od_assembly_rank_nearby(od_assembly *s, int *integers, double *matrix, int rank) {
  od_model *m = s->m;
  size_t size = (size_t)m->coordinates * sizeof *m->z0;
  double *start = od_malloc(size);
  s->no_memory = s->no_memory || !start;
  if (!start) return rank;
  memcpy(start, m->z0, size);
  int largest = rank;
  for (int sense = -1; sense <= 1; sense += 2) {
    int found = step_aside(s, start, sense) ? od_assembly_rank(s, integers, matrix) : rank;
    if (found > largest) largest = found;
    memcpy(m->z0, start, size);
  }
  memcpy(s->w + m->layout.z, start, size);
  od_mechanics(m)->open_positions(m, s->w);
  od_free(start);
  return largest;
}
#endif
