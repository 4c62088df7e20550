// Findings, phases and events of a run: sentences about the behavior of the machine, from rules of element classes and
// outputs.
//
// The caller passes od_findings_watcher() to the run and calls od_findings_end() after the run. Every step of the run is
// examined. The memory does not depend on the length of the run.
#ifndef OD_FINDINGS_FINDINGS_H
#define OD_FINDINGS_FINDINGS_H

#include "memory/scoped.h"
#include "requirements/judge.h"
#include "result/result.h"
#include "simulate/run.h"

typedef enum od_severity { OD_FINDING_GOOD, OD_FINDING_NOTE, OD_FINDING_WARNING, OD_FINDING_SERIOUS } od_severity;

// A finding. Texts are UTF-8 and belong to the od_findings or to the machine.
typedef struct od_finding {
  const char *code;          // a code of od_finding_code_at(), for example "relief.open"
  od_severity severity;      // OD_FINDING_GOOD: a limit is not reached
  const char *owner;         // name of the part; "": the whole machine
  const char *output;        // name of the output that shows the finding; "": none
  double from, to;           // the interval of the finding, s; NAN: no interval
  double at;                 // time at which the finding is most visible, s; NAN: no particular time
  const char *title, *text;  // a few words without a full stop; one or two sentences
} od_finding;

// A phase: a segment of an input's sequence, or a state of a state machine. Phases of a source do not overlap.
typedef struct od_phase {
  double from, to;     // s
  const char *name;    // name in the file, or a description of the segment
  const char *source;  // name of the input or block
} od_phase;

// An event: a switch of a mode, a change of the state of a state machine, the beginning of a finding's interval.
typedef struct od_happening {
  double at;          // s
  const char *name;   // "opens", "reaches its outer end"; state machines: the new state
  const char *owner;  // name of the part or block
  const char *code;   // "mode", "state", or the code of a finding
} od_happening;

typedef struct od_findings od_findings;

// Creates the findings of a machine. The machine must outlive the findings. Returns NULL if out of memory.
od_findings *od_findings_new(const od_machine *machine);
void od_findings_free(od_findings *f);
OD_OWNED_POINTER(od_findings, od_findings_free);

// Returns a watcher for od_run_options.watchers.
od_run_watcher od_findings_watcher(od_findings *f);
// Returns the number of outputs to which findings may refer. *outputs: their indices, each once.
int od_findings_outputs(const od_findings *f, const int **outputs);
// Creates the lists after the run. judge: the judged requirements; NULL: none. Returns OD_NO_MEMORY if an allocation
// failed.
od_status od_findings_end(od_findings *f, const od_judge *judge);

// Return the lists. Findings: worst first. Phases: by source, then by time. Events: by time.
const od_finding *od_findings_list(const od_findings *f, int *count);
const od_phase *od_findings_phases(const od_findings *f, int *count);
const od_happening *od_findings_events(const od_findings *f, int *count);

// Returns "good", "note", "warning" or "serious".
const char *od_severity_text(od_severity severity);

// The codes of findings with their meaning, for documents. od_finding_code_at() returns NULL at the end of the list.
typedef struct od_finding_code {
  const char *code;
  const char *severity;  // possible severities
  const char *classes;   // classes of elements or blocks, or a description of the outputs
  const char *meaning;   // when the finding is reported
} od_finding_code;
const od_finding_code *od_finding_code_at(int i);

// findings_result.c: adds "findings", "phases" and "events" to the data, and a short list to the view of the terminal. Findings with
// the code of a remark of the verdict are not repeated on the terminal.
void od_add_findings(od_result *r, const od_findings *f, const od_verdict *verdict);

#endif
