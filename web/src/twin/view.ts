// The visible interval of all charts and the time cursor of the page. Live: the interval ends at the newest sample and moves. Times of the machine, s.
import type { Signal } from '../signal';
import * as clock from '../clock';
import { fire } from '../signal';

export type Mode = 'live' | 'paused' | 'playing';
export let mode: Mode = 'live', span = 60, right = NaN, cursor = NaN, speed = 1;
export let first = NaN, newest = NaN;          // times with data; NaN: none yet
export let offset = 0;                         // clock = t + offset
export const viewChanged: Signal = [], modeChanged: Signal = [], cursorChanged: Signal = [];
const SHORTEST = 0.05;

export function left(): number { return right - span; }
export function clockOf(t: number): number { return t + offset; }
export function setOffset(value: number | null): void { if (value !== null && Math.abs(value - offset) > 0.5) { offset = value; fire(viewChanged); } }
// Sets the times with data. A machine without history begins with its first sample.
export function setRange(from: number | null | undefined, to: number | null | undefined): void {
  if (from != null && !(first <= from)) first = from;
  if (from != null && first < from - 60) first = from;   // old data were removed
  if (to != null && !(newest >= to)) advance(to);
}
// Extends the times with data by a new sample.
export function advance(t: number): void {
  if (t < newest - 3600) first = t;   // the clock of the machine was set back
  newest = t;
  if (!(first <= t)) first = t;
  if (mode === 'live') place(t, t);
  else if (Number.isNaN(right)) place(t, t);
}
function place(edge: number, at: number): void {
  right = edge;
  cursor = at;
  // Pictures draw the cursor's time; the trail behind a live machine needs the samples before.
  clock.setSpan(Math.min(first, at), Math.max(newest, at), at);
  fire(viewChanged);
  fire(cursorChanged);
}
function setMode(next: Mode): void {
  if (mode === next) return;
  mode = next;
  fire(modeChanged);
}
export function goLive(): void {
  setMode('live');
  if (!Number.isNaN(newest)) place(newest, newest);
}
export function pause(): void { if (mode !== 'paused') setMode('paused'); }
// Moves the cursor, and the interval if the cursor is outside the interval. Leaves the live edge.
export function seek(t: number): void {
  if (Number.isNaN(newest)) return;
  pause();
  moveTo(t);
}
function moveTo(t: number): void {
  const at = Math.min(newest, Math.max(first, t)), room = 0.1 * span;
  place(at > right ? Math.min(at + room, newest + room) : at < left() ? at - room + span : right, at);
}
// Shows an interval; the cursor stays inside. Intervals that end at the newest sample stay live.
export function show(from: number, to: number): void {
  if (Number.isNaN(newest)) return;
  const whole = Math.max(newest - first, 1), wanted = Math.min(Math.max(to - from, SHORTEST), 1.02 * whole), end = Math.min(to, newest + 0.02 * wanted);
  span = wanted;
  if (mode === 'live' && end >= newest - 0.02 * wanted) return place(newest, newest);
  pause();
  place(end, Math.min(newest, end, Math.max(first, end - span, cursor)));
}
// Changes the length of the interval. The live edge, or the middle, does not move.
export function setSpan(seconds: number): void {
  if (mode === 'live') {
    span = Math.max(SHORTEST, seconds);
    if (!Number.isNaN(newest)) place(newest, newest);
  } else {
    const center = Number.isNaN(cursor) ? right - span / 2 : cursor;
    show(center - seconds / 2, center + seconds / 2);
  }
}
export function zoomAbout(t: number, factor: number): void {
  if (mode === 'live' && t > right - 0.1 * span) return setSpan(Math.min(span * factor, Math.max(newest - first, 10)));
  show(t - (t - left()) * factor, t - (t - left()) * factor + span * factor);
}
export function pan(by: number): void { show(left() + by, right + by); if (mode !== 'live') seekInside(by); }
function seekInside(by: number): void { place(right, Math.min(newest, Math.max(first, cursor + by))); }
export function showAll(): void {
  span = Math.max(newest - first, 1);
  if (mode === 'live') place(newest, newest); else place(newest, cursor);
}
export function setSpeed(value: number): void { speed = value; fire(modeChanged); }

// Plays the past from the cursor; at the newest sample the page is live again.
let last = 0;
export function togglePlay(): void {
  if (mode === 'live') return pause();
  if (mode === 'playing') return setMode('paused');
  if (cursor >= newest - 0.05) return goLive();
  setMode('playing');
  last = performance.now();
  requestAnimationFrame(play);
}
function play(time: number): void {
  if (mode !== 'playing') return;
  const next = cursor + Math.max(0, Math.min(500, time - last)) / 1000 * speed;
  last = time;
  if (next >= newest) return goLive();
  const edge = Math.max(right, next + 0.05 * span > right ? next + 0.05 * span : right);
  place(edge, next);
  requestAnimationFrame(play);
}
