// The result of a search: numbers, requirements, goals, and what the search found.
#ifndef OD_OPTIMISE_OPTIMISE_RESULT_H
#define OD_OPTIMISE_OPTIMISE_RESULT_H

#include "optimise/optimise.h"
#include "result/result.h"

// The found numbers must live as long as the result.
od_result od_optimise_findings(const od_optimise_options *options, const od_optimise_result *found);

#endif
