// Newton's and Euler's equations of a free body. See the header.
#include "support/free_body.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

void watched_begin(watched_machine *b, od_machine *machine) {
  int all[WATCHED_OUTPUTS];
  double u[WATCHED_INPUTS] = {0};
  b->machine = machine;
  b->count = od_machine_output_count(machine);
  assert_true(b->count <= WATCHED_OUTPUTS && od_machine_input_count(machine) <= WATCHED_INPUTS);
  for (int i = 0; i < b->count; i++) all[i] = i;
  assert_int_equal(od_machine_plant(machine, all, b->count, NULL, 0, &b->plant, NULL), OD_OK);
  b->sim = od_sim_new(b->plant);
  od_machine_inputs(machine, 0, u);
  assert_int_equal(od_sim_start(b->sim, 0, u), OD_OK);
}

void watched_run_to(watched_machine *b, double time, double step) {
  double u[WATCHED_INPUTS] = {0};
  bool changed;
  while (od_sim_time(b->sim) < time - step / 2) {
    od_machine_inputs(b->machine, od_sim_time(b->sim) + step, u);
    assert_int_equal(od_sim_step(b->sim, step, u), OD_OK);
    assert_int_equal(od_sim_repartition(b->sim, NULL, &changed), OD_OK);
  }
  assert_int_equal(od_sim_outputs(b->sim, b->y), OD_OK);
}

void watched_end(watched_machine *b) {
  od_sim_free(b->sim);
  od_plant_free(b->plant);
  od_machine_free(b->machine);
}

double shown(const watched_machine *b, const char *element, const char *quantity) {
  char name[200];
  snprintf(name, sizeof name, "%s.%s", element, quantity);
  int i = od_machine_output_find(b->machine, name);
  if (i < 0) fail_msg("there is no %s", name);
  return b->y[i];
}

void free_body_check_with(const watched_machine *b, const free_body *f, const outside_force *forces, int count) {
  double ax = shown(b, f->centre, "ax"), ay = shown(b, f->centre, "ay");
  double cx = shown(b, f->centre, "x"), cy = shown(b, f->centre, "y");
  double fx = -f->mass * ax, fy = -f->mass * (ay + 9.81), torque = -f->inertia * shown(b, f->name, "turn_acceleration");
  double size = 0;
  for (int i = 0; f->pins[i].joint; i++) {
    const pin *p = &f->pins[i];
    double px = p->sign * shown(b, p->joint, "force_x"), py = p->sign * shown(b, p->joint, "force_y");
    fx += px, fy += py;
    torque += (shown(b, p->point, "x") - cx) * py - (shown(b, p->point, "y") - cy) * px;
    size = fmax(size, hypot(px, py));
    assert_true(fabs(shown(b, p->joint, "force") - hypot(px, py)) < 1e-9 * (1 + hypot(px, py)));
  }
  for (int i = 0; f->pushes[i].element; i++) {
    const push *p = &f->pushes[i];
    double x = shown(b, p->own, "x"), y = shown(b, p->own, "y");
    double ox = p->other ? shown(b, p->other, "x") : p->x, oy = p->other ? shown(b, p->other, "y") : p->y;
    double force = p->sense * shown(b, p->element, "force") / hypot(x - ox, y - oy);
    double px = force * (x - ox), py = force * (y - oy);
    fx += px, fy += py;
    torque += (x - cx) * py - (y - cy) * px;
  }
  for (int i = 0; i < count; i++) {
    fx += forces[i].x, fy += forces[i].y;
    torque += (shown(b, forces[i].point, "x") - cx) * forces[i].y - (shown(b, forces[i].point, "y") - cy) * forces[i].x;
  }
  if (f->turner) torque += f->turner_sign * b->y[od_machine_output_find(b->machine, f->turner)];
  assert_true(size > 10);
  if (!(fabs(fx) < 1e-9 * size && fabs(fy) < 1e-9 * size && fabs(torque) < 1e-8 * size))
    fail_msg("%s: %g N, %g N and %g N m are missing, joint forces are up to %g N", f->name, fx, fy, torque, size);
}

void free_body_check(const watched_machine *b, const free_body *f) {
  free_body_check_with(b, f, NULL, 0);
}
