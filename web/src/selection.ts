// The selected part or group. Machine, circuit, charts and tables highlight it.
import { Listeners } from './dom';
import type { Data } from './decode';
import type { Group, SeriesInfo } from './contract';

export class Selection {
  part = '';
  group = '';
  readonly changed = new Listeners();
  private related = new Set<string>();
  private readonly groupOf = new Map<string, Group>();
  private readonly groups = new Map<string, Group>();

  constructor(private readonly data: Data) {
    for (const g of data.page.groups ?? []) {
      this.groups.set(g.name, g);
      for (const p of g.parts) if (!this.groupOf.has(p)) this.groupOf.set(p, g);
    }
  }
  get any(): boolean { return this.part !== '' || this.group !== ''; }

  // Selects a part; the same part again clears the selection. A part without series of its own selects its group, too.
  selectPart(part: string): void {
    if (part === this.part) return this.clear();
    this.part = part;
    this.group = '';
    this.related = this.relatedTo(part);
    this.changed.call();
  }
  selectGroup(group: string): void {
    if (group === this.group && !this.part) return;
    this.part = '';
    this.group = group;
    this.related = new Set(this.groups.get(group)?.parts ?? []);
    this.changed.call();
  }
  clear(): void {
    if (!this.any) return;
    this.part = this.group = '';
    this.related = new Set();
    this.changed.call();
  }

  // Whether the part belongs to the selection.
  hasPart(part: string | undefined): boolean {
    if (!part || !this.any) return false;
    if (this.related.has(part)) return true;
    const dot = part.lastIndexOf('.');
    return dot > 0 && this.related.has(part.slice(0, dot)) && !this.groups.has(part.slice(0, dot));
  }
  hasSeries(s: SeriesInfo): boolean {
    return (this.group !== '' && s.group === this.group) || this.hasPart(s.part);
  }
  groupName(part: string | undefined): string { return (part && this.groupOf.get(part)?.name) || ''; }

  // The part, the nodes of its chambers, the joints of a body, and the cylinder of a chamber.
  private relatedTo(part: string): Set<string> {
    const set = new Set([part]), scene = this.data.page.scene;
    for (const c of scene?.cylinders ?? []) {
      if (c.name === part) for (const end of c.chambers ?? []) if (end) set.add(end.node);
    }
    const body = scene?.bodies.findIndex(b => (b.part ?? b.name) === part) ?? -1;
    if (body >= 0) for (const j of scene?.joints ?? []) if (j.a.body === body || j.b.body === body) set.add(j.name);
    const covered = this.data.series.some(s => s.part !== undefined && set.has(s.part) && s.quantity !== 'pose');
    if (!covered) for (const p of this.groupOf.get(part)?.parts ?? []) set.add(p);
    return set;
  }
}
