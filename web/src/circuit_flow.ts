// Flows of the circuit's lines: sums of series with signs, as in data-flow: "+lift.valve.a.flow -lift.valve.d.flow".
import { data } from './state';
import { now } from './clock';

export interface Flow {
  terms: [number, number][];   // sign, series
  most: number;                // largest flow of the run, or so far
  travel(): number;            // volume that has passed until now, from any start
}
export const rateOf = ({ terms }: Flow) => terms.reduce((sum, [sign, k]) => sum + sign * data.at(k, now), 0);

// Null: no flow, or a series is missing.
export function makeFlow(text: string): Flow | null {
  const terms = text.trim().split(/\s+/).map((word): [number, number] => [word[0] === '-' ? -1 : 1, data.find(word.replace(/^[+-]/, ''))]);
  if (!text || terms.some(([, k]) => k < 0)) return null;
  if (LIVE) return liveFlow(terms);
  // The run is known as a whole.
  const { grid } = data.series[terms[0][1]], axis = data.axis(grid), volume = new Float64Array(axis.length), n = axis.length - 1, rate = (i: number) => terms.reduce((sum, [sign, k]) => sum + sign * (data.at(k, axis[i]) || 0), 0);
  let before = rate(0), most = Math.abs(before);
  for (let i = 1; i <= n; i++) {
    const next = rate(i);
    volume[i] = volume[i - 1] + (before + next) / 2 * (axis[i] - axis[i - 1]);
    most = Math.max(most, Math.abs(before = next));
  }
  return { terms, most, travel() {
    const p = Math.min(n, Math.max(0, (now - axis[0]) / (axis[n] - axis[0] || 1) * n)), i = Math.min(Math.floor(p), n - 1);
    return volume[i] + (volume[i + 1] - volume[i]) * (p - i);
  } };
}
// The largest flow of a live circuit before its first sample, m3/s: the values of 30 l/min have room.
const USUAL = 5e-4;
// The volume while samples arrive: the sum over the moves of the cursor. A jump of more than a second moves nothing.
function liveFlow(terms: [number, number][]): Flow {
  let volume = 0, last = NaN;
  const flow: Flow = { terms, most: USUAL, travel() {
    const rate = rateOf(flow) || 0, passed = now - last;
    if (Math.abs(passed) < 1) volume += rate * passed;
    flow.most = Math.max(flow.most, Math.abs(rate));
    last = now;
    return volume;
  } };
  return flow;
}
