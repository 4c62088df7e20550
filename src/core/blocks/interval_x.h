// The interval of a value among at least two increasing abscissae: from `first` to the next abscissa. `part` is the position of
// the value as a fraction of the interval; beyond the ends `part` is 0 or 1.
typedef struct X(interval) {
  int first;
  od_x part;
} X(interval);

static inline X(interval) X(interval_of)(const od_x *at, int count, od_x u) {
  X(interval) i = {0, 0};
  while (i.first + 2 < count && RE(u) >= RE(at[i.first + 1])) i.first++;
  const od_x *a = at + i.first;
  i.part = RE(u) <= RE(a[0]) ? 0 : RE(u) >= RE(a[1]) ? 1 : (u - a[0]) / (a[1] - a[0]);
  return i;
}

// Returns the value at u of straight lines between points; beyond the first and the last point the value is constant.
static inline od_x X(on_lines)(const od_x *at, const od_x *value, int count, od_x u) {
  X(interval) i = X(interval_of)(at, count, u);
  return value[i.first] + i.part * (value[i.first + 1] - value[i.first]);
}

#ifndef OD_COMPLEX
// Returns the derivative of the fraction `part` of an interval; zero beyond the ends.
static inline double part_slope(const double *at, interval_r i) {
  return i.part > 0 && i.part < 1 ? 1 / (at[i.first + 1] - at[i.first]) : 0;
}

// Returns the derivative of on_lines() with respect to u.
static inline double lines_slope(const double *at, const double *value, int count, double u) {
  interval_r i = interval_of_r(at, count, u);
  return part_slope(at, i) * (value[i.first + 1] - value[i.first]);
}
#endif
