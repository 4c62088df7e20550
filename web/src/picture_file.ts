// An SVG of the page as a separate file: the styles are attributes of its elements.
import { all } from './dom';
import { ink } from './theme';

const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-dashoffset', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'vector-effect'];
const TEXT_STYLES = ['font-family', 'font-size', 'font-weight', 'font-style', 'text-anchor'];

export function svgFile(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement, { width, height } = svg.viewBox.baseVal, to: Element[] = [copy, ...all('*', copy)];
  [svg, ...all('*', svg)].forEach((e, i) => {
    const style = getComputedStyle(e), text = (/^t/.test(e.tagName) ? [...STYLES, ...TEXT_STYLES] : STYLES).map(n => `${n}:${style.getPropertyValue(n)}`).join(';');
    for (const name of ['class', 'tabindex', 'role', 'aria-pressed']) to[i].removeAttribute(name);
    to[i].setAttribute('style', text);
  });
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.style.background = ink('card');
  return new XMLSerializer().serializeToString(copy);
}
