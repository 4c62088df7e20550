// Filters: how an observer's estimate and its covariance follow from a step and from the sensors. They stand in one table, and
// whoever offers a choice of them takes the names from there.
//
//   od_observer_new(plant, &(od_observer_options){.filter = od_filter_find("ekf"), .sensor_sigma = sigma});
#ifndef OLEODYN_FILTER_H
#define OLEODYN_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/plant.h"

OD_BEGIN_C

struct od_observer;
struct od_observer_options;

// A choice that a filter leaves to whoever uses it: a number, or one of a few words.
typedef struct od_filter_option {
  const char *key, *meaning;  // as files call it; in a few words
  double fallback;            // the number, or the index of the word, where nothing is said; NAN: the filter finds one
  double low, high;           // what is possible of a number
  const char *const *words;   // with a NULL at the end; NULL: it is a number
  void *reserved[2];          // zero
} od_filter_option;
enum { OD_MOST_FILTER_OPTIONS = 8 };

// The observer around it holds the estimate, its covariance and the bounds; before a prediction it takes the samples of
// blocks and changes coordinates, in a correction it judges sensors and keeps the statistics (src/core/observe).
typedef struct od_filter {
  const char *name;         // as files and messages call it
  const char *description;  // in a few words, for reports and lists
  const od_filter_option *option;
  int options;  // at most OD_MOST_FILTER_OPTIONS
  // What is wrong with options that are possible one by one, in words; NULL: nothing. May be missing.
  const char *(*check)(const struct od_observer_options *options);
  // Bytes of memory of its own.
  size_t (*memory)(const od_plant *plant, const struct od_observer_options *options);
  // The estimate and the covariance have been set to those of the start. NULL: there is nothing else to do.
  od_status (*start)(struct od_observer *o);
  // Time goes on by h; the inputs are u at the end. Q (n x n) or its diagonal q: of the process noise of this step; may be NULL.
  od_status (*predict)(struct od_observer *o, double h, const double *u, const double *Q, const double *q);
  // Takes in the sensors y (ny), at least one of which measures; NaN: this one is missing.
  od_status (*correct)(struct od_observer *o, const double *y);
  // The state has jumped, or has other coordinates: its derivatives by the old state (nx x nx) and by the parameters (nx x np;
  // NULL without any). Estimate and covariance have followed. NULL: it remembers no other states.
  od_status (*follow)(struct od_observer *o, const double *map, const double *by_parameters);
  // Standard deviations of the outputs, whose values at the estimate are y (ny).
  od_status (*output_sigma)(struct od_observer *o, const double *y, double *sigma);
  // The estimate or its covariance has been changed from outside: what went before counts no longer. NULL: it never does.
  void (*restart)(struct od_observer *o);
  // Whether its standard deviations may be believed already. NULL: it does not ask itself, see od_observer_settled().
  bool (*settled)(const struct od_observer *o);
} od_filter;

// Entry i of the table; NULL: there is none. The first one is what is used where nothing is said.
OD_API const od_filter *od_filter_at(int i);
OD_API const od_filter *od_filter_find(const char *name);  // NULL: there is none

OD_END_C

#endif
