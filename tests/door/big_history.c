// Writes a history of a given size through the functions of the twin: big_history FILE VALUES. The machine "bench" has eight channels at 1 kHz; the number of
// rows is VALUES / 8. The values are sums of waves with periods from 20 ms to weeks, so that each zoom has other extremes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/history.h"

enum { CHANNELS = 8, ROWS_OF_BLOCK = 500 };

int main(int argc, char **argv) {
  static od_history_channel channel[CHANNELS];
  static const char *const names[CHANNELS] = {"estimate.a", "sigma.a",    "estimate.b", "sigma.b",
                                              "measured.a", "measured.b", "input.u",    "nis"};
  const long rows = argc == 3 ? (long)(strtod(argv[2], NULL) / CHANNELS) : 0;
  const od_twin_history settings = {.file = argc == 3 ? argv[1] : NULL, .rows_for = 1e10, .keep = 1e10, .size = 1e14};
  od_history *h = NULL;
  od_error err = {0};
  double row[1 + CHANNELS], last;
  int machine;
  if (rows < 1) {
    fprintf(stderr, "usage: big_history FILE VALUES\n");
    return 2;
  }
  for (int c = 0; c < CHANNELS; c++) channel[c] = (od_history_channel){names[c], "1", c == 0 || c == 2 ? c + 1 : -1};
  od_status status = od_history_open(&settings, &h, &err);
  if (status == OD_OK) status = od_history_add_machine(h, "bench", "A long history", &machine, &last, &err);
  if (status == OD_OK) status = od_history_define(h, machine, channel, CHANNELS, &err);
  for (long i = 0; i < rows && status == OD_OK; i++) {
    row[0] = 1e-3 * (double)i;
    const double slow = sin(1e-6 * row[0]) + sin(0.01 * row[0]);
    for (int c = 0; c < CHANNELS; c++) row[1 + c] = slow + 0.1 * (double)((i * (c + 3)) % 97) / 97;
    status = od_history_add_row(h, machine, row, i, &err);
    if (status == OD_OK && (i + 1) % ROWS_OF_BLOCK == 0) status = od_history_commit(h, &err);
  }
  if (status == OD_OK) status = od_history_commit(h, &err);
  od_history_close(h);
  if (status != OD_OK) fprintf(stderr, "big_history: %s\n", err.text);
  return status != OD_OK;
}
