import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { DeployProblem } from '../../settings/deploy-problem.ts';
import { leftOut } from './left-out.ts';

const require = createRequire(import.meta.url);
const { version } = require('mongodb/package.json') as { readonly version: string };

/**
 * Replaces the driver's `index.js`, which loads everything: exported names by file. A build fails if our code imports a
 * name that is missing here.
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

/** By path below `lib`. */
const replaced: ReadonlyMap<string, string> = new Map([
  ['index.js', index],
  ['mongo_logger.js', same('silent-logger.ts')],
  ...Object.values(leftOut).flatMap((files) => files.map((file) => [file, same('unused.cjs')] as const)),
]);

/**
 * Removes unused parts of the MongoDB driver in `lib`, a quarter of it. Fails if a file does not exist, because a new
 * version may have moved it.
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
