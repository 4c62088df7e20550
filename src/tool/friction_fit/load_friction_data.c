// The data of a friction file: points of steady motion, and a run.
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "document/ranges.h"
#include "friction_fit/friction_loader.h"
#include "friction_fit/friction_sections.h"

enum { MOST_CHANGES = 100 };

// --- Tables -------------------------------------------------------------------------------------------------------

static const od_key error_keys[] = {
    {"kind", OD_CHOICE, "none|normal|uniform|polynomial|position", "kind of the simulated errors of the force",
     .fallback = OD_REQUIRED},
    {"size", OD_NUMBER, "N",
     "size of the errors: standard deviation (`normal`), half-width (`uniform`), largest error at -range, 0 and range "
     "(`polynomial`), amplitude (`position`); 0: no errors",
     OD_NOT_NEGATIVE, 0},
    {"range", OD_NUMBER, "N", "force at the ends of the range of a `polynomial` error", OD_POSITIVE, 5000},
    {"length", OD_NUMBER, "m", "wavelength of a `position` error", OD_POSITIVE, 0.1, OD_RANGE_LENGTH}};
static const od_section_class error_section = {"friction error", "simulated errors of the force", OD_KEYS(error_keys)};

#define COLUMN(name, what) \
  { name, OD_TEXT, NULL, "column of " what, .otherwise = "\"" name "\"" }
static const od_key points_keys[] = {
    {"log", OD_TEXT, NULL, "file with the points; without a file, points are simulated or taken from the run"},
    COLUMN("velocity", "speeds"),
    COLUMN("force", "forces"),
    {"sigma", OD_TEXT, NULL, "column of standard deviations of the forces"},
    {"from", OD_NUMBER, "m/s", "lowest speed of the points"},
    {"to", OD_NUMBER, "m/s", "highest speed of the points"},
    {"step", OD_NUMBER, "m/s", "difference between neighboring speeds; alternative: `count`", OD_POSITIVE, 0,
     .otherwise = "from `count`"},
    {"count",
     OD_WHOLE,
     "1",
     "number of speeds in each direction, placed with the density floor + peak exp(-decay v)",
     OD_POSITIVE,
     0,
     {2, 100000},
     "from `step`"},
    {"peak", OD_NUMBER, "1", "peak of the density of speeds", OD_NOT_NEGATIVE, 0},
    {"decay", OD_NUMBER, "s/m", "decay of the density of speeds", OD_NOT_NEGATIVE, 0},
    {"floor", OD_NUMBER, "1", "floor of the density of speeds", OD_NOT_NEGATIVE, 1},
    {"every",
     OD_WHOLE,
     "1",
     "distance between two points, in samples of the run",
     OD_POSITIVE,
     0,
     {1, 1e6},
     "no points from the run"},
    {"time", OD_NUMBERS, "s",
     "first and last time of points from the run; without `every`, of settled parts of the run", .otherwise = "all"},
    {"error", OD_SECTION, NULL, "simulated errors of the force", .inside = &error_section},
};
const od_section_class od_friction_points_section = {"friction points", "speeds and forces of steady motion",
                                                     OD_KEYS(points_keys)};

// The keys are the names in od_velocity_shapes, then the additional keys of some shapes.
#define SPEED(name, what) \
  { name, OD_NUMBER, "m/s", what, .otherwise = "none" }
static const od_key piece_keys[] = {
    SPEED("hold", "constant speed; the value is ignored"),
    SPEED("ramp", "final speed of a straight ramp"),
    SPEED("half_cosine", "final speed of a half-cosine"),
    SPEED("lag", "final speed of a first-order lag"),
    SPEED("sine", "amplitude of a sine"),
    SPEED("jump", "speed after a jump"),
    {"frequency", OD_NUMBER, "Hz", "frequency of a sine", OD_POSITIVE, 0, OD_RANGE_FREQUENCY, "required with `sine`"},
    {"time_constant", OD_NUMBER, "s", "time constant of a lag", OD_POSITIVE, 0, OD_RANGE_TIME_CONSTANT,
     "required with `lag`"},
    {"time", OD_NUMBER, "s", "duration of the piece", OD_POSITIVE, OD_REQUIRED, OD_RANGE_TIME},
};
static const od_section_class piece_section = {"friction piece", "piece of a simulated run: one shape and its duration",
                                               OD_KEYS(piece_keys)};

static const od_key balance_keys[] = {
    {"pressures", OD_TEXTS, NULL, "columns of the pressures p1 and p2", .fallback = OD_REQUIRED},
    {"areas", OD_NUMBERS, "m2", "piston areas A1 and A2", OD_POSITIVE, OD_REQUIRED, {1e-14, 10, 1e-9, 1}},
    {"load", OD_TEXT, NULL, "column of the load force"},
    {"mass", OD_NUMBER, "kg", "accelerated mass", OD_NOT_NEGATIVE, 0, OD_RANGE_MASS},
    {"acceleration", OD_TEXT, NULL, "column of the acceleration", .otherwise = "from the velocity"},
    {"pressure_sigma", OD_NUMBER, "Pa", "standard deviation of the pressures", OD_NOT_NEGATIVE, 0},
    {"load_sigma", OD_NUMBER, "N", "standard deviation of the load", OD_NOT_NEGATIVE, 0},
    {"acceleration_sigma", OD_NUMBER, "m/s2", "standard deviation of the acceleration", OD_NOT_NEGATIVE, 0},
    {"area_sigma", OD_NUMBER, "1", "relative error of the areas, for the error budget", OD_NOT_NEGATIVE, 0},
    {"mass_sigma", OD_NUMBER, "1", "relative error of the mass, for the error budget", OD_NOT_NEGATIVE, 0},
};
static const od_section_class balance_section = {
    "friction balance", "force from pressures, load and acceleration: p1 A1 - p2 A2 - load - mass a",
    OD_KEYS(balance_keys)};

static const od_key settling_keys[] = {
    {"window", OD_NUMBER, "s", "duration of a window; the mean speeds of its thirds are compared", OD_POSITIVE, 0.1},
    {"drift", OD_NUMBER, "1",
     "largest difference of the mean speeds in a settled window, as a fraction of the speed, in addition to the noise",
     OD_POSITIVE, 0.01},
    {"least", OD_NUMBER, "s", "shortest duration of steady motion", OD_NOT_NEGATIVE, 0.5},
    {"drop_rise", OD_FLAG, NULL,
     "whether to remove points that are slower than the point with the largest force in the same direction"},
};
static const od_section_class settling_section = {"friction settling", "criteria for steady motion",
                                                  OD_KEYS(settling_keys)};

static const od_key run_keys[] = {
    {"log", OD_TEXTS, NULL,
     "[log](logs.md), whose columns have units in the file or by `--map`; `--data FILE` replaces the file. A list of files is a "
     "[series](friction-files.md#series) of repeated measurements"},
    {"experiment", OD_TEXT, NULL,
     "[experiment file](experiment-files.md) instead of a log. The true machine of the experiment is simulated once. The sensors are "
     "the columns, with the noise of the seed. The balance uses the noise of the sensors. The verdict has a remark if the step of the "
     "experiment is too long for its machine, or if integration errors exceed the sensors' noise"},
    {"variant", OD_TEXT, NULL, "variant of the experiment"},
    {"set", OD_NUMBER_MAP, NULL, "new values of numbers of the experiment, by path"},
    {"time", OD_TEXT, NULL, "time column", .otherwise = "found by its name"},
    COLUMN("velocity", "speeds"),
    COLUMN("force", "forces"),
    {"position", OD_TEXT, NULL, "column of positions, to detect or estimate friction that depends on the position"},
    {"balance", OD_SECTION, NULL, "force from pressures, load and acceleration", .inside = &balance_section},
    {"pressures", OD_TEXTS, NULL, "two columns of pressures, for `per_p1` and `per_p2`",
     .otherwise = "the columns of the balance"},
    {"smooth", OD_NUMBER, "s",
     "duration of the window in which the logged speed is smoothed by parabolas (Savitzky and Golay). Noise of the speed shifts "
     "estimates, because the noise acts on the law like motion",
     OD_NOT_NEGATIVE, 0},
    {"slope", OD_NUMBER, "s",
     "duration of the window in which the speed is computed as the slope of the column `position`, by parabolas; the "
     "column `velocity` is then not used. Use this key for encoders, whose own speed is late where the motion reverses",
     OD_NOT_NEGATIVE, 0},
    {"skip", OD_NUMBER, "s",
     "duration at the beginning of the run that is not fitted; the simulation of the law starts at rest and without a film",
     OD_NOT_NEGATIVE, 0},
    {"from", OD_NUMBER, "m", "position at the beginning of a simulated run", OD_ANY, 0},
    {"step", OD_NUMBER, "s", "sampling interval of a simulated run", OD_POSITIVE, 1e-3, OD_RANGE_STEP},
    {"data_substeps",
     OD_WHOLE,
     "1",
     "number of integration steps between two samples in the simulation of the true law",
     OD_POSITIVE,
     1,
     {1, 100000}},
    {"vary", OD_NUMBER, "1",
     "for studies: largest relative change of the speeds and times of the pieces; the seed determines the changes",
     OD_NOT_NEGATIVE, 0},
    {"stretch", OD_NUMBER, "1", "factor by which the durations of all pieces are multiplied", OD_POSITIVE, 1},
    {"error", OD_SECTION, NULL, "simulated errors of the force", .inside = &error_section},
    {"pieces", OD_SECTIONS, NULL, "pieces of a simulated run, which begins at rest", .inside = &piece_section},
    {"settling", OD_SECTION, NULL, "criteria for steady motion", .inside = &settling_section},
};
const od_section_class od_friction_run_section = {"friction run", "speed and force over time", OD_KEYS(run_keys)};

// --- Errors -------------------------------------------------------------------------------------------------------

static void read_error(od_friction_reader *r, int node, const char *path, od_friction_error *out) {
  od_loader *ld = &r->ld;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, path, "error", &error_section);
  int chosen = od_key_choice(ld, &section, "kind");
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "size", "range", "length", NULL);
  *out = (od_friction_error){chosen > 0 ? (od_friction_error_kind)chosen : OD_ERROR_NONE, od_number_value(ld, first),
                             od_number_value(ld, first + 1), od_number_value(ld, first + 2)};
  // An error of size zero has no effect until a study or --set changes the size.
  if (!(out->size > 0)) out->kind = OD_ERROR_NONE;
}

static const char *read_optional(od_loader *ld, const od_section *section, const char *key, const char *wanted) {
  int node = od_section_get(ld, section, key);
  return node >= 0 ? od_read_text(ld, node, key, wanted) : NULL;
}

// --- Points -------------------------------------------------------------------------------------------------------

void od_friction_read_points(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_friction_points *p = &r->plan->points;
  p->time[0] = -INFINITY, p->time[1] = INFINITY;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "points", "points", &od_friction_points_section);
  if (section.map < 0) return;
  p->given = true;
  const char *log = read_optional(ld, &section, "log", "a file");
  p->log = log ? od_document_beside(ld, od_section_get(ld, &section, "log"), log) : NULL;
  p->velocity = read_optional(ld, &section, "velocity", "a column");
  p->force = read_optional(ld, &section, "force", "a column");
  p->sigma = read_optional(ld, &section, "sigma", "a column");
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "from", "to", "step", "count", "peak", "decay", "floor", NULL);
  p->low = od_number_value(ld, first), p->high = od_number_value(ld, first + 1);
  p->step = od_number_value(ld, first + 2);
  p->count = od_number_is_given(ld, first + 3) ? (int)od_read_whole(ld, first + 3, "count", 2, 100000) : 0;
  p->peak = od_number_value(ld, first + 4), p->decay = od_number_value(ld, first + 5);
  p->floor = od_number_value(ld, first + 6);
  read_error(r, od_section_get(ld, &section, "error"), "points.error", &p->error);
  int number = od_read_keys(ld, &section, OD_IN_LOADER, "every", NULL);
  if (od_number_is_given(ld, number)) p->every = (int)od_read_whole(ld, number, "every", 1, 1e6);
  od_friction_read_times(r, &section, "points", "time", p->time);
  // If the file gives only 'time', the points are the settled parts of the run within this time.
  bool settled = od_section_get(ld, &section, "time") >= 0 && !od_number_is_given(ld, first) &&
                 !od_number_is_given(ld, first + 1) && !p->log;
  if (p->every > 0 || settled) p->given = false;
  if (p->log || p->every > 0 || settled) return;
  if (!(p->high > p->low))
    od_complain(ld, node, "'from' is %g m/s and 'to' is %g m/s; expected 'to' above 'from'", p->low, p->high);
  if (p->count > 0 && !(p->low > 0))
    od_complain_number(ld, first,
                       "'from' is %g m/s; expected a positive speed, because 'count' places points in both directions",
                       p->low);
  if (p->count > 0 && !(p->peak + p->floor > 0))
    od_complain_number(ld, first + 6, "'peak' and 'floor' are both zero; expected at least one positive number");
  if ((p->count > 0) == (p->step > 0))
    od_complain(ld, node, "points need either 'step' or 'count'; give one of these keys");
  if (p->step > 0 && (p->high - p->low) / p->step > 1e6)
    od_complain_number(ld, first + 2, "'from', 'to' and 'step' give %.3g points; expected at most 1 million",
                       (p->high - p->low) / p->step);
}

// --- The run ------------------------------------------------------------------------------------------------------

// Reads a piece such as { ramp: 0.05 m/s, time: 2 s } and adds the piece to the run. A sine also has a frequency, and a
// lag has a time constant.
static void read_piece(od_friction_reader *r, int node, int index) {
  od_loader *ld = &r->ld;
  const char *path = od_format(ld, "run.pieces[%d]", index);
  od_section section = od_section_open(ld, node, node, path, "a piece of the run", &piece_section);
  od_velocity_piece p = {.shape = OD_VELOCITY_SHAPES};
  if (section.map < 0) return;
  for (int s = 0; s < OD_VELOCITY_SHAPES; s++) {
    int value = od_section_get(ld, &section, od_velocity_shapes[s]);
    if (value < 0) continue;
    if (p.shape != OD_VELOCITY_SHAPES) {
      od_complain(ld, node, "found both '%s' and '%s', expected one shape per piece", od_velocity_shapes[p.shape],
                  od_velocity_shapes[s]);
      return;
    }
    const od_field field = od_key_field(&section, od_velocity_shapes[s]);
    p.shape = (od_velocity_shape)s;
    if (s != OD_VELOCITY_HOLD)
      p.value = od_number_value(
          ld, od_read_number(ld, value, od_path(ld, path, field.key), &field, od_place_of(ld, node), OD_IN_LOADER));
  }
  if (p.shape == OD_VELOCITY_SHAPES) {
    od_complain(ld, node, "a piece needs one of the shapes 'hold', 'ramp', 'half_cosine', 'lag', 'sine' and 'jump'");
    return;
  }
  od_field fields[] = {od_key_field(&section, "frequency"), od_key_field(&section, "time_constant"),
                       od_key_field(&section, "time")};
  if (p.shape == OD_VELOCITY_SINE) fields[0].fallback = NAN;
  if (p.shape == OD_VELOCITY_LAG) fields[1].fallback = NAN;
  int first = od_read_fields(ld, &section, fields, 3, OD_IN_LOADER);
  p.number = od_number_value(ld, p.shape == OD_VELOCITY_SINE ? first : first + 1);
  p.time = od_number_value(ld, first + 2);
  r->plan->run.piece[r->plan->run.pieces++] = p;
}

static void read_pieces(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of pieces", od_describe(ld, node));
    return;
  }
  int index = 0;
  for (int entry = ld->tree.node[node].first; entry >= 0; entry = ld->tree.node[entry].next, index++) {
    if (index == OD_MOST_PIECES) {
      od_complain(ld, entry, "found %d pieces of the run, expected at most %d", od_list_count(ld, node),
                  OD_MOST_PIECES);
      return;
    }
    read_piece(r, entry, index);
  }
  if (index == 0) od_complain(ld, node, "a run needs at least one piece; add an entry to 'pieces'");
}

// Reads the columns and numbers of the force balance (eq. 6.10 of source 28 in docs/theory.md).
static void read_balance(od_friction_reader *r, int node, od_force_balance *b) {
  od_loader *ld = &r->ld;
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "run.balance", "balance", &balance_section);
  if (section.map < 0) return;
  b->given = true;
  int pair[2], node_of = od_section_need(ld, &section, "pressures");
  if (node_of >= 0 && od_read_list(ld, node_of, "pressures", "two columns", 2, pair))
    for (int i = 0; i < 2; i++) b->pressure[i] = od_read_text(ld, pair[i], "pressures", "a column");
  od_field area = od_key_field(&section, "areas");
  area.key = "area";
  od_friction_read_pair(r, od_section_need(ld, &section, "areas"), "run.balance.areas", "two areas", &area, b->area);
  b->load = read_optional(ld, &section, "load", "a column");
  b->acceleration = read_optional(ld, &section, "acceleration", "a column");
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "mass", "pressure_sigma", "load_sigma", "acceleration_sigma",
                           "area_sigma", "mass_sigma", NULL);
  b->mass = od_number_value(ld, first), b->pressure_sigma = od_number_value(ld, first + 1);
  b->load_sigma = od_number_value(ld, first + 2), b->acceleration_sigma = od_number_value(ld, first + 3);
  b->area_sigma = od_number_value(ld, first + 4), b->mass_sigma = od_number_value(ld, first + 5);
}

// Returns the sensor with the name of a column of the balance; NULL: no such sensor.
static const od_sensor *sensor_of(const od_experiment *e, const char *column) {
  for (int i = 0; column && i < e->sensors; i++)
    if (strcmp(e->sensor[i].name, column) == 0) return &e->sensor[i];
  return NULL;
}

// Copies the noise of the sensors to the balance, unless the file gives the noise of the balance.
static void take_sensor_noise(const od_experiment *e, od_force_balance *b) {
  const od_sensor *p[2] = {sensor_of(e, b->pressure[0]), sensor_of(e, b->pressure[1])}, *load = sensor_of(e, b->load);
  if (b->pressure_sigma == 0 && p[0] && p[1])
    b->pressure_sigma =
        hypot(b->area[0] * od_sensor_sigma(p[0]), b->area[1] * od_sensor_sigma(p[1])) / hypot(b->area[0], b->area[1]);
  if (b->load_sigma == 0 && load) b->load_sigma = od_sensor_sigma(load);
}

// Reads the experiment of a run, with the keys 'variant' and 'set'. The experiment must have a true machine.
static void read_experiment(od_friction_reader *r, const od_section *section) {
  od_loader *ld = &r->ld;
  int node = od_section_get(ld, section, "experiment"), changes = od_section_get(ld, section, "set"), count = 0;
  const char *name = node >= 0 ? od_read_text(ld, node, "experiment", "an experiment file") : NULL;
  const char *set[MOST_CHANGES];
  r->has_experiment = node >= 0;
  if (!name) {
    if (node < 0 && (changes >= 0 || od_section_get(ld, section, "variant") >= 0))
      od_complain(ld, section->node,
                  "'variant' and 'set' of a run need an 'experiment'; add this key, or remove 'variant' and 'set'");
    return;
  }
  for (int key = changes >= 0 ? od_first(ld, changes, "numbers") : -1; key >= 0; key = od_next(ld, key)) {
    const char *value = od_read_text(ld, od_value(ld, key), od_text_of(ld, key), "a number or a quantity");
    if (count == MOST_CHANGES)
      od_complain(ld, key, "'%s' is entry %d of 'set'; expected at most %d entries", od_text_of(ld, key), count + 1,
                  MOST_CHANGES);
    if (value && count < MOST_CHANGES) set[count++] = od_format(ld, "%s=%s", od_text_of(ld, key), value);
  }
  const od_experiment_options options = {
      .set = set, .set_count = count, .variant = read_optional(ld, section, "variant", "a variant of the experiment")};
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  od_status status =
      messages ? od_experiment_load(od_document_beside(ld, node, name), &options, &e, messages) : OD_NO_MEMORY;
  for (int i = 0; messages && i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    bool asked = m->file && strncmp(m->file, "--", 2) == 0;
    od_place place = asked ? od_place_of(ld, node) : (od_place){m->file, m->line, m->column};
    od_messages_say(ld->messages, m->is_warning, place, "%s", m->text);
  }
  od_messages_free(messages);
  if (status == OD_NO_MEMORY) ld->no_memory = true;
  if (e && !e->truth)
    od_complain(ld, node, "the experiment observes a log; expected an experiment with a simulated machine");
  r->plan->log.experiment = e;
}

// Reads the log of a run, or the logs of a series. Logs of the program's options replace the logs of the file.
static void read_logs(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  const od_log_settings *settings = &r->options->settings;
  const bool is_given = settings->data.count > 0;
  if (is_given && r->options->logs > 0)
    od_messages_add(ld->messages, (od_place){.file = "--data"},
                    "found both --data and --run; expected the log of one run, or logs of a series");
  bool asked = r->options->logs > 0 || is_given, list = !asked && node >= 0 && ld->tree.node[node].kind == OD_TREE_LIST;
  int count = is_given ? 1 : asked ? r->options->logs : list ? ld->tree.node[node].count : node >= 0;
  if (list && count == 0) od_complain(ld, node, "found an empty list, expected a file or a list of files");
  if (count > OD_MOST_SERIES) {
    od_messages_add(ld->messages, list ? od_place_of(ld, node) : (od_place){.file = "--run"},
                    "found %d logs, expected at most %d", count, OD_MOST_SERIES);
    return;
  }
  int entry = list ? ld->tree.node[node].first : node;
  for (int k = 0; k < count; k++) {
    const char *name = is_given ? settings->data.text[0]
                       : asked  ? r->options->log[k]
                                : od_read_text(ld, entry, "log", "a file");
    plan->series_log[k] = asked || !name ? name : od_document_beside(ld, entry, name);
    if (list) entry = ld->tree.node[entry].next;
  }
  plan->log.file = count > 0 ? plan->series_log[0] : NULL;
  plan->logs = count > 1 ? count : 0;
}

void od_friction_read_run(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  plan->settling = (od_settling){0.1, 0.01, 0.5, false};
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "run", "run", &od_friction_run_section);
  if (section.map < 0) return;
  plan->has_run = true;
  read_logs(r, od_section_get(ld, &section, "log"));
  plan->log.time = read_optional(ld, &section, "time", "a column");
  plan->log.velocity = read_optional(ld, &section, "velocity", "a column");
  plan->log.force = read_optional(ld, &section, "force", "a column");
  plan->log.position = read_optional(ld, &section, "position", "a column");
  int pair[2], pressures = od_section_get(ld, &section, "pressures");
  if (pressures >= 0 && od_read_list(ld, pressures, "pressures", "two columns", 2, pair))
    for (int i = 0; i < 2; i++) plan->log.pressure[i] = od_read_text(ld, pair[i], "pressures", "a column");
  read_balance(r, od_section_get(ld, &section, "balance"), &plan->log.balance);
  if (!plan->log.file) read_experiment(r, &section);
  bool measured = plan->log.file || plan->log.experiment;
  if (plan->log.experiment && plan->log.balance.given) take_sensor_noise(plan->log.experiment, &plan->log.balance);
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "step", "vary", "data_substeps", "skip", "stretch", "smooth",
                           "from", "slope", NULL);
  plan->run_from = od_number_value(ld, first + 6);
  plan->log.slope = od_number_value(ld, first + 7);
  if (plan->log.slope > 0 && !plan->log.position)
    od_complain_number(ld, first + 7,
                       "'slope' needs the column 'position', from which the speed is computed; add this column");
  plan->log.smooth = od_number_value(ld, first + 5);
  plan->run.step = od_number_value(ld, first);
  plan->vary = od_number_value(ld, first + 1);
  plan->data_substeps = (int)od_read_whole(ld, first + 2, "data_substeps", 1, 100000);
  plan->log.skip = od_number_value(ld, first + 3);
  if (plan->vary >= 1) od_complain_number(ld, first + 1, "'vary' is %g; expected less than 1 (100 %%)", plan->vary);
  read_error(r, od_section_get(ld, &section, "error"), "run.error", &plan->run_error);
  int pieces = od_section_get(ld, &section, "pieces");
  if (pieces >= 0 && !measured) read_pieces(r, pieces);
  bool mapped = od_map_find(ld, od_map_find(ld, ld->tree.root, "map"), "runs") >= 0;
  if (pieces < 0 && !measured && !r->has_experiment && !mapped)
    od_complain(ld, node, "a run needs 'pieces', 'log' or 'experiment'; give one of these keys");
  // Stretches the durations. Speeds do not change, and sines keep their number of periods.
  for (int i = 0; i < plan->run.pieces; i++) {
    plan->run.piece[i].time *= od_number_value(ld, first + 4);
    if (plan->run.piece[i].shape == OD_VELOCITY_SINE) plan->run.piece[i].number /= od_number_value(ld, first + 4);
  }
  if (plan->run.pieces > 0 && od_velocity_run_time(&plan->run) / plan->run.step * plan->data_substeps > 1e8)
    od_complain_number(ld, first, "the run has %.3g integration steps; expected at most 100 million. Increase 'step'",
                       od_velocity_run_time(&plan->run) / plan->run.step * plan->data_substeps);
  int settling = od_section_get(ld, &section, "settling");
  if (settling < 0) return;
  od_section settle = od_section_open(ld, settling, settling, "run.settling", "settling", &settling_section);
  first = od_read_keys(ld, &settle, OD_IN_LOADER, "window", "drift", "least", NULL);
  plan->settling = (od_settling){od_number_value(ld, first), od_number_value(ld, first + 1),
                                 od_number_value(ld, first + 2), od_read_flag(ld, &settle, "drop_rise")};
}
