// The names of a machine: bodies, joints, springs, inputs, volumes, valves and all other elements share one namespace. Points
// belong to a body or to the ground; ports belong to their valve.
#ifndef OD_MACHINE_NAMES_H
#define OD_MACHINE_NAMES_H

#include "document/index.h"
#include "document/reader.h"
#include "elements/elements.h"
#include "oleodyn/build.h"

typedef int od_element_kind;
enum {
  OD_ELEMENT_BODY,
  OD_ELEMENT_JOINT,
  OD_ELEMENT_ROD,
  OD_ELEMENT_GEAR,
  OD_ELEMENT_FORCE,
  OD_ELEMENT_TORQUE,
  OD_ELEMENT_CONTACT,
  OD_ELEMENT_INPUT,
  OD_ELEMENT_VOLUME,
  OD_ELEMENT_TANK,
  OD_ELEMENT_SOURCE,
  OD_ELEMENT_JUNCTION,
  OD_ELEMENT_DIFFERENCE,
  OD_ELEMENT_GROUND,
  OD_ELEMENT_BLOCK,      // a block, or a further output of a block by its full name: "piston.velocity"
  OD_ELEMENT_NODE,       // for searches: a volume, junction, tank or source
  OD_ELEMENT_SIGNAL,     // for searches: an input or a block
  OD_ELEMENT_COMPONENT,  // the first element class; the other classes follow
};

enum { OD_NOT_BUILT = -2 };

typedef struct od_element {
  od_element_kind kind;
  const char *name;
  int node;   // key of the element in the file
  int index;  // index in the builder; OD_NOT_BUILT: the element has errors
  bool
      broken;  // whether an error of the element has been reported; messages about consequences of this error are omitted
  od_joint_type type;  // type of a joint
  const char *unit;    // unit of an input, of a block's output, or of the signal of a component
  int block;           // index of a block in ld->draft->block; `index` is the index of its signal
  bool connected;      // whether an element is connected to this node
  bool
      follows;  // whether the component has no state and follows its signal, such as the spool of a valve without a lag
  const od_element_description *friction;  // friction in a joint or a cylinder; NULL: none
} od_element;

typedef struct od_named_point {
  const char *name;
  int element;  // body or ground
  int index;    // index in the builder
} od_named_point;

typedef struct od_names {
  od_element *element;  // element 0 is the ground
  int elements;
  od_named_point *point;
  int points;
  od_index element_index, point_index;  // indices by name; points by their full names
  od_index failed;                      // names and kinds of elements that could not be declared
  bool lacks_bodies;  // whether there are no bodies because of an error; then missing bodies are not reported
  bool lacks_nodes;   // whether there are no volumes, tanks or sources because of an error
  bool has_blocks;
} od_names;

void od_names_start(od_loader *ld);                                           // adds the ground
const char *od_element_noun(od_element_kind kind);                            // "body", "joint"
const od_element_description *od_component_class(const od_element *element);  // NULL: not a component
const char *od_signal_noun(const od_loader *ld);  // "input", or "input or block" if there are blocks
bool od_element_is(const od_element *element, od_element_kind kind);  // the ground is also a body

// Declares the element with the name of the key. Returns its index. If the name is malformed, reserved or taken, reports an error
// and returns -1.
int od_names_declare(od_loader *ld, int key, od_element_kind kind);
// Declares a further output of a block: "piston.velocity".
void od_names_add_output(od_loader *ld, int block, const char *name, int signal, const char *unit);
// Declares a point of a body or of the ground.
void od_names_add_point(od_loader *ld, int element, const char *name, int index);
// Returns whether a body or the ground has a point with this name.
bool od_names_has_point(od_loader *ld, int element, const char *name);

// Returns the element of a kind with this name. If there is no such element, reports an error at the node, unless the error has
// already been reported, and returns -1. A body may be the ground.
int od_names_find(od_loader *ld, int node, const char *text, od_element_kind kind);
// Returns the name of an element of a kind that is nearest to the text at a node, or NULL.
const char *od_names_nearest(const od_loader *ld, int node, const char *text, od_element_kind kind);

// Returns the element of any kind with this name in the scope of a node; -1: none. Names in a template are searched in the instance
// first, then outside the instance.
int od_names_look_up(od_loader *ld, int node, const char *name);
// Returns the element of a quantity: "ram" of "ram.length"; -1: none. *rest is the text after the name of the element ("length";
// "": none).
int od_names_owner(od_loader *ld, int node, const char *text, const char **rest);
// Returns the length of the element's name in a quantity whose element does not exist. The name is "ram" in "ram.length". If "boom"
// is an instance, the name is "boom.ram" in "boom.ram.length".
size_t od_names_element_length(const od_loader *ld, const char *text);
// Returns whether an element of this name could not be declared. The error has already been reported.
bool od_names_has_failed(od_loader *ld, int node, const char *name);
// Returns whether the name is reserved for paths or outputs.
bool od_names_is_reserved(const char *name);

// The point that "crank.end", "crank" or "ground.A" at a node refers to.
typedef struct od_point_ref {
  int element;  // element of the body; -1: none (reported)
  int point;    // index in the builder; -1: none (reported)
} od_point_ref;
od_point_ref od_names_find_point(od_loader *ld, int node, const char *label);
// Reads 'between' of a section: two points of two bodies. Returns false if the bodies are unknown, equal or not given. Even if the
// result is true, a point may be -1.
bool od_names_find_pair(od_loader *ld, const od_section *section, od_point_ref ends[2]);

// Reports a point that a body or the ground does not have.
void od_names_lack_point(od_loader *ld, int node, const char *point, int element);

#endif
