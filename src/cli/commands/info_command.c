// oleodyn info: what a machine has.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "output/describe_machine.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"
#include "machine/machine.h"

static const char *shown_unit(const char *unit) {
  return unit ? od_display_usual(unit) : "";
}

static od_display shown_in(const od_number *x) {
  return od_display_unit(x->unit ? x->unit : "1", x->value);
}

static void print_facts(const od_machine *machine) {
  od_model_facts f = od_cli_facts(machine);
  int states = od_cli_state_count(machine);
  printf("  %-21s %d\n  %-21s %d\n  %-21s %d\n", "bodies", f.bodies, "joints", f.joints, "loops", f.loops);
  printf("  %-21s %d\n", "joint coordinates", f.coordinates);
  printf("  %-21s %d", "closure equations", f.closure_rows);
  if (f.closure_rank != f.closure_rows) printf(", of which %d are independent", f.closure_rank);
  printf("\n  %-21s %d\n", "degrees of freedom", f.freedom);
  if (states >= 0) printf("  %-21s %d\n", "states", states);
  if (f.blocks) printf("  %-21s %d%s\n", "blocks", f.blocks, f.linear ? ", and the machine is linear" : "");
  if (f.coordinates || !f.blocks) printf("  %-21s %s\n", "motion", f.planar ? "in a plane" : "in space");
}

static void print_inputs(const od_machine *machine) {
  int n = od_machine_input_count(machine), width = 0;
  if (n == 0) return;
  for (int i = 0; i < n; i++) {
    int w = od_text_width(od_machine_input_name(machine, i));
    if (w > width) width = w;
  }
  printf("\n");
  od_heading(stdout, "Inputs");
  for (int i = 0; i < n; i++) {
    const char *name = od_machine_input_name(machine, i), *unit = shown_unit(od_machine_input_unit(machine, i));
    printf("  ");
    od_print_padded(stdout, name, unit[0] ? width : 0);
    printf("%s%s\n", unit[0] ? "  " : "", unit);
  }
}

static size_t stem_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : strlen(name);
}

// Whether two outputs share a line: both are quantities of one element. A signal stands alone.
static bool share_line(const char *a, const char *b) {
  size_t length = stem_length(a);
  return a[length] && b[length] && stem_length(b) == length && strncmp(a, b, length) == 0;
}

// One line per element: "crank.end  x y z (m), vx vy vz (m/s)".
static void print_outputs(const od_machine *machine) {
  int n = od_machine_output_count(machine), width = 0;
  printf("\n");
  od_heading(stdout, "Outputs (element.quantity)");
  for (int i = 0; i < n; i++) {
    int w = (int)stem_length(od_machine_output_name(machine, i));
    if (w > width) width = w;
  }
  for (int i = 0; i < n;) {
    const char *stem = od_machine_output_name(machine, i);
    size_t length = stem_length(stem);
    printf("  %-*.*s ", width, (int)length, stem);
    for (; i < n; i++) {
      const char *name = od_machine_output_name(machine, i), *unit = shown_unit(od_machine_output_unit(machine, i));
      if (name != stem && !share_line(stem, name)) break;
      bool last = i + 1 == n || !share_line(stem, od_machine_output_name(machine, i + 1));
      bool unit_goes_on = !last && !strcmp(unit, shown_unit(od_machine_output_unit(machine, i + 1)));
      if (name[length]) printf(" %s", name + length + 1);
      if (unit[0] && !unit_goes_on) printf(" (%s)", unit);
      if (!last && !unit_goes_on) printf(",");
    }
    printf("\n");
  }
}

// Numbers in columns, a blank line between elements.
static void print_numbers(const od_machine *machine) {
  int n = od_machine_number_count(machine), path_width = 0, value_width = 0, unit_width = 0;
  char text[OD_NUMBER_SIZE];
  for (int i = 0; i < n; i++) {
    od_number x = od_machine_number(machine, i);
    od_display shown = shown_in(&x);
    int widths[3] = {od_text_width(x.path), od_number_round(text, x.value * shown.factor, 9),
                     od_text_width(shown.unit)};
    if (widths[0] > path_width) path_width = widths[0];
    if (widths[1] > value_width) value_width = widths[1];
    if (widths[2] > unit_width) unit_width = widths[2];
  }
  printf("\n");
  od_heading(stdout, "Numbers (path, value, as given)");
  const char *element = "";
  for (int i = 0; i < n; i++) {
    od_number x = od_machine_number(machine, i);
    size_t length = strcspn(x.path, ".[");
    if (i > 0 && (strcspn(element, ".[") != length || strncmp(element, x.path, length) != 0)) printf("\n");
    element = x.path;
    od_display shown = shown_in(&x);
    od_number_round(text, x.value * shown.factor, 9);
    printf("  ");
    od_print_padded(stdout, x.path, path_width);
    printf("  %*s ", value_width, text);
    od_print_padded(stdout, shown.unit, unit_width);
    printf("  %s%s\n", x.given ? x.given : "(default)", x.balanced ? ": balanced" : "");
  }
}

static void print_ranges(const od_machine *machine) {
  int n = od_machine_number_count(machine), path_width = 0, possible_width = 0;
  char possible[OD_RANGE_SIZE], usual[OD_RANGE_SIZE];
  for (int i = 0; i < n; i++) {
    od_number x = od_machine_number(machine, i);
    od_display_range(possible, x.low, x.high, x.unit);
    path_width = od_text_widest(path_width, x.path);
    possible_width = od_text_widest(possible_width, possible);
  }
  od_heading(stdout, "Ranges (path, possible, usual)");
  for (int i = 0; i < n; i++) {
    od_number x = od_machine_number(machine, i);
    od_display_range(possible, x.low, x.high, x.unit);
    od_display_range(usual, x.usual_low, x.usual_high, x.unit);
    printf("  ");
    od_print_padded(stdout, x.path, path_width);
    printf("  ");
    od_print_padded(stdout, possible, possible_width);
    printf("  %s\n", usual);
  }
}

static void print_variants(const od_machine *machine) {
  int n = od_machine_variant_count(machine);
  if (n == 0) return;
  printf("\n");
  od_heading(stdout, "Variants (--variant)");
  for (int i = 0; i < n; i++) {
    const char *name = od_machine_variant_name(machine, i), *chosen = od_machine_variant(machine);
    printf("  %s%s\n", name, chosen && strcmp(name, chosen) == 0 ? "  (chosen)" : "");
  }
}

static json_t *named(const char *name, const char *unit) {
  return json_pack("{s:o, s:o}", "name", od_json_text(name), "unit", od_json_text(unit));
}

static json_t *info_json(const od_machine *machine) {
  json_t *object = json_pack("{s:o, s:o}", "title", od_json_text(od_machine_title(machine)), "file",
                             od_json_text(od_machine_file(machine)));
  json_object_set_new(object, "files_read", od_files_read_json());
  od_model_facts facts = od_cli_facts(machine);
  od_facts_json(&facts, object);
  json_object_set_new(object, "states", json_integer(od_cli_state_count(machine)));
  json_object_set_new(object, "parts", od_model_describe_json(od_machine_model(machine)));
  json_t *variants = json_array(), *inputs = json_array(), *outputs = json_array(), *numbers = json_array();
  for (int i = 0; i < od_machine_variant_count(machine); i++)
    json_array_append_new(variants, od_json_text(od_machine_variant_name(machine, i)));
  json_object_set_new(object, "variant", od_json_text(od_machine_variant(machine)));
  json_object_set_new(object, "variants", variants);
  for (int i = 0; i < od_machine_input_count(machine); i++)
    json_array_append_new(inputs, named(od_machine_input_name(machine, i), od_machine_input_unit(machine, i)));
  for (int i = 0; i < od_machine_output_count(machine); i++)
    json_array_append_new(outputs, named(od_machine_output_name(machine, i), od_machine_output_unit(machine, i)));
  for (int i = 0; i < od_machine_number_count(machine); i++) {
    od_number x = od_machine_number(machine, i);
    json_array_append_new(
        numbers, json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "path", od_json_text(x.path), "value",
                           od_json_number(x.value), "unit", od_json_text(x.unit), "given", od_json_text(x.given),
                           "balanced", x.balanced, "low", od_json_number(x.low), "high", od_json_number(x.high),
                           "usual_low", od_json_number(x.usual_low), "usual_high", od_json_number(x.usual_high)));
  }
  json_object_set_new(object, "inputs", inputs);
  json_object_set_new(object, "outputs", outputs);
  json_object_set_new(object, "numbers", numbers);
  return object;
}

static int show(const od_machine *machine, bool json, bool ranges) {
  if (!json && ranges) {
    print_ranges(machine);
    return OD_EXIT_OK;
  }
  if (json) {
    json_t *object = info_json(machine);
    od_error err = {0};
    od_status status = od_json_write(object, "-", &err);
    json_decref(object);
    if (status != OD_OK) od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  const char *title = od_machine_title(machine);
  od_heading(stdout, title && title[0] ? title : od_machine_file(machine));
  print_facts(machine);
  od_model_describe(od_machine_model(machine));
  print_variants(machine);
  print_inputs(machine);
  print_outputs(machine);
  print_numbers(machine);
  return OD_EXIT_OK;
}

int od_command_info(int argc, char **argv) {
  bool json = false, ranges = false, si = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
      {"ranges", OD_OPTION_FLAG, NULL, "only between which values each number is possible and usual", &ranges},
  };
  const od_usage usage = {"info",
                          "MACHINE",
                          "show what a machine has: elements, degrees of freedom, inputs, outputs and every number",
                          "Outputs can be chosen with 'simulate --output', numbers replaced with '--set'.\n",
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.as_json = &json, .si = &si}};
  od_words files = {0};
  od_machine *machine = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_cli_load(files.text[0], &load, &machine);
  if (code < 0) code = show(machine, json, ranges);
  od_machine_free(machine);
  od_words_free(&files);
  od_load_arguments_free(&load);
  return code;
}
