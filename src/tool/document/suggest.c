// The optimal string alignment distance, in half edits: a wrong case is half an edit, a wrong letter is one edit. An omitted part
// of a path is one edit, independent of its length.
#include "document/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 80, MOST_CANDIDATES = 5000, LONGEST_LIST = 300, EXAMPLES = 4 };

static int smaller(int a, int b) {
  return a < b ? a : b;
}

int od_edit_distance(const char *a, const char *b) {
  int n = (int)strnlen(a, LONGEST), m = (int)strnlen(b, LONGEST);
  int row[3][LONGEST + 1];  // rows i - 2, i - 1, i of the table, used cyclically
  for (int j = 0; j <= m; j++) row[0][j] = 2 * j;
  for (int i = 1; i <= n; i++) {
    int *now = row[i % 3];
    const int *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = 2 * i;
    for (int j = 1; j <= m; j++) {
      bool same_letter = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
      int best = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : same_letter ? 1 : 2);
      best = smaller(best, smaller(last[j], now[j - 1]) + 2);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) best = smaller(best, before[j - 2] + 2);
      now[j] = best;
    }
  }
  return row[n % 3][m];
}

od_nearest od_nearest_to(const char *word) {
  return (od_nearest){.word = word};
}

static int part_length(const char *path) {
  return (int)strcspn(path, ".");
}

static const char *next_part(const char *path) {
  path += part_length(path);
  return *path ? path + 1 : path;
}

// Returns the number of parts of a long path that a short path omits: 1 for "crank.mass" and "crank.beam.mass". The short path must
// have the remaining parts in the same order, including the first and the last part; otherwise returns 0.
static int parts_left_out(const char *brief, const char *whole) {
  int left_out = 0, matched = 0, last = 0;
  for (; *whole; whole = next_part(whole)) {
    int length = part_length(whole);
    last = *brief && part_length(brief) == length && strncasecmp(brief, whole, (size_t)length) == 0;
    if (!last && matched == 0) return 0;
    if (last)
      brief = next_part(brief), matched++;
    else
      left_out++;
  }
  return *brief == '\0' && last && matched >= 2 ? left_out : 0;
}

static void take(od_nearest *nearest, const char *candidate, int distance) {
  if (nearest->best && distance >= nearest->distance) return;
  nearest->best = candidate;
  nearest->distance = distance;
}

void od_nearest_try(od_nearest *nearest, const char *candidate) {
  int n = (int)strnlen(nearest->word, LONGEST), m = (int)strnlen(candidate, LONGEST);
  if (nearest->tried < OD_NEAREST_LISTED) nearest->first[nearest->tried] = candidate;
  if (nearest->tried++ >= MOST_CANDIDATES || n == LONGEST || m == LONGEST) return;
  int parts = parts_left_out(nearest->word, candidate) + parts_left_out(candidate, nearest->word);
  if (parts > 0) take(nearest, candidate, 2 * parts);
  // Allowed edits: one in words of up to four letters, two in words of up to eight letters, otherwise one for every three letters.
  int allowed = 2 * (n <= 4 ? 1 : n <= 8 ? 2 : n / 3);
  if (2 * (n > m ? n - m : m - n) > allowed) return;
  int distance = od_edit_distance(nearest->word, candidate);
  // For words of one or two letters, the number of edits must be less than the number of letters of the shorter word. A
  // difference in case is allowed.
  if (distance > allowed || (n <= 2 && distance > 1 && distance >= 2 * smaller(n, m))) return;
  take(nearest, candidate, distance);
}

// Writes the first candidates: "a, b and c" with "and" as `last`. Returns whether the list has at most LONGEST_LIST bytes.
static bool enumerate(const od_nearest *nearest, int count, const char *last, char list[LONGEST_LIST + 1]) {
  size_t used = 0;
  for (int i = 0; i < count; i++) {
    const char *before = i == 0 ? "" : i + 1 == count ? last : ", ";
    int more = snprintf(list + used, LONGEST_LIST + 1 - used, "%s%s", before, nearest->first[i]);
    if (more < 0 || (used += (size_t)more) > LONGEST_LIST) return false;
  }
  return true;
}

// All texts are shorter than a suggestion: a near candidate has less than LONGEST bytes, a list at most LONGEST_LIST bytes.
od_suggestion od_nearest_suggestion(const od_nearest *nearest, const char *long_list) {
  od_suggestion s = {""};
  char list[LONGEST_LIST + 1] = "";
  int count = nearest->tried;
  if (nearest->best)
    snprintf(s.text, sizeof s.text, "; did you mean '%s'?", nearest->best);
  else if (count > 0 && count <= OD_NEAREST_LISTED && enumerate(nearest, count, " or ", list))
    snprintf(s.text, sizeof s.text, "; expected %s", list);
  else if (long_list)
    snprintf(s.text, sizeof s.text, "; %s", long_list);
  else if (count > 0 && enumerate(nearest, smaller(count, EXAMPLES), ", ", list))
    snprintf(s.text, sizeof s.text, "; expected one of %d names, such as %s", count, list);
  return s;
}
