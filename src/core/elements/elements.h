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
  CLASS(unloading)                \
  CLASS(leak)                     \
  CLASS(valve)                    \
  CLASS(port)                     \
  CLASS(servo_valve)              \
  CLASS(cylinder)                 \
  CLASS(accumulator)              \
  CLASS(motor)                    \
  CLASS(brake)                    \
  CLASS(play)                     \
  CLASS(disturbance)              \
  CLASS(throttle)                 \
  CLASS(pipe)                     \
  CLASS(relief_spool)             \
  CLASS(nominal_relief)           \
  CLASS(reducing)                 \
  CLASS(sequence)                 \
  CLASS(pilot_check)              \
  CLASS(counterbalance)           \
  CLASS(shuttle)                  \
  CLASS(compensator)              \
  CLASS(divider)                  \
  CLASS(pressure_pump)            \
  CLASS(sensing_pump)             \
  CLASS(driven_pump)              \
  CLASS(thermal_accumulator)      \
  CLASS(reservoir)                \
  CLASS(stop)                     \
  CLASS(rope)                     \
  CLASS(winch)                    \
  CLASS(two_way_valve)            \
  CLASS(two_position_valve)       \
  CLASS(proportional_valve)       \
  CLASS(sensing_valve)            \
  CLASS(cushion)                  \
  CLASS(place_leak)               \
  CLASS(telescopic_cylinder)      \
  CLASS(displacement_unit)        \
  CLASS(oil_tank)                 \
  CLASS(long_line)                \
  CLASS(flow_formula)             \
  CLASS(force_formula)            \
  OD_FRICTION_CLASSES(CLASS)

// Friction laws; the room `friction` has them.
#define OD_FRICTION_CLASSES(CLASS) \
  CLASS(coulomb)                   \
  CLASS(brown_mcphee)              \
  CLASS(viscous)                   \
  CLASS(tustin)                    \
  CLASS(gaussian)                  \
  CLASS(lorentzian)                \
  CLASS(modified_gaussian)         \
  CLASS(modified_lorentzian)       \
  CLASS(lugre)                     \
  CLASS(modified_lugre)            \
  CLASS(new_modified_lugre)        \
  CLASS(reduced)

#define OD_DECLARE_CLASS(name) extern const od_element_class od_##name##_class;
OD_ELEMENT_CLASSES(OD_DECLARE_CLASS)
#undef OD_DECLARE_CLASS

extern const od_element_class *const od_element_classes[];
int od_element_class_count(void);
static inline const od_element_class *od_element_class_at(int i) {
  return od_element_classes[i];
}
int od_element_class_find(const char *name);  // -1: there is none

// The places of numbers of valves, ports and cylinders are public: oleodyn/build.h.
enum { OD_PORT_KEPT = 20 };         // scalars of a port's memory
enum { OD_SERVO_VALVE_TWO_PORTS };  // a servo valve's choice: whether it has port b

#endif
