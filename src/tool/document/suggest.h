// Suggestions ("did you mean ...?"): the nearest of several words.
#ifndef OD_DOCUMENT_SUGGEST_H
#define OD_DOCUMENT_SUGGEST_H

// A search for the candidate nearest to `word`, one candidate at a time. A candidate is near if `word` may be a
// misspelling of the candidate. A path is also near if `word` is the path with omitted or additional parts: crank.mass
// for crank.beam.mass.
typedef struct od_nearest {
  const char *word;
  const char *best;  // best candidate so far; NULL: no candidate is near
  int distance;      // distance of the best candidate, in half edits
  int tried;         // number of candidates compared so far
} od_nearest;

// Begins a search for the candidate nearest to `word`, which must outlive the search. od_nearest_try() compares a candidate and
// stores it if it is near and nearer than all earlier candidates; the candidate must outlive the search.
od_nearest od_nearest_to(const char *word);
void od_nearest_try(od_nearest *nearest, const char *candidate);

// A suggestion for the end of a message: "; did you mean 'crank'?"; empty if no word is near.
typedef struct od_suggestion {
  char text[120];
} od_suggestion;
od_suggestion od_nearest_suggestion(const od_nearest *nearest);

// Returns the distance between two words in half edits. A letter that is omitted, added, replaced or swapped with its neighbor adds
// 2; a difference in case adds 1.
int od_edit_distance(const char *a, const char *b);

#endif
