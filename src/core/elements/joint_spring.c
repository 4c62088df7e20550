// Spring and damper in a revolute, prismatic or screw joint. With the joint's coordinate q:
//   force or torque = -(stiffness (q - free) + damping q' + preload)
#ifdef OD_ELEMENT_TEXT
#include "elements/spring_x.h"
#else
#define OD_ELEMENT_FILE "elements/joint_spring.c"
#include "elements/element_template_x.h"

const od_element_class od_joint_spring_class = {
    .name = "joint spring",
    .acts = OD_ACTS_IN_JOINT,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_joint_spring_description = {
    .equations = &od_joint_spring_class,
    .noun = "spring or damper",
    .heading = "Springs and dampers in joints",
    .summary = "spring and damper in a revolute, prismatic or screw joint",
    .inside = "spring",
    OD_FIELDS(
        OD_FIELD("stiffness", "N/m", OD_ANY, 0, -1e15, 1e15, -1e11, 1e11, "stiffness of the spring",
                 .turning_unit = "N m/rad", .turning_limits = {-1e16, 1e16, -1e11, 1e11}),
        OD_FIELD("damping", "N s/m", OD_NOT_NEGATIVE, 0, 0, 1e13, 0, 1e8, "coefficient of viscous damping",
                 .turning_unit = "N m s/rad", .turning_limits = {0, 1e14, 0, 1e9}),
        OD_FIELD("free", "m", OD_ANY, 0, -1e4, 1e4, -50, 50, "coordinate at which the elastic force is zero",
                 .turning_unit = "rad", .turning_limits = {-1e6, 1e6, -6.3, 6.3}),
        OD_FIELD("preload", "N", OD_ANY, 0, -1e12, 1e12, -1e8, 1e8, "tension of the spring at the coordinate 'free'",
                 .turning_unit = "N m", .turning_limits = {-1e12, 1e12, -1e8, 1e8})),
    .outputs = {{.inside_name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0},
                {.inside_name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.inside_name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.inside_name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
