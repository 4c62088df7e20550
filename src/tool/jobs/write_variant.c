#define _XOPEN_SOURCE 700  // realpath()
#include "jobs/write_variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "jobs/job.h"
#include "base/allocate.h"
#include "io/atomic_file.h"
#include "machine/machine.h"
#include "memory/scoped.h"

static const char first_words[] = "# Estimates, written by oleodyn --write-variant";

static bool is_name(const char *text) {
  size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
  return length > 0 && length <= 60 && text[length] == '\0' && text[0] != '_' && text[0] != '-';
}

// Returns whether a file exists that --write-variant did not write, or that cannot be read.
static bool is_foreign(const char *path) {
  char line[sizeof first_words] = "";
  struct stat facts;
  if (stat(path, &facts) != 0) return false;
  FILE *from = S_ISREG(facts.st_mode) ? fopen(path, "rb") : NULL;
  if (!from) return true;
  bool ours = fgets(line, sizeof line, from) && strcmp(line, first_words) == 0;
  fclose(from);
  return !ours;
}

int od_variant_check(od_job *job, od_variant_arguments *v, const char **path) {
  *path = NULL;
  if (!v->name && !v->file) return OD_GO_ON;
  if (!v->name || !is_name(v->name)) {
    od_job_error(
        job,
        v->name
            ? "--write-variant: found '%s', expected a name of at most 60 letters, digits, '_' and '-' that begins with a letter or digit"
            : "--variant-file requires --write-variant%s",
        v->name ? v->name : "");
    return OD_JOB_BAD_INPUT;
  }
  snprintf(v->own_file, sizeof v->own_file, "%.200s.yaml", v->name);
  *path = v->file ? v->file : v->own_file;
  if (!is_foreign(*path)) return OD_GO_ON;
  od_job_error(job, "%s exists and was not written by --write-variant; give another --variant-file", *path);
  return OD_JOB_BAD_INPUT;
}

// Prints a text in single quotes of YAML. Single quotes in the text are doubled.
static void print_quoted(FILE *to, const char *text) {
  fputc('\'', to);
  for (; *text; text++) fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, to);
  fputc('\'', to);
}

// Prints the key 'include' with the path of the machine file. The path is absolute if the new file may be in another folder.
static void print_include(FILE *to, const char *machine, const char *path) {
  char *whole = strchr(path, '/') && machine[0] != '/' ? realpath(machine, NULL) : NULL;
  fputs("include: ", to);
  print_quoted(to, whole ? whole : machine);
  fputc('\n', to);
  od_libc_free(whole);
}

static bool is_listed(const od_variant_numbers *n, const char *path) {
  for (int i = 0; i < n->count; i++)
    if (strcmp(n->number[i].path, path) == 0) return true;
  return false;
}

// Prints the first lines of the file, up to the sections of the variant. based_on NULL: the file without a variant.
static void print_begin(FILE *to, const char *verdict, const char *included, const char *path, const char *name,
                        const char *based_on) {
  fprintf(to, "%s, which may replace this file.\n# verdict: %s\n", first_words, verdict);
  print_include(to, included, path);
  fprintf(to, "variants:\n  '%s':\n", name);
  if (!based_on) return;
  fputs("    extends: ", to);
  print_quoted(to, based_on);
  fputc('\n', to);
}

// Prints the numbers of the variant. Returns their count.
static int print_numbers(FILE *to, const od_variant_numbers *n) {
  const od_numbers *numbers = od_machine_numbers(n->machine);
  int count = 0;
  for (int i = 0; i < n->count; i++, count++) {
    const od_variant_number *x = &n->number[i];
    fputs("      ", to);
    print_quoted(to, x->path);
    fprintf(to, ": %.17g", x->value);
    if (x->sigma >= 0) fprintf(to, "  # +- %.3g %s", x->sigma, strcmp(x->unit, "1") ? x->unit : "");
    fputc('\n', to);
  }
  // Numbers that were set for this model are part of the variant.
  for (int i = 0; i < numbers->overrides; i++) {
    if (is_listed(n, numbers->override[i].path)) continue;
    fputs("      ", to);
    print_quoted(to, numbers->override[i].path);
    fputs(": ", to);
    print_quoted(to, numbers->override[i].text);
    fputc('\n', to);
    count++;
  }
  return count;
}

od_status od_variant_write_numbers(const void *numbers, const char *path, od_error *err) {
  const od_variant_numbers *n = numbers;
  const char *based_on = od_machine_variant(n->machine);
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  print_begin(f.file, n->verdict, od_machine_file(n->machine), path, n->arguments->name, based_on);
  fputs("    set:\n", f.file);
  if (print_numbers(f.file, n) == 0) fputs("      {}\n", f.file);
  return od_atomic_commit(&f, err);
}

od_status od_variant_write(const void *contents, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  const od_variant_contents *c = contents;
  od_variant_numbers n = {c->e->model, c->arguments, od_trust_text(c->verdict->trust), NULL, 0};
  n.number = OD_TAKE(&scratch, od_variant_number, c->e->parameters);
  if (!n.number) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < c->e->parameters; i++) {
    const od_estimated *p = &c->e->parameter[i];
    if (p->sensor >= 0) continue;  // the calibration of a sensor is not a number of the machine
    n.number[n.count++] = (od_variant_number){p->path, p->unit, c->estimate[i], c->sigma ? c->sigma[i] : -1};
  }
  return od_variant_write_numbers(&n, path, err);
}

// --- Noise of an experiment -------------------------------------------------------------------------------------------

static const od_tuned_number *tuned_number(const od_tuned *t, od_tuned_kind kind, int index) {
  for (int i = 0; i < t->numbers; i++)
    if (t->number[i].kind == kind && t->number[i].index == index) return &t->number[i];
  return NULL;
}

static void print_entry(FILE *to, const od_tuned_number *n, const char *name, const char *key) {
  fputs("      ", to);
  print_quoted(to, name);
  bool has_unit = strcmp(n->unit, "1") != 0;
  fprintf(to, ": {%s: %.17g}%s%s%s%s\n", key, n->after, has_unit || n->may_be_zero ? "  # " : "",
          has_unit ? n->unit : "", has_unit && n->may_be_zero ? ", " : "",
          n->may_be_zero ? "not distinguishable from zero" : "");
}

// Prints the covariance of the process noise with the tuned standard deviations. Its correlations are unchanged.
static void print_process(FILE *to, const od_experiment *e, const od_tuned *t) {
  const od_output_covariance *c = &e->process;
  fputs("      process:\n        of: [", to);
  for (int i = 0; i < c->count; i++) {
    fputs(i > 0 ? ", " : "", to);
    print_quoted(to, e->watched[c->output[i]].name);
  }
  fputs("]\n        matrix:\n", to);
  for (int i = 0; i < c->count; i++) {
    const od_tuned_number *a = tuned_number(t, OD_TUNED_PROCESS, i);
    fputs("          - [", to);
    for (int j = 0; j < c->count; j++) {
      const od_tuned_number *b = tuned_number(t, OD_TUNED_PROCESS, j);
      double factor = (a ? fmax(a->after / a->before, OD_LEAST_PROCESS) : 1) *
                      (b ? fmax(b->after / b->before, OD_LEAST_PROCESS) : 1);
      fprintf(to, "%s%.17g", j > 0 ? ", " : "", c->covariance[i * c->count + j] * factor);
    }
    fputs("]\n", to);
  }
}

static void print_noise(FILE *to, const od_experiment *e, const od_tuned *t) {
  const od_tuned_number *pressures = tuned_number(t, OD_TUNED_PRESSURES, 0);
  const od_tuned_number *acceleration = tuned_number(t, OD_TUNED_ACCELERATION, 0);
  bool sensors = false, process = false, parameters = false;
  for (int i = 0; i < t->numbers; i++) {
    sensors = sensors || t->number[i].kind == OD_TUNED_SENSOR;
    process = process || t->number[i].kind == OD_TUNED_PROCESS;
    parameters = parameters || t->number[i].kind == OD_TUNED_PARAMETER;
  }
  if (pressures || acceleration || process) fputs("    noise:\n", to);
  if (pressures) fprintf(to, "      pressures: %.17g  # Pa\n", pressures->after);
  if (acceleration) fprintf(to, "      acceleration: %.17g\n", acceleration->after);
  if (process) print_process(to, e, t);
  if (sensors) fputs("    sensors:\n", to);
  for (int i = 0; i < t->numbers; i++)
    if (t->number[i].kind == OD_TUNED_SENSOR)
      print_entry(to, &t->number[i], e->sensor[t->number[i].index].name, "assume");
  if (parameters) fputs("    parameters:\n", to);
  for (int i = 0; i < t->numbers; i++)
    if (t->number[i].kind == OD_TUNED_PARAMETER)
      print_entry(to, &t->number[i], e->parameter[t->number[i].index].path, "noise");
}

od_status od_variant_write_noise(const void *contents, const char *path, od_error *err) {
  const od_variant_noise *c = contents;
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  print_begin(f.file, od_trust_text(c->tuned->verdict.trust), c->e->path, path, c->arguments->name, c->e->variant);
  print_noise(f.file, c->e, c->tuned);
  // The values of --set are comments and not part of the variant, because a path in --set does not show which of its
  // dots belong to names.
  for (int i = 0; i < c->set->count; i++) fprintf(f.file, "# tuned with --set %s\n", c->set->text[i]);
  return od_atomic_commit(&f, err);
}
