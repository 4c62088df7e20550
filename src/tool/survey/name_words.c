#include "survey/name_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

// --- Words --------------------------------------------------------------------------------------------------------

static bool is_upper(char c) {
  return isupper((unsigned char)c) != 0;
}
static bool is_lower(char c) {
  return islower((unsigned char)c) != 0;
}
static bool is_digit(char c) {
  return isdigit((unsigned char)c) != 0;
}
static bool is_letter(char c) {
  return isalpha((unsigned char)c) != 0;
}

// Returns whether a new word begins at a letter or digit c.
static bool begins_word(char before, char c, char after) {
  if (!is_letter(before) && !is_digit(before)) return true;
  if (is_digit(before) != is_digit(c)) return true;
  if (is_lower(before) && is_upper(c)) return true;
  return is_upper(before) && is_upper(c) && is_lower(after);
}

// Returns the number of letters up to the next other character if they are a unit in its usual spelling, such as "kPa" or "kNm"; else 0.
static size_t unit_length(const char *text) {
  char word[OD_WORD_SIZE] = "";
  size_t n = 0, k = 0;
  for (; is_letter(text[n]); n++)
    if (n + 1 < sizeof word) word[n] = text[n];
  const char *unit = n < sizeof word && !is_digit(text[n]) ? od_word_unit(word, false) : NULL;
  for (; unit && *unit; unit++)
    if (*unit != ' ' && *unit != word[k++]) return 0;
  return unit ? n : 0;
}

od_name_words od_name_words_of(const char *name) {
  od_name_words w = {.count = 0};
  size_t length = 0, unit = 0;  // unit: number of further letters of a unit
  for (size_t i = 0; name[i] != '\0'; i++) {
    if (!is_letter(name[i]) && !is_digit(name[i])) continue;
    if (unit > 0) {
      unit--;
    } else if (begins_word(i > 0 ? name[i - 1] : ' ', name[i], name[i + 1])) {
      if (w.count == OD_MOST_WORDS) break;
      w.count++;
      length = 0;
      unit = unit_length(name + i);
      unit -= unit > 0;
    }
    if (length + 1 < OD_WORD_SIZE) w.word[w.count - 1][length++] = name[i];
  }
  return w;
}

// --- Similarity ---------------------------------------------------------------------------------------------------

// Words with the same meaning, also German words. A word may be in several lists.
static const char *const synonyms[][16] = {
    {"pressure", "press", "pres", "prs", "p", "druck"},
    {"length", "len", "lng", "stroke", "extension", "ext", "travel", "displacement", "disp", "position", "pos", "x",
     "s", "l", "weg"},
    {"angle", "ang", "winkel", "phi", "theta", "rotation", "rot", "position", "pos"},
    {"rate", "speed", "spd", "velocity", "vel", "v", "omega", "rpm", "drehzahl", "geschwindigkeit"},
    {"acceleration", "acc", "accel"},
    {"force", "frc", "f", "kraft"},
    {"torque", "trq", "tq", "moment", "m"},
    {"flow", "flw", "q", "volumenstrom"},
    {"spool", "spl", "position", "pos"},
    {"opening", "open", "opn"},
    {"cylinder", "cyl", "ram", "actuator", "jack", "zylinder"},
    {"valve", "vlv", "dcv", "ventil"},
    {"pump", "pmp", "pumpe"},
    {"target", "tgt", "ref", "reference", "setpoint", "sp", "cmd", "command", "wanted", "desired", "demand", "soll",
     "sollwert"},
    {"lever", "joystick", "handle", "joy"},
    {"tank", "t", "return", "reservoir"},
    {"supply", "system", "sys", "p"},
    {"temperature", "temp", "tmp", "temperatur"},
    {"pivot", "pin", "joint"},
    {"power", "pow", "pwr"},
};

static bool is_among(const char *const *list, const char *word) {
  for (; *list; list++)
    if (!strcasecmp(*list, word)) return true;
  return false;
}

static bool are_synonyms(const char *a, const char *b) {
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (is_among(synonyms[i], a) && is_among(synonyms[i], b)) return true;
  return false;
}

// Returns whether the letters of `part` occur in `whole` in the same order, with the same first letter.
static bool is_abbreviation(const char *part, const char *whole) {
  if (tolower((unsigned char)*part) != tolower((unsigned char)*whole)) return false;
  for (; *part && *whole; whole++) part += tolower((unsigned char)*part) == tolower((unsigned char)*whole);
  return *part == '\0';
}

// Returns whether two words of equal length differ in one letter, or by an exchange of neighboring letters.
static bool differ_by_one(const char *a, const char *b, size_t length) {
  size_t first = 0, last = length;
  while (first < length && tolower((unsigned char)a[first]) == tolower((unsigned char)b[first])) first++;
  while (last > first && tolower((unsigned char)a[last - 1]) == tolower((unsigned char)b[last - 1])) last--;
  return last - first <= 1 ||
         (last - first == 2 && tolower((unsigned char)a[first]) == tolower((unsigned char)b[first + 1]) &&
          tolower((unsigned char)a[first + 1]) == tolower((unsigned char)b[first]));
}

double od_word_similarity(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (!strcmp(a, b)) return 1;
  if (!strcasecmp(a, b)) return n == 1 ? 0.85 : 1;
  if (is_digit(*a) || is_digit(*b)) return 0;
  if (are_synonyms(a, b)) return n == 1 || m == 1 ? 0.8 : 0.9;
  size_t shorter = n < m ? n : m;
  if (shorter >= 2 && !strncasecmp(a, b, shorter)) return shorter >= 3 ? 0.9 : 0.75;
  if (n >= 2 && n < m && is_abbreviation(a, b)) return n >= 3 ? 0.8 : 0.55;
  if (n == m && n >= 5 && differ_by_one(a, b, n)) return 0.85;
  return 0;
}

// --- Units --------------------------------------------------------------------------------------------------------

const char *od_word_unit(const char *word, bool is_last) {
  static const char *const units[][2] = {
      {"bar", "bar"},   {"mbar", "mbar"}, {"psi", "psi"}, {"mpa", "MPa"},   {"kpa", "kPa"},   {"pa", "Pa"},
      {"mm", "mm"},     {"cm", "cm"},     {"um", "um"},   {"deg", "deg"},   {"rad", "rad"},   {"rpm", "rpm"},
      {"lpm", "l/min"}, {"kn", "kN"},     {"nm", "N m"},  {"knm", "kN m"},  {"mv", "mV"},     {"volt", "V"},
      {"volts", "V"},   {"ma", "mA"},     {"pct", "%"},   {"percent", "%"}, {"degc", "degC"}, {"celsius", "degC"},
      {"kg", "kg"},     {"hz", "Hz"},     {"kw", "kW"},   {"mps", "m/s"}};
  static const char *const letters[] = {"m", "V", "A", "N", "W", "K"};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (!strcasecmp(units[i][0], word)) return units[i][1];
  for (size_t i = 0; is_last && i < sizeof letters / sizeof *letters; i++)
    if (!strcmp(letters[i], word)) return letters[i];
  return NULL;
}

bool od_word_is_empty(const char *word) {
  static const char *const empty[] = {"sensor", "signal", "sig", "value", "val",  "meas", "measured", "actual",
                                      "act",    "raw",    "of",  "the",   "side", "ch",   "channel",  NULL};
  return is_among(empty, word);
}
