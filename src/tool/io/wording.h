// Numbers in sentences: "1 input", "2 inputs", "3 degrees of freedom".
#ifndef OD_IO_WORDING_H
#define OD_IO_WORDING_H

typedef struct od_words_of {
  char text[96];
} od_words_of;

// A count with its noun in the correct form. The noun is given in the singular. In "degree of freedom" the first word is
// inflected.
od_words_of od_count(long long count, const char *noun);
// The form of a verb or another word for a count: od_form(n, "is", "are").
const char *od_form(long long count, const char *of_one, const char *of_many);

#endif
