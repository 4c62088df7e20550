// The classes of elements there are, and what the rest of the core and the tool need to know of particular ones.
#ifndef OD_ELEMENTS_H
#define OD_ELEMENTS_H

#include "elements/element.h"

// The list: one line per class. Readers, builders and the documentation go through it in this order.
#define OD_ELEMENT_CLASSES(CLASS) \
  CLASS(joint_spring)             \
  CLASS(spring)                   \
  CLASS(pump)                     \
  CLASS(orifice)                  \
  CLASS(relief)                   \
  CLASS(check)                    \
  CLASS(leak)                     \
  CLASS(valve)                    \
  CLASS(port)                     \
  CLASS(cylinder)                 \
  CLASS(accumulator)              \
  CLASS(motor)                    \
  CLASS(coulomb)                  \
  CLASS(brown_mcphee)

#define OD_DECLARE_CLASS(name) extern const od_element_class od_##name##_class;
OD_ELEMENT_CLASSES(OD_DECLARE_CLASS)
#undef OD_DECLARE_CLASS

extern const od_element_class *const od_element_classes[];
int od_element_class_count(void);
static inline const od_element_class *od_element_class_at(int i) {
  return od_element_classes[i];
}
int od_element_class_find(const char *name);  // -1: there is none

// Places of numbers and choices of directional valves and their ports, and of cylinders: their curves, areas and stops are
// read in a way of their own.
enum { OD_VALVE_TIME_CONSTANT, OD_VALVE_STROKE, OD_VALVE_AREA, OD_VALVE_DISCHARGE, OD_VALVE_FULL, OD_VALVE_DEAD_BAND };
typedef enum od_valve_law { OD_VALVE_OPENING, OD_VALVE_COEFFICIENT } od_valve_law;
enum { OD_PORT_SIDE, OD_PORT_DEGREE, OD_PORT_COUNT, OD_PORT_LAW, OD_PORT_CHOICES };
enum { OD_PORT_KEPT = 20 };  // scalars of its memory
enum {
  OD_CYLINDER_A,
  OD_CYLINDER_B,
  OD_CYLINDER_CLOSED,
  OD_CYLINDER_STROKE,
  OD_CYLINDER_DEAD_A,
  OD_CYLINDER_DEAD_B,
  OD_CYLINDER_LEAKAGE,
  OD_CYLINDER_STOP_STIFFNESS,
  OD_CYLINDER_STOP_DAMPING,
  OD_CYLINDER_NUMBERS
};
enum { OD_CYLINDER_DIAMETERS };

#endif
