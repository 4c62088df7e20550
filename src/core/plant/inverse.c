#include "plant/inverse.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "hydraulics/element_slopes.h"
#include "math/dense.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"

#if OD_WITH_COMPLEX

// Limits: iterations of Newton's method, and stages of a move.
enum { MOST_ROUNDS = 40, MOST_STAGES = 200 };
// The longest step of a coordinate, rad, or for sliding coordinates in typical lengths of the machine.
static const double longest_step = 0.3;
// If a pivot is smaller than this fraction of the largest pivot, a direction is undetermined.
static const double singular_pivot = 1e-10;

struct od_inverse {
  const od_plant *plant;
  const od_model *m;
  void *work;
  int free, drives, loose, idles;
  od_output *moved, *moved_rate;
  od_drive *drive;
  int *idle, *pivot;
  od_stuck stuck;
  bool solved;
  // x: the plant's state; z, zd, zdd: independent coordinates; solved_z: the last solved position; J = d moved / d z; A: one
  // column per drive, then one column per loose output.
  double *x, *z, *zd, *zdd, *solved_z, *J, *step, *A, *square, *g, *zero, *reached, *target;
  double *along;  // for each loose output: z'' for a unit second rate of this output
};

bool od_inverse_can_move(const od_output *o) {
  return o->kind == OD_OUT_COORDINATE || o->kind == OD_OUT_POINT || o->kind == OD_OUT_LENGTH ||
         o->kind == OD_OUT_BODY_ANGLE;
}

bool od_inverse_has_output(const od_output *o) {
  return o->kind <= OD_OUT_GEAR_FORCE || o->kind == OD_OUT_LENGTH || o->kind == OD_OUT_SPEED ||
         o->kind == OD_OUT_FORCE || o->kind == OD_OUT_KINETIC;
}

// Returns the output that is the rate of an output that can be prescribed.
static od_output rate_of(const od_output *o) {
  od_output rate = *o;
  rate.kind = o->kind == OD_OUT_COORDINATE ? OD_OUT_COORDINATE_RATE
              : o->kind == OD_OUT_POINT    ? OD_OUT_POINT_VELOCITY
              : o->kind == OD_OUT_LENGTH   ? OD_OUT_SPEED
                                           : OD_OUT_BODY_TURN_RATE;
  return rate;
}

// Allocates all arrays. Returns false if an allocation fails.
static bool allocate(od_inverse *v) {
  size_t n = (size_t)v->free + 1, nd = (size_t)(v->drives + v->loose) + 1, nx = (size_t)od_plant_nx(v->plant) + 1;
  double **const vector[] = {&v->z, &v->zd, &v->zdd, &v->solved_z, &v->step, &v->g, &v->zero, &v->reached, &v->target};
  bool ok = true;
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
    ok = (*vector[i] = od_calloc(n + nd, sizeof(double))) && ok;
  ok = (v->work = od_calloc(1, v->plant->work_size + 1)) && ok;
  ok = (v->x = od_calloc(nx, sizeof(double))) && ok;
  ok = (v->J = od_calloc(n * n, sizeof(double))) && ok;
  ok = (v->square = od_calloc(n * n, sizeof(double))) && ok;
  ok = (v->A = od_calloc(n * nd, sizeof(double))) && ok;
  ok = (v->along = od_calloc(n * ((size_t)v->loose + 1), sizeof(double))) && ok;
  ok = (v->pivot = od_calloc(n, sizeof(int))) && ok;
  ok = (v->idle = od_calloc((size_t)v->idles + 1, sizeof(int))) && ok;
  ok = (v->drive = od_calloc(nd, sizeof *v->drive)) && ok;
  ok = (v->moved = od_calloc(n, sizeof *v->moved)) && ok;
  ok = (v->moved_rate = od_calloc(n, sizeof *v->moved_rate)) && ok;
  return ok;
}

od_status od_inverse_new(const od_plant *plant, const int *moved, int moved_count, int loose, const od_drive *drive,
                         int drives, const int *idle, int idles, od_inverse **out) {
  const od_model *m = od_model_plant_model(plant);
  *out = NULL;
  if (moved_count != m->freedom || loose < 0 || loose > moved_count || drives + loose < m->freedom) return OD_BAD_INPUT;
  if (loose > 0 && drives + loose != m->freedom) return OD_BAD_INPUT;
  for (int i = 0; i < moved_count; i++)
    if (!od_inverse_can_move(&m->output[moved[i]])) return OD_BAD_INPUT;
  od_inverse *v = od_calloc(1, sizeof *v);
  if (!v) return OD_NO_MEMORY;
  *v = (od_inverse){.plant = plant, .m = m, .free = m->freedom, .drives = drives, .loose = loose, .idles = idles};
  if (!allocate(v)) {
    od_inverse_free(v);
    return OD_NO_MEMORY;
  }
  for (int i = 0; i < moved_count; i++) v->moved[i] = m->output[moved[i]], v->moved_rate[i] = rate_of(&v->moved[i]);
  for (int i = 0; i < drives; i++) v->drive[i] = drive[i];
  for (int i = 0; i < idles; i++) v->idle[i] = idle[i];
  *out = v;
  return OD_OK;
}

void od_inverse_free(od_inverse *v) {
  if (!v) return;
  void *const all[] = {v->work,  v->x,     v->J,       v->square, v->A,          v->pivot,    v->idle,
                       v->drive, v->moved, v->z,       v->zd,     v->zdd,        v->solved_z, v->step,
                       v->g,     v->zero,  v->reached, v->target, v->moved_rate, v->along};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) od_free(all[i]);
  od_free(v);
}

static od_work_parts parts(const od_inverse *v) {
  return od_work_parts_of(od_plant_data_of(v->plant), v->work);
}

od_status od_inverse_start(od_inverse *v) {
  v->solved = false;
  od_status status = v->plant->ops->start(v->plant, v->work, v->x);
  memcpy(v->z, v->x, (size_t)v->free * sizeof *v->z);
  return status;
}

// ---- position of the machine

// Moves the mechanism to the independent coordinates v->z, with their rates zd and accelerations zdd.
static od_status place(od_inverse *v, const double *zd, const double *zdd) {
  od_work_parts p = parts(v);
  p.head->placed = p.head->linear = 0;
  return od_mechanics(v->m)->motion(v->m, p.in, p.w, v->z, zd, zdd);
}

// Computes J = d moved / d z at the current position and factors J. Returns OD_SINGULAR if the moved outputs do not
// determine the motion.
static od_status find_map(od_inverse *v) {
  od_work_parts p = parts(v);
  int n = v->free;
  double *dz = v->step;
  for (int k = 0; k < n; k++) dz[k] = 0;
  for (int k = 0; k < n; k++) {
    dz[k] = 1;
    od_mechanics(v->m)->tangent_motion(v->m, p.in, p.w, dz, NULL, NULL, NULL, OD_LEVEL_POSITION);
    for (int i = 0; i < n; i++) v->J[i * n + k] = od_model_output_change(v->m, p.w, &v->moved[i], v->zero, NULL, NULL);
    dz[k] = 0;
  }
  // Rows are scaled by typical sizes of the machine, so that pivots are comparable.
  for (int i = 0; i < n; i++) {
    double unit = strcmp(od_model_text(v->m, v->moved[i].unit), "m") == 0 ? v->m->size : 1;
    for (int k = 0; k < n; k++) {
      int j = p.in[v->m->layout.independent + k];
      v->square[i * n + k] = v->J[i * n + k] * od_model_coordinate_unit(v->m, j) / unit;
    }
  }
  od_status status = od_lu_factor(n, v->square, v->pivot);
  double least = INFINITY, most = 0;
  for (int i = 0; i < n; i++) {
    double size = fabs(1 / v->square[i * n + i]);  // the pivot
    least = fmin(least, size), most = fmax(most, size);
  }
  if (status != OD_OK || (n > 0 && !(least > singular_pivot * fmax(most, 1e-3)))) {
    v->stuck = OD_STUCK_MOTION;
    return OD_SINGULAR;
  }
  memcpy(v->square, v->J, (size_t)(n * n) * sizeof *v->J);
  return od_lu_factor(n, v->square, v->pivot);
}

// Moves the mechanism from the current position to the values q of the moved outputs, by Newton's method. A failure
// leaves the last iterate in z.
static od_status reach(od_inverse *v, const double *q) {
  od_work_parts p = parts(v);
  int n = v->free;
  double last = INFINITY;
  od_status status = OD_OK;
  for (int round = 0; round < MOST_ROUNDS && status == OD_OK; round++) {
    status = place(v, v->zero, v->zero);
    if (status == OD_OK) status = find_map(v);
    if (status != OD_OK) return status;
    for (int i = 0; i < n; i++) v->step[i] = q[i] - od_model_output_value(v->m, p.w, &v->moved[i]);
    od_lu_solve(n, v->square, v->pivot, v->step, 1);
    double largest = 0;
    for (int k = 0; k < n; k++)
      largest = fmax(largest, fabs(v->step[k]) / od_model_coordinate_unit(v->m, p.in[v->m->layout.independent + k]));
    if (!isfinite(largest)) return OD_NOT_FINITE;
    if (largest < 1e-14 || (largest < 1e-10 && largest > last / 4)) return OD_OK;
    last = largest;
    double part = largest > longest_step ? longest_step / largest : 1;
    for (int k = 0; k < n; k++) v->z[k] += part * v->step[k];
  }
  return OD_NOT_CONVERGED;
}

// Restores the last solved position after a failure.
static od_status return_to_solved(od_inverse *v) {
  memcpy(v->z, v->solved_z, (size_t)v->free * sizeof *v->z);
  v->plant->ops->settle(v->plant, v->work, true);
  return place(v, v->zero, v->zero);
}

// Stores the current position as the position that return_to_solved() restores.
static void stay(od_inverse *v) {
  memcpy(v->solved_z, v->z, (size_t)v->free * sizeof *v->z);
  v->plant->ops->settle(v->plant, v->work, false);
}

// Moves the mechanism to the values q of the moved outputs. A long move is divided into stages, so that the mechanism
// stays on its branch. Fails with OD_NOT_CONVERGED, OD_NOT_FINITE or OD_SINGULAR.
static od_status move_to(od_inverse *v, const double *q) {
  od_work_parts p = parts(v);
  int n = v->free;
  od_status status = place(v, v->zero, v->zero);
  if (status != OD_OK) return status;
  for (int i = 0; i < n; i++) v->reached[i] = od_model_output_value(v->m, p.w, &v->moved[i]);
  stay(v);
  double done = 0, part = 1;
  for (int stage = 0; stage < MOST_STAGES; stage++) {
    double to = fmin(1, done + part);
    for (int i = 0; i < n; i++) v->target[i] = to == 1 ? q[i] : v->reached[i] + to * (q[i] - v->reached[i]);
    v->stuck = OD_STUCK_NOWHERE;
    od_status reached = reach(v, v->target);
    double farthest = 0;
    for (int k = 0; k < n; k++)
      farthest = fmax(farthest, fabs(v->z[k] - v->solved_z[k]) /
                                    od_model_coordinate_unit(v->m, p.in[v->m->layout.independent + k]));
    if (reached == OD_OK && farthest <= 2 * longest_step) {
      stay(v);
      done = to;
      if (done == 1) return OD_OK;
      part *= 1.5;
      continue;
    }
    status = return_to_solved(v);
    if (status != OD_OK) return status;
    part /= 2;
    if (part < 1e-6) return reached == OD_OK ? OD_NOT_CONVERGED : reached;
  }
  return OD_NOT_CONVERGED;
}

// Computes rates and accelerations of the independent coordinates. J must belong to the current position.
static od_status find_rates(od_inverse *v, const double *rate, const double *second) {
  od_work_parts p = parts(v);
  int n = v->free;
  memcpy(v->zd, rate, (size_t)n * sizeof *rate);
  od_lu_solve(n, v->square, v->pivot, v->zd, 1);
  od_status status = place(v, v->zd, v->zero);
  if (status != OD_OK) return status;
  // The part of the outputs' second rates that is due to the velocities.
  od_mechanics(v->m)->tangent_motion(v->m, p.in, p.w, v->zd, v->zero, NULL, NULL, OD_LEVEL_POSITION);
  for (int i = 0; i < n; i++)
    v->zdd[i] =
        (i < n - v->loose ? second[i] : 0) - od_model_output_change(v->m, p.w, &v->moved_rate[i], v->zero, NULL, NULL);
  od_lu_solve(n, v->square, v->pivot, v->zdd, 1);
  for (int i = 0; i < v->loose; i++) {
    double *along = v->along + i * n;
    for (int k = 0; k < n; k++) along[k] = k == n - v->loose + i;
    od_lu_solve(n, v->square, v->pivot, along, 1);
  }
  od_mechanics(v->m)->accelerate(v->m, p.in, p.w, v->zdd);
  return OD_OK;
}

// ---- forces

// Returns the index of an instance's force in the work memory; -1: the instance exerts no force.
static int force_place(const od_model *m, const od_instance *e) {
  const od_element_class *c = od_instance_class(m, e);
  for (int k = 0; k < c->outs; k++)
    if (c->out[k].kind == OD_TO_FORCE) return e->out + k;
  return -1;
}

// Sets the states of elements that exert forces to their values in steady motion at the current speeds. States without a steady
// value are unchanged.
static void settle_states(od_inverse *v) {
  od_work_parts p = parts(v);
  const od_model *m = v->m;
  const od_layout *l = &m->layout;
  bool any = false;
  for (int i = 0; i < m->instances; i++)
    any = any ||
          (m->instance[i].state[0] >= 0 && m->instance[i].actuator >= 0 && force_place(v->m, &m->instance[i]) >= 0);
  for (int round = 0; any && round < 30; round++) {
    double largest = 0;
    od_circuit_linearize(m, p.w);
    for (int i = 0; i < m->instances; i++) {
      const od_instance *e = &m->instance[i];
      if (e->actuator < 0 || force_place(v->m, e) < 0) continue;
      for (int k = 0; k < OD_MOST_ELEMENT_STATES && e->state[k] >= 0; k++) {
        int s = e->state[k];
        double slope = p.w[m->join.diagonal[s]];
        if (!(slope < 0)) continue;  // the state does not converge to a steady value
        double step = -p.w[l->rate + s] / slope;
        p.w[l->c + s] += step;
        largest = fmax(largest, fabs(step) / (1e-12 + fabs(p.w[l->c + s])));
      }
    }
    od_circuit_evaluate(m, p.w);
    if (!(largest > 1e-13)) break;
  }
}

// Subtracts the force of an instance from the total force along its line.
static void silence(od_inverse *v, int instance) {
  od_work_parts p = parts(v);
  const od_instance *e = &v->m->instance[instance];
  int force = force_place(v->m, e);
  if (force >= 0 && e->actuator >= 0) p.w[v->m->layout.force + e->actuator] -= p.w[force];
}

// Sets the value of a load that is a drive (N or N m), by changing its number. If the input of the load is zero, sets the input to
// 1e-100, because the number cannot act through a zero input.
static void set_load(od_inverse *v, int load, double size) {
  od_work_parts p = parts(v);
  const od_load *at = &v->m->load[load];
  double *input = at->input >= 0 ? p.w + v->m->layout.u + at->input : NULL;
  if (input && *input == 0) *input = 1e-100;
  p.w[v->m->layout.theta + at->number] = input ? size / *input : size;
}

static od_output drive_length(const od_model *m, const od_drive *d) {
  return d->kind == OD_DRIVE_COORDINATE
             ? (od_output){.kind = OD_OUT_COORDINATE, .index = d->index, .second = -1}
             : (od_output){.kind = OD_OUT_LENGTH, .index = m->instance[d->index].actuator, .second = -1};
}

// Computes A: the effect of the drives' efforts on the independent coordinates, followed by columns for the unknown second rates.
// g is the residual without the drives.
static od_status find_drive_map(od_inverse *v) {
  od_work_parts p = parts(v);
  int n = v->free, drives = v->drives, nd = drives + v->loose;
  double *dz = v->step;
  for (int i = 0; i < v->loose; i++) {
    for (int k = 0; k < n; k++) dz[k] = v->zdd[k] + v->along[i * n + k];
    od_mechanics(v->m)->accelerate(v->m, p.in, p.w, dz);
    od_status status = od_mechanics(v->m)->residual(v->m, p.in, p.w, v->target);
    if (status != OD_OK) return status;
    for (int k = 0; k < n; k++) v->A[k * nd + drives + i] = v->g[k] - v->target[k];
  }
  if (v->loose) od_mechanics(v->m)->accelerate(v->m, p.in, p.w, v->zdd);
  for (int d = 0; d < drives; d++) {
    if (v->drive[d].kind != OD_DRIVE_LOAD) continue;
    set_load(v, v->drive[d].index, 1);
    od_status status = od_mechanics(v->m)->residual(v->m, p.in, p.w, v->target);
    set_load(v, v->drive[d].index, 0);
    if (status != OD_OK) return status;
    for (int k = 0; k < n; k++) v->A[k * nd + d] = v->g[k] - v->target[k];
  }
  for (int k = 0; k < n; k++) dz[k] = 0;
  for (int k = 0; k < n; k++) {
    dz[k] = 1;
    od_mechanics(v->m)->tangent_motion(v->m, p.in, p.w, dz, NULL, NULL, NULL, OD_LEVEL_POSITION);
    for (int d = 0; d < drives; d++) {
      if (v->drive[d].kind == OD_DRIVE_LOAD) continue;
      od_output length = drive_length(v->m, &v->drive[d]);
      v->A[k * nd + d] = od_model_output_change(v->m, p.w, &length, v->zero, NULL, NULL);
    }
    dz[k] = 0;
  }
  return OD_OK;
}

// Returns the share of the drive of a column of A, used if several drives have the same effect; 1 for a second rate.
static double share_of(const od_inverse *v, int column) {
  return column < v->drives ? v->drive[column].share : 1;
}

// Solves A effort = g with the least sum of effort^2 / share. v->reached receives the second rates of loose outputs. Returns
// OD_SINGULAR if the drives cannot produce the motion.
static od_status solve_drives(od_inverse *v, double *effort) {
  int n = v->free, nd = v->drives + v->loose;
  double *B = v->square, *y = v->step;
  double least = INFINITY, most = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double sum = 0;
      for (int d = 0; nd > n && d < nd; d++) sum += v->A[i * nd + d] * share_of(v, d) * v->A[k * nd + d];
      B[i * n + k] = nd > n ? sum : v->A[i * nd + k] * share_of(v, k);
    }
  od_status status = od_lu_factor(n, B, v->pivot);
  for (int i = 0; i < n; i++) least = fmin(least, fabs(B[i * n + i])), most = fmax(most, fabs(B[i * n + i]));
  if (status != OD_OK || !(least > 1e-12 * most)) {  // n = 0: `least` is infinite
    v->stuck = OD_STUCK_DRIVES;
    return OD_SINGULAR;
  }
  memcpy(y, v->g, (size_t)n * sizeof *y);
  od_lu_solve(n, B, v->pivot, y, 1);
  for (int d = 0; d < nd; d++) {
    double sum = nd > n ? 0 : y[d];
    for (int i = 0; nd > n && i < n; i++) sum += v->A[i * nd + d] * y[i];
    *(d < v->drives ? &effort[d] : &v->reached[d - v->drives]) = share_of(v, d) * sum;
  }
  return OD_OK;
}

// Writes the computed second rates of loose outputs to `second`, and adds their effect to the accelerations.
static void take_loose(od_inverse *v, double *second) {
  od_work_parts p = parts(v);
  int n = v->free;
  for (int i = 0; i < v->loose; i++) {
    second[n - v->loose + i] = v->reached[i];
    for (int k = 0; k < n; k++) v->zdd[k] += v->reached[i] * v->along[i * n + k];
  }
  if (v->loose) od_mechanics(v->m)->accelerate(v->m, p.in, p.w, v->zdd);
}

// Computes the residual with all efforts. Afterwards the work memory contains the reactions of joints.
static od_status apply_efforts(od_inverse *v, const double *effort) {
  od_work_parts p = parts(v);
  const od_layout *l = &v->m->layout;
  for (int d = 0; d < v->drives; d++) {
    const od_drive *drive = &v->drive[d];
    if (drive->kind == OD_DRIVE_LOAD) set_load(v, drive->index, effort[d]);
    if (drive->kind == OD_DRIVE_ELEMENT) p.w[l->force + v->m->instance[drive->index].actuator] += effort[d];
  }
  od_status status = od_mechanics(v->m)->residual(v->m, p.in, p.w, v->target);
  for (int d = 0; d < v->drives; d++)
    if (v->drive[d].kind == OD_DRIVE_COORDINATE) p.w[l->tau + v->drive[d].index] -= effort[d];
  if (status == OD_OK) od_mechanics(v->m)->closure_forces(v->m, p.in, p.w);
  return status;
}

// Chooses other independent coordinates if the current independent coordinates are ill-conditioned.
static od_status choose_coordinates(od_inverse *v) {
  const od_plant_ops *ops = v->plant->ops;
  if (!ops->wants_repartition || !ops->wants_repartition(v->plant, v->work)) return OD_OK;
  od_status status = ops->repartition(v->plant, v->work, v->x, NULL, NULL);
  if (status != OD_OK) return status;
  memcpy(v->z, v->x, (size_t)v->free * sizeof *v->z);
  return OD_OK;
}

od_status od_inverse_solve(od_inverse *v, const double *u, const double *q, const double *rate, double *second,
                           double *effort) {
  od_work_parts p = parts(v);
  const od_layout *l = &v->m->layout;
  v->stuck = OD_STUCK_NOWHERE;
  od_status status = v->solved ? choose_coordinates(v) : OD_OK;
  if (status == OD_OK) status = move_to(v, q);
  if (status == OD_OK) status = find_rates(v, rate, second);
  if (status != OD_OK) return status;
  v->solved = true;
  for (int i = 0; i < v->plant->nu; i++) p.w[l->u + i] = u[i];
  memcpy(p.w + l->c, v->m->c0, (size_t)v->plant->nc * sizeof(double));
  if (v->m->blocks) od_model_signals(v->m, p.w);
  od_circuit_evaluate(v->m, p.w);
  settle_states(v);
  for (int i = 0; i < v->idles; i++) silence(v, v->idle[i]);
  for (int d = 0; d < v->drives; d++) {
    if (v->drive[d].kind == OD_DRIVE_ELEMENT) silence(v, v->drive[d].index);
    if (v->drive[d].kind == OD_DRIVE_LOAD) set_load(v, v->drive[d].index, 0);
  }
  status = od_mechanics(v->m)->residual(v->m, p.in, p.w, v->g);
  if (status == OD_OK) status = find_drive_map(v);
  if (status == OD_OK) status = solve_drives(v, effort);
  if (status != OD_OK) return status;
  take_loose(v, second);
  return apply_efforts(v, effort);
}

od_stuck od_inverse_stuck(const od_inverse *v) {
  return v->stuck;
}

double od_inverse_output(od_inverse *v, const od_output *o) {
  return od_model_output_value(v->m, parts(v).w, o);
}

double od_inverse_signal(const od_inverse *v, int instance) {
  const od_instance *e = &v->m->instance[instance];
  const od_element_class *c = od_instance_class(v->m, e);
  for (int k = 0; e->signal >= 0 && k < c->ins; k++)
    if (c->in[k].kind == OD_IN_SIGNAL && c->in[k].index == 0) return parts(v).w[e->in + k];
  return 1;
}

// ---- actuators

// The step is a power of two, so that divisions by the step are exact.
static const double imaginary_step = 0x1p-100;

// Fills the inputs of an instance: the pressures of its ends; its length, limited to its reach; other inputs from
// `now`. If `along` is 0 or 1, the pressure of this end has the imaginary part imaginary_step.
static void fill_inputs(const od_model *m, const double *theta, int instance, const double *now,
                        const double pressure[2], int along, od_complex *in) {
  const od_instance *e = &m->instance[instance];
  const od_element_class *c = od_instance_class(m, e);
  const double *number = theta + e->number;
  const od_element_description *described = od_instance_description(m, e);
  double shortest = number[described->reach.closed], stroke = od_element_stroke(described, number);
  for (int k = 0; k < c->ins; k++) {
    in[k] = now[k];
    if (c->in[k].kind == OD_IN_PRESSURE) in[k] = pressure[c->in[k].index];
    if (c->in[k].kind == OD_IN_PRESSURE && c->in[k].index == along) in[k] += OD_COMPLEX_OF(0.0, imaginary_step);
    if (c->in[k].kind == OD_IN_LENGTH && stroke > 0) in[k] = fmin(fmax(now[k], shortest), shortest + stroke);
  }
}

// Adds the flows of an instance to the flows into both ends.
static void add_flows(const od_element_class *c, const od_complex *out, double flow[2]) {
  for (int k = 0; k < c->outs; k++) {
    double value = od_real(out[k]);
    if (c->out[k].kind == OD_TO_END) flow[c->out[k].index] -= value;
    if (c->out[k].kind == OD_TO_THROUGH) flow[0] += value, flow[1] -= value;
  }
}

void od_inverse_actuate(const od_inverse *v, int instance, const double pressure[2], od_actuation *to) {
  const od_model *m = v->m;
  const od_instance *e = &m->instance[instance];
  const od_element_class *c = od_instance_class(m, e);
  const double *w = parts(v).w, *theta = w + m->layout.theta, *oil = w + m->layout.oil;
  od_complex in[OD_MOST_IN], out[OD_MOST_OUT];
  *to = (od_actuation){0};
  for (int along = 0; along < 2; along++) {
    fill_inputs(m, theta, instance, w + e->in, pressure, along, in);
    od_element_evaluate_at(m, theta, oil, instance, in, out);
    for (int k = 0; k < c->outs; k++) {
      if (c->out[k].kind == OD_TO_VOLUME) to->volume[c->out[k].index] = od_real(out[k]);
      if (c->out[k].kind != OD_TO_FORCE) continue;
      to->force = od_real(out[k]);
      to->force_by[along] = od_imaginary(out[k]) / imaginary_step;
    }
  }
  add_flows(c, out, to->flow);
  // Leakage from one end to the other is a separate instance.
  for (int i = 0; i < m->instances; i++) {
    const od_instance *leak = &m->instance[i];
    const od_element_class *its = od_instance_class(m, leak);
    if (leak->host != instance || its->out[0].kind != OD_TO_THROUGH || its->out[1].kind != OD_TO_NOTHING) continue;
    if (leak->end[0] != e->end[0] || leak->end[1] != e->end[1]) continue;
    fill_inputs(m, theta, i, w + leak->in, pressure, -1, in);
    od_element_evaluate_at(m, theta, oil, i, in, out);
    add_flows(its, out, to->flow);
  }
}

// At zero speed and zero pressure, the force does not depend on the oil.
double od_actuator_size(const od_model *m, int instance, int end) {
  const od_element_class *c = od_instance_class(m, &m->instance[instance]);
  const double zero[2] = {0};
  double now[OD_MOST_IN] = {0}, oil[OD_OIL_STATES];
  od_complex in[OD_MOST_IN], out[OD_MOST_OUT];
  for (int i = 0; i < OD_OIL_STATES; i++) oil[i] = 1;
  for (int k = 0; k < c->ins; k++) now[k] = c->in[k].kind == OD_IN_SIGNAL;
  fill_inputs(m, m->theta, instance, now, zero, end, in);
  od_element_evaluate_at(m, m->theta, oil, instance, in, out);
  for (int k = 0; k < c->outs; k++)
    if (c->out[k].kind == OD_TO_FORCE) return od_imaginary(out[k]) / imaginary_step;
  return 0;
}
#endif
