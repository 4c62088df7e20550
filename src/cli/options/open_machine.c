#include "options/open_machine.h"

#include <stdio.h>

#include "terminal/exit_codes.h"
#include "terminal/terminal.h"
#include "machine/machine.h"

void od_load_arguments_free(od_load_arguments *arguments) {
  od_words_free(&arguments->set);
}

static int code_of(od_status status) {
  if (status == OD_OK) return -1;
  return status == OD_NO_MEMORY ? OD_EXIT_FAILED : OD_EXIT_BAD_INPUT;
}

int od_cli_loaded(od_messages *messages, od_status status) {
  if (messages)
    od_messages_print(messages, stderr, od_terminal_colour(stderr));
  else
    od_cli_error("memory ran out");
  od_messages_free(messages);
  return code_of(messages ? status : OD_NO_MEMORY);
}

static od_status load_into(const char *path, od_content content, const od_load_arguments *arguments,
                           od_machine **machine, od_messages *messages) {
  const od_load_options options = {.set = arguments->set.text,
                                   .set_count = arguments->set.count,
                                   .spatial = arguments->spatial,
                                   .variant = arguments->variant,
                                   .content = content};
  return od_machine_load(path, &options, machine, messages);
}

int od_cli_load(const char *path, const od_load_arguments *arguments, od_machine **machine) {
  *machine = NULL;
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages,
                       messages ? load_into(path, (od_content){0}, arguments, machine, messages) : OD_NO_MEMORY);
}

int od_cli_load_content(const char *path, od_content content, const od_load_arguments *arguments, od_machine **machine,
                        od_messages *messages) {
  *machine = NULL;
  return code_of(load_into(path, content, arguments, machine, messages));
}

od_model_facts od_cli_facts(const od_machine *machine) {
  return od_model_get_facts(od_machine_model(machine));
}

int od_cli_state_count(const od_machine *machine) {
  od_plant *plant = NULL;
  if (od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL) != OD_OK) return -1;
  int states = od_plant_nx(plant);
  od_plant_free(plant);
  return states;
}

void od_facts_text(const od_model_facts *f, char *text, size_t size) {
  char blocks[40] = "";
  if (f->blocks) snprintf(blocks, sizeof blocks, "%d block%s", f->blocks, f->blocks == 1 ? "" : "s");
  if (f->blocks && f->bodies == 0)
    snprintf(text, size, "%s%s", blocks, f->linear ? ", linear" : "");
  else
    snprintf(text, size, "%d %s, %d %s, %d %s of freedom%s%s", f->bodies, f->bodies == 1 ? "body" : "bodies", f->joints,
             f->joints == 1 ? "joint" : "joints", f->freedom, f->freedom == 1 ? "degree" : "degrees",
             f->blocks ? ", " : "", blocks);
}

void od_facts_json(const od_model_facts *f, json_t *object) {
  const struct {
    const char *name;
    int value;
  } facts[] = {{"bodies", f->bodies},
               {"joints", f->joints},
               {"loops", f->loops},
               {"coordinates", f->coordinates},
               {"closure_rows", f->closure_rows},
               {"closure_rank", f->closure_rank},
               {"freedom", f->freedom},
               {"blocks", f->blocks}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    json_object_set_new(object, facts[i].name, json_integer(facts[i].value));
  json_object_set_new(object, "planar", json_boolean(f->planar));
  json_object_set_new(object, "linear", json_boolean(f->linear));
}
