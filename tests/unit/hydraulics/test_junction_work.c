// The work of the solver of junctions (hydraulics/junctions_x.h): evaluations and derivatives of the elements at junctions, while the pressures of
// volumes and the states of valves change. Damping, the search along a step, bisections and their limits change this work; the pressures that they
// find are the same. Oracle: reference values of this version, exact because the solver is deterministic, and the sums of flows at the junctions,
// which are zero. A changed rule changes the numbers on purpose; the test prints the new ones.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "machine/machine.h"
#include "model/model.h"
#include "plant/model_plant.h"
#include "oleodyn/oleodyn.h"
#include "support/machines.h"

enum { CLASSES = 8, POINTS = 12 };

// Copies of element classes whose functions count their calls.
static const od_element_class *original[CLASSES];
static long evaluated, complex_evaluated, derived;
#define COUNTING(k)                                                                     \
  static void evaluate_##k(const od_batch *b, const int *pool, double *w) {             \
    evaluated++;                                                                        \
    original[k]->evaluate(b, pool, w);                                                  \
  }                                                                                     \
  static void evaluate_complex_##k(const od_batch *b, const int *pool, od_complex *w) { \
    complex_evaluated++;                                                                \
    original[k]->evaluate_complex(b, pool, w);                                          \
  }                                                                                     \
  static void slopes_##k(const od_batch *b, const int *pool, double *w) {               \
    derived++;                                                                          \
    original[k]->slopes(b, pool, w);                                                    \
  }
COUNTING(0)
COUNTING(1)
COUNTING(2)
COUNTING(3)
COUNTING(4)
COUNTING(5)
COUNTING(6)
COUNTING(7)
#define ROW(k) \
  { evaluate_##k, evaluate_complex_##k, slopes_##k }
static const struct {
  void (*evaluate)(const od_batch *b, const int *pool, double *w);
  void (*evaluate_complex)(const od_batch *b, const int *pool, od_complex *w);
  void (*slopes)(const od_batch *b, const int *pool, double *w);
} counting[CLASSES] = {ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7)};

typedef struct circuit {
  const char *text;
  int fails;  // number of points without a solution
  long evaluated, derived, complex_evaluated;
} circuit;

static bool check(const circuit *c, int index) {
  od_machine *machine = od_test_machine_text(c->text);
  od_model m = *od_machine_model(machine);
  od_element_class copies[CLASSES];
  const od_element_class *table[CLASSES];
  assert_true(m.element_classes <= CLASSES);
  for (int i = 0; i < m.element_classes; i++) {
    original[i] = m.element_class[i];
    copies[i] = *original[i];
    copies[i].evaluate = counting[i].evaluate;
    copies[i].evaluate_complex = counting[i].evaluate_complex;
    copies[i].slopes = counting[i].slopes;
    table[i] = &copies[i];
  }
  m.element_class = table;
  od_plant *plant = NULL;
  assert_int_equal(od_model_plant(&m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  void *work = aligned_alloc(64, (plant->work_size + 63) / 64 * 64), *memory = NULL;
  int nx = od_plant_nx(plant);
  double x0[16], x[16], k[16] = {0}, g[16], u[4] = {0}, X[32], K[32] = {0}, G[32];
  assert_true(nx <= 16 && plant->nu <= 4);
  assert_int_equal(plant->ops->start(plant, work, x0), OD_OK);
  const od_complex_ops *in_complex = plant->ops->in_complex;
  memory = calloc(1, in_complex->memory(plant));
  evaluated = derived = complex_evaluated = 0;
  int fails = 0;
  double flows = 0;
  for (int point = 0; point < POINTS; point++) {
    for (int i = 0; i < nx; i++) x[i] = fabs(x0[i] * (1 + 0.8 * sin(2.0 * point * (i + 1))) + 1e5 * point);
    for (int i = 0; i < plant->nu; i++) u[i] = sin(1.3 * point + i);
    od_status status = plant->ops->residual(plant, work, 0, x, k, u, g);
    fails += status != OD_OK;
    if (status != OD_OK) continue;
    const double *w = od_model_plant_scalars(plant, work);
    for (int i = 0; i < m.junctions; i++)
      if (w[m.layout.pressure + m.join.at_junction.node[i]] > 0)
        flows = fmax(flows, fabs(w[m.layout.junction_flow + i]));
    if (point % 4) continue;
    for (int i = 0; i < nx; i++) X[2 * i] = x[i], X[2 * i + 1] = 1e-40;
    assert_int_equal(in_complex->begin(plant, work, memory, -1, 0), OD_OK);
    assert_int_equal(in_complex->residual(plant, work, memory, X, K, G), OD_OK);
  }

  print_message("circuit %d: {%d, %ld, %ld, %ld}, largest sum of flows %.2g m3/s\n", index, fails, evaluated, derived,
                complex_evaluated, flows);
  bool same = fails == c->fails && evaluated == c->evaluated && derived == c->derived &&
              complex_evaluated == c->complex_evaluated;
  assert_true(flows < 1e-9);  // m3/s, before the last, small step
  free(work);
  free(memory);
  od_plant_free(plant);
  od_machine_free(machine);
  return same;
}

#define OIL "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"
#define RUN "run: {time: 1 s, step: 1 ms}\n"

static const circuit circuits[] = {
    // a row of orifices of very different areas
    {OIL
     "volumes: {P: {volume: 1 L}, Q: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [A, B, C]\n"
     "orifices: {a: {between: [P, A], area: 3 mm^2, discharge: 0.7}, b: {between: [A, B], area: 0.01 mm^2, discharge: 0.7}, c: {between: [B, C], area: 20 mm^2, discharge: 0.7},\n"
     "  d: {between: [C, T], area: 1 mm^2, discharge: 0.7}, e: {between: [B, Q], area: 0.2 mm^2, discharge: 0.7}}\n"
     "initial: {P.pressure: 101 bar, Q.pressure: 30 bar}\n" RUN,
     0, 827, 565, 147},
    // check valves that open and close, and a leak
    {OIL
     "volumes: {P: {volume: 1 L}, Q: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [A, B]\n"
     "checks: {a: {between: [P, A], area: 30 mm^2, discharge: 0.7, crack: 1 bar, full: 2 bar}, b: {between: [A, Q], area: 3 mm^2, discharge: 0.7, crack: 0.1 bar, full: 1 bar},\n"
     "  c: {between: [T, B], area: 3 mm^2, discharge: 0.7, crack: 0.1 bar, full: 2 bar}}\n"
     "leaks: {l: {between: [A, B], slope: 1e-15}}\n"
     "initial: {P.pressure: 40 bar, Q.pressure: 50 bar}\n" RUN,
     0, 10964, 1304, 105},
    // a pump into a junction with a relief valve, and a pump that draws from a junction
    {OIL
     "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [A, B]\n"
     "pumps: {p: {from: T, to: A, flow: 20 L/min}, q: {from: B, to: P, flow: 10 L/min}}\n"
     "reliefs: {r: {between: [A, T], set: 100 bar, slope: 1e-10}}\n"
     "orifices: {o: {between: [A, P], area: 0.5 mm^2, discharge: 0.7}, s: {between: [T, B], area: 1 mm^2, discharge: 0.7}}\n"
     "initial: {P.pressure: 60 bar}\n" RUN,
     0, 251, 180, 84},
    // eight junctions in a grid, of which some are almost closed
    {OIL
     "volumes: {P: {volume: 1 L}, Q: {volume: 2 L}}\ntanks: {T: {pressure: 0 bar}}\njunctions: [A, B, C, D, E, F, G, H]\n"
     "orifices: {a: {between: [P, A], area: 3 mm^2, discharge: 0.7}, b: {between: [A, B], area: 1e-6 mm^2, discharge: 0.7}, c: {between: [B, C], area: 20 mm^2, discharge: 0.7},\n"
     "  d: {between: [C, D], area: 1 mm^2, discharge: 0.7}, e: {between: [D, E], area: 0.2 mm^2, discharge: 0.7}, f: {between: [E, F], area: 1e-4 mm^2, discharge: 0.7},\n"
     "  g: {between: [F, G], area: 5 mm^2, discharge: 0.7}, h: {between: [G, H], area: 2 mm^2, discharge: 0.7}, i: {between: [H, T], area: 1e-5 mm^2, discharge: 0.7}, j: {between: [D, Q], area: 1 mm^2, discharge: 0.7}}\n"
     "checks: {k: {between: [H, A], area: 3 mm^2, discharge: 0.7, crack: 0.1 bar, full: 1 bar}, l: {between: [G, Q], area: 3 mm^2, discharge: 0.7, crack: 3 bar, full: 3.5 bar}}\n"
     "initial: {P.pressure: 200 bar, Q.pressure: 3 bar}\n" RUN,
     0, 1692, 1092, 438},
    // a pump without an outlet
    {OIL "volumes: {P: {volume: 1 L}}\njunctions: [A, B]\npumps: {p: {from: P, to: A, flow: 20 L/min}}\n"
         "orifices: {o: {between: [P, B], area: 0.5 mm^2, discharge: 0.7}}\n"
         "initial: {P.pressure: 60 bar}\n" RUN,
     12, 25236, 1440, 0},
};

static void test_work(void **state) {
  (void)state;
  int wrong = 0;
  for (int i = 0; i < (int)(sizeof circuits / sizeof *circuits); i++) wrong += !check(&circuits[i], i);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
