// CAN traces of candump (can-utils) as a format of logs. One frame per line, in the format for files (candump -l):
//
//   (1436509052.249713) can0 18FEEE17#3CFFFF2BFFFFFFFF     8 digits: an identifier of 29 bits
//   (1436509052.249713) can0 123##1112233                  CAN FD, with one digit of flags
//   (1436509052.249713) can0 123#R2                        a request for a frame
//
// or as on the terminal, with absolute times (-ta), dates (-tA), times since the first frame (-tz) or since the last frame (-td):
//
//   (1436509052.249713)  can0  123   [3]  11 22 33
//   (2015-07-10 06:17:32.249713)  can0  123   [3]  11 22 33
//   (000.100212)  can0  RX - -  123   [3]  11 22 33
//
// Times since the first frame ascend, and times since the last frame do not.
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/can_frames.h"
#include "formats/trace_file.h"
#include "io/date_time.h"

enum {
  MOST_NAMES = 256,  // interfaces of a trace
  LONGEST_NAME = 32,
  SAMPLE_LINES = 10000  // number of lines that are read to detect times that are differences
};
#define ERROR_FLAG 0x20000000u
#define NS         1000000000LL
#define LATEST     9000000000LL  // s

typedef enum time_kind { NO_TIME, ABSOLUTE, DATE, SINCE_FIRST, SINCE_LAST } time_kind;

typedef struct candump {
  od_trace_lines lines;        // the first member
  char (*name)[LONGEST_NAME];  // names of the interfaces, in the order of the file
  int names;
  int last_name;
  time_kind times;
  bool is_compact;       // whether the last line had the format for files
  long long first, now;  // ns
} candump;

// A position in a line. The byte at `end` is below ' '.
typedef struct cursor {
  const char *at, *start, *end;
  const char *expected;  // after a failure
} cursor;

// Values of the hexadecimal digits, plus 1; 0: the character is not a digit.
#define D(c, v) [c] = (v) + 1
static const unsigned char digits[256] = {D('0', 0),  D('1', 1),  D('2', 2),  D('3', 3),  D('4', 4),  D('5', 5),
                                          D('6', 6),  D('7', 7),  D('8', 8),  D('9', 9),  D('A', 10), D('B', 11),
                                          D('C', 12), D('D', 13), D('E', 14), D('F', 15), D('a', 10), D('b', 11),
                                          D('c', 12), D('d', 13), D('e', 14), D('f', 15)};
#undef D

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static void skip_blanks(cursor *c) {
  while (*c->at == ' ') c->at++;
}

static bool fails(cursor *c, const char *expected) {
  c->expected = expected;
  return false;
}

static bool pass(cursor *c, char sign, const char *expected) {
  if (*c->at != sign) return fails(c, expected);
  c->at++;
  return true;
}

// Reads a decimal number of seconds. The result is in ns. Returns false after storing the reason.
static bool read_seconds(cursor *c, long long *ns) {
  long long seconds = 0, part = 0, unit = NS;
  if (!is_digit(*c->at)) return fails(c, "a number of seconds");
  for (; is_digit(*c->at); c->at++) {
    seconds = 10 * seconds + (*c->at - '0');
    if (seconds > LATEST) return fails(c, "a time of at most 9000000000 s");
  }
  if (*c->at == '.') c->at++;
  for (; is_digit(*c->at); c->at++)
    if (unit > 1) unit /= 10, part += unit * (*c->at - '0');
  *ns = seconds * NS + part;
  return true;
}

// Reads a date and time: 2015-07-10 06:17:32.249713.
static bool read_date(cursor *c, long long *ns) {
  static const od_nanoseconds latest = (od_nanoseconds)LATEST * NS;
  const char *end = memchr(c->at, ')', (size_t)(c->end - c->at));
  od_date_time t;
  if (!end || !od_date_time_parse(c->at, (size_t)(end - c->at), OD_YEAR_FIRST, &t) || !t.has_date || t.at < 0 ||
      t.at > latest)
    return fails(c, "a date and time such as 2015-07-10 06:17:32.249713");
  *ns = (long long)t.at;
  c->at = end;
  return true;
}

// Reads the time in parentheses. *kind: the kind of time; NO_TIME if the line has no parenthesis; ABSOLUTE for seconds from 1e8.
// Differences and times since the first frame look alike; for both, *kind is SINCE_FIRST. Returns false after storing the reason.
static bool read_time(cursor *c, long long *ns, time_kind *kind) {
  *kind = NO_TIME;
  if (*c->at != '(') return true;
  c->at++;
  *kind = c->end - c->at > 4 && c->at[4] == '-' ? DATE : SINCE_FIRST;
  if (!(*kind == DATE ? read_date(c, ns) : read_seconds(c, ns))) return false;
  if (*kind == SINCE_FIRST && *ns >= 100000000 * NS) *kind = ABSOLUTE;
  return pass(c, ')', "')' after the time");
}

// Reads a hexadecimal number. *count: number of its digits, at most 8. Returns false after storing the reason.
static bool read_hex(cursor *c, uint32_t *value, int *count) {
  *value = 0;
  for (*count = 0; digits[(unsigned char)*c->at]; c->at++, ++*count) {
    if (*count == 8) return fails(c, "an identifier of at most 8 digits");
    *value = *value << 4 | (uint32_t)(digits[(unsigned char)*c->at] - 1);
  }
  return *count > 0 || fails(c, "a hexadecimal number");
}

static bool read_id(cursor *c, od_can_frame *f) {
  uint32_t id;
  int count;
  const char *start = c->at;
  if (!read_hex(c, &id, &count)) return false;
  f->flags = count > 3 ? OD_CAN_EXTENDED : 0;
  if (count == 8 && id & ERROR_FLAG) f->flags = OD_CAN_ERROR;
  f->id = id & 0x1fffffff;
  if ((count > 3 || id <= 0x7ff) && id < 0x40000000) return true;
  c->at = start;
  return fails(c, "an identifier of 11 bits (3 digits) or 29 bits (8 digits)");
}

static bool read_byte(cursor *c, uint8_t *byte) {
  unsigned high = digits[(unsigned char)c->at[0]], low = high ? digits[(unsigned char)c->at[1]] : 0;
  if (!low) return fails(c, "two hexadecimal digits");
  *byte = (uint8_t)((high - 1) << 4 | (low - 1));
  c->at += 2;
  return true;
}

// Reads the part after the identifier in the format for files: #data, ##flags data, or #R. Returns false after storing the
// reason.
static bool read_compact(cursor *c, od_can_frame *f) {
  int most = 8;
  c->at++;
  if (*c->at == '#') {
    c->at++;
    if (!digits[(unsigned char)*c->at]) return fails(c, "a digit of flags");
    c->at++;
    most = OD_CAN_BYTES;
  } else if (*c->at == 'R') {
    c->at++;
    f->flags |= OD_CAN_REMOTE;
    while (is_digit(*c->at)) c->at++;
    return true;
  }
  f->length = 0;
  while (digits[(unsigned char)*c->at]) {
    if (f->length == most) return fails(c, most == 8 ? "at most 8 bytes" : "at most 64 bytes");
    if (!read_byte(c, &f->data[f->length])) return false;
    f->length++;
    if (*c->at == '.') c->at++;
  }
  if (*c->at == '_')
    c->at += 1 + (digits[(unsigned char)c->at[1]] != 0);  // the length code of a frame with more than
                                                          // 8 bytes
  if ((unsigned char)*c->at > ' ') return fails(c, "data bytes");
  return true;
}

// Reads the part after the identifier as on the terminal: [count] data. Returns false after storing the reason.
static bool read_spaced(cursor *c, od_can_frame *f) {
  int count = 0;
  skip_blanks(c);
  if (*c->at != '[' && *c->at != '{') return fails(c, "'#' or the number of bytes in brackets");
  c->at++;
  if (!is_digit(*c->at)) return fails(c, "a number of bytes");
  for (; is_digit(*c->at) && count <= OD_CAN_BYTES; c->at++) count = 10 * count + (*c->at - '0');
  if (count > OD_CAN_BYTES) return fails(c, "at most 64 bytes");
  if (*c->at != ']' && *c->at != '}') return fails(c, "']' after the number of bytes");
  c->at++;
  skip_blanks(c);
  if (!strncmp(c->at, "remote", 6)) {
    f->flags |= OD_CAN_REMOTE;
    return true;
  }
  for (f->length = 0; f->length < count; f->length++) {
    skip_blanks(c);
    if (!read_byte(c, &f->data[f->length])) return false;
    if ((unsigned char)*c->at > ' ') return fails(c, "bytes as two hexadecimal digits");
  }
  return true;
}

// Moves over a direction (candump -x) such as "RX - -". Returns false if there is no direction.
static bool pass_direction(cursor *c, od_can_frame *f) {
  if ((c->at[0] != 'R' && c->at[0] != 'T') || c->at[1] != 'X' || c->at[2] != ' ') return false;
  if (c->at[0] == 'T') f->flags |= OD_CAN_SENT;
  for (c->at += 2; *c->at == ' ' || *c->at == '-' || ((*c->at == 'B' || *c->at == 'E') && c->at[1] == ' ');) c->at++;
  return true;
}

// Returns the number of an interface, and adds the interface if necessary. -1: there are already MOST_NAMES
// interfaces.
static int bus_of(candump *s, const char *name, size_t length) {
  if (s->last_name < s->names && strlen(s->name[s->last_name]) == length &&
      !memcmp(s->name[s->last_name], name, length))
    return s->last_name;
  for (int i = 0; i < s->names; i++)
    if (strlen(s->name[i]) == length && !memcmp(s->name[i], name, length)) return s->last_name = i;
  if (s->names == MOST_NAMES) return -1;
  memcpy(s->name[s->names], name, length);
  s->name[s->names][length] = '\0';
  return s->last_name = s->names++;
}

// Reads a line. *ns: time in the line, ns. If s is NULL, names of interfaces are not stored. Returns false after storing the reason.
static bool read_line(candump *s, cursor *c, od_can_frame *f, long long *ns, time_kind *kind) {
  skip_blanks(c);
  if (!read_time(c, ns, kind)) return false;
  skip_blanks(c);
  const char *name = c->at;
  while ((unsigned char)*c->at > ' ') c->at++;
  size_t length = (size_t)(c->at - name);
  if (length == 0 || length >= LONGEST_NAME || *c->at != ' ') {
    c->at = name;
    return fails(c, "the name of an interface such as can0");
  }
  int bus = s ? bus_of(s, name, length) : 0;
  if (bus < 0) {
    c->at = name;
    return fails(c, "at most 256 interfaces");
  }
  skip_blanks(c);
  od_can_frame direction = {0};
  bool has_direction = pass_direction(c, &direction);
  if (!read_id(c, f)) return false;
  f->bus = (uint16_t)bus;
  f->length = 0;
  if (s) s->is_compact = *c->at == '#';
  if (*c->at != '#') {
    f->flags |= direction.flags;
    return read_spaced(c, f);
  }
  if (has_direction) return fails(c, "the number of bytes in brackets");
  if (!read_compact(c, f)) return false;
  if (c->at[0] == ' ' && c->at[1] == 'T') f->flags |= OD_CAN_SENT;
  return true;
}

static bool is_empty(const char *text, size_t length) {
  // Explanations of error frames (candump -e) begin with a tab.
  if (length > 0 && text[0] == '\t') return true;
  for (size_t i = 0; i < length; i++)
    if (text[i] != ' ') return false;
  return true;
}

// Reads lines up to the next frame. *ns: time in the line, ns. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status next_line(candump *s, od_can_frame *f, long long *ns, bool *end, od_error *err) {
  for (;;) {
    const char *text;
    size_t length;
    time_kind kind;
    od_status status = od_trace_lines_next(&s->lines, &text, &length, err);
    *end = !text;
    if (status != OD_OK || !text) return status;
    cursor c = {text, text, text + length, NULL};
    if (is_empty(text, length)) continue;
    *ns = 0;
    if (read_line(s, &c, f, ns, &kind)) {
      if (s->times == NO_TIME) s->times = kind;
      bool is_same = kind == s->times || (kind == SINCE_FIRST && s->times == SINCE_LAST);
      if (is_same && kind != NO_TIME) return OD_OK;
      if (kind == NO_TIME)
        return od_trace_lines_fail(&s->lines, text, length, 0,
                                   "a time in parentheses; record the trace with candump -l or candump -ta", err);
      return od_trace_lines_fail(&s->lines, text, length, 0, "a time of the same kind as in the lines before", err);
    }
    if (!s->lines.has_end) {  // the last line is cut off
      *end = true;
      return OD_OK;
    }
    return od_trace_lines_fail(&s->lines, text, length, (size_t)(c.at - text), c.expected, err);
  }
}

// Reads the time of the first frame, and decides whether times without a date are differences: times since the first
// frame rarely descend or repeat. Traces in the format for files have no differences. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
static od_status find_times(candump *s, od_error *err) {
  od_can_frame f;
  bool end = false;
  long long now = 0, before = 0;
  int pairs = 0, not_ascending = 0;
  od_status status = next_line(s, &f, &s->first, &end, err);
  before = s->first;
  bool may_differ = s->times == SINCE_FIRST && !s->is_compact;
  for (int i = 0; status == OD_OK && !end && may_differ && i < SAMPLE_LINES; i++) {
    status = next_line(s, &f, &now, &end, err);
    if (status != OD_OK || end) break;
    if (i > 0) pairs++, not_ascending += now <= before;
    before = now;
  }
  if (10 * not_ascending > pairs) s->times = SINCE_LAST;
  if (s->times == ABSOLUTE || s->times == DATE) od_date_time_text(s->lines.file.start, s->first, s->times != DATE);
  if (s->times == SINCE_FIRST || s->times == SINCE_LAST) s->first = 0;
  od_trace_lines_rewind(&s->lines);
  return status;
}

// --- The source -------------------------------------------------------------------------------------------------------

static void close_source(void *source) {
  candump *s = source;
  od_trace_lines_close(&s->lines);
  od_free(s->name);
  od_free(s);
}

static candump *new_source(void) {
  candump *s = od_calloc(1, sizeof *s);
  if (s && !(s->name = od_calloc(MOST_NAMES, sizeof *s->name))) {
    od_free(s);
    return NULL;
  }
  return s;
}

static od_status again(const void *source, void **out, od_error *err) {
  const candump *s = source;
  candump *other = new_source();
  *out = NULL;
  if (!other) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", s->lines.file.path);
  memcpy(other->name, s->name, MOST_NAMES * sizeof *s->name);
  other->names = s->names;
  other->times = s->times;
  other->first = s->first;
  od_status status = od_trace_lines_again(&s->lines, &other->lines, err);
  if (status == OD_OK)
    *out = other;
  else
    close_source(other);
  return status;
}

static od_status next(void *source, od_can_frame *frame, bool *end, od_error *err) {
  candump *s = source;
  long long ns;
  od_status status = next_line(s, frame, &ns, end, err);
  if (status != OD_OK || *end) return status;
  if (s->times != SINCE_LAST)
    s->now = ns - s->first;
  else
    s->now = s->now > LATEST * NS - ns ? LATEST * NS : s->now + ns;
  frame->time = od_seconds_of(s->now);
  return OD_OK;
}

static void rewind_source(void *source) {
  candump *s = source;
  od_trace_lines_rewind(&s->lines);
  s->now = 0;
}

static const char *bus_name(const void *source, int bus) {
  const candump *s = source;
  return bus < s->names ? s->name[bus] : NULL;
}

static const od_can_source candump_source = {.again = again,
                                             .close = close_source,
                                             .next = next,
                                             .rewind = rewind_source,
                                             .bus_name = bus_name,
                                             .line = od_trace_source_line,
                                             .is_cut = od_trace_source_is_cut,
                                             .has_changed = od_trace_source_has_changed,
                                             .grow = od_trace_source_grow,
                                             .start_time = od_trace_source_start_time};

// --- The format -------------------------------------------------------------------------------------------------------

// The first line that is not empty must be a frame.
static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  const char *text = (const char *)start, *end;
  (void)path;
  for (; (end = memchr(text, '\n', length)); length -= (size_t)(end + 1 - text), text = end + 1) {
    size_t n = (size_t)(end - text);
    if (n > 0 && text[n - 1] == '\r') n--;
    if (n > 0 && is_empty(text, n)) continue;
    if (n == 0) continue;
    cursor c = {text, text, text + n, NULL};
    od_can_frame f;
    long long ns;
    time_kind kind;
    return read_line(NULL, &c, &f, &ns, &kind);
  }
  return false;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  candump *s = new_source();
  *out = NULL;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  od_status status = od_trace_lines_open(&s->lines, path, wish->follow, err);
  if (status == OD_OK) status = find_times(s, err);
  if (status == OD_OK) return od_can_stream_open(&candump_source, s, path, wish, out, err);
  close_source(s);
  return status;
}

const od_log_format od_candump_format = {.name = "CAN trace of candump",
                                         .recognizes = recognizes,
                                         .open = open_file,
                                         OD_CAN_STREAM,
                                         .grow = od_can_stream_grow};
