import { afterAll, vi } from 'vitest';

/** State that modules and tests store on the global object: `Symbol.for('basalt.…')`. */
const isOurs = (symbol: symbol): boolean => Symbol.keyFor(symbol)?.startsWith('basalt.') ?? false;

const { fetch } = globalThis;
const environment = { ...process.env };

// The files of one worker share only the installed packages, which are slow to load. Each file restores the process,
// and the next one loads our modules again.
afterAll(async () => {
  // Imported late, because a test file may have mocked its dependencies.
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
