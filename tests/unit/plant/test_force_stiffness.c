// The stiffness of forces in the coordinates of a machine (od_plant_ops.force_stiffness). Oracle: K = sum of k ds/dz ds/dz', with the derivatives
// of the springs' lengths, which are outputs, and with joint springs on the diagonal.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "integrate/sim_block.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

enum { N = 3, LINES = 2 };

static const char text[] =
    "gravity: [0, -9.81 m/s^2]\nground: {points: {wall: [-1 m, 0.5 m]}}\n"
    "bodies:\n  a: {beam: {mass: 2 kg, length: 1 m}}\n  b: {beam: {mass: 1 kg, length: 0.7 m}}\n  c: {beam: {mass: 1 kg, length: 0.4 m}}\n"
    "joints:\n  A: {type: revolute, between: [ground, a.start], stiffness: 30 N m/rad}\n"
    "  B: {type: revolute, between: [a.end, b.start]}\n  C: {type: revolute, between: [b.end, c.start], stiffness: 7 N m/rad}\n"
    "springs:\n  s: {between: [ground.wall, b.end], stiffness: 200 N/m, length: 0.5 m}\n"
    "  t: {between: [a.start, c.end], stiffness: 90 N/m, length: 1 m, damping: 5 N s/m}\n"
    "initial: {A.angle: 0.4 rad, B.angle: -0.9 rad, C.angle: 1.2 rad, A.rate: 1 rad/s}\n";

static void springs(void **state) {
  (void)state;
  static const double line[LINES] = {200, 90}, joint[N] = {30, 0, 7};
  od_test_run r =
      od_test_begin(od_test_machine_text(text), "s.length", "t.length", "A.angle", "B.angle", "C.angle", NULL);
  assert_int_equal(r.plant->nz, N);
  assert_int_equal(od_plant_nx(r.plant), 2 * N);
  for (int k = 0; k < 20; k++) {
    double K[N * N + 1], hx[5 * 2 * N], y[5];
    for (int i = 0; i <= N * N; i++) K[i] = NAN;
    assert_int_equal(od_sim_output_jacobians(r.sim, hx, NULL, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    assert_int_equal(r.plant->ops->force_stiffness(r.plant, od_sim_work(r.sim), K), OD_OK);
    assert_true(isnan(K[N * N]));
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double want = i == j ? joint[i] : 0;
        for (int s = 0; s < LINES; s++) want += line[s] * hx[s * 2 * N + i] * hx[s * 2 * N + j];
        near(K[i * N + j], want, 1e-9 * 300);
      }
    // The coordinates are the joints' angles, in this order.
    for (int i = 0; i < N; i++) near(y[LINES + i], od_sim_state(r.sim)[i], 1e-12);
    assert_int_equal(od_sim_step(r.sim, 0.02, NULL), OD_OK);
  }
  od_test_end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(springs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
