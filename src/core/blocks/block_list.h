// The list of block classes, in the order in which readers and the documentation list them. To add a class, add a file that defines
// od_NAME_block, and a line to this list. The module `friction` defines the friction laws. Only block_classes.c, block_descriptions.c,
// machine/core_parts.c and machine/declare_blocks.c include this header.
#ifndef OD_BLOCK_LIST_H
#define OD_BLOCK_LIST_H

#include "base/parts.h"

#ifndef OD_BLOCK_CLASSES
#define OD_BLOCK_CLASSES(CLASS) \
  CLASS(gain)                   \
  CLASS(sum)                    \
  CLASS(product)                \
  CLASS(quotient)               \
  CLASS(absolute)               \
  CLASS(sign)                   \
  CLASS(square_root)            \
  CLASS(minimum)                \
  CLASS(maximum)                \
  CLASS(first_order)            \
  CLASS(lead_lag)               \
  CLASS(second_order)           \
  CLASS(notch)                  \
  CLASS(transfer_function)      \
  CLASS(delay)                  \
  CLASS(integrator)             \
  CLASS(saturation)             \
  CLASS(dead_zone)              \
  CLASS(rate_limit)             \
  CLASS(pid)                    \
  CLASS(valve_inverse)          \
  CLASS(linear_valve)           \
  CLASS(load_chamber)           \
  CLASS(mass)                   \
  CLASS(coulomb)                \
  CLASS(brown_mcphee)           \
  CLASS(viscous)                \
  CLASS(tustin)                 \
  CLASS(gaussian)               \
  CLASS(lorentzian)             \
  CLASS(modified_gaussian)      \
  CLASS(modified_lorentzian)    \
  CLASS(lugre)                  \
  CLASS(modified_lugre)         \
  CLASS(new_modified_lugre)     \
  CLASS(reduced)                \
  CLASS(table)                  \
  CLASS(spline)                 \
  CLASS(pressure_map)           \
  CLASS(pressure_table)         \
  CLASS(pressure_factor)        \
  CLASS(formula)                \
  CLASS(power)                  \
  CLASS(quantiser)              \
  CLASS(table_2d)               \
  CLASS(relay)                  \
  CLASS(selector)               \
  CLASS(sample_hold)            \
  CLASS(state_machine)
#endif

#endif
