// CAN traces of all formats: candump, ASC and BLF, chosen by the first bytes as for a log, decoded with a database that has every kind of
// message. A second pass and a second stream give the same rows, and times never descend.
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/can_frames.h"
#include "formats/dbc.h"

enum { MOST_ROWS = 3000 };

// Reads all rows. Returns a checksum of their bytes.
static uint64_t read_rows(const od_log_format *format, void *stream, double *values, od_status *status, long *rows) {
  const od_table *head = format->head(stream);
  uint64_t sum = 0;
  double last = -INFINITY;
  od_error err = {0};
  *rows = 0;
  for (bool end = false; *rows < MOST_ROWS; ++*rows) {
    *status = format->next(stream, values, &end, &err);
    if (*status != OD_OK && !err.text[0]) abort();
    if (*status != OD_OK || end) break;
    if (!(values[0] >= last)) abort();
    last = values[0];
    for (int i = 0; i < head->columns; i++) {
      uint64_t bits;
      memcpy(&bits, &values[i], sizeof bits);
      sum = (sum ^ (isnan(values[i]) ? 1 : bits)) * UINT64_C(0x9e3779b97f4a7c15);
    }
  }
  return sum;
}

// Reads a text trace as one that may grow. Each refused line is only one row.
static void follow(const od_log_format *format, const char *path, const char *const *databases) {
  od_table_wish wish = {.databases = databases, .follow = true};
  void *stream = NULL;
  od_error err = {0};
  od_log_growth growth = OD_LOG_LONGER;
  if (format->open(path, &wish, &stream, &err) != OD_OK || !stream) return;
  double *values = calloc((size_t)format->head(stream)->columns, sizeof *values);
  if (!values) abort();
  bool end = false;
  for (int k = 0; k < MOST_ROWS && !end; k++) {
    od_status status = format->next(stream, values, &end, &err);
    if (status != OD_OK && status != OD_BAD_INPUT) abort();
  }
  if (end && (format->grow(stream, &growth, &err) != OD_OK || growth != OD_LOG_SAME)) abort();
  free(values);
  format->close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const databases[] = {OD_SOURCE_DIR "/tests/fuzz/can/messages.dbc", NULL};
  const od_log_format *const formats[] = {&od_candump_format, &od_asc_format, &od_blf_format};
  const char *path = fuzz_file(data, size, "input.trace", "cases/crane");
  od_table_wish wish = {.databases = databases};
  for (int i = 0; i < 3; i++) {
    void *stream = NULL, *other = NULL;
    od_error err = {0};
    od_status first, second;
    long rows, again;
    if (!formats[i]->recognizes(path, data, size < OD_LOG_START ? size : OD_LOG_START)) continue;
    if (formats[i]->grow) follow(formats[i], path, databases);
    od_status status = formats[i]->open(path, &wish, &stream, &err);
    if ((status == OD_OK) != (stream != NULL) || (status != OD_OK && !err.text[0])) abort();
    if (!stream) continue;
    const od_table *head = formats[i]->head(stream);
    double *values = calloc((size_t)head->columns, sizeof *values);
    if (!values) abort();
    for (int c = 1; c < head->columns; c++)
      if (!formats[i]->origin(stream, c).group || !head->name[c][0]) abort();
    uint64_t sum = read_rows(formats[i], stream, values, &first, &rows);
    formats[i]->rewind(stream);
    if (read_rows(formats[i], stream, values, &second, &again) != sum || second != first || again != rows) abort();
    if (formats[i]->again(stream, &other, &err) != OD_OK) abort();
    if (read_rows(formats[i], other, values, &second, &again) != sum || second != first || again != rows) abort();
    formats[i]->is_cut(other);
    formats[i]->start_time(other);
    formats[i]->close(other);
    formats[i]->close(stream);
    free(values);
  }
  return 0;
}
