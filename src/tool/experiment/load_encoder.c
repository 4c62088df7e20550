// The encoder of a sensor: 'encoder', and 'source' where it tells a velocity. How far that is off along the true motion is found by a run
// in signal_sizes.c.
#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "machine/machine.h"

// Lengths are in the unit of the position.
static const od_key keys[] = {
    {"pitch", OD_NUMBER, NULL, "distance between edges", OD_POSITIVE, OD_REQUIRED},
    {"timer", OD_NUMBER, "s", "times are counted in these (0: exact). Two edges within one tick are one tick apart",
     OD_NOT_NEGATIVE, 0},
    {"pulse_error", OD_NUMBER, NULL,
     "each edge lies up to this far from its place, the same for all sensors that read this position and depending on the "
     "seed",
     OD_NOT_NEGATIVE, 0},
    {"standstill", OD_NUMBER, "s", "without an edge for this long it reads zero (0: it never does)", OD_NOT_NEGATIVE,
     0},
    {"edges",
     OD_WHOLE,
     "1",
     "distances between edges that make a velocity: more of them are less coarse and later",
     OD_POSITIVE,
     1,
     {1, OD_MOST_ENCODER_EDGES}},
};
const od_section_class od_encoder_section = {"encoder", "edges that are counted and timed", OD_KEYS(keys)};

// The position that is read: the sensor must say its rate.
static void read_position(od_experiment_loader *xl, int node, od_sensor *s, const char **position_unit) {
  od_loader *ld = &xl->ld;
  const od_experiment *e = xl->e;
  const char *name = od_read_text(ld, node, "source", "the name of an output");
  int output = name ? od_find_output(xl, node) : -1, true_output = -1;
  char rate[80];
  if (output < 0) return;
  const char *unit = od_machine_output_unit(e->model, output);
  od_rate_unit(unit, 1, rate, sizeof rate);
  if (e->truth) true_output = od_machine_output_find(e->truth, name);
  *position_unit = unit;
  s->source = name;
  s->source_output = true_output;
  if (xl->options->more)
    od_complain(ld, node, "a fit takes no velocities by encoders; give it the position");
  else if (strcmp(rate, s->unit) != 0)
    od_complain(ld, node, "'%s' is in %s, and its rate in %s; '%s' is in %s", name, unit, rate, s->name, s->unit);
  else if (e->truth && true_output < 0)
    od_complain(ld, node, "the true machine has no output '%s'", name);
}

bool od_load_encoder(od_experiment_loader *xl, const od_section *sensor, od_sensor *s) {
  od_loader *ld = &xl->ld;
  int node = od_section_get(ld, sensor, "encoder"), source = od_section_get(ld, sensor, "source");
  if (node < 0) return false;
  const char *unit = s->unit;
  if (source >= 0) unit = od_format(ld, "(%s) s", s->unit);
  if (source >= 0) read_position(xl, source, s, &unit);
  if (od_section_get(ld, sensor, "integrate") >= 0)
    od_complain(ld, od_section_get(ld, sensor, "integrate"),
                "an encoder integrates nothing; its 'source' is the position");
  if (od_section_get(ld, sensor, "resolution") >= 0)
    od_complain(ld, od_section_get(ld, sensor, "resolution"), "the resolution of an encoder is its 'pitch'");
  od_section section =
      od_section_open(ld, node, node, od_path(ld, sensor->path, "encoder"), "the encoder", &od_encoder_section);
  if (section.map < 0) return true;
  int first = ld->document->numbers.count;
  for (int i = 0; i < od_encoder_section.count; i++)
    od_read_key_in(ld, &section, keys[i].name, keys[i].of ? keys[i].of : unit, OD_IN_LOADER);
  s->encoder = (od_encoder){.pitch = od_number_value(ld, first),
                            .timer = od_number_value(ld, first + 1),
                            .pulse_error = od_number_value(ld, first + 2),
                            .standstill = od_number_value(ld, first + 3),
                            .edges = (int)od_read_whole(ld, first + 4, "edges", 1, OD_MOST_ENCODER_EDGES)};
  if (s->encoder.pulse_error > s->encoder.pitch / 4)
    od_complain_number(ld, first + 2, "'pulse_error' must be at most a quarter of the pitch");
  for (int i = 1; source < 0 && i < 5; i++)
    if (i != 2 && od_number_is_given(ld, first + i))
      od_complain_number(ld, first + i, "'%s' is of velocities, which need 'source', the position", keys[i].name);
  // With a mistake here the rest is read as it is probably meant.
  if (!(s->encoder.pitch > 0)) s->encoder.pitch = 1;
  // A position in whole pitches.
  if (!s->source) s->resolution = s->encoder.pitch;
  return true;
}
