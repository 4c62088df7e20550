// A small server for tests of the twin's page. It follows the interface of the twin (docs/twin.md): sessions, machines, history, frames, events, and a stream.
// Values come from a run of the excavator, repeated forward and backward; parameters drift over weeks.
import { createServer } from 'node:http';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { modules, program, source, work } from './support.mjs';

const { bytesOfBase64, inflate, makeData } = await modules('decode.ts'), report = join(work, 'twin-run.html');
execFileSync(program, ['simulate', join(source, 'cases/excavator/machine.yaml'), '--report', report], { stdio: 'pipe' });
const html = readFileSync(report, 'utf8'), page = JSON.parse(/id="page-data">(.*?)<\/script>/s.exec(html)[1]), run = makeData(page, await inflate(bytesOfBase64(page.blob)));
const circuit = /<svg[^>]*class="circuit".*?<\/svg>/s.exec(html)[0].replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ').replace(/&nbsp;/g, ' ');
const LENGTH = 17, DAY = 86400;
export const policy = "default-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'";

const noise = t => { const x = Math.sin(t * 12.9898) * 43758.5453; return 2 * (x - Math.floor(x)) - 1; };
const fold = t => { const p = ((t % (2 * LENGTH)) + 2 * LENGTH) % (2 * LENGTH); return p < LENGTH ? p : 2 * LENGTH - p; };
const pick = s => ({ part: s.part, quantity: s.quantity, group: s.group, si: s.si, unit: s.unit, factor: s.factor });
// The channels of the excavator: measured and estimated pressures, parameters, an input, and all outputs that the pictures need.
function excavator() {
  const list = [], value = new Map(), sigma = new Map(), add = (channel, entry, f, s) => {
    list.push({ channel, ...entry });
    value.set(channel, f);
    if (s) sigma.set(channel, s);
  };
  const at = name => { const k = run.find(name); return t => run.at(k, fold(t)); };
  for (const name of ['lift.A.pressure', 'lift.B.pressure', 'crowd.A.pressure', 'P.pressure']) {
    const s = run.series[run.find(name)], f = at(name);
    add('measured.' + name, { name, ...pick(s), of: 'measured', history: 'rows' }, t => f(t) + 3e5 * noise(t));
    add('estimate.' + name, { name, ...pick(s), of: 'estimate', sigma: 'sigma.' + name, history: 'rows' }, f, () => 1.2e5);
  }
  const length = run.series[run.find('lift.ram.length')];
  if (length) add('estimate.lift.ram.length', { name: 'lift.ram.length', ...pick(length), of: 'estimate', sigma: 'sigma.lift.ram.length', history: 'rows' }, at('lift.ram.length'), () => 2e-3);
  add('input.lift.lever', { name: 'lift.lever', part: 'lift', of: 'input', si: '1', unit: '1', history: 'rows' }, t => Math.sin(t / 3));
  add('estimate.lift.ram.friction', { name: 'lift.ram.friction', part: 'lift.ram', group: 'lift', of: 'parameter', si: 'N s/m', unit: 'kN s/m', factor: 1e-3, sigma: 'sigma.lift.ram.friction', start: 4e4, history: 'rows' }, t => 4e4 * (1 + 0.25 * (1 - Math.exp((t > -6 * DAY ? -(t + 6 * DAY) : 0) / (2 * DAY)))), t => 900 + 400 * Math.exp(-(t + 21 * DAY) / (3 * DAY)));
  add('estimate.P.volume', { name: 'P.volume', part: 'P', of: 'parameter', si: 'm^3', unit: 'l', factor: 1e3, sigma: 'sigma.P.volume', start: 0.01, history: 'rows' }, () => 0.0104, () => 2e-4);
  add('nis', { of: 'statistic', si: '1', history: 'rows' }, t => 1 + 0.3 * noise(t));
  for (const s of page.series) if (s.name && !s.of && !value.has('view.' + s.name)) add('view.' + s.name, { name: s.name, ...pick(s), of: 'view', history: 'frames' }, at(s.name));
  return { list, value, sigma };
}

// options: token, role of the token, machines: further names; names(text) changes all names, for hostile ones.
export async function startTwin({ token, role = 'act', others = [], names = t => t, port = 0, first = -21 * DAY, boot = 'a1', gaps = [[-2 * DAY, -2 * DAY + 7200]], acknowledgedBy, events = [], rate = 25 } = {}) {
  const { list, value, sigma } = excavator(), begun = Date.now() / 1000, offset = begun, now = () => Date.now() / 1000 - begun, csrf = 'c-' + boot, streams = new Set(), log = [], machines = ['excavator', ...others], silent = new Set(), scale = { ...page.pressure };
  let book = [...events], silence = false, version = 1, slow = 0, silentSince = 0;
  const nextId = () => Math.max(0, ...book.map(e => e.id)) + 1, stored = t => t >= first && !gaps.some(([a, b]) => t > a && t < b);
  const verdict = () => ({ trust: 'doubtful', text: 'innovations of lift.A.pressure are 1.4 times larger than predicted', from: now() - 60, to: now(), since: now() - 3600, remarks: [{ trust: 'doubtful', code: 'innovations.size', lead: 'Larger innovations', text: 'The sensor lift.A.pressure deviates from its prediction by 0.42 MPa (predicted: 0.3 MPa).' }], causes: [{ trust: 'doubtful', code: 'cause.friction', text: 'The friction of lift.ram may be larger than its estimate.' }] });
  const status = name => {
    const good = name !== 'excavator', quiet = silence || silent.has(name), t = quiet ? silentSince : now();
    return { name: names(name), title: names(good ? 'Crane ' + name : 'Excavator arm'), state: quiet ? 'silent' : 'running', t, clock: t + offset, offset, age: now() - t, rate: quiet ? 0 : 200, latency: { mean: 1e-4, p99: 5e-4 },
      counts: { taken: 812350, failed: 0, held: 0, late: 0, repeated: 0, reordered: 0, refused: 0, overrun: 0, dropped: 0, missing: 3, replayed: 0 }, alarms: book.filter(e => e.severity === 'alarm' && e.acknowledged === null && e.machine === names(name)).length,
      verdict: good ? { trust: 'sound', text: names('innovations agree with the filter') } : { trust: 'doubtful', text: names('innovations of lift.A.pressure are larger than predicted') }, history: { first, last: t } };
  };
  const rename = v => JSON.parse(JSON.stringify(v, (key, x) => typeof x === 'string' && /^(name|title|part|group|label|channel|sigma|text|lead|pose|pressure|node|output|length|traces|parts|\d+)$/.test(key) ? names(x) : x));
  const describe = name => {
    const charts = list.filter(c => c.of === 'estimate').map(c => ({ title: c.name, si: c.si, unit: c.unit, factor: c.factor, lines: [{ channel: c.channel, kind: 'estimate', band: true }, ...list.some(m => m.channel === 'measured.' + c.name) ? [{ channel: 'measured.' + c.name, kind: 'measured' }] : []] }));
    const x = Array.from({ length: 21 }, (_, i) => i * 1e-4);
    const made = { name, title: status(name).title, version, boot, series: list, scene: page.scene, circuit: page.circuit, groups: page.groups, pressure: scale, charts, window: 60,
      curves: [{ valve: 'lift.valve', port: 'a', from: 'P', to: 'lift.A', side: 1, x_unit: 'm', unit: 'm^2', x, start: x.map(v => 0.02 * v), points: [{ x: 0, value: 0 }, { x: 2e-3, channel: 'estimate.P.volume' }], weight: x.map(v => [0, 500 * v * 0.0077]) }],
      alarms: [{ name: 'wear', channel: 'estimate.lift.ram.friction', above: 5.2e4, for: 10 }], pictures: { circuit: `/api/v1/machines/${encodeURIComponent(name)}/circuit.svg`, tall: 0.42 } };
    return names === unchanged ? made : rename(made);
  };
  const unchanged = names('x') === 'x' ? names : null;
  const channelOf = name => list.find(c => names(c.channel) === name || c.channel === name)?.channel;
  const sample = name => {
    const t = now();
    return { machine: names(name), t, clock: t + offset, values: list.map(c => value.get(c.channel)(t)), sigma: list.filter(c => c.sigma).map(c => sigma.get(c.channel)(t)) };
  };
  const history = q => {
    const from = Math.max(first, Number(q.get('from') ?? first)), to = Math.min(now() - 0.3, Number(q.get('to') ?? now())), points = Math.min(2000, Number(q.get('points') ?? 400)), dt = Math.max(0.05, (to - from) / points);
    return { machine: '', from, to, first, last: now(), offset, points, series: (q.getAll('channel').length ? q.getAll('channel') : q.get('channels').split(',')).map(name => {
      const c = channelOf(name), f = value.get(c), s = sigma.get(c), t = [];
      if (!f) throw new Error(`no channel ${name}`);
      for (let i = Math.floor(from / dt); i * dt < to; i++) if (stored((i + 0.5) * dt) && (i + 0.5) * dt < now()) t.push((i + 0.5) * dt);
      const spots = t.map(x => Array.from({ length: 8 }, (_, i) => f(x + (i / 8 - 0.5) * Math.min(dt, 34)))), short = v => +v.toPrecision(5);
      return { channel: name, level: 1, dt, t: t.map(v => +v.toFixed(3)), mean: spots.map(v => short(v.reduce((a, b) => a + b) / v.length)), min: spots.map(v => short(Math.min(...v))), max: spots.map(v => short(Math.max(...v))), ...s ? { sigma: t.map(x => short(s(x))) } : {} };
    }) };
  };
  const frames = q => {
    const channels = list.filter(c => c.history === 'frames'), from = Math.max(first, Number(q.get('from'))), to = Math.min(now(), Number(q.get('to'))), count = Math.min(Number(q.get('points') ?? 200), Math.floor((to - from) / 0.1)), t = Array.from({ length: Math.max(0, count) }, (_, i) => from + (to - from) * i / count).filter(stored);
    return { machine: '', channels: channels.map(c => names(c.channel)), t, values: t.map(x => channels.map(c => +value.get(c.channel)(x).toPrecision(6))), first, last: now() };
  };
  const files = { '/': ['twin.html', 'text/html; charset=utf-8'], '/twin.js': ['twin.js', 'text/javascript; charset=utf-8'], '/twin.css': ['twin.css', 'text/css; charset=utf-8'] };
  const send = (stream, kind, data, id) => stream.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
  const all = (kind, data, id) => { for (const s of streams) send(s.answer, kind, data, id); };
  const change = e => {
    book = [...book.filter(o => o.id !== e.id), e];
    all('event', e, e.id);
  };

  const server = createServer((request, answer) => {
    const url = new URL(request.url, 'http://x'), path = url.pathname, headers = { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY', 'Cache-Control': 'no-cache' };
    const reply = (code, data, more = {}) => {
      answer.writeHead(code, { ...headers, 'Content-Type': 'application/json', ...more });
      answer.end(JSON.stringify(data));
    }, fail = (code, text) => reply(code, { error: { status: code, text } });
    log.push({ method: request.method, path: request.url, origin: request.headers.origin, csrf: request.headers['x-csrf-token'] });
    if (files[path]) {
      answer.writeHead(200, { ...headers, 'Content-Type': files[path][1] });
      return answer.end(readFileSync(join(source, 'web/dist', files[path][0])));
    }
    if (path === '/favicon.ico') return answer.writeHead(204).end();
    const isIn = !token || (request.headers.cookie ?? '').includes('session=' + boot), mine = { role: isIn ? role : null, name: isIn ? 'test' : null, csrf: isIn ? csrf : null, boot, program: 'oleodyn test', title: isIn ? 'Yard' : null, needs_token: !!token };
    const body = act => {
      let text = '';
      request.on('data', d => { text += d; });
      request.on('end', () => act(text));
    };
    const own = `http://${request.headers.host}`;
    if (request.method !== 'GET' && request.headers.origin !== undefined && request.headers.origin !== own) return fail(403, 'foreign origin');
    if (path === '/api/v1/session') {
      if (request.method === 'GET') return reply(200, mine);
      if (request.method === 'DELETE') return reply(200, { ...mine, role: null }, { 'Set-Cookie': 'session=; Max-Age=0; Path=/' });
      return body(text => JSON.parse(text).token === token ? reply(200, { ...mine, role, csrf, name: 'test', title: 'Yard' }, { 'Set-Cookie': `session=${boot}; HttpOnly; SameSite=Strict; Path=/` }) : fail(401, 'the token is wrong'));
    }
    if (!path.startsWith('/api/v1/')) return fail(404, 'there is no such page');
    if (!isIn) return fail(401, 'log in');
    const parts = path.slice('/api/v1/'.length).split('/').map(decodeURIComponent), wait = act => slow ? setTimeout(act, slow) : act();
    if (parts[0] === 'machines' && parts.length === 1) return reply(200, { title: names('Yard'), boot, now: Date.now() / 1000, machines: machines.map(status) });
    if (parts[0] === 'machines') {
      const name = machines.find(m => names(m) === parts[1]);
      if (!name) return fail(404, `there is no machine '${parts[1]}'`);
      if (parts.length === 2) return reply(200, describe(name));
      if (parts[2] === 'history') return wait(() => { try { reply(200, history(url.searchParams)); } catch (e) { fail(400, e.message); } });
      if (parts[2] === 'frames') return reply(200, frames(url.searchParams));
      if (parts[2] === 'verdict') return reply(200, { machine: names(name), verdict: rename(verdict()) });
      if (parts[2] === 'circuit.svg') {
        answer.writeHead(200, { ...headers, 'Content-Type': 'image/svg+xml' });
        return answer.end(names === unchanged ? circuit : circuit.replace(/<text([^>]*)>/g, '<text$1 onclick="window.hacked=1"><script>window.hacked=1</script>'));
      }
      return fail(404, 'there is no such page');
    }
    if (parts[0] === 'events' && parts.length === 1) {
      const q = url.searchParams, found = book.filter(e => (!q.get('machine') || e.machine === q.get('machine')) && (!q.get('before') || e.id < Number(q.get('before'))) && (q.get('open') !== 'true' || (e.severity === 'alarm' && e.acknowledged === null))).sort((a, b) => b.id - a.id), limit = Number(q.get('limit') ?? 50);
      return reply(200, { events: found.slice(0, limit), more: found.length > limit });
    }
    if (parts[0] === 'events' && parts[2] === 'acknowledge' && request.method === 'POST') return body(() => {
      if (request.headers['x-csrf-token'] !== csrf) return fail(403, 'the token of the request is wrong');
      if (role !== 'act') return fail(403, 'needs the role act');
      const e = book.find(o => o.id === Number(parts[1]));
      if (!e) return fail(404, 'there is no such event');
      const done = { ...e, acknowledged: Date.now() / 1000 };
      change(done);
      reply(200, done);
    });
    if (parts[0] === 'stream') {
      const name = machines.find(m => names(m) === url.searchParams.get('machine'));
      answer.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
      answer.write('retry: 2000\n\n');
      const stream = { answer, name };
      streams.add(stream);
      send(answer, 'hello', { boot, program: 'oleodyn test', clock: Date.now() / 1000, interval: 0.04 });
      for (const m of machines) send(answer, 'machine', status(m));
      const after = Number(url.searchParams.get('after') ?? NaN);
      for (const e of book) if (e.id > after) send(answer, 'event', e, e.id);
      return request.on('close', () => streams.delete(stream));
    }
    fail(404, 'there is no such page');
  });
  const clocks = [setInterval(() => { if (!silence) for (const s of streams) if (s.name) send(s.answer, 'sample', sample(s.name)); }, 1000 / rate), setInterval(() => { for (const m of machines) all('machine', status(m)); }, 1000)];
  await new Promise(done => server.listen(port, '127.0.0.1', done));
  return { address: `http://127.0.0.1:${server.address().port}`, port: server.address().port, log, streams, now, offset, list, value, status,
    event: (severity, text, machine = 'excavator', t = now()) => change({ id: nextId(), machine: names(machine), t, clock: t + offset, kind: severity === 'alarm' ? 'alarm' : 'missing', severity, text, acknowledged: null }),
    book: () => book, silence: on => { silentSince = now(); silence = on; }, delay: ms => { slow = ms; }, newVersion: () => { scale.high *= 1.2; all('version', { machine: names('excavator'), version: ++version }); },
    stop: () => new Promise(done => {
      clocks.forEach(clearInterval);
      for (const s of streams) s.answer.destroy();
      server.closeAllConnections();
      server.close(done);
    }) };
}
