// The time cursor of the page: one time for machine, circuit, charts and tables.
import { Listeners } from './dom';

export class Clock {
  now: number;
  playing = false;
  speed = 1;
  loop = false;
  readonly frame = new Listeners();   // draws everything that depends on the time
  readonly state = new Listeners();   // playing, speed or loop changed
  private last = 0;
  private due = false;

  constructor(public start: number, public end: number) { this.now = start; }

  get length(): number { return this.end - this.start; }

  // Moves the cursor; the pictures follow with the next frame.
  set(time: number): void {
    this.now = Math.min(this.end, Math.max(this.start, time));
    this.draw();
  }

  // Moves the cursor by hand: stops the motion first.
  seek(time: number): void {
    this.pause();
    this.set(time);
  }

  // Draws once in the next frame, however often it is called.
  draw(): void {
    if (this.due || this.playing) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.frame.call();
    });
  }

  play(): void {
    if (this.playing) return;
    if (this.now >= this.end - 1e-9 * this.length) this.now = this.start;
    this.playing = true;
    this.last = performance.now();
    this.state.call();
    requestAnimationFrame(t => this.tick(t));
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.state.call();
    this.draw();
  }

  toggle(): void { if (this.playing) this.pause(); else this.play(); }

  setSpeed(speed: number): void { this.speed = speed; this.state.call(); }
  setLoop(loop: boolean): void { this.loop = loop; this.state.call(); }

  private tick(time: number): void {
    if (!this.playing) return;
    this.now += Math.max(0, time - this.last) / 1000 * this.speed;
    this.last = time;
    if (this.now >= this.end) {
      if (this.loop) this.now = this.start + (this.now - this.end) % Math.max(this.length, 1e-12);
      else {
        this.now = this.end;
        this.playing = false;
        this.state.call();
      }
    }
    this.frame.call();
    if (this.playing) requestAnimationFrame(t => this.tick(t));
  }
}
