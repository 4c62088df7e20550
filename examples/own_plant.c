// Your own equations as a plant: a mass on a spring with a damper, m x'' + c x' + k x = 0.
//
// Write f twice, for double and for double complex: the second gives exact derivatives (the complex step), so no
// Jacobians are derived by hand. The program steps the plant, propagates the sensitivity to the stiffness, and compares
// both with the closed form. Build: cc own_plant.c $(pkg-config --cflags --libs oleodyn)
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <oleodyn/oleodyn.h>

static const double mass = 2;

// x = [position, speed], p = [stiffness, damping]; returns 0, or another value if f cannot be evaluated at x.
static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = x[1];
  dx[1] = -(p[0] * x[0] + p[1] * x[1]) / mass;
  return 0;
}

// The same in complex numbers, which are pairs (real, imaginary) as in C's memory layout.
static int f_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  const double complex *X = (const double complex *)x, *P = (const double complex *)p;
  double complex *D = (double complex *)dx;
  D[0] = X[1];
  D[1] = -(P[0] * X[0] + P[1] * X[1]) / mass;
  return 0;
}

// Position at time t, from 1 m at rest, and its derivative with respect to the stiffness.
static void closed_form(double t, double k, double c, double *x, double *dx_dk) {
  double a = c / (2 * mass), w = sqrt(k / mass - a * a), decay = exp(-a * t);
  double slope = decay * (-t * sin(w * t) + a / w * (t * cos(w * t) - sin(w * t) / w));  // dx/dw
  *x = decay * (cos(w * t) + a / w * sin(w * t));
  *dx_dk = slope / (2 * mass * w);
}

int main(void) {
  const double x0[2] = {1, 0}, p[2] = {50, 1.2}, step = 1e-3;
  const od_function function = {.nx = 2, .np = 2, .x0 = x0, .p = p, .f = f, .f_complex = f_complex};
  od_plant *plant = NULL;
  od_error err = {0};
  if (od_plant_from_function(&function, &plant, &err) != OD_OK) return fprintf(stderr, "%s\n", err.text), 1;
  od_sim *sim = od_sim_new(plant);
  od_status status = sim ? od_sim_start(sim, 0, NULL) : OD_NO_MEMORY;

  // S = dx/dp. A step is x1 = X(x0, p), so S1 = F S0 + Gp, with F and Gp exact.
  double S[2][2] = {{0}}, F[2][2], Gp[2][2], worst = 0, worst_slope = 0;
  printf("   t (s)    x (m)   dx/dk (m per N/m)\n");
  for (int i = 1; i <= 3000 && status == OD_OK; i++) {
    status = od_sim_step_with_jacobians(sim, step, NULL, &F[0][0], NULL, NULL, &Gp[0][0]);
    double next[2][2];
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 2; c++) next[r][c] = F[r][0] * S[0][c] + F[r][1] * S[1][c] + Gp[r][c];
    memcpy(S, next, sizeof S);

    double x, slope;
    closed_form(i * step, p[0], p[1], &x, &slope);
    worst = fmax(worst, fabs(od_sim_state(sim)[0] - x));
    worst_slope = fmax(worst_slope, fabs(S[0][0] - slope));
    if (i % 500 == 0) printf("%8.3f %8.4f %12.6f\n", od_sim_time(sim), od_sim_state(sim)[0], S[0][0]);
  }
  printf("largest difference from the closed form: %.2g m, %.2g m per N/m\n", worst, worst_slope);

  if (status != OD_OK) fprintf(stderr, "%s\n", od_status_text(status));
  od_sim_free(sim);
  od_plant_free(plant);
  // The error of the trapezoidal rule is proportional to h^2: about 1e-5 here.
  return status == OD_OK && worst < 3e-5 && worst_slope < 3e-6 ? 0 : 1;
}
