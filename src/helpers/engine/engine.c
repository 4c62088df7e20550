// The engine: simulates a stored machine (simulate/stored_run.h) in a page, with new values of its numbers. The engine is compiled
// to WebAssembly, and the page calls the exported functions. A run gives the same results as `oleodyn simulate` with `--set`: the
// loader, the steps and the verdict are the same.
//
// Texts are UTF-8 and end with a zero byte. Addresses are valid until the next call of a function that returns a status.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "findings/findings.h"
#include "io/display.h"
#include "machine/machine.h"
#include "machine/start_kicks.h"
#include "memory/owned.h"
#include "oleodyn/version.h"
#include "simulate/run.h"
#include "simulate/stored_run.h"

#define EXPORTED(name) __attribute__((export_name(#name))) engine_##name

// Called during a run with the completed fraction (0 to 1). The run stops if the function returns zero.
__attribute__((import_module("page"), import_name("progress"))) int page_progress(double done);

static struct {
  od_stored_run stored;
  od_machine *machine;
  od_messages *messages;
  od_run_report report;
  od_table *table;
  od_table *watched;  // the time and the watched outputs
  od_findings *findings;
  int *output;
  od_error error;
} engine;

// Returns memory for the bytes of a stored machine, for open(), or for a list of values, for load(). The memory belongs to the caller
// until release().
void *EXPORTED(take)(size_t size);
void *engine_take(size_t size) {
  return od_malloc(size);
}
void EXPORTED(release)(void *memory);
void engine_release(void *memory) {
  od_free(memory);
}

static void forget_run(void) {
  od_table_free(engine.table);
  engine.table = NULL;
  od_table_free(engine.watched);
  engine.watched = NULL;
  od_findings_free(engine.findings);
  engine.findings = NULL;
  od_run_report_free(&engine.report);
}

static void forget_machine(void) {
  forget_run();
  od_machine_free(engine.machine);
  od_messages_free(engine.messages);
  od_free(engine.output);
  engine.machine = NULL;
  engine.messages = NULL;
  engine.output = NULL;
}

// Reads a stored machine. The bytes must remain valid until the next open(). Returns a status; 0: the machine was read.
int EXPORTED(open)(const char *bytes, size_t size);
int engine_open(const char *bytes, size_t size) {
  forget_machine();
  od_stored_run_free(&engine.stored);
  engine.error = (od_error){0};
  return (int)od_stored_run_read(&engine.stored, bytes, size, &engine.error);
}

// Splits a text at its line ends into `list`, at most `most` lines. Returns the number of lines.
static int split(char *lines, const char **list, int most) {
  int count = 0;
  for (char *at = lines; *at && count < most;) {
    list[count++] = at;
    at += strcspn(at, "\n");
    if (*at) *at++ = '\0';
  }
  return count;
}

// Stores the first error of the loader as the message.
static int fail_to_load(od_status status) {
  for (int i = 0; i < od_messages_count(engine.messages); i++) {
    const od_message *m = od_messages_get(engine.messages, i);
    if (m->is_warning) continue;
    od_fail(&engine.error, status, "%s", m->text);
    return (int)status;
  }
  od_fail(&engine.error, status, "%s", od_status_text(status));
  return (int)status;
}

// Finds the outputs of the run and the watched outputs in the new model. Returns a status.
static int find_outputs(void) {
  const od_stored_run *s = &engine.stored;
  engine.output = od_calloc((size_t)s->outputs + (size_t)s->watched + 1, sizeof *engine.output);
  if (!engine.output) return (int)od_fail(&engine.error, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < s->outputs + s->watched; i++) {
    engine.output[i] = od_machine_output_find(engine.machine, s->output[i]);
    if (engine.output[i] < 0)
      return (int)od_fail(&engine.error, OD_BAD_INPUT, "the machine has no output '%.200s' with these values",
                          s->output[i]);
  }
  return 0;
}

// Loads the machine with values of numbers: at most 1000 lines "path=value", as with --set. Returns a status.
enum { MOST_VALUES = 1000 };
int EXPORTED(load)(char *lines);
int engine_load(char *lines) {
  forget_machine();
  engine.error = (od_error){0};
  const char **set = od_calloc(MOST_VALUES, sizeof *set);
  engine.messages = od_messages_new();
  if (!set || !engine.messages) {
    od_free(set);
    return (int)od_fail(&engine.error, OD_NO_MEMORY, "out of memory");
  }
  if (engine.stored.source.files.files == 0) {
    od_free(set);
    return (int)od_fail(&engine.error, OD_BAD_ARGUMENT, "no machine is open; call open() first");
  }
  const od_load_options options = {.set = set, .set_count = split(lines, set, MOST_VALUES)};
  od_status status =
      od_machine_source_load(&engine.stored.source, &options, od_machine_load, &engine.machine, engine.messages);
  od_free(set);
  return status == OD_OK ? find_outputs() : fail_to_load(status);
}

static bool goes_on(void *user, double done) {
  (void)user;
  return page_progress(done) != 0;
}

// --- Watched outputs: a table with a row for each row of the run -------------------------------------------------------

typedef struct record {
  od_table *table;
  double *row;
  od_status status;
} record;

static void drop_record(void *user, void *recorded) {
  (void)user;
  record *r = recorded;
  od_table_free(r->table);
  od_free(r->row);
  od_free(r);
}

static void *begin_record(void *user) {
  (void)user;
  record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  r->table = od_table_new(1 + engine.stored.watched);
  r->row = od_calloc(1 + (size_t)engine.stored.watched, sizeof *r->row);
  if (r->table && r->row) return r;
  drop_record(NULL, r);
  return NULL;
}

static void take_row(void *recorded, double t, const double *y) {
  record *r = recorded;
  r->row[0] = t;
  memcpy(r->row + 1, y, (size_t)engine.stored.watched * sizeof *y);
  if (r->status == OD_OK) r->status = od_table_append(r->table, r->row);
}

static void deliver_record(void *user, void *recorded) {
  (void)user;
  record *r = recorded;
  if (r->status == OD_OK) engine.watched = OD_GIVE(r->table);
  drop_record(NULL, r);
}

// --- Runs ------------------------------------------------------------------------------------------------------------

// Runs the loaded machine. judged: whether the run is compared with a more accurate run, as in `oleodyn simulate`, and searched for
// findings. The result may then be the more accurate run. Returns a status. A run that fails keeps its rows.
int EXPORTED(run)(int judged);
int engine_run(int judged) {
  forget_run();
  engine.error = (od_error){0};
  if (!engine.machine) return (int)od_fail(&engine.error, OD_BAD_ARGUMENT, "no machine is loaded; call load() first");
  const od_stored_run *s = &engine.stored;
  od_run_watcher watchers[2];
  od_run_options options = s->options;
  options.outputs = engine.output;
  options.output_count = s->outputs;
  options.unjudged = !judged;
  options.progress = goes_on;
  options.watchers = watchers;
  if (s->watched > 0)
    watchers[options.watcher_count++] = (od_run_watcher){.outputs = engine.output + s->outputs,
                                                         .output_count = s->watched,
                                                         .begin = begin_record,
                                                         .row = take_row,
                                                         .deliver = deliver_record,
                                                         .drop = drop_record};
  if (judged) engine.findings = od_findings_new(engine.machine);
  if (engine.findings) watchers[options.watcher_count++] = od_findings_watcher(engine.findings);
  od_status status = od_run(engine.machine, &options, &engine.table, &engine.report, &engine.error);
  if (status == OD_OK && judged) od_start_kicks(engine.machine, &engine.report.verdict);
  if (engine.findings && od_findings_end(engine.findings, NULL) != OD_OK) status = OD_NO_MEMORY;
  if (status == OD_OK && ((judged && !engine.findings) || (s->watched > 0 && !engine.watched))) status = OD_NO_MEMORY;
  if (status != OD_OK && !engine.error.text[0]) od_fail(&engine.error, status, "%s", od_status_text(status));
  return (int)status;
}

// Return the message of the last failure, and the version of the program.
const char *EXPORTED(message)(void);
const char *engine_message(void) {
  return engine.error.text;
}
const char *EXPORTED(version)(void);
const char *engine_version(void) {
  return OD_VERSION;
}

// Return the rows of the run, row by row: the time, then the outputs, in SI units.
int EXPORTED(rows)(void);
int engine_rows(void) {
  return engine.table ? (int)engine.table->rows : 0;
}
int EXPORTED(columns)(void);
int engine_columns(void) {
  return engine.table ? engine.table->columns : 0;
}
const double *EXPORTED(values)(void);
const double *engine_values(void) {
  return engine.table ? engine.table->data : NULL;
}
const char *EXPORTED(column_name)(int column);
const char *engine_column_name(int column) {
  return column >= 0 && column < engine_columns() ? engine.table->name[column] : "";
}

// Return the rows of the watched outputs, in the same form.
int EXPORTED(watched_rows)(void);
int engine_watched_rows(void) {
  return engine.watched ? (int)engine.watched->rows : 0;
}
int EXPORTED(watched_columns)(void);
int engine_watched_columns(void) {
  return 1 + engine.stored.watched;
}
const double *EXPORTED(watched_values)(void);
const double *engine_watched_values(void) {
  return engine.watched ? engine.watched->data : NULL;
}
const char *EXPORTED(watched_name)(int column);
const char *engine_watched_name(int column) {
  return column > 0 && column <= engine.stored.watched ? engine.stored.output[engine.stored.outputs + column - 1] : "";
}

// Return the verdict of a judged run: its trust (0 sound, 1 doubtful, 2 unsound) and the remarks.
int EXPORTED(trust)(void);
int engine_trust(void) {
  return (int)engine.report.verdict.trust;
}
int EXPORTED(remarks)(void);
int engine_remarks(void) {
  return engine.report.verdict.count;
}
int EXPORTED(remark_trust)(int i);
int engine_remark_trust(int i) {
  return i >= 0 && i < engine_remarks() ? (int)engine.report.verdict.remark[i].trust : 0;
}
const char *EXPORTED(remark_lead)(int i);
const char *engine_remark_lead(int i) {
  return i >= 0 && i < engine_remarks() ? engine.report.verdict.remark[i].lead : "";
}
const char *EXPORTED(remark_text)(int i);
const char *engine_remark_text(int i) {
  return i >= 0 && i < engine_remarks() ? engine.report.verdict.remark[i].text : "";
}
// Returns the largest error of an output relative to its range; -1: unknown.
double EXPORTED(worst_error)(void);
double engine_worst_error(void) {
  const od_run_accuracy *a = &engine.report.accuracy;
  return a->error && a->worst >= 0 ? a->error[a->worst].part : -1;
}
// Returns the column with the largest error, or -1.
int EXPORTED(worst_column)(void);
int engine_worst_column(void) {
  const od_run_accuracy *a = &engine.report.accuracy;
  return a->error && a->worst >= 0 ? a->worst + 1 : -1;
}
// Return the number of evaluations of the equations, and the number of steps.
double EXPORTED(evaluations)(void);
double engine_evaluations(void) {
  return (double)engine.report.residuals;
}
double EXPORTED(steps)(void);
double engine_steps(void) {
  return (double)engine.report.steps;
}

// Returns a finding of a judged run, or an empty finding if there is none with this index. The worst finding comes first.
static const od_finding *finding_at(int i) {
  static const od_finding none = {"", OD_FINDING_GOOD, "", "", 0, 0, 0, "", ""};
  int count = 0;
  const od_finding *list = engine.findings ? od_findings_list(engine.findings, &count) : NULL;
  return i >= 0 && i < count ? &list[i] : &none;
}
int EXPORTED(findings)(void);
int engine_findings(void) {
  int count = 0;
  if (engine.findings) od_findings_list(engine.findings, &count);
  return count;
}
const char *EXPORTED(finding_severity)(int i);
const char *engine_finding_severity(int i) {
  return od_severity_text(finding_at(i)->severity);
}
const char *EXPORTED(finding_title)(int i);
const char *engine_finding_title(int i) {
  return finding_at(i)->title;
}
const char *EXPORTED(finding_text)(int i);
const char *engine_finding_text(int i) {
  return finding_at(i)->text;
}
const char *EXPORTED(finding_output)(int i);
const char *engine_finding_output(int i) {
  return finding_at(i)->output;
}
// Returns the time of a finding, or the beginning of its interval, s; NAN: the finding has no time.
double EXPORTED(finding_time)(int i);
double engine_finding_time(int i) {
  const od_finding *f = finding_at(i);
  return isnan(f->at) ? f->from : f->at;
}

// Returns the count of numbers of the loaded machine. The following functions return the properties of number i.
int EXPORTED(numbers)(void);
int engine_numbers(void) {
  return engine.machine ? od_machine_number_count(engine.machine) : 0;
}
static od_number number_at(int i) {
  static const od_number none = {.path = "", .unit = ""};
  return i >= 0 && i < engine_numbers() ? od_machine_number(engine.machine, i) : none;
}
const char *EXPORTED(number_path)(int i);
const char *engine_number_path(int i) {
  return number_at(i).path;
}
const char *EXPORTED(number_unit)(int i);
const char *engine_number_unit(int i) {
  return number_at(i).unit;
}
double EXPORTED(number_value)(int i);
double engine_number_value(int i) {
  return number_at(i).value;
}
// Return the text in the file ("": a default), and an end of a range (infinite: no limit). end: 0 and 1 are the low and the high end of
// the allowed range, 2 and 3 of the usual range.
const char *EXPORTED(number_given)(int i);
const char *engine_number_given(int i) {
  return number_at(i).given ? number_at(i).given : "";
}
double EXPORTED(number_end)(int i, int end);
double engine_number_end(int i, int end) {
  const od_number n = number_at(i);
  const double ends[] = {n.low, n.high, n.usual_low, n.usual_high};
  return ends[end & 3];
}
// Returns whether new values of the number can be simulated.
int EXPORTED(number_is_offered)(int i);
int engine_number_is_offered(int i) {
  const od_number n = number_at(i);
  return od_stored_run_offers(&n);
}
// Return the unit in which the number is shown, and the factor: shown number = SI number * factor.
const char *EXPORTED(number_shown_unit)(int i);
const char *engine_number_shown_unit(int i) {
  const od_number n = number_at(i);
  return od_display_unit(n.unit, fabs(n.value)).unit;
}
double EXPORTED(number_factor)(int i);
double engine_number_factor(int i) {
  const od_number n = number_at(i);
  return od_display_unit(n.unit, fabs(n.value)).factor;
}
