import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  developerScope,
  itemKey,
  leadingKeys,
  partitionKey,
  projectPartitions,
  projectScope,
  sortPrefix,
} from '../../../shared/persistence/item-keys.ts';
import * as keys from '../../../shared/persistence/table-keys.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const projectId = '0123456789abcdef01234567';

const kinds = new Map(Object.entries<object>(keys).filter((entry): entry is [string, keys.Kind] => 'sk' in entry[1]));

/** Name of a kind → its comment in table-keys.ts. */
const comments = new Map(
  [...read('shared/persistence/table-keys.ts').matchAll(/\/\*\* (.+) \*\/\nexport const (\w+) = \{ in: /g)].map(
    ([, comment = '', name = '']) => [name, comment] as const,
  ),
);

test('every kind of item has a comment that ends with how long it stays', () => {
  expect([...comments.keys()].sort()).toEqual([...kinds.keys()].sort());
  for (const comment of comments.values()) expect(comment).toMatch(/\. (Expires|Stays)\b.*\.$/);
});

const sources = globSync('{shared,functions,infra}/**/*.ts', { cwd: root });

/** The lines of a file that are no comments. */
const codeOf = (file: string): string => read(file).replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '');

test('keys of a kind are created only by its own part of shared/', () => {
  const naming = sources.filter((file) => read(file).includes("/table-keys.ts'"));
  const uses = naming.flatMap((file) =>
    [...codeOf(file).matchAll(/\bkinds\.(\w+)/g)].map(([, name = '']) => ({ file, name })),
  );
  const foreign = uses.filter(({ file, name }) => !file.startsWith(`shared/${kinds.get(name)?.by}/`));
  expect(foreign).toEqual([]);
  expect([...new Set(uses.map(({ name }) => name))].sort()).toEqual([...kinds.keys()].sort());
});

test('no other file spells a key', () => {
  const templates = [...Object.values(keys.partitions), ...[...kinds.values()].map(({ sk }) => sk)];
  const beginnings = templates.flatMap((template) => /^[^{]*#/.exec(template) ?? []);
  const spelled = new RegExp(`['"\`](?:${[...new Set(beginnings)].join('|')})`);
  expect(spelled.test("pk: 'p#'")).toBe(true);
  expect(sources.filter((file) => spelled.test(codeOf(file)))).toEqual(['shared/persistence/table-keys.ts']);
});

test('two files use the SDK of DynamoDB; shared/ uses its own client through table.ts', () => {
  const speaking = sources.filter((file) => /^import (?!type )[^;]*'@aws-sdk\/client-dynamodb'/m.test(read(file)));
  expect(speaking.sort()).toEqual(['infra/local/dynamo.ts', 'infra/operate/doctor/stores.ts']);
  const calling = sources.filter((file) =>
    /\bonTable\b[^;]*\bfrom '.*(?:\.\.\/persistence|\.)\/dynamo\.ts'/.test(read(file)),
  );
  expect(calling).toEqual(['shared/persistence/table.ts']);
});

describe('keys', () => {
  test('have each part in its place with any characters', () => {
    const path = '{storageId}/a#b/$&.png';
    expect(itemKey(keys.upload, projectScope(projectId), { storageId: 's1', path })).toEqual({
      pk: `p#${projectId}`,
      sk: `upload#s1#${path}`,
    });
    expect(itemKey(keys.session, developerScope, { userId: 'u', sessionId: 's' })).toEqual({
      pk: 'd#developers',
      sk: 'session#u#s',
    });
    expect(itemKey(keys.health, partitionKey('rate', { source: 'health' }))).toEqual({
      pk: 'rate#health',
      sk: 'health',
    });
  });

  test('start with the parts that are known', () => {
    expect(sortPrefix(keys.session)).toBe('session#');
    expect(sortPrefix(keys.session, { userId: 'u' })).toBe('session#u#');
    expect(sortPrefix(keys.file, { storageId: 's1' })).toBe('file#s1#');
  });

  test('of two kinds in one partition never have the same prefix', () => {
    for (const [name, one] of kinds) {
      const alike = [...kinds].filter(([, other]) => {
        const shares = other.in.some((place) => one.in.includes(place));
        return other !== one && shares && sortPrefix(other).startsWith(sortPrefix(one));
      });
      expect(
        alike.map(([other]) => other),
        name,
      ).toEqual(name === 'rateWindow' ? ['anonymousAccounts', 'longReads', 'health'] : []);
    }
  });

  test('cannot be created in a foreign partition or without a part', () => {
    // @ts-expect-error: confirmed files are in the partition of a project.
    expect(itemKey(keys.file, developerScope, { storageId: 's1', path: 'a' })).toBeDefined();
    // @ts-expect-error: the path is missing.
    expect(itemKey(keys.file, projectScope(projectId), { storageId: 's1' })).toEqual({
      pk: `p#${projectId}`,
      sk: 'file#s1#',
    });
  });
});

describe('kinds of items', () => {
  test('permissions name partitions by their prefix', () => {
    expect((['project', 'developers', 'service', 'rate', 'due'] as const).map(leadingKeys)).toEqual([
      'p#*',
      'd#developers',
      'service',
      'rate#*',
      'due#uploads#*',
    ]);
  });

  test('a project has two partitions, and its users have five kinds in one of them, sessions first', () => {
    expect(projectPartitions(projectId)).toEqual([`p#${projectId}`, `stats#${projectId}`]);
    expect(keys.ofUsers.map((kind) => sortPrefix(kind))).toEqual([
      'session#',
      'rtcode#',
      'email#',
      'refresh#',
      'ticket#',
    ]);
  });
});
