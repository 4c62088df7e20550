// Parts of the core that a model needs and that a build may leave out (base/parts.h).
#ifndef OD_MODEL_PARTS_H
#define OD_MODEL_PARTS_H

#include "model/model.h"

// A part, and whether this build contains it.
typedef struct od_model_part {
  const char *name;  // as in the option OD_WITHOUT
  bool is_present;
  bool (*is_needed)(const od_model *m);
} od_model_part;
extern const od_model_part od_model_parts[];
extern const int od_model_part_count;

// Returns the kinds of outputs that the model has or that its blocks measure, as OD_OUTPUT_BITS.
uint64_t od_model_output_bits(const od_model *m);

// Returns OD_OK if this build contains all parts that a model needs; otherwise OD_NOT_AVAILABLE with a message that names the first
// missing part or reports missing kinds of outputs.
od_status od_model_check_parts(const od_model *m, od_error *err);

// Returns the name of the first foreign block, whose law no image or export can contain; NULL: none.
const char *od_model_foreign_block(const od_model *m);

#endif
