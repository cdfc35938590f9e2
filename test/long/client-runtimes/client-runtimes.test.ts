import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildClient, clientFolder } from '../../../infra/build/client.ts';
import { installFolder } from '../../../scripts/install-folder.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { freePorts } from '../../support/clients/free-ports.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

const run = promisify(execFile);
const here = import.meta.dirname;
const bin = (name: string): string => path.join(here, 'node_modules', name);

let folder: string;
let project: string;
let missing: string | undefined;
const children: ChildProcess[] = [];

beforeAll(async () => {
  missing = await installFolder(here, (seconds) =>
    process.stderr.write(`  installing what runs JavaScript, ${seconds} s\n`),
  );
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-client-runtimes-'));
  await buildClient(folder);
  const { publishableKey, secretKey, addCollection } = await newUsersProject();
  await addCollection({
    name: 'tasks',
    schema: [{ key: 'title', type: 'String', required: true }],
    rls: { enabled: true, mode: 'private' },
  });
  project = JSON.stringify({ url: inject('stack').baseUrl, publishableKey, secretKey });
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const done = { titles: ['mine'], listed: 1, isMe: true, failure: 'TOKEN_MISSING', text: 'Hello' };

/** A worker that runs the smoke test for each request. */
const worker = `import * as client from './client.mjs';
import { smoke } from './smoke.mjs';
export default {
  fetch: async (_request, { PROJECT }) =>
    Response.json(await smoke(client, JSON.parse(PROJECT)).catch((error) => ({ error: String(error.stack) }))),
};`;

describe('the client passes the smoke test in', () => {
  const args = (): readonly string[] => [
    path.join(here, 'run.mjs'),
    pathToFileURL(path.join(folder, 'dist/index.js')).href,
    project,
  ];

  test.for([
    ['Node 20', bin('node20/bin/node')],
    ['Node 22', bin('node22/bin/node')],
    ['Node 24', process.execPath],
    ['Deno', bin('@deno/linux-x64-glibc/deno'), 'run', '--allow-all', '--no-config'],
  ] as const)('%s', async ([_name, program, ...before], { skip }) => {
    if (missing) skip(missing);
    const { stdout } = await run(program, [...before, ...args()], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual(done);
  });

  test('workerd', async ({ skip }) => {
    if (missing) skip(missing);
    await copyFile(path.join(here, 'smoke.mjs'), path.join(folder, 'smoke.mjs'));
    await copyFile(path.join(folder, 'dist/index.js'), path.join(folder, 'client.mjs'));
    await copyFile(path.join(folder, 'dist/upload.js'), path.join(folder, 'upload.js'));
    const port = await freePorts();
    const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [
        (name = "worker.mjs", esModule = embed "worker.mjs"),
        (name = "smoke.mjs", esModule = embed "smoke.mjs"),
        (name = "client.mjs", esModule = embed "client.mjs"),
        (name = "upload.js", esModule = embed "upload.js"),
      ],
      bindings = [(name = "PROJECT", text = ${JSON.stringify(project)})],
      globalOutbound = "outside",
      compatibilityDate = "2026-11-01",
    )),
    (name = "outside", network = (allow = ["private", "public", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`;
    await writeFile(path.join(folder, 'config.capnp'), config);
    await writeFile(path.join(folder, 'worker.mjs'), worker);
    children.push(
      spawn(bin('@cloudflare/workerd-linux-64/bin/workerd'), ['serve', 'config.capnp'], {
        cwd: folder,
        stdio: 'inherit',
      }),
    );
    const answer = await eventually(() => fetch(`http://127.0.0.1:${port}/`));
    expect(await answer.json()).toEqual(done);
  });
});

describe('the package', () => {
  test.for([
    ['publint', bin('publint/src/cli.js'), '--strict'],
    ['are the types wrong', bin('@arethetypeswrong/cli/dist/index.js'), '--profile', 'esm-only'],
  ] as const)('passes: %s', async ([_name, tool, ...args], { skip }) => {
    if (missing) skip(missing);
    const env = { ...process.env, PATH: [path.dirname(process.execPath), process.env.PATH].join(path.delimiter) };
    const packed = await run('npm', ['pack', '--loglevel=error', '--pack-destination', folder], {
      cwd: clientFolder,
      env,
    });
    const file = path.join(folder, packed.stdout.trim().split('\n').at(-1) ?? '');
    const { stdout } = await run(process.execPath, [tool, file, ...args]);
    expect(stdout).toMatch(/All good|🟢/u);
  });
});
