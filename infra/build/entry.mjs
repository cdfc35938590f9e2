// Every function's `index.mjs`. Runs `main.cjs` with its V8 code cache. V8 ignores a cache of another version,
// architecture or set of flags.
const builtin = process.getBuiltinModule;
const { existsSync, readFileSync } = builtin('fs');

// Lambda starts Node with `--expose-gc`, builds do not, and a different flag would invalidate the cache. It has no
// effect after the start.
if (globalThis.gc) builtin('v8').setFlagsFromString('--no-expose-gc');

const file = `${import.meta.dirname}/main.cjs`;
const compiled = `${import.meta.dirname}/${process.version}-${process.arch}.cache`;
const before = '(function (exports, require, module) {';

export const script = new (builtin('vm').Script)(`${before}${readFileSync(file, 'latin1')}\n})`, {
  filename: file,
  columnOffset: -before.length,
  cachedData: existsSync(compiled) ? readFileSync(compiled) : undefined,
});

const module = { exports: {} };
script.runInThisContext()(module.exports, builtin('module').createRequire(file), module);

export const { handler } = module.exports;
