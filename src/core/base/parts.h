// The parts that a build contains. OD_PARTS is the name of a header that lists parts, for example
//   #define OD_ELEMENT_CLASSES(CLASS) CLASS(orifice) CLASS(valve) CLASS(port) CLASS(cylinder)
//   #define OD_BLOCK_CLASSES(CLASS)
//   #define OD_FILTERS(FILTER) FILTER(ekf)
//   #define OD_INTEGRATORS(INTEGRATOR) INTEGRATOR(trapezoid)
//   #define OD_PLANAR_ONLY
//   #define OD_NO_COMPLEX
// CMake writes this header from the options OD_ELEMENTS, OD_BLOCKS, OD_FILTERS, OD_INTEGRATORS, OD_SPACE and OD_NO_COMPLEX. A part that
// the header does not list is left out; a list that the header does not define contains all parts. OD_PLANAR_ONLY leaves out the
// mechanics of spatial machines. OD_NO_COMPLEX leaves out complex numbers and the builder. A model that needs a missing part is refused.
#ifndef OD_BASE_PARTS_H
#define OD_BASE_PARTS_H

#ifdef OD_PARTS
#include OD_PARTS
#endif

// Whether kernels are also compiled for complex numbers, whose imaginary parts carry derivatives. Without complex numbers, only
// derivatives that are written by hand exist (plant/real_derivatives.c).
#ifdef OD_NO_COMPLEX
#define OD_HAS_COMPLEX 0
#else
#define OD_HAS_COMPLEX 1
#endif

#endif
