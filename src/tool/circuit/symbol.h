// Symbols of element classes. symbol_table.c has one entry per class; a class without an entry is a box with the name
// of the class. A glyph (symbols_*.c) is a pair of functions that computes the size and the pins of a cell, and draws
// the cell.
#ifndef OD_CIRCUIT_SYMBOL_H
#define OD_CIRCUIT_SYMBOL_H

struct od_sheet;
struct od_cell;
struct od_pen;

// Places of parts in the diagram.
typedef enum od_station {
  OD_STATION_ACTUATOR,     // top row
  OD_STATION_DIRECTIONAL,  // row of the directional valves
  OD_STATION_LINE,         // between its two nets, or between its net and a tank
  OD_STATION_ABOVE,        // above its net: accumulators
  OD_STATION_BELOW,        // below its net: tanks
  OD_STATION_MERGE,        // inlets above, outlet below: shuttle valves
  OD_STATION_SPLIT,        // outlets above, inlet below: flow dividers
  OD_STATION_SUPPLY,       // last row: pumps
} od_station;

// A line of the label of a symbol: a text before the number, and the key of the number.
typedef struct od_value_line {
  const char *before, *key;
} od_value_line;
enum { OD_MOST_VALUE_LINES = 3 };

// A glyph. `lay` sets width, height and pins of the cell. `draw` draws the cell.
typedef struct od_glyph {
  void (*lay)(struct od_sheet *s, struct od_cell *c);
  void (*draw)(const struct od_sheet *s, const struct od_cell *c, struct od_pen *pen);
} od_glyph;

// Variants of symbols that share a basic shape.
typedef enum od_symbol_kind {
  OD_SYMBOL_PLAIN,
  // pressure valves, by the place of the internal pilot
  OD_SYMBOL_OPENS,     // normally closed, opened by the inlet: relief, sequence
  OD_SYMBOL_REMOTE,    // normally closed, opened by an external pilot: unloading
  OD_SYMBOL_HOLDS,     // normally closed, opened by the inlet and an external pilot: counterbalance
  OD_SYMBOL_REDUCES,   // normally open, closed by the outlet: reducing
  OD_SYMBOL_BALANCES,  // normally open, closed by the outlet, opened by a pilot at the spring: compensator
  // restrictions
  OD_SYMBOL_ORIFICE,   // sharp edge
  OD_SYMBOL_THROTTLE,  // long restriction
  OD_SYMBOL_LEAK,      // gap with laminar flow
  OD_SYMBOL_CUSHION,   // variable restriction combined with a check valve
  OD_SYMBOL_LINE,      // pipe
  OD_SYMBOL_WAVE,      // long line
  // pumps
  OD_SYMBOL_PRESSURE,  // pressure control
  OD_SYMBOL_SENSING,   // load sensing
  // valves
  OD_SYMBOL_CONTINUOUS,  // valve with parallel lines along the boxes
  OD_SYMBOL_SWITCHED,
  OD_SYMBOL_SERVO,
} od_symbol_kind;

typedef struct od_symbol {
  const char *class_name;
  const od_glyph *glyph;
  od_station station;
  od_symbol_kind kind;
  od_value_line line[OD_MOST_VALUE_LINES];
} od_symbol;

// Returns the symbol of a class; NULL: the class has no entry.
const od_symbol *od_symbol_find(const char *class_name);
// Returns the symbol of a part with `ends` ends whose class has no symbol: a box with the name of the class.
const od_symbol *od_symbol_generic(int ends);

extern const od_glyph od_glyph_pressure_valve, od_glyph_check, od_glyph_restriction, od_glyph_pipe, od_glyph_two_way;
extern const od_glyph od_glyph_cylinder, od_glyph_telescopic, od_glyph_motor, od_glyph_brake, od_glyph_pump,
    od_glyph_accumulator, od_glyph_oil_tank, od_glyph_source;
extern const od_glyph od_glyph_directional, od_glyph_shuttle, od_glyph_divider, od_glyph_box;

#endif
