// Files that are being written and are not complete yet. A program that must end at once, without returning through its callers,
// removes these files with od_unfinished_remove_all().
#ifndef OD_UNFINISHED_H
#define OD_UNFINISHED_H

// Registers a path until it is removed from the list. The caller keeps ownership of the text. Allocates nothing. Only one thread
// writes files.
void od_unfinished_add(const char *path);
void od_unfinished_forget(const char *path);
// Removes the files that this process has begun. A forked child does not remove files of its parent.
void od_unfinished_remove_all(void);

#endif
