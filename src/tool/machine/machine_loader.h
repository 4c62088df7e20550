// The machine while it is loaded: its struct, the shared state of the readers, and the readers in the order of their calls. Only
// this module includes this header; machine.h is the interface for other modules.
#ifndef OD_MACHINE_LOADER_H
#define OD_MACHINE_LOADER_H

#include "blocks/block.h"
#include "document/quantities.h"
#include "machine/look.h"
#include "machine/machine_phases.h"
#include "machine/names.h"
#include "machine/templates.h"
#include "machine/requirement.h"
#include "oleodyn/build.h"
#include "oleodyn/machine.h"
#include "signals/signal.h"

typedef struct od_machine_input {
  const char *name, *unit;
  int signal;  // index in the machine's signals
} od_machine_input;

// A machine. The arena of the document owns the machine.
struct od_machine {
  od_document *document;  // file, texts and numbers
  const char *title;
  od_machine_input *input;
  int inputs;
  od_signals *signals;
  od_run_defaults run;
  double start;  // time of the inputs at the start of the run, s
  od_machine_phase *phase;
  int phases;
  od_requirement *requirement;
  int requirements;
  od_model *model;
  const char *problem;  // first problem of the initial state; NULL: the machine has an initial state
  od_template_instance *instance;
  int instances;
  od_look look;
  struct od_fmu_import **fmu;  // imported FMUs, which the machine closes
  int fmus;
  od_load_options loaded;  // the options of the load, without `content`
};

// An element of the builder and its place in the file, for errors of od_build_finish().
typedef struct od_culprit {
  od_culprit_kind kind;
  int index;
  int node;  // node in the file
} od_culprit;

typedef struct od_loading_fmu od_loading_fmu;

// A block between its declaration (after the inputs) and its reading (when all quantities that blocks may measure are
// known).
typedef struct od_loading_block {
  int key, element, block_class;     // block_class: -1 after an error
  const char *name, *path, *what;    // name in the model; prefix of the paths of its numbers; name in messages
  const char *measures[2];           // quantities that the inputs measure if the block has no keys for inputs; or NULL
  int map;                           // node of the block's section, or -1
  const char *unit;                  // unit of the first output
  int index;                         // index in the builder, or OD_NOT_BUILT
  const struct od_foreign_law *law;  // the law of an FMU or of the program; NULL: another block
  double sample;                     // the sampling period of the law, s; 0: continuous
  od_loading_fmu *fmu;
  const od_named_law *named;                     // the law of the program; NULL: another block
  const char *state_unit[OD_MOST_BLOCK_STATES];  // unit of each state; NULL: unknown because of an error
} od_loading_block;

// The state of the readers while the machine is loaded: ld->draft. ld->scratch owns the lists.
typedef struct od_draft {
  od_machine *machine;
  od_build *build;
  od_names names;
  od_templates templates;
  const char *variant;  // requested variant, or NULL
  int saved;            // map of the initial values of a saved state, or -1
  int steady;           // node of 'initial: steady', or -1
  bool only_guesses;    // whether all initial values are only initial guesses of the steady state
  od_culprit *culprit;
  int culprits;
  od_loading_block *block;
  int blocks;
  int sums;         // number of sums around the signal being read
  int derivatives;  // number of derivatives around the signal being read
  int signals;      // number of signals so far
  int segments;     // number of segments of sequences so far
  int initials;     // number of initial values so far
  bool may_lack_initial_state;
  bool loose_ends;  // whether an element of the circuit is unconnected because of a reported error
} od_draft;

// Returns an element by its index among the names. The pointer is valid until the next element is declared.
static inline od_element *od_element_at(const od_loader *ld, int element) {
  return &ld->draft->names.element[element];
}

// A loader of one element. `key`: its key in the file; `element`: its index among the names.
typedef void od_element_loader(od_loader *ld, int key, int element);
od_element_loader od_load_body, od_load_rod, od_load_gear, od_load_force, od_load_torque, od_load_contact;
od_element_loader od_load_volume, od_load_tank, od_load_source, od_load_difference, od_load_valve, od_load_cylinder;
// Opens the section of an element. The name of the element is the path of the section. In messages, the element is
// called, for example, "the orifice 'bleed'".
od_section od_open_element(od_loader *ld, int key, int element, const od_section_class *c);

// Loaders of the sections. `node`: the node of the section; -1: the file has no such section.
void od_load_gravity(od_loader *ld, int node);
void od_load_ground(od_loader *ld, int node);
void od_load_joints(od_loader *ld, int node);
void od_load_joint_frictions(od_loader *ld);  // call after inputs and blocks, because the factors may be signals
void od_load_inputs(od_loader *ld, int node);
void od_declare_blocks(od_loader *ld, int node);
void od_load_oil(od_loader *ld, int node);
void od_load_junctions(od_loader *ld, int node);
// Loads the components of one element class.
void od_load_components(od_loader *ld, int class_index, int node);
// Returns the table of the section of a class with parts; NULL: the table of the class describes its section completely.
const od_section_class *od_component_section(const od_element_description *c);
void od_load_blocks(od_loader *ld);
// Loads 'initial: {file: ...}'. The saved state is read before the inputs, because the inputs continue at the time of this state.
void od_load_saved_state(od_loader *ld, int node);
// Loads the word 'steady' of 'initial: steady' (is_all true: no value is exact), or of 'others: steady'. 'initial:
// steady' is not a map, so the word is loaded before the maps of templates are merged.
void od_load_steady_word(od_loader *ld, int node, bool is_all);
void od_load_initial(od_loader *ld, int node);
void od_load_look(od_loader *ld, int node);
void od_load_run(od_loader *ld, int node);
// Load the balanced initial values, the names in run.outputs, and the requirements. Call these functions after the model is built.
void od_load_balanced(od_loader *ld);
void od_load_run_outputs(od_loader *ld, int node);
void od_load_requirements(od_loader *ld, int node);
// Returns the output whose name is given at a node, or -1 after reporting an error.
int od_find_model_output(od_loader *ld, int node);

// Report volumes without connections, and a circuit without oil. Call these functions after the circuit is read.
void od_check_volumes(od_loader *ld);
void od_check_oil(od_loader *ld);

// Returns the unit of a quantity of an element ("angle" of a joint) that can have an initial value; NULL: no such quantity.
const char *od_state_quantity_unit(od_loader *ld, int element, const char *name);
// Returns the name nearest to `name` among the quantities of an element that can have an initial value; NULL: no name is near.
const char *od_nearest_state_quantity(od_loader *ld, int element, const char *name);

// Stores the node of an element for error messages of the builder.
void od_remember(od_loader *ld, od_culprit_kind kind, int index, int node);

// Load parts of the inputs: one signal (a quantity, or a map with one kind of signal), a sequence of segments, and a signal from
// a file. Each returns the index in the machine's signals, or -1. `unit`: unit of the input.
int od_load_signal(od_loader *ld, int node, const char *path, const char *what, const char *unit);
int od_load_sequence(od_loader *ld, int node, const char *path, const char *what, const char *unit);
int od_load_file_signal(od_loader *ld, int node, int key, const char *what, const char *unit);

// Reads a number that may depend on an input: a quantity, an input, or a factor and an input. The field has the unit of the result;
// the range of the field applies to a quantity. Returns the index of the quantity or factor among the numbers. *input: the input by
// which the builder multiplies this number; -1: none.
int od_read_value(od_loader *ld, const od_section *section, const od_field *field, int *input);

// Same as od_machine_plant(), if one of the free numbers is a constant. od_machine_number_is_free() must hold for every
// number. Fails like od_machine_plant().
od_status od_constant_plant(const od_machine *machine, const int *outputs, int output_count, const int *numbers,
                            int count, od_plant **out, od_error *err);

// Returns the SI unit under 'unit' of an input or a block. If the text is not an SI unit, reports an error and returns
// the SI unit of the same dimension, or "1" if the unit is unknown.
const char *od_read_unit(od_loader *ld, int node);
// Returns the unit of a factor that converts an input to the unit `wanted`: "1" if both units have the same dimension.
const char *od_factor_unit(od_loader *ld, const char *wanted, const char *input_unit);

#endif
