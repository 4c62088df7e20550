// One direction of a driven law, in the scalar of the build.
typedef struct X(drive_side) {
  X(family) f;
  od_x log_vs, most_film, film_gain, least_level;  // hss = most_film * film_gain |v|^(2/3) while that is below one
} X(drive_side);

static inline void X(drive_side_of)(const od_friction_law *law, const od_x *q, bool two_sided, bool negative,
                                    od_x signal, X(drive_side) * s) {
  law->X(family)(q, two_sided, negative, signal, (od_x *)&s->f);
  s->log_vs = od_x_log(s->f.vs);
  s->most_film = OD_SELECT(RE(s->f.Fs) > RE(s->f.Fc), 1 - s->f.Fc / s->f.Fs, 0);
  s->film_gain = od_x_exp(-(s->log_vs + s->f.end) * (2.0 / 3));
  s->least_level = OD_FRICTION_LEAST_LEVEL * (s->f.Fs + s->f.Fc);
}
