// Similarity of the words in names of logged channels and of outputs: "p_A_bar" has the words p, A and bar; "boom_cyl_len" and
// "boom.cylinder.length" have the same three words.
#ifndef OD_SURVEY_NAME_WORDS_H
#define OD_SURVEY_NAME_WORDS_H

#include <stdbool.h>

enum { OD_MOST_WORDS = 12, OD_WORD_SIZE = 32 };

typedef struct od_name_words {
  char word[OD_MOST_WORDS][OD_WORD_SIZE];  // words in the spelling of the name
  int count;
} od_name_words;

// Splits a name at characters other than letters and digits, between letters and digits, and before capital letters: "liftRamLength2" has the words
// lift, Ram, Length and 2. A unit in its usual spelling, such as "kPa", is one word. Words beyond the limits are cut.
od_name_words od_name_words_of(const char *name);

// Returns the similarity of a word of a column to a word of an output, from 0 to 1: 1 for equal words, less for synonyms ("press",
// "pressure"), abbreviations ("cyl", "vlv") and words with one different letter.
double od_word_similarity(const char *of_column, const char *of_output);

// Returns the unit that a word of a column's name means ("lpm": "l/min"); NULL: none. is_last: whether the word is the
// last word of the name. Single letters are units only at the end of a name.
const char *od_word_unit(const char *word, bool is_last);
// Returns whether a word contains no information: "sensor", "value".
bool od_word_is_empty(const char *word);

#endif
