import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundling } from '../../infra/build/bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'basalt-url-'));
let Bundled: typeof MongoClient;

beforeAll(async () => {
  const file = join(folder, 'driver.cjs');
  const stdin = { contents: "export { MongoClient } from 'mongodb';", resolveDir: bundling.absWorkingDir };
  await build({ ...bundling, stdin, outfile: file, outExtension: {} });
  ({ MongoClient: Bundled } = createRequire(import.meta.url)(file) as { readonly MongoClient: typeof MongoClient });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The driver's result for a URI, or the message of its error. */
const parsed = (Client: typeof MongoClient, uri: string, options: MongoClientOptions = {}): unknown => {
  try {
    const client = new Client(uri, options);
    const { hosts, srvHost, credentials, dbName, replicaSet, tls, readPreference, writeConcern, compressors } =
      client.options;
    const { username, password, source, mechanism, mechanismProperties } = credentials ?? {};
    return JSON.parse(
      JSON.stringify({
        hosts: hosts.map(String),
        srvHost,
        credentials: { username, password, source, mechanism, mechanismProperties },
        dbName,
        replicaSet,
        tls,
        readPreference,
        writeConcern,
        compressors,
      }),
    );
  } catch (error) {
    return String(error);
  }
};

const parses = [
  'mongodb://localhost',
  'mongodb://127.0.0.1:27017',
  'mongodb://db.example.com:27018/app?replicaSet=rs0',
  'mongodb://a.example.com,b.example.com:27018,c.example.com/app',
  'mongodb://ada:secret@db.example.com/app?authSource=admin',
  'mongodb://ada%40example.com:p%40ss%2Fw%3Ard%25@db.example.com/',
  'mongodb://%C3%A4da:%F0%9F%94%91@db.example.com/?authMechanism=SCRAM-SHA-256',
  'mongodb://[::1]:27017,[2001:db8::1]:27018/app',
  'mongodb://DB.Example.COM/App',
  'mongodb://bücher.example/app',
  'mongodb://%2Ftmp%2Fmongodb-27017.sock/app',
  'mongodb://db.example.com/?w=majority&journal=true&tls=true&readPreference=secondary&compressors=zlib',
  'mongodb://db.example.com/?readPreference=secondary&readPreferenceTags=dc:ny,rack:1&readPreferenceTags=',
  'mongodb+srv://ada:secret@cluster0.example.mongodb.net/app?retryWrites=true&w=majority',
  'mongodb+srv://cluster0.example.mongodb.net',
  'mongodb://db example.com',
];
const refused = [
  '',
  'localhost',
  'http://localhost',
  'mongodb://',
  'mongodb:///app',
  'mongodb://db.example.com:99999',
  'mongodb://db.example.com:port',
  'mongodb://ada:p@ss:word@db.example.com',
  'mongodb://ada:%zz@db.example.com',
  'mongodb://user@/app',
  'mongodb://db.example.com/?unknownOption=1',
  'mongodb+srv://cluster0.example.mongodb.net:27017',
  'mongodb+srv://a.example.com,b.example.com',
];

test.each(parses)("Node's URL parses %s like whatwg-url", (uri) => {
  expect(parsed(Bundled, uri)).toBeTypeOf('object');
  expect(parsed(Bundled, uri)).toEqual(parsed(MongoClient, uri));
});

test.each(refused)("Node's URL rejects '%s' like whatwg-url", (uri) => {
  expect(parsed(Bundled, uri)).toBeTypeOf('string');
  expect(parsed(Bundled, uri)).toEqual(parsed(MongoClient, uri));
});
