#include "jobs/inverse_motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "document/suggest.h"
#include "inverse/motion_log.h"
#include "io/wording.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "jobs/setting_values.h"
#include "plant/inverse.h"

enum { MOST_ROWS = 10000000, MOST_LOOSE = 100 };
static const double default_step = 1e-3;

void od_motion_plan_free(od_motion_plan *p) {
  for (int i = 0; i < p->count; i++) od_trajectory_free(&p->motion[i]);
  od_arena_free(&p->arena);
  *p = (od_motion_plan){0};
}

// --- Quantities ---------------------------------------------------------------------------------------------------

static bool is_moved(const od_motion_plan *p, int output) {
  for (int i = 0; i < p->count; i++)
    if (p->moved[i] == output) return true;
  return false;
}

// Reports that the number of quantities differs from the number of degrees of freedom, and lists some quantities that
// can be prescribed.
static void complain_about_count(od_job *job, const od_machine *machine, const od_motion_plan *p) {
  const od_model *m = od_machine_model(machine);
  char some[300] = "";
  int shown = 0;
  // Coordinates and lengths come before points, because there are many points.
  for (int points = 0; points < 2; points++)
    for (int i = 0; i < m->outputs && shown < 4; i++) {
      const od_output *o = &m->output[i];
      if (!od_inverse_can_move(o) || is_moved(p, i) || (o->kind == OD_OUT_POINT) != points) continue;
      size_t used = strlen(some);
      snprintf(some + used, sizeof some - used, "%s%.60s", shown++ ? ", " : "", od_model_text(m, o->name));
    }
  od_job_error(
      job,
      "%s %s prescribed or free, but the machine has %s. Both numbers must be equal; give --move, --passive or --data%s%s",
      od_count(p->count, "quantity").text, od_form(p->count, "is", "are"),
      od_count(m->freedom, "degree of freedom").text, *some ? ", for example for " : "", some);
}

// Returns the index of the output with this name if the output can be prescribed, else -1 after reporting an error.
static int find_quantity(od_job *job, const od_machine *machine, const char *name) {
  const od_model *m = od_machine_model(machine);
  int output = od_machine_output_find(machine, name);
  if (output >= 0 && od_inverse_can_move(&m->output[output])) return output;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < m->outputs; i++)
    if (od_inverse_can_move(&m->output[i])) od_nearest_try(&nearest, od_model_text(m, m->output[i].name));
  od_job_error(job, "--move: '%s' is not %s%s", name,
               output >= 0 ? "a position; joint coordinates, lengths, points and angles of bodies can be prescribed"
                           : "an output of the machine",
               od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all outputs").text);
  return -1;
}

// --- Inputs and constants -----------------------------------------------------------------------------------------

// Adds a quantity from "boom.angle=wanted" or "boom.angle=30 deg". Returns false after reporting an error.
static bool from_text(od_job *job, const od_machine *machine, const char *text, od_motion_plan *p) {
  const char *equals = strchr(text, '=');
  char name[300];
  snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  int output = find_quantity(job, machine, name);
  if (output < 0) return false;
  if (is_moved(p, output)) {
    od_job_error(job, "--move: '%s' is prescribed twice; prescribe each quantity once", name);
    return false;
  }
  const char *unit = od_machine_output_unit(machine, output), *value = equals + 1;
  od_trajectory *to = &p->motion[p->count];
  for (int i = 0; i < od_machine_input_count(machine); i++) {
    if (strcmp(od_machine_input_name(machine, i), value) != 0) continue;
    if (strcmp(od_machine_input_unit(machine, i), unit) != 0) {
      od_job_error(job, "--move: %s is in %s, but the input '%s' is in %s; choose an input with the same unit", name,
                   unit, value, od_machine_input_unit(machine, i));
      return false;
    }
    od_status status = od_trajectory_of_input(machine, i, p->begin, p->end, to);
    if (status != OD_OK) od_job_error(job, "--move: %s: %s", name, od_status_text(status));
    p->moved[p->count++] = output;
    return status == OD_OK;
  }
  if (!strchr("0123456789.+-", *value) || !*value) {
    od_nearest nearest = od_nearest_to(value);
    for (int i = 0; i < od_machine_input_count(machine); i++)
      od_nearest_try(&nearest, od_machine_input_name(machine, i));
    od_job_error(job, "--move: %s: '%s' is neither an input nor a number%s", name, value,
                 od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all inputs").text);
    return false;
  }
  double constant;
  if (!od_setting_any_quantity(job, "move", value, unit, &constant)) return false;
  if (!isfinite(constant)) {
    od_job_error(job, "--move: %s: '%s' is not finite; expected a finite value", name, value);
    return false;
  }
  od_status status = od_trajectory_of_constant(constant, p->begin, p->end, to);
  if (status != OD_OK) od_job_error(job, "--move: %s: %s", name, od_status_text(status));
  p->moved[p->count++] = output;
  return status == OD_OK;
}

// --- Logs ---------------------------------------------------------------------------------------------------------

// Reads the frequency of --smooth, which must be below half the sampling rate of the log. Returns false after reporting
// an error.
static bool read_smoothing(od_job *job, const od_motion_arguments *a, const od_motion_log *log, double *low_pass) {
  if (!a->smooth) return true;
  if (a->log.data.count == 0) {
    od_job_error(job, "--smooth requires --data; leave out --smooth or give a log");
    return false;
  }
  if (!od_setting_quantity(job, "smooth", a->smooth, "Hz", low_pass)) return false;
  double most = od_motion_log_nyquist(log);
  if (*low_pass < most) return true;
  od_job_error(job, "--smooth: found %s, expected less than half the sampling rate of the log, %.6g Hz", a->smooth,
               most);
  return false;
}

// Counts the quantities that --move names without a value. These quantities follow the log, and each must have a
// column. Returns false after reporting errors.
static bool find_named(od_job *job, const od_machine *machine, const od_motion_arguments *a, const od_motion_log *d,
                       int *named) {
  bool ok = true;
  *named = 0;
  for (int i = 0; i < a->moves.count; i++) {
    const char *name = a->moves.text[i];
    if (strchr(name, '=')) continue;
    (*named)++;
    bool there = false;
    for (int k = 0; k < d->columns; k++) there = there || !strcmp(od_machine_output_name(machine, d->output[k]), name);
    if (there) continue;
    if (a->log.data.count > 0)
      od_job_error(job, "--move: %s has no column '%s'; give --map %s=COLUMN, or write QUANTITY=INPUT",
                   a->log.data.text[0], name, name);
    else
      od_job_error(job, "--move: '%s' has no motion; write QUANTITY=INPUT or QUANTITY=VALUE, or give --data", name);
    ok = false;
  }
  return ok;
}

static bool is_named(const od_motion_arguments *a, const char *name) {
  for (int i = 0; i < a->moves.count; i++)
    if (strcmp(a->moves.text[i], name) == 0) return true;
  return false;
}

// Adds columns of the log: the named columns, or, if no column is named, all columns that no --move replaces. Returns
// false after reporting an error.
static bool from_log(od_job *job, const od_machine *machine, const od_motion_arguments *a, const od_motion_log *d,
                     double low_pass, int named, od_motion_plan *p) {
  for (int i = 0; i < d->columns; i++) {
    if (is_moved(p, d->output[i])) continue;
    if (named && !is_named(a, od_machine_output_name(machine, d->output[i]))) continue;
    od_status status = od_motion_log_trajectory(d, i, low_pass, &p->motion[p->count]);
    p->moved[p->count++] = d->output[i];
    if (status == OD_OK) continue;
    od_job_error(job, "%s", od_status_text(status));
    return false;
  }
  return true;
}

// --- Freely moving coordinates ------------------------------------------------------------------------------------

static bool add_loose(od_job *job, const od_machine *machine, const char *name, od_motion_plan *p) {
  const od_model *m = od_machine_model(machine);
  int output = od_machine_output_find(machine, name);
  if (output >= 0 && m->output[output].kind == OD_OUT_COORDINATE && !is_moved(p, output)) {
    p->moved[p->count++] = output;
    p->loose++;
    return true;
  }
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_COORDINATE) od_nearest_try(&nearest, od_model_text(m, m->output[i].name));
  if (output >= 0 && is_moved(p, output))
    od_job_error(job, "--passive: '%s' is already prescribed or free; name each coordinate once", name);
  else
    od_job_error(job, "--passive: '%s' is not a coordinate of a joint%s", name,
                 od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all outputs").text);
  return false;
}

static bool read_loose(od_job *job, const od_machine *machine, const od_motion_arguments *a, od_motion_plan *p) {
  bool ok = true;
  for (int i = 0; i < a->loose.count; i++) {
    char *rest = NULL, *list = od_arena_text(&p->arena, a->loose.text[i]);
    for (char *name = strtok_r(list ? list : (char[]){""}, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
      if (p->loose == MOST_LOOSE) {
        od_job_error(job, "--passive: '%s' is coordinate %d; expected at most %d coordinates", name, p->loose + 1,
                     MOST_LOOSE);
        return false;
      }
      ok = add_loose(job, machine, name, p) && ok;
    }
  }
  return ok;
}

// --- The plan -----------------------------------------------------------------------------------------------------

// Chooses the times from the options, else from the log, else from the file's run section. Returns OD_GO_ON, or the
// outcome after reporting an error.
static int choose_times(od_job *job, const od_machine *machine, const od_motion_arguments *a, const od_motion_log *d,
                        od_motion_plan *p) {
  const od_run_defaults *run = od_machine_run(machine);
  const double duration = d->rows ? d->t[d->rows - 1] - d->t[0] : run->time;  // s
  double length = duration;
  p->begin = d->rows ? d->t[0] : 0;
  p->step = d->rows         ? length / (double)(d->rows - 1)
            : run->step > 0 ? run->step
            : run->rows > 0 ? run->rows
                            : default_step;
  if (!od_setting_quantity(job, "time", a->time, "s", &length) ||
      !od_setting_quantity(job, "step", a->step, "s", &p->step))
    return OD_JOB_BAD_INPUT;
  p->end = p->begin + length;
  if (!(length > 0))
    od_job_error(job, "%s has no run time; give --time", od_machine_file(machine));
  else if (d->rows && length > duration * (1 + 1e-12))
    od_job_error(job, "--time: found %s, but the log has a duration of %.6g s; give a shorter time", a->time, duration);
  else if (length / p->step > MOST_ROWS)
    od_job_error(job, "found %.3g rows, expected at most %d million; give a longer --step", length / p->step,
                 MOST_ROWS / 1000000);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

int od_motion_plan_make(od_job *job, const od_machine *machine, const od_motion_arguments *a, od_motion_plan *p) {
  OD_SCOPED(od_motion_log_free) od_motion_log d = {0};
  double low_pass = 0;
  int named = 0;
  *p = (od_motion_plan){0};
  const od_log_settings settings = od_log_settings_of(&a->log);
  const char *setting = od_log_settings_given(&settings);
  if (setting && a->log.data.count == 0) {
    od_job_error(job, "%s requires a log; give --data", setting);
    return OD_JOB_BAD_INPUT;
  }
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_motion_log_read(machine, &settings, &d, messages) : OD_NO_MEMORY;
  OD_TRY(od_job_loaded(job, messages, status));
  if (!read_smoothing(job, a, &d, &low_pass)) return OD_JOB_BAD_INPUT;
  OD_TRY(choose_times(job, machine, a, &d, p));
  p->times = d.times;
  int most = a->moves.count + d.columns + MOST_LOOSE;
  p->moved = OD_TAKE(&p->arena, int, most);
  p->motion = OD_TAKE(&p->arena, od_trajectory, most);
  OD_TRY(od_job_has_memory(job, &p->arena));
  bool ok = find_named(job, machine, a, &d, &named);
  for (int i = 0; i < a->moves.count; i++)
    if (strchr(a->moves.text[i], '=')) ok = from_text(job, machine, a->moves.text[i], p) && ok;
  if (ok && a->log.data.count > 0) ok = from_log(job, machine, a, &d, low_pass, named, p);
  ok = read_loose(job, machine, a, p) && ok;
  if (!ok) return OD_JOB_BAD_INPUT;
  OD_TRY(od_job_has_memory(job, &p->arena));
  if (p->count == od_machine_model(machine)->freedom) return OD_GO_ON;
  complain_about_count(job, machine, p);
  return OD_JOB_BAD_INPUT;
}
