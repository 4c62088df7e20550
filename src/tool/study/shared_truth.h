// True motions that the runs of a study share: where the true machine does not depend on the seed it is simulated once, by whichever run comes
// first, and read by all others, of the same case or of another one with the same true machine.
#ifndef OD_STUDY_SHARED_TRUTH_H
#define OD_STUDY_SHARED_TRUTH_H

#include "experiment/true_motion.h"
#include "identify/fit.h"

// All of a study; at most OD_MOST_SHARED_BYTES of samples are kept. What is beyond that each run simulates for itself.
typedef struct od_shared_truths od_shared_truths;
#define OD_MOST_SHARED_BYTES 256e6
od_shared_truths *od_shared_truths_new(double most_bytes);
void od_shared_truths_free(od_shared_truths *all);

// The place for the motion of this experiment, which must outlive it; not simulated yet. NULL: runs do not share it, since it depends on the
// seed, there is no true machine, or memory would not do.
typedef struct od_shared_truth od_shared_truth;
od_shared_truth *od_shared_truths_find(od_shared_truths *all, const od_experiment *e);

// The motion, from any thread; where somebody else is simulating it, this waits. NULL with OD_OK: memory ran out, so that the run has to
// simulate it itself.
od_status od_shared_truth_motion(od_shared_truth *s, od_going_on going, const od_kept_motion **out, od_error *err);

// The same for the simulated sets of a fit, the first `sets` of them: what memory allows is simulated here and kept in the plan. A set that
// cannot be simulated is left to the fits, which say so.
od_status od_shared_truths_keep_sets(od_shared_truths *all, od_fit_plan *plan, int sets, od_going_on going,
                                     od_error *err);

#endif
