#include "jobs/friction_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "document/suggest.h"
#include "jobs/setting_values.h"

// Reads "KEY=VALUE". Returns the index of the key among the fields, or -1 after reporting an error.
static int read_setting(od_job *job, const od_friction_law *law, const char *option, const char *text, double *value) {
  const od_element_description *c = law->element;
  const char *equals = strchr(text, '=');
  if (!equals) {
    od_job_error(job, "--%s: found '%s', expected KEY=VALUE", option, text);
    return -1;
  }
  char key[64], what[80];
  snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
  snprintf(what, sizeof what, "%s %s", option, key);
  od_nearest nearest = od_nearest_to(key);
  for (int i = 0; i < c->field_count; i++) {
    const od_element_field *f = &c->fields[i];
    od_nearest_try(&nearest, f->key);
    if (strcmp(f->key, key) != 0) continue;
    if (!od_setting_any_quantity(job, what, equals + 1, f->unit, value)) return -1;
    bool possible = f->sign == OD_ANY || *value > 0 || (f->sign == OD_NOT_NEGATIVE && *value == 0);
    if (possible && *value >= f->limits.low && *value <= f->limits.high) return i;
    bool has_unit = strcmp(f->unit, "1") != 0;
    od_job_error(job, "--%s: found %g%s%s, expected %g to %g", what, *value, has_unit ? " " : "",
                 has_unit ? f->unit : "", f->limits.low, f->limits.high);
    return -1;
  }
  od_job_error(job, "--%s: the law '%s' has no parameter '%s'%s", option, law->name, key,
               od_nearest_suggestion(&nearest, NULL).text);
  return -1;
}

// Returns the index of the law with this name, or -1 after reporting an error.
static int find_law(od_job *job, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  int found = od_friction_law_find(name);
  for (int i = 0; i < od_friction_law_count(); i++) od_nearest_try(&nearest, od_friction_laws[i]->name);
  if (found < 0) od_job_error(job, "there is no friction law '%s'%s", name, od_nearest_suggestion(&nearest, NULL).text);
  return found;
}

// Sets the given numbers, and the defaults of the other numbers. Returns false after reporting missing numbers and
// violated rules of the law.
static bool fill_numbers(od_job *job, od_set_law *law, const double *given) {
  const od_element_description *c = law->law->element;
  int base = law->law->sided + law->law->common;
  bool ok = true;
  law->two_sided = false;
  for (int i = 0; i < c->field_count; i++) {
    const od_element_field *f = &c->fields[i];
    law->q[i] = !isnan(given[i]) ? given[i] : f->same_as ? law->q[i - base] : f->fallback;
    law->two_sided = law->two_sided || (f->same_as && !isnan(given[i]));
    if (!isnan(law->q[i]) || f->same_as) continue;
    od_job_error(job, "'%s' is missing: %s; give --set %s=VALUE%s%s%s", f->key, f->meaning, f->key,
                 strcmp(f->unit, "1") ? " (" : "", strcmp(f->unit, "1") ? f->unit : "",
                 strcmp(f->unit, "1") ? ")" : "");
    ok = false;
  }
  for (int i = 0; ok && i < c->rule_count; i++) {
    const od_element_rule *r = &c->rules[i];
    if (od_element_rule_holds(r, law->q[r->greater], law->q[r->smaller])) continue;
    int other = r->about == r->greater ? r->smaller : r->greater;
    od_job_error(job, "'%s' is %g; expected %s '%s' (%g)%s%s", c->fields[r->about].key, law->q[r->about],
                 od_element_rule_relation(r), c->fields[other].key, law->q[other], r->text ? ", " : "",
                 r->text ? r->text : "");
    ok = false;
  }
  return ok;
}

int od_job_read_laws(od_job *job, const char *name, const od_words *set, const od_words *vary,
                     od_set_law law[OD_MOST_VARIED + 1]) {
  int found = find_law(job, name);
  if (found < 0) return 0;
  bool ok = true;
  double given[OD_MOST_ELEMENT_FIELDS], value;
  for (int i = 0; i < OD_MOST_ELEMENT_FIELDS; i++) given[i] = NAN;
  law[0] = (od_set_law){.law = od_friction_laws[found], .label = "force"};
  for (int i = 0; i < set->count; i++) {
    int place = read_setting(job, law[0].law, "set", set->text[i], &value);
    if (place >= 0) given[place] = value;
    ok = ok && place >= 0;
  }
  if (!ok || !fill_numbers(job, &law[0], given)) return 0;
  if (vary->count > OD_MOST_VARIED) {
    od_job_error(job, "--vary: found %d values, expected at most %d", vary->count, OD_MOST_VARIED);
    return 0;
  }
  for (int i = 0; i < vary->count; i++) {
    int place = read_setting(job, law[0].law, "vary", vary->text[i], &value);
    if (place < 0) return 0;
    double kept = given[place];
    law[1 + i] = law[0];
    given[place] = value;
    ok = fill_numbers(job, &law[1 + i], given) && ok;
    given[place] = kept;
    snprintf(law[1 + i].label, sizeof law[1 + i].label, "%s = %g", law[0].law->element->fields[place].key, value);
  }
  return ok ? 1 + vary->count : 0;
}
