#include "requirements/judge.h"

#include <math.h>
#include <stdio.h>

#include "io/display.h"
#include "io/json.h"

void od_requirement_value_text(const od_requirement *q, double value, char text[96]) {
  if (isnan(value))
    snprintf(text, 96, "-");
  else if (isinf(value))
    snprintf(text, 96, "%s",
             q->kind == OD_REQUIRE_SETTLING ? "never"
             : od_requirement_is_of_run(q)  ? "infinite"
                                            : "unlimited");
  else if (q->kind == OD_REQUIRE_OVERSHOOT || (q->signal.relative >= 0 && q->kind != OD_REQUIRE_SETTLING))
    snprintf(text, 96, "%.4g %%", 100 * value);
  else if (q->kind == OD_REQUIRE_GAIN_MARGIN)
    snprintf(text, 96, "%.4g dB", 20 * log10(value));
  else if (q->kind == OD_REQUIRE_PHASE_MARGIN)
    snprintf(text, 96, "%.4g deg", value * 180 / acos(-1));
  else
    snprintf(text, 96, "%s", od_display_quantity(value, q->unit).text);
}

od_judgment_text od_judgment_words(const od_judgment *j) {
  static const char *const words[] = {[OD_REQUIRE_MAX] = "at most",
                                      [OD_REQUIRE_MIN] = "at least",
                                      [OD_REQUIRE_WITHIN] = "within",
                                      [OD_REQUIRE_RMS] = "rms at most",
                                      [OD_REQUIRE_SETTLING] = "settles in",
                                      [OD_REQUIRE_OVERSHOOT] = "overshoot at most",
                                      [OD_REQUIRE_PHASE_MARGIN] = "phase margin at least",
                                      [OD_REQUIRE_GAIN_MARGIN] = "gain margin at least",
                                      [OD_REQUIRE_ACCUMULATOR] = "accumulator of",
                                      [OD_REQUIRE_HOSE_LOSS] = "hose loss at most",
                                      [OD_REQUIRE_HOSE_SPEED] = "speed in the hose at most"};
  const od_requirement *q = j->requirement;
  od_judgment_text t;
  char bound[96];
  od_requirement_value_text(q, q->bound, bound);
  snprintf(t.required, sizeof t.required, "%s %.60s", words[q->kind], bound);
  if (q->kind == OD_REQUIRE_SETTLING)
    snprintf(t.required, sizeof t.required, "within %.40s in %.40s", od_display_quantity(q->band, q->band_unit).text,
             bound);
  od_requirement_value_text(q, j->reached, t.reached);
  // A gain margin relative to its bound is a difference in dB.
  if (q->kind == OD_REQUIRE_GAIN_MARGIN && isfinite(j->reached))
    snprintf(t.left, sizeof t.left, "%.4g dB", 20 * log10(j->reached / q->bound));
  else
    od_requirement_value_text(q, isinf(j->left) && j->left < 0 ? (double)NAN : j->left, t.left);
  if (isnan(j->at))
    snprintf(t.at, sizeof t.at, "-");
  else if (od_requirement_is_of_run(q))
    snprintf(t.at, sizeof t.at, "%.6g s", j->at);
  else
    snprintf(t.at, sizeof t.at, "%.4g Hz", j->at);
  return t;
}

static json_t *requirements_json(const od_judge *judge) {
  int count;
  const od_judgment *j = od_judge_results(judge, &count);
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    const od_requirement *q = j[i].requirement;
    od_judgment_text words = od_judgment_words(&j[i]);
    json_t *item = json_pack("{s:o, s:s}", "name", od_json_text(q->name), "outcome", od_outcome_text(j[i].outcome));
    if (q->text) json_object_set_new(item, "text", od_json_text(q->text));
    json_object_set_new(item, "unit", od_json_text(q->unit));
    json_object_set_new(item, "required", od_json_number(q->bound));
    json_object_set_new(item, "reached", od_json_number(j[i].reached));
    json_object_set_new(item, "best", od_json_number(j[i].best));
    json_object_set_new(item, "worst", od_json_number(j[i].worst));
    json_object_set_new(item, "left", od_json_number(j[i].left));
    json_object_set_new(item, od_requirement_is_of_run(q) ? "at" : "at_frequency", od_json_number(j[i].at));
    json_object_set_new(item, "required_text", od_json_text(words.required));
    json_object_set_new(item, "reached_text", od_json_text(words.reached));
    if (j[i].note[0]) json_object_set_new(item, "note", od_json_text(j[i].note));
    json_array_append_new(list, item);
  }
  return list;
}

od_trust od_outcome_trust(od_outcome outcome) {
  static const od_trust trust[] = {
      [OD_PASS] = OD_SOUND, [OD_FAIL] = OD_UNSOUND, [OD_UNDECIDED] = OD_DOUBTFUL, [OD_NOT_JUDGED] = OD_DOUBTFUL};
  return trust[outcome];
}

void od_add_judgments(od_result *r, const od_judge *judge) {
  static const od_result_column columns[] = {{NULL, "requirement", OD_CELL_TEXT}, {NULL, "required", OD_CELL_TEXT},
                                             {NULL, "reached", OD_CELL_TEXT},     {NULL, "at", OD_CELL_TEXT},
                                             {NULL, "left", OD_CELL_TEXT},        {NULL, "outcome", OD_CELL_TEXT}};
  int count;
  const od_judgment *j = od_judge_results(judge, &count);
  od_result_set(r, "requirements", requirements_json(judge));
  od_result_table *t = od_result_add_table(r, NULL, columns, 6);
  for (int i = 0; i < count; i++) {
    od_judgment_text words = od_judgment_words(&j[i]);
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
    od_judgment_text words = od_judgment_words(&j[i]);
    char name[300];
    if (j[i].outcome == OD_PASS && !j[i].note[0]) continue;
    snprintf(name, sizeof name, "%.280s:", q->name);
    od_result_finding(r, od_outcome_trust(j[i].outcome), name, "%s; required %s, reached %s%s%s%s%s",
                      od_outcome_text(j[i].outcome), words.required, words.reached, q->text ? ". " : "",
                      q->text ? q->text : "", j[i].note[0] ? "; " : "", j[i].note);
  }
}
