// Light, dark, or the setting of the system. Canvases read colors of the style sheet through this file.
import { fire, themeChanged } from './signal';

export const FONT = 'Inter,-apple-system,"Segoe UI Variable Text","Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif';
export let themeName = 'auto', dark = false;
const system = matchMedia('(prefers-color-scheme: dark)');
let known: Record<string, string> = {};

export function startTheme(): void {
  try { themeName = localStorage.getItem('oleodyn.theme') ?? 'auto'; } catch { /* a page opened from disk may have no storage */ }
  system.addEventListener('change', () => applyTheme());
  applyTheme();
}
export function setTheme(name: string): void {
  themeName = name;
  try { localStorage.setItem('oleodyn.theme', name); } catch { /* the setting holds for this view */ }
  applyTheme();
}
// Writes the theme into the document. light: selects the light theme for a print.
export function applyTheme(light = false): void {
  dark = !light && (themeName === 'dark' || (themeName === 'auto' && system.matches));
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  known = {};
  fire(themeChanged);
}
// Value of a color of the style sheet: ink('card') is --card.
export function ink(name: string): string {
  return known[name] ??= getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
