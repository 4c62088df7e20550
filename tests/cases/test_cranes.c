// The forestry crane and the slewing crane. Oracles: Newton's and Euler's equations of every body by hand, with rotation matrices
// written here; a pendulum on a pivot that moves along a circle, by quadrature; the energy balance.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/free_body.h"
#include "support/machines.h"

static const double pi = 3.14159265358979323846;

// Rotation by `slew` about z, then by `pitch` in the plane of the arm, then by `roll` about the body's x axis.
static void turn(double slew, double pitch, double roll, double R[3][3]) {
  const double cs = cos(slew), ss = sin(slew), cp = cos(pitch), sp = sin(pitch), cr = cos(roll), sr = sin(roll);
  const double x[3] = {cs * cp, ss * cp, sp}, y[3] = {-ss, cs, 0}, z[3] = {-cs * sp, -ss * sp, cp};
  for (int i = 0; i < 3; i++) {
    R[i][0] = x[i];
    R[i][1] = cr * y[i] + sr * z[i];
    R[i][2] = cr * z[i] - sr * y[i];
  }
}

// Pitch and roll of a body, and the damper torques on it about the transverse and the longitudinal axis.
typedef struct attitude {
  double pitch, roll, across, along;
} attitude;

static void check(watched_machine *b, const space_body *f, attitude a, double about_z) {
  double slew = shown(b, "slew", "angle"), R[3][3], level[3][3], torque[3];
  turn(slew, a.pitch, a.roll, R);
  turn(slew, a.pitch, 0, level);
  for (int i = 0; i < 3; i++) torque[i] = -a.across * level[i][1] + a.along * level[i][0] + (i == 2) * about_z;
  space_body_check(b, f, R, torque);
}

static double slew_drive(const watched_machine *b) {
  return shown(b, "slew_motor", "force") - shown(b, "slew", "spring_force");
}

static void check_forestry(watched_machine *b) {
  static const space_body pillar = {"pillar",
                                    "pillar.centre",
                                    350,
                                    {90, 90, 25},
                                    {{"slew", "pillar.origin", 1}, {"shoulder", "pillar.shoulder", -1}},
                                    {{"lift_ram", "pillar.ram", "boom.lug", 1, 0, 0}}};
  static const space_body boom = {
      "boom",
      "boom.centre",
      300,
      {8, 330, 330},
      {{"shoulder", "boom.origin", 1}, {"elbow", "boom.end", -1}, {"crank", "boom.rocker", -1}},
      {{"lift_ram", "boom.lug", "pillar.ram", 1, 0, 0}, {"fold_ram", "boom.ram", "rocker.end", 1, 0, 0}}};
  static const space_body rocker = {
      "rocker",
      "rocker.centre",
      20,
      {0.05, 0.45, 0.45},
      {{"crank", "rocker.origin", 1}},
      {{"fold_ram", "rocker.end", "boom.ram", 1, 0, 0}, {"coupler", "rocker.end", "stick.lug", -1, 0, 0}}};
  static const space_body stick = {
      "stick",
      "stick.centre",
      220,
      {4, 150, 150},
      {{"elbow", "stick.origin", 1}, {"extend", "telescope.origin", -1}},
      {{"coupler", "stick.lug", "rocker.end", -1, 0, 0}, {"reach_ram", "stick.ram", "telescope.lug", 1, 0, 0}}};
  static const space_body telescope = {"telescope",
                                       "telescope.centre",
                                       120,
                                       {1, 35, 35},
                                       {{"extend", "telescope.origin", 1}, {"swing", "telescope.tip", -1}},
                                       {{"reach_ram", "telescope.lug", "stick.ram", 1, 0, 0}}};
  static const space_body link = {
      "link", "link.centre", 15, {0.2, 0.2, 0.1}, {{"swing", "link.origin", 1}, {"roll", "link.bottom", -1}}, {{0}}};
  static const space_body grapple = {"grapple", "grapple.centre", 850, {880, 90, 820}, {{"roll", "grapple.origin", 1}},
                                     {{0}}};
  const double raised = shown(b, "shoulder", "angle"), folded = raised + shown(b, "elbow", "angle");
  const double hanging = folded + shown(b, "swing", "angle"), roll = shown(b, "roll", "angle");
  const double swings = shown(b, "swing", "spring_force"), rolls = shown(b, "roll", "spring_force");
  check(b, &pillar, (attitude){0}, slew_drive(b));
  check(b, &boom, (attitude){.pitch = raised}, 0);
  check(b, &rocker, (attitude){.pitch = raised + shown(b, "crank", "angle")}, 0);
  check(b, &stick, (attitude){.pitch = folded}, 0);
  check(b, &telescope, (attitude){.pitch = folded, .across = swings}, 0);
  check(b, &link, (attitude){.pitch = hanging, .across = -swings, .along = rolls}, 0);
  check(b, &grapple, (attitude){.pitch = hanging, .roll = roll, .along = -rolls}, 0);
}

static void check_slewing(watched_machine *b) {
  static const space_body upper = {"upper",
                                   "upper.centre",
                                   15000,
                                   {30000, 60000, 70000},
                                   {{"slew", "upper.origin", 1}, {"luff", "upper.foot", -1}},
                                   {{"lift_ram", "upper.ram", "boom.lug", 1, 0, 0}}};
  static const space_body boom = {
      "boom",
      "boom.centre",
      4500,
      {1500, 40000, 40000},
      {{"luff", "boom.origin", 1}, {"extend", "telescope.origin", -1}},
      {{"lift_ram", "boom.lug", "upper.ram", 1, 0, 0}, {"reach_ram", "boom.ram", "telescope.lug", 1, 0, 0}}};
  static const space_body telescope = {"telescope",
                                       "telescope.centre",
                                       2500,
                                       {500, 14000, 14000},
                                       {{"extend", "telescope.origin", 1}, {"rope", "telescope.head", -1}},
                                       {{"reach_ram", "telescope.lug", "boom.ram", 1, 0, 0}}};
  static const space_body load = {"load", "load.centre", 5000, {1500, 1500, 2000}, {{"rope", "load.origin", 1}}, {{0}}};
  const double raised = shown(b, "luff", "angle");
  check(b, &upper, (attitude){0}, slew_drive(b));
  check(b, &boom, (attitude){.pitch = raised}, 0);
  check(b, &telescope, (attitude){.pitch = raised}, 0);
  check(b, &load, (attitude){.pitch = raised + shown(b, "rope", "angle1"), .roll = shown(b, "rope", "angle2")}, 0);
}

static void test_pin_loads(void **state) {
  (void)state;
  const struct {
    const char *file;
    double apart;
    void (*check)(watched_machine *b);
  } rows[] = {{"cases/forestry-crane/machine.yaml", 1.5, check_forestry},
              {"cases/slewing-crane/machine.yaml", 2.5, check_slewing}};
  watched_machine *b = malloc(sizeof *b);
  assert_non_null(b);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    double balance = 0;
    watched_begin(b, od_test_machine(rows[r].file, NULL));
    for (int k = 0; k <= 12; k++) {
      watched_run_to(b, rows[r].apart * k, 1e-3);
      rows[r].check(b);
      watched_check_power(b);
      balance = fmax(balance, fabs(shown(b, "energy", "balance")));
    }
    const double input = shown(b, "energy", "input");
    print_message("%s: %.2g J of %.3g J are missing\n", rows[r].file, balance, input);
    assert_true(input > 1e5 && balance < 1e-7 * input);
    watched_end(b);
  }
  free(b);
}

// The residual sway across the boom after the pivot has moved by 30 deg along a circle, with a half-cosine of this duration, for a
// pendulum with small angles: the Fourier component of the pivot's acceleration at the pendulum's frequency.
static double sway_left(double radius, double rope, double duration) {
  enum { N = 4000 };
  const double w = sqrt(9.81 / rope), all = pi / 6, rate = pi / duration;
  double complex x = 0, y = 0;
  for (int k = 0; k <= N; k++) {
    const double t = duration * k / N, part = (k == 0 || k == N ? 0.5 : 1) * duration / N;
    const double p = all / 2 * (1 - cos(rate * t)), v = all / 2 * rate * sin(rate * t);
    const double a = all / 2 * rate * rate * cos(rate * t);
    x += radius * (-cos(p) * v * v - sin(p) * a) * cexp(-I * w * t) * part;
    y += radius * (-sin(p) * v * v + cos(p) * a) * cexp(-I * w * t) * part;
  }
  return cabs(-sin(all) * x + cos(all) * y) / w / rope;
}

static double sway_of(const char *turn_time) {
  od_machine *machine = od_test_machine("cases/slewing-crane/machine.yaml", turn_time, NULL);
  od_test_run r = od_test_begin(machine, "rope.angle2", NULL);
  double u[WATCHED_INPUTS], most = 0, angle;
  for (int i = 1; i <= 9000; i++) {
    od_machine_inputs(machine, 2e-3 * i, u);
    assert_int_equal(od_sim_step(r.sim, 2e-3, u), OD_OK);
    od_sim_outputs(r.sim, &angle);
    if (i > 5500) most = fmax(most, fabs(angle));
  }
  od_test_end(&r);
  return most;
}

// One and a half periods leave almost no sway, one period leaves a large sway.
static void test_sway(void **state) {
  (void)state;
  const double period = 2 * pi * sqrt(10 / 9.81), degrees = 180 / pi;
  const double wise = sway_of("constants.turn=1.5 * period"), hasty = sway_of("constants.turn=period");
  const double theory[2] = {sway_left(10.65, 10, 1.5 * period), sway_left(10.65, 10, period)};
  print_message("sway after 1.5 periods %.2f deg (ideal %.2f), after 1 period %.2f deg (ideal %.2f)\n", wise * degrees,
                theory[0] * degrees, hasty * degrees, theory[1] * degrees);
  assert_true(fabs(hasty - theory[1]) < 0.2 * theory[1]);
  assert_true(wise < 0.15 * hasty && theory[0] < 0.1 * theory[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pin_loads), cmocka_unit_test(test_sway)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
