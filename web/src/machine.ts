// The card with the moving machine: canvas over the still picture, tools, pointer and readout.
import type { Place, PointInfo, SceneInfo, Vector } from './contract';
import type { Hit, Picture } from './machine_paint';
import type { Spot } from './camera';
import { button, div, element, menu, one, press, span, watchVisible, write } from './dom';
import { clearSelection, hasSeries, isPose, selectPart, selectedPart } from './selection';
import { data } from './state';
import { duration, end, now, start } from './clock';
import { expander, head, zoomTools } from './card';
import { format, withUnit } from './units';
import { ink } from './theme';
import { makeCamera } from './camera';
import { makePoses, placed, size, subtract } from './pose';
import { makeSolid, paintSpace } from './machine_space';
import { nameLabels, paintLabels, paintLoads, paintScale, paintTrace } from './machine_notes';
import { on, selectionChanged, themeChanged, timeChanged, unitsChanged } from './signal';
import { corners, paintPlane, partAt } from './machine_paint';
import { widen } from './live_camera';

const TRAIL = 12;   // length of the path behind a live machine, s

// Returns a function that makes a PNG of the picture at the cursor.
export function makeMachine(card: HTMLElement, scene: SceneInfo): () => Promise<Blob | null> {
  const picture = one('.picture', card) ?? card.appendChild(div('picture')), { planar } = scene, points = scene.points ?? [], camera = makeCamera(scene);
  const machines = (data.page.machines ?? [{ label: '', of: '' }]).slice(0, 2).map(m => ({ ...m, poses: makePoses(scene, m.of) })), solid = planar ? null : makeSolid(scene);
  const bodies = scene.bodies.filter(b => b.pose).length, cylinders = scene.cylinders?.length ?? 0;
  const canvas = element('canvas', { tabindex: 0, role: 'img', 'aria-label': `Machine at the time of the cursor; bodies: ${bodies}, cylinders: ${cylinders}` }), g = canvas.getContext('2d') as CanvasRenderingContext2D;
  const show: Record<string, boolean> = { Path: true, Loads: true, Joints: false, Names: true }, chosen = new Map<string, number>(), readout = element('dl', { class: 'readout' }), cells: Element[] = [];
  // The machine at both ends of the 95 % interval of an estimate.
  const ends = data.series.some(s => s.of === 'spread') ? [-1, 1].map(sign => makePoses(scene, machines[0].of, sign)) : [], spreadNote = element('p', { class: 'ghost-note', hidden: true }, span('ghost-line end'), '95 % of positions');
  const moves = (q: Place) => LIVE ? !!scene.bodies[q.body]?.pose : !duration() || size(subtract(...[start, start + 0.37 * duration()].map(t => placed(machines[0].poses(t), q)) as [Vector, Vector])) > 1e-3 * scene.size;
  let point = (points.find(q => scene.traces?.includes(q.name)) ?? points.find(moves)) as PointInfo, path: Vector[] = [], times: number[] = [], hits: Hit[] = [], fitted = true, visible = true;

  // --- Tools
  const toggle = (name: string) => {
    const made = button('toggle', { 'aria-pressed': show[name] }, () => {
      show[name] = !show[name];
      press(made, show[name]);
      draw();
    }, name);
    press(made, show[name]);
    return made;
  };
  const fit = () => {
    fitted = true;
    camera.fit();
    draw();
  };
  const zoom = (factor: number, x?: number, y?: number) => {
    fitted = false;
    camera.zoom(factor, x, y);
    draw();
  };
  head(card, div('tools', point && (LIVE || end > start) ? toggle('Path') : null, scene.loads?.length ? toggle('Loads') : null, scene.joint_loads?.length ? toggle('Joints') : null, toggle('Names'), span('gap'),
    planar ? null : menu('Standard view', ['Default', 'Front', 'Side', 'Top'].map(v => [v, v]), view => {
      camera.look(view);
      fit();
    }), ...zoomTools(zoom, fit), expander(card)));
  const choice = points.length > 1 ? menu('Point of the readout and the path', points.map(q => [q.name, q.name]), name => choosePoint(name)) : null;
  picture.classList.add('live');
  const title = point ? div('point', choice ?? point.name) : null;
  picture.append(canvas, div('overlay', title, readout, machines[1] ? element('p', { class: 'ghost-note' }, span('ghost-line'), machines[1].label) : null, spreadNote));

  // --- Bounds over the run, path of the selected point
  for (const machine of machines) for (let i = 0; i <= 60; i++) {
    const poses = machine.poses(start + duration() * i / 60);
    scene.bodies.forEach((body, k) => {
      for (const s of body.shapes) for (const at of corners(s)) camera.include(placed(poses, { body: k, at }));
    });
    for (const c of scene.cylinders ?? []) for (const place of [c.a, c.b]) camera.include(placed(poses, place));
  }
  const pointAt = (time: number) => placed(machines[0].poses(time, point.body), point);
  const tracePath = (from: number, to: number, count: number) => {
    times = Array.from({ length: count + 1 }, (_, i) => from + (to - from) * i / count);
    path = times.map(pointAt);
  };
  function choosePoint(name: string): void {
    point = points.find(q => q.name === name) ?? point;
    if (choice) choice.value = point.name;
    tracePath(start, end, 499);
    draw();
  }
  // --- Drawing
  function draw(): void {
    if (camera.width < 2) return;    // the size is not known yet
    const ratio = devicePixelRatio || 1;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, camera.width, camera.height);
    hits = [];
    if (LIVE && fitted) widen(camera, scene, machines[0].poses(now));
    if (LIVE && point && show.Path) tracePath(Math.max(start, now - TRAIL), now, 99);
    const [main] = machines.map(({ poses, of }, i): Picture => {
      const p = { g, camera, scene, poses: poses(now), hits: i ? [] : hits, of, ghost: i ? 'ghost' : '', space: !planar };
      const trail = () => { if (!i && show.Path && duration()) paintTrace(p, path, times); };
      if (solid) {
        paintSpace(p, solid);
        trail();
      } else paintPlane(p, trail);
      return p;
    });
    // Ends nearer than a pixel to the estimate are not drawn.
    const spread = ends.map(poses => poses(now)), isSeen = spread.some(poses => scene.bodies.some((b, k) => b.shapes.some(s => corners(s).some(at => {
      const [x, y] = camera.project(placed(poses, { body: k, at })), [u, v] = camera.project(placed(main.poses, { body: k, at }));
      return Math.hypot(x - u, y - v) > 1;
    }))));
    spreadNote.hidden = !isSeen;
    if (isSeen) for (const poses of spread) {
      const p = { ...main, poses, hits: [], ghost: 'spread' };
      if (solid) paintSpace(p, solid); else paintPlane(p);
    }
    const labels = paintLoads(main, show.Loads, show.Joints);
    paintLabels(main, show.Names ? [...nameLabels(main), ...labels] : labels, chosen);
    paintScale(main);
    drawReadout();
  }
  // Values of the selected part, or of the selected point.
  function drawReadout(): void {
    const rows: string[] = [];
    title?.toggleAttribute('hidden', !!selectedPart);
    if (selectedPart) {
      rows.push(selectedPart, '');
      data.series.forEach((s, k) => {
        if (!s.name || isPose(s) || !hasSeries(s) || (s.of && s.of !== data.main) || rows.length > 14 || data.find(s.name) !== k) return;
        rows.push(s.name.startsWith(selectedPart + '.') ? s.name.slice(selectedPart.length + 1) : s.name, withUnit(s, data.at(k, now)));
      });
    } else if (!point) {
      // No point moves: a machine that turns.
      for (const { name } of scene.joints ?? []) for (const q of ['.angle', '.rate']) {
        const k = data.find(name + q);
        if (k >= 0 && rows.length < 6) rows.push(name + q, withUnit(data.series[k], data.at(k, now)));
      }
    } else {
      const h = LIVE ? 0.05 : 1e-3 * duration(), at = pointAt(now), t0 = Math.max(start, now - h), t1 = Math.min(end, now + h), digits = scene.size < 0.5 ? 4 : scene.size < 2 ? 3 : 2;
      for (let i = 0; i < 3; i++) if (!planar || Math.abs(scene.axes.normal[i]) < 0.5) rows.push('xyz'[i], format(at[i], digits) + ' m');
      if (LIVE ? t1 > t0 : h) rows.push('speed', format(size(subtract(pointAt(t1), pointAt(t0))) / (t1 - t0), digits) + ' m/s');
    }
    while (cells.length < rows.length) cells.push(readout.appendChild(element(cells.length % 2 ? 'dd' : 'dt')));
    cells.forEach((cell, i) => {
      cell.toggleAttribute('hidden', i >= rows.length);
      write(cell, rows[i] ?? '');
    });
  }

  // --- Pointer and keys. Drag: pan in the plane, orbit in space (Shift or right button: pan). Two fingers: pan and zoom. Click: select.
  const fingers = new Map<number, Spot>();
  let moved = 0;
  canvas.addEventListener('pointerdown', e => {
    fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
    if (fingers.size === 1) moved = 0;
    if (e.pointerType === 'mouse') canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener('pointermove', e => {
    const before = fingers.get(e.pointerId), at: Spot = [e.offsetX, e.offsetY];
    if (!before) {
      canvas.style.cursor = partAt(hits, at, 4) ? 'pointer' : '';
      return;
    }
    const dx = at[0] - before[0], dy = at[1] - before[1], other = [...fingers].find(([id]) => id !== e.pointerId)?.[1], panning = planar || e.shiftKey || e.buttons === 2;
    fingers.set(e.pointerId, at);
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < 4) return;
    if (other) {
      camera.pan(dx / 2, dy / 2);
      return zoom(Math.hypot(at[0] - other[0], at[1] - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    }
    if (planar && e.pointerType === 'touch') return;   // a gesture with one finger scrolls the page
    if (panning) {
      camera.pan(dx, dy);
      fitted = false;
    } else camera.orbit(dx, dy);
    draw();
  });
  const release = (e: PointerEvent) => {
    if (e.type === 'pointerup' && fingers.size === 1 && moved < 4) {
      const part = partAt(hits, [e.offsetX, e.offsetY], e.pointerType === 'touch' ? 14 : 4);
      if (part) selectPart(part); else clearSelection();
    }
    fingers.delete(e.pointerId);
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('contextmenu', e => { if (!planar) e.preventDefault(); });
  canvas.addEventListener('dblclick', fit);
  canvas.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
  }, { passive: false });
  canvas.addEventListener('keydown', e => {
    const step = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    if (step && e.shiftKey) {
      if (planar) camera.pan(20 * step[0], 20 * step[1]); else camera.orbit(-20 * step[0], -20 * step[1]);
      fitted &&= !planar;
      draw();
    } else if (e.key === '+' || e.key === '=') zoom(1.2);
    else if (e.key === '-') zoom(1 / 1.2);
    else if (e.key === '0') fit();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });

  new ResizeObserver(() => {
    const { width, height } = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    if (width < 2 || height < 2) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    camera.scale *= Math.min(width / camera.width, height / camera.height);
    camera.width = width;
    camera.height = height;
    if (fitted) camera.fit();
    draw();
  }).observe(picture);
  watchVisible(card, v => {
    if (v && !visible) draw();
    visible = v;
  });
  on([timeChanged], () => { if (visible) draw(); });
  on([selectionChanged, themeChanged, unitsChanged], draw);
  if (point) choosePoint(point.name); else draw();

  return () => {
    const copy = element('canvas', { width: canvas.width, height: canvas.height }), c = copy.getContext('2d') as CanvasRenderingContext2D;
    c.fillStyle = ink('card');
    c.fillRect(0, 0, copy.width, copy.height);
    c.drawImage(canvas, 0, 0);
    return new Promise(done => copy.toBlob(done));
  };
}
