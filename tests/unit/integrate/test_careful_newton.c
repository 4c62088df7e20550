// Newton's method with shortened steps (careful_newton() in integrate/implicit.c), for stages where Newton's method fails. Oracle: the
// published rule, followed for unknowns that do not depend on each other: full Newton steps with exact derivatives, halved until the next
// correction by the same matrix is below 1 - part/4 of the step; sizes are relative to 1 plus the rates before the step plus the step.
// Points that cannot be evaluated are not accepted, and the plant goes back to its last settled point. All evaluated points are compared.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"
#include "support/random_machine.h"

enum { N = 3, POINTS = 4000 };

// x_i' = -a_i atan(s_i (x_i - c_i)): far from c_i Newton's method overshoots.
typedef struct law {
  double a[N], s[N], c[N];
  double gap, width;  // the rates do not exist if the first state is near `gap`
  double point[POINTS][N];
  int points, back[POINTS], backs;  // returns to the settled point: the numbers of points before
} law;

static double rate(const law *l, int i, double x) {
  return -l->a[i] * atan(l->s[i] * (x - l->c[i]));
}
static double slope(const law *l, int i, double x) {
  double y = l->s[i] * (x - l->c[i]);
  return -l->a[i] * l->s[i] / (1 + y * y);
}
static bool is_refused(const law *l, const double *x) {
  return fabs(x[0] - l->gap) < l->width;
}
static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)t, (void)u, (void)p;
  law *l = user;
  assert_true(l->points < POINTS);
  memcpy(l->point[l->points++], x, sizeof l->point[0]);
  for (int i = 0; i < N; i++) dx[i] = rate(l, i, x[i]);
  return is_refused(l, x);
}
static int slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                  double *fp) {
  (void)t, (void)u, (void)p, (void)fu, (void)fp;
  memset(fx, 0, N * N * sizeof *fx);
  for (int i = 0; i < N; i++) fx[i * (N + 1)] = slope(user, i, x[i]);
  return 0;
}

static law *of_plant;
static void settle(const od_plant *plant, void *work, bool back) {
  (void)plant, (void)work;
  if (back) of_plant->back[of_plant->backs++] = of_plant->points;
}

static double relative(const double *change, const double *there) {
  double largest = 0;
  for (int i = 0; i < N; i++) largest = fmax(largest, fabs(change[i]) / (1 + fabs(there[i])));
  return largest;
}

// The evaluated points of a stage x = base + beta k, which of them cannot be evaluated, and the result x.
typedef struct search {
  double point[POINTS][N], x[N];
  bool fails[POINTS];
  int points;
  bool done;
} search;

static bool add_point(search *s, const law *l, const double *x) {
  s->fails[s->points] = is_refused(l, x);
  memcpy(s->point[s->points], x, sizeof s->point[0]);
  return !s->fails[s->points++];
}

static void follow(const law *l, const double *x0, const double *k0, double beta, search *s) {
  double k[N], step[N], next[N], M[N], reach[N], trial[N], *x = s->x;
  s->points = 0;
  memcpy(k, k0, sizeof k);
  for (int iteration = 0; iteration < 60; iteration++) {
    for (int i = 0; i < N; i++) {
      x[i] = x0[i] + beta * (k0[i] + k[i]);
      M[i] = 1 - beta * slope(l, i, x[i]);
      step[i] = (k[i] - rate(l, i, x[i])) / M[i];
      reach[i] = fabs(k[i]) + fabs(step[i]);
    }
    if (!add_point(s, l, x)) return;
    s->done = relative(step, k) < 1e-11;
    double size = relative(step, reach), part = 1;
    for (; part > 1e-6; part /= 2) {
      for (int i = 0; i < N; i++) {
        trial[i] = k[i] - part * step[i];
        x[i] = x0[i] + beta * (k0[i] + trial[i]);
        next[i] = (trial[i] - rate(l, i, x[i])) / M[i];
      }
      if (s->done) return;
      if (add_point(s, l, x) && relative(next, reach) <= (1 - part / 4) * size) break;
    }
    s->done = part <= 1e-6 && size < 1e-7;
    if (part <= 1e-6) return;
    memcpy(k, trial, sizeof k);
  }
}

static void points_of_shortened_steps(void **state) {
  (void)state;
  static law l;
  static search s;
  int careful = 0, failed = 0, compared = 0, refused = 0;
  od_dice dice = {1};
  for (int run = 0; run < 600; run++) {
    double x0[N], k0[N], h = 0.1;
    l = (law){.gap = 0};
    for (int i = 0; i < N; i++) {
      l.a[i] = pow(10, od_dice_uniform(&dice, 0, 4)), l.s[i] = pow(10, od_dice_uniform(&dice, 0, 3));
      l.c[i] = od_dice_uniform(&dice, -1, 1), x0[i] = od_dice_uniform(&dice, -10, 10);
      k0[i] = rate(&l, i, x0[i]);
    }
    if (run % 3 == 0) {  // between the state and the first point
      l.gap = x0[0] + h * k0[0] * od_dice_uniform(&dice, 0.1, 0.9);
      l.width = 0.05 * fabs(h * k0[0]);
    }
    const od_function f = {.nx = N, .x0 = x0, .user = &l, .f = rates, .f_jacobians = slopes};
    od_plant *plant = NULL;
    assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
    od_plant_ops ops = *plant->ops;
    ops.settle = settle, plant->ops = &ops, of_plant = &l;
    od_sim *sim = od_sim_new(plant);
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    l.points = l.backs = 0;
    od_status status = od_sim_step(sim, h, NULL);
    int begin = 1, backs = 1;
    while (begin < l.points && memcmp(l.point[begin], l.point[0], sizeof l.point[0]) != 0) begin++;
    if (begin < l.points) {  // Newton's method has failed, and the search begins again at the first point
      follow(&l, x0, k0, h / 2, &s);
      assert_true((status == OD_OK) == s.done);
      careful++, failed += !s.done;
      assert_true(l.backs > 0 && l.back[0] == begin);
      for (int k = 0; k < s.points; k++, compared++) {
        for (int i = 0; i < N; i++) near_scaled(l.point[begin + k][i], s.point[k][i], 1e-9, 1);
        if (s.fails[k]) assert_true(backs < l.backs && l.back[backs++] == begin + k + 1), refused++;
      }
      for (int i = 0; s.done && i < N; i++) near_scaled(od_sim_state(sim)[i], s.x[i], 1e-9, 1);
      if (s.done) assert_int_equal(l.backs, backs);
    }
    od_sim_free(sim);
    od_plant_free(plant);
  }
  print_message("%d stages, %d without a solution, %d points compared, %d of them refused\n", careful, failed, compared,
                refused);
  assert_true(careful > 100 && refused > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(points_of_shortened_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
