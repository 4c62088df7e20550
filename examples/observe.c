// An observer in a controller: a mass on a spring. Only the position is measured, with noise. The observer estimates the
// stiffness and the damping with their standard deviations.
//
// The plant is a pair of functions. The caller owns the observer's memory block; after that a sample costs two calls that
// neither allocate nor print. At the end the program compares the estimates with the true values, and their standard
// deviations with the Cramer-Rao bound of these data, from the closed form of the motion.
// Build: cc observe.c $(pkg-config --cflags --libs oleodyn)
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <oleodyn/oleodyn.h>

static const double mass = 2, sigma = 5e-3;                         // kg; m, of the sensor
static const double truth[2] = {50, 1.2};                           // N/m, N s/m
static const double start[2] = {46, 1}, start_sigma[2] = {5, 0.3};  // the observer's start and its standard deviation

// x = [position, speed], p = [stiffness, damping], and their derivatives.
static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = x[1];
  dx[1] = -(p[0] * x[0] + p[1] * x[1]) / mass;
  return 0;
}
static int f_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)u, (void)fu;
  if (fx) fx[0] = 0, fx[1] = 1, fx[2] = -p[0] / mass, fx[3] = -p[1] / mass;
  if (fp) fp[0] = fp[1] = 0, fp[2] = -x[0] / mass, fp[3] = -x[1] / mass;
  return 0;
}
// The sensor: the position.
static int h(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[0];
  return 0;
}
static int h_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx, double *hu,
                       double *hp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)hu;
  if (hx) hx[0] = 1, hx[1] = 0;
  if (hp) hp[0] = hp[1] = 0;
  return 0;
}

// Position at time t, from 1 m at rest. An imaginary part of k or c carries the derivative with respect to it.
static double complex position(double t, double complex k, double complex c) {
  double complex a = c / (2 * mass), w = csqrt(k / mass - a * a);
  return cexp(-a * t) * (ccos(w * t) + a / w * csin(w * t));
}

// Normal random numbers (Box and Muller) from a small generator, so that every run is the same.
static double noise(void) {
  static uint64_t state = 20;
  double u[2];
  for (int i = 0; i < 2; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    u[i] = ((double)(state >> 11) + 0.5) / 9007199254740992.0;
  }
  return sqrt(-2 * log(u[0])) * cos(2 * acos(-1.0) * u[1]);
}

// Fisher information about k and c: that of the prior plus that of the samples so far.
typedef struct information {
  double kk, kc, cc;
} information;

static void learn(information *in, double t) {
  const double tiny = 1e-30, by_k = cimag(position(t, truth[0] + tiny * I, truth[1])) / tiny / sigma,
               by_c = cimag(position(t, truth[0], truth[1] + tiny * I)) / tiny / sigma;
  in->kk += by_k * by_k, in->kc += by_k * by_c, in->cc += by_c * by_c;
}

int main(void) {
  const double x0[2] = {1, 0}, step = 1e-3;
  const od_function function = {.nx = 2,
                                .ny = 1,
                                .np = 2,
                                .x0 = x0,
                                .p = start,
                                .f = f,
                                .h = h,
                                .f_jacobians = f_jacobians,
                                .h_jacobians = h_jacobians};
  od_plant *plant = NULL;
  od_error err = {0};
  if (od_plant_from_function(&function, &plant, &err) != OD_OK) return fprintf(stderr, "%s\n", err.text), 1;

  // On a controller the block can be static memory. The options are not needed after this call.
  const od_observer_options options = {.sensor_sigma = &sigma};
  void *memory = malloc(od_observer_size(plant, &options));
  od_observer *o = memory ? od_observer_init(memory, plant, &options) : NULL;

  // The augmented state is [x, p]; position and speed are known at the start, the parameters are not.
  double P[4 * 4] = {0};
  P[0] = P[5] = 1e-12;
  P[10] = start_sigma[0] * start_sigma[0], P[15] = start_sigma[1] * start_sigma[1];
  od_status status = o ? od_observer_start(o, 0, NULL, NULL, P, NULL) : OD_NO_MEMORY;

  information in = {1 / P[10], 0, 1 / P[15]};
  printf("   t (s)   k (N/m)             c (N s/m)\n");
  for (int i = 1; i <= 5000 && status == OD_OK; i++) {
    const double t = i * step, measured = creal(position(t, truth[0], truth[1])) + sigma * noise();
    status = od_observer_predict(o, step, NULL, NULL, NULL);
    if (status == OD_OK) status = od_observer_correct(o, &measured);
    learn(&in, t);
    if (i % 1000 == 0 && status == OD_OK)
      printf("%8.3f %9.4f +- %.4f  %8.4f +- %.4f\n", t, od_observer_parameters(o)[0], od_observer_parameter_sigma(o, 0),
             od_observer_parameters(o)[1], od_observer_parameter_sigma(o, 1));
  }

  const double determinant = in.kk * in.cc - in.kc * in.kc;
  const double bound[2] = {sqrt(in.cc / determinant), sqrt(in.kk / determinant)};
  int good = status == OD_OK;
  for (int i = 0; i < 2 && good; i++) {
    const double off = fabs(od_observer_parameters(o)[i] - truth[i]), says = od_observer_parameter_sigma(o, i);
    printf("%s: error %.2f standard deviations; standard deviation %.3f times the Cramer-Rao bound\n", i ? "c" : "k",
           off / says, says / bound[i]);
    good = off < 3 * says && fabs(says / bound[i] - 1) < 0.02;
  }
  if (status != OD_OK) fprintf(stderr, "%s\n", od_status_text(status));
  free(memory);
  od_plant_free(plant);
  return good ? 0 : 1;
}
