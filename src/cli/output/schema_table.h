// What the schema of files says beyond the tables of element classes, blocks, filters and integrators: the sections that have
// readers of their own, key by key. The test 'schema' holds it to the keys in those readers.
#ifndef OD_OUTPUT_SCHEMA_TABLE_H
#define OD_OUTPUT_SCHEMA_TABLE_H

typedef enum od_schema_kind {
  OD_SCHEMA_NUMBER,   // a number, a quantity or an expression; `of` is its SI unit or NULL
  OD_SCHEMA_NUMBERS,  // a list of them
  OD_SCHEMA_TABLE,    // a list of lists of them
  OD_SCHEMA_TEXT,
  OD_SCHEMA_TEXTS,              // a text or a list of texts
  OD_SCHEMA_WHOLE,              // a whole number
  OD_SCHEMA_FLAG,               // true or false
  OD_SCHEMA_CHOICE,             // `of` are the words, with '|' between them
  OD_SCHEMA_PART,               // what `of` defines
  OD_SCHEMA_PARTS,              // a list of what `of` defines
  OD_SCHEMA_MAP,                // names of the user's, each for what `of` defines
  OD_SCHEMA_NUMBER_MAP,         // names or paths, each for a number
  OD_SCHEMA_NUMBER_MAP_OR_WORD  // the same, or one of the words of `of`
} od_schema_kind;

typedef struct od_schema_row {
  const char *in, *key;  // the definition that has the key
  od_schema_kind kind;
  const char *of, *meaning;
} od_schema_row;

// A NULL key ends them. Machines, experiments, fits and studies; friction files.
extern const od_schema_row od_schema_rows[], od_schema_friction_rows[];

#endif
