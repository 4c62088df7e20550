// "Did you mean ...?": the nearest of several words.
#ifndef OD_DOCUMENT_SUGGEST_H
#define OD_DOCUMENT_SUGGEST_H

// Compares candidates one by one and keeps the one nearest to `word`, if `word` may be a typing error, or a path with omitted or
// additional parts: crank.mass for crank.beam.mass.
typedef struct od_nearest {
  const char *word;
  const char *best;  // NULL: no candidate is near
  int distance;
  int tried;
} od_nearest;

od_nearest od_nearest_to(const char *word);
void od_nearest_try(od_nearest *nearest, const char *candidate);

// "; did you mean 'crank'?", for the end of a message; empty if no word is near.
typedef struct od_suggestion {
  char text[120];
} od_suggestion;
od_suggestion od_nearest_suggestion(const od_nearest *nearest);

// Number of edits between two words: letters omitted, added, replaced or swapped with their neighbor. A difference in case counts
// half.
int od_edit_distance(const char *a, const char *b);

#endif
