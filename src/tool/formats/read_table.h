// Reads files of all formats as tables.
#ifndef OD_FORMATS_READ_TABLE_H
#define OD_FORMATS_READ_TABLE_H

#include "io/table.h"

// Expected contents of a file to be read; zero or NULL: unknown.
typedef struct od_table_wish {
  const char *const *
      missing;  // texts for a missing value, in addition to an empty cell and NaN; terminated by NULL. NULL: the user of the
                // file cannot give such texts, so messages do not propose this
  const char *time;            // the name of the time column
  const char *const *columns;  // names of other required columns; terminated by NULL
  bool no_time;                // whether no time column is required
  int skip;                    // number of lines of text before the header
  const char
      *time_form;  // order of day, month and year of a CSV file, such as "dd.mm.yyyy"; another text has no effect
  bool follow;     // whether the file may grow while it is read (od_log_format.grow)
  const char *const *databases;  // paths of DBC files that describe the messages of a CAN trace; terminated by NULL
} od_table_wish;

// Reads a file of any format (log_format.h). Registers the file (io/inputs_read.h). wish may be NULL. Fails with OD_BAD_INPUT,
// OD_IO, OD_NO_MEMORY or (MATLAB and HDF5 files) OD_INTERRUPTED.
od_status od_table_read(const char *path, const od_table_wish *wish, od_table **out, od_error *err);
// Reads a CSV file with or without units in its header or in a line below the header. Errors name line and column. Cells that are
// not numbers are NaN; users of a column check its flaw (od_table_flaw()). Lines before the header are skipped if they have fewer
// cells than the rows. Both functions fail with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_table_read_csv(const char *path, od_table **out, od_error *err);
od_status od_table_read_csv_with(const char *path, const od_table_wish *wish, od_table **out, od_error *err);
// Reads a MATLAB file of level 4, 5 or 7.3, possibly a whole workspace. Columns of the table are vectors, and columns
// and rows of matrices ("X(:,2)", "X(2,:)"), also in structures ("log.p"). All columns are as long as the time column;
// vectors of other lengths are left out. Columns of files that od_table_write_mat() wrote get their original names and units. Fails with
// OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_table_read_mat(const char *path, const od_table_wish *wish, od_table **out, od_error *err);

#endif
