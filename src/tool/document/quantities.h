// Reading numbers: quantities with units, fields of a section, vectors. Each becomes a number of the document with its
// path, whether the file gives it, --set does, or neither (then it has its default).
#ifndef OD_DOCUMENT_QUANTITIES_H
#define OD_DOCUMENT_QUANTITIES_H

#include "base/limits.h"
#include "document/reader.h"

enum { OD_MOST_NUMBERS = 1000000 };  // aliases make large machines of small files

// A number with a key. A fallback of NAN means that it is required.
typedef struct od_field {
  const char *key, *unit;
  od_sign range;
  double fallback;
  const od_limits *limits;  // NULL or all zero: none
} od_field;

// Whether a number becomes a parameter of the model or stays with the loader (signals, initial values, the run).
typedef enum od_home { OD_IN_MODEL, OD_IN_LOADER } od_home;

// What a number is given as: by --set, by the file, or not at all (text NULL: the default holds).
typedef struct od_given {
  const char *path;   // of the number
  const char *label;  // for messages: "length", "centre[0]"
  const char *text;
  od_place place;
} od_given;

// What there is for a path. node -1: the file says nothing; then `place` is where the number would belong.
od_given od_given_for(od_loader *ld, int node, const char *path, const char *label, const char *unit, od_place place);
// A message at the place of a given number; for --set it names the path.
void od_complain_given(od_loader *ld, const od_given *given, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void od_warn_given(od_loader *ld, const od_given *given, const char *format, ...) __attribute__((format(printf, 3, 4)));

// A text as number and unit: the number's value and where the unit begins. False: it does not begin with a number.
bool od_split_quantity(const char *text, double *value, const char **unit);
// Whether a number is a frequency by its name. Such a number may be given in Hz where it is kept in rad/s.
bool od_given_is_frequency(const od_given *given);
// What a number kept in this SI unit may be given in, for messages: "a plain number", "Hz or rad/s", "Pa".
const char *od_given_wants(const od_given *given, const char *unit);
// Converts the given text to SI; false with a message when it is not a finite quantity in the dimension of `unit`.
bool od_read_quantity(od_loader *ld, const od_given *given, const char *unit, double *value);
// Whether a value is possible for a field: its sign, then its limits. Says why not, and warns of what is
// unusual.
bool od_check_range(od_loader *ld, const od_given *given, const od_field *field, double value);
// The value of a number that must be whole if it is given. Where it is not, a message says so and `least` stands for it,
// so that the value may be cast to an integer in any case.
double od_read_whole(od_loader *ld, int number, const char *label, double least, double most);

// Adds a number to the machine and, if asked for, to the model. Returns its index in the machine's table.
int od_add_number(od_loader *ld, const od_given *given, double value, const od_field *field, od_home home);

// A number at a node (-1: not in the file; `place` is where it would belong): its index in the machine's table.
int od_read_number(od_loader *ld, int node, const char *path, const od_field *field, od_place place, od_home home);
// Fields of a section, added one after another: the index of the first. A required one that is missing is reported.
int od_read_fields(od_loader *ld, const od_section *section, const od_field *fields, int count, od_home home);

// Keys of the section's table. A field in the unit of its row, or in one that depends on other values.
od_field od_key_field(const od_section *section, const char *key);
od_field od_key_field_in(const od_section *section, const char *key, const char *unit);
// The field of entry i of a list under a key: "areas[1]".
od_field od_key_entry(od_loader *ld, const od_section *section, const char *key, int i);
// Numbers under keys, added one after another: the index of the first. NULL ends the keys.
int od_read_keys(od_loader *ld, const od_section *section, od_home home, const char *first, ...)
    __attribute__((sentinel));
int od_read_key_in(od_loader *ld, const od_section *section, const char *key, const char *unit, od_home home);
// The value of a number that stays with the loader. Of a whole number that is none, or beyond its limits, the least.
double od_key_value(od_loader *ld, const od_section *section, const char *key);
double od_key_whole(od_loader *ld, const od_section *section, const char *key);

// Three numbers of the model, one after another: the index of the first. Lists of two lie in the x-y plane.
typedef enum od_vector_kind {
  OD_VECTOR,
  OD_DIRECTION,  // must not be zero
  OD_SIZE,       // all positive
} od_vector_kind;
// From a node (-1: the fallback), with the unit and the limits of a key.
int od_read_vector(od_loader *ld, int node, const char *path, const char *label, const od_key *key, od_vector_kind kind,
                   const double *fallback, od_place place);
// Under a key of the section's table; fallback NULL: required.
int od_read_vector_key(od_loader *ld, const od_section *section, const char *key, od_vector_kind kind,
                       const double *fallback);

// Two numbers of the model from a list, `section.key: [a, b]`: the index of the first. The fields' keys are "key[0]"
// and "key[1]"; the list is required when the first has no fallback. `wanted` says what the list is to be.
int od_read_two_numbers(od_loader *ld, const od_section *section, const char *key, const char *wanted,
                        const od_field field[2]);

double od_number_value(const od_loader *ld, int number);
int od_number_theta(const od_loader *ld, int number);
// Whether the file or --set gives the number.
bool od_number_is_given(const od_loader *ld, int number);
// A message at the place of a number, be it in the file or in --set.
void od_complain_number(od_loader *ld, int number, const char *format, ...) __attribute__((format(printf, 3, 4)));
void od_warn_number(od_loader *ld, int number, const char *format, ...) __attribute__((format(printf, 3, 4)));

// A path below a path; the base may be empty.
const char *od_path(od_loader *ld, const char *base, const char *key);

#endif
