import { globSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The repository's root folder. */
export const root = resolve(import.meta.dirname, '../..');

/** `npm run build` writes the bundles here; deployments read them. */
export const bundleFolder = join(root, 'dist/functions');

/** Files next to the handlers that are not handlers. */
const tables = new Set(['routes.ts', 'schemas.ts', 'jobs.ts']);

interface FunctionFile {
  /** `<area>-<name>`, also the name of the bundle's folder. */
  readonly name: string;
  /** Path of the handler from the repository's root: `functions/<area>/<name>.ts`. */
  readonly file: string;
}

export const functionName = (area: string, name: string): string => `${area}/${name}`.replaceAll('/', '-');

/** All handlers, in alphabetical order. Each is a function of its own. */
export const functionFiles = (): readonly FunctionFile[] =>
  globSync('functions/*/**/*.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !tables.has(basename(file)))
    .sort()
    .map((file) => ({ file, name: functionName(dirname(file).slice('functions/'.length), basename(file, '.ts')) }));
