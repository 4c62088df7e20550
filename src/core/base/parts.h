// The parts that a build contains. OD_PARTS is the name of a header that lists parts, for example
//   #define OD_ELEMENT_CLASSES(CLASS) CLASS(orifice) CLASS(valve) CLASS(port) CLASS(cylinder)
//   #define OD_BLOCK_CLASSES(CLASS)
//   #define OD_FILTERS(FILTER) FILTER(ekf)
//   #define OD_INTEGRATORS(INTEGRATOR) INTEGRATOR(trapezoid)
//   #define OD_WITHOUT_SPATIAL
//   #define OD_WITHOUT_COMPLEX
// CMake writes this header from the options OD_ELEMENTS, OD_BLOCKS, OD_FILTERS, OD_INTEGRATORS and OD_WITHOUT. A class, filter or
// integrator that the header does not list is left out; a list that the header does not define contains all of them. A model that
// needs a missing part is rejected (model/model_parts.h).
#ifndef OD_BASE_PARTS_H
#define OD_BASE_PARTS_H

#ifdef OD_PARTS
#include OD_PARTS
#endif

// OD_WITH_...: whether the build contains a part. Conditions that contain these macros let the compiler remove code.

// Kernels in complex numbers, whose imaginary parts carry derivatives, and the builder of models, which uses them. Without them, only
// derivatives that are written by hand exist (plant/real_derivatives.h).
#ifdef OD_WITHOUT_COMPLEX
#define OD_WITH_COMPLEX 0
#else
#define OD_WITH_COMPLEX 1
#endif

// The mechanics of spatial machines.
#ifdef OD_WITHOUT_SPATIAL
#define OD_WITH_SPATIAL 0
#else
#define OD_WITH_SPATIAL 1
#endif

// Signal blocks.
#ifdef OD_WITHOUT_BLOCKS
#define OD_WITH_BLOCKS 0
#else
#define OD_WITH_BLOCKS 1
#endif

// Blocks whose law is given by functions of the program. A build that selects its blocks has none.
#if defined OD_WITHOUT_FOREIGN || defined OD_WITHOUT_BLOCKS || defined OD_BLOCK_CLASSES
#define OD_WITH_FOREIGN 0
#else
#define OD_WITH_FOREIGN 1
#endif

// Nodes without volume.
#ifdef OD_WITHOUT_JUNCTIONS
#define OD_WITH_JUNCTIONS 0
#else
#define OD_WITH_JUNCTIONS 1
#endif

// The temperature of the oil.
#ifdef OD_WITHOUT_HEAT
#define OD_WITH_HEAT 0
#else
#define OD_WITH_HEAT 1
#endif

// Elements and blocks that switch between modes.
#ifdef OD_WITHOUT_MODES
#define OD_WITH_MODES 0
#else
#define OD_WITH_MODES 1
#endif

// Formulas of users.
#ifdef OD_WITHOUT_FORMULAS
#define OD_WITH_FORMULAS 0
#else
#define OD_WITH_FORMULAS 1
#endif

// Laws that jump, such as sign(), and motions along the jump.
#ifdef OD_WITHOUT_JUMPS
#define OD_WITH_JUMPS 0
#else
#define OD_WITH_JUMPS 1
#endif

// Newton's matrix of long chains, factored along the tree.
#ifdef OD_WITHOUT_TREE
#define OD_WITH_TREE 0
#else
#define OD_WITH_TREE 1
#endif

// Sparse derivatives and steps of large circuits.
#ifdef OD_WITHOUT_SPARSE
#define OD_WITH_SPARSE 0
#else
#define OD_WITH_SPARSE 1
#endif

// Observers and simulations in programs for controllers (oleodyn/embedded.h): a program has one of them.
#ifdef OD_WITHOUT_OBSERVER
#define OD_WITH_OBSERVER 0
#else
#define OD_WITH_OBSERVER 1
#endif
#ifdef OD_WITHOUT_SIMULATION
#define OD_WITH_SIMULATION 0
#else
#define OD_WITH_SIMULATION 1
#endif

// Saved states that other processes can restore (od_sim_save, od_observer_save).
#ifdef OD_WITHOUT_SAVE
#define OD_WITH_SAVE 0
#else
#define OD_WITH_SAVE 1
#endif

// Functions that allocate memory. Without them, programs create plants, simulations and observers in their own memory.
#ifdef OD_WITHOUT_ALLOCATION
#define OD_WITH_ALLOCATION 0
#else
#define OD_WITH_ALLOCATION 1
#endif

#endif
