// Findings: a click moves the cursor to the time, and brings the chart into view.
import { all, button, element, one, span } from './dom';
import { data } from './state';
import { duration, seek } from './clock';
import { findChart, revealChart } from './charts';
import { head } from './card';

export function upgradeFindings(card: HTMLElement): void {
  const { findings = [] } = data.page, concerns = findings.filter(f => /warning|serious/.test(f.severity)).length, items = all<HTMLElement>('[data-finding]', card);
  head(card, span('hint', !findings.length ? '' : concerns ? `${concerns} to look at, worst first` : 'nothing to correct'));
  if (!items.length && !one('p, li', card)) card.append(element('p', { class: 'empty' }, 'No findings.'));
  for (const item of items) {
    const f = findings[Number(item.dataset.finding)], chart = f && findChart(f.output, f.owner), at = duration() ? f?.at ?? f?.from : undefined;
    if (!f || (!chart && at === undefined)) continue;
    item.append(button('', {}, () => {
      if (at !== undefined) seek(at);
      for (const other of items) other.classList.toggle('on', other === item);
      if (chart) revealChart(chart);
    }, ...[...item.childNodes].map(child => child instanceof HTMLParagraphElement ? span('text', ...child.childNodes) : child)));
  }
}
