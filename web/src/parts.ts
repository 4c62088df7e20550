// A list of all parts, for readers without a pointer: the choice selects the part in all views.
import type { App } from './app';
import { element } from './dom';
import { selectableParts } from './machine';

export function partList(app: App): HTMLElement | null {
  const names = selectableParts(app.data.page.scene);
  if (names.length === 0) return null;
  const select = element('select', { class: 'part-list', 'aria-label': 'Select a part' }, element('option', { value: '' }, 'Part'), ...names.map(n => element('option', { value: n }, n)));
  select.addEventListener('change', () => {
    if (!select.value) app.selection.clear();
    else if (select.value !== app.selection.part) app.selection.selectPart(select.value);
  });
  app.selection.changed.add(() => { select.value = names.includes(app.selection.part) ? app.selection.part : ''; });
  return select;
}
