// Reads numbers: quantities with units, fields of a section, vectors. The document stores each number with its path. The value of a
// number comes from --set or from the file, or is the default.
#ifndef OD_DOCUMENT_QUANTITIES_H
#define OD_DOCUMENT_QUANTITIES_H

#include "base/limits.h"
#include "document/reader.h"

enum {
  OD_MOST_NUMBERS = 1000000
};  // largest count of numbers in a file; a small file with aliases can describe a huge machine

// A number with a key. If the fallback is NAN, the number is required.
typedef struct od_field {
  const char *key, *unit;
  od_sign range;
  double fallback;
  const od_limits *limits;  // allowed and usual limits; NULL or all zero: no limits
} od_field;

// Whether a number is a parameter of the model or belongs to the loader (signals, initial values, the run).
typedef enum od_home { OD_IN_MODEL, OD_IN_LOADER } od_home;

// The text of a number: from --set, from the file, or none (text NULL: the default applies).
typedef struct od_given {
  const char *path;   // path of the number
  const char *label;  // name for messages: "length", "centre[0]"
  const char *text;
  od_place place;
} od_given;

// Returns the text for a path. node -1: the number is not in the file; then `place` is the place for messages.
od_given od_given_for(od_loader *ld, int node, const char *path, const char *label, const char *unit, od_place place);
// Adds a message at the place of a given number. A message about --set contains the path.
void od_say_given(od_loader *ld, bool is_warning, const od_given *given, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define od_complain_given(ld, given, ...) od_say_given(ld, false, given, __VA_ARGS__)
#define od_warn_given(ld, given, ...)     od_say_given(ld, true, given, __VA_ARGS__)

// Splits a text into a number and a unit: the value, and the start of the unit. Returns false if the text does not start with a
// number.
bool od_split_quantity(const char *text, double *value, const char **unit);
// Returns whether the name of a number shows a frequency. The file may give such a number in Hz even if it is stored in
// rad/s.
bool od_given_is_frequency(const od_given *given);
// Returns a text about the accepted units of a number, for messages: "a plain number", "in Hz or rad/s", "in Pa". unit: the SI unit
// in which the number is stored.
const char *od_given_wanted(od_loader *ld, const od_given *given, const char *unit);
// Converts the given text to SI units. If the text is not a quantity or an expression with a finite value and the dimension
// of `unit`, reports an error and returns false.
bool od_read_quantity(od_loader *ld, const od_given *given, const char *unit, double *value);
// Returns whether a value is allowed for a field: checks its sign, then its limits. Reports a value that is not allowed, and warns
// about an unusual value.
bool od_check_range(od_loader *ld, const od_given *given, const od_field *field, double value);
// Returns the value of a number that must be an integer from `least` to `most` if it is given. For another value reports an error
// and returns `least`, so that the result can always be cast to an integer.
double od_read_whole(od_loader *ld, int number, const char *label, double least, double most);

// Adds a number to the document and, for OD_IN_MODEL, to the parameters of the model. `value` is in SI units. Returns the index of
// the number in the document's table, or -1 if an allocation fails.
int od_add_number(od_loader *ld, const od_given *given, double value, const od_field *field, od_home home);

// Reads a number at a node (-1: not in the file; then `place` is the place for messages). Returns its index in the document's
// table, or -1 if an allocation fails.
int od_read_number(od_loader *ld, int node, const char *path, const od_field *field, od_place place, od_home home);
// Reads fields of a section as contiguous numbers. Returns the index of the first number. Reports missing required fields.
int od_read_fields(od_loader *ld, const od_section *section, const od_field *fields, int count, od_home home);

// Return the field of a key of the section's table, in the unit of its row of the table or in the unit `unit`.
od_field od_key_field(const od_section *section, const char *key);
od_field od_key_field_in(const od_section *section, const char *key, const char *unit);
// Returns the field of entry i of a list under a key: "areas[1]".
od_field od_key_entry(od_loader *ld, const od_section *section, const char *key, int i);
// od_read_keys() reads the numbers under several keys as contiguous numbers; NULL ends the keys. od_read_key_in() reads one
// number in a unit that depends on other values. Both return the index of the first number.
int od_read_keys(od_loader *ld, const od_section *section, od_home home, const char *first, ...)
    __attribute__((sentinel));
int od_read_key_in(od_loader *ld, const od_section *section, const char *key, const char *unit, od_home home);
// Read a number that belongs to the loader and return its value in SI units. od_key_whole() expects an integer. For an invalid
// integer, od_key_whole() reports an error and returns the lowest allowed value.
double od_key_value(od_loader *ld, const od_section *section, const char *key);
double od_key_whole(od_loader *ld, const od_section *section, const char *key);

// Vectors: three contiguous numbers of the model. The functions return the index of the first number. A list of two numbers is a
// vector in the x-y plane.
typedef enum od_vector_kind {
  OD_VECTOR,
  OD_DIRECTION,  // the vector must not be zero
  OD_SIZE,       // all components must be positive
} od_vector_kind;
// Reads a vector from a node, with the unit and the limits of a key. node -1: the result is the fallback.
int od_read_vector(od_loader *ld, int node, const char *path, const char *label, const od_key *key, od_vector_kind kind,
                   const double *fallback, od_place place);
// Reads a vector under a key of the section's table; fallback NULL: the vector is required.
int od_read_vector_key(od_loader *ld, const od_section *section, const char *key, od_vector_kind kind,
                       const double *fallback);

// Reads two numbers of the model from a list, `section.key: [a, b]`. Returns the index of the first number. The keys of the fields
// are "key[0]" and "key[1]". The list is required if the first field has no fallback. wanted: description of the list for messages.
int od_read_two_numbers(od_loader *ld, const od_section *section, const char *key, const char *wanted,
                        const od_field field[2]);

// Returns whether the file or --set gives the number under a key.
bool od_is_given(od_loader *ld, const od_section *section, const char *key);

// Return the value of a number in SI units, and its index in the model's theta (-1: not a parameter of the model). number: an index
// that a reader of this header returned. For -1 the results are 0 and -1.
double od_number_value(const od_loader *ld, int number);
int od_number_theta(const od_loader *ld, int number);
// Returns whether the file or --set gives the number.
bool od_number_is_given(const od_loader *ld, int number);
// Adds a message at the place of a number, in the file or in --set.
void od_say_number(od_loader *ld, bool is_warning, int number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define od_complain_number(ld, number, ...) od_say_number(ld, false, number, __VA_ARGS__)
#define od_warn_number(ld, number, ...)     od_say_number(ld, true, number, __VA_ARGS__)

// Joins a path and a key. The base path may be empty.
const char *od_path(od_loader *ld, const char *base, const char *key);

#endif
