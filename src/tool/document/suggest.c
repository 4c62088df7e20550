// The optimal string alignment distance, in half slips so that a wrong case counts less than a wrong letter.
#include "document/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 80, MOST_CANDIDATES = 5000 };

static int smaller(int a, int b) {
  return a < b ? a : b;
}

static int replacement_cost(char a, char b) {
  if (a == b) return 0;
  return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

int od_edit_distance(const char *a, const char *b) {
  int n = (int)strnlen(a, LONGEST), m = (int)strnlen(b, LONGEST);
  int row[3][LONGEST + 1];  // rows i - 2, i - 1, i of the table, taken in turn
  for (int j = 0; j <= m; j++) row[0][j] = 2 * j;
  for (int i = 1; i <= n; i++) {
    int *now = row[i % 3];
    const int *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = 2 * i;
    for (int j = 1; j <= m; j++) {
      int best = last[j - 1] + replacement_cost(a[i - 1], b[j - 1]);
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

void od_nearest_try(od_nearest *nearest, const char *candidate) {
  int n = (int)strnlen(nearest->word, LONGEST), m = (int)strnlen(candidate, LONGEST);
  if (n == LONGEST || m == LONGEST || nearest->tried++ >= MOST_CANDIDATES) return;
  // One slip in words of up to four letters, two in those of up to eight, then one for every three letters.
  int allowed = 2 * (n <= 4 ? 1 : n <= 8 ? 2 : n / 3);
  if (2 * (n > m ? n - m : m - n) > allowed) return;
  int distance = od_edit_distance(nearest->word, candidate);
  // Two different words of one or two letters are always near; that says nothing unless only the case differs.
  if (distance > allowed || (n <= 2 && distance > 1 && distance >= 2 * smaller(n, m))) return;
  if (nearest->best == NULL || distance < nearest->distance) {
    nearest->best = candidate;
    nearest->distance = distance;
  }
}

// Words that are tried are shorter than LONGEST, so that nothing is cut off.
od_suggestion od_nearest_suggestion(const od_nearest *nearest) {
  od_suggestion s = {""};
  if (nearest->best) snprintf(s.text, sizeof s.text, "; did you mean '%s'?", nearest->best);
  return s;
}
