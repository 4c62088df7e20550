// The scale of pressure: colors, units, and a mark for each pressure at the cursor.
import { data, palette } from './state';
import { div, element, span } from './dom';
import { format, niceStep, shown, unitOf } from './units';
import { now } from './clock';
import { on, themeChanged, unitsChanged } from './signal';
import { pressureRange, pressureShare, ramp } from './palette';

// series: pressures of the circuit. Returns the legend, and a function that moves the marks.
export function makeLegend(series: number[]): [HTMLElement, () => void] {
  const canvas = element('canvas', { width: 128, height: 1 }), ticks = div('ticks'), unit = span(''), first = data.series[series[0]];
  const marks = series.slice(0, 24).map(k => element('i', { style: `color:var(--${palette.ofPart(data.series[k].part)})` }));
  const paint = () => {
    const g = canvas.getContext('2d') as CanvasRenderingContext2D, [a, b] = pressureRange(), low = shown(first, a), high = shown(first, b), step = niceStep((high - low) / 3.6);
    ramp.forEach((color, i) => {
      g.fillStyle = color;
      g.fillRect(i, 0, 1, 1);
    });
    unit.textContent = unitOf(first) + ', absolute';
    ticks.replaceChildren();
    const tick = (value: number) => {
      const at = 100 * (value - low) / (high - low);
      ticks.append(element('span', { style: `left:${at}%;transform:translateX(-${at < 5 ? 20 : at > 95 ? 80 : 50}%)` }, format(value, high > 1e5 ? -1 : step < 1 ? 1 : 0)));
      return at;
    };
    let last = 0;
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) last = tick(i * step);
    if (last < 82) tick(high);
  };
  on([themeChanged, unitsChanged], paint);
  paint();
  return [element('div', { class: 'ramp', role: 'img', 'aria-label': 'Scale of pressure' }, element('b', {}, 'Pressure ', unit), div('bar', canvas, ...marks, ticks)), () => marks.forEach((mark, i) => {
    mark.style.left = `${100 * pressureShare(data.at(series[i], now))}%`;
  })];
}
