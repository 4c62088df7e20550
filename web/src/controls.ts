// The head of the page: units, theme, and the menu of files.
import type { App } from './app';
import type { Charts } from './charts';
import type { CircuitView } from './circuit';
import type { MachineView } from './machine';
import { all, choice, element, fileName, icon, saveFile } from './dom';
import { csvOf } from './chart_file';
import type { ThemeName } from './theme';

export function makeControls(app: App, place: HTMLElement, charts: Charts, machine: MachineView | null, circuit: CircuitView | null): void {
  const units = choice('Units', [{ value: '', label: 'Customary units', face: ['bar'], title: 'Customary units' }, { value: 'si', label: 'SI units', face: ['SI'], title: 'SI units' }], v => app.units.set(v === 'si'));
  app.units.changed.add(() => units.show(app.units.si ? 'si' : ''));
  units.show('');
  units.element.classList.add('units');

  const circle = icon('M8 2.4a5.6 5.6 0 1 0 0 11.2a5.6 5.6 0 1 0 0-11.2', '*M8 2.4a5.6 5.6 0 0 1 0 11.2z');
  const theme = choice('Theme', [
    { value: 'light', label: 'Light', title: 'Light', face: [icon('M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1')] },
    { value: 'auto', label: 'As the system', title: 'As the system', face: [circle] },
    { value: 'dark', label: 'Dark', title: 'Dark', face: [icon('M13.4 9.8A5.8 5.8 0 0 1 6.2 2.6a5.8 5.8 0 1 0 7.2 7.2z')] },
  ], v => app.theme.set(v as ThemeName));
  app.theme.changed.add(() => theme.show(app.theme.name));
  theme.show(app.theme.name);
  theme.element.classList.add('theme');
  const swap = element('button', { type: 'button', class: 'tool swap', 'aria-label': 'Light or dark', title: 'Light or dark', onclick: () => app.theme.set(app.theme.dark ? 'light' : 'dark') }, circle.cloneNode(true));

  const name = fileName(app.data.page.title), sheet = element('div', { class: 'sheet' });
  const menu = element('details', { class: 'menu save' }, element('summary', { class: 'button' }, 'Save', icon('M4.5 6.5L8 10l3.5-3.5')), sheet);
  const item = (label: string, note: string, action: () => void) => sheet.append(element('button', { type: 'button', onclick: () => {
    menu.open = false;
    action();
  } }, label, element('small', {}, note)));
  const numbers = [...new Set(charts.list.filter(c => c.info.over_time).flatMap(c => c.lines.map(l => l.line.series)))];
  if (numbers.length) item('Values as CSV', 'all charts over time, 16 bits a value', () => saveFile(name + '.csv', new Blob([csvOf(app, numbers, 'time', 's', 1)], { type: 'text/csv' })));
  if (machine) item('Picture of the machine', 'PNG, at the cursor', () => void machine.png().then(blob => { if (blob) saveFile(name + '-machine.png', blob); }));
  if (circuit) item('Circuit', 'SVG, at the cursor', () => saveFile(name + '-circuit.svg', new Blob([circuit.svgFile()], { type: 'image/svg+xml' })));
  item('Print or PDF', 'still picture and charts', () => print());
  place.append(units.element, theme.element, swap, menu);

  // A menu closes on a click elsewhere and on Escape.
  document.addEventListener('click', e => {
    for (const open of all<HTMLDetailsElement>('details.menu[open]')) if (!open.contains(e.target as Node)) open.open = false;
  });
  document.addEventListener('keydown', e => {
    if (e.key !== 'Escape') return;
    for (const open of all<HTMLDetailsElement>('details.menu[open]')) {
      open.open = false;
      open.querySelector('summary')?.focus();
      e.stopImmediatePropagation();
    }
  });
}
