// oleodyn friction: a friction law alone, as a table or a plot. Shows the steady curve, a loop under a sine, the response to a
// step, the sensitivity to each parameter, or the force for a logged speed.
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "options/friction_law.h"
#include "options/option_values.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "document/suggest.h"

typedef struct arguments {
  const char *show, *speed, *frequency, *from, *to, *lag, *time, *step, *log, *column;
  od_words set, vary, factor;
  od_files files;
  bool si, quiet;
} arguments;

static int run_and_write(const arguments *a, const od_friction_request *w) {
  od_friction_view view;
  od_error err = {0};
  od_status status = od_friction_view_make(w, &view, &err);
  if (status != OD_OK) od_cli_error("%s", err.text);
  int code = status == OD_OK ? od_files_spare(&a->files) : od_exit_code(status);
  if (code < 0) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    od_result result = od_friction_view_result(&view);
    od_show_result(&result, notes == stdout ? notes : NULL);
    const od_file_contents contents = {
        .table = view.table, .result = &result, .write[OD_FILE_PLOT] = od_friction_view_write_plot, .user = &view};
    code = od_files_write(&a->files, &contents, notes) ? OD_EXIT_OK : OD_EXIT_FAILED;
    od_result_free(&result);
  }
  od_friction_view_free(&view);
  return code;
}

// ---- the command line

static int find_show(const arguments *a) {
  const char *name = a->show ? a->show : a->log ? "log" : "steady";
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < OD_SHOWS; i++) {
    od_nearest_try(&nearest, od_friction_shows[i]);
    if (strcmp(od_friction_shows[i], name) != 0) continue;
    if (a->factor.count > 0 && !a->log) {
      od_cli_error("--factor is for --log: it names a column of that");
      return -1;
    }
    if ((strcmp(name, "log") == 0) == (a->log != NULL)) return i;
    od_cli_error(a->log ? "--log is for --show log" : "--show log needs --log FILE");
    return -1;
  }
  od_cli_error("--show: there is no '%s'; there are steady, sensitivity, hysteresis, step, contour and log%s", name,
               od_nearest_suggestion(&nearest).text);
  return -1;
}

// Limits the number of time steps. The limit of a contour is lower, because a contour has a run for each of its points.
static bool has_bounded_rows(const od_friction_request *w) {
  bool contour = w->show == OD_SHOW_CONTOUR;
  double most = contour ? 1e5 : 1e7;
  if (w->time / w->step <= most) return true;
  od_cli_error("--time %g s in rows of --step %g s are %.3g rows; at most %.0e are possible%s: make --step longer",
               w->time, w->step, w->time / w->step, most, contour ? " with --show contour" : "");
  return false;
}

static bool read_request(const arguments *a, const char *law, od_friction_request *w) {
  bool ok = od_option_quantity("speed", a->speed, "m/s", &w->speed);
  ok = od_option_quantity("frequency", a->frequency, "Hz", &w->frequency) && ok;
  ok = od_option_any_quantity("from", a->from, "m/s", &w->from) && ok;
  ok = od_option_any_quantity("to", a->to, "m/s", &w->to) && ok;
  ok = od_option_any_quantity("lag", a->lag, "s", &w->lag) && ok;
  ok = od_option_quantity("time", a->time, "s", &w->time) && ok;
  ok = od_option_quantity("step", a->step, "s", &w->step) && ok;
  w->laws = od_cli_laws_read(law, &a->set, &a->vary, w->law);
  return ok && w->laws > 0;
}

static const char details[] =
    "LAW is one of those that machine files have for 'friction'; 'oleodyn components LAW' shows its parameters. They are\n"
    "given by --set, with or without a unit: --set Fs='1.5 kN'. KEY_negative is the same for negative speeds.\n\n"
    "--show says what of it:\n"
    "  steady       the force of steady motion over the speed (default)\n"
    "  sensitivity  how much that changes with every parameter: parameter times derivative\n"
    "  hysteresis   the loop under a sine of the speed, while that rises and while it falls\n"
    "  step         force and film over time for a step of the speed\n"
    "  contour      by how much the force differs at most with and without --vary, for steps between speeds up to --speed\n"
    "  log          as step, for the speed that a log has\n"
    "--factor COLUMN=X:Y,X:Y,... makes factors Y of values X of the column, with straight lines in between.\n"
    "With --vary there is a curve for each further value beside that of --set.\n\n"
    "Examples\n"
    "  oleodyn friction reduced --set Fs='2 kN' --set Fc=200 --set vs=0.01 --set n=1.2 --set viscous=300 \\\n"
    "    --set sigma_0=1e7 --set tau_hn=0.3 --show hysteresis --frequency 0.5 --plot loop.svg\n"
    "  oleodyn friction tustin --set Fs=2100 --set Fc=191 --set vs=0.0105 --set viscous=349 --csv curve.csv\n";

int od_command_friction(int argc, char **argv) {
  arguments a = {0};
  od_friction_request w = {
      .speed = 0.25, .frequency = 0.5, .from = 0.05, .to = 0.001, .lag = 1.0 / 200, .time = 2, .step = 1e-3};
  const od_option options[] = {
      {"set", OD_OPTION_LIST, "KEY=VALUE", "a parameter of the law (repeatable)", &a.set},
      {"vary", OD_OPTION_LIST, "KEY=VALUE", "one more curve, with this value (repeatable)", &a.vary},
      {"show", OD_OPTION_TEXT, "WHAT", "steady, sensitivity, hysteresis, step, contour or log", &a.show},
      {"speed", OD_OPTION_TEXT, "V", "largest speed of curves, loops and contours; default: 0.25 m/s", &a.speed},
      {"frequency", OD_OPTION_TEXT, "F", "of the sine; default: 0.5 Hz", &a.frequency},
      {"from", OD_OPTION_TEXT, "V", "speed before the step; default: 0.05 m/s", &a.from},
      {"to", OD_OPTION_TEXT, "V", "speed behind the step; default: 0.001 m/s", &a.to},
      {"lag", OD_OPTION_TEXT, "T", "time constant of the step; default: 5 ms", &a.lag},
      {"time", OD_OPTION_TEXT, "T", "how long the step is shown; default: 2 s", &a.time},
      {"step", OD_OPTION_TEXT, "H", "time from row to row; default: 1 ms", &a.step},
      {"log", OD_OPTION_TEXT, "FILE", "CSV or MATLAB file with times and a speed in m/s", &a.log},
      {"column", OD_OPTION_TEXT, "NAME", "its column of the speed; default: the first that is no time", &a.column},
      {"factor", OD_OPTION_LIST, "COLUMN", "a column that the law's factor or load is multiplied by (repeatable)",
       &a.factor},
  };
  const od_usage usage = {"friction",
                          "LAW",
                          "show a friction law: steady curve, loop, step, sensitivities",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "the table",
                                     .file[OD_FILE_MAT] = "the table",
                                     .file[OD_FILE_JSON] = "a summary",
                                     .file[OD_FILE_PLOT] = "the table",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words laws = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &laws), show = -1;
  if (code < 0) {
    show = find_show(&a);
    w.show = show < 0 ? OD_SHOW_STEADY : (od_friction_show)show;
    w.log = a.log, w.column = a.column;
    w.factors = a.factor.text, w.factor_count = a.factor.count;
    if (!read_request(&a, laws.text[0], &w) || show < 0 || !has_bounded_rows(&w)) code = OD_EXIT_BAD_INPUT;
  }
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = run_and_write(&a, &w);
  od_words_free(&laws);
  od_words_free(&a.set);
  od_words_free(&a.vary);
  od_words_free(&a.factor);
  return code;
}
