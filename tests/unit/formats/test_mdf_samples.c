// Sample files of asammdf (danielhrisca/asammdf, folder test/asammdf/gui/resources of its repository), which this repository does not contain. The
// variable OD_MDF_SAMPLES names a folder with these files. Oracle: reference values of asammdf 7.3: for each channel, the number of
// samples and the sums of all times and values, each multiplied by its place (1, 2, ...), added one after the other, to the bit. Older
// samples (test/test.demo.zip of its history, October 2019): the numbers in its own tests (CHANNELS_DEMO of test/utils.py), summed in the
// same way; fractions are printed there with 8 digits.
#include "support/test.h"

#include <unistd.h>

#include "support/mdf_reading.h"
#include "support/skipping.h"

typedef struct channel {
  const char *file, *name;
  long count;
  double times, values;
} channel;

// clang-format off
static const channel channels[] = {
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.SBYTE.IDENTICAL.DISCRETE", 124, 64423.899155998268, -47528},
    {"ASAP2_Demo_V171.mf4", "ASAM_[15].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 1240, 6372844.4844408538, 93886552},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.FORM_X_PLUS_4", 1240, 6372844.4844408538, 106608352},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.VTAB_RANGE_NO_DEFAULT_VALUE", 12402, 636869722.37202704, 9449209890},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.TAB_VERB_NO_DEFAULT_VALUE", 12402, 636869722.37202704, 9986453578},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.TAB_INTP_DEFAULT_VALUE", 12402, 636869722.37202704, 8514930841.333333},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.SLONG.IDENTICAL", 12402, 636869722.37202704, 45264075698},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.VTAB_RANGE_DEFAULT_VALUE", 12402, 636869722.37202704, 9164129278},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.IDENTICAL.STATUS_STRING", 12402, 636869722.37202704, 9986453578},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.TAB_VERB_DEFAULT_VALUE", 12402, 636869722.37202704, 9342257781},
    {"ASAP2_Demo_V171.mf4", "ASAM_[1][0].M.MATRIX_DIM_8_2.UBYTE.IDENTICAL", 12402, 636869722.37202704, 9449210081},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.IDENTICAL", 12402, 636869722.37202704, 9965440102},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.FLOAT32.IDENTICAL", 12402, 636869722.37202704, 34216077198},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.TAB_NOINTP_NO_DEFAULT_VALUE", 12402, 636869722.37202704, 8515953658},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.TAB_INTP_NO_DEFAULT_VALUE", 12402, 636869722.37202704, 8514850441.333333},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.ULONG.IDENTICAL", 12402, 636869722.37202704, 44978478398},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UWORD.IDENTICAL.BITMASK_0FF0", 12402, 636869722.37202704, 2793315286},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.SBYTE.IDENTICAL", 12402, 636869722.37202704, 472672510},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UWORD.IDENTICAL", 12402, 636869722.37202704, 36644276298},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.FLOAT32.IDENTICAL.DISCRETE", 12402, 636869722.37202704, 34834876598},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.SWORD.IDENTICAL", 12402, 636869722.37202704, 34025476898},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.HYPERBOLIC", 12402, 636869722.37202704, -INFINITY},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.RAT_FUNC.DIV_10", 12402, 636869722.37202704, 930584780.19999993},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.TAB_NOINTP_DEFAULT_VALUE", 12402, 636869722.37202704, 8519403467},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UBYTE.RAT_FUNC.IDENT.STATUS_STRING", 12402, 636869722.37202704, 9556367314},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.UWORD.IDENTICAL.BITMASK_0008", 12402, 636869722.37202704, 38347883},
    {"ASAP2_Demo_V171.mf4", "ASAM_[0].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 12402, 636880820.65384233, 9401747998},
    {"ASAP2_Demo_V171.mf4", "ASAM_[13][0].M.MATRIX_DIM_16_1.UBYTE.IDENTICAL", 12402, 636880820.65384233, 10358557699},
    {"ASAP2_Demo_V171.mf4", "ASAM_[10].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 12402, 636880820.65384233, 10220050524},
    {"ASAP2_Demo_V171.mf4", "ASAM_[13].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 12402, 636880820.65384233, 10252310360},
    {"ASAP2_Demo_V171.mf4", "ASAM_[14].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 12402, 636880820.65384233, 10349834481},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.SBYTE.LINEAR_MUL_2", 12402, 636880820.65384233, -257516124},
    {"ASAP2_Demo_V171.mf4", "ASAM_[11].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 12402, 636891280.57295632, 9986453578},
    {"ASAP2_Demo_V171.mf4", "ASAM_[1].M.MATRIX_DIM_16.UBYTE.IDENTICAL", 12402, 636891280.57295632, 9342257590},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.SCALAR.FLOAT64.IDENTICAL", 12402, 636891280.57295632, 34025476898},
    {"ASAP2_Demo_V171.mf4", "ASAM.M.VIRTUAL.SCALAR.SWORD.PHYSICAL", 12402, 636880820.65384233, -1030064496},
    {"ASAP2_Demo_V171.mf4", "$ActiveCalibrationPage", 2, 24.829686800000001, 0},
    {"test_batch.mf4", "BNXJPMAPAVZXPSX", 1051, 3869782.0000000079, 7120.8704748507589},
    {"test_batch.mf4", "XMFJPKJRIVXIQNR", 1051, 3869782.0000000079, -35.803509597391368},
    {"test_batch.mf4", "JIYWKIEOINKVADJ", 1051, 3869782.0000000079, 12.846181461013993},
    {"test_batch_cut_0.mf4", "ASAM.M.SCALAR.SBYTE.IDENTICAL.DISCRETE", 12, 128.32924400002082, -4288},
    {"test_batch_cut_1.mf4", "ASAM.M.SCALAR.SBYTE.IDENTICAL.DISCRETE", 32, 4212.8150120008704, 14912},
    {"test_metadata.mf4", "ASAM.M.SCALAR.SBYTE.IDENTICAL.DISCRETE", 2, 2, 180},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.VTAB_RANGE_NO_DEFAULT_VALUE", 2, 2, 286},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.TAB_VERB_NO_DEFAULT_VALUE", 2, 2, 198},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.TAB_INTP_DEFAULT_VALUE", 2, 2, 333},
    {"test_metadata.mf4", "ASAM.M.SCALAR.SLONG.IDENTICAL", 2, 2, 2598},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.VTAB_RANGE_DEFAULT_VALUE", 2, 2, 594},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.IDENTICAL.STATUS_STRING", 2, 2, 198},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.TAB_VERB_DEFAULT_VALUE", 2, 2, 498},
    {"test_metadata.mf4", "ASAM_[1][0].M.MATRIX_DIM_8_2.UBYTE.IDENTICAL", 2, 2, 286},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.IDENTICAL", 2, 2, 418},
    {"test_metadata.mf4", "ASAM.M.SCALAR.FLOAT32.IDENTICAL", 2, 2, 1100},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.TAB_NOINTP_NO_DEFAULT_VALUE", 2, 2, 333},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.TAB_INTP_NO_DEFAULT_VALUE", 2, 2, 333},
    {"test_metadata.mf4", "ASAM.M.SCALAR.ULONG.IDENTICAL", 2, 2, 2298},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UWORD.IDENTICAL.BITMASK_0FF0", 2, 2, 162},
    {"test_metadata.mf4", "ASAM.M.SCALAR.SBYTE.IDENTICAL", 2, 2, -174},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UWORD.IDENTICAL", 2, 2, 198},
    {"test_metadata.mf4", "ASAM.M.SCALAR.FLOAT32.IDENTICAL.DISCRETE", 2, 2, 500},
    {"test_metadata.mf4", "ASAM.M.SCALAR.SWORD.IDENTICAL", 2, 2, 798},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.HYPERBOLIC", 2, 2, 0.036713286713286712},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.RAT_FUNC.DIV_10", 2, 2, 63},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.TAB_NOINTP_DEFAULT_VALUE", 2, 2, 333},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UBYTE.RAT_FUNC.IDENT.STATUS_STRING", 2, 2, 462},
    {"test_metadata.mf4", "ASAM.M.SCALAR.UWORD.IDENTICAL.BITMASK_0008", 2, 2, 3},
};

// The same contents in three files.
static const char *const demos[] = {"ASAP2_Demo_V161_4.00.mf4", "ASAP2_Demo_V161_4.10.mf4", "ASAP2_Demo_V161_unsorted.mf4"};
static const struct {
  const char *name;
  long count;
  double values;
} documented[] = {
    {"$ActiveCalibrationPage", 4, 8},
    {"ASAM_[0].M.MATRIX_DIM_16_1_1.UBYTE.IDENTICAL", 90, 538804},
    {"ASAM.M.SCALAR.SWORD.IDENTICAL", 90, 2075200},
    {"ASAM.M.SCALAR.UBYTE.TAB_INTP_DEFAULT_VALUE", 90, 453744},
    {"ASAM.M.SCALAR.UBYTE.FORM_X_PLUS_4", 90, 512512},
    {"ASAM.M.SCALAR.SLONG.IDENTICAL", 90, 2393700},
    {"ASAM.M.SCALAR.UBYTE.IDENTICAL", 90, 499352},
    {"ASAM.M.SCALAR.SBYTE.LINEAR_MUL_2", 90, 15152},
    {"ASAM_[0].M.ARRAY_SIZE_16.UBYTE.IDENTICAL", 90, 493256},
    {"ASAM_[0][0].M.MATRIX_DIM_8_2_1.UBYTE.IDENTICAL", 90, 476272},
    {"ASAM.M.SCALAR.UWORD.IDENTICAL.BITMASK_0FF0", 896, 8535221},
    {"ASAM.M.SCALAR.UWORD.IDENTICAL", 896, 221008011},
    {"ASAM.M.SCALAR.ULONG.IDENTICAL", 896, 279663049},
    {"ASAM.M.SCALAR.UWORD.IDENTICAL.BITMASK_0008", 896, 172671},
    {"ASAM.M.VIRTUAL.SCALAR.SWORD.PHYSICAL", 90, 60608},
    {"ASAM.M.SCALAR.UBYTE.TAB_NOINTP_DEFAULT_VALUE", 90, 453661.99982452393},
    {"ASAM.M.SCALAR.UBYTE.TAB_INTP_NO_DEFAULT_VALUE", 90, 452808.99990081787},
    {"ASAM.M.SCALAR.FLOAT32.IDENTICAL", 896, 121994702.47206627},
    {"ASAM.M.SCALAR.UBYTE.TAB_NOINTP_NO_DEFAULT_VALUE", 896, 44375176},
    {"ASAM.M.SCALAR.FLOAT64.IDENTICAL", 896, 262246154.99546278},
};
// clang-format on

static void sums(void **state) {
  (void)state;
  const char *folder = getenv("OD_MDF_SAMPLES"), *file = "";
  if (!folder) skip_test("no data: OD_MDF_SAMPLES (a folder of asammdf's sample files)");
  char path[600];
  od_table *t = NULL;
  for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
    const channel *c = channels + i;
    if (strcmp(file, c->file) != 0) {
      file = c->file;
      od_table_free(t);
      snprintf(path, sizeof path, "%s/%s", folder, file);
      t = mdf_read(path);
    }
    int column = mdf_column(t, c->name);
    long count = 0;
    double times = 0, values = 0;
    for (long k = 0; k < t->rows; k++) {
      const double *row = t->data + k * t->columns;
      if (isnan(row[column])) continue;
      count++;
      times += row[0] * (double)count;
      values += row[column] * (double)count;
    }
    if (count != c->count || times != c->times || values != c->values)
      fail_msg("%s, '%s': got %ld samples, %.17g and %.17g, expected %ld, %.17g and %.17g", file, c->name, count, times,
               values, c->count, c->times, c->values);
  }
  od_table_free(t);
}

static void older_samples(void **state) {
  (void)state;
  const char *folder = getenv("OD_MDF_SAMPLES");
  char path[600];
  if (!folder) skip_test("no data: OD_MDF_SAMPLES (a folder of asammdf's sample files)");
  snprintf(path, sizeof path, "%s/%s", folder, demos[0]);
  if (access(path, R_OK) != 0) skip_test("no data: ASAP2_Demo_V161_4.00.mf4 and others in OD_MDF_SAMPLES");
  for (size_t f = 0; f < sizeof demos / sizeof *demos; f++) {
    snprintf(path, sizeof path, "%s/%s", folder, demos[f]);
    od_table *t = mdf_read(path);
    for (size_t i = 0; i < sizeof documented / sizeof *documented; i++) {
      const int column = mdf_column(t, documented[i].name);
      const double wanted = documented[i].values;
      long count = 0;
      double values = 0;
      for (long k = 0; k < t->rows; k++) {
        const double value = t->data[k * t->columns + column];
        if (!isnan(value)) values += value * (double)++count;
      }
      assert_int_equal(count, documented[i].count);
      near(values, wanted, wanted == round(wanted) ? 0 : 1e-7 * fabs(wanted));
    }
    od_table_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(older_samples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
