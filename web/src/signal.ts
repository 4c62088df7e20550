// Lists of functions that are called on a change.
export type Signal = (() => void)[];
export const timeChanged: Signal = [], playChanged: Signal = [], themeChanged: Signal = [], unitsChanged: Signal = [], selectionChanged: Signal = [];

export function fire(signal: Signal): void { for (const f of signal) f(); }
// Calls f on each change of the given kinds.
export function on(signals: Signal[], f: () => void): void { for (const s of signals) s.push(f); }
