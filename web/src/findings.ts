// Findings. A click on a finding moves the cursor to its time and scrolls to its chart.
import type { Finding } from './contract';
import { all, button, element, one, span } from './dom';
import { data } from './state';
import { duration, seek } from './clock';
import { findChart, revealChart } from './charts';
import { head } from './card';
import { isConcern, markFinding } from './selection';

export function upgradeFindings(card: HTMLElement): void {
  const { findings = [] } = data.page, concerns = findings.filter(isConcern).length, items = all<HTMLElement>('[data-finding]', card);
  head(card, span('hint', !findings.length ? '' : concerns ? `${concerns} to look at, worst first` : 'nothing to correct'));
  if (!items.length && !one('p, li', card)) card.append(element('p', { class: 'empty' }, 'No findings.'));
  const of = (item: HTMLElement) => findings[Number(item.dataset.finding)];
  const choose = (item: HTMLElement, f: Finding) => {
    for (const other of items) other.classList.toggle('on', other === item);
    markFinding(f);
  };
  for (const item of items) {
    const f = of(item), chart = f && findChart(f.output, f.owner), at = duration() ? f?.at ?? f?.from : undefined;
    if (!f || (!chart && at === undefined)) continue;
    item.append(button('', {}, () => {
      if (at !== undefined) seek(at);
      choose(item, f);
      if (chart) revealChart(chart);
    }, ...[...item.childNodes].map(child => child instanceof HTMLParagraphElement ? span('text', ...child.childNodes) : child)));
  }
  // Initially the cursor is at the worst finding.
  const first = items.find(item => of(item) && isConcern(of(item)));
  if (first) choose(first, of(first));
}
