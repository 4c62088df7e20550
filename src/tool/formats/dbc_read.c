// Reads DBC files. The text is a sequence of statements. A statement begins with a keyword at the beginning of a line:
//
//   BO_ 2364540158 EEC1: 8 Engine                                       a message: identifier, name, number of bytes, sender
//    SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] "rpm" Display    a signal of the last message: start|length@order sign
//   CM_ SG_ 2364540158 EngineSpeed "comment";
//   BA_ "SPN" SG_ 2364540158 EngineSpeed 190;
//   BA_ "SystemSignalLongSymbol" SG_ 500 Name_of_at_most_32_characters_00 "Name_of_any_length";
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
#include "formats/dbc_scan.h"
#include "formats/key_map.h"
#include "io/input_file.h"

enum {
  MOST_ERRORS = 1000,
  MOST_VALUES = 1 << 20,  // names of values in a file
  ORPHANS = 0x40000000,   // flag in the identifier of the message that collects signals without a message
  NULL_ADDRESS = 254      // source address of messages that any source may send
};

OD_OWNED_POINTER(char, od_free);

// Frame formats of messages, from the names of the values of the attribute VFrameFormat.
typedef enum frame_format { UNKNOWN_FORMAT, PLAIN_FORMAT, FD_FORMAT, J1939_FORMAT } frame_format;
typedef enum protocol { UNKNOWN_PROTOCOL, PLAIN_PROTOCOL, J1939_PROTOCOL, NMEA_PROTOCOL } protocol;

// A name of more than 32 characters. The statements of the file contain an abbreviation instead.
typedef struct long_name {
  int message, signal;  // signal: index in reader.signal; -1: the name of the message
  const char *name;
} long_name;

typedef struct reader {
  od_dbc_scanner scan;
  od_dbc *dbc;
  od_dbc_signal *signal;  // signals of all messages, in the order of the file
  int signals;
  int *first;            // per message: index of the first signal
  frame_format *format;  // per message
  od_key_map by_id, by_name;
  long_name *long_name;
  int long_names;
  long values;
  frame_format formats[16], default_format;  // meanings of the values of VFrameFormat
  protocol protocol;
  bool in_message;  // whether SG_ belongs to a message
} reader;

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
  r->scan.failed = true;
  return false;
}

// BO_ id name: length sender
static void read_message(reader *r) {
  od_dbc *dbc = r->dbc;
  r->in_message = false;
  od_dbc_advance(&r->scan);
  od_dbc_token place = r->scan.now;
  uint32_t id = od_dbc_take_id(&r->scan);
  bool is_orphanage = id & ORPHANS;
  uint32_t plain = id & 0x1fffffff;
  if (!r->scan.failed && !is_orphanage && (id & 0x80000000 ? (id & 0x60000000) != 0 : id > 0x7ff))
    od_dbc_add_error(&r->scan, place.line, place.column,
                     "the identifier is too large; expected at most 2047, or 2147483648 plus an identifier of 29 bits");
  od_dbc_message m = {.name = od_dbc_take_name(&r->scan, "the name of the message"),
                      .sender = "",
                      .comment = "",
                      .line = place.line,
                      .column = place.column,
                      .id = plain,
                      .is_extended = id & 0x80000000};
  od_dbc_pass_sign(&r->scan, ':');
  m.length = (int)od_dbc_take_integer(&r->scan, 0, OD_DBC_LONGEST, "a number of bytes from 0 to 1785");
  if (!r->scan.failed && r->scan.now.kind == OD_TOKEN_WORD && !r->scan.now.is_first)
    m.sender = od_dbc_take_name(&r->scan, "a sender");
  if (!strcmp(m.sender, "Vector__XXX")) m.sender = "";
  if (r->scan.failed || is_orphanage) return;
  const od_dbc_message *same = find_message(r, id);
  if (same) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT,
            "message '%.60s' has the same identifier as message '%.60s' in line %d; expected different identifiers",
            m.name, same->name, same->line);
    od_dbc_add_error(&r->scan, place.line, place.column, e.text);
    return;
  }
  if (dbc->messages == OD_DBC_MOST_MESSAGES) {
    od_dbc_add_error(&r->scan, place.line, place.column,
                     "the file has more than 65536 messages, the largest allowed number");
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
  const char *p = r->scan.now.text, *end = p + r->scan.now.length;
  if (r->scan.failed || r->scan.now.kind != OD_TOKEN_WORD) return;
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
    od_dbc_expected(&r->scan, "':', 'M', or 'm' with the value of the multiplexor");
  else
    od_dbc_advance(&r->scan);
}

// SG_ name multiplexing : start|length@order sign (factor,offset) [min|max] "unit" receivers
static void read_signal(reader *r) {
  od_dbc_advance(&r->scan);
  od_dbc_signal s = {.line = r->scan.now.line, .column = r->scan.now.column, .by = -1, .spn = -1, .comment = ""};
  s.name = od_dbc_take_name(&r->scan, "the name of a signal");
  if (!od_dbc_is_sign(&r->scan, ':')) read_multiplexing(r, &s);
  od_dbc_pass_sign(&r->scan, ':');
  s.start = (int)od_dbc_take_integer(&r->scan, 0, 8 * OD_DBC_LONGEST - 1, "the start bit, an integer from 0 to 14279");
  od_dbc_pass_sign(&r->scan, '|');
  s.length = (int)od_dbc_take_integer(&r->scan, 1, 8 * OD_DBC_LONGEST, "the number of bits, an integer from 1");
  od_dbc_pass_sign(&r->scan, '@');
  s.is_motorola = od_dbc_take_integer(&r->scan, 0, 1, "the byte order: 0 (Motorola) or 1 (Intel)") == 0;
  if (!r->scan.failed && !od_dbc_is_sign(&r->scan, '+') && !od_dbc_is_sign(&r->scan, '-'))
    od_dbc_expected(&r->scan, "'+' (unsigned) or '-' (signed)");
  s.number = od_dbc_is_sign(&r->scan, '-') ? OD_DBC_SIGNED : OD_DBC_UNSIGNED;
  if (!r->scan.failed) od_dbc_advance(&r->scan);
  od_dbc_pass_sign(&r->scan, '(');
  s.factor = od_dbc_take_number(&r->scan, "the factor");
  od_dbc_pass_sign(&r->scan, ',');
  s.offset = od_dbc_take_number(&r->scan, "the offset");
  od_dbc_pass_sign(&r->scan, ')');
  od_dbc_pass_sign(&r->scan, '[');
  s.min = od_dbc_take_number(&r->scan, "the least value");
  od_dbc_pass_sign(&r->scan, '|');
  s.max = od_dbc_take_number(&r->scan, "the largest value");
  od_dbc_pass_sign(&r->scan, ']');
  if (r->scan.now.kind == OD_TOKEN_STRING && !r->scan.failed && !od_dbc_is_short(&r->scan)) return;
  s.unit = od_dbc_take_text(&r->scan);
  while (!r->scan.failed && !r->scan.now.is_first &&
         (r->scan.now.kind == OD_TOKEN_WORD || od_dbc_is_sign(&r->scan, ',')))
    od_dbc_advance(&r->scan);  // receivers
  if (r->scan.failed || !r->in_message) return;
  int message = r->dbc->messages - 1;
  uint64_t key = name_key(message, s.name);
  if (od_key_map_find(&r->by_name, key) >= 0) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "message '%.60s' already has a signal '%.60s'; expected different names",
            r->dbc->message[message].name, s.name);
    od_dbc_add_error(&r->scan, s.line, s.column, e.text);
    return;
  }
  if (r->signals == OD_DBC_MOST_SIGNALS) {
    od_dbc_add_error(&r->scan, s.line, s.column, "the file has more than 262144 signals, the largest allowed number");
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
  od_dbc_advance(&r->scan);
  bool of_message = od_dbc_is_word(&r->scan.now, "BO_"), of_signal = od_dbc_is_word(&r->scan.now, "SG_");
  if (!of_message && !of_signal) {
    while (r->scan.now.kind != OD_TOKEN_STRING && r->scan.now.kind != OD_TOKEN_END && !od_dbc_is_sign(&r->scan, ';'))
      od_dbc_advance(&r->scan);
    od_dbc_take_text(&r->scan);
    return;
  }
  od_dbc_advance(&r->scan);
  uint32_t id = od_dbc_take_id(&r->scan);
  const char *name = of_signal ? od_dbc_take_name(&r->scan, "the name of a signal") : "",
             *text = od_dbc_take_text(&r->scan);
  if (r->scan.failed) return;
  od_dbc_message *m = of_message ? find_message(r, id) : NULL;
  od_dbc_signal *s = of_signal ? find_signal(r, id, name) : NULL;
  if (m) m->comment = text;
  if (s) s->comment = text;
}

// Reads pairs of a raw value and its name, up to a semicolon or the end of the line. *count: number of pairs. The arena owns the list.
static od_dbc_value *read_values(reader *r, int *count) {
  od_dbc_value *list = NULL;
  *count = 0;
  while (!r->scan.failed && !od_dbc_is_sign(&r->scan, ';') && !r->scan.now.is_first) {
    double raw = od_dbc_take_number(&r->scan, "a value or ';'");
    const char *name = od_dbc_take_text(&r->scan);
    if (r->scan.failed) break;
    if (++r->values > MOST_VALUES) {
      od_dbc_add_error(&r->scan, r->scan.now.line, r->scan.now.column,
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
  od_dbc_advance(&r->scan);
  if (r->scan.now.kind == OD_TOKEN_WORD) {  // the values of an environment variable are skipped
    od_dbc_advance(&r->scan);
    read_values(r, &count);
    return;
  }
  uint32_t id = od_dbc_take_id(&r->scan);
  const char *name = od_dbc_take_name(&r->scan, "the name of a signal");
  od_dbc_value *values = read_values(r, &count);
  od_dbc_signal *s = r->scan.failed ? NULL : find_signal(r, id, name);
  if (!s) return;
  if (count > 1) qsort(values, (size_t)count, sizeof *values, by_raw);
  s->value = values;
  s->values = count;
}

// Finds a signal that a statement names. NULL: there is no such signal. A signal that a message of the file does not have is an error; a
// message that the file does not have is not an error.
static od_dbc_signal *take_signal(reader *r, uint32_t *id) {
  *id = od_dbc_take_id(&r->scan);
  od_dbc_token place = r->scan.now;
  const char *name = od_dbc_take_name(&r->scan, "the name of a signal");
  if (r->scan.failed) return NULL;
  const od_dbc_message *m = find_message(r, *id);
  od_dbc_signal *s = find_signal(r, *id, name);
  if (m && !s) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "message '%.60s' has no signal '%.60s'; expected a signal of this message", m->name,
            name);
    od_dbc_add_error(&r->scan, place.line, place.column, e.text);
  }
  return s;
}

// SIG_VALTYPE_ id name : type;
static void read_number_type(reader *r) {
  uint32_t id;
  od_dbc_advance(&r->scan);
  od_dbc_signal *s = take_signal(r, &id);
  if (od_dbc_is_sign(&r->scan, ':')) od_dbc_advance(&r->scan);
  int64_t type = od_dbc_take_integer(&r->scan, 0, 3, "a type of numbers: 0 (integer), 1 (float) or 2 (double)");
  if (r->scan.failed || !s) return;
  if (type == 1) s->number = OD_DBC_FLOAT;
  if (type == 2) s->number = OD_DBC_DOUBLE;
}

// SG_MUL_VAL_ id name switch from-to, from-to;
static void read_switch_values(reader *r) {
  uint32_t id;
  od_dbc_range *list = NULL;
  int count = 0;
  od_dbc_advance(&r->scan);
  od_dbc_signal *s = take_signal(r, &id);
  od_dbc_token place = r->scan.now;
  const char *name = od_dbc_take_name(&r->scan, "the name of a multiplexor");
  while (!r->scan.failed && !od_dbc_is_sign(&r->scan, ';')) {
    od_dbc_range range = {.from = od_dbc_take_raw(&r->scan)};
    od_dbc_pass_sign(&r->scan, '-');
    range.to = od_dbc_take_raw(&r->scan);
    if (r->scan.failed) return;
    if (++r->values > MOST_VALUES) {
      od_dbc_add_error(&r->scan, place.line, place.column,
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
    if (od_dbc_is_sign(&r->scan, ',')) od_dbc_advance(&r->scan);
  }
  if (r->scan.failed || !s) return;
  int message = od_key_map_find(&r->by_id, id), by = od_key_map_find(&r->by_name, name_key(message, name));
  if (by < 0 || strcmp(r->signal[by].name, name) != 0 || !r->signal[by].is_switch) {
    od_error e;
    od_fail(&e, OD_BAD_INPUT, "'%.60s' is not a multiplexor of message '%.60s'; expected a signal with the mark 'M'",
            name, r->dbc->message[message].name);
    od_dbc_add_error(&r->scan, place.line, place.column, e.text);
    return;
  }
  s->by = by - r->first[message];
  s->range = list;
  s->ranges = od_dbc_join_ranges(list, count);
  s->needs_switch = true;
}

static frame_format format_of(const od_dbc_token *t) {
  if (od_dbc_is_string(t, "J1939PG")) return J1939_FORMAT;
  return t->length > 3 && !memcmp(t->text + t->length - 3, "_FD", 3) ? FD_FORMAT : PLAIN_FORMAT;
}

static protocol protocol_of(const od_dbc_token *t) {
  char text[16] = "";
  for (size_t i = 0; i < t->length && i + 1 < sizeof text; i++) text[i] = (char)toupper((unsigned char)t->text[i]);
  if (t->length == 0 || t->kind != OD_TOKEN_STRING) return UNKNOWN_PROTOCOL;
  if (!strncmp(text, "J1939", 5)) return J1939_PROTOCOL;
  return !strncmp(text, "NMEA", 4) ? NMEA_PROTOCOL : PLAIN_PROTOCOL;
}

// BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
static void read_attribute_definition(reader *r) {
  od_dbc_advance(&r->scan);
  if (r->scan.now.kind == OD_TOKEN_WORD) od_dbc_advance(&r->scan);
  bool is_format = od_dbc_is_string(&r->scan.now, "VFrameFormat");
  od_dbc_take_text(&r->scan);
  for (int i = 0; is_format && r->scan.now.kind != OD_TOKEN_END && !od_dbc_is_sign(&r->scan, ';') && i < 16;
       od_dbc_advance(&r->scan))
    if (r->scan.now.kind == OD_TOKEN_STRING) r->formats[i++] = format_of(&r->scan.now);
}

// BA_DEF_DEF_ "VFrameFormat" "J1939PG";
static void read_attribute_default(reader *r) {
  od_dbc_advance(&r->scan);
  bool is_format = od_dbc_is_string(&r->scan.now, "VFrameFormat"),
       is_protocol = od_dbc_is_string(&r->scan.now, "ProtocolType");
  od_dbc_take_text(&r->scan);
  if (r->scan.failed) return;
  if (is_format && r->scan.now.kind == OD_TOKEN_STRING) r->default_format = format_of(&r->scan.now);
  if (is_protocol && r->protocol == UNKNOWN_PROTOCOL) r->protocol = protocol_of(&r->scan.now);
}

// Reads the long name of a message or a signal. is_known: whether the file contains the message or signal. A second signal with the same
// name keeps its abbreviation.
static void read_long_name(reader *r, int message, int signal, bool is_known) {
  if (r->scan.now.kind == OD_TOKEN_STRING && !od_dbc_is_short(&r->scan)) return;
  const char *name = od_dbc_take_text(&r->scan);
  if (r->scan.failed || !is_known || !name[0]) return;
  if (signal >= 0) {
    uint64_t key = name_key(message, name);
    if (od_key_map_find(&r->by_name, key) >= 0) return;
    if (!od_key_map_add(&r->by_name, key, signal)) memory_ends(r);
  }
  void *list = od_arena_extend(&r->dbc->arena, r->long_name, r->long_names, sizeof *r->long_name);
  if (!list) return;
  r->long_name = list;
  r->long_name[r->long_names++] = (long_name){message, signal, name};
}

// BA_ "name" [BO_ id | SG_ id name | ...] value;
static void read_attribute(reader *r) {
  od_dbc_advance(&r->scan);
  od_dbc_token name = r->scan.now;
  od_dbc_take_text(&r->scan);
  if (r->scan.failed) return;
  if (r->scan.now.kind != OD_TOKEN_WORD) {
    if (od_dbc_is_string(&name, "ProtocolType")) r->protocol = protocol_of(&r->scan.now);
    return;
  }
  bool of_message = od_dbc_is_word(&r->scan.now, "BO_"), of_signal = od_dbc_is_word(&r->scan.now, "SG_");
  bool is_format = od_dbc_is_string(&name, "VFrameFormat"), is_cycle = od_dbc_is_string(&name, "GenMsgCycleTime");
  bool is_spn = od_dbc_is_string(&name, "SPN");
  bool is_name = od_dbc_is_string(&name, of_message ? "SystemMessageLongSymbol" : "SystemSignalLongSymbol");
  if (!(of_message && (is_format || is_cycle || is_name)) && !(of_signal && (is_spn || is_name))) return;
  od_dbc_advance(&r->scan);
  uint32_t id = od_dbc_take_id(&r->scan);
  od_dbc_signal *s = of_signal ? find_signal(r, id, od_dbc_take_name(&r->scan, "the name of a signal")) : NULL;
  od_dbc_message *m = of_message && !r->scan.failed ? find_message(r, id) : NULL;
  if (is_name) {
    read_long_name(r, od_key_map_find(&r->by_id, id), s ? (int)(s - r->signal) : -1, m || s);
    return;
  }
  if (m && is_format && r->scan.now.kind == OD_TOKEN_STRING) {
    r->format[m - r->dbc->message] = format_of(&r->scan.now);
    return;
  }
  double value = od_dbc_take_number(&r->scan, "a value");
  if (r->scan.failed) return;
  if (s && value >= 0 && value < 1e9) s->spn = (int)value;
  if (m && is_cycle) m->cycle = value > 0 ? value * 1e-3 : 0;
  if (m && is_format && value >= 0 && value < 16) r->format[m - r->dbc->message] = r->formats[(int)value];
}

// NS_ : a list of keywords, one per line.
static void skip_keywords(reader *r) {
  od_dbc_advance(&r->scan);
  while (r->scan.now.kind != OD_TOKEN_END) {
    od_dbc_advance(&r->scan);
    reader ahead = *r;
    od_dbc_advance(&ahead.scan);
    bool is_alone = r->scan.now.is_first && ahead.scan.now.is_first;
    if (r->scan.now.kind != OD_TOKEN_END && r->scan.now.is_first && !is_alone) return;
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
  while (i < KEYWORDS && !(r->scan.now.is_first && od_dbc_is_word(&r->scan.now, keywords[i].word))) i++;
  return i;
}

static void read_statements(reader *r) {
  od_dbc_advance(&r->scan);
  while (r->scan.now.kind != OD_TOKEN_END && r->scan.errors < MOST_ERRORS && od_arena_status(&r->dbc->arena) == OD_OK) {
    int i = keyword_at(r);
    r->scan.failed = false;
    if (i < KEYWORDS && keywords[i].read) {
      keywords[i].read(r);
      if (!r->scan.failed && od_dbc_is_sign(&r->scan, ';')) od_dbc_advance(&r->scan);
      // Statements continue with parts that are not needed.
      bool is_whole = keyword_at(r) < KEYWORDS || r->scan.now.is_first || r->scan.now.kind == OD_TOKEN_END;
      if (is_whole) continue;
    } else {
      od_dbc_advance(&r->scan);
    }
    while (r->scan.now.kind != OD_TOKEN_END && keyword_at(r) == KEYWORDS) od_dbc_advance(&r->scan);
  }
}

// --- The whole file -----------------------------------------------------------------------------------------------------

// Replaces the abbreviations by the long names after all statements were read, because statements refer to the abbreviations.
static void put_long_names(reader *r) {
  for (int i = 0; i < r->long_names; i++) {
    const long_name *n = &r->long_name[i];
    if (n->signal >= 0)
      r->signal[n->signal].name = n->name;
    else
      r->dbc->message[n->message].name = n->name;
  }
}

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
  // The format of the message itself has priority, but a frame that is not CAN FD cannot have more than 8 bytes.
  bool is_single = r->format[index] == FD_FORMAT || (r->format[index] == PLAIN_FORMAT && m->length <= 8);
  if (is_single) m->is_j1939 = false;
  // Groups of NMEA 2000. Proprietary groups may also be groups of SAE J1939.
  bool is_nmea_page = pgn >= 0x1ed00 && pgn <= 0x1ffff, is_proprietary = pgn == 0x1ef00 || pgn >= 0x1ff00;
  bool is_nmea_group = is_nmea_page && (r->protocol != J1939_PROTOCOL || (m->length > 8 && !is_proprietary));
  m->is_nmea = m->is_j1939 && (r->protocol == NMEA_PROTOCOL || is_nmea_group);
  m->is_fast = m->is_nmea && m->length > 8;
}

static od_status report(const reader *r, od_error *err) {
  const char *what = r->scan.errors >= MOST_ERRORS ? "errors or more" : "errors";
  int shown = 1;
  for (const char *p = r->scan.text; *p; p++) shown += *p == '\n';
  if (r->scan.errors == shown) return od_fail(err, OD_BAD_INPUT, "%s", r->scan.text);
  return od_fail(err, OD_BAD_INPUT, "%s\n%s: %d %s in all", r->scan.text, r->scan.path, r->scan.errors, what);
}

static od_status read_text(od_dbc *dbc, const char *text, size_t length, od_error *err) {
  reader r = {
      .scan =
          {.path = dbc->path, .at = text, .end = text + length, .line_start = text, .line = 1, .arena = &dbc->arena},
      .dbc = dbc};
  static const frame_format usual[16] = {PLAIN_FORMAT, PLAIN_FORMAT, PLAIN_FORMAT, J1939_FORMAT};
  memcpy(r.formats, usual, sizeof usual);
  if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r.scan.at += 3, r.scan.line_start += 3;
  read_statements(&r);
  put_long_names(&r);
  for (int i = 0; r.scan.errors == 0 && i < dbc->messages; i++) finish_message(&r, i);
  od_key_map_free(&r.by_id);
  od_key_map_free(&r.by_name);
  if (od_arena_status(&dbc->arena) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", dbc->path);
  if (r.scan.errors > 0) return report(&r, err);
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
