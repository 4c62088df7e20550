// A friction law with the numbers of the command line.
#ifndef OD_OPTIONS_FRICTION_LAW_H
#define OD_OPTIONS_FRICTION_LAW_H

#include "friction_show/friction_view.h"
#include "options/options.h"

// The law with the numbers of `set`, then variants with each of `vary` changed. Returns their count, or 0 after messages about
// everything that is wrong.
int od_cli_laws_read(const char *name, const od_words *set, const od_words *vary, od_set_law law[OD_MOST_VARIED + 1]);

#endif
