// Outputs of a machine (of the mechanism, of the circuit, and integrals of powers) and their Jacobians.
#include <stddef.h>
#include <string.h>

#include "plant/model_plant_work.h"
#include "plant/model_plant.h"
#include "plant/real_derivatives.h"

// Returns the integral of a power, including the losses of an element at switches.
static double integral_of(const od_model *m, const double *w, const double *energy, int power) {
  int instance = power - od_model_power(m, OD_POWER_ELEMENT);
  bool switches = m->switchers && instance >= 0 && instance < m->instances && m->instance[instance].switcher >= 0;
  return energy[power] + (switches ? w[m->layout.switch_loss + m->instance[instance].switcher] : 0);
}

// Returns the part of an output that consists of integrals of powers.
static double integral_part(const od_model *m, const double *w, const od_output *o, const double *energy) {
  if (!OD_SHOWS_POWERS || !energy) return 0;
  double dissipated = 0, supplied = 0, compressed = 0;
  int elements = od_model_power(m, OD_POWER_ELEMENT), loads = od_model_power(m, OD_POWER_LOAD),
      nodes = od_model_power(m, OD_POWER_NODE), supplies = od_model_power(m, OD_POWER_SUPPLY);
  if (o->kind == OD_OUT_INTEGRAL) {
    double sum = integral_of(m, w, energy, o->index);
    if (o->second >= 0) sum += integral_of(m, w, energy, o->second);
    return o->negative ? -sum : sum;
  }
  if (o->kind == OD_OUT_OIL_BALANCE) return -energy[od_model_power(m, OD_POWER_OIL)];
  for (int i = 0; i < m->instances; i++)
    if (od_instance_class(m, &m->instance[i])->supplies && m->instance[i].supplier < 0)
      supplied -= integral_of(m, w, energy, elements + i);
    else
      dissipated += integral_of(m, w, energy, elements + i);
  for (int i = 0; i < m->suppliers; i++) supplied += energy[supplies + i];
  for (int i = 0; i < od_model_loads(m); i++)
    if (m->load[i].kind == OD_LOAD_CONTACT)
      dissipated += energy[loads + i];
    else
      supplied += energy[loads + i];
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].kind == OD_NODE_VOLUME)
      compressed += energy[nodes + i];
    else
      supplied -= energy[nodes + i];
  switch (o->kind) {
    case OD_OUT_DISSIPATED: return dissipated;
    case OD_OUT_SUPPLIED: return supplied;
    case OD_OUT_COMPRESSED: return compressed;
    case OD_OUT_BALANCE: return supplied - dissipated - compressed;
    default: return 0;
  }
}

// Returns the value of an output at the state in w, in SI units. The part of the output that powers contribute by their integrals
// over time is not included (integral_part()).
double od_model_output_value(const od_model *m, const double *w, const od_output *o) {
  if (od_output_is_of_circuit(o->kind)) return od_circuit_output(m, w, o);
  if (OD_SHOWS(OD_OUT_OIL_BALANCE) && o->kind == OD_OUT_OIL_BALANCE) return od_circuit_oil(m, w) - m->oil0;
  double share = od_output_stored_share(o), value = od_mechanics(m)->output(m, w, o);
  return OD_SHOWS_STORES && share != 0 ? value + share * od_circuit_stored(m, w) : value;
}
// Returns the change of od_model_output_value() along a direction: the last tangent_motion() of the mechanism, the changes dc of
// the first-order states, the changes du of the inputs, and the change of a number.
double od_model_output_change(const od_model *m, double *w, const od_output *o, const double *dc, const double *du,
                              const od_number_change *change) {
  if (od_output_is_of_circuit(o->kind)) return od_circuit_output_tangent(m, w, o, dc, du);
  if (OD_SHOWS(OD_OUT_OIL_BALANCE) && o->kind == OD_OUT_OIL_BALANCE) return od_circuit_oil_tangent(m, w, dc, du);
  double share = od_output_stored_share(o), value = od_mechanics(m)->output_tangent(m, w, o, du, change);
  return OD_SHOWS_STORES && share != 0 ? value + share * od_circuit_stored_tangent(m, w, dc, du) : value;
}
bool od_model_output_is_reaction(const od_output *o) {
  return o->kind == OD_OUT_JOINT_FORCE || o->kind == OD_OUT_JOINT_TORQUE || o->kind == OD_OUT_ROD_FORCE ||
         o->kind == OD_OUT_GEAR_FORCE;
}

od_status od_model_plant_outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  if (d->reactions) od_model_plant_close(d, &p);
  for (int i = 0; i < plant->ny; i++) {
    const od_output *o = &d->m->output[d->output[i]];
    y[i] = od_model_output_value(d->m, p.w, o) + 0.0;  // adding 0.0 changes minus zero to zero
    if (o->kind >= OD_OUT_INTEGRAL) y[i] += integral_part(d->m, p.w, o, energy);
  }
  return OD_OK;
}

od_status od_model_plant_powers(const od_plant *plant, void *work, double *power) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  od_circuit_losses(m, p.w, power + od_model_power(m, OD_POWER_ELEMENT), power + od_model_power(m, OD_POWER_SUPPLY));
  double *load = power + od_model_power(m, OD_POWER_LOAD), *node = power + od_model_power(m, OD_POWER_NODE);
  for (int i = 0; i < od_model_loads(m); i++)
    load[i] = od_model_output_value(m, p.w, &(od_output){.kind = OD_OUT_LOAD_POWER, .index = i});
  for (int i = 0; i < m->nodes; i++) node[i] = p.w[m->layout.pressure + i] * p.w[m->layout.inflow + i];
  if (m->nodes) power[od_model_power(m, OD_POWER_OIL)] = d->balances_oil ? od_circuit_oil_supplied(m, p.w) : 0;
  return OD_OK;
}

// Writes column `column` of the derivatives h of the wanted outputs. The direction consists of the last
// tangent_motion(), dc, the inputs in du and a block's number. state: the state that changes, or -1. The entries of
// outputs that do not depend on this state stay zero.
static void output_column(const od_plant_data *d, const od_work_parts *p, const unsigned char *wanted, int state,
                          const double *dc, double *du, od_block_number number, const od_number_change *change,
                          double *h, int columns, int column) {
  if (od_model_blocks(d->m)) od_model_plant_signal_tangent(d, p, dc, number, change, du);
  for (int i = 0; i < d->plant.ny; i++)
    if ((!wanted || wanted[i]) && (state < 0 || (state >= d->seen[i].first && state < d->seen[i].end)))
      h[i * columns + column] = od_model_output_change(d->m, p->w, &d->m->output[d->output[i]], dc, du, change);
}

// Returns the highest order of motion that an output depends on: none (OD_LEVEL_INPUT), positions, velocities, accelerations.
// Signals of blocks may depend on any quantity that blocks measure.
static od_level level_shown(const od_model *m, const od_output *o) {
  switch (o->kind) {
    case OD_OUT_COORDINATE_ACCELERATION:
    case OD_OUT_POINT_ACCELERATION:
    case OD_OUT_POINT_BODY_ACCELERATION:
    case OD_OUT_POINT_SPECIFIC_FORCE:
    case OD_OUT_BODY_TURN_ACCELERATION:
    case OD_OUT_BODY_GYRO_RATE:
    case OD_OUT_JOINT_FORCE:
    case OD_OUT_JOINT_TORQUE:
    case OD_OUT_ROD_FORCE:
    case OD_OUT_GEAR_FORCE: return OD_LEVEL_ACCELERATION;
    case OD_OUT_COORDINATE:
    case OD_OUT_POINT:
    case OD_OUT_BODY_POSE:
    case OD_OUT_BODY_ANGLE:
    case OD_OUT_LENGTH: return OD_LEVEL_POSITION;
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
      if (o->index >= 0 && m->instance[o->index].actuator >= 0) return OD_LEVEL_VELOCITY;
      // Velocities determine the friction that heats the oil.
      if (o->index >= 0 && o->index == m->join.reservoir) return OD_LEVEL_VELOCITY;
      return od_model_blocks(m) ? OD_LEVEL_VELOCITY : OD_LEVEL_INPUT;
    case OD_OUT_INPUT:
    case OD_OUT_NODE_PRESSURE:
    case OD_OUT_PRESSURE_DIFFERENCE:
    case OD_OUT_ELEMENT_STATE: return od_model_blocks(m) ? OD_LEVEL_VELOCITY : OD_LEVEL_INPUT;
    default: return OD_LEVEL_VELOCITY;
  }
}

od_state_range od_model_output_sees(const od_model *m, const od_output *o, int nx) {
  od_state_range all = {0, nx};
  if (od_model_blocks(m)) return all;
  int n = m->freedom, state = -1;
  if (o->kind == OD_OUT_NODE_PRESSURE) state = m->node[o->index].state;
  if (o->kind == OD_OUT_ELEMENT_STATE && o->second < 0) state = m->instance[o->index].state[o->component];
  if (state >= 0) return (od_state_range){2 * n + state, 2 * n + state + 1};
  return level_shown(m, o) == OD_LEVEL_POSITION ? (od_state_range){0, n} : all;
}

bool od_model_output_has_rates(const od_model *m, const od_output *o) {
  return level_shown(m, o) == OD_LEVEL_ACCELERATION;
}

bool od_model_output_sees_states_only(const od_model *m, const od_output *o) {
  switch (o->kind) {
    case OD_OUT_COORDINATE:
    case OD_OUT_COORDINATE_RATE:
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_BODY_VELOCITY:
    case OD_OUT_BODY_POSE:
    case OD_OUT_BODY_ANGLE:
    case OD_OUT_BODY_TURN_RATE:
    case OD_OUT_BODY_GYRO:
    case OD_OUT_LENGTH:
    case OD_OUT_SPEED:
    case OD_OUT_ELEMENT_STATE:
    case OD_OUT_BLOCK_STATE: return true;
    case OD_OUT_INPUT: return o->index < m->inputs;
    case OD_OUT_NODE_PRESSURE: return m->node[o->index].state >= 0;
    case OD_OUT_PRESSURE_DIFFERENCE: return m->node[o->index].state >= 0 && m->node[o->second].state >= 0;
    default: return false;
  }
}

// Returns whether the signal of a block replaces a quantity that is usually a state of an element.
static bool shows_signal(const od_model *m, const od_output *o, int instance) {
  return instance >= 0 && m->instance[instance].state[o->component] < 0 && m->instance[instance].signal >= m->inputs;
}

// Returns whether an output may be limited at the states c (od_plant_ops.edges). Outputs of the motion are never limited. The
// pressure of a volume is limited where oil cavitates (circuit_x.h). A state of an element is limited only if the signal of a block
// replaces this state. All other outputs of elements and blocks may be limited anywhere.
static bool is_at_edge(const od_model *m, const od_output *o, const double *c) {
  if (!od_model_output_sees_states_only(m, o)) return true;
  switch (o->kind) {
    case OD_OUT_NODE_PRESSURE: return c[m->node[o->index].state] < 0;
    case OD_OUT_PRESSURE_DIFFERENCE: return c[m->node[o->index].state] < 0 || c[m->node[o->second].state] < 0;
    case OD_OUT_ELEMENT_STATE: return shows_signal(m, o, o->index) || shows_signal(m, o, o->second);
    default: return false;
  }
}

void od_model_plant_edges(const od_plant *plant, const double *x, unsigned char *at_edge) {
  const od_plant_data *d = od_plant_data_of(plant);
  for (int i = 0; i < plant->ny; i++) at_edge[i] = is_at_edge(d->m, &d->m->output[d->output[i]], x + 2 * plant->nz);
}

// Reactions of joints and rods depend on motion, pressures and signals together, through the loops. Complex steps give their
// derivatives, one step per column.
typedef struct reaction_rows {
  const od_plant *plant;
  void *work;
  const unsigned char *wanted;
} reaction_rows;

// Computes one column of the reactions' derivatives by a complex step.
static od_status reaction_column(const reaction_rows *r, od_complex_move move, double *h, int columns, int column) {
  const od_plant_data *d = od_plant_data_of(r->plant);
  od_work_parts p = od_work_parts_of(d, r->work);
  od_status status = od_model_plant_complex_step(r->plant, r->work, move, NULL);
  for (int i = 0; i < r->plant->ny && status == OD_OK; i++) {
    const od_output *o = &d->m->output[d->output[i]];
    if ((r->wanted && !r->wanted[i]) || !od_model_output_is_reaction(o)) continue;
    h[i * columns + column] = od_model_plant_output_slope(d, &p, o);
  }
  return status;
}

// Computes the derivatives of all wanted reactions with respect to states, inputs and parameters; NULL: not wanted.
static od_status reaction_jacobians(const reaction_rows *r, const double *kx, const double *ku, const double *kp,
                                    double *hx, double *hu, double *hp) {
  int nx = od_plant_nx(r->plant), nu = r->plant->nu, np = r->plant->np;
  od_status status = OD_OK;
  for (int j = 0; hx && j < nx && status == OD_OK; j++)
    status = reaction_column(r, (od_complex_move){-1, j, -1, kx ? kx + j : NULL, NULL, nx, {0}, true}, hx, nx, j);
  for (int j = 0; hu && j < nu && status == OD_OK; j++)
    status = reaction_column(r, (od_complex_move){-1, -1, j, ku ? ku + j : NULL, NULL, nu, {0}, true}, hu, nu, j);
  for (int j = 0; hp && j < np && status == OD_OK; j++)
    status = reaction_column(r, (od_complex_move){j, -1, -1, kp ? kp + j : NULL, NULL, np, {0}, true}, hp, np, j);
  return status;
}

// The orders of motion on which the wanted outputs depend.
typedef struct sight {
  bool positions, velocities, accelerations;
  bool everything;   // whether an output may depend on all states, not only on positions or on one state of the circuit
  bool states_only;  // whether all outputs are functions of the states alone
} sight;

// Finds on which orders of motion the wanted outputs depend.
static sight sight_of(const od_plant_data *d, const unsigned char *wanted) {
  sight s = {.states_only = true};
  for (int i = 0; i < d->plant.ny; i++) {
    if (wanted && !wanted[i]) continue;
    s.states_only = s.states_only && od_model_output_sees_states_only(d->m, &d->m->output[d->output[i]]);
    od_level level = level_shown(d->m, &d->m->output[d->output[i]]);
    s.everything = s.everything || (d->seen[i].first == 0 && d->seen[i].end == od_plant_nx(&d->plant));
    s.positions = s.positions || level != OD_LEVEL_INPUT;
    s.velocities = s.velocities || level == OD_LEVEL_VELOCITY || level == OD_LEVEL_ACCELERATION;
    s.accelerations = s.accelerations || level == OD_LEVEL_ACCELERATION;
  }
  return s;
}

bool od_model_plant_outputs_need_motion_only(const od_plant_data *d) {
  return sight_of(d, NULL).states_only && !od_model_blocks(d->m) && !d->mechanicals;
}

// Computes the motion of the mechanism along a direction, up to the highest order on which the outputs depend. The accelerations
// are the derivatives of k in dk, a column of an nk x columns matrix.
static void move_mechanism(const od_plant_data *d, const od_work_parts *p, const od_directions *v, sight seen,
                           const od_number_change *change, int level, const double *dk, int columns) {
  for (int k = 0; seen.accelerations && k < d->plant.nz; k++) v->dzdd[k] = dk[k * columns];
  bool moves = level == OD_LEVEL_POSITION   ? seen.positions
               : level == OD_LEVEL_VELOCITY ? seen.velocities
                                            : seen.accelerations;
  od_mechanics(d->m)->tangent_motion(d->m, p->in, p->w, v->dz, seen.velocities ? v->dzd : NULL,
                                     seen.accelerations ? v->dzdd : NULL, change, moves ? level : OD_LEVEL_INPUT);
}

// Computes the column of a number of the mechanism.
static void number_output_column(const od_plant_data *d, const od_work_parts *p, const unsigned char *wanted,
                                 sight seen, const double *kp, int j, double *hp) {
  int level;
  od_number_change change = od_model_plant_begin_number(d, p, j, &level);
  od_directions v = clear_directions(&d->plant, p);
  move_mechanism(d, p, &v, seen, &change, level, kp + j, d->plant.np);
  output_column(d, p, wanted, -1, v.dc, v.du, od_no_block_number, &change, hp, d->plant.np, j);
  od_model_plant_end_number(d, p, j);
}

// Computes the derivatives of the wanted outputs with respect to all parameters (ny x np). kp: derivatives of the rates k.
static od_status output_parameter_jacobian(const od_plant *plant, void *work, const unsigned char *wanted, sight seen,
                                           const double *kp, double *hp) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  int nk = od_plant_nk(plant);
  double *dk = p.scratch;
  if (seen.states_only) memset(hp, 0, (size_t)(plant->ny * plant->np) * sizeof *hp);
  for (int j = 0; j < plant->np; j++) {
    if (seen.states_only && d->owner[j].owner != OD_OWNER_NONE) continue;
    if (d->block[j].block >= 0) {  // the number acts through signals and through accelerations
      od_directions v = clear_directions(plant, &p);
      for (int k = 0; k < plant->nz && plant->outputs_of_rates; k++) v.dzdd[k] = kp[k * plant->np + j];
      od_mechanics(m)->tangent_motion(m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_ACCELERATION);
      output_column(d, &p, wanted, -1, v.dc, v.du, d->block[j], NULL, hp, plant->np, j);
      continue;
    }
    if (od_is_mechanical(d, j)) {
      number_output_column(d, &p, wanted, seen, kp, j, hp);
      continue;
    }
    for (int k = 0; k < nk; k++) dk[k] = plant->outputs_of_rates ? kp[k * plant->np + j] : 0;
    od_complex_move move = {.parameter = j, .state = -1, .input = -1, .rates = dk, .stride = 1};
    od_status status = od_model_plant_complex_step(plant, work, move, NULL);
    if (status != OD_OK) return status;
    for (int i = 0; i < plant->ny; i++)
      hp[i * plant->np + j] = od_model_plant_output_slope(d, &p, &m->output[d->output[i]]);
  }
  return OD_OK;
}

od_status od_model_plant_output_jacobians(const od_plant *plant, void *work, const double *energy,
                                          const unsigned char *wanted, const double *kx, const double *ku,
                                          const double *kp, double *hx, double *hu, double *hp) {
  (void)energy;
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  int n = plant->nz, nx = od_plant_nx(plant), nu = plant->nu;
  for (int i = 0; !OD_WITH_COMPLEX && i < plant->ny; i++)
    if ((!wanted || wanted[i]) && od_output_needs_complex(&d->m->output[d->output[i]])) return OD_NOT_AVAILABLE;
  sight seen = sight_of(d, wanted);
  // Functions of the states do not depend on the linearized circuit, except through blocks.
  if (!seen.states_only || od_model_blocks(d->m) || d->mechanicals) od_model_plant_prepare_tangents(d, &p);
  od_directions v = clear_directions(plant, &p);
  for (int i = 0; hx && i < plant->ny; i++)
    for (int j = 0; (!wanted || wanted[i]) && j < nx; j++) hx[i * nx + j] = 0;
  for (int j = 0; hx && j < nx; j++) {
    if (!seen.everything && (j < n ? !seen.positions : j < 2 * n)) continue;
    double *moved = j < n ? v.dz + j : j < 2 * n ? v.dzd + j - n : v.dc + j - 2 * n;
    int level = j < n ? OD_LEVEL_POSITION : j < 2 * n ? OD_LEVEL_VELOCITY : OD_LEVEL_ACCELERATION;
    *moved = 1;
    // States of the circuit and inputs change only accelerations.
    if (j < 2 * n || (seen.everything && (j == 2 * n || seen.accelerations)))
      move_mechanism(d, &p, &v, seen, NULL, level, kx + j, nx);
    output_column(d, &p, wanted, j, v.dc, od_model_blocks(d->m) ? v.du : NULL, od_no_block_number, NULL, hx, nx, j);
    *moved = 0;
  }
  for (int j = 0; hu && j < nu; j++) {
    v.du[j] = 1;
    if (j == 0 || seen.accelerations) move_mechanism(d, &p, &v, seen, NULL, OD_LEVEL_ACCELERATION, ku + j, nu);
    output_column(d, &p, wanted, -1, v.dc, v.du, od_no_block_number, NULL, hu, nu, j);
    v.du[j] = 0;
  }
  od_status status = hp ? output_parameter_jacobian(plant, work, wanted, seen, kp, hp) : OD_OK;
  const reaction_rows reactions = {plant, work, wanted};
  bool any = false;
  for (int i = 0; d->reactions && i < plant->ny; i++)
    any = any || ((!wanted || wanted[i]) && od_model_output_is_reaction(&d->m->output[d->output[i]]));
  return any && status == OD_OK ? reaction_jacobians(&reactions, kx, ku, kp, hx, hu, hp) : status;
}
