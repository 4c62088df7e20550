// Declarations shared by the readers of friction files.
#ifndef OD_FRICTION_LOADER_H
#define OD_FRICTION_LOADER_H

#include "document/reader.h"
#include "friction_fit/friction_plan.h"

typedef struct od_friction_reader {
  od_loader ld;
  od_friction_plan *plan;
  const od_friction_options *options;
  bool has_experiment;  // whether the run has the key 'experiment'; loading the experiment may have failed
} od_friction_reader;

// load_laws.c: od_friction_read_laws() reads the section 'laws'. od_friction_find_numbers() returns the entry of this
// section with a name; NULL after a message if there is no such entry. od_friction_read_law() returns the law that a
// node names; NULL after a message, or without a message if the node is -1. od_friction_read_changes() reads new values
// of numbers. A value applies to both directions unless its key ends in _negative.
void od_friction_read_laws(od_friction_reader *r, int node);
const od_law_numbers *od_friction_find_numbers(od_friction_reader *r, int node, const char *name);
const od_friction_law *od_friction_read_law(od_friction_reader *r, int node);
void od_friction_read_changes(od_friction_reader *r, int node, const char *path, od_law_numbers *numbers);
// Reports a key that is not one of the first `count` numbers of a law, with a suggestion.
void od_friction_complain_no_number(od_friction_reader *r, int node, const od_friction_law *law, int count,
                                    const char *key);

// load_friction.c: reads a list of two numbers with the field of a key, such as two times or two pressures. `what`
// describes the list in messages. Returns false if the node has no such list.
bool od_friction_read_pair(od_friction_reader *r, int node, const char *path, const char *what, const od_field *field,
                           double out[2]);
// Reads two times under a key of a section. The default is the whole run.
void od_friction_read_times(od_friction_reader *r, const od_section *section, const char *path, const char *key,
                            double out[2]);

// load_friction_data.c: reads the sections 'points' and 'run'.
void od_friction_read_points(od_friction_reader *r, int node);
void od_friction_read_run(od_friction_reader *r, int node);

// load_positions.c: reads 'position' of the section 'truth', after the true law; and 'positions' of the section 'fit', after the start.
void od_friction_read_true_position(od_friction_reader *r, int node);
void od_friction_read_positions(od_friction_reader *r, const od_section *section);

// load_map.c: reads the section 'map'.
void od_friction_read_map(od_friction_reader *r, int node);

#endif
