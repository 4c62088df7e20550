// Work that waits for the next frame of the browser. Nothing runs while the page is hidden.
const waiting = new Set<() => void>();
let due = false;
export function soon(f: () => void): void {
  waiting.add(f);
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    const list = [...waiting];
    waiting.clear();
    for (const g of list) g();
  });
}
// Calls f at once and then at most every `every()` ms; calls in between are joined into one at the end.
export function paced(f: () => void, every: () => number): () => void {
  let last = -Infinity, timer = 0;
  const run = () => {
    timer = 0;
    last = performance.now();
    f();
  };
  return () => {
    const wait = last + every() - performance.now();
    if (wait <= 0) soon(run); else if (!timer) timer = setTimeout(() => soon(run), wait);
  };
}
// Calls f every so many ms while the page is visible.
export function whileVisible(f: () => void, every: number): void { setInterval(() => { if (!document.hidden) f(); }, every); }
