// A frequency response of a machine or from a log, with the names and units of its signals; its table and its result.
#ifndef OD_FREQUENCY_NAMED_RESPONSE_H
#define OD_FREQUENCY_NAMED_RESPONSE_H

#include "frequency/frequency_response.h"
#include "io/table.h"
#include "prepare/log_columns.h"
#include "result/result.h"

typedef struct od_response {
  od_frf *frf;
  od_signal_label input, *output;
  int outputs;
  char how[200];        // "stepped sine, 100 frequencies"
  bool is_exact;        // whether the response is computed from a machine; false: estimated from a log
  od_verdict warnings;  // warnings about the linear model of a machine, or about the times of a log
} od_response;
void od_response_free(od_response *r);

// Computes the exact response of a machine that is linearized at its initial state. The frequencies are `points` values from low to high (Hz) in
// equal ratios. Free the response in all cases. Fails with a status of od_linear_model_find(), od_frf_of_model() or od_poles_find().
od_status od_response_of_machine(const od_machine *machine, int input, const int *outputs, int count, double low,
                                 double high, int points, od_response *out, od_error *err);

// The estimator for a log: a stepped sine (sine_step > 0), periods of a multisine (period > 0), or averaged spectra.
typedef struct od_estimate_options {
  double sine_from, sine_to, sine_step;  // Hz
  double periods;                        // number of periods of each frequency of a stepped sine
  double settle;                         // number of periods to omit at the beginning: of each frequency of a stepped
                                         // sine, or of a multisine
  double start;                          // start of the stepped sine, s; NAN: the first row
  double period;                         // period of a multisine, s
  int length;  // samples of a block of averaged spectra; 0: a power of two, at most an eighth of the log, 16 to 65536
  od_window window;
  double low, high;  // range of frequencies, Hz; points outside the range are omitted
} od_estimate_options;
// Estimates the response. Takes ownership of the labels of the columns. Free the response in all cases. Fails with OD_BAD_INPUT,
// OD_IO or OD_NO_MEMORY.
od_status od_response_of_log(od_log_columns *columns, const od_estimate_options *options, od_response *out,
                             od_error *err);

// Writes the unit of an output divided by the unit of the input: "m/V".
void od_response_unit(const od_response *r, int output, char *text, size_t size);
// Creates a table of frequencies and, for each output, amplitude, phase, real and imaginary part, sigma and coherence.
// Returns NULL if out of memory.
od_table *od_response_table(const od_response *r);

// Creates lists of the names and units of the outputs, for pictures and files. The arena owns the lists. Returns false
// if out of memory.
typedef struct od_response_labels {
  const char **name, **si, **ratio;  // ratio: the unit divided by the unit of the input
} od_response_labels;
bool od_response_labels_make(const od_response *r, od_arena *arena, od_response_labels *labels);

// Creates the result of the command, which the caller frees. path: the file of the log or the machine. *r must outlive the
// result.
od_result od_response_result(const od_response *r, const char *path);
// Adds the warnings as notices and to the data. Adds nothing for a log without warnings.
void od_add_response_warnings(od_result *to, const od_response *r);
od_status od_response_write_plot(const od_response *r, const char *title, const char *path, od_error *err);

#endif
