// Names of integrators and filters in files and options: the names in the core's tables, and additional names of a command.
#ifndef OD_MACHINE_METHOD_NAMES_H
#define OD_MACHINE_METHOD_NAMES_H

#include <stddef.h>

#define OD_CVODES "cvodes"  // additional integrator of simulate; see simulate/cvodes.h
#define OD_EXACT  "exact"   // additional integrator of fits; see predict/predict.h

#define OD_STEP_AUTO "auto"  // instead of a step length: an error estimate controls the step length

// A list of names that ends with NULL, for od_read_choice().
enum { OD_MOST_METHODS = 30 };
typedef struct od_method_names {
  const char *name[OD_MOST_METHODS + 2];
} od_method_names;
od_method_names od_method_names_integrators(const char *more);  // `more` is the last name; NULL: none
od_method_names od_method_names_filters(void);
// Writes all names, separated by spaces, into `text` of `size` bytes.
void od_method_names_words(const od_method_names *names, char *text, size_t size);

// Return names by index, for tables of keys; NULL after the last name.
const char *od_integrator_name(int i);
const char *od_run_integrator(int i);  // integrators of simulate
const char *od_fit_integrator(int i);  // integrators of fits
const char *od_filter_name(int i);

// Writes the names as a text such as "a, b or c". `word` is the word before the last name.
void od_method_names_text(const od_method_names *names, const char *word, char *text, size_t size);

// Returns the index of a name in the list. If the name is not in the list, returns -1, and *nearest is the nearest name (NULL: no
// name is near).
int od_method_names_find(const od_method_names *names, const char *name, const char **nearest);

#endif
