// The job friction: shows a single friction law as a table or a plot. Views are the steady curve, a loop under a sine, the response to
// a step, the sensitivity to each parameter, the largest difference between two laws after steps, and the force for a logged speed.
#include <string.h>

#include "jobs/job.h"
#include "document/suggest.h"
#include "memory/scoped.h"
#include "jobs/friction_law.h"
#include "jobs/log_options.h"
#include "jobs/setting_values.h"
#include "report/picture_figures.h"

typedef struct arguments {
  const char *show, *speed, *frequency, *from, *to, *lag, *time, *step, *column;
  od_log_arguments log;
  od_words set, vary, factor;
} arguments;

static int run_and_write(od_job *job, const od_friction_request *w) {
  OD_SCOPED(od_friction_view_free) od_friction_view view = {0};
  od_error err = {0};
  od_status status = od_friction_view_make(w, &view, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_TRY(od_job_check_inputs(job));
  OD_SCOPED(od_result_free) od_result result = od_friction_view_result(&view);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = view.title};
  od_picture_add_friction(&picture, &view);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {
      .table = &view.table, .result = &result, .write[OD_FILE_PLOT] = od_friction_view_write_plot, .user = &view};
  return od_job_finish(job, &contents, NULL);
}

// --- The command line ---------------------------------------------------------------------------------------------

static bool has_log(const arguments *a) {
  return a->log.data.count > 0;
}

// Finds the requested view. Returns false after reporting an error.
static bool find_show(od_job *job, const arguments *a, od_friction_show *show) {
  const char *name = a->show ? a->show : has_log(a) ? "log" : "steady";
  const od_log_settings log = od_log_settings_of(&a->log);
  const char *setting = od_log_settings_given(&log);
  od_nearest nearest = od_nearest_to(name);
  int found = -1;
  for (int i = 0; i < OD_SHOWS; i++) {
    od_nearest_try(&nearest, od_friction_shows[i]);
    if (strcmp(od_friction_shows[i], name) == 0) found = i;
  }
  if (found < 0)
    od_job_error(job, "--show: there is no view '%s'%s", name, od_nearest_suggestion(&nearest, NULL).text);
  else if (a->factor.count > 0 && !has_log(a))
    od_job_error(job, "--factor requires --data, because COLUMN is a column of the log");
  else if ((found == OD_SHOW_LOG) != has_log(a))
    od_job_error(job, has_log(a) ? "--data requires --show log" : "--show log requires --data FILE");
  else if (setting && !has_log(a))
    od_job_error(job, "%s requires a log; give --data", setting);
  else {
    *show = (od_friction_show)found;
    return true;
  }
  return false;
}

// Checks the number of time steps. The limit is lower for a contour, because a contour has a run for each of its
// points. Returns false after reporting an error.
static bool has_bounded_rows(od_job *job, const od_friction_request *w) {
  bool contour = w->show == OD_SHOW_CONTOUR;
  double most = contour ? 1e5 : 1e7;
  if (w->time / w->step <= most) return true;
  od_job_error(job, "--time %g s with --step %g s gives %.3g rows; expected at most %.0e%s. Give a longer --step",
               w->time, w->step, w->time / w->step, most, contour ? " with --show contour" : "");
  return false;
}

static bool read_request(od_job *job, const arguments *a, const char *law, od_friction_request *w) {
  bool ok = od_setting_quantity(job, "speed", a->speed, "m/s", &w->speed);
  ok = od_setting_quantity(job, "frequency", a->frequency, "Hz", &w->frequency) && ok;
  ok = od_setting_any_quantity(job, "speed-before", a->from, "m/s", &w->from) && ok;
  ok = od_setting_any_quantity(job, "speed-after", a->to, "m/s", &w->to) && ok;
  ok = od_setting_any_quantity(job, "lag", a->lag, "s", &w->lag) && ok;
  ok = od_setting_quantity(job, "time", a->time, "s", &w->time) && ok;
  ok = od_setting_quantity(job, "step", a->step, "s", &w->step) && ok;
  w->laws = od_job_read_laws(job, law, &a->set, &a->vary, w->law);
  return ok && w->laws > 0;
}

static const char details[] =
    "LAW is a friction law of machine files ('friction'); 'oleodyn components LAW' lists its parameters. --set gives their\n"
    "values, with or without a unit: --set Fs='1.5 kN'. KEY_negative is the value for negative speeds.\n\n"
    "--show selects the view:\n"
    "  steady       force of steady motion over the speed (default)\n"
    "  sensitivity  change of the steady force with each parameter: parameter times derivative\n"
    "  hysteresis   loop under a sinusoidal speed, for rising and falling speed\n"
    "  step         force and film over time for a step of the speed\n"
    "  contour      largest difference of the force with and without --vary, for steps between speeds up to --speed\n"
    "  log          force and film over time for the speed of a log\n"
    "--factor COLUMN=X:Y,X:Y,... converts values X of the column to factors Y, linearly in between.\n"
    "Each --vary adds a curve.\n\n"
    "Examples\n"
    "  oleodyn friction reduced --set Fs='2 kN' --set Fc=200 --set vs=0.01 --set n=1.2 --set viscous=300 \\\n"
    "    --set sigma_0=1e7 --set tau_hn=0.3 --show hysteresis --frequency 0.5 --plot loop.svg\n"
    "  oleodyn friction tustin --set Fs=2100 --set Fc=191 --set vs=0.0105 --set viscous=349 --csv curve.csv\n";

int od_kind_friction(od_job *job) {
  arguments a = {0};
  od_friction_request w = {
      .speed = 0.25, .frequency = 0.5, .from = 0.05, .to = 0.001, .lag = 1.0 / 200, .time = 2, .step = 1e-3};
  const od_option options[] = {
      {"set", OD_OPTION_LIST, "KEY=VALUE", "value of a parameter of the law (repeatable)", &a.set},
      {"vary", OD_OPTION_LIST, "KEY=VALUE", "add a curve with this value of a parameter (repeatable)", &a.vary},
      {"show", OD_OPTION_TEXT, "WHAT", "view: steady (default), sensitivity, hysteresis, step, contour or log", &a.show,
       "steady sensitivity hysteresis step contour log"},
      {"speed", OD_OPTION_TEXT, "V", "largest speed of curves, loops and contours; default: 0.25 m/s", &a.speed},
      {"frequency", OD_OPTION_TEXT, "F", "frequency of the sinusoidal speed; default: 0.5 Hz", &a.frequency},
      {"speed-before", OD_OPTION_TEXT, "V", "speed before the step; default: 0.05 m/s", &a.from},
      {"speed-after", OD_OPTION_TEXT, "V", "speed after the step; default: 0.001 m/s", &a.to},
      {"lag", OD_OPTION_TEXT, "T", "time constant of the step; default: 5 ms", &a.lag},
      {"time", OD_OPTION_TEXT, "T", "duration of the step response; default: 2 s", &a.time},
      {"step", OD_OPTION_TEXT, "H", "time between rows; default: 1 ms", &a.step},
      {"column", OD_OPTION_TEXT, "NAME",
       "column of the speed in the log; default: the signal v of --map, else the first column that is\nnot the time",
       &a.column},
      {"factor", OD_OPTION_LIST, "COLUMN", "column that multiplies the factor or load of the law (repeatable)",
       &a.factor},
      OD_LOG_OPTIONS(&a.log),
  };
  const od_usage usage = {"LAW", details, OD_OPTIONS(options),
                          .shared = {.table = "the table",
                                     .file[OD_FILE_JSON] = "a summary",
                                     .file[OD_FILE_PLOT] = "the table",
                                     .file[OD_FILE_REPORT] = "the curves",
                                     .si = true,
                                     .quiet = true}};
  od_words laws = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &laws));
  w.log = od_log_settings_of(&a.log), w.column = a.column;
  w.factors = a.factor.text, w.factor_count = a.factor.count;
  bool ok = find_show(job, &a, &w.show);
  if (!read_request(job, &a, laws.text[0], &w) || !ok || !has_bounded_rows(job, &w)) return OD_JOB_BAD_INPUT;
  OD_TRY(od_job_check_files(job));
  return run_and_write(job, &w);
}
