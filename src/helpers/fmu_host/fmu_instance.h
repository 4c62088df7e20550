// An instance of an FMU in this process, through the functions of FMI 2 or FMI 3.
#ifndef OD_FMU_INSTANCE_H
#define OD_FMU_INSTANCE_H

#include "fmu/fmu_description.h"

typedef struct od_fmu od_fmu;

// The functions of a version of FMI. All functions return false after an error, whose text is in od_fmu.error.
typedef struct od_fmi {
  bool (*load)(od_fmu *f);  // finds the functions in the binary
  // Creates the instance; then starts the FMU with the values of the parameters and inputs at time t. After the start the
  // instance is in continuous-time mode or in step mode. free_instance: frees the instance, if there is one.
  bool (*instantiate)(od_fmu *f);
  bool (*start)(od_fmu *f, double t, const double *q, const double *u);
  void (*free_instance)(od_fmu *f);
  bool (*set)(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, const double *value);
  bool (*get)(od_fmu *f, od_fmu_type type, const uint32_t *reference, int count, double *value);
  bool (*directional)(od_fmu *f, const uint32_t *unknown, int unknowns, const uint32_t *known, int knowns,
                      const double *change, double *result);
  bool (*save)(od_fmu *f, char **bytes, size_t *size);  // the caller frees the bytes with free()
  bool (*restore)(od_fmu *f, const char *bytes, size_t size);
  // Model exchange.
  bool (*set_point)(od_fmu *f, double t, const double *x);
  bool (*get_states)(od_fmu *f, double *x, double *nominal);
  bool (*get_rates)(od_fmu *f, double *rate);
  bool (*get_indicators)(od_fmu *f, double *z);
  bool (*event)(od_fmu *f);  // performs the event that is due at the current point; sets od_fmu.next_event
  // Co-simulation.
  bool (*step)(od_fmu *f, double t, double h);
} od_fmi;

extern const od_fmi od_fmi2, od_fmi3;

// A list of variables, in groups of the same type.
typedef struct od_fmu_list {
  int count, *variable;
  uint32_t *reference;
} od_fmu_list;

struct od_fmu {
  const od_fmu_description *d;
  od_fmu_interface interface;
  const od_fmi *fmi;
  void *library;   // handle of dlopen()
  void *function;  // table of the functions of the binary
  void *instance;  // NULL: none
  void *callbacks;
  const char *folder;  // unpacked archive
  od_fmu_list input, parameter, output;
  od_fmu_list derivative;  // derivatives of the states
  double next_event;       // time of the next time event, s; INFINITY: none
  bool ended;              // whether the FMU asked to end the simulation
  char error[900], logged[500];
};

// The name of the function of the FMU that runs, for messages about crashes; "": none.
extern const char *volatile od_fmu_running;

// Loads the binary. The description and the folder must outlive `f`. Returns false and stores the reason in f->error if the
// binary cannot be loaded or lacks a function.
bool od_fmu_load(od_fmu *f, const od_fmu_description *d, od_fmu_interface interface, const char *folder);
// Set and get all variables of a list.
bool od_fmu_set_list(od_fmu *f, const od_fmu_list *list, const double *value);
bool od_fmu_get_list(od_fmu *f, const od_fmu_list *list, double *value);
// Sets the parameters that may change after the start: tunable parameters.
bool od_fmu_tune(od_fmu *f, const double *q);

// For both versions: judge the status that a function returned (OK and Warning are good), report a function that the binary does
// not have, store the text of an error message of the FMU. Warnings are not stored.
bool od_fmu_is_good(od_fmu *f, const char *function, int status);
bool od_fmu_lacks(od_fmu *f, const char *function);
void od_fmu_log(od_fmu *f, int status, const char *message);

#endif
