// Derivatives of one instance. A complex step copies the instance to a small separate work memory in complex numbers and adds an
// imaginary part to one scalar. Then the function of its class evaluates the copy.
#include "hydraulics/element_slopes.h"

#include <string.h>

double od_element_out_tangent(const od_model *m, const double *w, int instance, int out, const double *din) {
  const od_instance *e = &m->instance[instance];
  int ins = od_instance_class(m, e)->ins;
  const double *slope = w + e->slope + out * ins;
  double sum = 0;
  for (int j = 0; j < ins; j++) sum += slope[j] * din[j];
  return sum;
}

#if OD_WITH_COMPLEX
// ---- complex steps

static const double step = 1e-30;

// The sizes of contiguous memory for the oil, the numbers of the host, the numbers of the instance, inputs, outputs, report and
// kept values. Classes with more numbers, such as ports with curves, have their own derivatives; a test checks that all other
// classes fit.
enum { MOST_NUMBERS = OD_MOST_ELEMENT_FIELDS, MOST_KEPT = 24 };
typedef struct alone {
  od_complex w[OD_OIL_STATES + 2 * MOST_NUMBERS + OD_MOST_IN + OD_MOST_OUT + OD_MOST_REPORTS + MOST_KEPT];
  int pool[2 + OD_MOST_ELEMENT_CHOICES];
  od_batch batch;
} alone;

// Copies an instance with its numbers and the oil, but without its inputs, to the separate memory *a.
static void take_out(const od_model *m, const double *theta, const double *oil, int instance, alone *a) {
  const od_instance *e = &m->instance[instance], *host = e->host >= 0 ? &m->instance[e->host] : NULL;
  const od_element_class *c = od_instance_class(m, e);
  int hosts = OD_OIL_STATES, own = hosts + MOST_NUMBERS, in = own + MOST_NUMBERS,
      kept = in + OD_MOST_IN + OD_MOST_OUT + OD_MOST_REPORTS;
  a->batch = (od_batch){.element_class = e->element_class,
                        .count = 1,
                        .in = in,
                        .out = in + OD_MOST_IN,
                        .report = in + OD_MOST_IN + OD_MOST_OUT,
                        .kept = kept,
                        .kept_scalars = c->kept,
                        .choices = c->choices,
                        .number = 0,
                        .host = 1,
                        .choice = 2};
  a->pool[0] = own;
  a->pool[1] = hosts;
  memcpy(a->pool + 2, e->choice, sizeof e->choice);
  for (int i = 0; i < OD_OIL_STATES; i++) a->w[i] = oil[i];
  for (int i = 0; host && i < host->numbers && i < MOST_NUMBERS; i++) a->w[hosts + i] = theta[host->number + i];
  for (int i = 0; i < e->numbers && i < MOST_NUMBERS; i++) a->w[own + i] = theta[e->number + i];
  for (int i = 0; i < c->kept; i++) a->w[kept + i] = 0;
}
// Copies an instance with its inputs from the work memory of a plant to the separate memory *a.
static void take_from_work(const od_model *m, const double *w, int instance, alone *a) {
  const od_instance *e = &m->instance[instance];
  take_out(m, w + m->layout.theta, w + m->layout.oil, instance, a);
  for (int i = 0; i < od_instance_class(m, e)->ins; i++) a->w[a->batch.in + i] = w[e->in + i];
}

static void evaluate(const od_model *m, alone *a) {
  od_batch_class(m, &a->batch)->evaluate_complex(&a->batch, a->pool, a->w);
}
static void move(alone *a, int place, double by) {
  a->w[place] += OD_COMPLEX_OF(0.0, by * step);
}
static void move_number(alone *a, int number) {
  move(a,
       number >= OD_NUMBER_OF_OIL    ? number - OD_NUMBER_OF_OIL
       : number >= OD_NUMBER_OF_HOST ? a->pool[1] + number - OD_NUMBER_OF_HOST
                                     : a->pool[0] + number,
       1);
}
static double change(const alone *a, int place) {
  return od_imaginary(a->w[place]) / step;
}

// Computes the derivatives dout of the outputs of an instance with respect to a number by a complex step. Returns true.
static bool number_step(const od_model *m, double *w, int instance, int number, double *dout) {
  const od_element_class *c = od_instance_class(m, &m->instance[instance]);
  alone a;
  take_from_work(m, w, instance, &a);
  move_number(&a, number);
  evaluate(m, &a);
  for (int k = 0; k < c->outs; k++) dout[k] = change(&a, a.batch.out + k);
  return true;
}

void od_element_evaluate_at(const od_model *m, const double *theta, const double *oil, int instance,
                            const od_complex *in, od_complex *out) {
  const od_element_class *c = od_instance_class(m, &m->instance[instance]);
  alone a;
  take_out(m, theta, oil, instance, &a);
  memcpy(a.w + a.batch.in, in, (size_t)c->ins * sizeof *in);
  evaluate(m, &a);
  memcpy(out, a.w + a.batch.out, (size_t)c->outs * sizeof *out);
}

// The change of a report is the direct change plus the change through the outputs, whose derivatives are known.
double od_element_report_change(const od_model *m, double *w, int instance, int report, const double *din,
                                const double *dout, const double *doil) {
  const od_instance *e = &m->instance[instance];
  const od_element_class *c = od_instance_class(m, e);
  alone a;
  take_from_work(m, w, instance, &a);
  for (int j = 0; j < c->ins; j++) move(&a, a.batch.in + j, din[j]);
  for (int i = 0; doil && i < OD_OIL_STATES; i++) move(&a, i, doil[i]);
  for (int k = 0; k < c->outs; k++) {
    a.w[a.batch.out + k] = w[e->out + k];
    move(&a, a.batch.out + k, od_element_out_tangent(m, w, instance, k, din) + (dout ? dout[k] : 0));
  }
  c->report_complex(&a.batch, a.pool, a.w);
  return change(&a, a.batch.report + report);
}

// If a class has its own derivatives with respect to numbers, its reports depend only on inputs and outputs.
double od_element_report_by_number(const od_model *m, double *w, int instance, int report, int number) {
  const od_element_class *c = od_instance_class(m, &m->instance[instance]);
  const double none[OD_MOST_IN] = {0};
  double dout[OD_MOST_OUT];
  if (c->number_slopes)
    return od_element_number_slope(m, w, instance, number, dout)
               ? od_element_report_change(m, w, instance, report, none, dout, NULL)
               : 0;
  alone a;
  take_from_work(m, w, instance, &a);
  move_number(&a, number);
  evaluate(m, &a);
  c->report_complex(&a.batch, a.pool, a.w);
  return change(&a, a.batch.report + report);
}
#else
// In a build without complex numbers, od_model_plant() rejects plants that need this derivative (plant/real_derivatives.c).
static bool number_step(const od_model *m, double *w, int instance, int number, double *dout) {
  (void)m, (void)w, (void)instance, (void)number, (void)dout;
  return false;
}
#endif

bool od_element_number_slope(const od_model *m, double *w, int instance, int number, double *dout) {
  const od_instance *e = &m->instance[instance];
  const od_element_class *c = od_instance_class(m, e);
  if (c->number_slopes) return c->number_slopes(&m->join.batch[e->batch], m->join.pool, w, e->place, &number, 1, dout);
  return number_step(m, w, instance, number, dout);
}
