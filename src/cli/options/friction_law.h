// A friction law with its numbers, as the command line gives them.
#ifndef OD_OPTIONS_FRICTION_LAW_H
#define OD_OPTIONS_FRICTION_LAW_H

#include "options/options.h"
#include "friction/drive.h"

enum { OD_MOST_VARIED = 8 };

typedef struct od_cli_law {
  const od_friction_law *law;
  bool two_sided;
  double q[2 * OD_MOST_ELEMENT_FIELDS];
  char label[80];  // "force", or what was varied: "tau_hn = 2.4"
} od_cli_law;

// The law with the numbers of `set`, then the same with each of `vary` changed. Returns how many, or 0 after messages about
// everything that is wrong.
int od_cli_laws_read(const char *name, const od_words *set, const od_words *vary, od_cli_law law[OD_MOST_VARIED + 1]);

double od_cli_law_steady(const od_cli_law *law, double v);
double od_cli_law_steady_slope(const od_cli_law *law, double v, int number);
// From rest without a film. What its factor or load is multiplied by at every time may be NULL, and so may the film.
od_status od_cli_law_drive(const od_cli_law *law, int count, const double *t, const double *v, const double *signal,
                           double *force, double *film);

#endif
