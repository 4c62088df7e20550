// Pages that compute: starts the engine that the page contains, and adds the sliders.
import type { Page, Setup } from './sliders';
import { bytesOfBase64, inflate } from './decode';
import { element, one } from './dom';
import { makeSliders } from './sliders';
import { startComputer } from './computer';
import style from './sliders.css';

interface Globals { oleodyn?: Page; oleodynEngine?: { ready: boolean; worker: boolean } }

// Waits until the script of the page has created its views; null: the browser cannot run the script.
async function pageReady(): Promise<Page | null> {
  for (let i = 0; i < 400; i++) {
    const page = (globalThis as Globals).oleodyn;
    if (page) return page;
    await new Promise(done => setTimeout(done, 25));
  }
  return null;
}
const unpack = async (id: string) => inflate(bytesOfBase64(one('#' + id)?.textContent ?? ''));

async function start(): Promise<void> {
  const page = await pageReady(), setup = (page?.data.page as { interactive?: Setup } | undefined)?.interactive;
  if (!page || !setup || typeof WebAssembly === 'undefined') return;
  document.head.append(element('style', {}, style));
  const place = one('#time') ?? one('.views'), note = element('section', { class: 'card', id: 'numbers' }, element('h2', {}, 'Numbers'), element('p', { class: 'empty' }, 'Starting the engine…'));
  if (place) place.after(note); else one('main')?.prepend(note);
  let progress: (done: number) => void = () => undefined;
  try {
    const computer = await startComputer(await unpack('engine'), await unpack('stored-machine'), done => progress(done)), made = makeSliders(page, computer, setup);
    progress = made.progress;
    note.replaceWith(made.card);
    (globalThis as Globals).oleodynEngine = { ready: true, worker: computer.isWorker };
  } catch (error) {
    note.lastElementChild?.replaceWith(element('p', { class: 'empty' }, `The engine does not start: ${error instanceof Error ? error.message : error}`));
  }
}
void start();
