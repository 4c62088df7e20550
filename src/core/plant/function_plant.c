// A user's C function as a plant: g = k - f(t, x, u, p), where all states are first-order. Jacobians that the user does not
// supply are computed by complex steps through the user's complex function.
#include <math.h>
#include <string.h>

#include "base/byte_hash.h"
#include "base/parts.h"
#include "oleodyn/plant.h"

#include "base/allocate.h"

static const double tiny = 1e-30;

typedef struct function_plant {
  od_plant plant;
  od_function fn;
  double *x0, *p;
} function_plant;

// Work memory, in doubles: parameters; the last point t, x, u; Jacobians fx, fu, fp; a complex point and result.
typedef struct parts {
  double *p, *t, *x, *u, *fx, *fu, *fp, *point, *result;
} parts;

static size_t work_doubles(const od_function *f) {
  size_t nx = (size_t)f->nx, nu = (size_t)f->nu, np = (size_t)f->np, ny = (size_t)f->ny;
  return np + 1 + nx + nu + nx * (nx + nu + np) + 2 * (nx + nu + np) + 2 * (nx + ny);
}

// Returns pointers to the parts of the work memory.
static parts parts_of(const function_plant *d, const void *memory) {
  double *work = (double *)memory;
  const od_function *f = &d->fn;
  parts p = {.p = work};
  p.t = p.p + f->np;
  p.x = p.t + 1;
  p.u = p.x + f->nx;
  p.fx = p.u + f->nu;
  p.fu = p.fx + f->nx * f->nx;
  p.fp = p.fu + f->nx * f->nu;
  p.point = p.fp + f->nx * f->np;
  p.result = p.point + 2 * (f->nx + f->nu + f->np);
  return p;
}

static const function_plant *plant_of(const od_plant *plant) {
  return plant->model;
}

static od_status start(const od_plant *plant, void *work, double *x) {
  const function_plant *d = plant_of(plant);
  memset(work, 0, plant->work_size);
  if (d->fn.np) memcpy(parts_of(d, work).p, d->p, (size_t)d->fn.np * sizeof *x);
  memcpy(x, d->x0, (size_t)d->fn.nx * sizeof *x);
  return OD_OK;
}

static void get_parameters(const od_plant *plant, const void *work, double *values) {
  if (plant->np) memcpy(values, parts_of(plant_of(plant), work).p, (size_t)plant->np * sizeof *values);
}

static od_status set_parameters(const od_plant *plant, void *work, const double *values) {
  if (plant->np) memcpy(parts_of(plant_of(plant), work).p, values, (size_t)plant->np * sizeof *values);
  return OD_OK;
}

// Computes g = k - f. Returns OD_NOT_FINITE if f fails or is not finite.
static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  const function_plant *d = plant_of(plant);
  const od_function *f = &d->fn;
  parts p = parts_of(d, work);
  *p.t = t;
  memcpy(p.x, x, (size_t)f->nx * sizeof *x);
  if (f->nu) memcpy(p.u, u, (size_t)f->nu * sizeof *u);
  if (f->f(f->user, t, x, u, p.p, g)) return OD_NOT_FINITE;
  for (int i = 0; i < f->nx; i++) {
    g[i] = k[i] - g[i];
    if (!isfinite(g[i])) return OD_NOT_FINITE;
  }
  return OD_OK;
}

// Computes the derivatives of `rows` results of fn with respect to the entries `first` to `first + count - 1` of the
// point (x, u, p), by complex steps. Returns the error code of fn; 0: success.
static int complex_columns(const function_plant *d, const parts *p,
                           int (*fn)(void *, double, const double *, const double *, const double *, double *),
                           int rows, int first, int count, double *out) {
  const od_function *f = &d->fn;
  int all = f->nx + f->nu + f->np;
  for (int i = 0; i < all; i++) {
    p->point[2 * i] = i < f->nx ? p->x[i] : i < f->nx + f->nu ? p->u[i - f->nx] : p->p[i - f->nx - f->nu];
    p->point[2 * i + 1] = 0;
  }
  for (int j = 0; j < count; j++) {
    double *moved = p->point + 2 * (first + j) + 1;
    *moved = tiny;
    int failed = fn(f->user, *p->t, p->point, p->point + 2 * f->nx, p->point + 2 * (f->nx + f->nu), p->result);
    *moved = 0;
    if (failed) return failed;
    for (int i = 0; i < rows; i++) out[i * count + j] = p->result[2 * i + 1] / tiny;
  }
  return 0;
}

static int f_jacobians(const function_plant *d, const parts *p, double *fx, double *fu, double *fp) {
  const od_function *f = &d->fn;
  if (f->f_jacobians) return f->f_jacobians(f->user, *p->t, p->x, p->u, p->p, fx, fu, fp);
  int failed = fx ? complex_columns(d, p, f->f_complex, f->nx, 0, f->nx, fx) : 0;
  if (!failed && fu) failed = complex_columns(d, p, f->f_complex, f->nx, f->nx, f->nu, fu);
  if (!failed && fp) failed = complex_columns(d, p, f->f_complex, f->nx, f->nx + f->nu, f->np, fp);
  return failed;
}

// Computes 1 - beta fx. Returns OD_NOT_FINITE if the derivatives cannot be computed.
static od_status step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  (void)alpha;  // there are no second-order states
  const function_plant *d = plant_of(plant);
  int n = d->fn.nx;
  if (beta != 0) {
    parts p = parts_of(d, work);
    if (f_jacobians(d, &p, p.fx, p.fu, p.fp)) return OD_NOT_FINITE;
    for (int i = 0; i < n * n; i++) matrix[i] = -beta * p.fx[i];
  } else {
    memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
  }
  for (int i = 0; i < n; i++) matrix[i * n + i] += 1;
  return OD_OK;
}

static void negated(const double *from, int count, double *to) {
  for (int i = 0; to && i < count; i++) to[i] = -from[i];
}

// Computes gx = -fx, gk = 1, gu = -fu; NULL: not wanted.
static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  const function_plant *d = plant_of(plant);
  int n = d->fn.nx;
  parts p = parts_of(d, work);
  if (f_jacobians(d, &p, p.fx, p.fu, p.fp)) return OD_NOT_FINITE;
  negated(p.fx, n * n, gx);
  negated(p.fu, n * d->fn.nu, gu);
  for (int i = 0; gk && i < n * n; i++) gk[i] = i % (n + 1) == 0;
  return OD_OK;
}

static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const function_plant *d = plant_of(plant);
  parts p = parts_of(d, work);
  if (f_jacobians(d, &p, p.fx, p.fu, p.fp)) return OD_NOT_FINITE;
  negated(p.fp, d->fn.nx * d->fn.np, gp);
  return OD_OK;
}

static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  (void)energy;
  const function_plant *d = plant_of(plant);
  const od_function *f = &d->fn;
  parts p = parts_of(d, work);
  if (f->h) return f->h(f->user, *p.t, p.x, p.u, p.p, y) ? OD_NOT_FINITE : OD_OK;
  memcpy(y, p.x, (size_t)f->nx * sizeof *y);
  return OD_OK;
}

// Computes the output Jacobians. Without an output function h, the outputs are the states. Fails with OD_NOT_FINITE if the
// derivatives cannot be computed.
static od_status output_jacobians(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  (void)energy, (void)wanted, (void)kx, (void)ku, (void)kp;
  const function_plant *d = plant_of(plant);
  const od_function *f = &d->fn;
  parts p = parts_of(d, work);
  if (!f->h) {
    for (int i = 0; hx && i < f->nx * f->nx; i++) hx[i] = i % (f->nx + 1) == 0;
    for (int i = 0; hu && i < f->nx * f->nu; i++) hu[i] = 0;
    for (int i = 0; hp && i < f->nx * f->np; i++) hp[i] = 0;
    return OD_OK;
  }
  if (f->h_jacobians) return f->h_jacobians(f->user, *p.t, p.x, p.u, p.p, hx, hu, hp) ? OD_NOT_FINITE : OD_OK;
  int failed = hx ? complex_columns(d, &p, f->h_complex, f->ny, 0, f->nx, hx) : 0;
  if (!failed && hu) failed = complex_columns(d, &p, f->h_complex, f->ny, f->nx, f->nu, hu);
  if (!failed && hp) failed = complex_columns(d, &p, f->h_complex, f->ny, f->nx + f->nu, f->np, hp);
  return failed ? OD_NOT_FINITE : OD_OK;
}

// ---- complex steps through whole integration steps; the caller's memory holds u and p

static size_t complex_size(const od_plant *plant) {
  return 2 * (size_t)(plant->nu + plant->np + 1) * sizeof(double);
}

static od_status complex_begin(const od_plant *plant, void *work, void *memory, int parameter, double by) {
  const function_plant *d = plant_of(plant);
  parts p = parts_of(d, work);
  double *u = memory, *numbers = u + 2 * plant->nu;
  if (!d->fn.f_complex) return OD_NOT_AVAILABLE;
  for (int i = 0; i < plant->nu; i++) u[2 * i] = p.u[i], u[2 * i + 1] = 0;
  for (int i = 0; i < plant->np; i++) numbers[2 * i] = p.p[i], numbers[2 * i + 1] = i == parameter ? by : 0;
  return OD_OK;
}

static od_status complex_residual(const od_plant *plant, void *work, void *memory, const double *x, const double *k,
                                  double *g) {
  const function_plant *d = plant_of(plant);
  const double *u = memory;
  if (d->fn.f_complex(d->fn.user, *parts_of(d, work).t, x, u, u + 2 * plant->nu, g)) return OD_NOT_FINITE;
  for (int i = 0; i < 2 * d->fn.nx; i++) g[i] = k[i] - g[i];
  return OD_OK;
}

static const od_complex_ops complex_ops = {
    .memory = complex_size, .begin = complex_begin, .residual = complex_residual};

static void destroy(od_plant *plant) {
  function_plant *d = (function_plant *)plant->model;
  od_free(d->x0);
  od_free(d->p);
  od_free(d);
}

static double *copy(const double *from, int count) {
  double *to = od_calloc((size_t)count + 1, sizeof *to);
  if (to && count) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

static void fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection) {
  const function_plant *d = plant_of(plant);
  *machine = od_hash_numbers(OD_HASH_START, d->x0, (size_t)d->fn.nx);
  *machine = od_hash_bytes(*machine, &d->fn.fingerprint, sizeof d->fn.fingerprint);
  *selection = od_hash_numbers(OD_HASH_START, d->p, (size_t)d->fn.np);
}

static const od_plant_ops function_ops = {
    .start = start,
    .get_parameters = get_parameters,
    .set_parameters = set_parameters,
    .residual = residual,
    .step_matrix = step_matrix,
    .jacobians = jacobians,
    .parameter_jacobian = parameter_jacobian,
    .outputs = outputs,
    .output_jacobians = output_jacobians,
    .in_complex = &complex_ops,
    .fingerprint = fingerprint,
};

od_status od_plant_from_function(const od_function *f, od_plant **out, od_error *err) {
  *out = NULL;
  if (f->nx <= 0 || f->nu < 0 || f->np < 0 || !f->f || !f->x0 || (f->np && !f->p))
    return od_fail(
        err, OD_BAD_ARGUMENT,
        "a function plant needs f and x0, at least 1 state, and with parameters p; found %d states, %d inputs and "
        "%d parameters",
        f->nx, f->nu, f->np);
  if (!f->f_jacobians && !f->f_complex)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "a function plant needs f_jacobians or f_complex for exact derivatives; set one of them");
  if (f->h && !f->h_jacobians && !f->h_complex)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "the output function h needs h_jacobians or h_complex for exact derivatives; set one of them");
  function_plant *d = od_calloc(1, sizeof *d);
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->fn = *f;
  if (!f->h) d->fn.ny = f->nx;
  d->x0 = copy(f->x0, f->nx);
  d->p = copy(f->p, f->np);
  d->plant = (od_plant){.nc = f->nx,
                        .nu = f->nu,
                        .ny = d->fn.ny,
                        .np = f->np,
                        .model = d,
                        .ops = &function_ops,
                        .work_size = work_doubles(&d->fn) * sizeof(double),
                        .destroy = destroy};
  if (!d->x0 || !d->p) {
    destroy(&d->plant);
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  *out = &d->plant;
  return OD_OK;
}

void od_plant_free(od_plant *plant) {
  if (plant && plant->destroy) plant->destroy(plant);
}
