// Remarks about the accuracy of a run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "model/outputs.h"
#include "simulate/run_state.h"

// Text of a fraction: "12 % of".
typedef struct part_text {
  char text[32];
} part_text;
static part_text part_of(double part) {
  part_text p;
  if (part < 0.995)
    snprintf(p.text, sizeof p.text, "%.2g %% of", 100 * part);
  else if (part < 1e4)
    snprintf(p.text, sizeof p.text, "%.0f %% of", 100 * part);
  else
    snprintf(p.text, sizeof p.text, "%.1e times", part);
  return p;
}

// A text about the error of the worst output and the number of other outputs with errors.
typedef struct off_text {
  char text[320];
} off_text;
static off_text off_by(const od_machine *machine, const od_run_options *o, const od_run_accuracy *a) {
  off_text off;
  char more[80] = "";
  const od_output_error *e = &a->error[a->worst];
  if (a->beyond > 1)
    snprintf(more, sizeof more, ", and %d more output%s by more than %g %%", a->beyond - 1, a->beyond > 2 ? "s" : "",
             100 * OD_ACCURATE);
  snprintf(off.text, sizeof off.text, "%.130s is off by %s%s %s near %.6g s%s.",
           od_machine_output_name(machine, o->outputs[a->worst]),
           a->source == OD_ERROR_ESTIMATED ? "an estimated " : "", part_of(e->part).text,
           e->range > 0 && e->range == a->moved ? "the energy moved" : "its range", e->at, more);
  return off;
}

static bool is_cvodes(const od_run_options *o) {
  return o->integrator && strcmp(o->integrator, OD_CVODES) == 0;
}

static od_trust trust_in(const od_run_accuracy *a) {
  return a->error[a->worst].part <= OD_LOST ? OD_DOUBTFUL : OD_UNSOUND;
}

// Adds a remark about the error: two runs with small tolerances disagree, or the step or the tolerance is too large.
static void judge_error(const od_machine *machine, const od_run_options *o, double step, const od_run_accuracy *a,
                        od_verdict *v) {
  if (isfinite(a->predictable))
    od_verdict_add(
        v, trust_in(a), "run.unpredictable", "Motion not predictable:",
        "after t = %.4g s, two runs with small tolerances differ by more than %g %%. The motion amplifies the smallest "
        "differences, or has events that a small tolerance does not resolve. %s Rows after this time show one of many possible motions.",
        a->predictable, 100 * OD_ACCURATE, off_by(machine, o, a).text);
  else if (a->beyond > 0 && (is_cvodes(o) || o->adaptive))
    od_verdict_add(v, trust_in(a), "tolerance.loose",
                   "Tolerance too loose:", "with a tolerance of %g, %s Use a tolerance of %g.", a->tolerance,
                   off_by(machine, o, a).text, a->tolerance / 100);
  else if (a->beyond > 0)
    od_verdict_add(v, trust_in(a), "step.long", "Step too long:",
                   "with steps of %s, %s A step of about %s may be short enough; with 'step: %s' the run controls its "
                   "error.",
                   od_duration_text(step, 3).text, off_by(machine, o, a).text, od_duration_text(a->better_step, 3).text,
                   OD_STEP_AUTO);
}

// Lists the integrators with a property: "a, b and c".
static void list_integrators(bool (*has)(const od_integrator *i), const char *last, char *text, size_t size) {
  const char *name[OD_MOST_METHODS];
  int count = 0;
  const od_integrator *entry;
  for (int i = 0; (entry = od_integrator_at(i)) && count < OD_MOST_METHODS; i++)
    if (has(entry)) name[count++] = entry->name;
  text[0] = '\0';
  for (int i = 0; i < count; i++) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : last, name[i]);
  }
}

static bool is_stable(const od_integrator *i) {
  return !i->amplification;
}
static void judge_stability(const od_run_options *o, double step, const od_run_accuracy *a, od_verdict *v) {
  bool harmless = a->error && a->beyond == 0;
  if (o->adaptive || harmless || !(step > a->stable_step * 1.05)) return;
  char names[150];
  list_integrators(is_stable, " and ", names, sizeof names);
  od_verdict_add(v, a->beyond > 0 ? OD_UNSOUND : OD_DOUBTFUL, "step.unstable", "Unstable steps:",
                 "%s steps of %s amplify the fast motions of this machine; steps up to %s are stable. With %s any step "
                 "is stable.",
                 o->integrator ? o->integrator : od_integrator_at(0)->name, od_duration_text(step, 3).text,
                 od_duration_text(a->stable_step, 3).text, names);
}

// Adds a remark if the magnitude of the energy balance exceeds OD_ACCURATE of the energy moved. There is no remark if the outputs
// are accurate and a better run has a small balance. In this case only the integrals of powers are inaccurate.
static void judge_balance(const od_run_options *o, const od_run_accuracy *a, od_verdict *v) {
  bool accurate = a->error && a->beyond == 0 && fabs(a->better_balance) <= OD_ACCURATE * a->moved;
  if (accurate || !(fabs(a->balance) > OD_ACCURATE * a->moved)) return;
  od_trust trust = fabs(a->balance) > OD_LOST * a->moved ? OD_UNSOUND : OD_DOUBTFUL;
  od_verdict_add(v, trust, "energy.balance", "Energy not balanced:",
                 "energy.balance is %.3g J, %s the energy moved (%.3g J). Energy was created or lost: the %s.",
                 a->balance, part_of(fabs(a->balance) / a->moved).text, a->moved,
                 is_cvodes(o) || o->adaptive ? "tolerance is too loose. Use a smaller tolerance"
                                             : "step is too long. Use a shorter step");
}

// Adds a remark about closed loops with redundant constraints. Stiffness determines how the joints of such loops share the load.
// Rigid bodies have no stiffness.
static void judge_reactions(const od_machine *machine, const od_run_options *o, od_verdict *v) {
  const od_model *model = od_machine_model(machine);
  od_model_facts facts = od_model_get_facts(model);
  int first = -1, more = 0;
  for (int i = 0; i < o->output_count; i++) {
    if (!od_model_output_is_shared(model, o->outputs[i])) continue;
    if (first < 0)
      first = o->outputs[i];
    else
      more++;
  }
  if (first < 0) return;
  char others[60] = "";
  if (more > 0) snprintf(others, sizeof others, " and %d more output%s", more, more > 1 ? "s" : "");
  od_verdict_add(
      v, OD_DOUBTFUL, "load.shared", "Load not determined:",
      "%s%s: the loops have %d closure equations, of which %d are independent. Rigid bodies alone do not determine "
      "how the joints share the load. The values shown are one of many solutions. A joint with more degrees of "
      "freedom makes the solution unique.",
      od_machine_output_name(machine, first), others, facts.closure_rows, facts.closure_rank);
}

// Adds a remark if the error was not measured.
static void judge_source(const od_run_accuracy *a, bool incomplete, od_verdict *v) {
  if (incomplete || a->source == OD_ERROR_MEASURED) return;
  if (a->source == OD_ERROR_ESTIMATED)
    od_verdict_add(
        v, OD_SOUND, "error.estimated", "Error estimated:",
        "a more accurate run for comparison failed, or would have taken more than five times as long. The error is estimated from a run with longer steps or a looser tolerance.");
  else
    od_verdict_add(v, OD_DOUBTFUL, "step.unknown", "Error not known:",
                   "the runs for comparison failed. Repeat the run with a shorter step or a smaller tolerance.");
}

void od_run_judge(const od_machine *machine, const od_run_options *options, double step, bool incomplete,
                  const od_run_accuracy *a, od_verdict *verdict) {
  judge_stability(options, step, a, verdict);
  judge_error(machine, options, step, a, verdict);
  judge_source(a, incomplete || options->unjudged, verdict);
  judge_reactions(machine, options, verdict);
  judge_balance(options, a, verdict);
}
