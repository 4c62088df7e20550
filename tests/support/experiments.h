// Experiments for tests: loaded and run, or the test fails with what was said. cmocka.h comes before this.
#ifndef OD_TEST_EXPERIMENTS_H
#define OD_TEST_EXPERIMENTS_H

#include "experiment/observe.h"

static inline od_experiment *load_experiment(const char *path, const od_experiment_options *options) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  if (od_experiment_load(path, options, &e, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(e);
  return e;
}

static inline od_observed *observe(const od_experiment *e) {
  od_observed *o = NULL;
  od_error err = {0};
  if (od_observe(e, NULL, &o, &err) != OD_OK) fail_msg("%s", err.text);
  return o;
}

#endif
