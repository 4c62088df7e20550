// What the tool's own rooms may ask of a machine beyond the public interface; its struct is private to this room.
#ifndef OD_MACHINE_MACHINE_H
#define OD_MACHINE_MACHINE_H

#include "document/number_table.h"
#include "model/model.h"
#include "oleodyn/machine.h"

// The compiled model; it lives as long as the machine.
const od_model *od_machine_model(const od_machine *machine);

// Where number i of the machine stands in the model's theta; -1: it is no parameter (signals, initial values, the run).
int od_machine_number_theta(const od_machine *machine, int i);
// Whether number i can be a free parameter: it is one of the model that follows no constant, or a constant of the file that
// numbers of the model follow, and of others constants alone.
bool od_machine_number_is_free(const od_machine *machine, int i);
// The path of a number outside of the model that follows constant i, which keeps it from being one; NULL: none.
const char *od_machine_number_blocks(const od_machine *machine, int i);
// The path of a constant that number i follows; NULL: none.
const char *od_machine_number_source(const od_machine *machine, int i);
// The value of an input that never changes; NAN: it does.
double od_machine_constant_input(const od_machine *machine, int i);

// How far beside a time on a grid of steps one looks for what happens at that time.
double od_machine_time_aside(double t, double step);
// Whether any input jumps at a time on such a grid: the inputs just before it and just after it; without a jump `before` holds
// those at it. Both have room for all inputs.
bool od_machine_inputs_jump(const od_machine *machine, double t, double step, double *before, double *after);

// The signal of an input, by the time of the run: its value (order 0) and exact derivatives of order 1 and 2, from the right; the next
// time at which one of these three jumps, the next at which its sign changes (not after `until`), and when it ends; INFINITY: never.
double od_machine_input_derivative(const od_machine *machine, int i, double t, int order);
double od_machine_input_next_break(const od_machine *machine, int i, double t);
double od_machine_input_next_reversal(const od_machine *machine, int i, double t, double until);
double od_machine_input_duration(const od_machine *machine, int i);

// See od_signal_pace(), and od_signal_samples(), whose times are those of the signal, od_machine_start_time() later.
double od_machine_input_pace(const od_machine *machine, int i, double t, double end);
const double *od_machine_input_samples(const od_machine *machine, int i, int *count);

// Its table of numbers, with those that --set replaced; NULL without a machine.
const od_numbers *od_machine_numbers(const od_machine *machine);

#endif
