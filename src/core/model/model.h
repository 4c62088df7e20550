// The compiled machine: tables that od_build_finish() writes once. Afterwards any number of threads may read the tables. The parts
// have separate headers: mechanism.h, circuit_tables.h, signal_tables.h, output_kinds.h.
//
// Items of tables contain numbers and indices, but no addresses. Thus a program can use the tables of an image in place
// (image_read.c). od_model itself contains the addresses of the tables. model_tables.c describes all tables. Names and units are
// offsets in od_model.text; od_model_text() returns the text.
#ifndef OD_MODEL_H
#define OD_MODEL_H

#include <stdbool.h>

#include "base/formula.h"
#include "base/parts.h"
#include "blocks/block_classes.h"
#include "elements/elements.h"
#include "model/circuit_tables.h"
#include "model/layout.h"
#include "model/mechanism.h"
#include "model/output_kinds.h"
#include "model/signal_tables.h"
#include "model/step_pattern.h"
#include "model/tree_states.h"
#include "oleodyn/build.h"
#include "oleodyn/plant.h"

// Method that factors Newton's matrix of implicit steps; chosen when the model is built (plant/newton_choice.c).
typedef enum od_newton { OD_NEWTON_DENSE, OD_NEWTON_SPARSE, OD_NEWTON_TREE } od_newton;

struct od_model {
  // All texts; the text at offset 0 is empty. A model from an image without names has no texts: text_size is 0.
  const char *text;
  int text_size, text_room;
  int title;
  int numbers;
  double *theta;
  int *path, *unit;  // texts of each number of theta

  int bodies, points, joints, rods, gears, loads, inputs, differences, outputs;
  od_body *body;
  od_point *point;
  od_joint *joint;
  od_rod *rod;
  od_gear *gear;
  od_difference *difference;
  od_load *load;
  od_input *input;
  od_output *output;
  int *output_order;  // outputs in the order of their names by strcmp()
  int gravity;        // index of the first of the three numbers of gravity in theta; -1: no gravity

  int element_classes, block_classes;
  const od_element_class *const
      *element_class;  // classes that the machine uses, in the order of the list of all classes
  int *block_class;    // classes of blocks that the machine uses: indices in the list of all classes
  int operations;
  od_operation *operation;  // operations of all formulas; in a compiled model, the start of join.pool

  int nodes, instances, actuators, junctions;
  int length_rows;  // number of rows of actuators' lengths
  od_node *node;
  od_instance *instance;
  od_actuator *actuator;
  od_join join;
  od_oil_law oil_law;
  bool oil_tension;    // whether the rate of a pressure has no other equation below zero (od_build_oil_tension)
  int oil;             // index of the first number of the oil; -1: no oil
  int viscosity;       // index of the first number of the oil's viscosity; -1: the default viscosity
  int circuit_states;  // number of states of the circuit: pressures of volumes, then states of elements

  int signals;  // number of signals: inputs of the machine, then outputs of blocks
  int blocks, block_lines, measures, drives, states;
  od_block *block;
  od_block_spec *spec;  // settings of each block with the addresses of formulas
  od_block_line *block_line;
  int *block_order;    // order of evaluation: each block comes after the blocks whose outputs it depends on directly
  od_output *measure;  // quantities that blocks measure
  int *drive;          // signals of blocks that act on the mechanism or the circuit
  int block_slopes;    // total number of stored derivatives of all blocks
  int suppliers;       // number of elements with a supply
  int jumps;           // number of jumps of formulas and blocks that can be held (base/formula.h)
  int switchers;       // number of elements with modes
  int *switcher;
  int block_switchers;  // number of blocks with modes
  int *block_switcher;
  int samplers;  // number of sampled blocks; `sampler` lists them in the order in which they run
  int *sampler;
  int rings;  // number of scalars in the memory of delays: an index and the stored samples of each delay

  // `states` above is the number of all first-order states. The states of the circuit come first.

  int links, coordinates, charts;
  od_link *link;
  int *coordinate_link;  // link of each coordinate
  double *
      coordinate_weight;  // weight of each coordinate in the choice of dependent coordinates; coordinates with small weights are
                          // preferred as independent
  int closures, rows, path_steps, entries;
  od_closure *closure;
  od_path_step *path_step;

  bool planar;
  double plane[3][3];  // rows: the plane's two axes and its normal (spatial machines: the identity)
  double size;         // a typical length of the machine, m

  int freedom;  // degrees of freedom
  od_newton newton;
  od_tree_states tree_states;  // only for machines without loops
  double *chart0;              // reference rotations of spherical joints at the start, OD_CHART_SIZE each
  // The assembled initial state: all coordinates, rates of all coordinates, and states of the circuit and of blocks.
  double *z0, *zd0, *c0;
  double *state_scale;   // typical rates of the first-order states, per second
  double stored0, oil0;  // energy stored in the initial state, J; mass of oil in all volumes at the start, kg

  od_layout layout;
  od_step_pattern step;
  void *memory;  // last chunk of the arena that contains the model and its tables
};

// Powers in the order of od_plant_ops.powers, in W: losses of elements; power supplied by loads; power absorbed by nodes; power
// supplied by elements. In machines with nodes, the last entry is the mass flow of oil that elements supply to volumes, in kg/s.
enum { OD_POWER_ELEMENT, OD_POWER_LOAD, OD_POWER_NODE, OD_POWER_SUPPLY, OD_POWER_OIL, OD_POWER_KINDS };
// Returns the index of the first power of a kind; for OD_POWER_KINDS, the number of powers.
static inline int od_model_power(const od_model *m, int kind) {
  const int count[OD_POWER_KINDS] = {m->instances, m->loads, m->nodes, m->suppliers, m->nodes > 0};
  int begin = 0;
  for (int i = 0; i < kind; i++) begin += count[i];
  return begin;
}

static inline const od_element_class *od_instance_class(const od_model *m, const od_instance *instance) {
  return m->element_class[instance->element_class];
}
// Returns the description of an instance's class. For the builder and readers only; see elements.h.
static inline const od_element_description *od_instance_description(const od_model *m, const od_instance *instance) {
  return od_element_description_of(od_instance_class(m, instance));
}
static inline const od_element_class *od_batch_class(const od_model *m, const od_batch *batch) {
  return m->element_class[batch->element_class];
}
static inline const od_block_spec *od_block_spec_in(const od_model *m, const od_block *block) {
  return &m->spec[block - m->block];
}
static inline od_formula od_instance_formula(const od_model *m, const od_instance *e) {
  return (od_formula){e->operations, e->operations > 0 ? m->operation + e->formula : NULL};
}

// Returns a text of the model; an empty text if the model has no names.
static inline const char *od_model_text(const od_model *m, int text) {
  return m->text_size > 0 ? m->text + text : "";
}
static inline const char *od_number_path(const od_model *m, int number) {
  return m->text_size > 0 ? m->text + m->path[number] : "";
}
static inline const char *od_number_unit(const od_model *m, int number) {
  return m->text_size > 0 ? m->text + m->unit[number] : "";
}

// Return counts and properties of a model that belong to parts that a build may leave out (base/parts.h): 0 or false in a build
// without the part. Models that need a missing part are rejected (model_parts.h), so code that only these models need is not
// linked.
static inline int od_model_blocks(const od_model *m) {
  return OD_WITH_BLOCKS ? m->blocks : 0;
}
static inline int od_model_samplers(const od_model *m) {
  return OD_WITH_BLOCKS ? m->samplers : 0;
}
// Only spatial machines have reference rotations.
static inline int od_model_charts(const od_model *m) {
  return OD_WITH_SPATIAL ? m->charts : 0;
}
static inline int od_model_loads(const od_model *m) {
  return OD_WITH_LOADS ? m->loads : 0;
}
static inline int od_model_junctions(const od_model *m) {
  return OD_WITH_JUNCTIONS ? m->junctions : 0;
}
static inline bool od_model_has_heat(const od_model *m) {
  return OD_WITH_HEAT && m->join.reservoir >= 0;
}
static inline bool od_model_has_tree(const od_model *m) {
  return OD_WITH_TREE && m->newton == OD_NEWTON_TREE;
}
static inline bool od_model_has_sparse_steps(const od_model *m) {
  return OD_WITH_SPARSE && m->newton == OD_NEWTON_SPARSE;
}
static inline bool od_model_has_sparse_rows(const od_model *m) {
  return OD_WITH_SPARSE && m->join.row_start;
}

// Return the number of switchers (elements with modes, then blocks with modes) and the name of switcher i.
static inline int od_model_switchers(const od_model *m) {
  return OD_WITH_MODES ? m->switchers + m->block_switchers : 0;
}
static inline const char *od_model_switcher_name(const od_model *m, int i) {
  return od_model_text(
      m, i < m->switchers ? m->instance[m->switcher[i]].name : m->block[m->block_switcher[i - m->switchers]].name);
}

// Returns a batch that contains only the given instance.
static inline od_batch od_instance_batch(const od_model *m, const od_instance *e) {
  const od_element_class *c = od_instance_class(m, e);
  od_batch b = m->join.batch[e->batch];
  b.count = 1;
  b.in = e->in, b.out = e->out;
  b.kept += e->place * c->kept, b.report += e->place * c->reports, b.slope = e->slope;
  b.number += e->place, b.host += e->place, b.choice += e->place * c->choices;
  if (b.formula > 0) b.formula += e->place, b.operations += e->place, b.held += e->place;
  return b;
}

// Returns the reason why the formula of a block is invalid, as the predicate of a sentence, or NULL if the formula is valid. With
// modes, the formula also reads the block's states and has two results.
static inline const char *od_block_formula_problem(const od_model *m, const od_block *block) {
  const od_block_class *c = od_block_class_of(od_block_spec_in(m, block));
  od_formula formula = {block->operations, block->operations > 0 ? m->operation + block->formula : NULL};
  int states = c->margin ? block->states : 0;
  if (!c->has_formula) return NULL;
  if (c->margin && formula.count < 2) return "has no formula";
  return od_formula_problem(&formula, block->inputs + states + block->numbers);
}

// Returns the unit of a coordinate: 1 rad, or a typical length of the machine in m.
static inline double od_model_coordinate_unit(const od_model *m, int coordinate) {
  return m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? m->size : 1;
}

// Return the constant signed distance of a point, or of a body's origin, from the plane of a planar machine, m.
double od_model_level(const od_model *m, int point);
double od_model_body_level(const od_model *m, int body);

// Computes mass (kg), center (m) and inertia tensor about the center (kg m2: xx yy zz xy xz yz) of a body, in its own frame.
void od_model_body_inertia(const od_model *m, int body, double *mass, double center[3], double inertia[6]);

typedef struct od_model_facts {
  int bodies, joints, loops, coordinates, closure_rows, closure_rank, freedom, blocks;
  bool planar, linear;
} od_model_facts;
od_model_facts od_model_get_facts(const od_model *model);

// Writes the unit of a time derivative of a quantity (order 1: its rate): "m" gives "m/s", "m/s" gives "m/s2".
void od_rate_unit(const char *unit, int order, char *text, size_t size);

// Returns whether the model consists of linear blocks only. Then rates and outputs are linear in states and inputs, with constant
// coefficients.
bool od_model_is_linear(const od_model *model);

// Returns the spec of a block of a builder.
const od_block_spec *od_build_block_spec(const od_build *b, int block);

#endif
