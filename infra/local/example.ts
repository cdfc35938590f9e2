import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildClientScripts } from '../build/client.ts';
import type { ProjectKeys } from './demo.ts';
import { exampleFolder, provideExample } from './example-data.ts';
import { listen, portAfter, preferPort } from './ports.ts';

/** The preferred port, counted from the public API's. Users stay signed in after a restart if the port is the same. */
const portOffset = 10;

interface ExampleFile {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Links in emails lead here. */
const accountPages: ReadonlySet<string> = new Set(['/verify-email', '/invitations/accept']);

const serveFiles = (files: readonly ExampleFile[]): RequestListener => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return ({ method, url = '/' }, response) => {
    const asked = url.split(/[?#]/)[0] ?? '';
    const file = byPath.get(accountPages.has(asked) ? '/' : asked);
    if (!file || method !== 'GET') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('Not found');
      return;
    }
    const headers = { 'content-type': file.type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
    response.writeHead(200, headers).end(file.bytes);
  };
};

/** Builds the files of the client package. */
const clientFiles = async (): Promise<readonly ExampleFile[]> => {
  const built = await mkdtemp(path.join(tmpdir(), 'basalt-example-'));
  try {
    await buildClientScripts(built);
    const names = await readdir(built);
    return await Promise.all(
      names.map(async (name) => ({
        path: `/client/${name}`,
        type: 'text/javascript',
        bytes: await readFile(path.join(built, name)),
      })),
    );
  } finally {
    await rm(built, { recursive: true, force: true });
  }
};

const ownFile = async (at: string, name: string, type: string): Promise<ExampleFile> => ({
  path: at,
  type,
  bytes: await readFile(path.join(exampleFolder, name)),
});

/** Serves the app in `examples/board`, with a project of its own. */
export const startExample = async (
  port: number,
  api: string,
  demo: ProjectKeys,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly keys: ProjectKeys; readonly url: string }> => {
  const at = await preferPort(portAfter(port, portOffset));
  const url = `http://localhost:${at}`;
  const keys = await provideExample(api, url, demo, earlier);
  const project = { url: api, key: keys.publishableKey };
  const script = Object.entries(project).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`);
  const files: readonly ExampleFile[] = [
    ...(await Promise.all([
      ownFile('/', 'index.html', 'text/html; charset=utf-8'),
      ownFile('/style.css', 'style.css', 'text/css'),
      ownFile('/board.js', 'board.js', 'text/javascript'),
    ])),
    { path: '/project.js', type: 'text/javascript', bytes: Buffer.from(script.join('')) },
    ...(await clientFiles()),
  ];
  await listen(createServer(serveFiles(files)), at);
  return { keys, url };
};
