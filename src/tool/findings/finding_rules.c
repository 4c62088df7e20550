#include "findings/finding_rules.h"

#include <stddef.h>

#include "findings/findings.h"

// Smallest elongation of a stop or rope that counts as a contact, m or rad.
#define TOUCH 1e-9

static const od_class_rule element_rules[] = {
    // Columns: class, type, side, quantity, key of the limit, factor of the limit, margin, further output, end, events.
    {"pressure-controlled pump", OD_FIND_PUMP_LIMIT, OD_SIDE_ABOVE, "swash", NULL, 0.99, 0.01, "flow", 1 + 1,
     .on = "reaches its limit"},
    {"load-sensing pump", OD_FIND_PUMP_LIMIT, OD_SIDE_ABOVE, "swash", NULL, 0.99, 0.01, "flow", 1 + 0,
     .on = "reaches its limit"},
    {"driven pump", OD_FIND_DRIVE_LIMIT, OD_SIDE_ABOVE, "torque", "torque", 0.99, 0.01, "rate",
     .on = "reaches its limit"},
    {"relief valve", OD_FIND_RELIEF, OD_SIDE_PRESSURE, NULL, "set", 1, 0.005, "flow", 1 + 0, .on = "opens"},
    {"spool relief valve", OD_FIND_RELIEF, OD_SIDE_PRESSURE, NULL, "set", 1, 0.005, "flow", 1 + 0, .on = "opens"},
    {"nominal relief valve", OD_FIND_RELIEF, OD_SIDE_PRESSURE, NULL, "set", 1, 0.005, "flow", 1 + 0, .on = "opens"},
    {"cylinder", OD_FIND_STROKE, OD_SIDE_ABOVE, "length", .margin = 1e-3, .with = "rate", .on = "reaches its outer end",
     .off = "reaches its inner end"},
    {"telescopic cylinder", OD_FIND_STROKE, OD_SIDE_ABOVE, "length", .margin = 1e-3, .with = "rate",
     .on = "reaches its outer end", .off = "reaches its inner end"},
    {"cylinder", OD_FIND_REVERSAL, OD_SIDE_ABOVE, "force"},
    {"stop", OD_FIND_STOP, OD_SIDE_BEYOND, "force", "stiffness", TOUCH, .on = "is reached"},
    {"accumulator", OD_FIND_EMPTY, OD_SIDE_BELOW, "oil", "volume", 0.005, 1, .end = 1 + 0, .on = "runs empty"},
    {"thermal accumulator", OD_FIND_EMPTY, OD_SIDE_BELOW, "oil", "volume", 0.005, 1, .end = 1 + 0, .on = "runs empty"},
    {"accumulator", OD_FIND_FULL, OD_SIDE_ABOVE, "oil", "volume", 0.9, 0.01, .end = 1 + 0, .on = "is full"},
    {"thermal accumulator", OD_FIND_FULL, OD_SIDE_ABOVE, "oil", "volume", 0.9, 0.01, .end = 1 + 0, .on = "is full"},
    {"oil_tank", OD_FIND_EMPTY, OD_SIDE_BELOW, "filled", NULL, 0.05, 0.2, .on = "runs empty"},
    {"oil_tank", OD_FIND_FULL, OD_SIDE_ABOVE, "filled", NULL, 1, 0.01, .on = "is full"},
    {"valve", OD_FIND_SPOOL, OD_SIDE_BEYOND, "spool", "stroke", 0.999, 0.01, .on = "reaches its full stroke"},
    {"servo valve", OD_FIND_SPOOL, OD_SIDE_BEYOND, "spool", "stroke", 0.999, 0.01, .on = "reaches its full stroke"},
    {"proportional valve", OD_FIND_SPOOL, OD_SIDE_BEYOND, "spool", "stroke", 0.999, 0.01,
     .on = "reaches its full stroke"},
    {"load-sensing valve", OD_FIND_SPOOL, OD_SIDE_BEYOND, "spool", "stroke", 0.999, 0.01,
     .on = "reaches its full stroke"},
    {"check valve", OD_FIND_CHATTER, OD_SIDE_PRESSURE, NULL, "crack", 1, 0.2, "flow"},
    {"pilot-operated check valve", OD_FIND_CHATTER, OD_SIDE_PRESSURE, NULL, "crack", 1, 0.2, "flow"},
    {"rope", OD_FIND_SLACK, OD_SIDE_BELOW, "tension", "stiffness", TOUCH, 1, .on = "goes slack"},
    {"winch", OD_FIND_SLACK, OD_SIDE_BELOW, "tension", "stiffness", TOUCH, 1, .on = "goes slack"},
    {"brake", OD_FIND_SLIP, OD_SIDE_BEYOND, "force", "holding", 0.999, 0.01, .on = "slips"},
    {"brake", OD_FIND_MODE, .quantity = "mode", .off = "releases", .on = "engages"},
    {"unloading valve", OD_FIND_MODE, .quantity = "mode", .off = "closes", .on = "opens"},
    {"reservoir", OD_FIND_HOT, OD_SIDE_ABOVE, "temperature", NULL, 353.15, 0.003, .on = "is above 80 °C"},
    // Classes whose behavior has no limit. Their losses are part of the energies, and their pressures are pressures of
    // nodes.
    {"joint spring"},
    {"spring"},
    {"pump"},
    {"orifice"},
    {"leak"},
    {"port"},
    {"motor"},
    {"play"},
    {"disturbance"},
    {"throttle"},
    {"pipe"},
    {"reducing valve"},
    {"sequence valve"},
    {"counterbalance valve"},
    {"shuttle valve"},
    {"pressure compensator"},
    {"flow divider"},
    {"two-way valve"},
    {"two-position valve"},
    {"cushion"},
    {"leak by position"},
    {"displacement unit"},
    {"long line"},
    {"flow formula"},
    {"force formula"},
};

static const od_class_rule block_rules[] = {
    {"saturation", OD_FIND_COMMAND, .key = "limits", .part = 1, .margin = 1e-3, .on = "reaches its limit"},
    {"pid", OD_FIND_COMMAND, .key = "limits", .part = 1, .margin = 1e-3, .on = "reaches its limit"},
    {"relay", OD_FIND_MODE, .quantity = "mode", .off = "switches off", .on = "switches on"},
    {"state-machine", OD_FIND_STATES, .quantity = "mode"},
};

const od_class_rule *od_element_rule_at(int i) {
  return i < (int)(sizeof element_rules / sizeof *element_rules) ? &element_rules[i] : NULL;
}

const od_class_rule *od_block_rule_at(int i) {
  return i < (int)(sizeof block_rules / sizeof *block_rules) ? &block_rules[i] : NULL;
}

static const od_finding_code codes[] = {
    {"requirement.fails", "serious", "requirements", "a requirement is not met"},
    {"requirement.undecided", "warning", "requirements", "a requirement is undecided or not judged"},
    {"cavitation", "serious, warning", "volumes, junctions",
     "the pressure is zero for more than 1 ms; serious: for more than 0.1 s"},
    {"pump.limit", "warning", "pressure-controlled pump, load-sensing pump",
     "the swash plate is above 99 % for longer than 10 ms and longer than five of its time constants"},
    {"drive.limit", "warning", "driven pump",
     "the drive gives more than 99 % of its largest torque for longer than 10 ms"},
    {"relief.open", "warning, note", "relief valve, spool relief valve, nominal relief valve",
     "the valve is open for more than 1 ms, oil flows, and the pressure difference exceeds the setting by 0.2 %; note: open for more than "
     "90 % of the run"},
    {"stroke.end", "warning, note", "cylinder, telescopic cylinder",
     "the piston reaches an end of its stroke; warning: faster than 0.1 m/s"},
    {"stop.reached", "note", "stop", "a stop is reached during the run"},
    {"accumulator.empty", "warning", "accumulator, thermal accumulator, oil_tank",
     "the part runs empty during the run"},
    {"accumulator.full", "warning", "accumulator, thermal accumulator, oil_tank",
     "oil fills 90 % of the accumulator, or the whole tank"},
    {"load.reverses", "warning, note", "cylinder",
     "a load of one direction changes its sign, with at least a tenth of its largest value; warning: the loaded chamber falls below 2 bar"},
    {"rope.slack", "warning", "rope, winch", "a rope that was tight has no tension for more than 10 ms"},
    {"brake.slips", "warning", "brake", "the brake transmits more than 99.9 % of its holding force"},
    {"oil.hot", "warning", "reservoir", "the oil is warmer than 80 °C"},
    {"valve.saturated", "note", "valve, servo valve, proportional valve, load-sensing valve",
     "a spool in a control loop is at its full stroke for more than 20 ms"},
    {"command.saturated", "note", "saturation, pid with limits", "a command is at its limit for more than 20 ms"},
    {"check.chatter", "note", "check valve, pilot-operated check valve",
     "the valve opens at least ten times, more than ten times per second"},
    {"error.largest", "note", "sums of a target and a measured quantity",
     "the largest control error; after jumps of the target, the error at the end of the run"},
    {"load.largest", "note", "joints", "the joint with the largest force"},
    {"energy", "note", "all elements", "energy that pumps and sources supply, peak power, and losses by class"},
    {"pressure.highest", "warning, note", "nodes",
     "the highest pressure, for machines without relief valves; warning: 25 % above the settings of all relief valves"},
    {"relief.closed", "good", "relief valves", "no relief valve opens; the valve nearest to its setting"},
    {"stroke.left", "good", "cylinders", "no cylinder reaches an end of its stroke; the cylinder nearest to an end"},
    {"requirement.margin", "good", "requirements", "all requirements pass; the requirement with the smallest margin"},
};

const od_finding_code *od_finding_code_at(int i) {
  return i < (int)(sizeof codes / sizeof *codes) ? &codes[i] : NULL;
}
