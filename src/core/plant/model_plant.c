// A compiled machine as a plant: mechanism and circuit in one residual, with exact Jacobians.
//
//   g = [ R' (M z'' - Q) - J' F(s, s', c) ;  c' - v(s, s', c, u) ]
//
// The mechanism computes the actuators' lengths s and speeds s'. The circuit computes the forces F and the rates v of the circuit
// states. J = ds/dz_ind maps the forces to the coordinates. Tangents of the mechanism hold the forces constant; the circuit adds
// rows of derivatives (hydraulics/slopes_x.h). Blocks are evaluated between the motion and the circuit (model_plant_signals.c):
// they measure the motion and drive the circuit.
#include "plant/model_plant.h"

#include <math.h>
#include <string.h>

#include "base/place.h"
#include "plant/model_plant_work.h"
#include "plant/plant_in_arena.h"
#include "plant/real_derivatives.h"

// ---- start and residual

// Initializes the work memory and x from the model. Returns OD_SINGULAR if the closure Jacobian has lost rank.
static od_status start(const od_plant *plant, void *work, double *x) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  memset(work, 0, plant->work_size);
  memcpy(p.w + l->theta, m->theta, (size_t)m->numbers * sizeof *p.w);
  memcpy(p.w + l->chart, m->chart0, OD_CHART_SIZE * (size_t)m->charts * sizeof *p.w);
  memcpy(p.w + l->z, m->z0, (size_t)m->coordinates * sizeof *p.w);
  memcpy(p.kept, m->z0, (size_t)m->coordinates * sizeof *p.kept);
  const od_mechanics_real *mech = od_mechanics(m);
  mech->prepare(m, p.w);
  mech->open_positions(m, p.w);
  if (od_partition_choose(m, p.w + l->jacobian, p.in, p.scratch) != od_partition_rank(m)) return OD_SINGULAR;
  for (int k = 0; k < plant->nz; k++) {
    x[k] = m->z0[p.in[l->independent + k]];
    x[plant->nz + k] = m->zd0[p.in[l->independent + k]];
  }
  if (od_model_samplers(m)) od_blocks_start(m, p.w);
  memcpy(x + 2 * plant->nz, m->c0, (size_t)plant->nc * sizeof *x);
  return OD_OK;
}

static void get_parameters(const od_plant *plant, const void *work, double *values) {
  const od_plant_data *d = od_plant_data_of(plant);
  const double *theta = od_model_plant_scalars(plant, work) + d->m->layout.theta;
  for (int i = 0; i < plant->np; i++) values[i] = theta[d->parameter[i]];
}

// Sets the parameters. If a parameter is a number of the mechanism, such as a length or a mass, the constants of the
// mechanism are computed again. Fails with OD_NOT_FINITE, without a change, if a value is not finite.
static od_status set_parameters(const od_plant *plant, void *work, const double *values) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  double *theta = p.w + d->m->layout.theta;
  bool mechanism = false, changed = false;
  for (int i = 0; i < plant->np; i++) {
    if (!isfinite(values[i])) return OD_NOT_FINITE;
    changed = changed || theta[d->parameter[i]] != values[i];
  }
  if (!changed) return OD_OK;
  for (int i = 0; i < plant->np; i++) {
    theta[d->parameter[i]] = values[i];
    mechanism = mechanism || (d->owner[i].owner == OD_OWNER_NONE && d->block[i].block < 0);
  }
  if (mechanism) {
    od_mechanics(d->m)->prepare(d->m, p.w);
    p.head->changes_known = 0;
  }
  p.head->linear = p.head->placed = 0;
  return OD_OK;
}

// Returns whether x and u equal the x and u of the last point, so that only the rates k can differ. Foreign blocks also read the
// time.
static bool same_place(const od_plant_data *d, const od_work_parts *p, double t, const double *x, const double *u) {
  if (d->reads_time && p->w[d->m->layout.time] != t) return false;
  size_t nx = (size_t)od_plant_nx(&d->plant), nu = (size_t)d->plant.nu;
  // In most cases a comparison of the first number suffices.
  return p->head->placed && (nx == 0 || p->x[0] == x[0]) && memcmp(p->x, x, nx * sizeof *x) == 0 &&
         (nu == 0 || memcmp(p->u, u, nu * sizeof *u) == 0);
}

// Moves the mechanism to the point x, k, u at the time t.
static od_status move_mechanism(const od_plant_data *d, const od_work_parts *p, double t, const double *x,
                                const double *k, const double *u) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  int n = d->plant.nz, nc = d->plant.nc, nu = d->plant.nu;
  memmove(p->k, k, (size_t)(n + nc) * sizeof *k);
  if (same_place(d, p, t, x, u)) {
    od_mechanics(m)->accelerate(m, p->in, p->w, k);
    return OD_OK;
  }
  p->head->placed = OD_PLACED_NOTHING;
  p->w[l->time] = t;
  memcpy(p->x, x, (size_t)(2 * n + nc) * sizeof *x);
  for (int i = 0; i < nu; i++) p->u[i] = p->w[l->u + i] = u[i];
  for (int i = 0; i < nc; i++) p->w[l->c + i] = x[2 * n + i];
  od_status status = od_mechanics(m)->motion(m, p->in, p->w, x, x + n, k);
  if (status == OD_OK) p->head->placed = OD_PLACED_MECHANISM;
  return status;
}

// Moves mechanism and circuit to the point x, k, u at the time t.
static od_status move(const od_plant_data *d, const od_work_parts *p, double t, const double *x, const double *k,
                      const double *u) {
  od_status status = move_mechanism(d, p, t, x, k, u);
  if (status != OD_OK || p->head->placed == OD_PLACED_MACHINE) return status;
  if (od_model_blocks(d->m)) od_model_signals(d->m, p->w);
  od_circuit_evaluate(d->m, p->w);
  p->head->placed = OD_PLACED_MACHINE;
  return OD_OK;
}

// Moves the mechanism to x, with the rates of the last point, and computes the pressures.
static od_status place(const od_plant *plant, void *work, double t, const double *x, const double *u) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  p.head->linear = OD_POINT_EVALUATED;
  od_status status = move_mechanism(d, &p, t, x, p.k, u);
  if (status == OD_OK) od_circuit_find_pressures(d->m, p.w);
  return status;
}

// Computes g at a point. Fails if the loops cannot be closed at this point or if a value is not finite.
static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  int n = plant->nz, nc = plant->nc;
  p.head->linear = 0;
  od_status status = move(d, &p, t, x, k, u);
  if (status == OD_OK) status = od_mechanics(m)->residual(m, p.in, p.w, g);
  if (status != OD_OK) return status;
  for (int i = 0; i < nc; i++) {
    g[n + i] = k[n + i] - p.w[m->layout.rate + i];
    if (!isfinite(g[n + i])) return OD_NOT_FINITE;
  }
  return OD_OK;
}

// Restarts the iteration of the dependent coordinates at the stored values. After a failure the current values may be invalid
// or on another branch.
static void restore_coordinates(const od_plant_data *d, void *work) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts parts = od_work_parts_of(d, work), *p = &parts;
  memcpy(p->w + l->z, p->kept, (size_t)m->coordinates * sizeof(double));
  if (p->head->sampled) od_model_plant_undo_sample(d, p);
  p->head->sampled = p->head->placed = 0;
  for (int i = 0; i < od_partition_rank(m) * m->freedom; i++) p->w[l->R + i] = 0;
  for (int i = 0; i < od_partition_rank(m); i++) p->w[l->curl + i] = 0;
  for (int j = 0; j < m->coordinates; j++) p->w[l->zd + j] = 0;
}

// Stores the coordinates of the last point as the restart point after a failure, or (back) restores the stored coordinates.
static void settle(const od_plant *plant, void *work, bool back) {
  const od_plant_data *d = od_plant_data_of(plant);
  if (back) {
    restore_coordinates(d, work);
    return;
  }
  od_work_parts p = od_work_parts_of(d, work);
  memcpy(p.kept, p.w + d->m->layout.z, (size_t)d->m->coordinates * sizeof(double));
  p.head->sampled = 0;
}

// ---- access to the work memory

const od_model *od_model_plant_model(const od_plant *plant) {
  return od_plant_data_of(plant)->m;
}
const int *od_model_plant_integers(const od_plant *plant, const void *work) {
  return (const int *)((const char *)work + od_plant_data_of(plant)->integers);
}
const double *od_model_plant_scalars(const od_plant *plant, const void *work) {
  return (const double *)((const char *)work + od_plant_data_of(plant)->scalars);
}

// ---- construction of the plant

static void destroy(od_plant *plant) {
  od_arena memory = ((od_plant_data *)plant->model)->own;
  od_arena_free(&memory);
}

// Computes the offsets of the parts of the work memory.
static void lay_out(od_plant_data *d) {
  const od_model *m = d->m;
  size_t n = (size_t)m->coordinates, end = sizeof(od_work_header), freedom = (size_t)m->freedom, nc = (size_t)m->states,
         np = (size_t)d->plant.np;
  d->scalars = od_place(&end, (size_t)m->layout.scalars_real * sizeof(double));
  d->integers = od_place(&end, (size_t)m->layout.integers * sizeof(int));
  // Scratch memory for one of two uses. First: directions, two changes of all coordinates (if some coordinates are dependent), a
  // dense closure Jacobian and the current choice of coordinates. Second: a column of forces and rates.
  size_t changes = od_partition_rank(m) > 0 ? 2 * n * (2 * freedom + np) : 0;
  size_t scratch =
      (size_t)direction_doubles(&d->plant) + changes + od_partition_doubles(m) + od_model_choice_doubles(m);
  d->scratch =
      od_place(&end, (scratch + nc + (size_t)m->actuators + (size_t)m->jumps + od_model_plant_lane_doubles(&d->plant)) *
                         sizeof(double));
  d->point = od_place(&end, (3 * freedom + 2 * nc + (size_t)m->inputs) * sizeof(double));
  d->kept = od_place(&end, n * sizeof(double));
  d->sparse = od_place(&end, (size_t)(m->step.sparse.values + m->step.sparse.n) * sizeof(double));
  d->changed_values = od_place(&end, od_model_plant_change_doubles(d) * sizeof(double));
  size_t complex_scalars = (size_t)m->layout.scalars + 4 * freedom + 3 * nc + (size_t)m->inputs;
  bool steps = OD_WITH_COMPLEX && (d->plant.np || od_model_switchers(m) || d->plant.jumps || d->reactions);
  d->complex_scalars = od_place(&end, steps ? complex_scalars * sizeof(od_complex) : 0);
  d->tree = od_place(&end, od_model_has_tree(m) ? od_model_plant_tree_size(d) : 0);
  d->plant.work_size = od_place(&end, 0);
}

size_t od_model_plant_complex_bytes(const od_plant *plant) {
  const od_plant_data *d = od_plant_data_of(plant);
  return d->tree - d->complex_scalars;
}

// Sets typical rates: 1 m/s2 or rad/s2 for accelerations; the model contains the rates of its first-order states.
static void set_scales(od_plant_data *d) {
  const od_model *m = d->m;
  for (int i = 0; i < m->freedom; i++) d->scale[i] = 1;
  for (int i = 0; i < m->states; i++) d->scale[m->freedom + i] = m->state_scale[i];
}

// Returns the functions of the plant. Machines without sampled blocks and modes have no functions for samples and
// switches.
static od_plant_ops operations_of(const od_model *m) {
  od_plant_ops ops = {
    .start = start,
    .get_parameters = get_parameters,
    .set_parameters = set_parameters,
    .residual = residual,
    .step_matrix = od_model_plant_step_matrix,
    .jacobians = od_model_plant_jacobians,
    .parameter_jacobian = od_model_plant_parameter_jacobian,
    .outputs = od_model_plant_outputs,
    .output_jacobians = od_model_plant_output_jacobians,
    .wants_repartition = od_model_plant_wants_repartition,
    .repartition = od_model_plant_repartition,
    .settle = settle,
    .force_stiffness = od_model_plant_force_stiffness,
#if OD_WITH_COMPLEX
    .in_complex = &od_model_plant_complex_ops,
#endif
    .edges = od_model_plant_edges
  };
  if (OD_SHOWS_POWERS) ops.powers = od_model_plant_powers;
  for (int i = 0; OD_WITH_SAVE && i < od_model_blocks(m); i++)
    if (m->spec[i].foreign && m->spec[i].foreign->memory_size) ops.outside = od_model_plant_outside;
  if (OD_WITH_SAVE) {
    ops.fingerprint = od_model_plant_fingerprint;
    ops.restore = od_model_plant_restore;
  }
  if (od_model_switchers(m) || od_model_samplers(m)) {
    ops.next_sample = od_model_plant_next_sample;
    ops.sample = od_model_plant_sample;
  }
  if (od_model_has_tree(m)) {
    ops.step_factors = od_model_plant_tree_factors;
    ops.step_solve = od_model_plant_tree_solve;
  } else if (od_model_has_sparse_steps(m)) {
    ops.step_factors = od_model_plant_sparse_factors;
    ops.step_solve = od_model_plant_sparse_solve;
  }
  return ops;
}

static int *copy_indices(od_arena *arena, const int *from, int count) {
  int *to = OD_TAKE(arena, int, count);
  if (to && count) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

bool od_model_plant_fixes(const od_model *m, int number) {
  for (int i = 0; i < m->joints && m->planar; i++) {
    const od_joint_spec *s = &m->joint[i].spec;
    if ((s->axis_a >= 0 && number >= s->axis_a && number < s->axis_a + 3) ||
        (s->axis_b >= 0 && number >= s->axis_b && number < s->axis_b + 3))
      return true;
  }
  return false;
}

od_status od_model_plant_integrate_powers(od_plant *plant) {
  if (plant->destroy != destroy) return OD_BAD_ARGUMENT;
  plant->nq = od_model_power(od_plant_data_of(plant)->m, OD_POWER_KINDS);
  return OD_OK;
}

// Checks the indices of the chosen outputs and parameters.
static od_status check_choice(const od_model *m, const od_plant_choice *c, od_error *err) {
  for (int i = 0; i < c->outputs; i++)
    if (c->output[i] < 0 || c->output[i] >= m->outputs)
      return od_fail(err, OD_BAD_ARGUMENT, "output %d does not exist; expected an index from 0 to %d", c->output[i],
                     m->outputs - 1);
  for (int i = 0; i < c->parameters; i++) {
    int number = c->parameter[i];
    if (number < 0 || number >= m->numbers)
      return od_fail(err, OD_BAD_ARGUMENT, "number %d does not exist; expected an index from 0 to %d", number,
                     m->numbers - 1);
    if (od_model_plant_fixes(m, number))
      return od_fail(
          err, OD_BAD_ARGUMENT,
          "'%s' belongs to an axis of a planar machine and cannot be a parameter; load the machine as spatial",
          od_number_path(m, number));
  }
  return OD_OK;
}

// Finds, for each parameter, the part of the machine to which its number belongs, and prepares the data for its
// derivatives.
static void find_parameters(od_plant_data *d, od_arena *arena) {
  const od_model *m = d->m;
  bool measured = od_model_measures_numbers(m);
  for (int i = 0; i < d->plant.np; i++) {
    d->owner[i] = measured ? od_circuit_no_number : od_circuit_find_number(m, d->parameter[i]);
    d->block[i] = od_block_find_number(m, d->parameter[i]);
  }
  if (OD_WITH_COMPLEX) od_model_plant_find_changes(d, arena);
}

// Finds, for each output, the states on which it depends, and properties of all outputs that the plant needs.
static void find_outputs(od_plant_data *d) {
  const od_model *m = d->m;
  for (int i = 0; i < d->plant.ny; i++) {
    const od_output *o = &m->output[d->output[i]];
    d->seen[i] = od_model_output_sees(m, o, od_plant_nx(&d->plant));
    if (od_model_output_has_rates(m, o)) d->plant.outputs_of_rates = true;
    if (od_model_output_is_reaction(o)) d->reactions = true;
    if (o->kind == OD_OUT_OIL_BALANCE) d->balances_oil = true;
    if (o->kind >= OD_OUT_INTEGRAL) od_model_plant_integrate_powers(&d->plant);
  }
}

od_status od_model_plant_in(od_arena *arena, const od_model *m, od_plant_choice choice, od_plant **out, od_error *err) {
  *out = NULL;
  od_status status = check_choice(m, &choice, err);
  if (status != OD_OK) return status;
  od_plant_data *d = OD_TAKE(arena, od_plant_data, 1);
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->m = m;
  d->ops = operations_of(m);
  for (int i = 0; i < od_model_blocks(m); i++)
    d->reads_time = d->reads_time || od_block_class_of(&m->spec[i])->is_foreign;
  d->plant = (od_plant){.nz = m->freedom,
                        .nc = m->states,
                        .nu = m->inputs,
                        .ny = choice.outputs,
                        .np = choice.parameters,
                        .model = d,
                        .ops = &d->ops,
                        .destroy = destroy};
  d->output = copy_indices(arena, choice.output, choice.outputs);
  d->seen = OD_TAKE(arena, od_state_range, choice.outputs);
  d->parameter = copy_indices(arena, choice.parameter, choice.parameters);
  d->owner = OD_TAKE(arena, od_circuit_number, choice.parameters);
  d->block = OD_TAKE(arena, od_block_number, choice.parameters);
  d->plant.scale = d->scale = OD_TAKE(arena, double, m->freedom + m->states);
  od_model_plant_count_guards(d, arena);
  if (od_arena_status(arena) == OD_OK) find_parameters(d, arena);
  if (od_arena_status(arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (!OD_WITH_COMPLEX && od_model_plant_check_real(d, err) != OD_OK) return OD_NOT_AVAILABLE;
  od_circuit_find_runs(m, d->owner, choice.parameters);
  set_scales(d);
  find_outputs(d);
  if (od_model_plant_outputs_need_motion_only(d)) d->ops.place = place;
  lay_out(d);
  *out = &d->plant;
  return OD_OK;
}

od_status od_model_plant(const od_model *m, const int *outputs, int output_count, const int *parameters,
                         int parameter_count, od_plant **out, od_error *err) {
  od_arena memory = {0};
  od_plant_choice choice = {outputs, output_count, parameters, parameter_count};
  od_status status = od_model_plant_in(&memory, m, choice, out, err);
  if (status == OD_OK)
    ((od_plant_data *)(*out)->model)->own = memory;
  else
    od_arena_free(&memory);
  return status;
}
