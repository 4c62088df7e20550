// Keys of the page: space, arrows (Shift: larger steps), Home, End, Page Up and Down on the slider for events, Escape.
import { clearSelection } from './selection';
import { duration, end, now, seek, start, toggle } from './clock';
import { jump, timeStep } from './time_bar';
import { timeZoom } from './charts';

export function bindKeys(): void {
  addEventListener('keydown', e => {
    const target = e.target instanceof Element ? e.target : document.body, { key } = e, step = timeStep() * (e.shiftKey ? 20 : 1), slider = target.matches('input');
    if (e.altKey || e.ctrlKey || e.metaKey || e.defaultPrevented || target.matches('select, textarea, input:not([type=range])')) return;
    if (key === 'Escape') {
      clearSelection();
      timeZoom.all();
    }
    if (!duration()) return;
    if (key === ' ' && !target.matches('button, summary, [role=button]')) toggle();
    else if (key === 'ArrowRight' || (slider && key === 'ArrowUp')) seek(now + step);
    else if (key === 'ArrowLeft' || (slider && key === 'ArrowDown')) seek(now - step);
    else if (key === 'Home') seek(start);
    else if (key === 'End') seek(end);
    else if (slider && key === 'PageDown') jump(-1);
    else if (slider && key === 'PageUp') jump(1);
    else return;
    e.preventDefault();
  });
}
