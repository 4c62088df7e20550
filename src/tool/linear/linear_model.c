#include "linear/linear_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear/closed_valves.h"
#include "linear/kinks.h"

static const double resting = 1e-6;

// All derivatives of the plant, before states are removed and inputs and outputs chosen.
typedef od_slopes whole;

static double *room(int rows, int columns) {
  return calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
}

// Properties of states and inputs (nx + nu each): kinks, and rates that limit the model to small movements.
typedef struct remarks {
  bool *kinked, *narrow;
  int *cause;  // of both: the part that causes it
} remarks;

static od_status find_whole(const od_operating_point *p, whole *w, remarks r, od_error *err) {
  od_status status = od_slopes_find(w, p->sim);
  if (status == OD_OK) status = od_kinks_find(p, w, r.kinked, r.cause);
  if (status == OD_OK) status = od_kinks_find_narrow(p, w, r.kinked, r.narrow, r.cause);
  return status == OD_OK ? OD_OK : od_fail(err, status, "cannot linearise: %s", od_status_text(status));
}

// Whether output o is equal to state j.
static bool is_state(const whole *w, int o, int j) {
  for (int i = 0; i < w->nx; i++)
    if (w->hx[o * w->nx + i] != (i == j)) return false;
  for (int i = 0; i < w->nu; i++)
    if (w->hu[o * w->nu + i] != 0) return false;
  return true;
}

static bool set_signal(od_linear_signal *s, const char *name, const char *unit, double value) {
  *s = (od_linear_signal){.name = strdup(name), .unit = strdup(unit ? unit : ""), .value = value};
  return s->name && s->unit;
}

// A state has the name of the output that is equal to it; states of ball joints have numbers.
static bool name_state(const od_operating_point *p, const whole *w, int j, od_linear_signal *s) {
  double value = od_sim_state(p->sim)[j];
  char number[32];
  snprintf(number, sizeof number, "state[%d]", j);
  bool made = false;
  for (int o = p->outputs; o < w->ny && !made; o++) {
    if (!is_state(w, o, j)) continue;
    if (!set_signal(s, od_machine_output_name(p->machine, p->output[o]),
                    od_machine_output_unit(p->machine, p->output[o]), value))
      return false;
    made = true;
  }
  if (!made && !set_signal(s, number, "", value)) return false;
  s->rate = w->f[j];
  s->undecided = p->undecided && p->undecided[j];
  return true;
}

static bool is_constant(const whole *w, int j) {
  for (int i = 0; i < w->nx; i++)
    if (w->fx[j * w->nx + i] != 0) return false;
  for (int i = 0; i < w->nu; i++)
    if (w->fu[j * w->nu + i] != 0) return false;
  return w->f[j] == 0;
}

static bool allocate(od_linear_model *m, int nx) {
  int n = m->states, nu = m->inputs, ny = m->outputs;
  m->state = calloc((size_t)n + 1, sizeof *m->state);
  m->constant = calloc((size_t)nx + 1, sizeof *m->constant);
  m->input = calloc((size_t)nu + 1, sizeof *m->input);
  m->output = calloc((size_t)ny + 1, sizeof *m->output);
  m->A = room(n, n), m->B = room(n, nu), m->C = room(ny, n), m->D = room(ny, nu);
  return m->state && m->constant && m->input && m->output && m->A && m->B && m->C && m->D;
}

// Typical rate of state j. The plant gives it for first-order states and speeds; that of positions follows from their rates.
static double typical_rate(const od_operating_point *p, int j) {
  const od_plant *plant = p->plant;
  int k = j < plant->nz ? j : j - plant->nz;
  double scale = plant->scale ? plant->scale[k] : 1;
  return scale > 0 ? scale : 1;
}

static bool fill(const od_operating_point *p, const whole *w, remarks r, const int *kept, const int *input,
                 od_linear_model *m) {
  int n = m->states, nu = m->inputs, ny = m->outputs;
  bool ok = true;
  double largest = resting;
  m->rests = true;
  for (int i = 0; i < n && ok; i++) {
    for (int j = 0; j < n; j++) m->A[i * n + j] = w->fx[kept[i] * w->nx + kept[j]];
    for (int j = 0; j < nu; j++) m->B[i * nu + j] = w->fu[kept[i] * w->nu + input[j]];
    ok = name_state(p, w, kept[i], &m->state[i]);
    m->state[i].kinked = r.kinked[kept[i]];
    m->state[i].narrow = r.narrow[kept[i]];
    od_part_text(p->machine, r.cause[kept[i]], m->state[i].cause, sizeof m->state[i].cause);
    double part = fabs(w->f[kept[i]]) / typical_rate(p, kept[i]);
    if (!(part <= largest)) largest = part, m->rests = false, m->fastest = i;
  }
  for (int i = 0; i < ny && ok; i++) {
    for (int j = 0; j < n; j++) m->C[i * n + j] = w->hx[i * w->nx + kept[j]];
    for (int j = 0; j < nu; j++) m->D[i * nu + j] = w->hu[i * w->nu + input[j]];
    ok = set_signal(&m->output[i], od_machine_output_name(p->machine, p->output[i]),
                    od_machine_output_unit(p->machine, p->output[i]), w->y[i]);
  }
  for (int j = 0; j < nu && ok; j++) {
    ok = set_signal(&m->input[j], od_machine_input_name(p->machine, input[j]),
                    od_machine_input_unit(p->machine, input[j]), od_sim_inputs(p->sim)[input[j]]);
    m->input[j].kinked = r.kinked[w->nx + input[j]];
    od_part_text(p->machine, r.cause[w->nx + input[j]], m->input[j].cause, sizeof m->input[j].cause);
    m->input[j].undecided = p->undecided && p->undecided[w->nx + input[j]];
  }
  return ok;
}

// Writes the moving states to `kept`, and the others to the list of constants.
static bool choose_states(const od_operating_point *p, const whole *w, int *kept, od_linear_model *m) {
  int n = 0;
  for (int j = 0; j < w->nx; j++)
    if (!is_constant(w, j))
      kept[n++] = j;
    else if (!name_state(p, w, j, &m->constant[m->constants++]))
      return false;
  return true;
}

od_status od_linear_model_make(const od_operating_point *p, const int *inputs, int input_count, od_linear_model **out,
                               od_error *err) {
  whole w;
  *out = NULL;
  bool memory = od_slopes_begin(&w, p->plant);
  od_linear_model *m = calloc(1, sizeof *m);
  int *kept = calloc((size_t)w.nx + 1, sizeof *kept), *all = calloc((size_t)w.nu + 1, sizeof *all);
  const remarks r = {.kinked = calloc((size_t)(w.nx + w.nu) + 1, sizeof *r.kinked),
                     .narrow = calloc((size_t)(w.nx + w.nu) + 1, sizeof *r.narrow),
                     .cause = calloc((size_t)(w.nx + w.nu) + 1, sizeof *r.cause)};
  memory = memory && m && kept && all && r.kinked && r.narrow && r.cause;
  for (int i = 0; memory && i < w.nx + w.nu; i++) r.cause[i] = -1;
  od_status status = memory ? find_whole(p, &w, r, err) : OD_OK;
  if (memory && status == OD_OK) {
    for (int i = 0; i < w.nu; i++) all[i] = i;
    for (int j = 0; j < w.nx; j++) m->states += !is_constant(&w, j);
    m->inputs = inputs ? input_count : w.nu;
    m->outputs = p->outputs;
    m->samples = p->samples;
    m->time = od_sim_time(p->sim);
    od_closed_valves(p, m->closed, sizeof m->closed);
    memory = allocate(m, w.nx) && choose_states(p, &w, kept, m) && fill(p, &w, r, kept, inputs ? inputs : all, m);
  }
  if (!memory) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_slopes_end(&w);
  free(kept);
  free(all);
  free(r.kinked);
  free(r.narrow);
  free(r.cause);
  if (status == OD_OK)
    *out = m;
  else
    od_linear_model_free(m);
  return status;
}

const od_linear_signal *od_linear_kink(const od_linear_model *m, int i) {
  for (int j = 0; j < m->states + m->inputs; j++) {
    const od_linear_signal *s = j < m->states ? &m->state[j] : &m->input[j - m->states];
    if (s->kinked && i-- == 0) return s;
  }
  return NULL;
}

const od_linear_signal *od_linear_narrow(const od_linear_model *m, int i) {
  for (int j = 0; j < m->states; j++)
    if (m->state[j].narrow && i-- == 0) return &m->state[j];
  return NULL;
}

static void free_signals(od_linear_signal *s, int count) {
  for (int i = 0; s && i < count; i++) free(s[i].name), free(s[i].unit);
  free(s);
}

void od_linear_model_free(od_linear_model *m) {
  if (!m) return;
  free_signals(m->state, m->states);
  free_signals(m->constant, m->constants);
  free_signals(m->input, m->inputs);
  free_signals(m->output, m->outputs);
  double *memory[] = {m->A, m->B, m->C, m->D};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  free(m);
}

od_status od_linear_model_find(const od_machine *machine, const od_point_options *options, const int *inputs,
                               int input_count, od_point_state *state, od_linear_model **out, od_error *err) {
  od_operating_point point;
  *out = NULL;
  od_status status = od_operating_point_find(machine, options, &point, err);
  if (status != OD_OK) return status;
  if (state) status = od_point_state_take(&point, state, err);
  if (status == OD_OK) status = od_linear_model_make(&point, inputs, input_count, out, err);
  od_operating_point_free(&point);
  return status;
}
