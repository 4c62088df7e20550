// The columns of an MDF 4 file: the time, then the channels that become columns, with unique names.
#ifndef OD_FORMATS_MDF_COLUMNS_H
#define OD_FORMATS_MDF_COLUMNS_H

#include "formats/mdf_channels.h"
#include "formats/read_table.h"

typedef struct od_mdf_columns {
  bool has_time;  // whether column 0 is the time; groups without times then have no columns
  int count;
  int *channel;        // the channel of each column; -1: the time
  od_table *head;      // names, units and flaws
  const char **group;  // the name of each group, or its number
  const char **label;  // names of the groups; a number is added if several groups have the same name
  const int *time_of;  // for each group the channel with its times; -1: none
} od_mdf_columns;

// Chooses the columns. The arena owns the lists, the caller frees the head. Fails with OD_NO_MEMORY or OD_BAD_INPUT.
od_status od_mdf_columns_choose(const od_mdf_file *file, od_mdf_contents *contents, const od_table_wish *wish,
                                od_arena *memory, od_mdf_columns *columns, od_error *err);

// Returns the factor that converts times with this unit to seconds; 1 for an unknown unit.
double od_mdf_time_scale(const char *unit);

#endif
