// What a fit found: for people and for programs.
#ifndef OD_OUTPUT_FIT_SUMMARY_H
#define OD_OUTPUT_FIT_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "identify/fit.h"

void od_fitted_print(const od_fitted *f, FILE *to);
json_t *od_fitted_json(const od_fitted *f, const char *message);

#endif
