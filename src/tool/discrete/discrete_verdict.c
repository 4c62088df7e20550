#include "discrete/discrete_verdict.h"

#include <math.h>
#include <stdio.h>

static const double divergence = -1e4;  // fit in percent at which the error is a hundred times the output's movement
static const double poor_fit = 50;      // fit in percent; a smaller fit is doubtful, a negative fit is unsound
static const double color_threshold = 4.5;  // standard deviations of the sum of squared autocorrelations
static const double round_off = 1e-9;       // largest residuals that are round-off, relative to the output's movement
// Distance from the unit circle by which noise may shift a pole of 1 to the outside.
static const double integrator_tolerance = 1e-3;

const char *od_quality_text(const od_z_quality *q, char text[80]) {
  if (isnan(q->percent) && isnan(q->rms))
    snprintf(text, 80, "cannot be fitted");
  else if (isnan(q->percent))
    snprintf(text, 80, "constant output, error %.4g", q->rms);
  else if (q->percent < divergence)
    snprintf(text, 80, "none: the simulation diverges");
  else
    snprintf(text, 80, "%.2f %%, error %.4g", q->percent, q->rms);
  return text;
}

static void judge_coefficients(const od_discrete_findings *f, od_verdict *v) {
  const od_discrete *m = f->model;
  bool determined = true;
  for (int p = 0; p < OD_POLYNOMIALS; p++)
    for (int i = 0; i <= m->degree[p]; i++) determined = determined && isfinite(m->sigma[p][i]);
  if (!m->is_minimum)
    od_verdict_add(v, OD_DOUBTFUL, "search.stuck",
                   "No minimum:", "the search for the coefficients ended before a minimum%s.",
                   f->z->radius > 1 - 1e-6 ? ", at the stability limit; use arx or armax for unstable models"
                                           : "; try a lower order");
  if (!determined)
    od_verdict_add(v, OD_DOUBTFUL, "parameters.undetermined",
                   "Not determined:", "the log does not determine all coefficients; try a lower order.");
  double freedom = fmax(m->lags - m->degree[OD_POLY_C] - m->degree[OD_POLY_D] - m->degree[OD_POLY_A], 1);
  if (m->whiteness > freedom + color_threshold * sqrt(2 * freedom) && m->noise > round_off * f->movement)
    od_verdict_add(
        v, OD_DOUBTFUL, "residuals.colored", "Residuals are not white:",
        "the sum of %d squared autocorrelations is %.3g, expected %.3g for white residuals; intervals are too "
        "narrow or too wide. Try a higher order or another noise model.",
        m->lags, m->whiteness, freedom);
}

static void judge_stability(const od_discrete_findings *f, od_verdict *v) {
  const od_z_transfer *z = f->z;
  bool useless = false;
  for (int i = 0; i < f->outputs; i++) useless = useless || !(f->quality[i].all.percent > 0);
  if (z->mirrored > 0)
    od_verdict_add(
        v, OD_SOUND, "model.stabilized", "Made stable:",
        "the subspace model had a pole of magnitude %.5g, outside the unit circle; a stable pole replaces it.",
        z->mirrored);
  else if (z->radius >= 1 && useless)
    od_verdict_add(
        v, OD_UNSOUND, "model.unstable", "Unstable:",
        "the largest pole has the magnitude %.7g, and the simulation explains no part of the log. Try oe or another order.",
        z->radius);
  else if (z->radius >= 1)
    od_verdict_add(v, z->radius < 1 + integrator_tolerance ? OD_SOUND : OD_DOUBTFUL, "model.unstable",
                   "Unstable:", "the largest pole has the magnitude %.7g, expected less than 1 (1 for an integrator).",
                   z->radius);
}

static void judge_output(const od_discrete_findings *f, int i, od_verdict *v) {
  const char *name = f->label[i].name;
  const od_z_quality *all = &f->quality[i].all, *held_out = &f->quality[i].held_out;
  char text[80];
  if (all->percent <= 0 && f->z->radius < 1)
    od_verdict_add(v, OD_UNSOUND, "fit.nothing", "Wrong model:", "explained part of '%s' in the log: %s.", name,
                   od_quality_text(all, text));
  if (f->why_none_held_out || held_out->percent >= poor_fit) return;
  bool some = held_out->percent > 0;
  if (isnan(held_out->percent))
    od_verdict_add(v, OD_DOUBTFUL, "validation.constant", "Not validated:",
                   "'%s' is constant in the held-out rows; the error of the simulation there is %.4g.", name,
                   held_out->rms);
  else
    od_verdict_add(v, some ? OD_DOUBTFUL : OD_UNSOUND, "validation.fit",
                   some ? "Weak model:" : "Wrong model:", "explained part of '%s' in the held-out rows: %s%s.", name,
                   od_quality_text(held_out, text),
                   some || held_out->percent < divergence ? "" : "; the mean is a better prediction");
}

void od_discrete_judge(const od_discrete_findings *f, od_verdict *v) {
  if (f->model) judge_coefficients(f, v);
  judge_stability(f, v);
  if (f->why_none_held_out)
    od_verdict_add(v, OD_DOUBTFUL, "validation.none", "Not validated:", "no rows could be held out: %s.",
                   f->why_none_held_out);
  for (int i = 0; i < f->outputs; i++) judge_output(f, i, v);
}
