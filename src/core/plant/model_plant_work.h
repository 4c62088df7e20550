// Internal data of a machine's plant, shared by model_plant*.c, repartition.c and sparse_steps.c.
//
// Work memory: a header, then the scalars and integers of model/layout.h, scratch, the last point, and the scalars of the complex
// build. The work memory contains no pointers, only offsets, so it may be copied.
#ifndef OD_MODEL_PLANT_WORK_H
#define OD_MODEL_PLANT_WORK_H

#include <math.h>

#include "base/arena.h"
#include "base/complex_number.h"
#include "hydraulics/circuit.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "model/model.h"
#include "oleodyn/plant.h"
#include "signals/blocks.h"

typedef struct od_state_range {  // states `first` to `end` - 1
  int first, end;
} od_state_range;
// The constants of the mechanism that a parameter changes: a section of od_plant_data.changed. Not used for numbers of circuits and
// blocks, nor if blocks measure quantities that depend on numbers: other methods compute these derivatives.
typedef struct od_constant_changes {
  bool is_mechanical;
  int first, count, kinds;
} od_constant_changes;

typedef struct od_plant_data {  // a model with the chosen inputs, outputs and parameters
  od_plant plant;
  od_plant_ops ops;
  const od_model *m;
  od_arena own;  // the memory of a plant that od_model_plant() created; contains this struct
  int *output, *parameter;
  od_state_range *seen;         // for each output: the states on which the output may depend
  bool reactions;               // whether an output is a reaction of a joint, a rod or a gear
  bool reads_time;              // whether the machine has foreign blocks, which read the time
  bool balances_oil;            // whether an output is the balance of oil
  od_circuit_number *owner;     // for each parameter: the number of the circuit that the parameter sets, or none
  od_block_number *block;       // for each parameter: the number of a block that the parameter sets, or none
  od_constant_changes *change;  // for each parameter: the constants of the mechanism that the parameter changes
  int *changed, changes;        // indices of the changed constants of all parameters; their count
  int *mechanical,
      mechanicals;  // parameters that are numbers of the mechanism, first the parameters that change positions
  double *scale;
  int *scale_knots;  // see od_plant
  int *jump_guard, *jump_held;
  // Offsets of the parts of the work memory, bytes.
  size_t scalars, integers, scratch, point, kept, sparse, tree, changed_values, complex_scalars;
} od_plant_data;

// The parts of the machine that are at the x and u of the last point.
enum {
  OD_PLACED_NOTHING,
  OD_PLACED_MECHANISM,
  OD_PLACED_MACHINE,  // also signals and circuit
};

// Preparation of the last point for tangents and reactions.
enum {
  OD_POINT_EVALUATED,  // only the residual is known
  OD_POINT_CLOSED,     // the joint forces include the closure forces
  OD_POINT_LINEAR,     // also the derivatives of circuit and signals are known
};

typedef struct od_work_header {
  int linear;            // the preparation of the last point; a residual resets it to OD_POINT_EVALUATED, which is zero
  int changes_known;     // whether the changes of constants belong to the current numbers
  int sampled;           // whether samples or switches were taken since the last point was settled
  int placed;            // which parts of the machine are at the x and u of the last point
  double inverse_pivot;  // the largest inverse pivot right after the partition was chosen; zero: not computed yet
} od_work_header;

// Pointers to the parts of a work block.
typedef struct od_work_parts {
  od_work_header *head;
  double *w;  // see model/layout.h
  int *in;
  double *scratch;    // directions first, then the data of one function
  double *x, *k, *u;  // the last point
  double *kept;       // all coordinates at the point to return to after a failure
  double *sparse;     // if the matrix of a step is sparse: its factors, and space for one row
  double *change;     // derivatives of constants with respect to parameters, see model_plant_numbers.c
  od_complex *wc;
} od_work_parts;

static inline const od_plant_data *od_plant_data_of(const od_plant *plant) {
  return plant->model;
}

// Returns pointers to the parts of a work block.
static inline od_work_parts od_work_parts_of(const od_plant_data *d, void *work) {
  char *base = work;
  od_work_parts p = {.head = work,
                     .w = (double *)(base + d->scalars),
                     .in = (int *)(base + d->integers),
                     .scratch = (double *)(base + d->scratch),
                     .x = (double *)(base + d->point)};
  p.k = p.x + 2 * d->plant.nz + d->plant.nc;
  p.u = p.k + d->plant.nz + d->plant.nc;
  p.kept = (double *)(base + d->kept);
  p.sparse = (double *)(base + d->sparse);
  p.change = (double *)(base + d->changed_values);
  p.wc = (od_complex *)(base + d->complex_scalars);
  return p;
}

// Directions of tangents, all zero, and a column for results, at the beginning of the scratch memory. du has space for all
// signals and measured quantities.
typedef struct od_directions {
  double *dz, *dzd, *dzdd, *dc, *du, *out;
} od_directions;
static inline int signal_doubles(const od_plant *plant) {
  return od_plant_data_of(plant)->m->signals + od_plant_data_of(plant)->m->measures;
}
static inline int direction_doubles(const od_plant *plant) {
  return 4 * plant->nz + 2 * plant->nc + signal_doubles(plant);
}
static inline od_directions clear_directions(const od_plant *plant, const od_work_parts *p) {
  int n = plant->nz, nc = plant->nc;
  od_directions v = {p->scratch,         p->scratch + n,          p->scratch + 2 * n,
                     p->scratch + 3 * n, p->scratch + 3 * n + nc, p->scratch + 3 * n + nc + signal_doubles(plant)};
  for (int i = 0; i < direction_doubles(plant); i++) p->scratch[i] = 0;
  return v;
}

// Writes a column of a row-major matrix.
static inline void put_column(double *matrix, int rows, int columns, int column, const double *values) {
  for (int i = 0; i < rows; i++) matrix[i * columns + column] = values[i];
}

// Returns the derivative of an actuator's length with respect to an independent coordinate.
static inline double od_model_plant_length_slope(const od_model *m, const double *w, int actuator, int k) {
  const od_actuator *a = &m->actuator[actuator];
  return a->length_row >= 0 ? w[m->layout.length_map + a->length_row * m->freedom + k] : a->coordinate == k;
}

// Returns row k of the mechanism for changed forces: -J' dF. Entries of `force` are `stride` apart.
static inline double od_model_plant_force_row(const od_plant_data *d, const od_work_parts *p, int k,
                                              const double *force, int stride) {
  const od_model *m = d->m;
  const double *map = p->w + m->layout.length_map + k;
  double sum = 0;
  if (m->length_rows == m->actuators)
    for (int j = 0; j < m->actuators; j++) sum += map[j * m->freedom] * force[j * stride];
  else
    for (int j = 0; j < m->actuators; j++) sum += od_model_plant_length_slope(m, p->w, j, k) * force[j * stride];
  return -sum;
}

// model_plant_tangents.c
// Computes a column of g's derivatives along a motion of the mechanism that starts at `level`, or along a number (NULL: none).
void od_model_plant_motion_column(const od_plant_data *d, const od_work_parts *p, const od_directions *v,
                                  const od_number_change *change, int level, double *column);
// Returns whether parameter j is a number of the mechanism. Builds without complex numbers have no such parameters
// (real_derivatives.h).
static inline bool od_is_mechanical(const od_plant_data *d, int j) {
  return OD_WITH_COMPLEX && d->change[j].is_mechanical;
}

// Directions of OD_LANES tangents together, used if OD_LANES_PAY.
typedef struct od_lane_directions {
  od_lanes *dz, *dzd, *dzdd, *column;
} od_lane_directions;
size_t od_model_plant_lane_doubles(const od_plant *plant);
od_lane_directions od_model_plant_clear_lanes(const od_plant *plant, const od_work_parts *p);
// Compute the columns of all lanes together, and copy the column of one lane. In the first function, `level` is the lowest level of
// all lanes; in the second function, the level of this lane. `change` is allowed only for machines without blocks.
void od_model_plant_run_lanes(const od_plant_data *d, const od_work_parts *p, const od_lane_directions *v,
                              const od_number_change *change, int level);
void od_model_plant_lane_column(const od_plant_data *d, const od_work_parts *p, const od_lane_directions *v, int lane,
                                int level, double *column, int stride);

// model_plant_numbers.c
// Finds the constants that the parameters change, when the plant is created.
void od_model_plant_find_changes(od_plant_data *d, od_arena *arena);
size_t od_model_plant_change_doubles(const od_plant_data *d);
// Begins tangents along a parameter that is a number of the mechanism. Returns the changes of the constants; *level receives
// the level at which the tangents start. od_model_plant_end_number() must end these tangents.
od_number_change od_model_plant_begin_number(const od_plant_data *d, const od_work_parts *p, int j, int *level);
void od_model_plant_end_number(const od_plant_data *d, const od_work_parts *p, int j);
// Computes the columns of all parameters of the mechanism, in an nk x np matrix.
void od_model_plant_number_columns(const od_plant_data *d, const od_work_parts *p, double *gp);

// model_plant_jacobians.c: functions of od_plant_ops with the same names without the prefix.
od_status od_model_plant_step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix);
od_status od_model_plant_jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu);
od_status od_model_plant_parameter_jacobian(const od_plant *plant, void *work, double *gp);
od_status od_model_plant_force_stiffness(const od_plant *plant, void *work, double *K);
// Adds the closure forces to the joint forces of the last point, unless already added. Call this function before
// reactions of joints are computed.
void od_model_plant_close(const od_plant_data *d, const od_work_parts *p);
// Computes closure forces, derivatives of the circuit and the map of the actuators for the last point, unless already
// computed. Call this function before tangents.
void od_model_plant_prepare_tangents(const od_plant_data *d, const od_work_parts *p);

// Computes the columns of the first-order states: factor * dg/dc, plus `unit` on the diagonal of the rows of c', starting at column `first` of a
// matrix with `columns` columns. dc: the array that clear_directions() returns.
void od_model_plant_state_columns(const od_plant_data *d, const od_work_parts *p, double *dc, double factor,
                                  double unit, double *matrix, int columns, int first);

// model_plant_tree.c: od_plant_ops.step_factors and step_solve of large machines without loops.
od_status od_model_plant_tree_factors(const od_plant *plant, void *work, double alpha, double beta);
void od_model_plant_tree_solve(const od_plant *plant, void *work, double *right, int columns);
size_t od_model_plant_tree_size(const od_plant_data *d);  // bytes
// Replaces pivots in restored work memory that are out of range.
void od_model_plant_tree_limit_pivots(const od_plant_data *d, void *work);

// sparse_steps.c: machines with sparse rows of rates. The first function computes the circuit's rows of a column, for changes of
// lengths and speeds. The second computes a row of factor * dg/dc, for all states of the circuit. The other functions factor and
// solve the matrix of a step.
void od_model_plant_sparse_motion(const od_plant_data *d, const od_work_parts *p, double *column);
void od_model_plant_sparse_state_row(const od_plant_data *d, const od_work_parts *p, int state, double factor,
                                     double *row);
od_status od_model_plant_sparse_factors(const od_plant *plant, void *work, double alpha, double beta);
void od_model_plant_sparse_solve(const od_plant *plant, void *work, double *right, int columns);

// model_plant_complex.c: derivatives by complex steps through the whole machine, for quantities without tangents. In a build
// without complex numbers, od_model_plant() rejects plants that need these functions (real_derivatives.c). Quantities that change:
// a parameter, a state, an input (-1: none); rates and states, entries `stride` apart (NULL: none); and a direction.
enum {
  OD_MOST_SWITCHED_STATES =
      (int)OD_MOST_BLOCK_STATES > (int)OD_MOST_ELEMENT_STATES ? (int)OD_MOST_BLOCK_STATES : (int)OD_MOST_ELEMENT_STATES
};
typedef struct od_complex_move {
  int parameter, state, input;
  const double *rates, *states;
  int stride;
  od_point_change along;
  bool reactions;  // whether reactions of joints and rods are wanted
} od_complex_move;
#if OD_WITH_COMPLEX
// Evaluates the machine at the last point, changed by `move`. dg (nk; NULL: not wanted) receives the derivatives of the residual.
// The next three functions return derivatives at this evaluation.
od_status od_model_plant_complex_step(const od_plant *plant, void *work, od_complex_move move, double *dg);
// Returns the derivative of a scalar of the work memory, given by its offset in w.
double od_model_plant_scalar_slope(const od_work_parts *p, int place);
// Returns the derivative of an output without the integrals of powers.
double od_model_plant_output_slope(const od_plant_data *d, const od_work_parts *p, const od_output *o);
// Computes the derivatives `next` of the states that an element or block has after its switch.
void od_model_plant_switch_slopes(const od_plant_data *d, const od_work_parts *p, int switcher, double *next);
// Computes the derivatives of the changed constants with respect to all parameters of the mechanism, in p->change.
void od_model_plant_constant_slopes(const od_plant_data *d, const od_work_parts *p);
extern const od_complex_ops od_model_plant_complex_ops;
#else
static inline od_status od_model_plant_complex_step(const od_plant *plant, void *work, od_complex_move move,
                                                    double *dg) {
  (void)plant, (void)work, (void)move, (void)dg;
  return OD_NOT_AVAILABLE;
}
static inline double od_model_plant_scalar_slope(const od_work_parts *p, int place) {
  return (void)p, (void)place, NAN;
}
static inline double od_model_plant_output_slope(const od_plant_data *d, const od_work_parts *p, const od_output *o) {
  return (void)d, (void)p, (void)o, NAN;
}
static inline void od_model_plant_switch_slopes(const od_plant_data *d, const od_work_parts *p, int switcher,
                                                double *next) {
  (void)d, (void)p, (void)switcher, (void)next;
}
static inline void od_model_plant_constant_slopes(const od_plant_data *d, const od_work_parts *p) {
  (void)d, (void)p;
}
#endif

// model_plant_outputs.c
// Returns the factor of the elements' stored energy in an output. The circuit computes this energy, not the mechanism.
static inline double od_output_stored_share(const od_output *o) {
  return o->kind == OD_OUT_POTENTIAL || o->kind == OD_OUT_STORED ? 1 : o->kind == OD_OUT_BALANCE ? -1 : 0;
}
od_status od_model_plant_outputs(const od_plant *plant, void *work, const double *energy, double *y);
od_status od_model_plant_output_jacobians(const od_plant *plant, void *work, const double *energy,
                                          const unsigned char *wanted, const double *kx, const double *ku,
                                          const double *kp, double *hx, double *hu, double *hp);
// Returns the change of an output (without integrals) along the last tangent.
double od_model_output_change(const od_model *m, double *w, const od_output *o, const double *dc, const double *du,
                              const od_number_change *change);
// Returns whether an output is a reaction of a joint, a rod or a gear. Such outputs need od_model_plant_close()
// first.
bool od_model_output_is_reaction(const od_output *o);
// Returns the range of states that an output may depend on, in a plant with nx states.
od_state_range od_model_output_sees(const od_model *m, const od_output *o, int nx);
// Returns whether an output depends on states only. Then no number of the circuit changes the output directly.
bool od_model_output_sees_states_only(const od_model *m, const od_output *o);
// Returns whether outputs and their derivatives need only the motion of the mechanism and the states, not signals and circuit.
bool od_model_plant_outputs_need_motion_only(const od_plant_data *d);
// Returns whether an output depends on the rates k.
bool od_model_output_has_rates(const od_model *m, const od_output *o);
void od_model_plant_edges(const od_plant *plant, const double *x, unsigned char *at_edge);
od_status od_model_plant_powers(const od_plant *plant, void *work, double *power);
// repartition.c: functions of od_plant_ops with the same names without the prefix.
bool od_model_plant_wants_repartition(const od_plant *plant, void *work);
od_status od_model_plant_repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p);
// Returns whether the angles of the spherical joint with this first link are near their singular position; false for other links.
bool od_model_chart_is_bad(const od_model *m, const double *w, int first);
// Sets the reference of the joint to the current orientation. Changes z and z' in w, and converts T and T1 (3 x columns). The
// positions in w must belong to z.
void od_model_move_chart(const od_model *m, double *w, int first, double *T, double *T1, int columns);
// Returns the size, in doubles, of the data that is restored after a failed repartition.
size_t od_model_choice_doubles(const od_model *m);

// model_plant_signals.c: machines with blocks. Computes the measured quantities and the signals. Call after the motion and
// before the circuit.
void od_model_signals(const od_model *m, double *w);
void od_model_plant_linearize_signals(const od_plant_data *d, const od_work_parts *p);
// Computes the change of all signals in `line`, which contains the changes of the inputs on entry. The direction consists of
// the motion of the last tangent, the states dc, a block's number and a mechanism's number (NULL: none).
void od_model_plant_signal_tangent(const od_plant_data *d, const od_work_parts *p, const double *dc,
                                   od_block_number number, const od_number_change *change, double *line);
// Add the effect of blocks to a column of the residual's derivatives: along the last tangent (dc is zero), a first-order state,
// an input, or a number.
void od_model_plant_signal_motion_column(const od_plant_data *d, const od_work_parts *p, const double *dc,
                                         const od_number_change *change, int level, double *column);
void od_model_plant_signal_state_columns(const od_plant_data *d, const od_work_parts *p, double *dc, double factor,
                                         double unit, double *matrix, int columns, int first);
// Computes the effect of blocks along states dc only, without motion.
void od_model_plant_signal_column(const od_plant_data *d, const od_work_parts *p, const double *dc, double factor,
                                  double *column);
void od_model_plant_signal_input_column(const od_plant_data *d, const od_work_parts *p, int input, double *column,
                                        int stride);
// The column of a number must be zero on entry.
void od_model_plant_signal_number_column(const od_plant_data *d, const od_work_parts *p, od_block_number number,
                                         double *column, int stride);
// Returns whether a quantity that blocks measure depends directly on numbers of the circuit, not only on states.
bool od_model_measures_numbers(const od_model *m);

// model_plant_switches.c: machines with elements or blocks that have modes. Returns the margin of the i-th switcher to its
// switch.
double od_model_switch_margin(const od_model *m, double *w, int i);
// model_plant_guards.c: the first function counts guards when the plant is created; the second function computes the guards at the
// last point.
void od_model_plant_count_guards(od_plant_data *d, od_arena *arena);
od_status od_model_plant_guards(const od_plant *plant, void *work, double *guard);
void od_model_plant_hold(const od_plant *plant, void *work, const double *held);
od_status od_model_plant_held_jacobian(const od_plant *plant, void *work, double *gv);
od_status od_model_plant_guard_slopes(const od_plant *plant, void *work, od_point_change along, double *slope);
// Performs the switches that are due at the last point: changes x and the last point. map (nx x nx) and by_parameters (nx x
// np) contain the derivatives of the jump so far and are propagated through the switches. NULL: not wanted.
od_status od_model_plant_switch(const od_plant *plant, void *work, double *x, double *map, double *by_parameters);

// model_plant_samples.c: functions of od_plant_ops with the same names without the prefix.
double od_model_plant_next_sample(const od_plant *plant, const void *work);
od_status od_model_plant_sample(const od_plant *plant, void *work, double t, double *x, double *map,
                                double *by_parameters);

static const double od_imaginary_step = 1e-30;

// model_plant_save.c: functions of od_plant_ops with the same names without the prefix.
void od_model_plant_fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection);
bool od_model_plant_restore(const od_plant *plant, const void *saved, void *work);
size_t od_model_plant_outside(const od_plant *plant, double *x, void *to, const void *from);

// model_plant_samples.c: restores the work memory that the last sample changed.
void od_model_plant_undo_sample(const od_plant_data *d, const od_work_parts *p);

#endif
