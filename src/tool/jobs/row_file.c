#include "jobs/row_file.h"

static void open_file(od_row_file *f, const od_table *head) {
  if (f->path && !f->writer && !f->failed.text[0]) od_csv_writer_open(f->path, head, &f->writer, &f->failed);
}

void od_row_file_append(od_row_file *f, const od_table *head, const double *row) {
  open_file(f, head);
  if (f->writer) od_csv_writer_row(f->writer, row);
}

od_status od_row_file_end(od_row_file *f, const od_table *head, od_error *err) {
  open_file(f, head);
  if (!f->writer) return od_fail(err, OD_IO, "%s", f->failed.text);
  od_status status = od_csv_writer_commit(f->writer, err);
  f->writer = NULL;
  return status;
}

void od_row_file_discard(od_row_file *f) {
  od_csv_writer_discard(f->writer);
  f->writer = NULL;
}
