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

#include <stdint.h>

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

// Loads: forces, torques and contacts.
#ifdef OD_WITHOUT_LOADS
#define OD_WITH_LOADS 0
#else
#define OD_WITH_LOADS 1
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

// Calibrations of sensors as parameters.
#ifdef OD_WITHOUT_CALIBRATIONS
#define OD_WITH_CALIBRATIONS 0
#else
#define OD_WITH_CALIBRATIONS 1
#endif

// The covariance itself as the form of an observer's covariance; without this part, observers have the square-root form.
#ifdef OD_WITHOUT_JOSEPH
#define OD_WITH_JOSEPH 0
#else
#define OD_WITH_JOSEPH 1
#endif

// Detection of sudden changes of parameters.
#ifdef OD_WITHOUT_CHANGES
#define OD_WITH_CHANGES 0
#else
#define OD_WITH_CHANGES 1
#endif

// Steps after which the state is shifted (integrate/trapezoid.c). Only the filter `relinearizing` needs them.
#ifdef OD_WITHOUT_SHIFTS
#define OD_WITH_SHIFTS 0
#else
#define OD_WITH_SHIFTS 1
#endif

// Texts of errors in od_error. Without them, functions return only the status.
#ifdef OD_WITHOUT_MESSAGES
#define OD_WITH_MESSAGES 0
#include "oleodyn/status.h"
static inline od_status od_only_status(od_status status) {
  return status;
}
// The call of the function is never compiled.
#define od_fail(err, status, ...) od_only_status(0 ? (od_fail)(err, status, __VA_ARGS__) : (status))
#else
#define OD_WITH_MESSAGES 1
#endif

// The kinds of outputs (model/output_kinds.h): a bit for each kind that a model shows or its blocks measure.
#ifndef OD_OUTPUT_BITS
#define OD_OUTPUT_BITS UINT64_MAX
#endif
#define OD_SHOWS(kind) ((OD_OUTPUT_BITS >> (kind)&1) != 0)
// Groups of kinds.
#define OD_SHOWS_POINTS                                                                                \
  (OD_SHOWS(OD_OUT_POINT) || OD_SHOWS(OD_OUT_POINT_VELOCITY) || OD_SHOWS(OD_OUT_POINT_ACCELERATION) || \
   OD_SHOWS(OD_OUT_POINT_BODY_VELOCITY) || OD_SHOWS(OD_OUT_POINT_BODY_ACCELERATION) ||                 \
   OD_SHOWS(OD_OUT_POINT_SPECIFIC_FORCE))
#define OD_SHOWS_TURNS                                                                                         \
  (OD_SHOWS(OD_OUT_BODY_TURN_RATE) || OD_SHOWS(OD_OUT_BODY_TURN_ACCELERATION) || OD_SHOWS(OD_OUT_BODY_GYRO) || \
   OD_SHOWS(OD_OUT_BODY_GYRO_RATE))
#define OD_SHOWS_REACTIONS                                                                        \
  (OD_SHOWS(OD_OUT_JOINT_FORCE) || OD_SHOWS(OD_OUT_JOINT_TORQUE) || OD_SHOWS(OD_OUT_ROD_FORCE) || \
   OD_SHOWS(OD_OUT_GEAR_FORCE))
#define OD_SHOWS_ELEMENTS (OD_SHOWS(OD_OUT_ELEMENT) || OD_SHOWS(OD_OUT_REPORT) || OD_SHOWS(OD_OUT_ELEMENT_STATE))
#define OD_SHOWS_STORES   (OD_SHOWS(OD_OUT_STORED) || OD_SHOWS(OD_OUT_BALANCE))
#define OD_SHOWS_ENERGIES (OD_SHOWS(OD_OUT_KINETIC) || OD_SHOWS(OD_OUT_POTENTIAL) || OD_SHOWS_STORES)
#define OD_SHOWS_POWERS                                                                     \
  (OD_SHOWS(OD_OUT_INTEGRAL) || OD_SHOWS(OD_OUT_DISSIPATED) || OD_SHOWS(OD_OUT_SUPPLIED) || \
   OD_SHOWS(OD_OUT_COMPRESSED) || OD_SHOWS(OD_OUT_OIL_BALANCE) || OD_SHOWS(OD_OUT_BALANCE))
// Energies contain the powers and the stored energies of loads.
#define OD_SHOWS_LOADS                                                                                        \
  (OD_SHOWS(OD_OUT_LOAD) || OD_SHOWS(OD_OUT_LOAD_POWER) || OD_SHOWS(OD_OUT_LOAD_STORED) || OD_SHOWS_STORES || \
   OD_SHOWS_POWERS)

// Functions that allocate memory. Without them, programs create plants, simulations and observers in their own memory.
#ifdef OD_WITHOUT_ALLOCATION
#define OD_WITH_ALLOCATION 0
#else
#define OD_WITH_ALLOCATION 1
#endif

#endif
