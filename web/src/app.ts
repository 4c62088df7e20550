// What the views of the page share.
import type { Clock } from './clock';
import type { Data } from './decode';
import type { Palette, PressureScale } from './palette';
import type { Selection } from './selection';
import type { Theme } from './theme';
import type { Units } from './units';

export interface App {
  data: Data;
  clock: Clock;
  selection: Selection;
  units: Units;
  theme: Theme;
  palette: Palette;
  pressure: PressureScale;
  hasTime: boolean;
  phone: () => boolean;
}
