// Sensors with an encoder. Such a sensor measures a position, counted in pitches. A sensor with the key 'source'
// measures a velocity from the times of edges; 'source' is the position. The error of a velocity is computed by a run
// along the true motion (signal_sizes.c).
#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/encoder.h"
#include "experiment/sensor.h"
#include "io/display.h"
#include "machine/machine.h"

// Lengths have the unit of the position.
static const od_key keys[] = {
    {"pitch", OD_NUMBER, NULL, "distance between edges", OD_POSITIVE, OD_REQUIRED},
    {"timer", OD_NUMBER, "s",
     "resolution of the edges' times; 0: exact. Two edges within one tick count as one tick "
     "apart",
     OD_NOT_NEGATIVE, 0},
    {"pulse_error", OD_NUMBER, NULL,
     "largest error of the position of an edge. The errors depend on the seed, and are equal for all sensors that read this "
     "position",
     OD_NOT_NEGATIVE, 0},
    {"standstill", OD_NUMBER, "s",
     "time without an edge after which the velocity is zero; 0: the last velocity is held", OD_NOT_NEGATIVE, 0},
    {"edges",
     OD_WHOLE,
     "1",
     "number of distances between edges from which a velocity is computed; a larger number gives a more precise but "
     "later value",
     OD_POSITIVE,
     1,
     {1, OD_MOST_ENCODER_EDGES}},
};
enum { PITCH, TIMER, PULSE_ERROR, STANDSTILL, EDGES, NUMBERS };  // indices in od_sensor.number
static const od_section_class encoder_section = {"encoder", "edges that are counted and timed", OD_KEYS(keys)};

static const od_key sensor_keys[] = {{"encoder", OD_SECTION, NULL,
                                      "[encoder](experiment-files.md#encoders) whose edges the sensor counts and times",
                                      .inside = &encoder_section}};
static const od_section_class sensor_section = {"sensor with an encoder", "the encoder", OD_KEYS(sensor_keys)};

static const od_sensor_class velocity;  // type of a sensor of a velocity, whose 'source' is the position

// Reads the position of a velocity sensor. The measured output must be the rate of this position.
static void read_position(od_experiment_loader *xl, int node, od_sensor *s, const char **position_unit) {
  od_loader *ld = &xl->ld;
  od_source source = od_read_source(xl, node);
  char rate[80];
  if (source.output < 0) return;
  od_rate_unit(source.unit, 1, rate, sizeof rate);
  *position_unit = source.unit;
  s->source = source.name;
  s->source_output = source.true_output;
  if (xl->options->more)
    od_complain(ld, node, "the velocity of an encoder is not possible in a fit; expected a sensor of the position");
  else if (strcmp(rate, s->unit) != 0)
    od_complain(ld, node, "'%s' is in %s, so its rate is in %s; expected %s, the unit of '%s'", source.name,
                source.unit, rate, s->unit, s->name);
  else if (xl->e->truth && source.true_output < 0)
    od_complain(ld, node, "the true machine has no output '%s'; choose an output that both machines have", source.name);
}

// Reads the section of an encoder.
static void load(od_experiment_loader *xl, const od_section *sensor, od_sensor *s, const char **read_unit) {
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, sensor, "encoder"), source = od_section_get(ld, sensor, "source");
  const char *unit = s->unit;
  (void)read_unit;  // the noise has the unit of the displayed value, so *read_unit does not change
  s->of = source >= 0 ? &velocity : &od_sensor_encoder;
  if (source >= 0) unit = od_format(ld, "(%s) s", s->unit);
  if (source >= 0) read_position(xl, source, s, &unit);
  if (od_section_get(ld, sensor, "integrate") >= 0)
    od_complain(ld, od_section_get(ld, sensor, "integrate"),
                "'integrate' is not allowed in a sensor with an encoder; remove 'integrate'");
  if (od_section_get(ld, sensor, "resolution") >= 0)
    od_complain(ld, od_section_get(ld, sensor, "resolution"),
                "'resolution' is not allowed in a sensor with an encoder; use 'pitch' instead");
  od_section section =
      od_section_open(ld, node, node, od_path(ld, sensor->path, "encoder"), "the encoder", &encoder_section);
  // After an error the remaining keys are read with their probable meaning.
  s->number[PITCH] = 1;
  if (section.map < 0) return;
  int first = ld->document->numbers.count;
  for (int i = 0; i < NUMBERS; i++) {
    od_read_key_in(ld, &section, keys[i].name, keys[i].of ? keys[i].of : unit, OD_IN_LOADER);
    s->number[i] = od_number_value(ld, first + i);
  }
  s->number[EDGES] = od_read_whole(ld, first + EDGES, "edges", 1, OD_MOST_ENCODER_EDGES);
  if (s->number[PULSE_ERROR] > s->number[PITCH] / 4)
    od_complain_number(ld, first + PULSE_ERROR, "'pulse_error' is %s; expected at most a quarter of 'pitch', %s",
                       od_display_quantity(s->number[PULSE_ERROR], unit).text,
                       od_display_quantity(s->number[PITCH] / 4, unit).text);
  for (int i = TIMER; source < 0 && i < NUMBERS; i++)
    if (i != PULSE_ERROR && od_number_is_given(ld, first + i))
      od_complain_number(ld, first + i, "'%s' is for velocities only; a velocity needs 'source', the position",
                         keys[i].name);
  if (!(s->number[PITCH] > 0)) s->number[PITCH] = 1;
  // A measured position is a multiple of the pitch.
  if (!s->source) s->resolution = s->number[PITCH];
}

// --- Measurements -------------------------------------------------------------------------------------------------

static od_encoder encoder_of(const od_sensor *s) {
  return (od_encoder){.pitch = s->number[PITCH],
                      .timer = s->number[TIMER],
                      .pulse_error = s->number[PULSE_ERROR],
                      .standstill = s->number[STANDSTILL],
                      .edges = (int)s->number[EDGES]};
}

// Returns the displayed position: the count times the pitch.
static double show_position(const od_sensor *s, const od_sensor_memory *m, double value) {
  const od_encoder e = encoder_of(s);
  const od_encoder_memory edges = {.seed = m->seed, .stream = m->stream};
  return e.pitch * od_encoder_count(&e, &edges, value);
}

// Returns the reading of a velocity, from the true position and the true velocity.
static double sense_velocity(const od_sensor *s, od_sensor_memory *m, double t, double position) {
  const od_encoder e = encoder_of(s);
  od_encoder_memory *edges = m->of_type;
  edges->seed = m->seed;
  edges->stream = m->stream;
  return od_encoder_velocity(&e, edges, t, position, m->own);
}

const od_sensor_class od_sensor_encoder = {
    .name = "an encoder", .section = &sensor_section, .load = load, .show = show_position, .has_noise = true};
static const od_sensor_class velocity = {.name = "an encoder",
                                         .memory = sizeof(od_encoder_memory),
                                         .sense = sense_velocity,
                                         .has_noise = true,
                                         .errs_by_path = true};
