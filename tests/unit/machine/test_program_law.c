// Laws of the program in machine files (od_law_register()). Oracle: a formula block with the same equation; the messages.
#include <math.h>
#include <string.h>

#include "oleodyn/oleodyn.h"
#include "support/test.h"

static const char head[] =
    "machine: Mass with friction\n"
    "bodies: {block: {mass: 2 kg, inertia: 1 kg m^2, points: {pin: [0, 0]}}}\n"
    "ground: {points: {wall: [-1 m, 0]}}\n"
    "joints: {slide: {type: prismatic, between: [ground, block], axis: [1, 0]}}\n"
    "springs: {spring: {between: [ground.wall, block.pin], stiffness: 50 N/m, length: 1 m}}\n"
    "forces: {load: {at: block.pin, value: law, direction: [1, 0]}}\n"
    "initial: {slide.position: 0.1 m}\n"
    "run: {time: 1 s}\n";

static od_status friction(void *context, const od_foreign_point *at, double *y, double *rate) {
  (void)context, (void)rate;
  *y = -at->q[1] * tanh(at->u[0] / at->q[0]) - 3 * at->u[1];
  return OD_OK;
}
static od_status sampled(void *context, const od_foreign_point *at, double *next, double *y) {
  (void)context, (void)next;
  *y = -at->u[0];
  return OD_OK;
}
static const char *const inputs[] = {"v", "x"}, *const numbers[] = {"vs", "Fc"};
static const od_foreign_law friction_law = {.inputs = 2, .outputs = 1, .numbers = 2, .values = friction};
static const od_foreign_law sampled_law = {.inputs = 1, .outputs = 1, .sample = sampled};

static void register_laws(void) {
  const od_named_law named[] = {
      {.name = "seal", .law = &friction_law, .input_name = inputs, .number_name = numbers, .remark = "is a test"},
      {.name = "held", .law = &sampled_law, .input_name = inputs}};
  for (int i = 0; i < 2; i++) assert_int_equal(od_law_register(&named[i]), OD_OK);
  assert_int_equal(od_law_register(&named[0]), OD_OK);  // a law may be replaced
  assert_int_equal(od_law_register(&(od_named_law){.name = "no names", .law = &friction_law}), OD_BAD_ARGUMENT);
  assert_int_equal(od_law_register(NULL), OD_BAD_ARGUMENT);
  const od_foreign_law many = {.inputs = 33, .outputs = 1, .values = friction};
  assert_int_equal(od_law_register(&(od_named_law){.name = "many", .law = &many, .input_name = inputs}),
                   OD_BAD_ARGUMENT);
}

// Loads the machine with this block. On failure returns NULL; `messages` has all messages.
static od_machine *load(const char *block, const char *set, char *messages, size_t size) {
  char text[2000];
  snprintf(text, sizeof text, "%sblocks: {law: {%s}}\n", head, block);
  od_messages *list = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.content = {text, strlen(text)}, .set = &set, .set_count = set != NULL};
  od_machine_load("law.yaml", &options, &machine, list);
  messages[0] = '\0';
  for (int i = 0; i < od_messages_count(list); i++) {
    size_t used = strlen(messages);
    const od_message *m = od_messages_get(list, i);
    snprintf(messages + used, size - used, "%d:%d: %s\n", m->line, m->column, m->text);
  }
  od_messages_free(list);
  return machine;
}

// Runs a machine for a second with steps of 1 ms. x: its final state.
static void run(od_machine *machine, double x[2]) {
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  const od_advance_options options = {.step = 1e-3};
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  od_advance *advance = od_advance_new(sim, &options);
  assert_int_equal(od_sim_advance(advance, 1, NULL), OD_OK);
  memcpy(x, od_sim_state(sim), 2 * sizeof *x);
  od_advance_free(advance);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void a_law_is_a_formula(void **state) {
  (void)state;
  // The names have another order than those of the law.
  static const char rest[] = "unit: N, inputs: {x: slide.position, v: slide.rate}, parameters: {Fc: 2 N, vs: 50 mm/s}";
  char block[400], messages[2000];
  double ours[2], formula[2], changed[2];
  snprintf(block, sizeof block, "type: foreign, law: seal, %s", rest);
  run(load(block, NULL, messages, sizeof messages), ours);
  assert_non_null(strstr(messages, "the block 'law' is a test"));
  run(load(block, "law.parameters.Fc=1 N", messages, sizeof messages), changed);
  snprintf(block, sizeof block, "type: formula, formula: '-Fc * tanh(v / vs) - 3 N/m * x', %s", rest);
  od_machine *machine = load(block, NULL, messages, sizeof messages);
  if (!machine) fail_msg("%s", messages);
  run(machine, formula);
  for (int i = 0; i < 2; i++) assert_true(fabs(ours[i] - formula[i]) < 1e-10);
  assert_true(fabs(ours[0] - changed[0]) > 1e-3);
}

static void a_sampled_law_holds_its_output(void **state) {
  (void)state;
  char messages[2000];
  double held[2], often[2];
  run(load("type: foreign, law: held, unit: N, sample: 100 ms, inputs: {v: slide.rate}", NULL, messages,
           sizeof messages),
      held);
  run(load("type: foreign, law: held, unit: N, sample: 1 ms, inputs: {v: slide.rate}", NULL, messages, sizeof messages),
      often);
  assert_true(fabs(held[0] - often[0]) > 1e-3);
  // Sampled at every step, nearly a damping of 1 N s/m: x = 0.1 e^(-t/4) (cos wt + sin(wt) / (4 w)).
  double w = sqrt(25 - 1.0 / 16), x = 0.1 * exp(-0.25) * (cos(w) + sin(w) / (4 * w));
  assert_true(fabs(often[0] - x) < 3e-4);
}

static void mistakes_have_places(void **state) {
  (void)state;
  static const struct {
    const char *block, *message;
  } wrong[] = {
      {"type: foreign, unit: N", "9:10: the block 'law' needs 'law', the name of a law of the program"},
      {"type: foreign, law: sael, unit: N", "no law 'sael'; did you mean 'seal'?"},
      {"type: foreign, law: [1], unit: N", "found a list; 'law' must be the name of a law of the program"},
      {"type: foreign, law: held, unit: N, inputs: {v: slide.rate}", "needs 'sample': its law 'held' is sampled"},
      {"type: foreign, law: seal, unit: N, sample: 1 ms", "has 'sample', but its law 'seal' is continuous"},
      {"type: foreign, law: held, sample: -1 ms, unit: N, inputs: {v: slide.rate}", "sample"},
      {"type: foreign, law: held, sample: 1 ms, unit: N, inputs: {w: slide.rate}", "unknown key 'w'"},
      {"type: foreign, law: held, sample: 1 ms, unit: N, inputs: {v: slide.rat}", "slide.rat"},
      {"type: foreign, law: held, sample: 1 ms, unit: N, inputs: {v: slide.rate}, parameters: {k: 1}",
       "unknown key 'k'"},
      {"type: foreign, law: seal, unit: N, inputs: {v: slide.rate, x: slide.position}, parameters: {vs: 1 m/s}",
       "'parameters' of the block 'law' needs 'Fc'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char messages[2000];
    assert_null(load(wrong[i].block, NULL, messages, sizeof messages));
    if (!strstr(messages, wrong[i].message)) fail_msg("%s:\n%s", wrong[i].block, messages);
    assert_null(strstr(messages, "must be in N"));  // no error that only follows from the first one
  }
}

int main(void) {
  register_laws();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_law_is_a_formula),
      cmocka_unit_test(a_sampled_law_holds_its_output),
      cmocka_unit_test(mistakes_have_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
