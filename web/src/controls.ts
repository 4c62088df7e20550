// The head of the page: units, theme, and the menu of files.
import { all, button, choice, div, element, fileName, icon, saveFile } from './dom';
import { charts } from './charts';
import { csvOf } from './csv';
import { dark, setTheme, themeName } from './theme';
import { data } from './state';
import { on, themeChanged, unitsChanged } from './signal';
import { setSi, useSi } from './units';
import { svgFile } from './picture_file';

export function makeControls(place: HTMLElement, png: (() => Promise<Blob | null>) | null, circuit: SVGSVGElement | null): void {
  const half = ['M8 2.4a5.6 5.6 0 1 0 0 11.2a5.6 5.6 0 1 0 0-11.2', '*M8 2.4a5.6 5.6 0 0 1 0 11.2z'];
  const [units, showUnits] = choice('Units', 'units', [{ value: '', label: 'Customary units', face: ['bar'] }, { value: 'si', label: 'SI units', face: ['SI'] }], v => setSi(v === 'si'));
  const [theme, showTheme] = choice('Theme', 'theme', [
    { value: 'light', label: 'Light', face: [icon('M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1')] },
    { value: 'auto', label: 'As the system', face: [icon(...half)] },
    { value: 'dark', label: 'Dark', face: [icon('M13.4 9.8A5.8 5.8 0 0 1 6.2 2.6a5.8 5.8 0 1 0 7.2 7.2z')] },
  ], setTheme);
  const show = () => {
    showUnits(useSi ? 'si' : '');
    showTheme(themeName);
  };
  on([unitsChanged, themeChanged], show);
  show();

  const name = fileName(data.page.title), sheet = div('sheet'), menu = element('details', { class: 'menu save' }, element('summary', { class: 'button' }, 'Save', icon('M4.5 6.5L8 10l3.5-3.5')), sheet);
  const item = (label: string, note: string, act: () => void) => sheet.append(button('', {}, () => {
    menu.open = false;
    act();
  }, label, element('small', {}, note)));
  const timed = charts.filter(c => c.info.over_time), numbers = [...new Set(timed.flatMap(c => c.lines.map(l => l.line.series)))];
  if (timed.length) item('Values as CSV', 'all charts over time, 16 bits a value', () => saveFile(name + '.csv', csvOf(numbers, { name: 'time', unit: 's' }), 'text/csv'));
  if (png) item('Picture of the machine', 'PNG, at the cursor', () => void png().then(blob => { if (blob) saveFile(name + '-machine.png', blob); }));
  if (circuit) item('Circuit', 'SVG, at the cursor', () => saveFile(name + '-circuit.svg', svgFile(circuit), 'image/svg+xml'));
  item('Print or PDF', 'still picture and charts', () => print());
  place.append(units, theme, button('tool swap', { 'aria-label': 'Light or dark' }, () => setTheme(dark ? 'light' : 'dark'), icon(...half)), menu);

  // A click outside a menu and the key Escape close the menu.
  const close = (e: Event) => {
    for (const open of all<HTMLDetailsElement>('details.menu[open]')) if (e instanceof KeyboardEvent ? e.key === 'Escape' : !open.contains(e.target as Node)) {
      open.open = false;
      if (e instanceof KeyboardEvent) {
        open.querySelector('summary')?.focus();
        e.stopImmediatePropagation();
      }
    }
  };
  document.addEventListener('click', close);
  document.addEventListener('keydown', close);
}
