// A trial: one random machine file of the calibration, with lists made without the library: times at which inputs jump or bend, and
// edges of laws. The reference solution (truth.h) uses these lists; the tested run uses only the file.
#ifndef OD_CALIBRATION_TRIAL_H
#define OD_CALIBRATION_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "support/random_machine.h"

enum {
  TRIAL_SECTIONS = 96,
  TRIAL_BREAKS = 4096,
  TRIAL_EDGES = 48,
  TRIAL_OUTPUTS = 40,
  TRIAL_SIGNALS = 64,
  TRIAL_SENSORS = 32,
  TRIAL_NODES = 24,
  TRIAL_FILES = 4,
  TRIAL_NAME = 64
};

// A law has an edge where first - second - level is zero; with a period, where it is a multiple of the period.
typedef struct trial_edge {
  char first[TRIAL_NAME], second[TRIAL_NAME];  // names of outputs; second may be empty
  double level, period;
} trial_edge;

typedef struct trial_sensor {
  char quantity[TRIAL_NAME];  // outputs that blocks can measure
  double factor;              // scales it to about 1
} trial_sensor;

typedef struct trial_text {
  char name[TRIAL_NAME];
  char *text;
  size_t size, used;
} trial_text;

typedef struct trial {
  uint64_t seed;
  od_dice dice;
  const char *wanted[3];  // classes that this machine must contain; NULL: done
  double time;            // of the run, s
  bool is_adaptive;
  double step;             // s
  const char *integrator;  // NULL: the default one
  trial_text section[TRIAL_SECTIONS];
  int sections;
  trial_text file[TRIAL_FILES];  // logs next to the machine file
  int files;
  double breaks[TRIAL_BREAKS];
  int break_count;
  trial_edge edge[TRIAL_EDGES];
  int edges;
  char output[TRIAL_OUTPUTS][TRIAL_NAME];  // outputs to record
  int outputs;
  char signal[TRIAL_SIGNALS][TRIAL_NAME];  // plain numbers of about 1: inputs and blocks
  int signals;
  trial_sensor sensor[TRIAL_SENSORS];
  int sensors;
  char node[TRIAL_NODES][TRIAL_NAME];  // volumes under pressure
  int nodes;
  int names;  // counts names
  bool has_oil, has_reservoir;
  char slider[TRIAL_NAME],
      slider_body[TRIAL_NAME];  // a joint with one coordinate, and the body that it moves; empty: none
  bool slider_turns;
  bool is_loose;  // the slider has no cylinder: small forces suffice
  char cylinder[TRIAL_NAME], cylinder_between[3 * TRIAL_NAME], cylinder_chambers[3 * TRIAL_NAME];
  double boom_angle;
  bool supply_follows_signal;  // blocks cannot measure its pressure
  double cylinder_closed, cylinder_stroke;
} trial;

// ---- random numbers and text

double trial_uniform(trial *t, double low, double high);
double trial_decades(trial *t, double low, double high);  // uniform in the logarithm
int trial_pick(trial *t, int count);
bool trial_chance(trial *t, double part);
// One of the names: a required one if the list contains one; it is then marked as done.
const char *trial_choose(trial *t, const char *const *names, int count);
// Whether this class is required; it is then marked as done.
bool trial_wants(trial *t, const char *name);
#define TRIAL_CHOOSE(t, ...) \
  trial_choose(t, (const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)))

// Adds to a section of the file.
void trial_put(trial *t, const char *section, const char *format, ...) __attribute__((format(printf, 3, 4)));
// A new name, prefix and number.
void trial_name(trial *t, const char *prefix, char name[TRIAL_NAME]);
void trial_add_break(trial *t, double time);
void trial_add_edge(trial *t, const char *first, const char *second, double level, double period);
void trial_add_output(trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trial_add_sensor(trial *t, double factor, const char *format, ...) __attribute__((format(printf, 3, 4)));
void trial_add_signal(trial *t, const char *name);
void trial_add_node(trial *t, const char *name);

// ---- signals (trial_signals.c): a new input between middle - size and middle + size
void trial_input(trial *t, const char *unit, double middle, double size, char name[TRIAL_NAME]);
extern const char *const trial_signal_kinds[];  // ends with NULL

// ---- blocks (trial_blocks.c)
// A signal of about -1 to 1 (or 0 to 1) as a command: an input, or the end of a chain of blocks.
void trial_command(trial *t, bool positive, char name[TRIAL_NAME]);
// A block of a class, with any existing signals as its inputs. Its output is added to the signals.
void trial_block(trial *t, const char *block_class);
extern const char *const trial_block_classes[];

// ---- oil (trial_circuit.c)
void trial_oil(trial *t);     // with a tank T
void trial_supply(trial *t);  // a node P under pressure
void trial_volume(trial *t, double size, double pressure, char name[TRIAL_NAME]);
double trial_area(double flow, double drop);  // of an orifice for this flow
void trial_circuit_part(trial *t, const char *element_class);
extern const char *const trial_circuit_parts[];
// A valve between P, T and two nodes, driven by a command.
void trial_valve(trial *t, const char *a, const char *b, double flow);
extern const char *const trial_valves[];

// ---- bodies (trial_mechanics.c)
void trial_friction(trial *t, bool turning, double size, char *text, size_t room);
extern const char *const trial_friction_laws[];
void trial_mechanism_part(trial *t, const char *element_class);  // of the slider
extern const char *const trial_mechanism_parts[];
void trial_slider(trial *t, bool vertical, double mass);
void trial_rotor(trial *t, double inertia);

// ---- all together (trial.c)
// The machine of a seed; free it with trial_free().
trial *trial_new(uint64_t seed);
void trial_free(trial *t);
// The file as text; free it.
char *trial_file(const trial *t, const char *const *outputs, int count);

#endif
