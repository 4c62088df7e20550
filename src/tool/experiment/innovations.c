#include "experiment/innovations.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/wide.h"
#include "math/chi_squared.h"
#include "math/normal.h"

enum { BLOCKS = OD_MOST_WINDOWS };  // number of blocks of equal length; when all are full, pairs of blocks are merged
enum { MARKS = 48 };  // number of times at which parameters are stored: at the start, after 1, 2, 4 ... samples

// Numbers of lags, in samples, of innovations after and before a change of an input. BEFORE is at most OD_LAGS, because only the last
// OD_LAGS innovations are stored.
enum { AFTER = 16, BEFORE = 16, INPUT_LAGS = AFTER + BEFORE };
static const double far = 3;           // distance, in standard deviations, beyond which an innovation is counted as a
                                       // far outlier
static const double value_limit = 10;  // limit to which outliers are reduced, standard deviations
static const double least_fall = 0.1;  // smallest decrease of a compared variance, relative to the final variance

typedef struct sums {
  long count, far;
  double sum, squares;
} sums;

// The history of one sensor over the run.
typedef struct history {
  double head[OD_LAGS];  // the first values of the series

  // The last values: a backward ring buffer, stored twice so that the values are contiguous.
  double tail[2 * OD_LAGS];
  double limited[2 * OD_LAGS];   // the last values as in `tail`, with outliers limited
  double products[OD_LAGS + 1];  // sums of x_i x_(i-k)
  long count;
  double sum;  // sum of the values
  double first, predicted, largest;
  double squares;  // sum of squares, with outliers limited so that a few values do not dominate
} history;

typedef struct mark {
  double time, *estimate, *variance;
} mark;

struct od_innovation_record {
  od_arena memory;
  int sensors, inputs, parameters;
  history *history;  // history of each sensor
  sums *block;       // sums of each block and sensor, BLOCKS * sensors
  long samples, in_block, length;
  int blocks;                         // number of blocks that have started
  double begin[BLOCKS], end[BLOCKS];  // times of the first and last samples of each block
  mark mark[MARKS];
  int marks;
  long next_mark;
  double *present;        // innovations of the current sample; NAN: none
  double *pairs;          // per pair of sensors: sum of products, sums of both squares, and number of products
  double *last, *change;  // inputs at the previous sample; the last AFTER changes of each input
  double *followed;       // per sensor, input and lag: sum of the products of innovation and change of the input
  double *own;            // per input and lag: sum of the products of a change and an earlier change of the input
};

// --- The record -------------------------------------------------------------------------------------------------------

od_innovation_record *od_innovation_record_new(int sensors, int inputs, int parameters) {
  OD_OWNED(od_innovation_record_free) od_innovation_record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  *r = (od_innovation_record){.sensors = sensors, .inputs = inputs, .parameters = parameters, .length = 1};
  r->history = OD_TAKE(&r->memory, history, sensors);
  r->block = OD_TAKE(&r->memory, sums, BLOCKS * sensors);
  for (int i = 0; i < MARKS; i++) {
    r->mark[i].estimate = OD_TAKE(&r->memory, double, parameters);
    r->mark[i].variance = OD_TAKE(&r->memory, double, parameters);
  }
  r->last = OD_TAKE(&r->memory, double, inputs);
  r->own = OD_TAKE(&r->memory, double, inputs *AFTER);
  r->change = OD_TAKE(&r->memory, double, inputs *AFTER);
  r->followed = OD_TAKE(&r->memory, double, sensors *inputs *INPUT_LAGS);
  r->present = OD_TAKE(&r->memory, double, sensors);
  r->pairs = OD_TAKE(&r->memory, double, 4 * sensors * sensors);
  if (od_arena_status(&r->memory) != OD_OK) return NULL;
  for (int i = 0; i < sensors; i++) r->history[i].first = r->history[i].predicted = NAN;
  return OD_GIVE(r);
}

void od_innovation_record_free(od_innovation_record *r) {
  if (!r) return;
  od_arena_free(&r->memory);
  od_free(r);
}

// --- Saved states -----------------------------------------------------------------------------------------------------

void od_innovation_record_transfer(od_innovation_record *r, od_pieces *t) {
  size_t d = sizeof(double), sensors = (size_t)r->sensors, inputs = (size_t)r->inputs,
         parameters = (size_t)r->parameters;
  int64_t counts[] = {r->samples, r->in_block, r->length, r->blocks, r->marks, r->next_mark};
  const void *saved = od_pieces_bytes(t, counts, sizeof counts);
  if (saved) memcpy(counts, saved, sizeof counts);
  bool possible = counts[2] > 0 && counts[3] <= BLOCKS && counts[4] <= MARKS;
  for (int i = 0; i < 6; i++) possible = possible && od_saved_is_count(counts[i]);
  od_pieces_expect(t, possible, "a count of the innovations is out of range");
  if (t->mode == OD_PIECES_RESTORE) {
    r->samples = (long)counts[0], r->in_block = (long)counts[1], r->length = (long)counts[2];
    r->blocks = (int)counts[3], r->marks = (int)counts[4], r->next_mark = (long)counts[5];
  }
  const history *of = od_pieces_bytes(t, r->history, sensors * sizeof *r->history);
  for (size_t i = 0; of && i < sensors; i++)
    od_pieces_expect(t, od_saved_is_count(of[i].count), "a count of the innovations is out of range");
  const sums *block = od_pieces_bytes(t, r->block, BLOCKS * sensors * sizeof *r->block);
  for (size_t i = 0; block && i < BLOCKS * sensors; i++)
    od_pieces_expect(t, od_saved_is_count(block[i].count) && od_saved_is_count(block[i].far),
                     "a count of the innovations is out of range");
  od_pieces_bytes(t, r->begin, sizeof r->begin);
  od_pieces_bytes(t, r->end, sizeof r->end);
  for (int i = 0; i < MARKS; i++) {
    od_pieces_bytes(t, &r->mark[i].time, d);
    od_pieces_bytes(t, r->mark[i].estimate, parameters * d);
    od_pieces_bytes(t, r->mark[i].variance, parameters * d);
  }
  od_pieces_bytes(t, r->last, inputs * d);
  od_pieces_bytes(t, r->own, inputs * AFTER * d);
  od_pieces_bytes(t, r->change, inputs * AFTER * d);
  od_pieces_bytes(t, r->followed, sensors * inputs * INPUT_LAGS * d);
  od_pieces_bytes(t, r->present, sensors * d);
  od_pieces_bytes(t, r->pairs, 4 * sensors * sensors * d);
}

// --- Sample by sample ---------------------------------------------------------------------------------------------

// Returns the block of the current sample. If no block is free, pairs of blocks are merged.
static sums *next_block(od_innovation_record *r) {
  if (r->blocks == 0 || r->in_block == r->length) {
    if (r->blocks == BLOCKS) {
      for (int i = 0; i < BLOCKS * r->sensors / 2; i++) {
        int block = i / r->sensors, sensor = i % r->sensors;
        const sums *a = &r->block[2 * block * r->sensors + sensor], *b = a + r->sensors;
        r->block[i] = (sums){a->count + b->count, a->far + b->far, a->sum + b->sum, a->squares + b->squares};
      }
      for (int i = 0; i < BLOCKS / 2; i++) r->begin[i] = r->begin[2 * i], r->end[i] = r->end[2 * i + 1];
      r->blocks = BLOCKS / 2;
      r->length *= 2;
      memset(r->block + r->blocks * r->sensors, 0, (size_t)(BLOCKS / 2 * r->sensors) * sizeof *r->block);
    }
    r->blocks++;
    r->in_block = 0;
  }
  r->in_block++;
  return r->block + (r->blocks - 1) * r->sensors;
}

// Returns the index of the next value in the ring buffer. The value k samples earlier is k entries after this index.
static int place_of_next(const history *h) {
  return OD_LAGS - 1 - (int)(h->count % OD_LAGS);
}

static double limited(double x) {
  return fmin(fmax(x, -value_limit), value_limit);
}

// Adds a normalized innovation to the history of its sensor.
OD_WIDE static void take_value(history *h, double x) {
  int at = place_of_next(h), lags = h->count < OD_LAGS ? (int)h->count : OD_LAGS;
  const double *earlier = h->tail + at;
  h->sum += x;
  h->products[0] += x * x;
  for (int k = 1; k <= lags; k++) h->products[k] += x * earlier[k];
  if (h->count < OD_LAGS) h->head[h->count] = x;
  h->tail[at] = h->tail[at + OD_LAGS] = x;
  h->limited[at] = h->limited[at + OD_LAGS] = limited(x);
  h->count++;
}

// Stores the changes of the inputs, and adds their products with earlier changes.
OD_WIDE static void follow_inputs(od_innovation_record *r, const double *u) {
  for (int i = 0; i < r->inputs; i++) {
    double *change = r->change + i * AFTER;
    memmove(change + 1, change, (AFTER - 1) * sizeof *change);
    change[0] = r->samples > 0 ? u[i] - r->last[i] : 0;
    for (int k = 0; k < AFTER; k++) r->own[i * AFTER + k] += change[0] * change[k];
    r->last[i] = u[i];
  }
}

// Correlates innovation x of a sensor with the changes of the inputs, before x is stored.
OD_WIDE static void compare_with_inputs(od_innovation_record *r, int sensor, double x) {
  history *h = &r->history[sensor];
  h->squares += x * x;
  for (int i = 0; i < r->inputs; i++) {
    double *followed = r->followed + (sensor * r->inputs + i) * INPUT_LAGS, *change = r->change + i * AFTER;
    for (int k = 0; k < AFTER; k++) followed[k] += x * change[k];
    const double *earlier = h->limited + place_of_next(h);
    int lags = change[0] == 0 ? 0 : h->count < BEFORE ? (int)h->count : BEFORE;
    for (int k = 1; k <= lags; k++) followed[AFTER + k - 1] += earlier[k] * change[0];
  }
}

void od_innovation_record_mark(od_innovation_record *r, const od_observer *observer, double t) {
  if (r->blocks > 0) r->end[r->blocks - 1] = t;
  if (r->blocks > 0 && r->in_block == 1) r->begin[r->blocks - 1] = t;
  if (r->samples != r->next_mark || r->marks == MARKS) return;
  r->next_mark = r->next_mark ? 2 * r->next_mark : 1;
  // The estimate of a filter that has not settled is not valid. The start is valid, because the caller gives the start.
  // A filter that has fallen back does not detect settling, so its estimates are used.
  if (r->marks > 0 && !od_observer_settled(observer) && !od_observer_fell_back(observer)) return;
  mark *m = &r->mark[r->marks++];
  m->time = t;
  for (int i = 0; i < r->parameters; i++) {
    m->estimate[i] = od_observer_parameters(observer)[i];
    m->variance[i] = pow(od_observer_parameter_sigma(observer, i), 2);
  }
}

// Correlates the innovations of all pairs of sensors.
static void compare_with_each_other(od_innovation_record *r) {
  for (int a = 0; a < r->sensors; a++)
    for (int b = a + 1; b < r->sensors && !isnan(r->present[a]); b++) {
      double x = r->present[a], y = r->present[b], *pair = r->pairs + 4 * (a * r->sensors + b);
      if (!isnan(y)) pair[0] += x * y, pair[1] += x * x, pair[2] += y * y, pair[3]++;
    }
}

void od_innovation_record_take(od_innovation_record *r, const od_innovation *in, const double *y, const double *u) {
  sums *block = next_block(r);
  follow_inputs(r, u);
  for (int s = 0; s < r->sensors; s++) {
    history *h = &r->history[s];
    double x = in[s].value / in[s].sigma;
    r->present[s] = NAN;
    if (in[s].use != OD_SENSOR_USED || !isfinite(x)) continue;
    if (h->count == 0) h->first = y[s], h->predicted = y[s] - in[s].value;
    h->largest = fmax(h->largest, fabs(y[s]));
    block[s].count++;
    block[s].far += fabs(x) > far;
    block[s].sum += x;
    block[s].squares += x * x;
    r->present[s] = limited(x);
    compare_with_inputs(r, s, limited(x));
    take_value(h, x);
  }
  compare_with_each_other(r);
  r->samples++;
}

void od_innovation_record_exclude(od_innovation_record *r, double from, double to) {
  for (int i = 0; i < r->blocks; i++)
    if (r->end[i] >= from && r->begin[i] <= to)
      memset(r->block + i * r->sensors, 0, (size_t)r->sensors * sizeof *r->block);
}

// --- At the end ---------------------------------------------------------------------------------------------------

// Returns the statistics of a sensor, starting at block `first`.
static od_scatter scatter_of(const od_innovation_record *r, int sensor, int first) {
  sums all = {0};
  for (int i = first; i < r->blocks; i++) {
    const sums *b = &r->block[i * r->sensors + sensor];
    all = (sums){all.count + b->count, all.far + b->far, all.sum + b->sum, all.squares + b->squares};
  }
  double n = (double)all.count;
  return (od_scatter){all.count, all.sum / n, all.squares / n, (double)all.far / n};
}

// Computes the Ljung-Box test (prepare/whiteness.h contains the test for a series in memory). For n values x with mean
// m, sum (x_i - m) (x_(i-k) - m) = sum x_i x_(i-k) - m (2 sum x - sum of the first k x - sum of the last k x) + (n - k)
// m^2.
static void find_whiteness(const history *h, od_innovations *out) {
  double n = (double)h->count, m = h->sum / n, squares = h->products[0] - n * m * m, weighted = 0, head = 0, tail = 0;
  out->deviation = sqrt(fmax(squares, 0) / n);
  out->correlation[0] = squares > 0 ? 1 : (double)NAN;
  for (int k = 1; k <= OD_LAGS; k++) {
    out->correlation[k] = NAN;
    if (h->count <= k || !(squares > 0)) continue;
    head += h->head[k - 1];
    tail += h->tail[place_of_next(h) + k];
    double sum = h->products[k] - m * (2 * n * m - head - tail) + (n - k) * m * m;
    out->correlation[k] = sum / squares;
    weighted += out->correlation[k] * out->correlation[k] / (n - k);
  }
  out->whiteness = h->count > 4 * OD_LAGS && squares > 0 ? n * (n + 2) * weighted : (double)NAN;
  out->chance = od_chi_squared_tail(out->whiteness, OD_LAGS);
}

// Returns the correlation of the innovations with the changes of an input: the root of the sum of squared correlations over all
// lags. Corrects the result for changes that are correlated with each other.
static double share_of_input(const od_innovation_record *r, int sensor, int input) {
  const double *followed = r->followed + (sensor * r->inputs + input) * INPUT_LAGS, *own = r->own + input * AFTER;
  double squares = r->history[sensor].squares, sum = 0, same = 1;
  if (!(squares > 0 && own[0] > 0)) return 0;
  for (int k = 0; k < INPUT_LAGS; k++) sum += followed[k] * followed[k] / (squares * own[0]);
  for (int k = 1; k < AFTER; k++) same += 2 * own[k] * own[k] / (own[0] * own[0]);
  return sqrt(fmin(sum / same, 1));
}

// Finds the input whose changes correlate most with the innovations of a sensor.
static void find_input(const od_innovation_record *r, int sensor, od_innovations *out) {
  out->input = -1;
  for (int i = 0; i < r->inputs; i++) {
    double share = share_of_input(r, sensor, i);
    if (!(share > out->follows)) continue;
    out->follows = share;
    out->input = i;
  }
}

// Finds the other sensor whose innovations correlate most with the innovations of `sensor`.
static void find_partner(const od_innovation_record *r, int sensor, od_innovations *out) {
  out->partner = -1;
  for (int other = 0; other < r->sensors; other++) {
    if (other == sensor) continue;
    int a = other < sensor ? other : sensor, b = other < sensor ? sensor : other;
    const double *pair = r->pairs + 4 * (a * r->sensors + b);
    if (pair[3] < OD_ENOUGH_TOGETHER) continue;
    double correlation = pair[0] / sqrt(pair[1] * pair[2]);
    if (fabs(correlation) > fabs(out->together)) out->together = correlation, out->partner = other;
  }
}

void od_innovation_record_sensor(const od_innovation_record *r, int sensor, od_innovations *out) {
  const history *h = &r->history[sensor];
  od_scatter run = scatter_of(r, sensor, 0);
  double limit = OD_NORMAL95 / sqrt((double)run.count);
  *out = (od_innovations){.run = run,
                          .last = scatter_of(r, sensor, r->blocks * 3 / 4),
                          .mean_limit = limit,
                          .deviation_limit = limit / sqrt(2),
                          .correlation_limit = OD_NORMAL95 / sqrt((double)h->count),
                          .first = h->first,
                          .predicted = h->predicted,
                          .largest = h->largest};
  find_whiteness(h, out);
  find_input(r, sensor, out);
  find_partner(r, sensor, out);
}

od_movement od_innovation_record_parameter(const od_innovation_record *r, const od_observer *observer, int i,
                                           double noise, double since) {
  double end = od_observer_parameters(observer)[i], variance = pow(od_observer_parameter_sigma(observer, i), 2);
  od_movement worst = {.time = NAN};
  double since_start = 0;
  int times = 0;
  for (int k = 0; k < r->marks; k++) {
    const mark *m = &r->mark[k];
    if (m->time < since) continue;
    double more = noise * (od_observer_time(observer) - m->time), lost = m->variance[i] + more - variance;
    if (!(lost > least_fall * variance)) continue;
    double deviations = fabs(end - m->estimate[i]) / sqrt(lost);
    times++;
    if (k == 0) since_start = deviations;
    if (deviations > worst.deviations)
      worst = (od_movement){
          .deviations = deviations, .time = m->time, .estimate = m->estimate[i], .sigma = sqrt(m->variance[i])};
  }
  worst.since_start = since_start;
  worst.times = times;
  return worst;
}

int od_innovation_record_windows(const od_innovation_record *r, od_nis_part window[OD_MOST_WINDOWS]) {
  for (int i = 0; i < r->blocks; i++) {
    window[i] = (od_nis_part){.begin = r->begin[i], .end = r->end[i]};
    for (int s = 0; s < r->sensors; s++) {
      window[i].squares += r->block[i * r->sensors + s].squares;
      window[i].count += r->block[i * r->sensors + s].count;
    }
  }
  return r->blocks;
}

od_scatter od_scatter_of_all(const od_innovations *in, int sensors, bool last) {
  double sum = 0, squares = 0, beyond = 0, n = 0;
  for (int i = 0; i < sensors; i++) {
    const od_scatter *s = last ? &in[i].last : &in[i].run;
    if (s->count == 0) continue;
    double count = (double)s->count;
    n += count, sum += count * s->mean, squares += count * s->square, beyond += count * s->far;
  }
  return (od_scatter){(long)n, sum / n, squares / n, beyond / n};
}
