import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundle, bundleFunctions } from '../../infra/build/bundle.ts';
import { nativeFile } from '../../infra/build/native-bcrypt.ts';
import { bundledIn } from '../../infra/build/packaged-function.ts';

const run = promisify(execFile);

/** The two that describe the APIs, which are made without the packages that do so. */
export const descriptions = ['service-get-openapi', 'dashboard-service-get-dashboard-openapi'] as const;

export const verifyPasskeys: readonly string[] = [
  'dashboard-auth-register-developer-passkey',
  'dashboard-auth-sign-in-developer-with-passkey',
  'user-auth-register-passkey',
  'user-auth-sign-in-with-passkey',
];

/** Imports of the mail provider's SDK for emails in React, which the service does not send. */
const ofReactMails = '@react-email/render';

/** For building, testing or running locally, or replaced while bundling. */
const foreign =
  /^(aws-cdk|constructs|cdk-nag|esbuild|vitest|@0q|@dynoxide|aws-sdk-client-mock|whatwg-url|tr46|@valibot\/to-json-schema|@aws-sdk\/(credential-provider|token-provider|nested-clients))/;

/**
 * Bundles these functions and defines tests for each of them. Returns the path of each bundle after the build.
 */
export const testBundles = (names: readonly string[]): ((name: string) => Bundle) => {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-bundles-'));
  const bundles = new Map<string, Bundle>();

  const bundle = (name: string): Bundle => {
    const found = bundles.get(name);
    if (!found) throw new Error(`${name} was not bundled`);
    return found;
  };

  /** The output of a separate process that loads the bundles. */
  const load = async (script: string) => {
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], { env: {} });
    return { said: stdout.trim(), stderr };
  };

  beforeAll(async () => {
    for (const built of await bundleFunctions(folder, { prefixes: names })) bundles.set(built.name, built);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('bundle runs on x86_64 only when it has native code, and then has code for no other architecture', () => {
    const x86 = 0x3e;
    for (const name of names) {
      const files = readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name: file }) => join(parentPath, file));
      const machines = files.flatMap((file) => {
        const bytes = readFileSync(file);
        return bytes.toString('latin1', 0, 4) === '\x7fELF' ? bytes.readUInt16LE(18) : [];
      });
      const { native } = bundledIn(folder)(name);
      expect([...new Set(machines)], name).toEqual(native ? [x86] : []);
      const foreignPrograms = files.filter((file) => /\.(?:dll|dylib|exe|node|so)$/.test(file));
      if (!native) expect(foreignPrograms, name).toEqual([]);
    }
  });

  test('every bundle exports a handler and does nothing when it is loaded', async () => {
    const files = names.map((name) => join(folder, name, 'index.mjs'));
    const { said, stderr } = await load(
      `for (const file of ${JSON.stringify(files)}) console.log(typeof (await import(file)).handler)`,
    );
    expect(said.split('\n')).toEqual(names.map(() => 'function'));
    expect(stderr).toBe('');
  });

  test('bundle does not load undici when it starts', async () => {
    const file = join(folder, 'data-get-document', 'index.mjs');
    const { said } = await load(
      `await import('${file}'); console.log(process.moduleLoadList.filter((name) => name.includes('undici')).length)`,
    );
    expect(said).toBe('0');
  });

  test.each(descriptions)(
    '%s carries its document, not what it was made with, and loads no database driver where none is asked',
    async (name) => {
      const packages = bundle(name).parts.map(({ from }) => from);
      const { said } = await load(
        `await import('${join(folder, name, 'index.mjs')}'); console.log(process.moduleLoadList.includes('NativeModule dns'))`,
      );
      expect(said).toBe('false');
      expect(packages).not.toContain('@valibot/to-json-schema');
      expect(bundle(name).bytes).toBeLessThanOrEqual(1024 * 1024);
      expect(readFileSync(join(folder, name, 'main.cjs'), 'utf8')).toContain('operationId');
    },
  );

  test.each(names)('%s has no dynamic import', (name) => {
    const text = readFileSync(join(folder, name, 'main.cjs'), 'utf8');
    const later = [...text.matchAll(/\bimport\(["'`]([^"'`]*)/g)].map(([, module]) => module);
    expect(later.filter((module) => module !== ofReactMails)).toEqual([]);
  });

  test.each(names)('%s contains no replaced package and no code for building, testing or running locally', (name) => {
    const packages = bundle(name).parts.map(({ from }) => from);
    expect(packages.filter((from) => foreign.test(from))).toEqual([]);
  });

  test('the data API has no SDK of AWS but that of the queues, for writes that wake webhooks', () => {
    const sdks = new Map<string, string[]>();
    for (const { name, parts } of bundles.values()) {
      const clients = parts.flatMap(({ from }) => /^@aws-sdk\/client-(.*)/.exec(from)?.[1] ?? []);
      if (name.startsWith('data-')) sdks.set(name, clients);
    }
    expect(sdks.get('data-get-document')).toEqual([]);
    expect(sdks.get('data-list-documents')).toEqual([]);
    expect([...new Set([...sdks.values()].flat())]).toEqual(['sqs']);
  });

  test('a write loads the SDK of the queues only with its first message', async () => {
    const file = join(folder, 'data-create-document', 'index.mjs');
    // The SDK reads its configuration files with this when it is loaded.
    const { said } = await load(
      `await import('${file}'); console.log(process.moduleLoadList.includes('NativeModule fs/promises'))`,
    );
    expect(said).toBe('false');
  });

  test('only functions that verify passkeys contain the package for it', () => {
    const having = [...bundles.values()].filter(({ parts }) => parts.some(({ from }) => from.includes('webauthn')));
    expect(having.map(({ name }) => name).sort()).toEqual(names.filter((name) => verifyPasskeys.includes(name)).sort());
  });

  describe('functions that hash passwords', () => {
    test('are the only ones with the binary of bcrypt', () => {
      for (const { name, native } of bundles.values()) {
        expect(existsSync(join(folder, name, nativeFile)), name).toBe(native);
      }
    });

    test('are none of the data API', () => {
      expect([...bundles.values()].filter(({ name, native }) => native && name.startsWith('data-'))).toEqual([]);
    });
  });
  return bundle;
};
