// Findings: a click moves the cursor to the time, and brings the chart into view.
import type { App } from './app';
import type { Charts } from './charts';
import { all, element, one } from './dom';
import { head } from './card';

export function upgradeFindings(app: App, card: HTMLElement, charts: Charts): void {
  const findings = app.data.page.findings ?? [], concerns = findings.filter(f => f.severity === 'warning' || f.severity === 'serious').length;
  head(card, element('span', { class: 'hint' }, findings.length === 0 ? '' : concerns === 0 ? 'nothing to correct' : `${concerns} to look at, worst first`));
  const items = all<HTMLElement>('[data-finding]', card);
  if (findings.length === 0 && items.length === 0 && !one('p, li', card)) card.append(element('p', { class: 'empty' }, 'No findings.'));
  for (const item of items) {
    const f = findings[Number(item.dataset.finding)];
    if (!f) continue;
    const chart = charts.find(f.output, f.owner), at = f.at ?? f.from;
    if (!chart && (at === undefined || !app.hasTime)) continue;
    const button = element('button', { type: 'button', onclick: () => {
      if (at !== undefined && app.hasTime) app.clock.seek(at);
      for (const other of items) other.classList.toggle('on', other === item);
      if (chart) charts.reveal(chart);
    } });
    for (const child of Array.from(item.childNodes)) {
      if (child instanceof HTMLParagraphElement) button.append(element('span', { class: 'text' }, ...Array.from(child.childNodes)));
      else button.append(child);
    }
    item.append(button);
  }
}
