// DBC files: contents, texts in Latin-1 and UTF-8, unknown sections, errors. Oracle: the contents of the files below, by hand.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "formats/can_signal.h"
#include "formats/dbc.h"
#include "support/scratch.h"

static const char whole[] =
    "VERSION \"HNPBNYYYYYY\"\n\n"
    "NS_ : \n\tNS_DESC_\n\tCM_\n\tBA_DEF_\n\tBA_\n\tVAL_\n\tCAT_DEF_\n\tFILTER\n\tBA_DEF_DEF_\n\tEV_DATA_\n\tVAL_TABLE_\n"
    "\tSIG_GROUP_\n\tSIG_VALTYPE_\n\tBO_TX_BU_\n\tBA_REL_\n\tSG_MUL_VAL_\n\n"
    "BS_: 500000 : 12,34\n\nBU_: Engine Display Gateway\n"
    "VAL_TABLE_ Modes 1 \"on; BO_ 1 x: 8 y\" 0 \"off\" ;\n\n"
    "BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 Vector__XXX\n SG_ Orphan : 0|8@1+ (1,0) [0|0] \"\" Vector__XXX\n\n"
    "BO_ 2364540158 EEC1: 8 Engine\n"
    " SG_ EngineSpeed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\"  Display,Gateway\n"
    " SG_ Temperature : 7|8@0- (1e0,-4.0E+1) [-40|210] \"\xb0\x43\" Vector__XXX\n\n"
    "BO_ 100 Switched : 8 Vector__XXX\r\n"
    "\tSG_ Switch M : 0|4@1+ (1,0) [0|15] \"\" Display\r\n"
    "\tSG_ 2nd m11M: 8|8@1+(1,0)[0|0]\"\xc2\xb5m\" Display\r\n"
    "\tSG_ Third m3 :16|8@1+ (1,0) [0|0] \"a \\\"b\\\"\" Display\r\n\r\n"
    "BO_TX_BU_ 100 : Engine,Gateway;\n"
    "EV_ Env: 0 [0|0] \"\" 0 2 DUMMY_NODE_VECTOR0 Vector__XXX;\n"
    "FOO_ something \"new; text\nSG_ in a text\" 1 2;\n"
    "CM_ \"Comment of the file\";\n"
    "CM_ BU_ Engine \"the engine\";\n"
    "CM_ BO_ 100 \"two\nlines\";\n"
    "CM_ SG_ 2364540158 EngineSpeed \"actual speed\";\n"
    "CM_ SG_ 999 Unknown \"no such message\";\n"
    "BA_DEF_  \"ProtocolType\" STRING ;\n"
    "BA_DEF_ BO_  \"VFrameFormat\" ENUM  \"StandardCAN\",\"ExtendedCAN\",\"reserved\",\"J1939PG\";\n"
    "BA_DEF_ SG_  \"SPN\" INT 0 524287;\n"
    "BA_DEF_DEF_  \"VFrameFormat\" \"StandardCAN\";\n"
    "BA_DEF_DEF_  \"ProtocolType\" \"\";\n"
    "BA_ \"GenMsgCycleTime\" BO_ 2364540158 10;\n"
    "BA_ \"VFrameFormat\" BO_ 2364540158 3;\n"
    "BA_ \"SPN\" SG_ 2364540158 EngineSpeed 190;\n"
    "BA_ \"Other\" BU_ Engine \"x\";\n"
    "VAL_ 100 Switch 0 \"first\" 3 \"third\" -1 \"error\" ;\n"
    "VAL_ Env 0 \"zero\" ;\n"
    "SIG_GROUP_ 100 Group 1 : Switch 2nd;\n"
    "SIG_VALTYPE_ 100 Third : 0;\n"
    "SG_MUL_VAL_ 100 2nd Switch 13-14, 14-15, 11-11, 9-8;\n";

static od_dbc *read_text(scratch *s, const char *text) {
  od_dbc *dbc = NULL;
  od_error err = {0};
  if (od_dbc_read(scratch_put(s, "f.dbc", text), &dbc, &err) != OD_OK) fail_msg("%s", err.text);
  return dbc;
}

static void contents(void **state) {
  od_dbc *dbc = read_text(*state, whole);
  assert_int_equal(dbc->messages, 2);
  const od_dbc_message *m = &dbc->message[0];
  assert_string_equal(m->name, "EEC1");
  assert_string_equal(m->sender, "Engine");
  assert_int_equal(m->id, 0x0CF004FE);
  assert_true(m->is_extended && m->is_j1939 && !m->is_fast);
  assert_int_equal(m->length, 8);
  near(m->cycle, 0.01, 0);
  assert_int_equal(m->signals, 2);
  const od_dbc_signal *a = &m->signal[0], *b = &m->signal[1];
  assert_string_equal(a->name, "EngineSpeed");
  assert_string_equal(a->unit, "rpm");
  assert_string_equal(a->comment, "actual speed");
  assert_int_equal(a->spn, 190);
  assert_int_equal(a->start, 24);
  assert_int_equal(a->length, 16);
  assert_true(!a->is_motorola && a->number == OD_DBC_UNSIGNED && a->by == -1 && !a->flaw);
  near(a->factor, 0.125, 0);
  near(a->max, 8031.875, 0);
  assert_string_equal(b->unit, "\xc2\xb0\x43");  // from Latin-1
  assert_true(b->is_motorola && b->number == OD_DBC_SIGNED);
  near(b->offset, -40, 0);
  near(b->min, -40, 0);
  m = &dbc->message[1];
  assert_string_equal(m->comment, "two lines");
  assert_string_equal(m->sender, "");
  assert_true(!m->is_extended && !m->is_j1939);
  assert_int_equal(m->signals, 3);
  assert_true(m->signal[0].is_switch && m->signal[0].by == -1);
  assert_int_equal(m->signal[0].values, 3);
  assert_int_equal(m->signal[0].value[0].raw, -1);  // ascending
  assert_string_equal(m->signal[0].value[2].name, "third");
  assert_string_equal(m->signal[1].name, "2nd");
  assert_string_equal(m->signal[1].unit, "\xc2\xb5m");  // UTF-8
  assert_true(m->signal[1].is_switch && m->signal[1].by == 0 && m->signal[1].ranges == 2);
  assert_int_equal(m->signal[1].range[0].from, 11);  // ascending and disjoint, without empty ranges
  assert_int_equal(m->signal[1].range[0].to, 11);
  assert_int_equal(m->signal[1].range[1].from, 13);
  assert_int_equal(m->signal[1].range[1].to, 15);
  assert_string_equal(m->signal[2].unit, "a \"b\"");
  assert_true(m->signal[2].by == 0 && m->signal[2].ranges == 1 && m->signal[2].range[0].from == 3);
  od_dbc_free(dbc);
}

// Names and ranges are searched by bisection: 200000 frames with 200000 names and ranges. A linear search would need minutes.
static void many_names(void **state) {
  enum { MANY = 200000 };
  scratch *s = *state;
  char *text = malloc(40 * MANY), *at = text;
  at += sprintf(
      at, "BO_ 2566844158 J: 8 A\n SG_ s M : 0|32@1+ (1,0) [0|0] \"\" A\n SG_ a m0 : 32|8@1+ (1,0) [0|0] \"\" A\n");
  at += sprintf(at, "SG_MUL_VAL_ 2566844158 a s");
  for (int i = 0; i < MANY; i++) at += sprintf(at, "%s %u-%u", i ? "," : "", 5000000 - 2 * i, 5000000 - 2 * i);
  at += sprintf(at, ";\nVAL_ 2566844158 s");
  for (int i = 0; i < MANY; i++) at += sprintf(at, " %u \"state\"", 4294967295u - 2 * (unsigned)i);
  sprintf(at, ";\n");
  od_dbc *dbc = read_text(s, text);
  const od_dbc_signal *signal = dbc->message[0].signal;
  const od_can_signal_form form = od_can_signal_form_of(&dbc->message[0], &signal[0]);
  assert_int_equal(signal[0].values, MANY);
  assert_int_equal(signal[1].ranges, MANY);
  for (uint64_t raw = 4294967295u - 2 * MANY; raw <= 4294967295u; raw++) {  // a code without a name is missing
    double value = od_can_signal_value(&form, raw);
    bool is_named = raw % 2 == 1 && raw > 4294967295u - 2 * MANY;
    if (is_named ? value != (double)raw : !isnan(value)) fail_msg("%llu: %g", (unsigned long long)raw, value);
  }
  od_dbc_free(dbc);
  free(text);
}

// All prefixes and all files without one byte end with a database or a message. Sanitizers find the rest.
static void damaged(void **state) {
  scratch *s = *state;
  char text[sizeof whole];
  for (size_t n = 0; n < sizeof whole; n += 3)
    for (int removes = 0; removes < 2; removes++) {
      od_dbc *dbc = NULL;
      od_error err = {0};
      memcpy(text, whole, n);
      strcpy(text + n, removes && n + 1 < sizeof whole ? whole + n + 1 : "");
      od_status status = od_dbc_read(scratch_put(s, "f.dbc", text), &dbc, &err);
      assert_true((status == OD_OK) == (dbc != NULL));
      assert_true(status == OD_OK || (status == OD_BAD_INPUT && strstr(err.text, "f.dbc:")));
      od_dbc_free(dbc);
    }
}

static void fails(scratch *s, const char *text, const char *message) {
  od_dbc *dbc = NULL;
  od_error err = {0};
  char expected[600];
  snprintf(expected, sizeof expected, "%s%s", scratch_path(s, "f.dbc"), message);
  assert_int_equal(od_dbc_read(scratch_put(s, "f.dbc", text), &dbc, &err), OD_BAD_INPUT);
  assert_null(dbc);
  if (!strstr(err.text, expected)) fail_msg("'%s' is not in:\n%s", expected, err.text);
}

#define SIGNAL " SG_ a : 0|8@1+ (1,0) [0|1] \"\" X\n"

static void errors(void **state) {
  scratch *s = *state;
  fails(s, "", ": the file has no messages");
  fails(s, "BO_ x M: 8 X\n", ":1:5: found 'x', expected an identifier of a message");
  fails(s, "BO_ 4096 M: 8 X\n", ":1:5: the identifier is too large");
  fails(s, "BO_ 4294967296 M: 8 X\n", ":1:5: found '4294967296', expected an identifier");
  fails(s, "BO_ 1 M 8 X\n", ":1:9: found '8', expected ':'");
  fails(s, "BO_ 1 M: 2000 X\n", ":1:10: found '2000', expected a number of bytes from 0 to 1785");
  fails(s, "BO_ 1 M: 8 X\nBO_ 1 N: 8 X\n", ":2:5: message 'N' has the same identifier as message 'M' in line 1");
  fails(s, "BO_ 1 M: 8 X\n" SIGNAL SIGNAL, ":3:6: message 'M' already has a signal 'a'");
  fails(s, "BO_ 1 M: 8 X\n SG_ a q : 0|8@1+ (1,0) [0|1] \"\" X\n", ":2:8: found 'q', expected ':', 'M', or 'm'");
  fails(s, "BO_ 1 M: 8 X\n SG_ a : 0|8@2+ (1,0) [0|1] \"\" X\n", ":2:14: found '2', expected the byte order");
  fails(s, "BO_ 1 M: 8 X\n SG_ a : 0|8@1 (1,0) [0|1] \"\" X\n", ":2:16: found '(', expected '+'");
  fails(s, "BO_ 1 M: 8 X\n SG_ a : 0|8@1+ (1;0) [0|1] \"\" X\n", ":2:19: found ';', expected ','");
  fails(s, "BO_ 1 M: 8 X\n SG_ a : 0|8@1+ (1,0) [0|1] X\n", ":2:29: found 'X', expected a text in quotes");
  fails(s, "BO_ 1 M: 8 X\n SG_ a : 0|8@1+ (1,0) [0|1\n", ":3:1: found the end of the file, expected ']'");
  fails(s, "BO_ 1 M: 8 X\n" SIGNAL "CM_ \"never closed\n", ":3:5: the text has no closing quote");
  fails(s, "BO_ 1 M: 8 X\n" SIGNAL "SIG_VALTYPE_ 1 b : 1;\n", ":3:16: message 'M' has no signal 'b'");
  fails(s, "BO_ 1 M: 8 X\n" SIGNAL "SG_MUL_VAL_ 1 a a 1-1;\n", ":3:17: 'a' is not a multiplexor of message 'M'");
}

// A name of 255 bytes is allowed.
static void long_names(void **state) {
  scratch *s = *state;
  char name[257] = "", text[1000];
  memset(name, 'x', 255);
  snprintf(text, sizeof text, "BO_ 1 %s: 8 X\n" SIGNAL, name);
  od_dbc_free(read_text(s, text));
  name[255] = 'x';
  snprintf(text, sizeof text, "BO_ 1 %s: 8 X\n" SIGNAL, name);
  fails(s, text, ":1:7: the text has more than 255 bytes");
  snprintf(text, sizeof text, "BO_ 1 M: 8 X\n SG_ a : 0|8@1+ (1,0) [0|1] \"%s\" X\n", name);
  fails(s, text, ":2:29: the text has more than 255 bytes");
}

// Every error of a file is reported, up to the size of a message, and their number.
static void all_errors(void **state) {
  scratch *s = *state;
  fails(s, "BO_ x M: 8 X\nBO_ 1 M: y X\n" SIGNAL "VAL_ 1 a 2 3;\n", ":1:5: found 'x'");
  fails(s, "BO_ x M: 8 X\nBO_ 1 M: y X\n" SIGNAL "VAL_ 1 a 2 3;\n", ":2:10: found 'y'");
  fails(s, "BO_ x M: 8 X\nBO_ 1 M: y X\n" SIGNAL "VAL_ 1 a 2 3;\n", ":4:12: found '3'");
  char text[20000] = "";
  for (int i = 0; i < 1500; i++) strcat(text, "BO_ x\n");
  fails(s, text, ": 1000 errors or more in all");
  text[60] = '\0';
  fails(s, text, ": 10 errors in all");
}

// Signals that cannot be read have a flaw; the other signals of the file are usable.
static void flaws(void **state) {
  scratch *s = *state;
  od_dbc *dbc =
      read_text(s,
                "BO_ 1 M: 2 X\n SG_ a : 9|8@1+ (1,0) [0|1] \"\" X\n SG_ b : 0|16@1+ (1,0) [0|1] \"\" X\n"
                " SG_ c m1 : 0|8@1+ (1,0) [0|1] \"\" X\n SG_ d : 0|8@0+ (1,0) [0|1] \"\" X\n"
                " SG_ e : 7|16@0+ (1,0) [0|1] \"\" X\n SG_ f : 6|16@0+ (1,0) [0|1] \"\" X\n"
                "BO_ 2 N: 9 X\n SG_ a : 0|65@1+ (1,0) [0|1] \"\" X\n SG_ b : 0|16@1+ (1,0) [0|1] \"\" X\n"
                "BO_ 3 O: 8 X\n SG_ a m1M : 0|8@1+ (1,0) [0|1] \"\" X\n SG_ b m1M : 8|8@1+ (1,0) [0|1] \"\" X\n"
                "SIG_VALTYPE_ 2 b : 1;\nSG_MUL_VAL_ 3 a b 1-1;\nSG_MUL_VAL_ 3 b a 1-1;\n");
  const od_dbc_signal *a = dbc->message[0].signal, *b = dbc->message[1].signal, *c = dbc->message[2].signal;
  assert_non_null(strstr(a[0].flaw, "f.dbc:2:6: signal 'a' of message 'M' ends after the last byte of the message"));
  assert_null(a[1].flaw);
  assert_non_null(strstr(a[2].flaw, "the message has no multiplexor"));
  assert_null(a[3].flaw);
  assert_null(a[4].flaw);
  assert_non_null(strstr(a[5].flaw, "ends after the last byte"));
  assert_non_null(strstr(b[0].flaw, "more than 64 bits"));
  assert_non_null(strstr(b[1].flaw, "is a float, but does not have 32 bits"));
  assert_non_null(strstr(c[0].flaw, "depends on itself"));
  assert_non_null(strstr(c[1].flaw, "depends on itself"));
  od_dbc_free(dbc);
}

// Vector tools write names of more than 32 characters as attributes. Oracle: cantools 39, for files of its own tests.
static void long_symbols(void **state) {
  static const char text[] =
      "BO_ 5 Short_0000: 8 A\n SG_ One_0000 : 0|8@1+ (1,0) [0|0] \"\" A\n SG_ Two_0000 : 8|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ Three : 16|8@1+ (1,0) [0|0] \"\" A\n SG_ Four : 24|8@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ SG_ \"SystemSignalLongSymbol\" STRING ;\nBA_DEF_DEF_ \"SystemSignalLongSymbol\" \"\";\n"
      "BA_ \"SystemMessageLongSymbol\" BO_ 5 \"A_message_with_more_than_32_characters\";\n"
      "BA_ \"SystemMessageLongSymbol\" BO_ 6 \"no such message\";\n"
      "BA_ \"SystemSignalLongSymbol\" SG_ 5 One_0000 \"A_signal_with_more_than_32_characters\";\n"
      "BA_ \"SystemSignalLongSymbol\" SG_ 5 Two_0000 \"A_signal_with_more_than_32_characters\";\n"
      "BA_ \"SystemSignalLongSymbol\" SG_ 5 Three \"Four\";\nBA_ \"SystemSignalLongSymbol\" SG_ 5 Four \"\";\n"
      "CM_ SG_ 5 One_0000 \"first\";\nVAL_ 5 Two_0000 1 \"on\" ;\n";
  od_dbc *dbc = read_text(*state, text);
  const od_dbc_signal *s = dbc->message[0].signal;
  assert_string_equal(dbc->message[0].name, "A_message_with_more_than_32_characters");
  assert_string_equal(s[0].name, "A_signal_with_more_than_32_characters");
  assert_string_equal(s[0].comment, "first");
  assert_string_equal(s[1].name, "Two_0000");  // the name is taken
  assert_string_equal(s[1].value[0].name, "on");
  assert_string_equal(s[2].name, "Three");
  assert_string_equal(s[3].name, "Four");
  od_dbc_free(dbc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(contents, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(many_names, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(damaged, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(errors, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(long_names, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(long_symbols, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(all_errors, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(flaws, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
