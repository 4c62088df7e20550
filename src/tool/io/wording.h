// Numbers and lists in sentences: "1 input", "3 degrees of freedom", "a, b, c and 4 more".
#ifndef OD_IO_WORDING_H
#define OD_IO_WORDING_H

typedef struct od_words_of {
  char text[96];
} od_words_of;

// Returns a count with its noun in the correct form. The noun is given in the singular. In "degree of freedom" the first word is
// inflected.
od_words_of od_count(long long count, const char *noun);
// Returns the form of a verb or another word for a count: od_form(n, "is", "are").
const char *od_form(long long count, const char *of_one, const char *of_many);

// A list of names: "a, b, c and 4 more".
typedef struct od_name_list {
  int most;   // largest number of names to be shown
  int count;  // number of names added
  int shown;  // number of names in the text
  char text[1000];
} od_name_list;

// Adds a name or a phrase. Names beyond `most`, and names that do not fit into the text, are only counted.
void od_name_list_add(od_name_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Returns the whole list. Call once, after all names have been added.
const char *od_name_list_text(od_name_list *list);

#endif
