// The scale of pressure: colors, units, and a mark for each pressure at the cursor.
import type { App } from './app';
import { element } from './dom';
import { colorVariable } from './palette';
import { format, plainUnit } from './units';

export class PressureLegend {
  readonly element: HTMLElement;
  private readonly canvas = element('canvas', { width: 128, height: 1, 'aria-hidden': 'true' });
  private readonly marks: HTMLElement[];
  private readonly ticks = element('div', { class: 'ticks' });
  private readonly unit = element('span');

  constructor(private readonly app: App, private readonly series: number[]) {
    this.marks = series.slice(0, 24).map(k => element('i', { style: `color:var(${colorVariable(app.palette.ofPart(app.data.series[k].part))})` }));
    this.element = element('div', { class: 'scale', role: 'img', 'aria-label': 'Scale of pressure' }, element('b', {}, 'Pressure ', this.unit),
      element('div', { class: 'bar' }, this.canvas, ...this.marks, this.ticks));
    app.theme.changed.add(() => this.paint());
    app.units.changed.add(() => this.paint());
    this.paint();
  }
  private paint(): void {
    const g = this.canvas.getContext('2d'), { pressure, units, data } = this.app;
    if (g) pressure.colors.forEach((color, i) => {
      g.fillStyle = color;
      g.fillRect(i, 0, 1, 1);
    });
    const example = data.series[this.series[0]], factor = example ? units.factor(example) : 1e-5, offset = example ? units.offset(example) : 0;
    this.unit.textContent = example ? units.unit(example) : plainUnit('bar');
    const low = pressure.low * factor + offset, high = pressure.high * factor + offset, step = tickStep((high - low) / 3.2);
    this.ticks.replaceChildren();
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) {
      const share = (i * step - low) / (high - low || 1);
      this.ticks.append(element('span', { style: `left:${(100 * share).toFixed(1)}%` }, step >= 1e5 ? format(i * step, i === 0 ? 0 : -1) : String(+(i * step).toPrecision(6))));
    }
  }
  draw(): void {
    const { data, clock, pressure } = this.app;
    this.marks.forEach((mark, i) => {
      const p = data.at(this.series[i], clock.now);
      mark.style.left = `${(100 * pressure.fraction(p)).toFixed(1)}%`;
      mark.hidden = Number.isNaN(p);
    });
  }
}
function tickStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-12)));
  return (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1) * power;
}
