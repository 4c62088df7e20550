// Alarms with acknowledgement, and the list of events.
import type { Happening, Happenings } from './contract';
import { act, get, mayAct, query, reasonOf } from './api';
import { button, div, element, span, write } from '../dom';
import { momentText } from './time_axis';

const MOST = 200;   // events in memory

export interface EventBook { alarms: HTMLElement; events: HTMLElement; take(e: Happening): void; load(): Promise<void>; list(): Happening[]; open(): number }
const SIGNS: Record<Happening['severity'], string> = { alarm: 'serious', warning: 'warning', note: 'note' };

// machine: its events; undefined: those of all machines, with their names. jump: shows the time of an event. changed: called after each change.
export function makeBook(machine: string | undefined, jump: ((e: Happening) => void) | null, titleOf: (name: string) => string, changed: () => void): EventBook {
  const list = element('ol', { class: 'alarm-list' }), quiet = element('p', { class: 'empty' }, 'No open alarms.'), spoken = element('p', { class: 'unseen', role: 'status' }), count = span('hint'), problem = element('p', { class: 'form-error', role: 'alert', hidden: true });
  const alarms = element('section', { class: 'card', id: 'alarms', 'aria-label': 'Alarms' }, div('head', element('h2', {}, 'Alarms'), count), problem, quiet, list, spoken);
  const rows = element('ol', { class: 'event-list' }), none = element('p', { class: 'empty' }, 'No events yet.'), more = button('button more', { hidden: true }, () => void older(), 'Earlier events');
  const events = element('section', { class: 'card', id: 'events', 'aria-label': 'Events' }, div('head', element('h2', {}, 'Events'), span('hint', 'newest first')), none, rows, div('more-box', more));
  const known = new Map<number, Happening>(), busy = new Set<number>();
  let hasMore = false, loadedOnce = false;

  const place = (e: Happening) => machine === undefined && e.machine ? element('a', { href: '/?' + query({ machine: e.machine }) }, titleOf(e.machine)) : null;
  const time = (e: Happening) => jump && e.t !== null ? button('at', { title: 'Show this time' }, () => jump(e), momentText(e.clock)) : span('at', momentText(e.clock));
  const sorted = () => [...known.values()].sort((a, b) => b.id - a.id);
  async function acknowledge(e: Happening): Promise<void> {
    busy.add(e.id);
    show();
    try {
      take(await act<Happening>('POST', `events/${e.id}/acknowledge`, {}));
      problem.hidden = true;
    } catch (error) {
      problem.hidden = false;
      write(problem, `The alarm is not acknowledged: ${reasonOf(error)}`);
    }
    busy.delete(e.id);
    show();
  }
  async function older(): Promise<void> {
    more.disabled = true;
    const least = Math.min(...known.keys());
    try {
      const answer = await get<Happenings>('events?' + query({ machine, before: Number.isFinite(least) ? least : undefined, limit: 50 }));
      for (const e of answer.events) known.set(e.id, e);
      hasMore = answer.more;
    } catch { /* the button stays */ }
    more.disabled = false;
    show();
  }
  // Keeps the newest events and all open alarms. Events that were loaded by the user stay until then.
  const trim = () => {
    const all = sorted();
    for (const e of all.slice(MOST)) if (!(e.severity === 'alarm' && e.acknowledged === null)) known.delete(e.id);
    if (all.length > MOST) hasMore = true;
  };
  function take(e: Happening): void {
    if (!known.has(e.id) && loadedOnce && e.severity === 'alarm' && e.acknowledged === null) write(spoken, `Alarm: ${e.text}`);
    known.set(e.id, e);
    trim();
    show();
  }
  const alarmRow = (e: Happening) => element('li', { class: 'finding serious' }, div('alarm-text', element('b', {}, e.text), div('meta', place(e), time(e))),
    div('alarm-act', mayAct() ? button('button', { disabled: busy.has(e.id), 'aria-label': `Acknowledge: ${e.text}` }, () => void acknowledge(e), busy.has(e.id) ? 'Sending' : 'Acknowledge') : span('hint', 'needs the role act')));
  const eventRow = (e: Happening) => element('li', { class: `finding ${SIGNS[e.severity]}` }, div('event-text', place(e), element('span', {}, e.text), e.acknowledged !== null ? span('tag', `acknowledged ${momentText(e.acknowledged)}`) : null), div('event-time', time(e)));
  function show(): void {
    const all = sorted(), open = all.filter(e => e.severity === 'alarm' && e.acknowledged === null);
    const focused = document.activeElement instanceof HTMLButtonElement ? document.activeElement.getAttribute('aria-label') : null;
    list.replaceChildren(...open.slice(0, 50).map(alarmRow));
    quiet.hidden = open.length > 0;
    write(count, open.length ? `${open.length} open` : '');
    alarms.classList.toggle('has-alarm', open.length > 0);
    rows.replaceChildren(...all.map(eventRow));
    none.hidden = all.length > 0;
    more.hidden = !hasMore || all.length >= MOST;
    if (focused) for (const b of [...list.querySelectorAll('button')]) if (b.getAttribute('aria-label') === focused) b.focus();
    changed();
  }
  return { alarms, events, take, list: sorted, open: () => sorted().filter(e => e.severity === 'alarm' && e.acknowledged === null).length,
    async load() {
      const [recent, open] = await Promise.all([get<Happenings>('events?' + query({ machine, limit: 50 })), get<Happenings>('events?' + query({ machine, open: true, limit: 50 }))]);
      for (const e of [...open.events, ...recent.events]) known.set(e.id, e);
      hasMore = recent.more;
      loadedOnce = true;
      trim();
      show();
    } };
}
