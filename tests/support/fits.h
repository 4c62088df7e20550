// Fit files in tests: written into a scratch folder, loaded, fitted. Include after cmocka.h.
#ifndef OD_TEST_FITS_H
#define OD_TEST_FITS_H

#include "identify/fit.h"
#include "support/scratch.h"

static inline od_fit_plan *fit_plan(const char *path, const od_experiment_options *options) {
  od_messages *messages = od_messages_new();
  od_fit_plan *plan = NULL;
  if (od_fit_plan_load(path, options, &plan, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(plan);
  return plan;
}

// A plan from a fit file's text; files that it names are in the scratch folder.
static inline od_fit_plan *fit_plan_text(scratch *s, const char *text) {
  return fit_plan(scratch_write(s, "fit.yaml", text, strlen(text)), NULL);
}

static inline od_fitted *fit_run(const od_fit_plan *plan, const od_fit_options *options) {
  od_fitted *f = NULL;
  od_error err = {0};
  if (od_fit(plan, options, &f, &err) != OD_OK) fail_msg("%s", err.text);
  return f;
}

static inline void fit_release(od_fitted *f, od_fit_plan *plan) {
  od_fitted_free(f);
  od_fit_plan_free(plan);
}

#endif
