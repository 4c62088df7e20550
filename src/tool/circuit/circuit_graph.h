// The circuit as a graph: nets, which are the nodes of the model, and parts, which are the elements between the nets.
// The arena of the diagram owns all tables.
#ifndef OD_CIRCUIT_GRAPH_H
#define OD_CIRCUIT_GRAPH_H

#include <stdbool.h>

#include "base/arena.h"
#include "circuit/symbol.h"
#include "machine/look.h"
#include "machine/machine.h"
#include "model/model.h"

// Groups of nets, one per color of lines in a diagram without simulation results.
typedef enum od_net_color {
  OD_NET_SUPPLY,
  OD_NET_WORK,
  OD_NET_FEED,
  OD_NET_SENSE,
  OD_NET_LOOP_A,  // first line of a closed circuit
  OD_NET_LOOP_B,  // second line of a closed circuit, or a work line of the second side of an actuator
  OD_NET_TANK,
  OD_NET_COLORS
} od_net_color;

// A node of the circuit. The index of a net is the index of its node in the model.
typedef struct od_net {
  const char *name;   // name of the node
  const char *label;  // name in the diagram, without the name of the section
  od_node_kind kind;
  bool is_tank;     // whether the net is a tank: each end has a tank symbol, and the net has no lines
  bool is_used;     // whether any part has an end at this net
  bool is_supply;   // whether the net is a pressure source or at the outlet of a pump; false for lines of a closed
                    // circuit
  bool is_chamber;  // whether the net is at an actuator
  bool is_second;   // whether the net is only at second chambers or, if at no chamber, only at ports B
  bool is_work;     // whether the net is at port A or B of a directional valve
  bool is_feed;     // whether the net is at port P, L or T of a directional valve
  bool is_sense;    // whether the net only carries a pressure signal: pilots, sense ports, shuttles, restrictions
  od_net_color color;
  int level;     // index of the channel of the net: channel 0 is above the actuators, channel 1 below them
  int section;   // index of the section of the net, or -1
  int pressure;  // index of the output with the pressure of the net, or -1
} od_net;

// A term of a flow: an output of the machine with sign 1 or -1.
typedef struct od_flow_term {
  int output, sign;
} od_flow_term;

// Letters of the ports of directional valves. L is the load-sensing port.
typedef enum od_letter {
  OD_LETTER_NONE,
  OD_LETTER_P,
  OD_LETTER_T,
  OD_LETTER_A,
  OD_LETTER_B,
  OD_LETTER_L,
  OD_LETTERS
} od_letter;

// An end of a part. Its flow terms add up to the flow from the part into the net.
typedef struct od_part_end {
  int net;  // index of the net; -1: not connected
  od_end_role role;
  const char *key;  // key of the end in the file; for a valve with ports: letter of the port
  int place;        // index of the end among the ends of this key
  od_letter letter;
  od_flow_term *term;
  int terms;
} od_part_end;

// An open path between two ports of a directional valve.
typedef struct od_valve_path {
  od_letter from, to;
  bool is_two_way;
} od_valve_path;
enum { OD_MOST_BOXES = 3, OD_MOST_PATHS = 16 };
typedef struct od_valve_box {
  int position;  // position of the spool: 1, 0 or -1
  int paths;
  od_valve_path path[OD_MOST_PATHS];
} od_valve_box;
typedef struct od_valve_boxes {
  int count, rest;  // number of boxes; index of the box of position 0, at which the lines of the ports end
  od_valve_box box[OD_MOST_BOXES];
} od_valve_boxes;

// An element of the circuit with at least one connected end.
typedef struct od_part {
  int instance;
  const char *name, *class_name;
  const char *owner;  // name of the template instance that contains the part, or NULL
  const char *label;  // name in the diagram, without the name of the section
  const od_symbol *symbol;
  od_part_end *end;
  int ends;
  const od_valve_boxes *boxes;  // boxes of a directional valve; other parts: NULL
  int section;                  // index of the section of the part, or -1
  int row;                      // index of the row of the part in the diagram; -1: not yet known
  const od_look_place *place;   // place in the diagram that the file gives for the part; NULL: none
} od_part;

typedef struct od_circuit_section {
  const char *name;  // name of the template instance, or of the first actuator
  bool is_instance;  // whether the section is a template instance; the names of its parts then begin with `name`
} od_circuit_section;

typedef struct od_graph {
  const od_model *model;
  od_net *net;
  int nets;
  od_part *part;
  int parts;
  od_circuit_section *section;
  int sections;
  int rows;  // number of rows of cells
} od_graph;

// Builds nets and parts of a model. machine: contains the template instances and the given places of parts; NULL: a
// model without a machine file. Returns false if an allocation fails.
bool od_graph_build(od_graph *g, const od_model *m, const od_machine *machine, od_arena *arena);
// Finds the letters of the ports of a directional valve and its boxes (circuit_valves.c). Returns false if the letters
// do not suffice or all positions have the same paths; the part then has a generic symbol. *ok is set to false if an
// allocation fails.
bool od_valve_find_boxes(od_graph *g, od_part *part, od_arena *arena, bool *ok);
// Finds the kinds and colors of nets (circuit_nets.c).
void od_graph_mark_nets(od_graph *g);
// Assigns parts and nets to sections (circuit_sections.c). Returns false if an allocation fails.
bool od_graph_find_sections(od_graph *g, const od_machine *machine, od_arena *arena);
// Returns a name without the name of its section and the dot that follows. Returns the whole name if the section is -1
// or is not a template instance.
const char *od_section_short_name(const od_graph *g, const char *name, int section);
// Finds the channels of nets and the rows of parts (circuit_levels.c). Returns false if an allocation fails.
bool od_graph_find_levels(od_graph *g, od_arena *arena);

// Return the first connected end with this letter or role; NULL: none. od_part_flow() returns flow end number i,
// counted from 0; this end may be unconnected.
const od_part_end *od_part_port(const od_part *part, od_letter letter);
const od_part_end *od_part_role(const od_part *part, od_end_role role);
const od_part_end *od_part_flow(const od_part *part, int i);
// Returns the index of the net of an end; -1 if the end is NULL or not connected, or if its net is a tank.
int od_end_line(const od_graph *g, const od_part_end *end);
// Returns the number of ends with lines. Such an end is connected, and its net is not a tank.
int od_part_lines(const od_graph *g, const od_part *part);

// Returns the index of the output "NAME.quantity" of a part; -1: the machine has no such output.
int od_part_output(const od_graph *g, const od_part *part, const char *quantity);
// Return the index of the output that shows the signal of a part, or -1, and the name of this signal, or NULL.
int od_part_signal(const od_graph *g, const od_part *part);
const char *od_part_signal_name(const od_graph *g, const od_part *part);
// Returns a number of a part by its key, in SI units; NAN: the class has no such number.
double od_part_number(const od_graph *g, const od_part *part, const char *key);
// Returns the index of the output with the spool position, or with the command if the spool follows it without delay;
// -1: none.
int od_part_spool(const od_graph *g, const od_part *part);

#endif
