// CAN traces in the ASCII format of Vector (.asc) as a format of logs:
//
//   date Sat Sep 30 15:06:13.191 2017
//   base hex  timestamps absolute                          or: base dec; timestamps relative (to the line before)
//   Begin Triggerblock Sat Sep 30 15:06:13.191 2017
//      0.015991 1  18FEEE17x       Rx   d 8 3C FF FF 2B FF FF FF FF  Length = 270000 BitCount = 140
//      0.016991 1  123             Tx   r 8
//      0.017991 1  ErrorFrame
//      0.018991 CANFD   1 Rx        123  EngineData  1 0 9 12 00 01 02 03 04 05 06 07 08 09 0A 0B  ...
//
// An identifier with x has 29 bits. CANFD: bus, direction, identifier, optional name, bit rate switch, error state, length code, length
// in bytes, data. Lines of other events are skipped; with relative times, their times count.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/allocate.h"
#include "formats/can_frames.h"
#include "formats/trace_file.h"
#include "io/date_time.h"

#define NS     1000000000LL
#define LATEST 1000000000LL  // s

enum { HEAD_LINES = 64 };  // number of lines in which the header is searched

typedef struct asc {
  od_trace_lines lines;  // the first member
  int base;              // 10 or 16
  bool is_relative;
  long long now;  // ns
} asc;

typedef struct word {
  const char *text;
  size_t length;
} word;

// The part of a line that has not been read.
typedef struct cursor {
  const char *at, *end;
} cursor;

static bool next_word(cursor *c, word *w) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
  w->text = c->at;
  while (c->at < c->end && *c->at != ' ' && *c->at != '\t') c->at++;
  w->length = (size_t)(c->at - w->text);
  return w->length > 0;
}

static bool is(const word *w, const char *text) {
  return w->length == strlen(text) && !strncasecmp(w->text, text, w->length);
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  int letter = tolower((unsigned char)c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

// Reads a whole word as a number of at most `most`. Returns false if the word is not such a number.
static bool number(const char *text, size_t length, int base, uint32_t most, uint32_t *value) {
  uint64_t sum = 0;
  for (size_t i = 0; i < length; i++) {
    if (digit(text[i]) >= base) return false;
    sum = sum * (uint64_t)base + (uint64_t)digit(text[i]);
    if (sum > most) return false;
  }
  *value = (uint32_t)sum;
  return length > 0;
}

// Reads a time in seconds. The result is in ns. Returns false if the word is not a time of at most LATEST with a decimal point.
static bool seconds(const word *w, long long *ns) {
  long long whole = 0, part = 0, unit = NS;
  size_t i = 0;
  for (; i < w->length && isdigit((unsigned char)w->text[i]) && whole <= LATEST; i++)
    whole = 10 * whole + (w->text[i] - '0');
  if (i == 0 || i == w->length || w->text[i] != '.' || whole > LATEST) return false;
  for (i++; i < w->length && isdigit((unsigned char)w->text[i]); i++)
    if (unit > 1) unit /= 10, part += unit * (w->text[i] - '0');
  *ns = whole * NS + part;
  return i == w->length;
}

// --- The header -------------------------------------------------------------------------------------------------------

// Returns the number of a month by its English or German name; 0: none.
static int month_of(const word *w) {
  static const struct {
    const char *name;
    int month;
  } months[] = {{"jan", 1},  {"feb", 2},  {"mar", 3},  {"m\xc3\xa4r", 3}, {"m\xe4r", 3}, {"apr", 4},
                {"may", 5},  {"mai", 5},  {"jun", 6},  {"jul", 7},        {"aug", 8},    {"sep", 9},
                {"oct", 10}, {"okt", 10}, {"nov", 11}, {"dec", 12},       {"dez", 12}};
  for (size_t i = 0; i < sizeof months / sizeof *months; i++)
    if (w->length >= strlen(months[i].name) && !strncasecmp(w->text, months[i].name, strlen(months[i].name)))
      return months[i].month;
  return 0;
}

// Converts a date and time such as "Sat Sep 30 15:06:13.191 2017" or "Sat Sep 30 03:06:13.191 pm 2017" to ISO 8601. Returns false
// if the text is not a date.
static bool date(cursor c, char text[OD_DATE_TIME_SIZE]) {
  word day_name, month, day, time, w;
  uint32_t number_of_day, hour, year;
  if (!next_word(&c, &day_name) || !next_word(&c, &month) || !month_of(&month) || !next_word(&c, &day) ||
      !next_word(&c, &time) || !next_word(&c, &w))
    return false;
  bool is_pm = is(&w, "pm"), is_am = is(&w, "am");
  if ((is_pm || is_am) && !next_word(&c, &w)) return false;
  if (!number(day.text, day.length, 10, 31, &number_of_day) || !number(w.text, w.length, 10, 9999, &year)) return false;
  if (time.length < 8 || time.text[2] != ':' || !number(time.text, 2, 10, 23, &hour)) return false;
  if (is_pm && hour < 12) hour += 12;
  if (is_am && hour == 12) hour = 0;
  od_date_time t;
  char found[64];
  int length =
      snprintf(found, sizeof found, "%04u-%02d-%02u %02u%.*s", (unsigned)year, month_of(&month),
               (unsigned)number_of_day, (unsigned)hour, (int)(time.length < 20 ? time.length - 2 : 18), time.text + 2);
  if (!od_date_time_parse(found, (size_t)length, OD_YEAR_FIRST, &t)) return false;
  od_date_time_text(text, t.at, false);
  return true;
}

// Reads the line "base hex  timestamps absolute". Returns false for any other line.
static bool base_line(cursor c, int *base, bool *is_relative) {
  word w;
  if (!next_word(&c, &w) || !is(&w, "base") || !next_word(&c, &w) || !(is(&w, "hex") || is(&w, "dec"))) return false;
  *base = is(&w, "hex") ? 16 : 10;
  *is_relative = next_word(&c, &w) && is(&w, "timestamps") && next_word(&c, &w) && is(&w, "relative");
  return true;
}

// Reads a line of the header. Returns whether the line begins with a time, so that the trace has begun.
static bool head_line(asc *s, cursor c) {
  cursor line = c;
  word w;
  long long ns;
  if (!next_word(&c, &w)) return false;
  if (seconds(&w, &ns)) return true;
  if (base_line(line, &s->base, &s->is_relative)) return false;
  bool is_date = is(&w, "date");
  if (is(&w, "begin")) is_date = next_word(&c, &w) && is(&w, "triggerblock");
  if (is_date) date(c, s->lines.file.start);
  return false;
}

static od_status read_head(asc *s, od_error *err) {
  bool has_begun = false;
  s->base = 16;
  for (int i = 0; i < HEAD_LINES && !has_begun; i++) {
    const char *text;
    size_t length;
    od_status status = od_trace_lines_next(&s->lines, &text, &length, err);
    if (status != OD_OK) return status;
    if (!text) break;
    has_begun = head_line(s, (cursor){text, text + length});
  }
  od_trace_lines_rewind(&s->lines);
  return OD_OK;
}

// --- Frames -----------------------------------------------------------------------------------------------------------

typedef enum outcome { FRAME, OTHER, WRONG } outcome;

// The wrong or missing part of a line of a frame: its place, and the expected text.
typedef struct complaint {
  const char *place, *expected;
} complaint;

static outcome wrong(complaint *why, const char *place, const char *expected) {
  *why = (complaint){place, expected};
  return WRONG;
}

static bool read_id(const asc *s, const word *w, od_can_frame *f) {
  bool is_long = w->length > 1 && (w->text[w->length - 1] == 'x' || w->text[w->length - 1] == 'X');
  f->flags = is_long ? OD_CAN_EXTENDED : 0;
  return number(w->text, w->length - is_long, s->base, is_long ? 0x1fffffff : 0x7ff, &f->id);
}

// Finds the identifier that follows the data of a frame with a name instead of an identifier: "ID = 291x", always decimal.
// Returns false if there is no identifier.
static bool find_id(cursor c, od_can_frame *f) {
  word w = {0};
  while (next_word(&c, &w))
    if (is(&w, "ID")) {
      asc decimal = {.base = 10};
      return next_word(&c, &w) && is(&w, "=") && next_word(&c, &w) && read_id(&decimal, &w, f);
    }
  return false;
}

static outcome read_data(const asc *s, cursor *c, int count, od_can_frame *f, complaint *why) {
  word w;
  for (f->length = 0; f->length < count; f->length++) {
    uint32_t byte;
    bool is_byte = next_word(c, &w) && number(w.text, w.length, s->base, 255, &byte);
    if (!is_byte) return wrong(why, w.text, s->base == 16 ? "a byte from 00 to FF" : "a byte from 0 to 255");
    f->data[f->length] = (uint8_t)byte;
  }
  return FRAME;
}

// Rx and Tx mark frames. TxRq marks a request to send; a line with Tx follows.
static bool read_direction(const word *w, od_can_frame *f) {
  if (is(w, "Tx")) f->flags |= OD_CAN_SENT;
  return is(w, "Rx") || is(w, "Tx");
}

// CANFD bus direction identifier [name] brs esi code length data
static outcome read_fd(const asc *s, cursor *c, od_can_frame *f, complaint *why) {
  word bus, direction, w, code, length;
  uint32_t number_of_bus, bytes, code_value;
  if (!next_word(c, &bus) || !number(bus.text, bus.length, 10, OD_CAN_BUSES - 1, &number_of_bus)) return OTHER;
  if (!next_word(c, &direction) || !next_word(c, &w)) return OTHER;
  f->bus = (uint16_t)number_of_bus;
  if (is(&w, "ErrorFrame") || is(&direction, "ErrorFrame")) {
    f->flags = OD_CAN_ERROR;
    return FRAME;
  }
  if (!read_direction(&direction, f)) return OTHER;
  if (!read_id(s, &w, f)) return wrong(why, w.text, "an identifier, with x if it has 29 bits");
  read_direction(&direction, f);
  if (!next_word(c, &w)) return wrong(why, c->at, "0 or 1 (bit rate switch)");
  if (!is(&w, "0") && !is(&w, "1") && !next_word(c, &w)) return wrong(why, c->at, "0 or 1 (bit rate switch)");
  if (!next_word(c, &w) || !next_word(c, &code) || !number(code.text, code.length, 16, 15, &code_value))
    return wrong(why, c->at, "a length code from 0 to f");
  if (!next_word(c, &length) || !number(length.text, length.length, 10, OD_CAN_BYTES, &bytes))
    return wrong(why, length.text, "a number of bytes from 0 to 64");
  if (bytes == 0 && code_value > 0) f->flags |= OD_CAN_REMOTE;
  return read_data(s, c, (int)bytes, f, why);
}

// bus identifier direction d|r length data
static outcome read_classic(const asc *s, const word *bus, cursor *c, od_can_frame *f, complaint *why) {
  word id, direction, kind, length;
  uint32_t value;
  if (!number(bus->text, bus->length, 10, OD_CAN_BUSES - 1, &value) || !next_word(c, &id)) return OTHER;
  f->bus = (uint16_t)value;
  if (is(&id, "ErrorFrame")) {
    f->flags = OD_CAN_ERROR;
    return FRAME;
  }
  if (!next_word(c, &direction) || !read_direction(&direction, f) || !next_word(c, &kind)) return OTHER;
  bool is_remote = is(&kind, "r");
  if (!is_remote && !is(&kind, "d")) return OTHER;
  if (!read_id(s, &id, f) && !find_id(*c, f)) return wrong(why, id.text, "an identifier, with x if it has 29 bits");
  read_direction(&direction, f);
  if (is_remote) {
    f->flags |= OD_CAN_REMOTE;
    return FRAME;
  }
  if (!next_word(c, &length) || !number(length.text, length.length, 16, 15, &value))
    return wrong(why, length.text, "a length code from 0 to f");
  return read_data(s, c, value < 8 ? (int)value : 8, f, why);
}

static outcome read_line(asc *s, const char *text, size_t length, od_can_frame *f, complaint *why) {
  cursor c = {text, text + length};
  word time, bus;
  long long ns;
  *f = (od_can_frame){0};
  if (!next_word(&c, &time) || !seconds(&time, &ns)) return OTHER;
  s->now = !s->is_relative ? ns : s->now > LATEST * NS - ns ? LATEST * NS : s->now + ns;
  f->time = od_seconds_of(s->now);
  if (!next_word(&c, &bus)) return OTHER;
  return is(&bus, "CANFD") ? read_fd(s, &c, f, why) : read_classic(s, &bus, &c, f, why);
}

// --- The source -------------------------------------------------------------------------------------------------------

static void close_source(void *source) {
  asc *s = source;
  od_trace_lines_close(&s->lines);
  od_free(s);
}

static od_status again(const void *source, void **out, od_error *err) {
  const asc *s = source;
  asc *other = od_calloc(1, sizeof *other);
  *out = NULL;
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->lines.file.path);
  *other = *s;
  other->now = 0;
  od_status status = od_trace_lines_again(&s->lines, &other->lines, err);
  if (status == OD_OK)
    *out = other;
  else
    close_source(other);
  return status;
}

static od_status next(void *source, od_can_frame *frame, bool *end, od_error *err) {
  asc *s = source;
  for (;;) {
    const char *text;
    size_t length;
    complaint why;
    od_status status = od_trace_lines_next(&s->lines, &text, &length, err);
    *end = !text;
    if (status != OD_OK || !text) return status;
    outcome o = read_line(s, text, length, frame, &why);
    if (o == FRAME) return OD_OK;
    if (o == OTHER) continue;
    *end = !s->lines.has_end;  // the last line is cut off
    if (*end) return OD_OK;
    return od_trace_lines_fail(&s->lines, text, length, (size_t)(why.place - text), why.expected, err);
  }
}

static void rewind_source(void *source) {
  asc *s = source;
  od_trace_lines_rewind(&s->lines);
  s->now = 0;
}

static const od_can_source asc_source = {.again = again,
                                         .close = close_source,
                                         .next = next,
                                         .rewind = rewind_source,
                                         .line = od_trace_source_line,
                                         .is_cut = od_trace_source_is_cut,
                                         .has_changed = od_trace_source_has_changed,
                                         .grow = od_trace_source_grow,
                                         .start_time = od_trace_source_start_time};

// --- The format -------------------------------------------------------------------------------------------------------

// One of the first lines is "base hex" or "base dec". Before this line there are only empty lines, comments and the date.
static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  const char *text = (const char *)start, *end;
  int base;
  bool is_relative;
  (void)path;
  for (; (end = memchr(text, '\n', length)); length -= (size_t)(end + 1 - text), text = end + 1) {
    cursor c = {text, end > text && end[-1] == '\r' ? end - 1 : end};
    word w;
    if (base_line(c, &base, &is_relative)) return true;
    bool is_head = !next_word(&c, &w) || is(&w, "date") || (w.length >= 2 && !strncmp(w.text, "//", 2));
    if (!is_head) return false;
  }
  return false;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  asc *s = od_calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = od_trace_lines_open(&s->lines, path, wish->follow, err);
  if (status == OD_OK) status = read_head(s, err);
  if (status == OD_OK) return od_can_stream_open(&asc_source, s, path, wish, out, err);
  close_source(s);
  return status;
}

const od_log_format od_asc_format = {.name = "CAN trace of Vector (ASC)",
                                     .recognizes = recognizes,
                                     .open = open_file,
                                     OD_CAN_STREAM,
                                     .grow = od_can_stream_grow};
