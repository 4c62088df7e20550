// DBC files. The signals that a database gives are read from a message full of ones.
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/can_signal.h"
#include "formats/dbc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t ones[OD_DBC_LONGEST + OD_CAN_SIGNAL_READAHEAD + 1];
  const char *path = fuzz_file(data, size, "input.dbc", "cases/crane");
  od_dbc *dbc = NULL;
  od_error err = {0};
  memset(ones, 0xff, sizeof ones);
  od_status status = od_dbc_read(path, &dbc, &err);
  if ((status == OD_OK) != (dbc != NULL) || (status != OD_OK && !err.text[0])) abort();
  for (int i = 0; dbc && i < dbc->messages; i++) {
    const od_dbc_message *m = &dbc->message[i];
    for (int j = 0; j < m->signals; j++) {
      const od_dbc_signal *s = &m->signal[j];
      if (!s->name || !s->unit || !s->comment || s->by >= m->signals) abort();
      if (s->flaw) continue;
      od_can_signal_form f = od_can_signal_form_of(m, s);
      uint64_t raw = od_can_signal_raw(&f, ones);
      if (f.end > m->length || (s->length < 64 && raw != (UINT64_C(1) << s->length) - 1)) abort();
      od_can_signal_value(&f, raw);
    }
  }
  od_dbc_free(dbc);
  return 0;
}
