import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundle, bundleFunctions } from '../../infra/bundle.ts';
import { functionFiles } from '../../infra/function-files.ts';
import { nativeFile } from '../../infra/native-bcrypt.ts';
import { budgets, bytesOf, groupOf } from './bundle-budgets.ts';

const run = promisify(execFile);
const names = functionFiles().map(({ name }) => name);
const folder = mkdtempSync(join(tmpdir(), 'basalt-bundles-'));
const bundles = new Map<string, Bundle>();

const bundle = (name: string): Bundle => {
  const found = bundles.get(name);
  if (!found) throw new Error(`${name} was not bundled`);
  return found;
};

beforeAll(async () => {
  for (const built of await bundleFunctions(folder)) bundles.set(built.name, built);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every function has a folder with one bundle', () => {
  expect([...bundles.keys()].sort()).toEqual([...names].sort());
});

test('every bundle exports a handler and does nothing when it is loaded', async () => {
  const files = names.map((name) => join(folder, name, 'index.mjs'));
  const load = `for (const file of ${JSON.stringify(files)}) console.log(typeof (await import(file)).handler)`;
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', load], { env: {} });
  expect(stdout.trim().split('\n')).toEqual(names.map(() => 'function'));
  expect(stderr).toBe('');
});

test('loading a bundle does not load undici, which Node brings for fetch', async () => {
  const file = join(folder, 'data-get-document', 'index.mjs');
  const load = `await import('${file}'); console.log(process.moduleLoadList.filter((name) => name.includes('undici')).length)`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', load], { env: {} });
  expect(stdout.trim()).toBe('0');
});

test.each(names)('%s keeps to its budget of bytes', (name) => {
  expect(bundle(name).bytes).toBeLessThanOrEqual(bytesOf(groupOf(name)));
});

test('every budget is of a function, and none is a tenth above the largest of its functions', () => {
  for (const group of Object.keys(budgets)) {
    const sizes = names.filter((name) => groupOf(name) === group).map((name) => bundle(name).bytes);
    expect(bytesOf(group) / Math.max(...sizes), group).toBeLessThan(1.1);
  }
});

test.each(['service-get-openapi', 'dashboard-service-get-dashboard-openapi'])(
  '%s carries its document, and neither the database drivers of others nor what it was made with',
  (name) => {
    const packages = bundle(name).parts.map(({ from }) => from);
    expect(packages).not.toContain('mongodb');
    expect(packages).not.toContain('@valibot/to-json-schema');
    expect(bundle(name).bytes).toBeLessThanOrEqual(1024 * 1024);
    expect(readFileSync(join(folder, name, 'index.mjs'), 'utf8')).toContain('operationId');
  },
);

test.each(names)('%s holds nothing that is for building, testing or running locally', (name) => {
  const packages = bundle(name).parts.map(({ from }) => from);
  const foreign =
    /^(aws-cdk|constructs|cdk-nag|esbuild|vitest|@0q|@dynoxide|aws-sdk-client-mock|whatwg-url|tr46|@valibot\/to-json-schema)/;
  expect(packages.filter((from) => foreign.test(from))).toEqual([]);
});

describe('functions that hash passwords', () => {
  test('have the binary of bcrypt beside them, and no others have', () => {
    for (const { name, native } of bundles.values()) {
      expect(existsSync(join(folder, name, nativeFile)), name).toBe(native);
    }
  });

  test('are not those of the data API', () => {
    expect([...bundles.values()].filter(({ name, native }) => native && name.startsWith('data-'))).toEqual([]);
  });
});
