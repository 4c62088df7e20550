// Compares the engine (oleodyn-engine.wasm) with the program: rows of runs, with the values of the file and with other values.
//
//   node engine.mjs cases BUILD SOURCE     every cases/*/machine.yaml
//   node engine.mjs numbers BUILD SOURCE   every number of some machines, changed by 3 %
//   node engine.mjs speed BUILD SOURCE     a four-bar of 5 s
//   node engine.mjs refusals BUILD SOURCE  wrong values, damaged machines
//
// The C libraries of the engine and of the program round functions such as sin() differently in the last bit. Limit of the
// difference of an output: 1e-12 of its largest value. There are reasons for larger differences, which are checked:
// - The machine amplifies the last bit. The program itself then gives other rows after a change of one number by 1e-15, or on a
//   processor without fused multiply-add. The difference may be at most 100 times as large as these changes.
// - The last bit decides whether an iteration or a step is repeated. The numbers of evaluations are then different. The difference may
//   be at most the error of the run, which the verdict measures. Iterations that close loops are not counted: one in 50 runs may
//   therefore differ by 1e-10 without such a sign.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [what, build, source] = process.argv.slice(2);
const program = path.join(build, 'oleodyn'), store = path.join(build, 'tests', 'store_run');
const wasm = fs.readFileSync(path.join(build, 'libexec/oleodyn/oleodyn-engine.wasm'));
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'engine-'));
process.on('exit', () => fs.rmSync(work, { recursive: true }));
let failures = 0;
function fail(text) {
  failures++;
  console.log(`error: ${text}`);
}

class Engine {
  static async of(bytes) {
    const made = await WebAssembly.instantiate(wasm, { page: { progress: () => 1 } });
    const engine = new Engine();
    engine.e = made.instance.exports;
    engine.e._initialize();
    engine.opened = engine.open(bytes);
    return engine;
  }
  put(bytes) {
    const at = this.e.take(bytes.length + 1), memory = new Uint8Array(this.e.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return at;
  }
  text(at) {
    const memory = new Uint8Array(this.e.memory.buffer);
    return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  }
  open(bytes) {
    return this.e.open(this.put(bytes), bytes.length);
  }
  load(values) {
    const at = this.put(new TextEncoder().encode(values.join('\n'))), status = this.e.load(at);
    this.e.release(at);
    return status;
  }
  message() {
    return this.text(this.e.message());
  }
  table() {
    const columns = this.e.columns(), rows = this.e.rows();
    const all = new Float64Array(this.e.memory.buffer, this.e.values(), rows * columns);
    return Array.from({ length: rows }, (_, i) => all.slice(i * columns, (i + 1) * columns));
  }
  numbers() {
    return Array.from({ length: this.e.numbers() }, (_, i) => ({
      path: this.text(this.e.number_path(i)), unit: this.text(this.e.number_unit(i)), value: this.e.number_value(i) }));
  }
}

// Returns a stored machine, or null if it has no run.
function stored(machine) {
  const file = path.join(work, 'stored'), done = spawnSync(store, [machine, file]);
  if (done.status === 77) return null;
  if (done.status !== 0) throw new Error(`store_run ${machine}: ${done.stderr}`);
  return fs.readFileSync(file);
}

// Simulates by the program. Returns names and rows, or the message of its failure.
function simulate(machine, values, environment = {}) {
  const set = values.flatMap(v => ['--set', v]);
  const done = spawnSync(program, ['simulate', machine, '--csv', '-', '--no-requirements', ...set],
    { maxBuffer: 2 ** 30, env: { ...process.env, ...environment } });
  if (done.status === 1 || done.status === 2) return { message: done.stderr.toString() };
  const lines = done.stdout.toString().trim().split('\n');
  return { names: lines[0].split(','), rows: lines.slice(1).map(l => l.split(',').map(Number)) };
}

// Returns the largest difference of an output, relative to its largest value, and its name. The energy balance is the sum of large
// energies that cancel, so its own value is round-off; it is left out.
function difference(names, a, b) {
  if (a.length !== b.length) return { part: Infinity, name: `${a.length} and ${b.length} rows` };
  let worst = { part: 0, name: '', same: 0, all: 0 };
  for (let j = 0; j < names.length; j++) {
    let size = 0, most = 0;
    for (let i = 0; i < a.length; i++) {
      size = Math.max(size, Math.abs(b[i][j]));
      most = Math.max(most, Math.abs(a[i][j] - b[i][j]));
      worst.same += a[i][j] === b[i][j];
      worst.all++;
    }
    if (names[j].startsWith('energy.balance')) continue;
    const part = most / (size || 1);
    if (!(part <= worst.part)) worst = { ...worst, part, name: names[j] };
  }
  return worst;
}

// Returns the largest change of the program's own rows after changes of round-off.
function sensitivity(machine, values, program_rows, numbers) {
  const free = numbers.filter(n => n.value !== 0 && !values.some(v => v.startsWith(`${n.path}=`)));
  const trials = [[values, { GLIBC_TUNABLES: 'glibc.cpu.hwcaps=-FMA,-AVX2' }]];
  for (let k = 0; k < 6 && free.length > 0; k++) {
    const n = free[Math.floor(k * free.length / 6)];
    trials.push([[...values, `${n.path}=${n.value * (1 + 1e-15)}${n.unit === '1' ? '' : ` ${n.unit}`}`], {}]);
  }
  let most = 0;
  for (const [set, environment] of trials) {
    const other = simulate(machine, set, environment);
    if (other.rows) most = Math.max(most, difference(program_rows.names, other.rows, program_rows.rows).part);
  }
  return most;
}

// Compares a run of the engine with the program. Returns the difference, or null after a failure of both.
function compare(engine, machine, values, numbers) {
  const name = `${path.relative(source, machine)} ${values.join(' ')}`;
  const expected = simulate(machine, values);
  const status = engine.load(values) || engine.e.run(1);
  if (expected.message !== undefined || status !== 0) {
    const same = expected.message !== undefined && status !== 0 && expected.message.includes(engine.message());
    if (!same) fail(`${name}: program: ${expected.message ?? 'runs'}; engine: ${status ? engine.message() : 'runs'}`);
    return null;
  }
  const found = difference(expected.names, engine.table(), expected.rows);
  if (found.part <= 1e-12) return { ...found, own: 0 };
  const evaluations = Number(execFileSync(store, ['--evaluations', machine, ...values]));
  if (evaluations !== engine.e.evaluations() && found.part <= engine.e.worst_error()) return { ...found, own: engine.e.worst_error() };
  const own = sensitivity(machine, values, expected, numbers);
  if (!(found.part <= 100 * own) && found.part <= 1e-10) return { ...found, own: 1e-10, unexplained: true };
  if (!(found.part <= 100 * own)) fail(`${name}: ${found.name} differs by ${found.part} (limit 1e-12; own sensitivity ${own})`);
  return { ...found, own };
}

const machines = fs.readdirSync(path.join(source, 'cases')).map(c => path.join(source, 'cases', c, 'machine.yaml')).filter(f => fs.existsSync(f));

async function test_cases() {
  let count = 0;
  for (const machine of machines) {
    const bytes = stored(machine);
    if (!bytes) continue;
    const engine = await Engine.of(bytes);
    engine.load([]);
    const found = compare(engine, machine, [], engine.numbers());
    if (!found) fail(`${machine}: no run`);
    if (found) console.log(`${path.relative(source, machine)}: ${found.same} of ${found.all} values identical, largest difference ` +
      `${found.part.toExponential(1)}${found.own ? ` (${found.name}; limit ${found.own.toExponential(1)})` : ''}`);
    count++;
  }
  if (count < 20) fail(`only ${count} machines ran`);
}

async function test_numbers() {
  let all = 0, unexplained = 0;
  for (const name of ['cases/fourbar-swing/machine.yaml', 'cases/crane/machine.yaml', 'tests/engine/dependent.yaml', 'tests/engine/steady.yaml']) {
    const machine = path.join(source, name), engine = await Engine.of(stored(machine));
    if (engine.load([]) !== 0) fail(`${name}: ${engine.message()}`);
    const numbers = engine.numbers();
    let ran = 0, refused = 0, beyond = 0, worst = 0;
    for (const n of numbers.filter(n => !n.path.startsWith('run.'))) {
      const value = n.value === 0 ? 0.01 : Number((1.03 * n.value).toPrecision(6));
      const found = compare(engine, machine, [`${n.path}=${value}${n.unit === '1' ? '' : ` ${n.unit}`}`], numbers);
      if (found) ran++, beyond += found.part > 1e-12, unexplained += !!found.unexplained, worst = Math.max(worst, found.part);
      if (found) all++;
      else refused++;
    }
    console.log(`${name}: ${numbers.length} numbers, ${ran} runs, ${refused} values refused by both; ${beyond} runs differ by more than 1e-12, largest difference ${worst.toExponential(1)}`);
    if (ran < 5) fail(`${name}: only ${ran} runs`);
  }
  if (unexplained > all / 50) fail(`${unexplained} of ${all} runs differ by up to 1e-10`);
}

async function test_speed() {
  const machine = path.join(source, 'cases/fourbar-valve/machine.yaml'), engine = await Engine.of(stored(machine));
  // Times of the processor, because other programs may delay the run; these times are longer while others use the same core.
  let best = Infinity;
  for (let k = 0; k < 60; k++) {
    const begin = process.cpuUsage();
    if (engine.load([`crank.beam.mass=${90 + k} kg`]) !== 0) fail(engine.message());
    engine.e.run(0);
    const used = process.cpuUsage(begin);
    best = Math.min(best, (used.user + used.system) / 1000);
  }
  const rows = engine.table(), end = rows[rows.length - 1][0], busy = os.loadavg()[0] > os.cpus().length, limit = busy ? 100 : 50;
  console.log(`four-bar with valve, ${end} s, ${engine.e.steps()} steps, ${rows.length} rows: loaded and simulated in ${best.toFixed(1)} ms; limit ${limit} ms${busy ? ' (busy computer)' : ''}`);
  if (end !== 5) fail(`the run ends at ${end} s`);
  if (!(best <= limit)) fail(`expected at most ${limit} ms`);
}

async function test_refusals() {
  const machine = path.join(source, 'cases/crane/machine.yaml'), bytes = stored(machine);
  const engine = await Engine.of(bytes);
  const refused = (values, pattern) => {
    if (engine.load(values) === 0 || !pattern.test(engine.message())) fail(`${values}: ${engine.message() || 'accepted'}`);
  };
  if (engine.load([]) !== 0) fail(engine.message());
  const mass = engine.numbers().find(n => n.path.endsWith('mass')).path;
  refused([`${mass}=-1 kg`], /mass|kg/);
  refused([`${mass}=1 s`], /kg/);
  refused(['no.such.number=1'], /no\.such\.number/);
  if (engine.load([]) !== 0 || engine.e.run(0) !== 0) fail(`after refusals: ${engine.message()}`);
  // Damaged machines are refused or run; the engine never traps.
  let opened = 0;
  for (let k = 0; k < 400; k++) {
    const damaged = Uint8Array.from(bytes), at = (k * 7919) % damaged.length;
    damaged[at] ^= 1 << (k % 8);
    const copy = k % 5 === 0 ? damaged.subarray(0, at) : damaged;
    try {
      const fresh = await Engine.of(copy);
      if (fresh.opened === 0 && fresh.load([]) === 0) opened++;
      else if (!fresh.message()) fail(`damage ${k}: no message`);
    } catch (error) {
      fail(`damage ${k} at ${at}: ${error}`);
    }
  }
  console.log(`400 damaged machines: ${opened} loaded, the others refused with a message`);
}

await { cases: test_cases, numbers: test_numbers, speed: test_speed, refusals: test_refusals }[what]();
process.exit(failures > 0 ? 1 : 0);
