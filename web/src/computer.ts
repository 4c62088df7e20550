// Runs the engine in a worker, or in the thread of the page if the browser allows no worker for a file on disk.
import { Engine } from './engine';
import type { Answer, MachineNumber, Order } from './engine';

// The script of the worker; build.mjs inserts the text.
declare const WORKER_SCRIPT: string;
interface Message { numbers?: MachineNumber[]; answer?: Answer; progress?: number; failed?: string }

export interface Computer {
  numbers: MachineNumber[];
  isWorker: boolean;
  // Computes the latest order. An older order that is waiting gets no answer. A long judged run is stopped if a new order arrives.
  run(order: Order, done: (answer: Answer) => void): void;
}

const patience = 250;  // longest time that a new order waits for a judged run, ms

export async function startComputer(module: Uint8Array, machine: Uint8Array, progress: (done: number) => void): Promise<Computer> {
  try {
    return await workerComputer(module, machine, progress);
  } catch (error) {
    if (!(error instanceof NoWorker)) throw error;
  }
  const engine = await Engine.open(module, machine, progress);
  let waiting = 0;
  return { numbers: engine.numbers(), isWorker: false, run(order, done) {
    const turn = ++waiting;
    setTimeout(() => { if (turn === waiting) done(engine.run(order)); });
  } };
}

class NoWorker extends Error {}

async function workerComputer(module: Uint8Array, machine: Uint8Array, progress: (done: number) => void): Promise<Computer> {
  type Task = { order: Order; done: (answer: Answer) => void };
  let worker: Worker, current: Task | null = null, next: Task | null = null, begin = 0, giveUp = 0;

  const start = () => new Promise<MachineNumber[]>((ready, fail) => {
    const address = URL.createObjectURL(new Blob([WORKER_SCRIPT], { type: 'text/javascript' }));
    try {
      worker = new Worker(address);
    } catch {
      fail(new NoWorker());
      return;
    }
    worker.onerror = () => fail(new NoWorker());
    worker.onmessage = (event: MessageEvent<Message>) => {
      const { numbers, answer, progress: part, failed } = event.data;
      if (numbers) {
        URL.revokeObjectURL(address);
        ready(numbers);
      }
      if (part !== undefined) progress(part);
      if (answer) finish(answer);
      else if (failed !== undefined) {
        fail(new Error(failed));
        if (current) finish({ message: failed, columns: [], verdict: null, milliseconds: 0 });
      }
    };
    worker.postMessage({ module, machine });
  });
  const begun = () => {
    if (current || !next) return;
    current = next;
    next = null;
    begin = performance.now();
    worker.postMessage(current.order);
  };
  const finish = (answer: Answer) => {
    clearTimeout(giveUp);
    const { done } = current ?? {};
    current = null;
    if (!next) done?.(answer);
    else if (!answer.message) done?.(answer);
    begun();
  };

  const numbers = await start();
  return { numbers, isWorker: true, run(order, done) {
    next = { order, done };
    if (current?.order.judged) {
      clearTimeout(giveUp);
      giveUp = window.setTimeout(() => {
        if (!current?.order.judged || !next) return;
        worker.terminate();
        current = null;
        void start().then(begun, () => undefined);
      }, Math.max(0, patience - (performance.now() - begin)));
    }
    begun();
  } };
}
