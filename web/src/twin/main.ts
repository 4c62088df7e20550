// The page of the twin: the list of machines, or with ?machine=NAME one machine. A twin with one machine shows it at once.
import type { Machines } from './contract';
import { Refused, get, loadSession, reasonOf, session } from './api';
import { askToken, makeShell, setState } from './shell';
import { button, div, element, one } from '../dom';
import { dark, startTheme } from '../theme';
import { on, themeChanged } from '../signal';
import { paintRamp } from '../palette';
import { showList } from './machine_list';
import { showMachine } from './machine_page';

async function start(): Promise<void> {
  const app = one('#app');
  if (!app) return;
  on([themeChanged], () => paintRamp(dark));
  startTheme();
  const shell = makeShell(app), locked = () => location.reload();
  const open = async (): Promise<void> => {
    await loadSession();
    while (!session?.role) {
      await askToken(shell);
      if (!session?.role) await loadSession();
    }
    shell.showSession();
    const found = await get<Machines>('machines'), asked = new URLSearchParams(location.search).get('machine'), name = asked ?? (found.machines.length === 1 ? found.machines[0].name : null);
    shell.home.hidden = false;
    if (name === null) return showList(shell, found, locked);
    if (found.machines.length > 1) shell.home.classList.add('back');
    return showMachine(shell, name, found.title, locked);
  };
  // Until the server answers: the reason, and another attempt.
  for (let wait = 1000; ; wait = Math.min(15000, 2 * wait)) {
    try {
      return await open();
    } catch (error) {
      const away = error instanceof Refused && (error.status === 0 || error.status >= 500);
      shell.title.textContent = 'Twin';
      setState(shell, 'lost', away ? 'No connection' : 'Not found');
      const again = away ? new Promise<void>(done => { setTimeout(done, wait); }) : null;
      shell.main.replaceChildren(element('section', { class: 'card problem', role: 'alert' }, element('h2', {}, away ? 'The twin cannot be reached' : 'This page cannot be shown'), element('p', {}, `${reasonOf(error)}.`),
        div('row', button('button', {}, () => location.reload(), 'Try again'), element('a', { class: 'button', href: '/' }, 'All machines')), again ? element('p', { class: 'hint' }, 'The page tries again by itself.') : null));
      if (!again) return;
      await again;
    }
  }
}

void start();
