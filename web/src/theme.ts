// Light, dark, or the setting of the system. Canvases read colors of the style sheet through this file.
import { Listeners } from './dom';

export type ThemeName = 'light' | 'auto' | 'dark';
export const FONT = 'Inter,-apple-system,"Segoe UI Variable Text","Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif';

export class Theme {
  name: ThemeName = 'auto';
  dark = false;
  readonly changed = new Listeners();
  private readonly system = matchMedia('(prefers-color-scheme: dark)');
  private known = new Map<string, string>();

  constructor() {
    const kept = recall('theme');
    if (kept === 'light' || kept === 'dark') this.name = kept;
    this.system.addEventListener('change', () => this.apply());
  }
  set(name: ThemeName): void {
    this.name = name;
    keep('theme', name);
    this.apply();
  }
  // Writes the theme into the document. force: the theme of a print.
  apply(force?: 'light'): void {
    this.dark = force ? false : this.name === 'dark' || (this.name === 'auto' && this.system.matches);
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    this.known = new Map();
    this.changed.call();
  }
  // Value of a variable of the style sheet, such as --ink.
  color(variable: string): string {
    let value = this.known.get(variable);
    if (value === undefined) {
      value = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
      this.known.set(variable, value);
    }
    return value;
  }
}

// Settings of the reader. A page opened from disk may have no storage.
function keep(name: string, value: string): void {
  try { localStorage.setItem('oleodyn.' + name, value); } catch { /* no storage: the setting holds for this view */ }
}
function recall(name: string): string | null {
  try { return localStorage.getItem('oleodyn.' + name); } catch { return null; }
}
