// The table of units and its grammar. Oracle: UDUNITS-2, an independent program with an independent database. It parses the
// same texts: every name of the table with every prefix, random products, and every quantity in cases, documents and tests.
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <udunits2.h>

#include "document/unit_parse.h"

static ut_system *oracle;

static int setup(void **state) {
  (void)state;
  ut_set_error_message_handler(ut_ignore);
  oracle = ut_read_xml(NULL);
  if (oracle == NULL) return -1;
  // Names of this project that UDUNITS does not have.
  static const char *const own[][2] = {{"deg", "arc_degree"}, {"rev", "turn"}, {"Nm", "N m"}, {"revolution", "turn"}};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    ut_unit *unit = ut_parse(oracle, own[i][1], UT_ASCII);
    ut_map_symbol_to_unit(own[i][0], UT_ASCII, unit);
    ut_free(unit);
  }
  return 0;
}

static int teardown(void **state) {
  (void)state;
  ut_free_system(oracle);
  return 0;
}

// Compares a known unit with UDUNITS: dimension, factor and offset.
static void compare(const char *text, const od_unit *unit, ut_unit *theirs) {
  static const char *const base[OD_UNIT_BASES] = {"m", "kg", "s", "A", "K", "mol", "cd", "rad"};
  char si[200] = "1";
  int at = 0;
  for (int i = 0; i < OD_UNIT_BASES; i++)
    if (unit->power[i] != 0)
      at += snprintf(si + at, sizeof si - (size_t)at, at ? ".%s%d" : "%s%d", base[i], unit->power[i]);
  ut_unit *target = ut_parse(oracle, si, UT_ASCII);
  assert_non_null(target);
  cv_converter *converter = ut_get_converter(theirs, target);
  if (converter == NULL) fail_msg("'%s' is not in %s", text, si);
  double offset = cv_convert_double(converter, 0), factor = cv_convert_double(converter, 1) - offset;
  double own = unit->factor / unit->divisor;
  if (!(fabs(own - factor) <= 1e-14 * factor + 1e-15 * fabs(offset)) ||
      !(fabs(unit->offset - offset) <= 1e-12 * fabs(offset)))
    fail_msg("'%s' is %.17g %s + %.17g, expected %.17g + %.17g", text, own, si, unit->offset, factor, offset);
  cv_free(converter);
  ut_free(target);
}

// Names that mean something else for UDUNITS, or that are more accurate here than in its database.
static bool differs_on_purpose(const char *name) {
  static const char *const names[] = {
      "hp",  "oz",   "slug",  // 550 ft lbf/s, 1/16 lb and lbf s2/ft; UDUNITS rounds to seven digits
      "BTU", "mmHg", "torr", "PS", "eV", "knot", "kip", "US_liquid_gallon", "degR", "C", "Ω", "mil"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static void test_names(void **state) {
  (void)state;
  int count, compared = 0;
  const od_unit_name *name = od_unit_names(&count);
  static const char *const prefix[] = {"", "k", "m", "M", "µ", "c", "d", "h", "G", "n"};
  for (int i = 0; i < count; i++)
    for (size_t k = 0; k < (name[i].prefixed ? sizeof prefix / sizeof *prefix : 1); k++) {
      char text[60];
      snprintf(text, sizeof text, "%s%s", prefix[k], name[i].name);
      od_unit unit;
      if (!od_unit_parse(text, &unit)) fail_msg("'%s' is unknown", text);
      ut_unit *theirs = differs_on_purpose(name[i].name) ? NULL : ut_parse(oracle, text, UT_UTF8);
      // "dt" or "cd" may have two meanings; the unit without a prefix decides.
      if (theirs != NULL && (k == 0 || strlen(name[i].name) > 1)) compare(text, &unit, theirs), compared++;
      ut_free(theirs);
    }
  assert_true(compared > 250);
}

// Exact definitions, where UDUNITS has rounded numbers or another meaning.
static void test_definitions(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double factor, offset;
  } expected[] = {
      {"bara", 1e5, 0},
      {"psi", 6894.757293168361, 0},
      {"US_gal", 231 * 0.0254 * 0.0254 * 0.0254, 0},
      {"imp_gal", 4.54609e-3, 0},
      {"hp", 745.6998715822702, 0},
      {"PS", 735.49875, 0},
      {"cSt", 1e-6, 0},
      {"lbf", 4.4482216152605, 0},
      {"ft lbf", 1.3558179483314004, 0},
      {"lb-ft", 0.138254954376, 0},
      {"cm3/rev", 1e-6 / (2 * 3.14159265358979323846), 0},
      {"degF", 5.0 / 9, 255.3722222222222},
      {"kWh", 3.6e6, 0},
      {"mmHg", 133.322387415, 0},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    od_unit unit;
    if (!od_unit_parse(expected[i].text, &unit)) fail_msg("'%s' is unknown", expected[i].text);
    near_relative(unit.factor / unit.divisor, expected[i].factor, 4e-16);
    near_relative(unit.offset, expected[i].offset, 4e-16);
  }
}

static void test_rejected(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      " ",
                                      "m 2",
                                      "3 m",
                                      "m//s",
                                      "m^",
                                      "()",
                                      "(m",
                                      "m)",
                                      "m/2",
                                      "2",
                                      "m^2^3",
                                      "mmm",
                                      "kkg",
                                      "kmin",
                                      "m0",
                                      "m^99",
                                      "degC/s",
                                      "1/degC",
                                      "degC2",
                                      "barg",
                                      "psig",
                                      "lpm",
                                      "gal",
                                      "Kg",
                                      "\xff",
                                      "m @ 3",
                                      "m\n",
                                      "per s",
                                      "s per",
                                      "(((((((((((((((m)))))))))))))))"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    od_unit unit;
    if (od_unit_parse(texts[i], &unit)) fail_msg("'%s' is accepted", texts[i]);
  }
  assert_string_equal(od_units_suggest("lpm"), "l/min");
  assert_string_equal(od_units_suggest("Kg"), "kg");
  assert_string_equal(od_units_suggest("barg"), "bara");
  assert_string_equal(od_units_suggest("gal"), "US_gal' or 'imp_gal");
}

// Random products, quotients and powers of common units.
static void test_products(void **state) {
  (void)state;
  static const char *const unit[] = {"m",   "mm",  "kg",  "s",   "ms",  "N",  "kN", "bar", "l",
                                     "min", "rad", "deg", "rpm", "psi", "in", "Hz", "W",   "%"};
  static const char *const power[] = {"", "2", "^2", "**3", "-1", "²", "^-2", "³"};
  static const char *const between[] = {" ", "/", ".", "*", "·", " / ", " per "};
  unsigned random = 1;
  for (int trial = 0; trial < 3000; trial++) {
    char text[200] = "";
    int count = 1 + trial % 4, at = 0;
    bool group = trial % 3 == 0 && count > 2;
    for (int i = 0; i < count; i++) {
      int draw[3];
      for (int k = 0; k < 3; k++) draw[k] = (int)((random = random * 1103515245u + 12345u) >> 16 & 0x7fff);
      at += snprintf(text + at, sizeof text - (size_t)at, "%s%s%s%s%s", i ? between[draw[0] % 7] : "",
                     group && i == 1 ? "(" : "", unit[draw[1] % 18], power[draw[2] % 8],
                     group && i == count - 1 ? ")" : "");
    }
    od_unit own;
    ut_unit *theirs = ut_parse(oracle, text, UT_UTF8);
    assert_non_null(theirs);
    if (!od_unit_parse(text, &own)) fail_msg("'%s' is not accepted", text);
    compare(text, &own, theirs);
    ut_free(theirs);
  }
}

// --- Quantities in files -------------------------------------------------------------------------------------------

// Compares the longest text after a number that UDUNITS accepts as a unit. Returns whether there is one.
static bool compare_after_number(const char *line) {
  char text[80];
  size_t length = 0;
  static const char *const words[] = {"a",   "e", "b", "u", "at", "as", "in",
                                      "min", "h", "t", "d", "c",  "pt"};  // words of prose
  while (line[length] != '\0' && strchr(",}]\"'#|`:;=<>\n\r", line[length]) == NULL && length < sizeof text - 1)
    length++;
  for (; length > 0; length--) {
    if ((line[length] | 32) >= 'a' && (line[length] | 32) <= 'z') continue;  // within a word
    memcpy(text, line, length);
    text[length] = '\0';
    if (strchr(" .", text[length - 1]) != NULL || (strchr(text, ')') != NULL && strchr(text, '(') == NULL)) continue;
    bool has_number = false;  // "2 m" is no unit here
    for (size_t i = 0; i < length; i++)
      has_number =
          has_number || (text[i] >= '0' && text[i] <= '9' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '/'));
    ut_unit *theirs = has_number ? NULL : ut_parse(oracle, text, UT_UTF8);
    if (theirs == NULL) continue;
    bool is_word = strncmp(text, "gauss", 5) == 0 || strcmp(text, "dynamic") == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      is_word =
          is_word || (strncmp(text, words[i], strlen(words[i])) == 0 && strchr(" ", text[strlen(words[i])]) != NULL);
    od_unit own;
    bool known = od_unit_parse(text, &own);
    if (known && !is_word && !differs_on_purpose(text)) compare(text, &own, theirs);
    ut_free(theirs);
    if (!known && !is_word) fail_msg("'%s' is a unit for UDUNITS and not in the table", text);
    return known;
  }
  return false;
}

static int compare_file(const char *path) {
  char line[1000];
  int found = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  bool is_look = false;
  while (fgets(line, sizeof line, file)) {
    // Letters in the paths of the section look are drawing commands.
    if (line[0] > ' ') is_look = strncmp(line, "look:", 5) == 0;
    if (is_look) continue;
    for (char *c = line; *c != '\0' && *c != '#'; c++)
      if (*c >= '0' && *c <= '9' && c[1] == ' ' && c[2] > ' ' && strchr("0123456789(/*+-=.%", c[2]) == NULL)
        found += compare_after_number(c + 2);
  }
  fclose(file);
  return found;
}

static int compare_folder(const char *folder, const char *ending) {
  DIR *dir = opendir(folder);
  if (dir == NULL) return 0;
  int found = 0;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    size_t length = strlen(path), own = strlen(ending);
    if (entry->d_name[0] == '.') continue;
    if (strcmp(path + length - own, ending) == 0)
      found += compare_file(path);
    else if (strchr(entry->d_name, '.') == NULL)
      found += compare_folder(path, ending);
  }
  closedir(dir);
  return found;
}

static void test_quantities_in_files(void **state) {
  (void)state;
  int found = compare_folder(OD_SOURCE_DIR "/cases", ".yaml") + compare_folder(OD_SOURCE_DIR "/tests", ".yaml");
  assert_true(found > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),    cmocka_unit_test(test_definitions),         cmocka_unit_test(test_rejected),
      cmocka_unit_test(test_products), cmocka_unit_test(test_quantities_in_files),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
