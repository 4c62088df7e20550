// Elements without markup in strings: names of a machine are text and cannot become markup.
export type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;
export type Child = Node | string | null | undefined;

function fill(made: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), value);
    else if (LIVE && name === 'style') (made as HTMLElement | SVGElement).style.cssText = String(value);   // the server's policy refuses the attribute
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child != null) made.append(child);
}
// An element with attributes; a function is a listener: onclick -> "click". true: an attribute without value; false: none.
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}
export function svgElement<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(made, attributes, children);
  return made;
}
export function div(name: string, ...children: Child[]): HTMLDivElement { return element('div', { class: name }, ...children); }
export function span(name: string, ...children: Child[]): HTMLSpanElement { return element('span', { class: name }, ...children); }

export type Act = () => void;
export function button(name: string, attributes: Attributes, act: Act, ...children: Child[]): HTMLButtonElement {
  return element('button', { type: 'button', class: name, ...attributes, onclick: act }, ...children);
}
// A button with an icon of 16 x 16; paths that begin with "*" are filled.
export function tool(label: string, act: Act, ...paths: string[]): HTMLButtonElement {
  return button('tool', { 'aria-label': label, title: label }, act, icon(...paths));
}
export function icon(...paths: string[]): SVGSVGElement {
  return svgElement('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, ...paths.map(d => svgElement('path', d[0] === '*' ? { d: d.slice(1), fill: 'currentColor' } : { d })));
}
// A choice from a list.
export function menu(label: string, options: [string, string][], chosen: (value: string) => void): HTMLSelectElement {
  const made = element('select', { 'aria-label': label, title: label, onchange: () => chosen(made.value) }, ...options.map(([value, text]) => element('option', { value }, text)));
  return made;
}

export function one<T extends Element = HTMLElement>(selector: string, within: ParentNode = document): T | null { return within.querySelector<T>(selector); }
export function all<T extends Element = SVGElement>(selector: string, within: ParentNode = document): T[] { return [...within.querySelectorAll<T>(selector)]; }
export function press(target: Element, pressed: boolean): void { target.setAttribute('aria-pressed', String(pressed)); }
// Writes a text only if the text differs, because writing causes a layout.
export function write(target: Element, text: string): void { if (target.textContent !== text) target.textContent = text; }

// A group of buttons, one of which is selected; arrow keys change the selection. Returns the box and a function that shows a value.
export function choice(label: string, name: string, options: { value: string; label: string; face: Child[] }[], chosen: (value: string) => void): [HTMLElement, (value: string) => void] {
  const buttons = options.map(o => button('', { role: 'radio', 'aria-label': o.label, title: o.label }, () => chosen(o.value), ...o.face));
  const box = element('div', { class: 'choice ' + name, role: 'radiogroup', 'aria-label': label, onkeydown: event => {
    const key = (event as KeyboardEvent).key, by = /Right|Down/.test(key) ? 1 : /Left|Up/.test(key) ? -1 : 0;
    if (!by || !key.startsWith('Arrow')) return;
    const next = buttons[(buttons.findIndex(b => b.tabIndex === 0) + by + buttons.length) % buttons.length];
    next.click();
    next.focus();
    event.preventDefault();
    event.stopPropagation();
  } }, ...buttons);
  return [box, value => {
    const chosenOne = options.findIndex(o => o.value === value);
    buttons.forEach((b, i) => {
      b.setAttribute('aria-checked', String(i === chosenOne));
      b.tabIndex = i === Math.max(0, chosenOne) ? 0 : -1;
    });
  }];
}

// Calls the function with true when the element becomes visible or comes near the visible part of the page (within a margin), and with false
// when the element leaves this region.
export function watchVisible(target: Element, changed: (visible: boolean) => void, rootMargin = '0px'): void {
  new IntersectionObserver(entries => changed(entries[entries.length - 1].isIntersecting), { rootMargin }).observe(target);
}

// Saves a file. The address of a blob is released after the browser has read the blob.
export function saveFile(name: string, content: string | Blob, type = ''): void {
  const address = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
// A file name from a title: letters, digits and hyphens.
export function fileName(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'page';
}
