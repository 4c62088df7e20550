// Findings of a short run of a machine, for tests.
#ifndef OD_SUPPORT_FOUND_H
#define OD_SUPPORT_FOUND_H

#include <stdio.h>
#include <string.h>

#include "support/test.h"

#include "findings/findings.h"
#include "support/machines.h"

typedef struct found {
  od_machine *machine;
  od_findings *findings;
} found;

// Runs a machine with adaptive steps and looks for findings. The caller frees the result with found_free().
static inline found find_in(const char *text) {
  found f = {.machine = od_test_machine_text(text)};
  f.findings = od_findings_new(f.machine);
  assert_non_null(f.findings);
  const od_run_watcher watcher = od_findings_watcher(f.findings);
  od_run_options options = od_run_options_of(f.machine, (od_run_wishes){0});
  options.watchers = &watcher;
  options.watcher_count = 1;
  od_table *table = NULL;
  od_run_report report = {0};
  od_error err = {0};
  if (od_run(f.machine, &options, &table, &report, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(od_findings_end(f.findings, NULL), OD_OK);
  od_run_report_free(&report);
  od_table_free(table);
  return f;
}

static inline void found_free(found *f) {
  od_findings_free(f->findings);
  od_machine_free(f->machine);
}

// Returns finding number `which` with a code, or NULL.
static inline const od_finding *found_code(const found *f, const char *code, int which) {
  int count;
  const od_finding *x = od_findings_list(f->findings, &count);
  for (int i = 0; i < count; i++)
    if (strcmp(x[i].code, code) == 0 && which-- == 0) return &x[i];
  return NULL;
}

// Returns the only finding with a code. The test fails, with all findings, if there is none or more than one.
static inline const od_finding *found_one(const found *f, const char *code) {
  int count;
  const od_finding *x = od_findings_list(f->findings, &count), *one = found_code(f, code, 0);
  if (one && !found_code(f, code, 1)) return one;
  for (int i = 0; i < count; i++) print_error("%s: %s. %s\n", x[i].code, x[i].title, x[i].text);
  fail_msg("expected one finding %s", code);
  return NULL;
}

static inline void found_none(const found *f, const char *code) {
  const od_finding *x = found_code(f, code, 0);
  if (x) fail_msg("unexpected finding %s: %s", code, x->text);
}

// The test fails unless the text of a finding contains a part.
static inline void found_says(const od_finding *x, const char *part) {
  if (!strstr(x->text, part)) fail_msg("'%s' is not in: %s", part, x->text);
}

#endif
