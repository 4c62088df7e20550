// What the loaders of the hydraulic circuit share: references to volumes, tanks and sources, curves, friction.
#ifndef OD_MACHINE_LOAD_CIRCUIT_H
#define OD_MACHINE_LOAD_CIRCUIT_H

#include "machine/machine_loader.h"

// The element of the volume, junction, tank or source that the text at a node names; -1 with a message.
int od_find_node(od_loader *ld, int node, const char *label);
// Two different ones in the list of a key, such as 'between'; false with a message otherwise.
bool od_find_node_pair(od_loader *ld, const od_section *section, const char *key, int ends[2]);
// Both get oil through what the section describes: they are no longer unconnected.
void od_connect_nodes(od_loader *ld, const int *ends, int count);

// The signal under a key that an element must listen to; -1 with a message. *unit is its unit, or, without a signal because of an
// error, a guess: that of the number under another key.
int od_find_command(od_loader *ld, const od_section *section, const char *key, const char *in_unit_of,
                    const char **unit);

// od_first() for a section whose elements connect nodes.
int od_first_end(od_loader *ld, int node, const char *what);

// The section of an element: its name is its path, "the orifice 'bleed'" what it is called.
od_section od_open_element(od_loader *ld, int key, int element, const od_section_class *c);
// Field i of an element class as a key of a section; false: there is none. Entries of lists and numbers of a part of the section are left out.
bool od_key_of_field(const od_element_field *field, od_key *key);  // always true
bool od_element_key(const od_element_class *c, int i, od_key *key);

// The characteristic curve of a port: numbers of the model, first all abscissae, then all ordinates.
typedef struct od_curve_frame {
  const char *unit;     // of the abscissae
  double stroke, full;  // where a curve ends unless it says otherwise
} od_curve_frame;
typedef struct od_curve {
  int degree, count;
} od_curve;
// Reads 'curve' of a section; false with a message when it is none.
bool od_read_curve(od_loader *ld, const od_section *section, od_curve_frame frame, od_curve *curve);

// 'friction' of a section, if it has one: of a component, or of a joint (the other one is -1, or OD_NOT_BUILT).
// `turning`: torques and rates of turn instead of forces and speeds. `chambers`: elements of a cylinder's two nodes, -1 after an
// error; NULL: it has none.
const od_element_class *od_load_friction(od_loader *ld, const od_section *owner, int host, int joint, bool turning,
                                         const int *chambers);
// 'pressure' of a friction, which makes its factor of the pressures in the chambers: the signal of that, or `signal`, which it
// follows already.
int od_load_friction_pressure(od_loader *ld, const od_element_class *c, const od_section *friction,
                              const od_section *owner, const int *chambers, int signal);

// A field of an element class as the reader of numbers wants it. signal_unit: of what the component listens to.
od_field od_component_field(const od_element_field *field, const char *signal_unit, bool turning);
// All fields of a class, with its rules: the index of the first number. *signal: what one of them follows, if one does.
int od_read_component_fields(od_loader *ld, const od_section *section, const od_element_class *c,
                             const char *signal_unit, bool turning, int *signal);
// One directional valve, one cylinder.
void od_load_valve(od_loader *ld, int key, int element);
void od_load_cylinder(od_loader *ld, int key, int element);

#endif
