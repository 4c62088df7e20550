// Declarations shared by the loaders of the hydraulic circuit: references to nodes, curves, and friction.
#ifndef OD_MACHINE_LOAD_CIRCUIT_H
#define OD_MACHINE_LOAD_CIRCUIT_H

#include "machine/machine_loader.h"

// Returns the element of the volume, junction, tank or source whose name is given at a node, or -1 after reporting an
// error.
int od_find_node(od_loader *ld, int node, const char *label);
// Finds two different nodes in the list under a key, such as 'between'. On failure reports an error and returns false.
bool od_find_node_pair(od_loader *ld, const od_section *section, const char *key, int ends[2]);
// Marks nodes of the circuit as connected, so that they are not reported as unconnected.
void od_connect_nodes(od_loader *ld, const int *ends, int count);

// Returns the signal under a key that an element requires, or -1 after reporting an error. *unit is the unit of the signal; after
// an error, *unit is a guess from the number under another key.
int od_find_command(od_loader *ld, const od_section *section, const char *key, const char *in_unit_of,
                    const char **unit);

// Same as od_first(), for a section whose elements connect nodes. An error sets loose_ends, so that nodes without connections are
// not reported.
int od_first_end(od_loader *ld, int node, const char *what);

// Convert a field of an element class to a key of a section. od_key_of_field() always returns true. od_element_key()
// converts field i of a class and returns false if there is no such field; the function skips entries of lists and
// numbers of sub-sections.
bool od_key_of_field(const od_element_field *field, od_key *key);
bool od_element_key(const od_element_description *c, int i, od_key *key);

// The unit and the default end of the characteristic curve of a port.
typedef struct od_curve_frame {
  const char *unit;     // unit of the abscissae
  double stroke, full;  // abscissa and value at the end of the curve, unless the file gives the points
} od_curve_frame;
// A characteristic curve: a B-spline whose control points are numbers of the model, first all abscissae, then all ordinates.
typedef struct od_curve {
  int degree, count;  // degree of the B-spline, number of control points
} od_curve;
// Reads 'curve' of a section. If the key is missing or is not a curve, reports an error and returns false.
bool od_read_curve(od_loader *ld, const od_section *section, od_curve_frame frame, od_curve *curve);

// Reads 'friction' of a component or a joint, if the section has this key. The unused index (`host` or `joint`) is -1. With
// OD_NOT_BUILT, the host or the joint has errors, and the friction is not built. `turning`: torques and angular rates instead of
// forces and speeds. `chambers`: elements of a cylinder's two nodes, -1 after an error; NULL: no chambers. Returns the class of the
// friction law; NULL: no friction, or an unknown law.
const od_element_description *od_load_friction(od_loader *ld, const od_section *owner, int host, int joint,
                                               bool turning, const int *chambers);

// Returns the index of the field of an element class with this key, or -1.
int od_element_field_place(const od_element_description *c, const char *key);
// Converts a field of an element class for the reader of numbers. signal_unit: unit of the component's signal.
od_field od_component_field(const od_element_field *field, const char *signal_unit, bool turning);
// Reads all fields of a class and checks the rules of the class. Returns the index of the first number. *signal: the signal that
// one of the numbers follows, if any.
int od_read_component_fields(od_loader *ld, const od_section *section, const od_element_description *c,
                             const char *signal_unit, bool turning, int *signal);

#endif
