#include "io/unpacked.h"

// Deflate reaches 1032 bytes per byte. Measurements with nearly constant channels reach 150.
static const double small = 64 << 20, per_byte = 200;

double od_most_unpacked(double bytes) {
  return small + per_byte * bytes;
}

od_status od_check_unpacked(const char *path, double bytes, double unpacked, od_error *err) {
  if (unpacked <= od_most_unpacked(bytes)) return OD_OK;
  return od_fail(
      err, OD_BAD_INPUT,
      "%s%sthe file has %.3g MB and describes more than %.3g MB of numbers, which are almost all constant; write the file "
      "again without these data",
      path ? path : "", path ? ": " : "", bytes / 1e6, od_most_unpacked(bytes) / 1e6);
}
