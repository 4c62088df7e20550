// Outputs for sensors on bodies: gyros, accelerometers, velocities and accelerations along a body's own axes, turn
// accelerations, and gauges between two nodes.
//
// Oracles: a pendulum in closed form, also with gravity across its plane; and over random machines the body's axes as the
// differences of the positions of four of its points, its turn rates as those of their velocities, and accelerations as
// sixth-order differences of velocities over a run of short Runge-Kutta steps.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "integrate/integrators.h"
#include "oleodyn/build.h"
#include "oleodyn/sim.h"
#include "support/random_machine.h"

enum { MACHINES = 20, AXES = 3, SAMPLES = 7, MOST_OUTPUTS = 4096 };

// A simulated machine with all its outputs.
typedef struct rig {
  od_model *m;
  od_plant *plant;
  od_sim *sim;
  double y[MOST_OUTPUTS];
} rig;

static void open_rig(rig *r, od_model *m, const double *u) {
  int outputs[MOST_OUTPUTS];
  assert_true(m->outputs <= MOST_OUTPUTS);
  for (int i = 0; i < m->outputs; i++) outputs[i] = i;
  r->m = m;
  assert_int_equal(od_model_plant(m, outputs, m->outputs, NULL, 0, &r->plant, NULL), OD_OK);
  r->sim = od_sim_new(r->plant);
  assert_non_null(r->sim);
  assert_int_equal(od_sim_start(r->sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(r->sim, r->y), OD_OK);
}

static void close_rig(rig *r) {
  od_sim_free(r->sim);
  od_plant_free(r->plant);
  od_model_free(r->m);
}

static double value(const rig *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static double value(const rig *r, const char *format, ...) {
  char name[80];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(name, sizeof name, format, arguments);
  va_end(arguments);
  int i = od_model_output_find(r->m, name);
  if (i < 0) print_error("there is no output '%s'\n", name);
  assert_true(i >= 0);
  return r->y[i];
}

// --- A pendulum in closed form

static const double length = 0.7, start = 0.4, speed = 1.3, g = 9.81, across = 2.5;

// A point mass on a massless arm that turns about z: angle'' = -g/length cos(angle), with the arm along its body's x.
static od_model *make_pendulum(bool spatial) {
  od_build *b = od_build_new();
  od_build_spatial(b, spatial);
  int gravity = od_build_number(b, "gravity[0]", 0, "m/s2");
  od_build_number(b, "gravity[1]", -g, "m/s2");
  od_build_number(b, "gravity[2]", -across, "m/s2");
  od_build_gravity(b, gravity);
  int mass = od_build_number(b, "bob.mass", 2, "kg"), at = od_build_number(b, "bob.at[0]", length, "m");
  od_build_number(b, "bob.at[1]", 0, "m");
  od_build_number(b, "bob.at[2]", 0, "m");
  int body = od_build_body(b, "bob", OD_SHAPE_POINT, mass);
  int origin = od_build_point(b, "origin", OD_GROUND, -1, -1, 0), hinge = od_build_point(b, "origin", body, -1, -1, 0);
  od_build_point(b, "centre", body, at, -1, 0);
  od_joint_spec joint = od_joint_spec_of(OD_REVOLUTE, origin, hinge);
  joint.axis_a = od_build_number(b, "axis[0]", 0, "1");
  od_build_number(b, "axis[1]", 0, "1");
  od_build_number(b, "axis[2]", 1, "1");
  od_build_joint(b, "J", &joint);
  od_build_initial(b, "J.angle", start, true);
  od_build_initial(b, "J.rate", speed, true);
  od_model *m = NULL;
  od_error err = {0};
  if (od_build_finish(b, &m, &err) != OD_OK) print_error("%s\n", err.text);
  assert_non_null(m);
  od_build_free(b);
  return m;
}

static void close_to(double got, double want) {
  if (!(fabs(got - want) < 1e-12 * (1 + fabs(want)))) print_error("got %.15g, want %.15g\n", got, want);
  assert_true(fabs(got - want) < 1e-12 * (1 + fabs(want)));
}

static void check_pendulum(bool spatial) {
  rig r;
  open_rig(&r, make_pendulum(spatial), NULL);
  assert_int_equal(r.m->planar, !spatial);
  double turn = -g / length * cos(start);
  close_to(value(&r, "J.acceleration"), turn);
  close_to(value(&r, "bob.gyro_x"), 0);
  close_to(value(&r, "bob.gyro_z"), speed);
  close_to(value(&r, "bob.body_alpha_z"), turn);
  close_to(spatial ? value(&r, "bob.alpha_z") : value(&r, "bob.turn_acceleration"), turn);
  close_to(value(&r, "bob.centre.body_vx"), 0);
  close_to(value(&r, "bob.centre.body_vy"), length * speed);
  close_to(value(&r, "bob.centre.body_ax"), -length * speed * speed);
  close_to(value(&r, "bob.centre.body_ay"), length * turn);
  // A pendulum's bob has no force perpendicular to its massless arm; along the arm there is a tension.
  close_to(value(&r, "bob.centre.accelerometer_x"), -length * speed * speed + g * sin(start));
  close_to(value(&r, "bob.centre.accelerometer_y"), 0);
  close_to(value(&r, "bob.centre.accelerometer_z"), across);
  close_to(value(&r, "bob.origin.accelerometer_x"), g * sin(start));
  close_to(value(&r, "bob.origin.accelerometer_y"), g * cos(start));
  close_rig(&r);
}

static void pendulum(void **state) {
  (void)state;
  check_pendulum(false);
  check_pendulum(true);
}

// --- Random machines

static const char axis[] = "xyz";

// The body's axes in those of the ground, from the points o, x, y and z.
static void find_axes(const rig *r, int body, double e[AXES][AXES]) {
  for (int k = 0; k < AXES; k++)
    for (int i = 0; i < AXES; i++)
      e[k][i] = value(r, "body%d.%c.%c", body, axis[k], axis[i]) - value(r, "body%d.o.%c", body, axis[i]);
}

static double along(const double *e, const double *v) {
  return e[0] * v[0] + e[1] * v[1] + e[2] * v[2];
}

// (v_y - v_o) . e_z is the turn rate about x; cyclic for y and z.
static double turn_rate(const rig *r, int body, double e[AXES][AXES], int k) {
  double d[AXES];
  for (int i = 0; i < AXES; i++)
    d[i] = value(r, "body%d.%c.v%c", body, axis[(k + 1) % 3], axis[i]) - value(r, "body%d.o.v%c", body, axis[i]);
  return along(e[(k + 2) % 3], d);
}

// Seven samples, a step apart, of the quantities whose rates are the accelerations of the middle sample.
typedef struct history {
  double v[SAMPLES][AXES], gyro[SAMPLES][AXES];
} history;

static double rate_of(const double *sample, int stride, double h) {
  static const double weight[SAMPLES] = {-1, 9, -45, 0, 45, -9, 1};
  double sum = 0;
  for (int s = 0; s < SAMPLES; s++) sum += weight[s] * sample[s * stride];
  return sum / (60 * h);
}

static void compare(const char *what, unsigned long long seed, double got, double want, double bound) {
  if (!(fabs(got - want) < bound * (1 + fabs(want)))) print_error("machine %llu, %s:\n", seed, what);
  near_scaled(got, want, bound, 1);
}

static void check_velocities(const rig *r, unsigned long long seed, int body, double e[AXES][AXES]) {
  double v[AXES];
  for (int i = 0; i < AXES; i++) v[i] = value(r, "body%d.o.v%c", body, axis[i]);
  for (int k = 0; k < AXES; k++) {
    compare("body_v", seed, value(r, "body%d.o.body_v%c", body, axis[k]), along(e[k], v), 1e-11);
    compare("gyro", seed, value(r, "body%d.gyro_%c", body, axis[k]), turn_rate(r, body, e, k), 1e-11);
  }
}

static void check_accelerations(const rig *r, unsigned long long seed, int body, double e[AXES][AXES], const history *h,
                                double step) {
  double a[AXES], felt[AXES], turn[AXES];
  for (int i = 0; i < AXES; i++) {
    a[i] = rate_of(&h->v[0][i], AXES, step);
    felt[i] = a[i] - r->m->theta[r->m->gravity + i];
    turn[i] = r->m->planar ? r->m->plane[2][i] * value(r, "body%d.turn_acceleration", body)
                           : value(r, "body%d.alpha_%c", body, axis[i]);
  }
  for (int k = 0; k < AXES; k++) {
    double alpha = value(r, "body%d.body_alpha_%c", body, axis[k]);
    compare("body_a", seed, value(r, "body%d.o.body_a%c", body, axis[k]), along(e[k], a), 1e-6);
    compare("accelerometer", seed, value(r, "body%d.o.accelerometer_%c", body, axis[k]), along(e[k], felt), 1e-6);
    compare("body_alpha", seed, alpha, rate_of(&h->gyro[0][k], AXES, step), 1e-6);
    compare("alpha", seed, alpha, along(e[k], turn), 1e-11);
  }
}

static bool check_machine(unsigned long long seed, bool planar, bool loops) {
  od_model *m = od_random_machine(seed, planar, loops, false, false);
  if (!m) return false;
  rig r;
  const double u[2] = {0.7, -0.4}, step = 2e-4;
  open_rig(&r, m, u);
  od_sim_set_integrator(r.sim, od_integrator_find("rk4"));
  double x[160], e[AXES][AXES], middle[MOST_OUTPUTS];
  static history all[16];
  memcpy(x, od_sim_state(r.sim), (size_t)od_plant_nx(r.plant) * sizeof *x);
  for (int i = 0; i < r.plant->nz; i++) x[r.plant->nz + i] += i % 2 ? 0.8 : -0.6;
  assert_int_equal(od_sim_set(r.sim, 0, x, u), OD_OK);
  for (int s = 0; s < SAMPLES; s++) {
    if (s > 0) assert_int_equal(od_sim_step(r.sim, step, u), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, r.y), OD_OK);
    for (int body = 0; body < m->bodies; body++) {
      find_axes(&r, body, e);
      check_velocities(&r, seed, body, e);
      for (int k = 0; k < AXES; k++) {
        all[body].v[s][k] = value(&r, "body%d.o.v%c", body, axis[k]);
        all[body].gyro[s][k] = turn_rate(&r, body, e, k);
      }
    }
    if (s == SAMPLES / 2) memcpy(middle, r.y, sizeof middle);
  }
  memcpy(r.y, middle, sizeof middle);
  for (int body = 0; body < m->bodies; body++) {
    find_axes(&r, body, e);
    check_accelerations(&r, seed, body, e, &all[body], step);
  }
  close_rig(&r);
  return true;
}

static void random_machines(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    int made = 0;
    for (unsigned long long seed = 1; made < MACHINES && seed < 50 * MACHINES; seed++)
      made += check_machine(seed, kind % 2, kind / 2);
    assert_int_equal(made, MACHINES);
  }
}

static void gauges(void **state) {
  (void)state;
  int made = 0;
  const double u[2] = {0.7, -0.4};
  for (unsigned long long seed = 1; made < MACHINES; seed++) {
    od_model *m = od_random_machine(seed, true, false, true, false);
    if (!m) continue;
    rig r;
    made++;
    open_rig(&r, m, u);
    assert_true(value(&r, "ab.pressure") == value(&r, "va.pressure") - value(&r, "vb.pressure"));
    assert_true(value(&r, "supply.pressure") == value(&r, "source.pressure") - value(&r, "vc.pressure"));
    assert_true(value(&r, "ab.pressure") != 0);
    close_rig(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum),
      cmocka_unit_test(random_machines),
      cmocka_unit_test(gauges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
