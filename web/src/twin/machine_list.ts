// The list of all machines: verdict, last sample, alarms; worst first.
import type { Happening, Machines, Status, Trust } from './contract';
import type { Shell } from './shell';
import { connect, link } from './connection';
import { agoText, momentText } from './time_axis';
import { div, element, one, span, write } from '../dom';
import { query } from './api';
import { makeBook } from './happenings';
import { paced, whileVisible } from './frame';
import { pill } from './judgment';
import { setState, showLink } from './shell';

export const STATES: Record<Status['state'], string> = { waiting: 'waiting for the first sample', running: 'running', silent: 'no samples', ended: 'source ended', failed: 'observer stopped' };
const BAD: Record<Trust, number> = { sound: 0, doubtful: 20, unsound: 40 };
const worth = (s: Status) => (s.alarms ? 100 : 0) + (s.state === 'failed' ? 60 : s.state === 'silent' ? 30 : 0) + (s.verdict ? BAD[s.verdict.trust] : 0);
export const stateClass = (s: Status) => s.state === 'running' ? 'live' : s.state === 'failed' ? 'lost' : s.state === 'waiting' ? 'wait' : 'silent';

interface Row { row: HTMLElement; status: Status; at: number; show(): void }

export async function showList(shell: Shell, found: Machines, locked: () => void): Promise<void> {
  const rows = new Map<string, Row>(), body = element('tbody'), empty = element('p', { class: 'empty', hidden: true }, 'No machine has this name.');
  const search = element('input', { type: 'search', placeholder: 'Find a machine', 'aria-label': 'Find a machine', oninput: () => arrange() });
  const th = (text: string, name = '') => element('th', { scope: 'col', class: name }, text), summary = span('hint');
  const card = element('section', { class: 'card', id: 'machines', 'aria-label': 'Machines' }, div('head', element('h2', {}, 'Machines'), summary, found.machines.length > 8 ? search : null),
    element('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Table of machines' }, element('table', {}, element('thead', {}, element('tr', {}, th('Machine'), th('State'), th('Verdict'), th('Alarms', 'number'), th('Last sample', 'number'), th('Samples/s', 'number'), th('Missing', 'number'))), body)), empty);
  const titleOf = (name: string) => rows.get(name)?.status.title || name;
  const book = makeBook(undefined, null, titleOf, () => {});
  document.title = `${found.title}: machines`;
  write(shell.title, found.title);
  write(shell.subtitle, `${found.machines.length} machine${found.machines.length === 1 ? '' : 's'}`);
  shell.main.replaceChildren(div('list-page', card, div('left', book.alarms, book.events)));

  function make(status: Status): Row {
    const cell = (name: string, label: string) => element('td', { class: name, 'data-label': label }), state = cell('words', 'State'), verdict = cell('words', 'Verdict'), alarms = cell('number', 'Alarms'), age = cell('number', 'Last sample'), rate = cell('number', 'Samples/s'), missing = cell('number', 'Missing');
    const link = element('a', { href: '/?' + query({ machine: status.name }) }, status.title || status.name), row = element('tr', {}, element('th', { scope: 'row' }, link, status.title && status.title !== status.name ? span('subtitle', status.name) : null), state, verdict, alarms, age, rate, missing);
    row.addEventListener('click', e => { if (!(e.target instanceof HTMLAnchorElement)) link.click(); });
    let lastVerdict: string | null = null;
    const made: Row = { row, status, at: performance.now(), show() {
      const s = made.status, old = s.age === null ? NaN : s.age + (performance.now() - made.at) / 1000, key = JSON.stringify(s.verdict);
      const dot = one('.state', state) ?? state.appendChild(div('state', element('i'), span('')));
      dot.className = `state ${stateClass(s)}`;
      write(dot.lastChild as Element, STATES[s.state]);
      if (key !== lastVerdict) verdict.replaceChildren(pill(s.verdict?.trust, s.verdict?.text));
      lastVerdict = key;
      write(alarms, s.alarms ? String(s.alarms) : '0');
      alarms.classList.toggle('bad', s.alarms > 0);
      write(age, Number.isNaN(old) ? '–' : old < 3600 ? agoText(old) : momentText(s.clock ?? NaN));
      write(rate, s.rate === null ? '–' : s.rate >= 100 ? String(Math.round(s.rate)) : String(+s.rate.toPrecision(2)));
      write(missing, String(s.counts?.missing ?? 0));
      row.classList.toggle('bad', worth(s) >= 60);
    } };
    rows.set(status.name, made);
    return made;
  }
  function take(status: Status): void {
    const row = rows.get(status.name) ?? make(status);
    row.status = status;
    row.at = performance.now();
  }
  let order = '';
  function arrange(): void {
    const words = search.value.toLowerCase(), list = [...rows.values()].filter(r => !words || `${r.status.title} ${r.status.name}`.toLowerCase().includes(words))
      .sort((a, b) => worth(b.status) - worth(a.status) || (a.status.title || a.status.name).localeCompare(b.status.title || b.status.name)), next = list.map(r => r.status.name).join('\n');
    // Rows move only if their order changes and no row has the focus.
    if (next !== order && (!body.contains(document.activeElement) || order === '')) {
      body.replaceChildren(...list.map(r => r.row));
      order = next;
    }
    for (const r of list) r.show();
    empty.hidden = list.length > 0;
    const states = [...rows.values()].map(r => r.status), bad = states.filter(s => worth(s) > 0).length;
    write(summary, bad ? `${bad} to look at, worst first` : 'all sound');
    body.classList.toggle('stale', link.state === 'lost');
  }
  const soonArrange = paced(arrange, () => 500);
  for (const s of found.machines) take(s);
  arrange();
  await book.load().catch(() => {});
  const state = () => {
    showLink(shell);
    if (link.state === 'lost') setState(shell, 'lost', 'No connection');
    else setState(shell, link.state === 'open' ? 'live' : 'wait', link.state === 'open' ? 'Live' : 'Connecting');
    soonArrange();
  };
  let opened = false;
  connect(undefined, {
    hello: () => { if (opened) void book.load().catch(() => {}); opened = true; },
    machine: (s: Status) => { take(s); soonArrange(); },
    event: (e: Happening) => book.take(e),
  }, state, locked);
  whileVisible(() => { showLink(shell); arrange(); }, 1000);
}
