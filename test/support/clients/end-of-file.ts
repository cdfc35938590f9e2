import { afterAll, vi } from 'vitest';

/** What our modules and tests keep in a process beside its modules: `Symbol.for('basalt.…')`. */
const isOurs = (symbol: symbol): boolean => Symbol.keyFor(symbol)?.startsWith('basalt.') ?? false;

const { fetch } = globalThis;
const environment = { ...process.env };

// The files that one worker runs share what is installed, which takes longest to load, and nothing else: each leaves
// the process as it found it, and has the next one load our modules anew.
afterAll(async () => {
  // Imported only now, as a file may have replaced what it is made of.
  if (process.env.MONGODB_URI) await (await import('../../../shared/persistence/mongo.ts')).closeMongo();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  for (const symbol of Object.getOwnPropertySymbols(globalThis).filter(isOurs)) {
    Reflect.deleteProperty(globalThis, symbol);
  }
  vi.unstubAllGlobals();
  globalThis.fetch = fetch;
  vi.resetModules();
});
