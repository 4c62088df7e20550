#include "experiment/truth_change.h"

#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "machine/machine.h"
#include "random/random.h"

// --- Values over time -----------------------------------------------------------------------------------------------

double od_truth_change_value(const od_truth_change *c, double t) {
  int i = 0;
  while (i < c->points && c->at[i] <= t) i++;
  if (i == 0) return c->value[0];
  if (i == c->points) return c->value[i - 1];
  double share = (t - c->at[i - 1]) / (c->at[i] - c->at[i - 1]);
  return c->value[i - 1] + share * (c->value[i] - c->value[i - 1]);
}

void od_truth_values_at(od_truth_values *v, double t) {
  for (int i = 0; i < v->e->changes; i++)
    if (v->e->change[i].points) v->value[i] = od_truth_change_value(&v->e->change[i], t);
}

// A walk is reflected at the limits of its number.
void od_truth_values_walk(od_truth_values *v, long step) {
  for (int i = 0; i < v->e->changes; i++) {
    const od_truth_change *c = &v->e->change[i];
    if (!(c->walk > 0)) continue;
    double next = v->value[i] + c->walk * od_random_gaussian(v->e->seed, v->stream[i], (uint64_t)step, OD_USE_PROCESS);
    if (next < c->low) next = fmin(2 * c->low - next, c->high);
    if (next > c->high) next = fmax(2 * c->high - next, c->low);
    v->value[i] = next;
  }
}

bool od_truth_values_begin(const od_experiment *e, od_arena *memory, od_truth_values *v) {
  *v = (od_truth_values){
      .e = e, .value = OD_TAKE(memory, double, e->changes), .stream = OD_TAKE(memory, uint32_t, e->changes)};
  if (od_arena_status(memory) != OD_OK) return false;
  for (int i = 0; i < e->changes; i++) {
    v->value[i] = od_machine_number(e->truth, e->change[i].number).value;
    v->stream[i] = od_random_stream(e->change[i].path);
  }
  od_truth_values_at(v, 0);
  return true;
}

int od_truth_change_of(const od_experiment *e, int number) {
  for (int i = 0; i < e->changes; i++)
    if (e->change[i].number == number) return i;
  return -1;
}

double od_true_parameter(const od_experiment *e, const od_sample *s, int parameter) {
  const od_estimated *p = &e->parameter[parameter];
  if (s->bias && p->sensor >= 0 && p->sensor < e->sensors && p->calibrated == OD_SENSOR_BIAS) return s->bias[p->sensor];
  return s->number && p->change > 0 && !isnan(p->truth) ? s->number[p->change - 1] : p->truth;
}

// --- The section 'truth.change' -------------------------------------------------------------------------------------

// Numbers of the tables `values` and `walk` have the unit of the changing number.
static const od_key keys[] = {
    {"at", OD_NUMBERS, "s", "times of the values, in ascending order; two equal times make a step", OD_NOT_NEGATIVE,
     .limits = OD_LIMITS(0, 1e9, 0, 1e8), .otherwise = "required without `walk`"},
    {"values", OD_NUMBERS, NULL,
     "values at these times. The number is linear in between, and constant before the first and after the last time",
     .otherwise = "required without `walk`"},
    {"walk", OD_NUMBER, NULL, "random walk: standard deviation of the change per step", OD_NOT_NEGATIVE, 0},
};
const od_section_class od_truth_change_section = {
    "changing number", "a number of the true machine that changes during the run", OD_KEYS(keys)};

// Reads a list of numbers into an array of `count` entries. Returns false after an error.
static bool read_list(od_experiment_loader *xl, const od_section *section, const char *key, const char *path,
                      const char *unit, int count, double *value) {
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, section, key), *entry = OD_TAKE(&xl->memory, int, count);
  od_field field = od_key_field_in(section, key, unit);
  if (!entry || !od_read_list(ld, node, key, "a list with one value for each time of 'at'", count, entry)) return false;
  for (int i = 0; i < count; i++) {
    int number = od_read_number(ld, entry[i], od_format(ld, "%s.%s[%d]", path, key, i), &field, od_place_of(ld, node),
                                OD_IN_LOADER);
    value[i] = od_number_value(ld, number);
  }
  return true;
}

// Reads the table of a change. Returns false after an error.
static bool read_table(od_experiment_loader *xl, const od_section *section, const char *path, od_truth_change *c) {
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, section, "at"), count = node >= 0 ? ld->tree.node[node].count : 0;
  double *at = OD_TAKE(&xl->e->memory, double, count + 1), *value = OD_TAKE(&xl->e->memory, double, count + 1);
  if (!at || !value) return false;
  if (count < 1) {
    od_complain(ld, node, "'at' has no times; expected a list such as [5 s, 8 s]");
    return false;
  }
  if (!read_list(xl, section, "at", path, "s", count, at) ||
      !read_list(xl, section, "values", path, c->unit, count, value))
    return false;
  for (int i = 1; i < count; i++)
    if (!(at[i] >= at[i - 1])) {
      od_complain(ld, node, "'at' must be in ascending order; %.6g s follows %.6g s", at[i], at[i - 1]);
      return false;
    }
  for (int i = 0; i < count; i++)
    if (!(value[i] >= c->low && value[i] <= c->high)) {
      od_complain(ld, od_section_get(ld, section, "values"),
                  "'values[%d]' is %.6g%s%s; expected a value from %.6g to %.6g", i, value[i],
                  strcmp(c->unit, "1") ? " " : "", strcmp(c->unit, "1") ? c->unit : "", c->low, c->high);
      return false;
    }
  c->points = count, c->at = at, c->value = value;
  return true;
}

static void read_change(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  const char *name = od_text_of(ld, key), *path = od_format(ld, "truth.change.%s", name);
  int number = od_find_free_number(xl, xl->e->truth, key, "change during a run");
  od_section section =
      od_section_open(ld, od_value(ld, key), key, path, od_format(ld, "the change of '%s'", od_excerpt(ld, name)),
                      &od_truth_change_section);
  if (section.map < 0 || number < 0) return;
  od_number in_truth = od_machine_number(xl->e->truth, number);
  od_truth_change c = {
      .path = name, .unit = in_truth.unit, .number = number, .low = in_truth.low, .high = in_truth.high};
  od_field walk = od_key_field_in(&section, "walk", c.unit);
  c.walk = od_number_value(ld, od_read_fields(ld, &section, &walk, 1, OD_IN_LOADER));
  bool table = od_section_get(ld, &section, "at") >= 0 || od_section_get(ld, &section, "values") >= 0;
  if (table == (c.walk > 0)) {
    od_complain(ld, key, "the change of '%s' needs either 'at' and 'values', or 'walk'; give one of them",
                od_excerpt(ld, name));
    return;
  }
  if (table && !read_table(xl, &section, path, &c)) return;
  xl->e->change[xl->e->changes++] = c;
}

void od_load_truth_changes(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  if (node < 0) return;
  if (!xl->simulated) {
    od_complain(ld, node, "the data are not simulated, so there is no true machine; remove 'change'");
    return;
  }
  if (!xl->e->truth) return;
  int most = ld->tree.node[node].count;
  xl->e->change = OD_TAKE(&xl->e->memory, od_truth_change, most + 1);
  if (!xl->e->change) return;
  for (int key = od_first(ld, node, "changing numbers"); key >= 0; key = od_next(ld, key))
    if (!od_is_repeated(ld, node, key)) read_change(xl, key);
}
