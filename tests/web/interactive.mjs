// A page that computes, in Chromium, opened from disk: a slider is dragged, and the numbers of the page are those of the program.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { check, finish, fromPackage, pathOf, program, source, work } from './support.mjs';

const { chromium } = fromPackage('playwright-core'), machine = join(source, 'cases/fourbar-valve/machine.yaml');
const browser = await chromium.launch({ executablePath: process.env.OD_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

function report(name, ...options) {
  const path = join(work, name), done = spawnSync(program, ['simulate', ...options, '--report', path, '--interactive', '--no-requirements', '--quiet']);
  check(done.status === 0, `${options.join(' ')}: ${done.stderr}`);
  return path;
}
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options }), page = await context.newPage();
  page.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') check(false, `console: ${m.text()}`); });
  page.on('pageerror', e => check(false, `error in the page: ${e.message}`));
  page.on('request', r => { if (!/^(file|data|blob):/.test(r.url())) check(false, `the page requests ${r.url()}`); });
  await page.goto('file://' + path);
  if (options.javaScriptEnabled !== false) await page.waitForFunction(() => globalThis.oleodynEngine?.ready, null, { timeout: 60000 });
  return page;
}
const state = page => page.locator('#numbers .state').textContent();
const judged = page => page.waitForFunction(() => /judged$/.test(document.querySelector('#numbers .state').textContent), null, { timeout: 120000 });

// Compares the samples of series on plain grids with the rows of the program. A run is repeated with smaller tolerances if one of its outputs
// is not accurate: with other outputs (options) the program may deliver another run.
async function compare(page, file, set, ...options) {
  const csv = execFileSync(program, ['simulate', file, '--csv', '-', '--no-requirements', ...options, ...set.flatMap(s => ['--set', s])], { maxBuffer: 2 ** 30 }).toString().trim().split('\n');
  const names = csv[0].split(',').map(n => n.replace(/ \[.*/, '').replace(/^"|"$/g, '')), rows = csv.slice(1).map(l => l.split(',').map(Number));
  const series = await page.evaluate(() => oleodyn.data.series.flatMap((s, k) => s.name && !oleodyn.data.grids[s.grid].envelope ? [{ name: s.name, x: [...oleodyn.data.axis(s.grid)], y: [...oleodyn.data.values(k)] }] : []));
  let worst = 0, compared = 0;
  for (const { name, x, y } of series) {
    const column = names.indexOf(name), size = Math.max(...rows.map(r => Math.abs(r[column]))) || 1;
    if (column < 0 || name === 'energy.balance') continue;
    for (let i = 0, row = 0; i < x.length; i++) {
      while (row < rows.length - 1 && rows[row][0] < x[i] - 1e-9) row++;
      if (Math.abs(rows[row][0] - x[i]) > 1e-9) continue;
      worst = Math.max(worst, Math.abs(y[i] - rows[row][column]) / size);
      compared++;
    }
  }
  console.log(`${set.join(' ')}: ${series.length} series, ${compared} values compared, largest difference ${worst.toExponential(1)}`);
  check(compared > 1000, `only ${compared} values were compared`);
  check(worst <= 1e-12, `${set.join(' ')}: a value differs from the program by ${worst}`);
}

// --- A slider
const path = report('page.html', machine, '--slider', 'crank.beam.mass,pump.flow'), size = readFileSync(path).length;
console.log(`page ${(size / 1e6).toFixed(2)} MB`);
check(size <= 1.5e6, `the page has ${size} bytes`);
const page = await open(path), slider = page.locator('#numbers input[type=range]').first(), box = await slider.boundingBox(), before = await page.evaluate(() => oleodyn.data.series.map((_, k) => [...oleodyn.data.values(k)]));
check(await page.evaluate(() => oleodynEngine.worker), 'the engine has no thread of its own');
check(await page.locator('#numbers input[type=range]').count() === 2, 'two sliders');
await page.mouse.move(box.x + box.width * 0.34, box.y + box.height / 2);
await page.mouse.down();
const times = [];
for (let i = 0; i < 12; i++) {
  await page.mouse.move(box.x + box.width * (0.34 + 0.04 * i), box.y + box.height / 2);
  await page.waitForTimeout(150);
  const text = /simulated in (\d+) ms$/.exec(await state(page));
  if (text) times.push(Number(text[1]));
}
check(times.length > 0, `no run while the slider is dragged: ${await state(page)}`);
check(/Not judged yet/.test(await page.locator('.top .verdict').textContent()), 'a run without verdict is not marked');
await page.mouse.up();
await judged(page);
console.log(`runs while dragging: ${times.join(', ')} ms`);
check(/^Sound largest error [\d.]+ % of range/.test(await page.locator('.top .verdict').textContent()), `verdict: ${await page.locator('.top .verdict').textContent()}`);
const command = await page.locator('#numbers code').textContent(), set = [...command.matchAll(/--set '([^']*)'/g)].map(m => m[1]);
check(set.length === 1 && set[0].startsWith('crank.beam.mass=') && set[0] !== 'crank.beam.mass=100 kg', `command: ${command}`);
await compare(page, machine, set, '--output', 'all');
const moved = await page.evaluate(old => oleodyn.data.series.filter((s, k) => oleodyn.data.values(k).some((v, i) => v !== old[k][i]) && /\.pose\.|\.pressure/.test(s.name)).length, before);
check(moved > 3, `${moved} poses and pressures follow the slider`);

// --- The field, a second number, a number that is added
await page.locator('#numbers .value input').nth(1).fill('48');
await page.keyboard.press('Enter');
await page.waitForFunction(() => /pump\.flow/.test(document.querySelector('#numbers code').textContent));
await page.locator('#numbers select.add').selectOption({ label: 'A.volume' });
check(await page.locator('#numbers input[type=range]').count() === 3, 'a slider is added');
await page.keyboard.press('ArrowRight');
await page.waitForTimeout(400);
await judged(page);
const three = [...(await page.locator('#numbers code').textContent()).matchAll(/--set '([^']*)'/g)].map(m => m[1]);
check(three.length === 3, `three values: ${three}`);
await compare(page, machine, three, '--output', 'all');

// --- A value that is refused keeps the last run
const kept = await page.evaluate(() => [...oleodyn.data.values(3)]);
await page.locator('#numbers .value input').nth(0).fill('-5');
await page.keyboard.press('Enter');
await page.waitForFunction(() => document.querySelector('#numbers .state').classList.contains('bad'));
check(/mass|kg/.test(await state(page)), `refusal: ${await state(page)}`);
check(JSON.stringify(kept) === JSON.stringify(await page.evaluate(() => [...oleodyn.data.values(3)])), 'a refused value changes the curves');

// --- Back to the file
await page.getByRole('button', { name: 'Values of the file' }).first().click();
await page.waitForTimeout(400);
await judged(page);
check(await page.locator('#numbers code').textContent() === '', 'no --set after the reset');
await compare(page, machine, [], '--output', 'all');

// --- Accessibility
await page.addScriptTag({ path: pathOf('axe-core') });
const found = await page.evaluate(() => axe.run(document.querySelector('#numbers')));
for (const v of found.violations.filter(v => /serious|critical/.test(v.impact))) check(false, `axe: ${v.id}: ${v.nodes.map(n => n.html).join(' ')}`);

// --- Without scripts: as any other page
const still = await open(path, { javaScriptEnabled: false });
check(await still.locator('#numbers').count() === 0 && await still.locator('figure svg').count() > 3, 'the page without scripts');

// --- Dependent numbers, templates, an included file, a log; hostile names
const dependent = join(source, 'tests/engine/dependent.yaml'), second = await open(report('dependent.html', dependent));
check(/constants\.(piston|supply)/.test(await second.locator('#numbers').textContent()), 'constants have sliders');
await second.locator('#numbers input[type=range]').first().focus();
for (let i = 0; i < 5; i++) await second.keyboard.press('ArrowRight');
await second.waitForTimeout(500);
await judged(second);
await compare(second, dependent, [...(await second.locator('#numbers code').textContent()).matchAll(/--set '([^']*)'/g)].map(m => m[1]));
const hostile = join(work, 'hostile.yaml');
writeFileSync(hostile, `machine: '</script><script>globalThis.hit = 1</script>'
gravity: [0, -9.81, 0]
bodies: {'<img src=x onerror=hit=1>': {mass: 2 kg, centre: [0.3 m, 0]}}
joints: {J: {type: revolute, between: [ground, '<img src=x onerror=hit=1>']}}
initial: {J.angle: 10 deg}
run: {time: 0.5 s}
`);
const bad = spawnSync(program, ['simulate', hostile, '--report', join(work, 'hostile.html'), '--interactive', '--quiet']);
if (bad.status === 0) {
  const third = await open(join(work, 'hostile.html'));
  check(await third.evaluate(() => globalThis.hit === undefined), 'a name is executed');
}

// --- Refusals of the program
for (const [options, pattern] of [[['--interactive'], /--report/], [['--report', join(work, 'x.html'), '--slider', 'crank.beam.mass'], /--interactive/],
  [['--report', join(work, 'x.html'), '--interactive', '--slider', 'crank.beam.mas'], /did you mean/], [['--report', join(work, 'x.html'), '--interactive', '--slider', 'run.time'], /setting of the run/],
  [['--report', join(work, 'x.html'), '--interactive', '--integrator', 'cvodes'], /cvodes/]]) {
  const refused = spawnSync(program, ['simulate', machine, ...options]);
  check(refused.status === 2 && pattern.test(refused.stderr), `${options.join(' ')}: ${refused.status} ${refused.stderr}`);
}
const without = spawnSync(program, ['simulate', machine, '--report', join(work, 'x.html'), '--interactive'], { env: { ...process.env, OLEODYN_HELPERS: work } });
check(without.status !== 0 && /make wasm/.test(without.stderr), `without the engine: ${without.status} ${without.stderr}`);
await browser.close();
finish();
