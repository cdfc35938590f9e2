import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Loads Node's own modules by `require`. An `import` reads every export of such a module at once, and `node:http` has
 * some that load all of undici: that alone takes longer than loading the rest of a function's own code. The bundles run
 * as scripts, which cannot import anything later either.
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
