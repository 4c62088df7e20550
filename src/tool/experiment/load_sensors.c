// Loads the section 'sensors' of an experiment: measured outputs, noise and faults.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "document/suggest.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "experiment/sensor.h"
#include "machine/machine.h"

enum { MOST_DELAYED = 1000000 };  // limit of a delay, steps

#define ENTRY(type) &od_sensor_##type,
static const od_sensor_class *const types[] = {OD_SENSOR_TYPES(ENTRY) NULL};
#undef ENTRY

// --- Tables -------------------------------------------------------------------------------------------------------

const od_unit_limits od_sigma_limits[] = {{"N", {1e-12, 1e12, 1e-6, 1e8}},
                                          {"Pa", {1e-6, 1e12, 1, 1e10}},
                                          {"m", {1e-15, 1e6, 1e-10, 10}},
                                          {"rad", {1e-15, 1e6, 1e-10, 6.3}},
                                          {NULL}};

static const od_key color_keys[] = {
    {"type", OD_CHOICE, "gaussian|uniform", "distribution of the noise; colored noise is gaussian"},
    {"time_constant", OD_NUMBER, "s", "time constant of first-order colored noise", OD_POSITIVE, 0,
     OD_RANGE_TIME_CONSTANT, "white noise"},
    {"frequency", OD_NUMBER, "Hz", "natural frequency of second-order colored noise", OD_POSITIVE, 0,
     OD_RANGE_FREQUENCY, "white noise"},
    {"damping", OD_NUMBER, "1", "damping ratio of second-order colored noise", OD_POSITIVE, 0,
     .otherwise = "required with `frequency`"}};
static const od_section_class color_section = {"sensor color", "a distribution, and the color of the noise",
                                               OD_KEYS(color_keys), .or_word = true};

static const od_key stuck_keys[] = {{"from", OD_NUMBER, "s", "beginning of the fault", OD_NOT_NEGATIVE, OD_REQUIRED},
                                    {"to", OD_NUMBER, "s", "end of the fault", OD_POSITIVE, OD_REQUIRED}};
static const od_key spikes_keys[] = {
    {"rate", OD_NUMBER, "1", "fraction of samples with a spike", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"size", OD_NUMBER, NULL, "amplitude of a spike: `50 sigma`, or a quantity", OD_POSITIVE, OD_REQUIRED}};
static const od_key dies_keys[] = {
    {"at", OD_NUMBER, "s", "time of the failure", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"as", OD_CHOICE, "missing|stuck", "kind of failure. `missing`: no samples; `stuck`: the last value is repeated"}};
static const od_section_class stuck_section = {"stuck", "the sensor repeats its last value for some time",
                                               OD_KEYS(stuck_keys)};
static const od_section_class spikes_section = {"spikes", "single wrong samples", OD_KEYS(spikes_keys)};
static const od_section_class dies_section = {"dies", "a time, or a time and the kind of failure", OD_KEYS(dies_keys),
                                              .or_word = true};

// Numbers without a unit have the unit of the output that the sensor reads.
static const od_key keys[] = {
    {"sigma", OD_NUMBER, NULL,
     "standard deviation of the noise: a quantity, or a fraction of the size of the signal, `10 % rms` (root mean square) or "
     "`10 % spread` (standard deviation)",
     OD_POSITIVE, OD_REQUIRED, .otherwise = "required without `half_width`, `encoder` or `sensor_noise`",
     .by_unit = od_sigma_limits},
    {"half_width", OD_NUMBER, NULL,
     "largest absolute value of uniform noise, instead of `sigma`; a quantity, or a fraction of the size of "
     "the signal, as for `sigma`",
     OD_POSITIVE, 0, .otherwise = "by `sigma`", .by_unit = od_sigma_limits},
    {"relative", OD_NUMBER, "1",
     "relative noise, in [fits](fit-files.md#sensors) only: `relative: 2 %` means `sigma: "
     "2 % spread`",
     OD_POSITIVE, 0, .otherwise = "by `sigma`"},
    {"noise", OD_SECTION, NULL,
     "kind of noise: `gaussian`, `uniform` or "
     "[colored](experiment-files.md#colored-noise-and-drift)",
     .otherwise = "gaussian", .inside = &color_section},
    {"bias", OD_NUMBER, NULL,
     "constant error: the reading is scale times the true value plus bias. The observer assumes bias 0 and scale 1 "
     "unless bias or scale is estimated"},
    {"scale", OD_NUMBER, "1", "factor of the true value, see `bias`", OD_POSITIVE, 1},
    {"resolution", OD_NUMBER, NULL, "quantization step; the observer assumes additional noise of resolution / sqrt(12)",
     OD_NOT_NEGATIVE, 0},
    {"every", OD_WHOLE, "1", "number of steps between measurements", OD_POSITIVE, 1, {1, 1e6}},
    {"start", OD_NUMBER, "s", "time of the sensor's first sample", OD_NOT_NEGATIVE, 0},
    {"dropout", OD_NUMBER, "1", "fraction of lost samples, for example `1 %`", OD_NOT_NEGATIVE, 0},
    {"stuck", OD_SECTION, NULL, "interval in which the sensor repeats its last value: `{from: 1 s, to: 1.5 s}`",
     .inside = &stuck_section},
    {"spikes", OD_SECTION, NULL,
     "rate and size of spikes, `{rate: 0.1 %, size: 50 sigma}`: the size is added to or subtracted from this fraction "
     "of the samples",
     .inside = &spikes_section},
    {"dies", OD_SECTION, NULL,
     "time of failure, `3 s`: no samples from then on; `{at: 3 s, as: stuck}`: the sensor repeats its last value",
     .inside = &dies_section},
    {"delay", OD_NUMBER, "s",
     "delay of the readings. The true value is interpolated linearly between steps. Until the delay has passed, the sensor "
     "reads the value at the start of the run",
     OD_NOT_NEGATIVE, 0},
    {"range", OD_NUMBERS, NULL,
     "limits of the readings, `[0 bar, 250 bar]`; the observer does not use a reading at a limit",
     .otherwise = "unlimited"},
    {"drift", OD_NUMBER, NULL,
     "standard deviation, after one second, of a random walk that is added to the readings; this standard deviation "
     "grows with the square root of time",
     OD_NOT_NEGATIVE, 0},
    {"source", OD_TEXT, NULL,
     "another output that the sensor reads and [integrates](experiment-files.md#sensors-that-integrate), "
     "or the position of an encoder"},
    {"assume", OD_NUMBER, NULL, "standard deviation that the observer assumes, in the unit of the output", OD_POSITIVE,
     0, .otherwise = "see [below](experiment-files.md#what-the-observer-assumes)"},
};

// Sets *key to key i of the keys of all sensor types. Returns false if there is no key i.
static bool type_key(int i, od_key *key) {
  for (int type = 0; types[type]; type++) {
    const od_section_class *section = types[type]->section;
    if (i < section->count) {
      *key = section->keys[i];
      return true;
    }
    i -= section->count;
  }
  return false;
}
const od_section_class od_sensor_section = {"sensor", "an output that is measured", OD_KEYS(keys), type_key};

// State of the reader of one sensor.
typedef struct sensor_reader {
  od_experiment_loader *xl;
  od_loader *ld;
  od_section section;
  const char *read_unit;  // unit of the output that the sensor reads: the measured output, or the output of 'source'
  od_sensor *s;
} sensor_reader;

// --- Measured output ----------------------------------------------------------------------------------------------

od_source od_read_source(od_experiment_loader *xl, int node) {
  const od_experiment *e = xl->e;
  od_source s = {.name = od_read_text(&xl->ld, node, "source", "the name of an output"), .true_output = -1};
  s.output = s.name ? od_find_output(xl, node) : -1;
  if (s.output >= 0) s.unit = od_machine_output_unit(e->model, s.output);
  if (s.output >= 0 && e->truth) s.true_output = od_machine_output_find(e->truth, s.name);
  return s;
}

// Reads the type of the sensor. A key of the file or of --set selects the type.
static void read_type(sensor_reader *r) {
  od_loader *ld = r->ld;
  for (int i = 0; types[i]; i++) {
    const char *key = types[i]->section->keys[0].name;
    bool by_set = od_numbers_is_overridden(&ld->document->numbers, od_path(ld, r->section.path, key));
    if (od_section_get(ld, &r->section, key) < 0 && !by_set) continue;
    od_section section = r->section;
    section.of = types[i]->section;
    types[i]->load(r->xl, &section, r->s, &r->read_unit);
    return;
  }
  int source = od_section_get(ld, &r->section, "source");
  if (source < 0) return;
  od_section_lacks(ld, &r->section, od_sensor_integrating.section->keys[0].name);
  // After an error the remaining keys are read with their probable meaning.
  od_source read = od_read_source(r->xl, source);
  if (read.output >= 0) r->read_unit = read.unit;
}

// --- Noise --------------------------------------------------------------------------------------------------------

// Reads a value relative to the size of the signal: "10 % rms", "5 % spread". Returns false if the value is an absolute
// quantity.
static bool read_relative(sensor_reader *r, const od_given *given, const char *key, double *value) {
  static const char *const words[] = {[OD_SIGNAL_SPREAD] = "spread", [OD_SIGNAL_RMS] = "rms"};
  od_loader *ld = r->ld;
  for (int i = 0; given->text && i < 2; i++) {
    size_t length = strlen(given->text), word = strlen(words[i]);
    if (length <= word || strcmp(given->text + length - word, words[i]) != 0) continue;
    if (strchr(" \t%", given->text[length - word - 1]) == NULL) continue;
    const od_field field = od_key_field_in(&r->section, key, "1");
    od_given part = *given;
    size_t end = length - word;
    while (end > 0 && strchr(" \t", given->text[end - 1]) != NULL) end--;
    part.text = od_copy(ld, given->text, end);
    *value = 0;
    if (od_read_quantity(ld, &part, "1", value)) od_check_range(ld, &part, &field, *value);
    od_add_number(ld, given, *value, &field, OD_IN_LOADER);
    r->s->size = (od_signal_size)i;
    return true;
  }
  return false;
}

// Reads 'sigma' or 'half_width': a quantity, or a value relative to the size of the signal. `factor` converts the value
// to a standard deviation. Returns false if the key is not given.
static bool read_size(sensor_reader *r, const char *key, double fallback, double factor) {
  od_loader *ld = r->ld;
  int node = od_section_get(ld, &r->section, key);
  const char *path = od_path(ld, r->section.path, key);
  od_place place = od_place_of(ld, r->section.node);
  od_field field = od_key_field_in(&r->section, key, r->read_unit);
  field.fallback = fallback;
  bool by_set = od_numbers_is_overridden(&ld->document->numbers, path);
  od_given given = {0};
  if (node >= 0 || by_set) given = od_given_for(ld, node, path, key, r->read_unit, place);
  double part;
  if (given.text && read_relative(r, &given, key, &part)) {
    r->s->relative = part * factor;
    r->s->sigma = 1;  // placeholder until the signal is known
    return true;
  }
  int number = od_read_number(ld, node, path, &field, place, OD_IN_LOADER);
  if (!isnan(fallback) || od_number_is_given(ld, number)) r->s->sigma = od_number_value(ld, number) * factor;
  return node >= 0 || by_set;
}

// Reads the size of the noise: sigma, half_width, relative (fits only), or the size given by 'sensor_noise'.
static void read_sizes(sensor_reader *r) {
  od_loader *ld = r->ld;
  double correlated = od_correlated_sigma(r->xl, r->s->name);
  int number = od_read_keys(ld, &r->section, OD_IN_LOADER, "relative", NULL);
  bool is_relative = r->xl->options->more && od_number_is_given(ld, number);
  bool wide = read_size(r, "half_width", 0, 1 / sqrt(3));
  double half = r->s->sigma;
  bool own_noise = r->s->of && r->s->of->has_noise;
  bool given = read_size(r, "sigma",
                         is_relative                      ? 1
                         : wide                           ? half
                         : own_noise && isnan(correlated) ? 0
                                                          : correlated,
                         1);
  if (wide && !given && !(r->s->relative > 0)) r->s->sigma = half;
  if (is_relative) r->s->relative = od_number_value(ld, number);
  if (correlated > 0) r->s->sigma = correlated;
  int node = od_section_get(ld, &r->section, given ? "sigma" : "half_width");
  if (given + wide + is_relative > 1)
    od_complain(ld, node >= 0 ? node : r->section.node, "the noise is given twice: %s; expected one of these keys",
                !is_relative ? "'sigma' and 'half_width'"
                : given      ? "'sigma' and 'relative'"
                             : "'half_width' and 'relative'");
  else if (od_number_is_given(ld, number) && !is_relative)
    od_complain_number(ld, number, "'relative' is for fits; expected 'sigma', for example '5 %% spread' or '5 %% rms'");
  else if (!given && !wide && !is_relative && isnan(correlated) && !own_noise)
    od_section_lacks(ld, &r->section, "sigma");
  if (wide && r->s->noise != OD_NOISE_UNIFORM)
    od_complain(ld, node, "only uniform noise has a 'half_width'; expected 'sigma' for gaussian noise");
}

// Reads 'noise: uniform', or a map with the color of the noise.
static void read_noise(sensor_reader *r) {
  static const char *const kinds[] = {"gaussian", "uniform", NULL};
  od_loader *ld = r->ld;
  int node = od_section_get(ld, &r->section, "noise"), type = node;
  if (node < 0) return;
  if (ld->tree.node[node].kind == OD_TREE_MAP) {
    od_section section =
        od_section_open(ld, node, node, od_path(ld, r->section.path, "noise"), "noise", &color_section);
    int first = od_read_keys(ld, &section, OD_IN_LOADER, "time_constant", "frequency", "damping", NULL);
    bool has_time = od_number_is_given(ld, first), has_frequency = od_number_is_given(ld, first + 1);
    bool has_damping = od_number_is_given(ld, first + 2);
    type = od_section_get(ld, &section, "type");
    if (has_time && has_frequency)
      od_complain_number(
          ld, first + 1,
          "noise has 'time_constant' (first order) and 'frequency' (second order); expected one of these keys");
    if (has_frequency && !has_damping) od_section_lacks(ld, &section, "damping");
    if (has_damping && !has_frequency) od_section_lacks(ld, &section, "frequency");
    r->s->time_constant = od_number_value(ld, first);
    r->s->frequency = has_damping ? od_number_value(ld, first + 1) : 0;
    r->s->damping = od_number_value(ld, first + 2);
  }
  if (type >= 0 && od_read_choice(ld, type, type == node ? "noise" : "type", kinds) == 1)
    r->s->noise = OD_NOISE_UNIFORM;
  if (r->s->noise == OD_NOISE_UNIFORM && (r->s->time_constant > 0 || r->s->frequency > 0))
    od_complain(ld, type, "uniform noise cannot be colored; expected gaussian noise, or uniform noise without a color");
}

// --- Other numbers -----------------------------------------------------------------------------------------------------

// Reads the key 'range': the range of the sensor's readings.
static void read_range(sensor_reader *r) {
  od_loader *ld = r->ld;
  int entry[2], node = od_section_get(ld, &r->section, "range"), number[2];
  if (node < 0 || !od_read_list(ld, node, "range", "the smallest and the largest value of the sensor", 2, entry))
    return;
  for (int i = 0; i < 2; i++) {
    od_field field = od_key_entry(ld, &r->section, "range", i);
    field.unit = r->read_unit;
    number[i] = od_read_number(ld, entry[i], od_path(ld, r->section.path, field.key), &field, od_place_of(ld, node),
                               OD_IN_LOADER);
  }
  r->s->low = od_number_value(ld, number[0]);
  r->s->high = od_number_value(ld, number[1]);
  if (!(r->s->low < r->s->high)) od_complain_relation(ld, number[1], "more than", number[0], NULL);
}

// Reads a key whose values have the given SI unit. Returns the value.
static double value_in(sensor_reader *r, const char *key, const char *unit) {
  return od_number_value(r->ld, od_read_key_in(r->ld, &r->section, key, unit, OD_IN_LOADER));
}

// Reads the numbers that every type of sensor has.
static void read_numbers(sensor_reader *r) {
  od_loader *ld = r->ld;
  const od_experiment *e = r->xl->e;
  const od_section *sensor = &r->section;
  r->s->bias = value_in(r, "bias", r->read_unit);
  double resolution = value_in(r, "resolution", r->read_unit);
  if (!(r->s->of && r->s->of->has_noise)) r->s->resolution = resolution;
  r->s->every = (int)od_key_whole(ld, sensor, "every");
  r->s->start = od_key_value(ld, sensor, "start");
  int dropout = od_read_keys(ld, sensor, OD_IN_LOADER, "dropout", NULL);
  r->s->dropout = od_number_value(ld, dropout);
  r->s->scale = od_key_value(ld, sensor, "scale");
  int delay = od_read_keys(ld, sensor, OD_IN_LOADER, "delay", NULL);
  r->s->delay = od_number_value(ld, delay);
  r->s->drift = value_in(r, "drift", r->read_unit);
  r->s->assume = value_in(r, "assume", r->s->unit);
  r->s->interval = r->s->every * e->step;
  r->s->duration = e->time;
  if (r->s->dropout > 1) od_complain_number(ld, dropout, "'dropout' is %g; expected at most 1 (100 %%)", r->s->dropout);
  if (r->s->delay > MOST_DELAYED * e->step)
    od_complain_number(ld, delay, "'delay' is %.3g steps; expected at most 1 million steps", r->s->delay / e->step);
  if (r->s->source && !r->xl->simulated && !(r->s->assume > 0)) od_section_lacks(ld, &r->section, "assume");
}

// --- Faults -------------------------------------------------------------------------------------------------------

// Reads "50 sigma", or a quantity in the sensor's unit. sigma: NAN if the noise is relative to a signal that is not known yet.
static double read_spike_size(od_loader *ld, const od_section *section, const char *unit, double sigma) {
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
    od_complain(ld, node, "'size' is '%s', but 'sigma' is relative to the signal; expected a quantity", given.text);
  const od_field field = od_key_field_in(section, "size", unit);
  if (given.text) od_check_range(ld, &given, &field, value);
  od_add_number(ld, &given, value, &field, OD_IN_LOADER);
  return value;
}

// Reads the faults of a sensor. `unit`, `sigma`: unit and noise of the sensor.
static od_faults read_faults(od_loader *ld, const od_section *sensor, const char *unit, double sigma) {
  static const od_field time_of_death = {"dies", "s", OD_NOT_NEGATIVE, NAN};
  od_faults f = {.stuck_from = INFINITY, .stuck_to = INFINITY, .dies = INFINITY};
  int stuck = od_section_get(ld, sensor, "stuck"), spikes = od_section_get(ld, sensor, "spikes");
  int dies = od_section_get(ld, sensor, "dies");
  od_section section = {.map = -1};
  if (stuck >= 0)
    section = od_section_open(ld, stuck, stuck, od_path(ld, sensor->path, "stuck"), "stuck", &stuck_section);
  if (section.map >= 0) {
    int first = od_read_keys(ld, &section, OD_IN_LOADER, "from", "to", NULL);
    f.stuck_from = od_number_value(ld, first);
    f.stuck_to = od_number_value(ld, first + 1);
    if (od_number_is_given(ld, first + 1) && f.stuck_to <= f.stuck_from)
      od_complain_number(ld, first + 1, "'to' is %g s; expected a time later than 'from', %g s", f.stuck_to,
                         f.stuck_from);
  }
  section.map = -1;
  if (spikes >= 0)
    section = od_section_open(ld, spikes, spikes, od_path(ld, sensor->path, "spikes"), "spikes", &spikes_section);
  if (section.map >= 0) {
    int first = od_read_keys(ld, &section, OD_IN_LOADER, "rate", NULL);
    f.spike_rate = od_number_value(ld, first);
    f.spike_size = read_spike_size(ld, &section, unit, sigma);
    if (f.spike_rate > 1) od_complain_number(ld, first, "'rate' is %g; expected at most 1 (100 %%)", f.spike_rate);
  }
  if (dies < 0) return f;
  const char *path = od_path(ld, sensor->path, "dies");
  if (ld->tree.node[dies].kind == OD_TREE_TEXT) {
    int number = od_read_number(ld, dies, path, &time_of_death, od_place_of(ld, dies), OD_IN_LOADER);
    f.dies = od_number_value(ld, number);
    return f;
  }
  section = od_section_open(ld, dies, dies, path, "dies", &dies_section);
  if (section.map < 0) return f;
  f.dies = od_key_value(ld, &section, "at");
  f.dies_stuck = od_key_choice(ld, &section, "as") == 1;
  return f;
}

// --- The section --------------------------------------------------------------------------------------------------

static void read_sensor(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  const char *name = od_text_of(ld, key), *path = od_format(ld, "sensors.%s", name);
  int watched = od_watch_sensor(xl, key);
  sensor_reader r = {.xl = xl, .ld = ld};
  r.section = od_section_open(ld, od_value(ld, key), key, path, od_format(ld, "the sensor '%s'", od_excerpt(ld, name)),
                              &od_sensor_section);
  if (r.section.map < 0 || watched < 0) return;
  r.s = &xl->e->sensor[xl->e->sensors++];
  *r.s = (od_sensor){.name = name, .unit = xl->e->watched[watched].unit, .source_output = -1};
  r.read_unit = r.s->unit;
  read_type(&r);
  read_noise(&r);
  read_sizes(&r);
  read_range(&r);
  read_numbers(&r);
  r.s->faults = read_faults(ld, &r.section, r.read_unit, r.s->relative > 0 ? (double)NAN : r.s->sigma);
}

// Returns whether a sensor is in the list of chosen sensors. NULL: all sensors are chosen.
static bool is_chosen(const char *chosen, const char *name) {
  size_t length = strlen(name);
  for (const char *at = chosen; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  return !chosen;
}

// Reports names in --sensors that the section does not contain.
static void check_chosen(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  for (const char *at = xl->options->sensors, *end; at; at = *end ? end + 1 : NULL) {
    end = strchr(at, ',') ? strchr(at, ',') : at + strlen(at);
    const char *name = od_format(ld, "%.*s", (int)(end - at), at);
    od_nearest nearest = od_nearest_to(name);
    bool known = false;
    for (int key = od_first(ld, node, "sensors"); key >= 0; key = od_next(ld, key)) {
      known = known || strcmp(od_text_of(ld, key), name) == 0;
      od_nearest_try(&nearest, od_text_of(ld, key));
    }
    if (!known)
      od_messages_add(ld->messages, (od_place){.file = "--sensors"}, "there is no sensor '%s'%s", name,
                      od_nearest_suggestion(&nearest, NULL).text);
  }
}

void od_load_sensors(od_experiment_loader *xl, int node) {
  check_chosen(xl, node);
  for (int key = od_first(&xl->ld, node, "sensors"); key >= 0; key = od_next(&xl->ld, key))
    if (!od_is_repeated(&xl->ld, node, key) && is_chosen(xl->options->sensors, od_text_of(&xl->ld, key)))
      read_sensor(xl, key);
}
