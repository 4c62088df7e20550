#include "jobs/response_source.h"

#include <math.h>
#include <string.h>

#include "jobs/job.h"
#include "io/number.h"
#include "io/wording.h"
#include "machine/machine_image.h"
#include "memory/owned.h"
#include "jobs/setting_values.h"
#include "jobs/select_outputs.h"

enum { MOST_SINES = 100000 };

// --- A machine ----------------------------------------------------------------------------------------------------

// Rejects the options of logs. Returns false after reporting an error.
static bool has_no_log_options(od_job *job, const od_response_arguments *a) {
  const struct {
    const char *name, *text;
  } options[] = {{"sine", a->sine},     {"periods", a->periods}, {"settle", a->settle},
                 {"period", a->period}, {"length", a->length},   {"window", a->window}};
  const od_log_settings log = od_log_settings_of(&a->log);
  const char *setting = a->log.data.count > 0 ? "--data" : od_log_settings_given(&log);
  if (setting) {
    od_job_error(job, "%s applies only to logs; remove this option, because the response of a machine is exact",
                 setting);
    return false;
  }
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (!options[i].text) continue;
    od_job_error(job, "--%s applies only to logs; remove this option, because the response of a machine is exact",
                 options[i].name);
    return false;
  }
  return true;
}

// Removes the input from the selected outputs, because the response of the input to itself is 1. If no other output is
// selected, the input is kept.
static void leave_out_input(const od_machine *machine, int input, od_selection *selection) {
  int kept = 0;
  for (int i = 0; i < selection->count; i++)
    if (strcmp(od_machine_output_name(machine, selection->index[i]), od_machine_input_name(machine, input)) != 0)
      selection->index[kept++] = selection->index[i];
  if (kept > 0) selection->count = kept;
}

static int open_machine(od_job *job, const char *path, const od_response_arguments *a, od_response *r) {
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_SCOPED(od_selection_free) od_selection selection = {0};
  od_error err = {0};
  double low = 0.1, high = 100;
  int points = 200;
  if (!has_no_log_options(job, a) || !od_setting_quantity(job, "low", a->low, "Hz", &low) ||
      !od_setting_quantity(job, "high", a->high, "Hz", &high) || !od_setting_count(job, "points", a->points, &points))
    return OD_JOB_BAD_INPUT;
  if (!(low < high)) {
    od_job_error(job, "--low and --high: found %g Hz to %g Hz; expected a highest frequency above the lowest", low,
                 high);
    return OD_JOB_BAD_INPUT;
  }
  OD_TRY(od_job_load_machine(job, path, &a->load, &machine));
  int inputs = od_machine_input_count(machine);
  if (!a->input && inputs != 1) {
    od_job_error(job, "%s has %s; choose an input with --input", path, od_count(inputs, "input").text);
    return OD_JOB_BAD_INPUT;
  }
  int input = a->input ? od_job_find_input(job, machine, "--input: ", a->input) : 0;
  if (input < 0) return OD_JOB_BAD_INPUT;
  OD_TRY(od_select_outputs(job, machine, &a->outputs, &selection));
  if (a->outputs.count == 0) leave_out_input(machine, input, &selection);
  od_status status =
      od_response_of_machine(machine, input, selection.index, selection.count, low, high, points, r, &err);
  if (status == OD_OK) return OD_GO_ON;
  od_job_error(job, "%s: %s", path, err.text);
  return od_outcome_of(status);
}

// --- A log --------------------------------------------------------------------------------------------------------

int od_response_path(od_job *job, const od_words *files, const od_response_arguments *a, const char **path) {
  *path = files->count > 0 ? files->text[0] : a->log.data.count > 0 ? a->log.data.text[0] : NULL;
  if (!*path)
    od_job_error(job, "no file is given; give a log or a machine file, or a log with --data");
  else if (files->count > 0 && a->log.data.count > 0)
    od_job_error(job, "found the file %s and --data %s; give the log once", *path, a->log.data.text[0]);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

int od_log_open_columns(od_job *job, const char *path, const od_response_arguments *a, int most_inputs,
                        od_log_columns *out) {
  od_log_wish wish = {.input = a->input,
                      .outputs = a->outputs.text,
                      .output_count = a->outputs.count,
                      .most_inputs = most_inputs,
                      .keeps_missing = a->sine != NULL};
  od_log_settings settings = od_log_settings_of(&a->log);
  if (settings.data.count == 0) settings.data = (od_log_texts){&path, 1};
  od_messages *messages = od_messages_new();
  *out = (od_log_columns){0};
  od_status status = messages ? od_log_columns_open(&settings, &wish, out, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

// Reads a stepped sine: "1:100:1". Returns false after reporting an error.
static bool read_sines(od_job *job, const char *text, double *from, double *to, double *step) {
  double *const value[3] = {from, to, step};
  const char *at = text;
  for (int i = 0; i < 3; i++) {
    size_t length = strcspn(at, ":");
    if (!od_number_parse(at, length, false, value[i]) || !(*value[i] > 0) || !isfinite(*value[i])) break;
    at += length;
    if (i == 2 && !*at && *from <= *to && (*to - *from) / *step < MOST_SINES) return true;
    if (*at++ != ':') break;
  }
  od_job_error(
      job,
      "--sine: found '%s', expected FROM:TO:STEP in Hz with FROM up to TO and at most 100000 frequencies, such as 1:100:1",
      text);
  return false;
}

static bool read_window(od_job *job, const char *text, od_window *window) {
  for (int i = 0; text && od_window_names[i]; i++)
    if (!strcmp(text, od_window_names[i])) {
      *window = (od_window)i;
      return true;
    }
  if (text) od_job_error(job, "--window: found '%s', expected hann, hamming, blackman or none", text);
  return !text;
}

static bool read_settle(od_job *job, const od_response_arguments *a, od_estimate_options *o) {
  unsigned long long periods = 1;
  if (!a->settle) return true;
  if (!a->sine) {
    bool ok = od_setting_whole(job, "settle", a->settle, &periods);
    o->settle = (double)periods;
    return ok;
  }
  if (od_number_parse(a->settle, strlen(a->settle), false, &o->settle) && o->settle >= 0 && o->settle < o->periods)
    return true;
  od_job_error(job, "--settle: found '%s', expected a number of periods from 0 to less than %g", a->settle, o->periods);
  return false;
}

static bool read_estimate(od_job *job, const od_response_arguments *a, od_estimate_options *o) {
  *o = (od_estimate_options){.periods = 3, .settle = 1, .start = NAN, .high = INFINITY};
  bool ok = od_setting_quantity(job, "low", a->low, "Hz", &o->low) &&
            od_setting_quantity(job, "high", a->high, "Hz", &o->high);
  if (a->sine)
    return ok && read_sines(job, a->sine, &o->sine_from, &o->sine_to, &o->sine_step) &&
           od_setting_quantity(job, "periods", a->periods, "1", &o->periods) && read_settle(job, a, o) &&
           od_setting_any_quantity(job, "start", a->log.start, "s", &o->start);
  return ok && od_setting_count(job, "length", a->length, &o->length) && read_window(job, a->window, &o->window) &&
         od_setting_quantity(job, "period", a->period, "s", &o->period) && read_settle(job, a, o);
}

static int open_log(od_job *job, const char *path, const od_response_arguments *a, od_response *out) {
  OD_SCOPED(od_log_columns_free) od_log_columns c = {0};
  od_estimate_options o;
  od_error err = {0};
  if (a->load.variant || a->load.set.count > 0 || a->load.spatial || a->points) {
    od_job_error(
        job,
        "--variant, --set, --spatial and --points apply only to machine files, but %s is a log; remove these options",
        path);
    return OD_JOB_BAD_INPUT;
  }
  OD_TRY(od_log_open_columns(job, path, a, 1, &c));
  if (!read_estimate(job, a, &o)) return OD_JOB_BAD_INPUT;
  od_status status = od_response_of_log(&c, &o, out, &err);
  if (status == OD_OK) return OD_GO_ON;
  od_job_error(job, "%s: %s", path, err.text);
  return od_outcome_of(status);
}

bool od_response_is_machine(const char *path) {
  return od_name_ends_in(path, "yaml") || od_name_ends_in(path, "yml") || od_machine_is_image(path);
}

int od_response_open(od_job *job, const char *path, const od_response_arguments *a, od_response *out) {
  *out = (od_response){0};
  return od_response_is_machine(path) ? open_machine(job, path, a, out) : open_log(job, path, a, out);
}
