import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { DeployProblem } from '../../settings/deploy-problem.ts';
import { leftOut } from './left-out.ts';

const require = createRequire(import.meta.url);
const { version } = require('mongodb/package.json') as { readonly version: string };

/**
 * What stands in for the driver's `index.js`, which loads everything that it has: names by their file. An import of
 * another name does not build until it is here.
 */
const exported: Readonly<Record<string, readonly string[]>> = {
  'bson.js': ['Binary', 'BSON', 'Decimal128', 'Long', 'MaxKey', 'MinKey', 'ObjectId', 'Timestamp'],
  'bulk/common.js': ['MongoBulkWriteError'],
  'error.js': [
    'MongoError',
    'MongoNetworkError',
    'MongoNetworkTimeoutError',
    'MongoParseError',
    'MongoServerError',
    'MongoServerSelectionError',
  ],
  'mongo_client.js': ['MongoClient'],
  'sdam/common.js': ['TopologyType'],
};

const index = Object.entries(exported)
  .map(([file, names]) => `export { ${names.join(', ')} } from 'mongodb/lib/${file}';`)
  .join('\n');

const lean = import.meta.dirname;
const same = (file: string): string => `module.exports = require(${JSON.stringify(join(lean, file))});`;

/** By their path from `lib`. */
const replaced: ReadonlyMap<string, string> = new Map([
  ['index.js', index],
  ['mongo_logger.js', same('silent-logger.ts')],
  ...Object.values(leftOut).flatMap((files) => files.map((file) => [file, same('stand-in.cjs')] as const)),
]);

/**
 * Leaves out of the MongoDB driver in `lib` what nothing of ours can reach, which is a fourth of it. Fails where the
 * driver has no such file, as a version may that moved it: it would be bundled again without a word.
 */
export const leanDriverIn = (lib: string): Plugin => ({
  name: 'lean-driver',
  setup: (build) => {
    const missing = [...replaced.keys(), ...Object.keys(exported)].filter((file) => !existsSync(join(lib, file)));
    if (missing.length > 0) throw new DeployProblem(`The MongoDB driver no longer has ${missing.join(', ')}`);
    build.onResolve({ filter: /^@mongodb-js\/saslprep$/ }, ({ importer }) =>
      importer.startsWith(lib) ? { path: join(lean, 'saslprep.cjs') } : undefined,
    );
    build.onLoad({ filter: /[\\/]node_modules[\\/]mongodb[\\/]/ }, ({ path }) => {
      const file = relative(lib, path).replaceAll('\\', '/');
      if (file === '../package.json') return { contents: JSON.stringify({ version }), loader: 'json' };
      const contents = replaced.get(file);
      return contents === undefined ? undefined : { contents, resolveDir: dirname(path) };
    });
  },
});

export const leanDriver = leanDriverIn(dirname(require.resolve('mongodb')));
