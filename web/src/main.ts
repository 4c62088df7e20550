// Makes the page of the program interactive: the machine moves, the circuit shows pressures and flows, and charts have cursor and zoom.
import * as clock from './clock';
import { applyTheme, dark, startTheme } from './theme';
import { bindKeys } from './keyboard';
import { charts, makeCharts, timeZoom } from './charts';
import { all, div, element, one } from './dom';
import { makeCircuit } from './circuit';
import { makeControls } from './controls';
import { makeMachine } from './machine';
import { makeTimeBar } from './time_bar';
import { makeValues } from './values';
import { fire, on, themeChanged, unitsChanged } from './signal';
import { paintRamp, setPressures } from './palette';
import { partList } from './parts';
import { readPage } from './decode';
import { setData } from './state';
import { clearSelection, isConcern, selectPart, selectedPart } from './selection';
import { upgradeFindings } from './findings';

async function start(): Promise<void> {
  on([themeChanged], () => paintRamp(dark));
  startTheme();
  const data = await readPage(one('#page-data')?.textContent);
  if (!data) return;
  setData(data);
  const { page, span } = data, [from, to] = span ?? [0, 0];
  const worst = page.findings?.find(isConcern), first = worst?.at ?? worst?.from ?? from + 0.35 * (to - from);
  clock.setSpan(from, to, Math.min(to, Math.max(from, first)));
  setPressures(page.pressure);
  document.documentElement.classList.add('scripted');

  const machineCard = one('#machine'), circuitCard = one('#circuit'), findings = one('#findings'), timeCard = one('#time'), report = one('.report'), controls = one('#controls');
  const png = machineCard && page.scene ? makeMachine(machineCard, page.scene) : null, circuit = circuitCard && page.circuit ? makeCircuit(circuitCard, page.circuit) : null;
  makeCharts();
  if (timeCard && span) makeTimeBar(timeCard);
  if (findings) upgradeFindings(findings);
  // The table of values is below the findings, in the column beside the charts.
  if (span && report && charts.some(c => c.info.over_time && report.contains(c.figure))) {
    const card = one('#values') ?? element('section', { class: 'card', id: 'values', 'aria-label': 'Values' });
    report.prepend(div('left', findings, card));
    report.classList.add('two');
    makeValues(card);
  }
  if (controls) makeControls(controls, png, circuit);
  const parts = partList(), tools = one('#circuit .tools') ?? one('#machine .tools');
  if (parts) tools?.prepend(parts);
  for (const table of all<HTMLElement>('.wide')) {   // keys can scroll wide tables
    table.tabIndex = 0;
    table.setAttribute('role', 'group');
    table.setAttribute('aria-label', 'Table');
  }
  bindKeys();

  addEventListener('beforeprint', () => {
    if (clock.playing) clock.toggle();
    applyTheme(true);
    clock.showTime(clock.now);
  });
  addEventListener('afterprint', () => applyTheme());
  // For tests and for pages that compute.
  Object.assign(globalThis, { oleodyn: { data, clock: { now: () => clock.now, seek: clock.seek, show: clock.showTime, toggle: clock.toggle }, charts: () => charts, zoom: timeZoom, select: selectPart, clear: clearSelection, selected: () => selectedPart,
    // Replaces the samples of series, given by index; charts, table and pictures are drawn again.
    replace(columns: [number, Float64Array][]) {
      for (const [k, v] of columns) data.replace(k, v);
      fire(unitsChanged);
      clock.showTime(clock.now);
    } } });
}

void start();
