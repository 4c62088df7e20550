// What the views of the page share: its data and colors. There is one page.
import type { Data } from './decode';
import { makePalette } from './palette';
import type { Palette } from './palette';

export let data: Data;
export let palette: Palette;
export function setData(made: Data): void {
  data = made;
  palette = makePalette(made);
}
export function isPhone(): boolean { return innerWidth <= 820; }
