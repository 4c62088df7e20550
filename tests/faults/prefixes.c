// Files that are truncated after n bytes. One of these must hold for each n:
//
// - The program ends with an error and a message, or
// - the result is the same as with the whole file, or
// - the file is cut within a line, and the program warns, or the rest of the line has no effect: the result is that of
//   the file cut at the start or at the end of this line, as after a comment or a closing bracket, or
// - the file is cut at the end of a line. The program cannot detect this. The remaining file is valid; if it is a
//   table, rows up to its last time have the same values as with the whole file.
//
// MATLAB and HDF5 files contain their length: only an error or the same result is allowed.
#define _GNU_SOURCE  // memmem
#include <errno.h>
#include <glob.h>

#include "kinds.h"

enum { SAMPLES = 6, MOST_SUBJECTS = 128, BATCH = 50 };

typedef struct subject {
  const char *name, *file, *arguments;
  bool table;          // the result is a table over the file's times
  bool says_size;      // no cut is allowed
  const char *folder;  // of a case, whose files are copied; NULL: the scenarios' own
} subject;

static const subject own[] = {
    {"machine file", "lag.yaml", "simulate lag.yaml --time 0.4 --csv - --quiet", false, false, NULL},
    {"experiment file", "observe.yaml", "observe observe.yaml --csv - --quiet", false, false, NULL},
    {"fit file", "fit.yaml", "fit fit.yaml --json - --quiet", false, false, NULL},
    {"study file", "study.yaml", "study study.yaml --json - --quiet --threads 1", false, false, NULL},
    {"CSV log", "log.csv", "observe replay.yaml --csv - --quiet", true, false, NULL},
    {"CSV signal", "log.csv", "simulate signal.yaml --csv - --quiet", true, false, NULL},
    {"checkpoint", "run.state", "simulate lag.yaml --time 0.6 --resume run.state --csv - --quiet", false, true, NULL},
    {"CAN trace", "trace.asc", "observe replay.yaml --data trace.asc --dbc lag.dbc --csv - --quiet", true, false, NULL},
    {"MDF log", "log.mf4", "observe replay.yaml --data log.mf4 --dbc lag.dbc --csv - --quiet", true, false, NULL},
    {"DBC file", "lag.dbc", "observe replay.yaml --data trace.asc --dbc lag.dbc --csv - --quiet", false, false, NULL},
    {"HDF5 log", "log.h5", "frf log.h5 --input u --output lag --length 8 --csv - --quiet", false, true, NULL},
    {"MATLAB log", "log.mat", "observe replay.yaml --data log.mat --csv - --quiet", false, true, NULL},
};
enum { OWN = sizeof own / sizeof *own };

static subject subjects[MOST_SUBJECTS];
static int subject_count;

// Every file of the cases, too. Their result is the output of check or info.
static void find_subjects(void) {
  static glob_t found;
  static char text[MOST_SUBJECTS][3][200];
  for (int i = 0; i < OWN; i++) subjects[subject_count++] = own[i];
  if (glob(OD_SOURCE_DIR "/cases/*/*.yaml", 0, NULL, &found) != 0) return;
  for (size_t i = 0; i < found.gl_pathc && subject_count < MOST_SUBJECTS; i++) {
    char *path = found.gl_pathv[i], *file = strrchr(path, '/') + 1;
    char(*t)[200] = text[subject_count];
    snprintf(t[0], sizeof *t, "%s", path + strlen(OD_SOURCE_DIR "/"));
    bool machine =
        !strstr(file, "study") && !strstr(file, "experiment") && !strstr(file, "fit") && !strstr(file, "friction");
    snprintf(t[1], sizeof *t, machine ? "info %s --json" : "check %s", file);
    snprintf(t[2], sizeof *t, "%.*s", (int)(file - path), path);
    subjects[subject_count++] = (subject){t[0], file, t[1], false, false, t[2]};
  }
}

static const char *fault_name(int fault) {
  (void)fault;
  return "cut off";
}

static const char *subject_name(int index) {
  return subjects[index].name;
}

// A file of a case, in whose related files "../" becomes "up/", a link to the folder of the cases. The size remains: the
// same bytes are cut off wherever the project is.
static void copy_file(scratch *s, const char *name, bytes b) {
  for (char *at = b.at; b.size > 0 && (at = memmem(at, (size_t)(b.at + b.size - at), "../", 3)) != NULL;)
    memcpy(at, "up/", 3);
  scratch_write(s, name, b.at, b.size);
}

// Copies the files of a case. A folder `parts` with included files becomes a link.
static void copy_case(scratch *s, const char *folder) {
  DIR *d = opendir(folder);
  char path[600];
  if (symlink(OD_SOURCE_DIR "/cases", scratch_path(s, "up")) != 0 && errno != EEXIST) perror("up");
  for (struct dirent *e; d && (e = readdir(d));) {
    bool is_yaml = strstr(e->d_name, ".yaml"),
         is_log = strstr(e->d_name, ".blf") || strstr(e->d_name, ".dbc") || strstr(e->d_name, ".mf4");
    bool is_parts = strcmp(e->d_name, "parts") == 0;
    snprintf(path, sizeof path, "%s%s", folder, e->d_name);
    if (is_parts && symlink(path, scratch_path(s, "parts")) != 0 && errno != EEXIST) perror(path);
    if (!is_yaml && !is_log) continue;
    bytes b = bytes_read(path);
    if (is_yaml)
      copy_file(s, e->d_name, b);
    else
      scratch_write(s, e->d_name, b.at, b.size);
    free(b.at);
  }
  if (d) closedir(d);
}

// The program's result for the first n bytes.
typedef struct reply {
  ended e;
  bytes out, err;
} reply;

static reply ask(scratch *s, const subject *sub, bytes whole, size_t n) {
  scratch_write(s, sub->file, whole.at, n);
  reply r = {.e = program_run(s->folder, sub->arguments, NULL, NULL)};
  r.out = bytes_read(scratch_path(s, ".out"));
  r.err = bytes_read(scratch_path(s, ".err"));
  return r;
}

static void forget(reply *r) {
  free(r->out.at);
  free(r->err.at);
}

static bool says(const reply *r, const char *text) {
  return r->err.size > 0 && memmem(r->err.at, r->err.size, text, strlen(text)) != NULL;
}

static bool is_same(scratch *s, const subject *sub, bytes whole, size_t n, const reply *r) {
  reply other = ask(s, sub, whole, n);
  bool same = other.e.code == r->e.code && bytes_equal(other.out, r->out);
  forget(&other);
  return same;
}

static const char *line_end(const char *at, const char *end) {
  const char *found = memchr(at, '\n', (size_t)(end - at));
  return found ? found + 1 : end;
}

// The last time at the start of a line in the first n bytes of a table. A truncated line may contain anything and is ignored.
static double last_time(bytes table, size_t n) {
  double last = -1;
  const char *end = table.at + n;
  for (const char *at = line_end(table.at, end); at < end; at = line_end(at, end))
    if (line_end(at, end)[-1] == '\n') last = strtod(at, NULL);
  return last;
}

// Rows of both answers up to a time are the same.
static bool is_same_until(bytes a, bytes b, double time) {
  const char *x = a.at, *y = b.at, *x_end = a.at + a.size, *y_end = b.at + b.size;
  while (x < x_end && y < y_end) {
    const char *next_x = line_end(x, x_end), *next_y = line_end(y, y_end);
    bool header = x == a.at;
    if (!header && (strtod(x, NULL) > time || strtod(y, NULL) > time)) return true;
    if (next_x - x != next_y - y || memcmp(x, y, (size_t)(next_x - x)) != 0) return false;
    x = next_x, y = next_y;
  }
  return true;
}

// NULL, or the fault of a result that differs from that of the whole file.
static const char *judge_shorter(scratch *s, const subject *sub, bytes whole, size_t n, const reply *r, bytes full) {
  if (sub->says_size) return "another answer to a file that says its size";
  if (sub->table && !is_same_until(r->out, full, last_time(whole, n))) return "rows before the cut have other values";
  bool within = n > 0 && whole.at[n - 1] != '\n';
  if (!within || says(r, "file is complete")) return NULL;
  size_t begin = n;
  while (begin > 0 && whole.at[begin - 1] != '\n') begin--;
  size_t end = (size_t)(line_end(whole.at + n, whole.at + whole.size) - whole.at);
  if (is_same(s, sub, whole, begin, r) || is_same(s, sub, whole, end, r)) return NULL;
  return "cut within a line, another answer, and no warning";
}

static void judge(scratch *s, const subject *sub, bytes whole, size_t n, const reply *clean, tally *t) {
  reply r = ask(s, sub, whole, n);
  const char *wrong = NULL;
  t->tried++;
  if (r.e.code == 1 || r.e.code == 2) {
    if (!says(&r, "error: ")) wrong = "an error without a message";
    t->refused += !wrong;
  } else if (r.e.code != 0 && r.e.code != 3) {
    wrong = "it ends in an unknown way";
  } else if (r.e.code == clean->e.code && bytes_equal(r.out, clean->out)) {
    t->same++;
  } else {
    wrong = judge_shorter(s, sub, whole, n, &r, clean->out);
    t->partly += !wrong;
  }
  if (wrong)
    tally_bad(t, "%zu of %zu bytes: %s (exit code %d, signal %d); it said: %.*s", n, whole.size, wrong, r.e.code,
              r.e.signal, (int)(r.err.size < 200 ? r.err.size : 200), r.err.size ? r.err.at : "");
  forget(&r);
}

// --- Many at once ---------------------------------------------------------------------------------------------------

// check takes many files, and most truncated ones are rejected, so they do not need one process each. n: the tried
// lengths.
typedef struct batch {
  size_t n[BATCH];
  int count;
} batch;

// Whether a line of a text begins with the name of a file and contains `part`.
static bool says_of(bytes text, const char *file, const char *part) {
  size_t name = strlen(file);
  for (const char *at = text.at, *end = text.at + text.size; text.size > 0 && at < end; at = line_end(at, end))
    if ((size_t)(end - at) > name && !memcmp(at, file, name) && at[name] == ':' &&
        memmem(at, (size_t)(line_end(at, end) - at), part, strlen(part)))
      return true;
  return false;
}

static void judge_batch(scratch *s, const subject *sub, bytes whole, const reply *clean, batch *b, tally *t) {
  char arguments[BATCH * 16 + 16] = "check", name[32];
  for (int i = 0; i < b->count; i++) {
    snprintf(name, sizeof name, "p%zu.yaml", b->n[i]);
    scratch_write(s, name, whole.at, b->n[i]);
    snprintf(arguments + strlen(arguments), sizeof arguments - strlen(arguments), " %s", name);
  }
  reply r = {.e = program_run(s->folder, arguments, NULL, NULL)};
  r.out = bytes_read(scratch_path(s, ".out"));
  r.err = bytes_read(scratch_path(s, ".err"));
  for (int i = 0; i < b->count; i++) {
    snprintf(name, sizeof name, "p%zu.yaml", b->n[i]);
    unlink(scratch_path(s, name));
    bool ok = says_of(r.out, name, ": ok: "), reported = says_of(r.err, name, ": error: ");
    bool warned = says_of(r.err, name, "file is complete");
    if (r.e.code == 2 && reported && !ok)
      t->tried++, t->refused++;
    else if (r.e.code >= 0 && ok && !reported && warned)
      t->tried++, t->partly++;
    else
      judge(s, sub, whole, b->n[i], clean, t);
  }
  forget(&r);
  b->count = 0;
}

static void run(scratch *s, int fault, int index, tally *t) {
  (void)fault;
  const subject *sub = &subjects[index];
  if (sub->folder) copy_case(s, sub->folder);
  bytes whole = bytes_read(scratch_path(s, sub->file));
  reply clean = ask(s, sub, whole, whole.size);
  if (clean.e.code != 0)
    tally_bad(t, "the whole file: exit code %d, %.*s", clean.e.code, (int)clean.err.size, clean.err.at);
  batch b = {.count = 0};
  for (long n = 0; n <= (long)whole.size; n = next_try(n, (long)whole.size, SAMPLES)) {
    if (sub->folder)
      b.n[b.count++] = (size_t)n;
    else
      judge(s, sub, whole, (size_t)n, &clean, t);
    if (b.count == BATCH) judge_batch(s, sub, whole, &clean, &b, t);
  }
  if (b.count > 0) judge_batch(s, sub, whole, &clean, &b, t);
  forget(&clean);
  free(whole.at);
}

const kind *kind_prefixes(void) {
  static kind k = {.name = "prefixes", .faults = 1, .fault = fault_name, .subject = subject_name, .run = run};
  if (subject_count == 0) find_subjects();
  k.subjects = subject_count;
  return &k;
}
