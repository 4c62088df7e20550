// The common parts of all pages of the twin: head with title, state of the connection, units, theme and session; login; foot.
import { button, choice, div, element, icon, one, span, write } from '../dom';
import { link } from './connection';
import { logIn, logOut, mayAct, reasonOf, session } from './api';
import { dark, setTheme, themeName } from '../theme';
import { on, themeChanged, unitsChanged } from '../signal';
import { setSi, useSi } from '../units';

export interface Shell { main: HTMLElement; title: HTMLElement; subtitle: HTMLElement; verdict: HTMLElement; state: HTMLElement; banner: HTMLElement; home: HTMLAnchorElement; showSession(): void }
const HALF = ['M8 2.4a5.6 5.6 0 1 0 0 11.2a5.6 5.6 0 1 0 0-11.2', '*M8 2.4a5.6 5.6 0 0 1 0 11.2z'], LOGO = ['M2 5.4h7.6v5.2H2zM5.6 5.4v5.2M5.6 8h8.8M14.4 6v4'];

export function makeShell(app: HTMLElement): Shell {
  const main = element('main', { id: 'main' }), title = element('h1'), subtitle = span('subtitle'), verdict = div('verdict-place'), state = element('div', { class: 'state', role: 'status' }), controls = div(''), banner = element('div', { class: 'banner', role: 'alert', hidden: true });
  controls.id = 'controls';
  const home = element('a', { class: 'brand', href: '/', 'aria-label': 'All machines' }, icon(...LOGO), element('span', {}, 'oleodyn'));
  const [units, showUnits] = choice('Units', 'units', [{ value: '', label: 'Customary units', face: ['bar'] }, { value: 'si', label: 'SI units', face: ['SI'] }], v => setSi(v === 'si'));
  const [theme, showTheme] = choice('Theme', 'theme', [
    { value: 'light', label: 'Light', face: [icon('M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1')] },
    { value: 'auto', label: 'As the system', face: [icon(...HALF)] }, { value: 'dark', label: 'Dark', face: [icon('M13.4 9.8A5.8 5.8 0 0 1 6.2 2.6a5.8 5.8 0 1 0 7.2 7.2z')] },
  ], setTheme);
  const show = () => {
    showUnits(useSi ? 'si' : '');
    showTheme(themeName);
  };
  on([unitsChanged, themeChanged], show);
  show();
  const who = div('who'), leave = button('button', {}, () => void logOut().catch(() => {}).then(() => location.reload()), 'Log out');
  controls.append(units, theme, button('tool swap', { 'aria-label': 'Light or dark' }, () => setTheme(dark ? 'light' : 'dark'), icon(...HALF)), who);
  app.replaceChildren(element('a', { class: 'skip', href: '#main' }, 'To the content'), element('header', { class: 'top' }, home, div('titles', title, subtitle), verdict, state, controls), banner, main, element('footer', {}, span('program')));
  return { main, title, subtitle, verdict, state, banner, home, showSession() {
    who.replaceChildren(...session?.role ? [span('role', mayAct() ? '' : 'read only'), session.needs_token ? leave : ''] : []);
    write(one('.program') as Element, session?.program ?? '');
  } };
}

// Shows the form for a token. Returns after the server has accepted a token.
export function askToken(shell: Shell): Promise<void> {
  return new Promise(done => {
    const field = element('input', { type: 'password', id: 'token', name: 'token', autocomplete: 'current-password', required: true, spellcheck: 'false', 'aria-describedby': 'token-hint' }), problem = element('p', { class: 'form-error', role: 'alert', hidden: true }), send = element('button', { class: 'button main', type: 'submit' }, 'Log in');
    const form = element('form', { class: 'card login', onsubmit: event => {
      event.preventDefault();
      send.disabled = true;
      logIn(field.value).then(s => {
        if (!s.role) throw new Error('the token is not accepted');
        form.remove();
        done();
      }).catch((error: unknown) => {
        problem.hidden = false;
        write(problem, reasonOf(error));
        field.select();
        field.focus();
      }).finally(() => { send.disabled = false; });
    } }, element('h2', {}, 'Log in'), element('label', { for: 'token' }, 'Token'), field, element('p', { class: 'hint', id: 'token-hint' }, 'The token is in a file of the twin; its operator gives it to you.'), problem, send);
    shell.title.textContent = 'Twin';
    shell.main.replaceChildren(form);
    field.focus();
  });
}

// The banner of a lost connection, with the seconds until the next attempt.
export function showLink(shell: Shell): void {
  const { banner } = shell;
  banner.hidden = link.state !== 'lost';
  if (link.state !== 'lost') return;
  const wait = Math.max(0, Math.ceil((link.retry - Date.now()) / 1000)), since = new Date(link.since).toLocaleTimeString('en-GB'), text = `No live data since ${since}: ${link.reason}. The page shows the last values.`;
  let words = one('.banner-text', banner), retry = one('.banner-retry', banner);
  if (!words || !retry) banner.replaceChildren(words = span('banner-text'), retry = element('span', { class: 'banner-retry', 'aria-hidden': 'true' }));
  write(words, text);
  write(retry, wait ? ` Next attempt in ${wait} s.` : ' Trying now.');
}
// The state of the connection in the head, as a word.
export function setState(shell: Shell, kind: 'live' | 'past' | 'silent' | 'lost' | 'wait', text: string): void {
  const { state } = shell;
  state.className = `state ${kind}`;
  if (!state.firstChild) state.append(element('i'), span(''));
  write(state.lastChild as Element, text);
}
