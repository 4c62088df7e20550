// The page of a machine: pictures that move with the stream or show the past, charts, verdict, alarms, events, values, curves.
import type { Description, Frames, Happening, Hello, Judgment, Sample, Status } from './contract';
import type { LiveData } from './live_data';
import type { Shell } from './shell';
import type { Trend } from './trend';
import * as view from './view';
import { STATES, stateClass } from './machine_list';
import { agoText, momentText, spanText } from './time_axis';
import { connect, link } from './connection';
import { clearSelection } from '../selection';
import { div, element, one, write } from '../dom';
import { fire, on, themeChanged, timeChanged, unitsChanged } from '../signal';
import { get, query, reasonOf, session } from './api';
import { makeBook } from './happenings';
import { makeCircuit } from '../circuit';
import { makeCurve } from './curves';
import { makeJudgment, pill } from './judgment';
import { makeLiveData } from './live_data';
import { makeMachine } from '../machine';
import { makeOverview } from './overview';
import { makeTrends, revealTrend } from './trends';
import { makeValuesNow } from './values_now';
import { paced, soon, whileVisible } from './frame';
import { partList } from '../parts';
import { pictureOf } from './circuit_picture';
import { setData } from '../state';
import { setPressures } from '../palette';
import { setState, showLink } from './shell';

const FRAME_POINTS = 200, WIDE_CIRCUIT = 1150;   // frames of one request; a circuit wider than this many px is below the machine

export async function showMachine(shell: Shell, name: string, yard: string, locked: () => void): Promise<void> {
  const path = `machines/${encodeURIComponent(name)}`, d = await get<Description>(path), circuitText = d.pictures?.circuit && d.circuit ? await fetch(d.pictures.circuit).then(r => r.ok ? r.text() : null).catch(() => null) : null;
  const data: LiveData = makeLiveData(d), title = d.title || d.name;
  let status: Status | null = null, heardAt = performance.now(), version = d.version, boot = d.boot, opened = false;
  setData(data);
  setPressures(d.pressure);
  document.title = `${title}: ${yard}`;
  write(shell.title, title);
  document.documentElement.classList.add('scripted');

  // --- Places
  const machineCard = d.scene ? element('section', { class: 'card', id: 'machine', 'aria-label': 'Machine' }, element('h2', {}, 'Machine'), div('picture')) : null;
  const circuit = circuitText ? pictureOf(circuitText) : null, circuitCard = circuit ? element('section', { class: 'card', id: 'circuit', 'aria-label': 'Circuit' }, element('h2', {}, 'Circuit'), div('picture', circuit)) : null;
  const timeCard = element('section', { class: 'card', id: 'time', hidden: true }), views = div('views'), judgment = makeJudgment(d.window);
  if (circuit) {
    const { width, height } = circuit.viewBox.baseVal;
    if (width > WIDE_CIRCUIT && machineCard) {
      views.classList.add('stacked');
      views.style.setProperty('--tall', (height / width).toFixed(3));
    }
  }
  views.append(...[machineCard, circuitCard].filter(c => c !== null));
  if (!machineCard || !circuitCard) views.classList.add('single');
  let trends: Trend[] = [];
  const reveal = (k: number) => revealTrend(trends, k), values = makeValuesNow(data, reveal), column = div('chart-column');
  const jump = (e: Happening) => {
    if (e.t === null) return;
    view.show(e.t - 0.7 * Math.max(view.span, 10), e.t + 0.3 * Math.max(view.span, 10));
    view.seek(e.t);
  };
  const book = makeBook(name, jump, n => n, () => overview.mark(book.list()));
  const curves = (d.curves ?? []).filter(c => c.points.length), curveBox = curves.length ? element('section', { class: 'curves', 'aria-label': 'Curves' }, element('h2', {}, 'Curves of valves'), div('figures', ...curves.map(c => makeCurve(c, data)))) : null;
  const overview = makeOverview(timeCard, name, data, waveformOf(data));
  shell.main.replaceChildren(views, timeCard, div('report two', div('left', book.alarms, judgment.card, values), div('right', column, curveBox)), book.events);
  views.hidden = !machineCard && !circuitCard;
  trends = makeTrends(column, d, data);
  // Keys can scroll the page past the bar of the time.

  // --- Pictures. They are made with the first values, because their size depends on the poses.
  let made = false;
  const notes = [machineCard, circuitCard].filter(c => c !== null).map(card => {
    const note = element('p', { class: 'picture-note', hidden: true });
    one('.picture', card)?.append(note);
    return note;
  });
  const makePictures = () => {
    if (made || !(view.newest >= 0 || view.newest < 0) || !data.hasPicture(view.cursor)) return;
    made = true;
    if (machineCard && d.scene) makeMachine(machineCard, d.scene);
    if (circuitCard && d.circuit) makeCircuit(circuitCard, d.circuit);
    const parts = partList();
    if (parts) one('#circuit .tools, #machine .tools')?.prepend(parts);
    fire(unitsChanged);
  };
  const drawPictures = () => {
    makePictures();
    fire(timeChanged);
    const has = data.hasPicture(view.cursor), text = has ? '' : Number.isNaN(view.newest) ? 'No samples yet.' : framesBusy ? 'Loading' : 'Nothing is stored for this time.';
    for (const note of notes) {
      note.hidden = !text;
      write(note, text);
    }
    for (const card of [machineCard, circuitCard]) card?.classList.toggle('no-picture', !has);
  };
  on([view.cursorChanged], () => { soon(drawPictures); if (view.mode !== 'live') wantFrames(); });

  // --- Frames of the past, around the cursor
  let framesBusy = false, framesFailed = 0, wanted = false, frameRange: [number, number] = [NaN, NaN];
  async function loadFrames(): Promise<void> {
    wanted = false;
    if (framesBusy || data.hasPicture(view.cursor) && !ahead() || performance.now() - framesFailed < 3000) return;
    framesBusy = true;
    // A replay needs the frames that follow. 0.1 s is the usual distance of frames.
    const reach = 0.1 * FRAME_POINTS * Math.max(1, view.mode === 'playing' ? view.speed / 2 : 1), at = view.cursor, from = view.mode === 'playing' ? at - 0.1 * reach : at - 0.5 * reach;
    try {
      const f = await get<Frames>(`${path}/frames?` + query({ from, to: from + reach, points: FRAME_POINTS }));
      frameRange = [from, from + reach];
      data.frames.use(f);
    } catch {
      framesFailed = performance.now();
    }
    framesBusy = false;
    soon(drawPictures);
    if (Math.abs(view.cursor - at) > 0.4 * reach) wantFrames();
  }
  const inRing = () => data.ring.count > 0 && view.cursor >= data.ring.times()[0];
  const ahead = () => view.mode === 'playing' && !inRing() && view.cursor + 0.25 * (frameRange[1] - frameRange[0]) > frameRange[1];
  const known = () => view.cursor >= frameRange[0] && view.cursor <= frameRange[1];   // already requested; the history may have no frames there
  function wantFrames(): void {
    if (wanted || inRing() || (known() && !ahead())) return;
    wanted = true;
    setTimeout(() => void loadFrames(), view.mode === 'playing' ? 0 : 120);
  }

  // --- State
  const age = () => status?.age == null ? NaN : status.age + (performance.now() - heardAt) / 1000;
  let lastVerdict = '';
  const showState = () => {
    showLink(shell);
    const old = age(), stale = link.state === 'lost' || status?.state === 'silent' || status?.state === 'ended' || status?.state === 'failed' || old > 5;
    const when = status?.clock != null ? momentText(status.clock) : '';
    if (view.mode !== 'live') setState(shell, 'past', view.mode === 'playing' ? `Replay ${view.speed}×` : 'Past');
    else if (link.state === 'lost') setState(shell, 'lost', 'No connection');
    else if (!status) setState(shell, 'wait', 'Connecting');
    else if (status.state === 'running' && !(old > 5)) setState(shell, 'live', 'Live');
    else setState(shell, stateClass(status) === 'live' ? 'silent' : stateClass(status), status.state === 'waiting' ? 'Waiting for samples' : `${status.state === 'running' ? 'No samples' : STATES[status.state][0].toUpperCase() + STATES[status.state].slice(1)}, last ${Number.isNaN(old) ? when : agoText(old)}`);
    for (const card of [machineCard, circuitCard, values]) {
      card?.classList.toggle('stale', stale && view.mode === 'live');
      if (card) card.dataset.stale = stale && view.mode === 'live' ? `Values of ${when || 'the last sample'}` : '';
    }
    const parts = status ? [yard, status.rate ? `${status.rate >= 100 ? Math.round(status.rate) : +status.rate.toPrecision(2)} samples/s` : '', status.counts?.missing ? `${status.counts.missing} missing` : '', status.history ? `history of ${spanText(status.history.last - status.history.first)}` : ''] : [yard];
    write(shell.subtitle, parts.filter(Boolean).join(' · '));
    const verdict = JSON.stringify(status?.verdict ?? null);
    if (verdict !== lastVerdict) shell.verdict.replaceChildren(pill(status?.verdict?.trust, status?.verdict?.text));
    lastVerdict = verdict;
  };
  const soonState = paced(showState, () => 200);

  // --- Stream
  const renew = async () => {
    const [j] = await Promise.all([get<{ verdict: Judgment | null }>(`${path}/verdict`).catch(() => null), book.load().catch(() => {})]);
    if (j) judgment.show(j.verdict);
    for (const t of trends) t.renew();
  };
  // A description with other channels needs another page.
  const check = async () => {
    const next = await get<Description>(path).catch(() => null);
    if (!next) return;
    if (JSON.stringify((next.series ?? []).map(s => s.channel)) !== JSON.stringify((d.series ?? []).map(s => s.channel)) || JSON.stringify(next.scene) !== JSON.stringify(d.scene)) return location.reload();
    version = next.version;
    boot = next.boot;
    setPressures(next.pressure);
    fire(themeChanged);
  };
  connect(name, {
    hello(h: Hello) {
      if (session && h.program !== session.program) return location.reload();   // a new program may have another page
      if (h.boot !== boot) void check();
      // The history contains the samples and events during the lost connection.
      data.ring.clear();
      setTimeout(() => void renew(), opened ? 900 : 0);
      opened = true;
    },
    machine(s: Status) {
      if (s.name !== name) return;
      status = s;
      heardAt = performance.now();
      view.setOffset(s.offset);
      view.setRange(s.history?.first ?? s.t, s.t ?? s.history?.last);
      soonState();
    },
    version(v: { machine: string; version: number }) { if (v.machine === name && v.version !== version) void check(); },
    sample(s: Sample) {
      data.take(s.t, s.values, s.sigma);
      view.setOffset(s.clock - s.t > 0 && view.offset === 0 && Math.abs(s.clock - s.t) > 1 ? s.clock - s.t : null);
      view.advance(s.t);
    },
    event: (e: Happening) => { if (e.machine === name) book.take(e); },
    verdict: (v: { machine: string; verdict: Judgment | null }) => { if (v.machine === name) judgment.show(v.verdict); },
  }, () => {
    soonState();
    for (const t of trends) t.follow();
  }, locked);
  judgment.show(null);
  on([view.modeChanged], showState);
  whileVisible(showState, 1000);
  bindKeys();
  showState();
  // A machine without a running source: the last frames of the history.
  setTimeout(() => { if (!data.ring.count) { wantFrames(); soon(drawPictures); } }, 600);
  // For tests.
  Object.assign(globalThis, { oleodyn: { data, view, trends: () => trends, reason: reasonOf } });
}

// The channel of the time bar: the first measurement with a history.
function waveformOf(data: LiveData): number {
  const first = data.channels.findIndex(c => c.of === 'measured' && c.history === 'rows');
  return first >= 0 ? first : data.channels.findIndex(c => c.history === 'rows');
}

// Space: pause, replay. Arrows: cursor. Page keys: interval. Plus and minus: zoom. Home: first sample. End, L: live. Escape: selection.
function bindKeys(): void {
  addEventListener('keydown', e => {
    const target = e.target instanceof Element ? e.target : document.body, { key } = e, step = view.span / (e.shiftKey ? 10 : 200);
    if (e.altKey || e.ctrlKey || e.metaKey || e.defaultPrevented || target.matches('select, textarea, input:not([type=range])') || Number.isNaN(view.newest)) return;
    if (key === 'Escape') clearSelection();
    if (key === ' ' && !target.matches('button, summary, a, [role=button]')) view.togglePlay();
    else if (key === 'ArrowRight') view.seek(view.cursor + step);
    else if (key === 'ArrowLeft') view.seek(view.cursor - step);
    else if (key === 'PageUp' && target.matches('input, body')) view.pan(-0.5 * view.span);
    else if (key === 'PageDown' && target.matches('input, body')) view.pan(0.5 * view.span);
    else if (key === '+' || key === '=') view.zoomAbout(view.cursor, 0.5);
    else if (key === '-') view.zoomAbout(view.cursor, 2);
    else if (key === 'Home') view.seek(view.first);
    else if (key === 'End' || key === 'l' || key === 'L') view.goLive();
    else return;
    e.preventDefault();
  });
}
