#include "linear/linear_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/json.h"
#include "io/utf8.h"
#include "io/wording.h"
#include "linear/kinks.h"
#include "machine/machine_result.h"

// --- Common to all results of linear models ------------------------------------------------------------------------------

void od_linear_place(const od_linear_model *m, char *text, size_t size) {
  if (m->time > 0)
    snprintf(text, size, "t = %s, %s", od_duration_text(m->time, 6).text, m->rests ? "at rest" : "in motion");
  else
    snprintf(text, size, "the initial state, %s", m->rests ? "at rest" : "in motion");
}

// Lists the signals that `find` returns, with their values at the operating point: "rail.rate = 0 mm/s (the friction of
// 'ram'), command = 0 V". Returns false if `find` returns no signal.
typedef const od_linear_signal *(*signal_finder)(const od_linear_model *m, int i);
static bool list_signals(const od_linear_model *m, signal_finder find, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  const od_linear_signal *s;
  for (int i = 0; (s = find(m, i)) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s = %s%s%s%s", used ? ", " : "", s->name,
                             od_display_quantity(s->value, s->unit).text, s->cause[0] ? " (" : "", s->cause,
                             s->cause[0] ? ")" : "");
  return used > 0;
}

void od_linear_remarks(const od_linear_model *m, od_verdict *v) {
  char list[600];
  if (list_signals(m, od_linear_kink, list, sizeof list))
    od_verdict_add(v, OD_DOUBTFUL, "point.kink",
                   "Two slopes:", "the slopes differ on the two sides of %s; the linear model uses their mean", list);
  if (list_signals(m, od_linear_narrow, list, sizeof list))
    od_verdict_add(v, OD_DOUBTFUL, "point.narrow", "Small range:",
                   "the slopes change within " OD_NARROW_WORDS
                   " of %s; the linear model and its margins are valid only for smaller changes of %s",
                   list, od_linear_narrow(m, 1) ? "these speeds" : "this speed");
  if (!m->rests)
    od_verdict_add(
        v, OD_DOUBTFUL, "point.moving", "In motion:",
        "the machine is not at rest: %s changes at a rate of %s; the linear model is valid only for a short time",
        m->state[m->fastest].name, od_display_rate(m->state[m->fastest].rate, m->state[m->fastest].unit).text);
  if (m->closed[0])
    od_verdict_add(
        v, OD_DOUBTFUL, "point.closed", "Closed valve:",
        "the overlap closes %s at this operating point; small commands cause no flow, and the linear model has no "
        "path through a closed valve",
        m->closed);
  if (m->samples)
    od_verdict_add(
        v, OD_DOUBTFUL, "point.sampled", "Sampled blocks:",
        "outputs of sampled blocks are constant between samples; in the linear model the loops through these blocks "
        "are open");
}

void od_add_linear_warnings(od_result *r, const od_linear_model *m) {
  od_verdict remarks = {0};
  od_linear_remarks(m, &remarks);
  if (!od_verdict_is_complete(&remarks)) r->is_short_of_memory = true;
  od_result_warnings(r, &remarks);
  od_verdict_free(&remarks);
}

static json_t *names_json(const od_linear_model *m, signal_finder find) {
  json_t *list = json_array();
  const od_linear_signal *s;
  for (int i = 0; (s = find(m, i)); i++) json_array_append_new(list, od_json_text(s->name));
  return list;
}

// Adds the data that all results of linear models have, except the warnings.
static void add_point(od_result *r, const od_linear_model *m) {
  od_result_number(r, "time", m->time);
  od_result_flag(r, "rests", m->rests);
  od_result_set(r, "kinks", names_json(m, od_linear_kink));
  od_result_set(r, "narrow", names_json(m, od_linear_narrow));
  od_result_flag(r, "sampled_loops_open", m->samples);
}

od_result od_linear_result_new(const od_machine *machine, const od_linear_model *m, const char *what) {
  char place[80];
  od_result r = od_machine_result("Linear model", machine);
  od_linear_place(m, place, sizeof place);
  od_result_heading(&r, "%.200s: %s at %s", r.title, what, place);
  add_point(&r, m);
  return r;
}

// --- Signals ------------------------------------------------------------------------------------------------------------

// Adds values of states, inputs or outputs under a heading. Rates of states are only in the data.
static void add_signals(od_result *r, const char *key, const char *heading, const od_linear_signal *s, int count,
                        bool has_rates) {
  static const od_result_column columns[] = {{"name", "name", OD_CELL_TEXT},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {"value", "value", OD_CELL_NUMBER},
                                             {NULL, NULL, OD_CELL_REMARK}};
  if (count > 0) od_result_heading(r, "%s", heading);
  od_result_table *t = od_result_add_table(r, key, columns, 4);
  for (int i = 0; i < count; i++) {
    od_result_add_row(t, s[i].unit, fabs(s[i].value));
    od_result_cell_text(t, s[i].name);
    od_result_cell(t, s[i].value);
    od_result_cell_text(t, s[i].undecided ? "not determined; kept near the start value" : "");
    if (has_rates) od_result_row_set(t, "rate", od_json_number(s[i].rate));
    if (s[i].undecided) od_result_row_set(t, "undecided", json_true());
  }
}

od_result od_equilibrium_result(const od_machine *machine, const od_linear_model *m) {
  od_verdict remarks = {0};
  od_result r = od_machine_result("Equilibrium", machine);
  od_result_heading(&r, "%.200s: %s", r.title, m->rests ? "at rest" : "in steady motion");
  add_point(&r, m);
  // Remarks about slopes are only relevant to users of the linear model, so these remarks are in the data only.
  json_t *warnings = json_array();
  od_linear_remarks(m, &remarks);
  if (!od_verdict_is_complete(&remarks)) r.is_short_of_memory = true;
  for (int i = 0; i < remarks.count; i++) json_array_append_new(warnings, od_json_text(remarks.remark[i].text));
  od_result_set(&r, "warnings", warnings);
  od_verdict_free(&remarks);
  add_signals(&r, "inputs", "Inputs", m->input, m->inputs, false);
  add_signals(&r, "states", "States", m->state, m->states, true);
  add_signals(&r, "constants", "Constant states", m->constant, m->constants, false);
  add_signals(&r, "outputs", "Outputs", m->output, m->outputs, false);
  return r;
}

// --- Poles and zeros ----------------------------------------------------------------------------------------------------

void od_linear_results_free(od_linear_results *r) {
  od_arena_free(&r->arena);
  *r = (od_linear_results){0};
}

od_status od_linear_results_find(const od_machine *machine, const od_linear_model *m, od_linear_results *out,
                                 od_error *err) {
  *out = (od_linear_results){.machine = machine, .model = m};
  od_status status = od_poles_find(m, &out->arena, &out->poles, err);
  if (status != OD_OK) return status;
  out->zeros = OD_TAKE_MATRIX(&out->arena, od_zeros, m->inputs, m->outputs);
  if (!out->zeros) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < m->outputs; i++)
    for (int j = 0; j < m->inputs && status == OD_OK; j++) {
      od_zeros *z = &out->zeros[out->pairs++];
      *z = (od_zeros){.input = j, .output = i};
      status = od_zeros_find(m, &j, &i, 1, &out->arena, &z->zero, &z->count, err);
    }
  return status;
}

enum { MOST_NAMED = 4 };
static const double least_named = 0.05;

// Writes the states with the largest participation in a mode: "68 % A.pressure, 31 % guide.rate".
static void mode_text(const od_linear_model *m, const double *part, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  double last = INFINITY;
  int last_at = -1;
  // Lists the states in descending order. Equal values keep their order.
  for (int round = 0; round < MOST_NAMED; round++) {
    int best = -1;
    for (int i = 0; i < m->states; i++) {
      bool later = part[i] < last || (part[i] == last && i > last_at);
      if (later && (best < 0 || part[i] > part[best])) best = i;
    }
    if (best < 0 || (round > 0 && part[best] < least_named)) return;
    last = part[best], last_at = best;
    int n =
        snprintf(text + used, size - used, "%s%.0f %% %s", round ? ", " : "", 100 * part[best], m->state[best].name);
    used += n > 0 ? (size_t)n : 0;
    if (used >= size) return;
  }
}

static json_t *matrix_json(const double *a, int rows, int columns) {
  json_t *list = json_array();
  for (int i = 0; i < rows; i++) json_array_append_new(list, od_json_numbers(a + i * columns, columns, 1));
  return list;
}

static json_t *pole_json(od_pole p) {
  return json_pack("{s:o, s:o}", "real", od_json_number(p.real), "imaginary", od_json_number(p.imaginary));
}

static json_t *poles_json(const od_linear_results *r) {
  const od_linear_model *m = r->model;
  json_t *list = json_array();
  for (int i = 0; i < r->poles.count; i++) {
    od_pole p = r->poles.pole[i];
    const double *part = r->poles.participation + i * m->states;
    char text[400];
    mode_text(m, part, text, sizeof text);
    json_t *item = pole_json(p);
    json_object_set_new(item, "frequency", od_json_number(od_pole_frequency(p)));
    json_object_set_new(item, "damping", od_json_number(od_pole_damping(p)));
    json_object_set_new(item, "time_constant", od_json_number(od_pole_time_constant(p)));
    json_object_set_new(item, "participation", od_json_numbers(part, m->states, 1));
    json_object_set_new(item, "mode", od_json_text(text));
    json_array_append_new(list, item);
  }
  return list;
}

// Writes a root: "-1 +- 2i", "-3". A pair has one text. Returns the required length, as snprintf() does.
static int root_text(od_pole p, char *text, size_t size) {
  return snprintf(text, size, p.imaginary > 0 ? "%.6g +- %.6gi" : "%.6g", p.real, p.imaginary);
}

static void add_poles(const od_linear_results *r, od_result *to) {
  static const od_result_column columns[] = {{NULL, "pole, rad/s", OD_CELL_TEXT},
                                             {NULL, "frequency, Hz", OD_CELL_PLAIN},
                                             {NULL, "damping", OD_CELL_PLAIN, 4},
                                             {NULL, "time constant", OD_CELL_TEXT},
                                             {NULL, "participating states", OD_CELL_TEXT}};
  od_result_set(to, "poles", poles_json(r));
  if (r->poles.count > 0) od_result_heading(to, "Poles");
  od_result_table *t = od_result_add_table(to, NULL, columns, 5);
  for (int i = 0; i < r->poles.count; i++) {
    od_pole p = r->poles.pole[i];
    char value[64], states[400], time[64] = "-";
    if (p.imaginary < 0) continue;
    root_text(p, value, sizeof value);
    if (p.real != 0)
      snprintf(time, sizeof time, "%s%s", p.real > 0 ? "grows " : "",
               od_duration_text(fabs(od_pole_time_constant(p)), 4).text);
    mode_text(r->model, r->poles.participation + i * r->model->states, states, sizeof states);
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, value);
    od_result_cell(t, od_pole_frequency(p));
    od_result_cell(t, p.imaginary > 0 ? od_pole_damping(p) : (double)NAN);
    od_result_cell_text(t, time);
    od_result_mark(t, p.real > 0);
    od_result_cell_text(t, states);
  }
  int unstable = od_poles_unstable(&r->poles);
  if (unstable)
    od_result_finding(to, OD_SOUND, "Unstable:", "%s with a positive real part", od_count(unstable, "pole").text);
}

// Returns the zeros of a pair of input and output, or the reason why there are no zeros. Lines, including `lead`, have
// fewer than 100 characters. The text belongs to the arena. Returns NULL if out of memory.
static char *zeros_text(const od_linear_model *m, const od_zeros *z, const char *lead, od_arena *arena) {
  enum { WIDTH = 100, PER_ZERO = 64 };
  size_t size = PER_ZERO * (size_t)(z->count > 0 ? z->count : 0) + sizeof m->closed + 100, used = 0;
  int column = 3 + od_utf8_width(lead);
  char *text = od_arena_take(arena, size), root[PER_ZERO];
  if (!text) return NULL;
  if (z->count < 0) snprintf(text, size, m->closed[0] ? "no path (closed by overlap: %s)" : "no path%s", m->closed);
  if (z->count == 0) snprintf(text, size, "none");
  for (int k = 0; k < z->count; k++) {
    if (z->zero[k].imaginary < 0) continue;
    int length = root_text(z->zero[k], root, sizeof root);
    bool fits = column + length + 2 < WIDTH;
    const char *gap = used == 0 ? "" : fits ? ", " : ",\n    ";
    column = (used == 0 || fits ? column + (int)strlen(gap) : 4) + length;
    used += (size_t)snprintf(text + used, size - used, "%s%s", gap, root);
  }
  return text;
}

static void add_zeros(const od_linear_results *r, od_result *to) {
  const od_linear_model *m = r->model;
  json_t *zeros = json_array();
  if (r->pairs > 0) od_result_heading(to, "Zeros, rad/s");
  for (int i = 0; i < r->pairs; i++) {
    const od_zeros *z = &r->zeros[i];
    const char *input = m->input[z->input].name, *output = m->output[z->output].name;
    const char *lead = od_arena_format(&to->arena, "%s to %s:", input, output);
    const char *text = lead ? zeros_text(m, z, lead, &to->arena) : NULL;
    if (text)
      od_result_finding(to, OD_SOUND, lead, "%s", text);
    else
      to->is_short_of_memory = true;
    json_t *list = json_array();
    for (int k = 0; k < z->count; k++) json_array_append_new(list, pole_json(z->zero[k]));
    json_array_append_new(zeros, json_pack("{s:o, s:o, s:b, s:o}", "input", od_json_text(input), "output",
                                           od_json_text(output), "path", z->count >= 0, "zeros", list));
  }
  od_result_set(to, "zeros", zeros);
}

od_result od_linear_result(const od_linear_results *found) {
  const od_linear_model *m = found->model;
  od_result r = od_linear_result_new(found->machine, m, "linear model");
  od_result_line(&r, "%s, %s, %s", od_count(m->states, "state").text, od_count(m->inputs, "input").text,
                 od_count(m->outputs, "output").text);
  add_signals(&r, "states", "States at the operating point", m->state, m->states, true);
  add_signals(&r, "constants", "Constant states, not in the model", m->constant, m->constants, false);
  add_signals(&r, "inputs", "Inputs", m->input, m->inputs, false);
  add_signals(&r, "outputs", "Outputs", m->output, m->outputs, false);
  od_result_set(&r, "A", matrix_json(m->A, m->states, m->states));
  od_result_set(&r, "B", matrix_json(m->B, m->states, m->inputs));
  od_result_set(&r, "C", matrix_json(m->C, m->outputs, m->states));
  od_result_set(&r, "D", matrix_json(m->D, m->outputs, m->inputs));
  add_poles(found, &r);
  add_zeros(found, &r);
  od_add_linear_warnings(&r, m);
  return r;
}
