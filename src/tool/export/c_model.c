// The writer is a loop over the description of the tables (model/model_tables.h). Tables of C need neither the reader of images nor its
// checks, and the linker places them in read-only memory.
#include "export/c_model.h"

#include <math.h>
#include <string.h>

#include "export/c_text.h"
#include "machine/core_parts.h"
#include "model/model_tables.h"

// ---- fields

// Prints item i of a field: a number or an index. The tables of a controller have no texts.
static bool print_item(FILE *to, const char *from, const od_model_field *f, size_t i) {
  double real = 0;
  int whole = 0;
  bool flag = false;
  char text[OD_C_NUMBER_SIZE];
  if (f->kind == OD_FIELD_DOUBLE)
    memcpy(&real, from + i * sizeof real, sizeof real);
  else if (f->kind == OD_FIELD_BOOL)
    memcpy(&flag, from + i * sizeof flag, sizeof flag), whole = flag;
  else if (f->kind != OD_FIELD_TEXT)
    memcpy(&whole, from + i * sizeof whole, sizeof whole);
  od_c_number(text, real);
  if (to && f->kind == OD_FIELD_DOUBLE) fputs(text, to);
  if (to && f->kind != OD_FIELD_DOUBLE) fprintf(to, "%d", whole);
  return whole != 0 || real != 0 || signbit(real);
}

// Prints the value of a field, an array in braces. Returns whether the value is not zero. to NULL: nothing is printed.
static bool print_value(FILE *to, const char *from, const od_model_field *f) {
  size_t each = f->kind == OD_FIELD_DOUBLE ? sizeof(double) : f->kind == OD_FIELD_BOOL ? sizeof(bool) : sizeof(int);
  size_t count = f->size / each;
  bool any = false;
  if (count > 1 && to) fputc('{', to);
  for (size_t i = 0; i < count; i++) {
    if (to && i) fputs(", ", to);
    any = print_item(to, from, f, i) || any;
  }
  if (count > 1 && to) fputc('}', to);
  return any;
}

// Prints `.member = value` for each field that is not zero.
static void print_fields(FILE *to, const char *from, const od_model_field *field, int fields, const char *separator) {
  int printed = 0;
  for (int k = 0; k < fields; k++) {
    if (!print_value(NULL, from + field[k].offset, &field[k])) continue;
    fprintf(to, "%s.%s = ", printed++ ? separator : "", field[k].name);
    print_value(to, from + field[k].offset, &field[k]);
  }
  if (!printed) fputc('0', to);
}

// ---- tables

// Prints the name of a table: join.at_junction.group gives join_at_junction_group.
static void print_table_name(FILE *to, const od_model_table *t) {
  for (const char *c = t->name; *c; c++) fputc(*c == '.' ? '_' : *c, to);
}

// The pool begins with the operations of formulas, which contain doubles.
static bool is_pool(const od_model_table *t) {
  return strcmp(t->name, "join.pool") == 0;
}
static void print_pool(FILE *to, const od_model *m) {
  int begin = m->operations * OD_OPERATION_INTS, rest = m->join.pool_count - begin;
  if (m->operations == 0) {
    od_c_integers(to, "join_pool", m->join.pool, rest);
    return;
  }
  fprintf(to, "static const struct {\n  od_operation operation[%d];\n  int number[%d];\n} join_pool = {\n    {",
          m->operations, rest > 0 ? rest : 1);
  for (int i = 0; i < m->operations; i++) {
    const od_operation *o = &m->operation[i];
    char value[OD_C_NUMBER_SIZE];
    od_c_number(value, o->value);
    fprintf(to, "%s{%d, %d, %d, %d, %s}", i ? ",\n     " : "", (int)o->kind, o->a, o->b, o->c, value);
  }
  fputs("},\n    {", to);
  for (int i = 0; i < rest; i++) fprintf(to, "%s%d", i == 0 ? "" : i % 16 ? ", " : ",\n     ", m->join.pool[begin + i]);
  fputs(rest > 0 ? "}};\n" : "0}};\n", to);
}

// Prints a table. names: each number of the machine has its path and unit in a comment.
static void print_table(FILE *to, const od_model *m, const od_model_table *t, bool names) {
  long long items = od_model_table_items(m, t);
  const char *from = od_model_table_begin(m, t);
  if (items == 0 || !from) return;
  if (is_pool(t)) {
    print_pool(to, m);
    return;
  }
  bool is_single = t->field[0].name == NULL;
  fprintf(to, "static const %s ", t->type);
  print_table_name(to, t);
  fputs("[] = {", to);
  for (long long i = 0; i < items; i++) {
    const char *item = from + (size_t)i * t->item;
    bool is_theta = strcmp(t->name, "theta") == 0;
    bool begins_line = !is_single || is_theta || i % 16 == 0;
    fputs(begins_line ? "\n    " : " ", to);
    if (!is_single) fputc('{', to);
    if (is_single)
      print_value(to, item, t->field);
    else
      print_fields(to, item, t->field, t->fields, ", ");
    if (!is_single) fputc('}', to);
    if (i + 1 < items) fputc(',', to);
    if (!is_theta || !names) continue;
    fputs("  // ", to);
    od_c_comment(to, od_number_path(m, (int)i));
    fputs(", ", to);
    od_c_comment(to, od_number_unit(m, (int)i));
  }
  fputs("\n};\n", to);
}

static bool has_operations(const od_model *m, const od_model_table *t) {
  return is_pool(t) && m->operations > 0;
}
// Prints the member of od_model with the address of a table.
static void print_address(FILE *to, const od_model *m, const od_model_table *t) {
  if (od_model_table_items(m, t) == 0 || !od_model_table_begin(m, t)) return;
  fprintf(to, ",\n    .%s = (%s *)%s", t->name, t->type, has_operations(m, t) ? "&" : "");
  print_table_name(to, t);
}

// ---- classes and blocks

static void print_element_classes(FILE *to, const od_model *m) {
  if (m->element_classes == 0) return;
  for (int i = 0; i < m->element_classes; i++)
    fprintf(to, "extern const od_element_class od_%s_class;\n", od_core_element_name(m->element_class[i]));
  fputs("static const od_element_class *const element_class[] = {", to);
  for (int i = 0; i < m->element_classes; i++)
    fprintf(to, "%s&od_%s_class", i ? ", " : "", od_core_element_name(m->element_class[i]));
  fputs("};\n", to);
}

// Prints the settings of blocks. The operations of formulas are in the pool (print_pool()).
static void print_specs(FILE *to, const od_model *m) {
  if (m->blocks == 0) return;
  fputs("static const od_block_spec spec[] = {", to);
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    char sample[OD_C_NUMBER_SIZE];
    od_c_number(sample, b->sample);
    fprintf(to, "\n    {.block_class = %d, .inputs = %d, .sample = %s, .choice = {",
            od_core_block_index(m, od_block_class_of(&m->spec[i])), b->list_inputs, sample);
    for (int k = 0; k < OD_MOST_BLOCK_CHOICES; k++) fprintf(to, "%s%d", k ? ", " : "", b->choice[k]);
    fputs("}", to);
    if (b->operations)
      fprintf(to, ", .formula = {%d, (od_operation *)join_pool.operation + %d}", b->operations, b->formula);
    fputs("},", to);
  }
  fputs("\n};\nstatic const int block_class[] = {", to);
  for (int i = 0; i < m->block_classes; i++)
    fprintf(to, "%s%d", i ? ", " : "", od_core_block_index(m, od_block_classes[m->block_class[i]]));
  fputs("};\n", to);
}

// ---- the model

// Prints the layout: all its members are integers, with one struct among them.
static void print_layout(FILE *to, const od_layout *l) {
  const int *all = (const int *)l;
  size_t count = sizeof *l / sizeof *all, first = offsetof(od_layout, lanes) / sizeof *all,
         last = first + sizeof l->lanes / sizeof *all;
  fputs(",\n    .layout = {", to);
  for (size_t i = 0; i < count; i++)
    fprintf(to, "%s%s%d%s",
            i == 0   ? ""
            : i % 24 ? ", "
                     : ",\n        ",
            i == first ? "{" : "", all[i], i + 1 == last ? "}" : "");
  fputs("}", to);
}

void od_c_model(FILE *to, const od_model *m, const char *name, bool names) {
  for (int i = 0; i < od_model_table_count; i++) print_table(to, m, &od_model_tables[i], names);
  print_element_classes(to, m);
  print_specs(to, m);
  fprintf(to, "\nconst od_model %s = {\n    ", name);
  print_fields(to, (const char *)m, od_model_fields, od_model_field_count, ",\n    ");
  if (m->element_classes) fputs(",\n    .element_class = element_class", to);
  if (m->blocks) fputs(",\n    .spec = (od_block_spec *)spec,\n    .block_class = (int *)block_class", to);
  if (m->operations) fputs(",\n    .operation = (od_operation *)join_pool.operation", to);
  for (int i = 0; i < od_model_table_count; i++) print_address(to, m, &od_model_tables[i]);
  print_layout(to, &m->layout);
  fputs("};", to);
}
