// A plant whose free parameters include constants of the machine file. The model's numbers are functions of these constants, and
// the chain rule gives the derivatives.
#include <string.h>

#include "document/constants.h"
#include "machine/machine_loader.h"
#include "memory/scoped.h"

// The dependence of inner parameters on outer parameters. Outer parameters are constants or numbers of the model; inner parameters
// are numbers of the model.
typedef struct tie {
  od_arena arena;  // owns the tie and its arrays
  const od_document *document;
  int outer, inner;
  int *constant;  // index of the constant of each outer parameter; -1: the parameter is a number of the model
  int *number;    // index of the number of each inner parameter
  int *direct;    // index of the equal outer parameter; -1: the inner parameter follows constants
  bool *wanted;   // whether each constant is free or follows a free constant
  double *start;  // values of the outer parameters
} tie;

static void free_tie(void *user) {
  od_arena arena = ((tie *)user)->arena;
  od_arena_free(&arena);
}

// Computes the inner parameters p from the outer parameters q, and the derivatives slope[inner][outer].
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

// Returns the index of a number that depends on a constant; -1: none, or `constant` is -1. With `in_model`, the number is a
// parameter of the model; without `in_model`, neither a parameter nor a constant.
static int follower_of(const od_document *d, int constant, bool in_model) {
  bool reached[OD_MOST_CONSTANTS] = {false};
  if (constant < 0) return -1;
  reached[constant] = true;
  od_constants_reach(d, reached);
  for (int i = 0; i < d->numbers.count; i++) {
    bool is_of_kind = (d->numbers.item[i].theta >= 0) == in_model;
    if (is_of_kind && od_number_is_reached(d, i, reached) && (in_model || !od_number_is_constant(d, i))) return i;
  }
  return -1;
}

const char *od_machine_number_blocks(const od_machine *machine, int number) {
  const od_document *d = machine->document;
  int follower = follower_of(d, od_constant_of(d, number), false);
  return follower >= 0 ? d->numbers.item[follower].number.path : NULL;
}

bool od_machine_number_is_free(const od_machine *machine, int number) {
  const od_document *d = machine->document;
  const od_number_entry *entry = &d->numbers.item[number];
  if (entry->theta >= 0) return entry->formula < 0;
  int constant = od_constant_of(d, number);
  return follower_of(d, constant, false) < 0 && follower_of(d, constant, true) >= 0;
}

// Creates a tie with the numbers of the model that are free or depend on free constants. Returns NULL if an allocation fails.
static tie *new_tie(const od_document *d, const int *numbers, int count) {
  od_arena arena = {0};
  int most = d->numbers.count;
  tie *t = OD_TAKE(&arena, tie, 1);
  tie made = {.document = d,
              .outer = count,
              .constant = OD_TAKE(&arena, int, count),
              .number = OD_TAKE(&arena, int, most),
              .direct = OD_TAKE(&arena, int, most),
              .wanted = OD_TAKE(&arena, bool, d->constants.count),
              .start = OD_TAKE(&arena, double, count)};
  if (arena.exhausted) {
    od_arena_free(&arena);
    return NULL;
  }
  made.arena = arena;
  *t = made;
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
  return t;
}

od_status od_constant_plant(const od_machine *machine, const int *outputs, int output_count, const int *numbers,
                            int count, od_plant **out, od_error *err) {
  OD_SCRATCH(scratch);
  tie *t = new_tie(machine->document, numbers, count);
  if (t == NULL) return od_fail(err, OD_NO_MEMORY, "out of memory");
  int *theta = OD_TAKE(&scratch, int, t->inner);
  od_plant *inner = NULL;
  od_status status = theta != NULL ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < t->inner && theta != NULL; i++) theta[i] = machine->document->numbers.item[t->number[i]].theta;
  if (status == OD_OK) status = od_model_plant(machine->model, outputs, output_count, theta, t->inner, &inner, err);
  const od_tie ties = {.count = count, .start = t->start, .user = t, .follow = follow, .free_user = free_tie};
  if (status == OD_OK) status = od_plant_tied(inner, &ties, out, err);
  if (status == OD_OK) return OD_OK;
  od_plant_free(inner);
  free_tie(t);
  return status;
}
