// The variables of an FMU: kinds, and the numbers by which importers refer to them (value references). The export writes
// modelDescription.xml with the same numbering.
#ifndef OD_FMU_VARIABLES_H
#define OD_FMU_VARIABLES_H

#include <stdint.h>

// The kinds in the order of the value references. A kind without variables takes no references.
typedef enum fmu_kind {
  FMU_TIME,
  FMU_INPUT,
  FMU_SENSOR,           // observer: measured value
  FMU_VALID,            // observer: whether the measured value is used
  FMU_OUTPUT,           // output of a machine, or estimated output
  FMU_SIGMA,            // observer: standard deviation of the estimated output
  FMU_PARAMETER,        // number of a machine, or estimated parameter
  FMU_PARAMETER_SIGMA,  // observer: standard deviation of the estimated parameter
  FMU_NIS,              // observer: normalized innovation squared
  FMU_DIMENSION,        // observer: number of sensors in the last correction
  FMU_STATUS,           // observer: 0, or the reason why the last step failed (od_status)
  FMU_STATE,            // model exchange
  FMU_DERIVATIVE,
  FMU_INDICATOR,
  FMU_KINDS
} fmu_kind;
typedef enum fmu_type { FMU_REAL, FMU_INTEGER, FMU_BOOLEAN } fmu_type;

typedef struct fmu_variables {
  int count[FMU_KINDS];
} fmu_variables;

// Returns the type of the variables of a kind.
static inline fmu_type fmu_type_of(fmu_kind kind) {
  return kind == FMU_VALID ? FMU_BOOLEAN : kind == FMU_DIMENSION || kind == FMU_STATUS ? FMU_INTEGER : FMU_REAL;
}
// Returns the value reference of a variable.
static inline uint32_t fmu_reference(const fmu_variables *v, fmu_kind kind, int index) {
  uint32_t first = 0;
  for (int k = 0; k < (int)kind; k++) first += (uint32_t)v->count[k];
  return first + (uint32_t)index;
}
// Returns the kind of a variable and its index; FMU_KINDS for an unknown value reference.
static inline fmu_kind fmu_find(const fmu_variables *v, uint32_t reference, int *index) {
  for (int k = 0; k < FMU_KINDS; k++) {
    *index = (int)reference;
    if (reference < (uint32_t)v->count[k]) return (fmu_kind)k;
    reference -= (uint32_t)v->count[k];
  }
  return FMU_KINDS;
}

#endif
