#include "simulate/run_verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "model/outputs.h"
#include "simulate/jumps.h"

// "12 %" of something, or where that is too much to be a number, "more than ten times".
typedef struct part_text {
  char text[32];
} part_text;
static part_text part_of(double part, const char *exactly) {
  part_text p;
  if (!(part < 10))
    snprintf(p.text, sizeof p.text, "more than ten times");
  else if (part >= 0.995)
    snprintf(p.text, sizeof p.text, "%s%.0f %% of", exactly, 100 * part);
  else
    snprintf(p.text, sizeof p.text, "%s%.2g %% of", exactly, 100 * part);
  return p;
}

// Which step would do.
static void advise(const od_run_accuracy *a, char *text, size_t size) {
  text[0] = '\0';
  if (!(a->better_step > 0)) return;
  od_duration better = od_duration_text(a->better_step, 3);
  if (isnan(a->better_part))
    snprintf(text, size, " A step of about %s may do.", better.text);
  else if (a->better_part <= OD_ACCURATE)
    snprintf(text, size, " A step of %s does: with it the error is %s the range.", better.text,
             part_of(a->better_part, "").text);
  else
    snprintf(text, size, " With a step of %s the error is still %s the range; try --integrator cvodes.", better.text,
             part_of(a->better_part, "").text);
}

// How far off the worst output is, and how many more.
typedef struct off_text {
  char text[300];
} off_text;
static off_text off_by(const od_machine *machine, const od_run_options *o, const od_run_accuracy *a) {
  off_text off;
  char more[80] = "";
  const od_output_error *e = &a->error[a->worst];
  if (a->beyond > 1)
    snprintf(more, sizeof more, ", and %d more output%s by more than %g %%", a->beyond - 1, a->beyond > 2 ? "s" : "",
             100 * OD_ACCURATE);
  snprintf(off.text, sizeof off.text, "%.130s is off by %s %s near %.6g s%s.",
           od_machine_output_name(machine, o->outputs[a->worst]), part_of(e->part, "about ").text,
           e->range > 0 && e->range == a->moved ? "the energy moved" : "its range", e->at, more);
  return off;
}

static bool is_cvodes(const od_run_options *o) {
  return o->integrator && strcmp(o->integrator, OD_CVODES) == 0;
}

// What jumps within steps, and what helps.
static void explain_jumps(const od_machine *machine, char *text, size_t size) {
  const od_model *m = od_machine_model(machine);
  const od_instance *port = od_model_port_that_jumps(m);
  if (od_model_laws_jump(m))
    snprintf(text, size,
             " A quantiser, a sign or a formula jumps within steps; a relay or a switch is located in time, and "
             "--step auto goes closer.");
  size_t used = strlen(text);
  if (port)
    snprintf(text + used, size - used,
             " The curve of the port '%.80s' of the valve '%.80s' begins open, so that its opening jumps within steps; "
             "one that begins with 0 does not, and --step auto goes closer.",
             port->name, m->instance[port->host].name);
}

static bool judge_step(const od_machine *machine, const od_run_options *o, double step, const od_run_accuracy *a,
                       od_verdict *v) {
  if (a->beyond == 0 || is_cvodes(o) || o->adaptive) return true;
  char advice[200], jumps[600] = "";
  advise(a, advice, sizeof advice);
  if (a->by_jumps) explain_jumps(machine, jumps, sizeof jumps);
  return od_verdict_add(v, a->error[a->worst].part <= OD_LOST ? OD_DOUBTFUL : OD_UNSOUND, "step.long",
                        "Step too long:", "with steps of %s %s%s%s", od_duration_text(step, 3).text,
                        off_by(machine, o, a).text, jumps, advice);
}

static bool judge_tolerance(const od_machine *machine, const od_run_options *o, const od_run_accuracy *a,
                            od_verdict *v) {
  if (a->beyond == 0 || !is_cvodes(o)) return true;
  const char *off = isinf(a->error[a->worst].part)
                        ? "the error of the outputs is not known: the tighter run beside this one failed."
                        : NULL;
  return od_verdict_add(v, OD_DOUBTFUL, "tolerance.loose",
                        "Tolerance too loose:", "with a tolerance of %g %s Use %g or less.", o->tolerance,
                        off ? off : off_by(machine, o, a).text, OD_LOOSE_TOLERANCE);
}

// Of adaptive steps.
static bool judge_adaptive_tolerance(const od_machine *machine, const od_run_options *o, const od_run_accuracy *a,
                                     od_verdict *v) {
  if (a->beyond == 0 || is_cvodes(o) || !o->adaptive) return true;
  char advice[200] = "";
  if (a->better_tolerance > 0 && isnan(a->better_part))
    snprintf(advice, sizeof advice, " A tolerance of %g may do.", a->better_tolerance);
  else if (a->better_tolerance > 0 && a->better_part <= OD_ACCURATE)
    snprintf(advice, sizeof advice, " A tolerance of %g does: with it the error is %s the range.", a->better_tolerance,
             part_of(a->better_part, "").text);
  else if (a->better_tolerance > 0)
    snprintf(advice, sizeof advice, " With a tolerance of %g the error is still %s the range; try --integrator %s.",
             a->better_tolerance, part_of(a->better_part, "").text, OD_CVODES);
  return od_verdict_add(v, a->error[a->worst].part <= OD_LOST ? OD_DOUBTFUL : OD_UNSOUND, "tolerance.loose",
                        "Tolerance too loose:", "with a tolerance of %g %s%s",
                        o->tolerance > 0 ? o->tolerance : OD_ADAPTIVE_TOLERANCE, off_by(machine, o, a).text, advice);
}

// The integrators with a property, for a sentence: "a, b and c".
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
static bool can_adapt(const od_integrator *i) {
  return i->estimate_order > 0;
}

od_run_message od_run_cannot_adapt(const od_integrator *integrator) {
  od_run_message m;
  char names[150];
  list_integrators(can_adapt, " or ", names, sizeof names);
  snprintf(m.text, sizeof m.text, "'step: %s' wants an integrator that estimates the error of each step: %s, not %s",
           OD_STEP_AUTO, names, integrator->name);
  return m;
}

static bool judge_stability(const od_run_options *o, double step, const od_run_accuracy *a, od_verdict *v) {
  if (o->adaptive || !(step > a->stable_step * (1 + 1e-6))) return true;
  char names[150];
  list_integrators(is_stable, " and ", names, sizeof names);
  return od_verdict_add(v, a->beyond > 0 ? OD_UNSOUND : OD_DOUBTFUL, "step.unstable", "Unstable steps:",
                        "this machine has motions so fast that %s steps of %s amplify them; up to %s they are "
                        "stable. With %s any step is stable.",
                        o->integrator ? o->integrator : od_integrator_at(0)->name, od_duration_text(step, 3).text,
                        od_duration_text(a->stable_step, 3).text, names);
}

static bool judge_inputs(const od_machine *machine, double step, const od_run_accuracy *a, od_verdict *v) {
  if (a->coarse_input < 0) return true;
  return od_verdict_add(v, OD_DOUBTFUL, "step.input", "Input faster than the steps:",
                        "within a step of %s the input '%s' leaves the straight line between its ends by %s its range, "
                        "which the run does not see.",
                        od_duration_text(step, 3).text, od_machine_input_name(machine, a->coarse_input),
                        part_of(a->coarse_part, "").text);
}

static bool judge_balance(const od_run_options *o, const od_run_accuracy *a, od_verdict *v) {
  if (!(fabs(a->balance) > OD_ACCURATE * a->moved)) return true;
  od_trust trust = fabs(a->balance) > OD_LOST * a->moved ? OD_UNSOUND : OD_DOUBTFUL;
  return od_verdict_add(v, trust, "energy.balance", "Energy not balanced:",
                        "energy.balance is %.3g J, %s the energy moved (%.3g J). Energy came from nowhere or got lost: "
                        "the %s.",
                        a->balance, part_of(fabs(a->balance) / a->moved, "").text, a->moved,
                        is_cvodes(o) || o->adaptive ? "tolerance is too loose" : "step is too long");
}

// Loops with more equations than they need: stiffnesses that rigid bodies do not have would decide how joints share the load.
static bool judge_reactions(const od_machine *machine, const od_run_options *o, od_verdict *v) {
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
  if (first < 0) return true;
  char others[60] = "";
  if (more > 0) snprintf(others, sizeof others, " and %d more output%s", more, more > 1 ? "s" : "");
  return od_verdict_add(
      v, OD_DOUBTFUL, "load.shared", "Load not determined:",
      "%s%s: the loops have %d closure equations of which %d are independent, so that how their joints share "
      "the load is not a matter of rigid bodies alone. What is shown is one way of many. A joint that gives way "
      "in more directions makes it unique.",
      od_machine_output_name(machine, first), others, facts.closure_rows, facts.closure_rank);
}

static bool judge_second_run(const od_run_options *o, const od_run_accuracy *a, od_verdict *v) {
  if (!a->unknown) return true;
  return od_verdict_add(
      v, OD_DOUBTFUL, "step.unknown", "Error not known:",
      "a run of a machine of this size, with laws that jump, or whose outputs include integrals of powers is judged by a "
      "second one with %s, which did not come to its end.",
      o->adaptive ? "a tighter tolerance" : "half the step");
}

bool od_run_judge(const od_machine *machine, const od_run_options *options, double step, const od_run_accuracy *a,
                  od_verdict *verdict) {
  bool ok = judge_stability(options, step, a, verdict);
  ok = judge_step(machine, options, step, a, verdict) && ok;
  ok = judge_second_run(options, a, verdict) && ok;
  ok = judge_tolerance(machine, options, a, verdict) && ok;
  ok = judge_adaptive_tolerance(machine, options, a, verdict) && ok;
  ok = judge_inputs(machine, step, a, verdict) && ok;
  ok = judge_reactions(machine, options, verdict) && ok;
  return judge_balance(options, a, verdict) && ok;
}

bool od_run_judge_end(double t, double time, const char *why, od_verdict *verdict) {
  return od_verdict_add(verdict, OD_DOUBTFUL, "run.incomplete",
                        "Incomplete:", "the run ended at %.6g s of %.6g s, and the result is partial: %s.", t, time,
                        why);
}
