#include "model/model_tables.h"

#define OF(member) offsetof(od_model, member)
#define FIELD(kind, type, member, bound) \
  { kind, #member, offsetof(type, member), sizeof(((type *)0)->member), bound }
#define ANY_INT(type, member)         FIELD(OD_FIELD_INT, type, member, 0)
#define DOUBLE(type, member)          FIELD(OD_FIELD_DOUBLE, type, member, 0)
#define BOOL(type, member)            FIELD(OD_FIELD_BOOL, type, member, 0)
#define ENUM(type, member, values)    FIELD(OD_FIELD_ENUM, type, member, values)
#define COUNT(type, member)           FIELD(OD_FIELD_COUNT, type, member, 0)
#define INDEX(type, member, count)    FIELD(OD_FIELD_INDEX, type, member, OF(count))
#define OPTIONAL(type, member, count) FIELD(OD_FIELD_OPTIONAL, type, member, OF(count))
#define TEXT(type, member)            FIELD(OD_FIELD_TEXT, type, member, 0)
#define START(type, member, count)    FIELD(OD_FIELD_START, type, member, OF(count))
#define WORK(type, member)            INDEX(type, member, layout.scalars)
#define REAL_WORK(type, member)       INDEX(type, member, layout.scalars_real)

// ---- single values

static const od_model_field one_double[] = {{OD_FIELD_DOUBLE, NULL, 0, sizeof(double), 0}};
#define ONE(name, kind, bound) static const od_model_field name[] = {{kind, NULL, 0, sizeof(int), bound}}
ONE(one_int, OD_FIELD_INT, 0);
ONE(one_link, OD_FIELD_INDEX, OF(links));
ONE(one_block, OD_FIELD_INDEX, OF(blocks));
ONE(one_instance, OD_FIELD_INDEX, OF(instances));
ONE(one_signal, OD_FIELD_INDEX, OF(signals));
ONE(one_state, OD_FIELD_INDEX, OF(states));
ONE(one_node, OD_FIELD_INDEX, OF(nodes));
ONE(one_node_or_none, OD_FIELD_OPTIONAL, OF(nodes));
ONE(one_group, OD_FIELD_INDEX, OF(join.at_junction.groups));
ONE(one_target, OD_FIELD_INDEX, OF(join.targets));
ONE(one_work, OD_FIELD_INDEX, OF(layout.scalars));
ONE(one_real_work, OD_FIELD_INDEX, OF(layout.scalars_real));
ONE(one_rate_column, OD_FIELD_INDEX, OF(layout.rate_width));
ONE(one_force_column, OD_FIELD_INDEX, OF(layout.force_width));
ONE(one_row_start, OD_FIELD_START, OF(join.row_columns));
ONE(one_user, OD_FIELD_START, OF(join.users));
ONE(one_step_row, OD_FIELD_INDEX, OF(step.sparse.n));
ONE(one_step_value, OD_FIELD_INDEX, OF(step.sparse.values));
ONE(one_step_start, OD_FIELD_START, OF(step.sparse.values));

// ---- the mechanism

static const od_model_field body[] = {
    TEXT(od_body, name),
    ENUM(od_body, shape, OD_SHAPE_BOX + 1),
    INDEX(od_body, number, numbers),
    INDEX(od_body, link, links),
};
static const od_model_field point[] = {
    TEXT(od_point, name),
    OPTIONAL(od_point, body, bodies),
    OPTIONAL(od_point, number, numbers),
    OPTIONAL(od_point, length, numbers),
    DOUBLE(od_point, fraction),
    INDEX(od_point, link, links),
};
static const od_model_field joint[] = {
    TEXT(od_joint, name),
    ENUM(od_joint, spec.type, OD_FREE + 1),
    INDEX(od_joint, spec.point_a, points),
    INDEX(od_joint, spec.point_b, points),
    OPTIONAL(od_joint, spec.axis_a, numbers),
    OPTIONAL(od_joint, spec.axis_b, numbers),
    BOOL(od_joint, spec.cut),
    BOOL(od_joint, spec.independent),
    OPTIONAL(od_joint, spec.lead, numbers),
    OPTIONAL(od_joint, link, links),
    COUNT(od_joint, links),
    OPTIONAL(od_joint, coordinate, coordinates),
    COUNT(od_joint, coordinates),
};
static const od_model_field rod[] = {
    TEXT(od_rod, name),
    INDEX(od_rod, point_a, points),
    INDEX(od_rod, point_b, points),
    INDEX(od_rod, number, numbers),
};
static const od_model_field gear[] = {
    TEXT(od_gear, name),
    INDEX(od_gear, joint_a, joints),
    INDEX(od_gear, joint_b, joints),
    INDEX(od_gear, number, numbers),
};
static const od_model_field load[] = {
    TEXT(od_load, name),
    ENUM(od_load, kind, OD_LOAD_CONTACT + 1),
    OPTIONAL(od_load, point, points),
    INDEX(od_load, link, links),
    OPTIONAL(od_load, coordinate, coordinates),
    INDEX(od_load, number, numbers),
    OPTIONAL(od_load, input, signals),
    BOOL(od_load, follows_body),
};
static const od_model_field link_fields[] = {
    OPTIONAL(od_link, parent, links),
    ENUM(od_link, kind, OD_LINK_SCREW + 1),
    OPTIONAL(od_link, body, bodies),
    OPTIONAL(od_link, coordinate, coordinates),
    OPTIONAL(od_link, joint, joints),
    OPTIONAL(od_link, point_parent, points),
    OPTIONAL(od_link, point_child, points),
    OPTIONAL(od_link, axis, numbers),
    ENUM(od_link, unit_axis, 3),
    ENUM(od_link, across, 3),
    OPTIONAL(od_link, lead, numbers),
    DOUBLE(od_link, axis_sign),
    OPTIONAL(od_link, chart, charts),
};
#define DIRECTION(member)                                                                        \
  ENUM(od_closure, member.kind, OD_DIR_CARRIED + 1), OPTIONAL(od_closure, member.axis, numbers), \
      OPTIONAL(od_closure, member.from, numbers)
static const od_model_field closure[] = {
    ENUM(od_closure, kind, OD_CLOSE_GEAR + 1),
    INDEX(od_closure, link_a, links),
    INDEX(od_closure, link_b, links),
    OPTIONAL(od_closure, point_a, points),
    OPTIONAL(od_closure, point_b, points),
    DIRECTION(u),
    DIRECTION(w),
    OPTIONAL(od_closure, length, numbers),
    START(od_closure, row, rows),
    COUNT(od_closure, rows),
    START(od_closure, path, path_steps),
    COUNT(od_closure, path_count),
    START(od_closure, entry, entries),
    OPTIONAL(od_closure, joint, joints),
    OPTIONAL(od_closure, rod, rods),
    OPTIONAL(od_closure, gear, gears),
};
static const od_model_field path_step[] = {INDEX(od_path_step, link, links), ANY_INT(od_path_step, side)};
static const od_model_field actuator[] = {
    OPTIONAL(od_actuator, point_a, points),
    OPTIONAL(od_actuator, point_b, points),
    OPTIONAL(od_actuator, coordinate, coordinates),
    OPTIONAL(od_actuator, length_row, length_rows),
};
static const od_model_field joint_states[] = {
    INDEX(od_joint_states, actuator, actuators),
    INDEX(od_joint_states, coordinate, coordinates),
    START(od_joint_states, first, tree_states.own_count),
    COUNT(od_joint_states, count),
};

// ---- the circuit

static const od_model_field node[] = {
    TEXT(od_node, name),
    ENUM(od_node, kind, OD_NODE_JUNCTION + 1),
    OPTIONAL(od_node, number, numbers),
    OPTIONAL(od_node, input, signals),
    OPTIONAL(od_node, state, circuit_states),
    OPTIONAL(od_node, junction, junctions),
};
static const od_model_field difference[] = {TEXT(od_difference, name), INDEX(od_difference, node_a, nodes),
                                            INDEX(od_difference, node_b, nodes)};
static const od_model_field instance[] = {
    TEXT(od_instance, name),
    FIELD(OD_FIELD_ELEMENT_CLASS, od_instance, element_class, 0),
    OPTIONAL(od_instance, number, numbers),
    COUNT(od_instance, numbers),
    OPTIONAL(od_instance, host, instances),
    OPTIONAL(od_instance, joint, joints),
    OPTIONAL(od_instance, friction, instances),
    OPTIONAL(od_instance, point_a, points),
    OPTIONAL(od_instance, point_b, points),
    OPTIONAL(od_instance, actuator, actuators),
    OPTIONAL(od_instance, end, nodes),
    OPTIONAL(od_instance, signal, signals),
    OPTIONAL(od_instance, more_signals, signals),
    OPTIONAL(od_instance, state, circuit_states),
    OPTIONAL(od_instance, switcher, switchers),
    OPTIONAL(od_instance, supplier, suppliers),
    ANY_INT(od_instance, choice),
    INDEX(od_instance, batch, join.batches),
    COUNT(od_instance, place),
    START(od_instance, in, layout.scalars),
    START(od_instance, out, layout.scalars),
    START(od_instance, slope, layout.scalars_real),
    START(od_instance, target, join.targets),
    COUNT(od_instance, targets),
    START(od_instance, formula, operations),
    COUNT(od_instance, operations),
    START(od_instance, held, jumps),
};
static const od_model_field batch[] = {
    FIELD(OD_FIELD_ELEMENT_CLASS, od_batch, element_class, 0),
    COUNT(od_batch, count),
    START(od_batch, in, layout.scalars),
    START(od_batch, out, layout.scalars),
    START(od_batch, kept, layout.scalars),
    START(od_batch, report, layout.scalars),
    START(od_batch, slope, layout.scalars_real),
    COUNT(od_batch, kept_scalars),
    COUNT(od_batch, choices),
    START(od_batch, number, join.pool_count),
    START(od_batch, host, join.pool_count),
    START(od_batch, choice, join.pool_count),
    WORK(od_batch, oil),
    START(od_batch, formula, join.pool_count),
    START(od_batch, operations, join.pool_count),
    START(od_batch, held, join.pool_count),
};
static const od_model_field target[] = {
    WORK(od_target, from),
    WORK(od_target, to),
    DOUBLE(od_target, sign),
    ENUM(od_target, kind, OD_TO_RATE + 1),
    COUNT(od_target, target),
    REAL_WORK(od_target, slope),
    START(od_target, in, join.ins),
    COUNT(od_target, ins),
    OPTIONAL(od_target, row, layout.scalars_real),
    OPTIONAL(od_target, state, circuit_states),
    START(od_target, place, join.places),
    BOOL(od_target, displaces),
};
static const od_model_field user[] = {
    INDEX(od_number_user, instance, instances),
    INDEX(od_number_user, batch, join.batches),
    COUNT(od_number_user, place),
    COUNT(od_number_user, number),
};
static const od_model_field heater[] = {INDEX(od_heater, instance, instances), COUNT(od_heater, report)};
static const od_model_field junction_group[] = {
    START(od_junction_group, first, junctions), COUNT(od_junction_group, count), WORK(od_junction_group, matrix),
    REAL_WORK(od_junction_group, row),          COUNT(od_junction_group, width), COUNT(od_junction_group, columns),
    ANY_INT(od_junction_group, column),
};
static const od_model_field junction_in[] = {WORK(od_junction_in, in), INDEX(od_junction_in, node, nodes)};
static const od_model_field junction_flow[] = {
    WORK(od_junction_flow, from),
    INDEX(od_junction_flow, junction, junctions),
    DOUBLE(od_junction_flow, sign),
};
static const od_model_field junction_slope[] = {
    INDEX(od_junction_slope, row, junctions),
    INDEX(od_junction_slope, column, junctions),
    WORK(od_junction_slope, from),
    WORK(od_junction_slope, in),
    REAL_WORK(od_junction_slope, slope),
    INDEX(od_junction_slope, instance, join.at_junction.instances),
    WORK(od_junction_slope, at),
    DOUBLE(od_junction_slope, sign),
};

// ---- signals and outputs

static const od_model_field input[] = {TEXT(od_input, name), TEXT(od_input, unit), DOUBLE(od_input, start)};
static const od_model_field block[] = {
    TEXT(od_block, name),
    TEXT(od_block, unit),
    FIELD(OD_FIELD_BLOCK_CLASS, od_block, block_class, 0),
    COUNT(od_block, list_inputs),
    COUNT(od_block, choice),
    START(od_block, formula, operations),
    COUNT(od_block, operations),
    DOUBLE(od_block, sample),
    START(od_block, number, numbers),
    COUNT(od_block, numbers),
    START(od_block, line, block_lines),
    COUNT(od_block, inputs),
    START(od_block, signal, signals),
    COUNT(od_block, outputs),
    START(od_block, state, states),
    COUNT(od_block, states),
    START(od_block, slope, block_slopes),
    START(od_block, ring, rings),
    COUNT(od_block, samples),
    START(od_block, held, jumps),
    COUNT(od_block, jumps),
    BOOL(od_block, late),
};
static const od_model_field block_line[] = {ANY_INT(od_block_line, source)};
static const od_model_field output[] = {
    TEXT(od_output, name),     TEXT(od_output, unit),         ENUM(od_output, kind, OD_OUT_BALANCE + 1),
    ANY_INT(od_output, index), ANY_INT(od_output, component), ANY_INT(od_output, second),
    BOOL(od_output, negative), BOOL(od_output, is_pressure),
};

// ---- all tables

#define TABLE_OF(type, place, count, factor, more, fields) \
  { #type, #place, OF(place), OF(count), sizeof(type), factor, more, fields, sizeof fields / sizeof *fields }
#define TABLE(type, place, count, fields) TABLE_OF(type, place, count, 1, 0, fields)
const od_model_table od_model_tables[] = {
    TABLE(double, theta, numbers, one_double),
    TABLE(od_body, body, bodies, body),
    TABLE(od_point, point, points, point),
    TABLE(od_joint, joint, joints, joint),
    TABLE(od_rod, rod, rods, rod),
    TABLE(od_gear, gear, gears, gear),
    TABLE(od_difference, difference, differences, difference),
    TABLE(od_load, load, loads, load),
    TABLE(od_input, input, signals, input),
    TABLE(od_output, output, outputs, output),
    TABLE(od_node, node, nodes, node),
    TABLE(od_instance, instance, instances, instance),
    TABLE(od_actuator, actuator, actuators, actuator),
    TABLE(od_block, block, blocks, block),
    TABLE(od_block_line, block_line, block_lines, block_line),
    TABLE(int, block_order, blocks, one_block),
    TABLE(od_output, measure, measures, output),
    TABLE(int, drive, drives, one_signal),
    TABLE(int, switcher, switchers, one_instance),
    TABLE(int, block_switcher, block_switchers, one_block),
    TABLE(int, sampler, samplers, one_block),
    TABLE(od_link, link, links, link_fields),
    TABLE(int, coordinate_link, coordinates, one_link),
    TABLE(double, coordinate_weight, coordinates, one_double),
    TABLE(od_closure, closure, closures, closure),
    TABLE(od_path_step, path_step, path_steps, path_step),
    TABLE_OF(double, chart0, charts, OD_CHART_SIZE, 0, one_double),
    TABLE(double, z0, coordinates, one_double),
    TABLE(double, zd0, coordinates, one_double),
    TABLE(double, c0, states, one_double),
    TABLE(double, state_scale, states, one_double),
    TABLE(od_joint_states, tree_states.group, tree_states.groups, joint_states),
    TABLE(int, tree_states.own, tree_states.own_count, one_state),
    TABLE(int, tree_states.rest, tree_states.rests, one_state),
    TABLE(od_heater, join.heater, join.heaters, heater),
    TABLE(od_batch, join.batch, join.batches, batch),
    TABLE(int, join.pool, join.pool_count, one_int),
    TABLE(int, join.gather, join.ins, one_work),
    TABLE(int, join.column, join.ins, one_rate_column),
    TABLE(int, join.force_column, join.ins, one_force_column),
    TABLE(int, join.gain, join.ins, one_real_work),
    TABLE(int, join.node, join.ins, one_node_or_none),
    TABLE(od_target, join.target, join.targets, target),
    TABLE(int, join.place, join.places, one_real_work),
    TABLE(int, join.diagonal, circuit_states, one_real_work),
    TABLE(int, join.row_start, join.row_starts, one_row_start),
    TABLE(int, join.row_column, join.row_columns, one_rate_column),
    TABLE(int, join.force, join.forces, one_target),
    TABLE(int, join.displacer, join.displacers, one_target),
    TABLE_OF(int, join.first_user, numbers, 1, 1, one_user),
    TABLE(od_number_user, join.user, join.users, user),
    TABLE(od_junction_group, join.at_junction.group, join.at_junction.groups, junction_group),
    TABLE(int, join.at_junction.column, join.at_junction.columns, one_rate_column),
    TABLE(int, join.at_junction.group_of, junctions, one_group),
    TABLE(int, join.at_junction.node, junctions, one_node),
    TABLE(int, join.at_junction.instance, join.at_junction.instances, one_instance),
    TABLE(od_batch, join.at_junction.alone, join.at_junction.instances, batch),
    TABLE(od_junction_in, join.at_junction.in, join.at_junction.ins, junction_in),
    TABLE(od_junction_flow, join.at_junction.flow, join.at_junction.flows, junction_flow),
    TABLE(od_junction_slope, join.at_junction.slope, join.at_junction.slopes, junction_slope),
    TABLE(int, step.sparse.order, step.sparse.n, one_step_row),
    TABLE(int, step.sparse.start, step.starts, one_step_start),
    TABLE(int, step.sparse.diagonal, step.sparse.n, one_step_value),
    TABLE(int, step.sparse.column, step.sparse.values, one_step_row),
    TABLE(int, step.sparse.place, step.sparse.entries, one_step_value),
    TABLE(int, step.slope, step.slopes, one_int),
    TABLE(int, step.moved, step.moves, one_state),
    TABLE(int, step.pushing, step.pushes, one_state),
    TABLE(int, step.driven, step.drives, one_state),
    TABLE(int, step.felt, step.feels, one_state),
};
const int od_model_table_count = sizeof od_model_tables / sizeof *od_model_tables;

static const od_model_field one_text[] = {{OD_FIELD_TEXT, NULL, 0, sizeof(int), 0}};
ONE(one_output, OD_FIELD_INDEX, OF(outputs));
const od_model_table od_name_tables[] = {
    TABLE(int, path, numbers, one_text),
    TABLE(int, unit, numbers, one_text),
    TABLE(int, output_order, outputs, one_output),
};
const int od_name_table_count = sizeof od_name_tables / sizeof *od_name_tables;

#define ROOT_COUNT(member) COUNT(od_model, member)
const od_model_field od_model_fields[] = {
    ROOT_COUNT(numbers),
    ROOT_COUNT(bodies),
    ROOT_COUNT(points),
    ROOT_COUNT(joints),
    ROOT_COUNT(rods),
    ROOT_COUNT(gears),
    ROOT_COUNT(loads),
    ROOT_COUNT(inputs),
    ROOT_COUNT(differences),
    ROOT_COUNT(outputs),
    OPTIONAL(od_model, gravity, numbers),
    ROOT_COUNT(element_classes),
    ROOT_COUNT(block_classes),
    ROOT_COUNT(operations),
    ROOT_COUNT(nodes),
    ROOT_COUNT(instances),
    ROOT_COUNT(actuators),
    ROOT_COUNT(junctions),
    ROOT_COUNT(length_rows),
    ENUM(od_model, oil_law, OD_OIL_AIR + 1),
    BOOL(od_model, oil_tension),
    OPTIONAL(od_model, oil, numbers),
    OPTIONAL(od_model, viscosity, numbers),
    ROOT_COUNT(circuit_states),
    ROOT_COUNT(signals),
    ROOT_COUNT(blocks),
    ROOT_COUNT(block_lines),
    ROOT_COUNT(measures),
    ROOT_COUNT(drives),
    ROOT_COUNT(states),
    ROOT_COUNT(block_slopes),
    ROOT_COUNT(suppliers),
    ROOT_COUNT(jumps),
    ROOT_COUNT(switchers),
    ROOT_COUNT(block_switchers),
    ROOT_COUNT(samplers),
    ROOT_COUNT(rings),
    ROOT_COUNT(links),
    ROOT_COUNT(coordinates),
    ROOT_COUNT(charts),
    ROOT_COUNT(closures),
    ROOT_COUNT(rows),
    ROOT_COUNT(path_steps),
    ROOT_COUNT(entries),
    BOOL(od_model, planar),
    DOUBLE(od_model, plane[0]),
    DOUBLE(od_model, plane[1]),
    DOUBLE(od_model, plane[2]),
    DOUBLE(od_model, size),
    ROOT_COUNT(freedom),
    ENUM(od_model, newton, OD_NEWTON_TREE + 1),
    ROOT_COUNT(tree_states.groups),
    ROOT_COUNT(tree_states.own_count),
    ROOT_COUNT(tree_states.rests),
    DOUBLE(od_model, stored0),
    DOUBLE(od_model, oil0),
    ROOT_COUNT(join.batches),
    ROOT_COUNT(join.ins),
    ROOT_COUNT(join.outs),
    ROOT_COUNT(join.targets),
    ROOT_COUNT(join.forces),
    ROOT_COUNT(join.users),
    ROOT_COUNT(join.kept),
    ROOT_COUNT(join.reports),
    ROOT_COUNT(join.slopes),
    ROOT_COUNT(join.pool_count),
    ROOT_COUNT(join.places),
    ROOT_COUNT(join.row_starts),
    ROOT_COUNT(join.row_columns),
    BOOL(od_model, join.compliant),
    BOOL(od_model, join.indirect),
    OPTIONAL(od_model, join.reservoir, instances),
    OPTIONAL(od_model, join.warms, circuit_states),
    START(od_model, join.heat_in, layout.scalars),
    ROOT_COUNT(join.heaters),
    ROOT_COUNT(join.displacers),
    ROOT_COUNT(join.at_junction.groups),
    ROOT_COUNT(join.at_junction.instances),
    ROOT_COUNT(join.at_junction.ins),
    ROOT_COUNT(join.at_junction.flows),
    ROOT_COUNT(join.at_junction.slopes),
    ROOT_COUNT(join.at_junction.columns),
    ROOT_COUNT(step.starts),
    ROOT_COUNT(step.sparse.n),
    ROOT_COUNT(step.sparse.entries),
    ROOT_COUNT(step.sparse.values),
    ROOT_COUNT(step.slopes),
    ROOT_COUNT(step.moves),
    ROOT_COUNT(step.pushes),
    ROOT_COUNT(step.drives),
    ROOT_COUNT(step.feels),
};
const int od_model_field_count = sizeof od_model_fields / sizeof *od_model_fields;
