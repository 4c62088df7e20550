// What a study says about transfer functions: the stepped sine and the band for all of its cases, method and order of each.
#include <math.h>

#include "document/quantities.h"
#include "study/cases.h"

void od_tf_wish_read_sweep(od_loader *ld, int node, od_tf_wish *wish) {
  static const char *const keys[] = {"from", "to", "step", "periods", "settle", "low", "high", NULL};
  static const od_field fields[] = {{"from", "Hz", OD_POSITIVE, NAN},    {"to", "Hz", OD_POSITIVE, NAN},
                                    {"step", "Hz", OD_POSITIVE, NAN},    {"periods", "1", OD_POSITIVE, 3},
                                    {"settle", "1", OD_NOT_NEGATIVE, 1}, {"low", "Hz", OD_NOT_NEGATIVE, 0},
                                    {"high", "Hz", OD_POSITIVE, 1e9}};
  od_section section = od_section_open(ld, node, node, "transfer", "the section 'transfer'", keys);
  if (section.map < 0) return;
  int first = od_read_fields(ld, &section, fields, 7, OD_IN_LOADER);
  double *const value[] = {&wish->from, &wish->to, &wish->step, &wish->periods, &wish->settle, &wish->low, &wish->high};
  for (int i = 0; i < 7; i++) *value[i] = od_number_value(ld, first + i);
  if (od_has_errors(ld)) return;
  if (!(wish->from <= wish->to) || !((wish->to - wish->from) / wish->step < 1e5))
    od_complain(ld, node,
                "found a stepped sine from %g to %g Hz in steps of %g Hz, expected at most 100000 rising frequencies",
                wish->from, wish->to, wish->step);
  if (!(wish->settle < wish->periods))
    od_complain(ld, node, "found %g periods to settle of %g, expected less", wish->settle, wish->periods);
}

void od_tf_wish_read_case(od_loader *ld, const od_section *section, od_tf_wish *wish) {
  static const od_field order = {"order", "1", OD_POSITIVE, NAN};
  int method = od_section_get(ld, section, "method"), chosen = OD_TRANSFER_VF;
  if (method >= 0) chosen = od_read_choice(ld, method, "method", od_transfer_methods);
  wish->method = chosen < 0 ? OD_TRANSFER_VF : (od_transfer_method)chosen;
  int number = od_read_fields(ld, section, &order, 1, OD_IN_LOADER);
  wish->order = (int)od_read_whole(ld, number, "order", 1, OD_TRANSFER_MOST);
}
