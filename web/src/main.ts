// Upgrades the page that the program wrote: the machine moves, the circuit shows pressures and flows, charts can be touched.
import type { App } from './app';
import { Charts } from './charts';
import { CircuitView } from './circuit';
import { Clock } from './clock';
import { bindKeys } from './keyboard';
import { element, one } from './dom';
import { makeControls } from './controls';
import { MachineView } from './machine';
import { Palette, PressureScale } from './palette';
import { partList } from './parts';
import { readPage } from './decode';
import { Selection } from './selection';
import { Theme } from './theme';
import { TimeBar } from './time_bar';
import { Units } from './units';
import { upgradeFindings } from './findings';
import { Values } from './values';

async function start(): Promise<void> {
  const theme = new Theme();
  theme.apply();
  const data = await readPage(one('#page-data'));
  if (!data) return;
  const { page } = data, span = data.span ?? [0, 0];
  const app: App = { data, theme, clock: new Clock(span[0], span[1]), selection: new Selection(data), units: new Units(), palette: new Palette(data),
    pressure: new PressureScale(page.pressure), hasTime: data.span !== null, phone: () => innerWidth <= 820 };
  app.pressure.paint(theme.dark);
  theme.changed.add(() => app.pressure.paint(theme.dark));
  document.documentElement.classList.add('scripted');
  if (app.hasTime) app.clock.now = firstTime(app);

  const machineCard = one<HTMLElement>('#machine'), circuitCard = one<HTMLElement>('#circuit'), findingsCard = one<HTMLElement>('#findings');
  const machine = machineCard && page.scene ? new MachineView(app, machineCard, page.scene) : null;
  const circuit = circuitCard && page.circuit && one('svg', circuitCard) ? new CircuitView(app, circuitCard, page.circuit) : null;
  const charts = new Charts(app), timeCard = one<HTMLElement>('#time');
  const bar = timeCard && app.hasTime ? new TimeBar(app, timeCard, charts.time) : null;
  if (findingsCard) upgradeFindings(app, findingsCard, charts);
  if (app.hasTime && charts.list.some(c => c.info.over_time)) addValues(app, charts, findingsCard);
  const controls = one<HTMLElement>('#controls');
  if (controls) makeControls(app, controls, charts, machine, circuit);
  const parts = partList(app), tools = one('.tools', machineCard ?? circuitCard ?? document.createElement('div'));
  if (parts && tools) tools.prepend(parts);
  bindKeys(app, bar, charts);

  addEventListener('beforeprint', () => {
    app.clock.pause();
    theme.apply('light');
    app.clock.frame.call();
  });
  addEventListener('afterprint', () => theme.apply());
  const { clock } = app;
  Object.assign(globalThis, { oleodyn: { data, clock, selection: app.selection, units: app.units, theme, charts, machine, circuit,
    setTime: (t: number) => { clock.now = Math.min(clock.end, Math.max(clock.start, t)); clock.frame.call(); } } });
}

// The first picture: the time of the worst finding, else a third of the run.
function firstTime(app: App): number {
  const { clock, data } = app, worst = (data.page.findings ?? []).find(f => f.severity === 'serious' || f.severity === 'warning');
  const at = worst?.at ?? worst?.from;
  return at !== undefined && at >= clock.start && at <= clock.end ? at : clock.start;
}

// The table of values stands below the findings, in the column beside the charts.
function addValues(app: App, charts: Charts, findings: HTMLElement | null): void {
  const card = one<HTMLElement>('#values') ?? element('section', { class: 'card', id: 'values', 'aria-label': 'Values' });
  const report = one<HTMLElement>('.report'), column = element('div', { class: 'left' });
  if (!report) return;
  report.prepend(column);
  if (findings) column.append(findings);
  column.append(card);
  new Values(app, card, charts);
  report.classList.add('two');
}

void start();
