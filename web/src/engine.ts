// The engine of pages that compute: the WebAssembly module of the program, which loads and simulates the machine with new values.

type Address = number;
// Functions that the module exports (src/helpers/engine/engine.c).
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  take(size: number): Address;
  release(at: Address): void;
  open(at: Address, size: number): number;
  load(lines: Address): number;
  run(judged: number): number;
  message(): Address;
  watched_rows(): number;
  watched_columns(): number;
  watched_values(): Address;
  watched_name(column: number): Address;
  column_name(column: number): Address;
  trust(): number;
  remarks(): number;
  remark_trust(i: number): number;
  remark_lead(i: number): Address;
  remark_text(i: number): Address;
  worst_error(): number;
  worst_column(): number;
  findings(): number;
  finding_severity(i: number): Address;
  finding_title(i: number): Address;
  finding_text(i: number): Address;
  finding_output(i: number): Address;
  finding_time(i: number): number;
  numbers(): number;
  number_path(i: number): Address;
  number_unit(i: number): Address;
  number_value(i: number): number;
  number_given(i: number): Address;
  number_end(i: number, end: number): number;
  number_is_offered(i: number): number;
  number_shown_unit(i: number): Address;
  number_factor(i: number): number;
}

// A number of the machine, in SI units; shown = value * factor.
export interface MachineNumber { path: string; unit: string; value: number; given: string; low: number; high: number; usualLow: number; usualHigh: number; shown: string; factor: number }
export interface Remark { trust: number; lead: string; text: string }
export interface EngineFinding { severity: string; title: string; text: string; output: string; time: number }
export interface Verdict { trust: number; error: number; output: string; remarks: Remark[]; findings: EngineFinding[] }
// A series of the page: index, output, positions of its samples.
export interface Wanted { series: number; name: string; axis: Float64Array; envelope: boolean }
export interface Order { values: string[]; judged: boolean; wanted: Wanted[] }
export interface Answer { message: string; columns: [number, Float64Array][]; verdict: Verdict | null; milliseconds: number }

export class Engine {
  private constructor(private readonly e: Exports) {}
  // Starts the module and opens the stored machine. Fails with the reason. progress: called with the completed part of a run.
  static async open(module: Uint8Array, machine: Uint8Array, progress: (done: number) => void): Promise<Engine> {
    const made = await WebAssembly.instantiate(new Uint8Array(module), { page: { progress: (done: number) => { progress(done); return 1; } } });
    const engine = new Engine(made.instance.exports as unknown as Exports);
    engine.e._initialize();
    if (engine.e.open(engine.put(machine), machine.length) !== 0 || engine.load([])) throw new Error(engine.message());
    return engine;
  }
  // Loads the machine with values, as with --set. Returns the reason of a failure, or "".
  private load(values: string[]): string {
    const at = this.put(new TextEncoder().encode(values.join('\n'))), status = this.e.load(at);
    this.e.release(at);
    return status ? this.message() : '';
  }
  private put(bytes: Uint8Array): Address {
    const at = this.e.take(bytes.length + 1), memory = new Uint8Array(this.e.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return at;
  }
  private text(at: Address): string {
    const memory = new Uint8Array(this.e.memory.buffer);
    return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  }
  private message(): string { return this.text(this.e.message()); }

  // Numbers of which new values can be simulated.
  numbers(): MachineNumber[] {
    const { e } = this, made: MachineNumber[] = [];
    for (let i = 0; i < e.numbers(); i++) if (e.number_is_offered(i)) made.push({
      path: this.text(e.number_path(i)), unit: this.text(e.number_unit(i)), value: e.number_value(i), given: this.text(e.number_given(i)),
      low: e.number_end(i, 0), high: e.number_end(i, 1), usualLow: e.number_end(i, 2), usualHigh: e.number_end(i, 3),
      shown: this.text(e.number_shown_unit(i)), factor: e.number_factor(i),
    });
    return made;
  }
  run(order: Order): Answer {
    const begin = performance.now(), { e } = this, refused = this.load(order.values);
    const message = refused || (e.run(order.judged ? 1 : 0) ? this.message() : '');
    return { message, columns: message ? [] : this.columns(order.wanted), verdict: order.judged && !message ? this.verdict() : null, milliseconds: performance.now() - begin };
  }
  private columns(wanted: Wanted[]): [number, Float64Array][] {
    const { e } = this, rows = e.watched_rows(), stride = e.watched_columns(), all = new Float64Array(e.memory.buffer, e.watched_values(), rows * stride);
    const places = new Map<string, number>();
    for (let c = 1; c < stride; c++) places.set(this.text(e.watched_name(c)), c);
    const times = new Float64Array(rows).map((_, i) => all[i * stride]);
    return wanted.flatMap((w): [number, Float64Array][] => {
      const c = places.get(w.name);
      if (c === undefined) return [];
      const value = (i: number) => all[i * stride + c];
      return [[w.series, w.envelope ? envelope(times, value, w.axis) : samples(times, value, w.axis)]];
    });
  }
  private verdict(): Verdict {
    const { e } = this, list = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i));
    return {
      trust: e.trust(), error: e.worst_error(), output: e.worst_column() > 0 ? this.text(e.column_name(e.worst_column())) : '',
      remarks: list(e.remarks(), i => ({ trust: e.remark_trust(i), lead: this.text(e.remark_lead(i)), text: this.text(e.remark_text(i)) })),
      findings: list(e.findings(), i => ({ severity: this.text(e.finding_severity(i)), title: this.text(e.finding_title(i)), text: this.text(e.finding_text(i)), output: this.text(e.finding_output(i)), time: e.finding_time(i) })),
    };
  }
}

// Values at the positions of a grid, interpolated linearly between rows.
export function samples(times: Float64Array, value: (row: number) => number, axis: Float64Array): Float64Array {
  const made = new Float64Array(axis.length).fill(NaN), last = times.length - 1, near = 1e-9 * Math.max(1e-9, times[last] - times[0]);
  for (let i = 0, row = 0; i < axis.length && last >= 0; i++) {
    const x = axis[i];
    while (row < last && times[row + 1] <= x + near) row++;
    if (x < times[0] - near || x > times[last] + near) continue;
    const width = row < last ? times[row + 1] - times[row] : 0, part = width > 0 && x - times[row] > near ? (x - times[row]) / width : 0;
    made[i] = part > 0 ? value(row) + (value(row + 1) - value(row)) * part : value(row);
  }
  return made;
}
// The least and the largest value of each interval, in the order of time. Two positions of the grid form an interval, which includes the rows at
// both ends.
export function envelope(times: Float64Array, value: (row: number) => number, axis: Float64Array): Float64Array {
  const made = new Float64Array(axis.length).fill(NaN), near = 1e-9 * Math.max(1e-9, times[times.length - 1] - times[0]);
  for (let i = 0, row = 0; i + 1 < axis.length; i += 2) {
    const end = (i + 2 < axis.length ? axis[i + 2] : axis[i + 1]) + near;
    let low = -1, high = -1;
    while (row < times.length && times[row] < axis[i] - near) row++;
    for (let k = row; k < times.length && times[k] <= end; k++) {
      const v = value(k);
      if (Number.isNaN(v)) continue;
      if (low < 0 || v < value(low)) low = k;
      if (high < 0 || v > value(high)) high = k;
    }
    if (low < 0) continue;
    made[i] = value(Math.min(low, high));
    made[i + 1] = value(Math.max(low, high));
  }
  return made;
}
