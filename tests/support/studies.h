// Studies in tests: run some cases of a study file, and read values of the result.
#ifndef OD_SUPPORT_STUDIES_H
#define OD_SUPPORT_STUDIES_H

#include <string.h>

#include "study/study.h"
#include "support/test.h"

// Runs the cases `only` (count of them; NULL: all) in one thread. Free the result and the study.
static inline od_study_result *run_study(const char *file, long seeds, const char *const *only, int count,
                                         od_study **study) {
  od_messages *messages = od_messages_new();
  od_study_result *r = NULL;
  od_error err = {0};
  const od_study_options options = {.seeds = seeds, .only = only, .only_count = count};
  od_status status = od_study_load(file, &options, study, messages);
  if (status != OD_OK) od_messages_print(messages, stderr, false);
  assert_int_equal(status, OD_OK);
  od_messages_free(messages);
  status = od_study_run(*study, &(od_study_run_options){.threads = 1}, &r, &err);
  if (status != OD_OK) fail_msg("%s", err.text);
  return r;
}

// Returns the row of a metric of a case. Fails if there is none.
static inline const od_study_row *study_row(const od_study_result *r, const char *name, const char *metric) {
  for (int i = 0; i < r->rows; i++)
    if (strcmp(r->row[i].case_name, name) == 0 && strcmp(r->row[i].metric->name, metric) == 0) return &r->row[i];
  fail_msg("no %s of %s", metric, name);
  return NULL;
}
static inline double study_value(const od_study_result *r, const char *name, const char *metric) {
  return study_row(r, name, metric)->value;
}

#endif
