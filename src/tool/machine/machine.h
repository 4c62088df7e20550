// Functions of a machine for other modules of the tool, in addition to the public interface. The struct is private to this module.
#ifndef OD_MACHINE_MACHINE_H
#define OD_MACHINE_MACHINE_H

#include "document/number_table.h"
#include "machine/templates.h"
#include "model/model.h"
#include "oleodyn/machine.h"
#include "signals/signal.h"

// Returns the innermost instance of a template that contains the element with this name; NULL: no instance contains the element.
const od_template_instance *od_machine_instance_of(const od_machine *machine, const char *name);

// Returns the index of number i of the machine in the model's theta; -1: not a parameter (signals, initial values, the run).
int od_machine_number_theta(const od_machine *machine, int i);
// Returns whether number i can be a free parameter. Two kinds of numbers can be free. First: numbers of the model that depend on no
// constant. Second: constants that are not computed from other constants, determine a number of the model, and determine no number
// outside the model.
bool od_machine_number_is_free(const od_machine *machine, int i);
// For a number i that is a constant: returns the path of a number outside the model that depends on this constant, so
// that the constant cannot be free. NULL: no such number.
const char *od_machine_number_blocks(const od_machine *machine, int i);
// Returns the path of the constant at the end of the chain of references of number i (od_number_source()); NULL: none.
const char *od_machine_number_source(const od_machine *machine, int i);
// Return the signals of the inputs, and the index of the signal of an input.
const od_signals *od_machine_signals(const od_machine *machine);
int od_machine_input_signal(const od_machine *machine, int i);
// Returns the value of a constant input; NAN: the input changes.
double od_machine_constant_input(const od_machine *machine, int i);

// Properties of the signal of an input over the time of the run. The functions return the value of the signal (order
// 0) and its exact derivatives (order 1 and 2) from the right; the next time at which one of these three values jumps;
// the next time, up to `until`, at which the sign changes; and the end of the signal. INFINITY: never.
double od_machine_input_derivative(const od_machine *machine, int i, double t, int order);
double od_machine_input_next_break(const od_machine *machine, int i, double t);
double od_machine_input_next_reversal(const od_machine *machine, int i, double t, double until);
double od_machine_input_duration(const od_machine *machine, int i);

// See od_signal_pace() and od_signal_samples(). od_machine_input_pace() takes times of the run. The samples have times of the
// signal, which are later by od_machine_start_time().
double od_machine_input_pace(const od_machine *machine, int i, double t, double end);
const double *od_machine_input_samples(const od_machine *machine, int i, int *count);

// Returns the possible and usual values of a measured output: a length, position, pressure or rate; NULL: no limits.
const od_limits *od_measured_limits(const char *output, const char *unit);

// Returns the table of numbers, including numbers that --set replaced; NULL if `machine` is NULL.
const od_numbers *od_machine_numbers(const od_machine *machine);

#endif
