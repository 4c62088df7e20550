// Newton's and Euler's equations of a free body. See the header.
#include "support/free_body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

void watched_begin(watched_machine *b, od_machine *machine) {
  int all[WATCHED_OUTPUTS];
  double u[WATCHED_INPUTS] = {0};
  b->machine = machine;
  b->worst_force = b->worst_torque = b->worst_power = 0;
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
  b->power = b->power_size = 0;
}

static void add_power(watched_machine *b, double watts) {
  b->power += watts;
  b->power_size += fabs(watts);
}

void watched_check_power(watched_machine *b) {
  b->worst_power = fmax(b->worst_power, fabs(b->power) / b->power_size);
  if (!(fabs(b->power) <= 1e-9 * b->power_size)) fail_msg("joints do %g W of %g W", b->power, b->power_size);
}

void watched_end(watched_machine *b) {
  if (b->worst_force > 0)
    printf("%s: forces of each body balance to %.1e, torques to %.1e m of the largest pin load",
           od_machine_title(b->machine), b->worst_force, b->worst_torque);
  if (b->worst_power > 0) printf("; power of all pins %.1e", b->worst_power);
  if (b->worst_force > 0) printf("\n");
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

void free_body_check_with(watched_machine *b, const free_body *f, const outside_force *forces, int count) {
  double ax = shown(b, f->centre, "ax"), ay = shown(b, f->centre, "ay");
  double cx = shown(b, f->centre, "x"), cy = shown(b, f->centre, "y");
  double fx = -f->mass * ax, fy = -f->mass * (ay + 9.81), torque = -f->inertia * shown(b, f->name, "turn_acceleration");
  const double spin = shown(b, f->name, "turn_rate");
  double size = 0;
  for (int i = 0; f->pins[i].joint; i++) {
    const pin *p = &f->pins[i];
    double px = p->sign * shown(b, p->joint, "force_x"), py = p->sign * shown(b, p->joint, "force_y");
    fx += px, fy += py;
    const double turn = (shown(b, p->point, "x") - cx) * py - (shown(b, p->point, "y") - cy) * px;
    torque += turn;
    add_power(b, px * shown(b, f->centre, "vx") + py * shown(b, f->centre, "vy") + turn * spin);
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
  if (f->turner) {
    const double turn = f->turner_sign * b->y[od_machine_output_find(b->machine, f->turner)];
    torque += turn;
    if (strstr(f->turner, ".torque")) add_power(b, turn * spin);
  }
  assert_true(size > 10);
  b->worst_force = fmax(b->worst_force, fmax(fabs(fx), fabs(fy)) / size);
  b->worst_torque = fmax(b->worst_torque, fabs(torque) / size);
  if (!(fabs(fx) < 1e-9 * size && fabs(fy) < 1e-9 * size && fabs(torque) < 1e-8 * size))
    fail_msg("%s: %g N, %g N and %g N m are missing, joint forces are up to %g N", f->name, fx, fy, torque, size);
}

void free_body_check(watched_machine *b, const free_body *f) {
  free_body_check_with(b, f, NULL, 0);
}

// --- In space ----------------------------------------------------------------------------------------------------------

// The three components of a vector: x, y, z after a prefix such as "force_".
static void show_vector(const watched_machine *b, const char *element, const char *beginning, double v[3]) {
  char quantity[32];
  for (int i = 0; i < 3; i++) {
    snprintf(quantity, sizeof quantity, "%s%c", beginning, "xyz"[i]);
    v[i] = shown(b, element, quantity);
  }
}

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

typedef struct loads {
  double centre[3], force[3], torque[3], size;
  double v[3], w[3];  // of the body, in ground axes
} loads;

// Returns the power.
static double add_load(loads *l, const double at[3], const double force[3]) {
  double lever[3], turn[3], power = 0;
  for (int i = 0; i < 3; i++) lever[i] = at[i] - l->centre[i];
  cross(lever, force, turn);
  for (int i = 0; i < 3; i++) {
    l->force[i] += force[i], l->torque[i] += turn[i];
    power += force[i] * l->v[i] + turn[i] * l->w[i];
  }
  l->size = fmax(l->size, sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]));
  return power;
}

static void add_pin(watched_machine *b, const pin *p, loads *l) {
  double at[3], force[3], torque[3] = {0}, power = 0;
  char name[200];
  show_vector(b, p->point, "", at);
  show_vector(b, p->joint, "force_", force);
  snprintf(name, sizeof name, "%s.torque_x", p->joint);  // a ball joint has none
  if (od_machine_output_find(b->machine, name) >= 0) show_vector(b, p->joint, "torque_", torque);
  for (int i = 0; i < 3; i++) {
    force[i] *= p->sign;
    l->torque[i] += p->sign * torque[i];
    power += p->sign * torque[i] * l->w[i];
  }
  add_power(b, power + add_load(l, at, force));
}

static void add_push(const watched_machine *b, const push *p, loads *l) {
  double at[3], from[3], force[3], length = 0;
  show_vector(b, p->own, "", at);
  show_vector(b, p->other, "", from);
  for (int i = 0; i < 3; i++) length += (at[i] - from[i]) * (at[i] - from[i]);
  for (int i = 0; i < 3; i++) force[i] = p->sense * shown(b, p->element, "force") * (at[i] - from[i]) / sqrt(length);
  add_load(l, at, force);
}

void space_body_check(watched_machine *b, const space_body *f, double R[3][3], const double torque[3]) {
  loads l = {.torque = {torque[0], torque[1], torque[2]}};
  double a[3], spin[3], turning[3], momentum[3], whirl[3];
  show_vector(b, f->centre, "", l.centre);
  show_vector(b, f->centre, "a", a);
  show_vector(b, f->centre, "v", l.v);
  show_vector(b, f->name, "w", l.w);
  show_vector(b, f->name, "gyro_", spin);
  show_vector(b, f->name, "body_alpha_", turning);
  for (int i = 0; f->pins[i].joint; i++) add_pin(b, &f->pins[i], &l);
  for (int i = 0; f->pushes[i].element; i++) add_push(b, &f->pushes[i], &l);
  for (int i = 0; i < 3; i++) momentum[i] = f->inertia[i] * spin[i];
  cross(spin, momentum, whirl);
  l.force[2] -= 9.81 * f->mass;
  for (int i = 0; i < 3; i++) {
    const double own = R[0][i] * l.torque[0] + R[1][i] * l.torque[1] + R[2][i] * l.torque[2];
    const double force = l.force[i] - f->mass * a[i], turn = own - f->inertia[i] * turning[i] - whirl[i];
    b->worst_force = fmax(b->worst_force, fabs(force) / l.size);
    b->worst_torque = fmax(b->worst_torque, fabs(turn) / l.size);
    if (!(fabs(force) < 1e-9 * l.size && fabs(turn) < 1e-8 * l.size))
      fail_msg("%s: %g N and %g N m are missing along axis %d; joint forces are up to %g N", f->name, force, turn, i,
               l.size);
  }
}
