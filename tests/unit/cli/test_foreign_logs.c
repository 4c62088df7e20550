// Logs in the forms in which other programs write them, in every command that reads logs, with the options of the common table.
// Oracle: the same command on a plain CSV file with SI units and the names that the command expects; all results have the same
// bytes. Numbers are multiples of powers of two, so that decimal texts and prefixes of units are exact. A second oracle, for
// texts of the help: all commands print the same lines for the options of logs.
#include "support/test.h"

#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <matio.h>
#include <stdint.h>

#include "oleodyn/oleodyn.h"
#include "support/mdf_reading.h"
#include "support/program.h"

enum { ROWS = 400, SIGNALS = 5 };
static const char *const names[SIGNALS] = {"u", "lag", "A.angle", "v", "f"};

// --- Files --------------------------------------------------------------------------------------------------------

static const char lag[] =
    "machine: Lag\n"
    "bodies: {bob: {point: {mass: 1 kg, at: [0, -1 m]}}}\n"
    "joints: {A: {type: revolute, between: [ground, bob]}}\n"
    "initial: {A.angle: 0}\n"
    "inputs: {u: {unit: V, constant: 1 V}}\n"
    "blocks: {lag: {type: first-order, input: u, unit: V, gain: 1, time_constant: 30 ms}}\n"
    "run: {time: 0.5 s, step: 1 ms, outputs: [lag]}\n";
static const char experiment[] =
    "machine: lag.yaml\nstep: 4 ms\nsensors: {lag: {sigma: 50 mV}}\n"
    "parameters: {lag.gain: {start: 1.5, sigma: 1, low: 0.1, high: 10}}\ndata: {file: plain.csv}\n";
static const char friction[] =
    "friction: a bench\n"
    "laws: {guess: {law: lugre, Fs: 60 N, Fc: 40 N, vs: 1 mm/s, viscous: 90 N s/m, sigma_0: 1e6 N/m}}\n"
    "fit: {law: lugre, method: complete, start: guess, parameters: [Fc, viscous], restarts: 0}\n"
    "run: {log: plain.csv, velocity: v, force: f}\n";

// A value of a row: 0: the time, s, then the signals.
static double rounded(double x, double parts) {
  return round(x * parts) / parts;
}
static double cell(int row, int signal) {
  static double y[ROWS], u[ROWS];
  static bool is_known;
  double t = row / 256.0;
  for (int k = 1; !is_known && k < ROWS; k++) {
    u[k] = rounded(sin(1e3 * k * k), 1024);
    y[k] = rounded(exp(-1000.0 / 256 / 30) * y[k - 1] + (1 - exp(-1000.0 / 256 / 30)) * u[k - 1], 1 << 20) + 0x1p-30;
  }
  is_known = true;
  double v = rounded(0.1 * sin(9 * t), 1 << 14);
  const double list[] = {
      t, u[row], y[row], rounded(0.1 * sin(5 * t), 1 << 16), v, rounded(50 * tanh(v / 0.01) + 100 * v, 1 << 10)};
  return list[signal];
}

// The form of a text file. A NULL text ends a list of lines.
typedef struct form {
  const char *what, *file;
  const char *before[6];   // lines before the header
  const char *header[10];  // names of the columns; NULL: no header
  const char *units[10];   // row of units; NULL: none
  int order[10];           // signal of each column: 0 is the time; -1: a text; -2: a number of no interest; -3: end
  double scale[10];        // factor of the values of each column; 0: 1
  const char *separator;   // between cells
  bool commas;             // whether the decimal sign is a comma
  const char *end;         // line end
  const char *options;     // options for the time and the file
  const char *column[SIGNALS];  // text of --map after the name
  int rows;                     // of the survey; 0: ROWS
} form;

static void put_number(FILE *to, double value, bool commas) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  for (char *c = text; commas && *c; c++)
    if (*c == '.') *c = ',';
  fputs(text, to);
}

static void put_line(FILE *to, const char *const *cells, const form *f) {
  for (int i = 0; cells[i]; i++) fprintf(to, "%s%s", i ? f->separator : "", cells[i]);
  fputs(f->end, to);
}

static void put_form(scratch *s, const form *f) {
  FILE *to = fopen(scratch_path(s, f->file), "w");
  assert_non_null(to);
  for (int i = 0; f->before[i]; i++) fprintf(to, "%s%s", f->before[i], f->end);
  if (f->header[0]) put_line(to, f->header, f);
  if (f->units[0]) put_line(to, f->units, f);
  for (int k = 0; k < ROWS; k++) {
    for (int i = 0; f->order[i] != -3; i++) {
      if (i) fputs(f->separator, to);
      if (f->order[i] == -1)
        fprintf(to, "state%d", k % 3);
      else if (f->order[i] == -2)
        put_number(to, k % 7 == 0 ? -9999 : k, f->commas);
      else
        put_number(to, cell(k, f->order[i]) * (f->scale[i] != 0 ? f->scale[i] : 1), f->commas);
    }
    fputs(f->end, to);
  }
  fclose(to);
}

static const form plain = {.what = "plain",
                           .file = "plain.csv",
                           .header = {"time", "u [V]", "lag [V]", "A.angle", "v", "f"},
                           .order = {0, 1, 2, 3, 4, 5, -3},
                           .separator = ",",
                           .end = "\n"};

static const form forms[] = {
    {.what = "semicolons, decimal commas, units in the header, text cells",
     .file = "german.csv",
     .header = {"Zeit [ms]", "Status", "Kanal 1 [V]", "Kanal 2 [V]", "Winkel (rad)", "Geschw. [mm/s]", "Kraft [N]"},
     .order = {0, -1, 1, 2, 3, 4, 5, -3},
     .scale = {1000, 0, 0, 0, 0, 1000},
     .separator = ";",
     .commas = true,
     .end = "\r\n",
     .options = "--map time=Zeit",
     .column = {"'Kanal 1'", "'Kanal 2 [V]'", "Winkel", "'Geschw.'", "Kraft"}},
    {.what = "tabs, a row of units, columns by number",
     .file = "tabs.txt",
     .header = {"n", "T", "a", "a", "b", "c", "d"},
     .units = {"-", "ms", "V", "V", "rad", "mm/s", "N"},
     .order = {-2, 0, 1, 2, 3, 4, 5, -3},
     .scale = {0, 1000, 0, 0, 0, 1000},
     .separator = "\t",
     .end = "\n",
     .options = "--map time=2",
     .column = {"3", "4", "5", "6", "7"}},
    {.what = "lines before the header, units in options",
     .file = "skip.csv",
     .before = {"Logger 7", "1,2,3,4,5,6", "serial,4711", "a,b,c,d,e,f"},
     .header = {"clock", "ch1", "ch2", "ch3", "ch4", "ch5"},
     .order = {0, 1, 2, 3, 4, 5, -3},
     .scale = {1e3, 1e3, 0, 0, 1e3},
     .separator = ",",
     .end = "\n",
     .options = "--skip 4 --map time=clock:ms",
     .column = {"ch1:mV", "ch2:V", "ch3", "ch4:mm/s", "6"}},
    {.what = "no times",
     .file = "interval.csv",
     .header = {"ch1", "ch2", "ch3", "ch4", "ch5"},
     .order = {1, 2, 3, 4, 5, -3},
     .separator = ",",
     .end = "\n",
     .options = "--interval '3.90625 ms'",
     .column = {"ch1:V", "2:V", "ch3", "ch4", "ch5"}},
    {.what = "missing codes and texts in other columns",
     .file = "codes.txt",
     .header = {"t", "x1", "word", "x2", "x3", "x4", "x5", "spare"},
     .order = {0, 1, -1, 2, 3, 4, 5, -2, -3},
     .separator = ";",
     .end = "\n",
     .options = "--missing -9999 --map time=t:s",
     .column = {"x1:V", "x2:V", "x3", "x4", "x5"}},
};

// A MATLAB workspace: signals as columns of a matrix, with a comma in their names, and in a structure.
static const form matlab = {.what = "MATLAB matrix and structure",
                            .file = "work.mat",
                            .options = "--map 'time=log.clock:ms'",
                            .column = {"'X(:,1):V'", "'X(:,2):V'", "'X(:,3)'", "log.v", "log.f"}};

static void put_matlab(scratch *s) {
  static double X[3 * ROWS], clock[ROWS], v[ROWS], f[ROWS];
  size_t one[2] = {1, 1}, column[2] = {ROWS, 1}, matrix[2] = {ROWS, 3};
  for (int k = 0; k < ROWS; k++) {
    clock[k] = 1000 * cell(k, 0), v[k] = cell(k, 4), f[k] = cell(k, 5);
    for (int i = 0; i < 3; i++) X[i * ROWS + k] = cell(k, 1 + i);
  }
  mat_t *mat = Mat_CreateVer(scratch_path(s, matlab.file), NULL, MAT_FT_MAT5);
  assert_non_null(mat);
  matvar_t *log = Mat_VarCreateStruct("log", 2, one, (const char *[]){"clock", "v", "f"}, 3);
  Mat_VarSetStructFieldByName(log, "clock", 0, Mat_VarCreate("clock", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, column, clock, 0));
  Mat_VarSetStructFieldByName(log, "v", 0, Mat_VarCreate("v", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, column, v, 0));
  Mat_VarSetStructFieldByName(log, "f", 0, Mat_VarCreate("f", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, column, f, 0));
  matvar_t *x = Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, matrix, X, 0);
  assert_int_equal(Mat_VarWrite(mat, log, MAT_COMPRESSION_NONE), 0);
  assert_int_equal(Mat_VarWrite(mat, x, MAT_COMPRESSION_NONE), 0);
  Mat_VarFree(log), Mat_VarFree(x);
  Mat_Close(mat);
}

// --- Files of other formats ---------------------------------------------------------------------------------------

// Signals as integers of 32 bits, multiples of a power of two, in one CAN FD frame of 20 bytes.
static const int binary_digits[SIGNALS] = {10, 30, 16, 14, 10};

static int32_t raw_value(int row, int i) {
  const double value = ldexp(cell(row, 1 + i), binary_digits[i]);
  assert_true(value == round(value) && fabs(value) < INT32_MAX);
  return (int32_t)value;
}

static void put_frame(FILE *to, int row, const char *between) {
  for (int i = 0; i < SIGNALS; i++)
    for (int k = 0; k < 4; k++) fprintf(to, "%s%02X", between, (uint32_t)raw_value(row, i) >> 8 * k & 255);
}

static void put_little(FILE *to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) fputc((int)(value >> 8 * i & 255), to);
}

static void put_database(scratch *s) {
  static const char *const unit[SIGNALS] = {"V", "V", "rad", "m/s", "N"};
  FILE *to = fopen(scratch_path(s, "rig.dbc"), "w");
  fputs("BO_ 256 Rig: 20 X\n", to);
  for (int i = 0; i < SIGNALS; i++)
    fprintf(to, " SG_ s%d : %d|32@1- (%.17g,0) [0|0] \"%s\" X\n", i + 1, 32 * i, ldexp(1, -binary_digits[i]), unit[i]);
  fclose(to);
}

static void put_candump(FILE *to) {
  for (int k = 0; k < ROWS; k++) {
    fprintf(to, "(170000000%d.%09d) can0 100##0", k / 256, k % 256 * 3906250);
    put_frame(to, k, "");
    fputc('\n', to);
  }
}

static void put_asc(FILE *to) {
  fputs("date Sat Sep 30 15:06:13.191 2017\nbase hex  timestamps absolute\n", to);
  for (int k = 0; k < ROWS; k++) {
    fprintf(to, "%4d.%09d CANFD   1 Rx        100                                  0 0 b 20", k / 256,
            k % 256 * 3906250);
    put_frame(to, k, " ");
    fputs("   130000  130 3000 0 0 0 0 0\n", to);
  }
}

// Objects without containers, with times in ns.
static void put_blf(FILE *to) {
  fputs("LOGG", to), put_little(to, 144, 4), put_little(to, 0, 32);
  for (int i = 0; i < 8; i++) put_little(to, (uint64_t)(const int[]){2017, 9, 6, 30, 15, 6, 13, 191}[i], 2);
  while (ftell(to) < 144) fputc(0, to);
  for (int k = 0; k < ROWS; k++) {
    fputs("LOBJ", to), put_little(to, 32, 2), put_little(to, 1, 2), put_little(to, 32 + 84, 4), put_little(to, 100, 4);
    put_little(to, 2, 8), put_little(to, (uint64_t)k * 3906250, 8);
    put_little(to, 1, 2), put_little(to, 0, 1), put_little(to, 11, 1), put_little(to, 256, 4), put_little(to, 0, 5);
    put_little(to, 1, 1), put_little(to, 20, 1), put_little(to, 0, 5);
    for (int i = 0; i < SIGNALS; i++) put_little(to, (uint32_t)raw_value(k, i), 4);
    put_little(to, 0, 44);
  }
}

static void put_mdf(scratch *s) {
  static const char *const unit[SIGNALS] = {"V", "V", "rad", "m/s", "N"};
  mdf_file *f = mdf_begin(NULL);
  mdf_bytes data = {0};
  for (int k = 0; k < ROWS; k++)
    for (int i = 0; i <= SIGNALS; i++) mdf_put_double(mdf_more(&data, 8), cell(k, i) * (i == 2 ? 0.5 : 1));
  uint64_t channels[SIGNALS + 2] = {mdf_time_channel(f)};
  for (int i = 0; i < SIGNALS; i++) {
    char name[8];
    snprintf(name, sizeof name, "c%d", i);
    channels[1 + i] = mdf_channel(f, &(mdf_cn){.name = name,
                                               .unit = unit[i],
                                               .data_type = MDF_FLOAT_LE,
                                               .byte = 8 + 8 * i,
                                               .bits = 64,
                                               .conversion = i == 1 ? mdf_linear(f, 0, 2) : 0});
  }
  uint64_t group =
      mdf_group(f, &(mdf_cg){.name = "rig", .channels = channels, .records = ROWS, .data_bytes = 8 * (1 + SIGNALS)});
  uint64_t block = mdf_data(f, "DT", data.at, data.size, &(mdf_storage){.zip = MDF_DEFLATE});
  mdf_end(f, (uint64_t[]){mdf_data_group(f, (uint64_t[]){group, 0}, block, 0), 0});
  mdf_save(f, scratch_path(s, "rig.mf4"));
  mdf_free(f), mdf_bytes_free(&data);
}

// Signals in packets: the bytes of a row, and a database with the same signals in a message with 29 bits of identifier.
enum { PAYLOAD = 4 * SIGNALS };

static void put_payload(unsigned char bytes[PAYLOAD], int row) {
  for (int i = 0; i < PAYLOAD; i++) bytes[i] = (unsigned char)((uint32_t)raw_value(row, i / 4) >> 8 * (i % 4) & 255);
}

static void put_packet_database(scratch *s, const char *file, uint32_t id) {
  static const char *const unit[SIGNALS] = {"V", "V", "rad", "m/s", "N"};
  FILE *to = fopen(scratch_path(s, file), "w");
  fprintf(to, "BO_ %u Rig: %d X\n", id | 0x80000000u, PAYLOAD);
  for (int i = 0; i < SIGNALS; i++)
    fprintf(to, " SG_ s%d : %d|32@1- (%.17g,0) [0|0] \"%s\" X\n", i + 1, 32 * i, ldexp(1, -binary_digits[i]), unit[i]);
  fclose(to);
}

// Fast packets of NMEA 2000 (PGN 0x1FF04 from source 23): 6 bytes, then 7 in each frame.
static void put_fast_packets(scratch *s) {
  FILE *to = fopen(scratch_path(s, "fast.log"), "w");
  put_packet_database(s, "fast.dbc", 0x09FF04FE);
  for (int k = 0; k < ROWS; k++) {
    unsigned char bytes[PAYLOAD + 7];
    memset(bytes, 255, sizeof bytes);
    put_payload(bytes, k);
    for (int frame = 0, at = 0; at < PAYLOAD; frame++) {
      fprintf(to, "(170000000%d.%09d) can0 09FF0417#%02X", k / 256, k % 256 * 3906250, (unsigned)(k % 8 << 5 | frame));
      if (frame == 0) fprintf(to, "%02X", PAYLOAD);
      for (int i = frame == 0 ? 1 : 0; i < 7; i++) fprintf(to, "%02X", bytes[at++]);
      fputc('\n', to);
    }
  }
  fclose(to);
}

// Frames of a CAN bus in an MDF file: each row is a BAM of SAE J1939 (PGN 0xFF20 from source 33) in three packets.
static void put_bus(scratch *s) {
  enum { RECORD = 8 + 4 + 1 + 8 };
  mdf_bytes data = {0};
  uint64_t frames = 0;
  put_packet_database(s, "bus.dbc", 0x18FF20FE);
  for (int k = 0; k < ROWS; k++) {
    unsigned char bytes[PAYLOAD + 7];
    memset(bytes, 255, sizeof bytes);
    put_payload(bytes, k);
    for (int packet = 0; packet < 4; packet++, frames++) {
      unsigned char *at = mdf_more(&data, RECORD);
      mdf_put_double(at, cell(k, 0));
      mdf_put(at + 8, (packet == 0 ? 0x1CECFF21 : 0x1CEBFF21) | 0x80000000u, 4, false);
      at[12] = 8;
      at[13] = packet == 0 ? 32 : (unsigned char)packet;
      if (packet == 0)
        memcpy(at + 14, (const unsigned char[]){PAYLOAD, 0, 3, 255, 0x20, 0xff, 0}, 7);
      else
        memcpy(at + 14, bytes + (packet - 1) * 7, 7);
    }
  }
  mdf_file *f = mdf_begin(NULL);
  const uint64_t members[] = {
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.ID", .byte = 8, .bits = 29, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.IDE", .byte = 11, .bit = 7, .bits = 1, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.DataLength", .byte = 12, .bits = 7, .flags = MDF_BUS_CHANNEL}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.DataBytes",
                               .data_type = MDF_BYTES,
                               .byte = 13,
                               .bits = 64,
                               .flags = MDF_BUS_CHANNEL}),
      0};
  const uint64_t channels[] = {mdf_time_channel(f),
                               mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame",
                                                        .data_type = MDF_BYTES,
                                                        .byte = 8,
                                                        .bits = 8 * (RECORD - 8),
                                                        .flags = MDF_BUS_CHANNEL,
                                                        .composition = mdf_chain(f, members)}),
                               0};
  uint64_t group = mdf_group(f, &(mdf_cg){.name = "CAN1",
                                          .source = mdf_source(f, "CAN1", "CAN1", 2, 2),
                                          .channels = channels,
                                          .records = frames,
                                          .flags = MDF_CG_BUS | MDF_CG_PLAIN_BUS,
                                          .data_bytes = RECORD});
  uint64_t block = mdf_data(f, "DT", data.at, data.size, NULL);
  mdf_end(f, (uint64_t[]){mdf_data_group(f, (uint64_t[]){group, 0}, block, 0), 0});
  mdf_save(f, scratch_path(s, "bus.mf4"));
  mdf_free(f), mdf_bytes_free(&data);
}

// A structure with time, as a scope of Simulink stores the signals: scope.time, scope.signals(k).values.
static void put_scope(scratch *s) {
  static double values[1 + SIGNALS][ROWS];
  size_t one[2] = {1, 1}, three[2] = {1, 3}, column[2] = {ROWS, 1}, pair[2] = {ROWS, 2};
  for (int i = 0; i <= SIGNALS; i++)
    for (int k = 0; k < ROWS; k++) values[i][k] = cell(k, i);
  mat_t *mat = Mat_CreateVer(scratch_path(s, "scope.mat"), NULL, MAT_FT_MAT5);
  assert_non_null(mat);
  matvar_t *signals = Mat_VarCreateStruct("signals", 2, three, (const char *[]){"values", "label"}, 2);
  matvar_t *scope = Mat_VarCreateStruct("scope", 2, one, (const char *[]){"time", "signals"}, 2);
  // The first and the last of the three have two signals each.
  for (int i = 0, signal = 1; i < 3; i++) {
    int width = i == 1 ? 1 : 2;
    matvar_t *v = Mat_VarCreate("values", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, width == 2 ? pair : column, values[signal], 0);
    Mat_VarSetStructFieldByName(signals, "values", (size_t)i, v);
    Mat_VarSetStructFieldByName(signals, "label", (size_t)i,
                                Mat_VarCreate("label", MAT_C_CHAR, MAT_T_UINT8, 2, one, (char[]){'a'}, 0));
    signal += width;
  }
  Mat_VarSetStructFieldByName(scope, "time", 0,
                              Mat_VarCreate("time", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, column, values[0], 0));
  Mat_VarSetStructFieldByName(scope, "signals", 0, signals);
  assert_int_equal(Mat_VarWrite(mat, scope, MAT_COMPRESSION_NONE), 0);
  Mat_VarFree(scope);
  Mat_Close(mat);
}

// A dataset of structures, with the units of its fields in one attribute.
static void put_records(scratch *s) {
  static const char *const name[] = {"Timestamp", "a", "b", "c", "d", "e"};
  static const char unit[1 + SIGNALS][4] = {"s", "V", "V", "rad", "m/s", "N"};
  static double rows[ROWS][1 + SIGNALS];
  for (int k = 0; k < ROWS; k++)
    for (int i = 0; i <= SIGNALS; i++) rows[k][i] = cell(k, i);
  hid_t file = H5Fcreate(scratch_path(s, "records.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t record = H5Tcreate(H5T_COMPOUND, sizeof rows[0]), text = H5Tcopy(H5T_C_S1);
  for (size_t i = 0; i <= SIGNALS; i++) H5Tinsert(record, name[i], i * sizeof rows[0][0], H5T_NATIVE_DOUBLE);
  hid_t space = H5Screate_simple(1, (hsize_t[]){ROWS}, NULL),
        fields = H5Screate_simple(1, (hsize_t[]){1 + SIGNALS}, NULL);
  hid_t set = H5Dcreate2(file, "samples", record, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Dwrite(set, record, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
  H5Tset_size(text, sizeof unit[0]);
  hid_t attribute = H5Acreate2(set, "units", text, fields, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, text, unit);
  H5Aclose(attribute), H5Dclose(set), H5Sclose(fields), H5Sclose(space), H5Tclose(text), H5Tclose(record);
  H5Fclose(file);
}

static void put_column(hid_t group, const char *name, const char *unit, int signal) {
  double values[ROWS];
  for (int k = 0; k < ROWS; k++) values[k] = cell(k, signal);
  hid_t space = H5Screate_simple(1, (hsize_t[]){ROWS}, NULL), scalar = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
  hid_t set = H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Tset_size(text, strlen(unit));
  hid_t attribute = H5Acreate2(set, "units", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, text, unit);
  H5Aclose(attribute), H5Tclose(text), H5Dclose(set), H5Sclose(scalar), H5Sclose(space);
}

static void put_hdf5(scratch *s) {
  hid_t file = H5Fcreate(scratch_path(s, "rig.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t group = H5Gcreate2(file, "daq", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  static const char *const name[] = {"time", "a", "b", "c", "d", "e"}, *const unit[] = {"s",   "V",   "V",
                                                                                        "rad", "m/s", "N"};
  for (int i = 0; i <= SIGNALS; i++) put_column(i ? group : file, name[i], unit[i], i);
  H5Gclose(group);
  H5Fclose(file);
}

// Vectors in files of level 4 and 7.3.
static void put_vectors(scratch *s, const char *file, enum mat_ft level) {
  static const char *const name[] = {"t", "a", "b", "c", "d", "e"};
  mat_t *mat = Mat_CreateVer(scratch_path(s, file), NULL, level);
  assert_non_null(mat);
  for (int i = 0; i <= SIGNALS; i++) {
    double values[ROWS];
    for (int k = 0; k < ROWS; k++) values[k] = cell(k, i);
    matvar_t *v = Mat_VarCreate(name[i], MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){ROWS, 1}, values, 0);
    assert_int_equal(Mat_VarWrite(mat, v, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v);
  }
  Mat_Close(mat);
}

// A logger with decimal commas, lines of text before a header in Windows-1252, dates, and remarks in some rows only; a table between blanks
// whose header has one name more than the rows have cells.
static void put_ragged(scratch *s) {
  FILE *dates = fopen(scratch_path(s, "ragged.csv"), "w"), *mark = fopen(scratch_path(s, "mark.txt"), "w");
  fputs(
      "Messdatei;Pr\xfc"
      "fstand\r\nAbtastrate;256 Hz\r\n\r\n",
      dates);
  fputs(
      "Zeitstempel;a [V];b [V];Winkel;v;f;Temperatur [\xb0"
      "C];Bemerkung\r\n",
      dates);
  fputs("%  t[ms]  a[V]  b[V]  c  d  e\n", mark);
  for (int k = 0; k < ROWS; k++) {
    fprintf(dates, "%s,%09d", k < 256 ? "01.03.2026 23:59:59" : "02.03.2026 00:00:00", k % 256 * 3906250);
    fprintf(mark, "%.17g", 1000 * cell(k, 0));
    for (int i = 1; i <= SIGNALS; i++) {
      fputc(';', dates);
      put_number(dates, cell(k, i), true);
      fprintf(mark, "   %.17g", cell(k, i));
    }
    fputs(k % 50 == 3 ? ";41,5;ok\r\n" : k % 50 == 7 ? ";;Start; gut\r\n" : "\r\n", dates);
    fputc('\n', mark);
  }
  fclose(dates), fclose(mark);
}

// Dates; row names, which have no header; a line of a unit for each of two files; a trailing separator; a byte order mark.
static void put_texts(scratch *s) {
  FILE *dates = fopen(scratch_path(s, "dates.csv"), "w"), *numbered = fopen(scratch_path(s, "rows.csv"), "w"),
       *first = fopen(scratch_path(s, "first.csv"), "w"), *second = fopen(scratch_path(s, "second.txt"), "w"),
       *ends = fopen(scratch_path(s, "ends.csv"), "w");
  fprintf(dates, "Timestamp,a,b,c,d,e\n"), fprintf(numbered, "\"t\" \"a\" \"b\" \"c\" \"d\" \"e\"\n");
  fprintf(first, "time,a,b,c\n"), fprintf(second, "# a second logger\nt;d;e\ns;m/s;N\n");
  fprintf(ends,
          "\xef\xbb\xbf"
          "Time;a;b;c;d;e;\r\n[s];[V];[V];[rad];[m/s];[N];\r\n");
  for (int k = 0; k < ROWS; k++) {
    fprintf(dates, "%s.%09d", k < 256 ? "2026-03-01 23:59:59" : "2026-03-02 00:00:00", k % 256 * 3906250);
    fprintf(numbered, "\"%d\" %.17g", k + 1, cell(k, 0));
    fprintf(first, "%.17g", cell(k, 0)), fprintf(second, "%.17g", cell(k, 0)), fprintf(ends, "%.17g", cell(k, 0));
    for (int i = 1; i <= SIGNALS; i++) {
      fprintf(dates, ",%.17g", cell(k, i)), fprintf(numbered, " %.17g", cell(k, i)),
          fprintf(ends, ";%.17g", cell(k, i));
      fprintf(i < 4 ? first : second, "%c%.17g", i < 4 ? ',' : ';', cell(k, i));
    }
    fputc('\n', dates), fputc('\n', numbered), fputc('\n', first), fputc('\n', second), fputs(";\r\n", ends);
  }
  fclose(dates), fclose(numbered), fclose(first), fclose(second), fclose(ends);
}

static const form others[] = {
    {.what = "candump, CAN FD",
     .file = "rig.log",
     .options = "--dbc rig.dbc",
     .column = {"s1", "s2", "s3", "s4", "s5"}},
    {.what = "ASC, CAN FD",
     .file = "rig.asc",
     .options = "--dbc rig.dbc",
     .column = {"s1", "Rig.s2", "s3", "s4", "s5"}},
    {.what = "BLF, CAN FD", .file = "rig.blf", .options = "--dbc rig.dbc", .column = {"s1", "s2", "s3", "s4", "s5"}},
    {.what = "MDF 4", .file = "rig.mf4", .column = {"c0", "c1", "c2", "c3", "c4"}},
    {.what = "HDF5", .file = "rig.h5", .column = {"daq.a", "daq.b", "daq.c", "daq.d", "daq.e"}},
    {.what = "MATLAB 4", .file = "old.mat", .column = {"a:V", "b:V", "c", "d", "e"}},
    {.what = "MATLAB 7.3", .file = "new.mat", .column = {"a:V", "b:V", "c", "d", "e"}},
    {.what = "dates and times", .file = "dates.csv", .column = {"a:V", "b:V", "c", "d", "e"}},
    {.what = "row names", .file = "rows.csv", .column = {"a:V", "4:V", "c", "d", "e"}},
    {.what = "two files", .file = "first.csv --data second.txt", .column = {"a:V", "b:V", "c", "d", "e"}},
    {.what = "separators at the ends of lines", .file = "ends.csv", .column = {"a", "b", "c", "d", "e"}},
    {.what = "decimal commas, dates, ragged rows", .file = "ragged.csv", .column = {"a", "b", "Winkel", "v", "f"}},
    {.what = "a header with one cell more", .file = "mark.txt", .column = {"a", "b", "c", "d", "e"}},
    {.what = "structure with time",
     .file = "scope.mat",
     .column = {"'scope.signals(1).values(:,1):V'", "'scope.signals(1).values(:,2):V'", "'scope.signals(2).values'",
                "'scope.signals(3).values(:,1)'", "'scope.signals(3).values(:,2)'"}},
    {.what = "MDF 4 with a CAN bus, J1939 in packets",
     .file = "bus.mf4",
     .options = "--dbc bus.dbc",
     .column = {"s1", "s2", "Rig.s3", "s4", "s5"},
     .rows = 4 * ROWS},
    {.what = "fast packets",
     .file = "fast.log",
     .options = "--dbc fast.dbc",
     .column = {"s1", "s2", "s3", "s4", "Rig.s5"}},
    {.what = "HDF5 table", .file = "records.h5", .column = {"samples.a", "b", "samples.c", "d", "samples.e"}},
};

static void put_others(scratch *s) {
  static const struct {
    const char *file;
    void (*put)(FILE *to);
  } traces[] = {{"rig.log", put_candump}, {"rig.asc", put_asc}, {"rig.blf", put_blf}};
  for (int i = 0; i < 3; i++) {
    FILE *to = fopen(scratch_path(s, traces[i].file), "w");
    traces[i].put(to);
    fclose(to);
  }
  put_database(s), put_mdf(s), put_hdf5(s), put_texts(s);
  put_vectors(s, "old.mat", MAT_FT_MAT4), put_vectors(s, "new.mat", MAT_FT_MAT73);
  put_ragged(s), put_scope(s), put_bus(s), put_fast_packets(s), put_records(s);
}

// --- Commands -----------------------------------------------------------------------------------------------------

// A command and the signals that it reads.
typedef struct command {
  const char *text;
  bool reads[SIGNALS];
} command;

static const command commands[] = {
    {"observe x.yaml --csv out", {true, true}},
    {"fit x.yaml --csv out", {true, true}},
    {"tune x.yaml --json out", {true, true}},
    {"frf --input u --output lag --csv out", {true, true}},
    {"tf --input u --output lag --order 1 --csv out", {true, true}},
    {"tf --input u --method arx --order 1 --csv out", {true, true}},
    {"inverse lag.yaml --csv out", {false, false, true}},
    {"friction coulomb --set Fc=100 --set vs=0.01 --set viscous=300 --column v --csv out", {false, false, false, true}},
    {"friction-fit friction.yaml --csv out", {false, false, false, true, true}},
};

// Runs a command with a log. Returns its result file.
static char *result_of(scratch *s, const command *c, const form *f) {
  char text[1500];
  int used = snprintf(text, sizeof text, "%s --quiet --data %s %s", c->text, f->file, f->options ? f->options : "");
  for (int i = 0; i < SIGNALS && f->column[0]; i++)
    if (c->reads[i]) used += snprintf(text + used, sizeof text - (size_t)used, " --map %s=%s", names[i], f->column[i]);
  // Without options, signals are selected by name.
  if (!f->column[0] && strstr(c->text, "--method"))
    used += snprintf(text + used, sizeof text - (size_t)used, " --output lag");
  remove(scratch_path(s, "out"));
  outcome o = run(s, "%s", text);
  if (o.code != 0) fail_msg("%s: %s\n%s%s", f->what, text, o.out, o.err);
  forget(o);
  char *result = scratch_read(scratch_path(s, "out"));
  // After the verdict, JSON has the names of the files.
  char *verdict = strstr(result, "\"verdict\"");
  if (verdict) *verdict = '\0';
  assert_true(strlen(result) > 100);
  return result;
}

static void put_files(scratch *s) {
  scratch_put(s, "lag.yaml", lag);
  scratch_put(s, "x.yaml", experiment);
  scratch_put(s, "friction.yaml", friction);
  put_form(s, &plain);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) put_form(s, &forms[i]);
  put_matlab(s);
}

enum { FORMS = sizeof forms / sizeof *forms, OTHERS = sizeof others / sizeof *others };

static const form *form_at(int i) {
  return i < FORMS ? &forms[i] : i < FORMS + OTHERS ? &others[i - FORMS] : i == FORMS + OTHERS ? &matlab : NULL;
}

static void test_forms(void **state) {
  scratch *s = *state;
  const form *f;
  put_files(s);
  put_others(s);
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
    char *expected = result_of(s, &commands[c], &plain);
    for (int i = 0; (f = form_at(i)); i++) {
      char *got = result_of(s, &commands[c], f);
      if (strcmp(got, expected) != 0) fail_msg("%s: %s: the result differs", commands[c].text, f->what);
      free(got);
    }
    free(expected);
  }
}

// The survey of each file. Oracles: the number of rows, the last time, and the greatest value of the second signal.
static void test_survey(void **state) {
  scratch *s = *state;
  const form *f;
  double greatest = -INFINITY;
  put_files(s);
  put_others(s);
  for (int k = 0; k < ROWS; k++) greatest = fmax(greatest, cell(k, 2));
  for (int i = 0; (f = form_at(i)); i++) {
    if (strstr(f->file, "--data")) continue;  // each file on its own
    outcome o = run(s, "log --data %s %s --json o.json --quiet", f->file, f->options ? f->options : "");
    if (o.code != 0) fail_msg("%s: %s", f->what, o.err);
    forget(o);
    json_error_t error;
    json_t *all = json_load_file(scratch_path(s, "o.json"), 0, &error), *channels = json_object_get(all, "channels");
    near(json_number_value(json_object_get(all, "rows")), f->rows > 0 ? f->rows : ROWS, 0);
    near(json_number_value(json_object_get(all, "end")), (ROWS - 1) / 256.0, 0);
    bool found = false;
    for (size_t c = 0; c < json_array_size(channels); c++)
      found = found || json_number_value(json_object_get(json_array_get(channels, c), "max")) == greatest;
    if (!found) fail_msg("%s: no channel has the greatest value %.17g", f->what, greatest);
    json_decref(all);
  }
}

// The used part of a log. Oracle: a file with only these rows.
static void test_part(void **state) {
  scratch *s = *state;
  put_files(s);
  FILE *part = fopen(scratch_path(s, "part.csv"), "w");
  put_line(part, plain.header, &plain);
  for (int k = 64; k <= 300; k++)
    for (int i = 0; i <= SIGNALS; i++) {
      put_number(part, cell(k, i), false);
      fputs(i < SIGNALS ? "," : "\n", part);
    }
  fclose(part);
  const form whole = {.what = "part", .file = "plain.csv", .options = "--start '250 ms' --end 1.171875"},
             alone = {.what = "rows of the part", .file = "part.csv"};
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
    char *a = result_of(s, &commands[c], &whole), *b = result_of(s, &commands[c], &alone);
    if (strcmp(a, b) != 0) fail_msg("%s: the part differs", commands[c].text);
    free(a), free(b);
  }
}

// --- Other times --------------------------------------------------------------------------------------------------

// Response of y = u * exp(-t / 50 ms) / 50 ms to a sum of sines, in closed form.
static void swing(double t, double *u, double *y) {
  static const double f[] = {0.37, 1.1, 1.9, 3.1, 4.7};
  *u = *y = 0;
  for (int i = 0; i < 5; i++) {
    double w = 6.283185307179586 * f[i], size = 1 / sqrt(1 + 0.0025 * w * w), late = atan(0.05 * w);
    *u += sin(w * t + i), *y += size * sin(w * t + i - late);
  }
}

// The pole of a transfer function of order 1 fitted to a log.
static double pole_of(scratch *s, const char *log) {
  double pole = 0;
  outcome o = run(s, "tf %s --input u --output y --high 5 --length 2048 --order 1 --json -", log);
  ends_with(o, 0);
  const char *poles = strstr(o.out, "\"poles\"");
  assert_non_null(poles);
  assert_int_equal(sscanf(strchr(poles, '-'), "%lf", &pole), 1);
  forget(o);
  return pole;
}

// Logs with irregular times, and with signals at different times in two files. Oracle: the result from a log with equal times, of the
// same signals in closed form.
static void test_other_times(void **state) {
  scratch *s = *state;
  FILE *jitter = fopen(scratch_path(s, "jitter.csv"), "w"), *a = fopen(scratch_path(s, "a.csv"), "w"),
       *b = fopen(scratch_path(s, "b.csv"), "w"), *even = fopen(scratch_path(s, "even.csv"), "w");
  fprintf(jitter, "time,u,y\n"), fprintf(even, "time,u,y\n"), fprintf(a, "time,u\n"), fprintf(b, "time,y\n");
  double u, y;
  for (int k = 0; k < 6000; k++) {
    double t = 0.005 * k, off = 0.002 * sin(1e3 * k * k);
    swing(t + off, &u, &y);
    fprintf(jitter, "%.9g,%.9g,%.9g\n", t + off, u, y);
    swing(t, &u, &y);
    fprintf(a, "%.9g,%.9g\n", t, u);
    fprintf(even, "%.9g,%.9g,%.9g\n", t, u, y);
    swing(t + 0.0013, &u, &y);
    if (k % 2) fprintf(b, "%.9g,%.9g\n", t + 0.0013, y);
  }
  fclose(jitter), fclose(even), fclose(a), fclose(b);
  static const char *const logs[] = {"--data jitter.csv", "--data a.csv --data b.csv"};
  static const char *const words[] = {"the times of the log are not uniform", "the signals have different times"};
  double expected = pole_of(s, "--data even.csv");
  near_relative(expected, -20, 0.1);
  for (int i = 0; i < 2; i++) {
    outcome o = run(s, "frf %s --input u --output y --length 2048 --high 5 --csv out --json o.json", logs[i]);
    ends_with(o, 0);
    says(o.out, words[i]);
    forget(o);
    char *json = scratch_read(scratch_path(s, "o.json"));
    says(json, "interpolated linearly to 2");
    free(json);
    near_relative(pole_of(s, logs[i]), expected, 0.03);
  }
  // A pause is not interpolated.
  FILE *pause = fopen(scratch_path(s, "pause.csv"), "w");
  fprintf(pause, "time,u,y\n");
  for (int k = 0; k < 400; k++) {
    double t = 0.005 * k + (k >= 200 ? 3 : 0);
    swing(t, &u, &y);
    fprintf(pause, "%.9g,%.9g,%.9g\n", t, u, y);
  }
  fclose(pause);
  ends_and_says(run(s, "frf pause.csv --input u"), 2, "'u' has no value for 3.005 s after 0.995 s");
  // The same with several files, in commands that keep the times.
  scratch_put(s, "friction.yaml", friction);
  FILE *speed = fopen(scratch_path(s, "speed.csv"), "w"), *force = fopen(scratch_path(s, "force.csv"), "w");
  fprintf(speed, "time,v\n"), fprintf(force, "time,f\n");
  for (int k = 0; k < ROWS; k++) {
    fprintf(force, "%.9g,%.9g\n", cell(k, 0), cell(k, 5));
    if (k < 100 || k > 200) fprintf(speed, "%.9g,%.9g\n", cell(k, 0) + 0.001, cell(k, 4));
  }
  fclose(speed), fclose(force);
  ends_and_says(run(s, "friction-fit friction.yaml --data force.csv --data speed.csv"), 2,
                "speed.csv: 'v' has no value for 0.398438 s after 0.38771875 s");
  expect_code(run(s, "friction-fit friction.yaml --data force.csv --data speed.csv --start 0.9 --quiet"), 0);
}

// Signals of one file with empty cells. Oracle: the result from a log with all values, of the same signals in closed form; and the error
// of linear interpolation, computed from the signal itself.
static void test_empty_cells(void **state) {
  scratch *s = *state;
  FILE *even = fopen(scratch_path(s, "even.csv"), "w"), *fourth = fopen(scratch_path(s, "fourth.csv"), "w"),
       *turns = fopen(scratch_path(s, "turns.csv"), "w"), *holes = fopen(scratch_path(s, "holes.csv"), "w"),
       *hole = fopen(scratch_path(s, "hole.csv"), "w"), *part = fopen(scratch_path(s, "part.csv"), "w");
  FILE *const all[] = {even, fourth, turns, holes, hole, part};
  for (int i = 0; i < 6; i++) fprintf(all[i], "time,u,y\n");
  double u, y, last = 0, between[4] = {0}, error = 0, squares = 0;
  for (int k = 0; k < 6001; k++) {
    double t = 0.005 * k;
    swing(t, &u, &y);
    fprintf(even, "%.9g,%.9g,%.9g\n", t, u, y);
    fprintf(fourth, k % 4 == 0 ? "%.9g,%.9g,%.9g\n" : "%.9g,%.9g,\n", t, u, y);
    if (k % 2 == 0) fprintf(turns, "%.9g,%.9g,\n", t, u);
    if (k % 2 == 1) fprintf(turns, "%.9g,,%.9g\n", t, y);
    fprintf(holes, k % 100 < 96 ? "%.9g,%.9g,%.9g\n" : "%.9g,%.9g,nan\n", t, u, y);
    fprintf(hole, k < 3000 || k > 3030 ? "%.9g,%.9g,%.9g\n" : "%.9g,%.9g,\n", t, u, y);
    fprintf(part, k >= 1000 && k <= 5000 ? "%.9g,%.9g,%.9g\n" : "%.9g,%.9g,\n", t, u, y);
    between[k % 4] = y, squares += y * y;
    for (int i = 1; i < 4 && k % 4 == 0 && k > 0; i++) error += pow(between[i] - last - i * (y - last) / 4, 2);
    if (k % 4 == 0) last = y;
  }
  for (int i = 0; i < 6; i++) fclose(all[i]);
  double expected = pole_of(s, "--data even.csv");
  static const char *const logs[] = {"fourth.csv", "turns.csv", "holes.csv", "part.csv"};
  static const char *const words[] = {"'y' has no value in 4500 of 6001 rows", "has no value in 300",
                                      "'y' has no value in 240 of 6001 rows",
                                      "All signals have values only from 5 s to 25 s"};
  for (int i = 0; i < 4; i++) {
    outcome o = run(s, "frf %s --input u --length 2048 --high 5", logs[i]);
    ends_with(o, 0);
    says(o.out, words[i]);
    // Values every 20 ms have the Nyquist frequency 25 Hz.
    if (i == 0) says(o.out, "Above 25 Hz, half the sampling frequency of 'y', the result is not valid.");
    if (i == 0) {
      double percent = 0, true_percent = 100 * sqrt(error / squares);
      assert_int_equal(sscanf(strstr(o.out, "is about") + strlen("is about"), "%lf", &percent), 1);
      if (fabs(percent / true_percent - 1) > 0.3)
        fail_msg("error of interpolation %g %%, expected %g %%", percent, true_percent);
    }
    forget(o);
    char option[100];
    snprintf(option, sizeof option, "--data %s", logs[i]);
    near_relative(pole_of(s, option), expected, 0.03);
  }
  expect_code(run(s, "tf fourth.csv --input u --output y --method arx --order 1 --quiet"), 0);
  // A gap of 32 intervals is not interpolated.
  ends_and_says(run(s, "frf hole.csv --input u"), 2, "'y' has no value for 0.16 s after 14.995 s");
  ends_and_says(run(s, "frf hole.csv --input u"), 2, "Exclude the gap with --start or --end");
  expect_code(run(s, "frf hole.csv --input u --end 14 --quiet"), 0);
}

// --- Several rates ------------------------------------------------------------------------------------------------

// A CAN trace: the input every 4 ms, the output every 10 ms, and a message that no command reads. Oracle: a CSV file that the test
// merges, with empty cells; and one CSV file per message.
static void test_rates(void **state) {
  scratch *s = *state;
  put_files(s);
  scratch_put(s, "bus.dbc",
              "VERSION \"\"\nBU_: X\nBO_ 256 Drive: 8 X\n SG_ u : 0|32@1- (0.0009765625,0) [0|0] \"V\" X\n\n"
              "BO_ 512 Plant: 8 X\n SG_ y : 0|32@1- (9.5367431640625e-07,0) [0|0] \"V\" X\n\n"
              "BO_ 768 Other: 8 X\n SG_ z : 0|32@1- (1,0) [0|0] \"\" X\n");
  FILE *can = fopen(scratch_path(s, "bus.log"), "w"), *merged = fopen(scratch_path(s, "merged.csv"), "w"),
       *drive = fopen(scratch_path(s, "drive.csv"), "w"), *plant = fopen(scratch_path(s, "plant.csv"), "w");
  fprintf(merged, "time,u,y\n"), fprintf(drive, "time,u\n"), fprintf(plant, "time,y\n");
  for (int ms = 0; ms < 1000; ms++) {
    double u, y;
    swing(1e-3 * ms, &u, &y);
    const int bits_u = (int)round(100 * u), bits_y = (int)round(y * (1 << 20));
    const unsigned raw[2] = {(unsigned)bits_u, (unsigned)bits_y};
    for (int k = 0; k < 2; k++)
      if (ms % (k ? 10 : 4) == 0)
        fprintf(can, "(1700000000.%06d) can0 %s#%02X%02X%02X%02X00000000\n", 1000 * ms, k ? "200" : "100", raw[k] & 255,
                raw[k] >> 8 & 255, raw[k] >> 16 & 255, raw[k] >> 24);
    if (ms % 3 == 1) fprintf(can, "(1700000000.%06d) can0 300#0000000000000000\n", 1000 * ms);
    if (ms % 4 == 0) fprintf(drive, "%.17g,%.17g\n", ms / 1e3, bits_u / 1024.0);
    if (ms % 10 == 0) fprintf(plant, "%.17g,%.17g\n", ms / 1e3, bits_y / 1048576.0);
    if (ms % 4 && ms % 10) continue;
    fprintf(merged, "%.17g,", ms / 1e3);
    if (ms % 4 == 0) fprintf(merged, "%.17g", bits_u / 1024.0);
    fprintf(merged, ",");
    if (ms % 10 == 0) fprintf(merged, "%.17g", bits_y / 1048576.0);
    fprintf(merged, "\n");
  }
  fclose(can), fclose(merged), fclose(drive), fclose(plant);
  static const char bus[] = "--data bus.log --dbc bus.dbc", parts[] = "--data drive.csv --data plant.csv";
  static const struct {
    const char *command, *maps, *csv;
  } list[] = {
      {"observe x.yaml", " --map lag=y:V --map u=u:V", "merged.csv"},
      {"fit x.yaml", " --map lag=y:V --map u=u:V", "merged.csv"},
      {"frf --input u --output y --length 64", " --map u=u:V --map y=y:V", NULL},
      {"tf --input u --output y --order 1 --method arx", " --map u=u:V --map y=y:V", NULL},
      {"friction coulomb --set Fc=100 --set vs=0.01 --set viscous=300 --column v", " --map v=u:m/s", "drive.csv"}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    char *result[3] = {NULL};
    for (int k = 0; k < (list[i].csv ? 3 : 2); k++) {
      char data[100];
      snprintf(data, sizeof data, "--data %s", list[i].csv ? list[i].csv : "");
      outcome o = run(s, "%s %s %s --csv out", list[i].command, k == 0 ? bus : k == 1 ? parts : data, list[i].maps);
      if (o.code != 0 && o.code != 3) fail_msg("%s: %d\n%s%s", list[i].command, o.code, o.out, o.err);
      if (k < 2 && strstr(o.out, "missing and ignored"))
        fail_msg("%s: false missing values\n%s", list[i].command, o.out);
      forget(o);
      result[k] = scratch_read(scratch_path(s, "out"));
      if (strcmp(result[k], result[0]) != 0) fail_msg("%s: result %d differs", list[i].command, k);
    }
    for (int k = 0; k < 3; k++) free(result[k]);
  }
  free(result_of(s, &(command){"observe x.yaml --json out", {true, true}},
                 &(form){.file = "bus.log", .options = "--dbc bus.dbc", .column = {"u", "y", "", "", ""}}));
  char *json = scratch_read(scratch_path(s, "out"));
  const char *at = json;
  for (int count = 0; (at = strstr(at, "\"missing\": ")); count++, at++)
    if (strncmp(at, "\"missing\": 0", 12) != 0) fail_msg("%.60s", at);
  free(json);
}

// --- Repeated times -----------------------------------------------------------------------------------------------

// Every command reports omitted rows. Oracle: the number of rows that the test repeats, with other values; the results are those of the
// log without these rows.
static void test_repeated(void **state) {
  scratch *s = *state;
  put_files(s);
  FILE *from = fopen(scratch_path(s, "plain.csv"), "r"), *to = fopen(scratch_path(s, "repeated.csv"), "w");
  char line[1000];
  for (int k = 0; fgets(line, sizeof line, from); k++) {
    fputs(line, to);
    if (k > 0 && k % 50 == 0) fprintf(to, "%.*s,1,2,3,4,5\n", (int)strcspn(line, ","), line);
  }
  fclose(from), fclose(to);
  const form repeated = {.what = "repeated times", .file = "repeated.csv"};
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
    char *expected = result_of(s, &commands[c], &plain), *got = result_of(s, &commands[c], &repeated);
    if (strcmp(got, expected) != 0) fail_msg("%s: the result differs", commands[c].text);
    free(got), free(expected);
    outcome o = run(s, "%s --data repeated.csv%s", commands[c].text,
                    strstr(commands[c].text, "--method") ? " --output lag" : "");
    const char *remark = "8 rows of repeated.csv have the time of the previous row";
    if (!strstr(o.out, remark) && !strstr(o.err, remark))
      fail_msg("%s: no remark\n%s%s", commands[c].text, o.out, o.err);
    forget(o);
  }
}

// --- Options ------------------------------------------------------------------------------------------------------

// All commands that read logs have the options of logs, with the same text and the same argument.
static void test_options(void **state) {
  (void)state;
  static const char *const kinds[] = {"observe", "fit",      "tune",         "frf", "tf",
                                      "inverse", "friction", "friction-fit", "log"};
  static const char *const options[] = {"data", "map", "skip", "start", "end", "interval", "hold", "missing", "dbc"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char *help = NULL;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      od_job *job = od_job_new(kinds[k]);
      bool found = false;
      for (int n = 0; n < od_job_option_count(job); n++) {
        const od_job_option o = od_job_option_at(job, n);
        if (strcmp(o.name, options[i]) != 0) continue;
        found = true;
        if (!help) help = strdup(o.help);
        assert_string_equal(o.help, help);
      }
      if (!found) fail_msg("%s has no --%s", kinds[k], options[i]);
      od_job_free(job);
    }
    free(help);
  }
}

// Mistakes have the same words in every command; the place is the option.
static void test_mistakes(void **state) {
  scratch *s = *state;
  put_files(s);
  static const char *const wrong[][2] = {
      {"--map =3", "--map: error: found '=3'; expected NAME=COLUMN or NAME=COLUMN:UNIT, such as p=3:bar"},
      {"--map time", "--map: error: found 'time'; expected NAME=COLUMN"},
      {"--map time=t --map time=u", "--map: error: 'time' is given twice; remove one entry"},
      {"--map time=tim", "--map: error: plain.csv has no column 'tim'; did you mean 'time'?"},
      {"--map time=9", "--map: error: plain.csv has no column '9'; its columns are time, u, lag, A.angle, v, f"},
      {"--map time=time:kg", "--map: error: column 'time' is in 'kg', a mass; expected a unit for 'time', such as s"},
      {"--map time=time --interval 1", "--interval: error: found both --interval and --map time=COLUMN"},
      {"--skip -1", "--skip: error: found '-1'; expected a whole number of lines, less than a million"},
      {"--start later",
       "--start: error: found 'later', expected a time: a number with or without a unit, such as '5 s'"},
      {"--end '3 kg'", "--end: error: the unit 'kg' cannot be converted to s"},
      {"--start 2 --end 1", "--end: error: the log ends at 1 s and starts at 2 s"},
      {"--interval 0", "--interval: error: found '0', expected a positive time"},
      {"--hold never", "--hold: error: found 'never'; expected linear"},
  };
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      outcome o = run(s, "%s --data plain.csv %s", commands[c].text, wrong[i][0]);
      // Commands that end with one message have the place in this message.
      char words[300];
      const char *error = strstr(wrong[i][1], "error: ");
      snprintf(words, sizeof words, "%s", error + strlen("error: "));
      if (o.code != 2) fail_msg("%s %s: exit code %d\n%s", commands[c].text, wrong[i][0], o.code, o.err);
      says(o.err, words);
      snprintf(words, sizeof words, "%.*s", (int)strcspn(wrong[i][1], " "), wrong[i][1]);
      says(o.err, words);
      forget(o);
    }
}

// Settings without a log are mistakes, not ignored.
static void test_no_log(void **state) {
  scratch *s = *state;
  put_files(s);
  scratch_put(s, "simulated.yaml",
              "machine: lag.yaml\nstep: 4 ms\ntime: 0.1 s\nsensors: {lag: {sigma: 50 mV}}\n"
              "parameters: {lag.gain: {start: 1.5, sigma: 1, low: 0.1, high: 10}}\n");
  // The log of 'data' is not fitted, because the file has sets.
  scratch_put(s, "sets.yaml",
              "machine: lag.yaml\nstep: 4 ms\nsensors: {lag: {sigma: 50 mV}}\n"
              "parameters: {lag.gain: {start: 1.5, sigma: 1, low: 0.1, high: 10}}\n"
              "data: {file: plain.csv}\nsets: {one: {data: {file: plain.csv}}}\n");
  expect_code(run(s, "fit sets.yaml --quiet"), 0);
  scratch_put(s, "points.yaml",
              "friction: points\nlaws: {guess: {law: coulomb, Fc: 40 N, vs: 10 mm/s, viscous: 90 N s/m}}\n"
              "fit: {law: coulomb, method: steady, start: guess, parameters: [Fc, viscous], restarts: 0}\n"
              "points: {log: plain.csv, velocity: v, force: f}\n");
  ends_with(run(s, "friction-fit points.yaml --quiet"), 0);
  static const char *const wrong[][2] = {
      {"observe simulated.yaml --skip 3", "--skip: error: the data are simulated; expected a log"},
      {"tune simulated.yaml --start 3", "--start: error: the data are simulated; expected a log"},
      {"fit simulated.yaml --end 3", "--end: error: found no log to which this option applies"},
      {"fit sets.yaml --end 3", "--end: error: found no log to which this option applies"},
      {"inverse lag.yaml --move A.angle=0 --end 3", "--end requires a log; give --data"},
      {"frf lag.yaml --missing 3", "--missing applies only to logs"},
      {"friction tustin --set Fs=2 --set Fc=1 --set vs=0.01 --set viscous=3 --end 3",
       "--end requires a log; give --data"},
      {"friction-fit points.yaml --data plain.csv", "--data: error: the file has no section 'run'"},
      {"friction-fit points.yaml --run plain.csv", "--run: error: the file has no section 'run'"},
      {"friction-fit points.yaml --start 1", "--start: error: points have no times"},
      {"frf --input u", "no file is given; give a log or a machine file, or a log with --data"},
      {"frf plain.csv --data plain.csv --input u", "give the log once"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ends_and_says(run(s, "%s", wrong[i][0]), 2, wrong[i][1]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_forms), TEST(test_survey),  TEST(test_part),     TEST(test_other_times), TEST(test_empty_cells),
      TEST(test_rates), TEST(test_options), TEST(test_mistakes), TEST(test_no_log),      TEST(test_repeated)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
