// Each point has its own entries in the arrays, so that results do not depend on the number of threads.
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/display.h"

bool od_sweep_add(od_sweep_row *row, const char *name, const char *unit, double value) {
  if (row->count == row->capacity) {
    int larger = row->capacity ? 2 * row->capacity : 16;
    struct od_sweep_value *moved = od_realloc(row->item, (size_t)larger * sizeof *moved);
    if (!moved) return false;
    row->item = moved;
    row->capacity = larger;
  }
  struct od_sweep_value *item = &row->item[row->count++];
  *item = (struct od_sweep_value){od_strdup(name), od_strdup(unit && unit[0] ? unit : "1"), value};
  return item->name && item->unit;
}

// Returns the value of an axis at a point, in the unit of the axis.
static double value_at(const od_sweep_plan *plan, int point, int which) {
  const od_sweep_axis *a = &plan->axis[which];
  if (plan->is_drawn) return od_draw_value(&a->draw, plan->seed, a->path, point);
  for (int i = plan->axes - 1; i > which; i--) point /= plan->axis[i].count;
  int k = point % a->count;
  return a->count == 1 ? a->from : k + 1 == a->count ? a->to : a->from + (a->to - a->from) * k / (a->count - 1);
}

void od_sweep_setting(const od_sweep_plan *plan, int point, int axis, char text[OD_SWEEP_SETTING]) {
  const od_sweep_axis *a = &plan->axis[axis];
  char number[OD_NUMBER_SIZE];
  od_number_format(number, value_at(plan, point, axis));
  snprintf(text, OD_SWEEP_SETTING, "%s=%s%s%s", a->path, number, a->unit[0] ? " " : "", a->unit);
}

bool od_sweep_begin(od_sweep *s, const od_sweep_plan *plan) {
  *s = (od_sweep){.plan = *plan};
  s->machine = OD_TAKE(&s->arena, od_machine *, plan->points);
  s->row = OD_TAKE(&s->arena, od_sweep_row, plan->points);
  s->status = OD_TAKE(&s->arena, od_status, plan->points);
  s->err = OD_TAKE(&s->arena, od_error, plan->points);
  s->value = OD_TAKE_MATRIX(&s->arena, double, plan->points, plan->axes);
  if (od_arena_status(&s->arena) != OD_OK) return false;
  for (int i = 0; i < plan->points; i++) s->status[i] = OD_INTERRUPTED;
  return true;
}

void od_sweep_free(od_sweep *s) {
  for (int i = 0; i < s->plan.points; i++) {
    if (s->machine) od_machine_free(s->machine[i]);
    od_sweep_row *row = s->row ? &s->row[i] : &(od_sweep_row){0};
    for (int k = 0; k < row->count; k++) od_free(row->item[k].name), od_free(row->item[k].unit);
    od_free(row->item);
  }
  od_arena_free(&s->arena);
  *s = (od_sweep){0};
}

void od_sweep_take(od_sweep *s, int point, od_machine *machine) {
  s->machine[point] = machine;
  if (point == 0) snprintf(s->title, sizeof s->title, "%s", od_machine_title(machine));
  for (int i = 0; i < s->plan.axes; i++) {
    od_sweep_axis *a = &s->plan.axis[i];
    int at = od_machine_number_find(machine, a->path);
    od_number x = {.value = value_at(&s->plan, point, i)};
    if (at >= 0) x = od_machine_number(machine, at);
    s->value[point * s->plan.axes + i] = x.value;
    snprintf(a->si, sizeof a->si, "%s", x.unit ? x.unit : "1");
  }
}

static bool goes_on(void *user, double done) {
  (void)done;
  return od_workers_go_on(&((od_sweep *)user)->workers);
}

static void take_point(void *user, long point) {
  od_sweep *s = user;
  s->status[point] = s->measure(s->user, s->machine[point], goes_on, s, &s->row[point], &s->err[point]);
  od_machine_free(s->machine[point]);
  s->machine[point] = NULL;
}

static bool is_wanted(void *user, long finished) {
  const od_sweep *s = user;
  return s->progress(s->progress_user, (double)finished / s->plan.points);
}

void od_sweep_run(od_sweep *s, int threads, od_sweep_measure *measure, void *user,
                  bool (*progress)(void *user, double done), void *progress_user) {
  s->measure = measure, s->user = user;
  s->progress = progress, s->progress_user = progress_user;
  s->workers =
      (od_workers){.items = s->plan.points, .threads = threads, .execute = take_point, .go_on = is_wanted, .user = s};
  od_workers_run(&s->workers);
}

int od_sweep_computed(const od_sweep *s) {
  int count = 0;
  for (int i = 0; i < s->plan.points; i++) count += s->status[i] != OD_INTERRUPTED;
  return count;
}

// Returns the first row with results. Its names are the names of all results. Returns NULL if no row has results.
static const od_sweep_row *first_row(const od_sweep *s) {
  for (int i = 0; i < s->plan.points; i++)
    if (s->status[i] == OD_OK) return &s->row[i];
  return NULL;
}

bool od_sweep_has_results(const od_sweep *s) {
  return first_row(s) != NULL;
}

od_table *od_sweep_table(od_sweep *s) {
  OD_SCRATCH(scratch);
  const od_sweep_row *names = first_row(s);
  int axes = s->plan.axes, columns = axes + (names ? names->count : 0);
  OD_OWNED(od_table_free) od_table *table = od_table_new(columns);
  double *row = OD_TAKE(&scratch, double, columns);
  if (!table || !row) return NULL;
  for (int i = 0; i < columns; i++) {
    const struct od_sweep_value *item = i < axes ? NULL : &names->item[i - axes];
    const od_sweep_axis *axis = &s->plan.axis[i < axes ? i : 0];
    if (od_table_label(table, i, item ? item->name : axis->path, item ? item->unit : axis->si) != OD_OK) return NULL;
  }
  for (int k = 0; k < s->plan.points; k++) {
    const od_sweep_row *r = &s->row[k];
    if (s->status[k] == OD_OK && r->count != names->count)
      s->status[k] = od_fail(&s->err[k], OD_NOT_AVAILABLE,
                             "the number of results is %d; expected %d, as at the first point with results", r->count,
                             names->count);
    for (int i = 0; i < columns; i++)
      row[i] = i < axes ? s->value[k * axes + i] : s->status[k] == OD_OK ? r->item[i - axes].value : NAN;
    if (od_table_append(table, row) != OD_OK) return NULL;
  }
  return OD_GIVE(table);
}
