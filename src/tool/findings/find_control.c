// Findings of control: commands and spools at their limits, control errors, requirements.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "findings/findings_work.h"
#include "io/wording.h"

static void write_spool(od_findings *f, const od_found *x) {
  od_findings_add(f, "valve.saturated", OD_FINDING_NOTE, x->w->owner, x->w->output, x->r->longest, x->r->longest.from,
                  "Valve fully open", "The spool of %.80s is at its full stroke %s.%s", x->w->owner, x->span,
                  x->others);
}

static void write_command(od_findings *f, const od_found *x) {
  od_findings_add(f, "command.saturated", OD_FINDING_NOTE, x->w->owner, x->w->output, x->r->longest, x->r->longest.from,
                  "Command at its limit", "%.80s is at its limit %s.%s", x->w->owner, x->span, x->others);
}

// --- Control errors ---------------------------------------------------------------------------------------------------

// The error that a finding reports: the largest error. If the target jumps, the jump itself would be the largest error,
// so the error at the end of the run is reported.
typedef struct shown_error {
  double value, at, range;  // range of the target
  bool is_final;
} shown_error;

static shown_error error_of(const od_condition_record *r) {
  shown_error e = {r->high, r->high_at, r->with[OD_WITH_OUTPUT].high - r->with[OD_WITH_OUTPUT].low, false};
  if (r->largest_jump > 0.3 * r->high) e.is_final = true, e.value = r->v, e.at = r->t;
  return e;
}

// Writes one finding for all control errors with the same unit: the largest error, and an upper bound of the other errors.
static void write_errors(od_findings *f, const char *unit) {
  int worst = -1, count = 0;
  shown_error shown = {0};
  double next = 0;
  bool jumps = false;
  for (int i = 0; i < f->followed_count; i++) {
    const od_followed *w = &f->followed[i];
    if (w->type != OD_FIND_CONTROL_ERROR || strcmp(w->unit, unit) != 0) continue;
    shown_error e = error_of(&f->record->condition[i]);
    count++;
    jumps = jumps || e.is_final;
    if (worst < 0 || e.value > shown.value) {
      next = worst < 0 ? 0 : fmax(next, shown.value);
      worst = i, shown = e;
    } else {
      next = fmax(next, e.value);
    }
  }
  if (worst < 0 || !(shown.value > fmax(1e-6 * shown.range, 1e-100))) return;
  const od_followed *w = &f->followed[worst];
  double part = shown.range > 0 ? shown.value / shown.range : 0;
  od_phrase others = {""}, range = {""};
  if (count > 1)
    snprintf(others.text, sizeof others.text, " The other %s %s at most %s.", od_form(count - 1, "error", "errors"),
             od_form(count - 1, "is", "are"), od_value_words(next, unit).text);
  if (part > 0 && !shown.is_final)
    snprintf(range.text, sizeof range.text, ", %s of the range of its target", od_percent_words(part).text);
  od_findings_add(f, "error.largest", OD_FINDING_NOTE, w->owner, w->output, (od_span){NAN, NAN}, shown.at,
                  shown.is_final ? "Remaining control error" : "Largest control error", "%.80s is %s at %s%s.%s",
                  w->owner, od_value_words(shown.value, unit).text,
                  shown.is_final ? "the end of the run" : od_time_words(f, shown.at).text, range.text, others.text);
}

void od_find_in_control(od_findings *f) {
  od_find_all(f, OD_FIND_SPOOL, write_spool);
  od_find_all(f, OD_FIND_COMMAND, write_command);
  for (int i = 0; i < f->followed_count; i++) {
    bool is_first = f->followed[i].type == OD_FIND_CONTROL_ERROR;
    for (int k = 0; k < i && is_first; k++)
      is_first = f->followed[k].type != OD_FIND_CONTROL_ERROR || strcmp(f->followed[k].unit, f->followed[i].unit) != 0;
    if (is_first) write_errors(f, f->followed[i].unit);
  }
}

// --- Requirements -----------------------------------------------------------------------------------------------------

static const char *output_name(const od_findings *f, const od_requirement *q) {
  return q->signal.output >= 0 ? od_machine_output_name(f->machine, q->signal.output) : "";
}

void od_find_requirements(od_findings *f, const od_judge *judge) {
  int count = 0, closest = -1;
  double least = INFINITY;
  bool all_pass = true;
  const od_judgment *j = judge ? od_judge_results(judge, &count) : NULL;
  for (int i = 0; i < count; i++) {
    const od_requirement *q = j[i].requirement;
    od_judgment_text words = od_judgment_words(&j[i]);
    double at = od_requirement_is_of_run(q) ? j[i].at : (double)NAN;
    od_span window = {od_requirement_is_of_run(q) ? q->from : (double)NAN, !od_requirement_is_of_run(q) ? (double)NAN
                                                                           : isnan(q->to)               ? f->record->end
                                                                                                        : q->to};
    bool fails = j[i].outcome == OD_FAIL;
    if (j[i].outcome != OD_PASS)
      od_findings_add(f, fails ? "requirement.fails" : "requirement.undecided",
                      fails ? OD_FINDING_SERIOUS : OD_FINDING_WARNING, q->name, output_name(f, q), window, at,
                      fails ? "Requirement fails" : "Requirement undecided", "%.200s: required %s, reached %s.%s%s%s",
                      q->name, words.required, words.reached, q->text ? " " : "", q->text ? q->text : "",
                      q->text ? "." : "");
    all_pass = all_pass && j[i].outcome == OD_PASS;
    double left = j[i].left / fmax(fabs(q->bound), 1e-300);
    if (isfinite(left) && left < least) least = left, closest = i;
  }
  if (!all_pass || closest < 0) return;
  const od_requirement *q = j[closest].requirement;
  od_judgment_text words = od_judgment_words(&j[closest]);
  od_findings_add(f, "requirement.margin", OD_FINDING_GOOD, q->name, output_name(f, q), (od_span){NAN, NAN},
                  od_requirement_is_of_run(q) ? j[closest].at : (double)NAN,
                  count > 1 ? "All requirements pass" : "The requirement passes",
                  "%s%.200s: required %s, reached %s, %s left.", count > 1 ? "Closest is " : "", q->name,
                  words.required, words.reached, words.left);
}
