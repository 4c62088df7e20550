// The files and options from which a machine was loaded, as records of bytes: part of an image, and the machine of a page that
// computes. A record is a length of 8 bytes, a letter for the kind, and the bytes.
#ifndef OD_MACHINE_RECORDS_H
#define OD_MACHINE_RECORDS_H

#include <stdbool.h>

#include "io/bundle.h"
#include "oleodyn/machine.h"

// A growing list of bytes, to which records are appended.
typedef struct od_records {
  char *bytes;
  size_t size, room;
  bool no_memory;  // whether an allocation failed
} od_records;
void od_records_free(od_records *r);
// Appends a record with a copy of the bytes. If an allocation fails, sets no_memory and ignores this and all later records.
void od_records_append(od_records *r, char kind, const void *bytes, size_t size);
// Reads a record, advances *at past the record and reduces *size by its length. Returns false if the record is damaged.
bool od_records_take(const char **at, size_t *size, char *kind, const char **bytes, size_t *count);

// The options and files of a machine. The arena of `files` owns the texts. The contents of the files remain in the records, which
// must outlive the source.
typedef struct od_machine_source {
  od_bundle files;  // the first file is the machine file
  const char *variant, **set;
  int sets;
  bool spatial;
} od_machine_source;
void od_machine_source_free(od_machine_source *s);

// The form of YAML files in the records.
typedef enum od_records_form {
  OD_RECORDS_TEXTS,
  OD_RECORDS_TREES,  // stored trees (document/tree_store.h)
} od_records_form;
// Appends the options of a machine, and the files that a bundle recorded while the machine was loaded.
void od_machine_records_append(od_records *r, const od_machine *machine, const od_bundle *files, od_records_form form);
// Adds a record to the source, if od_machine_records_append() writes records of its kind. Returns false if the kind is
// unknown. `path` keeps the path of a file between its records.
bool od_machine_source_take(od_machine_source *s, const char **path, char kind, const char *bytes, size_t count);

// Loads the machine by the function `load` from the files of the source, without other files. The caller frees *machine.
// Adds the options to the options of the source: a value of `set` replaces the value of the source for the same number.
// Returns the status of `load`, or OD_NO_MEMORY.
typedef od_status od_machine_loader(const char *path, const od_load_options *options, od_machine **machine,
                                    od_messages *messages);
od_status od_machine_source_load(const od_machine_source *s, const od_load_options *options, od_machine_loader *load,
                                 od_machine **machine, od_messages *messages);

#endif
