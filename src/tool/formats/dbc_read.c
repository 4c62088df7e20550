// Reads DBC files. The text is a sequence of statements. A statement begins with a keyword at the beginning of a line:
//
//   BO_ 2364540158 EEC1: 8 Engine                                       a message: identifier, name, number of bytes, sender
//    SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] "rpm" Display    a signal of the last message: start|length@order sign
//   CM_ SG_ 2364540158 EngineSpeed "comment";
//   BA_ "SPN" SG_ 2364540158 EngineSpeed 190;
//   VAL_ 2364540158 EngineTorqueMode 0 "idle" 15 "not available" ;
//   SIG_VALTYPE_ 500 Force : 1;                                         1: float, 2: double
//   SG_MUL_VAL_ 500 Part Switch 1-3, 7-7;                               values of a switch, if a message has several switches
//
// After an error, the reader continues with the next keyword at the beginning of a line. Bit 31 of an identifier marks 29 bits.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/dbc.h"
#include "formats/dbc_check.h"
#include "formats/key_map.h"
#include "io/input_file.h"
#include "io/number.h"
#include "io/utf8.h"
#include "io/wording.h"

enum {
  MOST_ERRORS = 1000,
  LONGEST_NAME = 255,
  MOST_VALUES = 1 << 20,  // names of values in a file
  ORPHANS = 0x40000000,   // flag in the identifier of the message that collects signals without a message
  NULL_ADDRESS = 254      // source address of messages that any source may send
};

OD_OWNED_POINTER(char, od_free);

typedef enum token_kind { END, WORD, NUMBER, STRING, SIGN } token_kind;

typedef struct token {
  token_kind kind;
  const char *text;  // without quotes
  size_t length;
  int line, column;
  bool is_first;  // whether the token is the first token of its line
} token;

// Frame formats of messages, from the names of the values of the attribute VFrameFormat.
typedef enum frame_format { UNKNOWN_FORMAT, PLAIN_FORMAT, J1939_FORMAT } frame_format;
typedef enum protocol { UNKNOWN_PROTOCOL, PLAIN_PROTOCOL, J1939_PROTOCOL, NMEA_PROTOCOL } protocol;

typedef struct reader {
  const char *path;
  const char *at, *end, *line_start;
  int line;
  token now;  // the current token
  od_dbc *dbc;
  od_dbc_signal *signal;  // signals of all messages, in the order of the file
  int signals;
  int *first;            // per message: index of the first signal
  frame_format *format;  // per message
  od_key_map by_id, by_name;
  long values;
  frame_format formats[16], default_format;  // meanings of the values of VFrameFormat
  protocol protocol;
  int errors;
  bool failed;           // whether the current statement has an error
  bool in_message;       // whether SG_ belongs to a message
  bool has_switch_list;  // whether SG_MUL_VAL_ occurs
  char text[400];        // messages about the first errors
} reader;

// --- Errors -----------------------------------------------------------------------------------------------------------

// Adds an error to the message, if there is space. The rest of the statement is skipped.
static void add_error(reader *r, int line, int column, const char *text) {
  size_t used = strlen(r->text);
  od_error one;
  od_fail(&one, OD_BAD_INPUT, "%s%s:%d:%d: %s", used > 0 ? "\n" : "", r->path, line, column, text);
  r->failed = true;
  r->errors++;
  size_t room = sizeof r->text - used;
  if (used == 0) one.text[room - 1] = '\0';  // the first error is shortened, not omitted
  if (strlen(one.text) < room) memcpy(r->text + used, one.text, strlen(one.text) + 1);
}

static void expected(reader *r, const char *what) {
  od_error e;
  const token *t = &r->now;
  int length = t->length < 30 ? (int)t->length : 30;
  if (r->failed) return;
  if (t->kind == END)
    od_fail(&e, OD_BAD_INPUT, "found the end of the file, expected %s", what);
  else if (t->is_first)
    od_fail(&e, OD_BAD_INPUT, "found a new line, expected %s", what);
  else
    od_fail(&e, OD_BAD_INPUT, "found '%.*s', expected %s", length, t->text, what);
  add_error(r, t->line, t->column, e.text);
}

// --- Tokens -----------------------------------------------------------------------------------------------------------

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void new_line(reader *r, const char *after) {
  r->line++;
  r->line_start = after;
}

// Moves over blanks. Returns whether the next token is the first token of its line.
static bool skip_blanks(reader *r) {
  bool is_first = r->at == r->line_start;
  for (; r->at < r->end; r->at++) {
    if (*r->at == '\n') {
      new_line(r, r->at + 1);
      is_first = true;
    } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
      break;
    }
  }
  return is_first;
}

// Returns the end of a number without a sign, or r->at if there is no number.
static const char *number_end(const reader *r) {
  const char *p = r->at;
  while (p < r->end && (isdigit((unsigned char)*p) || *p == '.')) p++;
  if (p > r->at && p < r->end && (*p == 'e' || *p == 'E')) {
    const char *q = p + 1;
    if (q < r->end && (*q == '+' || *q == '-')) q++;
    if (q < r->end && isdigit((unsigned char)*q)) {
      while (q < r->end && isdigit((unsigned char)*q)) q++;
      p = q;
    }
  }
  return p;
}

// Reads a text in quotes. A backslash before a quote belongs to the text.
static void read_string(reader *r) {
  r->now.kind = STRING;
  r->now.text = ++r->at;
  for (; r->at < r->end && *r->at != '"'; r->at++) {
    if (*r->at == '\n') new_line(r, r->at + 1);
    if (*r->at == '\\' && r->at + 1 < r->end && r->at[1] == '"') r->at++;
  }
  r->now.length = (size_t)(r->at - r->now.text);
  if (r->at < r->end)
    r->at++;
  else
    add_error(r, r->now.line, r->now.column, "the text has no closing quote");
}

// Moves to the next token.
static void advance(reader *r) {
  bool is_first = skip_blanks(r);
  r->now = (token){END, r->at, 1, r->line, (int)(r->at - r->line_start) + 1, is_first};
  if (r->at >= r->end) return;
  if (*r->at == '"') {
    read_string(r);
    return;
  }
  const char *word = r->at, *number = number_end(r);
  while (word < r->end && is_word_byte(*word)) word++;
  if (number > r->at && (number >= r->end || number > word || !is_word_byte(*number))) {
    r->now.kind = NUMBER;
    r->at = number;
  } else if (word > r->at) {
    r->now.kind = WORD;
    r->at = word;
  } else {
    r->now.kind = SIGN;
    r->at++;
  }
  r->now.length = (size_t)(r->at - r->now.text);
}

static bool is_word(const token *t, const char *word) {
  return t->kind == WORD && strlen(word) == t->length && !memcmp(t->text, word, t->length);
}

static bool is_sign(const reader *r, char sign) {
  return r->now.kind == SIGN && *r->now.text == sign;
}

// --- Parts of statements. After an error, these functions do nothing -----------------------------------------------------

static bool pass_sign(reader *r, char sign) {
  char what[] = "' '";
  what[1] = sign;
  if (r->failed) return false;
  if (is_sign(r, sign))
    advance(r);
  else
    expected(r, what);
  return !r->failed;
}

// Reads a number with an optional sign.
static double take_number(reader *r, const char *what) {
  double value = 0;
  bool is_negative = is_sign(r, '-');
  if (r->failed) return 0;
  if (is_negative || is_sign(r, '+')) advance(r);
  if (r->now.kind != NUMBER || !od_number_parse(r->now.text, r->now.length, false, &value) || !isfinite(value)) {
    expected(r, what);
    return 0;
  }
  advance(r);
  return is_negative ? -value : value;
}

// Reads an integer from `least` to `most`. Both limits must be exact as double.
static int64_t take_integer(reader *r, double least, double most, const char *what) {
  token start = r->now;
  double value = take_number(r, what);
  if (r->failed) return 0;
  if (value >= least && value <= most && value == floor(value)) return (int64_t)value;
  r->now = start;  // the error is reported at the place of the number
  expected(r, what);
  return 0;
}

// Reads a raw value of at most 64 bits. A larger value is replaced by the largest value.
static uint64_t take_raw(reader *r) {
  uint64_t value = 0;
  token t = r->now;
  double rounded = take_number(r, "a value");
  if (rounded < 0) return 0;
  if (rounded < 0x1p53) return (uint64_t)rounded;
  for (size_t i = 0; i < t.length && isdigit((unsigned char)t.text[i]); i++) {
    uint64_t digit = (uint64_t)(t.text[i] - '0');
    value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * value + digit;
  }
  return value;
}

// Returns a text of the file as UTF-8, in memory of the database. Control characters become blanks.
static const char *copy_text(reader *r, const char *text, size_t length) {
  static const char empty[] = "";
  if (length == 0) return empty;
  const bool is_utf8 = od_utf8_has_only(text, length);
  char *copy = OD_TAKE(&r->dbc->arena, char, (is_utf8 ? 1 : OD_UTF8_OF_1252) * length + 1), *to = copy;
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

// Reports a name or a unit that is too long.
static bool is_short(reader *r) {
  if (r->now.length <= LONGEST_NAME) return true;
  add_error(r, r->now.line, r->now.column, "the text has more than 255 bytes, the largest allowed number");
  return false;
}

static const char *take_text(reader *r) {
  if (r->failed) return "";
  if (r->now.kind != STRING) {
    expected(r, "a text in quotes");
    return "";
  }
  const char *text = copy_text(r, r->now.text, r->now.length);
  advance(r);
  return text;
}

static const char *take_name(reader *r, const char *what) {
  if (r->failed) return "";
  if (r->now.kind != WORD && r->now.kind != NUMBER) {
    expected(r, what);
    return "";
  }
  if (!is_short(r)) return "";
  const char *name = copy_text(r, r->now.text, r->now.length);
  advance(r);
  return name;
}

static uint32_t take_id(reader *r) {
  return (uint32_t)take_integer(r, 0, UINT32_MAX, "an identifier of a message, an integer from 0 to 4294967295");
}

// --- Messages and signals ------------------------------------------------------------------------------------------------

// Returns a key for the name of a signal within a message: an FNV-1a hash.
static uint64_t name_key(int message, const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ ((uint64_t)message + 1) * UINT64_C(0x9e3779b97f4a7c15);
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return hash;
}

static od_dbc_message *find_message(const reader *r, uint32_t id) {
  int i = od_key_map_find(&r->by_id, id);
  return i >= 0 ? &r->dbc->message[i] : NULL;
}

static od_dbc_signal *find_signal(const reader *r, uint32_t id, const char *name) {
  int message = od_key_map_find(&r->by_id, id);
  int i = message >= 0 ? od_key_map_find(&r->by_name, name_key(message, name)) : -1;
  return i >= 0 && !strcmp(r->signal[i].name, name) ? &r->signal[i] : NULL;
}

static bool memory_ends(reader *r) {
  r->dbc->arena.exhausted = true;
  r->failed = true;
  return false;
}

// BO_ id name: length sender
static void read_message(reader *r) {
  od_dbc *dbc = r->dbc;
  r->in_message = false;
  advance(r);
  token place = r->now;
  uint32_t id = take_id(r);
  bool is_orphanage = id & ORPHANS;
  uint32_t plain = id & 0x1fffffff;
  if (!r->failed && !is_orphanage && (id & 0x80000000 ? (id & 0x60000000) != 0 : id > 0x7ff))
    add_error(r, place.line, place.column,
              "the identifier is too large; expected at most 2047, or 2147483648 plus an identifier of 29 bits");
  od_dbc_message m = {.name = take_name(r, "the name of the message"),
                      .sender = "",
                      .comment = "",
                      .line = place.line,
                      .column = place.column,
                      .id = plain,
                      .is_extended = id & 0x80000000};
  pass_sign(r, ':');
  m.length = (int)take_integer(r, 0, OD_DBC_LONGEST, "a number of bytes from 0 to 1785");
  if (!r->failed && r->now.kind == WORD && !r->now.is_first) m.sender = take_name(r, "a sender");
  if (!strcmp(m.sender, "Vector__XXX")) m.sender = "";
  if (r->failed || is_orphanage) return;
  const od_dbc_message *same = find_message(r, id);
  if (same) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "message '%.60s' has the same identifier as message '%.60s' in line %d", m.name,
            same->name, same->line);
    add_error(r, place.line, place.column, e.text);
    return;
  }
  if (dbc->messages == OD_DBC_MOST_MESSAGES) {
    add_error(r, place.line, place.column, "the file has more than 65536 messages, the largest allowed number");
    return;
  }
  void *list = od_arena_extend(&dbc->arena, dbc->message, dbc->messages, sizeof *dbc->message);
  int *first = od_arena_extend(&dbc->arena, r->first, dbc->messages, sizeof *first);
  frame_format *format = od_arena_extend(&dbc->arena, r->format, dbc->messages, sizeof *format);
  if (!list || !first || !format || !od_key_map_add(&r->by_id, id, dbc->messages)) {
    memory_ends(r);
    return;
  }
  dbc->message = list, r->first = first, r->format = format;
  r->first[dbc->messages] = r->signals;
  dbc->message[dbc->messages++] = m;
  r->in_message = true;
}

// Reads the mark of a multiplexed signal: "M" (a switch), "m3", "m3M" (both), or "m".
static void read_multiplexing(reader *r, od_dbc_signal *s) {
  const char *p = r->now.text, *end = p + r->now.length;
  if (r->failed || r->now.kind != WORD) return;
  if (p < end && *p == 'm') {
    const char *digits = ++p;
    od_dbc_range range = {0};
    for (; p < end && isdigit((unsigned char)*p) && range.from < UINT32_MAX; p++)
      range.from = 10 * range.from + (uint64_t)(*p - '0');
    s->needs_switch = true;
    if (p > digits) {
      od_dbc_range *copy = OD_TAKE(&r->dbc->arena, od_dbc_range, 1);
      range.to = range.from;
      if (copy) *copy = range;
      s->range = copy;
      s->ranges = copy ? 1 : 0;
    }
  }
  s->is_switch = p < end && *p == 'M';
  p += s->is_switch;
  if (p != end)
    expected(r, "':', 'M', or 'm' with the value of the multiplexor");
  else
    advance(r);
}

// SG_ name multiplexing : start|length@order sign (factor,offset) [min|max] "unit" receivers
static void read_signal(reader *r) {
  advance(r);
  od_dbc_signal s = {.line = r->now.line, .column = r->now.column, .by = -1, .spn = -1, .comment = ""};
  s.name = take_name(r, "the name of a signal");
  if (!is_sign(r, ':')) read_multiplexing(r, &s);
  pass_sign(r, ':');
  s.start = (int)take_integer(r, 0, 8 * OD_DBC_LONGEST - 1, "the start bit, an integer from 0 to 14279");
  pass_sign(r, '|');
  s.length = (int)take_integer(r, 1, 8 * OD_DBC_LONGEST, "the number of bits, an integer from 1");
  pass_sign(r, '@');
  s.is_motorola = take_integer(r, 0, 1, "the byte order: 0 (Motorola) or 1 (Intel)") == 0;
  if (!r->failed && !is_sign(r, '+') && !is_sign(r, '-')) expected(r, "'+' (unsigned) or '-' (signed)");
  s.number = is_sign(r, '-') ? OD_DBC_SIGNED : OD_DBC_UNSIGNED;
  if (!r->failed) advance(r);
  pass_sign(r, '(');
  s.factor = take_number(r, "the factor");
  pass_sign(r, ',');
  s.offset = take_number(r, "the offset");
  pass_sign(r, ')');
  pass_sign(r, '[');
  s.min = take_number(r, "the least value");
  pass_sign(r, '|');
  s.max = take_number(r, "the largest value");
  pass_sign(r, ']');
  if (r->now.kind == STRING && !r->failed && !is_short(r)) return;
  s.unit = take_text(r);
  while (!r->failed && !r->now.is_first && (r->now.kind == WORD || is_sign(r, ','))) advance(r);  // receivers
  if (r->failed || !r->in_message) return;
  int message = r->dbc->messages - 1;
  uint64_t key = name_key(message, s.name);
  if (od_key_map_find(&r->by_name, key) >= 0) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "message '%.60s' already has a signal '%.60s'", r->dbc->message[message].name, s.name);
    add_error(r, s.line, s.column, e.text);
    return;
  }
  if (r->signals == OD_DBC_MOST_SIGNALS) {
    add_error(r, s.line, s.column, "the file has more than 262144 signals, the largest allowed number");
    return;
  }
  void *list = od_arena_extend(&r->dbc->arena, r->signal, r->signals, sizeof *r->signal);
  if (!list || !od_key_map_add(&r->by_name, key, r->signals)) {
    memory_ends(r);
    return;
  }
  r->signal = list;
  r->signal[r->signals++] = s;
}

// --- Other statements ----------------------------------------------------------------------------------------------------

// CM_ [BO_ id | SG_ id name | ...] "text";
static void read_comment(reader *r) {
  advance(r);
  bool of_message = is_word(&r->now, "BO_"), of_signal = is_word(&r->now, "SG_");
  if (!of_message && !of_signal) {
    while (r->now.kind != STRING && r->now.kind != END && !is_sign(r, ';')) advance(r);
    take_text(r);
    return;
  }
  advance(r);
  uint32_t id = take_id(r);
  const char *name = of_signal ? take_name(r, "the name of a signal") : "", *text = take_text(r);
  if (r->failed) return;
  od_dbc_message *m = of_message ? find_message(r, id) : NULL;
  od_dbc_signal *s = of_signal ? find_signal(r, id, name) : NULL;
  if (m) m->comment = text;
  if (s) s->comment = text;
}

// Reads pairs of a raw value and its name, up to a semicolon. *count: number of pairs.
static od_dbc_value *read_values(reader *r, int *count) {
  od_dbc_value *list = NULL;
  *count = 0;
  while (!r->failed && !is_sign(r, ';') && !r->now.is_first) {
    double raw = take_number(r, "a value or ';'");
    const char *name = take_text(r);
    if (r->failed) break;
    if (++r->values > MOST_VALUES) {
      add_error(r, r->now.line, r->now.column,
                "the file has more than 1048576 names of values, the largest allowed number");
      break;
    }
    od_dbc_value *longer = od_arena_extend(&r->dbc->arena, list, *count, sizeof *list);
    if (!longer) {
      memory_ends(r);
      break;
    }
    list = longer;
    list[(*count)++] = (od_dbc_value){fabs(raw) < 9.2e18 ? (int64_t)raw : INT64_MAX, name};
  }
  return list;
}

static int by_raw(const void *a, const void *b) {
  const od_dbc_value *x = a, *y = b;
  return x->raw != y->raw ? (x->raw > y->raw) - (x->raw < y->raw) : strcmp(x->name, y->name);
}

// VAL_ id name (value "text")*;
static void read_value_names(reader *r) {
  int count;
  advance(r);
  if (r->now.kind == WORD) {  // the values of an environment variable are skipped
    advance(r);
    read_values(r, &count);
    return;
  }
  uint32_t id = take_id(r);
  const char *name = take_name(r, "the name of a signal");
  od_dbc_value *values = read_values(r, &count);
  od_dbc_signal *s = r->failed ? NULL : find_signal(r, id, name);
  if (!s) return;
  if (count > 1) qsort(values, (size_t)count, sizeof *values, by_raw);
  s->value = values;
  s->values = count;
}

// Finds a signal that a statement names. It is an error if the message has no such signal.
static od_dbc_signal *take_signal(reader *r, uint32_t *id) {
  *id = take_id(r);
  token place = r->now;
  const char *name = take_name(r, "the name of a signal");
  if (r->failed) return NULL;
  const od_dbc_message *m = find_message(r, *id);
  od_dbc_signal *s = find_signal(r, *id, name);
  if (m && !s) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "message '%.60s' has no signal '%.60s'", m->name, name);
    add_error(r, place.line, place.column, e.text);
  }
  return s;
}

// SIG_VALTYPE_ id name : type;
static void read_number_type(reader *r) {
  uint32_t id;
  advance(r);
  od_dbc_signal *s = take_signal(r, &id);
  if (is_sign(r, ':')) advance(r);
  int64_t type = take_integer(r, 0, 3, "a type of numbers: 0 (integer), 1 (float) or 2 (double)");
  if (r->failed || !s) return;
  if (type == 1) s->number = OD_DBC_FLOAT;
  if (type == 2) s->number = OD_DBC_DOUBLE;
}

// SG_MUL_VAL_ id name switch from-to, from-to;
static void read_switch_values(reader *r) {
  uint32_t id;
  od_dbc_range *list = NULL;
  int count = 0;
  advance(r);
  od_dbc_signal *s = take_signal(r, &id);
  token place = r->now;
  const char *name = take_name(r, "the name of a multiplexor");
  while (!r->failed && !is_sign(r, ';')) {
    od_dbc_range range = {.from = take_raw(r)};
    pass_sign(r, '-');
    range.to = take_raw(r);
    if (r->failed) return;
    if (++r->values > MOST_VALUES) {
      add_error(r, place.line, place.column,
                "the file has more than 1048576 ranges of multiplexors, the largest "
                "allowed number");
      return;
    }
    od_dbc_range *longer = od_arena_extend(&r->dbc->arena, list, count, sizeof *list);
    if (!longer) {
      memory_ends(r);
      return;
    }
    list = longer;
    list[count++] = range;
    if (is_sign(r, ',')) advance(r);
  }
  if (r->failed || !s) return;
  int message = od_key_map_find(&r->by_id, id), by = od_key_map_find(&r->by_name, name_key(message, name));
  if (by < 0 || strcmp(r->signal[by].name, name) != 0 || !r->signal[by].is_switch) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "'%.60s' is not a multiplexor of message '%.60s'; expected a signal with the mark 'M'",
            name, r->dbc->message[message].name);
    add_error(r, place.line, place.column, e.text);
    return;
  }
  s->by = by - r->first[message];
  s->range = list;
  s->ranges = od_dbc_join_ranges(list, count);
  s->needs_switch = true;
}

static bool has_text(const token *t, const char *text) {
  return t->kind == STRING && t->length == strlen(text) && !memcmp(t->text, text, t->length);
}

static frame_format format_of(const token *t) {
  return has_text(t, "J1939PG") ? J1939_FORMAT : PLAIN_FORMAT;
}

static protocol protocol_of(const token *t) {
  char text[16] = "";
  for (size_t i = 0; i < t->length && i + 1 < sizeof text; i++) text[i] = (char)toupper((unsigned char)t->text[i]);
  if (t->length == 0 || t->kind != STRING) return UNKNOWN_PROTOCOL;
  if (!strncmp(text, "J1939", 5)) return J1939_PROTOCOL;
  return !strncmp(text, "NMEA", 4) ? NMEA_PROTOCOL : PLAIN_PROTOCOL;
}

// BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
static void read_attribute_definition(reader *r) {
  advance(r);
  if (r->now.kind == WORD) advance(r);
  bool is_format = has_text(&r->now, "VFrameFormat");
  take_text(r);
  for (int i = 0; is_format && r->now.kind != END && !is_sign(r, ';') && i < 16; advance(r))
    if (r->now.kind == STRING) r->formats[i++] = format_of(&r->now);
}

// BA_DEF_DEF_ "VFrameFormat" "J1939PG";
static void read_attribute_default(reader *r) {
  advance(r);
  bool is_format = has_text(&r->now, "VFrameFormat"), is_protocol = has_text(&r->now, "ProtocolType");
  take_text(r);
  if (r->failed) return;
  if (is_format && r->now.kind == STRING) r->default_format = format_of(&r->now);
  if (is_protocol && r->protocol == UNKNOWN_PROTOCOL) r->protocol = protocol_of(&r->now);
}

// BA_ "name" [BO_ id | SG_ id name | ...] value;
static void read_attribute(reader *r) {
  advance(r);
  token name = r->now;
  take_text(r);
  if (r->failed) return;
  if (r->now.kind != WORD) {
    if (has_text(&name, "ProtocolType")) r->protocol = protocol_of(&r->now);
    return;
  }
  bool of_message = is_word(&r->now, "BO_"), of_signal = is_word(&r->now, "SG_");
  bool is_format = has_text(&name, "VFrameFormat"), is_cycle = has_text(&name, "GenMsgCycleTime");
  if (!(of_message && (is_format || is_cycle)) && !(of_signal && has_text(&name, "SPN"))) return;
  advance(r);
  uint32_t id = take_id(r);
  od_dbc_signal *s = of_signal ? find_signal(r, id, take_name(r, "the name of a signal")) : NULL;
  od_dbc_message *m = of_message && !r->failed ? find_message(r, id) : NULL;
  if (m && is_format && r->now.kind == STRING) {
    r->format[m - r->dbc->message] = format_of(&r->now);
    return;
  }
  double value = take_number(r, "a value");
  if (r->failed) return;
  if (s && value >= 0 && value < 1e9) s->spn = (int)value;
  if (m && is_cycle) m->cycle = value > 0 ? value * 1e-3 : 0;
  if (m && is_format && value >= 0 && value < 16) r->format[m - r->dbc->message] = r->formats[(int)value];
}

// NS_ : a list of keywords, one per line.
static void skip_keywords(reader *r) {
  advance(r);
  while (r->now.kind != END) {
    advance(r);
    reader ahead = *r;
    advance(&ahead);
    bool is_alone = r->now.is_first && ahead.now.is_first;
    if (r->now.kind != END && r->now.is_first && !is_alone) return;
  }
}

static const struct {
  const char *word;
  void (*read)(reader *r);  // NULL: the statement is skipped
} keywords[] = {{"BO_", read_message},
                {"SG_", read_signal},
                {"CM_", read_comment},
                {"VAL_", read_value_names},
                {"SIG_VALTYPE_", read_number_type},
                {"SG_MUL_VAL_", read_switch_values},
                {"BA_DEF_", read_attribute_definition},
                {"BA_DEF_DEF_", read_attribute_default},
                {"BA_", read_attribute},
                {"NS_", skip_keywords},
                {"VERSION", NULL},
                {"BS_", NULL},
                {"BU_", NULL},
                {"VAL_TABLE_", NULL},
                {"BO_TX_BU_", NULL},
                {"EV_", NULL},
                {"ENVVAR_DATA_", NULL},
                {"SIG_GROUP_", NULL},
                {"SGTYPE_", NULL},
                {"BA_DEF_REL_", NULL},
                {"BA_DEF_DEF_REL_", NULL},
                {"BA_REL_", NULL},
                {"BU_SG_REL_", NULL},
                {"BU_EV_REL_", NULL},
                {"BU_BO_REL_", NULL},
                {"FILTER", NULL},
                {"SIG_TYPE_REF_", NULL}};
enum { KEYWORDS = sizeof keywords / sizeof *keywords };

static int keyword_at(const reader *r) {
  int i = 0;
  while (i < KEYWORDS && !(r->now.is_first && is_word(&r->now, keywords[i].word))) i++;
  return i;
}

static void read_statements(reader *r) {
  advance(r);
  while (r->now.kind != END && r->errors < MOST_ERRORS && od_arena_status(&r->dbc->arena) == OD_OK) {
    int i = keyword_at(r);
    r->failed = false;
    if (i < KEYWORDS && keywords[i].read) {
      keywords[i].read(r);
      if (!r->failed && is_sign(r, ';')) advance(r);
      // Statements continue with parts that are not needed.
      bool is_whole = keyword_at(r) < KEYWORDS || r->now.is_first || r->now.kind == END;
      if (is_whole) continue;
    } else {
      advance(r);
    }
    while (r->now.kind != END && keyword_at(r) == KEYWORDS) advance(r);
  }
}

// --- The whole file -----------------------------------------------------------------------------------------------------

static void finish_message(reader *r, int index) {
  od_dbc_message *m = &r->dbc->message[index];
  int end = index + 1 < r->dbc->messages ? r->first[index + 1] : r->signals;
  od_dbc_signal *signal = r->signals > 0 ? r->signal + r->first[index] : NULL;
  m->signals = end - r->first[index];
  m->signal = signal;
  od_dbc_check(r->dbc, m, signal);
  frame_format format = r->format[index] != UNKNOWN_FORMAT ? r->format[index] : r->default_format;
  bool is_family = r->protocol == J1939_PROTOCOL || r->protocol == NMEA_PROTOCOL;
  uint32_t pgn = od_j1939_pgn(m->id);
  m->is_j1939 = m->is_extended && (format == J1939_FORMAT || is_family || (m->id & 0xff) == NULL_ADDRESS);
  if (format == PLAIN_FORMAT && r->format[index] != UNKNOWN_FORMAT) m->is_j1939 = false;
  bool is_nmea_page = pgn >= 0x1ed00 && pgn <= 0x1ffff;
  m->is_nmea = m->is_j1939 && (r->protocol == NMEA_PROTOCOL || (r->protocol != J1939_PROTOCOL && is_nmea_page));
  m->is_fast = m->is_nmea && m->length > 8;
}

static od_status report(const reader *r, od_error *err) {
  const char *what = r->errors >= MOST_ERRORS ? "errors or more" : "errors";
  int shown = 1;
  for (const char *p = r->text; *p; p++) shown += *p == '\n';
  if (r->errors == shown) return od_fail(err, OD_BAD_INPUT, "%s", r->text);
  return od_fail(err, OD_BAD_INPUT, "%s\n%s: %d %s in all", r->text, r->path, r->errors, what);
}

static od_status read_text(od_dbc *dbc, const char *text, size_t length, od_error *err) {
  reader r = {.path = dbc->path, .at = text, .end = text + length, .line_start = text, .line = 1, .dbc = dbc};
  static const frame_format usual[16] = {PLAIN_FORMAT, PLAIN_FORMAT, PLAIN_FORMAT, J1939_FORMAT};
  memcpy(r.formats, usual, sizeof usual);
  if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r.at += 3, r.line_start += 3;
  read_statements(&r);
  for (int i = 0; r.errors == 0 && i < dbc->messages; i++) finish_message(&r, i);
  od_key_map_free(&r.by_id);
  od_key_map_free(&r.by_name);
  if (od_arena_status(&dbc->arena) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", dbc->path);
  if (r.errors > 0) return report(&r, err);
  if (dbc->messages == 0)
    return od_fail(err, OD_BAD_INPUT, "%s: the file has no messages; expected a DBC file with lines BO_ and SG_",
                   dbc->path);
  return OD_OK;
}

od_status od_dbc_read(const char *path, od_dbc **out, od_error *err) {
  OD_OWNED(od_dbc_free) od_dbc *dbc = od_calloc(1, sizeof *dbc);
  OD_OWNED(od_free) char *text = NULL;
  size_t length = 0;
  od_error why = {0};
  *out = NULL;
  if (!dbc || !(dbc->path = od_arena_text(&dbc->arena, path)))
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  if (od_input_read(path, (size_t)OD_DBC_LARGEST_MB << 20, &text, &length, &why) != OD_OK)
    return od_fail(err, why.status, "cannot read %s: %s", path, why.text);
  od_status status = read_text(dbc, text, length, err);
  if (status == OD_OK) *out = OD_GIVE(dbc);
  return status;
}

void od_dbc_free(od_dbc *dbc) {
  if (!dbc) return;
  od_arena_free(&dbc->arena);
  od_free(dbc);
}
