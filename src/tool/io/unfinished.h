// Files that are being written and not complete yet. A program that must end at once, with no memory left to go back
// through its callers, removes them here.
#ifndef OD_UNFINISHED_H
#define OD_UNFINISHED_H

// Remembers a path until it is forgotten; the text is the caller's. No memory is taken. One thread writes files.
void od_unfinished_add(const char *path);
void od_unfinished_forget(const char *path);
// Removes the files that this process has begun. A child that was forked from it removes none of its parent's.
void od_unfinished_remove_all(void);

#endif
