#include "machine/core_parts.h"

#include <ctype.h>
#include <string.h>

#include "blocks/block_list.h"
#include "elements/element_list.h"
#include "model/model_parts.h"
#include "oleodyn/plant.h"
#include "plant/real_derivatives.h"

#define DECLARE_ELEMENT(name) extern const od_element_class od_##name##_class;
#define DECLARE_BLOCK(name)   extern const od_block_class od_##name##_block;
OD_ELEMENT_CLASSES(DECLARE_ELEMENT)
OD_BLOCK_CLASSES(DECLARE_BLOCK)

// The name of a class in the lists of a build, and the table of the class.
typedef struct listed {
  const char *name;
  const void *table;
} listed;
#define LIST_ELEMENT(name) {#name, &od_##name##_class},
#define LIST_BLOCK(name)   {#name, &od_##name##_block},
static const listed elements[] = {OD_ELEMENT_CLASSES(LIST_ELEMENT)};
extern const od_block_class od_foreign_block;
// Exports never use the last class, because they refuse machines with foreign blocks.
static const listed blocks[] = {OD_BLOCK_CLASSES(LIST_BLOCK){"foreign", &od_foreign_block}};

static bool uses_element(const od_model *m, const void *table) {
  for (int i = 0; i < m->element_classes; i++) {
    const od_element_class *c = m->element_class[i];
    if (c == table || c->host_class == table) return true;
  }
  return false;
}

static bool uses_block(const od_model *m, const void *table) {
  for (int i = 0; i < m->blocks; i++)
    if (od_block_class_of(&m->spec[i]) == table) return true;
  return false;
}

static void write_list(const char *macro, const listed *list, size_t count, const od_model *m,
                       bool (*uses)(const od_model *m, const void *table), FILE *to) {
  fprintf(to, "#define %s(PART)", macro);
  for (size_t i = 0; i < count; i++)
    if (uses(m, list[i].table)) fprintf(to, " PART(%s)", list[i].name);
  fputc('\n', to);
}

static void write_without(const char *part, FILE *to) {
  fputs("#define OD_WITHOUT_", to);
  for (; *part; part++) fputc(toupper((unsigned char)*part), to);
  fputc('\n', to);
}

const char *od_core_element_name(const od_element_class *c) {
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    if (elements[i].table == c) return elements[i].name;
  return NULL;
}

int od_core_block_index(const od_model *m, const od_block_class *c) {
  int index = 0;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks && blocks[i].table != c; i++)
    index += uses_block(m, blocks[i].table);
  return index;
}

void od_core_parts_print(const od_model *m, bool needs_complex, FILE *to) {
  fputs("// The parts of the core that a model needs (OD_PARTS).\n", to);
  write_list("OD_ELEMENT_CLASSES", elements, sizeof elements / sizeof *elements, m, uses_element, to);
  write_list("OD_BLOCK_CLASSES", blocks, sizeof blocks / sizeof *blocks, m, uses_block, to);
  for (int i = 0; i < od_model_part_count; i++)
    if (!od_model_parts[i].is_needed(m)) write_without(od_model_parts[i].name, to);
  if (!needs_complex) write_without("complex", to);
  fprintf(to, "#define OD_OUTPUT_BITS UINT64_C(0x%llx)\n", (unsigned long long)od_model_output_bits(m));
}

bool od_core_parts_write(const od_model *m, FILE *to) {
  od_plant *plant = NULL;
  od_error err;
  if (od_model_plant(m, NULL, 0, NULL, 0, &plant, &err) != OD_OK) return false;
  bool needs_complex = od_model_plant_check_real(od_plant_data_of(plant), &err) != OD_OK;
  od_core_parts_print(m, needs_complex, to);
  fputs(
      "// OD_FILTERS and OD_INTEGRATORS may be added; without them, the build contains all filters and integrators.\n",
      to);
  if (!needs_complex) fputs("// Parameters, and sensors of powers or reactions, may need complex numbers.\n", to);
  od_plant_free(plant);
  return true;
}

// Returns the table of the class with this symbol; NULL: the list has no such class.
static const void *table_of(const char *symbol, const char *suffix, const listed *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char name[80];
    snprintf(name, sizeof name, "od_%s_%s", list[i].name, suffix);
    if (strcmp(symbol, name) == 0) return list[i].table;
  }
  return NULL;
}

od_class_use od_core_parts_use(const od_model *m, const char *symbol) {
  const void *element = table_of(symbol, "class", elements, sizeof elements / sizeof *elements);
  const void *block = table_of(symbol, "block", blocks, sizeof blocks / sizeof *blocks);
  if (!element && !block) return OD_NO_CLASS;
  return (element ? uses_element(m, element) : uses_block(m, block)) ? OD_CLASS_USED : OD_CLASS_UNUSED;
}
