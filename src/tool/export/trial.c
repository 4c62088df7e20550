// The program of the trial reads the samples from a file and writes rows of estimates and standard deviations. Both runs keep at
// most MOST_ROWS rows: when there are more, every second row is dropped.
#include "export/trial.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/sample_source.h"
#include "memory/owned.h"

enum { MOST_ROWS = 8192 };

extern char **environ;

typedef struct trial {
  od_export_program *p;
  const char *folder;
  int width;    // numbers of a row: outputs, their standard deviations, parameters, their standard deviations
  double *row;  // MOST_ROWS rows in double precision
  long rows, every, samples;
} trial;

static od_status no_file(od_error *err, const char *what) {
  return od_fail(err, OD_IO, "--float: %s: %s", what, strerror(errno));
}

// ---- the run in double precision

// Keeps every second row.
static void thin_out(trial *t) {
  for (long i = 0; 2 * i < t->rows; i++)
    memmove(t->row + i * t->width, t->row + 2 * i * t->width, (size_t)t->width * sizeof *t->row);
  t->rows = (t->rows + 1) / 2;
  t->every *= 2;
}

static od_status keep_row(trial *t, od_embedded_run *run) {
  if (t->samples % t->every != 0) return OD_OK;
  if (t->rows == MOST_ROWS) {
    thin_out(t);
    if (t->samples % t->every != 0) return OD_OK;
  }
  int ny = t->p->d.outputs;
  double *row = t->row + t->rows++ * t->width;
  od_status status = od_embedded_outputs(run, row, row + ny);
  od_embedded_parameters(run, row + 2 * ny, row + 2 * ny + t->p->parameters);
  return status;
}

static bool write_floats(FILE *to, const double *value, int count) {
  for (int i = 0; i < count; i++) {
    float single = (float)value[i];
    if (fwrite(&single, sizeof single, 1, to) != 1) return false;
  }
  return true;
}

// Runs the observer in double precision, and writes the samples for the run in single precision. Fails with OD_BAD_INPUT, OD_IO, OD_NO_MEMORY, or a
// status of od_embedded_step() or od_embedded_outputs().
static od_status run_double(trial *t, const od_experiment *e, od_embedded_run *run, FILE *samples, od_error *err) {
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  od_status status = od_sample_source_of(e, &source, err);
  for (bool more = true; status == OD_OK; t->samples++) {
    od_sample s;
    status = source.next(source.self, &s, &more, err);
    if (status != OD_OK || !more) return status;
    status = od_embedded_step(run, s.u, s.y);
    if (status == OD_OK) status = keep_row(t, run);
    if (status != OD_OK)
      return od_fail(err, status, "the observer failed at %.6g s: %s", od_embedded_time(run), od_status_text(status));
    if (!write_floats(samples, s.u, t->p->inputs) || !write_floats(samples, s.y, t->p->sensors))
      return no_file(err, "the samples cannot be written");
  }
  return status;
}

// ---- the run in single precision

// The program: trial EVERY <samples >rows. The file of the rows begins with the used memory in bytes, and ends early if a step fails.
static const char program[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include \"oleodyn/embedded.h\"\n#include \"%s.h\"\n"
    "static _Alignas(16) unsigned char memory[%zu];\n"
    "static float u[%d], y[%d], row[%d];\n"
    "int main(int count, char **argument) {\n"
    "  long every = count > 1 ? atol(argument[1]) : 1, i = 0;\n"
    "  %s_run *it = %s_init(memory, sizeof memory);\n"
    "  if (!it) return 2;\n"
    "  const unsigned long long used = od_embedded_used(it);\n"
    "  if (fwrite(&used, sizeof used, 1, stdout) != 1) return 3;\n"
    "  for (; fread(u, sizeof *u, %d, stdin) == %d && fread(y, sizeof *y, %d, stdin) == %d; i++) {\n"
    "    if (%s_step(it, u, y) != 0) break;\n"
    "    if (i %% every != 0) continue;\n"
    "    if (%s_outputs(it, row, row + %d) != 0) break;\n"
    "    %s\n"
    "    if (fwrite(row, sizeof *row, %d, stdout) != %d) return 3;\n"
    "  }\n"
    "  return fflush(stdout) ? 3 : 0;\n"
    "}\n";

static bool write_program(const trial *t, const char *path) {
  const od_export_program *p = t->p;
  const char *n = p->name;
  int nu = p->inputs, ns = p->sensors, ny = p->d.outputs;
  char parameters[400] = "";
  if (p->parameters)
    snprintf(parameters, sizeof parameters, "%s_parameters(it, row + %d, row + %d);", n, 2 * ny,
             2 * ny + p->parameters);
  FILE *to = fopen(path, "w");
  if (!to) return false;
  fprintf(to, program, n, p->run.memory + 4096, nu + 1, ns + 1, t->width + 1, n, n, nu, nu, ns, ns, n, n, ny,
          parameters, t->width, t->width);
  return fclose(to) == 0;
}

// Runs a command of the shell with the folder as $0 and the argument as $1. Returns the exit code; -1: the command did not run or crashed; -2: it was
// interrupted.
static int run_command(const char *folder, const char *command, const char *argument) {
  posix_spawnattr_t attributes;
  if (posix_spawnattr_init(&attributes)) return -1;
  sigset_t none, normal;
  sigemptyset(&none);
  sigemptyset(&normal);
  sigaddset(&normal, SIGINT), sigaddset(&normal, SIGTERM), sigaddset(&normal, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &normal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char *const words[] = {"sh", "-c", (char *)command, (char *)folder, (char *)argument, NULL};
  pid_t process;
  int status, reason = posix_spawn(&process, "/bin/sh", NULL, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  if (reason) return -1;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) return -2;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT) return -2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static od_status run_single(const trial *t, od_error *err) {
  static const char compile[] =
      "cd \"$0\" && ${CC:-cc} -std=c11 -O1 -w -fno-math-errno -ffp-contract=off -I. -Iinclude -Isrc trial.c \"$1\".c \"$1\"_model.c "
      "src/*/*.c -lm -o trial >trial.log 2>&1 </dev/null";
  static const char run[] = "cd \"$0\" && ./trial \"$1\" <trial.in >trial.out 2>>trial.log";
  char every[32];
  snprintf(every, sizeof every, "%ld", t->every);
  int code = run_command(t->folder, compile, t->p->name);
  if (code == -2) return od_fail(err, OD_INTERRUPTED, "interrupted");
  if (code != 0)
    return od_fail(
        err, OD_IO,
        "--float: the export is compiled and compared with the observer in double precision, but there is no working C "
        "compiler; install one as 'cc', or set the environment variable CC");
  code = run_command(t->folder, run, every);
  if (code == -2) return od_fail(err, OD_INTERRUPTED, "interrupted");
  return code == 0
             ? OD_OK
             : od_fail(err, OD_IO, "--float: the compiled export ended with code %d; export it without --float", code);
}

// ---- comparison

// Compares one row. Updates the largest difference.
static void compare_row(const trial *t, long index, const float *single, od_trial *out) {
  const od_export_program *p = t->p;
  const double *row = t->row + index * t->width;
  int ny = p->d.outputs, np = p->parameters;
  for (int i = 0; i < ny + np; i++) {
    int at = i < ny ? i : 2 * ny + i - ny, sigma = i < ny ? ny + i : 2 * ny + np + i - ny;
    if (!(row[sigma] > 0)) continue;
    double difference = fabs(single[at] - row[at]) / row[sigma];
    if (difference <= out->difference) continue;
    const od_exported_name *name = i < ny ? &p->output[i] : &p->parameter[i - ny];
    *out = (od_trial){difference,         (double)(index * t->every) * p->d.period,
                      name->name,         name->unit,
                      (double)single[at], row[at],
                      row[sigma],         out->samples};
  }
}

static od_status compare(const trial *t, FILE *rows, od_trial *out, od_error *err) {
  float *single = OD_TAKE(&t->p->arena, float, t->width);
  if (!single) return od_fail(err, OD_NO_MEMORY, "out of memory");
  unsigned long long used;
  if (fread(&used, sizeof used, 1, rows) != 1) return od_fail(err, OD_IO, "--float: the compiled export did not run");
  t->p->run.memory = (size_t)used;
  for (long i = 0; i < t->rows; i++) {
    if (fread(single, sizeof *single, (size_t)t->width, rows) != (size_t)t->width)
      return od_fail(
          err, OD_BAD_INPUT,
          "--float: the observer fails in single precision at %.4g s of its experiment; export it without --float",
          (double)(i * t->every) * t->p->d.period);
    compare_row(t, i, single, out);
  }
  if (out->difference <= OD_TRIAL_LIMIT) return OD_OK;
  return od_fail(
      err, OD_BAD_INPUT,
      "--float: single precision is not accurate enough: '%s' is off by %.2g standard deviations at %.4g s of the experiment (%.7g "
      "%s instead of %.7g %s, sigma %.2g); at most %g is accepted; export it without --float",
      out->name, out->difference, out->time, out->single, out->unit, out->expected, out->unit, out->sigma,
      OD_TRIAL_LIMIT);
}

// ---- the trial

static od_status run_both(trial *t, const od_experiment *e, od_embedded_run *run, od_trial *out, od_error *err) {
  od_arena *a = &t->p->arena;
  const char *in = od_arena_format(a, "%s/trial.in", t->folder), *rows = od_arena_format(a, "%s/trial.out", t->folder),
             *source = od_arena_format(a, "%s/trial.c", t->folder);
  if (!in || !rows || !source) return od_fail(err, OD_NO_MEMORY, "out of memory");
  FILE *samples = fopen(in, "wb");
  if (!samples) return no_file(err, in);
  od_status status = run_double(t, e, run, samples, err);
  if (fclose(samples) != 0 && status == OD_OK) status = no_file(err, in);
  out->samples = t->samples;
  if (status == OD_OK && !write_program(t, source)) status = no_file(err, source);
  if (status == OD_OK) status = run_single(t, err);
  if (status != OD_OK) return status;
  FILE *written = fopen(rows, "rb");
  if (!written) return no_file(err, rows);
  status = compare(t, written, out, err);
  fclose(written);
  return status;
}

od_status od_trial_run(od_export_program *p, const od_experiment *e, const char *folder, od_trial *out, od_error *err) {
  static const char *const own[] = {"trial.c", "trial.in", "trial.out", "trial.log", "trial"};
  trial t = {.p = p, .folder = folder, .width = 2 * (p->d.outputs + p->parameters), .every = 1};
  *out = (od_trial){0};
  od_embedded_run *run = NULL;
  od_status status = od_export_create_run(p, &run, err);
  if (status != OD_OK) return status;
  t.row = OD_TAKE_MATRIX(&p->arena, double, MOST_ROWS, t.width);
  if (!t.row) return od_fail(err, OD_NO_MEMORY, "out of memory");
  status = run_both(&t, e, run, out, err);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    const char *path = od_arena_format(&p->arena, "%s/%s", folder, own[i]);
    if (path) unlink(path);
  }
  return status;
}
