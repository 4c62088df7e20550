// Sliders for numbers of the machine. The page simulates while the user drags a slider, and judges the run afterward.
import type { Answer, MachineNumber, Verdict, Wanted } from './engine';
import type { Computer } from './computer';
import type { Data } from './decode';
import type { Chart } from './chart';
import { all, button, div, element, one, span, tool, write } from './dom';
import { format, niceStep, plainUnit } from './units';

// The functions of the page's script (main.ts).
export interface Page {
  data: Data;
  clock: { seek(time: number): void };
  charts(): Chart[];
  replace(columns: [number, Float64Array][]): void;
}
export interface Setup { file: string; sliders: string[] }

const trusts = ['sound', 'doubtful', 'unsound'], words = ['Sound', 'Doubtful', 'Unsound'];

// The ends of a slider in displayed units: half to twice the value, within the allowed range.
export function rangeOf(n: MachineNumber): { low: number; high: number; step: number } {
  const { factor } = n, value = n.value * factor, usual = Math.min(Math.abs(n.usualHigh), Math.abs(n.high)) * factor, size = Math.abs(value) || (Number.isFinite(usual) && usual > 0 ? usual / 4 : 10);
  let low = value ? value - size / 2 : -size, high = value ? value + size : size;
  if (value < 0) [low, high] = [value - size, value + size / 2];
  low = Math.max(low, n.low * factor);
  high = Math.min(high, n.high * factor);
  return { low, high, step: niceStep((high - low) / 400) };
}
// The text of a displayed number for --set, in SI units with up to 12 digits.
export function setText(n: MachineNumber, shown: number): string {
  return `${n.path}=${Number((shown / n.factor).toPrecision(12))}${n.unit === '1' || !n.unit ? '' : ' ' + n.unit}`;
}
// Numbers that have a slider initially: the numbers that the command names, else constants of the file, else one number of each of the first
// units.
export function firstNumbers(numbers: MachineNumber[], wished: string[]): MachineNumber[] {
  const named = wished.flatMap(path => numbers.filter(n => n.path === path)), constants = numbers.filter(n => n.path.startsWith('constants.'));
  if (named.length || constants.length) return named.length ? named : constants.slice(0, 4);
  return ['kg', 'm3/s', 'Pa', 'm2', 'N/m', '1'].flatMap(unit => numbers.filter(n => n.unit === unit && n.given && n.value && !/^(initial|ground|oil)\./.test(n.path)).slice(0, 1)).slice(0, 4);
}

export function makeSliders(page: Page, computer: Computer, setup: Setup): { card: HTMLElement; progress(done: number): void } {
  const { data } = page, { numbers } = computer, values = new Map<MachineNumber, number>(), rows = new Map<MachineNumber, HTMLElement>();
  const wanted: Wanted[] = data.series.flatMap((s, series) => s.name && !s.of && !s.log ? [{ series, name: s.name, axis: data.axis(s.grid), envelope: data.grids[s.grid].envelope === true }] : []);
  const list = div('slider-list'), state = element('span', { class: 'state', role: 'status' }), command = element('code', {}), reset = button('button', { hidden: true }, () => resetAll(), 'Values of the file');
  const card = element('section', { class: 'card', id: 'numbers', 'aria-label': 'Numbers' }, div('head', element('h2', {}, 'Numbers'), span('hint', 'drag: the machine is simulated again'), reset), list);
  const add = element('select', { class: 'add', 'aria-label': 'Add a number', onchange: () => {
    const n = numbers[Number(add.value)];
    if (add.value && n) addSlider(n, true);
    add.value = '';
  } }, element('option', { value: '' }, 'Add a number…'), ...numbers.map((n, i) => element('option', { value: i }, n.path)));
  card.append(div('foot', add, state, command));

  // --- Runs
  let idle = 0, judging = false;
  const order = (judged: boolean) => {
    const texts = [...values].map(([n, shown]) => setText(n, shown));
    write(command, texts.length ? `oleodyn simulate ${setup.file} ${texts.map(t => `--set '${t}'`).join(' ')}` : '');
    reset.hidden = texts.length === 0;
    judging = judged;
    if (judged) say('comparing with a more accurate run');
    computer.run({ values: texts, judged, wanted }, answer => take(answer, judged));
  };
  const changed = () => {
    clearTimeout(idle);
    order(false);
  };
  const settled = () => {
    clearTimeout(idle);
    idle = window.setTimeout(() => order(true), 200);
  };
  const say = (text: string, bad = false) => {
    write(state, text);
    state.classList.toggle('bad', bad);
  };
  const take = (answer: Answer, judged: boolean) => {
    if (answer.message) {
      say(`${answer.message}${/[.!?]$/.test(answer.message) ? '' : '.'} The page shows the run before.`, true);
      return;
    }
    page.replace(answer.columns);
    markStale(answer.columns);
    say(`simulated in ${Math.round(answer.milliseconds)} ms${judged ? ', judged' : ''}`);
    showVerdict(answer.verdict);
  };

  // --- Verdict, findings, charts that cannot be updated
  const verdict = one('.top .verdict'), findings = one('#findings ol') ?? one('#findings');
  const showVerdict = (v: Verdict | null) => {
    if (verdict) {
      verdict.className = `verdict ${v ? trusts[v.trust] : 'doubtful'}`;
      verdict.replaceChildren(element('b', {}, v ? words[v.trust] : 'Not judged yet'), ' ', span('', v && v.error >= 0 ? `largest error ${format(100 * v.error, v.error < 1e-4 ? 4 : 2)} % of range${v.output ? ` (${v.output})` : ''}` : ''));
    }
    findings?.classList.toggle('stale', !v);
    if (!v || !findings) return;
    const item = (severity: string, title: string, text: string, time = NaN) => element('li', { class: `finding ${severity}` }, button('', {}, () => { if (!Number.isNaN(time)) page.clock.seek(time); },
      element('b', {}, title), Number.isNaN(time) ? null : span('at', `${format(time, 2)} s`), span('text', text)));
    const remarks = v.remarks.map(r => item(['note', 'warning', 'serious'][r.trust], r.lead.replace(/:$/, ''), r.text));
    findings.replaceChildren(...remarks, ...v.findings.map(f => item(f.severity, f.title, f.text, f.time)));
  };
  // Figures, tables and times that are valid only for the values of the file.
  let stale = false;
  const markStale = (columns: [number, Float64Array][]) => {
    if (stale) return;
    stale = true;
    const known = new Set(columns.map(([k]) => k)), hint = one('#findings .hint');
    if (hint) hint.textContent = '';
    one('#time .marks')?.classList.add('stale');
    for (const c of page.charts()) if (!c.lines.every(l => known.has(l.line.series))) c.figure.classList.add('stale');
    for (const section of all<HTMLElement>('.sections > .card')) {
      section.classList.add('stale');
      section.before(element('p', { class: 'stale-note' }, 'With the values of the file:'));
    }
  };

  // --- Sliders
  const resetAll = () => {
    values.clear();
    for (const n of [...rows.keys()]) show(n);
    changed();
    settled();
  };
  const show = (n: MachineNumber) => {
    const row = rows.get(n), shown = values.get(n) ?? n.value * n.factor, slider = row && one<HTMLInputElement>('input[type=range]', row), field = row && one<HTMLInputElement>('.value input', row);
    if (!row || !slider || !field) return;
    row.classList.toggle('changed', values.has(n));
    slider.value = String(shown);
    if (document.activeElement !== field) field.value = String(Number(shown.toPrecision(6)));
    slider.setAttribute('aria-valuetext', `${Number(shown.toPrecision(6))} ${n.shown}`);
  };
  const set = (n: MachineNumber, shown: number) => {
    if (Number.isFinite(shown)) values.set(n, shown);
    show(n);
    changed();
  };
  const addSlider = (n: MachineNumber, focus = false) => {
    if (rows.has(n)) return;
    const id = `number-${rows.size}`, { low, high, step } = rangeOf(n);
    const slider = element('input', { type: 'range', id, min: low, max: high, step: 'any', oninput: () => set(n, Number((Math.round(Number(slider.value) / step) * step).toPrecision(9))), onchange: settled });
    // Arrow keys move by one step.
    slider.addEventListener('keydown', e => {
      const by = /ArrowRight|ArrowUp/.test(e.key) ? 1 : /ArrowLeft|ArrowDown/.test(e.key) ? -1 : 0;
      if (!by) return;
      e.preventDefault();
      e.stopPropagation();
      const shown = values.get(n) ?? n.value * n.factor;
      set(n, Number(Math.min(high, Math.max(low, (Math.round(shown / step) + by) * step)).toPrecision(9)));
      settled();
    });
    const field = element('input', { type: 'text', inputmode: 'decimal', 'aria-label': `${n.path} in ${n.shown || 'no unit'}`, onchange: () => {
      const shown = Number(field.value.replace('−', '-').replace(',', '.'));
      if (!Number.isFinite(shown)) { field.value = ''; show(n); return; }
      slider.min = String(Math.min(Number(slider.min), shown));
      slider.max = String(Math.max(Number(slider.max), shown));
      set(n, shown);
      settled();
    } });
    const row = div('slider', element('label', { for: id, title: n.path + (n.given ? `: ${n.given}` : '') }, n.path), div('value', field, span('', plainUnit(n.shown))), tool('Value of the file', () => {
      values.delete(n);
      show(n);
      changed();
      settled();
    }, 'M4 4v3.5h3.5M4.3 7.3A4.6 4.6 0 1 1 3.6 9.6'), slider);
    rows.set(n, row);
    list.append(row);
    show(n);
    if (focus) slider.focus();
  };
  for (const n of firstNumbers(numbers, setup.sliders)) addSlider(n);
  return { card, progress(done) { say(`${judging ? 'comparing with a more accurate run' : 'simulating'}: ${Math.round(100 * done)} %`); } };
}
