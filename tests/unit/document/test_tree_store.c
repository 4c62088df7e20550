// Stored trees: a restored tree equals the parsed tree, node by node, also behind another file in the same tree. Truncated and damaged
// bytes are refused, or give a tree in which every index is valid. Oracle: the parsed tree.
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "document/tree_store.h"

static const char text[] =
    "# a comment\n"
    "machine: \"a title with \\\"quotes\\\" and \\u00e4\"\n"
    "empty:\n"
    "list: [1, two, [3 m, {x: ~}], 'null']\n"
    "base: &base {mass: 2 kg, points: {tip: [1, 2, 3]}}\n"
    "copy: *base\n"
    "long:\n"
    "  - {a: 1}\n"
    "  - b\n";

static od_tree parse(const char *content, od_arena *arena) {
  od_tree tree = {0};
  od_messages *messages = od_messages_new();
  assert_int_equal(od_tree_parse(&tree, content, strlen(content), "file.yaml", arena, messages), OD_OK);
  od_messages_free(messages);
  return tree;
}

static int moved(int index, int by) {
  return index >= 0 ? index + by : index;
}

static void check_same(const od_tree *a, const od_tree *b, int by) {
  assert_int_equal(a->count + by, b->count);
  assert_int_equal(moved(a->root, by), b->root);
  for (int i = 0; i < a->count; i++) {
    const od_tree_node *x = &a->node[i], *y = &b->node[i + by];
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->line, y->line);
    assert_int_equal(x->column, y->column);
    assert_string_equal(x->text, y->text);
    assert_int_equal(moved(x->first, by), y->first);
    assert_int_equal(moved(x->next, by), y->next);
    assert_int_equal(x->count, y->count);
    if (x->kind == OD_TREE_ALIAS) assert_int_equal(moved(x->target, by), y->target);
    assert_string_equal(b->origin[y->origin].file, "file.yaml");
  }
}

static void test_same_tree(void **state) {
  (void)state;
  static const char *const texts[] = {text, "", "only a text", "[]", "{}"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    od_arena arena = {0};
    od_tree tree = parse(texts[k], &arena), again = {0};
    size_t size = 0;
    char *bytes = od_tree_store(&tree, &arena, &size);
    assert_non_null(bytes);
    assert_int_equal(od_tree_restore(&again, bytes, size, "file.yaml", &arena), OD_OK);
    check_same(&tree, &again, 0);
    int count = again.count;
    assert_int_equal(od_tree_restore(&again, bytes, size, "file.yaml", &arena), OD_OK);
    check_same(&tree, &again, count);
    od_tree_free(&tree);
    od_tree_free(&again);
    od_arena_free(&arena);
  }
}

// Checks that every index of a tree is valid and that children come after their parents.
static void check_sound(const od_tree *tree) {
  assert_true(tree->root >= -1 && tree->root < tree->count);
  for (int i = 0; i < tree->count; i++) {
    const od_tree_node *n = &tree->node[i];
    assert_true(n->first == -1 || (n->first > i && n->first < tree->count));
    assert_true(n->next == -1 || (n->next > i && n->next < tree->count));
    assert_true(n->kind != OD_TREE_ALIAS || (n->target >= 0 && n->target < i));
    assert_non_null(n->text);
  }
}

static void test_damage(void **state) {
  (void)state;
  od_arena arena = {0};
  od_tree tree = parse(text, &arena);
  size_t size = 0;
  char *bytes = od_tree_store(&tree, &arena, &size);
  int refused = 0;
  for (size_t length = 0; length < size; length++) {
    od_tree cut = {0};
    assert_int_equal(od_tree_restore(&cut, bytes, length, "f", &arena), OD_BAD_INPUT);
    od_tree_free(&cut);
  }
  for (size_t at = 0; at < size; at++)
    for (int bit = 0; bit < 8; bit++) {
      od_tree damaged = {0};
      bytes[at] = (char)(bytes[at] ^ (1 << bit));
      if (od_tree_restore(&damaged, bytes, size, "f", &arena) == OD_OK)
        check_sound(&damaged);
      else
        refused++;
      bytes[at] = (char)(bytes[at] ^ (1 << bit));
      od_tree_free(&damaged);
    }
  assert_true(refused > 100);
  od_tree_free(&tree);
  od_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_tree), cmocka_unit_test(test_damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
