import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CollectionInput } from '../../../shared/collections/create-collection.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { updateProject } from '../../../shared/projects/change-project.ts';
import { findOwnedProject } from '../../../shared/projects/find-project.ts';
import { buildClientScripts } from '../../build/client.ts';
import { type ProjectKeys, seedProject } from '../demo.ts';
import { listen, portAfter, preferPort } from '../ports.ts';
import { type ExampleFile, exampleSite } from './example-site.ts';

const folder = path.resolve(import.meta.dirname, '../../../examples/notes');

/** Its preferred place after the port of the public API: whoever is signed in there stays so over a restart. */
const place = 10;

/** The client as its package has it. */
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

/** Users keep pictures of their own, from the page. */
const uploads = { users: true, maxBytes: 5 * 1024 * 1024, types: ['image/*'] };

const newProject = async (ownerId: string, siteUrl: string): Promise<ProjectKeys> => {
  const collections = JSON.parse(await readFile(path.join(folder, 'collections.json'), 'utf8')) as Readonly<
    Record<string, CollectionInput>
  >;
  return seedProject(ownerId, { name: 'Notes', siteUrl }, collections);
};

/** The project of the example as an earlier start left it, or a new one; links of its mails lead to the example. */
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

/** Serves the app of `examples/notes` beside the API, on a project of its own. */
export const startExample = async (
  port: number,
  api: string,
  demo: ProjectKeys,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly keys: ProjectKeys; readonly url: string }> => {
  const at = await preferPort(portAfter(port, place));
  // Browsers have passkeys at a name alone.
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
  await listen(createServer(exampleSite(files)), at);
  return { keys, url };
};
