#include "linear/linear_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "linear/kinks.h"
#include "machine/machine.h"
#include "model/model.h"
#include "simulate/divergence.h"

static const double rest_tolerance = 1e-6;

// Returns whether output o is equal to state j.
static bool is_state(const od_slopes *w, int o, int j) {
  for (int i = 0; i < w->nx; i++)
    if (w->hx[o * w->nx + i] != (i == j)) return false;
  for (int i = 0; i < w->nu; i++)
    if (w->hu[o * w->nu + i] != 0) return false;
  return true;
}

static od_linear_signal make_signal(od_arena *arena, const char *name, const char *unit, double value) {
  return (od_linear_signal){
      .name = od_arena_text(arena, name), .unit = od_arena_text(arena, unit ? unit : ""), .value = value};
}

// Creates the signal of a state. A state has the name of the output that is equal to the state. A state without such an output
// (spherical joints) is named state[j].
static od_linear_signal make_state(const od_operating_point *p, const od_slopes *w, int j, od_arena *arena) {
  char number[32];
  snprintf(number, sizeof number, "state[%d]", j);
  const char *name = number, *unit = "";
  for (int o = p->outputs; o < w->ny; o++) {
    if (!is_state(w, o, j)) continue;
    name = od_machine_output_name(p->machine, p->output[o]);
    unit = od_machine_output_unit(p->machine, p->output[o]);
    break;
  }
  od_linear_signal s = make_signal(arena, name, unit, od_sim_state(p->sim)[j]);
  s.rate = w->f[j];
  s.undecided = p->undecided && p->undecided[j];
  return s;
}

// --- Closed valves ------------------------------------------------------------------------------------------------------

// Returns the value of an instance's number by its key; NAN: the class has no such number.
static double number_of(const od_model *m, const od_instance *e, const char *key) {
  const od_element_description *c = od_instance_description(m, e);
  for (int f = 0; f < c->field_count; f++)
    if (strcmp(c->fields[f].key, key) == 0) return m->theta[e->number + f];
  return NAN;
}

// Returns the position of a valve's spool: its state, or the signal that the spool follows. NAN: unknown.
static double spool_of(const od_operating_point *p, const od_instance *e) {
  const od_model *m = od_machine_model(p->machine);
  char name[300];
  snprintf(name, sizeof name, "%.290s.spool", od_model_text(m, e->name));
  int output = od_machine_output_find(p->machine, name);
  for (int i = 0; output < 0 && i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_INPUT && m->output[i].index == e->signal) output = i;
  return output < 0 ? NAN : od_output_now(p->machine, p->sim, output);
}

// Returns whether the overlap closes all edges that one spool opens.
static bool edges_are_shut(const od_operating_point *p, const od_instance *e) {
  const od_model *m = od_machine_model(p->machine);
  double overlap =
      fmin(number_of(m, e, "overlap"), number_of(m, e, "tank_overlap"));  // NAN only if both values are NAN
  double t = (spool_of(p, e) - number_of(m, e, "offset")) / number_of(m, e, "stroke");
  return fabs(t) < overlap;
}

// Returns whether a valve has ports, and the spool is within the dead band and the overlap of every port.
static bool ports_are_shut(const od_operating_point *p, int valve) {
  const od_model *m = od_machine_model(p->machine);
  const od_instance *host = &m->instance[valve];
  int ports = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const char *inside = od_instance_description(m, e)->inside;
    if (e->host != valve || !inside || strcmp(inside, "ports") != 0) continue;
    double before = number_of(m, host, "dead_band") + number_of(m, e, "overlap");
    if (!(e->choice[OD_PORT_SIDE] * spool_of(p, host) < before)) return false;
    ports++;
  }
  return ports > 0;
}

// Writes the names of the valves that are closed because their spool is inside the overlap, "'a', 'b'". A small command has no
// effect on these valves. Empty: none.
static void list_closed_valves(const od_operating_point *p, char *text, size_t size) {
  const od_model *m = od_machine_model(p->machine);
  text[0] = '\0';
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    bool shut = od_instance_description(m, e)->shuts_about_center ? edges_are_shut(p, e) : ports_are_shut(p, i);
    size_t used = strlen(text);
    if (shut && used < size) snprintf(text + used, size - used, "%s'%s'", used ? ", " : "", od_model_text(m, e->name));
  }
}

// --- The model ----------------------------------------------------------------------------------------------------------

// Fills a model. The arena of the model must be empty. Fails with OD_NO_MEMORY or a status of od_sim_step().
static od_status fill(const od_operating_point *p, const int *inputs, int input_count, od_linear_model *m,
                      od_error *err) {
  OD_SCRATCH(scratch);
  od_slopes w = od_slopes_new(&scratch, p->plant);
  int *kept = OD_TAKE(&scratch, int, w.nx), *input = OD_TAKE(&scratch, int, w.nu);
  // Properties of states and inputs. kinked: whether there is a kink. narrow: whether the model is valid only for small
  // changes of this rate. cause: the part that causes the kink or this limit.
  bool *kinked = OD_TAKE(&scratch, bool, w.nx + w.nu), *narrow = OD_TAKE(&scratch, bool, w.nx + w.nu);
  int *cause = OD_TAKE(&scratch, int, w.nx + w.nu);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < w.nx + w.nu; i++) cause[i] = -1;
  od_status status = od_slopes_find(&w, p->sim);
  if (status == OD_OK) status = od_kinks_find(p, &w, kinked, cause);
  if (status == OD_OK) status = od_kinks_find_narrow(p, &w, kinked, narrow, cause);
  if (status != OD_OK) return od_fail(err, status, "cannot linearize: %s", od_status_text(status));

  m->inputs = inputs ? input_count : w.nu;
  m->outputs = p->outputs;
  m->samples = p->samples;
  m->time = od_sim_time(p->sim);
  list_closed_valves(p, m->closed, sizeof m->closed);
  for (int i = 0; i < m->inputs; i++) input[i] = inputs ? inputs[i] : i;
  m->constant = OD_TAKE(&m->arena, od_linear_signal, w.nx);
  if (!m->constant) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int j = 0; j < w.nx; j++)
    if (od_slopes_is_constant(&w, j))
      m->constant[m->constants++] = make_state(p, &w, j, &m->arena);
    else
      kept[m->states++] = j;

  int n = m->states, nu = m->inputs, ny = m->outputs;
  m->state = OD_TAKE(&m->arena, od_linear_signal, n);
  m->input = OD_TAKE(&m->arena, od_linear_signal, nu);
  m->output = OD_TAKE(&m->arena, od_linear_signal, ny);
  m->A = OD_TAKE_MATRIX(&m->arena, double, n, n);
  m->B = OD_TAKE_MATRIX(&m->arena, double, n, nu);
  m->C = OD_TAKE_MATRIX(&m->arena, double, ny, n);
  m->D = OD_TAKE_MATRIX(&m->arena, double, ny, nu);
  if (od_arena_status(&m->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  double largest = rest_tolerance;
  m->rests = true;
  for (int i = 0; i < n; i++) {
    int at = kept[i];
    for (int j = 0; j < n; j++) m->A[i * n + j] = w.fx[at * w.nx + kept[j]];
    for (int j = 0; j < nu; j++) m->B[i * nu + j] = w.fu[at * w.nu + input[j]];
    m->state[i] = make_state(p, &w, at, &m->arena);
    m->state[i].kinked = kinked[at];
    m->state[i].narrow = narrow[at];
    od_part_text(p->machine, cause[at], m->state[i].cause, sizeof m->state[i].cause);
    // The plant gives the typical rates of first-order states and speeds. For a position, the typical rate of its speed is
    // used.
    double typical = p->plant->scale ? p->plant->scale[at < p->plant->nz ? at : at - p->plant->nz] : 1;
    double relative_rate = fabs(w.f[at]) / (typical > 0 ? typical : 1);
    if (!(relative_rate <= largest)) largest = relative_rate, m->rests = false, m->fastest = i;
  }
  for (int i = 0; i < ny; i++) {
    for (int j = 0; j < n; j++) m->C[i * n + j] = w.hx[i * w.nx + kept[j]];
    for (int j = 0; j < nu; j++) m->D[i * nu + j] = w.hu[i * w.nu + input[j]];
    m->output[i] = make_signal(&m->arena, od_machine_output_name(p->machine, p->output[i]),
                               od_machine_output_unit(p->machine, p->output[i]), w.y[i]);
  }
  for (int j = 0; j < nu; j++) {
    int at = w.nx + input[j];
    m->input[j] = make_signal(&m->arena, od_machine_input_name(p->machine, input[j]),
                              od_machine_input_unit(p->machine, input[j]), od_sim_inputs(p->sim)[input[j]]);
    m->input[j].kinked = kinked[at];
    m->input[j].undecided = p->undecided && p->undecided[at];
    od_part_text(p->machine, cause[at], m->input[j].cause, sizeof m->input[j].cause);
  }
  return od_arena_status(&m->arena) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_linear_model_make(const od_operating_point *p, const int *inputs, int input_count, od_linear_model **out,
                               od_error *err) {
  *out = NULL;
  OD_OWNED(od_linear_model_free) od_linear_model *m = od_calloc(1, sizeof *m);
  if (!m) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = fill(p, inputs, input_count, m, err);
  if (status == OD_OK) *out = OD_GIVE(m);
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

void od_linear_model_free(od_linear_model *m) {
  if (!m) return;
  od_arena_free(&m->arena);
  od_free(m);
}

od_status od_linear_model_find(const od_machine *machine, const od_point_options *options, const int *inputs,
                               int input_count, od_point_state *state, od_linear_model **out, od_error *err) {
  OD_SCOPED(od_operating_point_free) od_operating_point point = {0};
  *out = NULL;
  od_status status = od_operating_point_find(machine, options, &point, err);
  if (status == OD_OK && state) status = od_point_state_take(&point, state, err);
  if (status == OD_OK) status = od_linear_model_make(&point, inputs, input_count, out, err);
  return status;
}
