// The table of element classes, and the classes that other modules refer to by name. The list itself is in
// elements/element_list.h, so that a new class does not rebuild the files that include this header.
#ifndef OD_ELEMENTS_H
#define OD_ELEMENTS_H

#include "elements/element.h"

// Classes that have their own readers or that other modules treat specially.
extern const od_element_class od_joint_spring_class, od_orifice_class, od_leak_class, od_valve_class, od_port_class,
    od_cylinder_class, od_motor_class, od_long_line_class;

// All classes, in the order of the list.
extern const od_element_class *const od_element_classes[];
int od_element_class_count(void);
// Returns class i, from 0 to od_element_class_count() - 1.
static inline const od_element_class *od_element_class_at(int i) {
  return od_element_classes[i];
}
// Returns the index of the class with this name, or -1.
int od_element_class_find(const char *name);

// The indices of the numbers of valves, ports and cylinders are public (oleodyn/build.h).
enum { OD_PORT_KEPT = 20 };         // scalars that a port keeps from evaluate() for its derivatives
enum { OD_SERVO_VALVE_TWO_PORTS };  // index of a servo valve's choice: whether the valve has port b

#endif
