// The page of the twin in Chromium, with the program oleodyn-twin: live values, history, a server that is killed and starts again, alarms, accessibility, and pages of
// other origins, which can neither read nor post. Oracles: the recorded run that the twin observes; a foreign server at which every attempt of a foreign page succeeds.
import { createServer } from 'node:http';
import { execFileSync, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { check, finish, fromPackage, near, pathOf, program, source, work } from './support.mjs';

const { chromium } = fromPackage('playwright-core'), BEFORE = 40, LENGTH = 160, STEP = 0.005;   // recorded time before the page opens and in all, s
const pause = ms => new Promise(done => setTimeout(done, ms)), now = () => Date.now() / 1000;
async function until(what, text, seconds = 20) {
  for (const end = now() + seconds; now() < end; await pause(50)) {
    const found = await Promise.resolve().then(what).catch(() => false);
    if (found) return found;
  }
  check(false, `within ${seconds} s: ${text}`);
  return null;
}
const freePort = () => new Promise(done => {
  const s = createServer().listen(0, '127.0.0.1', () => {
    const { port } = s.address();
    s.close(() => done(port));
  });
});

// --- The twin. Its standard input gets the rows of a run at their times; the rows of an outage are lost.
const log = join(work, 'run.csv'), experiment = join(source, 'cases/fourbar-valve/points-3.experiment.yaml'), token = 'operator-operator-operator';
execFileSync(program, ['observe', experiment, '--set', `time=${LENGTH}`, '--set', `step=${STEP}`, '--csv', log, '--quiet'], { stdio: 'pipe' });
const [head, ...lines] = readFileSync(log, 'utf8').trim().split('\n'), columnOf = name => head.split(',').findIndex(c => c.split(' ')[0] === name);
const port = await freePort(), address = `http://localhost:${port}`, file = join(work, 'twin.yaml');
writeFileSync(join(work, 'operator.token'), token + '\n', { mode: 0o600 });
writeFileSync(file, `twin: Yard
sources: {log: {type: stdin}}
machines: {bench: {experiment: ${JSON.stringify(experiment)}, alarms: {soft oil: {output: oil.kp, below: 3000 MPa}}}}
history: {file: twin.db, write: 0.1 s}
page: {port: ${port}, verdict: 5 s, tokens: {operator: {file: operator.token, role: act}}}
`);
const start = now() - BEFORE, rows = lines.map((text, i) => ({ t: start + i * STEP, cells: text.split(',') }));
const time = columnOf('time');
let twin = null, errors = '', sent = 0;
// Starts the twin with the rows from a time on.
async function startTwin(from) {
  const child = spawn(join(dirname(program), 'libexec/oleodyn/oleodyn-twin'), [file], { stdio: ['pipe', 'ignore', 'pipe'] });
  sent = rows.findIndex(r => r.t >= from);
  child.stdin.on('error', () => {});
  child.stderr.on('data', d => { errors += d; });
  child.stdin.write(head + '\n');
  child.feeder = setInterval(() => {
    for (; sent < rows.length && rows[sent].t <= now(); sent++) child.stdin.write(rows[sent].cells.with(time, String(rows[sent].t)).join() + '\n');
  }, 20);
  child.ended = new Promise(done => child.on('exit', done));
  twin = child;
  if (!await until(() => child.exitCode === null && fetch(address + '/health').then(r => r.ok), 'the twin answers')) console.error(errors);
}
async function endTwin(signal) {
  clearInterval(twin.feeder);
  twin.kill(signal);
  return twin.ended;
}
const api = async path => (await fetch(`${address}/api/v1/${path}`)).json(), alarms = async () => (await api('events?open=true')).events;
await startTwin(start);
await until(async () => (await api('machines')).machines[0].t > now() - 1, 'the rows before the opening are observed');

// --- The page. Its errors are wrong, except those of requests while the twin is away.
const browser = await chromium.launch({ executablePath: process.env.OD_CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP foreign.example 127.0.0.1'] });
let isAway = false;
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options }), p = await context.newPage();
  p.on('console', m => { if (/error|warning/.test(m.type()) && !(isAway && /net::ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK)/.test(m.text()))) check(false, `console: ${m.text()} ${m.location().url}`); });
  p.on('pageerror', e => check(false, `error in the page: ${e.message}`));
  p.on('request', r => { if (!r.url().startsWith(address + '/')) check(false, `the page requests ${r.url()}`); });
  await p.goto(address);
  await p.locator('.state.live').waitFor();
  await p.locator('#machine canvas').waitFor();
  return p;
}
const page = await open(), script = (await (await fetch(address + '/twin.js')).arrayBuffer()).byteLength;
console.log(`twin.js ${(script / 1000).toFixed(0)} kB`);
check(script > 1000 && script <= 200000, `the script has ${script} bytes; at most 200000 are allowed`);

// A number of the picture of the machine; pictures at other times have other numbers.
const drawn = () => page.evaluate(() => {
  const c = document.querySelector('#machine canvas'), copy = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(c, 0, 0);
  return copy.getImageData(0, 0, c.width, c.height).data.reduce((sum, v) => (sum * 31 + v) % 1000003, 0);
});
// The chart of the length: share of the columns of pixels that have a colored curve, the longest gap, s, and its end. Grid, texts and gaps are gray.
const chart = page.locator('figure.trend').first(), over = chart.locator('.u-over');
check((await chart.locator('figcaption b').textContent()) === 'cylinder.length', 'the first chart is that of the first sensor');
const curve = () => chart.locator('canvas').evaluate(c => {
  const copy = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(c, 0, 0);
  const d = copy.getImageData(0, 0, c.width, c.height).data, box = c.parentElement.querySelector('.u-over'), left = Math.round(parseFloat(box.style.left) * devicePixelRatio), wide = Math.round(box.clientWidth * devicePixelRatio);
  const columns = Array.from({ length: wide }, (_, x) => {
    for (let i = 4 * (left + x); i < d.length; i += 4 * c.width) if (d[i + 3] > 200 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 70) return true;
    return false;
  });
  let gap = 0, run = 0, end = 0;
  for (let x = columns.indexOf(true); x <= columns.lastIndexOf(true); x++) if ((run = columns[x] ? 0 : run + 1) > gap) [gap, end] = [run, x + 1];
  const { span, right } = oleodyn.view, seconds = span / wide;
  return { share: columns.filter(Boolean).length / wide, right, gap: gap * seconds, end: right - (wide - end) * seconds };
});
// The measured length in the legend, mm, at the time of the cursor; the recorded one is the mean of the rows of 0.5 s.
const shown = () => page.evaluate(() => [Number(document.querySelector('figure.trend .legend-live b').textContent), oleodyn.view.cursor]);
const length = columnOf('measured.cylinder.length'), recorded = t => {
  const some = rows.filter(r => Math.abs(r.t - t) < 0.25 && r.cells[length]);
  return 1000 * some.reduce((sum, r) => sum + Number(r.cells[length]), 0) / some.length;
};
const compare = async text => {
  const [value, t] = await shown();
  near(value, recorded(t), 6, `${text}: the length in mm, ${(t - start).toFixed(2)} s after the start`);
};

// --- Live
await until(async () => (await curve()).share > 0.1, 'the chart has a curve');
const picture = await drawn(), values = await page.locator('#values').innerText(), early = await curve();
await compare('live');
await pause(3000);
const late = await curve();
check(await drawn() !== picture, 'the machine does not move');
check(await page.locator('#values').innerText() !== values, 'the values do not change');
check(late.right - early.right > 2, `the chart moves by ${late.right - early.right} s in 3 s`);
for (const c of [early, late]) near(60 * c.share, c.right - start, 1, 'length of the curve, s');
await compare('live');

const halves = (await page.locator('.legend-live, #values').allInnerTexts()).join(' ').match(/± [\d.−e]+/g);
check(halves?.length > 5 && halves.every(h => Number(h.slice(2).replace('−', '-')) > 0), `halves of intervals: ${halves}`);

// --- History: a click into the time before the opening shows the machine of that time; a zoom there loads finer values
const box = await over.boundingBox(), put = async (share, act) => {
  await page.mouse.move(box.x + share * box.width, box.y + 0.5 * box.height);
  await act();
};
const loads = [];
page.on('response', async r => { if (r.url().includes('/history?')) loads.push(JSON.parse(await r.text().catch(() => 'null'))); });
await put(0.6, () => page.mouse.click(box.x + 0.6 * box.width, box.y + 0.5 * box.height));
await page.locator('.state.past').waitFor();
const [, clicked] = await shown();
check(clicked < start + BEFORE - 5, `the cursor is ${clicked - start} s after the start, later than the opening of the page`);
await until(() => page.evaluate(() => !document.querySelector('#machine.no-picture') && oleodyn.data.frames.has(oleodyn.view.cursor)), 'the machine of the past is shown');
await compare('past');
check(loads.length === 0, 'a click in the chart loads the history again');
await page.keyboard.down('Shift');
await put(0.55, () => page.mouse.down());
await put(0.65, () => page.mouse.up());
await page.keyboard.up('Shift');
near(await page.evaluate(() => oleodyn.view.span), 6, 0.5, 'the interval of the zoom, s');
const finer = await until(() => loads.flatMap(h => h?.series ?? []).find(s => s.channel === 'measured.cylinder.length' && s.dt < 0.05), 'values of the zoom are loaded');
check(finer?.t[0] > start && finer.t.at(-1) < start + BEFORE && finer.t.length > 200, `the zoom loads ${finer?.t.length} values`);
await until(async () => (await curve()).share > 0.97, 'the chart shows the interval of the zoom');
await compare('zoom');
await page.getByLabel('Length of the interval').selectOption('60');
await page.keyboard.press('l');
await page.locator('.state.live').waitFor();

// --- An alarm is acknowledged by a click
const acknowledge = async (actor, text) => {
  const [alarm] = await alarms();
  if (!alarm) return check(false, `${text}: there is no open alarm`);
  check(/^soft oil: oil\.kp is .* below 3000 MPa$/.test(alarm.text), `the alarm has the text ${alarm.text}`);
  await page.locator('#alarms').getByRole('button', { name: `Acknowledge: ${alarm.text}` }).click();
  await page.locator('#alarms .empty').waitFor();
  await until(async () => {
    const { events } = await api('events');
    return events.find(e => e.id === alarm.id).acknowledged > now() - 20 && events.some(e => e.kind === 'acknowledged' && e.text === `'${actor}' acknowledged event ${alarm.id}`);
  }, `${text}: the event is acknowledged by ${actor}`);
  check((await alarms()).length === 0, `${text}: alarms are open`);
  return alarm.id;
};

// --- Accessibility: nothing serious, in both themes and at the width of a phone
const axe = readFileSync(pathOf('axe-core').replace(/axe\.js$/, 'axe.min.js'), 'utf8');
async function accessible(p, name) {
  await p.evaluate(axe);
  for (const v of await p.evaluate(() => axe.run().then(r => r.violations))) {
    const nodes = v.nodes.slice(0, 3).map(n => n.target.join(' ')).join('; ');
    if (v.impact === 'serious' || v.impact === 'critical') check(false, `axe, ${name}: ${v.id}: ${v.help}: ${nodes}`);
    else console.log(`axe, ${name}: ${v.impact}: ${v.id}: ${nodes}`);
  }
  return p;
}
await accessible(page, 'light');
const first = await acknowledge('local', 'before the restart');

// --- The server is killed and starts again: the page says so, connects by itself, and has a gap for the outage
isAway = true;
await endTwin('SIGKILL');
const lost = rows[sent - 1].t, back = lost + 5;
await page.locator('.banner', { hasText: 'No live data since' }).waitFor();
await page.locator('.state.lost', { hasText: 'No connection' }).waitFor();
check(await page.locator('#machine.stale').count() === 1, 'the machine is not marked as old');
await accessible(page, 'without the server');
await pause(1000 * (back - now()));
await startTwin(back);
await page.locator('.state.live').waitFor({ timeout: 20000 });
isAway = false;
check(await page.locator('.banner').isHidden(), 'the banner remains');
const left = await until(async () => Math.abs((await curve()).gap - (back - lost)) < 0.5 && curve(), `the chart has a gap of ${back - lost} s`);
await pause(2000);
const moved = await curve();
check(moved.right - left?.right > 1, `the chart moves by ${moved.right - left?.right} s in 2 s after the restart`);
near(moved.end, back, 0.5, 'end of the gap, s');
await compare('after the restart');
const second = (await until(async () => (await alarms())[0], 'an alarm after the restart'))?.id;
check(second > first, `the alarm after the restart has the number ${second}, the one before ${first}`);
await accessible(await open({ colorScheme: 'dark' }), 'dark');
const phone = await accessible(await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }), 'phone');
check(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the phone');

// --- Pages of other origins, while a reader is logged in: another port of the same host, which gets the cookies of the host, and another host
const context = page.context(), cookies = async () => JSON.stringify((await context.cookies()).map(c => [c.name, c.value, c.httpOnly, c.sameSite])), csrf = await page.evaluate(async text => (await (await fetch('/api/v1/session', { method: 'POST', body: text, headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': (await (await fetch('/api/v1/session')).json()).csrf } })).json()).csrf, JSON.stringify({ token }));
const mine = await cookies();
check(csrf?.length > 10 && /true,"Strict"/.test(mine), `after the login the cookies are ${mine}`);
// A server that allows everything.
const foreign = createServer((request, answer) => {
  const { origin = '*' } = request.headers, isStream = request.url.includes('/stream');
  answer.writeHead(200, { 'Content-Type': isStream ? 'text/event-stream' : 'text/html', 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true', 'Access-Control-Allow-Headers': 'content-type, x-csrf-token' });
  answer.end(isStream ? 'event: hello\ndata: {}\n\n' : '<title>foreign</title><p id="app">open</p>');
});
await new Promise(done => foreign.listen(0, '127.0.0.1', done));
// All attempts of a page at a server; the outcome of each: whether the page can read an answer, and the status of the answer.
async function attack(p, target) {
  // Answers of frames, and answers of other requests as they arrive, before the browser hides them from the page.
  const statuses = [], frames = r => { if (r.url().startsWith(target) && r.url() !== target + '/' && r.frame() !== p.mainFrame()) statuses.push(r.status()); }, network = await p.context().newCDPSession(p), others = new Set(), answers = [];
  p.on('response', frames);
  network.on('Network.requestWillBeSent', e => { if (e.request.url.startsWith(target) && e.type !== 'Document') others.add(e.requestId); });
  network.on('Network.responseReceivedExtraInfo', e => { answers.push(e); });
  await network.send('Network.enable');
  const read = await p.evaluate(async ({ target, id, token, csrf }) => {
    const act = `${target}/api/v1/events/${id}/acknowledge`, login = `${target}/api/v1/session`, json = { 'Content-Type': 'application/json' }, read = {}, jobs = [];
    const job = (name, f) => jobs.push(Promise.race([f(), new Promise(done => setTimeout(done, 3000))]).then(v => { read[name] = !!v; }, () => { read[name] = false; }));
    for (const credentials of ['omit', 'include']) {
      for (const [url, body] of [[act, '{}'], [login, JSON.stringify({ token })]]) {
        for (const [kind, options] of Object.entries({ plain: {}, json: { headers: json }, csrf: { headers: { ...json, 'X-CSRF-Token': csrf } } })) job(`POST ${kind} ${credentials} ${url}`, async () => (await fetch(url, { method: 'POST', body, credentials, ...options })).text());
        // Its answer cannot be read in any case.
        job(`POST no-cors ${credentials} ${url}`, () => fetch(url, { method: 'POST', body, credentials, mode: 'no-cors' }).then(() => false));
      }
      for (const path of ['session', 'events', 'machines']) job(`GET ${path} ${credentials}`, async () => (await fetch(`${target}/api/v1/${path}`, { credentials })).text());
      job(`stream ${credentials}`, () => new Promise(done => {
        const source = new EventSource(`${target}/api/v1/stream?machine=bench`, { withCredentials: credentials === 'include' });
        source.addEventListener('hello', () => done(true));
        source.onerror = () => {
          source.close();
          done(false);
        };
      }));
    }
    // Forms in frames, with a JSON object as the text.
    const frame = name => {
      const made = document.createElement('iframe');
      made.name = name;
      return document.body.appendChild(made);
    };
    [[act, '{"a":"', '"}'], [login, `{"token":"${token}","a":"`, '"}']].forEach(([url, name, value], i) => job(`form ${url}`, () => new Promise(done => {
      const to = frame(`form ${i} ${target}`), form = document.createElement('form'), field = document.createElement('input');
      Object.assign(form, { method: 'POST', action: url, target: to.name, enctype: 'text/plain' });
      Object.assign(field, { name, value });
      form.append(field);
      document.body.append(form);
      form.submit();
      to.onload = () => done(false);
    })));
    job('frame', () => new Promise(done => {
      const shows = frame('page ' + target);
      shows.src = target;
      shows.onload = () => done(false);
    }));
    await Promise.all(jobs);
    return read;
  }, { target, id: second, token, csrf });
  read.frame = await p.frame('page ' + target).evaluate(() => !!document.getElementById('app')).catch(() => false);
  p.off('response', frames);
  await network.detach();
  statuses.push(...answers.filter(e => others.has(e.requestId)).map(e => e.statusCode));
  return { read, statuses };
}
for (const host of ['localhost', 'foreign.example']) {
  const p = await context.newPage(), from = `http://${host}:${foreign.address().port}`;
  await p.goto(from);
  const open = await attack(p, `http://127.0.0.1:${foreign.address().port}`), { read, statuses } = await attack(p, address), names = Object.keys(read), readable = names.filter(n => read[n]), could = names.length && Object.keys(open.read).filter(n => !open.read[n] && !/no-cors|^form/.test(n));
  console.log(`${host}: ${names.length} attempts, ${statuses.length} answers: ${[...new Set(statuses)]}`);
  check(names.length >= 20 && could.length === 0, `at the open server these attempts of ${host} fail: ${could}`);
  check(open.statuses.length >= 20 && open.statuses.every(s => s === 200), `the open server answers ${open.statuses}`);
  check(readable.length === 0, `a page of ${host} can read ${readable}`);
  check(statuses.length >= 10 && statuses.every(s => s === 403), `the twin answers ${statuses} to a page of ${host}`);
  check((await alarms()).some(e => e.id === second), `a page of ${host} acknowledged an alarm`);
  check(await cookies() === mine, `a page of ${host} changed the cookies to ${await cookies()}`);
  // The name of another host for the address of the twin (DNS rebinding).
  check((await p.goto(`http://foreign.example:${port}`)).status() === 403, 'the twin answers to the name of another host');
  await p.close();
}
// The reader of the page can do what the foreign pages could not.
await page.reload();
await page.locator('.state.live').waitFor();
await acknowledge('operator', 'after the restart');
await browser.close();
foreign.closeAllConnections();
foreign.close();
const code = await endTwin('SIGTERM');
check(code === 130, `the twin ends with ${code}: ${errors}`);
finish();
