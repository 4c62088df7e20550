// Requests to the server of this page. Every path is below /api/v1; no request goes to another server.
import type { Session } from './contract';

const LIMIT = 15000;   // longest time of a request, ms

export let session: Session | null = null;
export class Refused extends Error {
  constructor(readonly status: number, text: string) { super(text); }   // status 0: no connection
}

type Options = { method?: string; body?: unknown; signal?: AbortSignal };
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> { return call<T>(path, { signal }); }
async function call<T>(path: string, { method = 'GET', body, signal }: Options): Promise<T> {
  const patience = new AbortController(), timer = setTimeout(() => patience.abort(), LIMIT), stop = () => patience.abort();
  signal?.addEventListener('abort', stop);
  try {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (method !== 'GET' && session?.csrf) headers['X-CSRF-Token'] = session.csrf;
    const answer = await fetch('/api/v1/' + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: patience.signal, cache: 'no-cache', redirect: 'error' });
    const data: unknown = await answer.json().catch(() => null);
    if (answer.ok && data !== null) return data as T;
    throw new Refused(answer.status, (data as { error?: { text?: string } } | null)?.error?.text ?? `the server answered ${answer.status}`);
  } catch (error) {
    if (error instanceof Refused || signal?.aborted) throw error;
    throw new Refused(0, patience.signal.aborted ? 'the server does not answer' : 'no connection to the server');
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
// A request that changes data. After a restart of the server, fetches the new CSRF token and repeats the request.
export async function act<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  try {
    return await call<T>(path, { method, body });
  } catch (error) {
    const before = session?.csrf;
    if (!(error instanceof Refused) || error.status !== 403 || (await loadSession()).csrf === before) throw error;
    return call<T>(path, { method, body });
  }
}

export async function loadSession(): Promise<Session> { return session = await get<Session>('session'); }
export async function logIn(token: string): Promise<Session> { return session = await call<Session>('session', { method: 'POST', body: { token } }); }
export async function logOut(): Promise<void> { session = await act<Session>('DELETE', 'session'); }
export function mayAct(): boolean { return session?.role === 'act'; }
export function query(values: Record<string, string | number | boolean | undefined>): string {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) made.set(name, String(value));
  return made.toString();
}
// The text of an error for the user.
export function reasonOf(error: unknown): string { return error instanceof Error ? error.message : String(error); }
