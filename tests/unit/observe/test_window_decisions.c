// The decisions of the relinearizing filter (observe/smoother_iterate.c): when windows begin and end, how many trajectories are tried and
// accepted, steps that are halved, the second start, widened priors, windows that are late, and restarts. These decisions change the work and
// the path of the search, but often not the estimate, so estimates alone do not show a wrong decision. Oracle: reference values of this
// version, which are sums of integers over all samples. They are exact because the filter is deterministic. A changed rule changes them on
// purpose; the test prints the new values. The estimates are compared with the true parameters.
#include <math.h>
#include <string.h>

#include "support/test.h"

#include "observe/observer_block.h"
#include "observe/smoother.h"
#include "oleodyn/oleodyn.h"
#include "support/random_machine.h"

enum { NX = 2, NP = 2, NY = 2 };
static const double step = 0.1, sigma[NY] = {0.02, 0.03};

static long evaluations;
static double refused;  // a larger speed cannot be evaluated

// A pendulum with friction: x0' = x1, x1' = u - p0 sin(x0) - p1 x1.
static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  evaluations++;
  dx[0] = x[1];
  dx[1] = u[0] - p[0] * sin(x[0]) - p[1] * x[1];
  return fabs(x[1]) > refused;
}
static int rate_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)u;
  if (fx) fx[0] = 0, fx[1] = 1, fx[2] = -p[0] * cos(x[0]), fx[3] = -p[1];
  if (fu) fu[0] = 0, fu[1] = 1;
  if (fp) fp[0] = fp[1] = 0, fp[2] = -sin(x[0]), fp[3] = -x[1];
  return 0;
}
static int sensors(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = sin(x[0]);
  y[1] = x[1] + 0.1 * x[1] * x[1];
  return 0;
}
static int sensor_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p;
  if (hx) hx[0] = cos(x[0]), hx[1] = 0, hx[2] = 0, hx[3] = 1 + 0.2 * x[1];
  if (hu) memset(hu, 0, NY * sizeof *hu);
  if (hp) memset(hp, 0, (size_t)(NY * NP) * sizeof *hp);
  return 0;
}

static double drive(int k) {
  return 1.5 * sin(0.31 * k) + cos(0.123 * k);
}

// Sums over all samples.
typedef struct ledger {
  long phase, window, end, due, origin, begun, at, accepted, passes, attempt, comparing, spare, restoring, converged,
      widened, settled, fresh, has_end, kept_end, halvings, failures, evaluations;
} ledger;
static const char *const names[] = {"phase",     "window",    "end",      "due",        "origin",    "begun",
                                    "at",        "accepted",  "passes",   "attempt",    "comparing", "spare",
                                    "restoring", "converged", "widened",  "settled",    "fresh",     "has_end",
                                    "kept_end",  "halvings",  "failures", "evaluations"};
enum { FIELDS = sizeof(ledger) / sizeof(long) };

static void add(ledger *l, const od_smoother *s) {
  l->phase += s->phase, l->window += s->last - s->first, l->end += s->end, l->due += s->due, l->origin += s->origin;
  l->begun += s->begun, l->at += s->at, l->accepted += s->accepted, l->passes += s->passes, l->attempt += s->attempt;
  l->comparing += s->comparing, l->spare += s->spare, l->restoring += s->restoring, l->converged += s->converged;
  l->widened += s->widened, l->settled += s->settled, l->fresh += s->fresh, l->has_end += s->has_end;
  l->kept_end += s->kept_end;
  if (s->alpha > 0) l->halvings += lrint(-log2(s->alpha));
}

typedef struct scene {
  const char *name;
  int samples, window;
  bool spread, widen;
  double start[NX], p[NP], sigmas[4], low, refused;  // the prior, the lower bound of p0, the largest speed
  double wild;                                       // deviation of wild readings, every 37th
  double off;                                        // constant error of the first sensor
  bool finds;                                        // the estimate agrees with the truth at the end
  ledger want;
  double want_J;  // sum of J of the finished windows over all samples
} scene;

static bool check(const scene *c) {
  const od_function f = {.nx = NX,
                         .nu = 1,
                         .ny = NY,
                         .np = NP,
                         .x0 = c->start,
                         .p = c->p,
                         .f = rates,
                         .f_jacobians = rate_slopes,
                         .h = sensors,
                         .h_jacobians = sensor_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const double low[NP] = {c->low, 0}, high[NP] = {50, 10};
  const double choice[3] = {c->window, c->spread, c->widen};
  const od_observer_options options = {
      .filter = od_filter_find("relinearising"), .sensor_sigma = sigma, .choice = choice, .low = low, .high = high};
  od_observer *o = od_observer_new(plant, &options);
  double P[16] = {0}, noise[4] = {1e-6, 4e-6, 1e-8, 0}, u = drive(0);
  for (int i = 0; i < 4; i++) P[5 * i] = c->sigmas[i] * c->sigmas[i];
  // The truth, by small steps of the midpoint rule.
  double x[NX] = {0.9, 0.4}, dx[NX];
  const double p[NP] = {4, 0.3};
  od_dice dice = {11};
  ledger sum = {0};
  refused = INFINITY;
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
  evaluations = 0;
  long used = 0;
  double J = 0;
  for (int k = 0; k < c->samples; k++) {
    refused = INFINITY;
    for (int i = 0; i < 20 && k > 0; i++) {
      double between = drive(k - 1) + (drive(k) - drive(k - 1)) * (i + 0.5) / 20, half[NX];
      rates(NULL, 0, x, &between, p, dx);
      for (int j = 0; j < NX; j++) half[j] = x[j] + step / 40 * dx[j];
      rates(NULL, 0, half, &between, p, dx);
      for (int j = 0; j < NX; j++) x[j] += step / 20 * dx[j];
    }
    double y[NY];
    sensors(NULL, 0, x, NULL, p, y);
    for (int i = 0; i < NY; i++)
      for (int j = 0; j < 12; j++) y[i] += sigma[i] * od_dice_uniform(&dice, -0.5, 0.5);
    y[0] += c->off + (k % 37 == 36 ? c->wild : 0);
    if (k % 11 == 5) y[1] = NAN;
    refused = c->refused;
    u = drive(k);
    evaluations = 0;
    if (k > 0 && od_observer_predict(o, step, &u, NULL, noise) != OD_OK) sum.failures++;
    if (od_observer_correct(o, y) != OD_OK) sum.failures++;
    used += evaluations;
    add(&sum, od_observer_memory(o));
    double end_J = ((const od_smoother *)od_observer_memory(o))->end_J;
    J += isfinite(end_J) ? end_J : 0;
  }
  sum.evaluations = used;
  const long *got = &sum.phase, *want = &c->want.phase;
  print_message("%s: p %.4f %.4f, sigmas %.4f %.4f\n      {", c->name, od_observer_parameters(o)[0],
                od_observer_parameters(o)[1], od_observer_parameter_sigma(o, 0), od_observer_parameter_sigma(o, 1));
  for (int i = 0; i < FIELDS; i++) print_message("%ld%s", got[i], i + 1 < FIELDS ? ", " : "}");
  print_message(", %.12g},\n", J);
  for (int i = 0; i < NP && c->finds; i++)
    assert_true(fabs(od_observer_parameters(o)[i] - p[i]) < 4 * od_observer_parameter_sigma(o, i) + 0.02);
  bool same = fabs(J - c->want_J) <= 1e-9 * fabs(J);
  for (int i = 0; i < FIELDS; i++) {
    if (got[i] != want[i]) print_message("      %s: %ld instead of %ld\n", names[i], got[i], want[i]);
    same = same && got[i] == want[i];
  }
  od_observer_free(o);
  od_plant_free(plant);
  return same;
}

static const scene scenes[] = {
    {"near prior",
     300,
     64,
     true,
     false,
     {0.9, 0.4},
     {3.5, 0.4},
     {0.1, 0.1, 1, 0.2},
     0.1,
     INFINITY,
     0,
     0,
     true,
     {38, 10034, 37120, 53760, 0, 0, 37518, 265, 265, 0, 0, 0, 0, 265, 0, 232, 265, 265, 35927, 0, 0, 3769},
     29486.5250158},
    {"near prior, at once",
     200,
     64,
     false,
     false,
     {0.9, 0.4},
     {3.5, 0.4},
     {0.1, 0.1, 1, 0.2},
     0.1,
     INFINITY,
     0,
     0,
     true,
     {0, 6076, 15104, 25344, 0, 0, 15104, 184, 184, 0, 0, 0, 0, 184, 0, 136, 184, 184, 14952, 0, 0, 2758},
     18686.8447334},
    {"far prior",
     300,
     32,
     true,
     false,
     {-0.5, 1},
     {12, 2},
     {1, 1, 8, 2},
     0.1,
     INFINITY,
     0,
     0,
     true,
     {40, 5106, 40576, 49664, 0, 0, 40860, 279, 279, 0, 0, 0, 0, 264, 0, 266, 264, 265, 39716, 0, 0, 3698},
     15901.0872921},
    {"far prior, at once",
     200,
     50,
     false,
     false,
     {-0.5, 1},
     {12, 2},
     {1, 1, 8, 2},
     0.1,
     INFINITY,
     0,
     0,
     true,
     {0, 4900, 15832, 24168, 0, 0, 15832, 200, 200, 0, 0, 0, 0, 184, 0, 150, 184, 184, 15666, 0, 0, 2555},
     15987.3274993},
    {"narrow prior",
     300,
     40,
     true,
     false,
     {0.2, -0.5},
     {9, 1},
     {0.05, 0.05, 0.5, 0.1},
     0.1,
     INFINITY,
     0,
     0,
     false,
     {81, 6338, 39584, 50560, 0, 0, 40001, 344, 360, 42, 2, 44, 1, 256, 0, 0, 253, 267, 38518, 1, 0, 6324},
     100554.055232},
    {"narrow prior, widened",
     300,
     40,
     true,
     true,
     {0.2, -0.5},
     {9, 1},
     {0.05, 0.05, 0.5, 0.1},
     0.1,
     INFINITY,
     0,
     0,
     false,
     {67, 6050, 39584, 50560, 0, 0, 39966, 281, 287, 14, 0, 15, 0, 261, 7, 234, 260, 269, 38619, 1, 0, 4407},
     73980.0152866},
    {"narrow prior, widened at once",
     150,
     40,
     false,
     true,
     {0.2, -0.5},
     {9, 1},
     {0.05, 0.05, 0.5, 0.1},
     0.1,
     INFINITY,
     0,
     0,
     false,
     {0, 2567, 8864, 13840, 0, 0, 8864, 150, 150, 16, 0, 16, 0, 134, 16, 86, 134, 134, 8730, 0, 0, 2822},
     8521.34591511},
    {"bound",
     200,
     32,
     true,
     false,
     {0.5, 0},
     {8, 1},
     {1, 1, 5, 1},
     6,
     INFINITY,
     0,
     0,
     false,
     {78, 1596, 5632, 12807, 8151, 0, 5089, 202, 1721, 317, 3, 179, 2, 0, 0, 0, 148, 178, 8410, 37, 0, 6546},
     6025207.22677},
    {"wild readings",
     300,
     48,
     true,
     false,
     {0.7, 0.2},
     {6, 0.6},
     {0.5, 0.5, 3, 0.5},
     0.1,
     INFINITY,
     1,
     0,
     false,
     {34, 1891, 12864, 21476, 14756, 0, 12526, 508, 516, 244, 5, 247, 3, 270, 0, 0, 267, 273, 15669, 0, 0, 3568},
     575190.085617},
    {"wrong sensor",
     200,
     24,
     true,
     true,
     {0.7, 0.2},
     {6, 0.6},
     {0.5, 0.5, 3, 0.5},
     0.1,
     INFINITY,
     0,
     0.4,
     false,
     {55, 990, 4288, 10847, 6975, 0, 3984, 213, 1795, 329, 3, 180, 2, 157, 0, 0, 158, 178, 6996, 4, 0, 5667},
     264885.836049},
    {"limited speed",
     200,
     32,
     true,
     false,
     {-2, 3},
     {20, 0.1},
     {2, 2, 15, 1},
     0.1,
     6,
     0,
     0,
     false,
     {28, 3388, 17152, 23040, 0, 0, 17326, 185, 185, 0, 0, 0, 0, 170, 0, 166, 170, 171, 16584, 0, 0, 2591},
     10704.1015199},
    {"limited speed, at once",
     200,
     32,
     false,
     true,
     {-2, 3},
     {20, 0.1},
     {2, 2, 15, 1},
     0.1,
     6,
     0,
     0,
     false,
     {0, 3004, 17152, 23040, 0, 0, 17152, 200, 200, 0, 0, 0, 0, 184, 0, 168, 184, 184, 16968, 0, 0, 2510},
     10750.701306},
    {"least window",
     150,
     16,
     true,
     false,
     {-0.5, 1},
     {12, 2},
     {1, 1, 8, 2},
     0.1,
     INFINITY,
     0,
     0,
     false,
     {20, 1255, 10080, 12480, 0, 0, 10184, 139, 139, 0, 0, 0, 0, 124, 0, 132, 124, 125, 9770, 0, 0, 1845},
     3978.96908287},
    {"window of 100",
     500,
     100,
     true,
     true,
     {-2.5, 2},
     {15, 0.1},
     {2, 2, 10, 1},
     0.1,
     INFINITY,
     0,
     0,
     false,
     {93, 27550, 103584, 146528, 0, 0, 104783, 487, 498, 13, 0, 15, 0, 437, 0, 393, 438, 449, 100442, 1, 0, 8112},
     1791978.36645},
    {"impossible readings",
     200,
     32,
     true,
     false,
     {0.9, 0.4},
     {3.5, 0.4},
     {0.1, 0.1, 1, 0.2},
     0.1,
     INFINITY,
     1e160,
     0,
     false,
     {6, 1385, 5632, 11520, 0, 0, 5950, 181, 181, 0, 0, 0, 0, 181, 0, 166, 181, 181, 5401, 0, 325, 785},
     11299.2255213},
    {"refused speeds",
     250,
     32,
     true,
     false,
     {0.9, 0.4},
     {3.5, 0.4},
     {0.5, 0.5, 3, 0.4},
     0.1,
     1.6,
     0,
     0,
     false,
     {71, 1476, 12035, 18829, 13725, 5859, 11824, 566, 821, 237, 6, 222, 4, 200, 0, 0, 195, 218, 13815, 0, 19, 5750},
     484807.57355},
    {"refused speeds, at once",
     250,
     24,
     false,
     false,
     {-0.5, 1},
     {8, 0.4},
     {1, 1, 6, 0.4},
     0.1,
     2,
     0.5,
     0,
     false,
     {0, 552, 10400, 14528, 9696, 0, 7976, 242, 444, 0, 0, 202, 0, 234, 0, 24, 234, 234, 10158, 0, 0, 2105},
     110850.098597},
};

static void test_decisions(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) wrong += !check(&scenes[i]);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_decisions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
