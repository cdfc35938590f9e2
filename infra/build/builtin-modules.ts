import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Loads Node's built-in modules with `require`. An `import` reads every export, and some exports of `node:http` load
 * all of undici, which takes longer than the rest of a function. The bundles run as scripts, which cannot import later.
 */
export const builtinsByRequire: Plugin = {
  name: 'builtins-by-require',
  setup: (build) => {
    build.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind !== 'require-call' && isBuiltin(path) ? { path, namespace: 'builtin', sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
