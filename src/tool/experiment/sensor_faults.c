// Faults of simulated sensors: stuck for some time, spikes, dead.
#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"

static const od_key stuck_keys[] = {{"from", OD_NUMBER, "s", "beginning of the fault", OD_NOT_NEGATIVE, OD_REQUIRED},
                                    {"to", OD_NUMBER, "s", "end of the fault", OD_POSITIVE, OD_REQUIRED}};
static const od_key spikes_keys[] = {
    {"rate", OD_NUMBER, "1", "fraction of samples with a spike", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"size", OD_NUMBER, NULL, "size of a spike: `50 sigma`, or a quantity", OD_POSITIVE, OD_REQUIRED}};
static const od_key dies_keys[] = {
    {"at", OD_NUMBER, "s", "time of the failure", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"as", OD_CHOICE, "missing|stuck", "kind of failure: no samples, or the last value is repeated"}};
const od_section_class od_stuck_section = {"stuck", "the sensor repeats its last value for some time",
                                           OD_KEYS(stuck_keys)};
const od_section_class od_spikes_section = {"spikes", "single wrong samples", OD_KEYS(spikes_keys)};
const od_section_class od_dies_section = {"dies", "a time, or a time and the kind of failure", OD_KEYS(dies_keys),
                                          .or_word = true};

// Reads "50 sigma", or a quantity in the sensor's unit. Sigma is NAN if it is relative to a signal that is not known yet.
static double read_size(od_loader *ld, const od_section *section, const char *unit, double sigma) {
  int node = od_section_get(ld, section, "size");
  const char *path = od_path(ld, section->path, "size"), *its_unit = "";
  od_given given = od_given_for(ld, node, path, "size", unit, od_place_of(ld, section->node));
  double value = 0, number;
  if (!given.text)
    od_section_lacks(ld, section, "size");
  else if (od_split_quantity(given.text, &number, &its_unit) && strcmp(its_unit, "sigma") == 0)
    value = number * (isnan(sigma) ? 1 : sigma);
  else if (!od_read_quantity(ld, &given, unit, &value))
    return 0;
  if (given.text && isnan(sigma) && strcmp(its_unit, "sigma") == 0)
    od_complain(ld, node, "size is '%s', but sigma is relative to the signal here; expected a quantity", given.text);
  const od_field field = od_key_field_in(section, "size", unit);
  if (given.text) od_check_range(ld, &given, &field, value);
  od_add_number(ld, &given, value, &field, OD_IN_LOADER);
  return value;
}

static void read_stuck(od_loader *ld, int node, const char *path, od_faults *f) {
  od_section section = od_section_open(ld, node, node, path, "stuck", &od_stuck_section);
  if (section.map < 0) return;
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "from", "to", NULL);
  f->stuck_from = od_number_value(ld, first);
  f->stuck_to = od_number_value(ld, first + 1);
  if (od_number_is_given(ld, first + 1) && f->stuck_to <= f->stuck_from)
    od_complain_number(ld, first + 1, "'to' must be later than 'from'");
}

static void read_spikes(od_loader *ld, int node, const char *path, const char *unit, double sigma, od_faults *f) {
  od_section section = od_section_open(ld, node, node, path, "spikes", &od_spikes_section);
  if (section.map < 0) return;
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "rate", NULL);
  f->spike_rate = od_number_value(ld, first);
  f->spike_size = read_size(ld, &section, unit, sigma);
  if (f->spike_rate > 1) od_complain_number(ld, first, "'rate' must be at most 1, or 100 %%");
}

// Reads 'dies': a time, or a map.
static void read_death(od_loader *ld, int node, const char *path, od_faults *f) {
  static const od_field alone = {"dies", "s", OD_NOT_NEGATIVE, NAN};
  if (ld->tree.node[node].kind == OD_TREE_TEXT) {
    f->dies = od_number_value(ld, od_read_number(ld, node, path, &alone, od_place_of(ld, node), OD_IN_LOADER));
    return;
  }
  od_section section = od_section_open(ld, node, node, path, "dies", &od_dies_section);
  if (section.map < 0) return;
  f->dies = od_key_value(ld, &section, "at");
  f->dies_stuck = od_key_choice(ld, &section, "as") == 1;
}

od_faults od_read_faults(od_loader *ld, const od_section *sensor, const char *unit, double sigma) {
  od_faults f = {.stuck_from = INFINITY, .stuck_to = INFINITY, .dies = INFINITY};
  int stuck = od_section_get(ld, sensor, "stuck"), spikes = od_section_get(ld, sensor, "spikes");
  int dies = od_section_get(ld, sensor, "dies");
  if (stuck >= 0) read_stuck(ld, stuck, od_path(ld, sensor->path, "stuck"), &f);
  if (spikes >= 0) read_spikes(ld, spikes, od_path(ld, sensor->path, "spikes"), unit, sigma, &f);
  if (dies >= 0) read_death(ld, dies, od_path(ld, sensor->path, "dies"), &f);
  return f;
}
