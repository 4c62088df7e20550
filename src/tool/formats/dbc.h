// Databases of CAN messages: the contents of a DBC file.
//
// A message has signals: bits of its data with a linear conversion to a physical quantity. A multiplexed signal is present only in
// frames in which another signal, its switch, has certain values.
#ifndef OD_FORMATS_DBC_H
#define OD_FORMATS_DBC_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/scoped.h"

enum {
  OD_DBC_LARGEST_MB = 32,  // limit of the size of a file, MB
  OD_DBC_MOST_MESSAGES = 65536,
  OD_DBC_MOST_SIGNALS = 262144,
  OD_DBC_LONGEST = 1785  // bytes of the longest message: the limit of the transport protocol of J1939
};

typedef enum od_dbc_number { OD_DBC_UNSIGNED, OD_DBC_SIGNED, OD_DBC_FLOAT, OD_DBC_DOUBLE } od_dbc_number;

// The name of a raw value.
typedef struct od_dbc_value {
  int64_t raw;
  const char *name;
} od_dbc_value;

typedef struct od_dbc_range {
  uint64_t from, to;
} od_dbc_range;

// Texts are UTF-8; a missing text is "".
typedef struct od_dbc_signal {
  const char *name, *unit, *comment;
  int line, column;   // line and column in the file
  int start, length;  // in bits, as in the file. The start is the lowest bit (Intel) or the highest bit (Motorola)
  bool is_motorola;   // whether the first byte contains the highest bits
  bool is_switch;     // whether other signals depend on the value
  bool needs_switch;  // whether the signal is multiplexed
  od_dbc_number number;
  double factor, offset;      // value = factor * raw + offset
  double min, max;            // equal: unknown
  int by;                     // index of the switch in the message; -1: the signal is always present
  const od_dbc_range *range;  // values of the switch with which the signal is present, ascending and disjoint
  int ranges;
  const od_dbc_value *value;  // ascending
  int values;
  int spn;           // number of the signal in SAE J1939; -1: unknown
  const char *flaw;  // message about the reason why the signal cannot be read; NULL: none
} od_dbc_signal;

typedef struct od_dbc_message {
  const char *name, *sender, *comment;
  int line, column;
  uint32_t id;  // identifier without the flag of 29 bits
  bool is_extended;
  bool is_j1939;  // whether the message is identified by its PGN, from any source address
  bool is_fast;   // whether the message is sent in fast packets (NMEA 2000)
  bool is_nmea;   // whether missing values have the codes of NMEA 2000 instead of J1939
  int length;     // bytes
  double cycle;   // s; 0: unknown
  const od_dbc_signal *signal;
  int signals;
} od_dbc_message;

typedef struct od_dbc {
  const char *path;
  od_dbc_message *message;
  int messages;
  od_arena arena;  // owns everything
} od_dbc;

// Reads a DBC file and registers it (io/inputs_read.h). Texts that are not UTF-8 are converted from Windows-1252. Sections that are
// not needed are skipped. The caller frees *out. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY. The message lists the first errors, each
// with its place.
od_status od_dbc_read(const char *path, od_dbc **out, od_error *err);
void od_dbc_free(od_dbc *dbc);
OD_OWNED_POINTER(od_dbc, od_dbc_free);

// Returns the parameter group number (PGN) of a 29-bit identifier, with the data pages. In PDU1 (PDU format below 240) the lowest
// byte is the destination address, and the PGN has zeros there.
static inline uint32_t od_j1939_pgn(uint32_t id) {
  uint32_t group = id >> 8 & 0x3ffff;
  return (group >> 8 & 0xff) < 240 ? group & ~(uint32_t)0xff : group;
}

// Returns the destination address of a 29-bit identifier: 255 in PDU2.
static inline int od_j1939_destination(uint32_t id) {
  return (id >> 16 & 0xff) < 240 ? (int)(id >> 8 & 0xff) : 255;
}

#endif
