// The time bar: play, step, speed, loop, and a slider over a waveform with phases, events and findings.
import { button, div, element, icon, menu, press, tool, write } from './dom';
import { data, isPhone } from './state';
import { duration, end, loop, now, playing, seek, setLoop, setSpeed, speed, start, toggle } from './clock';
import { FONT, ink } from './theme';
import { niceStep, timeDigits } from './units';
import { on, playChanged, themeChanged, timeChanged, unitsChanged } from './signal';
import { timeZoom } from './charts';

const TOP = 13;   // space above the bar for marks, px

// A step of the buttons and the arrow keys, s.
export function timeStep(): number { return duration() / 340; }
// Moves the cursor to the next or the previous event.
export function jump(way: number): void {
  const { findings = [], events = [], phases = [] } = data.page, near = 1e-3 * duration();
  const moments = [start, end, ...findings.map(f => f.at ?? f.from ?? start), ...events.map(e => e.at), ...phases.map(q => q.from)].filter(t => way * (t - now) > near).sort((a, b) => way * (a - b));
  seek(moments[0] ?? now);
}

export function makeTimeBar(card: HTMLElement): void {
  const { page } = data, digits = timeDigits(duration()), canvas = element('canvas', { 'aria-hidden': 'true' }), g = canvas.getContext('2d') as CanvasRenderingContext2D, number = element('b'), marks = div('marks');
  const slider = element('input', { type: 'range', min: start, max: end, step: 'any', 'aria-label': 'Time in seconds', oninput: () => seek(Number(slider.value)) }), track = div('track', canvas, slider, marks);
  const rate = menu('Speed', [0.1, 0.25, 0.5, 1, 2, 5, 10].map(v => [String(v), v + '×']), v => setSpeed(Number(v))), play = button('play', {}, toggle);
  const repeat = tool('Repeat', () => setLoop(!loop), 'M3 7.5V7a2.8 2.8 0 0 1 2.8-2.8h6.4M10.2 2.2l2.2 2-2.2 2M13 8.5V9a2.8 2.8 0 0 1-2.8 2.8H3.8M5.8 13.8l-2.2-2 2.2-2');
  const steps = [tool('Step back', () => seek(now - timeStep()), 'M10 4L6 8l4 4'), tool('Step forward', () => seek(now + timeStep()), 'M6 4l4 4-4 4')];
  for (const s of steps) s.classList.add('fine');
  card.replaceChildren(div('transport', tool('Previous event', () => jump(-1), 'M4 3.5v9', '*M12.5 3.5v9L6 8z'), steps[0], play, steps[1], tool('Next event', () => jump(1), 'M12 3.5v9', '*M3.5 3.5v9L10 8z'), rate, repeat), track,
    element('output', { class: 'now' }, number, ` s / ${+end.toFixed(digits)} s`));
  card.setAttribute('aria-label', 'Time');
  card.hidden = false;

  // --- Marks of events and findings; the worst findings are on top
  const mark = (at: number | undefined, kind: string, text: string) => {
    if (at === undefined || !(at >= start && at <= end)) return;
    const label = `${text}, ${at.toFixed(digits)} s`;
    marks.append(button(kind, { tabindex: -1, 'aria-label': label, title: label, style: `left:${100 * (at - start) / duration()}%` }, () => seek(at)));
  };
  const { events = [], findings = [], phases = [] } = page, shown = Math.ceil(events.length / 120);
  events.forEach((e, i) => { if (i % shown === 0) mark(e.at, 'event', e.name); });
  for (const f of [...findings].reverse()) mark(f.at ?? f.from, f.severity, f.title);

  // --- Picture
  const k = data.find(page.waveform);
  let wave: number[] = [], low = 0, high = 1;
  const measure = () => {
    wave = k < 0 ? [] : Array.from({ length: 400 }, (_, i) => data.at(k, start + duration() * i / 399) || 0);
    low = Math.min(0, ...wave);
    high = Math.max(...wave, low + 1e-30);
  };
  measure();
  // Draws the bar without its cursor, in the colors of the past or the future.
  const paint = (g: CanvasRenderingContext2D, w: number, h: number, past: boolean) => {
    const x = (t: number) => (t - start) / duration() * w, bottom = h - 15, tall = bottom - TOP;
    const fill = (color: string, alpha: number, act: () => void) => {
      g.fillStyle = ink(color);
      g.globalAlpha = alpha;
      act();
      g.globalAlpha = 1;
    };
    const label = (text: string, px: number, bold: boolean) => {
      g.strokeStyle = ink('notebg');
      g.globalAlpha = 0.55;
      g.strokeText(text, px, TOP + 9);
      fill(bold ? 'ink' : 'ink3', 1, () => g.fillText(text, px, TOP + 9));
    };
    g.save();
    g.beginPath();
    g.roundRect(0, TOP, w, tall, 4);
    g.clip();
    fill('notebg', 1, () => g.fillRect(0, TOP, w, tall));
    g.beginPath();
    g.moveTo(0, bottom);
    if (wave.length) wave.forEach((v, i) => g.lineTo(w * i / 399, bottom - (v - low) / (high - low) * 0.94 * tall)); else if (past) g.rect(0, TOP, w, tall);
    g.lineTo(w, bottom);
    fill(past ? 'ink3' : 'line2', past ? wave.length ? 0.65 : 0.3 : 0.7, () => g.fill());
    fill('card', 0.7, () => {
      g.fillRect(0, TOP, x(timeZoom.low), tall);
      g.fillRect(x(timeZoom.high), TOP, w, tall);
    });
    fill('card', 1, () => { for (const q of phases) for (const t of [q.from, q.to]) if (t > start && t < end) g.fillRect(x(t) - 0.75, TOP, 1.5, tall); });
    g.restore();
    g.textBaseline = 'middle';
    g.lineJoin = 'round';
    g.lineWidth = 3;
    g.textAlign = 'left';
    g.font = '600 11px ' + FONT;
    let taken = 0;
    for (const q of phases) if (x(q.to) - x(q.from) > g.measureText(q.name).width + 12) {
      label(q.name, x(q.from) + 7, true);
      taken = x(q.from) + 7 + g.measureText(q.name).width;
    }
    g.font = '11px ' + FONT;
    g.textAlign = 'right';
    if (wave.length && page.waveform && w - taken > 120) label(page.waveform, w - 7, false);
    g.textBaseline = 'alphabetic';
    const step = niceStep(62 * duration() / w);
    fill('ink3', 1, () => {
      let px = 0;
      const tick = (t: number) => {
        px = x(t);
        g.fillRect(Math.min(w - 1, px), bottom + 1, 1, 3);
        g.textAlign = px < 8 ? 'left' : px > w - 8 ? 'right' : 'center';
        g.fillText(String(+t.toPrecision(5)), px, h - 1);
      };
      for (let i = Math.ceil(start / step - 1e-9); i * step <= end + 1e-9 * step; i++) tick(i * step);
      if (w - px > 40) tick(end);
    });
  };
  const stills: HTMLCanvasElement[] = [element('canvas'), element('canvas')];
  const redraw = () => {
    const d = devicePixelRatio || 1, w = track.clientWidth, h = track.clientHeight;
    if (w < 2) return;
    [canvas, ...stills].forEach((c, i) => {
      const context = c.getContext('2d') as CanvasRenderingContext2D;
      Object.assign(c, { width: Math.round(w * d), height: Math.round(h * d) });
      context.setTransform(d, 0, 0, d, 0, 0);
      if (i) paint(context, w, h, i === 2);
    });
    draw();
  };
  const draw = () => {
    const d = devicePixelRatio || 1, w = canvas.width / d, h = canvas.height / d, at = (now - start) / duration() * w, cut = Math.round(at * d);
    if (!stills[0].width || w < 2) return;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    if (cut > 0) g.drawImage(stills[1], 0, 0, cut, canvas.height, 0, 0, cut, canvas.height);
    if (cut < canvas.width) g.drawImage(stills[0], cut, 0, canvas.width - cut, canvas.height, cut, 0, canvas.width - cut, canvas.height);
    g.setTransform(d, 0, 0, d, 0, 0);
    g.fillStyle = ink('ink');
    g.fillRect(at - 1, TOP - 2, 2, h - 15 - TOP + 2);
    g.beginPath();
    g.arc(at, h - 15, 6, 0, 7);
    g.fill();
    g.strokeStyle = ink('card');
    g.lineWidth = 2;
    g.stroke();
    const text = now.toFixed(digits);
    write(number, text);
    slider.value = String(now);
    slider.setAttribute('aria-valuetext', text + ' seconds');
  };
  const showState = () => {
    play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    play.classList.toggle('playing', playing);
    play.replaceChildren(icon(playing ? 'M5.2 3.5v9M10.8 3.5v9' : '*M5 3.2v9.6L13 8z'));
    press(repeat, loop);
    rate.value = String(speed);
  };
  on([timeChanged], draw);
  on([unitsChanged], () => { measure(); redraw(); });
  on([themeChanged, timeZoom.changed], redraw);
  on([playChanged], showState);
  new ResizeObserver(redraw).observe(track);
  addEventListener('scroll', () => card.classList.toggle('stuck', !isPhone() && scrollY > 0 && card.getBoundingClientRect().top <= 0), { passive: true });
  showState();
}
