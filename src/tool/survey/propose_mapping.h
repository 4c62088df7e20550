// Proposes which column of a log contains which input or output of a machine. The score of a pair is between 0 and 1. It is the product of
//   - the similarity of the names: the geometric mean of the shares of their words that have a similar word in the other name. A word
//     that occurs in few names of the machine weighs more. The unit of the column can replace the word for the quantity ("A [bar]").
//   - a factor for the unit: a unit of another dimension excludes the pair; a column without a unit is less certain
//   - a factor for the range: values within the usual range of the quantity
//   - a factor for the quantity: positions, angles, rates, pressures, forces, flows and spools are measured most often.
// Each column and each target is used at most once, in the order of the scores. Scores up to 0.5 give no proposal. If two targets have nearly the
// same score, the column is ambiguous. An input without such a column gets the only column with its unit, if no other input has this unit.
#ifndef OD_SURVEY_PROPOSE_MAPPING_H
#define OD_SURVEY_PROPOSE_MAPPING_H

#include "document/units.h"
#include "oleodyn/machine.h"
#include "result/result.h"
#include "survey/log_survey.h"

// An input or an output of a machine.
typedef struct od_map_target {
  const char *name, *unit;  // SI unit
  bool is_input;
} od_map_target;

typedef struct od_map_column {
  const char *name, *unit;  // unit "": none
  double low, high;         // range of the values, in this unit; NAN: no values
} od_map_column;

enum { OD_MAP_ALTERNATIVES = 4 };

typedef struct od_map_proposal {
  int column, target;  // indices
  double score;
  const char *unit;  // unit that the file does not contain; NULL: the file has the unit, or the values are in SI
  const char *reason;
  bool is_ambiguous;
  bool is_by_unit;                       // whether the column has the unit of the input, but another name
  int alternative[OD_MAP_ALTERNATIVES];  // other targets with similar scores, in descending order
  double alternative_score[OD_MAP_ALTERNATIVES];
  int alternatives;
} od_map_proposal;

typedef struct od_mapping {
  od_arena memory;
  od_map_proposal *proposal;  // at most one per column, in the order of the columns
  int count;
} od_mapping;
void od_mapping_free(od_mapping *m);

// Proposes columns for targets. Columns, targets and their texts must outlive *out. Free *out with od_mapping_free(), also after a failure. Fails
// with OD_NO_MEMORY.
od_status od_mapping_propose(const od_map_column *columns, int column_count, const od_map_target *targets,
                             int target_count, od_mapping *out, od_error *err);

// Returns the inputs and outputs of a machine, or NULL if an allocation fails. The texts belong to the machine.
od_map_target *od_map_targets_of(const od_machine *machine, od_arena *memory, int *count);

// Adds the proposals for a surveyed log: a table, and the section 'data' as lines of YAML (survey_mapping.c). for_what: the machine
// or experiment file. Fails with OD_NO_MEMORY.
od_status od_log_survey_map(const od_log_survey *s, const od_map_target *targets, int target_count,
                            const char *for_what, od_result *result, od_error *err);

#endif
