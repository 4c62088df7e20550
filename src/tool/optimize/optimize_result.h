// The result of a search: numbers, requirements, goals, and what the search found.
#ifndef OD_OPTIMIZE_OPTIMIZE_RESULT_H
#define OD_OPTIMIZE_OPTIMIZE_RESULT_H

#include "optimize/optimize.h"
#include "result/result.h"

// The found numbers must live as long as the result.
od_result od_optimize_findings(const od_optimize_options *options, const od_optimize_result *found);

#endif
