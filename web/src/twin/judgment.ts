// The verdict on the observer: its sentence, remarks and causes.
import type { Judgment, Trust } from './contract';
import { div, element, span, write } from '../dom';
import { momentText, spanText } from './time_axis';
import * as view from './view';

export const WORDS: Record<Trust, string> = { sound: 'Sound', doubtful: 'Doubtful', unsound: 'Unsound' };
const SEVERITY: Record<Trust, string> = { sound: 'good', doubtful: 'warning', unsound: 'serious' };

export function pill(trust: Trust | undefined, text = ''): HTMLElement {
  return element('div', { class: `verdict ${trust ?? 'unknown'}` }, element('b', {}, trust ? WORDS[trust] : 'Not judged yet'), text ? element('span', {}, text) : null);
}

export function makeJudgment(window: number | undefined): { card: HTMLElement; show(j: Judgment | null): void } {
  const list = element('ol'), hint = span('hint'), card = element('section', { class: 'card', id: 'findings', 'aria-label': 'Verdict' }, div('head', element('h2', {}, 'Verdict'), hint), list);
  const item = (severity: string, lead: string, text: string) => element('li', { class: `finding ${severity}` }, lead ? element('b', {}, lead) : null, element('p', {}, text));
  return { card, show(j) {
    write(hint, window ? `of the last ${spanText(window)}` : '');
    if (!j) return list.replaceChildren(item('note', 'Not judged yet', window ? `The first verdict follows after ${spanText(window)} of samples.` : 'The first verdict follows after more samples.'));
    const since = j.since !== undefined ? j.since : undefined;
    list.replaceChildren(item(SEVERITY[j.trust], WORDS[j.trust], `${j.text}${since !== undefined ? ` Since ${momentText(view.clockOf(since))}.` : ''}`),
      ...(j.remarks ?? []).filter(r => r.text !== j.text).map(r => item(SEVERITY[r.trust] === 'good' ? 'note' : SEVERITY[r.trust], r.lead ?? '', r.text)),
      ...(j.causes ?? []).map(c => item(SEVERITY[c.trust] === 'good' ? 'note' : SEVERITY[c.trust], 'Possible cause', c.text)));
  } };
}
