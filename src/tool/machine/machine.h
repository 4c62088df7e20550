// Access to a machine for other modules of the tool, beyond the public interface. The struct is private to this module.
#ifndef OD_MACHINE_MACHINE_H
#define OD_MACHINE_MACHINE_H

#include "document/number_table.h"
#include "model/model.h"
#include "oleodyn/machine.h"

// Index of number i of the machine in the model's theta; -1: not a parameter (signals, initial values, the run).
int od_machine_number_theta(const od_machine *machine, int i);
// Whether number i can be a free parameter: a number of the model that depends on no constant, or a constant that is
// not computed from other constants, determines a number of the model, and determines no number outside the model.
bool od_machine_number_is_free(const od_machine *machine, int i);
// The path of a number outside the model that depends on number i, which is a constant, and prevents this constant from
// being free; NULL: none.
const char *od_machine_number_blocks(const od_machine *machine, int i);
// The path of the constant at the end of the chain of references of number i (od_number_source()); NULL: none.
const char *od_machine_number_source(const od_machine *machine, int i);
// The value of a constant input; NAN: the input changes.
double od_machine_constant_input(const od_machine *machine, int i);

// Tolerance in s for a time on a grid of steps. Events within this tolerance count as events at that time.
double od_machine_time_aside(double t, double step);
// Whether any input jumps at time t on a grid of steps. Writes the inputs just before and just after this time. Without
// a jump `before` holds the inputs at this time. Both arrays have one entry per input.
bool od_machine_inputs_jump(const od_machine *machine, double t, double step, double *before, double *after);

// The signal of an input over the time of the run: its value (order 0) and its exact derivatives of order 1 and 2, from the
// right; the next time at which one of these three values jumps; the next time at which the sign of the signal changes (not after
// `until`); and the end of the signal. INFINITY: never.
double od_machine_input_derivative(const od_machine *machine, int i, double t, int order);
double od_machine_input_next_break(const od_machine *machine, int i, double t);
double od_machine_input_next_reversal(const od_machine *machine, int i, double t, double until);
double od_machine_input_duration(const od_machine *machine, int i);

// See od_signal_pace() and od_signal_samples(). od_machine_input_pace() takes times of the run. The samples have times of the
// signal, which are later by od_machine_start_time().
double od_machine_input_pace(const od_machine *machine, int i, double t, double end);
const double *od_machine_input_samples(const od_machine *machine, int i, int *count);

// The possible and usual values of a measured output: a length, position, pressure or rate; NULL: no limits.
const od_limits *od_measured_limits(const char *output, const char *unit);

// The table of numbers, including numbers that --set replaced; NULL without a machine.
const od_numbers *od_machine_numbers(const od_machine *machine);

#endif
