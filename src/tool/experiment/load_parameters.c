// Loads the section 'parameters': estimated numbers of the model and calibrations of sensors.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "document/suggest.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "experiment/truth_change.h"
#include "machine/machine.h"

// Numbers have the unit of the parameter.
static const od_key keys[] = {
    {"sigma", OD_NUMBER, NULL,
     "standard deviation of the error of `start`; a value below a millionth of `start` causes a warning", OD_POSITIVE,
     OD_REQUIRED, .by_unit = od_sigma_limits, .otherwise = "required, except in fits"},
    {"start", OD_NUMBER, NULL, "initial value", .otherwise = "the model's value"},
    {"noise", OD_NUMBER, NULL, "standard deviation of the parameter's change per step", OD_NOT_NEGATIVE, 0,
     .otherwise = "the parameter is constant"},
    {"change", OD_NUMBER, NULL,
     "standard deviation of a [sudden change](experiment-files.md#parameters-that-change), which the observer detects and follows",
     OD_NOT_NEGATIVE, 0, .otherwise = "sudden changes are not expected"},
    {"low", OD_NUMBER, NULL,
     "lower bound. Estimates also stay within the [possible values](machine-files.md#possible-and-usual-values) of the "
     "number; a bound or a start outside these values is an error",
     .otherwise = "none"},
    {"high", OD_NUMBER, NULL, "upper bound", .otherwise = "none"},
    {"drawn", OD_FLAG, NULL,
     "whether random starts of observers change this parameter (`start: random` of [studies](study-files.md), `--random-start`)",
     .fallback = 1},
};
const od_section_class od_parameter_section = {"parameter", "a number of the model that is estimated", OD_KEYS(keys)};

int od_find_free_number(od_experiment_loader *xl, const od_machine *machine, int key, const char *purpose) {
  od_loader *ld = &xl->ld;
  const char *path = od_text_of(ld, key);
  int number = od_machine_number_find(machine, path);
  if (number >= 0 && !od_machine_number_is_free(machine, number)) {
    const char *source = od_machine_number_source(machine, number), *blocks = od_machine_number_blocks(machine, number);
    if (source)
      od_complain(ld, key,
                  "'%s' cannot %s, because the machine file defines this number as '%s'; expected '%s' instead", path,
                  purpose, od_excerpt(ld, od_machine_number(machine, number).given), source);
    else if (blocks)
      od_complain(
          ld, key,
          "'%s' cannot %s, because '%s' depends on this number and is not a number of the bodies or the circuit; expected a "
          "number without such a dependence",
          path, purpose, blocks);
    else
      od_complain(ld, key, "'%s' cannot %s; expected a number of the bodies or the circuit", path, purpose);
    return -1;
  }
  if (number >= 0) return number;
  od_nearest nearest = od_nearest_to(path);
  for (int i = 0; i < od_machine_number_count(machine); i++)
    if (od_machine_number_is_free(machine, i)) od_nearest_try(&nearest, od_machine_number(machine, i).path);
  for (int i = 0; i < xl->e->sensors; i++) {
    od_nearest_try(&nearest, od_format(ld, "sensors.%s.bias", xl->e->sensor[i].name));
    od_nearest_try(&nearest, od_format(ld, "sensors.%s.scale", xl->e->sensor[i].name));
  }
  od_complain_unknown(ld, key, "number", "numbers", &nearest);
  return -1;
}

// Returns the length of the list that a path ends in: 3 for "curve.points[1]" with three points; 0: no list.
static int list_length(od_loader *ld, const od_machine *machine, const char *path) {
  const char *bracket = strrchr(path, '[');
  int count = 0;
  if (!bracket) return 0;
  while (od_machine_number_find(machine, od_format(ld, "%.*s[%d]", (int)(bracket - path), path, count)) >= 0) count++;
  return count;
}

// Returns the value of a number in the true machine; NAN: there is no such number. Points of two curves correspond only
// if both curves have the same number of points.
static double true_value(od_experiment_loader *xl, const char *path) {
  const od_experiment *e = xl->e;
  int number = e->truth ? od_machine_number_find(e->truth, path) : -1;
  if (number < 0 || list_length(&xl->ld, e->truth, path) != list_length(&xl->ld, e->model, path)) return NAN;
  return od_machine_number(e->truth, number).value;
}

static double given_or(od_loader *ld, int number, double otherwise) {
  return od_number_is_given(ld, number) ? od_number_value(ld, number) : otherwise;
}

// Recognizes the calibration of a sensor: "sensors.P.pressure.bias", ".scale" or ".delay". Returns false if the key is not
// a calibration.
static bool find_calibration(od_experiment_loader *xl, int key, od_estimated *p) {
  static const char *const kinds[] = {".bias", ".scale", ".delay"};
  const char *path = od_text_of(&xl->ld, key);
  if (strncmp(path, "sensors.", 8) != 0) return false;
  for (int i = 0; i < xl->e->sensors; i++) {
    const od_sensor *s = &xl->e->sensor[i];
    size_t length = strlen(s->name);
    const char *const unit[] = {s->unit, "1", "s"};
    const double truth[] = {s->bias, s->scale, s->delay}, start[] = {0, 1, 0};
    for (int k = 0; k < 3; k++) {
      if (strncmp(path + 8, s->name, length) != 0 || strcmp(path + 8 + length, kinds[k]) != 0) continue;
      *p = (od_estimated){.number = -1, .sensor = i, .calibrated = (od_calibrated)k, .unit = unit[k]};
      p->least = -INFINITY, p->most = INFINITY;
      p->truth = xl->simulated ? truth[k] : (double)NAN;
      p->start = start[k];
      return true;
    }
  }
  return false;
}

// Finds the parameter of a path: unit, initial value in the model and true value. Returns false after reporting an
// error.
static bool find_estimated(od_experiment_loader *xl, int key, od_estimated *p) {
  if (find_calibration(xl, key, p)) return true;
  int number = od_find_free_number(xl, xl->e->model, key, "be estimated");
  if (number < 0) return false;
  od_number in_model = od_machine_number(xl->e->model, number);
  *p = (od_estimated){.number = number,
                      .sensor = -1,
                      .unit = in_model.unit,
                      .start = in_model.value,
                      .least = in_model.low,
                      .most = in_model.high,
                      .truth = true_value(xl, od_text_of(&xl->ld, key))};
  if (xl->e->truth)
    p->change = 1 + od_truth_change_of(xl->e, od_machine_number_find(xl->e->truth, od_text_of(&xl->ld, key)));
  return true;
}

// Reads a parameter to estimate: start, standard deviation, noise, bounds. Reports impossible combinations, and a sigma in a wrong unit.
static void read_parameter(od_experiment_loader *xl, int key) {
  // Limit of sigma relative to the initial value; a smaller sigma causes a warning.
  static const double least_part = 1e-6;
  od_loader *ld = &xl->ld;
  const char *name = od_text_of(ld, key);
  od_estimated p;
  bool found = find_estimated(xl, key, &p);
  if (found && p.sensor >= 0 && p.calibrated == OD_SENSOR_DELAY && !xl->options->more) {
    od_complain(ld, key,
                "'%s' can only be estimated by 'oleodyn fit'; give an observer the delay as 'delay' of the channel",
                od_excerpt(ld, name));
    return;
  }
  od_section section =
      od_section_open(ld, od_value(ld, key), key, od_format(ld, "parameters.%s", name),
                      od_format(ld, "the parameter '%s'", od_excerpt(ld, name)), &od_parameter_section);
  if (section.map < 0 || !found) return;
  enum { NUMBERS = 6 };
  od_field fields[NUMBERS];
  for (int i = 0; i < NUMBERS; i++) fields[i] = od_key_field_in(&section, keys[i].name, p.unit);
  if (xl->options->more) fields[0].fallback = 1;
  fields[1].fallback = p.start;
  int first = od_read_fields(ld, &section, fields, NUMBERS, OD_IN_LOADER);
  p.path = name;
  p.sigma = given_or(ld, first, 0);  // a fit needs no sigma
  p.start = od_number_value(ld, first + 1);
  p.noise = od_number_value(ld, first + 2);
  p.jump = od_number_value(ld, first + 3);
  p.keeps_start = !od_read_flag(ld, &section, "drawn");
  p.low = given_or(ld, first + 4, -INFINITY);
  p.high = given_or(ld, first + 5, INFINITY);
  const char *unit = strcmp(p.unit, "1") ? p.unit : "";
  if (p.number >= 0) {
    od_number number = od_machine_number(xl->e->model, p.number);
    od_check_number_limits(ld, first + 1, "start", &number);
    od_check_number_limits(ld, first + 4, "low", &number);
    od_check_number_limits(ld, first + 5, "high", &number);
  }
  // The unit of a tiny sigma is probably wrong or missing.
  double part = p.sigma / fabs(p.start);
  if (od_number_is_given(ld, first) && part < least_part)
    od_warn_number(
        ld, first,
        "'sigma' of '%s' is %.2g times 'start', so the observer hardly changes the parameter; check the unit of "
        "'sigma'",
        name, part);
  if (xl->structure == OD_NOISE_MECHANICAL && p.noise > 0)
    od_complain_number(
        ld, first + 2,
        "the parameter '%s' has 'noise', but 'structure: mechanical' has noise of accelerations only; use "
        "'structure: coupled', or remove 'noise'",
        name);
  if (p.jump > 0 && !xl->e->filter->detects_changes)
    od_complain_number(
        ld, first + 3,
        "the filter '%s' does not detect changes; expected a filter that linearizes the machine, such as "
        "'iterated-ekf', or no 'change'",
        xl->e->filter->name);
  if (!(p.low < p.high))
    od_complain_relation(ld, first + 4, "less than", first + 5, NULL);
  else if (p.start < p.low || p.start > p.high)
    od_complain(ld, key, "'start' of '%s' is %.6g%s%s; expected %s %.6g (%s)", name, p.start, *unit ? " " : "", unit,
                p.start < p.low ? "at least" : "at most", p.start < p.low ? p.low : p.high,
                p.start < p.low ? "'low'" : "'high'");
  xl->e->parameter[xl->e->parameters++] = p;
}

// Reads numbers of the model first, then calibrations, both in the order of the file.
void od_load_parameters(od_experiment_loader *xl, int node) {
  for (int calibrations = 0; calibrations < 2; calibrations++)
    for (int key = od_first(&xl->ld, node, "parameters"); key >= 0; key = od_next(&xl->ld, key)) {
      od_estimated p;
      if (find_calibration(xl, key, &p) == (calibrations == 1) && !od_is_repeated(&xl->ld, node, key))
        read_parameter(xl, key);
    }
}
