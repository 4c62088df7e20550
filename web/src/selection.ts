// The selected part or group. Machine, circuit, charts and tables highlight it.
import type { Finding, SeriesInfo } from './contract';
import { data } from './state';
import { fire, selectionChanged } from './signal';

export let selectedPart = '', selectedGroup = '';
let related = new Set<string>();

export function isConcern(f: Finding): boolean { return /warning|serious/.test(f.severity); }
// The finding whose interval all charts over time show.
export let marked: Finding | undefined;
export function markFinding(finding: Finding | undefined): void {
  marked = finding;
  fire(selectionChanged);
}

export function isSelecting(): boolean { return (selectedPart || selectedGroup) !== ''; }
function select(part: string, group: string, names: Iterable<string>): void {
  selectedPart = part;
  selectedGroup = group;
  related = new Set(names);
  fire(selectionChanged);
}
// Selects a part. If the part is already selected, clears the selection.
export function selectPart(part: string): void { if (part === selectedPart) clearSelection(); else select(part, '', relatedTo(part)); }
export function selectGroup(group: string): void {
  if (group === selectedGroup || !group) clearSelection(); else select('', group, data.page.groups?.find(g => g.name === group)?.parts ?? []);
}
export function clearSelection(): void { if (isSelecting()) select('', '', []); }

// Returns whether the part belongs to the selection.
export function hasPart(part: string | undefined): boolean { return !!part && (related.has(part) || related.has(part.slice(0, Math.max(0, part.lastIndexOf('.'))))); }
export function hasSeries(s: SeriesInfo | undefined): boolean { return !!s && ((!!selectedGroup && s.group === selectedGroup) || hasPart(s.part)); }
export function groupOf(part: string): string { return data.page.groups?.find(g => g.parts.includes(part))?.name ?? ''; }

// The part, the nodes of its chambers, and the joints of a body. If a part has no values, the parts of its group are included.
function relatedTo(part: string): Set<string> {
  const set = new Set([part]), { scene, groups } = data.page;
  for (const c of scene?.cylinders ?? []) if (c.name === part) {
    for (const end of c.chambers ?? []) if (end) set.add(end.node);
    for (const p of c.parts ?? []) set.add(p);
  }
  const body = scene?.bodies.findIndex(b => (b.part ?? b.name) === part) ?? -1;
  if (body >= 0) for (const j of scene?.joints ?? []) if (j.a.body === body || j.b.body === body) set.add(j.name);
  if (!data.series.some(s => s.part && set.has(s.part) && !isPose(s))) for (const p of groups?.find(g => g.parts.includes(part))?.parts ?? []) set.add(p);
  return set;
}
// Returns whether a series is part of a pose. Poses are for the picture, not for tables.
export function isPose(s: SeriesInfo): boolean { return !!s.quantity?.startsWith('pose'); }
