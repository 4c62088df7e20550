// Values of signals in the data of a CAN message.
#ifndef OD_FORMATS_CAN_SIGNAL_H
#define OD_FORMATS_CAN_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/dbc.h"

enum {
  OD_CAN_SIGNAL_READAHEAD = 8,  // bytes after the last byte of a signal that od_can_signal_raw() may read
  OD_CAN_SIGNAL_NAMED = 6       // largest number of raw values that a database names as missing
};

// The raw values for "not available" and "error": from `from` to `to`, without values that the database names as states.
typedef struct od_can_signal_codes {
  uint64_t from, to;  // from > to: none
} od_can_signal_codes;

// Position and number format of a signal, prepared for fast reading.
typedef struct od_can_signal_form {
  uint16_t byte, end;  // index of the first byte, and of the byte after the last byte
  uint8_t skip;        // number of unused bits of the first byte: lowest bits (Intel) or highest bits (Motorola)
  uint8_t length;      // bits
  bool is_motorola;
  od_dbc_number number;
  double factor, offset;
  od_can_signal_codes codes;
  const od_dbc_value *value;  // names of raw values, ascending
  int values;
  uint64_t missing[OD_CAN_SIGNAL_NAMED];  // raw values that the database names as missing
  int named;
} od_can_signal_form;

// Prepares a signal without a flaw.
od_can_signal_form od_can_signal_form_of(const od_dbc_message *m, const od_dbc_signal *s);

// Returns the bits of a signal as an unsigned number. OD_CAN_SIGNAL_READAHEAD bytes after the data must be readable.
uint64_t od_can_signal_raw(const od_can_signal_form *f, const uint8_t *data);
// Returns the physical value; NAN if the raw value means "not available" or "error".
double od_can_signal_value(const od_can_signal_form *f, uint64_t raw);

#endif
