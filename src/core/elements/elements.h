// The table of element classes, for a running model, and the table of their descriptions, for builder, readers and documents. The
// list itself is in elements/element_list.h, so that a new class does not rebuild the files that include this header.
#ifndef OD_ELEMENTS_H
#define OD_ELEMENTS_H

#include "elements/element_description.h"

// All classes, in the order of the list.
extern const od_element_class *const od_element_classes[];
int od_element_class_count(void);
// Returns class i, from 0 to od_element_class_count() - 1.
static inline const od_element_class *od_element_class_at(int i) {
  return od_element_classes[i];
}
// Returns the index of the class with this name, or -1.
int od_element_class_find(const char *name);

// All descriptions, in the order of the classes. A program that uses descriptions is linked with the texts of all classes.
extern const od_element_description *const od_element_descriptions[];
static inline const od_element_description *od_element_description_at(int i) {
  return od_element_descriptions[i];
}
// Returns the description of a class of elements, which has keys, texts and limits.
const od_element_description *od_element_description_of(const od_element_class *c);

// The class whose instances are the hosts of ports.
extern const od_element_class od_valve_class;

// Descriptions of classes that have their own readers, or that other modules refer to.
extern const od_element_description od_joint_spring_description, od_orifice_description, od_leak_description,
    od_valve_description, od_port_description, od_cylinder_description, od_motor_description, od_long_line_description;

// An end of a class: its entry of od_element_description.ends, and its place in the list of this key.
typedef struct od_end_place {
  const od_element_end *end;
  int place;
} od_end_place;
// Returns end i, from 0 to od_element_end_count() - 1.
od_end_place od_element_end_at(const od_element_description *c, int i);

// Returns the name of a role: "flow", "pilot", "drain" or "sense".
const char *od_end_role_name(od_end_role role);

// The flow at an end: the index of an entry of od_element_description.outputs (-1: no oil flows), and a sign. Sign 1: positive
// values flow from the element into the node; -1: from the node into the element.
typedef struct od_end_flow {
  int output, sign;
} od_end_flow;
od_end_flow od_element_end_flow(const od_element_description *c, int end);

// The indices of the numbers of valves, ports and cylinders are public (oleodyn/build.h).
enum { OD_PORT_KEPT = 20 };         // scalars that evaluate() of a port stores for the derivatives
enum { OD_SERVO_VALVE_TWO_PORTS };  // index of a servo valve's choice: whether the valve has port b

#endif
