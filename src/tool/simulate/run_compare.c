// Computes the difference between two runs of one machine, for each output, relative to the range of the output.
//
// Near a jump, an output is compared with a range of the other run: its values within one row before and after. The times of the
// jump differ by less than a row between the runs. The height of the jump is thus not an error.
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "model/outputs.h"
#include "simulate/run_state.h"

// --- Compared outputs -------------------------------------------------------------------------------------------------

static const od_output *model_output(const od_run_state *r, int output) {
  const od_model *m = od_machine_model(r->machine);
  int index = r->options->outputs[output];
  return index < od_model_output_count(m) ? &m->output[index] : NULL;
}

// Returns whether the error of an output is judged. Two kinds of outputs are not judged. The exact value of energy.balance is
// constant, so all its changes are errors. The inflow of a junction is zero except for round-off.
bool od_run_is_judged(const od_run_state *r, int output) {
  const od_model *m = od_machine_model(r->machine);
  const od_output *o = model_output(r, output);
  if (o && o->kind == OD_OUT_NODE_INFLOW && m->node[o->index].junction >= 0) return false;
  return strcmp(od_machine_output_name(r->machine, r->options->outputs[output]), od_run_energies[0]) != 0;
}

static bool is_junction(const od_model *m, int node) {
  return node >= 0 && m->node[node].junction >= 0;
}

// Returns whether the signal comes from a block without samples and modes whose output depends only on its states.
static bool is_smooth_signal(const od_model *m, int signal) {
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    if (signal < b->signal || signal >= b->signal + b->outputs) continue;
    return b->states > 0 && b->sample == 0 && !od_block_has_modes(od_block_spec_in(m, b)) &&
           !od_block_passes_on(od_block_spec_in(m, b), false);
  }
  return false;
}

// Returns whether an output depends only on states, so that quantizers cannot make the output jump.
static bool is_continuous(const od_model *m, const od_output *o) {
  od_output_reads reads = od_output_reads_of(o->kind);
  if (reads == OD_READS_MOTION || o->kind == OD_OUT_BLOCK_STATE || o->kind >= OD_OUT_INTEGRAL) return true;
  if (reads == OD_READS_NODES)
    return !is_junction(m, o->index) && !(o->kind == OD_OUT_PRESSURE_DIFFERENCE && is_junction(m, o->second));
  return o->kind == OD_OUT_INPUT && is_smooth_signal(m, o->index);
}

// Returns whether the machine has a quantizer without 'sample'. The jumps of such quantizers are not located in time.
static bool has_quantizers(const od_model *m) {
  for (int i = 0; i < m->blocks; i++)
    if (od_block_class_of(&m->spec[i])->jumps && m->block[i].sample == 0) return true;
  return false;
}

bool od_run_has_events(const od_run_state *r) {
  return r->plant->ops->sample != NULL || od_plant_guards(r->plant) > 0 || has_quantizers(od_machine_model(r->machine));
}

// --- Ranges -----------------------------------------------------------------------------------------------------------

double od_run_energy_moved(const od_run_state *r) {
  double moved = 0;
  for (int i = 1; i < OD_RUN_ENERGIES && r->energy; i++)
    moved = fmax(moved, od_visible_range(r->energy_range[i].low, r->energy_range[i].high));
  return moved;
}

// A component of a vector that is smaller than this fraction of the vector is round-off or has no effect.
static const double least_component = 1e-6;

// Returns the lower bound of an output's range. The machine converts its energies into one another, so their lower bound is the
// energy moved. The lower bound of an integral is a thousandth of the energy moved. The lower bound of a component of a vector is a
// millionth of the vector.
static double least_range(const od_run_state *r, int output) {
  const od_output *o = model_output(r, output);
  if (!o) return 0;
  if (o->kind == OD_OUT_KINETIC || o->kind == OD_OUT_POTENTIAL || o->kind == OD_OUT_STORED)
    return od_run_energy_moved(r);
  if (o->kind >= OD_OUT_INTEGRAL) return 1e-3 * od_run_energy_moved(r);
  return least_component * r->vector_size[output];
}

// Smallest range of an output, in SI units. Smaller outputs, such as the speed of a boom along its own axis, are zero except
// for round-off.
static const double least_visible = 1e-12;

// Returns the range over both runs, because a motion of the output may be missing in one of the runs.
static double range_of(const od_run_state *r, const od_run_state *other, int output) {
  const od_table *tables[] = {r->table, other->table};
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < 2; k++)
    for (long j = 0; j < tables[k]->rows; j++) {
      double y = tables[k]->data[j * tables[k]->columns + 1 + output];
      low = fmin(low, y);
      high = fmax(high, y);
    }
  double range = fmax(od_visible_range(low, high), fmax(least_range(r, output), least_range(other, output)));
  return fmax(range, least_visible);
}

// --- Distances --------------------------------------------------------------------------------------------------------

static double value_at(const od_table *t, long row, int output) {
  return t->data[row * t->columns + 1 + output];
}

// Returns the distance of a value from the range of the table within one row before and after `row`; INFINITY if the value is NAN.
static double distance_from_neighbors(const od_table *t, long row, int output, double value) {
  double low = INFINITY, high = -INFINITY;
  for (long j = row > 0 ? row - 1 : 0; j <= row + 1 && j < t->rows; j++) {
    low = fmin(low, value_at(t, j, output));
    high = fmax(high, value_at(t, j, output));
  }
  return value < low ? low - value : value > high ? value - high : isnan(value) ? INFINITY : 0;
}

// Reads the events of a run in the order of time.
typedef struct event_reader {
  const od_run_state *r;
  int next;
} event_reader;

// Returns whether the output jumps between two times.
static bool jumps_within(event_reader *e, int output, double from, double to) {
  const od_run_state *r = e->r;
  while (e->next < r->events && r->event[e->next] < from) e->next++;
  for (int i = e->next; i < r->events && r->event[i] <= to; i++)
    if (r->jumped[(long)i * r->options->output_count + output]) return true;
  return false;
}

// Returns the distance between row i of table a and row j of table b.
static double distance_of(const od_table *a, long i, const od_table *b, long j, int output, bool jumps) {
  double own = value_at(a, i, output), other = value_at(b, j, output);
  if (!jumps) return isnan(own - other) ? INFINITY : fabs(own - other);
  return fmax(distance_from_neighbors(b, j, output, own), distance_from_neighbors(a, i, output, other));
}

bool od_run_compare(const od_run_state *r, const od_run_state *better, double factor, od_output_error *error,
                    double *first) {
  const od_table *a = r->table, *b = better->table;
  const od_model *m = od_machine_model(r->machine);
  // The number of rows of `r` per row of `better`, which may have fewer rows.
  long ratio = lround(better->method.step * (double)better->method.every / (r->method.step * (double)r->method.every));
  bool anytime = has_quantizers(m);
  long rows = 0;
  while (rows < b->rows && rows * ratio < a->rows) rows++;
  *first = INFINITY;
  for (int i = 0; i < r->options->output_count; i++) {
    const od_output *o = model_output(r, i);
    bool quantized = anytime && !(o && is_continuous(m, o));
    event_reader own = {r, 0}, others = {better, 0};
    double largest = 0, range = range_of(r, better, i);
    error[i] = (od_output_error){.range = range};
    for (long j = 0; j < rows; j++) {
      double t = b->data[j * b->columns], before = j > 0 ? b->data[(j - 1) * b->columns] : t;
      double after = j + 1 < rows ? b->data[(j + 1) * b->columns] : t;
      bool jumps = jumps_within(&own, i, before, after) | jumps_within(&others, i, before, after) | quantized;
      double distance = factor * distance_of(a, j * ratio, b, j, i, jumps);
      if (distance > largest) largest = distance, error[i].at = t;
      if (distance > OD_ACCURATE * range && od_run_is_judged(r, i)) *first = fmin(*first, t);
    }
    error[i].part = largest > 0 ? largest / range : 0;
  }
  return rows > 0;
}
