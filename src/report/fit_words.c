// The findings of a fit, in sentences: how well it fits, what is told and what not, bounds, validation, the data.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/fit_account.h"

enum { MOST_PARAMETERS = 24, MOST_NULLS = 12, MOST_SETS = 12 };

// --- The verdict --------------------------------------------------------------------------------------------------

static void tell_fit(od_fit_account *a) {
  const od_fitted *f = a->f;
  if (isnan(f->fit))
    od_page_notice(a->page, OD_TONE_DOUBT, "No verdict:", "no sensor moves, so that there is nothing to explain.");
  else if (isnan(f->start_fit))
    od_page_notice(
        a->page, OD_TONE_GOOD, "Fit:",
        "the model explains %.2f\u00a0%% of what the sensors say; with the starting values it cannot predict it.",
        f->fit);
  else
    od_page_notice(
        a->page, f->fit >= f->start_fit ? OD_TONE_GOOD : OD_TONE_BAD,
        "Fit:", "the model explains %.2f\u00a0%% of what the sensors say, and %.2f\u00a0%% with the starting values.",
        f->fit, f->start_fit);
}

// Sensors of fitted data whose residuals are not white, by name.
static int coloured_sensors(const od_fit_account *a, char *names, size_t size) {
  int count = 0;
  names[0] = '\0';
  for (int set = 0; set < a->f->sets; set++)
    for (int i = 0; i < a->e->sensors; i++) {
      if (a->f->set[set].fitted == 0 || !od_fit_is_coloured(&a->f->set[set].fitted_quality[i])) continue;
      size_t used = strlen(names);
      snprintf(names + used, size - used, "%s%.80s in %.40s", count++ ? ", " : "", a->e->sensor[i].name,
               a->f->set[set].name);
    }
  return count;
}

static void tell_whiteness(od_fit_account *a) {
  char names[600];
  if (coloured_sensors(a, names, sizeof names) == 0) return;
  od_page_notice(a->page, OD_TONE_DOUBT, "Not white:",
                 "residuals of %s depend on earlier ones, so there is something in the data that the model does not "
                 "describe; the intervals are too narrow then.",
                 names);
}

static void tell_identifiability(od_fit_account *a) {
  const od_identifiability *id = a->f->told;
  if (!id) return;
  int told = id->columns - id->nulls - id->weak;
  char hidden[120] = "";
  if (id->weak > 0)
    snprintf(hidden, sizeof hidden, ", %d %s hidden by the noise", id->weak, id->weak > 1 ? "are" : "is");
  if (told == id->columns)
    od_page_notice(a->page, OD_TONE_GOOD, "Told:", "the data tell all %d parameters.", id->columns);
  else
    od_page_notice(
        a->page, OD_TONE_DOUBT, "Not all is told:",
        "the data tell %d of %d directions in which the parameters can change; %d %s the data unchanged%s. "
        "Parameters that take part in those stand where the search happened to end; combinations of them may be "
        "known all the same.",
        told, id->columns, id->nulls, id->nulls == 1 ? "leaves" : "leave", hidden);
}

// --- Items --------------------------------------------------------------------------------------------------------

static void tell_directions(od_fit_account *a) {
  const od_identifiability *id = a->f->told;
  char text[1000];
  for (int k = 0; id && k < id->nulls && k < MOST_NULLS; k++) {
    od_identifiability_null_text(id, k, a->f->name, text, sizeof text);
    od_page_item(a->page, "Not told:", "%s.", text);
  }
  for (int k = 0; id && k < id->weak && k < MOST_NULLS; k++) {
    od_identifiability_weak_text(id, k, a->f->name, text, sizeof text);
    od_page_item(a->page, "Hardly told:", "%s.", text);
  }
}

static void tell_bounds(od_fit_account *a) {
  for (int i = 0; i < a->e->parameters; i++) {
    const od_estimated *p = &a->e->parameter[i];
    int side = a->f->search->at_bound[i];
    if (side == 0) continue;
    double bound = side < 0 ? fmax(p->low, p->least) : fmin(p->high, p->most);
    od_page_item(a->page, p->path, "ends at its %s bound, %s: the data would have it go further.",
                 side < 0 ? "lower" : "upper", od_quantity_alone(bound, NAN, p->unit, bound).text);
  }
}

// Those that the data tell and no bound holds.
static void tell_parameters(od_fit_account *a) {
  int told = 0;
  for (int i = 0; i < a->e->parameters; i++) {
    const od_estimated *p = &a->e->parameter[i];
    double estimate = a->f->estimate[i], sigma = a->f->sigma[i],
           size = od_larger(estimate, od_larger(p->start, p->truth));
    if (!isfinite(sigma) || a->f->search->at_bound[i] || told++ >= MOST_PARAMETERS) continue;
    char truth[120] = "";
    if (!isnan(p->truth))
      snprintf(truth, sizeof truth, " (true: %s)", od_quantity_alone(p->truth, NAN, p->unit, size).text);
    od_page_item(a->page, p->path, "is %s%s; it started at %s.", od_quantity(estimate, sigma, p->unit, size).text,
                 truth, od_quantity_alone(p->start, NAN, p->unit, size).text);
  }
  if (told > MOST_PARAMETERS)
    od_page_item(a->page, "And", "%d more; the table below has them.", told - MOST_PARAMETERS);
}

static void tell_unseen(od_fit_account *a, int set) {
  const od_fit_set_result *s = &a->f->set[set];
  char text[500] = "";
  if (s->predicted != OD_OK) {
    od_page_item(a->page, s->name, "cannot be predicted with the fitted values: %s.", od_status_text(s->predicted));
    return;
  }
  for (int i = 0; i < a->e->sensors; i++) {
    const od_fit_quality *q = &s->unseen_quality[i];
    size_t used = strlen(text);
    if (isnan(q->fit)) continue;
    snprintf(text + used, sizeof text - used, "%s%.2f\u00a0%% of %.80s", used ? ", " : "", q->fit,
             a->e->sensor[i].name);
    used = strlen(text);
    if (!isnan(q->start_fit)) snprintf(text + used, sizeof text - used, " (before: %.2f\u00a0%%)", q->start_fit);
  }
  if (text[0])
    od_page_item(a->page, "Validation:", "of %s %s, which the fit has not seen, the model predicts %s.",
                 s->fitted > 0 ? "the last part of" : "the set", s->name, text);
}

static void tell_data(od_fit_account *a, int set) {
  const od_fit_set_result *s = &a->f->set[set];
  long missing = 0;
  for (int i = 0; i < a->e->sensors; i++) missing += s->fitted_quality[i].missing + s->unseen_quality[i].missing;
  if (missing > 0) od_page_item(a->page, s->name, "lacks %ld values of its sensors; they were left out.", missing);
  if (s->data->outliers > 0) od_page_item(a->page, s->name, "lost %ld outliers.", s->data->outliers);
  if (s->data->gaps_filled > 0)
    od_page_item(a->page, s->name, "had %ld short gaps that resampling went straight across.", s->data->gaps_filled);
  if (s->data->bridged > 0)
    od_page_item(a->page, s->name, "lacks %ld values of its inputs; they were taken from their neighbours.",
                 s->data->bridged);
  for (int i = 0; i < a->e->sensors; i++)
    if ((s->fitted_quality[i].still && s->fitted_quality[i].samples > 0) ||
        (s->unseen_quality[i].still && s->unseen_quality[i].samples > 0))
      od_page_item(a->page, a->e->sensor[i].name, "never changes in %s: there is nothing to explain.", s->name);
}

// --- All of it ----------------------------------------------------------------------------------------------------

void od_fit_report_findings(od_fit_account *a) {
  od_page_section(a->page, "Findings");
  if (a->message) od_page_notice(a->page, OD_TONE_BAD, "The search ended early:", "%s.", a->message);
  tell_fit(a);
  tell_identifiability(a);
  tell_whiteness(a);
  od_page_items_begin(a->page);
  tell_directions(a);
  tell_bounds(a);
  tell_parameters(a);
  for (int set = 0; set < a->f->sets && set < MOST_SETS; set++)
    if (a->f->set[set].fitted < a->f->set[set].rows) tell_unseen(a, set);
  for (int set = 0; set < a->f->sets && set < MOST_SETS; set++) tell_data(a, set);
  // A list must not be empty.
  od_page_item(a->page, "Search:", "%s after %ld iterations.", od_ls_reason_text(a->f->search->reason),
               a->f->search->iterations);
  od_page_items_end(a->page);
}
