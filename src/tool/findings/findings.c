// Follows a run and creates the lists of findings.
#include "findings/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "findings/findings_work.h"

// --- Before the run ---------------------------------------------------------------------------------------------------

// Returns the index of an output in a list. Adds the output if the list does not contain the output.
static int place_of(od_arena *arena, int **list, int *count, int output) {
  if (output < 0) return -1;
  for (int i = 0; i < *count; i++)
    if ((*list)[i] == output) return i;
  int *longer = od_arena_extend(arena, *list, *count, sizeof **list);
  if (!longer) return -1;
  *list = longer;
  longer[*count] = output;
  return (*count)++;
}

int od_findings_column(od_findings *f, int output) {
  return place_of(&f->arena, &f->output, &f->outputs, output);
}

int od_findings_final_column(od_findings *f, int output) {
  return place_of(&f->arena, &f->final, &f->finals, output);
}

od_findings *od_findings_new(const od_machine *machine) {
  OD_OWNED(od_findings_free) od_findings *f = od_calloc(1, sizeof *f);
  if (!f) return NULL;
  f->machine = machine;
  f->model = od_machine_model(machine);
  return od_findings_follow(f) ? OD_GIVE(f) : NULL;
}

static void drop_record(void *findings, void *record) {
  (void)findings;
  od_findings_record *r = record;
  od_arena_free(&r->arena);
  od_free(r);
}

void od_findings_free(od_findings *f) {
  if (f->record) drop_record(f, f->record);
  od_arena_free(&f->arena);
  od_free(f);
}

int od_findings_outputs(const od_findings *f, const int **outputs) {
  *outputs = f->output;
  return f->outputs;
}

// --- During the run ---------------------------------------------------------------------------------------------------

static void *begin_record(void *findings) {
  const od_findings *f = findings;
  od_findings_record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  r->f = f;
  r->condition = OD_TAKE(&r->arena, od_condition_record, f->followed_count);
  r->mode = OD_TAKE(&r->arena, int, f->moded_count);
  r->final = OD_TAKE(&r->arena, double, f->finals);
  r->peak_power = -INFINITY;
  r->peak_at = NAN;
  if (od_arena_status(&r->arena) != OD_OK) {
    drop_record(findings, r);
    return NULL;
  }
  for (int i = 0; i < f->followed_count; i++) od_condition_begin(&r->condition[i]);
  for (int i = 0; i < f->moded_count; i++) r->mode[i] = -1;
  return r;
}

static void add_moment(od_moment_list *list, double at, int source, int value) {
  if (list->count < OD_MOST_EVENTS) list->item[list->count] = (od_moment_record){at, source, value};
  list->count++;
  list->last = at;
}

// Updates the supplied work, the returned work and the peak power. The power is the mean over a window of at least 10
// us, because the work of shorter steps is lost in round-off.
static void watch_power(od_findings_record *r, double t, const double *y) {
  static const double shortest = 1e-5;
  double work = 0;
  for (int i = 0; i < r->f->supplies; i++) work += r->f->supply_sign[i] * y[r->f->supply[i]];
  if (!r->has_point) r->window_t = t, r->window_work = work;
  if (r->has_point && work < r->work) r->returned += r->work - work;
  r->work = work;
  double h = t - r->window_t;
  if (!(h >= shortest)) return;
  double power = (work - r->window_work) / h;
  if (power > r->peak_power) r->peak_power = power, r->peak_at = r->window_t + h / 2;
  r->window_t = t;
  r->window_work = work;
}

static void watch_modes(od_findings_record *r, double t, const double *y) {
  for (int i = 0; i < r->f->moded_count; i++) {
    const od_moded *w = &r->f->moded[i];
    int mode = (int)lround(fmin(fmax(y[w->column], -1), 1e6));
    if (mode == r->mode[i]) continue;
    if (w->is_phase || r->mode[i] >= 0) add_moment(w->is_phase ? &r->states : &r->modes, t, i, mode);
    r->mode[i] = mode;
  }
}

static void watch_step(void *record, double t, const double *y) {
  od_findings_record *r = record;
  const od_findings *f = r->f;
  for (int i = 0; i < f->followed_count; i++) {
    const od_followed *w = &f->followed[i];
    double at;
    if (od_condition_add(&w->condition, &r->condition[i], t, y, &at) && w->event)
      add_moment(&r->begins[w->type], at, i, 1);
  }
  watch_modes(r, t, y);
  watch_power(r, t, y);
  if (!r->has_point) r->start = t;
  r->has_point = true;
  r->end = t;
}

static void end_run(void *record, double t, const double *y) {
  od_findings_record *r = record;
  (void)t;
  if (r->f->finals > 0) memcpy(r->final, y, (size_t)r->f->finals * sizeof *y);
}

static void take_record(void *findings, void *record) {
  od_findings *f = findings;
  if (f->record) drop_record(f, f->record);
  f->record = record;
}

od_run_watcher od_findings_watcher(od_findings *f) {
  return (od_run_watcher){.user = f,
                          .outputs = f->output,
                          .output_count = f->outputs,
                          .final_outputs = f->final,
                          .final_count = f->finals,
                          .begin = begin_record,
                          .step = watch_step,
                          .end = end_run,
                          .deliver = take_record,
                          .drop = drop_record};
}

// --- After the run ----------------------------------------------------------------------------------------------------

double od_findings_time(const od_findings *f) {
  return f->record->end - f->record->start;
}

void od_findings_add(od_findings *f, const char *code, od_severity severity, const char *owner, const char *output,
                     od_span span, double at, const char *title, const char *format, ...) {
  char text[1200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  od_finding *list = od_arena_extend(&f->arena, f->finding, f->findings, sizeof *list);
  if (!list) return;
  f->finding = list;
  f->finding[f->findings++] = (od_finding){.code = code,
                                           .severity = severity,
                                           .owner = owner,
                                           .output = output,
                                           .from = span.from,
                                           .to = span.to,
                                           .at = at,
                                           .title = od_arena_text(&f->arena, title),
                                           .text = od_arena_text(&f->arena, text)};
}

static int place_of_code(const char *code) {
  const od_finding_code *c;
  for (int i = 0; (c = od_finding_code_at(i)); i++)
    if (strcmp(c->code, code) == 0) return i;
  return -1;
}

// Returns whether a finding is listed before another one: by severity, then by code. Findings with the same code stay in
// their order: the longest first, the finding that names further parts last.
static bool is_before(const od_finding *x, const od_finding *y) {
  if (x->severity != y->severity) return x->severity > y->severity;
  return place_of_code(x->code) < place_of_code(y->code);
}

static void sort_findings(od_findings *f) {
  for (int i = 1; i < f->findings; i++) {
    od_finding moved = f->finding[i];
    int at = i;
    for (; at > 0 && is_before(&moved, &f->finding[at - 1]); at--) f->finding[at] = f->finding[at - 1];
    f->finding[at] = moved;
  }
}

od_status od_findings_end(od_findings *f, const od_judge *judge) {
  if (!f->record || !f->record->has_point) return OD_OK;
  for (int i = 0; i < f->followed_count; i++) od_condition_end(&f->record->condition[i]);
  od_find_requirements(f, judge);
  od_find_in_circuit(f);
  od_find_in_mechanism(f);
  od_find_in_control(f);
  od_find_energy(f);
  sort_findings(f);
  od_findings_make_phases(f);
  od_findings_make_events(f);
  return od_arena_status(&f->arena);
}

const od_finding *od_findings_list(const od_findings *f, int *count) {
  *count = f->findings;
  return f->finding;
}

const od_phase *od_findings_phases(const od_findings *f, int *count) {
  *count = f->phases;
  return f->phase;
}

const od_happening *od_findings_events(const od_findings *f, int *count) {
  *count = f->events;
  return f->event;
}

const char *od_severity_text(od_severity severity) {
  static const char *const texts[] = {"good", "note", "warning", "serious"};
  return texts[severity];
}
