// Rules of model images (model/image_check.c): each changed integer of a table that follows from other fields is refused, and each field outside
// the range of its kind. The oracle is the rule itself, stated below: which fields are determined, and the range of each kind. The unchanged models
// are random machines and machines with gears, a contact, a heated reservoir and joints with states, and are accepted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "machine/machine.h"
#include "model/image_form.h"
#include "support/machines.h"
#include "support/random_machine.h"

// Fields that follow from other fields: sections follow each other, counts follow from classes, offsets from the layout, and lists refer back to
// their items. The number 1 more or less is refused.
#define OF(table, type, member) \
  { table, offsetof(type, member), 0 }
static struct {
  const char *table;
  size_t offset;
  long tried;
} determined[] = {
    OF("joint", od_joint, coordinate),
    OF("joint", od_joint, coordinates),
    OF("node", od_node, state),
    OF("node", od_node, junction),
    OF("instance", od_instance, element_class),
    OF("instance", od_instance, number),
    OF("instance", od_instance, host),
    OF("instance", od_instance, switcher),
    OF("instance", od_instance, supplier),
    OF("instance", od_instance, batch),
    OF("instance", od_instance, place),
    OF("instance", od_instance, in),
    OF("instance", od_instance, out),
    OF("instance", od_instance, slope),
    OF("instance", od_instance, target),
    OF("instance", od_instance, targets),
    OF("instance", od_instance, operations),
    OF("instance", od_instance, held),
    OF("block", od_block, numbers),
    OF("block", od_block, line),
    OF("block", od_block, inputs),
    OF("block", od_block, signal),
    OF("block", od_block, outputs),
    OF("block", od_block, state),
    OF("block", od_block, states),
    OF("block", od_block, slope),
    OF("block", od_block, ring),
    OF("block", od_block, samples),
    OF("block", od_block, held),
    OF("block", od_block, jumps),
    {"switcher", 0, 0},
    {"sampler", 0, 0},
    OF("link", od_link, coordinate),
    OF("link", od_link, chart),
    {"coordinate_link", 0, 0},
    OF("closure", od_closure, row),
    OF("closure", od_closure, rows),
    OF("closure", od_closure, path),
    OF("closure", od_closure, path_count),
    OF("closure", od_closure, entry),
    OF("path_step", od_path_step, side),
    OF("tree_states.group", od_joint_states, coordinate),
    OF("tree_states.group", od_joint_states, first),
    OF("tree_states.group", od_joint_states, count),
    OF("join.batch", od_batch, element_class),
    OF("join.batch", od_batch, count),
    OF("join.batch", od_batch, in),
    OF("join.batch", od_batch, out),
    OF("join.batch", od_batch, kept),
    OF("join.batch", od_batch, report),
    OF("join.batch", od_batch, slope),
    OF("join.batch", od_batch, kept_scalars),
    OF("join.batch", od_batch, choices),
    OF("join.batch", od_batch, number),
    OF("join.batch", od_batch, host),
    OF("join.batch", od_batch, choice),
    OF("join.batch", od_batch, oil),
    OF("join.batch", od_batch, formula),
    OF("join.batch", od_batch, operations),
    OF("join.batch", od_batch, held),
    OF("join.target", od_target, from),
    OF("join.target", od_target, slope),
    OF("join.target", od_target, in),
    OF("join.target", od_target, ins),
    OF("join.target", od_target, state),
    OF("join.target", od_target, place),
    {"join.first_user", 0, 0},
    OF("join.user", od_number_user, instance),
    OF("join.user", od_number_user, batch),
    OF("join.user", od_number_user, place),
    OF("join.user", od_number_user, number),
    OF("join.at_junction.group", od_junction_group, first),
    OF("join.at_junction.group", od_junction_group, count),
    OF("join.at_junction.group", od_junction_group, matrix),
    OF("join.at_junction.group", od_junction_group, row),
    OF("join.at_junction.group", od_junction_group, width),
    OF("join.at_junction.group", od_junction_group, columns),
    OF("join.at_junction.group", od_junction_group, column),
    {"join.at_junction.group_of", 0, 0},
    {"join.at_junction.node", 0, 0},
    {"join.at_junction.instance", 0, 0},
    OF("join.at_junction.slope", od_junction_slope, row),
    OF("join.at_junction.slope", od_junction_slope, column),
    OF("join.at_junction.slope", od_junction_slope, instance),
    OF("join.at_junction.slope", od_junction_slope, at),
    {"step.sparse.start", 0, 0},
    {"step.sparse.diagonal", 0, 0},
    {"step.slope", 0, 0},
};
enum { DETERMINED = sizeof determined / sizeof *determined };

static bool is_refused(const od_model *m) {
  od_model copy = *m;
  od_error err = {0};
  od_status status = od_model_check(&copy, &err);
  assert_true(status == OD_OK || (status == OD_BAD_INPUT && strstr(err.text, "the image is damaged")));
  return status != OD_OK;
}

// Sets an integer and checks that the model is refused.
static void must_refuse(const od_model *m, int *at, int value, const char *table, long long item, size_t offset) {
  int before = *at;
  *at = value;
  if (!is_refused(m)) fail_msg("table %s, item %lld, offset %zu: %d instead of %d", table, item, offset, value, before);
  *at = before;
}

// Values outside the range of a kind.
static int values_outside(const od_model *m, const od_model_field *f, int *value) {
  int count = f->kind == OD_FIELD_INDEX || f->kind == OD_FIELD_OPTIONAL || f->kind == OD_FIELD_START
                  ? od_model_count_at(m, f->bound)
                  : 0;
  value[0] = -1;
  switch (f->kind) {
    case OD_FIELD_COUNT: value[1] = (1 << 26) + 1; return 2;
    case OD_FIELD_INDEX: value[1] = count; return 2;
    case OD_FIELD_OPTIONAL: value[0] = -2, value[1] = count; return 2;
    case OD_FIELD_START: value[1] = count + 1; return 2;
    case OD_FIELD_ENUM: value[1] = (int)f->bound; return 2;
    case OD_FIELD_ELEMENT_CLASS: value[1] = m->element_classes; return 2;
    case OD_FIELD_BLOCK_CLASS: value[1] = m->block_classes; return 2;
    case OD_FIELD_TEXT: value[1] = m->text_size; return 2;
    case OD_FIELD_INT:
    case OD_FIELD_BOOL:
    case OD_FIELD_DOUBLE: break;
  }
  return 0;
}

static void check_field(const od_model *m, const od_model_table *t, long long item, const od_model_field *f) {
  char *begin = (char *)od_model_table_begin(m, t) + (size_t)item * t->item + f->offset;
  if (f->kind == OD_FIELD_BOOL) {
    char before = *begin;
    *begin = 2;
    assert_true(is_refused(m));
    *begin = before;
    return;
  }
  if (f->kind == OD_FIELD_DOUBLE) {
    for (size_t i = 0; i < f->size / sizeof(double); i++) {
      double *at = (double *)(void *)begin + i, before = *at;
      *at = i % 2 ? NAN : -INFINITY;
      assert_true(is_refused(m));
      *at = before;
    }
    return;
  }
  for (size_t i = 0; i < f->size / sizeof(int); i++) {
    int *at = (int *)(void *)begin + i, value[2], count = values_outside(m, f, value);
    if (strcmp(t->name, "join.at_junction.alone") == 0)  // a copy of one instance of a batch
      must_refuse(m, at, *at - 1, t->name, item, f->offset), must_refuse(m, at, *at + 1, t->name, item, f->offset);
    for (int k = 0; k < count; k++) must_refuse(m, at, value[k], t->name, item, f->offset);
    for (int k = 0; k < DETERMINED; k++) {
      if (strcmp(determined[k].table, t->name) != 0 || determined[k].offset != f->offset) continue;
      must_refuse(m, at, *at - 1, t->name, item, f->offset);
      must_refuse(m, at, *at + 1, t->name, item, f->offset);
      determined[k].tried++;
    }
  }
}

// Changes about `most` items of each table, including the first and the last one.
static void check_model(const od_model *m, long long most) {
  assert_false(is_refused(m));
  for (int i = 0; i < od_model_table_count + od_name_table_count; i++) {
    const od_model_table *t =
        i < od_model_table_count ? &od_model_tables[i] : &od_name_tables[i - od_model_table_count];
    long long items = od_model_table_items(m, t), step = 1 + items / most;
    for (long long item = 0; item < items; item = item + step < items || item == items - 1 ? item + step : items - 1)
      for (int k = 0; k < t->fields; k++) check_field(m, t, item, &t->field[k]);
  }
  // Fields of the model. More items than there are would be read behind the tables, so counts become smaller only.
  for (int i = 0; i < od_model_field_count; i++) {
    const od_model_field *f = &od_model_fields[i];
    int *at = (int *)(void *)((char *)m + f->offset), value[2], count = values_outside(m, f, value);
    if (f->kind == OD_FIELD_DOUBLE || f->kind == OD_FIELD_BOOL) continue;
    for (int k = 0; k < count && (k == 0 || f->kind != OD_FIELD_COUNT); k++)
      must_refuse(m, at, value[k], "model", i, f->offset);
  }
  assert_false(is_refused(m));
}

// ---- rules of several fields

static void must_accept(const od_model *m, int *at, int value) {
  int before = *at;
  *at = value;
  if (is_refused(m)) fail_msg("%d instead of %d is refused", value, before);
  *at = before;
}
#define REFUSE(at, value) must_refuse(m, at, value, #at, i, 0)

// `count` numbers of theta begin at *first: the last place is accepted, the next one is refused.
static void needs_numbers(const od_model *m, int *first, int count) {
  must_accept(m, first, m->numbers - count);
  must_refuse(m, first, m->numbers - count + 1, "theta", m->numbers, (size_t)count);
}

// The mechanism: vectors have three numbers, gears two, and each kind of load, link and closure has what it needs.
static void check_mechanism(const od_model *m) {
  static const int of_shape[] = {10, 2, 3, 4, 7};  // oleodyn/build.h: general, beam, cylinder, point, box
  for (int i = 0; i < m->bodies; i++) needs_numbers(m, &m->body[i].number, of_shape[m->body[i].shape]);
  for (int i = 0; i < m->points; i++) needs_numbers(m, &m->point[i].number, 3);
  for (int i = 0; i < m->joints; i++) {
    od_joint *j = &m->joint[i];
    needs_numbers(m, &j->spec.axis_a, 3), needs_numbers(m, &j->spec.axis_b, 3);
    if (j->coordinates > 0) REFUSE(&j->link, -1);
  }
  for (int i = 0; i < m->gears; i++) needs_numbers(m, &m->gear[i].number, 2);
  for (int i = 0; i < m->loads; i++) {
    od_load *l = &m->load[i];
    if (l->kind == OD_LOAD_JOINT) REFUSE(&l->coordinate, -1), needs_numbers(m, &l->number, 1);
    if (l->kind == OD_LOAD_FORCE || l->kind == OD_LOAD_CONTACT) REFUSE(&l->point, -1);
    if (l->kind == OD_LOAD_FORCE || l->kind == OD_LOAD_TORQUE) needs_numbers(m, &l->number, 4);  // value, direction
  }
  for (int i = 0; i < m->actuators; i++) {
    od_actuator *a = &m->actuator[i];
    if (a->coordinate >= 0) continue;
    REFUSE(&a->point_a, -1), REFUSE(&a->point_b, -1), REFUSE(&a->length_row, -1);
  }
  for (int i = 0; i < m->links; i++) {
    od_link *k = &m->link[i];
    int kind = (int)k->kind, *place = (int *)(void *)&k->kind;
    if (m->links > 1) REFUSE(&k->parent, i > 0 ? i : 1);  // a parent precedes its children
    if (i == 0)
      REFUSE(&k->body, 0);
    else
      REFUSE(&k->joint, -1), must_accept(m, &k->parent, 0);
    needs_numbers(m, &k->axis, 3);
    for (int n = 0; n < 3 && k->chart >= 0; n++) {  // the three angles of a ball joint
      REFUSE((int *)(void *)&k[n].kind, OD_LINK_PRISMATIC);
      REFUSE(&k[n].joint, k->joint > 0 ? 0 : 1);
    }
    if (k->kind == OD_LINK_SCREW) REFUSE(&k->lead, -1), must_accept(m, &k->lead, 0);
    REFUSE(place, kind == OD_LINK_FIXED ? OD_LINK_REVOLUTE : OD_LINK_FIXED);
    if (m->planar && kind != OD_LINK_FIXED) REFUSE(place, OD_LINK_SCREW);
  }
  for (int i = 0; i < m->closures; i++) {
    od_closure *x = &m->closure[i];
    if (x->kind == OD_CLOSE_GEAR) {
      needs_numbers(m, &x->length, 2), REFUSE(&x->gear, -1);
      continue;
    }
    REFUSE(&x->point_a, -1), REFUSE(&x->point_b, -1);
    if (x->kind == OD_CLOSE_ROD)
      REFUSE(&x->length, -1), REFUSE(&x->rod, -1);
    else
      REFUSE(&x->joint, -1);
    od_direction *const directions[] = {&x->u, &x->w};
    for (int k = 0; k < (x->kind == OD_CLOSE_DOT ? 2 : x->kind == OD_CLOSE_SLIDE ? 1 : 0); k++) {
      od_direction *d = directions[k];
      REFUSE(&d->axis, -1);
      if (d->kind == OD_DIR_UNIT || d->kind == OD_DIR_UNIT_ACROSS)
        must_accept(m, &d->axis, 2), REFUSE(&d->axis, 3);
      else
        needs_numbers(m, &d->axis, 3);
      if (d->kind == OD_DIR_CARRIED) needs_numbers(m, &d->from, 3), REFUSE(&d->from, -1);
    }
    // A path passes a link once.
    for (int k = x->path + 1; k < x->path + x->path_count; k++)
      REFUSE(&m->path_step[k].link, m->path_step[x->path].link);
  }
  for (int i = 0; i < m->path_steps; i++) REFUSE(&m->path_step[i].link, 0);  // the ground has no coordinate
}

// The circuit: nodes with oil have numbers, instances the ends and hosts of their class, and a number has its users.
static void check_circuit(od_model *m) {
  const int i = 0;
  needs_numbers(m, &m->gravity, 3);
  if (m->nodes > 0) REFUSE(&m->oil, -1);
  needs_numbers(m, &m->viscosity, OD_VISCOSITY_NUMBERS);
  for (int k = 0; k < m->nodes; k++)
    if (m->node[k].kind != OD_NODE_JUNCTION) REFUSE(&m->node[k].number, -1);
  for (int k = 0; k < m->join.heaters; k++) {
    od_heater *h = &m->join.heater[k];
    int reports = od_instance_class(m, &m->instance[h->instance])->reports;
    must_accept(m, &h->report, reports - 1), REFUSE(&h->report, reports);
  }
  for (int k = 0; k < m->block_lines; k++) {
    const int most = m->signals + m->measures;
    REFUSE(&m->block_line[k].source, -2), REFUSE(&m->block_line[k].source, most);
    must_accept(m, &m->block_line[k].source, most - 1);
  }
  for (int k = 0; k < m->instances; k++) {
    od_instance *e = &m->instance[k];
    const od_element_class *c = od_instance_class(m, e);
    if (c->has_curve)  // the knots of a curve increase
      for (int n = 1; n < e->choice[OD_PORT_COUNT]; n++) {
        double *at = m->theta + e->number + c->numbers + n, before = *at;
        *at = at[-1];
        assert_true(is_refused(m));
        *at = before;
      }
    for (int n = 0; n < m->joints && e->joint >= 0 && c->acts != OD_ACTS_NOWHERE;
         n++)  // elements act in joints with one coordinate
      if (m->joint[n].coordinates != 1) REFUSE(&e->joint, n);
    if (c->has_formula && e->formula > 0) REFUSE(&e->formula, e->formula - 1);
    if (c->needs_oil) REFUSE(&m->oil, -1);
    bool needs_host = c->host_class != NULL || c->reads_host;
    for (int n = 0; n < c->ins; n++) needs_host = c->in[n].kind == OD_IN_HOST_STATE ? true : needs_host;
    if (needs_host) REFUSE(&e->host, -1);
    if ((c->acts != OD_ACTS_NOWHERE) != (e->actuator >= 0)) fail();
    if (e->actuator >= 0) REFUSE(&e->actuator, -1);
  }
  for (int k = 0; k < m->blocks; k++) {  // samplers are sampled, switchers have modes
    if (m->samplers > 0 && !(m->block[k].sample > 0)) REFUSE(&m->sampler[m->samplers - 1], k);
    if (m->block_switchers > 0 && !od_block_class_of(&m->spec[k])->margin)
      REFUSE(&m->block_switcher[m->block_switchers - 1], k);
  }
  od_join *join = &m->join;
  int *const heat[] = {&join->reservoir, &join->warms, &join->heat_in};
  for (int k = 0; k < 3; k++) REFUSE(heat[k], *heat[k] - 1), REFUSE(heat[k], *heat[k] + 1);
  if (join->row_starts > 1)
    REFUSE(&join->row_start[0], 1), REFUSE(&join->row_start[join->row_starts - 1], join->row_columns - 1);
  for (int k = 0; k < join->at_junction.groups; k++) {
    const od_junction_group *g = &join->at_junction.group[k];
    for (int n = g->column + 1; g->column >= 0 && n < g->column + g->columns; n++)
      REFUSE(&join->at_junction.column[n], join->at_junction.column[n - 1]);
  }
  // Lists of the step matrix increase.
  int *const lists[] = {m->step.moved, m->step.pushing, m->step.driven, m->step.felt, m->tree_states.rest};
  const int counts[] = {m->step.moves, m->step.pushes, m->step.drives, m->step.feels, m->tree_states.rests};
  for (int l = 0; l < 5; l++)
    for (int k = 1; k < counts[l]; k++) REFUSE(&lists[l][k], lists[l][k - 1]), REFUSE(&lists[l][k - 1], lists[l][k]);
  for (int k = 0; k + 1 < m->join.row_starts; k++)
    for (int n = m->join.row_start[k] + 1; n < m->join.row_start[k + 1]; n++)
      REFUSE(&m->join.row_column[n], m->join.row_column[n - 1]);
}

// The components of outputs. Vectors have three; a reaction also has a magnitude, a pose seven.
static int components_of(const od_model *m, const od_output *o) {
  const od_element_class *c = o->kind == OD_OUT_ELEMENT || o->kind == OD_OUT_REPORT || o->kind == OD_OUT_ELEMENT_STATE
                                  ? o->index >= 0 ? od_instance_class(m, &m->instance[o->index]) : NULL
                                  : NULL;
  switch (o->kind) {
    case OD_OUT_ELEMENT: return c ? c->outs : 0;
    case OD_OUT_REPORT: return c->reports;
    case OD_OUT_ELEMENT_STATE: return od_element_state_count(c);
    case OD_OUT_JOINT_FORCE:
    case OD_OUT_JOINT_TORQUE: return 4;
    case OD_OUT_BODY_POSE: return 7;
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_ACCELERATION: return 3;
    default: return 0;  // not compared
  }
}

// The number of parts that outputs of a kind belong to (model/output_kinds.h).
static int index_count(const od_model *m, od_output_kind kind) {
  static const struct {
    od_output_kind first, last;
    size_t count;
  } groups[] = {{OD_OUT_COORDINATE, OD_OUT_COORDINATE_ACCELERATION, offsetof(od_model, coordinates)},
                {OD_OUT_JOINT_FORCE, OD_OUT_JOINT_TORQUE, offsetof(od_model, joints)},
                {OD_OUT_ROD_FORCE, OD_OUT_ROD_FORCE, offsetof(od_model, rods)},
                {OD_OUT_GEAR_FORCE, OD_OUT_GEAR_FORCE, offsetof(od_model, gears)},
                {OD_OUT_INPUT, OD_OUT_INPUT, offsetof(od_model, signals)},
                {OD_OUT_NODE_PRESSURE, OD_OUT_NODE_PRESSURE, offsetof(od_model, nodes)},
                {OD_OUT_ELEMENT, OD_OUT_ELEMENT, offsetof(od_model, instances)},
                {OD_OUT_POINT, OD_OUT_POINT, offsetof(od_model, points)},
                {OD_OUT_BODY_POSE, OD_OUT_BODY_POSE, offsetof(od_model, bodies)},
                {OD_OUT_LOAD, OD_OUT_LOAD, offsetof(od_model, loads)},
                {OD_OUT_LENGTH, OD_OUT_LENGTH, offsetof(od_model, actuators)}};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (kind >= groups[i].first && kind <= groups[i].last) return od_model_count_at(m, groups[i].count);
  bool whole = kind == OD_OUT_KINETIC || kind == OD_OUT_POTENTIAL || kind == OD_OUT_STORED ||
               kind == OD_OUT_DISSIPATED || kind == OD_OUT_SUPPLIED || kind == OD_OUT_COMPRESSED ||
               kind == OD_OUT_OIL_BALANCE || kind == OD_OUT_BALANCE;
  return whole ? 1 : 1 << 20;
}

static void check_outputs(const od_model *m) {
  bool seen[OD_OUT_BALANCE + 1] = {false};
  for (int i = 0; i < m->outputs; i++) {
    od_output *o = &m->output[i];
    if (seen[o->kind]) continue;
    seen[o->kind] = true;
    REFUSE(&o->component, -1), REFUSE(&o->second, -2);
    REFUSE(&o->index, o->kind == OD_OUT_ELEMENT ? -2 : -1);
    const int count = index_count(m, o->kind);
    REFUSE(&o->index, count);
    if (o->kind == OD_OUT_ELEMENT || o->kind == OD_OUT_REPORT || o->kind == OD_OUT_ELEMENT_STATE)
      REFUSE(&o->second, m->instances);
    int components = components_of(m, o);
    if (components == 0) continue;
    if (o->second < 0) must_accept(m, &o->component, components - 1);
    REFUSE(&o->component, components);
  }
}

// Whether a model with this output in place of its first one is accepted.
static bool accepts(const od_model *m, od_output_kind kind, int index, int component, int second) {
  od_output before = m->output[0], *o = &m->output[0];
  o->kind = kind, o->index = index, o->component = component, o->second = second;
  bool refused = is_refused(m);
  *o = before;
  return !refused;
}

// Outputs that add a second instance: the sum needs both, and both need the component. All pairs of a few instances, the first and the last one
// included; the index -1 means no element and has no sum.
static void check_sums(const od_model *m) {
  static const od_output_kind kinds[] = {OD_OUT_ELEMENT, OD_OUT_REPORT, OD_OUT_ELEMENT_STATE};
  int tried[] = {0, 1, m->instances / 2, m->instances - 1};
  for (int k = 0; k < 3 && m->instances > 0; k++)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) {
        int i = tried[a] < m->instances ? tried[a] : 0, j = tried[b] < m->instances ? tried[b] : 0, size[2];
        for (int n = 0; n < 2; n++) {
          const od_element_class *c = od_instance_class(m, &m->instance[n ? j : i]);
          size[n] = k == 0 ? c->outs : k == 1 ? c->reports : od_element_state_count(c);
        }
        for (int component = 0; component < size[0]; component++)
          assert_int_equal(accepts(m, kinds[k], i, component, j), component < size[1]);
        assert_false(accepts(m, kinds[k], i, size[0], j));
        if (k == 0) {
          assert_true(accepts(m, kinds[k], -1, 0, -1));
          assert_false(accepts(m, kinds[k], -1, 0, j));
        }
      }
}

// The last index and second item of each kind with a condition are accepted, the next ones are refused.
static void check_seconds(const od_model *m) {
  for (int second = -1; second <= m->nodes && m->nodes > 0; second++)
    assert_int_equal(accepts(m, OD_OUT_PRESSURE_DIFFERENCE, m->nodes - 1, 0, second), second >= 0 && second < m->nodes);
  int powers = od_model_power(m, OD_POWER_KINDS);
  for (int second = -2; second <= powers && powers > 0; second++)
    assert_int_equal(accepts(m, OD_OUT_INTEGRAL, powers - 1, 0, second), second >= -1 && second < powers);
  assert_false(accepts(m, OD_OUT_INTEGRAL, powers, 0, -1));
  for (int i = 0; i < m->loads; i++)
    assert_int_equal(accepts(m, OD_OUT_LOAD_STORED, i, 0, -1), m->load[i].kind == OD_LOAD_CONTACT);
  for (int i = 0; i < m->nodes; i++) {
    assert_int_equal(accepts(m, OD_OUT_NODE_VOID, i, 0, -1), m->node[i].state >= 0);
    assert_int_equal(accepts(m, OD_OUT_NODE_MASS, i, 0, -1), m->node[i].state >= 0);
  }
  assert_int_equal(accepts(m, OD_OUT_BODY_ANGLE, 0, 0, -1), m->planar && m->bodies > 0);
  for (int component = -1; component <= 3; component++) {
    bool exists = component >= 0 && component < 3;
    if (m->points > 0) assert_int_equal(accepts(m, OD_OUT_POINT, m->points - 1, component, -1), exists);
    if (m->bodies > 0) assert_int_equal(accepts(m, OD_OUT_BODY_GYRO, m->bodies - 1, component, -1), exists);
  }
}

// Equal units of outputs that are at most 50 apart are one text, also that of the first output.
static void check_units(const od_model *m) {
  for (int i = 1; i < m->outputs; i++)
    for (int k = i - 1; k >= 0 && k >= i - 50; k--)
      if (strcmp(od_model_text(m, m->output[k].unit), od_model_text(m, m->output[i].unit)) == 0)
        assert_int_equal(m->output[k].unit, m->output[i].unit);
}

static void check_measures(const od_model *m) {
  for (int i = 0; i < m->measures; i++) {
    REFUSE(&m->measure[i].index, 1 << 20);
    REFUSE((int *)(void *)&m->measure[i].kind, OD_OUT_BALANCE);  // an energy cannot be measured
  }
}

// The reader of images refuses a block without its class or formula before other rules.
static void check_specs(const od_model *m) {
  for (int i = 0; i < m->blocks; i++) {
    od_block *b = &m->block[i];
    const struct {
      int *at, value;
    } changes[] = {{&b->block_class, -1},
                   {&b->block_class, m->block_classes},
                   {&b->operations, -1},
                   {&b->operations, m->operations + 1},
                   {&b->operations, m->operations - b->formula + 1},
                   {&b->formula, -1},
                   {&b->formula, m->operations - b->operations + 1}};
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
      int before = *changes[k].at;
      *changes[k].at = changes[k].value;
      size_t size = od_image_size(m, NULL);
      unsigned char *image = malloc(size);
      od_error err = {0};
      assert_int_equal(od_image_write(m, NULL, image, size, NULL), OD_OK);
      assert_int_equal(od_image_check(image, size, &err), OD_BAD_INPUT);
      assert_non_null(strstr(err.text, "a block has no class or formula"));
      free(image);
      *changes[k].at = before;
    }
  }
}

// A batch of one instance has the numbers, host, choices, formula and jumps of this instance.
static void check_batches(const od_model *m) {
  const od_layout *l = &m->layout;
  const int *pool = m->join.pool;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_batch b = od_instance_batch(m, e);
    assert_int_equal(b.count, 1);
    assert_true(b.in == e->in && b.out == e->out && b.slope == e->slope);
    assert_int_equal(pool[b.number], l->theta + e->number);
    if (e->host >= 0) assert_int_equal(pool[b.host], l->theta + m->instance[e->host].number);
    for (int k = 0; k < b.choices; k++) assert_int_equal(pool[b.choice + k], e->choice[k]);
    if (!od_instance_class(m, e)->has_formula) continue;
    assert_int_equal(pool[b.formula], e->formula * OD_OPERATION_INTS);
    assert_int_equal(pool[b.operations], e->operations);
    assert_int_equal(pool[b.held], l->held + e->held);
  }
}

// The sparse matrix of steps: its size and the number of its entries follow from the counts of its parts. A machine without a sparse matrix does
// not use one.
static void check_steps(od_model *m) {
  const int i = 0;
  od_sparse *s = &m->step.sparse;
  if (s->values == 0) {
    REFUSE((int *)(void *)&m->newton, OD_NEWTON_SPARSE);
    return;
  }
  int *const counts[] = {&s->n,          &s->entries,     &s->values,      &m->step.starts, &m->step.slopes,
                         &m->step.moves, &m->step.pushes, &m->step.drives, &m->step.feels};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    if (*counts[k] > 0) REFUSE(counts[k], *counts[k] - 1);
  REFUSE(&m->join.row_starts, 0);
  // The diagonal entry of a row is in the row.
  for (int k = 0; k < s->n; k++)
    for (int at = s->start[0]; at < s->start[s->n]; at++)
      if (s->column[at] == k && at != s->diagonal[k]) REFUSE(&s->diagonal[k], at);
}

// A joint has at most six states that are eliminated with the joint: the first states of all joints as those of the first one. The other states
// are in the list of remaining states.
static void check_joint_states(od_model *m) {
  od_tree_states *t = &m->tree_states;
  if (t->own_count < 7 || t->rests > 0) return;
  const od_tree_states before = *t;
  const int count = t->group[0].count;
  for (int most = 1; most < 8; most++) {
    t->groups = 1, t->group[0].count = t->own_count = most, t->rests = before.own_count - most;
    for (int k = 0; k < t->rests; k++) t->rest[k] = t->own[most + k];
    assert_int_equal(is_refused(m), most > 6);
  }
  *t = before;
  t->group[0].count = count;
}

// The number of values of each enumeration, counted in the headers that define them.
static void enumerations(void **state) {
  (void)state;
  static const struct {
    const char *table;
    size_t offset;
    int values;
  } expected[] = {{"body", offsetof(od_body, shape), 5},        {"joint", offsetof(od_joint, spec.type), 9},
                  {"load", offsetof(od_load, kind), 4},         {"link", offsetof(od_link, kind), 4},
                  {"link", offsetof(od_link, unit_axis), 3},    {"link", offsetof(od_link, across), 3},
                  {"closure", offsetof(od_closure, kind), 5},   {"closure", offsetof(od_closure, u.kind), 7},
                  {"closure", offsetof(od_closure, w.kind), 7}, {"node", offsetof(od_node, kind), 4},
                  {"join.target", offsetof(od_target, kind), 8}};
  int found = 0, listed = (int)(sizeof expected / sizeof *expected);
  for (int i = 0; i < od_model_table_count; i++)
    for (int k = 0; k < od_model_tables[i].fields; k++) {
      const od_model_field *f = &od_model_tables[i].field[k];
      for (int n = 0; f->kind == OD_FIELD_ENUM && n < listed; n++)
        if (!strcmp(expected[n].table, od_model_tables[i].name) && expected[n].offset == f->offset) {
          if ((int)f->bound != expected[n].values) fail_msg("%s: %d", expected[n].table, (int)f->bound);
          found++;
        }
    }
  assert_int_equal(found, listed);
}

// The number of instances of a batch: the message names a batch with an impossible number, and the table as a whole if the sum is wrong.
static void check_counts_of_batches(const od_model *m) {
  od_batch *batch = (od_batch *)(uintptr_t)m->join.batch;
  for (int i = 0; i < m->join.batches; i++) {
    const int before = batch[i].count, values[] = {-1, 0, m->instances + 1, before + 1};
    for (int k = 0; k < 4; k++) {
      od_model copy = *m;
      od_error err = {0};
      char says[100];
      const bool in_sum = values[k] > 0 && values[k] <= m->instances;
      batch[i].count = values[k];
      snprintf(says, sizeof says, "item %d of its table 'join.batch'", in_sum ? m->join.batches : i);
      assert_int_equal(od_model_check(&copy, &err), OD_BAD_INPUT);
      if (!strstr(err.text, says)) fail_msg("'%s' instead of '%s'", err.text, says);
      batch[i].count = before;
    }
  }
}

static void check_rules(od_model *m) {
  check_batches(m);
  check_counts_of_batches(m);
  if (m->blocks < 10) check_specs(m);
  check_measures(m);
  check_mechanism(m);
  check_circuit(m);
  check_outputs(m);
  check_units(m);
  if (m->outputs > 0) check_sums(m), check_seconds(m);
  check_steps(m);
  check_joint_states(m);
}

static void random_machines(void **state) {
  (void)state;
  static const od_sparsity kinds[] = {OD_SPARSE_BY_SIZE, OD_SPARSE_ALWAYS, OD_SPARSE_NEVER};
  for (uint64_t seed = 1; seed < 7; seed++) {
    od_model *m =
        od_random_machine_with(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 5 < 3, kinds[seed / 2 % 3]);
    if (m) check_model(m, 4), check_rules(m);
    od_model_free(m);
  }
}

// Fifteen beams, which are factored along the tree; every second joint has the additional keys.
static void write_chain(char *text, size_t size, const char *keys) {
  size_t used = (size_t)snprintf(text, size, "gravity: [0, -9.81]\nbodies:\n");
  for (int i = 0; i < 15; i++)
    used += (size_t)snprintf(text + used, size - used, "  b%d: {beam: {mass: 1 kg, length: 1 m}}\n", i);
  used += (size_t)snprintf(text + used, size - used, "joints:\n");
  for (int i = 0; i < 15; i++) {
    char from[20] = "ground";
    if (i > 0) snprintf(from, sizeof from, "b%d.end", i - 1);
    used += (size_t)snprintf(text + used, size - used, "  j%d: {type: revolute, between: [%s, b%d.start]%s}\n", i, from,
                             i, i % 2 ? "" : keys);
  }
  used += (size_t)snprintf(text + used, size - used, "initial:\n");
  for (int i = 0; i < 15; i++) used += (size_t)snprintf(text + used, size - used, "  j%d.angle: 0.1 rad\n", i);
}

static void special_machines(void **state) {
  (void)state;
  static const char gears[] =
      "bodies: {one: {mass: 1 kg, inertia: [1 kg m^2, 1 kg m^2, 0.5 kg m^2]}, two: {mass: 1 kg, inertia: [1 kg m^2, 1 kg m^2, 2 kg m^2]}}\n"
      "ground: {points: {A: [0, 0], B: [1 m, 0]}}\n"
      "joints: {A: {type: revolute, between: [ground.A, one]}, B: {type: revolute, between: [ground.B, two]}}\n"
      "gears: {G: {joints: [A, B], ratio: -0.4, offset: 10 deg}}\n"
      "contacts: {c: {at: two, stiffness: 1e6 N/m, normal: [0, 1, 0]}}\n"
      "torques: {motor: {joint: A, value: 3 N m}}\n"
      "initial: {A.angle: 0.3 rad, B.angle: about 0 rad, A.rate: 2 rad/s}\n";
  static const char sampled[] =
      "inputs: {u: {sine: {amplitude: 2, frequency: 1 Hz}}}\nblocks:\n"
      "  a: {type: quantiser, input: u, step: 1, sample: 10 ms}\n  b: {type: gain, input: a, gain: 2}\n"
      "  c: {type: quantiser, input: b, step: 1, sample: 20 ms}\n  d: {type: gain, input: c, gain: 2}\n"
      "  e: {type: delay, input: d, time: 50 ms, sample: 10 ms}\n  f: {type: gain, input: e, gain: 2}\n"
      "  g: {type: delay, input: f, time: 30 ms, sample: 10 ms}\n  h: {type: gain, input: g, gain: 2}\n"
      "run: {time: 1 s, outputs: [c]}\n";
  char chain[8000], light[8000];  // the second chain has no friction, so its joints have no states
  write_chain(chain, sizeof chain,
              ", friction: {law: lugre, Fs: 30 N m, Fc: 20 N m, vs: 0.1 rad/s, sigma_0: 5 kN m/rad}");
  write_chain(light, sizeof light, "");
  static const char formulas[] =
      "bodies: {a: {point: {mass: 1 kg}}, b: {point: {mass: 1 kg}}}\n"
      "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}, B: {type: prismatic, between: [a, b], axis: [1, 0, 0]}}\n"
      "force_formulas:\n  f: {joint: A, parameters: {F: 1 N}, force: 'F * sign(-v)'}\n"
      "  g: {joint: B, parameters: {F: 2 N, G: 1 N}, force: 'F * sign(-v) + if(x > 0, G, -G)'}\n"
      "inputs: {u: {constant: 1}}\nblocks:\n  s: {type: sign, input: u}\n"
      "  h: {type: formula, inputs: {x: u, y: s}, formula: 'sign(x) + if(y > 0, x, 2)'}\n"
      "initial: {A.position: 0 m, B.position: 0 m}\n";
  // Junctions that are not connected by an element are solved apart from each other. A reservoir is the only element.
  static const char apart[] =
      "oil: {density: 860, law: constant, modulus: 1.2 GPa}\nsources: {S: {pressure: 150 bar}}\ntanks: {T: {pressure: 2 bar}}\n"
      "volumes: {V: {volume: 1 l}}\njunctions: {J1: {}, J2: {}, J3: {}}\nleaks:\n"
      "  a: {between: [S, J1], slope: 5e-12}\n  b: {between: [J1, V], slope: 8e-12}\n  c: {between: [V, J2], slope: 3e-12}\n"
      "  d: {between: [J2, J3], slope: 6e-12}\n  e: {between: [J3, T], slope: 4e-12}\ninitial: {V.pressure: 20 bar}\n";
  static const char reservoir[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nreservoirs: {one: {volume: 40 L}}\n"
      "bodies: {m: {point: {mass: 1 kg}}}\njoints: {A: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
      "initial: {A.position: 0 m}\n";
  // The valve is the first element and the host of its port, which reads its numbers.
  static const char valve[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nsources: {P: {pressure: 90 bar}}\nvolumes: {A: {volume: 1 L}}\n"
      "inputs: {u: {constant: 0.5}}\nvalves: {v: {command: u, time_constant: 5 ms, stroke: 1, area: 10 mm^2, discharge: 0.6, "
      "ports: {a: {between: [P, A], side: positive, curve: linear}}}}\ninitial: {A.pressure: 10 bar}\n";
  const char *const texts[] = {gears, chain, light, sampled, formulas, apart, reservoir, valve};
  for (int i = 0; i < 8; i++) {
    od_machine *machine = od_test_machine_text(texts[i]);
    od_model copy = *od_machine_model(machine);  // its tables are shared
    check_model(&copy, 4);
    check_rules(&copy);
    od_machine_free(machine);
  }
}

static void cases(void **state) {
  (void)state;
  static const char *const paths[] = {"cases/rssr/machine.yaml", "cases/load-sensing/machine.yaml",
                                      "cases/hydrostatic-transmission/machine.yaml", "cases/press/machine.yaml"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    od_machine *machine = od_test_machine(paths[i], NULL);
    od_model copy = *od_machine_model(machine);
    check_rules(&copy);
    od_machine_free(machine);
  }
}

// Every determined field has been changed in some machine.
static void all_fields_are_tried(void **state) {
  (void)state;
  for (int i = 0; i < DETERMINED; i++)
    if (determined[i].tried == 0)
      fail_msg("table %s, offset %zu: no machine has it", determined[i].table, determined[i].offset);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(enumerations), cmocka_unit_test(random_machines),
                                     cmocka_unit_test(special_machines), cmocka_unit_test(cases),
                                     cmocka_unit_test(all_fields_are_tried)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
