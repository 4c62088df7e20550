// The table of symbols: one line per element class.
#include <string.h>

#include "circuit/symbol.h"

static const od_symbol symbols[] = {
    {"cylinder", &od_glyph_cylinder, OD_STATION_ACTUATOR, OD_SYMBOL_PLAIN, {{0}}},
    {"telescopic cylinder", &od_glyph_telescopic, OD_STATION_ACTUATOR, OD_SYMBOL_PLAIN, {{0}}},
    {"motor", &od_glyph_motor, OD_STATION_ACTUATOR, OD_SYMBOL_PLAIN, {{0, "displacement"}}},
    {"displacement unit", &od_glyph_motor, OD_STATION_ACTUATOR, OD_SYMBOL_PLAIN, {{0, "displacement"}}},
    {"brake", &od_glyph_brake, OD_STATION_ACTUATOR, OD_SYMBOL_PLAIN, {{0, "release"}}},

    {"valve", &od_glyph_directional, OD_STATION_DIRECTIONAL, OD_SYMBOL_CONTINUOUS, {{0, "area"}}},
    {"servo valve",
     &od_glyph_directional,
     OD_STATION_DIRECTIONAL,
     OD_SYMBOL_SERVO,
     {{0, "nominal_flow"}, {"at ", "nominal_drop"}}},
    {"proportional valve",
     &od_glyph_directional,
     OD_STATION_DIRECTIONAL,
     OD_SYMBOL_CONTINUOUS,
     {{0, "nominal_flow"}, {"at ", "nominal_drop"}}},
    {"load-sensing valve",
     &od_glyph_directional,
     OD_STATION_DIRECTIONAL,
     OD_SYMBOL_CONTINUOUS,
     {{0, "nominal_flow"}, {"at ", "nominal_drop"}}},
    {"two-position valve",
     &od_glyph_directional,
     OD_STATION_DIRECTIONAL,
     OD_SYMBOL_SWITCHED,
     {{0, "nominal_flow"}, {"at ", "nominal_drop"}}},
    {"two-way valve",
     &od_glyph_two_way,
     OD_STATION_LINE,
     OD_SYMBOL_SWITCHED,
     {{0, "nominal_flow"}, {"at ", "nominal_drop"}}},

    {"relief valve", &od_glyph_pressure_valve, OD_STATION_LINE, OD_SYMBOL_OPENS, {{0, "set"}}},
    {"spool relief valve", &od_glyph_pressure_valve, OD_STATION_LINE, OD_SYMBOL_OPENS, {{0, "set"}}},
    {"nominal relief valve", &od_glyph_pressure_valve, OD_STATION_LINE, OD_SYMBOL_OPENS, {{0, "set"}}},
    {"sequence valve", &od_glyph_pressure_valve, OD_STATION_LINE, OD_SYMBOL_OPENS, {{0, "set"}}},
    {"unloading valve",
     &od_glyph_pressure_valve,
     OD_STATION_LINE,
     OD_SYMBOL_REMOTE,
     {{"opens ", "open"}, {"closes ", "close"}}},
    {"counterbalance valve",
     &od_glyph_pressure_valve,
     OD_STATION_LINE,
     OD_SYMBOL_HOLDS,
     {{0, "set"}, {"1 : ", "ratio"}}},
    {"reducing valve", &od_glyph_pressure_valve, OD_STATION_LINE, OD_SYMBOL_REDUCES, {{0, "set"}}},
    {"pressure compensator", &od_glyph_pressure_valve, OD_STATION_LINE, OD_SYMBOL_BALANCES, {{"\u0394p ", "set"}}},

    {"check valve", &od_glyph_check, OD_STATION_LINE, OD_SYMBOL_PLAIN, {{0}}},
    {"pilot-operated check valve", &od_glyph_check, OD_STATION_LINE, OD_SYMBOL_REMOTE, {{"1 : ", "ratio"}}},
    {"orifice", &od_glyph_restriction, OD_STATION_LINE, OD_SYMBOL_ORIFICE, {{0, "area"}}},
    {"throttle", &od_glyph_restriction, OD_STATION_LINE, OD_SYMBOL_THROTTLE, {{0, "area"}}},
    {"leak", &od_glyph_restriction, OD_STATION_LINE, OD_SYMBOL_LEAK, {{0, "slope"}}},
    {"leak by position", &od_glyph_restriction, OD_STATION_LINE, OD_SYMBOL_LEAK, {{0}}},
    {"cushion", &od_glyph_restriction, OD_STATION_LINE, OD_SYMBOL_CUSHION, {{0, "full"}}},
    {"pipe", &od_glyph_pipe, OD_STATION_LINE, OD_SYMBOL_LINE, {{0, "length"}, {"\u2300 ", "diameter"}}},
    {"long line", &od_glyph_pipe, OD_STATION_LINE, OD_SYMBOL_WAVE, {{0, "length"}, {"\u2300 ", "diameter"}}},
    {"shuttle valve", &od_glyph_shuttle, OD_STATION_MERGE, OD_SYMBOL_PLAIN, {{0}}},
    {"flow divider", &od_glyph_divider, OD_STATION_SPLIT, OD_SYMBOL_PLAIN, {{0, "share"}}},

    {"accumulator", &od_glyph_accumulator, OD_STATION_ABOVE, OD_SYMBOL_PLAIN, {{0, "volume"}, {0, "precharge"}}},
    {"thermal accumulator",
     &od_glyph_accumulator,
     OD_STATION_ABOVE,
     OD_SYMBOL_PLAIN,
     {{0, "volume"}, {0, "precharge"}}},
    {"oil_tank", &od_glyph_oil_tank, OD_STATION_BELOW, OD_SYMBOL_PLAIN, {{0, "capacity"}}},

    {"pump", &od_glyph_pump, OD_STATION_SUPPLY, OD_SYMBOL_PLAIN, {{0, "flow"}}},
    {"driven pump", &od_glyph_pump, OD_STATION_SUPPLY, OD_SYMBOL_PLAIN, {{0, "displacement"}}},
    {"pressure-controlled pump", &od_glyph_pump, OD_STATION_SUPPLY, OD_SYMBOL_PRESSURE, {{0, "flow"}, {0, "set"}}},
    {"load-sensing pump",
     &od_glyph_pump,
     OD_STATION_SUPPLY,
     OD_SYMBOL_SENSING,
     {{0, "flow"}, {"\u0394p ", "margin"}, {"cutoff ", "cutoff"}}},
};

const od_symbol *od_symbol_find(const char *class_name) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (strcmp(symbols[i].class_name, class_name) == 0) return &symbols[i];
  return NULL;
}

const od_symbol *od_symbol_generic(int ends) {
  static const od_symbol one = {"", &od_glyph_box, OD_STATION_ABOVE, OD_SYMBOL_PLAIN, {{0}}},
                         two = {"", &od_glyph_box, OD_STATION_LINE, OD_SYMBOL_PLAIN, {{0}}},
                         more = {"", &od_glyph_box, OD_STATION_MERGE, OD_SYMBOL_PLAIN, {{0}}};
  return ends <= 1 ? &one : ends == 2 ? &two : &more;
}
