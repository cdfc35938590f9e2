import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { pathExampleOf } from '../../shared/http/openapi/parameters.ts';
import { methodsOf, type Route, type RouteTable } from '../../shared/http/route.ts';
import { forEachProvider, socialProviders } from '../../shared/projects/social/providers.ts';
import { root } from './function-files.ts';

/** A file of the console. `path` begins at the root of the site. */
export interface ConsoleFile {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** The name contains a hash of the content, so browsers may cache it forever. */
  readonly immutable: boolean;
}

const source = join(root, 'console');

/** Method and path of each dashboard route; the console needs no more of the tables. */
const rows = (): string => {
  const table = Object.values(dashboardRoutes).flatMap((area) =>
    Object.values(area).map((row) => [row.id, [methodsOf(row)[0], row.path]]),
  );
  return `export const rows = ${JSON.stringify(Object.fromEntries(table))};`;
};

/** A key of a retry is new for each request, so a copied one would only repeat the first response. */
const headersOf = ({ example }: Route): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(example?.headers ?? {}).filter(([name]) => name !== 'idempotency-key'));

/** An example of each route of the public API. */
const examples = (): string => {
  const shown = Object.entries<RouteTable>(publicRoutes).flatMap(([area, table]) =>
    Object.values(table).map((row) => ({
      id: row.id,
      area,
      summary: row.summary,
      method: methodsOf(row)[0],
      path: row.path,
      access: row.access,
      params: pathExampleOf(row),
      query: row.example?.query ?? {},
      headers: headersOf(row),
      body: row.example?.body,
      returns: row.response.status >= 300 ? 'redirect' : row.response.text ? 'text' : 'json',
    })),
  );
  return `export const examples = ${JSON.stringify(shown)};`;
};

const providers = (): string =>
  `export const titles = ${JSON.stringify(forEachProvider((name) => socialProviders[name].title))};`;

/** In the browser, ids are texts. This lets the service's document validation run there without the database driver. */
const ids = (): string => 'export class ObjectId { static createFromHexString(text) { return text; } }';

/** Marks of effects at the time of a field, which only the service sets. */
const crypto = (): string => 'export const hash = (_, text) => text;';

const tables: Readonly<Record<string, () => string>> = {
  'basalt:rows': rows,
  'basalt:api': examples,
  'basalt:providers': providers,
  mongodb: ids,
  'node:crypto': crypto,
};

const routeTables: Plugin = {
  name: 'route-tables',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(?:basalt:|mongodb$|node:crypto$)/ }, ({ path }) => ({ path, namespace: 'tables' }));
    onLoad({ filter: /.*/, namespace: 'tables' }, ({ path }) => ({ contents: tables[path]?.() ?? '', loader: 'js' }));
  },
};

const options = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  metafile: true,
  minify: true,
  target: ['chrome123', 'firefox121', 'safari17.5'],
  outdir: '/site',
  entryNames: 'assets/[name]-[hash]',
  chunkNames: 'assets/[name]-[hash]',
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions;

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  woff2: 'font/woff2',
  webp: 'image/webp',
};

export const fileOf = (path: string, bytes: Buffer, immutable: boolean): ConsoleFile => ({
  path,
  type: types[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
  bytes,
  immutable,
});

/**
 * Builds the console: the page, its styles, its scripts with hashed names, and the file with the public API's address
 * and whether there is a schema assistant.
 */
export const buildConsole = async (api: string, assistant: boolean): Promise<readonly ConsoleFile[]> => {
  const [scripts, styles] = await Promise.all([
    build({
      ...options,
      entryPoints: [join(source, 'main.tsx')],
      format: 'esm',
      splitting: true,
      tsconfig: join(source, 'tsconfig.json'),
      plugins: [routeTables],
    }),
    build({ ...options, entryPoints: [join(source, 'style/console.css')] }),
  ]);
  const made = [...scripts.outputFiles, ...styles.outputFiles].map(({ path, contents }) =>
    fileOf(path.slice('/site'.length), Buffer.from(contents), true),
  );
  const pathOf = (pattern: RegExp): string => made.find(({ path }) => pattern.test(path))?.path ?? '';
  const page = (await readFile(join(source, 'index.html'), 'utf8'))
    .replace('/console.css', pathOf(/\/console-.*\.css$/))
    .replace('/console.js', pathOf(/\/main-.*\.js$/));
  return [
    ...made,
    fileOf('/icon.svg', await readFile(join(source, 'icon.svg')), false),
    fileOf('/console.json', Buffer.from(JSON.stringify({ api, assistant })), false),
    fileOf('/index.html', Buffer.from(page), false),
  ];
};
