// Names of integrators and filters, as files and options choose among them: those of the core's tables, and what a command
// offers besides.
#ifndef OD_MACHINE_METHOD_NAMES_H
#define OD_MACHINE_METHOD_NAMES_H

#include <stddef.h>

#define OD_CVODES "cvodes"  // what simulate offers besides; see simulate/cvodes.h
#define OD_EXACT  "exact"   // what fits offer besides; see predict/predict.h

#define OD_STEP_AUTO "auto"  // instead of a step's length: an error estimate controls it

// A list with a NULL at the end, for od_read_choice().
enum { OD_MOST_METHODS = 30 };
typedef struct od_method_names {
  const char *name[OD_MOST_METHODS + 2];
} od_method_names;
od_method_names od_method_names_integrators(const char *more);  // `more` comes last; NULL: no more
od_method_names od_method_names_filters(void);

// One by one, for the tables of keys; NULL behind the last.
const char *od_integrator_name(int i);
const char *od_run_integrator(int i);  // of simulate
const char *od_fit_integrator(int i);  // of fits
const char *od_filter_name(int i);

// The same for people: "a, b or c", with this word before the last.
void od_method_names_text(const od_method_names *names, const char *word, char *text, size_t size);

// The index of a name in the list, or -1; then *nearest is the one that was probably meant, or NULL.
int od_method_names_find(const od_method_names *names, const char *name, const char **nearest);

#endif
