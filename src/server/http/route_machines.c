// The list of machines, and the description of a machine: series, pictures, charts, curves.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "circuit/diagram.h"
#include "experiment/observe.h"
#include "http/live.h"
#include "io/clock.h"
#include "io/display.h"
#include "io/json.h"
#include "scene/scene.h"

void od_route_machines(od_request *r) {
  od_door *d = r->door;
  od_text_stream t;
  if (!od_text_begin(&t)) return;
  fputs("{\"title\":", t.to);
  od_put_text(t.to, d->twin->title);
  fprintf(t.to, ",\"boot\":\"%s\",\"now\":", d->boot);
  od_put_time(t.to, od_clock_now());
  fputs(",\"machines\":[", t.to);
  for (int i = 0; i < d->twin->machines; i++) {
    if (i) putc(',', t.to);
    od_put_status(t.to, d, i);
  }
  fputs("]}", t.to);
  od_answer_stream(r, "application/json", &t);
}

// --- Series -------------------------------------------------------------------------------------------------------

static const od_estimated *parameter_of(const od_experiment *e, const char *name) {
  for (int i = 0; i < e->parameters; i++)
    if (strcmp(e->parameter[i].path, name) == 0) return &e->parameter[i];
  return NULL;
}

// Adds part, quantity and group of a name, as in report pages: "lift.A.pressure" is the quantity "pressure" of the part "lift.A".
static void describe_name(json_t *series, const char *name, const json_t *groups) {
  const char *dot = strrchr(name, '.'), *pose = strstr(name, ".pose.");
  if (pose) dot = pose;
  if (dot) {
    const size_t length = (size_t)(dot - name);
    json_object_set_new(series, "part", json_stringn(name, length));
    size_t best = 0;
    for (size_t g = 0; g < json_array_size(groups); g++) {
      const json_t *parts = json_object_get(json_array_get(groups, g), "parts");
      for (size_t k = 0; k < json_array_size(parts); k++) {
        const char *part = json_string_value(json_array_get(parts, k));
        const size_t n = part ? strlen(part) : 0;
        if (n <= best || n > length || strncmp(name, part, n) != 0 || (n < length && name[n] != '.')) continue;
        best = n;
        json_object_set(series, "group", json_object_get(json_array_get(groups, g), "name"));
      }
    }
  }
  json_object_set_new(series, "quantity", od_json_text(pose ? "pose" : dot ? dot + 1 : name));
}

// Returns the size of the numbers of a column, for the choice of their unit; 0: not known.
static double size_of(const od_experiment *e, const od_column_facts *facts) {
  const od_estimated *p = strcmp(facts->of, "parameter") == 0 ? parameter_of(e, facts->name) : NULL;
  return p ? fabs(p->start) : 0;
}

static void set_unit(json_t *object, const char *si, double size) {
  const od_display shown = od_display_unit(si, size);
  json_object_set_new(object, "si", od_json_text(si));
  json_object_set_new(object, "unit", od_json_text(shown.unit));
  json_object_set_new(object, "factor", json_real(shown.factor));
}

static json_t *series_of(const od_door *d, int machine, const od_frame_head *head, int column, const json_t *groups) {
  const od_twin_machine *m = &d->twin->machine[machine];
  const od_column_facts facts = od_column_facts_of(m, head, column);
  json_t *s = json_pack("{s:o, s:o, s:s}", "channel", od_json_text(head->name[column]), "name",
                        od_json_text(facts.name), "of", facts.of);
  const od_estimated *p = strcmp(facts.of, "parameter") == 0 ? parameter_of(m->e, facts.name) : NULL;
  describe_name(s, facts.name, groups);
  set_unit(s, head->unit[column], size_of(m->e, &facts));
  if (facts.sigma >= 0) json_object_set_new(s, "sigma", od_json_text(head->name[facts.sigma]));
  if (p) {
    json_object_set_new(s, "start", od_json_number(p->start));
    json_object_set_new(s, "start_sigma", od_json_number(p->sigma));
    if (isfinite(p->low)) json_object_set_new(s, "low", od_json_number(p->low));
    if (isfinite(p->high)) json_object_set_new(s, "high", od_json_number(p->high));
  }
  if (d->history) json_object_set_new(s, "history", json_string(column < head->rows ? "rows" : "frames"));
  return s;
}

static json_t *series_list(const od_door *d, int machine, const od_frame_head *head, const json_t *groups) {
  json_t *list = json_array();
  for (int c = 0; head && c < head->columns; c++)
    if (od_column_facts_of(&d->twin->machine[machine], head, c).of)
      json_array_append_new(list, series_of(d, machine, head, c, groups));
  return list;
}

// --- Charts and curves --------------------------------------------------------------------------------------------

static int column_named(const od_frame_head *head, const char *prefix, const char *name) {
  const size_t length = strlen(prefix);
  for (int c = 0; c < head->rows; c++)
    if (strncmp(head->name[c], prefix, length) == 0 && strcmp(head->name[c] + length, name) == 0) return c;
  return -1;
}

// Returns a chart for each estimated output and parameter, with its measurement if there is one, and a chart for each input.
static json_t *chart_list(const od_door *d, int machine, const od_frame_head *head) {
  json_t *list = json_array();
  for (int c = 0; head && c < head->rows; c++) {
    const od_column_facts facts = od_column_facts_of(&d->twin->machine[machine], head, c);
    const bool is_estimate = facts.of && strncmp(head->name[c], "estimate.", 9) == 0;
    if (!is_estimate && !(facts.of && strcmp(facts.of, "input") == 0)) continue;
    const int measured = is_estimate ? column_named(head, "measured.", facts.name) : -1;
    json_t *chart = json_pack("{s:o}", "title", od_json_text(facts.name)), *lines = json_array();
    set_unit(chart, head->unit[c], size_of(d->twin->machine[machine].e, &facts));
    if (measured >= 0)
      json_array_append_new(lines,
                            json_pack("{s:o, s:s}", "channel", od_json_text(head->name[measured]), "kind", "measured"));
    json_array_append_new(lines, json_pack("{s:o, s:s, s:b}", "channel", od_json_text(head->name[c]), "kind",
                                           is_estimate ? "estimate" : "line", "band", facts.sigma >= 0));
    json_object_set_new(chart, "lines", lines);
    json_array_append_new(list, chart);
  }
  return list;
}

enum { CURVE_STEP = 5 };  // every fifth sample of a curve is sent

static json_t *curve_json(const od_experiment *e, const od_curve_result *c) {
  json_t *x = json_array(), *start = json_array(), *points = json_array(), *weight = json_array();
  for (int k = 0; k < c->samples; k += CURVE_STEP) {
    json_t *row = json_array();
    for (int i = 0; i < c->points; i++) json_array_append_new(row, od_json_number(c->weight[i * c->samples + k]));
    json_array_append_new(weight, row);
    json_array_append_new(x, od_json_number(c->sample[k].x));
    json_array_append_new(start, od_json_number(c->sample[k].start));
  }
  for (int i = 0; i < c->points; i++) {
    json_t *point = json_pack("{s:f}", "x", c->point[i].x);
    if (c->parameter[i] >= 0)
      json_object_set_new(point, "channel", json_sprintf("estimate.%s", e->parameter[c->parameter[i]].path));
    else
      json_object_set_new(point, "value", od_json_number(c->point[i].start));
    json_array_append_new(points, point);
  }
  int parameter = -1;
  for (int i = 0; i < c->points; i++) parameter = c->parameter[i] >= 0 ? c->parameter[i] : parameter;
  return json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "valve", od_json_text(c->valve), "port",
                   od_json_text(c->port), "from", od_json_text(c->from), "to", od_json_text(c->to), "side", c->side,
                   "x_unit", od_json_text(c->x_unit), "unit",
                   od_json_text(parameter >= 0 ? e->parameter[parameter].unit : "1"), "x", x, "start", start, "points",
                   points, "weight", weight);
}

// Returns the curves of valves whose points are estimated, at the start of the observer.
static json_t *curve_list(const od_experiment *e) {
  json_t *list = json_array();
  od_observed o = {0};
  const int n = e->parameters;
  double *numbers = OD_TAKE(&o.memory, double, 3 * n);
  o.covariance = OD_TAKE_MATRIX(&o.memory, double, n, n);
  if (numbers && o.covariance) {
    o.estimate = numbers;
    o.sigma = numbers + n;
    o.truth = o.sigma + n;
    for (int i = 0; i < n; i++) {
      o.estimate[i] = e->parameter[i].start;
      o.sigma[i] = e->parameter[i].sigma;
      o.truth[i] = NAN;
    }
    if (od_compare_truth(e, &o))
      for (int i = 0; i < o.curves; i++) json_array_append_new(list, curve_json(e, &o.curve[i]));
  }
  od_arena_free(&o.memory);
  return list;
}

static json_t *alarm_list(const od_twin_machine *m) {
  json_t *list = json_array();
  for (int i = 0; i < m->alarms; i++) {
    const od_twin_alarm *a = &m->alarm[i];
    json_t *alarm = json_pack("{s:o, s:o, s:f}", "name", od_json_text(a->name), "channel",
                              json_sprintf("estimate.%s", a->output), "for", a->duration);
    if (!isnan(a->above)) json_object_set_new(alarm, "above", od_json_number(a->above));
    if (!isnan(a->below)) json_object_set_new(alarm, "below", od_json_number(a->below));
    json_array_append_new(list, alarm);
  }
  return list;
}

// --- The description ----------------------------------------------------------------------------------------------

static void set_list(json_t *object, const char *key, json_t *list) {
  if (json_array_size(list) > 0)
    json_object_set_new(object, key, list);
  else
    json_decref(list);
}

void od_route_machine(od_request *r) {
  od_door *d = r->door;
  const od_shown_machine *m = &d->board->machine[r->machine];
  const od_run_views *views = m->views;
  od_live_take(d, r->machine);
  const od_live_machine *live = &d->live[r->machine];
  const char *tag = od_arena_format(&r->memory, "\"%.12s-%d-%ld\"", d->boot, r->machine, live->version);
  json_t *o = json_pack("{s:o, s:o, s:I, s:s}", "name", od_json_text(m->settings->name), "title",
                        od_json_text(m->settings->e->title), "version", (json_int_t)live->version, "boot", d->boot);
  json_t *groups = views && views->circuit ? od_circuit_groups(views->circuit) : NULL;
  json_object_set_new(o, "series", series_list(d, r->machine, live->head, groups));
  json_t *pictures = json_object();
  if (views && views->scene) {
    json_object_set_new(o, "scene", od_scene_json(views->scene));
    json_object_set_new(pictures, "machine", json_sprintf("/api/v1/machines/%s/machine.svg", m->settings->name));
  }
  if (views && views->circuit) {
    const od_circuit_extent size = od_circuit_size(views->circuit);
    json_object_set_new(o, "circuit", od_circuit_json(views->circuit));
    json_object_set_new(pictures, "circuit", json_sprintf("/api/v1/machines/%s/circuit.svg", m->settings->name));
    if (size.width > 1150) json_object_set_new(pictures, "tall", od_json_number(size.height / size.width));
  }
  if (groups) set_list(o, "groups", groups);
  json_object_set_new(o, "pictures", pictures);
  if (live->pressure > 0) json_object_set_new(o, "pressure", json_pack("{s:i, s:f}", "low", 0, "high", live->pressure));
  set_list(o, "charts", chart_list(d, r->machine, live->head));
  set_list(o, "curves", curve_list(m->settings->e));
  set_list(o, "alarms", alarm_list(m->settings));
  json_object_set_new(o, "window", json_real(d->page->verdict));
  char *text = tag ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(o);
  if (text)
    od_answer_text(r, "application/json", text, strlen(text), tag);
  else
    od_answer_error(r, 500, "out of memory");
  od_json_text_free(text);
}

void od_route_machine_picture(od_request *r) {
  const od_run_views *views = r->door->board->machine[r->machine].views;
  od_text_stream t;
  if (!views || !views->scene) {
    od_answer_error(r, 404, "the machine has nothing to draw");
  } else if (od_text_begin(&t)) {
    od_scene_svg_with(views->scene, NULL, &(od_scene_picture){.is_alone = true}, t.to);
    od_answer_stream(r, "image/svg+xml", &t);
  }
}

void od_route_circuit_picture(od_request *r) {
  const od_run_views *views = r->door->board->machine[r->machine].views;
  od_text_stream t;
  if (!views || !views->circuit) {
    od_answer_error(r, 404, "the machine has no circuit");
  } else if (od_text_begin(&t)) {
    od_circuit_svg_file(views->circuit, t.to);
    od_answer_stream(r, "image/svg+xml", &t);
  }
}

void od_route_verdict(od_request *r) {
  od_door *d = r->door;
  long number;
  char *verdict = od_board_verdict(d->board, r->machine, &number);
  od_text_stream t;
  if (od_text_begin(&t)) {
    fputs("{\"machine\":", t.to);
    od_put_text(t.to, d->twin->machine[r->machine].name);
    fprintf(t.to, ",\"verdict\":%s}", verdict ? verdict : "null");
    od_answer_stream(r, "application/json", &t);
  }
  od_free(verdict);
}
