// oleodyn frf: the frequency response of a machine, or estimated from a log.
#include "commands/command.h"
#include "options/response_source.h"
#include "options/result_files.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

typedef struct arguments {
  od_response_arguments source;
  od_files files;
  bool quiet;
} arguments;

typedef struct findings {
  const od_response *r;
  const char *path;
} findings;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *found = user;
  return od_response_write_plot(found->r, found->path, path, err);
}

static int write_all(const arguments *a, const od_response *r, const char *path) {
  FILE *notes = od_files_notes(&a->files, a->quiet);
  od_table *table = od_response_table(r);
  if (!table) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  od_result result = od_response_result(r, path);
  od_show_result(&result, notes);
  const findings found = {r, path};
  const od_file_contents contents = {
      .table = table, .result = &result, .write[OD_FILE_PLOT] = write_plot, .user = &found};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_table_free(table);
  od_result_free(&result);
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
