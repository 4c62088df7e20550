// Stored trees. Integers have 7 bits per byte, the lowest first; the highest bit of a byte is set if another byte
// follows. A tree is its number of nodes, its root plus 1, then the nodes in their order. A node is its kind, line,
// column and text, then distances: to its first child, to its next sibling (both later in the tree) and to the target
// of an alias (earlier). Distance 0: none. A text is its length, then its bytes.
#include "document/tree_store.h"

#include <limits.h>
#include <string.h>

// --- Writing ------------------------------------------------------------------------------------------------------

// Bytes are counted first (bytes NULL), then written.
typedef struct writer {
  char *bytes;
  size_t size;
} writer;

static void put_byte(writer *w, unsigned value) {
  if (w->bytes) w->bytes[w->size] = (char)(unsigned char)value;
  w->size++;
}

static void put(writer *w, int value) {
  unsigned left = (unsigned)value;
  for (; left > 127; left >>= 7) put_byte(w, 128 | (left & 127));
  put_byte(w, left);
}

static void put_text(writer *w, const char *text) {
  size_t length = strlen(text);
  put(w, (int)length);
  if (w->bytes) memcpy(w->bytes + w->size, text, length);
  w->size += length;
}

static void put_tree(writer *w, const od_tree *tree) {
  put(w, tree->count);
  put(w, tree->root + 1);
  for (int i = 0; i < tree->count; i++) {
    const od_tree_node *n = &tree->node[i];
    put(w, (int)n->kind);
    put(w, n->line);
    put(w, n->column);
    put_text(w, n->text);
    put(w, n->first >= 0 ? n->first - i : 0);
    put(w, n->next >= 0 ? n->next - i : 0);
    put(w, n->kind == OD_TREE_ALIAS ? i - n->target : 0);
  }
}

char *od_tree_store(const od_tree *tree, od_arena *arena, size_t *size) {
  writer count = {0};
  put_tree(&count, tree);
  writer w = {.bytes = od_arena_take(arena, count.size)};
  if (!w.bytes) return NULL;
  put_tree(&w, tree);
  *size = w.size;
  return w.bytes;
}

// --- Reading ------------------------------------------------------------------------------------------------------

typedef struct reader {
  const char *at, *end;
  bool damaged;
} reader;

static int get(reader *r) {
  unsigned long long value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (r->at == r->end) break;
    unsigned byte = (unsigned char)*r->at++;
    value |= (unsigned long long)(byte & 127) << shift;
    if (byte < 128 && value <= INT_MAX) return (int)value;
  }
  r->damaged = true;
  return 0;
}

static const char *get_text(reader *r, od_arena *texts) {
  size_t length = (size_t)get(r);
  if (length > (size_t)(r->end - r->at)) {
    r->damaged = true;
    return "";
  }
  r->at += length;
  return od_texts_copy(texts, r->at - length, length);
}

// Reads node i of `count`; indices of the file begin at `base` in the tree. The children of lists and maps are counted later.
static od_tree_node get_node(reader *r, int i, int count, int base, od_arena *texts) {
  od_tree_node n = {.kind = (od_tree_kind)get(r), .first = -1, .next = -1, .target = -1};
  n.line = get(r);
  n.column = get(r);
  n.text = get_text(r, texts);
  int first = get(r), next = get(r), target = get(r);
  if (n.kind > OD_TREE_ALIAS || first >= count - i || next >= count - i || target > i) r->damaged = true;
  if ((n.kind == OD_TREE_ALIAS) != (target > 0)) r->damaged = true;
  if (first > 0 && n.kind != OD_TREE_LIST && n.kind != OD_TREE_MAP) r->damaged = true;
  if (r->damaged) return n;
  if (first > 0) n.first = base + i + first;
  if (next > 0) n.next = base + i + next;
  if (target > 0) n.target = base + i - target;
  return n;
}

// Counts the children of the nodes from `base` on. Returns false if a map has a key without a value, or a key that is not a text.
static bool count_children(od_tree *tree, int base) {
  for (int i = base; i < tree->count; i++) {
    od_tree_node *n = &tree->node[i];
    bool map = n->kind == OD_TREE_MAP;
    for (int child = n->first; child >= 0; child = tree->node[child].next, n->count++)
      if (map && n->count % 2 == 0 && tree->node[child].kind != OD_TREE_TEXT) return false;
    if (map && n->count % 2 != 0) return false;
    if (map) n->count /= 2;
  }
  return true;
}

od_status od_tree_restore(od_tree *tree, const char *bytes, size_t size, const char *file, od_arena *texts) {
  reader r = {bytes, bytes + size, false};
  int base = tree->count, count = get(&r), root = get(&r);
  int origin = od_tree_add_origin(tree, (od_tree_origin){.file = file, .scope = ""});
  tree->root = -1;
  if (origin < 0 || (tree->node == NULL && !od_tree_grow(tree))) return OD_NO_MEMORY;
  for (int i = 0; i < count && !r.damaged; i++) {
    od_tree_node n = get_node(&r, i, count, base, texts);
    n.origin = origin;
    if (od_tree_add(tree, n) < 0) return OD_NO_MEMORY;
  }
  if (r.damaged || r.at != r.end || root > count || !count_children(tree, base)) return OD_BAD_INPUT;
  tree->root = root > 0 ? base + root - 1 : -1;
  return texts->exhausted ? OD_NO_MEMORY : OD_OK;
}
