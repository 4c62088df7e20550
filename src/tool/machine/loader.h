// What the parts of the loader share while a machine file becomes a machine, and the parts themselves in the order in
// which they run.
#ifndef OD_MACHINE_LOADER_H
#define OD_MACHINE_LOADER_H

#include "machine/names.h"
#include "document/number_table.h"
#include "document/tree.h"
#include "document/units.h"
#include "model/build.h"
#include "oleodyn/machine.h"
#include "signals/signal.h"

typedef struct od_machine_input {
  const char *name, *unit;
  int signal;  // node in the machine's signals
} od_machine_input;

struct od_machine {
  od_texts texts;  // all that the rest points to
  const char *file, *title;
  const char *variant;  // the one that was chosen, or NULL
  const char **variant_name;
  int variants, variant_capacity;
  od_numbers numbers;
  od_machine_input *input;
  int inputs, input_capacity;
  od_signals *signals;
  od_run_defaults run;
  int *run_outputs;
  od_model *model;
};

// Which element a number in an error of od_build_finish() means.
typedef struct od_culprit {
  od_culprit_kind kind;
  int index;
  int node;  // where it stands in the file
} od_culprit;

// A block between its declaration, after the inputs, and its reading, when all that it may measure is known.
typedef struct od_loading_block {
  int key, element, form;                           // form: -1 after an error
  int map;                                          // the node of its section, or -1
  const char *unit;                                 // of its first output
  int index;                                        // in the builder, or OD_NOT_BUILT
  const char *state_unit[OD_MOST_BLOCK_ORDER + 1];  // NULL: unknown because of an error
} od_loading_block;

struct od_loader {
  od_machine *machine;  // the machine that grows
  od_messages *messages;
  od_content content;              // of the file, where it has been read already
  int first_message, first_error;  // how many there were before
  od_tree tree;
  od_units *units;
  od_build *build;
  od_names names;
  const char *variant;  // asked for, or NULL
  od_culprit *culprit;
  int culprits, culprit_capacity;
  od_loading_block *block;
  int blocks, block_capacity;
  int sums;         // sums around the signal that is being read
  int signals;      // signals so far
  int initials;     // initial values so far
  bool loose_ends;  // an element of the circuit is not connected because of an error that has been reported
  bool no_memory;
};

// The sections of a file. Each takes the node of its section, or -1 when the file has none.
void od_load_gravity(od_loader *ld, int node);
void od_load_ground(od_loader *ld, int node);
void od_load_bodies(od_loader *ld, int node);
void od_load_joints(od_loader *ld, int node);
void od_load_rods(od_loader *ld, int node);
void od_load_springs(od_loader *ld, int node);
void od_load_inputs(od_loader *ld, int node);
void od_declare_blocks(od_loader *ld, int node);
void od_load_forces(od_loader *ld, int node);
void od_load_torques(od_loader *ld, int node);
void od_load_oil(od_loader *ld, int node);
void od_load_volumes(od_loader *ld, int node);
void od_load_tanks(od_loader *ld, int node);
void od_load_sources(od_loader *ld, int node);
void od_load_pumps(od_loader *ld, int node);
void od_load_orifices(od_loader *ld, int node);
void od_load_reliefs(od_loader *ld, int node);
void od_load_checks(od_loader *ld, int node);
void od_load_leaks(od_loader *ld, int node);
void od_load_valves(od_loader *ld, int node);
void od_load_cylinders(od_loader *ld, int node);
void od_load_blocks(od_loader *ld);
void od_load_initial(od_loader *ld, int node);
void od_load_run(od_loader *ld, int node);
// After the model is there: the initial values that were found by balance, and the names in run.outputs.
void od_load_balanced(od_loader *ld);
void od_load_run_outputs(od_loader *ld, int node);

// After the circuit is read: volumes that nothing flows into or out of, and a circuit without oil.
void od_check_volumes(od_loader *ld);
void od_check_oil(od_loader *ld);

// The unit of a quantity of an element ("angle" of a joint) that has an initial value, or NULL.
const char *od_state_quantity_unit(od_loader *ld, int element, const char *name);
// The name of one that is probably meant, or NULL.
const char *od_nearest_state_quantity(od_loader *ld, int element, const char *name);

// The file with the chosen variant laid over it (NULL: none): the node of its map. `root` is the node of the file's,
// `sections` are those it may have, its title first, ending with NULL.
int od_load_variants(od_loader *ld, const char *const *sections, int root, const char *variant);

// Remembers where an element stands, for errors that come from the builder.
void od_remember(od_loader *ld, od_culprit_kind kind, int index, int node);

// Parts of the inputs: one signal (a quantity, or a map with one kind of signal), and a signal from a file. They return
// the signal's index in the machine's signals, or -1. `unit` is the input's.
int od_load_signal(od_loader *ld, int node, const char *path, const char *what, const char *unit);
int od_load_file_signal(od_loader *ld, int node, int key, const char *what, const char *unit);

#endif
