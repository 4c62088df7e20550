// Suggestions for unknown names: the nearest of several words ("did you mean ...?"), or a list of the words.
#ifndef OD_DOCUMENT_SUGGEST_H
#define OD_DOCUMENT_SUGGEST_H

enum { OD_NEAREST_LISTED = 12 };  // largest number of candidates in a list

// A search for the candidate nearest to `word`, one candidate at a time. A candidate is near if `word` may be a
// misspelling of the candidate. A path is also near if `word` is the path with omitted or additional parts: crank.mass
// for crank.beam.mass.
typedef struct od_nearest {
  const char *word;
  const char *best;                      // best candidate so far; NULL: no candidate is near
  int distance;                          // distance of the best candidate, in half edits
  int tried;                             // number of candidates so far
  const char *first[OD_NEAREST_LISTED];  // the first candidates
} od_nearest;

// Begins a search for the candidate nearest to `word`, which must outlive the search. od_nearest_try() compares a candidate and
// stores it if it is near and nearer than all earlier candidates; the candidate must outlive the search.
od_nearest od_nearest_to(const char *word);
void od_nearest_try(od_nearest *nearest, const char *candidate);

typedef struct od_suggestion {
  char text[400];
} od_suggestion;

// Returns the end of a message about an unknown name: "; did you mean 'crank'?" if a candidate is near; otherwise
// "; expected boom, crank or rod" if there are at most OD_NEAREST_LISTED candidates with short names; otherwise "; " and `long_list`,
// a statement where the candidates are listed, such as "'oleodyn info FILE' lists all outputs". With long_list = NULL, a long list is
// shortened: "; expected one of 30 names, such as boom, crank". Without candidates and long_list, the text is empty.
od_suggestion od_nearest_suggestion(const od_nearest *nearest, const char *long_list);

// Returns the distance between two words in half edits. A letter that is omitted, added, replaced or swapped with its neighbor adds
// 2; a difference in case adds 1.
int od_edit_distance(const char *a, const char *b);

#endif
