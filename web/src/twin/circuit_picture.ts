// The circuit of the server as elements of this page. Only shapes, texts and their attributes are taken over: no styles, no scripts, no links.
import { svgElement } from '../dom';

const TAGS = new Set(['svg', 'g', 'path', 'rect', 'circle', 'line', 'ellipse', 'polygon', 'polyline', 'text', 'tspan', 'title']);
const ATTRIBUTES = /^(class|d|x|y|x1|y1|x2|y2|dx|dy|cx|cy|r|rx|ry|points|width|height|viewBox|transform|text-anchor|role|aria-label|opacity|data-[a-z-]+)$/;

export function pictureOf(text: string): SVGSVGElement | null {
  // The policy of the page refuses styles, also in a document that is only parsed.
  const found = new DOMParser().parseFromString(text.replace(/<style[^>]*>[^<]*<\/style>/g, ''), 'image/svg+xml').documentElement;
  if (found.localName !== 'svg') return null;
  const copy = (from: Element): SVGElement | null => {
    if (!TAGS.has(from.localName) || from.namespaceURI !== 'http://www.w3.org/2000/svg') return null;
    const made = svgElement(from.localName as 'g');
    for (const { name, value } of [...from.attributes]) if (ATTRIBUTES.test(name)) made.setAttribute(name, value);
    for (const child of [...from.childNodes]) {
      const next = child instanceof Element ? copy(child) : child.nodeType === Node.TEXT_NODE ? document.createTextNode(child.textContent ?? '') : null;
      if (next) made.append(next);
    }
    return made;
  };
  return copy(found) as SVGSVGElement | null;
}
