// A list of all parts, for users without a pointer. An entry selects its part in all views.
import { all, menu } from './dom';
import { clearSelection, selectPart, selectedPart } from './selection';
import { data } from './state';
import { on, selectionChanged } from './signal';

export function partList(): HTMLElement | null {
  const { scene } = data.page, names = new Set<string>();
  for (const b of scene?.bodies ?? []) if (b.pose) names.add(b.part ?? b.name);
  for (const list of [scene?.cylinders, scene?.springs, scene?.rods, scene?.ropes, scene?.joints]) for (const x of list ?? []) names.add(x.name);
  for (const e of all('#circuit [data-part]')) names.add(e.dataset.part ?? '');
  if (!names.size) return null;
  const list = menu('Select a part', [['', 'Select part'], ...[...names].map((n): [string, string] => [n, n])], part => {
    if (!part) clearSelection(); else if (part !== selectedPart) selectPart(part);
  });
  list.classList.add('part-list');
  on([selectionChanged], () => { list.value = names.has(selectedPart) ? selectedPart : ''; });
  return list;
}
