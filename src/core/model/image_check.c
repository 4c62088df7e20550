// Checks the tables of a model from an image. The description of the tables (model_tables.c) gives the range of every index. The
// functions below check rules for several fields together: sections, counts, offsets in the work memory, settings of classes. A
// model that passes all checks causes no access outside its tables and work memory, and no endless loops.
#include <math.h>
#include <string.h>

#include "base/formula.h"
#include "model/image_form.h"
#include "model/joint_types.h"
#include "model/outputs.h"

typedef struct checking {
  od_model *m;
  od_error *err;
} checking;

// Reports an invalid item of a table. Returns false.
static bool wrong(const checking *c, const char *table, long long item) {
  od_fail(c->err, OD_BAD_INPUT, "the image is damaged: item %lld of its table '%s' is wrong; compile the machine again",
          item, table);
  return false;
}

// Reports a table that is wrong as a whole. Returns false.
static bool wrong_table(const checking *c, const char *table) {
  od_fail(c->err, OD_BAD_INPUT, "the image is damaged: its table '%s' is wrong; compile the machine again", table);
  return false;
}

// ---- fields

// Returns whether the field at `at` has a value that its description allows: finite, an enumerator, a count, an index within its table.
static bool field_is_valid(const od_model *m, const od_model_field *f, const char *at) {
  int value;
  double number;
  if (f->kind == OD_FIELD_DOUBLE) return memcpy(&number, at, sizeof number), isfinite(number);
  if (f->kind == OD_FIELD_BOOL) {
    unsigned char byte;
    return memcpy(&byte, at, sizeof byte), byte <= 1;
  }
  if (f->kind == OD_FIELD_ENUM) {
    unsigned enumerator = 0;
    memcpy(&enumerator, at, f->size);  // the low bytes come first, so a shorter enumeration is also copied correctly
    return enumerator < f->bound;
  }
  for (size_t i = 0; i < f->size; i += sizeof value) {
    memcpy(&value, at + i, sizeof value);
    switch (f->kind) {
      case OD_FIELD_COUNT:
        if (value < 0 || value > OD_MOST_ITEMS) return false;
        break;
      case OD_FIELD_INDEX:
      case OD_FIELD_OPTIONAL:
        if (value < (f->kind == OD_FIELD_OPTIONAL ? -1 : 0) || value >= od_model_count_at(m, f->bound)) return false;
        break;
      case OD_FIELD_START:
        if (value < 0 || value > od_model_count_at(m, f->bound)) return false;
        break;
      case OD_FIELD_ELEMENT_CLASS:
        if (value < 0 || value >= m->element_classes) return false;
        break;
      case OD_FIELD_BLOCK_CLASS:
        if (value < 0 || value >= m->block_classes) return false;
        break;
      case OD_FIELD_TEXT:
        if (m->text_size > 0 ? value < 0 || value >= m->text_size : value != 0) return false;
        break;
      default: break;
    }
  }
  return true;
}

static bool table_is_valid(const checking *c, const od_model_table *t) {
  const char *item = od_model_table_begin(c->m, t);
  for (long long i = 0; i < od_model_table_items(c->m, t); i++, item += t->item)
    for (int k = 0; k < t->fields; k++)
      if (!field_is_valid(c->m, &t->field[k], item + t->field[k].offset)) return wrong(c, t->name, i);
  return true;
}

// ---- counts that the layout of the work memory depends on

// Sums over the batches checked so far: counts of inputs, outputs and other data. The offsets of the next batch must
// equal these sums.
typedef struct sums {
  long long ins, outs, kept, reports, slopes, pool;
} sums;
static void add_batch(sums *s, const od_element_class *c, int count) {
  s->ins += (long long)count * c->ins;
  s->outs += (long long)count * c->outs;
  s->kept += (long long)count * c->kept;
  s->reports += (long long)count * c->reports;
  s->slopes += (long long)count * c->ins * c->outs;
  s->pool += (long long)count * (2 + c->choices + (c->has_formula ? 3 : 0));
}

static bool check_join_counts(const checking *c) {
  const od_join *j = &c->m->join;
  sums s = {.pool = (long long)c->m->operations * OD_OPERATION_INTS};
  if (j->batches != c->m->element_classes) return wrong(c, "join.batch", j->batches);
  long long instances = 0;
  for (int i = 0; i < j->batches; i++) {
    if (j->batch[i].element_class != i || j->batch[i].count < 1 || j->batch[i].count > c->m->instances)
      return wrong(c, "join.batch", i);
    add_batch(&s, c->m->element_class[i], j->batch[i].count);
    instances += j->batch[i].count;
  }
  if (instances != c->m->instances || s.ins != j->ins || s.outs != j->outs || s.kept != j->kept ||
      s.reports != j->reports || s.slopes != j->slopes || s.pool != j->pool_count || j->targets > 2 * j->outs)
    return wrong(c, "join.batch", j->batches);
  if (j->row_starts != 0 && j->row_starts != c->m->circuit_states + 1) return wrong_table(c, "join.row_start");
  return j->row_starts > 0 || j->row_columns == 0 ? true : wrong_table(c, "join.row_start");
}

static bool check_groups(const checking *c) {
  const od_junctions *j = &c->m->join.at_junction;
  long long junctions = 0;
  for (int i = 0; i < j->groups; i++) {
    const od_junction_group *g = &j->group[i];
    if (g->first != junctions || g->count < 1 || g->count > c->m->junctions || g->columns < 0 ||
        g->columns > OD_MOST_ITEMS || g->column < -1 ||
        (g->column >= 0 && (long long)g->column + g->columns > j->columns))
      return wrong(c, "join.at_junction.group", i);
    junctions += g->count;
  }
  return junctions == c->m->junctions ? true : wrong(c, "join.at_junction.group", j->groups);
}

static bool check_mechanism_counts(const checking *c) {
  const od_model *m = c->m;
  long long rows = 0, steps = 0, entries = 0;
  int nd = m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *x = &m->closure[i];
    if (x->row != rows || x->path != steps || x->entry != entries || x->path_count < 0 ||
        x->path_count > m->path_steps - steps || x->rows != (x->kind == OD_CLOSE_POINT ? nd : 1))
      return wrong(c, "closure", i);
    rows += x->rows, steps += x->path_count, entries += (long long)x->rows * x->path_count;
  }
  if (rows != m->rows || steps != m->path_steps || entries != m->entries) return wrong(c, "closure", m->closures);
  int rank = m->coordinates - m->freedom;
  if (m->links < 1 || rank < 0 || rank > m->rows || m->length_rows > m->actuators || m->coordinates >= m->links)
    return wrong(c, "link", m->links);
  return true;
}

static bool check_blocks(const checking *c) {
  const od_model *m = c->m;
  long long lines = 0, signals = m->inputs, states = m->circuit_states, slopes = 0, rings = 0, samplers = 0, modes = 0;
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    const od_block_spec *spec = &m->spec[i];
    const od_block_class *k = od_block_class_of(spec);
    if (!isfinite(b->sample) || b->list_inputs < 0 || b->list_inputs > OD_MOST_BLOCK_INPUTS ||
        od_block_spec_problem(spec))
      return wrong(c, "block", i);
    od_block_counts n = od_block_count(spec);
    if (n.numbers != b->numbers || n.inputs != b->inputs || n.outputs != b->outputs || n.states != b->states ||
        n.jumps != b->jumps || n.inputs > OD_MOST_BLOCK_INPUTS || n.states > OD_MOST_BLOCK_STATES ||
        n.numbers > OD_MOST_BLOCK_NUMBERS || b->number < 0 || b->number > m->numbers - n.numbers)
      return wrong(c, "block", i);
    if (k->has_formula ? od_block_formula_problem(m, b) != NULL : b->operations != 0) return wrong(c, "block", i);
    int samples = k->remembers && b->sample > 0 ? b->choice[k->samples_choice] : 0;
    if (b->line != lines || b->signal != signals || b->state != states || b->slope != slopes || b->ring != rings ||
        b->samples != samples || b->samples > OD_MOST_DELAY_SAMPLES || b->held > m->jumps - b->jumps)
      return wrong(c, "block", i);
    lines += n.inputs, signals += n.outputs, states += n.states;
    slopes += (long long)(n.outputs + n.states) * (n.states + n.inputs);
    rings += samples > 0 ? 1 + samples : 0;
    samplers += b->sample > 0, modes += od_block_has_modes(spec);
  }
  if (lines != m->block_lines || signals != m->signals || states != m->states || slopes != m->block_slopes ||
      rings != m->rings || samplers != m->samplers || modes != m->block_switchers)
    return wrong(c, "block", m->blocks);
  return true;
}

// Checks the numbers of jumps: first the jumps of elements, then the jumps of blocks. Returns false after storing the reason.
static bool check_jumps(const checking *c) {
  const od_model *m = c->m;
  long long jumps = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    if (e->operations < 0 || e->formula < 0 || e->operations > m->operations ||
        e->formula > m->operations - e->operations)
      return wrong(c, "instance", i);
    od_formula f = od_instance_formula(m, e);
    if (e->held != jumps) return wrong(c, "instance", i);
    jumps += od_formula_jumps(&f);
  }
  for (int i = 0; i < m->blocks; i++) {
    if (m->block[i].held != jumps) return wrong(c, "block", i);
    jumps += m->block[i].jumps;
  }
  return jumps == m->jumps ? true : wrong(c, "instance", m->instances);
}

// ---- numbers of theta

// Returns whether theta has `count` numbers from `first` on.
static bool has_numbers(const od_model *m, int first, int count) {
  return count == 0 || (first >= 0 && count > 0 && first <= m->numbers - count);
}
// Returns whether theta has `count` numbers from `first` on, or `first` is -1 (no numbers).
static bool may_have_numbers(const od_model *m, int first, int count) {
  return first == -1 || has_numbers(m, first, count);
}

// ---- the mechanism

// Checks the numbers, links and coordinates that bodies, points, joints, gears, loads and actuators refer to. Returns false after
// storing the reason.
static bool check_bodies(const checking *c) {
  const od_model *m = c->m;
  for (int i = 0; i < m->bodies; i++)
    if (!has_numbers(m, m->body[i].number, od_shape_numbers(m->body[i].shape))) return wrong(c, "body", i);
  for (int i = 0; i < m->points; i++)
    if (!may_have_numbers(m, m->point[i].number, 3)) return wrong(c, "point", i);
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    int coordinates = od_joint_class_of(j->spec.type)->coordinates;
    bool in_tree = j->link >= 0;
    if (!may_have_numbers(m, j->spec.axis_a, 3) || !may_have_numbers(m, j->spec.axis_b, 3) ||
        j->coordinates != (in_tree ? coordinates : 0) || (j->coordinates > 0) != (j->coordinate >= 0) ||
        j->coordinate > m->coordinates - j->coordinates)
      return wrong(c, "joint", i);
  }
  for (int i = 0; i < m->gears; i++)
    if (!has_numbers(m, m->gear[i].number, 2) || m->joint[m->gear[i].joint_a].coordinates != 1 ||
        m->joint[m->gear[i].joint_b].coordinates != 1)
      return wrong(c, "gear", i);
  for (int i = 0; i < m->loads; i++) {
    const od_load *l = &m->load[i];
    bool at_point = l->kind == OD_LOAD_FORCE || l->kind == OD_LOAD_CONTACT;
    if (!has_numbers(m, l->number, od_load_numbers(l->kind)) || (at_point && l->point < 0) ||
        (l->kind == OD_LOAD_JOINT && l->coordinate < 0))
      return wrong(c, "load", i);
  }
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    if (a->coordinate < 0 && (a->point_a < 0 || a->point_b < 0)) return wrong(c, "actuator", i);
    if (a->length_row < 0 && (a->coordinate < 0 || m->rows > 0)) return wrong(c, "actuator", i);
  }
  return true;
}

static bool check_links(const checking *c) {
  const od_model *m = c->m;
  for (int i = 0; i < m->links; i++) {
    const od_link *k = &m->link[i];
    bool moves = k->kind != OD_LINK_FIXED;
    if (k->parent < 0 || (i > 0 ? k->parent >= i : k->parent != 0) || moves != (k->coordinate >= 0) ||
        (i == 0 && (moves || k->body >= 0)) || (i > 0 && k->joint < 0) || !may_have_numbers(m, k->axis, 3) ||
        (k->kind == OD_LINK_SCREW && (k->lead < 0 || m->planar)) || (m->planar && k->chart >= 0) ||
        (moves && m->coordinate_link[k->coordinate] != i))
      return wrong(c, "link", i);
    // The links of the three angles of a spherical joint are consecutive.
    if (k->chart >= 0 && (i + 2 >= m->links || m->link[i + 1].joint != k->joint || m->link[i + 2].joint != k->joint ||
                          k->kind != OD_LINK_REVOLUTE || m->link[i + 1].kind != OD_LINK_REVOLUTE ||
                          m->link[i + 2].kind != OD_LINK_REVOLUTE || m->link[i + 1].coordinate != k->coordinate + 1 ||
                          m->link[i + 2].coordinate != k->coordinate + 2))
      return wrong(c, "link", i);
  }
  for (int i = 0; i < m->coordinates; i++) {
    const od_link *k = &m->link[m->coordinate_link[i]];
    if (k->coordinate != i) return wrong(c, "coordinate_link", i);
    const od_joint *j = &m->joint[k->joint];
    if (j->coordinate < 0 || i < j->coordinate || i >= j->coordinate + j->coordinates || j->link < 0)
      return wrong(c, "coordinate_link", i);
  }
  return true;
}

static bool direction_is_valid(const od_model *m, const od_direction *d) {
  if (d->kind == OD_DIR_UNIT || d->kind == OD_DIR_UNIT_ACROSS) return d->axis >= 0 && d->axis < 3;
  return has_numbers(m, d->axis, 3) && (d->kind != OD_DIR_CARRIED || has_numbers(m, d->from, 3));
}

static bool check_closures(const checking *c) {
  const od_model *m = c->m;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *x = &m->closure[i];
    bool has_u = x->kind == OD_CLOSE_SLIDE || x->kind == OD_CLOSE_DOT, has_w = x->kind == OD_CLOSE_DOT;
    if ((x->kind != OD_CLOSE_GEAR && (x->point_a < 0 || x->point_b < 0)) ||
        (x->kind == OD_CLOSE_ROD && (x->length < 0 || x->rod < 0)) ||
        (x->kind == OD_CLOSE_GEAR && (!has_numbers(m, x->length, 2) || x->path_count != 2 || x->gear < 0)) ||
        (x->kind != OD_CLOSE_ROD && x->kind != OD_CLOSE_GEAR && x->joint < 0) ||
        (has_u && !direction_is_valid(m, &x->u)) || (has_w && !direction_is_valid(m, &x->w)))
      return wrong(c, "closure", i);
    for (int k = x->path; k < x->path + x->path_count; k++)
      for (int n = x->path; n < k; n++)
        if (m->path_step[n].link == m->path_step[k].link) return wrong(c, "path_step", k);
  }
  for (int i = 0; i < m->path_steps; i++)
    if (m->link[m->path_step[i].link].coordinate < 0 || (m->path_step[i].side != 1 && m->path_step[i].side != -1))
      return wrong(c, "path_step", i);
  return true;
}

// ---- lists of blocks

static bool check_block_lists(const checking *c) {
  const od_model *m = c->m;
  for (int i = 0; i < m->block_lines; i++)
    if (m->block_line[i].source < -1 || m->block_line[i].source >= m->signals + m->measures)
      return wrong(c, "block_line", i);
  for (int i = 0; i < m->samplers; i++)
    if (!(m->block[m->sampler[i]].sample > 0)) return wrong(c, "sampler", i);
  for (int i = 0; i < m->block_switchers; i++)
    if (!od_block_has_modes(&m->spec[m->block_switcher[i]])) return wrong(c, "block_switcher", i);
  return true;
}

// ---- nodes and instances

static bool check_nodes(const checking *c) {
  const od_model *m = c->m;
  int states = 0;
  if (!may_have_numbers(m, m->gravity, 3) || !may_have_numbers(m, m->oil, od_oil_numbers(m->oil_law)) ||
      !may_have_numbers(m, m->viscosity, OD_VISCOSITY_NUMBERS) || (m->nodes > 0 && m->oil < 0))
    return wrong(c, "theta", m->numbers);
  for (int i = 0; i < m->nodes; i++) {
    const od_node *n = &m->node[i];
    bool junction = n->kind == OD_NODE_JUNCTION;
    if (n->state != (n->kind == OD_NODE_VOLUME ? states : -1) || junction != (n->junction >= 0) ||
        (!junction && n->number < 0))
      return wrong(c, "node", i);
    states += n->state >= 0;
    if (junction && m->join.at_junction.node[n->junction] != i) return wrong(c, "node", i);
  }
  for (int i = 0; i < m->junctions; i++) {
    const od_junctions *j = &m->join.at_junction;
    const od_junction_group *g = &j->group[j->group_of[i]];
    if (m->node[j->node[i]].junction != i || i < g->first || i >= g->first + g->count)
      return wrong(c, "join.at_junction.node", i);
  }
  return true;
}

// Checks the properties of an instance that depend on its class: numbers, formula, ends, host, actuator.
static bool instance_fits_class(const od_model *m, int index) {
  const od_instance *e = &m->instance[index];
  const od_element_class *k = od_instance_class(m, e);
  if (!has_numbers(m, e->number, e->numbers)) return false;
  if (k->has_curve) {
    if (!od_element_curve_fits(k, e->choice, e->numbers)) return false;
    const double *at = m->theta + e->number + k->numbers;
    for (int i = 1; i < e->choice[OD_PORT_COUNT]; i++)
      if (!(at[i] > at[i - 1])) return false;
  } else if (k->has_formula) {
    od_formula f = od_instance_formula(m, e);
    if (e->numbers > OD_MOST_FORMULA_NUMBERS || od_formula_problem(&f, k->ins + e->numbers)) return false;
  } else if (e->numbers != k->numbers + (e->choice[0] ? k->optional_numbers : 0)) {
    return false;
  }
  if (!k->has_formula && e->operations != 0) return false;
  int ends = od_element_class_ends(k), states = od_element_state_count(k);
  for (int i = 0; i < ends; i++)
    if (!(k->optional_ends >> i & 1U) && e->end[i] < 0) return false;
  if (k->end_choice && (e->choice[0] != 0) != (e->end[ends - 1] >= 0)) return false;
  bool needs_host = k->host_class || k->reads_host;
  for (int i = 0; i < k->ins; i++) needs_host = needs_host || k->in[i].kind == OD_IN_HOST_STATE;
  if (e->host >= index || (needs_host && e->host < 0)) return false;
  if (k->host_class && od_instance_class(m, &m->instance[e->host]) != k->host_class) return false;
  if ((k->acts != OD_ACTS_NOWHERE) != (e->actuator >= 0) || (k->needs_oil && m->oil < 0)) return false;
  if (e->joint >= 0 && k->acts != OD_ACTS_NOWHERE && m->joint[e->joint].coordinates != 1) return false;
  for (int i = 0; i < OD_MOST_ELEMENT_STATES; i++)
    if (i < states ? e->state[i] < 0 && !(k->optional_states >> i & 1U) : e->state[i] >= 0) return false;
  return true;
}

// Checks that batches and instances have the places that the layout and their classes give, and that the pool repeats their
// numbers. Returns false after storing the reason.
static bool check_instances(const checking *c) {
  const od_model *m = c->m;
  const od_layout *l = &m->layout;
  const od_join *j = &m->join;
  sums s = {.pool = (long long)m->operations * OD_OPERATION_INTS};
  for (int i = 0; i < j->batches; i++) {
    const od_batch *b = &j->batch[i];
    const od_element_class *k = m->element_class[i];
    int count = b->count, pool = (int)s.pool, formula = k->has_formula ? pool + count * (2 + k->choices) : 0;
    if (b->in != l->in + s.ins || b->out != l->out + s.outs || b->kept != l->kept + s.kept ||
        b->report != l->report + s.reports || b->slope != l->slope + s.slopes || b->oil != l->oil ||
        b->kept_scalars != k->kept || b->choices != k->choices || b->number != pool || b->host != pool + count ||
        b->choice != pool + 2 * count || b->formula != formula || b->operations != (formula ? formula + count : 0) ||
        b->held != (formula ? formula + 2 * count : 0))
      return wrong(c, "join.batch", i);
    add_batch(&s, k, count);
    int place = 0;
    for (int n = 0; n < m->instances; n++)
      if (m->instance[n].element_class == i && (m->instance[n].batch != i || m->instance[n].place != place++))
        return wrong(c, "instance", n);
    if (place != count) return wrong(c, "join.batch", i);
  }
  int targets = 0, switchers = 0, suppliers = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *k = od_instance_class(m, e);
    const od_batch *b = &j->batch[e->batch];
    if (!instance_fits_class(m, i) || e->in != b->in + e->place * k->ins || e->out != b->out + e->place * k->outs ||
        e->slope != b->slope + e->place * k->ins * k->outs || e->target != targets ||
        e->targets > j->targets - targets || e->switcher != (k->margin ? switchers : -1) ||
        e->supplier != (k->supply ? suppliers : -1) ||
        (k->margin && (switchers >= m->switchers || m->switcher[switchers] != i)))
      return wrong(c, "instance", i);
    targets += e->targets, switchers += k->margin != NULL, suppliers += k->supply != 0;
    int host = e->host >= 0 ? m->instance[e->host].number : 0;
    if (j->pool[b->number + e->place] != l->theta + e->number || j->pool[b->host + e->place] != l->theta + host ||
        memcmp(j->pool + b->choice + e->place * b->choices, e->choice, (size_t)b->choices * sizeof(int)) != 0)
      return wrong(c, "join.pool", b->number + e->place);
    if (b->formula > 0 &&
        (j->pool[b->formula + e->place] != e->formula * OD_OPERATION_INTS ||
         j->pool[b->operations + e->place] != e->operations || j->pool[b->held + e->place] != l->held + e->held))
      return wrong(c, "join.pool", b->formula + e->place);
  }
  return targets == j->targets && switchers == m->switchers && suppliers == m->suppliers
             ? true
             : wrong(c, "instance", m->instances);
}

// ---- connections

// Checks the targets of the outputs of all instances: place, row of derivatives, and the lists of forces and displacers. Returns
// false after storing the reason.
static bool check_targets(const checking *c) {
  const od_model *m = c->m;
  const od_join *j = &m->join;
  int places = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *k = od_instance_class(m, e);
    for (int n = e->target; n < e->target + e->targets; n++) {
      const od_target *s = &j->target[n];
      int out = s->from - e->out;
      int count = s->kind == OD_TO_FORCE ? m->actuators : s->kind == OD_TO_RATE ? m->circuit_states : m->nodes;
      if (out < 0 || out >= k->outs || s->in != e->in - m->layout.in || s->ins > k->ins ||
          s->slope != e->slope + out * k->ins || s->kind == OD_TO_NOTHING || s->kind == OD_TO_THROUGH ||
          s->target >= count || s->place != places)
        return wrong(c, "join.target", n);
      // The row of derivatives that contains the target.
      const od_node *node = s->kind == OD_TO_FORCE || s->kind == OD_TO_RATE ? NULL : &m->node[s->target];
      int state = s->kind == OD_TO_FORCE ? -1 : s->kind == OD_TO_RATE ? s->target : node->state;
      bool at_junction = s->kind == OD_TO_END && node->junction >= 0;
      if (s->state != state || (s->row >= 0) != (s->kind == OD_TO_FORCE || state >= 0 || at_junction))
        return wrong(c, "join.target", n);
      if (s->displaces && s->kind != OD_TO_END) return wrong(c, "join.target", n);
      places += s->ins;
    }
  }
  if (places != j->places) return wrong(c, "join.place", places);
  for (int i = 0; i < j->forces; i++)
    if (j->target[j->force[i]].kind != OD_TO_FORCE) return wrong(c, "join.force", i);
  for (int i = 0; i < j->displacers; i++)
    if (!j->target[j->displacer[i]].displaces) return wrong(c, "join.displacer", i);
  return true;
}

static bool user_is_valid(const od_model *m, int number, const od_number_user *u) {
  const od_instance *e = &m->instance[u->instance], *host = e->host >= 0 ? &m->instance[e->host] : NULL;
  if (u->batch != e->batch || u->place != e->place) return false;
  bool of_host = u->number >= OD_NUMBER_OF_HOST;
  const od_instance *owner = of_host ? host : e;
  int own = u->number - (of_host ? OD_NUMBER_OF_HOST : 0);
  return owner && own < owner->numbers && owner->number + own == number &&
         (!of_host || od_instance_class(m, e)->reads_host);
}

static bool check_users(const checking *c) {
  const od_join *j = &c->m->join;
  if (j->first_user[0] != 0 || j->first_user[c->m->numbers] != j->users) return wrong_table(c, "join.first_user");
  for (int i = 0; i < c->m->numbers; i++) {
    if (j->first_user[i + 1] < j->first_user[i]) return wrong(c, "join.first_user", i);
    for (int k = j->first_user[i]; k < j->first_user[i + 1]; k++)
      if (!user_is_valid(c->m, i, &j->user[k])) return wrong(c, "join.user", k);
  }
  return true;
}

// Returns whether the entries of a list from `begin` to `end` increase.
static bool increases(const int *list, int begin, int end) {
  for (int i = begin + 1; i < end; i++)
    if (list[i] <= list[i - 1]) return false;
  return true;
}

// Checks sparse rows: starts of rows, and increasing columns within each row. Returns false after storing the reason.
static bool check_rows(const checking *c) {
  const od_join *j = &c->m->join;
  for (int i = 0; i + 1 < j->row_starts; i++)
    if (j->row_start[i + 1] < j->row_start[i] || !increases(j->row_column, j->row_start[i], j->row_start[i + 1]))
      return wrong(c, "join.row_start", i);
  if (j->row_starts > 0 && (j->row_start[0] != 0 || j->row_start[j->row_starts - 1] != j->row_columns))
    return wrong(c, "join.row_start", j->row_starts);
  for (int i = 0; i < j->at_junction.groups; i++) {
    const od_junction_group *g = &j->at_junction.group[i];
    if (g->column >= 0 && !increases(j->at_junction.column, g->column, g->column + g->columns))
      return wrong(c, "join.at_junction.column", g->column);
  }
  return true;
}

static bool check_heat(const checking *c) {
  const od_model *m = c->m;
  const od_join *j = &m->join;
  int reservoir = -1, slot = -1;
  for (int i = 0; i < m->instances; i++) {
    const od_element_class *k = od_instance_class(m, &m->instance[i]);
    for (int n = 0; n < k->ins; n++)
      if (k->in[n].kind == OD_IN_HEAT) reservoir = i, slot = n;
  }
  if (j->reservoir != reservoir || j->warms != (reservoir < 0 ? -1 : m->instance[reservoir].state[0]) ||
      j->heat_in != (reservoir < 0 ? 0 : m->instance[reservoir].in + slot) || (reservoir >= 0 && m->oil < 0))
    return wrong_table(c, "join.heater");
  for (int i = 0; i < j->heaters; i++)
    if (j->heater[i].report >= od_instance_class(m, &m->instance[j->heater[i].instance])->reports)
      return wrong(c, "join.heater", i);
  return true;
}

static bool check_junctions(const checking *c) {
  const od_model *m = c->m;
  const od_junctions *j = &m->join.at_junction;
  for (int i = 0; i < j->instances; i++) {
    od_batch alone = od_instance_batch(m, &m->instance[j->instance[i]]);
    if (memcmp(&alone, &j->alone[i], sizeof alone) != 0) return wrong(c, "join.at_junction.alone", i);
  }
  for (int i = 0; i < j->slopes; i++) {
    const od_junction_slope *s = &j->slope[i];
    const od_instance *e = &m->instance[j->instance[s->instance]];
    const od_element_class *k = od_instance_class(m, e);
    const od_junction_group *g = &j->group[j->group_of[s->row]];
    int row = s->row - g->first, column = s->column - g->first;
    if (s->in < e->in || s->in >= e->in + k->ins || s->from < e->out || s->from >= e->out + k->outs || column < 0 ||
        column >= g->count || s->at != g->matrix + row * g->count + column)
      return wrong(c, "join.at_junction.slope", i);
  }
  return true;
}

// ---- outputs

// Returns the number of items to which od_output.index of this kind can refer, or -1 if there is no such kind.
static int output_count(const od_model *m, od_output_kind kind) {
  switch (kind) {
    case OD_OUT_COORDINATE:
    case OD_OUT_COORDINATE_RATE:
    case OD_OUT_COORDINATE_ACCELERATION: return m->coordinates;
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_ACCELERATION:
    case OD_OUT_POINT_BODY_VELOCITY:
    case OD_OUT_POINT_BODY_ACCELERATION:
    case OD_OUT_POINT_SPECIFIC_FORCE: return m->points;
    case OD_OUT_BODY_ANGLE:
    case OD_OUT_BODY_TURN_RATE:
    case OD_OUT_BODY_TURN_ACCELERATION:
    case OD_OUT_BODY_GYRO:
    case OD_OUT_BODY_GYRO_RATE:
    case OD_OUT_BODY_POSE:
    case OD_OUT_BODY_KINETIC:
    case OD_OUT_BODY_POTENTIAL: return m->bodies;
    case OD_OUT_JOINT_FORCE:
    case OD_OUT_JOINT_TORQUE: return m->joints;
    case OD_OUT_ROD_FORCE: return m->rods;
    case OD_OUT_GEAR_FORCE: return m->gears;
    case OD_OUT_LOAD:
    case OD_OUT_LOAD_POWER:
    case OD_OUT_LOAD_STORED: return m->loads;
    case OD_OUT_INPUT: return m->signals;
    case OD_OUT_NODE_PRESSURE:
    case OD_OUT_NODE_INFLOW:
    case OD_OUT_NODE_CAVITATING:
    case OD_OUT_NODE_VOID:
    case OD_OUT_NODE_MASS:
    case OD_OUT_PRESSURE_DIFFERENCE: return m->nodes;
    case OD_OUT_LENGTH:
    case OD_OUT_SPEED:
    case OD_OUT_FORCE: return m->actuators;
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
    case OD_OUT_ELEMENT_STATE: return m->instances;
    case OD_OUT_BLOCK_STATE: return m->states;
    case OD_OUT_INTEGRAL: return od_model_power(m, OD_POWER_KINDS);
    case OD_OUT_KINETIC:
    case OD_OUT_POTENTIAL:
    case OD_OUT_STORED:
    case OD_OUT_DISSIPATED:
    case OD_OUT_SUPPLIED:
    case OD_OUT_COMPRESSED:
    case OD_OUT_OIL_BALANCE:
    case OD_OUT_BALANCE: return 1;
  }
  return -1;
}

// Returns the number of results (`out`), reports or states of an instance, according to the kind of an output of the machine.
static int instance_components(const od_model *m, od_output_kind kind, int instance) {
  const od_element_class *k = od_instance_class(m, &m->instance[instance]);
  return kind == OD_OUT_ELEMENT ? k->outs : kind == OD_OUT_REPORT ? k->reports : od_element_state_count(k);
}

// Returns the number of components of an output.
static int component_count(const od_model *m, const od_output *o) {
  switch (o->kind) {
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
    case OD_OUT_ELEMENT_STATE: return o->index >= 0 ? instance_components(m, o->kind, o->index) : OD_MOST_OUT;
    case OD_OUT_BLOCK_STATE: return m->blocks;
    case OD_OUT_JOINT_FORCE:
    case OD_OUT_JOINT_TORQUE: return OD_REACTION_SIZE + 1;
    case OD_OUT_BODY_POSE: return OD_POSE_SIZE;
    default: return 3;
  }
}

static bool output_is_valid(const od_model *m, const od_output *o) {
  int least =
      o->kind == OD_OUT_ELEMENT ? -1 : 0;  // -1: no element, such as the friction of a cylinder without friction
  if (o->index < least || o->index >= output_count(m, o->kind)) return false;
  if (o->component < 0 || o->component >= component_count(m, o)) return false;
  if (o->second < -1) return false;
  switch (o->kind) {
    case OD_OUT_PRESSURE_DIFFERENCE: return o->second >= 0 && o->second < m->nodes;
    case OD_OUT_INTEGRAL: return o->second < od_model_power(m, OD_POWER_KINDS);
    case OD_OUT_ELEMENT:
    case OD_OUT_REPORT:
    case OD_OUT_ELEMENT_STATE:
      return o->second < 0 ||
             (o->index >= 0 && o->second < m->instances && o->component < instance_components(m, o->kind, o->second));
    case OD_OUT_LOAD_STORED: return m->load[o->index].kind == OD_LOAD_CONTACT;
    case OD_OUT_NODE_VOID:
    case OD_OUT_NODE_MASS: return m->node[o->index].state >= 0;
    case OD_OUT_BODY_ANGLE: return m->planar;
    default: return true;
  }
}

static bool check_outputs(const checking *c) {
  const od_model *m = c->m;
  for (int i = 0; i < m->outputs; i++)
    if (!output_is_valid(m, &m->output[i])) return wrong(c, "output", i);
  for (int i = 0; i < m->measures; i++)
    if (!output_is_valid(m, &m->measure[i]) || !od_output_is_measurable(m->measure[i].kind))
      return wrong(c, "measure", i);
  return true;
}

// ---- matrices of steps

static bool check_sparse(const checking *c) {
  const od_model *m = c->m;
  const od_step_pattern *p = &m->step;
  const od_sparse *s = &p->sparse;
  if (s->values == 0)
    return s->n || s->entries || p->starts || p->slopes || p->moves || p->pushes || p->drives || p->feels ||
                   m->newton == OD_NEWTON_SPARSE
               ? wrong_table(c, "step.sparse.start")
               : true;
  long long n = m->freedom, blocks = m->states - m->circuit_states;
  long long entries =
      m->states + (long long)p->slopes + n * (n + p->moves + blocks + p->pushes) + p->feels * (n + p->drives + blocks);
  if (s->n != m->freedom + m->states || p->starts != s->n + 1 || m->join.row_starts == 0 || entries != s->entries)
    return wrong_table(c, "step.sparse.start");
  if (s->start[0] != 0 || s->start[s->n] != s->values) return wrong_table(c, "step.sparse.start");
  for (int i = 0; i < s->n; i++) {
    int begin = s->start[i], end = s->start[i + 1], diagonal = s->diagonal[i];
    if (end <= begin || diagonal < begin || diagonal >= end || s->column[diagonal] != i ||
        !increases(s->column, begin, end))
      return wrong(c, "step.sparse.start", i);
  }
  // Derivatives with respect to states, row by row.
  int first = 2 * m->actuators, after = first + m->circuit_states;
  for (int i = 0; i < p->slopes; i++) {
    if (p->slope[i] < 0 || p->slope[i] >= m->join.row_columns || (i > 0 && p->slope[i] <= p->slope[i - 1]))
      return wrong(c, "step.slope", i);
    int column = m->join.row_column[p->slope[i]];
    if (column < first || column >= after) return wrong(c, "step.slope", i);
  }
  const struct {
    const int *list;
    int count, most;
    const char *name;
  } lists[] = {{p->moved, p->moves, m->circuit_states, "step.moved"},
               {p->pushing, p->pushes, m->circuit_states, "step.pushing"},
               {p->driven, p->drives, m->circuit_states, "step.driven"},
               {p->felt, p->feels, m->states, "step.felt"}};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
    if (!increases(lists[k].list, 0, lists[k].count) ||
        (lists[k].count > 0 && lists[k].list[lists[k].count - 1] >= lists[k].most))
      return wrong_table(c, lists[k].name);
  return true;
}

static bool check_tree_states(const checking *c) {
  const od_model *m = c->m;
  const od_tree_states *t = &m->tree_states;
  if (m->newton == OD_NEWTON_TREE && (m->rows > 0 || m->freedom != m->coordinates))
    return wrong_table(c, "tree_states.group");
  bool used = t->groups || t->own_count || t->rests;
  if (!used) return m->newton == OD_NEWTON_TREE && m->states > 0 ? wrong_table(c, "tree_states.group") : true;
  if (t->own_count + t->rests != m->states || !increases(t->rest, 0, t->rests))
    return wrong_table(c, "tree_states.rest");
  int own = 0;
  for (int i = 0; i < t->groups; i++) {
    const od_joint_states *g = &t->group[i];
    if (g->first != own || g->count < 1 || g->count > OD_MOST_JOINT_STATES || g->count > t->own_count - own ||
        m->actuator[g->actuator].coordinate != g->coordinate ||
        (i > 0 && t->group[i - 1].coordinate >= g->coordinate) || !increases(t->own, own, own + g->count))
      return wrong(c, "tree_states.group", i);
    own += g->count;
  }
  return own == t->own_count ? true : wrong(c, "tree_states.own", own);
}

// ---- the whole model

od_status od_model_check(od_model *m, od_error *err) {
  const checking check = {m, err}, *c = &check;
  // The layout depends on these counts, and later checks compare indices with the layout.
  if (!check_join_counts(c) || !check_groups(c) || !check_mechanism_counts(c) || !check_blocks(c) || !check_jumps(c))
    return OD_BAD_INPUT;
  if (!od_layout_check(m, &m->layout))
    return od_fail(
        err, OD_BAD_INPUT,
        "the image is damaged: its work memory is too large or its junctions are misplaced; compile the machine again");
  for (int i = 0; i < od_model_field_count; i++)
    if (!field_is_valid(m, &od_model_fields[i], (const char *)m + od_model_fields[i].offset))
      return od_fail(err, OD_BAD_INPUT,
                     "the image is damaged: value %d of the model is wrong; compile the machine again", i);
  for (int i = 0; i < od_model_table_count; i++)
    if (!table_is_valid(c, &od_model_tables[i])) return OD_BAD_INPUT;
  for (int i = 0; m->text_size > 0 && i < od_name_table_count; i++)
    if (!table_is_valid(c, &od_name_tables[i])) return OD_BAD_INPUT;
  bool ok = check_bodies(c) && check_links(c) && check_closures(c) && check_block_lists(c) && check_nodes(c) &&
            check_instances(c) && check_targets(c) && check_users(c) && check_rows(c) && check_heat(c) &&
            check_junctions(c) && check_outputs(c) && check_sparse(c) && check_tree_states(c);
  return ok ? OD_OK : OD_BAD_INPUT;
}
