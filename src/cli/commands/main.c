// The program oleodyn: finds the command and runs it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "options/options.h"
#include "terminal/interrupts.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "io/inputs_read.h"

const od_command od_commands[] = {
    {"simulate", "run a machine over time; results as table, CSV, MAT, JSON or plot", od_command_simulate},
    {"equilibrium", "find inputs, positions and pressures of an equilibrium or of steady motion",
     od_command_equilibrium},
    {"linearize", "linear model at an operating point: A, B, C, D, poles, zeros and modes", od_command_linearize},
    {"bode", "frequency responses: plot, table, margins and bandwidth", od_command_bode},
    {"rga", "relative gains over frequency, and the suggested pairing of inputs and outputs", od_command_rga},
    {"inverse", "forces, pressures and flows for a prescribed motion", od_command_inverse},
    {"optimize", "find numbers with which a machine meets its requirements", od_command_optimize},
    {"signals", "show the inputs of a machine over time, without a simulation", od_command_signals},
    {"observe", "estimate states and parameters of a machine in operation", od_command_observe},
    {"fit", "fit parameters of a machine to logs, and report which of them are identifiable", od_command_fit},
    {"frf", "frequency response of a machine, or estimated from a log", od_command_frf},
    {"tf", "fit transfer functions to a frequency response", od_command_tf},
    {"compare", "compare filters, sets of sensors and steps on the same data", od_command_compare},
    {"study", "run experiments many times with different random numbers, on all cores", od_command_study},
    {"check", "check files and list all errors", od_command_check},
    {"info", "list elements, degrees of freedom, inputs, outputs and numbers of a machine", od_command_info},
    {"compile", "write a machine as an image that programs, controllers and all commands can use", od_command_compile},
    {"components", "list the components that machine files can use, or show their keys", od_command_components},
    {"schema", "print the JSON schema of a kind of file, for editors", od_command_schema},
    {"friction", "show a friction law: steady curve, loop, step, sensitivities", od_command_friction},
    {"friction-fit", "fit a friction law to points of steady motion or to one run", od_command_friction_fit},
    {"help", "list all commands, or explain one command", od_command_help},
    {"version", "show the version", od_command_version},
    {NULL, NULL, NULL},
};

// Earlier names of commands. They are accepted but not listed.
static const char *const earlier_names[][2] = {{"optimise", "optimize"}};

const od_command *od_command_find(const char *name) {
  for (size_t i = 0; i < sizeof earlier_names / sizeof *earlier_names; i++)
    if (!strcmp(name, earlier_names[i][0])) name = earlier_names[i][1];
  od_nearest nearest = od_nearest_to(name);
  for (const od_command *c = od_commands; c->name; c++) {
    if (!strcmp(c->name, name)) return c;
    od_nearest_try(&nearest, c->name);
  }
  od_cli_error("unknown command '%s'%s", name,
               nearest.best ? od_nearest_suggestion(&nearest).text : "; 'oleodyn help' lists the commands");
  return NULL;
}

int od_command_run(const od_command *command, int argc, char **argv) {
  od_options_name(command->name, command->summary);
  return command->run(argc, argv);
}

// Opens standard descriptors that are closed. Otherwise a result file could get the descriptor of standard output, and printed
// text would be written into the file.
static void open_standard_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

// Returns the final exit code: OD_EXIT_INTERRUPTED if the completed work was interrupted, OD_EXIT_FAILED if standard output
// cannot be written, else `code`.
static int end(int code) {
  bool is_done = code == OD_EXIT_OK || code == OD_EXIT_UNSOUND || code == OD_EXIT_UNMET;
  if (is_done && od_signals_interrupted()) {
    fprintf(stderr, "oleodyn: interrupted; the result may be incomplete\n");
    code = OD_EXIT_INTERRUPTED;
  }
  errno = 0;
  bool written = !ferror(stdout) && fflush(stdout) == 0;
  if (written || (code != OD_EXIT_OK && code != OD_EXIT_UNSOUND)) return code;
  od_cli_error("cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
  return OD_EXIT_FAILED;
}

int main(int argc, char **argv) {
  open_standard_descriptors();
  od_signals_begin();
  signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit fails with an error instead of ending the program
  od_inputs_begin();
  const char *name = argc < 2 ? "help" : argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) name = "version";
  const od_command *command = od_command_find(name);
  int skipped = argc < 2 ? argc : 2;
  return end(command ? od_command_run(command, argc - skipped, argv + skipped) : OD_EXIT_BAD_INPUT);
}
