// Transfer functions in a study file: the stepped sine and the band for all cases, method and order of each case.
#include "document/ranges.h"
#include "study/cases.h"
#include "study/study_sections.h"

static const od_key keys[] = {
    {"from", OD_NUMBER, "Hz", "first frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"to", OD_NUMBER, "Hz", "last frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"step", OD_NUMBER, "Hz", "from frequency to frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP_STEP},
    {"periods", OD_NUMBER, "1", "of each frequency", OD_POSITIVE, 3},
    {"settle", OD_NUMBER, "1", "periods of each frequency that are left out", OD_NOT_NEGATIVE, 1},
    {"low", OD_NUMBER, "Hz", "lower end of the band that is fitted", OD_NOT_NEGATIVE, 0},
    {"high", OD_NUMBER, "Hz", "its upper end", OD_POSITIVE, 1e9, .otherwise = "none"},
};
const od_section_class od_transfer_section = {"transfer", "the stepped sine, and the band of the transfer functions",
                                              OD_KEYS(keys)};

void od_tf_wish_read_sweep(od_loader *ld, int node, od_tf_wish *wish) {
  od_section section = od_section_open(ld, node, node, "transfer", "the section 'transfer'", &od_transfer_section);
  if (section.map < 0) return;
  double *const value[] = {&wish->from, &wish->to, &wish->step, &wish->periods, &wish->settle, &wish->low, &wish->high};
  for (int i = 0; i < 7; i++) *value[i] = od_key_value(ld, &section, keys[i].name);
  if (od_has_errors(ld)) return;
  if (!(wish->from <= wish->to) || !((wish->to - wish->from) / wish->step < 1e5))
    od_complain(ld, node,
                "found a stepped sine from %g to %g Hz in steps of %g Hz, expected at most 100000 rising frequencies",
                wish->from, wish->to, wish->step);
  if (!(wish->settle < wish->periods))
    od_complain(ld, node, "found %g periods to settle of %g, expected less", wish->settle, wish->periods);
}

void od_tf_wish_read_case(od_loader *ld, const od_section *section, od_tf_wish *wish) {
  wish->method = (od_transfer_method)od_key_setting(ld, section, "method");
  wish->order = (int)od_key_whole(ld, section, "order");
}
