// The functions of SUNDIALS that CVODES runs need, loaded on demand: programs that do not use CVODES load no library of SUNDIALS.
//
// The types of the functions come from the headers of SUNDIALS. The sonames come from the libraries found at build time. The first
// two numbers of the version must be the same in the loaded library and in the headers.
#ifndef OD_SIMULATE_CVODES_LIBRARY_H
#define OD_SIMULATE_CVODES_LIBRARY_H

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "oleodyn/status.h"

#define OD_SUNDIALS_FUNCTIONS(X) \
  X(SUNDIALSGetVersionNumber)    \
  X(SUNContext_Create)           \
  X(SUNContext_Free)             \
  X(N_VNew_Serial)               \
  X(N_VGetArrayPointer)          \
  X(N_VConst)                    \
  X(N_VDestroy)                  \
  X(SUNDenseMatrix)              \
  X(SUNMatDestroy)               \
  X(SUNLinSol_Dense)             \
  X(SUNLinSolFree)               \
  X(CVodeCreate)                 \
  X(CVodeInit)                   \
  X(CVodeReInit)                 \
  X(CVodeFree)                   \
  X(CVodeSStolerances)           \
  X(CVodeSetErrHandlerFn)        \
  X(CVodeSetUserData)            \
  X(CVodeSetMaxNumSteps)         \
  X(CVodeSetMaxStep)             \
  X(CVodeSetStopTime)            \
  X(CVodeSetLinearSolver)        \
  X(CVodeSetJacFn)               \
  X(CVodeRootInit)               \
  X(CVodeQuadInit)               \
  X(CVodeQuadReInit)             \
  X(CVodeSetQuadErrCon)          \
  X(CVodeQuadSStolerances)       \
  X(CVodeGetQuad)                \
  X(CVode)                       \
  X(CVodeGetNumSteps)            \
  X(CVodeGetReturnFlagName)

typedef struct od_sundials {
#define OD_SUNDIALS_MEMBER(name) __typeof__(&(name)) name;
  OD_SUNDIALS_FUNCTIONS(OD_SUNDIALS_MEMBER)
#undef OD_SUNDIALS_MEMBER
} od_sundials;

// Loads the libraries at the first call and returns their functions. All calls and threads get the same functions. The dynamic
// loader finds the libraries, unless the environment variable OLEODYN_SUNDIALS names their folder. Returns NULL if a library or a
// function is missing, or if the version differs; err has the reason, with the status OD_IO.
const od_sundials *od_sundials_load(od_error *err);

#endif
