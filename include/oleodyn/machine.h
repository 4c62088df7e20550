// A machine: the file that describes it, checked, compiled and assembled.
//
//   od_machine *m;
//   od_messages *msgs = od_messages_new();
//   if (od_machine_load("crane.yaml", NULL, &m, msgs) != OD_OK) od_messages_print(msgs, stderr, false);
#ifndef OLEODYN_MACHINE_H
#define OLEODYN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "oleodyn/plant.h"
#include "oleodyn/status.h"

OD_BEGIN_C

// Messages about input files: all that is wrong is reported in one run, each with its place. A file with warnings alone
// is loaded.
typedef struct od_message {
  const char *file;  // or "--set", or NULL
  int line, column;  // 1-based, 0 when there is none
  const char *text;  // one line: what was found, what was expected, a suggestion
  bool is_warning;   // else it is an error
} od_message;
typedef struct od_messages od_messages;
OD_API od_messages *od_messages_new(void);
OD_API void od_messages_free(od_messages *m);
OD_API int od_messages_count(const od_messages *m);
OD_API int od_messages_errors(const od_messages *m);  // how many of them are errors, with those that are counted only
OD_API const od_message *od_messages_get(const od_messages *m, int i);
// "file:line:column: error: text" (or "warning: text"), one per line; in color when asked.
OD_API void od_messages_print(const od_messages *m, FILE *to, bool color);

typedef struct od_machine od_machine;

// What a file contains, where it has been read already: a pipe can be read only once. It must be UTF-8.
typedef struct od_content {
  const char *text;  // NULL: to be read
  size_t length;
} od_content;

typedef struct od_load_options {
  const char *const *set;  // "path=value" texts that replace numbers of the file
  int set_count;
  bool spatial;         // treat a planar machine as a spatial one
  const char *variant;  // name of a variant of the file, or NULL
  od_content content;   // of the file; its path is for messages and files beside it then
  void *reserved[4];    // zero
} od_load_options;

OD_API od_status od_machine_load(const char *path, const od_load_options *options, od_machine **out,
                                 od_messages *messages);
OD_API void od_machine_free(od_machine *machine);

OD_API const char *od_machine_title(const od_machine *machine);
OD_API const char *od_machine_file(const od_machine *machine);
// The variant that was chosen, or NULL, and those that the file has.
OD_API const char *od_machine_variant(const od_machine *machine);
OD_API int od_machine_variant_count(const od_machine *machine);
OD_API const char *od_machine_variant_name(const od_machine *machine, int i);

// Every number of the machine: path, value in SI, SI unit, the text it was given as (NULL: a default), and between
// which values it is possible and usual (infinite: no end). Of an initial value that is to be balanced the value is what
// was found.
typedef struct od_number {
  const char *path, *unit, *given;
  double value;
  double low, high, usual_low, usual_high;
  bool balanced;
  void *reserved[4];  // zero
} od_number;
OD_API int od_machine_number_count(const od_machine *machine);
OD_API od_number od_machine_number(const od_machine *machine, int i);
OD_API int od_machine_number_find(const od_machine *machine, const char *path);  // -1: no such path

// Inputs and their values over time.
OD_API int od_machine_input_count(const od_machine *machine);
OD_API const char *od_machine_input_name(const od_machine *machine, int i);
OD_API const char *od_machine_input_unit(const od_machine *machine, int i);
OD_API void od_machine_inputs(const od_machine *machine, double t, double *u);
OD_API double od_machine_next_break(const od_machine *machine,
                                    double t);  // next jump of any input, its rate or acceleration
// Whether blocks sample and inputs jump at most OD_MOST_STEPS times in a run of so many seconds, since steps end there. The
// error says which does not.
#define OD_MOST_STEPS 1e9
OD_API od_status od_machine_check_pace(const od_machine *machine, double time, od_error *err);

// Outputs: everything that can be observed, by name ("crank.end.x", "spring.length", "energy.kinetic").
OD_API int od_machine_output_count(const od_machine *machine);
OD_API const char *od_machine_output_name(const od_machine *machine, int i);
OD_API const char *od_machine_output_unit(const od_machine *machine, int i);
OD_API int od_machine_output_find(const od_machine *machine, const char *name);  // -1: no such output

// What the file's "run" section says; zero or NULL where it says nothing.
typedef struct od_run_defaults {
  double time, step;
  bool adaptive;           // 'step: auto': steps follow an error estimate
  double rows;             // s from row to row then
  const char *integrator;  // a name of oleodyn/integrator.h, or "cvodes"
  double tolerance;        // of cvodes and of adaptive steps
  const int *outputs;      // indices
  int output_count;
  const int *panels;  // of a plot, for each output; 0: one of its own
} od_run_defaults;
OD_API const od_run_defaults *od_machine_run(const od_machine *machine);

// The machine as a plant with the chosen outputs and the chosen free parameters (indices of numbers). The plant
// refers to the machine and must not outlive it. Free it with od_plant_free(). Powers are integrated where an output shows it.
OD_API od_status od_machine_plant(const od_machine *machine, const int *outputs, int output_count,
                                  const int *parameters, int parameter_count, od_plant **out, od_error *err);

OD_END_C

#endif
