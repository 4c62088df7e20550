// oleodyn compare: filters, sensors and steps of one experiment on the same data, beside the model without any correction.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "terminal/progress.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "study/compare.h"

enum { MOST_COLUMNS = 6 };  // of the file's metrics, on a terminal; JSON has all

typedef struct arguments {
  const char *seeds, *first_seed, *threads, *truth;
  od_words filters, sensors, variants, steps, set;
  od_files files;
  bool random_start, si, quiet;
} arguments;

static od_compare_list list_of(const od_words *words) {
  return (od_compare_list){words->text, words->count};
}

static int load(const char *path, const arguments *a, od_comparison **c) {
  unsigned long long seeds = 0, first = 1;
  int code = a->seeds ? od_option_whole("seeds", a->seeds, &seeds) : -1;
  if (code < 0 && a->first_seed) code = od_option_whole("first-seed", a->first_seed, &first);
  if (code >= 0) return code;
  if (a->seeds && (seeds < 1 || seeds > 1000000000)) {
    od_cli_error("--seeds: found %s, expected 1 to 1000000000", a->seeds);
    return OD_EXIT_BAD_INPUT;
  }
  const od_compare_options options = {.filters = list_of(&a->filters),
                                      .sensors = list_of(&a->sensors),
                                      .variants = list_of(&a->variants),
                                      .steps = list_of(&a->steps),
                                      .set = list_of(&a->set),
                                      .truth = a->truth,
                                      .seeds = (long)seeds,
                                      .first_seed = first,
                                      .random_start = a->random_start};
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages, messages ? od_comparison_load(path, &options, c, messages) : OD_NO_MEMORY);
}

// --- What is printed ----------------------------------------------------------------------------------------------

// The file's own metrics, which all cases share, come first.
static int shown_metrics(const od_comparison *c, const od_metric **metric) {
  const od_case *first = c->study.cases > 0 ? &c->study.item[0] : NULL;
  int count = 0;
  for (int i = 0; first && i < first->metrics && count < MOST_COLUMNS; i++) {
    if (strcmp(first->metric[i].name, OD_COMPARE_NIS) == 0) break;
    metric[count++] = &first->metric[i];
  }
  return count;
}

static void print_value(FILE *to, const od_study_row *row, double factor, int width) {
  char text[OD_NUMBER_SIZE];
  if (!row || isnan(row->value))
    snprintf(text, sizeof text, "- ");
  else
    snprintf(text, sizeof text, "%.4g%c", row->value * factor, od_study_row_outside(row) ? '*' : ' ');
  fprintf(to, " %*s", width, text);
}

static void print_texts(const od_comparison *c, const od_compared *row, const int widths[4], FILE *to) {
  const char *texts[4] = {row->filter ? row->filter : "no correction", row->sensors ? row->sensors : "-",
                          row->variant ? row->variant : "-", row->step ? row->step : "-"};
  const bool shown[4] = {true, c->by_sensors, c->by_variant, c->by_step};
  for (int k = 0; k < 4; k++) {
    if (!shown[k]) continue;
    fprintf(to, "  ");
    od_print_padded(to, texts[k], widths[k]);
  }
}

// The unit in which a metric is shown: that of its largest value.
static od_display unit_of(const od_comparison *c, const od_study_result *r, const od_metric *metric) {
  double most = 0;
  for (int i = 0; i < c->rows; i++) {
    const od_study_row *row = od_comparison_find(c, r, &c->row[i], metric->name);
    if (row && isfinite(row->value)) most = fmax(most, fabs(row->value));
  }
  return od_display_unit(metric->unit, most);
}

static void print(const od_comparison *c, const od_study_result *r, FILE *to) {
  const od_metric *metric[MOST_COLUMNS];
  od_display unit[MOST_COLUMNS];
  int count = shown_metrics(c, metric), widths[4] = {13, 7, 7, 4}, column[MOST_COLUMNS];
  for (int i = 0; i < c->rows; i++) {
    const char *texts[4] = {c->row[i].filter, c->row[i].sensors, c->row[i].variant, c->row[i].step};
    for (int k = 0; k < 4; k++)
      if (texts[k]) widths[k] = od_text_widest(widths[k], texts[k]);
  }
  od_heading(to, c->study.title);
  print_texts(c, &(od_compared){"filter", "sensors", "variant", "step"}, widths, to);
  for (int k = 0; k < count; k++) {
    char title[120];
    unit[k] = unit_of(c, r, metric[k]);
    snprintf(title, sizeof title, "%.60s%s%.30s ", metric[k]->name, *unit[k].unit ? ", " : "", unit[k].unit);
    column[k] = od_text_widest(11, title);
    fprintf(to, " %*s%s", column[k] - od_text_width(title), "", title);
  }
  fprintf(to, " %9s %8s %10s %10s\n", "NIS ", "diverged", "us/step", "real time");
  for (int i = 0; i < c->rows; i++) {
    const od_compared *row = &c->row[i];
    const od_study_row *cost = od_comparison_find(c, r, row, OD_COMPARE_COST);
    const od_study_row *diverged = od_comparison_find(c, r, row, OD_COMPARE_DIVERGED);
    print_texts(c, row, widths, to);
    if (row->problem) {
      fprintf(to, "  %s\n", row->problem);
      continue;
    }
    for (int k = 0; k < count; k++)
      print_value(to, od_comparison_find(c, r, row, metric[k]->name), unit[k].factor, column[k]);
    print_value(to, od_comparison_find(c, r, row, OD_COMPARE_NIS), 1, 9);
    fprintf(to, " %8.0f", diverged ? diverged->value : (double)NAN);
    fprintf(to, " %10.3g %9.0fx\n", cost ? cost->value : (double)NAN,
            cost ? 1e6 * row->seconds / cost->value : (double)NAN);
  }
  fprintf(to, "* outside the 99 %% interval of a right estimator\n%ld runs in %.1f s on %d thread%s\n", r->done,
          r->seconds, r->threads, r->threads == 1 ? "" : "s");
}

// --- For programs -------------------------------------------------------------------------------------------------

static json_t *metrics_json(const od_comparison *c, const od_study_result *r, const od_compared *row) {
  json_t *list = json_array();
  for (int i = 0; row->item >= 0 && i < c->study.item[row->item].metrics; i++) {
    const od_study_row *found = od_comparison_find(c, r, row, c->study.item[row->item].metric[i].name);
    json_t *item =
        json_pack("{s:o, s:o}", "metric", od_json_text(found->metric->name), "unit", od_json_text(found->metric->unit));
    json_object_set_new(item, "value", od_json_number(found->value));
    json_object_set_new(item, "low", od_json_number(found->low));
    json_object_set_new(item, "high", od_json_number(found->high));
    json_object_set_new(item, "runs", json_integer(found->runs));
    if (od_study_row_expects(found)) json_object_set_new(item, "outside", json_boolean(od_study_row_outside(found)));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *comparison_json(const od_comparison *c, const od_study_result *r) {
  json_t *rows = json_array();
  for (int i = 0; i < c->rows; i++) {
    const od_compared *row = &c->row[i];
    const od_study_row *cost = od_comparison_find(c, r, row, OD_COMPARE_COST);
    json_t *item = json_object();
    json_object_set_new(item, "filter", od_json_text(row->filter));
    json_object_set_new(item, "sensors", od_json_text(row->sensors));
    json_object_set_new(item, "variant", od_json_text(row->variant));
    json_object_set_new(item, "step", od_json_number(row->seconds));
    json_object_set_new(item, "problem", od_json_text(row->problem));
    json_object_set_new(item, "times_real_time", od_json_number(cost ? 1e6 * row->seconds / cost->value : (double)NAN));
    json_object_set_new(item, "metrics", metrics_json(c, r, row));
    json_array_append_new(rows, item);
  }
  return json_pack("{s:o, s:o, s:I, s:b, s:o}", "experiment", od_json_text(c->study.title), "file",
                   od_json_text(c->study.path), "runs", (json_int_t)r->done, "complete", r->done == r->all, "rows",
                   rows);
}

// --- The command --------------------------------------------------------------------------------------------------

typedef struct findings {
  const od_comparison *c;
  const od_study_result *r;
} findings;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *f = user;
  return od_comparison_plot(f->c, f->r, path, err);
}

static int run_and_write(const arguments *a, od_comparison *c) {
  unsigned long long threads = 0;
  int code = a->threads ? od_option_whole("threads", a->threads, &threads) : -1;
  if (code >= 0) return code;
  od_study_result *result = NULL;
  od_error err = {0};
  bool written = true;
  od_progress progress = od_progress_start(a->quiet);
  const od_study_run_options options = {
      .threads = threads > 1024 ? 1024 : (int)threads, .progress = od_progress_tick, .user = &progress};
  od_status status = od_study_run(&c->study, &options, &result, &err);
  od_progress_end(&progress);
  if (result) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    const findings f = {c, result};
    if (notes) print(c, result, notes);
    const od_file_contents contents = {.summary = a->files.path[OD_FILE_JSON] ? comparison_json(c, result) : NULL,
                                       .write[OD_FILE_PLOT] = write_plot,
                                       .user = &f};
    written = od_files_write(&a->files, &contents, notes);
  }
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: %s\n", err.text);
  else if (status != OD_OK)
    od_cli_error("%s", err.text);
  od_study_result_free(result);
  return od_exit_code(status != OD_OK ? status : written ? OD_OK : OD_IO);
}

static const char details[] =
    "Every filter runs over the same data: the true machine is simulated with the same seeds for all of them. The first row\n"
    "is the model without any correction: a filter that does no better is of no use. Columns are the metrics of the\n"
    "experiment file (the root mean square error of what is watched, where it has none), the squared innovations over what was\n"
    "expected (NIS; 1 is right), runs that diverged, and the processor time of a step.\n\n"
    "Examples\n"
    "  oleodyn compare gyro.yaml\n"
    "  oleodyn compare bench.yaml --filter ekf --filter ukf --sensors each --step '1 ms' --step '10 ms' --plot out.svg\n";

int od_command_compare(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"filter", OD_OPTION_LIST, "NAME", "compare this filter (repeatable); default: all", &a.filters},
      {"sensors", OD_OPTION_LIST, "LIST",
       "only these sensors, as in A.angle,P.pressure (repeatable); each: every one alone", &a.sensors},
      {"variant", OD_OPTION_LIST, "NAME", "a variant of the experiment (repeatable)", &a.variants},
      {"step", OD_OPTION_LIST, "H", "a step ('10 ms') instead of the file's (repeatable)", &a.steps},
      {"truth", OD_OPTION_TEXT, "NAME", "variant of the true machine, instead of the file's", &a.truth},
      {"set", OD_OPTION_LIST, "PATH=VALUE", "change a number (repeatable)", &a.set},
      {"seeds", OD_OPTION_TEXT, "N", "runs of each row; default 20", &a.seeds},
      {"first-seed", OD_OPTION_TEXT, "N", "default 1", &a.first_seed},
      {"random-start", OD_OPTION_FLAG, NULL, "begin at starts drawn around the true one", &a.random_start},
      {"threads", OD_OPTION_TEXT, "N", "default: as many as there are cores", &a.threads},
  };
  const od_usage usage = {"compare",
                          "EXPERIMENT",
                          "run filters, sensors and steps on the same data, side by side",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_JSON] = "the rows",
                                     .file[OD_FILE_PLOT] = "the metrics",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_comparison *c = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = load(files.text[0], &a, &c);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = run_and_write(&a, c);
  od_comparison_free(c);
  od_words *words[] = {&files, &a.filters, &a.sensors, &a.variants, &a.steps, &a.set};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) od_words_free(words[i]);
  return code;
}
