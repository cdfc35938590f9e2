import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CollectionInput } from '../../shared/collections/create-collection.ts';
import { findProjectByKey } from '../../shared/collections/find-project-by-key.ts';
import { updateProject } from '../../shared/projects/change-project.ts';
import { findOwnedProject } from '../../shared/projects/find-project.ts';
import { buildClientScripts } from '../build/client.ts';
import { type ProjectKeys, seedProject } from './demo.ts';
import { listen, portAfter, preferPort } from './ports.ts';

const folder = path.resolve(import.meta.dirname, '../../examples/notes');

/** The preferred port, counted from the public API's. Users stay signed in after a restart if the port is the same. */
const portOffset = 10;

interface ExampleFile {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const serveFiles = (files: readonly ExampleFile[]): RequestListener => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return ({ method, url = '/' }, response) => {
    const file = byPath.get(url.split(/[?#]/)[0] ?? '');
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
  bytes: await readFile(path.join(folder, name)),
});

/** Users upload pictures from the page. */
const uploads = { users: true, maxBytes: 5 * 1024 * 1024, types: ['image/*'] };

const newProject = async (ownerId: string, siteUrl: string): Promise<ProjectKeys> => {
  const collections = JSON.parse(await readFile(path.join(folder, 'collections.json'), 'utf8')) as Readonly<
    Record<string, CollectionInput>
  >;
  return seedProject(ownerId, { name: 'Notes', siteUrl }, collections);
};

/** Returns the example's project of an earlier start, or creates it. Links in its emails lead to the example. */
const provideProject = async (
  demo: ProjectKeys,
  earlier: ProjectKeys | undefined,
  siteUrl: string,
): Promise<ProjectKeys> => {
  const known = earlier && (await findProjectByKey(earlier.secretKey, ''));
  const owner = await findProjectByKey(demo.secretKey, '');
  if (!owner) throw new Error('The demo project cannot be found');
  const { ownerId } = owner.project;
  const keys = earlier && known ? earlier : await newProject(ownerId, siteUrl);
  const owned = await findOwnedProject(ownerId, keys.projectId);
  if (owned) await updateProject(owned, { siteUrl, uploads, signIn: { passkey: true } });
  return keys;
};

/** Serves the app in `examples/notes`, with a project of its own. */
export const startExample = async (
  port: number,
  api: string,
  demo: ProjectKeys,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly keys: ProjectKeys; readonly url: string }> => {
  const at = await preferPort(portAfter(port, portOffset));
  // Browsers do not allow passkeys for an IP address.
  const url = `http://localhost:${at}`;
  const keys = await provideProject(demo, earlier, url);
  const key = JSON.stringify(keys.publishableKey);
  const project = `export const url = ${JSON.stringify(api)};\nexport const key = ${key};\n`;
  const files: readonly ExampleFile[] = [
    ...(await Promise.all([
      ownFile('/', 'index.html', 'text/html; charset=utf-8'),
      ownFile('/notes.js', 'notes.js', 'text/javascript'),
    ])),
    { path: '/project.js', type: 'text/javascript', bytes: Buffer.from(project) },
    ...(await clientFiles()),
  ];
  await listen(createServer(serveFiles(files)), at);
  return { keys, url };
};
