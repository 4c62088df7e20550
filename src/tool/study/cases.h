// The kinds of cases of a study.
#ifndef OD_STUDY_CASES_H
#define OD_STUDY_CASES_H

#include "document/reader.h"
#include "experiment/experiment.h"
#include "frequency/transfer.h"
#include "random/draw.h"
#include "study/study.h"

// Loads the experiment of a case and sets the operations of the case. Errors are reported as messages. Fails with OD_BAD_INPUT,
// OD_IO or OD_NO_MEMORY.
od_status od_observe_case_load(od_case *c, const char *path, const od_experiment_options *options,
                               od_messages *messages);
// Returns the step of the case, s.
double od_observe_case_step(const od_case *c);
// Loads a fit. `predicts`: the case computes no fit, only the quality of the prediction with the initial values. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_fit_case_load(od_case *c, const char *path, const od_experiment_options *options, bool predicts,
                           od_messages *messages);

// Loads a fit of a friction law to the data of a friction file. A file with a map of pressures uses the operations of
// map_case.c. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
extern const od_case_ops od_map_case_ops;
od_status od_friction_case_load(od_case *c, const char *path, const od_experiment_options *options,
                                od_messages *messages);

// Settings of a transfer function that is fitted to the first set of a fit file: stepped sine, frequency band, method and order.
// od_tf_case_load() fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
typedef struct od_tf_wish {
  double from, to, step;   // Hz
  double periods, settle;  // numbers of periods per frequency: all, and unused periods at the beginning
  double low, high;        // Hz
  od_transfer_method method;
  int order;
} od_tf_wish;
od_status od_tf_case_load(od_case *c, const char *path, const od_experiment_options *options, const od_tf_wish *wish,
                          od_messages *messages);
// od_tf_wish_read_sweep() reads the study's section 'transfer'. od_tf_wish_read_case() reads the keys 'method' and 'order' of
// a case.
void od_tf_wish_read_sweep(od_loader *ld, int node, od_tf_wish *wish);
void od_tf_wish_read_case(od_loader *ld, const od_section *section, od_tf_wish *wish);

// A value of a run: a statistic of an output in a window of time.
enum { OD_TAKE_LOOP = OD_TAKE_FINAL + 1 };  // width of the loop of an output over another output
typedef struct od_value_wish {
  const char *name, *output, *over, *unit;  // over: the other output of a loop; unit NULL: SI
  int key, take;    // key: node of the value in the file; take: kind of the statistic, an od_take or OD_TAKE_LOOP
  double from, to;  // s
} od_value_wish;
// load_simulations.c: reads the section 'values'. `memory` owns the list of *count entries. If an allocation fails, sets
// ld->no_memory and returns NULL.
od_value_wish *od_value_wishes_read(od_loader *ld, int node, od_arena *memory, int *count);
// Finds the outputs of a value in a machine, and the factor from SI to the unit of the value. output[1] is the other output of a loop; for
// other values output[1] is output[0]. False: an error was reported.
bool od_value_wish_find(od_loader *ld, const od_machine *m, const od_value_wish *w, int output[2], double *factor);

// A number of a machine that each run draws at random: its distribution in a unit ("": SI), or (`part`) a fraction of the
// value in the machine file.
typedef struct od_drawn {
  const char *path, *unit;
  int key;
  od_draw draw;
  double part;  // NAN: the distribution is given
} od_drawn;
// load_simulations.c: reads 'draw' of a case. `memory` owns the list of *count entries. If an allocation fails, sets
// ld->no_memory and returns NULL.
od_drawn *od_draws_read(od_loader *ld, int node, od_arena *memory, int *count);
// Checks that the machine has the number, and computes a relative distribution from the machine's value. False: an error was
// reported.
bool od_draw_settle(od_loader *ld, const od_machine *m, od_drawn *d);

// Loads a machine that is simulated once, or many times with random numbers. Its requirements are checked, and values are taken
// from each run. Only variant and numbers of `options` are used. Options and wishes must outlive the case. Errors in wishes are
// reported to the loader of the study. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
typedef struct od_simulate_wish {
  const od_value_wish *value;
  int values;
  const od_drawn *drawn;  // numbers of the machine that each run draws; none: the case runs once
  int draws;
} od_simulate_wish;
od_status od_simulate_case_load(od_case *c, od_loader *ld, const char *path, const od_experiment_options *options,
                                od_simulate_wish wish, od_messages *messages);

#endif
