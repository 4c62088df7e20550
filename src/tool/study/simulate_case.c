// A run of a machine as a case of a study: what the study wants to know of outputs in windows of time, such as their extremes.
//
//   the study's values     as the file calls them, in the units it gives
//   doubtful               runs that are further off than they should be because of their steps, or that ended early
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/quantities.h"
#include "document/suggest.h"
#include "simulate/run.h"
#include "study/cases.h"

typedef struct simulate_case {
  od_machine *machine;
  const od_value_wish *wish;
  int wishes;
  int *output;     // of each wish
  double *factor;  // from SI to the unit that is shown
} simulate_case;

static const double none = NAN;
static const char *const takes[] = {"min", "max", "peak", "mean", "rms", "final", NULL};
enum { TAKE_MIN, TAKE_MAX, TAKE_PEAK, TAKE_MEAN, TAKE_RMS, TAKE_FINAL };

// --- Reading ------------------------------------------------------------------------------------------------------

static void read_wish(od_loader *ld, int key, od_value_wish *w) {
  static const char *const keys[] = {"output", "take", "from", "to", "unit", NULL};
  static const od_field window[] = {{"from", "s", OD_NOT_NEGATIVE, 0}, {"to", "s", OD_POSITIVE, 1e300}};
  const char *name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "values.%s", name),
                                       od_format(ld, "the value '%s'", od_excerpt(ld, name)), keys);
  *w = (od_value_wish){.name = name, .key = key};
  if (section.map < 0) return;
  w->output = od_read_text(ld, od_section_need(ld, &section, "output"), "output", "the name of an output");
  int take = od_section_need(ld, &section, "take"), unit = od_section_get(ld, &section, "unit");
  if (take >= 0) w->take = od_read_choice(ld, take, "take", takes);
  if (unit >= 0) w->unit = od_read_text(ld, unit, "unit", "a unit");
  int first = od_read_fields(ld, &section, window, 2, OD_IN_LOADER);
  w->from = od_number_value(ld, first), w->to = od_number_value(ld, first + 1);
  if (!(w->from < w->to)) od_complain(ld, key, "the value '%s' is taken from %g s to %g s", name, w->from, w->to);
}

od_value_wish *od_value_wishes_read(od_loader *ld, int node, int *count) {
  int entries = node >= 0 ? ld->tree.node[node].count : 0;
  od_value_wish *list = calloc((size_t)entries + 1, sizeof *list);
  *count = 0;
  if (!list) ld->no_memory = true;
  for (int key = list ? od_first(ld, node, "values") : -1; key >= 0; key = od_next(ld, key))
    read_wish(ld, key, &list[(*count)++]);
  return list;
}

// The output of a wish and the factor to its unit; false with a message.
static bool find_output(od_loader *ld, const od_machine *m, const od_value_wish *w, int *output, double *factor) {
  *factor = 1, *output = w->output ? od_machine_output_find(m, w->output) : -1;
  if (!w->output) return false;
  if (*output < 0) {
    od_nearest nearest = od_nearest_to(w->output);
    for (int i = 0; i < od_machine_output_count(m); i++) od_nearest_try(&nearest, od_machine_output_name(m, i));
    od_complain(ld, w->key, "%s has no output '%s'%s%s%s", od_machine_file(m), od_excerpt(ld, w->output),
                nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
    return false;
  }
  double si = 1;
  if (w->unit && od_units_convert(ld->units, w->unit, od_machine_output_unit(m, *output), 1, &si) != OD_UNIT_FITS) {
    od_complain(ld, w->key, "'%s' is in %s, not in '%s'", w->output, od_machine_output_unit(m, *output), w->unit);
    return false;
  }
  *factor = 1 / si;
  return true;
}

// --- Runs ---------------------------------------------------------------------------------------------------------

static od_status prepare(od_case *c, od_error *err) {
  const simulate_case *w = c->what;
  bool ok = true;
  for (int i = 0; ok && i < w->wishes; i++) {
    const char *unit = w->wish[i].unit ? w->wish[i].unit : od_machine_output_unit(w->machine, w->output[i]);
    // One run: its value, without an interval.
    ok = od_case_add(c, (od_metric){w->wish[i].name, unit, OD_GATHER_COUNT, none, 0, none, none});
  }
  ok = ok && od_case_add(c, (od_metric){"doubtful", "runs", OD_GATHER_COUNT, none, 0, none, none});
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// What is wanted of one column in the window; NAN where no row is in it.
static double take(const od_value_wish *w, const od_table *t, int column) {
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0, last = NAN;
  long rows = 0;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    double slack = 1e-9 * (1 + fabs(row[0]));
    if (row[0] < w->from - slack || row[0] > w->to + slack) continue;
    last = row[column];
    low = fmin(low, last), high = fmax(high, last);
    sum += last, squares += last * last;
    rows++;
  }
  if (rows == 0) return NAN;
  switch (w->take) {
    case TAKE_MIN: return low;
    case TAKE_MAX: return high;
    case TAKE_PEAK: return fmax(high, -low);
    case TAKE_MEAN: return sum / (double)rows;
    case TAKE_RMS: return sqrt(squares / (double)rows);
    default: return last;
  }
}

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  (void)seed;  // a run has no noise
  const simulate_case *w = c->what;
  const od_run_defaults *file = od_machine_run(w->machine);
  od_run_options options = {.time = file->time,
                            .step = file->adaptive ? file->rows : file->step,
                            .adaptive = file->adaptive,
                            .tolerance = file->tolerance,
                            .integrator = file->integrator,
                            .outputs = w->output,
                            .output_count = w->wishes,
                            .no_trial = true,
                            .progress = c->progress,
                            .user = c->user};
  od_table *table = NULL;
  od_run_report report = {0};
  od_status status = od_run(w->machine, &options, &table, &report, err);
  for (int i = 0; i < w->wishes; i++)
    value[i] = status == OD_OK ? take(&w->wish[i], table, i + 1) * w->factor[i] : none;
  value[w->wishes] = status != OD_OK || report.verdict.trust != OD_SOUND;
  od_run_report_free(&report);
  od_table_free(table);
  return status;
}

static void release(od_case *c) {
  simulate_case *w = c->what;
  if (!w) return;
  od_machine_free(w->machine);
  free(w->output);
  free(w->factor);
  free(w);
}

static const od_case_ops simulate_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_simulate_case_load(od_case *c, od_loader *ld, const char *path, const od_load_options *options,
                                const od_value_wish *wish, int wishes, od_messages *messages) {
  simulate_case *w = calloc(1, sizeof *w);
  if (!w) return OD_NO_MEMORY;
  *w = (simulate_case){.wish = wish,
                       .wishes = wishes,
                       .output = calloc((size_t)wishes + 1, sizeof *w->output),
                       .factor = calloc((size_t)wishes + 1, sizeof *w->factor)};
  c->what = w;
  c->ops = &simulate_case_ops;
  if (!w->output || !w->factor) return OD_NO_MEMORY;
  od_status status = od_machine_load(path, options, &w->machine, messages);
  if (status != OD_OK) return status;
  for (int i = 0; i < wishes; i++)
    if (!find_output(ld, w->machine, &wish[i], &w->output[i], &w->factor[i])) status = OD_BAD_INPUT;
  return status;
}
