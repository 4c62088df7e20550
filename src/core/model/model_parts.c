#include "model/model_parts.h"

static bool is_spatial(const od_model *m) {
  return !m->planar;
}
static bool has_blocks(const od_model *m) {
  return m->blocks > 0;
}
static bool has_loads(const od_model *m) {
  return m->loads > 0;
}
static bool has_junctions(const od_model *m) {
  return m->junctions > 0;
}
static bool has_heat(const od_model *m) {
  return m->join.reservoir >= 0;
}
static bool has_modes(const od_model *m) {
  return m->switchers + m->block_switchers > 0;
}
static bool has_formulas(const od_model *m) {
  return m->operations > 0;
}
static bool has_jumps(const od_model *m) {
  return m->jumps > 0;
}
static bool has_tree(const od_model *m) {
  return m->newton == OD_NEWTON_TREE;
}
static bool is_sparse(const od_model *m) {
  return m->newton == OD_NEWTON_SPARSE || m->join.row_start;
}

const od_model_part od_model_parts[] = {
    {"spatial", OD_WITH_SPATIAL, is_spatial},
    {"blocks", OD_WITH_BLOCKS, has_blocks},
    {"loads", OD_WITH_LOADS, has_loads},
    {"junctions", OD_WITH_JUNCTIONS, has_junctions},
    {"heat", OD_WITH_HEAT, has_heat},
    {"modes", OD_WITH_MODES, has_modes},
    {"formulas", OD_WITH_FORMULAS, has_formulas},
    {"jumps", OD_WITH_JUMPS, has_jumps},
    {"tree", OD_WITH_TREE, has_tree},
    {"sparse", OD_WITH_SPARSE, is_sparse},
};
const int od_model_part_count = sizeof od_model_parts / sizeof *od_model_parts;

// The bit of a kind; zero for a kind that does not exist, as an image that is not checked yet may contain.
static uint64_t bit_of(od_output_kind kind) {
  return (unsigned)kind < 64 ? UINT64_C(1) << kind : 0;
}

uint64_t od_model_output_bits(const od_model *m) {
  uint64_t bits = 0;
  for (int i = 0; i < m->outputs; i++) bits |= bit_of(m->output[i].kind);
  for (int i = 0; i < m->measures; i++) bits |= bit_of(m->measure[i].kind);
  return bits;
}

od_status od_model_check_parts(const od_model *m, od_error *err) {
  for (const od_model_part *p = od_model_parts; p < od_model_parts + od_model_part_count; p++)
    if (!p->is_present && p->is_needed(m))
      return od_fail(
          err, OD_NOT_AVAILABLE,
          "the model needs the part '%s' of the core, which this build does not contain (OD_WITHOUT=%s); build the core with this part",
          p->name, p->name);
  if (od_model_output_bits(m) & ~OD_OUTPUT_BITS)
    return od_fail(
        err, OD_NOT_AVAILABLE,
        "the model has outputs of a kind that this build of the core does not contain; add this kind to OD_OUTPUT_BITS");
  return OD_OK;
}

const char *od_model_foreign_block(const od_model *m) {
  for (int i = 0; i < m->blocks; i++)
    if (m->spec[i].foreign) return od_model_text(m, m->block[i].name);
  return NULL;
}
