import { beforeAll, expect, test } from 'vitest';
import { buildDocs } from '../../infra/build/docs.ts';
import { statusOf } from '../../shared/core/errors.ts';
import { docsFileAt } from '../../shared/http/console-headers.ts';

let texts: ReadonlyMap<string, string>;
const pages = (): readonly (readonly [path: string, text: string])[] =>
  [...texts].filter(([path]) => path.endsWith('.html'));

beforeAll(async () => {
  texts = new Map((await buildDocs()).map(({ path, bytes }) => [path, bytes.toString()]));
}, 600_000);

test('page of error codes has an anchor for each code', () => {
  const page = texts.get(docsFileAt('/docs/reference/errors')) ?? '';
  expect(Object.keys(statusOf).filter((code) => !page.includes(`id="${code.toLowerCase()}"`))).toEqual([]);
});

test('pages load scripts only from files, because their policy allows nothing else', () => {
  expect(pages().length).toBeGreaterThan(50);
  for (const [path, text] of pages()) expect(text.match(/<script(?![^>]* src="\/docs\/)/g), path).toBeNull();
});

test('links and scripts of pages lead to files of the site', () => {
  const missing = pages().flatMap(([path, text]) =>
    [...text.matchAll(/(?:href|src)="(\/docs[^"#]*)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !texts.has(docsFileAt(target)))
      .map((target) => `${path} → ${target}`),
  );
  expect(missing).toEqual([]);
});

test('search index contains every error code', () => {
  const [, index = ''] = [...texts].find(([path]) => path.includes('@localSearchIndex')) ?? [];
  expect(Object.keys(statusOf).filter((code) => !index.includes(code))).toEqual([]);
});
