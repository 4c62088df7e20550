// oleodyn friction: a friction law alone, as a table or a plot: its steady curve, a loop under a sine, the response to a step, its
// sensitivity to every parameter, or its force for a logged speed.
#define _DEFAULT_SOURCE  // M_PI
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/friction_law.h"
#include "options/driven_log.h"
#include "output/friction_steps.h"
#include "options/option_values.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "io/contour_plot.h"
#include "io/display.h"
#include "io/json.h"
#include "io/plot.h"

typedef struct arguments {
  const char *show, *speed, *frequency, *from, *to, *lag, *time, *step, *log, *column;
  od_words set, vary, factor;
  od_files files;
  bool si, quiet;
} arguments;

// What is asked for, in SI.
typedef struct wish {
  const arguments *a;
  double speed, frequency, from, to, lag, time, step;
  od_cli_law law[OD_MOST_VARIED + 1];  // as it is, then with one number changed each
  int laws;
} wish;

// A table and which of its columns share a chart.
typedef struct answer {
  od_table *table;
  int panel[OD_MOST_VARIED + OD_MOST_ELEMENT_FIELDS + 8];
  char title[160], note[160];  // the note may be empty
  od_friction_steps *steps;    // NULL: the plot has charts of the table
} answer;

static bool label(od_table *t, int column, const char *name, const char *unit) {
  return od_table_label(t, column, name, unit) == OD_OK;
}

// ---- the tables

enum { CURVE_POINTS = 501, LOOP_POINTS = 2000, LOOPS = 3 };

static const char *curve_name(const wish *w, int law) {
  return w->law[law].label;
}

// Speeds from -v to v, and the force of every variant there.
static od_status show_steady(const wish *w, answer *out) {
  double row[OD_MOST_VARIED + 2];
  out->table = od_table_new(1 + w->laws);
  if (!out->table || !label(out->table, 0, "speed", "m/s")) return OD_NO_MEMORY;
  for (int k = 0; k < w->laws; k++) {
    if (!label(out->table, 1 + k, curve_name(w, k), "N")) return OD_NO_MEMORY;
    out->panel[1 + k] = 1;
  }
  for (int i = 0; i < CURVE_POINTS; i++) {
    row[0] = w->speed * (2.0 * i / (CURVE_POINTS - 1) - 1);
    for (int k = 0; k < w->laws; k++) row[1 + k] = od_cli_law_steady(&w->law[k], row[0]);
    if (od_table_append(out->table, row) != OD_OK) return OD_NO_MEMORY;
  }
  snprintf(out->title, sizeof out->title, "steady friction");
  return OD_OK;
}

// By how much the steady force changes when a parameter changes by its own size.
static od_status show_sensitivity(const wish *w, answer *out) {
  const od_cli_law *law = &w->law[0];
  const od_element_class *c = law->law->element;
  int count = od_friction_law_numbers(law->law, law->two_sided), columns = 1;
  double row[OD_MOST_ELEMENT_FIELDS + 1];
  out->table = od_table_new(1 + count);
  if (!out->table || !label(out->table, 0, "speed", "m/s")) return OD_NO_MEMORY;
  for (int k = 0; k < count; k++, columns++) {
    if (!label(out->table, columns, c->fields[k].key, "N")) return OD_NO_MEMORY;
    out->panel[columns] = columns;
  }
  for (int i = 0; i < CURVE_POINTS; i++) {
    row[0] = w->speed * (2.0 * i / (CURVE_POINTS - 1) - 1);
    for (int k = 0; k < count; k++) row[1 + k] = law->q[k] * od_cli_law_steady_slope(law, row[0], k);
    if (od_table_append(out->table, row) != OD_OK) return OD_NO_MEMORY;
  }
  snprintf(out->title, sizeof out->title, "sensitivity of steady friction: parameter times derivative");
  return OD_OK;
}

// The last of some periods of a sine, over the speed: while it rises and while it falls.
static od_status show_hysteresis(const wish *w, answer *out) {
  int count = LOOPS * LOOP_POINTS + 1, columns = 2 + 2 * w->laws, half = LOOP_POINTS / 2;
  double *t = malloc((size_t)count * sizeof *t), *v = malloc((size_t)count * sizeof *v),
         *force[OD_MOST_VARIED + 1] = {0};
  double row[2 * OD_MOST_VARIED + 4];
  od_status status = t && v ? OD_OK : OD_NO_MEMORY;
  // From the least speed on, so that half a period has rising speeds alone.
  for (int i = 0; status == OD_OK && i < count; i++) {
    int phase = i % LOOP_POINTS, mirrored = phase <= half ? phase : LOOP_POINTS - phase;
    t[i] = i / (w->frequency * LOOP_POINTS);
    v[i] = mirrored * 2 == half ? 0 : -w->speed * cos(M_PI * mirrored / half);
  }
  out->table = od_table_new(columns);
  if (!out->table || !label(out->table, 0, "speed", "m/s") || !label(out->table, 1, "steady", "N"))
    status = OD_NO_MEMORY;
  out->panel[1] = 1;
  for (int k = 0; status == OD_OK && k < w->laws; k++) {
    char name[2][120];
    snprintf(name[0], sizeof name[0], "%s rising", curve_name(w, k));
    snprintf(name[1], sizeof name[1], "%s falling", curve_name(w, k));
    out->panel[2 + 2 * k] = out->panel[3 + 2 * k] = 1;
    force[k] = malloc((size_t)count * sizeof *force[k]);
    status = force[k] && label(out->table, 2 + 2 * k, name[0], "N") && label(out->table, 3 + 2 * k, name[1], "N")
                 ? od_cli_law_drive(&w->law[k], count, t, v, NULL, force[k], NULL)
                 : OD_NO_MEMORY;
  }
  int begin = (LOOPS - 1) * LOOP_POINTS;
  for (int i = 0; status == OD_OK && i <= half; i++) {
    row[0] = v[begin + i], row[1] = od_cli_law_steady(&w->law[0], row[0]);
    for (int k = 0; k < w->laws; k++)
      row[2 + 2 * k] = force[k][begin + i], row[3 + 2 * k] = force[k][begin + LOOP_POINTS - i];
    status = od_table_append(out->table, row);
  }
  for (int k = 0; k <= OD_MOST_VARIED; k++) free(force[k]);
  free(t), free(v);
  snprintf(out->title, sizeof out->title, "friction under a sine of %g m/s at %g Hz", w->speed, w->frequency);
  return status;
}

// Force and film over time for a speed over time, and a column of what their factor is multiplied by if that is not NULL.
static od_status show_over_time(const wish *w, int count, const double *t, const double *v, const double *signal,
                                answer *out) {
  const od_friction_law *law = w->law[0].law;
  int film = law->has_film ? w->laws : 0, columns = 2 + w->laws + film + (signal != NULL);
  double *data[2 * (OD_MOST_VARIED + 1)] = {0}, row[2 * OD_MOST_VARIED + 5];
  od_status status = OD_OK;
  out->table = od_table_new(columns);
  if (!out->table || !label(out->table, 0, "time", "s") || !label(out->table, 1, "speed", "m/s")) status = OD_NO_MEMORY;
  out->panel[1] = 1;
  if (status == OD_OK && signal && !label(out->table, columns - 1, "factor", "1")) status = OD_NO_MEMORY;
  if (signal) out->panel[columns - 1] = 4;
  for (int k = 0; status == OD_OK && k < w->laws; k++) {
    char name[120];
    snprintf(name, sizeof name, "%s film", curve_name(w, k));
    double *force = data[2 * k] = malloc((size_t)count * sizeof *force);
    double *of_film = data[2 * k + 1] = malloc((size_t)count * sizeof *force);
    bool fine = force && of_film && label(out->table, 2 + k, curve_name(w, k), "N");
    if (film) fine = fine && label(out->table, 2 + w->laws + k, name, "1");
    status = fine ? od_cli_law_drive(&w->law[k], count, t, v, signal, force, of_film) : OD_NO_MEMORY;
    out->panel[2 + k] = 2;
    if (film) out->panel[2 + w->laws + k] = 3;
  }
  for (int i = 0; status == OD_OK && i < count; i++) {
    row[0] = t[i], row[1] = v[i];
    for (int k = 0; k < w->laws; k++) row[2 + k] = data[2 * k][i];
    for (int k = 0; k < film; k++) row[2 + w->laws + k] = data[2 * k + 1][i];
    if (signal) row[columns - 1] = signal[i];
    status = od_table_append(out->table, row);
  }
  for (int k = 0; k < 2 * (OD_MOST_VARIED + 1); k++) free(data[k]);
  return status;
}

// A step of the speed with a lag, from steady motion.
static od_status show_step(const wish *w, answer *out) {
  double settle = 20, begin = w->time / 10;
  int count = (int)ceil(w->time / w->step) + 1, before = 2000;
  double *t = malloc((size_t)(count + before) * sizeof *t), *v = malloc((size_t)(count + before) * sizeof *v);
  od_status status = t && v ? OD_OK : OD_NO_MEMORY;
  // Motion at the first speed comes before, so that film and bristles have settled.
  for (int i = 0; status == OD_OK && i < count + before; i++) {
    t[i] = i < before ? -settle * (before - i) / before : (i - before) * w->step;
    double since = t[i] - begin;
    v[i] = since <= 0 ? w->from : w->lag > 0 ? w->to + (w->from - w->to) * exp(-since / w->lag) : w->to;
  }
  if (status == OD_OK) status = show_over_time(w, count + before, t, v, NULL, out);
  if (status == OD_OK) {
    od_table *table = out->table;
    size_t columns = (size_t)table->columns;
    memmove(table->data, table->data + (size_t)before * columns, (size_t)count * columns * sizeof *table->data);
    table->rows = count;
  }
  free(t), free(v);
  snprintf(out->title, sizeof out->title, "friction for a step of the speed from %g to %g m/s", w->from, w->to);
  return status;
}

// The largest difference over time between two variants, for steps from and to many speeds.
static od_status show_contour(const wish *w, answer *out) {
  if (w->laws != 2) {
    od_cli_error("--show contour needs one --vary KEY=VALUE: it shows how far the force is from that without it");
    return OD_BAD_INPUT;
  }
  od_friction_steps *steps = out->steps = malloc(sizeof *steps);
  out->table = od_table_new(3);
  if (!steps || !out->table || !label(out->table, 0, "from", "m/s") || !label(out->table, 1, "to", "m/s") ||
      !label(out->table, 2, "difference", "N"))
    return OD_NO_MEMORY;
  od_status status = od_friction_steps_compare(&w->law[0], &w->law[1], w->speed, w->lag, w->time, w->step, steps);
  for (int i = 0; status == OD_OK && i < OD_STEP_SPEEDS * OD_STEP_SPEEDS; i++) {
    double row[3] = {steps->speed[i % OD_STEP_SPEEDS], steps->speed[i / OD_STEP_SPEEDS], steps->difference[i]};
    status = od_table_append(out->table, row);
  }
  snprintf(out->title, sizeof out->title, "difference by %s after a step of the speed", curve_name(w, 1));
  if (status == OD_OK)
    snprintf(out->note, sizeof out->note, "at most %.4g N, from %.4g to %.4g m/s",
             steps->difference[steps->to * OD_STEP_SPEEDS + steps->from], steps->speed[steps->from],
             steps->speed[steps->to]);
  return status;
}

static od_status show_log(const wish *w, answer *out) {
  od_driven_log log;
  od_status status = od_driven_log_read(w->a->log, w->a->column, &w->a->factor, w->law[0].law, &log);
  if (status == OD_OK) status = show_over_time(w, log.count, log.t, log.v, log.signal, out);
  if (status == OD_OK)
    snprintf(out->title, sizeof out->title, "friction for the speed '%s' of a log%s", log.speed,
             log.signal ? ", with a factor" : "");
  od_driven_log_free(&log);
  return status;
}

static const struct {
  const char *name;
  od_status (*show)(const wish *w, answer *out);
} shows[] = {{"steady", show_steady}, {"sensitivity", show_sensitivity}, {"hysteresis", show_hysteresis},
             {"step", show_step},     {"contour", show_contour},         {"log", show_log}};
enum { SHOWS = sizeof shows / sizeof *shows };

// ---- what comes of it

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const answer *r = ((const void *const *)user)[0];
  const wish *w = ((const void *const *)user)[1];
  char title[200];
  snprintf(title, sizeof title, "%s: %s", w->law[0].law->name, r->title);
  if (r->steps) {
    const od_contour contour = {OD_STEP_SPEEDS,
                                OD_STEP_SPEEDS,
                                r->steps->speed,
                                r->steps->speed,
                                r->steps->difference,
                                "speed before the step",
                                "speed behind the step",
                                "difference",
                                "m/s",
                                "m/s",
                                "N"};
    return od_contour_write(&contour, title, r->note, path, err);
  }
  return od_plot_write(r->table, r->panel, title, w->law[0].law->element->summary, path, err);
}

static json_t *summary_of(const wish *w, const answer *r) {
  const od_cli_law *law = &w->law[0];
  json_t *numbers = json_object(), *columns = json_array();
  for (int i = 0; i < od_friction_law_numbers(law->law, law->two_sided); i++)
    json_object_set_new(numbers, law->law->element->fields[i].key, od_json_number(law->q[i]));
  for (int i = 0; i < r->table->columns; i++) {
    od_summary s = od_table_summary(r->table, i);
    json_array_append_new(columns, json_pack("{s:o, s:o, s:o, s:o}", "name", od_json_text(r->table->name[i]), "unit",
                                             od_json_text(r->table->unit[i]), "min", od_json_number(s.min), "max",
                                             od_json_number(s.max)));
  }
  json_t *summary = json_pack("{s:s, s:s, s:o, s:o, s:I}", "law", law->law->name, "shows", r->title, "numbers", numbers,
                              "columns", columns, "rows", (json_int_t)r->table->rows);
  if (*r->note) json_object_set_new(summary, "note", od_json_text(r->note));
  return summary;
}

static void print_summary(const wish *w, const answer *r, FILE *to) {
  int width = 0;
  fprintf(to, "%s: %s\n", w->law[0].law->name, r->title);
  if (*r->note) fprintf(to, "  %s\n", r->note);
  for (int i = 0; i < r->table->columns; i++) width = od_text_widest(width, r->table->name[i]);
  for (int i = 0; i < r->table->columns; i++) {
    od_summary s = od_table_summary(r->table, i);
    od_display shown = od_display_unit(r->table->unit[i], fmax(fabs(s.min), fabs(s.max)));
    fprintf(to, "  ");
    od_print_padded(to, r->table->name[i], width);
    fprintf(to, "  %12.6g to %12.6g %s\n", s.min * shown.factor, s.max * shown.factor, shown.unit);
  }
}

static int run_and_write(const wish *w, int show) {
  answer r = {0};
  const arguments *a = w->a;
  od_status status = shows[show].show(w, &r);
  bool written = true;
  int spared = status == OD_OK ? od_files_spare(&a->files) : -1;
  if (spared >= 0) {
    od_table_free(r.table);
    free(r.steps);
    return spared;
  }
  if (status == OD_OK) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    const void *user[2] = {&r, w};
    if (notes == stdout) print_summary(w, &r, notes);
    const od_file_contents contents = {.table = r.table,
                                       .summary = a->files.path[OD_FILE_JSON] ? summary_of(w, &r) : NULL,
                                       .write[OD_FILE_PLOT] = write_plot,
                                       .user = user};
    written = od_files_write(&a->files, &contents, notes);
  } else if (status != OD_BAD_INPUT) {
    od_cli_error("%s", od_status_text(status));
  }
  od_table_free(r.table);
  free(r.steps);
  return status != OD_OK ? od_exit_code(status) : written ? OD_EXIT_OK : OD_EXIT_FAILED;
}

// ---- the command line

static int find_show(const arguments *a) {
  const char *name = a->show ? a->show : a->log ? "log" : "steady";
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < SHOWS; i++) {
    od_nearest_try(&nearest, shows[i].name);
    if (strcmp(shows[i].name, name) != 0) continue;
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

// Rows of a step in time; each point of a contour is as many.
static bool has_bounded_rows(const wish *w, int show) {
  bool contour = show >= 0 && shows[show].show == show_contour;
  double most = contour ? 1e5 : 1e7;
  if (w->time / w->step <= most) return true;
  od_cli_error("--time %g s in rows of --step %g s are %.3g rows; at most %.0e are possible%s: make --step longer",
               w->time, w->step, w->time / w->step, most, contour ? " with --show contour" : "");
  return false;
}

static bool read_wish(wish *w, const char *law) {
  const arguments *a = w->a;
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
  wish w = {
      .a = &a, .speed = 0.25, .frequency = 0.5, .from = 0.05, .to = 0.001, .lag = 1.0 / 200, .time = 2, .step = 1e-3};
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
    if (!read_wish(&w, laws.text[0]) || show < 0 || !has_bounded_rows(&w, show)) code = OD_EXIT_BAD_INPUT;
  }
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = run_and_write(&w, show);
  od_words_free(&laws);
  od_words_free(&a.set);
  od_words_free(&a.vary);
  od_words_free(&a.factor);
  return code;
}
