// Compiles the equations of one element for real and for complex numbers. The file of an element defines OD_ELEMENT_FILE, its own
// name, and includes this header. The header includes the file again with OD_ELEMENT_TEXT defined: once for real numbers and, if
// OD_WITH_COMPLEX is set, once for complex numbers. These inclusions compile only the equations X(evaluate) and X(fill_report),
// in real numbers slopes() with the derivatives of X(evaluate), and with OD_ELEMENT_MODES also X(margin) and X(switch_mode). The
// table of the class follows after the #include of this header.
#include <stddef.h>

#include "elements/element_description.h"

#define OD_ELEMENT_TEXT
#include "elements/element_functions_x.h"
#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include "elements/element_functions_x.h"
#undef OD_COMPLEX
#define OD_IN_COMPLEX(function) function
#else
#define OD_IN_COMPLEX(function) NULL
#endif
#undef OD_ELEMENT_TEXT

// Entries of the table of a class for its functions.
#define OD_COUNT_OF(type) ((int)(sizeof(type) / sizeof(double)))
#define OD_ELEMENT_FUNCTIONS                                                                                   \
  .ins = OD_COUNT_OF(in_r), .outs = OD_COUNT_OF(out_r), .reports = OD_COUNT_OF(report_r),                      \
  .numbers = OD_COUNT_OF(numbers_r), .evaluate = evaluate_all_r, .report = report_all_r, .slopes = slopes_all, \
  .evaluate_complex = OD_IN_COMPLEX(evaluate_all_c), .report_complex = OD_IN_COMPLEX(report_all_c)
// Entries for a class with modes, whose file has defined OD_ELEMENT_MODES.
#define OD_MODE_FUNCTIONS \
  .margin = margin_of_r, .switch_mode = switch_mode_of_r, .switch_mode_complex = OD_IN_COMPLEX(switch_mode_of_c)
// A field: key, unit, sign, default, possible range, usual range, meaning, then designated initializers of further
// members.
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

// Valves whose spool has a first-order lag: the last fields, the state and its output.
#define OD_SPOOL_FIELDS                                                                          \
  OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "area of the open valve"),     \
      OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"), \
      OD_FIELD("time_constant", "s", OD_POSITIVE, 0.005, 1e-6, 100, 1e-4, 1, "time constant of the spool")
#define OD_SPOOL_STATE \
  { "opening", "1", .present_if = -1, .scale = 1 }
#define OD_SPOOL_OUTPUT \
  { .name = "opening", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0 }

// Outputs of elements with a flow of oil.
#define OD_FLOW_OUTPUTS                                                                             \
  {.name = "flow", .inside_name = "", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},           \
      {.name = "loss", .inside_name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = 0}, { \
    .name = "dissipated", .inside_name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL      \
  }
