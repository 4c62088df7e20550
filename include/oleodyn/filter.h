// Filters: the methods that compute the estimate and covariance of an observer from a step and from the sensors. The
// table of filters is accessible by od_filter_at().
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
struct od_pieces;

// An option of a filter: a number, or one of a few words.
typedef struct od_filter_option {
  const char *key, *meaning;  // the key in files; a short description for users
  double fallback;            // default: the number, or the index of the word; NAN: the filter computes a value
  double low, high;           // allowed range of a number
  const char *const *words;   // allowed words, ending with NULL; NULL: the option is a number
  void *reserved[2];          // zero
} od_filter_option;
enum { OD_MOST_FILTER_OPTIONS = 8 };

// A filter. The observer holds the estimate, its covariance and the bounds. Before a prediction the observer takes samples of
// blocks and changes coordinates. In a correction the observer selects the sensors and updates the statistics (src/core/observe).
typedef struct od_filter {
  const char *name;         // name in files and messages
  const char *description;  // a few words, for reports and lists
  const od_filter_option *option;
  int options;  // at most OD_MOST_FILTER_OPTIONS

  // Checks the combination of options; each option is already in its range. Returns a sentence about the error, or NULL. The
  // function may be NULL.
  const char *(*check)(const struct od_observer_options *options);
  // Returns the size in bytes of the memory that the filter needs in the observer's block.
  size_t (*memory)(const od_plant *plant, const struct od_observer_options *options);
  // Initializes the filter's memory. Called by od_observer_start() after estimate and covariance have their initial values. If the
  // function fails, od_observer_start() returns its status and the observer is not started. NULL: there is nothing to initialize.
  od_status (*start)(struct od_observer *o);
  // Predicts estimate and covariance over a step of h seconds; u (nu) are the inputs at its end. Q (n x n): covariance of the
  // process noise of this step; q (n): its diagonal, used if Q is NULL. If both are NULL, there is no process noise. If the
  // function fails before the time has changed, estimate and covariance must be unchanged. If it fails later, the observer must be
  // started again.
  od_status (*predict)(struct od_observer *o, double h, const double *u, const double *Q, const double *q);
  // Corrects estimate and covariance with the values of the sensors y (ny), in SI units. NaN: this sensor has no value or is not
  // used. Called only if at least one sensor has a value.
  od_status (*correct)(struct od_observer *o, const double *y);
  // Called when the state has jumped or its coordinates have changed, after estimate and covariance were transformed. map
  // (nx x nx) and by_parameters (nx x np; NULL without parameters) are the derivatives of the new state. NULL: the
  // filter has no other data that depend on the coordinates.
  od_status (*follow)(struct od_observer *o, const double *map, const double *by_parameters);
  // Computes the standard deviations sigma (ny) of the outputs, whose values at the estimate are y (ny), in SI units.
  od_status (*output_sigma)(struct od_observer *o, const double *y, double *sigma);
  // Called when the caller has changed the estimate or its covariance; the filter drops its data about earlier samples. NULL: the
  // filter keeps no such data.
  void (*restart)(struct od_observer *o);
  // Returns whether the standard deviations are reliable; see od_observer_settled(). NULL: the filter has no such test.
  bool (*settled)(const struct od_observer *o);
  // Returns whether the filter has fallen back to a simpler filter; see od_observer_fell_back(). NULL: the filter never
  // falls back.
  bool (*fell_back)(const struct od_observer *o);
  // Saves or restores the memory of the filter (src/core/base/saved.h). NULL: the memory contains no data between two
  // calls.
  void (*transfer)(struct od_observer *o, struct od_pieces *t);
  bool constant_noise;   // whether od_observer_options.noise can replace the arguments Q and q of `predict`
  bool detects_changes;  // whether sudden changes of parameters can be detected with this filter
                         // (src/core/observe/change_watch.h)
} od_filter;

// Returns filter i of the table, or NULL past its end. Filter 0 is the default.
OD_API const od_filter *od_filter_at(int i);
// Returns the filter with this name, or NULL.
OD_API const od_filter *od_filter_find(const char *name);

OD_END_C

#endif
