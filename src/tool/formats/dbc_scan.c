#include "formats/dbc_scan.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "io/number.h"
#include "io/utf8.h"
#include "oleodyn/status.h"

enum { LONGEST_NAME = 255 };

// --- Errors -----------------------------------------------------------------------------------------------------------

void od_dbc_add_error(od_dbc_scanner *s, int line, int column, const char *text) {
  size_t used = strlen(s->text);
  od_error one;
  od_fail(&one, OD_BAD_INPUT, "%s%s:%d:%d: %s", used > 0 ? "\n" : "", s->path, line, column, text);
  s->failed = true;
  s->errors++;
  size_t room = sizeof s->text - used;
  if (used == 0) one.text[room - 1] = '\0';  // the first error is shortened, not omitted
  if (strlen(one.text) < room) memcpy(s->text + used, one.text, strlen(one.text) + 1);
}

void od_dbc_expected(od_dbc_scanner *s, const char *what) {
  od_error e;
  const od_dbc_token *t = &s->now;
  int length = t->length < 30 ? (int)t->length : 30;
  if (s->failed) return;
  if (t->kind == OD_TOKEN_END)
    od_fail(&e, OD_BAD_INPUT, "found the end of the file, expected %s", what);
  else if (t->is_first)
    od_fail(&e, OD_BAD_INPUT, "found a new line, expected %s", what);
  else
    od_fail(&e, OD_BAD_INPUT, "found '%.*s', expected %s", length, t->text, what);
  od_dbc_add_error(s, t->line, t->column, e.text);
}

// --- Tokens -----------------------------------------------------------------------------------------------------------

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void new_line(od_dbc_scanner *s, const char *after) {
  s->line++;
  s->line_start = after;
}

// Moves over blanks. Returns whether the next token is the first token of its line.
static bool skip_blanks(od_dbc_scanner *s) {
  bool is_first = s->at == s->line_start;
  for (; s->at < s->end; s->at++) {
    if (*s->at == '\n') {
      new_line(s, s->at + 1);
      is_first = true;
    } else if (*s->at != ' ' && *s->at != '\t' && *s->at != '\r') {
      break;
    }
  }
  return is_first;
}

// Returns the end of a number without a sign, or s->at if there is no number.
static const char *number_end(const od_dbc_scanner *s) {
  const char *p = s->at;
  while (p < s->end && (isdigit((unsigned char)*p) || *p == '.')) p++;
  if (p > s->at && p < s->end && (*p == 'e' || *p == 'E')) {
    const char *q = p + 1;
    if (q < s->end && (*q == '+' || *q == '-')) q++;
    if (q < s->end && isdigit((unsigned char)*q)) {
      while (q < s->end && isdigit((unsigned char)*q)) q++;
      p = q;
    }
  }
  return p;
}

// Reads a text in quotes. A quote after a backslash does not end the text.
static void read_string(od_dbc_scanner *s) {
  s->now.kind = OD_TOKEN_STRING;
  s->now.text = ++s->at;
  for (; s->at < s->end && *s->at != '"'; s->at++) {
    if (*s->at == '\n') new_line(s, s->at + 1);
    if (*s->at == '\\' && s->at + 1 < s->end && s->at[1] == '"') s->at++;
  }
  s->now.length = (size_t)(s->at - s->now.text);
  if (s->at < s->end)
    s->at++;
  else
    od_dbc_add_error(s, s->now.line, s->now.column, "the text has no closing quote");
}

void od_dbc_advance(od_dbc_scanner *s) {
  bool is_first = skip_blanks(s);
  s->now = (od_dbc_token){OD_TOKEN_END, s->at, 1, s->line, (int)(s->at - s->line_start) + 1, is_first};
  if (s->at >= s->end) return;
  if (*s->at == '"') {
    read_string(s);
    return;
  }
  const char *word = s->at, *number = number_end(s);
  while (word < s->end && is_word_byte(*word)) word++;
  if (number > s->at && (number >= s->end || number > word || !is_word_byte(*number))) {
    s->now.kind = OD_TOKEN_NUMBER;
    s->at = number;
  } else if (word > s->at) {
    s->now.kind = OD_TOKEN_WORD;
    s->at = word;
  } else {
    s->now.kind = OD_TOKEN_SIGN;
    s->at++;
  }
  s->now.length = (size_t)(s->at - s->now.text);
}

bool od_dbc_is_word(const od_dbc_token *t, const char *word) {
  return t->kind == OD_TOKEN_WORD && strlen(word) == t->length && !memcmp(t->text, word, t->length);
}

bool od_dbc_is_string(const od_dbc_token *t, const char *text) {
  return t->kind == OD_TOKEN_STRING && t->length == strlen(text) && !memcmp(t->text, text, t->length);
}

bool od_dbc_is_sign(const od_dbc_scanner *s, char sign) {
  return s->now.kind == OD_TOKEN_SIGN && *s->now.text == sign;
}

// --- Parts of statements -----------------------------------------------------------------------------------------------

bool od_dbc_pass_sign(od_dbc_scanner *s, char sign) {
  char what[] = "' '";
  what[1] = sign;
  if (s->failed) return false;
  if (od_dbc_is_sign(s, sign))
    od_dbc_advance(s);
  else
    od_dbc_expected(s, what);
  return !s->failed;
}

double od_dbc_take_number(od_dbc_scanner *s, const char *what) {
  double value = 0;
  bool is_negative = od_dbc_is_sign(s, '-');
  if (s->failed) return 0;
  if (is_negative || od_dbc_is_sign(s, '+')) od_dbc_advance(s);
  if (s->now.kind != OD_TOKEN_NUMBER || !od_number_parse(s->now.text, s->now.length, false, &value) ||
      !isfinite(value)) {
    od_dbc_expected(s, what);
    return 0;
  }
  od_dbc_advance(s);
  return is_negative ? -value : value;
}

int64_t od_dbc_take_integer(od_dbc_scanner *s, double least, double most, const char *what) {
  od_dbc_token start = s->now;
  double value = od_dbc_take_number(s, what);
  if (s->failed) return 0;
  if (value >= least && value <= most && value == floor(value)) return (int64_t)value;
  s->now = start;  // the error is reported at the place of the number
  od_dbc_expected(s, what);
  return 0;
}

uint64_t od_dbc_take_raw(od_dbc_scanner *s) {
  uint64_t value = 0;
  od_dbc_token t = s->now;
  double rounded = od_dbc_take_number(s, "a value");
  if (rounded < 0) return 0;
  if (rounded < 0x1p53) return (uint64_t)rounded;
  for (size_t i = 0; i < t.length && isdigit((unsigned char)t.text[i]); i++) {
    uint64_t digit = (uint64_t)(t.text[i] - '0');
    value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * value + digit;
  }
  return value;
}

// Returns a text of the file as UTF-8, in memory of the database. Control characters become blanks, and backslashes before quotes are
// removed. Returns "" if an allocation fails, which od_arena_status() reports.
static const char *copy_text(od_dbc_scanner *s, const char *text, size_t length) {
  static const char empty[] = "";
  if (length == 0) return empty;
  const bool is_utf8 = od_utf8_has_only(text, length);
  char *copy = OD_TAKE(s->arena, char, (is_utf8 ? 1 : OD_UTF8_OF_1252) * length + 1), *to = copy;
  for (size_t i = 0; copy && i < length; i++) {
    const unsigned char byte = (unsigned char)text[i];
    if (byte == '\\' && i + 1 < length && text[i + 1] == '"') continue;
    if (byte < ' ' || byte == 0x7f)
      *to++ = ' ';
    else if (is_utf8)
      *to++ = (char)byte;
    else
      to += od_utf8_from_1252(byte, to);
  }
  return copy ? copy : empty;
}

bool od_dbc_is_short(od_dbc_scanner *s) {
  if (s->now.length <= LONGEST_NAME) return true;
  od_dbc_add_error(s, s->now.line, s->now.column, "the text has more than 255 bytes, the largest allowed number");
  return false;
}

const char *od_dbc_take_text(od_dbc_scanner *s) {
  if (s->failed) return "";
  if (s->now.kind != OD_TOKEN_STRING) {
    od_dbc_expected(s, "a text in quotes");
    return "";
  }
  const char *text = copy_text(s, s->now.text, s->now.length);
  od_dbc_advance(s);
  return text;
}

const char *od_dbc_take_name(od_dbc_scanner *s, const char *what) {
  if (s->failed) return "";
  if (s->now.kind != OD_TOKEN_WORD && s->now.kind != OD_TOKEN_NUMBER) {
    od_dbc_expected(s, what);
    return "";
  }
  if (!od_dbc_is_short(s)) return "";
  const char *name = copy_text(s, s->now.text, s->now.length);
  od_dbc_advance(s);
  return name;
}

uint32_t od_dbc_take_id(od_dbc_scanner *s) {
  return (uint32_t)od_dbc_take_integer(s, 0, UINT32_MAX, "an identifier of a message, an integer from 0 to 4294967295");
}
