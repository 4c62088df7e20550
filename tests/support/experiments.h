// Experiments for tests: loads and runs them; on error the test fails with the messages. Include after cmocka.h.
#ifndef OD_TEST_EXPERIMENTS_H
#define OD_TEST_EXPERIMENTS_H

#include <stdio.h>
#include <string.h>

#include "experiment/observe.h"

static inline od_experiment *load_experiment(const char *path, const od_experiment_options *options) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  if (od_experiment_load(path, options, &e, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(e);
  return e;
}

// All messages as one text, without the folder of the file. The caller frees it.
static inline char *experiment_messages(const char *path, const od_experiment_options *options, const char *folder) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  od_status status = od_experiment_load(path, options, &e, messages);
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    size_t length = strlen(folder);
    const char *file = m->file && !strncmp(m->file, folder, length) ? m->file + length + 1 : m->file;
    if (m->line > 0)
      fprintf(to, "%s:%d:%d: %s\n", file, m->line, m->column, m->text);
    else
      fprintf(to, "%s: %s\n", file, m->text);
  }
  fclose(to);
  assert_int_equal(status == OD_OK, e != NULL);
  assert_int_equal(status == OD_OK, od_messages_count(messages) == 0);
  od_experiment_free(e);
  od_messages_free(messages);
  return text;
}

static inline od_observed *observe(const od_experiment *e) {
  od_observed *o = NULL;
  od_error err = {0};
  if (od_observe(e, NULL, &o, &err) != OD_OK) fail_msg("%s", err.text);
  return o;
}

#endif
