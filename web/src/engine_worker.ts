// The worker of the engine: processes one order after another.
import { Engine } from './engine';
import type { Order } from './engine';

export interface Opening { module: Uint8Array; machine: Uint8Array }
let engine: Promise<Engine> | null = null, shown = 0;
const answer = (content: object, moved: ArrayBuffer[] = []) => (postMessage as (content: object, moved: ArrayBuffer[]) => void)(content, moved);

addEventListener('message', event => {
  const order = (event as MessageEvent<Opening | Order>).data;
  if ('module' in order) {
    engine = Engine.open(order.module, order.machine, done => {
      if (performance.now() - shown < 100) return;
      shown = performance.now();
      answer({ progress: done });
    });
    engine.then(e => answer({ numbers: e.numbers() }), (e: Error) => answer({ failed: e.message }));
  } else {
    shown = performance.now();
    engine?.then(e => {
      const made = e.run(order);
      answer({ answer: made }, made.columns.map(([, values]) => values.buffer as ArrayBuffer));
    }).catch((e: Error) => answer({ failed: e.message }));
  }
});
