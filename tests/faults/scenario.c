#include "scenario.h"

#include <stdarg.h>

#include "base/saved.h"
#include "io/clock.h"
#include "formats/read_table.h"
#include "io/mat_integrity.h"
#include "support/mdf_writer.h"

static const char old_text[] = "what was there before\n";

// --- The table ------------------------------------------------------------------------------------------------------

const scenario scenarios[] = {
    {.name = "check", .arguments = "check lag.yaml observe.yaml fit.yaml study.yaml"},
    {.name = "check --json", .arguments = "check lag.yaml observe.yaml --json"},
    {.name = "info", .arguments = "info lag.yaml"},
    {.name = "compile", .arguments = "compile lag.yaml -o o.odm", .output = {"o.odm"}},
    {.name = "draw",
     .arguments = "draw swing.yaml --machine o.svg --circuit o2.svg --json o.json",
     .output = {"o.svg", "o2.svg", "o.json"}},
    {.name = "info --json", .arguments = "info lag.yaml --json"},
    {.name = "new --list", .arguments = "new --list"},
    {.name = "new --list --json", .arguments = "new --list --json o.json", .output = {"o.json"}},
    {.name = "completion", .arguments = "completion bash"},
    {.name = "simulate --plot -", .arguments = "simulate lag.yaml --plot - --quiet"},
    {.name = "simulate, printed", .arguments = "simulate lag.yaml"},
    {.name = "simulate --csv -", .arguments = "simulate lag.yaml --csv - --quiet"},
    {.name = "simulate --json -", .arguments = "simulate lag.yaml --json - --quiet"},
    {.name = "simulate, files",
     .arguments = "simulate lag.yaml --csv o.csv --json o.json --mat o.mat --plot o.svg",
     .output = {"o.csv", "o.json", "o.mat", "o.svg"}},
    {.name = "observe, files",
     .arguments = "observe observe.yaml --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "observe --live",
     .arguments = "observe observe.yaml --live --csv o.csv --quiet",
     .input = "log.csv",
     .output = {"o.csv"},
     .ends_early = true},
    {.name = "observe --follow",
     .arguments = "observe observe.yaml --data log.csv --follow --follow-timeout 0.01 --csv o.csv --quiet",
     .output = {"o.csv"},
     .ends_early = true},
    {.name = "simulate --checkpoint",
     .arguments = "simulate lag.yaml --csv o.csv --checkpoint o.state --quiet",
     .output = {"o.csv", "o.state"}},
    {.name = "simulate --resume",
     .arguments = "simulate lag.yaml --time 0.6 --resume run.state --csv o.csv --checkpoint o.state --quiet",
     .output = {"o.csv", "o.state"}},
    {.name = "observe --checkpoint",
     .arguments = "observe replay.yaml --csv o.csv --checkpoint o.state --quiet",
     .output = {"o.csv", "o.state"}},
    {.name = "observe --live --checkpoint",
     .arguments = "observe observe.yaml --live --checkpoint o.state --checkpoint-every 0.001 --quiet",
     .input = "log.csv",
     .output = {"o.state"},
     .ends_early = true},
    {.name = "observe, MATLAB log",
     .arguments = "observe observe.yaml --data log.mat --csv o.csv --quiet",
     .output = {"o.csv"}},
    {.name = "observe, CSV log",
     .arguments = "observe replay.yaml --csv o.csv --json o.json --quiet",
     .output = {"o.csv", "o.json"}},
    {.name = "observe, CAN trace",
     .arguments = "observe replay.yaml --data trace.asc --dbc lag.dbc --csv o.csv --quiet",
     .output = {"o.csv"}},
    {.name = "observe, MDF log",
     .arguments = "observe replay.yaml --data log.mf4 --dbc lag.dbc --csv o.csv --quiet",
     .output = {"o.csv"}},
    {.name = "tune, files",
     .arguments = "tune observe.yaml --threads 2 --json o.json --plot o.svg --report o.html",
     .output = {"o.json", "o.svg", "o.html"}},
    {.name = "fit, files",
     .arguments = "fit fit.yaml --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "study, files",
     .arguments = "study study.yaml --json o.json --plot o.svg --report o.html --threads 2",
     .output = {"o.json", "o.svg", "o.html"}},
    {.name = "study, a part",
     .arguments = "study study.yaml --part 1/2 --values o.json --threads 1 --quiet",
     .output = {"o.json"}},
    {.name = "compare, files",
     .arguments = "compare observe.yaml --filter ekf --seeds 2 --threads 1 --json o.json --plot o.svg --report o.html",
     .output = {"o.json", "o.svg", "o.html"}},
    {.name = "equilibrium",
     .arguments = "equilibrium lag.yaml --json o.json --plot o.svg --report o.html",
     .output = {"o.json", "o.svg", "o.html"}},
    {.name = "linearize, files",
     .arguments = "linearize lag.yaml --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "bode, files",
     .arguments =
         "bode lag.yaml --output lag --points 20 --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "rga, files",
     .arguments =
         "rga lag.yaml --input u --output lag --points 5 --csv o.csv --json o.json --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.svg", "o.html"}},
    {.name = "simulate --sweep, files",
     .arguments =
         "simulate lag.yaml --sweep lag.gain=1:2:3 --threads 2 --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "frf of a log",
     .arguments =
         "frf log.csv --input u --output lag --length 8 --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "frf of a MATLAB log",
     .arguments = "frf log.mat --input u --output lag --length 8 --csv o.csv --quiet",
     .output = {"o.csv"}},
    {.name = "log",
     .arguments =
         "log log.csv lag.yaml --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html --resample 0.02",
     .output = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"}},
    {.name = "frf of an HDF5 log",
     .arguments = "frf log.h5 --input u --output lag --length 8 --csv o.csv --quiet",
     .output = {"o.csv"}},
    {.name = "tf of a machine",
     .arguments =
         "tf lag.yaml --output lag --points 20 --order 1:2 --csv o.csv --json o.json --block o.yaml --plot o.svg --report o.html",
     .output = {"o.csv", "o.json", "o.yaml", "o.svg", "o.html"}},
    {.name = "tf of samples",
     .arguments = "tf long.csv --input u --output lag --method arx --order 1 --csv o.csv --json o.json --block o.yaml",
     .output = {"o.csv", "o.json", "o.yaml"}},
    {.name = "friction, files",
     .arguments =
         "friction reduced --set Fs=700 --set Fc=65 --set vs=0.02 --set n=0.5 --set sigma_0=2e7 --set tau_hn=1 "
         "--vary Fs=800 --vary Fc=80 --show hysteresis --csv o.csv --json o.json --mat o.mat --plot o.svg",
     .output = {"o.csv", "o.json", "o.mat", "o.svg"}},
    {.name = "friction of a log",
     .arguments = "friction lugre --set Fs=700 --set Fc=65 --set vs=0.02 --set sigma_0=2e7 --data log.csv "
                  "--column u --csv o.csv --json o.json --quiet",
     .output = {"o.csv", "o.json"}},
    {.name = "simulate, long",
     .arguments =
         "simulate lag.yaml --time 4000 --every 500 --csv o.csv --json o.json --mat o.mat --plot o.svg --quiet",
     .output = {"o.csv", "o.json", "o.mat", "o.svg"},
     .long_run = true},
    {.name = "simulate --checkpoint, long",
     .arguments = "simulate lag.yaml --time 4000 --every 500 --csv o.csv --checkpoint o.state --quiet",
     .output = {"o.csv", "o.state"},
     .long_run = true},
    {.name = "simulate --sweep, long",
     .arguments = "simulate lag.yaml --time 2000 --sweep lag.gain=1:2:2 --threads 2 --csv o.csv --json o.json --quiet",
     .output = {"o.csv", "o.json"},
     .long_run = true},
    {.name = "compare, long",
     .arguments = "compare long.yaml --filter ekf --seeds 2 --threads 2 --json o.json --quiet",
     .output = {"o.json"},
     .long_run = true},
    {.name = "observe, long",
     .arguments = "observe long.yaml --json o.json --report o.html --quiet",
     .output = {"o.json", "o.html"},
     .long_run = true},
    {.name = "tune, long",
     .arguments = "tune long.yaml --set time=1 --threads 2 --json o.json --report o.html --quiet",
     .output = {"o.json", "o.html"},
     .long_run = true},
    {.name = "fit, long",
     .arguments = "fit long.yaml --json o.json --report o.html --quiet",
     .output = {"o.json", "o.html"},
     .long_run = true},
    {.name = "study, long",
     .arguments = "study long.study.yaml --json o.json --threads 2 --quiet",
     .output = {"o.json"},
     .long_run = true},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;

static const struct {
  const char *name, *text;
} files[] = {
    {"lag.yaml",
     "machine: Lag\n"
     "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
     "blocks:\n"
     "  lag:\n"
     "    type: first-order\n"
     "    input: u\n"
     "    gain: 2.25\n"
     "    time_constant: 0.5 s  # of the filter\n"
     "run:\n"
     "  step: 20 ms\n"
     "  time: 0.4 s\n"
     "  outputs: [u, lag]\n"
     "variants: {wrong: {blocks: {lag: {gain: 1, time_constant: 1 s}}}}\n"},
    {"swing.yaml",
     "machine: Swing\noil: {density: 870, law: constant, modulus: 1 GPa}\nground: {points: {foot: [1 m, -1 m]}}\n"
     "bodies: {arm: {beam: {mass: 9 kg, length: 2 m}}}\njoints: {hinge: {type: revolute, between: [ground, arm.start]}}\n"
     "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\nleaks: {leak: {between: [A, T], slope: 1e-12 m^3/(s Pa)}}\n"
     "cylinders: {ram: {between: [ground.foot, arm.end], chambers: [A, T], areas: [9 cm^2, 5 cm^2], closed: 1 m, stroke: 1 m}}\n"
     "initial: {hinge.angle: 0 deg, A.pressure: 9 bar}\n"
     "look: {bodies: {arm: {shapes: [{path: M0 0 L2 .1 L2 -.1 Z, color: accent}]}}, traces: arm.end}\n"},
    {"observe.yaml",
     "machine: lag.yaml\nmodel: {variant: wrong}\ntime: 0.4 s\nstep: 20 ms\n"
     "sensors:\n  lag:\n    sigma: 50 mV\nparameters:\n  lag.gain:\n    sigma: 1.25\n"},
    {"replay.yaml",
     "machine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 50 mV}}\n"
     "parameters: {lag.gain: {sigma: 1}}\ndata: {file: log.csv}\n"},
    {"trace.asc",
     "base hex  timestamps absolute\n"
     "0.000000 1  64  Rx   d 4 00 00 00 00\n"
     "0.040000 1  64  Rx   d 4 1B 00 05 00\n"
     "0.080000 1  64  Rx   d 4 3A 00 0F 00\n"
     "0.120000 1  64  Rx   d 4 5C 00 1E 00\n"
     "0.160000 1  64  Rx   d 4 83 00 33 00\n"
     "0.200000 1  64  Rx   d 4 AD 00 4E 00\n"
     "0.240000 1  64  Rx   d 4 DA 00 6F 00\n"
     "0.280000 1  64  Rx   d 4 0A 01 96 00\n"
     "0.320000 1  64  Rx   d 4 3E 01 C4 00\n"
     "0.360000 1  64  Rx   d 4 74 01 F7 00\n"
     "0.400000 1  64  Rx   d 4 AC 01 30 01\n"},
    {"lag.dbc",
     "VERSION \"\"\nBU_: Node\nBO_ 100 Lag: 4 Node\n SG_ u : 0|16@1- (0.001,0) [-32|32] \"V\" Node\n"
     " SG_ lag : 16|16@1- (0.001,0) [-32|32] \"V\" Node\nCM_ SG_ 100 lag \"the filter\";\nVAL_ 100 u 32767 \"not available\" ;\n"},
    {"fit.yaml",
     "machine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 50 mV}}\n"
     "data: {file: log.csv}\nparameters:\n  lag.gain:\n    low: 0.1\n    high: 10.5\n"},
    {"study.yaml",
     "study: small\ncases:\n  a: {experiment: observe.yaml, seeds: 3}\n"
     "  b:\n    experiment: fit.yaml\n    do: fit\n    seeds: 12\n"},
    {"signal.yaml",
     "machine: Lag\ninputs: {u: {unit: V, file: {path: log.csv, column: u}}}\n"
     "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
     "run: {time: 0.4 s, step: 20 ms, outputs: [u, lag]}\n"},
    {"long.yaml",
     "machine: lag.yaml\nmodel: {variant: wrong}\ntime: 20 s\nstep: 0.1 ms\n"
     "sensors: {lag: {sigma: 50 mV}}\nparameters: {lag.gain: {low: 0.1, high: 10, sigma: 1}}\n"
     "fit: {integrator: trapezoid}\n"},
    {"long.study.yaml",
     "study: long\ncases:\n  a: {experiment: long.yaml, seeds: 3}\n  b: {experiment: long.yaml, do: fit, seeds: 3}\n"},
};

// Writes the log log.csv as an MDF 4 file as well: records of two groups in deflated blocks. The second group has frames of a CAN bus.
static bool write_mdf_log(scratch *s) {
  enum { WIDTH = 3 * 8, FRAME = 8 + 4 + 1 + 4 };
  od_table *t = NULL;
  if (od_table_read(scratch_path(s, "log.csv"), NULL, &t, NULL) != OD_OK || t->columns < 3) return false;
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  const mdf_cn time = {
      .name = "t", .unit = "s", .type = MDF_MASTER, .sync = MDF_TIME, .data_type = MDF_FLOAT_LE, .bits = 64};
  uint64_t channels[] = {mdf_channel(f, &time), 0, 0, 0}, bus[] = {mdf_channel(f, &time), 0, 0};
  for (int c = 1; c < 3; c++) {
    const mdf_cn cn = {.name = t->name[c], .unit = t->unit[c], .data_type = MDF_FLOAT_LE, .byte = 8 * c, .bits = 64};
    channels[c] = mdf_channel(f, &cn);
  }
  const uint64_t frame[] = {
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.ID", .byte = 8, .bits = 29}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.DLC", .byte = 12, .bits = 4}),
      mdf_channel(f, &(mdf_cn){.name = "CAN_DataFrame.DataBytes", .data_type = MDF_BYTES, .byte = 13, .bits = 32}), 0};
  uint64_t members = mdf_chain(f, frame);
  bus[1] = mdf_channel(
      f, &(mdf_cn){.name = "CAN_DataFrame", .data_type = MDF_BYTES, .byte = 8, .bits = 72, .composition = members});
  for (long k = 0; k < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    *mdf_more(&data, 1) = 1;
    unsigned char *at = mdf_more(&data, WIDTH);
    for (int c = 0; c < 3; c++) mdf_put_double(at + 8 * c, row[c]);
    *mdf_more(&data, 1) = 2;
    at = mdf_more(&data, FRAME);
    mdf_put_double(at, row[0]);
    mdf_put(at + 8, 100, 4, false);
    at[12] = 4;
  }
  uint64_t rows = (uint64_t)t->rows;
  const uint64_t groups[] = {
      mdf_group(f,
                &(mdf_cg){.name = "rig", .channels = channels, .record_id = 1, .records = rows, .data_bytes = WIDTH}),
      mdf_group(f, &(mdf_cg){.name = "bus", .channels = bus, .record_id = 2, .records = rows, .data_bytes = FRAME}), 0};
  const mdf_storage how = {.list = MDF_LIST_OFFSETS, .piece = 500, .zip = MDF_MIXED, .columns = 7};
  mdf_end(f, (uint64_t[]){mdf_data_group(f, groups, mdf_data(f, "DT", data.at, data.size, &how), 1), 0});
  mdf_save(f, scratch_path(s, "log.mf4"));
  mdf_bytes_free(&data);
  mdf_free(f);
  od_table_free(t);
  return true;
}

void scenario_setup(scratch *s) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    scratch_write(s, files[i].name, files[i].text, strlen(files[i].text));
  bytes log_h5 = bytes_read(OD_SOURCE_DIR "/tests/fuzz/seeds/hdf5/old.h5");  // written by h5py
  scratch_write(s, "log.h5", log_h5.at, log_h5.size);
  free(log_h5.at);
  setenv("OD_ALLOCATIONS", scratch_path(s, ".allocations"), 1);
  static const char log[] = "simulate lag.yaml --time 0.4 --csv log.csv --mat log.mat --checkpoint run.state --quiet",
                    longer[] = "simulate lag.yaml --time 4 --csv long.csv --quiet";
  bool is_done =
      program_run(s->folder, log, NULL, NULL).code == 0 && program_run(s->folder, longer, NULL, NULL).code == 0;
  if (is_done && write_mdf_log(s)) return;
  fprintf(stderr, "the torture's own machine cannot be simulated:\n%s\n", scratch_read(scratch_path(s, ".err")));
  exit(1);
}

// --- Running --------------------------------------------------------------------------------------------------------

bytes bytes_read(const char *path) {
  bytes b = {NULL, 0};
  FILE *f = fopen(path, "rb");
  if (!f) return b;
  for (size_t room = 0, got = 1; got > 0; b.size += got) {
    if (b.size == room) b.at = realloc(b.at, room = room ? 2 * room : 65536);
    got = fread(b.at + b.size, 1, room - b.size, f);
  }
  fclose(f);
  return b;
}

bool bytes_equal(bytes a, bytes b) {
  return a.size == b.size && (a.size == 0 || !memcmp(a.at, b.at, a.size));
}

ended scenario_run(scratch *s, const scenario *sc, const disturbance *d) {
  for (int i = 0; i < MOST_OUTPUTS && sc->output[i]; i++)
    scratch_write(s, sc->output[i], old_text, sizeof old_text - 1);
  return program_run(s->folder, sc->arguments, sc->input, d);
}

answer scenario_answer(scratch *s, const scenario *sc) {
  double begin = od_seconds();
  answer a = {.code = scenario_run(s, sc, NULL).code, .seconds = od_seconds() - begin};
  a.out = bytes_read(scratch_path(s, ".out"));
  for (int i = 0; i < MOST_OUTPUTS && sc->output[i]; i++) a.file[i] = bytes_read(scratch_path(s, sc->output[i]));
  if (a.code == 0) return a;
  fprintf(stderr, "oleodyn %s ends with %d:\n%s\n", sc->arguments, a.code, scratch_read(scratch_path(s, ".err")));
  exit(1);
}

void answer_free(answer *a) {
  free(a->out.at);
  for (int i = 0; i < MOST_OUTPUTS; i++) free(a->file[i].at);
  *a = (answer){0};
}

long next_try(long n, long count, int samples) {
  long step = getenv("OD_TORTURE") || count <= samples || n > count ? 1 : count / samples;
  return n <= count && n + step > count ? count + 1 : n + step;
}

// --- Judging --------------------------------------------------------------------------------------------------------

void tally_bad(tally *t, const char *format, ...) {
  t->bad++;
  if (t->first[0]) return;
  va_list list;
  va_start(list, format);
  vsnprintf(t->first, sizeof t->first, format, list);
  va_end(list);
}

static bool ends_in(bytes b, const char *text) {
  size_t n = strlen(text);
  return b.size >= n && !memcmp(b.at + b.size - n, text, n);
}

// The rows of a table are the first rows of the whole table; or, for a sweep, only the first cell has a value.
static bool has_rows_of(bytes b, bytes whole) {
  size_t at = 0, from = 0;
  while (at < b.size && from < whole.size) {
    const char *end = memchr(b.at + at, '\n', b.size - at), *other = memchr(whole.at + from, '\n', whole.size - from);
    if (!end || !other) return false;
    size_t n = (size_t)(end - b.at) - at, m = (size_t)(other - whole.at) - from, same = 0;
    while (same < n && same < m && b.at[at + same] == whole.at[from + same]) same++;
    bool is_empty = same > 0 && b.at[at + same - 1] == ',';
    for (size_t i = same; i < n; i++) is_empty = is_empty && b.at[at + i] == ',';
    if (!(n == m && same == n) && !is_empty) return false;
    at += n + 1, from += m + 1;
  }
  return at == b.size;
}

static bool is_state(bytes b) {
  char first;
  return od_saved_first(OD_SAVED_RUN, b.at, b.size, &first, 1, NULL) == OD_OK ||
         od_saved_first(OD_SAVED_OBSERVATION, b.at, b.size, &first, 1, NULL) == OD_OK;
}

// A complete file of a run that was interrupted.
static bool is_complete(const char *path, bytes b, bytes whole) {
  const char *kind = strrchr(path, '.');
  long long size;
  if (!strcmp(kind, ".csv")) return has_rows_of(b, whole);
  if (!strcmp(kind, ".json")) return ends_in(b, "}\n") || ends_in(b, "]\n");
  if (!strcmp(kind, ".svg")) return ends_in(b, "</svg>\n");
  if (!strcmp(kind, ".html")) return ends_in(b, "</html>\n");
  if (!strcmp(kind, ".state")) return is_state(b);
  return !strcmp(kind, ".mat") && od_mat_check_integrity(path, 0, &size, NULL) == OD_OK;
}

static int count_temporary(const scratch *s) {
  DIR *d = opendir(s->folder);
  char path[600];
  int n = 0;
  for (struct dirent *e; (e = readdir(d));) {
    if (!strstr(e->d_name, ".tmp-")) continue;
    n++;
    snprintf(path, sizeof path, "%s/%s", s->folder, e->d_name);
    unlink(path);
  }
  closedir(d);
  return n;
}

// NULL, or the fault of the files; *old, *fresh: number of old files, and of files equal to those of the whole run.
static const char *judge_files(scratch *s, const scenario *sc, const answer *clean, leave may, int *old, int *fresh) {
  may.shorter = may.shorter || sc->ends_early;
  const bytes before = {(char *)(size_t)old_text, sizeof old_text - 1};
  const char *wrong = NULL;
  for (int i = 0; i < MOST_OUTPUTS && sc->output[i]; i++) {
    const char *path = scratch_path(s, sc->output[i]);
    bytes now = bytes_read(path);
    if (!now.at)
      wrong = "is gone";
    else if (bytes_equal(now, before))
      ++*old;
    else if (bytes_equal(now, clean->file[i]))
      ++*fresh;
    else if (!may.shorter || !is_complete(path, now, clean->file[i]))
      wrong = "is neither the old file nor the new one";
    free(now.at);
    if (wrong) {
      static char text[300];
      snprintf(text, sizeof text, "%s %s", sc->output[i], wrong);
      return text;
    }
  }
  return NULL;
}

void scenario_judge(scratch *s, const scenario *sc, const answer *clean, ended e, leave may, const char *moment,
                    tally *t) {
  int outputs = 0, old = 0, fresh = 0;
  while (outputs < MOST_OUTPUTS && sc->output[outputs]) outputs++;
  bytes out = bytes_read(scratch_path(s, ".out")), err = bytes_read(scratch_path(s, ".err"));
  const char *wrong = judge_files(s, sc, clean, may, &old, &fresh);
  bool same = e.code == clean->code;
  if (count_temporary(s) > 0 && !may.unfinished) wrong = "a temporary file stays";
  if (!wrong && same && fresh < outputs) wrong = "it claims success, but a file is not the new one";
  if (!wrong && same && !bytes_equal(out, clean->out)) wrong = "it claims success, but printed something else";
  if (!wrong && !same && e.code >= 0 && err.size + out.size == 0) wrong = "it fails without a message";
  t->tried++;
  if (wrong)
    tally_bad(t, "%s: %s (exit code %d, signal %d); it said: %.*s", moment, wrong, e.code, e.signal,
              (int)(err.size < 200 ? err.size : 200), err.size ? err.at : "");
  else if (same)
    t->same++;
  else if (old == outputs)
    t->refused++;
  else
    t->partly++;
  free(out.at);
  free(err.at);
}
