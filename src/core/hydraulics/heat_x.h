// Computes the heat of a machine with a reservoir and the resulting rate of the oil temperature. The heat is the sum of
// the losses of all elements with oil. Call after the evaluation of all elements, because losses depend on flows and
// forces.
static OD_APART void X(heat_oil)(const od_model *m, od_x *w) {
  const od_join *j = &m->join;
  od_x sum = 0;
  for (int i = 0; i < j->batches; i++) X(report_batch)(m, &j->batch[i], w);
  for (int i = 0; i < j->heaters; i++) {
    const od_instance *e = &m->instance[j->heater[i].instance];
    sum += w[j->batch[e->batch].report + e->place * od_instance_class(m, e)->reports + j->heater[i].report];
  }
  const od_instance *r = &m->instance[j->reservoir];
  w[j->heat_in] = sum;
  X(evaluate_batch)(m, &j->batch[r->batch], w);
  w[m->layout.rate + j->warms] = w[r->out];  // the first output of the reservoir is the rate of the temperature
}
