// Collects the parts of a machine (bodies, joints, elements, blocks ...) in growing tables, one table per kind.
#include "oleodyn/build.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "base/allocate.h"
#include "base/text.h"
#include "model/builder.h"

int od_model_add_text(od_model *m, od_arena *arena, const char *text) {
  size_t length = strlen(text) + 1, used = (size_t)m->text_size;
  if (length > (size_t)INT_MAX / 2 - used) arena->exhausted = true;
  if (arena->exhausted) return 0;
  if (used + length > (size_t)m->text_room) {
    size_t room = 2 * (used + length) + 256;
    char *larger = od_arena_take(arena, room);
    if (!larger) return 0;
    if (used) memcpy(larger, m->text, used);
    m->text = larger;
    m->text_room = (int)room;
  }
  memcpy((char *)m->text + used, text, length);
  m->text_size += (int)length;
  return (int)used;
}

static int text(od_build *b, const char *t) {
  int added = od_model_add_text(&b->part, &b->arena, t ? t : "");
  b->no_memory = b->no_memory || b->arena.exhausted;
  return added;
}

od_build *od_build_new(void) {
  od_build *b = od_calloc(1, sizeof *b);
  if (!b) return NULL;
  b->part.gravity = b->part.oil = b->part.viscosity = -1;
  b->part.element_class = od_element_classes;
  text(b, "");
  return b;
}

void od_build_free(od_build *b) {
  if (!b) return;
  od_model *p = &b->part;
  void *tables[] = {p->theta,   p->path,    p->unit,  p->body,       p->operation, p->spec, p->point,
                    p->joint,   p->rod,     p->gear,  p->load,       p->input,     p->node, p->instance,
                    b->initial, b->problem, p->block, p->block_line, p->difference};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) od_free(tables[i]);
  od_model_free(b->unassembled);
  od_arena_free(&b->arena);
  od_free(b);
}

// Grows a table so that one more entry fits. If an allocation fails, sets no_memory and returns false.
static bool grow(od_build *b, void *table, int count, int *room, size_t size) {
  if (count < *room) return true;
  int wanted = *room ? 2 * *room : 16;
  void *old, *larger;
  memcpy(&old, table, sizeof old);
  larger = od_realloc(old, (size_t)wanted * size);
  if (!larger) {
    b->no_memory = true;
    return false;
  }
  memcpy(table, &larger, sizeof larger);
  *room = wanted;
  return true;
}

// Indices of the tables' capacities in od_build.room.
enum {
  ROOM_THETA,
  ROOM_PATH,
  ROOM_UNIT,
  ROOM_BODY,
  ROOM_POINT,
  ROOM_JOINT,
  ROOM_ROD,
  ROOM_LOAD,
  ROOM_INPUT,
  ROOM_NODE,
  ROOM_INSTANCE,
  ROOM_BLOCK,
  ROOM_BLOCK_LINE,
  ROOM_DIFFERENCE,
  ROOM_GEAR,
  ROOM_OPERATION,
  ROOM_SPEC
};

void od_build_title(od_build *b, const char *title) {
  b->part.title = text(b, title);
}
void od_build_gravity(od_build *b, int first_number) {
  b->part.gravity = first_number;
}
void od_build_spatial(od_build *b, bool spatial) {
  b->spatial = spatial;
}

int od_build_number(od_build *b, const char *path, double value, const char *unit) {
  od_model *p = &b->part;
  if (!grow(b, &p->theta, p->numbers, &b->room[ROOM_THETA], sizeof *p->theta) ||
      !grow(b, &p->path, p->numbers, &b->room[ROOM_PATH], sizeof *p->path) ||
      !grow(b, &p->unit, p->numbers, &b->room[ROOM_UNIT], sizeof *p->unit))
    return -1;
  p->theta[p->numbers] = value;
  p->path[p->numbers] = text(b, path);
  p->unit[p->numbers] = text(b, unit);
  return p->numbers++;
}

int od_build_body(od_build *b, const char *name, od_shape shape, int first_number) {
  od_model *p = &b->part;
  if (!grow(b, &p->body, p->bodies, &b->room[ROOM_BODY], sizeof *p->body)) return -1;
  p->body[p->bodies] = (od_body){.name = text(b, name), .shape = shape, .number = first_number};
  return p->bodies++;
}

int od_build_point(od_build *b, const char *name, int body, int first_number, int length_number, double fraction) {
  od_model *p = &b->part;
  if (!grow(b, &p->point, p->points, &b->room[ROOM_POINT], sizeof *p->point)) return -1;
  p->point[p->points] = (od_point){
      .name = text(b, name), .body = body, .number = first_number, .length = length_number, .fraction = fraction};
  return p->points++;
}

od_joint_spec od_joint_spec_of(od_joint_type type, int point_a, int point_b) {
  return (od_joint_spec){.type = type,
                         .point_a = point_a,
                         .point_b = point_b,
                         .axis_a = OD_UNUSED,
                         .axis_b = OD_UNUSED,
                         .lead = OD_UNUSED};
}

int od_build_joint(od_build *b, const char *name, const od_joint_spec *spec) {
  od_model *p = &b->part;
  if (!grow(b, &p->joint, p->joints, &b->room[ROOM_JOINT], sizeof *p->joint)) return -1;
  p->joint[p->joints] = (od_joint){.name = text(b, name), .spec = *spec, .link = -1, .coordinate = -1};
  return p->joints++;
}

int od_build_rod(od_build *b, const char *name, int point_a, int point_b, int first_number) {
  od_model *p = &b->part;
  if (!grow(b, &p->rod, p->rods, &b->room[ROOM_ROD], sizeof *p->rod)) return -1;
  p->rod[p->rods] = (od_rod){text(b, name), point_a, point_b, first_number};
  return p->rods++;
}

int od_build_gear(od_build *b, const char *name, int joint_a, int joint_b, int first_number) {
  od_model *p = &b->part;
  if (!grow(b, &p->gear, p->gears, &b->room[ROOM_GEAR], sizeof *p->gear)) return -1;
  p->gear[p->gears] = (od_gear){text(b, name), joint_a, joint_b, first_number};
  return p->gears++;
}

int od_build_input(od_build *b, const char *name, const char *unit) {
  od_model *p = &b->part;
  if (p->blocks) return -1;  // signals of blocks come after all inputs
  if (!grow(b, &p->input, p->inputs, &b->room[ROOM_INPUT], sizeof *p->input)) return -1;
  p->input[p->inputs] = (od_input){text(b, name), text(b, unit), 0};
  p->signals++;
  return p->inputs++;
}

void od_build_input_start(od_build *b, int input, double value) {
  if (input >= 0 && input < b->part.inputs)
    b->part.input[input].start = value;
  else
    od_build_refuse(
        b, OD_ABOUT_MACHINE, -1,
        "there is no input %d for an initial value; expected an index of at least 0 and less than %d, the count of inputs",
        input, b->part.inputs);
}

static int add_load(od_build *b, const char *name, od_load load) {
  od_model *p = &b->part;
  if (!grow(b, &p->load, p->loads, &b->room[ROOM_LOAD], sizeof *p->load)) return -1;
  load.name = text(b, name);
  p->load[p->loads] = load;
  return p->loads++;
}

int od_build_contact(od_build *b, const char *name, int point, int first_number) {
  return add_load(
      b, name,
      (od_load){.kind = OD_LOAD_CONTACT, .point = point, .number = first_number, .input = -1, .coordinate = -1});
}

int od_build_force(od_build *b, const char *name, int point, int first_number, int input, bool follows_body) {
  return add_load(b, name,
                  (od_load){.kind = OD_LOAD_FORCE,
                            .point = point,
                            .number = first_number,
                            .input = input,
                            .coordinate = -1,
                            .follows_body = follows_body});
}

// Until the tree is built, `coordinate` is the index of the joint and `link` the index of the body.
int od_build_joint_force(od_build *b, const char *name, int joint, int first_number, int input) {
  return add_load(
      b, name,
      (od_load){.kind = OD_LOAD_JOINT, .point = -1, .number = first_number, .input = input, .coordinate = joint});
}

int od_build_torque(od_build *b, const char *name, int body, int first_number, int input, bool follows_body) {
  return add_load(b, name,
                  (od_load){.kind = OD_LOAD_TORQUE,
                            .point = -1,
                            .number = first_number,
                            .input = input,
                            .link = body,
                            .coordinate = -1,
                            .follows_body = follows_body});
}

void od_build_initial(od_build *b, const char *quantity, double value, bool exact) {
  const char *copy = od_arena_text(&b->arena, quantity ? quantity : "");
  b->no_memory = b->no_memory || !copy;
  if (!copy || !grow(b, &b->initial, b->initials, &b->initial_room, sizeof *b->initial)) return;
  b->initial[b->initials++] = (od_initial){copy, value, exact, false};
}

void od_build_balance(od_build *b, const char *quantity, double value) {
  od_build_initial(b, quantity, value, false);
  if (b->initials > 0) b->initial[b->initials - 1].balance = true;
}

// ---- the circuit

void od_build_oil(od_build *b, od_oil_law law, int first_number) {
  b->part.oil_law = law;
  b->part.oil = first_number;
}
void od_build_oil_tension(od_build *b) {
  b->part.oil_tension = true;
}
void od_build_oil_viscosity(od_build *b, int first_number) {
  b->part.viscosity = first_number;
}

int od_build_node(od_build *b, const char *name, od_node_kind kind, int first_number, int input) {
  od_model *p = &b->part;
  if (!grow(b, &p->node, p->nodes, &b->room[ROOM_NODE], sizeof *p->node)) return -1;
  p->node[p->nodes] = (od_node){text(b, name), kind, first_number, input, -1, -1};
  return p->nodes++;
}

int od_build_pressure_difference(od_build *b, const char *name, int node_a, int node_b) {
  od_model *p = &b->part;
  if (!grow(b, &p->difference, p->differences, &b->room[ROOM_DIFFERENCE], sizeof *p->difference)) return -1;
  p->difference[p->differences] = (od_difference){text(b, name), node_a, node_b};
  return p->differences++;
}

// ---- elements

od_element_spec od_element_spec_of(const char *class_name) {
  od_element_spec spec = {.element_class = od_element_class_find(class_name),
                          .first_number = OD_UNUSED,
                          .point_a = OD_UNUSED,
                          .point_b = OD_UNUSED,
                          .joint = OD_UNUSED,
                          .host = OD_UNUSED,
                          .signal = OD_UNUSED};
  for (int i = 0; i < OD_MOST_ENDS; i++) spec.end[i] = OD_UNUSED;
  for (int i = 0; i < OD_MORE_SIGNALS; i++) spec.more_signals[i] = OD_UNUSED;
  return spec;
}

// Adds the operations of a formula. Sets the index of the first operation and the number of operations. An invalid number of
// operations is stored for od_build_finish() to report; then no operation is added.
static void keep_formula(od_build *b, od_formula f, int *first, int *count) {
  od_model *p = &b->part;
  *first = p->operations;
  *count = f.operation || f.count < 1 ? f.count : 0;
  for (int i = 0; f.operation && f.count <= OD_MOST_OPERATIONS && i < f.count; i++) {
    if (!grow(b, &p->operation, p->operations, &b->room[ROOM_OPERATION], sizeof *p->operation)) return;
    p->operation[p->operations++] = f.operation[i];
  }
}

// Marks elements of one class that share a node at an end, for classes whose law depends on such sharing.
static void note_sharing(od_model *p, od_instance *e, int end) {
  e->choice[0] = 0;
  for (int i = 0; i < p->instances; i++) {
    od_instance *other = &p->instance[i];
    if (other->element_class == e->element_class && other->end[end] == e->end[end]) e->choice[0] = other->choice[0] = 1;
  }
}

int od_build_element(od_build *b, const char *name, const od_element_spec *spec) {
  od_model *p = &b->part;
  if (!grow(b, &p->instance, p->instances, &b->room[ROOM_INSTANCE], sizeof *p->instance)) return -1;
  // A nonexistent class is reported later (check_build.c).
  bool known = spec->element_class >= 0 && spec->element_class < od_element_class_count();
  const od_element_description *c = known ? od_element_description_at(spec->element_class)
                                          : &(od_element_description){.equations = &(od_element_class){.ins = 0}};
  bool counts = c->equations->has_curve || c->formula_key;
  od_instance e = {.name = text(b, name),
                   .element_class = spec->element_class,
                   .number = spec->first_number,
                   .numbers = counts ? spec->numbers
                                     : c->equations->numbers + (spec->choice[0] ? c->equations->optional_numbers : 0),
                   .host = spec->host,
                   .joint = spec->joint,
                   .friction = -1,
                   .point_a = spec->point_a,
                   .point_b = spec->point_b,
                   .actuator = -1,
                   .signal = spec->signal};
  keep_formula(b, spec->formula, &e.formula, &e.operations);
  memcpy(e.more_signals, spec->more_signals, sizeof e.more_signals);
  memcpy(e.end, spec->end, sizeof e.end);
  memcpy(e.choice, spec->choice, sizeof e.choice);
  if (c->equations->end_choice) e.choice[0] = e.end[od_element_end_count(c) - 1] != OD_UNUSED;
  for (int i = 0; i < OD_MOST_ELEMENT_STATES; i++) e.state[i] = -1;
  if (c->shared_end) note_sharing(p, &e, c->shared_end);
  if (c->equations->acts == OD_ACTS_ON_HOST && e.host >= 0 && e.host < p->instances)
    p->instance[e.host].friction = p->instances;
  p->instance[p->instances] = e;
  return p->instances++;
}

// ---- blocks

// Adds a block. The outputs of the block are signals, which come after the inputs of the machine and the outputs of
// earlier blocks.
int od_build_block(od_build *b, const char *name, const od_block_spec *spec, const char *unit) {
  od_model *p = &b->part;
  const od_block_spec first_class = {0};  // stands for an invalid class, which od_build_finish() reports
  const char *problem = od_block_spec_problem(spec);
  if (problem) od_build_refuse(b, OD_ABOUT_BLOCK, p->blocks, "block '%s' %s", name, problem);
  if (problem) spec = &first_class;
  od_block_counts count = od_block_count(spec);
  od_block block = {.name = text(b, name),
                    .unit = text(b, unit),
                    .number = 0,
                    .numbers = count.numbers,
                    .line = p->block_lines,
                    .inputs = count.inputs,
                    .signal = p->signals,
                    .outputs = count.outputs,
                    .state = -1,
                    .states = count.states};
  keep_formula(b, spec->formula, &block.formula, &block.operations);
  if (!grow(b, &p->block, p->blocks, &b->room[ROOM_BLOCK], sizeof *p->block) ||
      !grow(b, &p->spec, p->blocks, &b->room[ROOM_SPEC], sizeof *p->spec))
    return -1;
  p->spec[p->blocks] = *spec;
  p->spec[p->blocks].formula = (od_formula){0};  // set when the model is compiled
  for (int i = 0; i < block.inputs; i++) {
    if (!grow(b, &p->block_line, p->block_lines, &b->room[ROOM_BLOCK_LINE], sizeof *p->block_line)) return -1;
    p->block_line[p->block_lines++] = (od_block_line){-1, 0};
  }
  p->signals += block.outputs;
  p->block[p->blocks] = block;
  return p->blocks++;
}

static od_block *block_at(od_build *b, int block) {
  if (block >= 0 && block < b->part.blocks) return &b->part.block[block];
  od_build_refuse(
      b, OD_ABOUT_MACHINE, -1,
      "there is no block %d to connect; expected an index of at least 0 and less than %d, the count of blocks", block,
      b->part.blocks);
  return NULL;
}

static void set_line(od_build *b, int block, int place, od_block_line line) {
  const od_block *at = block_at(b, block);
  if (at && place >= 0 && place < at->inputs)
    b->part.block_line[at->line + place] = line;
  else if (at)
    od_build_refuse(
        b, OD_ABOUT_BLOCK, block,
        "block '%s' has no input %d to connect; expected an index of at least 0 and less than %d, the count of inputs",
        od_model_text(&b->part, at->name), place, at->inputs);
}

// Returns -2 for an invalid index, because -1 means "no signal".
int od_build_block_signal(const od_build *b, int block, int output) {
  bool there = block >= 0 && block < b->part.blocks && output >= 0 && output < b->part.block[block].outputs;
  return there ? b->part.block[block].signal + output : -2;
}

void od_build_block_input(od_build *b, int block, int place, int signal) {
  set_line(b, block, place, (od_block_line){signal, 0});
}

void od_build_block_measures(od_build *b, int block, int place, const char *quantity) {
  set_line(b, block, place, (od_block_line){-1, text(b, quantity)});
}

void od_build_block_numbers(od_build *b, int block, int first_number) {
  od_block *at = block_at(b, block);
  if (at && at->numbers > 0) at->number = first_number;
}

void od_build_block_formula(od_build *b, int block, od_formula formula) {
  od_block *at = block_at(b, block);
  if (at) keep_formula(b, formula, &at->formula, &at->operations);
}

const od_block_spec *od_build_block_spec(const od_build *b, int block) {
  return &b->part.spec[block];
}
// A nonexistent block has no outputs and no states. For example, the index of a block is -1 after a failed allocation.
int od_build_block_output_count(const od_build *b, int block) {
  return block >= 0 && block < b->part.blocks ? b->part.block[block].outputs : 0;
}
const char *od_build_block_output_name(const od_build *b, int block, int output) {
  if (output < 0 || output >= od_build_block_output_count(b, block)) return "";
  return od_block_output_name(&b->part.spec[block], output);
}
int od_build_block_state_count(const od_build *b, int block) {
  return block >= 0 && block < b->part.blocks ? b->part.block[block].states : 0;
}
const char *od_build_block_state_name(const od_build *b, int block, int state) {
  if (state < 0 || state >= od_build_block_state_count(b, block)) return "";
  const od_block_spec *spec = &b->part.spec[block];
  const char *name = od_block_state_name(spec, state);
  return name ? name : spec->foreign ? "" : od_block_output_name(spec, state);
}

static void add_problem(od_build *b, od_culprit_kind kind, int index, const char *format, va_list args) {
  char line[512];
  od_text_format_list(line, sizeof line, format, args);
  const char *copy = od_arena_text(&b->arena, line);
  b->no_memory = b->no_memory || !copy;
  if (!grow(b, &b->problem, b->problems, &b->problem_room, sizeof *b->problem)) return;
  b->problem[b->problems++] = (od_problem){kind, index, copy ? copy : "", {0}};
}

void od_build_report(od_build *b, od_culprit_kind kind, int index, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_problem(b, kind, index, format, args);
  va_end(args);
}

void od_build_refuse(od_build *b, od_culprit_kind kind, int index, const char *format, ...) {
  va_list args;
  va_start(args, format);
  b->problems = b->refused;
  add_problem(b, kind, index, format, args);
  b->refused = b->problems;
  va_end(args);
}

int od_build_problem_count(const od_build *b) {
  return b->problems;
}
od_problem od_build_problem(const od_build *b, int i) {
  return b->problem[i];
}
