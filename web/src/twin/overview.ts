// The time bar: live, play, length of the interval, and the whole history with the visible interval, alarms and the cursor.
import type { Happening, History } from './contract';
import type { LiveData } from './live_data';
import type { Piece } from './pieces';
import * as view from './view';
import { FONT, ink } from '../theme';
import { button, div, element, icon, menu, press, tool, write } from '../dom';
import { clockText, dayText, momentText, spanText, tickTexts, timeStep, timeTicks } from './time_axis';
import { get, query } from './api';
import { on, themeChanged } from '../signal';
import { paced, whileVisible } from './frame';
import { pieceOfBins } from './pieces';

const SPANS = [10, 60, 600, 3600, 8 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400], RENEW = 60000, TOP = 13;

export function makeOverview(card: HTMLElement, machine: string, data: LiveData, waveform: number): { mark(events: Happening[]): void } {
  const canvas = element('canvas', { 'aria-hidden': 'true' }), g = canvas.getContext('2d') as CanvasRenderingContext2D, marks = div('marks'), now = element('b'), day = element('span'), track = div('track', canvas);
  const slider = element('input', { type: 'range', min: 0, max: 1000, step: 'any', 'aria-label': 'Time of the cursor', oninput: () => view.seek(view.first + (view.newest - view.first) * Number(slider.value) / 1000) });
  track.append(slider, marks);
  const live = button('follow', { 'aria-label': 'Live: follow the newest sample' }, view.goLive, element('i'), 'Live'), play = tool('Pause', view.togglePlay, 'M5.2 3.5v9M10.8 3.5v9');
  const spans = menu('Length of the interval', SPANS.map(s => [String(s), spanText(s)] as [string, string]).concat([['all', 'All']]), value => { if (value === 'all') view.showAll(); else view.setSpan(Number(value)); });
  const own = spans.appendChild(element('option', { value: 'own', hidden: true }));
  const speed = menu('Speed of the replay', [0.1, 0.5, 1, 2, 10, 60, 600].map(v => [String(v), v + '×']), v => view.setSpeed(Number(v)));
  const step = (name: string, way: number, path: string) => tool(name, () => view.pan(way * 0.5 * view.span), path);
  card.replaceChildren(div('transport', live, play, step('Earlier', -1, 'M10 4L6 8l4 4'), step('Later', 1, 'M6 4l4 4-4 4'), tool('Shorter interval', () => zoom(0.5), 'M3.5 8h9M8 3.5v9'), tool('Longer interval', () => zoom(2), 'M3.5 8h9'), spans, speed), track,
    element('output', { class: 'now' }, now, day));
  card.setAttribute('aria-label', 'Time');
  card.hidden = false;
  const zoom = (factor: number) => view.mode === 'live' ? view.setSpan(Math.min(view.span * factor, Math.max(10, view.newest - view.first))) : view.zoomAbout(view.cursor, factor);

  // --- The whole history of one channel
  let wave: Piece | null = null, events: Happening[] = [];
  const load = async () => {
    const channel = data.channels[waveform];
    if (!channel || channel.history !== 'rows' || Number.isNaN(view.first)) return;
    try {
      const answer = await get<History>(`machines/${encodeURIComponent(machine)}/history?` + query({ channels: channel.channel, points: 400 }));
      view.setRange(answer.first, answer.last);
      wave = answer.series[0] ? pieceOfBins(answer.series[0], 1.5) : null;
      draw();
    } catch { /* the bar stays without a curve; the next attempt follows */ }
  };

  // --- Picture
  const x = (t: number, w: number) => (t - view.first) / Math.max(view.newest - view.first, 1e-9) * w;
  function draw(): void {
    const d = devicePixelRatio || 1, w = track.clientWidth, h = track.clientHeight, bottom = h - 15, tall = bottom - TOP;
    if (w < 2) return;
    if (canvas.width !== Math.round(w * d) || canvas.height !== Math.round(h * d)) Object.assign(canvas, { width: Math.round(w * d), height: Math.round(h * d) });
    g.setTransform(d, 0, 0, d, 0, 0);
    g.clearRect(0, 0, w, h);
    const fill = (color: string, alpha: number, act: () => void) => {
      g.fillStyle = ink(color);
      g.globalAlpha = alpha;
      act();
      g.globalAlpha = 1;
    };
    g.save();
    g.beginPath();
    g.roundRect(0, TOP, w, tall, 4);
    g.clip();
    fill('notebg', 1, () => g.fillRect(0, TOP, w, tall));
    if (view.first < view.newest) {
      if (wave) {
        let low = Infinity, high = -Infinity;
        for (const v of wave.low) if (v < low) low = v;
        for (const v of wave.high) if (v > high) high = v;
        const y = (v: number) => bottom - 2 - (v - low) / (high - low || 1) * (tall - 4), wide = w / 400;
        fill('line2', 1, () => wave?.t.forEach((t, i, all) => {
          if (Number.isNaN(wave?.mean[i])) return;
          const next = i + 1 < all.length && !Number.isNaN(wave?.mean[i + 1]) ? x(all[i + 1], w) - x(t, w) : wide, a = y((wave as Piece).high[i]), b = y((wave as Piece).low[i]);
          g.fillRect(x(t, w) - next / 2, Math.min(a, b - 1), Math.max(1, next) + 0.5, Math.max(1.2, b - a));
        }));
      }
      // The visible interval.
      const a = Math.max(0, x(view.left(), w)), b = Math.min(w, Math.max(x(view.right, w), a + 3)), from = Math.min(a, w - 3);
      fill('focus', 0.16, () => g.fillRect(from, TOP, b - from, tall));
      fill('focus', 1, () => { for (const e of [from, b - 1.5]) g.fillRect(e, TOP, 1.5, tall); });
    }
    g.restore();
    if (!(view.first < view.newest)) return;
    g.font = '11px ' + FONT;
    const a = view.clockOf(view.first), b = view.clockOf(view.newest), size = timeStep(b - a, Math.max(2, w / 78)), ticks = timeTicks(a, b, size), texts = tickTexts(ticks, size);
    fill('ink3', 1, () => ticks.forEach((t, i) => {
      const px = x(t - view.offset, w), half = g.measureText(texts[i]).width / 2;
      g.fillRect(Math.min(w - 1, px), bottom + 1, 1, 3);
      if (px - half < 0 || px + half > w) return;
      g.textAlign = 'center';
      g.fillText(texts[i], px, h - 1);
    }));
    const at = x(view.cursor, w);
    fill('ink', 1, () => {
      g.fillRect(at - 1, TOP - 2, 2, tall + 2);
      g.beginPath();
      g.arc(at, bottom, 6, 0, 7);
      g.fill();
    });
    g.strokeStyle = ink('card');
    g.lineWidth = 2;
    g.stroke();
  }
  const place = () => {
    for (const mark of marks.children as Iterable<HTMLElement>) mark.style.left = `${Math.min(100, Math.max(0, x(Number(mark.dataset.t), 100)))}%`;
  };
  const showNow = () => {
    const step = view.span < 2 ? 0.001 : view.span < 20 && view.mode !== 'live' ? 0.01 : view.mode === 'live' ? 1 : 0.1, clock = view.clockOf(view.cursor);
    write(now, Number.isNaN(view.cursor) ? '–' : clockText(clock, step));
    write(day, Number.isNaN(view.cursor) ? '' : ' ' + dayText(clock));
    slider.value = String(1000 * (view.cursor - view.first) / Math.max(1e-9, view.newest - view.first));
    slider.setAttribute('aria-valuetext', momentText(clock, step));
    const known = SPANS.find(s => Math.abs(s - view.span) < 0.01 * s), all = view.newest - view.first > 1 && Math.abs(view.span - (view.newest - view.first)) < 0.03 * view.span;
    if (!known && !all) write(own, spanText(view.span));
    spans.value = all && view.span > 12 ? 'all' : known ? String(known) : 'own';
  };
  const showMode = () => {
    press(live, view.mode === 'live');
    const playing = view.mode !== 'paused', label = view.mode === 'live' ? 'Pause' : playing ? 'Pause the replay' : 'Replay from here';
    play.replaceChildren(icon(playing ? 'M5.2 3.5v9M10.8 3.5v9' : '*M5 3.2v9.6L13 8z'));
    play.setAttribute('aria-label', label);
    play.title = label;
    speed.hidden = view.mode === 'live';
    speed.value = String(view.speed);
    showNow();
  };
  const drawPaced = paced(() => {
    draw();
    showNow();
    place();
  }, () => view.mode === 'live' ? 250 : 30);
  on([view.viewChanged], drawPaced);
  on([view.modeChanged], showMode);
  on([themeChanged], draw);
  new ResizeObserver(draw).observe(track);
  whileVisible(() => void load(), RENEW);
  let started = false;
  on([view.viewChanged], () => {
    if (started || Number.isNaN(view.first)) return;
    started = true;
    setTimeout(() => void load(), 300);
  });
  showMode();
  return { mark(list) {
    events = list.filter(e => e.t !== null && e.severity !== 'note').slice(0, 60);
    marks.replaceChildren(...events.reverse().map(e => {
      const label = `${e.text}, ${momentText(e.clock)}`, made = button(e.severity === 'alarm' ? 'serious' : 'warning', { tabindex: -1, 'aria-label': label, title: label }, () => view.seek(e.t as number));
      made.dataset.t = String(e.t);
      return made;
    }));
    place();
  } };
}
