// Ends of element classes: keys, and the outputs that show their flows.
#include "elements/elements.h"

od_end_place od_element_end_at(const od_element_description *c, int i) {
  int key = 0;
  while (i >= c->ends[key].count) i -= c->ends[key++].count;
  return (od_end_place){&c->ends[key], i};
}

const char *od_end_role_name(od_end_role role) {
  static const char *const names[] = {
      [OD_END_FLOW] = "flow", [OD_END_PILOT] = "pilot", [OD_END_DRAIN] = "drain", [OD_END_SENSE] = "sense"};
  return names[role];
}

// Returns whether an output in the list of the description shows the result `out` of the equations.
static bool shows_out(const od_element_description *c, const od_element_output *o, int out) {
  if (o->is_through) return c->equations->out[out].kind == OD_TO_THROUGH;
  return o->shows == OD_SHOWS_OUT && o->index == out;
}

od_end_flow od_element_end_flow(const od_element_description *c, int end) {
  for (int k = 0; k < c->equations->outs; k++) {
    bool through = c->equations->out[k].kind == OD_TO_THROUGH && end < 2,
         at_end = c->equations->out[k].kind == OD_TO_END;
    if (!through && !(at_end && c->equations->out[k].index == end)) continue;
    int sign = through && end == 0 ? -1 : 1;
    for (int i = 0; i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING; i++)
      if (shows_out(c, &c->outputs[i], k)) return (od_end_flow){i, c->outputs[i].negative ? -sign : sign};
  }
  return (od_end_flow){-1, 0};
}
