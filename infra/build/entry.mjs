// What Lambda loads of every function, as `index.mjs`: it runs `main.cjs` beside it, with what V8 compiled of it when it
// was built. V8 takes that from the same version, machine and flags alone, and ignores it otherwise.
const builtin = process.getBuiltinModule;
const { existsSync, readFileSync } = builtin('fs');

// Lambda starts Node with this flag, builds do not, and it matters only before there is any context.
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
