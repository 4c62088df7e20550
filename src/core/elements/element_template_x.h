// Builds the text of one element for real and for complex numbers. An element's file defines OD_ELEMENT_FILE, its own name,
// and includes this; the file is then read two more times with OD_ELEMENT_TEXT defined, and its equations are compiled as
// X(evaluate) and X(fill_report), once per scalar; with OD_ELEMENT_MODES also X(margin) and X(switch_mode). What comes after the inclusion is the table of the class.
#include <stddef.h>

#include "elements/element.h"

#define OD_ELEMENT_TEXT
#include "elements/element_functions_x.h"
#define OD_COMPLEX
#include "elements/element_functions_x.h"
#undef OD_COMPLEX
#undef OD_ELEMENT_TEXT

// What the table of a class says about its functions.
#define OD_COUNT_OF(type) ((int)(sizeof(type) / sizeof(double)))
#define OD_ELEMENT_FUNCTIONS                                                                         \
  .ins = OD_COUNT_OF(in_r), .outs = OD_COUNT_OF(out_r), .reports = OD_COUNT_OF(report_r),            \
  .numbers = OD_COUNT_OF(numbers_r), .evaluate = evaluate_all_r, .evaluate_complex = evaluate_all_c, \
  .report = report_all_r, .report_complex = report_all_c
// Of a class with modes, whose file has defined OD_ELEMENT_MODES.
#define OD_MODE_FUNCTIONS \
  .margin = margin_of_r, .switch_mode = switch_mode_of_r, .switch_mode_complex = switch_mode_of_c
// A field: key, unit, sign, default, what is possible and what is usual, meaning; then designators of what is special about it.
#define OD_FIELD(k, u, s, f, low, high, usual_low, usual_high, ...)                              \
  {                                                                                              \
    .key = k, .unit = u, .sign = s, .fallback = f, .limits = {low, high, usual_low, usual_high}, \
    .meaning = __VA_ARGS__                                                                       \
  }
#define OD_FIELDS(...) \
  .fields = {__VA_ARGS__}, .field_count = sizeof((od_element_field[]){__VA_ARGS__}) / sizeof(od_element_field)
#define OD_RULES(...)                              \
  .rules = (const od_element_rule[]){__VA_ARGS__}, \
  .rule_count = sizeof((od_element_rule[]){__VA_ARGS__}) / sizeof(od_element_rule)

// What valves with a spool that follows by a lag have: the last fields, the state and what it shows.
#define OD_SPOOL_FIELDS                                                                          \
  OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "area of the open valve"),     \
      OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"), \
      OD_FIELD("time_constant", "s", OD_POSITIVE, 0.005, 1e-6, 100, 1e-4, 1, "of the spool")
#define OD_SPOOL_STATE \
  { "opening", "1", .present_if = -1, .scale = 1 }
#define OD_SPOOL_OUTPUT \
  { .name = "opening", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0 }

// What every element that oil flows through shows.
#define OD_FLOW_OUTPUTS                                                                             \
  {.name = "flow", .inside_name = "", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},           \
      {.name = "loss", .inside_name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = 0}, { \
    .name = "dissipated", .inside_name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL      \
  }
