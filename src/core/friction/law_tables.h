// The tables of a friction law, for the end of its file: OD_FRICTION_LAW(identifier, "name", "summary"). The file has defined
//   OD_SIDED_PARAMETERS(M), OD_COMMON_PARAMETERS(M)     rows of parameters.h
//   OD_FIRST_KEY                                        the key of the first of them
//   OD_LAW_STATES, and OD_LAW_PLAIN or OD_LAW_SHAPE     see friction_x.h
// and may define OD_LAW_RULES, conditions on its parameters.
#include "blocks/block.h"
#include "friction/law.h"
#include "friction/parameters.h"

// Of the factor, and of the load of a law that has one.
#define OD_FRICTION_BELOW_ZERO "friction does not push, so that it counts as next to zero there"

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
   .meaning = "the same for negative speeds"},
#define OD_BLOCK_ROW(k, u, tu, s, f, a, b, c, d, ta, tb, tc, td, m, signal) \
  {.key = k, .unit = u, .sign = s, .fallback = f, .meaning = m, .limits = {a, b, c, d}},
#define OD_NEGATIVE_BLOCK_ROW(k, u, tu, s, f, a, b, c, d, ta, tb, tc, td, m, signal) \
  {.key = k "_negative",                                                             \
   .unit = u,                                                                        \
   .sign = s,                                                                        \
   .fallback = NAN,                                                                  \
   .meaning = "the same for negative speeds",                                        \
   .only_with = OD_FIRST_KEY "_negative",                                            \
   .only_with_purpose = "for negative speeds",                                       \
   .limits = {a, b, c, d}},
#define OD_COUNT_ROW(...) +1
// How many parameters differ by direction, the first ones; those for negative speeds come last.
#define OD_SIDED          (0 OD_SIDED_PARAMETERS(OD_COUNT_ROW))
#define OD_FIRST_NEGATIVE (OD_SIDED OD_COMMON_PARAMETERS(OD_COUNT_ROW))

// ---- what depends on the states

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
#define OD_STATE_BRISTLE {"bristle", "N", .present_if = -1, .scale_field = 0},
#define OD_STATE_FILM    {"film", "1", .present_if = -1, .scale = 1},
#define OD_STATE_FELT    {"felt", "m/s", .present_if = -1, .scale = 1},

#if OD_LAW_STATES == 0
#define OD_LAW_TABLES \
  .in = {{OD_IN_SPEED}, {OD_IN_SIGNAL}}, .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}}, .outputs = {OD_SHOWN_FORCE}
#define OD_BLOCK_STATES \
  {                     \
    { 0 }               \
  }
#elif OD_LAW_STATES == 1
#define OD_LAW_TABLES                                                                                     \
  .states = {OD_STATE_BRISTLE}, .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_SIGNAL}},                  \
  .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}}, .outputs = {OD_SHOWN_FORCE OD_SHOWN_BRISTLE}, \
  .may_supply = true
#define OD_BLOCK_STATES \
  {                     \
    { "bristle", "N" }  \
  }
#elif OD_LAW_STATES == 2
#define OD_LAW_TABLES                                                        \
  .states = {OD_STATE_BRISTLE OD_STATE_FILM},                                \
  .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}, {OD_IN_SIGNAL}}, \
  .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}}, \
  .outputs = {OD_SHOWN_FORCE OD_SHOWN_BRISTLE OD_SHOWN_FILM}, .may_supply = true
#define OD_BLOCK_STATES \
  {                     \
    {"bristle", "N"}, { \
      "film", "1"       \
    }                   \
  }
#else
#define OD_LAW_TABLES                                                                          \
  .states = {OD_STATE_BRISTLE OD_STATE_FILM OD_STATE_FELT},                                    \
  .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}, {OD_IN_STATE, 2}, {OD_IN_SIGNAL}}, \
  .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}, {OD_TO_RATE, 2}},  \
  .outputs = {OD_SHOWN_FORCE OD_SHOWN_BRISTLE OD_SHOWN_FILM OD_SHOWN_FELT}, .may_supply = true
#define OD_BLOCK_STATES                \
  {                                    \
    {"bristle", "N"}, {"film", "1"}, { \
      "felt", "m/s"                    \
    }                                  \
  }
#endif

#ifdef OD_LAW_PLAIN
#define OD_LAW_FAMILY
#else
#define OD_LAW_FAMILY                                                                       \
  .has_family = true, .has_bristles = OD_LAW_STATES > 0, .has_film = OD_LAW_STATES > 1,     \
  .has_rate_terms = OD_LAW_STATES > 2, .shape = OD_LAW_SHAPE, .family_r = family_numbers_r, \
  .family_c = family_numbers_c,
#endif
#if OD_LAW_STATES < 3
#define OD_LAW_SLOPES .slopes = slopes_all,
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
#define OD_LAW_SLOPES
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
#define OD_FS_ABOVE_FC(fs, fc, when) \
  { fs, fc, OD_RULE_NOT_LESS, fs, "static friction Fs must not be less than Coulomb friction Fc" when }
// For laws with both; their places.
#define OD_FS_RULES(fs, fc)            \
  OD_RULES(OD_FS_ABOVE_FC(fs, fc, ""), \
           OD_FS_ABOVE_FC(OD_FIRST_NEGATIVE + fs, OD_FIRST_NEGATIVE + fc, " for negative speeds")),

static bool block_is_linear(const od_block_spec *s) {
  (void)s;
  return false;
}

#define OD_FRICTION_LAW(identifier, law_name, about)                                     \
  const od_element_class od_##identifier##_class = {                                     \
      .name = law_name,                                                                  \
      .choice = law_name,                                                                \
      .summary = about,                                                                  \
      .noun = "friction",                                                                \
      .heading = "Friction in joints",                                                   \
      .inside = "friction",                                                              \
      .acts = OD_ACTS_ON_HOST,                                                           \
      OD_FIELDS(OD_SIDED_PARAMETERS(OD_ELEMENT_ROW) OD_COMMON_PARAMETERS(OD_ELEMENT_ROW) \
                    OD_SIDED_PARAMETERS(OD_NEGATIVE_ROW)),                               \
      .optional_fields = OD_SIDED,                                                       \
      .choices = 1,                                                                      \
      OD_LAW_RULES OD_LAW_TABLES,                                                        \
      OD_LAW_SLOPES OD_ELEMENT_FUNCTIONS,                                                \
  };                                                                                     \
  const od_block_class od_##identifier##_block = {                                       \
      .type = law_name "-friction",                                                      \
      .summary = "friction by a velocity: " about,                                       \
      .unit = "N",                                                                       \
      .inputs = OD_LAW_INPUTS,                                                           \
      .fields = {OD_SIDED_PARAMETERS(OD_BLOCK_ROW) OD_COMMON_PARAMETERS(OD_BLOCK_ROW)    \
                     OD_SIDED_PARAMETERS(OD_NEGATIVE_BLOCK_ROW)},                        \
      .choices = {{OD_CHOICE_GIVEN, OD_FIRST_KEY "_negative"} OD_LAW_CHOICES},           \
      .outputs = {""},                                                                   \
      .states = OD_LAW_STATES,                                                           \
      .state = OD_BLOCK_STATES,                                                          \
      .is_linear = block_is_linear,                                                      \
      .evaluate = evaluate_block_r,                                                      \
      .evaluate_complex = evaluate_block_c,                                              \
  };                                                                                     \
  const od_friction_law od_##identifier##_law = {                                        \
      .name = law_name,                                                                  \
      .element = &od_##identifier##_class,                                               \
      .sided = OD_SIDED,                                                                 \
      .common = 0 OD_COMMON_PARAMETERS(OD_COUNT_ROW),                                    \
      OD_LAW_FAMILY.steady_r = steady_r,                                                 \
      .steady_c = steady_c,                                                              \
  }
