// Patterns that select outputs.
#ifndef OD_OUTPUT_PATTERN_H
#define OD_OUTPUT_PATTERN_H

#include "model/model.h"

// Returns whether a name or pattern of the shell (`*`, `?`, `[...]`) selects an output: by the output's name, or by the name of
// its group. The seven components of a pose are a group, "boom.pose".
bool od_output_matches(const od_model *model, int output, const char *pattern);

#endif
