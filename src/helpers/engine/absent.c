// Replaces the parts of the tool that the engine does not have: the YAML parser, files, laws of programs, requirements, FMUs, SUNDIALS and
// LAPACK. A stored machine contains its files; YAML files are stored as parsed trees.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "document/text_file.h"
#include "document/tree_store.h"
#include "fmu/fmu_import.h"
#include "io/bundle.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "machine/program_laws.h"
#include "math/dense.h"
#include "memory/scoped.h"
#include "requirements/judge.h"
#include "simulate/cvodes.h"
#include "simulate/cvodes_library.h"

// --- Files ----------------------------------------------------------------------------------------------------------

od_status od_tree_parse(od_tree *tree, const char *text, size_t length, const char *file, od_arena *texts,
                        od_messages *messages) {
  od_status status = od_tree_restore(tree, text, length, file, texts);
  if (status == OD_BAD_INPUT)
    od_messages_add(messages, (od_place){.file = file}, "the stored file is damaged; write the page again");
  return status;
}

od_status od_text_file_read(const char *path, char **text, size_t *length, od_messages *messages) {
  const od_bundled *f = od_bundle_find(path);
  *text = f ? od_malloc(f->size + 1) : NULL;
  *length = f ? f->size : 0;
  if (!f)
    od_messages_add(messages, (od_place){.file = path}, "the page does not contain this file; write the page again");
  if (!*text) return f ? OD_NO_MEMORY : OD_IO;
  memcpy(*text, f->bytes, f->size);
  return OD_OK;
}

// Pages contain only text files: od_stored_run_check() rejects other formats.
od_status od_table_read(const char *path, const od_table_wish *wish, od_table **out, od_error *err) {
  return od_table_read_csv_with(path, wish, out, err);
}
int memfd_create(const char *name, unsigned flags);
int memfd_create(const char *name, unsigned flags) {
  (void)name, (void)flags;
  return -1;
}

// --- Laws of the program: a page has none ---------------------------------------------------------------------------

bool od_program_law_find(const char *name, od_named_law *out, od_nearest *nearest) {
  (void)name, (void)out, (void)nearest;
  return false;
}

// --- Requirements: not checked in a page ------------------------------------------------------------------------------

const od_judgment *od_judge_results(const od_judge *judge, int *count) {
  (void)judge;
  *count = 0;
  return NULL;
}
od_judgment_text od_judgment_words(const od_judgment *j) {
  (void)j;
  return (od_judgment_text){0};
}

// --- FMUs: pages contain no binaries ---------------------------------------------------------------------------------

od_status od_fmu_import_open(const char *path, double limit, od_fmu_import **out, od_error *err) {
  (void)path, (void)limit;
  *out = NULL;
  return od_fail(err, OD_NOT_AVAILABLE, "FMUs cannot run in a page; use the program oleodyn for this machine");
}
void od_fmu_import_close(od_fmu_import *import) {
  (void)import;
}
void od_fmu_import_name(od_fmu_import *import, const char *name) {
  (void)import, (void)name;
}
const od_fmu_description *od_fmu_import_description(const od_fmu_import *import) {
  (void)import;
  return NULL;
}
od_foreign_law *od_fmu_import_law(od_fmu_import *import, const od_fmu_wiring *wiring, od_error *err) {
  (void)import, (void)wiring, (void)err;
  return NULL;
}
bool od_fmu_import_has_derivatives(const od_fmu_import *import) {
  (void)import;
  return false;
}
int od_fmu_find_variable(const od_fmu_description *d, const char *name) {
  (void)d, (void)name;
  return -1;
}
const char *od_fmu_causality_word(od_fmu_causality causality) {
  (void)causality;
  return "";
}

// --- CVODES ---------------------------------------------------------------------------------------------------------

const od_sundials *od_sundials_load(od_error *err) {
  od_fail(err, OD_NOT_AVAILABLE, "CVODES is not available in a page; choose another integrator");
  return NULL;
}
od_cvodes *od_cvodes_new(od_sim *sim, const od_plant *plant, const od_machine *machine, double tolerance) {
  (void)sim, (void)plant, (void)machine, (void)tolerance;
  return NULL;
}
void od_cvodes_free(od_cvodes *c) {
  (void)c;
}
od_status od_cvodes_advance(od_cvodes *c, double t, od_error *err) {
  (void)c, (void)t;
  return od_fail(err, OD_NOT_AVAILABLE, "CVODES is not available in a page");
}
void od_cvodes_after_steps(od_cvodes *c, od_status (*stepped)(void *user)) {
  (void)c, (void)stepped;
}
void od_cvodes_watch(od_cvodes *c, double end, bool (*keeps_going)(void *user), void *user) {
  (void)c, (void)end, (void)keeps_going, (void)user;
}
long od_cvodes_steps(const od_cvodes *c) {
  (void)c;
  return 0;
}

// --- LAPACK: the two functions that the search for a steady state uses ---------------------------------------------------

lapack_int LAPACKE_dgesv(int layout, lapack_int n, lapack_int columns, double *a, lapack_int lda, lapack_int *pivot,
                         double *b, lapack_int ldb) {
  (void)layout, (void)lda, (void)ldb;
  if (od_lu_factor(n, a, pivot) != OD_OK) return 1;
  od_lu_solve(n, a, pivot, b, columns);
  return 0;
}

// Rotates the columns i and j of a matrix by the angle with the cosine c and the sine s.
static void rotate(double *a, int rows, int columns, int i, int j, double c, double s) {
  for (int k = 0; k < rows; k++) {
    double *row = a + (size_t)k * (size_t)columns, x = row[i], y = row[j];
    row[i] = c * x - s * y;
    row[j] = s * x + c * y;
  }
}

static double dot(const double *a, int rows, int columns, int i, int j) {
  double sum = 0;
  for (int k = 0; k < rows; k++)
    sum += a[(size_t)k * (size_t)columns + (size_t)i] * a[(size_t)k * (size_t)columns + (size_t)j];
  return sum;
}

// Computes the least-squares solution with the smallest norm by one-sided Jacobi rotations: a V has orthogonal columns, whose
// lengths are the singular values. Singular values below `bound` times the largest one count as zero.
lapack_int LAPACKE_dgelsd(int layout, lapack_int m, lapack_int n, lapack_int columns, double *a, lapack_int lda,
                          double *b, lapack_int ldb, double *singular, double bound, lapack_int *rank) {
  enum { SWEEPS = 60 };
  (void)layout, (void)columns, (void)lda, (void)ldb;
  OD_SCRATCH(scratch);
  double *v = OD_TAKE_MATRIX(&scratch, double, n, n), *x = OD_TAKE(&scratch, double, n), largest = 0;
  if (!v || !x) return LAPACK_WORK_MEMORY_ERROR;
  for (int i = 0; i < n; i++) v[i * n + i] = 1;
  bool turned = true;
  for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) {
        double p = dot(a, m, n, i, i), q = dot(a, m, n, j, j), r = dot(a, m, n, i, j);
        if (!(fabs(r) > 1e-15 * sqrt(p * q))) continue;
        double zeta = (q - p) / (2 * r), t = (zeta > 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
        double c = 1 / sqrt(1 + t * t);
        rotate(a, m, n, i, j, c, c * t);
        rotate(v, n, n, i, j, c, c * t);
        turned = true;
      }
  }
  for (int i = 0; i < n; i++) {
    singular[i] = sqrt(dot(a, m, n, i, i));
    largest = fmax(largest, singular[i]);
  }
  *rank = 0;
  for (int i = 0; i < n; i++) {
    if (!(singular[i] > bound * largest)) continue;
    double part = 0;
    for (int k = 0; k < m; k++) part += a[k * n + i] * b[k];
    part /= singular[i] * singular[i];
    for (int k = 0; k < n; k++) x[k] += v[k * n + i] * part;
    (*rank)++;
  }
  memcpy(b, x, (size_t)n * sizeof *b);
  return turned ? 1 : 0;
}
