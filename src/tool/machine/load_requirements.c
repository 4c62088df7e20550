// Loads the section 'requirements' after the model is built: outputs, time windows and bounds.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "document/suggest.h"
#include "hydraulics/warm_oil.h"
#include "io/display.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "model/model.h"

enum { MOST_REQUIREMENTS = 1000 };

// State of the reader of one requirement.
typedef struct requirement_reader {
  od_loader *ld;
  od_section section;
  od_requirement *q;
  const char *unit;  // unit of the judged signal
} requirement_reader;

// A form of requirement, such as an upper bound, with the key of its bound. Each requirement has one form.
typedef struct requirement_form {
  const char *key;
  od_requirement_kind kind;
  const char *about;  // key of the requirement's subject
} requirement_form;
static const requirement_form forms[] = {
    {"max", OD_REQUIRE_MAX, "output"},
    {"min", OD_REQUIRE_MIN, "output"},
    {"within", OD_REQUIRE_WITHIN, "output"},
    {"rms", OD_REQUIRE_RMS, "output"},
    {"settling", OD_REQUIRE_SETTLING, "output"},
    {"overshoot", OD_REQUIRE_OVERSHOOT, "output"},
    {"phase_margin", OD_REQUIRE_PHASE_MARGIN, "loop"},
    {"gain_margin", OD_REQUIRE_GAIN_MARGIN, "loop"},
    {"volume", OD_REQUIRE_ACCUMULATOR, "accumulator"},
    {"loss", OD_REQUIRE_HOSE_LOSS, "hose"},
    {"velocity", OD_REQUIRE_HOSE_SPEED, "hose"},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static const od_key settling_keys[] = {
    {"within", OD_NUMBER, NULL, "half-width of the band, in the unit of the signal", OD_POSITIVE, OD_REQUIRED},
    {"time", OD_NUMBER, "s", "longest settling time, from the start of the window", OD_POSITIVE, OD_REQUIRED,
     OD_RANGE_TIME}};
static const od_section_class settling_section = {"settling", "settling of the signal: the band and the longest time",
                                                  OD_KEYS(settling_keys)};

#define FLOW \
  { "flow", OD_TEXT, NULL, "output that is the flow, in m3/s", .fallback = OD_REQUIRED }
static const od_key accumulator_keys[] = {
    FLOW,
    {"pressure", OD_SECTION, NULL, "output that is the pressure, or a list of the lowest and the highest pressure",
     .fallback = OD_REQUIRED, .limits = OD_RANGE_PRESSURE},
    {"precharge", OD_NUMBER, "Pa", "pressure of the gas without oil", OD_POSITIVE, 0,
     .otherwise = "from `precharge_part`"},
    {"precharge_part", OD_NUMBER, "1", "precharge relative to the lowest pressure", OD_POSITIVE, 0.9},
    {"exponent", OD_NUMBER, "1", "polytropic exponent of the gas", OD_POSITIVE, 1.4, OD_RANGE_EXPONENT},
    {"correction", OD_NUMBER, "1", "correction factor for nitrogen, which is not an ideal gas", OD_POSITIVE, 1},
    {"safety", OD_NUMBER, "1", "safety factor of the volume", OD_POSITIVE, 1}};
static const od_section_class accumulator_section = {"accumulator_size", "flow and pressures of an accumulator",
                                                     OD_KEYS(accumulator_keys)};

static const od_key hose_keys[] = {
    FLOW,
    {"diameter", OD_NUMBER, "m", "inner diameter of the hose", OD_POSITIVE, OD_REQUIRED,
     OD_LIMITS(1e-6, 10, 1e-3, 0.5)},
    {"length", OD_NUMBER, "m", "length of the hose", OD_POSITIVE, OD_REQUIRED, OD_RANGE_LENGTH},
    {"density", OD_NUMBER, "kg/m3", "density of the oil", OD_POSITIVE, OD_REQUIRED, OD_RANGE_DENSITY, "from `oil`"},
    {"viscosity", OD_NUMBER, "Pa s", "dynamic viscosity of the oil", OD_POSITIVE, OD_REQUIRED,
     OD_LIMITS(1e-6, 1e4, 1e-3, 2), "from `oil`"}};
static const od_section_class hose_section = {"hose_size", "a hose and the flow through it", OD_KEYS(hose_keys)};

static const od_key keys[] = {
    {"text", OD_TEXT, NULL, "description of the requirement"},
    {"output", OD_TEXT, NULL, "output that is judged"},
    {"reference", OD_NUMBER, NULL, "output or quantity with which the output is compared", .otherwise = "none"},
    {"relative_to", OD_TEXT, NULL, "output by whose magnitude the deviation is divided"},
    {"from", OD_NUMBER, "s", "start of the time window", OD_NOT_NEGATIVE, 0},
    {"to", OD_NUMBER, "s", "end of the time window", OD_POSITIVE, 0, .otherwise = "the end of the run"},
    {"max", OD_NUMBER, NULL, "upper bound, in the unit of the output; with `relative_to`, a ratio",
     .otherwise = "none"},
    {"min", OD_NUMBER, NULL, "lower bound, in the unit of the output; with `relative_to`, a ratio",
     .otherwise = "none"},
    {"within", OD_NUMBER, NULL, "largest allowed deviation from the reference", OD_POSITIVE, .otherwise = "none"},
    {"rms", OD_NUMBER, NULL, "largest allowed root mean square of the signal", OD_POSITIVE, .otherwise = "none"},
    {"settling", OD_SECTION, NULL, "settling of the signal: the band and the longest time",
     .inside = &settling_section},
    {"overshoot", OD_NUMBER, "1", "largest allowed overshoot, relative to the step", OD_NOT_NEGATIVE,
     .otherwise = "none"},
    {"loop", OD_TEXT, NULL, "signal at which the loop is opened; one input must enter at this signal"},
    {"input", OD_TEXT, NULL, "input that enters at the signal `loop`"},
    {"at", OD_NUMBER, "s", "time of a run at which the loop is linearized", OD_NOT_NEGATIVE, 0},
    {"accumulator", OD_SECTION, NULL, "flow and pressures of an accumulator", .inside = &accumulator_section},
    {"hose", OD_SECTION, NULL, "a hose and the flow through it", .inside = &hose_section},
    {"phase_margin", OD_NUMBER, "rad", "smallest allowed phase margin of the loop", OD_POSITIVE, .otherwise = "none"},
    {"gain_margin", OD_NUMBER, "1", "smallest allowed gain margin of the loop: a factor, or dB", OD_POSITIVE,
     .otherwise = "none"},
    {"volume", OD_NUMBER, "m3", "largest allowed volume of the accumulator", OD_POSITIVE, .otherwise = "none"},
    {"loss", OD_NUMBER, "Pa", "largest allowed pressure loss of the hose", OD_POSITIVE, .otherwise = "none"},
    {"velocity", OD_NUMBER, "m/s", "largest allowed flow velocity in the hose", OD_POSITIVE, .otherwise = "none"},
};
const od_section_class od_requirement_section = {"requirement", "one requirement that the machine must meet",
                                                 OD_KEYS(keys)};

// --- Parts --------------------------------------------------------------------------------------------------------

// Returns the index of the output named under a key; -1: the key is absent. If there is no such output, reports an error and
// returns -1.
static int find_output(requirement_reader *r, const od_section *section, const char *key) {
  int node = od_section_get(r->ld, section, key);
  return od_read_text(r->ld, node, key, "the name of an output") ? od_find_model_output(r->ld, node) : -1;
}

static const char *output_unit(const requirement_reader *r, int output) {
  return output >= 0 ? od_model_output_unit(r->ld->draft->machine->model, output) : NULL;
}

// Reads a number and returns its value in the given unit.
static double read_in(requirement_reader *r, const od_section *section, const char *key, const char *unit) {
  return od_number_value(r->ld, od_read_key_in(r->ld, section, key, unit, OD_IN_LOADER));
}

// Reads 'reference': another output, or a quantity.
static void read_reference(requirement_reader *r) {
  od_loader *ld = r->ld;
  int node = od_section_get(ld, &r->section, "reference");
  double number;
  const char *rest, *text = od_read_text(ld, node, "reference", "an output or a quantity");
  if (!text) return;
  if (od_split_quantity(text, &number, &rest)) {
    r->q->signal.constant = read_in(r, &r->section, "reference", r->unit);
    return;
  }
  r->q->signal.reference = od_find_model_output(ld, node);
  const char *unit = output_unit(r, r->q->signal.reference);
  if (unit && strcmp(unit, r->unit) != 0)
    od_complain(ld, node, "the reference '%s' is in %s, the output is in %s; both must have the same unit", text, unit,
                r->unit);
}

// Reads the judged signal: 'output', 'reference' and 'relative_to'.
static void read_signal(requirement_reader *r) {
  od_loader *ld = r->ld;
  r->q->signal.output = find_output(r, &r->section, "output");
  const char *unit = output_unit(r, r->q->signal.output);
  if (unit) r->unit = unit;
  if (unit) read_reference(r);
  int node = od_section_get(ld, &r->section, "relative_to");
  r->q->signal.relative = find_output(r, &r->section, "relative_to");
  const char *size = output_unit(r, r->q->signal.relative);
  if (unit && size && strcmp(unit, size) != 0)
    od_complain(ld, node, "'%s' is in %s, the output is in %s; both must have the same unit", od_text_of(ld, node),
                size, unit);
  if (node >= 0) r->unit = "1";
}

static void read_window(requirement_reader *r) {
  int first = od_read_keys(r->ld, &r->section, OD_IN_LOADER, "from", "to", NULL);
  r->q->from = od_number_value(r->ld, first);
  r->q->to = od_number_is_given(r->ld, first + 1) ? od_number_value(r->ld, first + 1) : (double)NAN;
  if (r->q->to <= r->q->from) od_complain_relation(r->ld, first + 1, "more than", first, NULL);
}

// --- Loops, accumulators and hoses --------------------------------------------------------------------------------

static void read_loop(requirement_reader *r) {
  od_loader *ld = r->ld;
  const od_machine *machine = ld->draft->machine;
  r->q->signal.output = find_output(r, &r->section, "loop");
  r->q->at = od_key_value(ld, &r->section, "at");
  int node = od_section_get(ld, &r->section, "input");
  const char *name = od_read_text(ld, node, "input", "the name of an input");
  if (!name) return;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < machine->inputs; i++) {
    if (strcmp(machine->input[i].name, name) == 0) r->q->input = i;
    od_nearest_try(&nearest, machine->input[i].name);
  }
  if (r->q->input < 0) od_complain_unknown(ld, node, "input", "inputs", &nearest);
}

static od_section open_size(requirement_reader *r, const char *key) {
  int node = od_section_get(r->ld, &r->section, key);
  return od_section_open(r->ld, node, node, od_path(r->ld, r->section.path, key),
                         od_format(r->ld, "the %s of %s", key, r->section.what), od_key_of(r->section.of, key)->inside);
}

static void read_flow(requirement_reader *r, const od_section *section) {
  int node = od_section_need(r->ld, section, "flow");
  if (node < 0) return;
  r->q->signal.output = find_output(r, section, "flow");
  const char *unit = output_unit(r, r->q->signal.output);
  if (unit && strcmp(unit, "m3/s") != 0)
    od_complain(r->ld, node, "'%s' is in %s; expected a flow in m3/s", od_text_of(r->ld, node), unit);
}

// Reads 'pressure': an output, whose range in the window is used, or the lowest and the highest pressure.
static void read_pressures(requirement_reader *r, const od_section *section) {
  od_loader *ld = r->ld;
  od_accumulator_size *a = &r->q->accumulator;
  int node = od_section_need(ld, section, "pressure"), entry[2];
  if (node < 0) return;
  if (od_is_text(ld, node)) {
    a->pressure = find_output(r, section, "pressure");
    const char *unit = output_unit(r, a->pressure);
    if (unit && strcmp(unit, "Pa") != 0)
      od_complain(ld, node, "'%s' is in %s; expected a pressure in Pa", od_text_of(ld, node), unit);
    return;
  }
  if (!od_read_list(ld, node, "pressure", "an output, or a list of the lowest and the highest pressure", 2, entry))
    return;
  double value[2];
  int number = -1;
  for (int i = 0; i < 2; i++) {
    const od_field field = {od_format(ld, "pressure[%d]", i), "Pa", OD_POSITIVE, NAN,
                            &od_key_of(section->of, "pressure")->limits};
    number = od_read_number(ld, entry[i], od_path(ld, section->path, field.key), &field, od_place_of(ld, node),
                            OD_IN_LOADER);
    value[i] = od_number_value(ld, number);
  }
  a->low = value[0];
  a->high = value[1];
  if (!(a->low < a->high)) od_complain_relation(ld, number, "more than", number - 1, NULL);
}

static void read_accumulator(requirement_reader *r) {
  od_section section = open_size(r, "accumulator");
  od_accumulator_size *a = &r->q->accumulator;
  a->pressure = -1;
  if (section.map < 0) return;
  read_flow(r, &section);
  read_pressures(r, &section);
  int first = od_read_keys(r->ld, &section, OD_IN_LOADER, "precharge", "precharge_part", "exponent", "correction",
                           "safety", NULL);
  a->precharge = od_number_value(r->ld, first);
  a->precharge_part = od_number_value(r->ld, first + 1);
  a->exponent = od_number_value(r->ld, first + 2);
  a->correction = od_number_value(r->ld, first + 3);
  a->safety = od_number_value(r->ld, first + 4);
  if (od_number_is_given(r->ld, first) && od_number_is_given(r->ld, first + 1))
    od_complain_number(r->ld, first + 1, "both 'precharge' and 'precharge_part' are given; expected one of these keys");
  if (a->precharge_part > 1)
    od_complain_number(r->ld, first + 1, "'precharge_part' is %g; expected at most 1", a->precharge_part);
  if (a->precharge > 0 && a->low > 0 && a->precharge > a->low)
    od_complain_number(
        r->ld, first,
        "the precharge is %s, above the lowest pressure, %s, so the accumulator would be empty; expected a lower precharge",
        od_display_quantity(a->precharge, "Pa").text, od_display_quantity(a->low, "Pa").text);
}

// Finds the density and the dynamic viscosity of the oil at its temperature, in SI units; NAN: not in the file.
static void find_oil(const od_model *m, double *density, double *viscosity) {
  *density = *viscosity = NAN;
  if (m->oil < 0) return;
  *density = m->theta[m->oil + OD_OIL_DENSITY];
  if (m->viscosity < 0) return;
  const double *q = m->theta + m->viscosity;
  double oil[OD_OIL_STATES], temperature = m->join.warms >= 0 ? m->c0[m->join.warms] : q[OD_VISCOSITY_TEMPERATURE];
  od_warm_oil(q, *density, temperature, oil);
  *density = 2 / (oil[OD_OIL_STATE_ROOT] * oil[OD_OIL_STATE_ROOT]);
  *viscosity = oil[OD_OIL_STATE_VISCOSITY];
}

static void read_hose(requirement_reader *r) {
  od_section section = open_size(r, "hose");
  if (section.map < 0) return;
  read_flow(r, &section);
  od_field oil[] = {od_key_field(&section, "density"), od_key_field(&section, "viscosity")};
  find_oil(r->ld->draft->machine->model, &oil[0].fallback, &oil[1].fallback);
  int first = od_read_keys(r->ld, &section, OD_IN_LOADER, "diameter", "length", NULL);
  od_read_fields(r->ld, &section, oil, 2, OD_IN_LOADER);
  r->q->hose = (od_hose_size){od_number_value(r->ld, first), od_number_value(r->ld, first + 1),
                              od_number_value(r->ld, first + 2), od_number_value(r->ld, first + 3)};
}

// --- Bounds -------------------------------------------------------------------------------------------------------

// Returns the gain under a key as a factor: "6 dB" is a factor of about 2.
static double read_gain(requirement_reader *r, const char *key) {
  od_loader *ld = r->ld;
  int node = od_section_get(ld, &r->section, key);
  const char *path = od_path(ld, r->section.path, key), *unit = "";
  od_given given = od_given_for(ld, node, path, key, "1", od_place_of(ld, r->section.node));
  double number;
  if (!given.text || !od_split_quantity(given.text, &number, &unit) || strcmp(unit, "dB") != 0)
    number = od_key_value(ld, &r->section, key);
  else {
    const od_field field = od_key_field(&r->section, key);
    number = pow(10, number / 20);
    od_add_number(ld, &given, number, &field, OD_IN_LOADER);
  }
  if (number > 0 && number < 1)
    od_complain_given(ld, &given,
                      "'%s' is less than 0 dB (a factor of 1); expected a gain margin of at least 0 dB, such as '6 dB'",
                      od_excerpt(ld, given.text));
  return number;
}

static void read_bound(requirement_reader *r, const requirement_form *form) {
  const char *unit = od_key_of(r->section.of, form->key)->of;
  od_requirement *q = r->q;
  q->kind = form->kind;
  q->unit = unit != NULL ? unit : r->unit;
  if (form->kind == OD_REQUIRE_SETTLING) {  // {within: BAND, time: T}
    od_section section = open_size(r, form->key);
    if (section.map >= 0) {
      q->band = read_in(r, &section, "within", r->unit);
      q->bound = od_key_value(r->ld, &section, "time");
      q->unit = "s";
      q->band_unit = r->unit;
    }
  } else {
    bool is_gain = form->kind == OD_REQUIRE_GAIN_MARGIN;
    q->bound = is_gain ? read_gain(r, form->key) : read_in(r, &r->section, form->key, q->unit);
  }
  int node = od_section_get(r->ld, &r->section, "reference");
  if (form->kind == OD_REQUIRE_OVERSHOOT && node < 0) od_section_lacks(r->ld, &r->section, "reference");
  if (form->kind == OD_REQUIRE_OVERSHOOT && q->signal.relative >= 0)
    od_complain(r->ld, od_section_get(r->ld, &r->section, "relative_to"),
                "'relative_to' has no effect: an overshoot is already relative to its step; remove this key");
}

// Returns the form of a requirement. If the requirement has no bound or two bounds, reports an error and returns NULL.
static const requirement_form *find_form(requirement_reader *r) {
  const requirement_form *found = NULL;
  od_loader *ld = r->ld;
  for (int i = 0; i < FORMS; i++) {
    int node = od_section_get(ld, &r->section, forms[i].key);
    if (node < 0) continue;
    if (found) {
      od_complain(ld, node, "%s has both '%s' and '%s'; expected two requirements with one bound each", r->section.what,
                  found->key, forms[i].key);
      return NULL;
    }
    found = &forms[i];
  }
  if (!found && !r->section.has_unknown)
    od_complain(ld, r->section.node,
                "%s has no bound; expected one of max, min, within, rms, settling, overshoot (of an 'output'), "
                "phase_margin, gain_margin (of a 'loop'), volume (of an 'accumulator'), loss, velocity (of a 'hose')",
                r->section.what);
  return found;
}

// Returns whether the requirement has the key of the subject that the form requires, and no key of another subject. If not, reports
// errors.
static bool check_subject(requirement_reader *r, const requirement_form *form) {
  static const struct {
    const char *key, *about;
  } owned[] = {{"output", "output"}, {"reference", "output"}, {"relative_to", "output"},      {"loop", "loop"},
               {"input", "loop"},    {"at", "loop"},          {"accumulator", "accumulator"}, {"hose", "hose"}};
  bool sound = od_section_need(r->ld, &r->section, form->about) >= 0;
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
    int node = od_section_get(r->ld, &r->section, owned[i].key);
    if (node < 0 || strcmp(owned[i].about, form->about) == 0) continue;
    od_complain(r->ld, node, "'%s' has no effect with '%s', which is a bound of '%s'; remove this key", owned[i].key,
                form->key, form->about);
    sound = false;
  }
  for (int i = 0; strcmp(form->about, "loop") == 0 && i < 2; i++) {
    int node = od_section_get(r->ld, &r->section, i ? "to" : "from");
    if (node >= 0)
      od_complain(r->ld, node,
                  "a requirement of a loop has no time window; give the time of the operating point with 'at'");
  }
  return sound;
}

// Reads a requirement and adds the requirement to the machine.
static void read_requirement(od_loader *ld, int key) {
  od_machine *machine = ld->draft->machine;
  const char *name = od_text_of(ld, key);
  requirement_reader r = {.ld = ld, .unit = "1"};
  r.section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "requirements.%s", name),
                              od_format(ld, "the requirement '%s'", od_excerpt(ld, name)), &od_requirement_section);
  if (r.section.map < 0) return;
  od_requirement *list =
      od_arena_extend(&machine->document->arena, machine->requirement, machine->requirements, sizeof *list);
  if (!list) return;
  machine->requirement = list;
  r.q = &machine->requirement[machine->requirements++];
  od_place place = od_place_of(ld, key);
  *r.q =
      (od_requirement){.name = name, .unit = "1", .line = place.line, .column = place.column, .input = -1, .to = NAN};
  r.q->signal = (od_requirement_signal){.output = -1, .reference = -1, .relative = -1};
  r.q->text = od_key_text(ld, &r.section, "text", "a sentence");
  const requirement_form *form = find_form(&r);
  if (!form || !check_subject(&r, form)) return;
  if (strcmp(form->about, "output") == 0) read_signal(&r);
  if (strcmp(form->about, "loop") == 0) read_loop(&r);
  if (strcmp(form->about, "accumulator") == 0) read_accumulator(&r);
  if (strcmp(form->about, "hose") == 0) read_hose(&r);
  if (r.q->signal.output < 0) return;
  if (strcmp(form->about, "loop") != 0) read_window(&r);
  read_bound(&r, form);
  r.q->accumulator.volume = r.q->bound;
}

void od_load_requirements(od_loader *ld, int node) {
  od_index seen = {0};
  for (int key = od_first(ld, node, "requirements"); key >= 0; key = od_next(ld, key)) {
    if (ld->draft->machine->requirements >= MOST_REQUIREMENTS) {
      od_complain(ld, key,
                  "the machine has more than %d requirements, the largest allowed number; use fewer requirements",
                  MOST_REQUIREMENTS);
      return;
    }
    if (!od_names_check(ld, key)) continue;
    if (od_seen_before(ld, &seen, key))
      od_complain(ld, key, "'%s' is given twice in the requirements; remove one entry", od_text_of(ld, key));
    else
      read_requirement(ld, key);
  }
}

const od_requirement *od_machine_requirements(const od_machine *machine, int *count) {
  *count = machine->requirements;
  return machine->requirement;
}
