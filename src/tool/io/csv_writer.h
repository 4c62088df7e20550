// Writes a table as a CSV file row by row: a header "name [unit]", then one line per row.
#ifndef OD_IO_CSV_WRITER_H
#define OD_IO_CSV_WRITER_H

#include "io/table.h"

typedef struct od_csv_writer od_csv_writer;

// Opens the file and writes the header: names and units of the table. The file appears under its name when it is
// complete. The path "-" is standard output. Fails with OD_IO or OD_NO_MEMORY; then *out is NULL.
od_status od_csv_writer_open(const char *path, const od_table *head, od_csv_writer **out, od_error *err);
// Writes a row. od_csv_writer_commit() reports errors.
void od_csv_writer_row(od_csv_writer *w, const double *row);
// The first function completes the file, the second discards the file. Both functions release all memory. od_csv_writer_commit()
// fails with OD_IO if a row could not be written; then no file is left behind.
od_status od_csv_writer_commit(od_csv_writer *w, od_error *err);
void od_csv_writer_discard(od_csv_writer *w);

// Returns the header of a table as a line of CSV, with its line end; freed with od_free(). Returns NULL if an allocation fails.
char *od_table_csv_header(const od_table *head);

#endif
