// Elements without markup in strings: names of a machine are text and cannot become markup.
type Value = string | number | boolean | undefined | ((event: Event) => void);
export type Attributes = Record<string, Value>;
export type Child = Node | string | null | undefined;

// An element with attributes; a function is a listener: onclick -> "click". true: an attribute without value; false: none.
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {},
                                                               ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const SVG = 'http://www.w3.org/2000/svg';
export function svgElement<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number> = {},
                                                                 text?: string): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

// An icon of 16 x 16; paths that begin with "*" are filled.
export function icon(...paths: string[]): SVGSVGElement {
  const made = svgElement('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' });
  for (const d of paths) made.append(svgElement('path', d[0] === '*' ? { d: d.slice(1), fill: 'currentColor' } : { d }));
  return made;
}

export function one<T extends Element>(selector: string, within: ParentNode = document): T | null {
  return within.querySelector<T>(selector);
}
export function all<T extends Element>(selector: string, within: ParentNode = document): T[] {
  return Array.from(within.querySelectorAll<T>(selector));
}

// Buttons of which one is chosen. Arrow keys move the choice.
export interface Choice { element: HTMLElement; show(value: string): void }
export function choice(label: string, options: { value: string; label: string; face: Child[]; title?: string }[],
                       chosen: (value: string) => void): Choice {
  const box = element('div', { class: 'choice', role: 'radiogroup', 'aria-label': label });
  const buttons = options.map(o => element('button', {
    type: 'button', role: 'radio', 'aria-label': o.label, title: o.title, onclick: () => chosen(o.value),
  }, ...o.face));
  box.append(...buttons);
  box.addEventListener('keydown', event => {
    const by = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : 0;
    if (!by) return;
    const now = buttons.findIndex(b => b.getAttribute('aria-checked') === 'true');
    const next = buttons[(now + by + buttons.length) % buttons.length];
    next.click();
    next.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element: box,
    show(value) {
      const known = options.some(o => o.value === value);
      options.forEach((o, i) => {
        const on = o.value === value;
        buttons[i].setAttribute('aria-checked', String(on));
        buttons[i].tabIndex = on || (!known && i === 0) ? 0 : -1;
      });
    },
  };
}

// A list of functions that are called on a change.
export class Listeners {
  private readonly functions: (() => void)[] = [];
  add(f: () => void): void { this.functions.push(f); }
  call(): void { for (const f of this.functions) f(); }
}

// Calls with true while the element is near the visible part of the page, else with false.
export function watchVisible(target: Element, changed: (visible: boolean) => void, margin = '120px'): void {
  new IntersectionObserver(entries => changed(entries[entries.length - 1].isIntersecting), { rootMargin: margin }).observe(target);
}

// Saves a file. The address of a blob is released after the browser has read it.
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// A file name from a title: letters, digits and hyphens.
export function fileName(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'page';
}
