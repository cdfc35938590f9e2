import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import type { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundling } from '../../infra/build/bundle.ts';
import { leanDriverIn } from '../../infra/build/driver/lean-driver.ts';
import { leftOut } from '../../infra/build/driver/left-out.ts';
import { helloReply, startFakeMongod } from '../support/faults/fake-mongod.ts';

const folder = mkdtempSync(join(tmpdir(), 'basalt-driver-'));
const stdin = { contents: "export { MongoClient } from 'mongodb';", resolveDir: bundling.absWorkingDir };
let Bundled: typeof MongoClient;
let metafile: Metafile;

beforeAll(async () => {
  const outfile = join(folder, 'driver.cjs');
  ({ metafile } = await build({ ...bundling, stdin, outfile, outExtension: {}, metafile: true }));
  ({ MongoClient: Bundled } = createRequire(import.meta.url)(outfile) as { readonly MongoClient: typeof MongoClient });
});
afterAll(() => rmSync(folder, { recursive: true }));

const bytesIn = (file: string): number => {
  const [output] = Object.values(metafile.outputs);
  return output?.inputs[`node_modules/mongodb/lib/${file}`]?.bytesInOutput ?? Number.NaN;
};

test.each(Object.values(leftOut).flat())('%s is replaced in the bundle', (file) => {
  expect(bytesIn(file)).toBeLessThan(100);
});

test('bundle contains no file that only the removed files need', () => {
  const inputs = Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {});
  const unwanted = /mongodb\/lib\/(client-side-encryption|gridfs|cmap\/auth\/(aws|mongodb_oidc\/\w+_workflow))/;
  const kept = inputs.filter(([path, { bytesInOutput }]) => unwanted.test(path) && bytesInOutput >= 100);
  expect(kept.map(([path]) => path)).toEqual([]);
});

test('build fails when the driver has moved a file', async () => {
  const failed = build({ ...bundling, stdin, write: false, plugins: [leanDriverIn(folder)] });
  await expect(failed).rejects.toThrow(/The MongoDB driver no longer has index\.js, mongo_logger\.js, encrypter\.js/);
});

test('bundled driver sends its version to servers', async () => {
  const told: unknown[] = [];
  const server = await startFakeMongod((command) => {
    told.push(command.client);
    return helloReply;
  });
  const client = new Bundled(`mongodb://127.0.0.1:${server.port}`);
  await client.db('app').command({ ping: 1 });
  await client.close();
  await server.stop();
  const { version } = createRequire(import.meta.url)('mongodb/package.json') as { readonly version: string };
  expect(told[0]).toMatchObject({ driver: { name: 'nodejs', version } });
});

describe('removed part of the driver', () => {
  const db = () => new Bundled('mongodb://db.example.com').db('app');
  const saying = (name: string) => `${name} of the MongoDB driver was asked for, which the bundles leave out`;

  test('throws with its name when it is used', () => {
    expect(() => db().watch()).toThrow(saying('ChangeStream'));
    expect(() => db().admin()).toThrow(saying('Admin'));
  });

  test('is a class without instances', () => {
    const unused = createRequire(import.meta.url)('../../infra/build/driver/unused.cjs');
    expect({} instanceof unused.Anything).toBe(false);
  });
});

test.each(['', 'secret', ' ~!"$%', 'äöü', 'I\u00ADX', 'ª', 'Ⅸ', '\u0627\u0031', '\u0007', 'tab\t', 'a\u007f'])(
  'password %j is prepared like by the complete package',
  (text) => {
    const load = createRequire(import.meta.url);
    const prepared = (file: string): unknown => {
      try {
        return load(file).saslprep(text);
      } catch (error) {
        return String(error);
      }
    };
    expect(prepared('../../infra/build/driver/saslprep.cjs')).toEqual(prepared('@mongodb-js/saslprep'));
  },
);
