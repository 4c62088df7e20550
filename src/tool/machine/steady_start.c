// The setting 'initial: steady'. The loader builds the model with initial guesses and searches for a steady state from these
// guesses. Then the loader builds the model again with the result, as with a saved state.
#include <math.h>
#include <string.h>

#include "io/display.h"
#include "machine/machine_loader.h"
#include "machine/saved_state.h"
#include "machine/steady.h"
#include "memory/scoped.h"
#include "model/builder.h"
#include "model/outputs.h"
#include "plant/assembly.h"

// The search: a simulation whose outputs are the outputs of a saved state, followed by the exact positions of the file.
typedef struct start {
  od_arena arena;
  od_loader *ld;
  int node;
  od_state_names names;
  od_plant *plant;
  od_sim *sim;
  int *output, outputs, holds;
  od_steady_hold *hold;
  bool *fixed;
  double *u, *y;
} start;

static const od_model *model_of(const start *s) {
  return s->ld->draft->machine->model;
}

static void free_start(start *s) {
  od_state_names_free(&s->names);
  od_sim_free(s->sim);
  od_plant_free(s->plant);
  od_arena_free(&s->arena);
}

// Creates the simulation. Exact positions of the file are held outputs; exact pressures and other exact first-order states are
// fixed. Fails with OD_NO_MEMORY or a status of od_state_names_list(), od_model_plant() or od_sim_start().
static od_status begin(start *s, od_error *err) {
  const od_build *b = s->ld->draft->build;
  od_status status = od_state_names_list(s->ld->draft->machine, &s->names, err);
  if (status != OD_OK) return status;
  const od_model *m = model_of(s);
  int most = s->names.count + b->initials;
  s->output = OD_TAKE(&s->arena, int, most);
  s->hold = OD_TAKE(&s->arena, od_steady_hold, most);
  s->y = OD_TAKE(&s->arena, double, most);
  s->fixed = OD_TAKE(&s->arena, bool, 2 * m->coordinates + m->states);
  s->u = OD_TAKE(&s->arena, double, m->inputs);
  if (s->arena.exhausted) return OD_NO_MEMORY;
  for (; s->outputs < s->names.count; s->outputs++) s->output[s->outputs] = s->names.output[s->outputs];
  for (int i = 0; i < b->initials; i++) {
    int output = b->initial[i].exact ? od_model_output_find(m, b->initial[i].quantity) : -1;
    if (output < 0) continue;
    int state = od_assembly_first_order_state(m, &m->output[output]);
    if (state >= 0) {
      s->fixed[state] = true;
    } else if (od_assembly_is_position(m->output[output].kind)) {
      s->hold[s->holds++] = (od_steady_hold){s->outputs, b->initial[i].value};
      s->output[s->outputs++] = output;
    }
  }
  for (int i = 0; i < m->inputs; i++) s->u[i] = m->input[i].start;
  status = od_model_plant(m, s->output, s->outputs, NULL, 0, &s->plant, err);
  if (status != OD_OK) return status;
  // First-order states are the last states of the plant.
  memmove(s->fixed + 2 * s->plant->nz, s->fixed, (size_t)m->states * sizeof *s->fixed);
  memset(s->fixed, 0, 2 * (size_t)s->plant->nz * sizeof *s->fixed);
  s->sim = od_sim_new(s->plant);
  return s->sim ? od_sim_start(s->sim, 0, s->u) : OD_NO_MEMORY;
}

static bool has_exact(const start *s) {
  for (int i = 0; i < od_plant_nx(s->plant); i++)
    if (s->fixed[i]) return true;
  return s->holds > 0;
}

// With exact values: searches for the nearest steady state with these values, first from the initial guesses, then from the state
// in which the machine settles. Without exact values: searches for the state in which the machine settles, then for the steady
// state nearest to the initial guesses. Fails with OD_NO_MEMORY or a status of od_sim_start().
static od_status search(start *s, od_steady *r) {
  od_status status = OD_OK;
  bool exact = has_exact(s);
  if (exact) status = od_steady_nearest(s->ld->draft->machine, s->sim, s->plant, s->fixed, s->hold, s->holds, r);
  if (status != OD_OK || (exact && r->found)) return status;
  status = od_sim_start(s->sim, 0, s->u);
  if (status == OD_OK) status = od_steady_settle(s->ld->draft->machine, s->sim, s->plant, s->fixed, r);
  if (status != OD_OK || (!exact && r->found)) return status;
  if (!exact) status = od_sim_start(s->sim, 0, s->u);
  if (status == OD_OK)
    status = od_steady_nearest(s->ld->draft->machine, s->sim, s->plant, s->fixed, s->hold, s->holds, r);
  return status;
}

// Returns the output that equals a state and gives the state its name; -1: none, or an allocation failed.
static int output_of_state(start *s, int state) {
  int nx = od_plant_nx(s->plant);
  double *hx = OD_TAKE_MATRIX(&s->arena, double, nx, s->outputs);
  if (!hx || od_sim_output_jacobians(s->sim, hx, NULL, NULL) != OD_OK) return -1;
  for (int i = 0; i < s->outputs; i++) {
    bool same = true;
    for (int j = 0; j < nx; j++) same = same && hx[i * nx + j] == (j == state);
    if (same) return s->output[i];
  }
  return -1;
}

// Finds the state whose rate is largest relative to its scale at the end of the search, including states with exact values.
static od_steady find_fastest(start *s) {
  int nx = od_plant_nx(s->plant), nz = s->plant->nz;
  od_steady r = {.fastest = -1};
  double *f = OD_TAKE(&s->arena, double, nx), most = 0;
  if (!f || od_sim_derivatives(s->sim, f, NULL, NULL, NULL) != OD_OK) return r;
  for (int i = 0; i < nx; i++) {
    double scale = i >= 2 * nz && s->plant->scale ? s->plant->scale[i - nz] : 1, part = fabs(f[i]) / scale;
    if (part > most) most = part, r.fastest = i, r.rate = f[i];
  }
  return r;
}

// Reports that no steady state was found, with the state that changes fastest.
static void complain(start *s) {
  const od_model *m = model_of(s);
  const od_steady r = find_fastest(s);
  int output = r.fastest >= 0 ? output_of_state(s, r.fastest) : -1;
  char what[300] = "";
  if (output >= 0)
    snprintf(what, sizeof what, ": at the end of the search, '%.100s' changes by %s",
             od_model_text(m, m->output[output].name),
             od_display_rate(r.rate, od_model_text(m, m->output[output].unit)).text);
  od_complain(
      s->ld, s->node, "no steady state was found%s%s; %s", has_exact(s) ? " with the given exact values" : "", what,
      has_exact(s)
          ? "write 'about' before a value that need not be exact"
          : "give initial guesses ('initial: {others: steady, A.pressure: about 50 bar}') if a steady state exists");
}

// Builds the model with the values found instead of the values of the file. Reports all failures except OD_NO_MEMORY: fails with OD_BAD_INPUT
// if a pressure is negative, and with a status of od_sim_outputs() or od_build_finish().
static od_status build_again(start *s) {
  od_loader *ld = s->ld;
  od_build *b = ld->draft->build;
  od_status status = od_sim_outputs(s->sim, s->y);
  if (status != OD_OK) {
    od_complain(ld, s->node, "the outputs of the steady state that was found cannot be computed: %s",
                od_status_text(status));
    return status;
  }
  const od_model *m = model_of(s);
  for (int i = 0; i < s->names.count; i++) {
    const od_output *output = &m->output[s->names.output[i]];
    if (output->kind != OD_OUT_NODE_PRESSURE || s->y[i] >= 0) continue;
    od_complain(
        ld, s->node,
        "the steady state needs a pressure of %s in '%s', but a pressure below 0 bar is impossible; change the load, or a pressure that acts against the load",
        od_display_quantity(s->y[i], "Pa").text, od_model_text(m, m->node[output->index].name));
    return OD_BAD_INPUT;
  }
  b->initials = 0;
  b->starts_anywhere = false;
  for (int i = 0; i < s->names.count; i++) {
    od_build_initial(b, od_model_text(m, m->output[s->names.output[i]].name), s->y[i], !s->names.approximate[i]);
    od_remember(ld, OD_ABOUT_INITIAL, i, s->node);
  }
  od_error error = {0};
  od_model *found = NULL;
  status = od_build_finish(b, &found, &error);
  if (status == OD_OK) {
    od_model_free(ld->draft->machine->model);
    ld->draft->machine->model = found;
  } else if (status != OD_NO_MEMORY) {
    od_complain(ld, s->node, "the steady state that was found is impossible: %s", error.text);
  }
  return status;
}

od_status od_load_steady(od_loader *ld, int node) {
  OD_SCOPED(free_start) start s = {.ld = ld, .node = node};
  od_error err = {0};
  od_steady r = {0};
  od_status status = begin(&s, &err);
  if (status == OD_OK) status = search(&s, &r);
  if (status == OD_OK && r.found) return build_again(&s);
  if (status == OD_NO_MEMORY) return status;
  if (status == OD_OK)
    complain(&s);
  else
    od_complain(ld, node, "the search for a steady state cannot start: %s",
                err.text[0] ? err.text : od_status_text(status));
  return OD_BAD_INPUT;
}
