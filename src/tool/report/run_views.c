#include "report/run_views.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "io/axis.h"
#include "io/json.h"
#include "machine/machine.h"
#include "plant/model_plant_work.h"
#include "report/figure_range.h"
#include "report/page.h"

// --- Recorded outputs -------------------------------------------------------------------------------------------------

// A list of outputs without repetition.
typedef struct output_list {
  int *index, count;
  bool *is_listed;  // one flag per output of the machine
} output_list;

static void add_output(output_list *list, int output) {
  if (output < 0 || list->is_listed[output]) return;
  list->is_listed[output] = true;
  list->index[list->count++] = output;
}

// Bytes of the series of a page, before compression: 30 bytes per row, between these limits.
static const double least_bytes = 5e5, most_bytes = 4e6;

// Chooses the number of frames. Long runs have more frames, many outputs have fewer frames each.
static void choose_interval(od_run_views *v, double time, double step, int others) {
  double rows = fmax(time / step, 1), bytes = fmin(fmax(30 * rows, least_bytes), most_bytes);
  v->intervals = (long)fmin(fmax(bytes / (2.0 * (v->outputs + others + 1)), 500), 32768);
  v->interval = od_frames_interval(rows, step, v->intervals);
}

// Returns whether an output needs the forces of constraints, which observers do not compute.
static bool is_reaction(const od_machine *machine, int output) {
  const od_model *m = od_machine_model(machine);
  return output < m->outputs && od_model_output_is_reaction(&m->output[output]);
}

static void add_outputs(const od_run_views *v, output_list *list, const int *output, int count) {
  for (int i = 0; i < count; i++)
    if (!v->of || !is_reaction(v->machine, output[i])) add_output(list, output[i]);
}

od_run_views *od_run_views_new(const od_machine *machine, double time, double step, const od_findings *found,
                               const char *of, int others) {
  OD_OWNED(od_run_views_free) od_run_views *v = od_calloc(1, sizeof *v);
  if (!v) return NULL;
  int all = od_machine_output_count(machine), count;
  output_list list = {.index = OD_TAKE(&v->arena, int, all), .is_listed = OD_TAKE(&v->arena, bool, all)};
  const int *outputs;
  v->machine = machine;
  v->of = of;
  if (!list.index || !list.is_listed || od_scene_make(machine, &v->arena, &v->scene, NULL) != OD_OK) return NULL;
  if (od_circuit_make(machine, &v->arena, &v->circuit, NULL) != OD_OK) return NULL;
  if (v->scene) {
    count = od_scene_outputs(v->scene, &outputs);
    add_outputs(v, &list, outputs, count);
  }
  if (v->circuit) {
    count = od_circuit_outputs(v->circuit, &outputs);
    add_outputs(v, &list, outputs, count);
  }
  if (found) {
    count = od_findings_outputs(found, &outputs);
    add_outputs(v, &list, outputs, count);
  }
  v->bound = list.count;
  for (int i = 0; i < all; i++)
    if (od_run_charts_show(machine, i)) add_outputs(v, &list, &i, 1);
  v->output = list.index;
  v->outputs = list.count;
  choose_interval(v, time, step, others);
  return OD_GIVE(v);
}

void od_run_views_free(od_run_views *v) {
  if (!v) return;
  od_frames_free(v->frames);
  od_arena_free(&v->arena);
  od_free(v);
}

// --- The run ----------------------------------------------------------------------------------------------------------

od_frames *od_run_views_frames(const od_run_views *v) {
  return od_frames_new(v->outputs, v->interval, 2 * v->intervals + 2);
}

// The record of one run.
typedef struct record {
  od_frames *frames;
  od_status status;
} record;

static void *begin(void *user) {
  const od_run_views *v = user;
  record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  r->frames = od_run_views_frames(v);
  if (r->frames) return r;
  od_free(r);
  return NULL;
}

static void take_row(void *user, double t, const double *y) {
  record *r = user;
  if (r->status == OD_OK) r->status = od_frames_append(r->frames, t, y);
}

static void deliver(void *user, void *recorded) {
  od_run_views *v = user;
  record *r = recorded;
  if (r->status == OD_OK) r->status = od_frames_finish(r->frames);
  if (r->status == OD_OK)
    v->frames = OD_GIVE(r->frames);
  else
    v->arena.exhausted = true;
  od_frames_free(r->frames);
  od_free(r);
}

static void drop(void *user, void *recorded) {
  (void)user;
  record *r = recorded;
  od_frames_free(r->frames);
  od_free(r);
}

od_run_watcher od_run_views_watcher(od_run_views *v) {
  return (od_run_watcher){.user = v,
                          .outputs = v->output,
                          .output_count = v->outputs,
                          .begin = begin,
                          .row = take_row,
                          .deliver = deliver,
                          .drop = drop};
}

// --- The page ---------------------------------------------------------------------------------------------------------

// Returns the column of an output in the frames; -1: not recorded.
static int column_of(const od_run_views *v, int output) {
  for (int i = 0; i < v->outputs; i++)
    if (v->output[i] == output) return i;
  return -1;
}

// Returns the frame at or before a time.
static long frame_at(const od_frame_column *c, double at) {
  long i = 0;
  while (i + 1 < c->count && c->x[i + 1] <= at) i++;
  return i;
}

static void draw_machine(const od_run_views *v, od_page *p, double at) {
  OD_SCRATCH(scratch);
  const int *outputs;
  int count = od_scene_outputs(v->scene, &outputs);
  double *value = OD_TAKE(&scratch, double, count);
  if (!od_page_require(p, value != NULL)) return;
  for (int i = 0; i < count; i++) {
    int column = column_of(v, outputs[i]);
    if (column < 0) continue;  // a reaction, which the picture does not show
    od_frame_column c = od_frames_column(v->frames, column);
    value[i] = c.value[frame_at(&c, at) * c.stride];
  }
  od_scene_svg(v->scene, value, od_page_picture_begin(p, OD_PICTURE_MACHINE, od_scene_rules()));
  od_page_picture_end(p);
  od_page_data_set(od_page_get_data(p), "scene", od_scene_json(v->scene));
}

// Width of the widest circuit beside a machine, px. At usual window sizes the texts of a wider circuit would not be
// readable there, or a part of the circuit would be out of view.
static const double widest_beside = 1150;

static void draw_circuit(const od_run_views *v, od_page *p) {
  json_t *groups = od_circuit_groups(v->circuit);
  od_circuit_extent size = od_circuit_size(v->circuit);
  if (size.width > widest_beside) od_page_stack_pictures(p, size.height / size.width);
  od_circuit_svg(v->circuit, od_page_picture_begin(p, OD_PICTURE_CIRCUIT, od_circuit_style()));
  od_page_picture_end(p);
  od_page_data_set(od_page_get_data(p), "circuit", od_circuit_json(v->circuit));
  if (json_array_size(groups) > 0)
    od_page_data_set(od_page_get_data(p), "groups", groups);
  else
    json_decref(groups);
}

static bool is_unit(const od_machine *machine, int output, const char *unit) {
  return strcmp(od_machine_output_unit(machine, output), unit) == 0;
}

// Returns whether an output is a component of a pose. The pictures need exact values of poses instead of extremes.
static bool is_pose(const od_machine *machine, int output) {
  const od_model *m = od_machine_model(machine);
  return output < m->outputs && m->output[output].kind == OD_OUT_BODY_POSE;
}

typedef struct range {
  double low, high;
} range;

static range range_of(const od_frame_column *c) {
  range r = {INFINITY, -INFINITY};
  for (long i = 0; i < c->count; i++) {
    r.low = fmin(r.low, c->low[i * c->stride]);
    r.high = fmax(r.high, c->high[i * c->stride]);
  }
  return r;
}

// Returns whether an output can be the curve of the time bar: a power; beside a circuit, not the power of a force or
// torque, because the circuit moves the machine.
static bool is_driving_power(const od_run_views *v, int output) {
  const od_model *m = od_machine_model(v->machine);
  bool is_load = output < m->outputs && m->output[output].kind == OD_OUT_LOAD_POWER;
  return is_unit(v->machine, output, "W") && !(v->circuit && is_load);
}

// Adds the outputs that move the pictures, the scale of pressures, and the output whose curve the time bar shows: the largest power.
void od_run_views_add_series(const od_run_views *v, od_page *p) {
  od_page_data *d = od_page_get_data(p);
  range pressure = {0, 0};
  double largest = 0;
  int waveform = -1;
  for (int i = 0; i < v->outputs; i++) {
    od_frame_column c = od_frames_column(v->frames, i);
    const char *si = od_machine_output_unit(v->machine, v->output[i]);
    range r = range_of(&c);
    double size = fmax(fabs(r.low), fabs(r.high));
    if (is_unit(v->machine, v->output[i], "Pa") && i < v->bound) pressure.high = fmax(pressure.high, r.high);
    if (is_driving_power(v, v->output[i]) && size > largest) largest = size, waveform = v->output[i];
    if (i >= v->bound && waveform != v->output[i]) continue;
    od_display shown = od_figure_unit(si, size);
    od_series_facts facts = {.name = od_machine_output_name(v->machine, v->output[i]),
                             .of = v->of,
                             .si = si,
                             .unit = shown.unit,
                             .factor = shown.factor};
    od_page_data_frames(d, &facts, c, is_pose(v->machine, v->output[i]));
  }
  if (v->of && strcmp(v->of, "truth") == 0) return;
  // The scale ends at a round number.
  double step = od_axis_make(0, pressure.high, "Pa", 8).step;
  pressure.high = step * ceil(pressure.high / step);
  if (pressure.high > 0)
    od_page_data_set(
        d, "pressure",
        json_pack("{s:o, s:o}", "low", od_json_number(pressure.low), "high", od_json_number(pressure.high)));
  if (waveform >= 0) od_page_data_set(d, "waveform", od_json_text(od_machine_output_name(v->machine, waveform)));
}

void od_run_views_draw(const od_run_views *v, od_page *p, double at) {
  od_page_require(p, od_arena_status(&v->arena) == OD_OK);
  if (!v->frames) return;
  od_page_data_limit(od_page_get_data(p), v->intervals);
  if (v->scene) draw_machine(v, p, at);
  if (v->circuit) draw_circuit(v, p);
  od_run_views_add_series(v, p);
}
