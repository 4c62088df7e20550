// Tables of valves defined by their data sheet: the first fields of these valves, in the order of their numbers, and
// the states of the spool. Also the ends and flows of valves with two lines and the ports a and b (four_port_x.h).
#ifndef OD_SERVO_SPOOL_TABLES
#define OD_SERVO_SPOOL_TABLES
enum {
  OD_SPOOL_FLOW,
  OD_SPOOL_DROP,
  OD_SPOOL_FREQUENCY,
  OD_SPOOL_DAMPING,
  OD_SPOOL_RATE,
  OD_SPOOL_STROKE,
  OD_SPOOL_OFFSET,
  OD_SPOOL_HYSTERESIS
};
#define OD_SERVO_SPOOL_NUMBERS od_x nominal_flow, nominal_drop, frequency, damping, rate_limit, stroke, offset
#define OD_HELD_SPOOL_NUMBERS  OD_SERVO_SPOOL_NUMBERS, hysteresis
#define OD_SERVO_SPOOL_FIELDS                                                                       \
  OD_FIELD("nominal_flow", "m3/s", OD_POSITIVE, NAN, 1e-12, 10, 1e-7, 0.1,                          \
           "flow across one fully open edge at the nominal drop"),                                  \
      OD_FIELD("nominal_drop", "Pa", OD_POSITIVE, 5e5, 1, 1e9, 1e4, 1e8,                            \
               "pressure drop across one edge at the nominal flow"),                                \
      OD_FIELD("frequency", "rad/s", OD_NOT_NEGATIVE, 0, 0, 1e7, 1, 1e5,                            \
               "natural frequency of the spool; 0: the spool equals the command"),                  \
      OD_FIELD("damping", "1", OD_NOT_NEGATIVE, 0.7, 0, 100, 0.1, 5, "damping ratio of the spool"), \
      OD_FIELD("rate_limit", "1/s", OD_NOT_NEGATIVE, 0, 0, 1e7, 0.1, 1e4,                           \
               "largest spool rate in strokes per second; 0: no limit"),                            \
      OD_FIELD("stroke", "*", OD_POSITIVE, 1, 0, 0, 0, 0, "spool position at full opening",         \
               .limits_in_m = OD_STROKE_LIMITS),                                                    \
      OD_FIELD("offset", "*", OD_ANY, 0, 0, 0, 0, 0, "spool position that counts as zero")
#define OD_HELD_SPOOL_FIELDS                                      \
  OD_SERVO_SPOOL_FIELDS,                                          \
      OD_FIELD("hysteresis", "*", OD_NOT_NEGATIVE, 0, 0, 0, 0, 0, \
               "distance by which the command must reverse before the spool reverses; requires a frequency")
// The bits of od_element_class.optional_states: all states of the spool, from state 0 on, are optional.
#define OD_SERVO_SPOOL_OPTIONAL 0x3U
#define OD_HELD_SPOOL_OPTIONAL  0x7U
#define OD_SERVO_SPOOL_STATES                                                         \
  {"spool", "*", .present_if = OD_SPOOL_FREQUENCY, .scale_field = OD_SPOOL_STROKE}, { \
    "spool_rate", "1/s", .present_if = OD_SPOOL_FREQUENCY, .scale = 10                \
  }
#define OD_HELD_SPOOL_STATES                                                       \
  OD_SERVO_SPOOL_STATES, {                                                         \
    "held", "*", .present_if = OD_SPOOL_HYSTERESIS, .scale_field = OD_SPOOL_STROKE \
  }
#define OD_HELD_SPOOL_RULE                                                                                 \
  {                                                                                                        \
    OD_SPOOL_FREQUENCY, OD_SPOOL_HYSTERESIS, OD_RULE_NEEDED, OD_SPOOL_HYSTERESIS,                          \
        "a hysteresis requires a natural frequency of the spool; give 'frequency', or remove 'hysteresis'" \
  }
#define OD_SERVO_SPOOL_OUTPUTS                                               \
  {.name = "spool", .unit = "*", .shows = OD_SHOWS_STATE, .index = 0}, {     \
    .name = "spool_rate", .unit = "1/s", .shows = OD_SHOWS_STATE, .index = 1 \
  }
#define OD_HELD_SPOOL_OUTPUTS                                        \
  OD_SERVO_SPOOL_OUTPUTS, {                                          \
    .name = "held", .unit = "*", .shows = OD_SHOWS_STATE, .index = 2 \
  }
#define OD_FOUR_PORT_ENDS     \
  {"between", 2}, {"a", 1}, { \
    "b", 1, .optional = true  \
  }
#define OD_FOUR_PORT_PRESSURES                                     \
  {OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, { \
    OD_IN_PRESSURE, 3                                              \
  }
#define OD_FOUR_PORT_FLOWS                          \
  {OD_TO_END, 0}, {OD_TO_END, 1}, {OD_TO_END, 2}, { \
    OD_TO_END, 3                                    \
  }
#define OD_FOUR_PORT_OUTPUTS                                                              \
  {.name = "flow_a", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 2},                  \
      {.name = "flow_b", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 3},              \
      {.name = "flow_first", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},          \
      {.name = "flow_second", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1},         \
      {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS}, { \
    .name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL                         \
  }
#endif
