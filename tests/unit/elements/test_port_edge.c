// A port of a valve at the edge: the spool exactly at the end of its dead band and overlap, where the travel is zero. A port is closed there, with no
// flow, no value of the curve and no derivatives, unless its curve gives the opening itself and already lets oil through: its first value is positive
// or it begins before zero. A flow coefficient is multiplied by the travel, so such a port is always closed.
//
// Oracle: the header of elements/port.c, and the law of the orifice by hand.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "support/test.h"

#include "elements/element_list.h"
#include "oleodyn/build.h"
#include "support/random_instance.h"

#define DECLARE(name) extern const od_element_description od_##name##_description;
OD_ELEMENT_CLASSES(DECLARE)

enum { INS = 3, OUTS = 2, NUMBERS = 5 };
// Numbers of the valve, and a dead band and an overlap whose sum is exact.
static const double area = 4e-5, discharge = 0.7, full = 1.25, stroke = 0.8, dead_band = 0.125, overlap = 0.25,
                    rho = 870, smoothing = 1e4;

// The port with two control points (at0, y0) and (1, y1), straight between, at a travel.
static od_lone_instance port_at(double travel, int law, int side, double at0, double y0, double y1) {
  const double host[OD_MOST_ELEMENT_FIELDS] = {
      [OD_VALVE_TIME_CONSTANT] = 0.01,  [OD_VALVE_STROKE] = stroke, [OD_VALVE_AREA] = area,
      [OD_VALVE_DISCHARGE] = discharge, [OD_VALVE_FULL] = full,     [OD_VALVE_DEAD_BAND] = dead_band};
  const double q[NUMBERS] = {overlap, at0, 1, y0, y1};
  const int choice[OD_MOST_ELEMENT_CHOICES] = {
      [OD_PORT_SIDE] = side, [OD_PORT_DEGREE] = 1, [OD_PORT_COUNT] = 2, [OD_PORT_LAW] = law};
  od_lone_instance x = od_instance_with(&od_port_description, q, NUMBERS, host, choice);
  const double in[INS] = {90e5, 20e5, side * (dead_band + overlap + travel)};
  memcpy(x.w + x.batch.in, in, sizeof in);
  x.c->equations->evaluate(&x.batch, x.pool, x.w);
  x.c->equations->slopes(&x.batch, x.pool, x.w);
  return x;
}

// The flow of the fully open port, with the rounded root.
static double full_flow(double dp) {
  return area * discharge * sqrt(2 / rho) * dp / pow(dp * dp + smoothing * smoothing, 0.25);
}

static void is_closed(od_lone_instance *x) {
  for (int k = 0; k < OUTS; k++) assert_true(x->w[x->batch.out + k] == 0);
  for (int i = 0; i < INS * OUTS; i++) assert_true(x->w[x->batch.slope + i] == 0);
  for (int number = 0; number < NUMBERS; number++) {
    double by[OUTS] = {0};
    x->c->equations->number_slopes(&x->batch, x->pool, x->w, 0, &number, 1, by);
    assert_true(by[0] == 0 && by[1] == 0);
  }
}

// opening: of the port; rise: its derivative with respect to the travel; value and steep: of the curve.
static void is_open(const od_lone_instance *x, int side, double opening, double rise, double value, double steep) {
  const double *out = x->w + x->batch.out, *slope = x->w + x->batch.slope;
  near_relative(out[0], full_flow(70e5) * opening, 1e-6);
  near(out[1], value, 1e-15);
  near_relative(slope[2], side * full_flow(70e5) * rise, 1e-6);
  near(slope[INS + 2], side * steep, 1e-15);
  near(slope[0] + slope[1], 0, 1e-25);
  assert_true(slope[0] > 0 || opening == 0);
}

static void test_edges(void **state) {
  (void)state;
  for (int side = -1; side <= 1; side += 2) {
    // The curve begins closed; its opening rises with the slope 0.5, a coefficient has 0.5 already.
    od_lone_instance x = port_at(0, OD_VALVE_OPENING, side, 0, 0, 0.5);
    is_closed(&x);
    x = port_at(0, OD_VALVE_COEFFICIENT, side, 0, 0.5, 1);
    is_closed(&x);
    x = port_at(0, OD_VALVE_COEFFICIENT, side, -0.5, 0.5, 1);
    is_closed(&x);
    for (int law = 0; law < 2; law++) {
      x = port_at(-0.0625, law ? OD_VALVE_COEFFICIENT : OD_VALVE_OPENING, side, -0.5, 0.5, 1);
      is_closed(&x);
    }
    // The curve lets oil through at zero: by its first value, or because it begins before.
    x = port_at(0, OD_VALVE_OPENING, side, 0, 0.5, 1);
    is_open(&x, side, 0.5 / full, 0, 0.5, 0);  // up to its first point the curve is constant
    x = port_at(0, OD_VALVE_OPENING, side, -1, 0, 0.5);
    is_open(&x, side, 0.25 / full, 0.25 / full, 0.25, 0.25);
    // Just open, and at the end of the curve, where the opening stays.
    x = port_at(0.5, OD_VALVE_OPENING, side, 0, 0, 0.5);
    is_open(&x, side, 0.25 / full, 0.5 / full, 0.25, 0.5);
    x = port_at(0.5, OD_VALVE_COEFFICIENT, side, 0, 0.5, 1);
    is_open(&x, side, 0.75 * 0.5 / (full * stroke), (0.75 + 0.5 * 0.5) / (full * stroke), 0.75, 0.5);
    x = port_at(1.5, OD_VALVE_COEFFICIENT, side, 0, 0.5, 1);
    near_relative(x.w[x.batch.out], full_flow(70e5) / (full * stroke), 1e-6);
    assert_true(x.w[x.batch.slope + 2] == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
