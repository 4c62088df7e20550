// Spring and damper between two points.
#ifdef OD_ELEMENT_TEXT
#include "elements/spring_x.h"
#else
#define OD_ELEMENT_FILE "elements/spring.c"
#include "elements/element_template_x.h"

enum { STIFFNESS, DAMPING, LENGTH, PRELOAD };

const od_element_class od_spring_class = {
    .name = "spring",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_spring_description = {
    .equations = &od_spring_class,
    .section = "springs",
    .noun = "spring",
    .heading = "Springs and dampers",
    .summary = "spring and damper between two points",
    OD_FIELDS(OD_FIELD("stiffness", "N/m", OD_ANY, 0, -1e15, 1e15, -1e11, 1e11, "stiffness of the spring"),
              OD_FIELD("damping", "N s/m", OD_NOT_NEGATIVE, 0, 0, 1e13, 0, 1e8, "coefficient of viscous damping"),
              OD_FIELD("length", "m", OD_NOT_NEGATIVE, 0, 0, 1e5, 1e-3, 200, "free length of the spring"),
              OD_FIELD("preload", "N", OD_ANY, 0, -1e12, 1e12, -1e8, 1e8, "tension at the free length")),
    .one_of = {STIFFNESS, DAMPING, PRELOAD},
    .one_of_count = 3,
    .outputs = {{.name = "length", .unit = "m", .shows = OD_SHOWS_LENGTH},
                {.name = "rate", .unit = "m/s", .shows = OD_SHOWS_SPEED},
                {.name = "force", .unit = "N", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
