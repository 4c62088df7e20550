// The forms of signals that machine files know, as a table: keys, units, defaults.
#ifndef OD_MACHINE_SIGNAL_FORMS_H
#define OD_MACHINE_SIGNAL_FORMS_H

#include "document/quantities.h"

typedef struct od_signal_form {
  const char *name;
  const od_field *field;  // a unit of NULL: that of the input
  int fields;
  bool pairs;      // it has 'at', a list of times and values
  bool has_sweep;  // it has 'sweep', linear or logarithmic
} od_signal_form;

// Form i; beyond the last one the name is NULL.
od_signal_form od_signal_form_at(int i);

#endif
