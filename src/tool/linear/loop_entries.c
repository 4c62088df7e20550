// Points at which a loop may be opened: signals to which an input adds.
#include <string.h>

#include "linear/response.h"
#include "machine/machine.h"

static int input_index(const od_machine *machine, const char *name) {
  int i = 0;
  while (i < od_machine_input_count(machine) && strcmp(od_machine_input_name(machine, i), name) != 0) i++;
  return i;
}

// Number of uses of an input; *by: the last block that uses it.
static int count_uses(const od_model *m, int input, const od_block **by) {
  int uses = 0;
  for (int i = 0; i < m->blocks; i++)
    for (int k = 0; k < m->block[i].inputs; k++)
      if (m->block_line[m->block[i].line + k].source == input) uses++, *by = &m->block[i];
  for (int i = 0; i < m->instances; i++) uses += m->instance[i].signal == input;
  for (int i = 0; i < m->loads; i++) uses += m->load[i].input == input;
  for (int i = 0; i < m->nodes; i++) uses += m->node[i].input == input;
  return uses;
}

bool od_loop_enters(const od_machine *machine, const od_linear_model *model, const od_path *p) {
  const od_model *m = od_machine_model(machine);
  int output = od_machine_output_find(machine, model->output[p->output].name);
  const od_output *o = &m->output[output];
  const od_block *by = NULL;
  if (o->kind != OD_OUT_INPUT || model->D[p->output * model->inputs + p->input] == 0) return false;
  if (count_uses(m, input_index(machine, model->input[p->input].name), &by) != 1 || !by) return false;
  return by->states == 0 && o->index >= by->signal && o->index < by->signal + by->outputs;
}
