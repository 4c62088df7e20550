// Spool of a directional valve. The spool follows its command with a first-order lag, or equals the command if the time constant is
// zero. The ports of the valve (port.c) belong to the spool and read the other numbers of the valve.
//   spool' = (command - spool) / time_constant
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x command, spool;
} X(in);
typedef struct X(numbers) {
  od_x time_constant, stroke, area, discharge, full, dead_band;
} X(numbers);
typedef struct X(out) {
  od_x rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  out->rate = OD_SELECT(RE(q->time_constant) > 0, (in->command - in->spool) / q->time_constant, 0);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)in, (void)q, (void)s, (void)out;
  r->loss = r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)in, (void)s, (void)out;
  by->rate.command = q->time_constant > 0 ? 1 / q->time_constant : 0;
  by->rate.spool = -by->rate.command;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/valve.c"
#include "elements/element_template_x.h"
#include "elements/elements.h"

const od_element_class od_valve_class = {
    .name = "valve",
    .needs_oil = true,
    .choices = 1,
    .in = {{OD_IN_SIGNAL}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_RATE, 0}},
    .optional_states = 1U << 0,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_valve_description = {
    .equations = &od_valve_class,
    .section = "valves",
    .noun = "valve",
    .heading = "Valves",
    .summary = "directional valve: a spool that follows a command and opens ports along curves",
    .has_parts = true,
    .signal_key = "command",
    OD_FIELDS([OD_VALVE_TIME_CONSTANT] = OD_FIELD("time_constant", "s", OD_NOT_NEGATIVE, 0, 0, 1e9, 1e-6, 1e4,
                                                  "time constant of the spool; 0: the spool equals the command"),
              [OD_VALVE_STROKE] = OD_FIELD("stroke", "*", OD_POSITIVE, NAN, 0, 0, 0, 0,
                                           "spool position at full opening", .limits_in_m = OD_STROKE_LIMITS),
              [OD_VALVE_AREA] =
                  OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-9, 1, "area of a fully open port"),
              [OD_VALVE_DISCHARGE] =
                  OD_FIELD("discharge", "1", OD_POSITIVE, NAN, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
              [OD_VALVE_FULL] = OD_FIELD("full", "1", OD_POSITIVE, 1, 0, 0, 0, 0,
                                         "value of the curves at which a port is fully open"),
              [OD_VALVE_DEAD_BAND] = OD_FIELD("dead_band", "*", OD_NOT_NEGATIVE, 0, 0, 0, 0, 0,
                                              "travel of the spool on each side before a port opens")),
    .states = {{"spool", "*", .present_if = OD_VALVE_TIME_CONSTANT, .scale_field = OD_VALVE_STROKE}},
    .outputs = {{.name = "spool", .unit = "*", .shows = OD_SHOWS_STATE, .index = 0}},
};
#endif
