// The verdict on tuned numbers: whether the rest of the data agrees with the tuned numbers, and which numbers the data do not
// determine.
#include <math.h>
#include <stdio.h>

#include "io/display.h"
#include "io/wording.h"
#include "math/chi_squared.h"
#include "tune/tune_judge.h"

static const double level = 0.001;       // significance level of each test
static const double size_matters = 0.1;  // deviation of the NIS from 1 that matters, as in the verdict of 'observe'

// Judges the rest of the data: gain of the likelihood, consistency, and whiteness of the innovations.
static void judge_rest(const od_experiment *e, od_tuned *t) {
  const od_tuned_part *rest = &t->after.rest;
  od_verdict *v = &t->verdict;
  if (t->after.failed) {
    od_verdict_add(v, OD_UNSOUND, "tuning.failed",
                   "Not usable:", "with the tuned numbers the observer fails on the rest of the data: %.300s",
                   t->after.message);
    return;
  }
  // If the numbers of the file are the true ones, k tuned numbers change the log likelihood of the rest by -s k/2 on average, with
  // the variance s k (1 + s/2); s: size of the rest, relative to the part for tuning.
  double gain = rest->log_likelihood - t->before.rest.log_likelihood, k = t->numbers;
  double size = (double)rest->count / (double)t->after.tuned.count;
  double by_chance = -size * k / 2 - 3.3 * sqrt(size * k * (1 + size / 2));
  if (!t->before.failed && gain < by_chance)
    od_verdict_add(
        v, OD_DOUBTFUL, "tuning.worse", "Not better on the rest of the data:",
        "the log likelihood of the rest of the data is %.4g lower than with the numbers of the file. The rest of "
        "the data differs from the part used for tuning. Use a longer part (--fraction), or another part of the log ('start' and 'end' under 'data').",
        -gain);
  double square = rest->squares / (double)rest->used, n = (double)rest->used;
  double chance = 2 * fmin(od_chi_squared_tail(rest->squares, n), 1 - od_chi_squared_tail(rest->squares, n));
  od_consistency c = od_consistency_of(rest->squares, n);
  if (chance < level && fabs(square - 1) > size_matters)
    od_verdict_add(
        v, OD_DOUBTFUL, "tuning.nis", "Not consistent on the rest of the data:",
        "NIS per dimension is %.4g (95 %% interval of a consistent filter: %.4f to %.4f). The noise differs "
        "between the parts, or the model lacks an effect that noise does not describe; use a longer part (--fraction), or extend the model",
        c.value, c.low, c.high);
  od_name_list names = {.most = 6};
  for (int i = 0; i < e->sensors; i++)
    if (od_innovations_are_colored(&rest->sensor[i], level)) od_name_list_add(&names, "%s", e->sensor[i].name);
  if (names.count > 0)
    od_verdict_add(v, OD_DOUBTFUL, "tuning.white", "Innovations not white on the rest of the data:",
                   "innovations of %s are correlated with earlier innovations, so the measurements contain an effect "
                   "that neither the model nor white noise describes; extend the model",
                   od_name_list_text(&names));
}

static void judge_numbers(od_tuned *t) {
  od_verdict *v = &t->verdict;
  if (!t->converged)
    od_verdict_add(v, OD_DOUBTFUL, "tuning.search", "Not converged:",
                   "the search ended after %s before the likelihood stopped rising; repeat the command with the "
                   "tuned numbers",
                   od_count(t->iterations, "step").text);
  for (int i = 0; i < t->numbers; i++) {
    const od_tuned_number *n = &t->number[i];
    if (n->at_edge)
      od_verdict_add(
          v, OD_DOUBTFUL, "tuning.edge", "Close to failure:",
          "if %.200s changes by 5 %%, the observer fails on the part for tuning. The filter is not stable with "
          "the noise of these data; choose another filter or a shorter step",
          n->path);
    else if (n->may_be_zero && isnan(n->bound))
      od_verdict_add(v, OD_SOUND, "tuning.no_effect",
                     "No effect:", "the data contain no information about %.200s; its value does not matter", n->path);
    else if (n->may_be_zero)
      od_verdict_add(v, OD_SOUND, "tuning.zero", "Not distinguishable from zero:", "%.200s is at most %s (95 %% bound)",
                     n->path, od_display_quantity(n->bound, n->unit).text);
    else if (!(n->error < 1))
      od_verdict_add(
          v, OD_SOUND, "tuning.undetermined", "Not determined:",
          "the data determine %.200s only up to a factor of %.3g (one standard error); use a longer log, or set this number by other means",
          n->path, exp(n->error));
  }
}

static void judge_start(const od_experiment *e, od_tuned *t) {
  od_verdict *v = &t->verdict;
  for (int i = 0; i < e->sensors; i++) {
    double z = fabs(t->after.first_value[i]) / t->after.first_sigma[i];
    if (z > t->largest_first)
      od_verdict_add(v, OD_DOUBTFUL, "tuning.first_innovation", "P0 contradicts the first innovation:",
                     "the first value of %.150s is %s away from its prediction, %.3g times the predicted standard "
                     "deviation of %s; check the start values, or increase the standard deviations of the start",
                     e->sensor[i].name, od_display_quantity(fabs(t->after.first_value[i]), e->sensor[i].unit).text, z,
                     od_display_quantity(t->after.first_sigma[i], e->sensor[i].unit).text);
  }
  for (int i = 0; i < t->starts; i++) {
    const od_tuned_start *s = &t->start[i];
    od_verdict_add(v, OD_DOUBTFUL, "tuning.start",
                   "P0 contradicts the innovations:", "%.150s is %s; with %s the log likelihood is %.4g higher",
                   s->path, od_display_quantity(s->sigma, s->unit).text, od_display_quantity(s->better, s->unit).text,
                   s->gain);
  }
}

od_status od_tune_verdict(const od_experiment *e, od_tuned *t, od_error *err) {
  judge_rest(e, t);
  judge_start(e, t);
  judge_numbers(t);
  if (e->log) od_log_remark_repeated(e->log, &t->verdict);
  return od_verdict_is_complete(&t->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
