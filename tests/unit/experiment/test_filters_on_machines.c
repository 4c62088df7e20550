// Every filter on non-smooth machines: coordinates that change at each dead point of a crank, and a sampled controller. Oracle: the
// simulated truth. Innovations and errors of consistent filters agree with their covariances.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/filter_types.h"
#include "oleodyn/sim.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CRANK                                                                                     \
  "machine: " OD_SOURCE_DIR                                                                       \
  "/cases/slider-crank/slider-first.yaml\ntime: 3 s\nstep: 2 ms\n"                                \
  "sensors: {main.rate: {sigma: 0.05, dropout: 10 %}, guide.position: {sigma: 2 mm, every: 5}}\n" \
  "initial: {guide.position: 10 mm, guide.rate: 0.1}\nnoise: {acceleration: 1e-5}\n"              \
  "parameters: {\"gravity[1]\": {sigma: 0.3}}\n"

// A servo: a cart, a controller with a sampling time of 20 ms, and a force that follows it.
#define SERVO                                                                                     \
  "bodies: {cart: {mass: 2 kg, points: {P: [0, 0]}}}\n"                                           \
  "joints: {J: {type: prismatic, between: [ground.O, cart.P], axis: [1, 0], damping: 3 N s/m}}\n" \
  "ground: {points: {O: [0, 0]}}\n"                                                               \
  "inputs: {target: {unit: m, sine: {amplitude: 0.3, frequency: 0.5 Hz}}}\n"                      \
  "blocks:\n"                                                                                     \
  "  error: {type: sum, inputs: [target, J.position], weights: [1, -1]}\n"                        \
  "  control: {type: pid, input: error, unit: N, kp: 60 N/m, ki: 20 N/(m s), sample: 20 ms}\n"    \
  "forces: {push: {at: cart.P, direction: [1, 0], value: control}}\n"                             \
  "initial: {J.position: 0}\n"

typedef struct seen {
  long changes;
  double squares, expected, samples;  // errors of the first watched output
  double *y;
  int outputs;
} seen;

static void look(void *user, const od_sample *sample, od_observer *observer) {
  seen *s = user;
  s->changes = od_sim_count(od_observer_sim(observer)).repartitions;
  assert_int_equal(od_observer_outputs(observer, s->y, s->y + s->outputs), OD_OK);
  double error = s->y[0] - sample->truth[0];
  s->squares += error * error;
  s->expected += s->y[s->outputs] * s->y[s->outputs];
  s->samples++;
}

// Over ten seeds, with drawn starts.
static void follow(scratch *s, const char *text, const char *filter, bool changes) {
  char file[3000];
  double nis = 0, dimension = 0, y[40];
  seen v = {.y = y};
  snprintf(file, sizeof file, "%sfilter: %s\n", text, filter);
  od_experiment *e = load_experiment(scratch_write(s, "x.yaml", file, strlen(file)), NULL);
  e->random_start = true;
  v.outputs = e->outputs;
  for (int seed = 1; seed <= 10; seed++) {
    od_observed *o = NULL;
    od_error err = {0};
    e->seed = (uint64_t)seed;
    const od_observe_options options = {.no_table = true, .each = look, .user = &v};
    if (od_observe(e, &options, &o, &err) != OD_OK) fail_msg("%s: %s", filter, err.text);
    nis += o->nis;
    dimension += (double)o->nis_dimension;
    od_observed_free(o);
    assert_int_equal(v.changes > 2, changes);
  }
  print_message("%-17s NIS %.3f, errors %.3g of %.3g expected\n", filter, nis / dimension, sqrt(v.squares / v.samples),
                sqrt(v.expected / v.samples));
  assert_true(fabs(nis / dimension - 1) < 0.05);
  assert_true(v.squares < 2.5 * v.expected && v.squares > 0.1 * v.expected);
  od_experiment_free(e);
}

static void coordinates_change(void **state) {
  for (int i = 0; od_filter_type_at(i); i++) follow(*state, CRANK, od_filter_type_at(i)->name, true);
}

static void controllers_sample(void **state) {
  scratch_write(*state, "servo.yaml", SERVO, strlen(SERVO));
  for (int i = 0; od_filter_type_at(i); i++)
    follow(*state,
           "machine: servo.yaml\ntime: 4 s\nstep: 5 ms\nsensors: {J.position: {sigma: 5 mm}}\n"
           "initial: {J.position: 20 mm, J.rate: 0.05}\nnoise: {acceleration: 1e-3}\n",
           od_filter_type_at(i)->name, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(coordinates_change, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(controllers_sample, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
