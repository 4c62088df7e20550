// Messages about a run that cannot continue: the state that left its bounds, or the largest state.
#include "simulate/divergence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "io/display.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "model/model.h"
#include "plant/model_plant.h"

static const double divergence_limit = 1e9;  // limit of a state, relative to its usual size

// Returns the usual size of a quantity in SI units: 1e6 for pressures (Pa), 1 for all other quantities.
static double usual_size(const char *unit) {
  return strncmp(unit, "Pa", 2) == 0 ? 1e6 : 1;
}

bool od_output_is_state(const od_output *o) {
  switch (o->kind) {
    case OD_OUT_COORDINATE:
    case OD_OUT_COORDINATE_RATE:
    case OD_OUT_NODE_PRESSURE:
    case OD_OUT_ELEMENT_STATE:
    case OD_OUT_BLOCK_STATE: return true;
    default: return false;
  }
}

bool od_has_diverged(const od_plant *plant, const double *x) {
  int nx = od_plant_nx(plant);
  for (int i = 0; i < nx; i++) {
    int rate = i - plant->nz;  // index of the rate whose integral is this state
    double size = i >= 2 * plant->nz && plant->scale ? fmax(plant->scale[rate], 1) : 1;
    if (!(fabs(x[i]) <= divergence_limit * size)) return true;
  }
  return false;
}

// Returns the index of the value that is largest relative to its usual size, or of the first NaN; -1: all values are zero.
static int largest(const od_model *m, const int *output, const double *value, int count) {
  int best = -1;
  double size = 0;
  for (int i = 0; i < count; i++) {
    double here = fabs(value[i]) / usual_size(od_model_text(m, m->output[output[i]].unit));
    if (here > size || isnan(here)) best = i, size = here;
    if (isnan(here)) break;
  }
  return best;
}

void od_largest_state(const od_machine *machine, od_sim *sim, char *text, size_t size) {
  const od_model *m = od_machine_model(machine);
  OD_SCRATCH(scratch);
  int *output = OD_TAKE(&scratch, int, m->outputs), count = 0;
  double *value = OD_TAKE(&scratch, double, m->outputs > sim->plant->ny ? m->outputs : sim->plant->ny);
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  text[0] = '\0';
  if (od_arena_status(&scratch) != OD_OK) return;
  for (int i = 0; i < m->outputs; i++)
    if (od_output_is_state(&m->output[i])) output[count++] = i;
  // All plants of a machine have the same layout of the work memory, for any outputs.
  bool ok = count > 0 && od_sim_outputs(sim, value) == OD_OK &&
            od_machine_plant(machine, output, count, NULL, 0, &plant, NULL) == OD_OK &&
            plant->ops->outputs(plant, od_sim_work(sim), od_sim_energy(sim), value) == OD_OK;
  int which = ok ? largest(m, output, value, count) : -1;
  if (which >= 0)
    snprintf(text, size, "%s = %s", od_model_text(m, m->output[output[which]].name),
             od_display_quantity(value[which], od_model_text(m, m->output[output[which]].unit)).text);
}

// Writes a message about a junction whose flows cannot be balanced. Empty text: all junctions have a pressure.
static void unbalanced_junction(const od_machine *machine, od_sim *sim, char *text, size_t size) {
  const od_model *m = od_machine_model(machine);
  text[0] = '\0';
  for (int i = 0; m->junctions > 0 && i < m->outputs && !*text; i++) {
    const od_output *o = &m->output[i];
    if (o->kind != OD_OUT_NODE_PRESSURE || m->node[o->index].junction < 0) continue;
    if (isnan(od_output_now(machine, sim, i)))
      snprintf(
          text, size,
          "at the junction '%s' no pressure balances the flows: a pump has no outlet, or all elements at the junction "
          "are closed; expected a volume, a relief valve or a leak",
          od_model_text(m, m->node[o->index].name));
  }
}

// Returns the rank of an output in lists: causes come before their effects.
static int rank_of_cause(const od_model *m, const od_output *o) {
  switch (o->kind) {
    case OD_OUT_INPUT: return o->index < m->inputs ? 0 : 2;
    case OD_OUT_ELEMENT: return 1;
    case OD_OUT_LOAD:
    case OD_OUT_FORCE: return 3;
    default: return 4;
  }
}

// Reads the value from the work memory, which has the same layout for all plants of a machine.
double od_output_now(const od_machine *machine, od_sim *sim, int output) {
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  double value = 0;
  if (od_machine_plant(machine, &output, 1, NULL, 0, &plant, NULL) == OD_OK)
    plant->ops->outputs(plant, od_sim_work(sim), od_sim_energy(sim), &value);
  return value;
}

// Writes a message about a quantizer without sampling. Empty text: the machine has no such quantizer.
static void unsampled_quantizer(const od_machine *machine, char *text, size_t size) {
  const od_model *m = od_machine_model(machine);
  text[0] = '\0';
  for (int i = 0; i < m->blocks && !*text; i++)
    if (od_block_class_of(&m->spec[i])->jumps && m->block[i].sample == 0)
      snprintf(
          text, size,
          "the quantizer '%s' jumps between levels. In a feedback loop, a step may have no solution on either side of "
          "a jump: give the quantizer a 'sample'",
          od_model_text(m, m->block[i].name));
}

// Writes a message if more than OD_MOST_JUMPS_IN_STEP laws jump in the step. The message names the first law beyond the limit.
// Empty text: the number of jumps is within the limit.
static void crowded_jumps(const od_model *m, od_sim *sim, char *text, size_t size) {
  const od_instance *element;
  const od_block *block;
  text[0] = '\0';
  if (!sim->left_out) return;
  od_model_plant_jump_owner(sim->plant, sim->left_out - 1, &element, &block);
  snprintf(
      text, size,
      "more than %d laws with sign() or if() jump, or stay at a jump, at the same time. One of these laws belongs to the %s '%s'. Give sign blocks a 'width', and replace sign(s) in formulas by tanh(s / width)",
      OD_MOST_JUMPS_IN_STEP, element ? od_instance_description(m, element)->noun : "block",
      od_model_text(m, element ? element->name : block->name));
}

// Lists up to three infinite or NaN outputs ("o.flow is infinite"). All listed outputs have the same rank, the first rank with such
// outputs. Empty text: all outputs are finite.
static void not_finite_outputs(const od_machine *machine, od_sim *sim, char *text, size_t size) {
  const od_model *m = od_machine_model(machine);
  int listed = 0;
  text[0] = '\0';
  for (int kind = 0; kind <= 4 && listed == 0; kind++)
    for (int i = 0; i < m->outputs && listed < 3; i++) {
      if (rank_of_cause(m, &m->output[i]) != kind) continue;
      double value = od_output_now(machine, sim, i);
      if (isfinite(value)) continue;
      size_t used = strlen(text);
      snprintf(text + used, size - used, "%s%s is %s", listed++ ? ", " : "", od_model_text(m, m->output[i].name),
               isnan(value) ? "not a number" : "infinite");
    }
}

// Writes the reason why the law of a foreign block failed, such as an imported FMU. If no law failed, the text does not change.
static void failed_law(const od_machine *machine, char *text, size_t size) {
  const char *block, *why = od_model_law_failure(od_machine_model(machine), &block);
  if (why) snprintf(text, size, "the block '%s' failed: %s", block, why);
}

od_status od_fail_to_start(const od_machine *machine, od_sim *sim, const char *who, od_status status, od_error *err) {
  char outputs[300] = "";
  failed_law(machine, outputs, sizeof outputs);
  if (!*outputs && status == OD_NOT_FINITE) not_finite_outputs(machine, sim, outputs, sizeof outputs);
  return od_fail(err, status, "%s: %s%s%s", who, od_status_text(status), *outputs ? ": " : "", outputs);
}

void od_explain_failure(const od_machine *machine, od_sim *sim, od_status status, od_error *err) {
  char state[200], cause[700];
  if (!err) return;
  if (!*err->text) od_fail(err, status, "a step near %.6g s failed: %s", od_sim_time(sim), od_status_text(status));
  *cause = '\0';
  failed_law(machine, cause, sizeof cause);
  if (!*cause) unbalanced_junction(machine, sim, cause, sizeof cause);
  if (!*cause && status == OD_NOT_FINITE) not_finite_outputs(machine, sim, cause, sizeof cause);
  if (!*cause && status == OD_NOT_CONVERGED) crowded_jumps(od_machine_model(machine), sim, cause, sizeof cause);
  if (!*cause && status == OD_NOT_CONVERGED) unsampled_quantizer(machine, cause, sizeof cause);
  od_largest_state(machine, sim, state, sizeof state);
  size_t used = strlen(err->text);
  if (*cause) used += (size_t)snprintf(err->text + used, sizeof err->text - used, "; %s", cause);
  if (used >= sizeof err->text || !*state) return;
  snprintf(err->text + used, sizeof err->text - used, "; the largest state is %s", state);
}
