// Integrating sensors. Such a sensor reads the first or second derivative of the measured output. The sensor integrates its reading
// once or twice with the trapezoidal rule.
#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/sensor.h"
#include "machine/machine.h"

static const od_key keys[] = {
    {"integrate", OD_WHOLE, "1", "number of integrations of `source`", OD_POSITIVE, 0, {1, 2}, "none"}};
static const od_section_class section = {"integrating sensor", "the integrated output", OD_KEYS(keys)};

enum { TIMES };  // index in od_sensor.number

// Reads 'integrate' and 'source'.
static void load(od_experiment_loader *xl, const od_section *sensor, od_sensor *s, const char **read_unit) {
  od_loader *ld = &xl->ld;
  int number = od_read_keys(ld, sensor, OD_IN_LOADER, "integrate", NULL);
  int node = od_section_get(ld, sensor, "source");
  int times = (int)od_read_whole(ld, number, "integrate", 1, 2);
  bool is_possible = od_number_value(ld, number) == times;
  od_source source = {.output = -1};
  if (node >= 0) source = od_read_source(xl, node);
  char wanted[80];
  od_rate_unit(s->unit, times, wanted, sizeof wanted);
  // After an error the remaining keys are read with their probable meaning.
  *read_unit = source.unit ? source.unit : od_copy(ld, wanted, strlen(wanted));
  if (node < 0) od_section_lacks(ld, sensor, "source");
  if (!source.unit || !is_possible) return;
  if (xl->options->more)
    od_complain(ld, node, "integrating sensors are not possible in a fit; expected a sensor of the measured output");
  else if (strcmp(source.unit, wanted) != 0)
    od_complain(ld, node, "'%s' is in %s; expected an output in %s, because '%s' is its %s integral", source.name,
                source.unit, wanted, s->name, times > 1 ? "double" : "single");
  else if (xl->e->truth && source.true_output < 0)
    od_complain(ld, node, "the true machine has no output '%s'; choose an output that both machines have", source.name);
  s->of = &od_sensor_integrating;
  s->source = source.name;
  s->source_output = source.true_output;
  s->number[TIMES] = times;
}

typedef struct integral {
  bool has_begun;
  double reading;      // the last reading
  double rate, value;  // integrals: rate of the measured output (two integrations only), measured output
} integral;

static void begin(const od_sensor *s, od_sensor_memory *m, double value, double rate) {
  integral *i = m->of_type;
  i->value = value;
  i->rate = s->number[TIMES] > 1 ? rate : 0;
}

static double integrate(const od_sensor *s, od_sensor_memory *m, double reading, double h) {
  integral *i = m->of_type;
  if (isnan(reading)) return NAN;
  bool twice = s->number[TIMES] > 1;
  double before = twice ? i->rate : i->reading, after = reading;
  if (i->has_begun) {
    if (twice) after = i->rate = i->rate + h * (i->reading + reading) / 2;
    i->value += h * (before + after) / 2;
  }
  i->has_begun = true;
  i->reading = reading;
  return i->value;
}

// Returns the standard deviation of the integrated noise at the end of the run.
static double sigma(const od_sensor *s, double of_readings) {
  if (s->number[TIMES] > 1) return of_readings * sqrt(s->interval * s->duration / 3) * s->duration;
  return of_readings * sqrt(s->interval * s->duration);
}

const od_sensor_class od_sensor_integrating = {.name = "'integrate'",
                                               .section = &section,
                                               .load = load,
                                               .memory = sizeof(integral),
                                               .begin = begin,
                                               .integrate = integrate,
                                               .sigma = sigma,
                                               .needs_rates = true};
