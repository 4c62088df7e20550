// The descriptions of an FMU in XML: modelDescription.xml of FMI 2.0 and 3.0, buildDescription.xml of FMI 3.0.
#include <math.h>
#include <string.h>

#include "document/unit_parse.h"
#include "export/fmu.h"
#include "io/display.h"
#include "io/number.h"
#include "machine/machine.h"
#include "model/outputs.h"
#include "oleodyn/version.h"

// ---- text

// Prints a text within an attribute.
static void print_text(FILE *to, const char *text) {
  for (; text && *text; text++) {
    const char *as = *text == '&'   ? "&amp;"
                     : *text == '<' ? "&lt;"
                     : *text == '>' ? "&gt;"
                     : *text == '"' ? "&quot;"
                                    : NULL;
    if (as)
      fputs(as, to);
    else
      fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
  }
}
static void print_attribute(FILE *to, const char *name, const char *text) {
  fprintf(to, " %s=\"", name);
  print_text(to, text);
  fputc('"', to);
}
static void print_number(FILE *to, const char *name, double value) {
  char text[OD_NUMBER_SIZE];
  od_number_format(text, value);
  fprintf(to, " %s=\"%s\"", name, text);
}

// ---- units

static bool has_unit(const od_fmu_variable *v) {
  od_unit unit;
  return fmu_type_of(v->kind) == FMU_REAL && v->unit && strcmp(v->unit, "1") != 0 && *v->unit &&
         od_unit_parse(v->unit, &unit);
}

// Returns the unit in which programs show the variable; an empty unit: the SI unit.
static od_display display_of(const od_fmu_variable *v) {
  od_display d = od_display_unit(v->unit, fabs(v->start));
  if (strcmp(v->unit, "K") == 0) d = (od_display){"degC", 1, "K"};
  if (strcmp(d.unit, v->unit) == 0) d.unit = "";
  return d;
}

static bool is_first_with(const od_fmu *f, int i, bool same_display) {
  for (int k = 0; k < i; k++)
    if (has_unit(&f->variable[k]) && strcmp(f->variable[k].unit, f->variable[i].unit) == 0 &&
        (!same_display || strcmp(display_of(&f->variable[k]).unit, display_of(&f->variable[i]).unit) == 0))
      return false;
  return true;
}

static void print_base(FILE *to, const char *text) {
  static const char *const base[OD_UNIT_BASES] = {
      [OD_METER] = "m",  [OD_KILOGRAM] = "kg", [OD_SECOND] = "s",   [OD_AMPERE] = "A",
      [OD_KELVIN] = "K", [OD_MOLE] = "mol",    [OD_CANDELA] = "cd", [OD_RADIAN] = "rad"};
  od_unit unit;
  od_unit_parse(text, &unit);
  fputs("      <BaseUnit", to);
  for (int i = 0; i < OD_UNIT_BASES; i++)
    if (unit.power[i]) fprintf(to, " %s=\"%d\"", base[i], unit.power[i]);
  if (unit.factor / unit.divisor != 1) print_number(to, "factor", unit.factor / unit.divisor);
  fputs("/>\n", to);
}

static void print_units(const od_fmu *f, FILE *to) {
  bool any = false;
  for (int i = 0; i < f->variables; i++) {
    const char *unit = f->variable[i].unit;
    if (!has_unit(&f->variable[i]) || !is_first_with(f, i, false)) continue;
    if (!any) fputs("  <UnitDefinitions>\n", to);
    any = true;
    fputs("    <Unit", to);
    print_attribute(to, "name", unit);
    fputs(">\n", to);
    print_base(to, unit);
    for (int k = i; k < f->variables; k++) {
      if (!has_unit(&f->variable[k]) || strcmp(f->variable[k].unit, unit) != 0 || !is_first_with(f, k, true)) continue;
      const od_display d = display_of(&f->variable[k]);
      if (!*d.unit) continue;
      fputs("      <DisplayUnit", to);
      print_attribute(to, "name", d.unit);
      print_number(to, "factor", d.factor);
      if (strcmp(d.unit, "degC") == 0) print_number(to, "offset", -273.15);
      fputs("/>\n", to);
    }
    fputs("    </Unit>\n", to);
  }
  if (any) fputs("  </UnitDefinitions>\n", to);
}

// ---- variables

// The attributes of the variables of a kind.
static const struct {
  const char *causality, *variability, *initial;
} roles[FMU_KINDS] = {
    [FMU_TIME] = {"independent", "continuous", NULL},
    [FMU_INPUT] = {"input", "continuous", NULL},
    [FMU_SENSOR] = {"input", "continuous", NULL},
    [FMU_VALID] = {"input", "discrete", NULL},
    [FMU_OUTPUT] = {"output", "continuous", "calculated"},
    [FMU_SIGMA] = {"output", "continuous", "calculated"},
    [FMU_PARAMETER] = {"parameter", "tunable", "exact"},
    [FMU_PARAMETER_SIGMA] = {"output", "continuous", "calculated"},
    [FMU_NIS] = {"output", "continuous", "calculated"},
    [FMU_DIMENSION] = {"output", "discrete", "calculated"},
    [FMU_STATUS] = {"output", "discrete", "calculated"},
    [FMU_STATE] = {"local", "continuous", "calculated"},
    [FMU_DERIVATIVE] = {"local", "continuous", "calculated"},
    [FMU_INDICATOR] = {"local", "continuous", "calculated"},
};

// The parameters of an observer are outputs.
static const char *causality_of(const od_fmu *f, fmu_kind kind) {
  return kind == FMU_PARAMETER && f->program->d.observer ? "output" : roles[kind].causality;
}
static bool is_output(const od_fmu *f, int i) {
  return strcmp(causality_of(f, f->variable[i].kind), "output") == 0;
}
static bool has_start(const od_fmu *f, const od_fmu_variable *v) {
  const char *causality = causality_of(f, v->kind);
  return strcmp(causality, "input") == 0 || strcmp(causality, "parameter") == 0;
}

static void print_value(const od_fmu *f, FILE *to, const od_fmu_variable *v) {
  fmu_type type = fmu_type_of(v->kind);
  if (v->kind == FMU_DERIVATIVE)
    fprintf(to, " derivative=\"%d\"", (int)fmu_reference(&f->counts, FMU_STATE, v->index) + (f->version == 2));
  if (v->kind == FMU_STATE) print_number(to, "nominal", f->program->exchange.nominal[v->index]);
  if (has_unit(v)) {
    const od_display d = display_of(v);
    print_attribute(to, "unit", v->unit);
    if (*d.unit) print_attribute(to, "displayUnit", d.unit);
  }
  if (isfinite(v->low)) print_number(to, "min", v->low);
  if (isfinite(v->high)) print_number(to, "max", v->high);
  if (!has_start(f, v)) return;
  if (type == FMU_BOOLEAN)
    print_attribute(to, "start", v->start != 0 ? "true" : "false");
  else
    print_number(to, "start", v->start);
}

static void print_variable(const od_fmu *f, FILE *to, int i) {
  const od_fmu_variable *v = &f->variable[i];
  static const char *const types[2][3] = {{"Real", "Integer", "Boolean"}, {"Float64", "Int32", "Boolean"}};
  const char *type = types[f->version == 3][fmu_type_of(v->kind)];
  bool observed = v->kind == FMU_PARAMETER && f->program->d.observer;
  fprintf(to, "    <%s", f->version == 3 ? type : "ScalarVariable");
  print_attribute(to, "name", v->name);
  fprintf(to, " valueReference=\"%d\"", i);
  print_attribute(to, "description", v->meaning);
  print_attribute(to, "causality", causality_of(f, v->kind));
  print_attribute(to, "variability", observed ? "continuous" : roles[v->kind].variability);
  if (roles[v->kind].initial) print_attribute(to, "initial", observed ? "calculated" : roles[v->kind].initial);
  if (f->version == 2) fprintf(to, ">\n      <%s", type);
  print_value(f, to, v);
  fputs(f->version == 2 ? "/>\n    </ScalarVariable>\n" : "/>\n", to);
}

// ---- structure

// Prints the inputs on which an output of a machine may depend directly: none for functions of the states, such as positions and pressures;
// nothing is printed if all inputs are possible. In model exchange, states are listed, too.
static void print_dependencies(const od_fmu *f, FILE *to, const od_fmu_variable *v) {
  const od_model *m = &f->program->model;
  if (f->program->d.observer || v->kind != FMU_OUTPUT) return;
  const od_output *o = &m->output[v->index];
  if (o->kind == OD_OUT_INPUT && o->index < m->inputs)
    fprintf(to, " dependencies=\"%d\"", (int)fmu_reference(&f->counts, FMU_INPUT, o->index) + (f->version == 2));
  else if (o->kind == OD_OUT_BLOCK_STATE || (o->kind != OD_OUT_INPUT && !od_model_measure_refusal(m, o))) {
    fputs(" dependencies=\"", to);
    for (int i = 0; i < f->counts.count[FMU_STATE]; i++)
      fprintf(to, "%s%d", i ? " " : "", (int)fmu_reference(&f->counts, FMU_STATE, i) + (f->version == 2));
    fputc('"', to);
  }
}

// The groups of ModelStructure.
typedef enum group { OUTPUTS, DERIVATIVES, AT_START, INDICATORS } group;
static bool is_member(const od_fmu *f, int i, group g) {
  fmu_kind kind = f->variable[i].kind;
  return (g == DERIVATIVES && kind == FMU_DERIVATIVE) || (g == INDICATORS && kind == FMU_INDICATOR) ||
         (g == AT_START && (kind == FMU_STATE || kind == FMU_DERIVATIVE)) ||
         ((g == OUTPUTS || g == AT_START) && is_output(f, i));
}

static void print_unknowns(const od_fmu *f, FILE *to, const char *name, group g) {
  for (int i = 0; i < f->variables; i++) {
    if (!is_member(f, i, g)) continue;
    fprintf(to, "%s<%s %s=\"%d\"", f->version == 3 ? "    " : "      ", name,
            f->version == 3 ? "valueReference" : "index", f->version == 3 ? i : i + 1);
    if (g == OUTPUTS) print_dependencies(f, to, &f->variable[i]);
    fputs("/>\n", to);
  }
}

static void print_structure(const od_fmu *f, FILE *to) {
  bool any = false;
  for (int i = 0; i < f->variables; i++) any = any || is_output(f, i);
  fputs("  <ModelStructure>\n", to);
  if (f->version == 3) {
    print_unknowns(f, to, "Output", OUTPUTS);
    print_unknowns(f, to, "ContinuousStateDerivative", DERIVATIVES);
    print_unknowns(f, to, "InitialUnknown", AT_START);
    print_unknowns(f, to, "EventIndicator", INDICATORS);
  } else if (any) {
    fputs("    <Outputs>\n", to);
    print_unknowns(f, to, "Unknown", OUTPUTS);
    fputs("    </Outputs>\n", to);
    if (f->counts.count[FMU_DERIVATIVE]) {
      fputs("    <Derivatives>\n", to);
      print_unknowns(f, to, "Unknown", DERIVATIVES);
      fputs("    </Derivatives>\n", to);
    }
    fputs("    <InitialUnknowns>\n", to);
    print_unknowns(f, to, "Unknown", AT_START);
    fputs("    </InitialUnknowns>\n", to);
  }
  fputs("  </ModelStructure>\n", to);
}

// ---- files

// Ends an element of FMI 2 for a kind of simulation, with the list of sources.
static void print_source_files(const od_fmu *f, FILE *to, const char *element) {
  fputs(">\n    <SourceFiles>\n", to);
  for (const char **source = f->sources; source && *source; source++)
    fprintf(to, "      <File name=\"%s\"/>\n", *source);
  fprintf(to, "    </SourceFiles>\n  </%s>\n", element);
}

static void print_kind(const od_fmu *f, FILE *to) {
  const char *id = f->program->name;
  // Derivatives of energies do not exist.
  bool has_slopes = !f->program->d.observer && f->program->exchange.states <= f->program->states;
  const char *slopes = f->version == 3 ? "providesDirectionalDerivatives" : "providesDirectionalDerivative";
  if (f->program->exchange.is_possible) {
    fprintf(to, "  <ModelExchange modelIdentifier=\"%s\" canGetAndSetFMU%ctate=\"true\" canSerializeFMU%ctate=\"true\"",
            id, f->version == 3 ? 'S' : 's', f->version == 3 ? 'S' : 's');
    if (has_slopes) fprintf(to, " %s=\"true\"", slopes);
    if (f->version == 3) fputs("/>\n", to);
    if (f->version == 2) print_source_files(f, to, "ModelExchange");
  }
  if (f->version == 3) {
    fprintf(to,
            "  <CoSimulation modelIdentifier=\"%s\" canHandleVariableCommunicationStepSize=\"true\" "
            "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"%s/>\n",
            id, has_slopes ? " providesDirectionalDerivatives=\"true\"" : "");
    return;
  }
  fprintf(to,
          "  <CoSimulation modelIdentifier=\"%s\" canHandleVariableCommunicationStepSize=\"true\"%s "
          "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"%s",
          id, f->program->d.observer ? "" : " canInterpolateInputs=\"true\"",
          has_slopes ? " providesDirectionalDerivative=\"true\"" : "");
  print_source_files(f, to, "CoSimulation");
}

void od_fmu_print_description(const od_fmu *f, FILE *to) {
  const od_export_program *p = f->program;
  fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%s\"",
          f->version == 3 ? "3.0" : "2.0");
  print_attribute(to, "modelName", p->name);
  print_attribute(to, f->version == 3 ? "instantiationToken" : "guid", f->token);
  if (p->title && *p->title) print_attribute(to, "description", p->title);
  fprintf(to, " generationTool=\"oleodyn %s\" variableNamingConvention=\"flat\"", od_version());
  if (f->version == 2) fprintf(to, " numberOfEventIndicators=\"%d\"", f->counts.count[FMU_INDICATOR]);
  fputs(">\n", to);
  print_kind(f, to);
  print_units(f, to);
  fputs("  <LogCategories>\n    <Category name=\"logStatusError\" description=\"failed calls\"/>\n  </LogCategories>\n",
        to);
  fputs("  <DefaultExperiment startTime=\"0\"", to);
  if (p->plan.length > 0) print_number(to, "stopTime", p->plan.length);
  if (p->plan.tolerance > 0) print_number(to, "tolerance", p->plan.tolerance);
  print_number(to, "stepSize", p->plan.row);
  fputs("/>\n  <ModelVariables>\n", to);
  for (int i = 0; i < f->variables; i++)
    if (f->version == 3 || f->variable[i].kind != FMU_INDICATOR) print_variable(f, to, i);
  fputs("  </ModelVariables>\n", to);
  print_structure(f, to);
  fputs("</fmiModelDescription>\n", to);
}

void od_fmu_print_build(const od_fmu *f, FILE *to) {
  fprintf(to,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
          "  <BuildConfiguration modelIdentifier=\"%s\">\n    <SourceFileSet language=\"C11\">\n",
          f->program->name);
  for (const char **source = f->sources; source && *source; source++)
    fprintf(to, "      <SourceFile name=\"%s\"/>\n", *source);
  fputs("      <IncludeDirectory name=\".\"/>\n    </SourceFileSet>\n  </BuildConfiguration>\n</fmiBuildDescription>\n",
        to);
}
