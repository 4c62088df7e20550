// Cards: a head with title and tools, and a button that enlarges the card to the whole window.
import { element, icon, one } from './dom';

// Puts the title of a card into a head together with tools.
export function head(card: HTMLElement, ...tools: Node[]): HTMLElement {
  const title = one<HTMLElement>(':scope > h2', card), box = element('div', { class: 'head' });
  card.prepend(box);
  if (title) box.append(title);
  box.append(...tools);
  return box;
}

export function expander(card: HTMLElement): HTMLElement {
  const large = icon('M9.5 2.5h4v4M13.5 2.5l-4.4 4.4M6.5 13.5h-4v-4M2.5 13.5l4.4-4.4');
  const button = element('button', { type: 'button', class: 'tool expand', 'aria-label': 'Enlarge', title: 'Enlarge', 'aria-pressed': 'false', onclick: () => set(!card.classList.contains('enlarged')) }, large);
  const set = (on: boolean) => {
    card.classList.toggle('enlarged', on);
    document.body.classList.toggle('covered', on);
    button.setAttribute('aria-pressed', String(on));
  };
  card.addEventListener('keydown', e => {
    if (e.key !== 'Escape' || !card.classList.contains('enlarged')) return;
    set(false);
    e.stopPropagation();
  });
  return button;
}
