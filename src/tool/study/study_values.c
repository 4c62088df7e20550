// A file of values is JSON:
//
//   {"fingerprint": "9f3c...", "part": [3, 16], "cases": [{"case": "3-S1", "metrics": ["x", ...], "runs": [[2, 0.1, null], ...]}, ...],
//    "checksum": "07d2..."}
//
// A run consists of its number within its case and one value per metric; null: no value. Numbers are read back exactly. The
// checksum covers all other values, so a damaged digit is detected.
#include "study/study_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/byte_sum.h"
#include "io/input_file.h"
#include "io/json.h"
#include "io/wording.h"

enum { LARGEST_FILE = 1 << 30 };  // largest file of values, bytes

bool od_study_values_begin(od_study_values *v, const od_study *s) {
  *v = (od_study_values){0};
  v->value = OD_TAKE(&v->memory, double *, s->cases);
  v->done = OD_TAKE(&v->memory, bool *, s->cases);
  return od_arena_status(&v->memory) == OD_OK;
}

bool od_study_values_add_case(od_study_values *v, const od_study *s, int index) {
  const od_case *c = &s->item[index];
  long long count = (long long)c->runs * c->metrics;
  v->value[index] = OD_TAKE(&v->memory, double, count);
  v->done[index] = OD_TAKE(&v->memory, bool, c->runs);
  for (long long i = 0; v->value[index] && i < count; i++) v->value[index][i] = NAN;
  return od_arena_status(&v->memory) == OD_OK;
}

void od_study_values_free(od_study_values *v) {
  od_arena_free(&v->memory);
  *v = (od_study_values){0};
}

// --- Writing ------------------------------------------------------------------------------------------------------

// Creates the JSON of a case. Infinite values are the texts "inf" and "-inf", because JSON has no infinite numbers.
static json_t *case_json(const od_study_values *v, const od_study *s, int index) {
  const od_case *c = &s->item[index];
  json_t *metrics = json_array(), *runs = json_array();
  for (int m = 0; m < c->metrics; m++) json_array_append_new(metrics, od_json_text(c->metric[m].name));
  for (long k = 0; k < c->runs; k++) {
    if (!v->done[index][k]) continue;
    json_t *run = json_array();
    json_array_append_new(run, json_integer(k));
    for (int m = 0; m < c->metrics; m++) {
      double value = v->value[index][k * c->metrics + m];
      json_array_append_new(run, isinf(value) ? json_string(value > 0 ? "inf" : "-inf") : od_json_number(value));
    }
    json_array_append_new(runs, run);
  }
  return json_pack("{s:o, s:o, s:o}", "case", od_json_text(c->name), "metrics", metrics, "runs", runs);
}

static void write_fingerprint(char text[20], uint64_t fingerprint) {
  snprintf(text, 20, "%016" PRIx64, fingerprint);
}

// Computes the checksum of the file without its checksum, independent of spaces and the order of keys. False: out of memory.
static bool find_checksum(json_t *file, char text[20]) {
  json_t *values = json_copy(file);
  if (values) json_object_del(values, "checksum");
  char *canonical = values ? json_dumps(values, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
  od_byte_sum sum = {0};
  if (canonical) od_byte_sum_take(&sum, canonical, strlen(canonical));
  write_fingerprint(text, od_byte_sum_of(&sum));
  bool ok = canonical != NULL;
  od_json_text_free(canonical);
  json_decref(values);
  return ok;
}

od_status od_study_values_write(const od_study_values *v, const od_study *s, od_study_part part, uint64_t fingerprint,
                                const char *path, od_error *err) {
  char mark[20];
  write_fingerprint(mark, fingerprint);
  json_t *cases = json_array();
  for (int i = 0; i < s->cases; i++) json_array_append_new(cases, case_json(v, s, i));
  json_t *file = json_pack("{s:s, s:[i, i], s:o}", "fingerprint", mark, "part", part.count ? part.number : 1,
                           part.count ? part.count : 1, "cases", cases);
  bool ok = file && find_checksum(file, mark) && json_object_set_new(file, "checksum", json_string(mark)) == 0;
  od_status status =
      ok ? od_json_write(file, path, err) : od_fail(err, OD_NO_MEMORY, "out of memory while writing %s", path);
  json_decref(file);
  return status;
}

// --- Reading ------------------------------------------------------------------------------------------------------

static od_status damaged(const char *path, const char *what, od_error *err) {
  return od_fail(err, OD_BAD_INPUT, "%s: %s; expected a file that 'study --values' wrote", path, what);
}

static bool read_value(const json_t *item, double *value) {
  const char *text = json_string_value(item);
  if (json_is_null(item))
    *value = NAN;
  else if (json_is_number(item))
    *value = json_number_value(item);
  else if (text && (!strcmp(text, "inf") || !strcmp(text, "-inf")))
    *value = *text == '-' ? -INFINITY : INFINITY;
  else
    return false;
  return true;
}

// Reads one run of a case. False: the file is damaged.
static bool read_run(od_study_values *v, const od_case *c, int index, const json_t *run) {
  const json_t *number = json_array_get(run, 0);
  json_int_t k = json_integer_value(number);
  if (!json_is_integer(number) || k < 0 || k >= c->runs || json_array_size(run) != (size_t)c->metrics + 1) return false;
  for (int m = 0; m < c->metrics; m++)
    if (!read_value(json_array_get(run, (size_t)m + 1), &v->value[index][k * c->metrics + m])) return false;
  v->done[index][k] = true;
  return true;
}

// Reads the finished runs of a case. False: the file is damaged.
static bool read_case(od_study_values *v, const od_study *s, int index, const json_t *item) {
  const od_case *c = &s->item[index];
  const char *name = json_string_value(json_object_get(item, "case"));
  const json_t *metrics = json_object_get(item, "metrics"), *runs = json_object_get(item, "runs");
  if (!name || strcmp(name, c->name) != 0 || json_array_size(metrics) != (size_t)c->metrics || !json_is_array(runs))
    return false;
  for (int m = 0; m < c->metrics; m++) {
    const char *metric = json_string_value(json_array_get(metrics, (size_t)m));
    if (!metric || strcmp(metric, c->metric[m].name) != 0) return false;
  }
  for (size_t i = 0; i < json_array_size(runs); i++)
    if (!read_run(v, c, index, json_array_get(runs, i))) return false;
  return true;
}

static od_status read_values(od_study_values *v, const od_study *s, const json_t *file, const char *path,
                             const char *mark, int *parts, od_error *err) {
  const char *found = json_string_value(json_object_get(file, "fingerprint"));
  const json_t *part = json_object_get(file, "part"), *cases = json_object_get(file, "cases");
  if (!found || !json_is_array(cases)) return damaged(path, "the file contains no values of a study", err);
  if (strcmp(found, mark) != 0)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s: the file has values of another study (fingerprint %s, expected %s): its files, --seeds or --case were "
        "different; run this part again",
        path, found, mark);
  if (json_array_size(cases) != (size_t)s->cases)
    return damaged(path, "the number of cases differs from the study; run this part again", err);
  for (int i = 0; i < s->cases; i++)
    if (!read_case(v, s, i, json_array_get(cases, (size_t)i))) {
      char what[300];
      snprintf(what, sizeof what, "the values of the case '%.200s' are damaged; run this part again", s->item[i].name);
      return damaged(path, what, err);
    }
  *parts = (int)json_integer_value(json_array_get(part, 1));
  return OD_OK;
}

// Compares the checksum in the file with the checksum of its values. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status check_sum(json_t *file, const char *path, od_error *err) {
  char sum[20], what[160];
  const char *found = json_string_value(json_object_get(file, "checksum"));
  if (!json_is_object(file)) return damaged(path, "the file contains no values of a study", err);
  if (!find_checksum(file, sum)) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  if (found && strcmp(found, sum) == 0) return OD_OK;
  snprintf(what, sizeof what,
           "the file is damaged: the checksum of its values is %s, 'checksum' is %.40s; run this part again", sum,
           found ? found : "missing");
  return damaged(path, what, err);
}

static od_status read_file(od_study_values *v, const od_study *s, const char *path, const char *mark, int *parts,
                           od_error *err) {
  json_error_t wrong;
  od_error why = {0};
  char *text = NULL;
  size_t length = 0;
  od_status status = od_input_read(path, LARGEST_FILE, &text, &length, &why);
  if (status == OD_NO_MEMORY) return od_fail(err, status, "out of memory while reading %s", path);
  if (status != OD_OK) return od_fail(err, status, "cannot read %s: %s", path, why.text);
  json_t *file = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
  od_free(text);
  if (!file) return od_fail(err, OD_BAD_INPUT, "%s:%d:%d: %s", path, wrong.line, wrong.column, wrong.text);
  status = check_sum(file, path, err);
  if (status == OD_OK) status = read_values(v, s, file, path, mark, parts, err);
  json_decref(file);
  return status;
}

// Returns the number of missing runs, and lists the parts that contain these runs.
static long count_missing(const od_study_values *v, const od_study *s, int parts, od_name_list *which) {
  long missing = 0, number = 0;
  OD_SCRATCH(scratch);
  bool *lacks = OD_TAKE(&scratch, bool, parts);
  for (int i = 0; i < s->cases; i++)
    for (long k = 0; k < s->item[i].runs; k++, number++) {
      if (v->done[i][k]) continue;
      missing++;
      if (lacks) lacks[number % parts] = true;
    }
  for (int p = 0; lacks && p < parts; p++)
    if (lacks[p]) od_name_list_add(which, "--part %d/%d", p + 1, parts);
  return missing;
}

od_status od_study_values_merge(od_study_values *v, const od_study *s, const char *const *paths, int count,
                                uint64_t fingerprint, od_error *err) {
  char mark[20];
  od_name_list which = {.most = 8};
  write_fingerprint(mark, fingerprint);
  int parts = 1;
  for (int i = 0; i < count; i++) {
    int of = 1;
    od_status status = read_file(v, s, paths[i], mark, &of, err);
    if (status != OD_OK) return status;
    if (of > parts && of <= OD_MOST_PARTS) parts = of;
  }
  long missing = count_missing(v, s, parts, &which);
  if (missing == 0) return OD_OK;
  return od_fail(err, OD_BAD_INPUT, "%s %s in none of the files; run %s again", od_count(missing, "run").text,
                 od_form(missing, "is", "are"), parts > 1 ? od_name_list_text(&which) : "the study");
}
