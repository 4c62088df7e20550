// The stream of the server. A lost stream is opened again after a time that grows; a hidden page has no stream.
import { Refused, loadSession, query, session } from './api';

const FIRST_WAIT = 500, LAST_WAIT = 15000, SILENCE = 7000;   // ms. The server sends something every second.

export type Link = { state: 'opening' | 'open' | 'hidden' } | { state: 'lost'; since: number; retry: number; reason: string };
export interface Events { [kind: string]: (data: never) => void }
export let link: Link = { state: 'opening' };

// machine: its samples are in the stream; undefined: the stream has states and events only. changed: called after each change of `link`. locked: called if the server wants a login.
export function connect(machine: string | undefined, events: Events, changed: () => void, locked: () => void): void {
  let source: EventSource | null = null, timer = 0, wait = FIRST_WAIT, heard = 0, newest = '', lostAt = 0;
  const set = (next: Link) => {
    link = next;
    changed();
  };
  const close = () => {
    source?.close();
    source = null;
    clearTimeout(timer);
  };
  const open = () => {
    close();
    if (document.hidden) return;
    const made = source = new EventSource('/api/v1/stream?' + query({ machine, after: newest || undefined }));
    heard = performance.now();
    for (const [kind, take] of Object.entries(events)) made.addEventListener(kind, message => {
      if (source !== made) return;
      heard = performance.now();
      if (message.lastEventId) newest = message.lastEventId;
      if (link.state !== 'open') {
        wait = FIRST_WAIT;
        lostAt = 0;
        set({ state: 'open' });
      }
      take(JSON.parse(message.data as string) as never);
    });
    made.onerror = () => { if (source === made) void lose('the connection to the twin is lost'); };
  };
  const lose = async (reason: string) => {
    close();
    lostAt ||= Date.now();
    const delay = wait * (0.8 + 0.4 * Math.random());
    wait = Math.min(LAST_WAIT, 2 * wait);
    set({ state: 'lost', since: lostAt, retry: Date.now() + delay, reason });
    timer = setTimeout(() => void attempt(), delay);
  };
  // A stream does not tell why it was refused; the session does.
  const attempt = async () => {
    if (document.hidden) return;
    try {
      const { role } = await loadSession();
      if (!role) return locked();
      open();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return locked();
      void lose(error instanceof Refused && error.status ? error.message : 'the twin cannot be reached');
    }
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      close();
      set({ state: 'hidden' });
    } else {
      set({ state: 'opening' });
      void attempt();
    }
  });
  addEventListener('online', () => { if (link.state === 'lost') { clearTimeout(timer); wait = FIRST_WAIT; void attempt(); } });
  addEventListener('pagehide', close);
  setInterval(() => { if (source && link.state !== 'lost' && performance.now() - heard > SILENCE) void lose('the twin sends nothing'); }, 1000);
  if (session?.role) open(); else void attempt();
}
// Tries at once.
export function isOnline(): boolean { return link.state === 'open'; }
