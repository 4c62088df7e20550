// oleodyn tf: transfer functions fitted to a frequency response.
#include <math.h>
#include <string.h>

#include "commands/command.h"
#include "options/option_values.h"
#include "terminal/print_verdict.h"
#include "options/response_source.h"
#include "options/result_files.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "discrete/discrete_log.h"
#include "document/suggest.h"
#include "frequency/transfer_result.h"
#include "io/number.h"

enum { HIGHEST_TRIED = 9 };  // if no order is given

typedef struct arguments {
  od_response_arguments source;
  const char *order, *method, *noise_order, *delay, *hold_out;
  od_files files;
  bool direct, relative, quiet;
} arguments;

// --- Options ------------------------------------------------------------------------------------------------------

// Reads one order ("4") or a range of orders ("2:9").
static bool read_orders(const char *text, int points, int *low, int *high) {
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
    od_cli_error("--order: found '%s', expected a number from 1 to %d, or two to choose between, as in 2:9", text,
                 OD_TRANSFER_MOST);
  return ok;
}

static bool read_method(const char *text, od_transfer_method *method) {
  *method = OD_TRANSFER_VF;
  for (int i = 0; text && od_transfer_methods[i]; i++)
    if (!strcmp(text, od_transfer_methods[i])) {
      *method = (od_transfer_method)i;
      return true;
    }
  if (text) od_cli_error("--method: found '%s', expected levy, sk, vf, arx, armax, oe, bj, moesp, n4sid or cva", text);
  return !text;
}

// --- The fit ------------------------------------------------------------------------------------------------------

// Shows the result and writes the files. Returns the exit code.
static int write_all(const arguments *a, const od_result *result, const od_verdict *verdict,
                     const od_file_contents *contents) {
  FILE *notes = od_files_notes(&a->files, a->quiet);
  od_show_result(result, notes);
  return od_files_write(&a->files, contents, notes) ? od_cli_verdict_exit(verdict) : OD_EXIT_FAILED;
}

static int fit_and_write(const arguments *a, const od_response *r, const char *path) {
  od_fitted_transfer f = {.r = r, .path = path};
  od_error err = {0};
  if (!read_method(a->method, &f.method) || !read_orders(a->order, r->frf->points, &f.low, &f.high))
    return OD_EXIT_BAD_INPUT;
  od_status status = od_fitted_transfer_find(&f, a->direct, a->relative, &err);
  od_table *table = status == OD_OK ? od_fitted_transfer_table(&f) : NULL;
  if (status == OD_OK && !table) status = od_fail(&err, OD_NO_MEMORY, "memory ran out");
  int code = od_exit_code(status);
  if (status == OD_OK) {
    od_result result = od_fitted_transfer_result(&f);
    const od_file_contents contents = {.table = table,
                                       .result = &result,
                                       .write[OD_FILE_PLOT] = od_fitted_transfer_write_plot,
                                       .write[OD_FILE_BLOCK] = od_fitted_transfer_write_block,
                                       .user = &f};
    code = write_all(a, &result, &f.verdict, &contents);
    od_result_free(&result);
  } else {
    od_cli_error("%s: %s", path, err.text);
  }
  od_table_free(table);
  od_fitted_transfer_free(&f);
  return code;
}

// Reads a fraction: "25 %" or "0.25".
static bool read_part(const char *text, double *part) {
  double x = 0;
  if (!text) return true;
  size_t length = strlen(text), number = strcspn(text, " %");
  bool percent = length > 0 && text[length - 1] == '%';
  if (od_number_parse(text, number, false, &x) && strspn(text + number, " ") + number + percent == length)
    *part = percent ? x / 100 : x;
  if (*part > 0 && *part < 1) return true;
  od_cli_error("--hold-out: found '%s', expected a part of the log, as in '25 %%'", text);
  return false;
}

static bool read_delay(const char *text, int *delay) {
  double x = 0;
  if (!text) return true;
  bool ok = od_number_parse(text, strlen(text), false, &x) && x == floor(x) && x >= 0 && x <= OD_DISCRETE_MOST;
  if (ok)
    *delay = (int)x;
  else
    od_cli_error("--delay: found '%s', expected a whole number of samples from 0 to %d", text, OD_DISCRETE_MOST);
  return ok;
}

// Rejects options that the method does not have.
static bool options_fit(const arguments *a) {
  int kind = od_discrete_log_kind(a->method);
  bool samples = kind >= 0, polynomials = samples && kind <= OD_DISCRETE_BJ;
  const struct {
    const char *option;
    bool given, known;
    const char *methods;
  } list[] = {
      {"noise-order", a->noise_order != NULL, kind == OD_DISCRETE_ARMAX || kind == OD_DISCRETE_BJ, "armax and bj"},
      {"delay", a->delay != NULL, polynomials, "arx, armax, oe and bj"},
      {"hold-out", a->hold_out != NULL, samples, "arx, armax, oe, bj, moesp, n4sid and cva"},
      {"relative", a->relative, !samples, "vf, levy and sk"}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].given && !list[i].known) {
      od_cli_error("--%s is of the methods %s, found --method %s", list[i].option, list[i].methods,
                   a->method ? a->method : "vf");
      return false;
    }
  return true;
}

// Discrete-time models are fitted to the log itself.
static int fit_discrete(const arguments *a, const char *path) {
  const od_log_arguments log = {a->source.input, &a->source.outputs, a->source.interval, a->source.end};
  od_discrete_log w = {.path = path,
                       .o = {.kind = od_discrete_log_kind(a->method), .delay = a->direct ? 0 : 1, .direct = a->direct}};
  od_error err = {0};
  if (od_name_ends_in(path, "yaml") || od_name_ends_in(path, "yml")) {
    od_cli_error("--method %s is for logs, %s is a machine file", a->method, path);
    return OD_EXIT_BAD_INPUT;
  }
  if (!read_orders(a->order, 1000, &w.o.low, &w.o.high) ||
      !od_option_count("noise-order", a->noise_order, &w.o.noise_order) || !read_delay(a->delay, &w.o.delay) ||
      !read_part(a->hold_out, &w.o.hold_out))
    return OD_EXIT_BAD_INPUT;
  int code = od_log_open(path, &log, OD_DISCRETE_INPUTS, &w.c);
  if (code < 0) code = od_files_spare(&a->files);
  if (code < 0) {
    od_status status = od_discrete_log_fit(&w, &err);
    code = od_exit_code(status);
    if (status == OD_OK) {
      od_result result = od_discrete_log_result(&w);
      const od_file_contents contents = {.table = w.table,
                                         .result = &result,
                                         .write[OD_FILE_PLOT] = od_discrete_log_write_plot,
                                         .write[OD_FILE_BLOCK] = od_discrete_log_write_block,
                                         .user = &w};
      code = write_all(a, &result, &w.verdict, &contents);
      od_result_free(&result);
    } else {
      od_cli_error("%s: %s", path, err.text);
    }
  }
  od_discrete_log_free(&w);
  return code;
}

static const char details[] =
    "FILE is a log or a machine file, as in oleodyn frf, whose options say how the frequency response is found. All outputs\n"
    "share the poles. Methods: vf is relaxed vector fitting, with stable poles; levy is linear least squares in scaled\n"
    "frequency, sk the iteration of it after Sanathanan and Koerner: both may have unstable poles. Of several orders\n"
    "the lowest is chosen that predicts points which it was not fitted to about as well as the best one. --block writes a machine\n"
    "file with a transfer-function block for each output, in SI units.\n\n"
    "Discrete-time models of the log itself, for inputs that are no sweep: arx, armax, oe (output error) and bj (Box-Jenkins)\n"
    "of one output, with 95 % intervals; moesp, n4sid and cva, state space by subspaces, of several outputs. --input takes several inputs,\n"
    "as in u1,u2; all share the poles. A log may begin in the middle of a motion: the state before the first row and an offset are\n"
    "estimated. Every model is also fitted to the first two thirds and simulates the last third, which chooses the order where several\n"
    "are given; --hold-out has another part than a third, and leaves the model as it was fitted without it.\n\n"
    "The verdict is doubtful where a model explains less than 50 % of the part that was not fitted, is unstable, or has residuals that\n"
    "are not white; unsound (exit code 3) where it explains nothing of that part.\n\n"
    "Examples\n"
    "  oleodyn tf sweep.csv --input u_i --output piston.position --sine 1:100:1 --high 70 --order 2:9\n"
    "  oleodyn tf sweep.csv --input u_i --sine 1:100:1 --order 4 --block servo4.yaml --plot servo4.svg\n"
    "  oleodyn tf crane.yaml --input valve --output boom.angle --order 6 --json -\n";

int od_command_tf(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"order", OD_OPTION_TEXT, "N|LOW:HIGH", "poles, or from how many to how many to choose; default 1:9", &a.order},
      {"method", OD_OPTION_TEXT, "NAME",
       "vf (default), levy or sk; of the samples themselves arx, armax, oe, bj, moesp, n4sid or cva", &a.method},
      {"noise-order", OD_OPTION_TEXT, "N", "of armax and bj: coefficients of the noise; default: as the poles",
       &a.noise_order},
      {"delay", OD_OPTION_TEXT, "N",
       "of arx, armax, oe and bj: samples from the input to its first answer; default 1, with --direct 0", &a.delay},
      {"hold-out", OD_OPTION_TEXT, "PART",
       "of models of the samples: the last part of the log is not fitted, but judged by", &a.hold_out},
      {"direct", OD_OPTION_FLAG, NULL, "as many zeros as poles; default: one less", &a.direct},
      {"relative", OD_OPTION_FLAG, NULL, "errors count relative to the size of the response", &a.relative},
      OD_RESPONSE_OPTIONS(&a.source),
  };
  const od_usage usage = {"tf",
                          "FILE",
                          "fit transfer functions to a frequency response",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "data and model at each frequency",
                                     .file[OD_FILE_MAT] = "data and model at each frequency",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "data and model",
                                     .file[OD_FILE_BLOCK] = "the transfer functions as blocks",
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_response r = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0 && !options_fit(&a)) code = OD_EXIT_BAD_INPUT;
  if (code < 0 && od_discrete_log_kind(a.method) >= 0)
    code = fit_discrete(&a, files.text[0]);
  else if (code < 0)
    code = od_response_open(files.text[0], &a.source, &r);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = fit_and_write(&a, &r, files.text[0]);
  od_response_free(&r);
  od_words_free(&files);
  od_response_arguments_free(&a.source);
  return code;
}
