// The internal data of findings, shared by the files that follow a run and write the sentences.
#ifndef OD_FINDINGS_FINDINGS_WORK_H
#define OD_FINDINGS_FINDINGS_WORK_H

#include "findings/condition.h"
#include "findings/finding_rules.h"
#include "findings/findings.h"
#include "io/display.h"
#include "machine/machine.h"

// Indices of the outputs that are recorded with a condition.
enum { OD_WITH_OUTPUT, OD_WITH_PRESSURE, OD_WITH_SECOND_PRESSURE };

// A rule applied to one part of the machine.
typedef struct od_followed {
  od_rule_type type;
  const char *owner;             // name of the part
  const char *output;            // name of the output that shows the finding
  const char *unit;              // SI unit of that output
  const char *with_unit, *node;  // unit of the further output; name of the node with the pressure; "": none
  const char *event;             // name of the event at which the condition begins; NULL: none
  int part;                      // index of the instance, node, joint or block
  int side;                      // OD_FIND_STROKE: 1 outer, -1 inner end; OD_FIND_REVERSAL: sign of the force
  double limit;                  // the limit in the unit of the output
  double scale;                  // time constant of a pump, s; stroke of a cylinder, m
  od_condition condition;
} od_followed;

// A part with modes or states.
typedef struct od_moded {
  const char *owner, *off, *on;
  int column;         // column of the mode
  bool is_phase;      // whether each mode is a phase
  int states;         // number of states with a name
  const char **name;  // names of the states
} od_moded;

// A recorded event of a run, without texts.
typedef struct od_moment_record {
  double at;
  int source, value;  // index of the followed rule, or of the part with modes; new mode of the part
} od_moment_record;

enum { OD_MOST_EVENTS = 200 };  // largest number of recorded events of a kind

typedef struct od_moment_list {
  od_moment_record item[OD_MOST_EVENTS];
  long count;   // number of events, including events that are not recorded
  double last;  // time of the last event, s
} od_moment_list;

// The record of one run.
typedef struct od_findings_record {
  const struct od_findings *f;
  bool has_point;
  double start, end;
  od_condition_record *condition;  // records, one per followed rule
  int *mode;                       // last modes, one per part with modes; -1: no mode yet
  od_moment_list begins[OD_FIND_TYPES], modes, states;
  double window_t, window_work, work;    // start of the window of the mean power, s, and the work at this time, J;
                                         // work at the last point, J
  double peak_power, peak_at, returned;  // largest power, W, and its time, s; work returned to the drives, J
  double *final;                         // final outputs
  od_arena arena;
} od_findings_record;

struct od_findings {
  const od_machine *machine;
  const od_model *model;
  bool *is_measured;      // per signal: whether a measured quantity acts on the signal
  int *output, outputs;   // indices of the outputs that are recorded at every step
  int *final, finals;     // indices of the outputs that are recorded at the end
  int *supply, supplies;  // columns of the work of drives, sources or tanks
  double *supply_sign;
  od_followed *followed;
  int followed_count;
  od_moded *moded;
  int moded_count;
  od_findings_record *record;  // record of the run that was passed to the findings; NULL: no run yet
  od_finding *finding;
  od_phase *phase;
  od_happening *event;
  int findings, phases, events;
  od_arena arena;
};

// findings.c: return the column of an output at every step, or among the outputs at the end of the run; add the output
// if needed. -1: `output` is -1, or out of memory.
int od_findings_column(od_findings *f, int output);
int od_findings_final_column(od_findings *f, int output);
// Adds a finding. The title and the text, which has the format of printf, are copied. The other texts must outlive the findings.
void od_findings_add(od_findings *f, const char *code, od_severity severity, const char *owner, const char *output,
                     od_span span, double at, const char *title, const char *format, ...)
    __attribute__((format(printf, 9, 10)));
// Returns the duration of the run, s.
double od_findings_time(const od_findings *f);

// follow.c: lists the conditions of a machine by its classes and outputs. Returns false if an allocation fails.
bool od_findings_follow(od_findings *f);
// phases.c
void od_findings_make_phases(od_findings *f);
void od_findings_make_events(od_findings *f);
// find_*.c: functions that add the findings of one or more types.
void od_find_in_circuit(od_findings *f);
void od_find_in_mechanism(od_findings *f);
void od_find_in_control(od_findings *f);
void od_find_energy(od_findings *f);
void od_find_requirements(od_findings *f, const od_judge *judge);
// Returns whether the condition of a followed rule is reported. The events of such a rule are listed.
bool od_followed_matters(const od_findings *f, int i);

// find_common.c: parts of sentences.
typedef struct od_word {
  char text[96];
} od_word;
typedef struct od_phrase {
  char text[400];
} od_phrase;
// Returns a time with enough digits for the duration of the run: "4.59 s".
od_word od_time_words(const od_findings *f, double t);
// Returns the times of a condition: "from 4.59 s to 5.56 s".
od_phrase od_span_words(const od_findings *f, const od_condition_record *r);
od_word od_value_words(double value, const char *si);  // "287 bar"
od_word od_percent_words(double part);                 // "66 %", "2.6 %"
// Returns a sentence that names further parts: " The same holds for a, b and 2 more."
od_phrase od_others_words(const od_findings *f, const int *index, int count);

// A followed rule that is reported, its record, and words: its times, and a sentence about further parts or "".
typedef struct od_found {
  const od_followed *w;
  const od_condition_record *r;
  char span[400], others[400];
} od_found;
// Calls `write` for the parts of a type that are reported, the longest condition first, at most three times. Returns
// the number of reported parts.
int od_find_all(od_findings *f, od_rule_type type, void (*write)(od_findings *f, const od_found *x));

#endif
