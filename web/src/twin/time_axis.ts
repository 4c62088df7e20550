// Times on axes and in texts: seconds since 1970 as the time of day and date of the reader.
const MINUTE = 60, HOUR = 3600, DAY = 86400;
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
  DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 60 * DAY, 90 * DAY, 180 * DAY, 365 * DAY, 730 * DAY, 1825 * DAY, 3650 * DAY];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number) => String(n).padStart(2, '0');

// Seconds between local time and UTC at a time.
function shift(clock: number): number { return -60 * new Date(1000 * clock).getTimezoneOffset(); }
// The step of an axis with at most `most` ticks.
export function timeStep(span: number, most: number): number { return STEPS.find(s => span / s <= most) ?? 3650 * DAY * Math.ceil(span / most / (3650 * DAY)); }

// Ticks from a to b: multiples of the step in local time; steps of 30 days and more are months, steps of 365 days and more are years.
export function timeTicks(a: number, b: number, step: number): number[] {
  const found: number[] = [];
  if (step >= 30 * DAY) {
    const months = step >= 365 * DAY ? 12 * Math.round(step / (365 * DAY)) : Math.round(step / (30 * DAY)), date = new Date(1000 * a), first = Math.floor((12 * date.getFullYear() + date.getMonth()) / months) * months;
    for (let m = first; ; m += months) {
      const t = new Date(Math.floor(m / 12), m % 12, 1).getTime() / 1000;
      if (t > b) return found;
      if (t >= a) found.push(t);
    }
  }
  // Offsets change with daylight saving time; each tick uses its own.
  for (let i = Math.ceil((a + shift(a)) / step - 1e-6) - 1; ; i++) {
    const local = i * step, guess = local - shift(local), t = step < HOUR ? guess : local - shift(guess);
    if (t > b + 1e-6 * step) return found;
    if (t >= a - 1e-6 * step) found.push(t);
  }
}
export function dayText(clock: number, year = false): string {
  const d = new Date(1000 * clock);
  return `${d.getDate()} ${MONTHS[d.getMonth()]}${year ? ' ' + d.getFullYear() : ''}`;
}
// The time of day; step: the resolution that the text needs, s.
export function clockText(clock: number, step: number): string {
  const digits = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step) - 1e-9)), rounded = Math.floor(clock * 10 ** digits + 1e-4) / 10 ** digits, d = new Date(1000 * Math.floor(rounded));
  return `${two(d.getHours())}:${two(d.getMinutes())}${step < MINUTE ? ':' + two(d.getSeconds()) : ''}${digits ? (rounded - Math.floor(rounded)).toFixed(digits).slice(1) : ''}`;
}
// Texts of ticks. A tick that begins a day, and the first tick, also have the date if the axis has more than a day or ends at another day.
export function tickTexts(ticks: number[], step: number): string[] {
  if (step >= 365 * DAY) return ticks.map(t => String(new Date(1000 * t).getFullYear()));
  if (step >= 30 * DAY) return ticks.map((t, i) => MONTHS[new Date(1000 * t).getMonth()] + (!i || !new Date(1000 * t).getMonth() ? ' ' + new Date(1000 * t).getFullYear() : ''));
  if (step >= DAY) return ticks.map(t => dayText(t));
  return ticks.map((t, i) => i && dayText(t) !== dayText(ticks[i - 1]) ? dayText(t) : clockText(t, step));
}
// Date and time as a text; times of today without the date.
export function momentText(clock: number, step = 1, now = Date.now() / 1000): string {
  if (!Number.isFinite(clock)) return '–';
  const today = dayText(clock, true) === dayText(now, true);
  return today ? clockText(clock, step) : `${dayText(clock, new Date(1000 * clock).getFullYear() !== new Date(1000 * now).getFullYear())}, ${clockText(clock, Math.max(step, Math.min(step, 1)))}`;
}
// A length of time in at most two units: "4.2 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
export function spanText(s: number): string {
  if (!Number.isFinite(s)) return '–';
  if (s < 1) return `${Math.round(1000 * s)} ms`;
  if (s < 10) return `${+s.toFixed(1)} s`;
  const pair = (big: number, small: number, a: string, b: string) => {
    const whole = Math.floor(s / big), rest = Math.floor((s - whole * big) / small);
    return `${whole} ${a}${rest ? ` ${rest} ${b}` : ''}`;
  };
  return s < MINUTE ? `${Math.floor(s)} s` : s < HOUR ? pair(MINUTE, 1, 'min', 's') : s < DAY ? pair(HOUR, MINUTE, 'h', 'min') : pair(DAY, HOUR, 'd', 'h');
}
// The time since a moment as a text: "5 min ago".
export function agoText(s: number): string { return s < 1.5 ? 'now' : `${spanText(Math.floor(s))} ago`; }
