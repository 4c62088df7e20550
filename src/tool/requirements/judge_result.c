#include "requirements/judge_result.h"

#include <math.h>
#include <stdio.h>

od_trust od_outcome_trust(od_outcome outcome) {
  static const od_trust trust[] = {
      [OD_PASS] = OD_SOUND, [OD_FAIL] = OD_UNSOUND, [OD_UNDECIDED] = OD_DOUBTFUL, [OD_NOT_JUDGED] = OD_DOUBTFUL};
  return trust[outcome];
}

void od_add_judgements(od_result *r, const od_judge *judge) {
  static const od_result_column columns[] = {{NULL, "requirement", OD_CELL_TEXT}, {NULL, "required", OD_CELL_TEXT},
                                             {NULL, "reached", OD_CELL_TEXT},     {NULL, "at", OD_CELL_TEXT},
                                             {NULL, "left", OD_CELL_TEXT},        {NULL, "outcome", OD_CELL_TEXT}};
  int count;
  const od_judgement *j = od_judge_results(judge, &count);
  od_result_set(r, "requirements", od_judge_json(judge));
  od_result_table *t = od_result_add_table(r, NULL, columns, 6);
  for (int i = 0; i < count; i++) {
    od_judgement_text words = od_judgement_words(&j[i]);
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, j[i].requirement->name);
    od_result_cell_text(t, words.required);
    od_result_cell_text(t, words.reached);
    od_result_cell_text(t, words.at);
    od_result_cell_text(t, words.left);
    od_result_cell_text(t, od_outcome_text(j[i].outcome));
    od_result_mark(t, j[i].outcome != OD_PASS);
  }
  for (int i = 0; i < count; i++) {
    const od_requirement *q = j[i].requirement;
    od_judgement_text words = od_judgement_words(&j[i]);
    char name[300];
    if (j[i].outcome == OD_PASS && !j[i].note[0]) continue;
    snprintf(name, sizeof name, "%.280s:", q->name);
    od_result_finding(r, od_outcome_trust(j[i].outcome), name, "%s; required %s, reached %s%s%s%s%s",
                      od_outcome_text(j[i].outcome), words.required, words.reached, q->text ? ". " : "",
                      q->text ? q->text : "", j[i].note[0] ? "; " : "", j[i].note);
  }
}
