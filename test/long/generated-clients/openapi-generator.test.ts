import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, test } from 'vitest';
import { notes } from '../../support/fixtures/collections.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');
const cache = path.join(root, 'node_modules/.cache/basalt/openapi-generator');
const version = '7.23.0';
const jar = path.join(cache, `openapi-generator-cli-${version}.jar`);
const out = path.join(cache, 'out');

const descriptions = ['public', 'dashboard', 'project'] as const;

/** The options of each generator. */
const generators = {
  go: '',
  python: '',
  // By default it uses `_id` and `id` in one expression, which the current strict TypeScript rejects.
  'typescript-fetch': 'modelPropertyNaming=original',
  java: '',
  kotlin: '',
  csharp: '',
  rust: '',
} as const;

let missing: string | undefined;

const said = async (command: string, args: readonly string[], cwd = out): Promise<string> => {
  try {
    const { stdout, stderr } = await run(command, args, { cwd, maxBuffer: 1 << 26, timeout: 300_000 });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${stdout}${stderr}`.slice(-10_000) || String(error));
  }
};

/** Returns why a command cannot run, or `undefined` if it can. */
const lacks = (command: string, args: readonly string[], cwd?: string): Promise<string | undefined> =>
  said(command, args, cwd).then(
    () => undefined,
    (error: unknown) => `${command} ${args[0]}: ${String(error).slice(0, 300)}`,
  );

beforeAll(async () => {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${version}`;
  missing =
    (await lacks('java', ['-version'])) ??
    (await lacks('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${cache}`]));
  if (missing) return;
  const project = await newUsersProject();
  await project.addCollection(notes);
  const { baseUrl, dashboardUrl } = inject('stack');
  const asked = {
    public: fetch(`${baseUrl}/api/openapi.json`),
    dashboard: fetch(`${dashboardUrl}/api/openapi.json`),
    project: fetch(`${baseUrl}/api/openapi.json`, { headers: { 'x-api-key': project.secretKey } }),
  };
  for (const name of descriptions) await writeFile(path.join(out, `${name}.json`), await (await asked[name]).text());
});

const folderOf = (name: string, generator: string): string => path.join(out, `${name}-${generator}`);

/** Compiles a client. Skips the test if the compiler is not installed. */
const compilers: Partial<Record<keyof typeof generators, (folder: string, skip: (why: string) => never) => unknown>> = {
  go: async (folder, skip) => {
    const why = (await lacks('go', ['version'])) ?? (await lacks('go', ['mod', 'tidy'], folder));
    if (why) skip(`not compiled, as Go or the modules of the client cannot be had: ${why}`);
    await said('go', ['build', './...'], folder);
  },
  python: async (folder, skip) => {
    const why = await lacks('python3', ['--version']);
    if (why) skip(`not compiled, as there is no Python: ${why}`);
    await said('python3', ['-m', 'compileall', '-q', folder]);
  },
  'typescript-fetch': (folder) =>
    said(process.execPath, [
      path.join(root, 'node_modules/typescript/bin/tsc'),
      ...['--noEmit', '--ignoreConfig', '--strict', '--types', '', '--lib', 'es2024,dom', '--target', 'es2024'],
      ...['--module', 'esnext', '--moduleResolution', 'bundler', path.join(folder, 'index.ts')],
    ]),
};

const cases = Object.keys(generators).flatMap((generator) =>
  descriptions.map((name) => [generator as keyof typeof generators, name] as const),
);

test.for(cases)('openapi-generator creates a %s client of the %s description', async ([generator, name], { skip }) => {
  if (missing) skip(`not generated, as Java, Maven or the generator cannot be had: ${missing}`);
  const folder = folderOf(name, generator);
  const options = generators[generator];
  await said('java', [
    ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx700m', '-jar', jar, 'generate'],
    ...['-i', `${name}.json`, '-g', generator, '-o', folder],
    ...(options ? [`--additional-properties=${options}`] : []),
    ...['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
  ]);
  // The generator always writes this test. It imports a placeholder name and does not compile.
  await rm(path.join(folder, 'test'), { recursive: true, force: true });
  await compilers[generator]?.(folder, skip);
  expect(await said('ls', [folder])).not.toBe('');
});
