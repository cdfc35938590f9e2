import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleFunctions } from '../../infra/build/bundle.ts';
import { compilingNode, writeCodeCaches } from '../../infra/build/code-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'basalt-code-'));
const built = join(folder, 'built/data-get-schema');
const file = `${process.version}-${process.arch}.cache`;

beforeAll(() => bundleFunctions(join(folder, 'built'), { prefixes: ['data-get-schema'], codeCaches: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** The output of a process with these flags for the bundle in another folder, as when deployed. */
const loaded = async (change: (folder: string) => void, flags: readonly string[] = []): Promise<unknown> => {
  const deployed = mkdtempSync(join(folder, 'deployed-'));
  cpSync(built, deployed, { recursive: true });
  change(deployed);
  const script = `const { handler, script } = await import('${deployed}/index.mjs');
    console.log(JSON.stringify({ handler: typeof handler, rejected: script.cachedDataRejected }));`;
  const args = [...flags, '--input-type=module', '--eval', script];
  return JSON.parse((await promisify(execFile)(process.execPath, args, { env: {} })).stdout);
};

const unchanged = (): void => undefined;

test('code cache is used when the bundle was moved', async () => {
  expect(await loaded(unchanged)).toEqual({ handler: 'function', rejected: false });
});

test("code cache is used when Node has Lambda's flags", async () => {
  const flags = ['--expose-gc', '--max-semi-space-size=25', '--max-old-space-size=461', '--max-http-header-size=81920'];
  expect(await loaded(unchanged, flags)).toEqual({ handler: 'function', rejected: false });
});

test('code cache is ignored when it was compiled with other flags', async () => {
  expect(await loaded(unchanged, ['--no-lazy'])).toEqual({ handler: 'function', rejected: true });
});

test('code cache is ignored when it is damaged', async () => {
  const damage = (deployed: string): void =>
    writeFileSync(join(deployed, file), readFileSync(join(built, file)).fill(1, 0, 64));
  expect(await loaded(damage)).toEqual({ handler: 'function', rejected: true });
});

test('bundle loads when there is no code cache', async () => {
  expect(await loaded((deployed) => rmSync(join(deployed, file)))).toEqual({ handler: 'function' });
});

test('code cache has the same bytes when the bundle is the same', async () => {
  const before = readFileSync(join(built, file));
  await writeCodeCaches([built]);
  expect(readFileSync(join(built, file)).equals(before)).toBe(true);
});

test("code cache is compiled by Lambda's own Node when the build runs in its image", () => {
  expect(compilingNode((file) => file === '/var/lang/bin/node')).toBe('/var/lang/bin/node');
  expect(compilingNode(() => false)).toBe(process.execPath);
});
