import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Handlers of users and developers share functions: `sign-in-developer` and `sign-in` call the same one. */
const plain = (name: string): string => name.replaceAll(/-(project|developer|user)(?=-|$)/g, '');
const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Handlers that return what the middleware has loaded, or that share one function. */
const others: readonly string[] = [
  'get-dashboard-health',
  'get-dashboard-openapi',
  'get-database',
  'get-developer',
  'get-health',
  'get-me',
  'get-openapi',
  'get-project',
  'get-security',
  'get-types',
  'get-user-security',
  'not-found',
  'refresh-developer',
  'refresh-token',
  'request-developer-reset',
  'request-password-reset',
  'resend-developer-verification',
  'resend-verification-otp',
  'send-code',
  'send-developer-code',
];

test('a handler calls the function of its name', () => {
  const handlers = globSync('functions/**/*.ts', { cwd: root }).filter((file) => !file.startsWith('functions/jobs/'));
  const named = handlers.filter((file) => /^export const handler\b/m.test(read(file)));
  const without = named.filter((file) => {
    const imports = [...read(file).matchAll(/import \{([^}]*)\} from '[./]*shared\//g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => plain(kebab(name.trim()))),
    );
    return !imports.includes(plain(path.basename(file, '.ts')));
  });
  expect(named.length).toBeGreaterThan(100);
  expect(without.map((file) => path.basename(file, '.ts')).sort()).toEqual(others);
});

const exportedTypes = /^export (?:declare |abstract )*(?:type|interface|class|enum) (\w+)/gm;

const namesIn = (folders: string, pattern: RegExp): readonly (readonly [name: string, file: string])[] =>
  // Products that the benchmark installs are not our code.
  globSync(`${folders}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**'] }).flatMap((file) =>
    [...read(file).matchAll(pattern)].map(([, name = '']) => [name, file] as const),
  );

test('no two types of shared/ have the same name', () => {
  const files = new Map<string, string[]>();
  for (const [name, file] of namesIn('shared', exportedTypes)) files.set(name, [...(files.get(name) ?? []), file]);
  expect(files.size).toBeGreaterThan(300);
  expect([...files].filter(([, places]) => places.length > 1)).toEqual([]);
});

/** Vague verbs. Standard ones are parse, find, load, get, list and deliver. */
const vague =
  /^(?:given|attempt|refusal|read)(?=[A-Z]|$)|^(?:Given|Attempt|Refusal|Read)(?=[A-Z]|$)|(?:Given|Attempt|Refusal)(?=[A-Z]|$)/;
const vagueFile = /(?:^|-)(?:given|attempt|refusals?|read)(?=[-.])/;

test('exports and files of shared/ have standard names', () => {
  const names = namesIn(
    '{bench,functions,infra,shared}',
    /^export (?:declare |abstract |async )*(?:type|interface|class|enum|const|let|function\*?) (\w+)/gm,
  );
  expect(names.length).toBeGreaterThan(1000);
  expect(names.filter(([name]) => vague.test(name))).toEqual([]);
  const files = globSync('shared/**/*.ts', { cwd: root });
  expect(files.filter((file) => vagueFile.test(path.basename(file)))).toEqual([]);
});
