// Numbers of MDF 4 records: integers of every length and bit offset, floats, invalidation bits and conversions. Oracle: the rules of the
// public layout, evaluated by the test on the numbers that it wrote, compared to the bit. The test writes the files with mdf_writer.c,
// which shares no code with the reader.
#include "support/test.h"
#include "support/mdf_reading.h"

static const double nothing = NAN;

static void add_name(char *name, size_t size, const char *prefix, int number) {
  snprintf(name, size, "%s%d", prefix, number);
}

// The value of the lowest `bits` bits.
static double unsigned_value(uint64_t v, int bits) {
  return (double)(bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1));
}
static double signed_value(uint64_t v, int bits) {
  if (bits < 64) v &= (UINT64_C(1) << bits) - 1;
  if (bits < 64 && v >> (bits - 1)) v |= ~UINT64_C(0) << bits;
  int64_t i;
  memcpy(&i, &v, sizeof i);
  return (double)i;
}

// All integer types of 1 to 64 bits at every bit offset. The other bits of the record are random.
static void integers(void **state) {
  enum { TYPES = 4, OFFSETS = 8, RECORDS = 7, STEP = 9, CHANNELS = TYPES * OFFSETS, SIZE = 8 + CHANNELS * STEP };
  static const char *const prefix[TYPES] = {"u_le_", "u_be_", "s_le_", "s_be_"};
  uint64_t random = 1;
  for (int bits = 1; bits <= 64; bits++) {
    static double want[CHANNELS][RECORDS];
    uint64_t chain[CHANNELS + 2] = {0};
    char name[40];
    mdf_bytes data = {0};
    mdf_file *f = mdf_begin(NULL);
    chain[0] = mdf_time_channel(f);
    for (int c = 0; c < CHANNELS; c++) {
      add_name(name, sizeof name, prefix[c / OFFSETS], c % OFFSETS);
      chain[1 + c] = mdf_channel(f, &(mdf_cn){.name = name,
                                              .data_type = MDF_UINT_LE + c / OFFSETS,
                                              .byte = 8 + c * STEP,
                                              .bit = c % OFFSETS,
                                              .bits = bits});
    }
    for (int k = 0; k < RECORDS; k++) {
      unsigned char *record = mdf_more(&data, SIZE);
      for (int i = 0; i < SIZE; i++) record[i] = (unsigned char)mdf_random(&random);
      mdf_put_double(record, k);
      for (int c = 0; c < CHANNELS; c++) {
        uint64_t v = mdf_random(&random);
        if (k == 0) v = 0;
        if (k == 1) v = ~UINT64_C(0);
        if (k == 2) v = UINT64_C(1) << (bits - 1);
        bool is_signed = c / OFFSETS >= 2;
        mdf_put_bits(record, 8 + c * STEP, c % OFFSETS, bits, c / OFFSETS % 2 == 1, v);
        want[c][k] = is_signed ? signed_value(v, bits) : unsigned_value(v, bits);
      }
    }
    uint64_t group = mdf_group(f, &(mdf_cg){.channels = chain, .records = RECORDS, .data_bytes = SIZE});
    uint64_t dt = mdf_data(f, "DT", data.at, data.size, NULL);
    uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, dt, 0);
    od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
    assert_int_equal(t->columns, 1 + CHANNELS);
    for (int c = 0; c < CHANNELS; c++) {
      add_name(name, sizeof name, prefix[c / OFFSETS], c % OFFSETS);
      mdf_expect(t, name, want[c], RECORDS);
    }
    od_table_free(t);
    mdf_bytes_free(&data);
  }
}

// The value of a float of 16 bits, from its sign, exponent and fraction.
static double half_value(unsigned h) {
  unsigned exponent = h >> 10 & 31, fraction = h & 1023;
  double size = exponent == 0    ? ldexp(fraction, -24)
                : exponent == 31 ? (fraction ? NAN : INFINITY)
                                 : ldexp(1024 + fraction, (int)exponent - 25);
  return h >> 15 ? -size : size;
}

// Floats of 16, 32 and 64 bits in both byte orders: every pattern of 16 bits, and special and random patterns of 32 and 64 bits.
static void floats(void **state) {
  enum { RECORDS = 65536, SIZE = 36 };
  static const char *const name[6] = {"half_le", "half_be", "single_le", "single_be", "double_le", "double_be"};
  static const int byte[6] = {8, 10, 12, 16, 20, 28};
  static const uint32_t single[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000,
                                    0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
  static const uint64_t twice[] = {0,
                                   UINT64_C(1) << 63,
                                   1,
                                   UINT64_C(0x000fffffffffffff),
                                   UINT64_C(0x7fefffffffffffff),
                                   UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0xfff0000000000000),
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0x3fb999999999999a)};
  uint64_t random = 2, chain[8] = {0};
  double *want[6];
  for (int c = 0; c < 6; c++) want[c] = calloc(RECORDS, sizeof **want);
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  chain[0] = mdf_time_channel(f);
  for (int c = 0; c < 6; c++)
    chain[1 + c] = mdf_channel(
        f,
        &(mdf_cn){
            .name = name[c], .data_type = c % 2 ? MDF_FLOAT_BE : MDF_FLOAT_LE, .byte = byte[c], .bits = 16 << c / 2});
  for (unsigned k = 0; k < RECORDS; k++) {
    unsigned char *record = mdf_more(&data, SIZE);
    uint32_t s = k < 9 ? single[k] : (uint32_t)mdf_random(&random);
    uint64_t d = k < 9 ? twice[k] : mdf_random(&random);
    float as_float;
    double as_double;
    memcpy(&as_float, &s, sizeof s);
    memcpy(&as_double, &d, sizeof d);
    mdf_put_double(record, k);
    for (int c = 0; c < 6; c++) {
      mdf_put(record + byte[c], c < 2 ? k : c < 4 ? s : d, 2 << c / 2, c % 2 == 1);
      want[c][k] = c < 2 ? half_value(k) : c < 4 ? (double)as_float : as_double;
    }
  }
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = chain, .records = RECORDS, .data_bytes = SIZE});
  uint64_t dt = mdf_data(f, "DT", data.at, data.size, NULL);
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, dt, 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  for (int c = 0; c < 6; c++) {
    mdf_expect(t, name[c], want[c], RECORDS);
    free(want[c]);
  }
  od_table_free(t);
  mdf_bytes_free(&data);
}

// A set invalidation bit makes a sample missing if the channel has such a bit. A channel can also be invalid as a whole.
static void invalidation(void **state) {
  enum { RECORDS = 64, VALUES = 13, INVALID = 3, CHANNELS = 5 };
  static const unsigned bit[CHANNELS] = {0, 9, 23, 5, 5};
  static const unsigned flags[CHANNELS] = {MDF_HAS_INVALID_BIT, MDF_HAS_INVALID_BIT, MDF_HAS_INVALID_BIT, 0,
                                           MDF_ALL_INVALID};
  double want[CHANNELS][RECORDS];
  uint64_t random = 3, chain[CHANNELS + 2] = {0};
  char name[20];
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  chain[0] = mdf_time_channel(f);
  for (int c = 0; c < CHANNELS; c++) {
    add_name(name, sizeof name, "c", c);
    chain[1 + c] = mdf_channel(f, &(mdf_cn){.name = name,
                                            .data_type = MDF_UINT_LE,
                                            .byte = 8 + c,
                                            .bits = 8,
                                            .flags = flags[c],
                                            .invalid_bit = bit[c],
                                            .conversion = c == 1 ? mdf_linear(f, 1, 0.5) : 0});
  }
  for (int k = 0; k < RECORDS; k++) {
    unsigned char *record = mdf_more(&data, VALUES + INVALID);
    mdf_put_double(record, k);
    for (int i = 8; i < VALUES + INVALID; i++) record[i] = (unsigned char)mdf_random(&random);
    for (int c = 0; c < CHANNELS; c++) {
      bool is_set = record[VALUES + bit[c] / 8] >> bit[c] % 8 & 1;
      bool is_missing = (flags[c] == MDF_HAS_INVALID_BIT && is_set) || flags[c] == MDF_ALL_INVALID;
      double v = record[8 + c];
      want[c][k] = is_missing ? nothing : c == 1 ? 1 + 0.5 * v : v;
    }
  }
  uint64_t group =
      mdf_group(f, &(mdf_cg){.channels = chain, .records = RECORDS, .data_bytes = VALUES, .invalid_bytes = INVALID});
  uint64_t dt = mdf_data(f, "DT", data.at, data.size, NULL);
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, dt, 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  for (int c = 0; c < CHANNELS - 1; c++) {
    add_name(name, sizeof name, "c", c);
    mdf_expect(t, name, want[c], RECORDS);
  }
  mdf_expect_missing(t, "c4");
  od_table_free(t);
  mdf_bytes_free(&data);
}

// ---- Conversions

enum { MOST_RAW = 300 };

// Reads one channel with a conversion and these raw numbers: integers of 16 bits, or floats. Compares with `want`.
static void converted(scratch *s, mdf_file *f, uint64_t conversion, bool is_float, const double *raw,
                      const double *want, int n) {
  mdf_bytes data = {0};
  uint64_t channel = mdf_channel(f, &(mdf_cn){.name = "y",
                                              .data_type = is_float ? MDF_FLOAT_LE : MDF_INT_LE,
                                              .byte = 8,
                                              .bits = is_float ? 64 : 16,
                                              .conversion = conversion});
  for (int k = 0; k < n; k++) {
    unsigned char *record = mdf_more(&data, 16);
    mdf_put_double(record, k);
    if (is_float)
      mdf_put_double(record + 8, raw[k]);
    else
      mdf_put(record + 8, (uint64_t)(int64_t)raw[k], 2, false);
  }
  const uint64_t channels[] = {mdf_time_channel(f), channel, 0};
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = (uint64_t)n, .data_bytes = 16});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  od_table *t = mdf_read(mdf_finish(s, f, (uint64_t[]){dg, 0}));
  mdf_expect(t, "y", want, n);
  od_table_free(t);
  mdf_bytes_free(&data);
}

// Raw numbers -20, -19.5, ... (floats) or -20, -19, ... (integers).
static int raw_numbers(bool is_float, double *raw) {
  int n = 0;
  for (double x = -20; x <= 40; x += is_float ? 0.5 : 1) raw[n++] = x;
  return n;
}

static double linear_value(double x) {
  return -3.7 + 0.1 * x;
}
static double rational_value(double x) {
  return (2 * x * x + 3 * x + 5) / (x * x + 4);
}
static double identity_value(double x) {
  return x;
}
static double inverse_value(double x) {
  return (0 * x * x + 0 * x + 7) / (0 * x * x + 2 * x + 1);
}

static void formulas(void **state) {
  static double (*const value[])(double) = {identity_value, linear_value, rational_value, inverse_value};
  static const double rational[2][6] = {{2, 3, 5, 1, 0, 4}, {0, 0, 7, 0, 2, 1}};
  double raw[MOST_RAW], want[MOST_RAW];
  for (int is_float = 0; is_float < 2; is_float++)
    for (int kind = 0; kind < 4; kind++) {
      int n = 0, all = raw_numbers(is_float, raw);
      for (int k = 0; k < all; k++)
        if (isfinite(value[kind](raw[k]))) raw[n] = raw[k], want[n++] = value[kind](raw[k]);
      mdf_file *f = mdf_begin(NULL);
      uint64_t c =
          kind == 0 ? mdf_conversion(f, &(mdf_cc){.type = MDF_CC_IDENTITY})
          : kind == 1
              ? mdf_linear(f, -3.7, 0.1)
              : mdf_conversion(f, &(mdf_cc){.type = MDF_CC_RATIONAL, .values = rational[kind - 2], .value_count = 6});
      converted(*state, f, c, is_float, raw, want, n);
    }
}

// Formulas whose values are exact, so that every order of evaluation gives the same bits.
static void algebraic(void **state) {
  static const struct {
    const char *text;
    double at_minus_4, at_9;
  } formula[] = {
      {"X", -4, 9},
      {"X1 * 2 + 1", -7, 19},
      {"(X + 4) / 8 - 3*X", 12, 13.0 / 8 - 27},
      {"X*X/4 + 3*X - 1", -9, 46.25},
      {"-X - -2", 6, -7},
      {"abs(X) + sqrt(X*X)", 8, 18},
      {"2.5e1*X", -100, 225},
      {"pow(X, 2)", 16, 81},
      {"sqrt(X + 16) * 1.5", 1.5 * 3.4641016151377544, 7.5},
      {"8 - 4 - 2 + 0*X", 2, 2},
      {"16 / 4 / 2 + 0*X", 2, 2},
  };
  for (size_t i = 0; i < sizeof formula / sizeof *formula; i++) {
    mdf_file *f = mdf_begin(NULL);
    const double raw[2] = {-4, 9};
    double want[2] = {formula[i].at_minus_4, formula[i].at_9};
    if (strstr(formula[i].text, "sqrt(X + 16)")) want[0] = sqrt(12) * 1.5;
    converted(*state, f, mdf_formula(f, formula[i].text), false, raw, want, 2);
  }
}

static void value_tables(void **state) {
  enum { KEYS = 4 };
  static const double table[2 * KEYS] = {-10, 1, -2, 5, 6, -3, 22, 4};  // keys and values
  double raw[MOST_RAW], want[MOST_RAW];
  for (int is_float = 0; is_float < 2; is_float++)
    for (int kind = MDF_CC_INTERPOLATED; kind <= MDF_CC_TABLE; kind++) {
      int n = raw_numbers(is_float, raw);
      for (int k = 0; k < n; k++) {
        int i = 0;
        while (i < KEYS - 1 && raw[k] > table[2 * i + 2]) i++;
        const double *a = table + 2 * i, *b = a + 2;
        double x = raw[k];
        if (x <= table[0])
          want[k] = table[1];
        else if (x >= table[2 * KEYS - 2])
          want[k] = table[2 * KEYS - 1];
        else if (kind == MDF_CC_INTERPOLATED)
          want[k] = a[1] + (x - a[0]) * (b[1] - a[1]) / (b[0] - a[0]);
        else
          want[k] = x - a[0] > b[0] - x ? b[1] : a[1];
      }
      mdf_file *f = mdf_begin(NULL);
      uint64_t c = mdf_conversion(f, &(mdf_cc){.type = kind, .values = table, .value_count = 2 * KEYS});
      converted(*state, f, c, is_float, raw, want, n);
    }
}

// A range contains its upper limit if the raw numbers are integers. Numbers outside all ranges have the default.
static void ranges(void **state) {
  static const double table[] = {-10, -3, 0.125, -2, 4, 7.5, 5, 9, 0.1, 20, 21, 17, -99};
  double raw[MOST_RAW], want[MOST_RAW];
  for (int is_float = 0; is_float < 2; is_float++) {
    int n = raw_numbers(is_float, raw);
    for (int k = 0; k < n; k++) {
      want[k] = table[12];
      for (int i = 3; i >= 0; i--) {
        const double *r = table + 3 * i;
        if (raw[k] >= r[0] && (is_float ? raw[k] < r[1] : raw[k] <= r[1])) want[k] = r[2];
      }
    }
    mdf_file *f = mdf_begin(NULL);
    uint64_t c = mdf_conversion(f, &(mdf_cc){.type = MDF_CC_RANGES, .values = table, .value_count = 13});
    converted(*state, f, c, is_float, raw, want, n);
  }
}

// Where all results are texts, the column has the raw numbers.
static void texts_of_numbers(void **state) {
  static const double keys[] = {1, 2, 5}, limits[] = {-10, 0, 1, 20};
  double raw[MOST_RAW];
  int n = raw_numbers(false, raw);
  for (int kind = 0; kind < 3; kind++) {
    mdf_file *f = mdf_begin(NULL);
    const uint64_t refs[4] = {mdf_text(f, "park"), mdf_text(f, "reverse"), mdf_text(f, "drive"), mdf_text(f, "?")};
    uint64_t c = 0;
    if (kind == 0)
      c = mdf_conversion(
          f, &(mdf_cc){.type = MDF_CC_TEXTS, .values = keys, .value_count = 3, .refs = refs, .ref_count = 4});
    if (kind == 1)
      c = mdf_conversion(
          f, &(mdf_cc){.type = MDF_CC_RANGE_TEXTS, .values = limits, .value_count = 4, .refs = refs, .ref_count = 3});
    if (kind == 2) {  // no default
      const uint64_t without[4] = {refs[0], refs[1], refs[2], 0};
      c = mdf_conversion(
          f, &(mdf_cc){.type = MDF_CC_TEXTS, .values = keys, .value_count = 3, .refs = without, .ref_count = 4});
    }
    converted(*state, f, c, false, raw, raw, n);
  }
}

// Where a reference is another conversion, its numbers are the values, and texts (such as "not available") are missing values.
static void texts_beside_scales(void **state) {
  static const double limits[] = {-20, 14, 15, 15, 16, 16};
  double raw[MOST_RAW], want[MOST_RAW];
  int n = raw_numbers(false, raw);
  for (int kind = 0; kind < 2; kind++) {
    mdf_file *f = mdf_begin(NULL);
    uint64_t scale = mdf_linear(f, 10, 0.25);
    uint64_t c;
    if (kind == 0) {  // the scale is the default
      const uint64_t refs[3] = {mdf_text(f, "error"), mdf_text(f, "not available"), scale};
      c = mdf_conversion(
          f, &(mdf_cc){
                 .type = MDF_CC_TEXTS, .values = (double[]){15, 16}, .value_count = 2, .refs = refs, .ref_count = 3});
    } else {  // the scale has a range; the default is a text
      const uint64_t refs[4] = {scale, mdf_text(f, "error"), mdf_text(f, "not available"), mdf_text(f, "reserved")};
      c = mdf_conversion(
          f, &(mdf_cc){.type = MDF_CC_RANGE_TEXTS, .values = limits, .value_count = 6, .refs = refs, .ref_count = 4});
    }
    for (int k = 0; k < n; k++) {
      bool is_text = kind == 0 ? raw[k] == 15 || raw[k] == 16 : raw[k] > 14;
      want[k] = is_text ? nothing : 10 + 0.25 * raw[k];
    }
    converted(*state, f, c, false, raw, want, n);
  }
}

// Texts of fixed length with their numbers: text-to-value. A text without a number has the default.
static void text_to_value(void **state) {
  static const char *const texts[] = {"on", "off", "", "On", "\xc3\xa4u\xc3\x9f", "unknown", "onoff"};
  static const char *const latin = "\xe4u\xdf";
  static const double values[] = {1.5, -2, 42, 0.1, -7}, want[] = {1.5, -2, -7, 0.1, 42, -7, -7};
  enum { N = sizeof texts / sizeof *texts, WIDTH = 16 };
  for (int type = MDF_LATIN1; type <= MDF_UTF16_BE; type++) {
    mdf_bytes data = {0};
    mdf_file *f = mdf_begin(NULL);
    const uint64_t refs[4] = {mdf_text(f, "on"), mdf_text(f, "off"), mdf_text(f, texts[4]), mdf_text(f, "On")};
    uint64_t c = mdf_conversion(
        f, &(mdf_cc){.type = MDF_CC_TEXT_VALUES, .values = values, .value_count = 5, .refs = refs, .ref_count = 4});
    const uint64_t channels[] = {
        mdf_time_channel(f),
        mdf_channel(f, &(mdf_cn){.name = "y", .data_type = type, .byte = 8, .bits = 8 * WIDTH, .conversion = c}),
        mdf_channel(f, &(mdf_cn){.name = "text", .data_type = type, .byte = 8, .bits = 8 * WIDTH}), 0};
    for (int k = 0; k < N; k++) {
      unsigned char *record = mdf_more(&data, 8 + WIDTH);
      const char *text = k == 4 && type != MDF_UTF8 ? latin : texts[k];
      mdf_put_double(record, k);
      for (size_t i = 0; i < strlen(text); i++) {
        if (type <= MDF_UTF8)
          record[8 + i] = (unsigned char)text[i];
        else
          mdf_put(record + 8 + 2 * i, (unsigned char)text[i], 2, type == MDF_UTF16_BE);
      }
    }
    uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = N, .data_bytes = 8 + WIDTH});
    uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
    od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
    mdf_expect(t, "y", want, N);
    mdf_expect_missing(t, "text");
    od_table_free(t);
    mdf_bytes_free(&data);
  }
}

// Date and time of CANopen: seconds after 1970-01-01. A date has milliseconds, minutes, hours (bit 7: summer time), day of the month (bits 5 to
// 7: day of the week), month and year after 2000. A time has milliseconds after midnight and days after 1984-01-01. Oracle: days counted
// one by one.
static void dates(void **state) {
  enum { SIZE = 8 + 7 + 6 };
  static const struct {
    int year, month, day, hour, minute, ms;
  } date[] = {
      {2000, 1, 1, 0, 0, 0}, {2024, 2, 29, 23, 59, 59999}, {2026, 11, 18, 13, 7, 12345}, {2060, 12, 31, 1, 2, 3}};
  static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  enum { N = sizeof date / sizeof *date };
  double want[N];
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  for (int k = 0; k < N; k++) {
    unsigned char *at = mdf_more(&data, SIZE);
    long days = 0, days_to_1984 = 0;
    for (int y = 1970; y <= date[k].year; y++) {
      bool is_leap = y % 4 == 0;  // 2000 is a leap year, too
      if (y == 1984) days_to_1984 = days;
      for (int m = 1; m <= 12 && (y < date[k].year || m < date[k].month); m++)
        days += month_days[m - 1] + (m == 2 && is_leap ? 1 : 0);
    }
    days += date[k].day - 1;
    long ms = (date[k].hour * 60L + date[k].minute) * 60000 + date[k].ms;
    want[k] = (double)(days * 86400000 + ms) / 1000;
    mdf_put_double(at, k);
    mdf_put(at + 8, (uint64_t)date[k].ms, 2, false);
    at[10] = (unsigned char)date[k].minute;
    at[11] = (unsigned char)date[k].hour;
    at[12] = (unsigned char)(date[k].day | 3 << 5);
    at[13] = (unsigned char)date[k].month;
    at[14] = (unsigned char)(date[k].year - 2000);
    mdf_put(at + 15, (uint64_t)ms, 4, false);
    mdf_put(at + 19, (uint64_t)(days - days_to_1984), 2, false);
  }
  const uint64_t channels[] = {
      mdf_time_channel(f),
      mdf_channel(f, &(mdf_cn){.name = "date", .data_type = MDF_CANOPEN_DATE, .byte = 8, .bits = 56}),
      mdf_channel(f, &(mdf_cn){.name = "time of day", .data_type = MDF_CANOPEN_TIME, .byte = 15, .bits = 48}), 0};
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = N, .data_bytes = SIZE});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  for (int k = 0; k < N; k++) {
    near(t->data[k * t->columns + mdf_column(t, "date")], want[k], 1e-6);
    near(t->data[k * t->columns + mdf_column(t, "time of day")], want[k], 1e-6);
  }
  od_table_free(t);
  mdf_bytes_free(&data);
}

// Channels without numbers do not disturb the others: texts converted to texts, byte arrays, MIME samples. A bit field that selects texts
// has its raw number.
static void channels_without_numbers(void **state) {
  enum { N = 20, SIZE = 8 + 8 + 2, KINDS = 3 };
  static const int type[KINDS] = {MDF_BYTES, MDF_MIME_SAMPLE, MDF_UTF8};
  double want[N], masked[N];
  char name[20];
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(&(mdf_header){.version = 420});
  const uint64_t flags[] = {mdf_text(f, "valve open"), mdf_text(f, "pump on")};
  const uint64_t fields[] = {mdf_conversion(f, &(mdf_cc){.type = MDF_CC_TEXTS,
                                                         .values = (double[]){1},
                                                         .value_count = 1,
                                                         .refs = (uint64_t[]){flags[0], 0},
                                                         .ref_count = 2}),
                             mdf_conversion(f, &(mdf_cc){.type = MDF_CC_TEXTS,
                                                         .values = (double[]){2},
                                                         .value_count = 1,
                                                         .refs = (uint64_t[]){flags[1], 0},
                                                         .ref_count = 2})};
  uint64_t bit_texts = mdf_conversion(
      f, &(mdf_cc){
             .type = MDF_CC_BITFIELD, .masks = (uint64_t[]){1, 2}, .value_count = 2, .refs = fields, .ref_count = 2});
  uint64_t renamed =
      mdf_conversion(f, &(mdf_cc){.type = MDF_CC_TEXT_TEXTS,
                                  .refs = (uint64_t[]){mdf_text(f, "a"), mdf_text(f, "b"), mdf_text(f, "other")},
                                  .ref_count = 3});
  uint64_t chain[KINDS + 4] = {mdf_time_channel(f)};
  for (int c = 0; c < KINDS; c++) {
    add_name(name, sizeof name, "none", c);
    chain[1 + c] = mdf_channel(f, &(mdf_cn){.name = name,
                                            .data_type = type[c],
                                            .byte = 8,
                                            .bits = 64,
                                            .conversion = type[c] == MDF_UTF8 ? renamed : 0});
  }
  chain[1 + KINDS] = mdf_channel(f, &(mdf_cn){.name = "y", .data_type = MDF_INT_BE, .byte = 16, .bits = 16});
  chain[2 + KINDS] = mdf_channel(
      f, &(mdf_cn){.name = "flags", .data_type = MDF_UINT_LE, .byte = 17, .bits = 3, .conversion = bit_texts});
  for (int k = 0; k < N; k++) {
    unsigned char *record = mdf_more(&data, SIZE);
    mdf_put_double(record, k);
    record[8] = (unsigned char)('a' + k % 3);
    mdf_put(record + 16, (uint64_t)(int64_t)(k - 5), 2, true);
    want[k] = k - 5;
    masked[k] = (k - 5 + 8) % 8;  // the lowest 3 bits of two's complement
  }
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = chain, .records = N, .data_bytes = SIZE});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  mdf_expect(t, "y", want, N);
  mdf_expect(t, "flags", masked, N);
  for (int c = 0; c < KINDS; c++) {
    add_name(name, sizeof name, "none", c);
    mdf_expect_missing(t, name);
  }
  od_table_free(t);
  mdf_bytes_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(integers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(floats, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(invalidation, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(formulas, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(algebraic, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(value_tables, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(ranges, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(texts_of_numbers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(texts_beside_scales, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(text_to_value, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(dates, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(channels_without_numbers, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
