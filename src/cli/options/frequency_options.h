// Frequencies of commands about responses: their options and the resulting list.
#ifndef OD_OPTIONS_FREQUENCY_OPTIONS_H
#define OD_OPTIONS_FREQUENCY_OPTIONS_H

#include "linear/linear_model.h"

typedef struct od_frequency_arguments {
  const char *low, *high, *points;
} od_frequency_arguments;

// The entries for a command's option table.
#define OD_FREQUENCY_OPTIONS(target)                                                                          \
  {"low", OD_OPTION_TEXT, "F", "lowest frequency, in Hz or with a unit; default: below the slowest pole",     \
   &(target)->low},                                                                                           \
      {"high", OD_OPTION_TEXT, "F", "highest frequency; default: above the fastest pole", &(target)->high}, { \
    "points", OD_OPTION_TEXT, "N", "number of frequencies, logarithmically spaced", &(target)->points         \
  }

// Chooses the frequencies. Returns OD_GO_ON, or the exit code after a message. The list belongs to the arena.
int od_frequencies_choose(const od_frequency_arguments *arguments, const od_linear_model *model, int points,
                          od_arena *arena, double **out, int *count);

#endif
