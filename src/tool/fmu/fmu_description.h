// The content of a model description of an FMU (FMI 2 and 3), reduced to the parts that imports need. The helper program
// oleodyn-fmu reads the file modelDescription.xml and sends this struct (fmu_description.c).
#ifndef OD_FMU_DESCRIPTION_H
#define OD_FMU_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "io/channel.h"

// Limits of a model description.
enum { OD_FMU_MOST_VARIABLES = 1000000, OD_FMU_MOST_STATES = 100000 };

typedef enum od_fmu_interface { OD_FMU_MODEL_EXCHANGE, OD_FMU_CO_SIMULATION, OD_FMU_INTERFACES } od_fmu_interface;

typedef enum od_fmu_causality {
  OD_FMU_LOCAL,
  OD_FMU_PARAMETER,
  OD_FMU_CALCULATED,  // a parameter that the FMU computes
  OD_FMU_STRUCTURAL,
  OD_FMU_INPUT,
  OD_FMU_OUTPUT,
  OD_FMU_INDEPENDENT,
  OD_FMU_CAUSALITIES
} od_fmu_causality;
// The word of the standard, such as "calculatedParameter".
const char *od_fmu_causality_word(od_fmu_causality causality);

typedef enum od_fmu_variability {
  OD_FMU_CONTINUOUS,
  OD_FMU_DISCRETE,
  OD_FMU_TUNABLE,
  OD_FMU_FIXED,
  OD_FMU_CONSTANT,
  OD_FMU_VARIABILITIES
} od_fmu_variability;

// Types of variables. OD_FMU_OTHER: texts, binary data, clocks and arrays, which a machine cannot use.
typedef enum od_fmu_type {
  OD_FMU_REAL,  // Float64 in FMI 3
  OD_FMU_FLOAT32,
  OD_FMU_INT8,
  OD_FMU_UINT8,
  OD_FMU_INT16,
  OD_FMU_UINT16,
  OD_FMU_INT32,  // Integer and enumerations in FMI 2
  OD_FMU_UINT32,
  OD_FMU_INT64,  // enumerations in FMI 3
  OD_FMU_UINT64,
  OD_FMU_BOOLEAN,
  OD_FMU_OTHER,
  OD_FMU_TYPES
} od_fmu_type;

typedef struct od_fmu_variable {
  const char *name, *description;
  uint32_t reference;  // value reference
  od_fmu_causality causality;
  od_fmu_variability variability;
  od_fmu_type type;
  int unit;  // index in od_fmu_description.unit; -1: none
  bool has_start;
  double start;
  bool depends_directly;  // for outputs: whether the variable depends directly on an input
} od_fmu_variable;

// A unit: value in base units = factor * value + offset. Exponents of kg, m, s, A, K, mol, cd, rad.
enum { OD_FMU_BASES = 8 };
typedef struct od_fmu_unit {
  const char *name;
  bool has_base;  // whether the description defines the unit by base units
  int exponent[OD_FMU_BASES];
  double factor, offset;
} od_fmu_unit;

// The features that one interface of the FMU supports.
typedef struct od_fmu_ability {
  const char *identifier;  // name of the binary; NULL: the FMU does not have this interface
  bool saves_state, serializes, has_derivatives, needs_tool;
} od_fmu_ability;

typedef struct od_fmu_description {
  int version;  // 2 or 3
  const char *model, *token;
  od_fmu_ability ability[OD_FMU_INTERFACES];
  int variables, units, states, indicators;
  od_fmu_variable *variable;
  od_fmu_unit *unit;
  int *state, *derivative;  // indices of variables, in the order of the states
  double step;              // step size of the default experiment, s; 0: none
} od_fmu_description;

// Send and receive a description. The second function takes its memory from the arena and returns false if the message is invalid or an allocation
// fails.
void od_fmu_put_description(od_channel *c, const od_fmu_description *d);
bool od_fmu_take_description(od_channel *c, od_arena *arena, od_fmu_description *d);

// Returns the index of the variable with this name, or -1.
int od_fmu_find_variable(const od_fmu_description *d, const char *name);

#endif
