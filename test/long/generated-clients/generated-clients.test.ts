import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { installFolder } from '../../../scripts/install-folder.ts';
import { type PythonTools, pythonTools } from '../../support/clients/python-tools.ts';
import { notes } from '../../support/fixtures/collections.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

// Checks the API descriptions of this stack with external tools: generated clients must compile and work, and a fuzzer
// sends valid and invalid requests.
const run = promisify(execFile);
const here = import.meta.dirname;
const root = path.resolve(here, '../../..');
/** This folder is inside `node_modules`, so the generated code finds the packages that it imports. */
const out = path.join(here, 'node_modules/.generated');

const names = ['public', 'dashboard'] as const;
const fileOf = (name: string): string => path.join(out, `${name}.json`);

let python: PythonTools;
let noGenerator: string | undefined;

const addressOf = (name: (typeof names)[number]): string =>
  name === 'public' ? inject('stack').baseUrl : inject('stack').dashboardUrl;

/** Cuts long lines, because a line of a report can contain a whole body. */
const short = (text: string): string => text.replace(/^(.{400}).*$/gm, '$1…').slice(-30_000);

/** Returns the output of a command. If the command fails, its output is the error message. */
const said = async (command: string, args: readonly string[]): Promise<string> => {
  try {
    const { stdout, stderr } = await run(command, args, { cwd: out, maxBuffer: 1 << 26, timeout: 600_000 });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(short(`${stdout}${stderr}`) || String(error));
  }
};

beforeAll(async () => {
  python = await pythonTools(path.join(here, 'requirements.txt'));
  noGenerator = await installFolder(here, (seconds) =>
    process.stderr.write(`  installing a generator of clients, ${seconds} s\n`),
  );
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const name of names) {
    const answer = await fetch(`${addressOf(name)}/api/openapi.json`);
    await writeFile(fileOf(name), await answer.text());
  }
});

/** Creates a project with the collection of the smoke tests. */
const freshProject = async (): Promise<UsersProject> => {
  // A disabled sign-in method is rejected before its token is checked.
  const signIn = { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' };
  const fresh = await newUsersProject({ settings: { signIn } });
  await fresh.addCollection(notes);
  return fresh;
};

describe('TypeScript', () => {
  test('types of both descriptions compile, and a client with these types works', async ({ skip }) => {
    if (noGenerator !== undefined) skip(`not generated, as its packages cannot be had: ${noGenerator}`);
    const generator = path.join(here, 'node_modules/openapi-typescript/bin/cli.js');
    for (const name of names) await said(process.execPath, [generator, fileOf(name), '-o', `${name}.d.ts`]);
    await writeFile(path.join(out, 'smoke.mts'), (await import('./smoke-source.ts')).smokeSource);
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const types = path.join(root, 'node_modules/@types');
    await said(process.execPath, [
      ...[
        tsc,
        'smoke.mts',
        '--ignoreConfig',
        '--module',
        'nodenext',
        '--target',
        'es2024',
        '--strict',
        '--skipLibCheck',
        'false',
      ],
      ...['--typeRoots', types, '--types', 'node'],
    ]);
    const { secretKey, publishableKey } = await freshProject();
    const words = await said(process.execPath, ['smoke.mjs', inject('stack').baseUrl, secretKey, publishableKey]);
    expect(words).toContain('smoke ok');
  });
});

/** Returns the folder of Python’s commands, or skips the test with the reason. */
const binOf = (skip: (note: string) => never): string =>
  'bin' in python ? python.bin : skip(`not asked, as ${python.missing}`);

describe('Python', () => {
  test.for(names)('specification validator accepts the %s description', async (name, { skip }) => {
    const validator = path.join(binOf(skip), 'openapi-spec-validator');
    expect(await said(validator, [fileOf(name)])).toContain('OK');
  });

  test('clients of both descriptions are generated without gaps, compile and work', async ({ skip }) => {
    const bin = binOf(skip);
    for (const name of names) {
      const args = ['generate', '--path', fileOf(name), '--output-path', `${name}_api`, '--meta', 'none'];
      expect(await said(path.join(bin, 'openapi-python-client'), args)).not.toMatch(/WARNING|Unable|will not be/);
    }
    const python3 = path.join(bin, 'python3');
    await said(python3, ['-m', 'compileall', '-q', ...names.map((name) => `${name}_api`)]);
    const { secretKey, publishableKey } = await freshProject();
    await copyFile(path.join(here, 'smoke.py'), path.join(out, 'smoke.py'));
    const words = await said(python3, ['smoke.py', inject('stack').baseUrl, secretKey, publishableKey]);
    expect(words).toContain('smoke ok');
  });
});

/** Tells the fuzzer which resources exist, and which of its checks do not apply to this service. */
const configuration = ({ id }: UsersProject): string => `
[checks]
# What a description cannot say (a field of this collection, a signature) is refused although it fits the description.
positive_data_acceptance.enabled = false
# A method that a path does not have is an unknown route: 404.
unsupported_method.enabled = false
# A body beyond its limit is refused as too large.
negative_data_rejection.expected-statuses = ["4xx"]
# Without a language model the schema assistant is not set up.
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "501"]

[parameters]
"path.projectId" = "${id}"
"path.collectionName" = "notes"

# A browser is sent on with the failure in the address, and the gateway itself refuses an address of many KB.
[[operations]]
include-operation-id = "finish-sign-in"
checks.negative_data_rejection.enabled = false
checks.status_code_conformance.enabled = false

[[operations]]
include-operation-id = "finish-developer-sign-in"
checks.negative_data_rejection.enabled = false
checks.status_code_conformance.enabled = false
`;

/** Operations that would delete the resources of later requests, or sign the caller out. */
const ending = [
  'delete-collection',
  'delete-project',
  'delete-developer',
  'sign-out-developer',
  'change-developer-password',
];

const sentBy = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);

describe('valid and invalid requests to every operation get the documented responses', () => {
  test.for([
    [
      'documents, files and mail with the secret key',
      'public',
      ['--exclude-tag', 'User accounts', '--exclude-operation-id', 'list-own-files'],
    ],
    ['user files with the publishable key', 'public', ['--include-operation-id', 'list-own-files']],
    ['user accounts with the publishable key', 'public', ['--include-tag', 'User accounts']],
    ['accounts of developers', 'dashboard', ['--exclude-path-regex', '^/api/projects/']],
    ['projects', 'dashboard', ['--include-path-regex', '^/api/projects/']],
  ] as const)('%s', async ([title, name, selection], { skip }) => {
    const tool = path.join(binOf(skip), 'schemathesis');
    const fresh = await freshProject();
    const file = path.join(out, `${name}-${title.split(' ', 1)[0]}.toml`);
    await writeFile(file, configuration(fresh));
    const key = title.startsWith('user') ? fresh.publishableKey : fresh.secretKey;
    const headers = name === 'public' ? { 'x-api-key': key } : { Authorization: `Bearer ${fresh.developer.token}` };
    const report = await said(tool, [
      ...['--config-file', file, 'run', `${addressOf(name)}/api/openapi.json`, ...sentBy(headers), ...selection],
      ...(name === 'dashboard' ? ending.flatMap((id) => ['--exclude-operation-id', id]) : []),
      ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '5', '--seed', '1', '--continue-on-failure'],
    ]);
    process.stdout.write(`${title}: ${/\d+ generated.*/.exec(report)?.[0]}\n`);
    expect(report).toMatch(/no issues|passed/i);
  });
});
