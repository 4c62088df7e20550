// The time bar: play, step, speed, loop, and a slider over a waveform with phases, events and findings.
import type { App } from './app';
import { element, icon } from './dom';
import type { Window } from './window';
import { FONT } from './theme';
import { timeDigits } from './units';

const PLAY = '*M5 3.2v9.6L13 8z', PAUSE = 'M5.2 3.5v9M10.8 3.5v9';
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

export class TimeBar {
  private readonly canvas = element('canvas', { 'aria-hidden': 'true' });
  private readonly slider: HTMLInputElement;
  private readonly track = element('div', { class: 'track' });
  private readonly marks = element('div', { class: 'marks' });
  private readonly playButton = element('button', { type: 'button', class: 'play' });
  private readonly number = element('b');
  private readonly digits: number;
  private readonly wave: Float64Array | null;
  private readonly moments: number[];

  constructor(private readonly app: App, card: HTMLElement, private readonly window: Window) {
    const { clock, data } = app, { page } = data;
    this.digits = timeDigits(clock.length);
    this.slider = element('input', { type: 'range', min: clock.start, max: clock.end, step: 'any', value: clock.now, 'aria-label': 'Time in seconds' });
    this.slider.addEventListener('input', () => clock.seek(Number(this.slider.value)));
    const k = data.find(page.waveform, page.machines?.[0]?.of ?? '');
    this.wave = k >= 0 ? Float64Array.from({ length: 400 }, (_, i) => data.at(k, clock.start + clock.length * i / 399)) : null;
    this.moments = [clock.start, clock.end, ...(page.findings ?? []).map(f => f.at ?? f.from ?? clock.start), ...(page.events ?? []).map(e => e.at),
      ...(page.phases ?? []).map(q => q.from)].sort((a, b) => a - b);
    const tool = (label: string, action: () => void, extra: string, ...paths: string[]) =>
      element('button', { type: 'button', class: 'tool ' + extra, 'aria-label': label, title: label, onclick: action }, icon(...paths));
    const speed = element('select', { 'aria-label': 'Speed', title: 'Speed', onchange: () => clock.setSpeed(Number(speed.value)) },
      ...SPEEDS.map(v => element('option', { value: v, selected: v === 1 }, `${v}×`)));
    const loop = element('button', { type: 'button', class: 'tool loop', 'aria-label': 'Repeat', title: 'Repeat', 'aria-pressed': 'false', onclick: () => clock.setLoop(!clock.loop) },
      icon('M3 7.5V7a2.8 2.8 0 0 1 2.8-2.8h6.4M10.2 2.2l2.2 2-2.2 2M13 8.5V9a2.8 2.8 0 0 1-2.8 2.8H3.8M5.8 13.8l-2.2-2 2.2-2'));
    this.playButton.addEventListener('click', () => clock.toggle());
    this.track.append(this.canvas, this.slider, this.marks);
    card.replaceChildren(element('div', { class: 'transport' },
      tool('Previous event', () => this.jump(-1), '', 'M4 3.5v9', '*M12.5 3.5v9L6 8z'), tool('Step back', () => clock.seek(clock.now - this.step()), 'fine', 'M10 4L6 8l4 4'), this.playButton,
      tool('Step forward', () => clock.seek(clock.now + this.step()), 'fine', 'M6 4l4 4-4 4'), tool('Next event', () => this.jump(1), '', 'M12 3.5v9', '*M3.5 3.5v9L10 8z'), speed, loop),
    this.track, element('output', { class: 'now' }, this.number, ` s / ${+clock.end.toFixed(this.digits)} s`));
    card.setAttribute('aria-label', 'Time');
    card.hidden = false;
    this.makeMarks();
    clock.state.add(() => {
      this.showState();
      loop.setAttribute('aria-pressed', String(clock.loop));
      speed.value = String(clock.speed);
    });
    clock.frame.add(() => this.draw());
    app.theme.changed.add(() => this.draw());
    window.changed.add(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.track);
    const stuck = () => card.classList.toggle('stuck', !app.phone() && scrollY > 0 && card.getBoundingClientRect().top <= 0);
    addEventListener('scroll', stuck, { passive: true });
    this.showState();
    this.draw();
  }

  // A step of the buttons and the arrow keys: a frame of the run, at least one sample.
  step(): number { return Math.max(this.app.clock.length / 340, 1e-9); }

  jump(way: 1 | -1): void {
    const { clock } = this.app, near = 1e-3 * clock.length;
    clock.seek(way > 0 ? this.moments.find(t => t > clock.now + near) ?? clock.end : [...this.moments].reverse().find(t => t < clock.now - near) ?? clock.start);
  }

  private showState(): void {
    const { playing } = this.app.clock;
    this.playButton.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    this.playButton.classList.toggle('playing', playing);
    this.playButton.replaceChildren(icon(playing ? PAUSE : PLAY));
  }

  private makeMarks(): void {
    const { clock, data } = this.app;
    const mark = (at: number, kind: string, text: string) => {
      if (!(at >= clock.start && at <= clock.end)) return;
      const label = `${text}, ${at.toFixed(this.digits)} s`;
      this.marks.append(element('button', { type: 'button', class: kind, tabindex: -1, 'aria-label': label, title: label, style: `left:${(100 * (at - clock.start) / clock.length).toFixed(3)}%`, onclick: () => clock.seek(at) }));
    };
    const events = data.page.events ?? [];
    if (events.length <= 120) for (const e of events) mark(e.at, 'event', e.name);
    const findings = data.page.findings ?? [];
    for (let i = findings.length - 1; i >= 0; i--) {
      const f = findings[i], at = f.at ?? f.from;
      if (at !== undefined) mark(at, f.severity, f.title);
    }
  }

  draw(): void {
    const { app, canvas } = this, { clock, theme, data } = app, d = devicePixelRatio || 1, w = this.track.clientWidth, h = this.track.clientHeight;
    if (w < 2) return;
    if (canvas.width !== Math.round(w * d) || canvas.height !== Math.round(h * d)) {
      canvas.width = Math.round(w * d);
      canvas.height = Math.round(h * d);
    }
    const g = canvas.getContext('2d');
    if (!g) return;
    const x = (t: number) => (t - clock.start) / clock.length * w, top = 13, bottom = h - 15, now = x(clock.now), phases = data.page.phases ?? [];
    g.setTransform(d, 0, 0, d, 0, 0);
    g.clearRect(0, 0, w, h);
    g.save();
    g.beginPath();
    g.roundRect(0, top, w, bottom - top, 4);
    g.fillStyle = theme.color('--notebg');
    g.fill();
    g.clip();
    if (this.wave) {
      const wave = this.wave, clean = wave.filter(v => !Number.isNaN(v)), low = Math.min(0, ...clean), high = Math.max(0, ...clean) || 1;
      g.beginPath();
      g.moveTo(0, bottom);
      wave.forEach((v, i) => g.lineTo(w * i / (wave.length - 1), bottom - (Number.isNaN(v) ? 0 : (v - low) / (high - low)) * 0.94 * (bottom - top)));
      g.lineTo(w, bottom);
      g.closePath();
      g.fillStyle = theme.color('--line2');
      g.globalAlpha = 0.7;
      g.fill();
      g.save();
      g.beginPath();
      g.rect(0, top, now, bottom - top);
      g.clip();
      g.beginPath();
      g.moveTo(0, bottom);
      wave.forEach((v, i) => g.lineTo(w * i / (wave.length - 1), bottom - (Number.isNaN(v) ? 0 : (v - low) / (high - low)) * 0.94 * (bottom - top)));
      g.lineTo(w, bottom);
      g.fillStyle = theme.color('--ink3');
      g.globalAlpha = 0.55;
      g.fill();
      g.restore();
      g.globalAlpha = 1;
    } else {
      g.fillStyle = theme.color('--line2');
      g.fillRect(0, top, now, bottom - top);
    }
    if (!this.window.whole) {
      g.fillStyle = theme.color('--card');
      g.globalAlpha = 0.7;
      g.fillRect(0, top, x(this.window.low), bottom - top);
      g.fillRect(x(this.window.high), top, w, bottom - top);
      g.globalAlpha = 1;
    }
    g.fillStyle = theme.color('--card');
    for (const q of phases) for (const t of [q.from, q.to]) if (t > clock.start && t < clock.end) g.fillRect(x(t) - 0.75, top, 1.5, bottom - top);
    g.restore();
    g.textBaseline = 'middle';
    g.lineJoin = 'round';
    g.lineWidth = 3;
    g.textAlign = 'left';
    g.font = '600 11px ' + FONT;
    for (const q of phases) {
      if (x(q.to) - x(q.from) < g.measureText(q.name).width + 12) continue;
      g.strokeStyle = theme.color('--notebg');
      g.globalAlpha = 0.55;
      g.strokeText(q.name, x(q.from) + 7, top + 9);
      g.globalAlpha = 1;
      g.fillStyle = theme.color('--ink');
      g.fillText(q.name, x(q.from) + 7, top + 9);
    }
    g.font = '11px ' + FONT;
    g.fillStyle = theme.color('--ink3');
    if (w > 700 && this.wave && data.page.waveform) {
      const text = data.page.waveform;
      g.textAlign = 'right';
      g.strokeStyle = theme.color('--notebg');
      g.globalAlpha = 0.55;
      g.strokeText(text, w - 7, top + 9);
      g.globalAlpha = 1;
      g.fillText(text, w - 7, top + 9);
    }
    g.textBaseline = 'alphabetic';
    const rough = clock.length / (w / 62), power = 10 ** Math.floor(Math.log10(rough)), step = (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1) * power;
    for (let i = Math.ceil(clock.start / step - 1e-9); i * step <= clock.end + 1e-9 * step; i++) {
      const at = x(i * step);
      g.fillRect(Math.min(w - 1, at), bottom + 1, 1, 3);
      g.textAlign = at < 8 ? 'left' : at > w - 8 ? 'right' : 'center';
      g.fillText(String(+(i * step).toPrecision(6)), at, h - 1);
    }
    g.fillStyle = theme.color('--ink');
    g.fillRect(now - 1, top - 2, 2, bottom - top + 2);
    g.beginPath();
    g.arc(now, bottom, 6, 0, 7);
    g.fill();
    g.strokeStyle = theme.color('--card');
    g.lineWidth = 2;
    g.stroke();
    const text = clock.now.toFixed(this.digits);
    if (this.number.textContent !== text) {
      this.number.textContent = text;
      this.slider.value = String(clock.now);
      this.slider.setAttribute('aria-valuetext', `${text} seconds`);
    }
  }
}
