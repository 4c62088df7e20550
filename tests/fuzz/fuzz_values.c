// Damaged files of parts of a study (`study --merge`). An accepted file has every run. Oracle: values that are written and read back
// have the same bits, both for an accepted file and for the input's bytes as values.
#include "study/study_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { CASES = 2, MARK = 0x5eed };

static const int runs[CASES] = {3, 2};

static od_metric metrics[CASES][2] = {{{.name = "x"}, {.name = "chi"}}, {{.name = "rms"}}};
static od_case cases[CASES] = {{.name = "3-S1", .runs = 3, .metric = metrics[0], .metrics = 2},
                               {.name = "\xc3\xb6l", .runs = 2, .metric = metrics[1], .metrics = 1}};
static const od_study study = {.item = cases, .cases = CASES};

static void begin(od_study_values *v) {
  if (!od_study_values_begin(v, &study)) abort();
  for (int i = 0; i < CASES; i++)
    if (!od_study_values_add_case(v, &study, i)) abort();
}

// The bytes as values of all runs.
static void take_bytes(od_study_values *v, const uint8_t *data, size_t size) {
  begin(v);
  for (int i = 0; i < CASES; i++) {
    size_t length = (size_t)(runs[i] * cases[i].metrics) * sizeof(double);
    size_t taken = size < length ? size : length;
    if (taken > 0) memcpy(v->value[i], data, taken);
    data += taken, size -= taken;
    for (int k = 0; k < runs[i]; k++) v->done[i][k] = true;
  }
}

static void compare_with_copy(const od_study_values *v) {
  od_study_values copy;
  od_error err = {0};
  char path[512];
  strcpy(path, fuzz_file(NULL, 0, "copy.json", "tests/fuzz/lag"));
  begin(&copy);
  const char *const only = path;
  if (od_study_values_write(v, &study, (od_study_part){0}, MARK, path, &err) != OD_OK) abort();
  if (od_study_values_merge(&copy, &study, &only, 1, MARK, &err) != OD_OK) abort();
  for (int i = 0; i < CASES; i++) {
    for (int k = 0; k < runs[i]; k++)
      if (!v->done[i][k] || !copy.done[i][k]) abort();
    for (int k = 0; k < runs[i] * cases[i].metrics; k++) {
      double a = v->value[i][k], b = copy.value[i][k];
      if (isnan(a) ? !isnan(b) : a != b || !signbit(a) != !signbit(b)) abort();
    }
  }
  od_study_values_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[512];
  strcpy(path, fuzz_file(data, size, "part.json", "tests/fuzz/lag"));
  const char *const part = path;
  od_study_values v;
  od_error err = {0};
  begin(&v);
  od_status status = od_study_values_merge(&v, &study, &part, 1, MARK, &err);
  if (status != OD_OK && !err.text[0]) abort();
  if (status == OD_OK) compare_with_copy(&v);
  od_study_values_free(&v);
  if (size > 8 * sizeof(double)) return 0;  // writing is slow
  take_bytes(&v, data, size);
  compare_with_copy(&v);
  od_study_values_free(&v);
  return 0;
}
