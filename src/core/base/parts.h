// The parts that a build contains. OD_PARTS is the name of a header that lists parts, for example
//   #define OD_ELEMENT_CLASSES(CLASS) CLASS(orifice) CLASS(valve) CLASS(port) CLASS(cylinder)
//   #define OD_BLOCK_CLASSES(CLASS)
//   #define OD_FILTERS(FILTER) FILTER(ekf)
//   #define OD_INTEGRATORS(INTEGRATOR) INTEGRATOR(trapezoid)
//   #define OD_PLANAR_ONLY
// CMake writes this header from the options OD_ELEMENTS, OD_BLOCKS, OD_FILTERS, OD_INTEGRATORS and OD_SPACE. The build omits parts
// that the header does not list; a list that the header does not define contains all parts. OD_PLANAR_ONLY omits the mechanics of
// spatial machines. A model that needs a missing part cannot be built or loaded.
#ifndef OD_BASE_PARTS_H
#define OD_BASE_PARTS_H

#ifdef OD_PARTS
#include OD_PARTS
#endif

#endif
