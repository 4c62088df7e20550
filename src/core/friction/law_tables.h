// The tables of a friction law, and how to write a law.
//
// A law is one file, for real and complex numbers. The file defines three things: a class of elements (the friction of a cylinder
// or a joint); a class of blocks (friction as a function of a speed signal); a row of the table of laws (drive.h, fits). The
// compiler reads the file three times (elements/element_template_x.h): twice with OD_ELEMENT_TEXT defined, for the equations, and
// once without OD_ELEMENT_TEXT, for the tables. coulomb.c and lugre.c are examples.
//
// Equations (#ifdef OD_ELEMENT_TEXT), in the scalar od_x with names X(...):
//   X(numbers)      a struct of od_x, the numbers in the order of the parameters below. Numbers for negative speeds follow
//                   this struct in memory; X(direction_numbers)() selects by the sign of the speed.
// and one of two kinds of law:
//   function of the speed alone (speed_law_x.h, OD_LAW_OF_SPEED)
//     X(friction)(q, v)            the force in N at the speed v
//     X(scale)(q, log_factor)      multiplies the numbers by powers of the factor
//     friction_slopes(q, v)        derivatives with respect to the speed and to the logarithm of the factor, in real numbers
//   member of the LuGre family (lugre_family.h has its equations; lugre_family_x.h)
//     X(family_of)(q, signal)      the parameters of the family from the numbers; signal multiplies the factor or the load
//     slopes_of_family(...)        if the signal multiplies a load: derivatives of the parameters, in real numbers
// The equations end with #include "friction/law_functions_x.h", which defines all functions of the classes from the equations.
// Laws that only differ in their steady Stribeck curve use steady_stribeck_x.h for the whole file.
//
// Tables (#else):
//   OD_ELEMENT_FILE            the name of the file
//   OD_LAW_STATES              its states, one of OD_STATES_... below
//   OD_LAW_OF_SPEED            defined by a law that is a function of the speed alone; or
//   OD_LAW_SHAPE               the Stribeck curve of a member of the family (od_stribeck_shape)
//   OD_SIDED_PARAMETERS(M)     rows of parameters.h: the parameters that may differ by direction
//   OD_COMMON_PARAMETERS(M)    the parameters that both directions share
//   OD_FIRST_KEY               the key of the first parameter
//   OD_LAW_RULES               optional: conditions on the parameters
// The file ends with #include "friction/law_tables.h", #include "elements/element_template_x.h" and OD_FRICTION_LAW(identifier,
// "name", "summary"). The identifier is also listed in laws.c, elements/element_list.h and blocks/block_list.h.
#include "blocks/block_description.h"
#include "friction/law.h"
#include "friction/parameters.h"

// Values of OD_LAW_STATES. A member of the family without states has a film that follows the speed without delay; a member with
// bristles alone has no film. The speed state is a lagged speed; the acceleration is computed from the speed state.
#define OD_STATES_NONE                0
#define OD_STATES_BRISTLES            1
#define OD_STATES_BRISTLES_FILM       2
#define OD_STATES_BRISTLES_FILM_SPEED 3
#define OD_LAW_HAS_BRISTLES           (OD_LAW_STATES >= OD_STATES_BRISTLES)
#define OD_LAW_HAS_FILM_STATE         (OD_LAW_STATES >= OD_STATES_BRISTLES_FILM)
#define OD_LAW_HAS_ACCELERATION       (OD_LAW_STATES >= OD_STATES_BRISTLES_FILM_SPEED)

// Text of messages about a factor below zero, or about a load below zero.
#if !OD_LAW_HAS_ACCELERATION
#define OD_FRICTION_BELOW_ZERO "friction cannot drive the motion, so negative values are replaced by a value near zero"
#else
#define OD_FRICTION_BELOW_ZERO \
  "friction cannot drive the motion, so 'Fs' and 'Fc' keep at least a thousandth of their values at 'load_0'"
#endif

#define OD_ELEMENT_ROW(k, u, tu, s, f, a, b, c, d, ta, tb, tc, td, m, signal) \
  {.key = k,                                                                  \
   .unit = u,                                                                 \
   .sign = s,                                                                 \
   .fallback = f,                                                             \
   .limits = {a, b, c, d},                                                    \
   .turning_unit = tu,                                                        \
   .turning_limits = {ta, tb, tc, td},                                        \
   .meaning = m,                                                              \
   .follows_signal = signal,                                                  \
   .below_zero = (signal) ? OD_FRICTION_BELOW_ZERO : NULL},
#define OD_NEGATIVE_ROW(k, u, tu, s, f, a, b, c, d, ta, tb, tc, td, m, signal) \
  {.key = k "_negative",                                                       \
   .unit = u,                                                                  \
   .sign = s,                                                                  \
   .fallback = NAN,                                                            \
   .same_as = k,                                                               \
   .limits = {a, b, c, d},                                                     \
   .turning_unit = tu,                                                         \
   .turning_limits = {ta, tb, tc, td},                                         \
   .meaning = "value of " k " for negative speeds"},
#define OD_BLOCK_ROW(k, u, tu, s, f, a, b, c, d, ta, tb, tc, td, m, signal) \
  {.key = k, .unit = u, .sign = s, .fallback = f, .meaning = m, .limits = {a, b, c, d}},
#define OD_NEGATIVE_BLOCK_ROW(k, u, tu, s, f, a, b, c, d, ta, tb, tc, td, m, signal) \
  {.key = k "_negative",                                                             \
   .unit = u,                                                                        \
   .sign = s,                                                                        \
   .fallback = NAN,                                                                  \
   .meaning = "value of " k " for negative speeds",                                  \
   .only_with = OD_FIRST_KEY "_negative",                                            \
   .only_with_purpose = "for negative speeds",                                       \
   .limits = {a, b, c, d}},
#define OD_COUNT_ROW(...) +1
// The count of the parameters that may differ by direction (the first parameters), and the index of the first parameter for
// negative speeds (the last parameters).
#define OD_SIDED          (0 OD_SIDED_PARAMETERS(OD_COUNT_ROW))
#define OD_FIRST_NEGATIVE (OD_SIDED OD_COMMON_PARAMETERS(OD_COUNT_ROW))

// ---- rows that depend on the states

#define OD_SHOWN_FORCE                                                                         \
  {.inside_name = "", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0},  \
      {.inside_name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS}, \
      {.inside_name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL},
#define OD_SHOWN_BRISTLE                                                                               \
  {.inside_name = "bristle", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_STATE, .index = 0}, \
      {.inside_name = "deflection",                                                                    \
       .unit = "m",                                                                                    \
       .turning_unit = "rad",                                                                          \
       .shows = OD_SHOWS_REPORT,                                                                       \
       .index = OD_REPORT_OWN},
#define OD_SHOWN_FILM {.inside_name = "film", .unit = "1", .shows = OD_SHOWS_STATE, .index = 1},
#define OD_SHOWN_FELT \
  {.inside_name = "felt", .unit = "m/s", .turning_unit = "rad/s", .shows = OD_SHOWS_STATE, .index = 2},
#define OD_STATE_BRISTLE {"bristle", "N", .present_if = -1, .scale_field = 0, .limits = {-1e9, 1e9, -1e6, 1e6}},
#define OD_STATE_FILM    {"film", "1", .present_if = -1, .scale = 1, .limits = {0, 1, 0, 1}},
#define OD_STATE_FELT    {"felt", "m/s", .present_if = -1, .scale = 1},

#if !OD_LAW_HAS_BRISTLES
#define OD_LAW_TABLES .in = {{OD_IN_SPEED}, {OD_IN_SIGNAL}}, .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}}
#define OD_LAW_SHOWN  .outputs = {OD_SHOWN_FORCE}
#define OD_BLOCK_STATES \
  {                     \
    { 0 }               \
  }
#elif OD_LAW_STATES == OD_STATES_BRISTLES
#define OD_LAW_TABLES \
  .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_SIGNAL}}, .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}}
#define OD_LAW_SHOWN .states = {OD_STATE_BRISTLE}, .outputs = {OD_SHOWN_FORCE OD_SHOWN_BRISTLE}, .may_supply = true
#define OD_BLOCK_STATES \
  {                     \
    { "bristle", "N" }  \
  }
#elif OD_LAW_STATES == OD_STATES_BRISTLES_FILM
#define OD_LAW_TABLES                                                        \
  .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}, {OD_IN_SIGNAL}}, \
  .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}}
#define OD_LAW_SHOWN                                                                                      \
  .states = {OD_STATE_BRISTLE OD_STATE_FILM}, .outputs = {OD_SHOWN_FORCE OD_SHOWN_BRISTLE OD_SHOWN_FILM}, \
  .may_supply = true
#define OD_BLOCK_STATES \
  {                     \
    {"bristle", "N"}, { \
      "film", "1"       \
    }                   \
  }
#else
#define OD_LAW_TABLES                                                                          \
  .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}, {OD_IN_STATE, 2}, {OD_IN_SIGNAL}}, \
  .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}, {OD_TO_RATE, 2}}
#define OD_LAW_SHOWN                                        \
  .states = {OD_STATE_BRISTLE OD_STATE_FILM OD_STATE_FELT}, \
  .outputs = {OD_SHOWN_FORCE OD_SHOWN_BRISTLE OD_SHOWN_FILM OD_SHOWN_FELT}, .may_supply = true
#define OD_BLOCK_STATES                \
  {                                    \
    {"bristle", "N"}, {"film", "1"}, { \
      "felt", "m/s"                    \
    }                                  \
  }
#endif

#ifdef OD_LAW_OF_SPEED
#define OD_LAW_FAMILY
#else
#define OD_LAW_FAMILY                                                                             \
  .has_family = true, .has_bristles = OD_LAW_HAS_BRISTLES, .has_film = OD_LAW_HAS_FILM_STATE,     \
  .has_rate_terms = OD_LAW_HAS_ACCELERATION, .shape = OD_LAW_SHAPE, .family_r = family_numbers_r, \
  .family_c = OD_IN_COMPLEX(family_numbers_c),
#endif
// The number that a signal multiplies.
#if !OD_LAW_HAS_ACCELERATION
#define OD_FOLLOWS_SIGNAL factor
#define OD_LAW_INPUTS                      \
  {                                        \
    {"velocity", "m/s"}, {                 \
      "factor_signal", "1", .factor = true \
    }                                      \
  }
#define OD_LAW_CHOICES               \
  , {                                \
    OD_CHOICE_GIVEN, "factor_signal" \
  }
#else
#define OD_LAW_CHOICES
#define OD_FOLLOWS_SIGNAL load
#define OD_LAW_INPUTS               \
  {                                 \
    {"velocity", "m/s"}, {          \
      "load", "N", .optional = true \
    }                               \
  }
#endif
#ifndef OD_LAW_RULES
#define OD_LAW_RULES
#endif
#define OD_FS_ABOVE_FC(fs, fc) \
  { fs, fc, OD_RULE_NOT_LESS, fs, "because static friction is not less than Coulomb friction" }
// Conditions of laws with static and Coulomb friction, which are the parameters fs and fc, for both signs of the speed.
#define OD_FS_RULES(fs, fc) \
  OD_RULES(OD_FS_ABOVE_FC(fs, fc), OD_FS_ABOVE_FC(OD_FIRST_NEGATIVE + fs, OD_FIRST_NEGATIVE + fc)),

static bool block_is_linear(const od_block_spec *s) {
  (void)s;
  return false;
}

#define OD_FRICTION_LAW(identifier, law_name, about)                                     \
  const od_element_class od_##identifier##_class = {                                     \
      .name = law_name,                                                                  \
      .acts = OD_ACTS_ON_HOST,                                                           \
      .optional_numbers = OD_SIDED,                                                      \
      .choices = 1,                                                                      \
      OD_LAW_TABLES,                                                                     \
      OD_ELEMENT_FUNCTIONS,                                                              \
  };                                                                                     \
  const od_element_description od_##identifier##_description = {                         \
      .equations = &od_##identifier##_class,                                             \
      .choice = law_name,                                                                \
      .summary = about,                                                                  \
      .noun = "friction",                                                                \
      .heading = "Friction in joints",                                                   \
      .inside = "friction",                                                              \
      OD_FIELDS(OD_SIDED_PARAMETERS(OD_ELEMENT_ROW) OD_COMMON_PARAMETERS(OD_ELEMENT_ROW) \
                    OD_SIDED_PARAMETERS(OD_NEGATIVE_ROW)),                               \
      OD_LAW_RULES OD_LAW_SHOWN,                                                         \
  };                                                                                     \
  const od_block_class od_##identifier##_block = {                                       \
      .type = law_name "-friction",                                                      \
      .states = OD_LAW_STATES,                                                           \
      .is_linear = block_is_linear,                                                      \
      .evaluate = evaluate_block_r,                                                      \
      .evaluate_complex = OD_IN_COMPLEX(evaluate_block_c),                               \
      .slopes = slopes_block,                                                            \
  };                                                                                     \
  const od_block_description od_##identifier##_block_description = {                     \
      .equations = &od_##identifier##_block,                                             \
      .summary = "friction as a function of a velocity: " about,                         \
      .unit = "N",                                                                       \
      .inputs = OD_LAW_INPUTS,                                                           \
      .fields = {OD_SIDED_PARAMETERS(OD_BLOCK_ROW) OD_COMMON_PARAMETERS(OD_BLOCK_ROW)    \
                     OD_SIDED_PARAMETERS(OD_NEGATIVE_BLOCK_ROW)},                        \
      .choices = {{OD_CHOICE_GIVEN, OD_FIRST_KEY "_negative"} OD_LAW_CHOICES},           \
      .outputs = {""},                                                                   \
      .state = OD_BLOCK_STATES,                                                          \
  };                                                                                     \
  const od_friction_law od_##identifier##_law = {                                        \
      .name = law_name,                                                                  \
      .element = &od_##identifier##_description,                                         \
      .sided = OD_SIDED,                                                                 \
      .common = 0 OD_COMMON_PARAMETERS(OD_COUNT_ROW),                                    \
      OD_LAW_FAMILY.steady_r = steady_r,                                                 \
      .steady_c = OD_IN_COMPLEX(steady_c),                                               \
  }
