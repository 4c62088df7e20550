// What the tables of friction laws have in common; see friction_x.h.
#define OD_FRICTION_CLASS                                                                                 \
  .noun = "friction", .heading = "Friction in joints", .inside = "friction", .acts = OD_ACTS_ON_HOST,     \
  .in = {{OD_IN_SPEED}}, .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}},                                         \
  .outputs = {{.inside_name = "", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0}, \
              {.inside_name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},    \
              {.inside_name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},                    \
  OD_ELEMENT_FUNCTIONS, .slopes = slopes_all
#define OD_FIELD_FC                                                                                    \
  OD_FIELD("Fc", "N", OD_NOT_NEGATIVE, NAN, 0, 1e9, 0, 1e6, "Coulomb friction", .turning_unit = "N m", \
           .turning_limits = {0, 1e9, 0, 1e6})
#define OD_FIELD_FS                                                                                   \
  OD_FIELD("Fs", "N", OD_NOT_NEGATIVE, NAN, 0, 1e9, 0, 1e6, "static friction", .turning_unit = "N m", \
           .turning_limits = {0, 1e9, 0, 1e6})
#define OD_FIELD_VS                                                                            \
  OD_FIELD("vs", "m/s", OD_POSITIVE, NAN, 1e-12, 1e3, 1e-6, 1, "transition speed of friction", \
           .turning_unit = "rad/s", .turning_limits = {1e-12, 1e6, 1e-6, 100})
#define OD_FIELD_VISCOUS                                                                                             \
  OD_FIELD("viscous", "N s/m", OD_NOT_NEGATIVE, 0, 0, 1e13, 0, 1e8, "viscous friction", .turning_unit = "N m s/rad", \
           .turning_limits = {0, 1e14, 0, 1e9})
