// The time cursor of the page: one time for machine, circuit, charts and tables. Times in s.
import { fire, playChanged, timeChanged } from './signal';

export let now = 0, start = 0, end = 0, playing = false, speed = 1, loop = false;
let last = 0, due = false;

export function setSpan(from: number, to: number, first: number): void { start = from; end = to; now = first; }
export function duration(): number { return end - start; }

// Moves the cursor and draws at once.
export function showTime(time: number): void {
  now = Math.min(end, Math.max(start, time));
  fire(timeChanged);
}
// Moves the cursor for the user and stops the motion. The pictures change in the next frame.
export function seek(time: number): void {
  if (playing) toggle();
  now = Math.min(end, Math.max(start, time));
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    fire(timeChanged);
  });
}
export function toggle(): void {
  playing = !playing;
  if (playing) {
    if (now >= end - 1e-9 * duration()) now = start;
    last = performance.now();
    requestAnimationFrame(tick);
  }
  fire(playChanged);
}
export function setSpeed(value: number): void { speed = value; fire(playChanged); }
export function setLoop(value: boolean): void { loop = value; fire(playChanged); }

function tick(time: number): void {
  if (!playing) return;
  let next = now + Math.max(0, time - last) / 1000 * speed;
  last = time;
  if (next >= end && loop) next = start + (next - end) % duration();
  if (next >= end) {
    playing = false;
    fire(playChanged);
  } else requestAnimationFrame(tick);
  showTime(next);
}
