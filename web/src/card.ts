// Cards: a head with title and tools, and a button that enlarges the card to the whole window.
import { div, one, press, tool } from './dom';

// Puts the title of a card into a head together with tools.
export function head(card: HTMLElement, ...tools: Node[]): void {
  const box = div('head', one(':scope > h2', card), ...tools);
  card.prepend(box);
}
export function expander(card: HTMLElement): HTMLElement {
  const set = (large: boolean) => {
    card.classList.toggle('enlarged', large);
    document.body.classList.toggle('covered', large);
    press(made, large);
  }, isLarge = () => card.classList.contains('enlarged');
  const made = tool('Enlarge', () => set(!isLarge()), 'M9.5 2.5h4v4M13.5 2.5l-4.4 4.4M6.5 13.5h-4v-4M2.5 13.5l4.4-4.4');
  made.classList.add('expand');
  press(made, false);
  card.addEventListener('keydown', e => {
    if (e.key !== 'Escape' || !isLarge()) return;
    set(false);
    e.stopPropagation();
  });
  return made;
}
export const zoomTools = (zoom: (factor: number) => void, fit: () => void) => [tool('Zoom out', () => zoom(1 / 1.3), 'M3.5 8h9'), tool('Zoom in', () => zoom(1.3), 'M3.5 8h9M8 3.5v9'),
  tool('Show all', fit, 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10')];
