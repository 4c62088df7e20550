// The tokens of a DBC file, and its errors. After an error, `failed` is set, and functions that read parts of a statement do nothing. So
// a reader of a statement checks `failed` once, at the end.
#ifndef OD_FORMATS_DBC_SCAN_H
#define OD_FORMATS_DBC_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum od_token_kind {
  OD_TOKEN_END,
  OD_TOKEN_WORD,
  OD_TOKEN_NUMBER,  // without a sign
  OD_TOKEN_STRING,  // a text in quotes
  OD_TOKEN_SIGN     // any other character
} od_token_kind;

typedef struct od_dbc_token {
  od_token_kind kind;
  const char *text;  // without quotes
  size_t length;
  int line, column;
  bool is_first;  // whether the token is the first token of its line
} od_dbc_token;

typedef struct od_dbc_scanner {
  const char *path;
  const char *at, *end, *line_start;
  int line;
  od_dbc_token now;  // the current token
  od_arena *arena;   // owns the texts
  int errors;
  bool failed;     // whether the current statement has an error
  char text[400];  // messages about the first errors
} od_dbc_scanner;

// Counts an error, sets `failed`, and adds the error to the message if there is space.
void od_dbc_add_error(od_dbc_scanner *s, int line, int column, const char *text);
// Adds an error about an unexpected current token.
void od_dbc_expected(od_dbc_scanner *s, const char *what);

// Moves to the next token.
void od_dbc_advance(od_dbc_scanner *s);
bool od_dbc_is_word(const od_dbc_token *t, const char *word);
bool od_dbc_is_string(const od_dbc_token *t, const char *text);
bool od_dbc_is_sign(const od_dbc_scanner *s, char sign);

// ---- Parts of statements. what: the expected part, for the error

bool od_dbc_pass_sign(od_dbc_scanner *s, char sign);
// Reads a number with an optional sign.
double od_dbc_take_number(od_dbc_scanner *s, const char *what);
// Reads an integer from `least` to `most`. Both limits must be exact as double.
int64_t od_dbc_take_integer(od_dbc_scanner *s, double least, double most, const char *what);
// Reads a raw value of at most 64 bits. A larger value is replaced by the largest value, a negative value by 0.
uint64_t od_dbc_take_raw(od_dbc_scanner *s);
// Reads a text in quotes, as UTF-8 without control characters; "" after an error.
const char *od_dbc_take_text(od_dbc_scanner *s);
// Reads a name of at most 255 bytes.
const char *od_dbc_take_name(od_dbc_scanner *s, const char *what);
// Reads the identifier of a message. Bit 31 marks 29 bits.
uint32_t od_dbc_take_id(od_dbc_scanner *s);
// Returns whether the current token has at most 255 bytes; otherwise adds an error.
bool od_dbc_is_short(od_dbc_scanner *s);

#endif
