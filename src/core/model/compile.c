// Compiles collected elements to tables in stages; od_compile() at the end lists the stages. The tree of links, the space,
// closures and blocks have separate files (compile_*.c).
#include <string.h>

#include "base/formula.h"
#include "model/builder.h"
#include "model/joint_types.h"
#include "model/outputs.h"

// ---- copies of the collected elements in the model's own memory

static void *copy(od_arena *arena, const void *from, int count, size_t size) {
  void *to = od_arena_take(arena, (size_t)(count > 0 ? count : 1) * size);
  if (to && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

// Lists the classes that the machine uses, in the order of the list of all classes. Sets the classes of instances and
// blocks to indices in the resulting lists. Returns false if an allocation fails.
static bool list_classes(od_model *m, od_arena *arena) {
  int elements = od_element_class_count(), blocks = od_block_class_all();
  int *local = od_arena_take(arena, (size_t)(elements + blocks) * sizeof *local);
  const od_element_class **used = od_arena_take(arena, (size_t)elements * sizeof *used);
  m->element_class = used;
  m->block_class = od_arena_take(arena, (size_t)blocks * sizeof *m->block_class);
  if (!local || !used || !m->block_class) return false;
  for (int i = 0; i < m->instances; i++) local[m->instance[i].element_class] = 1;
  for (int i = 0; i < m->blocks; i++) local[elements + m->spec[i].block_class] = 1;
  for (int k = 0; k < elements; k++)
    if (local[k]) {
      local[k] = m->element_classes;
      used[m->element_classes++] = od_element_class_at(k);
    }
  for (int k = 0; k < blocks; k++)
    if (local[elements + k]) {
      local[elements + k] = m->block_classes;
      m->block_class[m->block_classes++] = k;
    }
  for (int i = 0; i < m->instances; i++) m->instance[i].element_class = local[m->instance[i].element_class];
  for (int i = 0; i < m->blocks; i++) {
    od_block *block = &m->block[i];
    od_block_spec *spec = &m->spec[i];
    block->block_class = local[elements + spec->block_class];
    block->list_inputs = spec->inputs;
    block->sample = spec->sample;
    memcpy(block->choice, spec->choice, sizeof block->choice);
    if (block->operations) spec->formula = (od_formula){block->operations, m->operation + block->formula};
  }
  return true;
}

// Copies all tables of the builder's model to the memory of the new model. Returns false if an allocation fails.
static bool copy_tables(const od_model *from, od_model *m, od_arena *arena) {
  bool ok = true;
#define TABLE(field, count) ok = ok && (m->field = copy(arena, from->field, from->count, sizeof *from->field)) != NULL
  TABLE(text, text_size);
  TABLE(theta, numbers);
  TABLE(path, numbers);
  TABLE(unit, numbers);
  TABLE(body, bodies);
  TABLE(point, points);
  TABLE(joint, joints);
  TABLE(rod, rods);
  TABLE(gear, gears);
  TABLE(difference, differences);
  TABLE(load, loads);
  TABLE(input, inputs);
  TABLE(node, nodes);
  TABLE(instance, instances);
  TABLE(block, blocks);
  TABLE(spec, blocks);
  TABLE(operation, operations);
  TABLE(block_line, block_lines);
#undef TABLE
  m->text_room = m->text_size;
  return ok && list_classes(m, arena);
}

// ---- links and coordinates that elements act on

// Sets the weights of coordinates. Sliding coordinates have a typical length as weight, so that meters are comparable with
// radians. Preferred coordinates have half the weight.
static void weigh_coordinates(od_model *m) {
  for (int j = 0; j < m->coordinates; j++) {
    bool preferred = m->joint[m->link[m->coordinate_link[j]].joint].spec.independent;
    m->coordinate_weight[j] = od_model_coordinate_unit(m, j) * (preferred ? 0.5 : 1);
  }
}

// Sets the link of each point.
static void resolve_points(od_model *m) {
  for (int i = 0; i < m->points; i++)
    m->point[i].link = m->point[i].body == OD_GROUND ? 0 : m->body[m->point[i].body].link;
}

// Returns the part of a message about a joint that closes a loop; "" for a joint of the tree.
static const char *in_loop(const od_joint *j) {
  return j->link < 0 ? ", which closes a loop" : "";
}

// Reports gears whose joints are not in the tree, because gears couple coordinates of the tree.
static void check_gears(od_build *b, const od_model *m) {
  for (int i = 0; i < m->gears; i++) {
    const od_gear *g = &m->gear[i];
    for (int k = 0; k < 2; k++) {
      const od_joint *j = &m->joint[k ? g->joint_b : g->joint_a];
      if (j->coordinates != 1)
        od_build_report(
            b, OD_ABOUT_GEAR, i,
            "gear '%s' couples the %s joint '%s'%s; expected a revolute, prismatic or screw joint of the tree",
            od_model_text(m, g->name), od_joint_class_of(j->spec.type)->name, od_model_text(m, j->name), in_loop(j));
    }
  }
}

// Sets the links and coordinates that loads act on; reports joints that cannot have a load.
static void resolve_elements(od_build *b, od_model *m) {
  for (int i = 0; i < m->loads; i++) {
    od_load *load = &m->load[i];
    switch (load->kind) {
      case OD_LOAD_CONTACT:
      case OD_LOAD_FORCE: load->link = m->point[load->point].link; break;
      case OD_LOAD_TORQUE: load->link = m->body[load->link].link; break;
      case OD_LOAD_JOINT: {
        const od_joint *j = &m->joint[load->coordinate];
        if (j->coordinates != 1)
          od_build_report(b, OD_ABOUT_JOINT, load->coordinate,
                          "'%s' acts in the %s joint '%s'%s; expected a revolute, prismatic or screw joint of the tree",
                          od_model_text(m, load->name), od_joint_class_of(j->spec.type)->name,
                          od_model_text(m, j->name), in_loop(j));
        load->coordinate = j->coordinate;
        load->link = j->link >= 0 ? j->link : 0;
        break;
      }
    }
  }
}

// ---- the circuit

// Returns the index of the actuator of an element. Adds a new actuator unless another element already acts in the same joint.
static int find_actuator(od_model *m, const od_actuator *wanted) {
  for (int i = 0; wanted->coordinate >= 0 && i < m->actuators; i++)
    if (m->actuator[i].coordinate == wanted->coordinate) return i;
  m->actuator[m->actuators] = *wanted;
  return m->actuators++;
}

// Lists the actuators of all elements that act on the mechanism. Reports joints that cannot have an actuator. Returns false if an
// allocation fails.
static bool list_actuators(od_build *b, od_model *m, od_arena *arena) {
  m->actuator = od_arena_take(arena, (size_t)(m->instances + 1) * sizeof *m->actuator);
  if (!m->actuator) return false;
  for (int i = 0; i < m->instances; i++) {
    od_instance *e = &m->instance[i];
    const od_element_description *c = od_instance_description(m, e);
    if (c->equations->acts == OD_ACTS_NOWHERE) continue;
    if (e->joint >= 0) {
      const od_joint *j = &m->joint[e->joint];
      if (j->coordinates != 1)
        od_build_report(
            b, OD_ABOUT_JOINT, e->joint,
            "an element (%s) acts in the %s joint '%s'%s; expected a revolute, prismatic or screw joint of the tree",
            c->noun, od_joint_class_of(j->spec.type)->name, od_model_text(m, j->name), in_loop(j));
      e->actuator = find_actuator(m, &(od_actuator){-1, -1, j->coordinate, -1});
    } else {
      e->actuator = e->host >= 0 ? m->instance[e->host].actuator
                                 : find_actuator(m, &(od_actuator){e->point_a, e->point_b, -1, -1});
    }
  }
  return true;
}

// Numbers the rows of derivatives of actuators' lengths. Without loops, all coordinates are independent, so actuators
// in joints need no row.
static void number_length_rows(od_model *m) {
  for (int i = 0; i < m->actuators; i++)
    if (m->rows > 0 || m->actuator[i].coordinate < 0) m->actuator[i].length_row = m->length_rows++;
}

// Numbers the first-order states (pressures of volumes, then states of elements) and the junctions.
static void list_circuit_states(od_model *m) {
  for (int i = 0; i < m->nodes; i++) {
    if (m->node[i].kind == OD_NODE_VOLUME) m->node[i].state = m->circuit_states++;
    m->node[i].junction = m->node[i].kind == OD_NODE_JUNCTION ? m->junctions++ : -1;
  }
  for (int i = 0; i < m->instances; i++) {
    const od_element_state *state = od_instance_description(m, &m->instance[i])->states;
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && state[k].name; k++)
      if (state[k].present_if < 0 || m->theta[m->instance[i].number + state[k].present_if] > state[k].present_above)
        m->instance[i].state[k] = m->circuit_states++;
  }
}

static bool list_switchers(od_model *m, od_arena *arena) {
  m->switcher = od_arena_take(arena, (size_t)(m->instances + 1) * sizeof *m->switcher);
  for (int i = 0; m->switcher && i < m->instances; i++) {
    bool switches = od_instance_class(m, &m->instance[i])->margin != NULL;
    m->instance[i].switcher = switches ? m->switchers : -1;
    if (switches) m->switcher[m->switchers++] = i;
  }
  return m->switcher != NULL;
}

static void list_suppliers(od_model *m) {
  for (int i = 0; i < m->instances; i++)
    m->instance[i].supplier = od_instance_class(m, &m->instance[i])->supply ? m->suppliers++ : -1;
}

// Numbers the jumps of the model: first the jumps of elements, then the jumps of blocks.
static void list_jumps(od_model *m) {
  for (int i = 0; i < m->instances; i++) {
    m->instance[i].held = m->jumps;
    od_formula formula = od_instance_formula(m, &m->instance[i]);
    m->jumps += od_formula_jumps(&formula);
  }
  for (int i = 0; i < m->blocks; i++) {
    m->block[i].held = m->jumps;
    m->jumps += m->block[i].jumps = od_block_count(&m->spec[i]).jumps;
  }
}

// Sets the typical rates of the first-order states: 10 bar/s for pressures of nodes and for states of blocks in
// pascals; for other states of blocks, the scale of their class, or 1. Element classes define the typical rates of
// their states. With a typical rate of 1, round-off of a state in pascals would look like a large correction. Returns false if an
// allocation fails.
static bool scale_states(od_model *m, od_arena *arena) {
  m->state_scale = OD_TAKE(arena, double, m->states);
  if (!m->state_scale) return false;
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) m->state_scale[m->node[i].state] = 1e6;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_state *state = od_instance_description(m, e)->states;
    for (int k = 0; k < OD_MOST_ELEMENT_STATES; k++)
      if (e->state[k] >= 0)
        m->state_scale[e->state[k]] = state[k].scale > 0 ? state[k].scale : m->theta[e->number + state[k].scale_field];
  }
  for (int i = 0; i < m->blocks; i++) {
    double scale = od_block_class_of(&m->spec[i])->state_scale;
    for (int k = 0; k < m->block[i].states; k++) m->state_scale[m->block[i].state + k] = scale > 0 ? scale : 1;
  }
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_BLOCK_STATE && m->output[i].is_pressure) m->state_scale[m->output[i].index] = 1e6;
  return true;
}

od_model *od_compile(od_build *b) {
  od_arena arena = {0};
  od_model *m = od_arena_take(&arena, sizeof *m);
  if (!m) return NULL;
  *m = b->part;
  if (!copy_tables(&b->part, m, &arena)) goto no_memory;
  size_t links = OD_MOST_JOINT_COORDINATES * (size_t)m->joints + 1;
  m->link = od_arena_take(&arena, links * sizeof *m->link);
  m->coordinate_link = od_arena_take(&arena, links * sizeof *m->coordinate_link);
  m->coordinate_weight = od_arena_take(&arena, links * sizeof *m->coordinate_weight);
  m->z0 = od_arena_take(&arena, links * sizeof *m->z0);
  m->zd0 = od_arena_take(&arena, links * sizeof *m->zd0);
  m->chart0 = od_arena_take(&arena, OD_CHART_SIZE * links * sizeof *m->chart0);
  if (!m->link || !m->coordinate_link || !m->coordinate_weight || !m->z0 || !m->zd0 || !m->chart0) goto no_memory;
  for (size_t i = 0; i < OD_CHART_SIZE * links; i++) {
    size_t k = i % OD_CHART_SIZE;  // the identity
    m->chart0[i] = k < OD_CHART_QUATERNION ? k % 4 == 0 : k == OD_CHART_QUATERNION;
  }
  od_compile_tree(b, m);
  if (!b->problems) {
    resolve_points(m);
    resolve_elements(b, m);
    check_gears(b, m);
    od_compile_space(b, m);
    weigh_coordinates(m);
    list_circuit_states(m);
    if (m->junctions && !od_group_junctions(m, &arena)) goto no_memory;
    od_find_reservoir(b, m);
    if (m->junctions) od_check_junctions(b, m);
    if (!list_switchers(m, &arena)) goto no_memory;
    list_suppliers(m);
    list_jumps(m);
    if (!list_actuators(b, m, &arena) || !od_compile_block_signals(m, &arena)) goto no_memory;
    if (!od_compile_closures(m, &arena) || !od_outputs_list(m, &arena) || !od_compile_blocks(b, m, &arena))
      goto no_memory;
    if (!scale_states(m, &arena) || !od_join_batches(m, &arena)) goto no_memory;
    number_length_rows(m);
    if (!od_layout_fill(m, &m->layout)) goto no_memory;
    if (!od_join_tables(m, &arena) || !od_join_rows(m, &arena, b->sparsity)) goto no_memory;
  }
  m->memory = arena.last;
  return m;

no_memory:
  od_arena_free(&arena);
  return NULL;
}

// The arena contains all memory of the model, including the model itself.
void od_model_free(od_model *m) {
  if (!m) return;
  od_arena arena = {.last = m->memory};
  od_arena_free(&arena);
}

od_model_facts od_model_get_facts(const od_model *m) {
  int loops = m->rods + m->gears;
  for (int i = 0; i < m->joints; i++) loops += m->joint[i].link < 0;
  return (od_model_facts){.bodies = m->bodies,
                          .joints = m->joints,
                          .loops = loops,
                          .coordinates = m->coordinates,
                          .closure_rows = m->rows,
                          .closure_rank = m->coordinates - m->freedom,
                          .freedom = m->freedom,
                          .blocks = m->blocks,
                          .planar = m->planar,
                          .linear = od_model_is_linear(m)};
}
