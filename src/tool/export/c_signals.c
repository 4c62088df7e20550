#include "export/c_signals.h"

#include "export/c_text.h"
#include "machine/machine.h"
#include "signals/signal_table.h"

// Prints the sequences. Their tables of bits are left out: the core then computes each bit.
static void print_sequences(FILE *to, const od_signals *s) {
  for (int i = 0; i < s->node_count; i++) {
    const od_prbs *p = s->nodes[i].prbs;
    if (p) fprintf(to, "static const od_prbs prbs_%d = {%d, %uu, %uu, NULL};\n", i, p->order, p->seed, p->polynomial);
  }
}

static void print_nodes(FILE *to, const od_signals *s) {
  fputs("static const od_signal_node signal_nodes[] = {", to);
  for (int i = 0; i < s->node_count; i++) {
    const od_signal_node *n = &s->nodes[i];
    fprintf(to, "\n    {%d, %d, %zu, %d, %zu, %d, ", (int)n->kind, n->flag, n->first, n->count, n->derived,
            n->segments);
    if (n->prbs)
      fprintf(to, "(od_prbs *)&prbs_%d},", i);
    else
      fputs("NULL},", to);
  }
  fputs(s->node_count ? "\n};\n" : "{0}};\n", to);
}

void od_c_signals(FILE *to, const od_machine *machine) {
  const od_signals *s = od_machine_signals(machine);
  int inputs = od_machine_input_count(machine);
  od_c_numbers(to, "signal_numbers", s->numbers, (long)s->number_count);
  od_c_integers(to, "signal_children", s->children, (long)s->child_count);
  print_sequences(to, s);
  print_nodes(to, s);
  fprintf(
      to,
      "static const struct od_signals signals = {\n    .nodes = (od_signal_node *)signal_nodes,\n"
      "    .node_count = %d,\n    .numbers = (double *)signal_numbers,\n    .children = (int *)signal_children,\n};\n"
      "static const int signal[] = {",
      s->node_count);
  for (int i = 0; i < inputs; i++) fprintf(to, "%s%d", i ? ", " : "", od_machine_input_signal(machine, i));
  fputs(inputs ? "};" : "0};", to);
}
