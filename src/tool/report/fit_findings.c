// The findings of a fit, in sentences: its verdict, what was found, and how data are predicted that it has not seen.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/fit_sections.h"

enum { MOST_PARAMETERS = 24, MOST_SETS = 12 };

// Those that are identifiable and not at a bound.
static void report_parameters(od_fit_report *a) {
  int shown = 0;
  for (int i = 0; i < a->e->parameters; i++) {
    const od_estimated *p = &a->e->parameter[i];
    double estimate = a->f->estimate[i], sigma = a->f->sigma[i],
           size = od_larger(estimate, od_larger(p->start, p->truth));
    if (!isfinite(sigma) || a->f->search->at_bound[i] || shown++ >= MOST_PARAMETERS) continue;
    char truth[120] = "";
    if (!isnan(p->truth))
      snprintf(truth, sizeof truth, " (true: %s)", od_quantity_alone(p->truth, NAN, p->unit, size).text);
    od_page_item(a->page, p->path, "is %s%s; it started at %s.", od_quantity(estimate, sigma, p->unit, size).text,
                 truth, od_quantity_alone(p->start, NAN, p->unit, size).text);
  }
  if (shown > MOST_PARAMETERS)
    od_page_item(a->page, "And", "%d more; the table below has them.", shown - MOST_PARAMETERS);
}

static void report_unseen(od_fit_report *a, int set) {
  const od_fit_set_result *s = &a->f->set[set];
  char text[500] = "";
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

// --- All of it ----------------------------------------------------------------------------------------------------

void od_fit_report_findings(od_fit_report *a) {
  od_page_section(a->page, "Findings");
  if (a->message) od_page_notice(a->page, OD_TONE_BAD, "The search ended early:", "%s.", a->message);
  od_page_verdict(a->page, &a->f->verdict);
  od_page_items_begin(a->page);
  report_parameters(a);
  for (int set = 0; set < a->f->sets && set < MOST_SETS; set++)
    if (a->f->set[set].fitted < a->f->set[set].rows) report_unseen(a, set);
  // A list must not be empty.
  od_page_item(a->page, "Search:", "%s after %ld iterations.", od_ls_reason_text(a->f->search->reason),
               a->f->search->iterations);
  od_page_items_end(a->page);
}
