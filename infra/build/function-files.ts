import { globSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The repository's root folder. */
export const root = resolve(import.meta.dirname, '../..');

/** Where `npm run build` puts the bundles and the deployment takes them from. */
export const bundleFolder = join(root, 'dist/functions');

/** Files beside the handlers that describe them. */
const tables = new Set(['routes.ts', 'schemas.ts', 'jobs.ts']);

interface FunctionFile {
  /** `<area>-<name>`, also the name of the bundle's folder. */
  readonly name: string;
  /** Path of the handler from the repository's root: `functions/<area>/<name>.ts`. */
  readonly file: string;
}

/** Name of a function's bundle: that of its file, with dashes. */
export const functionName = (area: string, name: string): string => `${area}/${name}`.replaceAll('/', '-');

/** Every file under `functions` that is deployed as a function of its own, in alphabetical order. */
export const functionFiles = (): readonly FunctionFile[] =>
  globSync('functions/*/**/*.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !tables.has(basename(file)))
    .sort()
    .map((file) => ({ file, name: functionName(dirname(file).slice('functions/'.length), basename(file, '.ts')) }));
