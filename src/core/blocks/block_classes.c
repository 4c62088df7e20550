// The list of block classes, and properties that follow from a class and the spec of a block.
#include "blocks/block_classes.h"

#include <stddef.h>
#include <string.h>

#include "base/formula.h"
#include "blocks/block_list.h"

#define OD_DECLARE_CLASS(name) extern const od_block_class od_##name##_block;
OD_BLOCK_CLASSES(OD_DECLARE_CLASS)
#if OD_WITH_FOREIGN
extern const od_block_class od_foreign_block;
#define OD_FOREIGN_CLASS &od_foreign_block
#else
#define OD_FOREIGN_CLASS NULL
#endif
// The last entry is NULL if the build has no foreign blocks. Then the array is not empty, although a build may contain no class.
const od_block_class *const od_block_classes[] = {
#define OD_LIST_CLASS(name) &od_##name##_block,
    OD_BLOCK_CLASSES(OD_LIST_CLASS) OD_FOREIGN_CLASS};

int od_block_class_count(void) {
  return (int)(sizeof od_block_classes / sizeof *od_block_classes) - 1;
}
int od_block_class_all(void) {
  return od_block_class_count() + OD_WITH_FOREIGN;
}
int od_block_class_find(const char *type) {
  for (int i = 0; i < od_block_class_all(); i++)
    if (strcmp(od_block_classes[i]->type, type) == 0) return i;
  return -1;
}

// ---- specs

od_block_spec od_block_spec_of(const char *type) {
  return (od_block_spec){.block_class = od_block_class_find(type)};
}

od_block_spec od_block_spec_of_law(const od_foreign_law *law) {
  od_block_spec s = od_block_spec_of("foreign");
  s.inputs = law->inputs;
  s.foreign = law;
  return s;
}

// ---- properties

bool od_block_has_modes(const od_block_spec *s) {
  const od_block_class *c = od_block_class_of(s);
  return c->margin && (!c->is_foreign || (s->foreign->margin && s->sample == 0));
}

bool od_block_passes_on(const od_block_spec *s, bool sampling) {
  const od_block_class *c = od_block_class_of(s);
  bool sampled = s->sample > 0;
  if (sampled && (!sampling || c->remembers)) return false;
  if (c->passes_on) return c->passes_on(s);
  return sampled || !c->holds;
}

bool od_block_is_linear(const od_block_spec *s) {
  const od_block_class *c = od_block_class_of(s);
  return s->sample == 0 && (!c->is_linear || c->is_linear(s));
}
