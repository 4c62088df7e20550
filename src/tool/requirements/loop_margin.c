// The margins of a loop, at the initial state or at a time of a run.
#include <math.h>
#include <stdio.h>

#include "linear/kinks.h"
#include "linear/poles.h"
#include "linear/response.h"
#include "requirements/judge.h"

enum { POINTS = 400 };  // number of frequencies between which crossings are searched

// Finds the input that enters at the signal where the loop is opened. Fails with OD_BAD_INPUT if no input or more than
// one input enters at this signal.
static od_status find_input(const od_machine *machine, const od_linear_model *model, const od_requirement *q,
                            od_path *path, od_error *err) {
  int found = 0;
  for (int i = 0; i < model->inputs; i++) {
    const od_path candidate = {.input = i, .output = 0, .loop = true};
    if ((q->input >= 0 && q->input != i) || !od_loop_enters(machine, model, &candidate)) continue;
    *path = candidate;
    found++;
  }
  if (found == 1) return OD_OK;
  return od_fail(
      err, OD_BAD_INPUT,
      found == 0
          ? "%s:%d:%d: requirement '%.80s': the loop cannot be opened at '%.80s', because no input enters the machine at this signal only. Name a signal at which an input enters the loop, such as a reference minus a measured value"
          : "%s:%d:%d: requirement '%.80s': several inputs enter at '%.80s'; name one of these inputs with 'input'",
      od_machine_file(machine), q->line, q->column, q->name, model->output[0].name);
}

static od_status find_margins(const od_machine *machine, const od_linear_model *model, od_judgment *j, od_error *err) {
  OD_SCRATCH(scratch);
  const od_requirement *q = j->requirement;
  od_path path;
  od_poles poles;
  double low, high;
  OD_OWNED(od_linear_response_free) od_linear_response *response = od_linear_response_new(model);
  if (!response) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = find_input(machine, model, q, &path, err);
  if (status == OD_OK) status = od_poles_find(model, &scratch, &poles, err);
  if (status != OD_OK) return status;
  od_frequencies_range(model, &low, &high);
  double *frequency = od_frequencies_make(low, high, POINTS, &scratch);
  if (!frequency) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_margins m = od_margins_find(response, &path, frequency, POINTS);
  bool phase = q->kind == OD_REQUIRE_PHASE_MARGIN;
  double value = phase ? m.phase * acos(-1) / 180 : m.gain;
  j->at = phase ? m.phase_at : m.gain_at;
  // A factor below 1 is a lower limit of the gain. In this case the margin is the reciprocal of the factor.
  if (!phase && value < 1) value = 1 / value;
  // Without a crossing the margin is infinite.
  j->reached = j->best = j->worst = isnan(value) ? INFINITY : value;
  if (od_poles_unstable(&poles) > 0) {
    j->reached = j->best = j->worst = phase ? 0 : 1;
    j->at = NAN;
    snprintf(
        j->note, sizeof j->note,
        "the machine is unstable at this operating point, so the loop has no margin; choose another time with 'at'");
  } else if (model->samples) {
    j->worst = -INFINITY, j->best = INFINITY;
    snprintf(
        j->note, sizeof j->note,
        "loops through sampled blocks are open in the linear model, so the margin is not known; use continuous blocks");
  } else if (!model->rests) {
    snprintf(j->note, sizeof j->note,
             "the operating point is not at rest: '%.80s' changes (choose a time at rest with 'at')",
             model->state[model->fastest].name);
  } else if (od_linear_kink(model, 0)) {
    snprintf(j->note, sizeof j->note,
             "the slopes differ on the two sides of '%.80s', and the margin is computed with their mean; the margin "
             "on one side may be smaller (choose a time with 'at')",
             od_linear_kink(model, 0)->name);
  } else if (od_linear_narrow(model, 0)) {
    snprintf(j->note, sizeof j->note,
             "the slopes change within " OD_NARROW_WORDS
             " of '%.80s' (%s); the margin for larger changes of this speed "
             "may be smaller",
             od_linear_narrow(model, 0)->name, od_linear_narrow(model, 0)->cause);
  }
  return OD_OK;
}

od_status od_judge_loop(const od_machine *machine, od_judgment *j, od_error *err) {
  const od_requirement *q = j->requirement;
  const od_point_options options = {.time = q->at, .outputs = &q->signal.output, .output_count = 1};
  OD_OWNED(od_linear_model_free) od_linear_model *model = NULL;
  od_status status = od_linear_model_find(machine, &options, NULL, 0, NULL, &model, err);
  return status == OD_OK ? find_margins(machine, model, j, err) : status;
}
