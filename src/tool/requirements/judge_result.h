// Requirements in a result.
#ifndef OD_REQUIREMENTS_JUDGE_RESULT_H
#define OD_REQUIREMENTS_JUDGE_RESULT_H

#include "requirements/judge.h"
#include "result/result.h"

od_trust od_outcome_trust(od_outcome outcome);
// The data "requirements"; in the view a table, and a finding for each requirement that does not simply pass.
void od_add_judgements(od_result *r, const od_judge *judge);

#endif
