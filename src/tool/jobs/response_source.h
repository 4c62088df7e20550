// The source of a frequency response, a log or a machine, with the options that all jobs about responses share.
#ifndef OD_JOBS_RESPONSE_SOURCE_H
#define OD_JOBS_RESPONSE_SOURCE_H

#include "jobs/open_machine.h"
#include "jobs/log_options.h"
#include "frequency/named_response.h"

typedef struct od_response_arguments {
  const char *input, *sine, *periods, *settle, *period, *length, *window, *low, *high, *points;
  od_log_arguments log;
  od_words outputs;
  od_load_arguments load;
} od_response_arguments;

#define OD_RESPONSE_INPUT_HELP \
  "the input: a signal of the log (a name of --map, or a column by name or number), or an input\nof the machine; default: the only input of the machine"
#define OD_RESPONSE_OUTPUT_HELP \
  "outputs: signals of the log, or outputs of the machine (repeatable); default: the signals\nof --map, else all columns; the outputs in the run section of the machine file"
// Entries of the option table for frequency responses.
#define OD_RESPONSE_OPTIONS(a)                                                                                        \
  {"input", OD_OPTION_TEXT, "NAME,...", OD_RESPONSE_INPUT_HELP, &(a)->input},                                         \
      {"output", OD_OPTION_LIST, "NAME,...", OD_RESPONSE_OUTPUT_HELP, &(a)->outputs},                                 \
      {"sine", OD_OPTION_TEXT, "FROM:TO:STEP",                                                                        \
       "the input is a stepped sine with these frequencies in Hz, from --start on", &(a)->sine},                      \
      {"periods", OD_OPTION_TEXT, "N", "number of periods of each frequency of a stepped sine; default: 3",           \
       &(a)->periods},                                                                                                \
      {"settle", OD_OPTION_TEXT, "N", "number of skipped periods, of each frequency or of a multisine; default: 1",   \
       &(a)->settle},                                                                                                 \
      {"period", OD_OPTION_TEXT, "T", "the input is a multisine with this period", &(a)->period},                     \
      {"length", OD_OPTION_TEXT, "N",                                                                                 \
       "number of samples in a block of averaged spectra; default: an eighth of the log, at most 65536",              \
       &(a)->length},                                                                                                 \
      {"window",     OD_OPTION_TEXT,                                                                                  \
       "NAME",       "window of the blocks: hann (default), hamming, blackman or none",                               \
       &(a)->window, "hann hamming blackman none"},                                                                   \
      {"low", OD_OPTION_TEXT, "F", "lowest frequency; default: no limit for a log, 0.1 Hz for a machine", &(a)->low}, \
      {"high", OD_OPTION_TEXT, "F", "highest frequency; default: no limit for a log, 100 Hz for a machine",           \
       &(a)->high},                                                                                                   \
      {"points", OD_OPTION_TEXT, "N", "number of frequencies for a machine, logarithmically spaced; default: 200",    \
       &(a)->points},                                                                                                 \
      OD_LOG_OPTIONS(&(a)->log), OD_LOAD_OPTIONS(&(a)->load)

// Sets *path to the log or machine file of a job: its argument, or the file of --data. Returns OD_GO_ON, or the
// outcome after reporting an error.
int od_response_path(od_job *job, const od_words *files, const od_response_arguments *a, const char **path);

// Returns whether the file is a machine file or an image of a machine; else it is a log.
bool od_response_is_machine(const char *path);
// Loads or computes the response, which the caller frees. Returns OD_GO_ON, or the outcome.
int od_response_open(od_job *job, const char *path, const od_response_arguments *a, od_response *out);

// Opens signals of a log. path: the argument of the job, NULL: the log is given by --data. Returns OD_GO_ON, or the
// outcome after reporting errors. The caller frees *out in all cases.
int od_log_open_columns(od_job *job, const char *path, const od_response_arguments *a, int most_inputs,
                        od_log_columns *out);

#endif
