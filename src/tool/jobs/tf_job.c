// The job tf: fits transfer functions to a frequency response.
#include <math.h>
#include <string.h>

#include "jobs/job.h"
#include "discrete/discrete_log.h"
#include "document/suggest.h"
#include "frequency/frequency_pictures.h"
#include "frequency/transfer_result.h"
#include "io/number.h"
#include "machine/machine_image.h"
#include "memory/scoped.h"
#include "jobs/setting_values.h"
#include "jobs/response_source.h"
#include "report/picture_figures.h"

enum { HIGHEST_TRIED = 9 };  // highest order that is tried if no order is given

typedef struct arguments {
  od_response_arguments source;
  const char *order, *method, *noise_order, *delay, *hold_out;
  bool direct, relative, quiet;
} arguments;

// --- Options ------------------------------------------------------------------------------------------------------

// Reads one order ("4") or a range of orders ("2:9"). A NULL text gives a range from 1 that depends on the number of
// points. Returns false after reporting an error.
static bool read_orders(od_job *job, const char *text, int points, int *low, int *high) {
  *low = 1;
  *high = HIGHEST_TRIED;
  while (!text && *high > 1 && points / 2 < *high + 1) --*high;
  if (!text) return true;
  double first, last;
  size_t length = strcspn(text, ":");
  const char *second = text[length] ? text + length + 1 : text;
  bool ok = od_number_parse(text, length, false, &first) && od_number_parse(second, strlen(second), false, &last) &&
            first == floor(first) && last == floor(last) && first >= 1 && last >= first && last <= OD_TRANSFER_MOST;
  if (ok)
    *low = (int)first, *high = (int)last;
  else
    od_job_error(job, "--order: found '%s', expected a whole number from 1 to %d, or a range, as in 2:9", text,
                 OD_TRANSFER_MOST);
  return ok;
}

static bool read_method(od_job *job, const char *text, od_transfer_method *method) {
  *method = OD_TRANSFER_VF;
  for (int i = 0; text && od_transfer_methods[i]; i++)
    if (!strcmp(text, od_transfer_methods[i])) {
      *method = (od_transfer_method)i;
      return true;
    }
  if (text)
    od_job_error(job, "--method: found '%s', expected levy, sk, vf, arx, armax, oe, bj, moesp, n4sid or cva", text);
  return !text;
}

// --- The fit ------------------------------------------------------------------------------------------------------

static int fit_and_write(od_job *job, const arguments *a, const od_response *r, const char *path) {
  OD_SCOPED(od_fitted_transfer_free) od_fitted_transfer f = {.r = r, .path = path};
  od_error err = {0};
  if (!read_method(job, a->method, &f.method) || !read_orders(job, a->order, r->frf->points, &f.low, &f.high))
    return OD_JOB_BAD_INPUT;
  od_status status = od_fitted_transfer_find(&f, a->direct, a->relative, &err);
  if (status != OD_OK) {
    od_job_error(job, "%s: %s", path, err.text);
    return od_outcome_of(status);
  }
  OD_OWNED(od_table_free) od_table *table = od_fitted_transfer_table(&f);
  OD_SCOPED(od_result_free) od_result result = od_fitted_transfer_result(&f);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = path};
  od_picture_add_transfer(&picture, &f);
  od_result_add_picture(&result, "Charts", &picture);
  const bool in_terminal = od_job_draws_in_terminal(job);
  const od_file_contents contents = {.table = &table,
                                     .result = &result,
                                     .picture = &picture,
                                     .summary_always = true,
                                     .write[OD_FILE_PLOT] = in_terminal ? NULL : od_fitted_transfer_write_plot,
                                     .write[OD_FILE_BLOCK] = od_fitted_transfer_write_block,
                                     .user = &f};
  return od_job_finish(job, &contents, &f.verdict);
}

// Reads a fraction: "25 %" or "0.25". Returns false after reporting an error.
static bool read_part(od_job *job, const char *text, double *part) {
  double x = 0;
  if (!text) return true;
  size_t length = strlen(text), number = strcspn(text, " %");
  bool percent = length > 0 && text[length - 1] == '%';
  if (od_number_parse(text, number, false, &x) && strspn(text + number, " ") + number + percent == length)
    *part = percent ? x / 100 : x;
  if (*part > 0 && *part < 1) return true;
  od_job_error(job, "--hold-out: found '%s', expected a fraction of the log, as in '25 %%'", text);
  return false;
}

static bool read_delay(od_job *job, const char *text, int *delay) {
  double x = 0;
  if (!text) return true;
  bool ok = od_number_parse(text, strlen(text), false, &x) && x == floor(x) && x >= 0 && x <= OD_DISCRETE_MOST;
  if (ok)
    *delay = (int)x;
  else
    od_job_error(job, "--delay: found '%s', expected a whole number of samples from 0 to %d", text, OD_DISCRETE_MOST);
  return ok;
}

// Rejects options that the method does not support. Returns false after reporting an error.
static bool options_fit(od_job *job, const arguments *a) {
  int kind = od_discrete_log_kind(a->method);
  bool samples = kind >= 0, polynomials = samples && kind <= OD_DISCRETE_BJ;
  const struct {
    const char *option;
    bool given, known;
    const char *methods;
  } list[] = {
      {"noise-order", a->noise_order != NULL, kind == OD_DISCRETE_ARMAX || kind == OD_DISCRETE_BJ, "armax or bj"},
      {"delay", a->delay != NULL, polynomials, "arx, armax, oe or bj"},
      {"hold-out", a->hold_out != NULL, samples, "arx, armax, oe, bj, moesp, n4sid or cva"},
      {"relative", a->relative, !samples, "vf, levy or sk"}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].given && !list[i].known) {
      od_job_error(job, "--%s requires the method %s; found --method %s", list[i].option, list[i].methods,
                   a->method ? a->method : "vf");
      return false;
    }
  return true;
}

// Fits a discrete-time model to the log itself. Returns the outcome.
static int fit_discrete(od_job *job, const arguments *a, const char *path) {
  OD_SCOPED(od_discrete_log_free)
  od_discrete_log w = {.path = path,
                       .o = {.kind = od_discrete_log_kind(a->method), .delay = a->direct ? 0 : 1, .direct = a->direct}};
  od_error err = {0};
  if (od_response_is_machine(path)) {
    od_job_error(job, "--method %s requires a log; %s is %s", a->method, path,
                 od_machine_is_image(path) ? "an image of a machine" : "a machine file");
    return OD_JOB_BAD_INPUT;
  }
  if (!read_orders(job, a->order, 1000, &w.o.low, &w.o.high) ||
      !od_setting_count(job, "noise-order", a->noise_order, &w.o.noise_order) ||
      !read_delay(job, a->delay, &w.o.delay) || !read_part(job, a->hold_out, &w.o.hold_out))
    return OD_JOB_BAD_INPUT;
  OD_TRY(od_log_open_columns(job, path, &a->source, OD_DISCRETE_INPUTS, &w.c));
  OD_TRY(od_job_check_inputs(job));
  od_status status = od_discrete_log_fit(&w, &err);
  if (status != OD_OK) {
    od_job_error(job, "%s: %s", path, err.text);
    return od_outcome_of(status);
  }
  OD_SCOPED(od_result_free) od_result result = od_discrete_log_result(&w);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = path};
  od_picture_add_discrete(&picture, &w);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.table = &w.table,
                                     .result = &result,
                                     .summary_always = true,
                                     .write[OD_FILE_PLOT] = od_discrete_log_write_plot,
                                     .write[OD_FILE_BLOCK] = od_discrete_log_write_block,
                                     .user = &w};
  return od_job_finish(job, &contents, &w.verdict);
}

static const char details[] =
    "FILE is a log or a machine file, as for oleodyn frf; the options of frf determine the frequency response. All outputs\n"
    "share the poles. Methods: vf is relaxed vector fitting with stable poles; levy is linear least squares in scaled\n"
    "frequency; sk repeats levy with the weights of Sanathanan and Koerner. levy and sk may give unstable poles. If several\n"
    "orders are possible, the program chooses the lowest order that predicts held-out points about as well as the best order.\n"
    "--block writes a machine file with a transfer-function block for each output, in SI units.\n\n"
    "Discrete-time models are fitted to the samples of the log, for inputs that are not sweeps. arx, armax, oe (output error)\n"
    "and bj (Box-Jenkins) fit one output, with 95 % intervals. moesp, n4sid and cva fit state-space models of several outputs\n"
    "by subspace methods. --input accepts several inputs, as in u1,u2; all share the poles. A log may begin during a motion:\n"
    "the state before the first row and an offset are estimated. Every model is also fitted to the first two thirds of the\n"
    "log and tested by a simulation of the last third; the test determines the order if several orders are given. --hold-out\n"
    "sets another fraction of the log; the result is then the model that was fitted without the held-out part.\n\n"
    "The verdict is doubtful, for example, if a model explains less than 50 % of the part that was not fitted, if a model is\n"
    "unstable, or if residuals are not white. The verdict is unsound (exit code 3), for example, if the model explains no\n"
    "variation of that part. The verdict lists all reasons.\n\n"
    "Examples\n"
    "  oleodyn tf sweep.csv --input u_i --output piston.position --sine 1:100:1 --high 70 --order 2:9\n"
    "  oleodyn tf sweep.csv --input u_i --sine 1:100:1 --order 4 --block servo4.yaml --plot servo4.svg\n"
    "  oleodyn tf crane.yaml --input valve --output boom.angle --order 6 --json -\n";

int od_kind_tf(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"order", OD_OPTION_TEXT, "N|LOW:HIGH",
       "number of poles, or a range from which the number is chosen; default: 1:9", &a.order},
      {"method", OD_OPTION_TEXT, "NAME",
       "method: vf (default), levy or sk; for the samples of a log: arx, armax, oe, bj, moesp, n4sid or cva", &a.method,
       "vf levy sk arx armax oe bj moesp n4sid cva"},
      {"noise-order", OD_OPTION_TEXT, "N", "armax and bj: number of noise coefficients; default: the number of poles",
       &a.noise_order},
      {"delay", OD_OPTION_TEXT, "N",
       "arx, armax, oe and bj: number of samples from the input to the first response; default: 1; with --direct: 0",
       &a.delay},
      {"hold-out", OD_OPTION_TEXT, "PART",
       "methods for samples: fraction of the log, at its end, that is held out for the test;\ndefault: a third",
       &a.hold_out},
      {"direct", OD_OPTION_FLAG, NULL, "as many zeros as poles; default: one zero fewer", &a.direct},
      {"relative", OD_OPTION_FLAG, NULL, "minimize errors relative to the magnitude of the response", &a.relative},
      OD_RESPONSE_OPTIONS(&a.source),
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.table = "data and model at each frequency",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "data and model",
                                     .file[OD_FILE_REPORT] = "data and model, poles and zeros",
                                     .si = true,
                                     .file[OD_FILE_BLOCK] = "the transfer functions as blocks",
                                     .quiet = true}};
  od_words files = {0};
  OD_SCOPED(od_response_free) od_response r = {0};
  OD_TRY(od_job_begin(job, &usage, 0, 1, &files));
  const char *path = NULL;
  OD_TRY(od_response_path(job, &files, &a.source, &path));
  OD_TRY(od_job_check_files(job));
  if (!options_fit(job, &a)) return OD_JOB_BAD_INPUT;
  if (od_discrete_log_kind(a.method) >= 0) return fit_discrete(job, &a, path);
  OD_TRY(od_response_open(job, path, &a.source, &r));
  OD_TRY(od_job_check_inputs(job));
  return fit_and_write(job, &a, &r, path);
}
