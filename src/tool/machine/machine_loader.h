// A machine file on its way to a machine: the machine itself, what its readers share, and the readers in the order in
// which they run. Nobody outside this room includes this header: machine.h says what may be asked of a machine.
#ifndef OD_MACHINE_LOADER_H
#define OD_MACHINE_LOADER_H

#include "document/quantities.h"
#include "machine/names.h"
#include "machine/templates.h"
#include "machine/requirement.h"
#include "oleodyn/build.h"
#include "oleodyn/machine.h"
#include "signals/signal.h"

typedef struct od_machine_input {
  const char *name, *unit;
  int signal;  // node in the machine's signals
} od_machine_input;

struct od_machine {
  od_document *document;  // its file, texts and numbers
  const char *title;
  od_machine_input *input;
  int inputs, input_capacity;
  od_signals *signals;
  od_run_defaults run;
  double start;  // s: what its inputs take for the time at the start
  int *run_outputs;
  od_requirement *requirement;
  int requirements, requirement_capacity;
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
  int key, element, block_class;                    // block_class: -1 after an error
  const char *name, *path, *what;                   // in the model; before the keys of its numbers; in messages
  const char *measures[2];                          // quantities that its inputs are, where no keys say that; or NULL
  int map;                                          // the node of its section, or -1
  const char *unit;                                 // of its first output
  int index;                                        // in the builder, or OD_NOT_BUILT
  const char *state_unit[OD_MOST_BLOCK_ORDER + 1];  // NULL: unknown because of an error
} od_loading_block;

// The machine that grows while its file is read, and what its readers know of it so far: ld->draft.
typedef struct od_draft {
  od_machine *machine;
  od_build *build;
  od_names names;
  od_templates templates;
  const char *variant;  // asked for, or NULL
  int saved;            // the map of initial values of a saved state, or -1
  int steady;           // the node of 'initial: steady', or -1
  bool nothing_exact;   // all initial values are only where that search begins
  od_culprit *culprit;
  int culprits, culprit_capacity;
  od_loading_block *block;
  int blocks, block_capacity;
  int sums;  // sums around the signal that is being read, and derivatives
  int derivatives;
  int signals;      // signals so far
  int segments;     // segments of sequences so far
  int initials;     // initial values so far
  bool loose_ends;  // an element of the circuit is not connected because of an error that has been reported
} od_draft;

// The sections of a file. Each takes the node of its section, or -1 when the file has none.
void od_load_gravity(od_loader *ld, int node);
void od_load_ground(od_loader *ld, int node);
void od_load_bodies(od_loader *ld, int node);
void od_load_joints(od_loader *ld, int node);
void od_load_joint_frictions(od_loader *ld);  // after inputs and blocks: their factors may be signals
void od_load_rods(od_loader *ld, int node);
void od_load_gears(od_loader *ld, int node);
void od_load_inputs(od_loader *ld, int node);
void od_declare_blocks(od_loader *ld, int node);
void od_load_forces(od_loader *ld, int node);
void od_load_torques(od_loader *ld, int node);
void od_load_contacts(od_loader *ld, int node);
void od_load_oil(od_loader *ld, int node);
void od_load_volumes(od_loader *ld, int node);
void od_load_tanks(od_loader *ld, int node);
void od_load_sources(od_loader *ld, int node);
void od_load_junctions(od_loader *ld, int node);
void od_load_pressure_differences(od_loader *ld, int node);
// Components of one element class.
void od_load_components(od_loader *ld, int class_index, int node);
void od_load_blocks(od_loader *ld);
// 'initial: {file: ...}': the saved state is read before the inputs, which go on at its time.
void od_load_saved_state(od_loader *ld, int node);
// 'initial: steady', in place of a map; read before templates bring their maps.
// is_all: no value is exact.
void od_load_steady_word(od_loader *ld, int node, bool is_all);
void od_load_initial(od_loader *ld, int node);
void od_load_run(od_loader *ld, int node);
// After the model is there: the initial values that were found by balance, the names in run.outputs, and the requirements.
void od_load_balanced(od_loader *ld);
void od_load_run_outputs(od_loader *ld, int node);
void od_load_requirements(od_loader *ld, int node);
// The output that a node names; -1 with a message.
int od_find_model_output(od_loader *ld, int node);

// After the circuit is read: volumes that nothing flows into or out of, and a circuit without oil.
void od_check_volumes(od_loader *ld);
void od_check_oil(od_loader *ld);

// The unit of a quantity of an element ("angle" of a joint) that has an initial value, or NULL.
const char *od_state_quantity_unit(od_loader *ld, int element, const char *name);
// The name of one that is probably meant, or NULL.
const char *od_nearest_state_quantity(od_loader *ld, int element, const char *name);

// Remembers where an element stands, for errors that come from the builder.
void od_remember(od_loader *ld, od_culprit_kind kind, int index, int node);

// Parts of the inputs: one signal (a quantity, or a map with one kind of signal), a sequence of segments, and a signal from a file. They return
// the signal's index in the machine's signals, or -1. `unit` is the input's.
int od_load_signal(od_loader *ld, int node, const char *path, const char *what, const char *unit);
int od_load_sequence(od_loader *ld, int node, const char *path, const char *what, const char *unit);
int od_load_file_signal(od_loader *ld, int node, int key, const char *what, const char *unit);

// A number that may depend on an input: a quantity, an input, or a factor and an input. The field has the unit of the
// whole; its range holds for a quantity. Returns the index of the number, quantity or factor; *input is the input that
// it is multiplied with in the builder, or -1.
int od_read_value(od_loader *ld, const od_section *section, const od_field *field, int *input);

// od_machine_plant() where one of the free numbers is a constant; all of them are free.
od_status od_constant_plant(const od_machine *machine, const int *outputs, int output_count, const int *numbers,
                            int count, od_plant **out, od_error *err);

// 'unit' of an input or a block: an SI unit. "1" with a message when it is none.
const char *od_read_unit(od_loader *ld, int node);
// The unit that a factor needs to make `wanted` of an input: "1" where both measure the same.
const char *od_factor_unit(od_loader *ld, const char *wanted, const char *input_unit);

#endif
