// The list of element classes. To add a class, add a file that defines od_NAME_class and od_NAME_description, and a line to this
// list. Only elements.c, element_descriptions.c and machine/core_parts.c include this header.
#ifndef OD_ELEMENT_LIST_H
#define OD_ELEMENT_LIST_H

#include "base/parts.h"

// One line per class, in the order in which readers and the documentation list them.
#ifndef OD_ELEMENT_CLASSES
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
#endif

// The friction laws; the module `friction` defines their classes.
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

#endif
