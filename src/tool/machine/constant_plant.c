// A plant whose free parameters include constants of the machine file. The model's numbers follow these constants exactly, with
// derivatives by the chain rule.
#include <stdlib.h>
#include <string.h>

#include "document/constants.h"
#include "machine/machine_loader.h"

// Dependences: outer parameters are constants or numbers of the model, inner parameters are numbers of the model.
typedef struct tie {
  const od_document *document;
  int outer, inner;
  int *constant;  // of each outer parameter; -1: it is a number of the model
  int *number;    // of each inner parameter
  int *direct;    // outer parameter that is equal to an inner one; -1: the inner one follows constants
  bool *wanted;   // constants that are free
  double *start;  // values of the outer parameters
} tie;

static void free_tie(void *user) {
  tie *t = user;
  if (t == NULL) return;
  free(t->constant);
  free(t->number);
  free(t->direct);
  free(t->wanted);
  free(t->start);
  free(t);
}

static void follow(const void *user, const double *q, double *p, double *slope) {
  const tie *t = user;
  const od_document *d = t->document;
  double value[OD_MOST_CONSTANTS], change[OD_MOST_CONSTANTS];
  for (int i = 0; i < d->constants.count; i++) value[i] = d->constants.item[i].value;
  for (int j = 0; j < t->outer; j++)
    if (t->constant[j] >= 0) value[t->constant[j]] = q[j];
  od_constants_follow(d, t->wanted, value, NULL);
  for (int k = 0; k < t->inner; k++)
    p[k] = t->direct[k] >= 0 ? q[t->direct[k]] : od_number_follow(d, t->number[k], value, NULL, NULL);
  for (int j = 0; j < t->outer; j++) {
    memset(change, 0, (size_t)d->constants.count * sizeof *change);
    if (t->constant[j] >= 0) change[t->constant[j]] = 1;
    od_constants_follow(d, t->wanted, value, change);
    for (int k = 0; k < t->inner; k++) {
      double *entry = &slope[k * t->outer + j];
      *entry = t->direct[k] == j ? 1 : 0;
      if (t->direct[k] < 0) od_number_follow(d, t->number[k], value, change, entry);
    }
  }
}

static tie *new_tie(const od_document *d, int outer) {
  tie *t = calloc(1, sizeof *t);
  if (t == NULL) return NULL;
  size_t most = (size_t)d->numbers.count + 1;
  *t = (tie){.document = d,
             .outer = outer,
             .constant = calloc((size_t)outer + 1, sizeof *t->constant),
             .number = calloc(most, sizeof *t->number),
             .direct = calloc(most, sizeof *t->direct),
             .wanted = calloc((size_t)d->constants.count + 1, sizeof *t->wanted),
             .start = calloc((size_t)outer + 1, sizeof *t->start)};
  if (t->constant && t->number && t->direct && t->wanted && t->start) return t;
  free_tie(t);
  return NULL;
}

const char *od_machine_number_blocks(const od_machine *machine, int number) {
  const od_document *d = machine->document;
  bool reached[OD_MOST_CONSTANTS] = {false};
  int constant = od_constant_of(d, number);
  if (constant < 0) return NULL;
  reached[constant] = true;
  od_constants_reach(d, reached);
  for (int i = 0; i < d->numbers.count; i++) {
    const od_number_entry *entry = &d->numbers.item[i];
    if (entry->theta < 0 && od_number_is_reached(d, i, reached) && !od_number_is_constant(d, i))
      return entry->number.path;
  }
  return NULL;
}

bool od_machine_number_is_free(const od_machine *machine, int number) {
  const od_document *d = machine->document;
  const od_number_entry *entry = &d->numbers.item[number];
  bool reached[OD_MOST_CONSTANTS] = {false};
  if (entry->theta >= 0) return entry->formula < 0;
  int constant = od_constant_of(d, number);
  if (constant < 0 || od_machine_number_blocks(machine, number) != NULL) return false;
  reached[constant] = true;
  od_constants_reach(d, reached);
  for (int i = 0; i < d->numbers.count; i++)
    if (d->numbers.item[i].theta >= 0 && od_number_is_reached(d, i, reached)) return true;
  return false;
}

// Collects the numbers of the model that are free or follow free constants.
static void collect(tie *t, const int *numbers) {
  const od_document *d = t->document;
  for (int j = 0; j < t->outer; j++) {
    t->start[j] = d->numbers.item[numbers[j]].number.value;
    t->constant[j] = d->numbers.item[numbers[j]].theta >= 0 ? -1 : od_constant_of(d, numbers[j]);
    if (t->constant[j] >= 0) continue;
    t->direct[t->inner] = j;
    t->number[t->inner++] = numbers[j];
  }
  for (int j = 0; j < t->outer; j++)
    if (t->constant[j] >= 0) t->wanted[t->constant[j]] = true;
  od_constants_reach(d, t->wanted);
  for (int i = 0; i < d->numbers.count; i++) {
    if (d->numbers.item[i].theta < 0 || !od_number_is_reached(d, i, t->wanted)) continue;
    t->direct[t->inner] = -1;
    t->number[t->inner++] = i;
  }
}

od_status od_constant_plant(const od_machine *machine, const int *outputs, int output_count, const int *numbers,
                            int count, od_plant **out, od_error *err) {
  tie *t = new_tie(machine->document, count);
  if (t == NULL) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  collect(t, numbers);
  int *theta = malloc(((size_t)t->inner + 1) * sizeof *theta);
  od_plant *inner = NULL;
  od_status status = theta != NULL ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < t->inner && theta != NULL; i++) theta[i] = machine->document->numbers.item[t->number[i]].theta;
  if (status == OD_OK) status = od_model_plant(machine->model, outputs, output_count, theta, t->inner, &inner, err);
  const od_tie ties = {.count = count, .start = t->start, .user = t, .follow = follow, .free_user = free_tie};
  if (status == OD_OK) status = od_plant_tied(inner, &ties, out, err);
  if (status != OD_OK) {
    od_plant_free(inner);
    free_tie(t);
  }
  free(theta);
  return status;
}
