// Requirements in a result.
#ifndef OD_REQUIREMENTS_JUDGE_RESULT_H
#define OD_REQUIREMENTS_JUDGE_RESULT_H

#include "requirements/judge.h"
#include "result/result.h"

od_trust od_outcome_trust(od_outcome outcome);
// Adds the data "requirements"; in the view, a table, and a finding for each requirement that does not pass or has a note.
void od_add_judgements(od_result *r, const od_judge *judge);

#endif
