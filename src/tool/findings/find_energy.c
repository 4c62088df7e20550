// The finding about energy: the work of pumps and sources, the peak power, and the losses by class.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "findings/findings_work.h"
#include "io/wording.h"

// Losses of the elements of one class.
typedef struct loss {
  const char *heading;  // heading of the class, for example "Relief valves"
  double energy;        // J
} loss;

// Returns the class under which the losses of an instance are listed. This is the class of its host, for example the
// valve of a port.
static const od_element_description *group_of(const od_model *m, int instance) {
  const od_instance *e = &m->instance[instance];
  return od_instance_description(m, e->host >= 0 ? &m->instance[e->host] : e);
}

static void add_loss(loss *list, int *count, const char *heading, double energy) {
  int i = 0;
  while (i < *count && strcmp(list[i].heading, heading) != 0) i++;
  if (i == *count) list[(*count)++] = (loss){heading, 0};
  list[i].energy += energy;
}

// Returns the value of an output of the whole machine at the end of the run; 0: there is no such output.
static double final_of(const od_findings *f, od_output_kind kind) {
  for (int i = 0; i < f->finals; i++)
    if (f->model->output[f->final[i]].kind == kind) return f->record->final[i];
  return 0;
}

// Writes the names of the largest losses with their shares: "valves 66 %, cylinders 8 %".
static void write_losses(const loss *list, int count, double total, od_name_list *names) {
  for (int shown = 0; shown < count && shown < 3; shown++) {
    int largest = -1, rank = 0;
    for (int i = 0; i < count; i++) {
      rank = 0;
      for (int k = 0; k < count; k++)
        rank += list[k].energy > list[i].energy || (list[k].energy == list[i].energy && k < i);
      if (rank == shown) largest = i;
    }
    if (largest < 0 || list[largest].energy < 0.02 * total) return;
    od_name_list_add(names, "%c%.60s %s", tolower((unsigned char)list[largest].heading[0]), list[largest].heading + 1,
                     od_percent_words(list[largest].energy / total).text);
  }
}

// The parts that supply energy. name, output: name and output of the part with the largest work. count: number of parts
// with more than a hundredth of the total work.
typedef struct supplier {
  char name[100];
  const char *output;
  double work;  // largest work, J
  int count;
} supplier;

// Returns the work of supply i at the end of the run, J.
static double work_of(const od_findings *f, int i) {
  int output = f->output[f->supply[i]];
  for (int k = 0; k < f->finals; k++)
    if (f->final[k] == output) return f->supply_sign[i] * f->record->final[k];
  return 0;
}

static supplier suppliers_of(const od_findings *f) {
  supplier s = {.output = ""};
  double whole = 0;
  for (int i = 0; i < f->supplies; i++) whole += fmax(work_of(f, i), 0);
  for (int i = 0; i < f->supplies; i++) {
    double work = work_of(f, i);
    s.count += work > 0.01 * whole;
    if (!(work > s.work)) continue;
    const char *name = od_machine_output_name(f->machine, f->output[f->supply[i]]), *dot = strrchr(name, '.');
    snprintf(s.name, sizeof s.name, "%.*s", dot ? (int)fmin((double)(dot - name), 90) : 90, name);
    s.output = name;
    s.work = work;
  }
  return s;
}

void od_find_energy(od_findings *f) {
  OD_SCRATCH(scratch);
  const od_model *m = f->model;
  const od_findings_record *r = f->record;
  loss *list = OD_TAKE(&scratch, loss, m->instances + m->loads + 1);
  int count = 0;
  double dissipated = final_of(f, OD_OUT_DISSIPATED), listed = 0;
  if (!list) return;
  for (int i = 0; i < f->finals; i++) {
    const od_output *o = &m->output[f->final[i]];
    int instance = o->index - od_model_power(m, OD_POWER_ELEMENT), load = o->index - od_model_power(m, OD_POWER_LOAD);
    if (o->kind != OD_OUT_INTEGRAL) continue;
    bool is_element = instance >= 0 && instance < m->instances;
    bool supplies =
        is_element && od_instance_class(m, &m->instance[instance])->supplies && m->instance[instance].supplier < 0;
    bool is_contact = load >= 0 && load < m->loads && m->load[load].kind == OD_LOAD_CONTACT;
    if ((!is_element || supplies) && !is_contact) continue;
    add_loss(list, &count, is_contact ? "Contacts" : group_of(m, instance)->heading, r->final[i]);
    listed += r->final[i];
  }
  supplier in = suppliers_of(f);
  double supplied = r->work;
  if (!(fmax(supplied, dissipated) > 0) || dissipated + fabs(supplied) < 1e-9) return;
  if (dissipated - listed > 0.02 * dissipated) add_loss(list, &count, "Other elements", dissipated - listed);
  od_name_list names = {.most = 3};
  od_phrase supply = {""}, heat = {""}, back = {""};
  if (dissipated > 0) write_losses(list, count, dissipated, &names);
  if (in.count > 0 && supplied > 0)
    snprintf(supply.text, sizeof supply.text, "%.80s %s %s, at most %s at %s. ",
             in.count == 1 ? in.name : "Pumps and sources", od_form(in.count, "supplies", "supply"),
             od_value_words(supplied, "J").text, od_value_words(r->peak_power, "W").text,
             od_time_words(f, r->peak_at).text);
  if (r->returned > 0.01 * fabs(supplied) && in.count > 0)
    snprintf(back.text, sizeof back.text, "%s are returned to the drives. ", od_value_words(r->returned, "J").text);
  if (dissipated > 0)
    snprintf(heat.text, sizeof heat.text, "%s become heat%s%.150s.", od_value_words(dissipated, "J").text,
             names.count > 0 ? ": " : "", names.count > 0 ? od_name_list_text(&names) : "");
  if (!supply.text[0] && !heat.text[0]) return;
  od_findings_add(f, "energy", OD_FINDING_NOTE, in.count == 1 ? od_arena_text(&f->arena, in.name) : "", in.output,
                  (od_span){NAN, NAN}, in.count > 0 && supplied > 0 ? r->peak_at : (double)NAN, "Energy", "%s%s%s",
                  supply.text, back.text, heat.text);
}
