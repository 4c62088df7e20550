// Tolerances near the round-off of doubles. An export in single precision (tool/export/single.h) converts the sources to float and replaces
// each OD_TOLERANCE(t) by a tolerance at the same place between 1 and the round-off of floats. Only constants may be arguments.
#ifndef OD_BASE_PRECISION_H
#define OD_BASE_PRECISION_H

#define OD_TOLERANCE(t) (t)

#endif
