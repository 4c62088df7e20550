// Keys of the page: space, arrows (Shift: larger steps), Home, End, Page Up and Down for events, Escape.
import type { App } from './app';
import type { Charts } from './charts';
import type { TimeBar } from './time_bar';

export function bindKeys(app: App, bar: TimeBar | null, charts: Charts): void {
  addEventListener('keydown', e => {
    const target = e.target instanceof Element ? e.target : document.body, { clock } = app;
    if (e.altKey || e.ctrlKey || e.metaKey || e.defaultPrevented || target.matches('select, textarea, input:not([type=range])')) return;
    if (e.key === 'Escape') {
      app.selection.clear();
      charts.time.showAll();
      return;
    }
    if (!bar) return;
    const pressed = target.matches('button, summary, [role=button]'), step = bar.step() * (e.shiftKey ? 20 : 1);
    if (e.key === ' ') {
      if (pressed) return;
      clock.toggle();
    } else if (e.key === 'ArrowRight' || (e.key === 'ArrowUp' && target.matches('input'))) clock.seek(clock.now + step);
    else if (e.key === 'ArrowLeft' || (e.key === 'ArrowDown' && target.matches('input'))) clock.seek(clock.now - step);
    else if (e.key === 'Home') clock.seek(clock.start);
    else if (e.key === 'End') clock.seek(clock.end);
    else if (target.matches('input') && e.key === 'PageDown') bar.jump(-1);
    else if (target.matches('input') && e.key === 'PageUp') bar.jump(1);
    else return;
    e.preventDefault();
  });
}
