// Machines are loaded one after another, because the library of units is not thread-safe. The computation runs in several
// threads.
#include "jobs/sweep_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "memory/scoped.h"
#include "jobs/setting_values.h"
#include "report/picture_figures.h"
#include "sweep/sweep_picture.h"

// --- The option --------------------------------------------------------------------------------------------------------

// Splits "0.5 kg" into a number and its unit. The text ends at `end`. Returns false if the text does not begin with a finite
// number.
static bool read_end(const char *text, const char *end, double *value, char *unit, size_t size) {
  text += strspn(text, " ");
  size_t best = od_number_prefix(text, (size_t)(end - text), value);
  const char *rest = text + best;
  while (rest < end && *rest == ' ') rest++;
  while (end > rest && end[-1] == ' ') end--;
  snprintf(unit, size, "%.*s", (int)(end - rest), rest);
  return best > 0 && isfinite(*value);
}

// Reads "A:B", up to `end`, into two numbers and their common unit. A unit of one number also applies to the other number if the other
// number has no unit. first_unit: unit of A. Returns false if the text has another form.
static bool read_ends(const char *text, const char *end, double *a, double *b, od_sweep_axis *axis,
                      char first_unit[80]) {
  const char *colon = strchr(text, ':');
  if (!colon || colon >= end || !read_end(text, colon, a, first_unit, 80) ||
      !read_end(colon + 1, end, b, axis->unit, sizeof axis->unit))
    return false;
  if (!axis->unit[0]) snprintf(axis->unit, sizeof axis->unit, "%s", first_unit);
  return true;
}

// Reads the path before "=". Returns the text after "=", or NULL if there is no "=" or the path is too long.
static const char *read_path(const char *text, od_sweep_axis *axis) {
  const char *equals = strchr(text, '=');
  if (!equals || equals - text >= (long)sizeof axis->path) return NULL;
  snprintf(axis->path, sizeof axis->path, "%.*s", (int)(equals - text), text);
  return equals + 1;
}

// Reads "PATH=A:B:N". Returns false after reporting an error.
static bool read_axis(od_job *job, const char *text, od_sweep_axis *a) {
  char unit[80] = "";
  const char *value = read_path(text, a), *last = value ? strrchr(value, ':') : NULL;
  if (!last || !read_ends(value, last, &a->from, &a->to, a, unit)) {
    od_job_error(job, "--sweep: found '%s', expected PATH=A:B:N, such as boom.mass='100 kg:300 kg:5'", text);
    return false;
  }
  if (unit[0] && strcmp(unit, a->unit) != 0) {
    od_job_error(job, "--sweep: '%s' has a number in %s and a number in %s; give both numbers in one unit", text, unit,
                 a->unit);
    return false;
  }
  return od_setting_count(job, "sweep", last + 1, &a->count);
}

// Reads "PATH=normal:MEAN:DEVIATION" or "PATH=uniform:FROM:TO". Returns false after reporting an error.
static bool read_draw(od_job *job, const char *text, od_sweep_axis *a) {
  char unit[80] = "";
  const char *kind = read_path(text, a), *colon = kind ? strchr(kind, ':') : NULL;
  if (kind) kind += strspn(kind, " ");
  a->count = 1;
  if (!colon || !od_draw_kind_find(kind, (size_t)(colon - kind), &a->draw.kind) ||
      !read_ends(colon + 1, colon + strlen(colon), &a->draw.a, &a->draw.b, a, unit))
    od_job_error(job,
                 "--draw: found '%s', expected PATH=normal:MEAN:DEVIATION or PATH=uniform:FROM:TO, such as "
                 "ram.bore='normal:50 mm:0.1 mm'",
                 text);
  else if (unit[0] && strcmp(unit, a->unit) != 0)
    od_job_error(job, "--draw: '%s' has a number in %s and a number in %s; give both numbers in one unit", text, unit,
                 a->unit);
  else if (a->draw.kind == OD_DRAW_NORMAL && a->draw.b < 0)
    od_job_error(job, "--draw: '%s' has a negative standard deviation; expected zero or more", text);
  else if (a->draw.kind != OD_DRAW_NORMAL && a->draw.a > a->draw.b)
    od_job_error(job, "--draw: the range of '%s' ends below its beginning; expected uniform:%g%s%s:%g%s%s", text,
                 a->draw.b, a->unit[0] ? " " : "", a->unit, a->draw.a, a->unit[0] ? " " : "", a->unit);
  else
    return true;
  return false;
}

static int read_draws(od_job *job, const od_sweep_arguments *arguments, od_sweep_plan *plan) {
  int draws = 100;
  bool ok = true;
  if (arguments->paths.count > 0) {
    od_job_error(job, "--draw and --sweep exclude each other; give only one of these options");
    return OD_JOB_BAD_INPUT;
  }
  if (arguments->drawn.count > OD_SWEEP_AXES) {
    od_job_error(job, "--draw: found %d numbers, expected at most %d", arguments->drawn.count, OD_SWEEP_AXES);
    return OD_JOB_BAD_INPUT;
  }
  plan->seed = 1;
  for (int i = 0; i < arguments->drawn.count; i++) ok = read_draw(job, arguments->drawn.text[i], &plan->axis[i]) && ok;
  ok = od_setting_count(job, "draws", arguments->draws, &draws) && ok;
  if (!ok || !od_setting_whole(job, "seed", arguments->seed, &plan->seed)) return OD_JOB_BAD_INPUT;
  if (draws > OD_SWEEP_POINTS) {
    od_job_error(job, "--draws: found %d, expected at most %d", draws, OD_SWEEP_POINTS);
    return OD_JOB_BAD_INPUT;
  }
  plan->is_drawn = true;
  plan->axes = arguments->drawn.count;
  plan->points = draws;
  return OD_GO_ON;
}

static int read_axes(od_job *job, const od_sweep_arguments *arguments, od_sweep_plan *plan) {
  if (arguments->drawn.count > 0) return read_draws(job, arguments, plan);
  bool ok = true;
  double points = 1;
  if (arguments->paths.count > OD_SWEEP_AXES) {
    od_job_error(job, "--sweep: found %d numbers, expected at most %d", arguments->paths.count, OD_SWEEP_AXES);
    return OD_JOB_BAD_INPUT;
  }
  for (int i = 0; i < arguments->paths.count; i++) {
    ok = read_axis(job, arguments->paths.text[i], &plan->axis[i]) && ok;
    points *= plan->axis[i].count;
  }
  if (ok && points > OD_SWEEP_POINTS) {
    od_job_error(job, "--sweep: found %.0f points, expected at most %d", points, OD_SWEEP_POINTS);
    ok = false;
  }
  plan->axes = arguments->paths.count;
  plan->points = (int)points;
  return ok ? OD_GO_ON : OD_JOB_BAD_INPUT;
}

// --- Points ------------------------------------------------------------------------------------------------------------

// Loads the machine of a point. Returns OD_GO_ON, or the outcome after reporting errors.
static int load_point(od_job *job, const od_sweep_job *c, od_sweep *s, int point) {
  OD_SCRATCH(scratch);
  const od_words *given = &c->load->set;
  const od_sweep_plan *plan = &s->plan;
  char text[OD_SWEEP_AXES][OD_SWEEP_SETTING];
  const char **set = OD_TAKE(&scratch, const char *, given->count + plan->axes);
  od_machine *machine = NULL;
  OD_TRY(od_job_has_memory(job, &scratch));
  for (int i = 0; i < given->count; i++) set[i] = given->text[i];
  for (int i = 0; i < plan->axes; i++) {
    od_sweep_setting(plan, point, i, text[i]);
    set[given->count + i] = text[i];
  }
  od_load_arguments load = *c->load;
  load.set = (od_words){set, given->count + plan->axes};
  int code = od_job_load_machine(job, c->path, &load, &machine);
  if (code == OD_GO_ON)
    od_sweep_take(s, point, machine);
  else if (plan->is_drawn)
    od_job_error(
        job,
        "draw %d of %d caused the messages above: %s%s; draw from a range of possible values, such as uniform:FROM:TO",
        point + 1, plan->points, text[0], plan->axes > 1 ? ", ..." : "");
  return code;
}

static int load_points(od_job *job, const od_sweep_job *c, od_sweep *s) {
  for (int i = 0; i < s->plan.points && !s->workers.is_stopped; i++) {
    int code = load_point(job, c, s, i);
    if (!od_job_progress(job, 0)) s->workers.is_stopped = true;
    OD_TRY(code);
    if (i > 0) continue;
    OD_TRY(c->prepare(job, c->user, s->machine[0]));
    OD_TRY(od_job_prepare_files(job));
  }
  return OD_GO_ON;
}

// --- Results -----------------------------------------------------------------------------------------------------------

static int write_results(od_job *job, const od_sweep_job *c, od_sweep *s) {
  int counts[OD_SWEEP_AXES];
  bool has_results = od_sweep_has_results(s);
  OD_OWNED(od_table_free) od_table *table = has_results ? od_sweep_table(s) : NULL;
  for (int i = 0; i < s->plan.axes; i++) counts[i] = s->plan.axis[i].count;
  if (has_results && (!table || (c->finish && !c->finish(table, counts, s->plan.axes))))
    return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  OD_SCOPED(od_result_free) od_result result = od_sweep_result(s, table);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = s->title};
  if (table) od_picture_add_sweep(&picture, &s->plan, table, c->drawn);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.table = &table, .result = &result, .picture = &picture};
  if (has_results) return od_job_finish(job, &contents, NULL);
  if (job->listener.result) job->listener.result(job->listener.user, &result, false);
  od_job_error(job, "no point of the sweep has a result; change the range of the sweep");
  return OD_JOB_FAILED;
}

// Loads and computes all points, and writes the results. Returns the outcome.
static int compute(od_job *job, const od_sweep_job *c, od_sweep *s, int threads) {
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  int code = load_points(job, c, s);
  if (code == OD_GO_ON && !s->workers.is_stopped) od_sweep_run(s, threads, c->measure, c->user, od_job_progress, job);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (code != OD_GO_ON) return code;
  if (!s->workers.is_stopped) return write_results(job, c, s);
  bool has_results = od_sweep_has_results(s);
  od_job_say(job, OD_MESSAGE_STOP, "interrupted after %d of %d points%s", od_sweep_computed(s), s->plan.points,
             has_results ? "; the other points have no values" : "");
  code = has_results ? write_results(job, c, s) : OD_JOB_DONE;
  return code == OD_JOB_DONE ? OD_JOB_INTERRUPTED : code;
}

int od_sweep_job_run(od_job *job, const od_sweep_job *c) {
  od_sweep_plan plan = {0};
  int threads = 0;
  OD_TRY(read_axes(job, c->arguments, &plan));
  if (!od_setting_threads(job, c->arguments->threads, &threads)) return OD_JOB_BAD_INPUT;
  od_sweep s;
  int code =
      od_sweep_begin(&s, &plan) ? compute(job, c, &s, threads) : od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  od_sweep_free(&s);
  return code;
}
