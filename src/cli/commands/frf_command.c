// oleodyn frf: the frequency response of a machine or from a log.
#include <math.h>
#include <stdlib.h>

#include "commands/command.h"
#include "options/response_source.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "frequency/bode_plot.h"
#include "io/display.h"
#include "io/json.h"

typedef struct arguments {
  od_response_arguments source;
  od_files files;
  bool quiet;
} arguments;

typedef struct findings {
  const od_response *r;
  const char *path;
} findings;

// --- For people ---------------------------------------------------------------------------------------------------

static void print_reading(FILE *to, const char *what, od_reading v, const char *unit) {
  char value[OD_NUMBER_SIZE], half[OD_NUMBER_SIZE] = "";
  double spread = (v.high - v.low) / 2;
  od_display_value(value, v.value, spread);
  if (spread > 0) od_display_uncertainty(half, spread);
  fprintf(to, "  %-12s %s%s%s%s%s\n", what, value, *half ? " +- " : "", half, *unit ? " " : "", unit);
}

static void print(const od_response *r, const char *path, FILE *to) {
  const od_frf *f = r->frf;
  od_heading(to, path);
  fprintf(to, "%s; input %s; %g to %g Hz\n", r->how, r->input.name, f->frequency[0], f->frequency[f->points - 1]);
  for (int k = 0; k < f->outputs; k++) {
    od_features found = od_frf_features(f, k);
    char unit[160];
    od_response_unit(r, k, unit, sizeof unit);
    od_heading(to, r->output[k].name);
    print_reading(to, "first point", od_frf_amplitude(f, k, 0), unit);
    if (isnan(found.bandwidth.value))
      fprintf(to, "  %-12s beyond %g Hz\n", "bandwidth", f->frequency[f->points - 1]);
    else
      print_reading(to, "bandwidth", found.bandwidth, "Hz (3 dB below the first point)");
    for (int i = 0; i < found.peaks; i++) {
      char what[40];
      snprintf(what, sizeof what, "resonance");
      print_reading(to, what, found.peak[i].amplitude, unit);
      fprintf(to, "  %-12s at %.5g Hz\n", "", found.peak[i].frequency);
    }
  }
}

// --- For programs -------------------------------------------------------------------------------------------------

static json_t *reading_json(od_reading v) {
  return json_pack("{s:o, s:o, s:o}", "value", od_json_number(v.value), "low", od_json_number(v.low), "high",
                   od_json_number(v.high));
}

static json_t *points_json(const od_frf *f, int output, const double *phase) {
  json_t *list = json_array();
  for (int i = 0; i < f->points; i++) {
    int at = output * f->points + i;
    json_t *item = json_pack("{s:o, s:o}", "frequency", od_json_number(f->frequency[i]), "amplitude",
                             reading_json(od_frf_amplitude(f, output, i)));
    json_object_set_new(item, "phase", od_json_number(phase[i]));
    json_object_set_new(item, "sigma", od_json_number(f->sigma[at]));
    json_object_set_new(item, "coherence", od_json_number(f->coherence[at]));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *response_json(const od_response *r, const char *path) {
  const od_frf *f = r->frf;
  json_t *outputs = json_array();
  double *phase = calloc((size_t)f->points + 1, sizeof *phase);
  for (int k = 0; phase && k < f->outputs; k++) {
    od_features found = od_frf_features(f, k);
    char unit[160];
    json_t *peaks = json_array();
    od_response_unit(r, k, unit, sizeof unit);
    od_frf_phases(f, k, phase);
    for (int i = 0; i < found.peaks; i++)
      json_array_append_new(peaks, json_pack("{s:o, s:o}", "frequency", od_json_number(found.peak[i].frequency),
                                             "amplitude", reading_json(found.peak[i].amplitude)));
    json_array_append_new(outputs, json_pack("{s:o, s:o, s:o, s:o, s:o}", "output", od_json_text(r->output[k].name),
                                             "unit", od_json_text(unit), "bandwidth", reading_json(found.bandwidth),
                                             "resonances", peaks, "points", points_json(f, k, phase)));
  }
  free(phase);
  return json_pack("{s:o, s:o, s:o, s:o*, s:o}", "file", od_json_text(path), "input", od_json_text(r->input.name),
                   "method", od_json_text(r->how), "warnings", od_response_warnings_json(r), "outputs", outputs);
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *found = user;
  const od_response *r = found->r;
  size_t outputs = (size_t)r->frf->outputs;
  const char **names = calloc(2 * outputs + 1, sizeof *names);
  char(*unit)[160] = calloc(outputs + 1, sizeof *unit);
  od_status status = names && unit ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int k = 0; status == OD_OK && k < r->frf->outputs; k++) {
    od_response_unit(r, k, unit[k], sizeof *unit);
    names[k] = r->output[k].name;
    names[outputs + (size_t)k] = unit[k];
  }
  const od_bode bode = {r->frf, NULL, names, names ? names + outputs : NULL, found->path, r->how};
  if (status == OD_OK) status = od_bode_write(&bode, path, err);
  free(names);
  free(unit);
  return status;
}

static int write_all(const arguments *a, const od_response *r, const char *path) {
  FILE *notes = od_files_notes(&a->files, a->quiet);
  od_table *table = od_response_table(r);
  if (!table) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  if (notes) print(r, path, notes);
  const findings found = {r, path};
  const od_file_contents contents = {.table = table,
                                     .summary = a->files.path[OD_FILE_JSON] ? response_json(r, path) : NULL,
                                     .write[OD_FILE_PLOT] = write_plot,
                                     .user = &found};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_table_free(table);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static const char details[] =
    "FILE is a machine file (.yaml), which is linearised where it starts, or a log (CSV or MATLAB file). How a log's input\n"
    "moved decides the estimate: --sine for a stepped sine (sine and offset by least squares on the settled part of each\n"
    "frequency), --period for a multisine (averages over whole periods), else averaged spectra with coherence. Intervals are\n"
    "95 %; those of a stepped sine follow from what is at frequencies beside each sine, so that noise may have any colour; that takes at\n"
    "least two settled periods. Units are SI.\n\n"
    "Examples\n"
    "  oleodyn frf servo.yaml --input u_i --output piston.position --low 1 --high 100 --plot servo.svg\n"
    "  oleodyn frf sweep.csv --input u_i --output piston.position --sine 1:100:1 --periods 3 --csv -\n"
    "  oleodyn frf noise.mat --input valve --output pressure --length 4096 --json -\n";

int od_command_frf(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      OD_RESPONSE_OPTIONS(&a.source),
  };
  const od_usage usage = {"frf",
                          "FILE",
                          "find the frequency response of a machine, or from a log",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "the points",
                                     .file[OD_FILE_MAT] = "the points",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "amplitude and phase",
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_response r = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_response_open(files.text[0], &a.source, &r);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = write_all(&a, &r, files.text[0]);
  od_response_free(&r);
  od_words_free(&files);
  od_response_arguments_free(&a.source);
  return code;
}
