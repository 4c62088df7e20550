#include "linear/responses.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "linear/linear_result.h"
#include "linear/poles.h"
#include "linear/response_plot.h"
#include "machine/machine_result.h"

void od_responses_free(od_responses *r) {
  od_arena_free(&r->arena);
  od_table_free(r->table);
  *r = (od_responses){0};
}

od_status od_responses_list(od_responses *r, bool loop, bool all, od_error *err) {
  const od_linear_model *m = r->model;
  long most = (long)m->inputs * m->outputs;
  r->path = OD_TAKE(&r->arena, od_path, most);
  r->name = OD_TAKE(&r->arena, const char *, most);
  r->margins = OD_TAKE(&r->arena, od_margins, most);
  if (od_arena_status(&r->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < m->outputs; i++) {
    int before = r->paths;
    for (int j = 0; j < m->inputs; j++) {
      const od_path path = {j, i, loop};
      if (loop && !od_loop_enters(r->machine, r->model, &path)) continue;
      const char *from = m->input[j].name, *to = m->output[i].name;
      char *name = loop ? od_arena_format(&r->arena, "loop at %s, opened where %s enters", to, from)
                        : od_arena_format(&r->arena, "%s to %s", from, to);
      if (!name) return od_fail(err, OD_NO_MEMORY, "out of memory");
      r->path[r->paths] = path;
      r->name[r->paths++] = name;
    }
    if (loop && !all && r->paths == before)
      return od_fail(
          err, OD_BAD_INPUT,
          "--loop: the loop cannot be opened at '%s', because no input enters the machine at this signal only. Name a signal at which an input enters the loop, such as a reference minus a measured value",
          m->output[i].name);
  }
  if (r->paths > 0) return OD_OK;
  return od_fail(
      err, OD_BAD_INPUT,
      loop
          ? "%s has no signal at which an input enters directly, so there is no loop to open; let an input enter a sum block"
          : "%s has no inputs, so there is no frequency response; expected a machine file with a section 'inputs'",
      od_machine_file(r->machine));
}

// Returns whether the gain has a unit. A gain with a unit is not the gain of a loop and has no margins.
static bool has_unit(const od_linear_model *m, const od_path *p) {
  return !p->loop && strcmp(m->output[p->output].unit, m->input[p->input].unit) != 0;
}

// Computes the margins of a path with the model of the response. In a sweep, r->model (the model of the first point) has
// already been freed.
static od_margins find_margins(const od_responses *r, const od_linear_model *model, od_linear_response *response,
                               int k) {
  od_margins m = od_margins_find(response, &r->path[k], r->frequency, r->count);
  if (has_unit(model, &r->path[k])) m.gain = m.gain_at = m.phase = m.phase_at = NAN;
  return m;
}

// Writes the name of a column: "u.to.y.phase", "u.loop.e.peak".
static void column_name(const od_linear_model *m, const od_path *p, const char *what, char *text, size_t size) {
  snprintf(text, size, "%.250s%s%.250s.%s", m->input[p->input].name, p->loop ? ".loop." : ".to.",
           m->output[p->output].name, what);
}

static od_status fill_table(od_responses *r, od_linear_response *response) {
  OD_SCRATCH(scratch);
  int columns = 1 + 2 * r->paths;
  double *row = OD_TAKE(&scratch, double, columns), *all = OD_TAKE_MATRIX(&scratch, double, columns, r->count);
  r->table = od_table_new(columns);
  if (od_arena_status(&scratch) != OD_OK || !r->table) return OD_NO_MEMORY;
  od_status status = od_table_label(r->table, 0, "frequency", "Hz");
  for (int k = 0; k < r->paths && status == OD_OK; k++) {
    char text[600];
    double *magnitude = all + 2 * k * r->count;
    column_name(r->model, &r->path[k], "magnitude", text, sizeof text);
    status = od_table_label(r->table, 1 + 2 * k, text, "dB");
    column_name(r->model, &r->path[k], "phase", text, sizeof text);
    if (status == OD_OK) status = od_table_label(r->table, 2 + 2 * k, text, "deg");
    od_path_table(response, &r->path[k], r->frequency, r->count, magnitude, magnitude + r->count);
    r->margins[k] = find_margins(r, r->model, response, k);
  }
  for (int i = 0; i < r->count && status == OD_OK; i++) {
    row[0] = r->frequency[i];
    for (int c = 0; c < 2 * r->paths; c++) row[1 + c] = all[c * r->count + i];
    status = od_table_append(r->table, row);
  }
  return status;
}

od_status od_responses_find(od_responses *r, od_error *err) {
  OD_SCRATCH(scratch);
  od_poles poles;
  OD_OWNED(od_linear_response_free) od_linear_response *response = od_linear_response_new(r->model);
  od_status status = response ? fill_table(r, response) : OD_NO_MEMORY;
  if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
  status = od_poles_find(r->model, &scratch, &poles, err);
  if (status == OD_OK) r->unstable = od_poles_unstable(&poles);
  return status;
}

od_status od_responses_sweep_row(const od_responses *first, const od_linear_model *model,
                                 bool (*goes_on)(void *, double), void *going, od_sweep_row *row, od_error *err) {
  OD_OWNED(od_linear_response_free) od_linear_response *response = od_linear_response_new(model);
  if (!response) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_linear_response_listen(response, goes_on, going);
  for (int k = 0; k < first->paths; k++) {
    od_margins m = find_margins(first, model, response, k);
    const struct {
      const char *name, *unit;
      double value;
    } values[] = {{"gain_margin", "1", m.gain},
                  {"phase_margin", "deg", m.phase},
                  {"bandwidth", "Hz", m.bandwidth},
                  {"peak", "1", m.peak},
                  {"peak_at", "Hz", m.peak_at}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      char name[600];
      column_name(model, &first->path[k], values[i].name, name, sizeof name);
      if (!od_sweep_add(row, name, values[i].unit, values[i].value)) return od_fail(err, OD_NO_MEMORY, "out of memory");
    }
  }
  return OD_OK;
}

// --- Result -------------------------------------------------------------------------------------------------------------

static void add_data(const od_responses *r, od_result *to) {
  json_t *list = json_array();
  for (int k = 0; k < r->paths; k++) {
    const od_margins *m = &r->margins[k];
    const od_path *p = &r->path[k];
    json_t *item = json_pack("{s:o, s:o, s:b}", "input", od_json_text(r->model->input[p->input].name), "output",
                             od_json_text(r->model->output[p->output].name), "loop", p->loop);
    const struct {
      const char *name;
      double value;
    } values[] = {{"gain_margin", m->gain},         {"gain_margin_at", m->gain_at}, {"phase_margin", m->phase},
                  {"phase_margin_at", m->phase_at}, {"bandwidth", m->bandwidth},    {"peak", m->peak},
                  {"peak_at", m->peak_at}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
      json_object_set_new(item, values[i].name, od_json_number(values[i].value));
    const double *magnitude = r->table->data + 1 + 2 * k;
    json_object_set_new(item, "magnitude", od_json_numbers(magnitude, r->count, r->table->columns));
    json_object_set_new(item, "phase", od_json_numbers(magnitude + 1, r->count, r->table->columns));
    json_array_append_new(list, item);
  }
  od_result_flag(to, "stable", r->unstable == 0);
  od_result_set(to, "frequencies", od_json_numbers(r->frequency, r->count, 1));
  od_result_set(to, "responses", list);
}

// Adds a heading and a list for path k.
static void add_path(const od_responses *r, int k, od_result *to) {
  const od_margins *m = &r->margins[k];
  const od_path *p = &r->path[k];
  char unit[200] = "";
  if (has_unit(r->model, p))
    snprintf(unit, sizeof unit, " of %s per %s", r->model->output[p->output].unit, r->model->input[p->input].unit);
  od_result_heading(to, "%s", r->name[k]);
  if (!(m->peak > 0)) {
    od_result_finding(to, OD_SOUND, "gain:", "none: the output does not depend on the input at this point");
    return;
  }
  od_result_finding(to, OD_SOUND, "gain:", "%.6g dB%s at %.6g Hz; largest gain %.6g dB at %.6g Hz",
                    r->table->data[1 + 2 * k], unit, r->frequency[0], 20 * log10(m->peak), m->peak_at);
  if (!isnan(m->bandwidth))
    od_result_finding(to, OD_SOUND, "bandwidth:", "%.6g Hz (3 dB below the first point)", m->bandwidth);
  if (has_unit(r->model, p)) return;
  if (isnan(m->gain))
    od_result_finding(to, OD_SOUND, "gain margin:", "infinite: the phase does not cross -180 deg");
  else
    od_result_finding(to, OD_SOUND, "gain margin:", "%.6g dB at %.6g Hz", 20 * log10(m->gain), m->gain_at);
  if (isnan(m->phase))
    od_result_finding(to, OD_SOUND, "phase margin:", "infinite: the gain does not cross 1");
  else
    od_result_finding(to, OD_SOUND, "phase margin:", "%.6g deg at %.6g Hz", m->phase, m->phase_at);
}

od_result od_responses_result(const od_responses *found) {
  od_result r = od_linear_result_new(found->machine, found->model, "frequency responses");
  add_data(found, &r);
  for (int k = 0; k < found->paths; k++) add_path(found, k, &r);
  od_result_line(&r, "The machine%s is %s at this operating point%s.",
                 found->model->samples ? " with open loops through sampled blocks" : "",
                 found->unstable ? "unstable" : "stable",
                 found->unstable ? "; margins describe the open loop only" : "");
  od_add_linear_warnings(&r, found->model);
  return r;
}

od_status od_responses_write_plot(const void *user, const char *path, od_error *err) {
  const od_responses *r = user;
  char place[80], subtitle[400];
  od_linear_place(r->model, place, sizeof place);
  snprintf(subtitle, sizeof subtitle, "%.250s at %s", od_machine_file(r->machine), place);
  const char *const note = "dB, of SI units";
  const od_bode_plot plot = {.table = r->table,
                             .name = r->name,
                             .groups = 1,
                             .note = &note,
                             .title = od_machine_caption(r->machine),
                             .subtitle = subtitle};
  return od_bode_plot_write(&plot, path, err);
}
