// The result of a search: numbers, requirements, goals, and the outcome of the search.
#ifndef OD_OPTIMIZE_OPTIMIZE_RESULT_H
#define OD_OPTIMIZE_OPTIMIZE_RESULT_H

#include "optimize/optimize.h"
#include "result/result.h"

// Makes the result. The found numbers must outlive the result.
od_result od_optimize_findings(const od_optimize_options *options, const od_optimize_result *found);

#endif
