import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { en } from '../../console/text/en.ts';
import { dashboardRoutes } from '../../functions/routes.ts';

const root = resolve(import.meta.dirname, '../../console');
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
const sources = globSync('**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !file.startsWith('text/'))
  .map((file) => ({ file, code: withoutComments(readFileSync(join(root, file), 'utf8')) }));

const markup =
  /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|setHTMLUnsafe|srcdoc|document\.write)\b/;

test('no page writes markup', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter(({ code }) => markup.test(code)).map(({ file }) => file)).toEqual([]);
});

/** Texts for readers: between tags and in attributes that are read aloud. Keys and JSON do not count. */
const ofNone = /^(?:Del|Esc|Enter|null|true|false|\w+=\S*)$/;
const between = /<\/?[A-Za-z][^<>]*>([^<>{}()=;]*[A-Za-z]{2,}[^<>{}()=;]*)<\//g;
const attribute = /\s(?:title|label|aria-label|placeholder|alt|empty|text|hint|act|cancel)="([^"]*[A-Za-z]{2,}[^"]*)"/g;
const wordsIn = (code: string): readonly string[] =>
  [...code.matchAll(between), ...code.matchAll(attribute)]
    .map(([, words = '']) => words.trim())
    .filter((words) => !ofNone.test(words));

test('all texts are in text/', () => {
  const found = sources.flatMap(({ file, code }) => wordsIn(code).map((words) => `${file}: ${words}`));
  expect(found).toEqual([]);
});

test.each([
  ['<p>Hello there</p>', ['Hello there']],
  ['<Field label="Your name" />', ['Your name']],
  ['<p>{t.loading}</p>', []],
  ['<kbd>⌘K</kbd>', []],
])('%s contains the text %j', (code, words) => {
  expect(wordsIn(code)).toEqual(words);
});

const pathsOf = (texts: object, above = 't'): readonly string[] =>
  Object.entries(texts).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? pathsOf(value, `${above}.${key}`)
      : [`${above}.${key}`],
  );

/** True if a page uses the text by its name, or by a computed name such as `t.mail.states[status]`. */
const isUsed = (code: string, path: string): boolean => {
  const parts = path.split('.');
  return (
    parts.slice(2).some((_, place) => {
      const name = parts.slice(0, place + 3).join('.');
      const at = place + 3 === parts.length ? '(?![\\w.])|(?=\\.(?:map|toLowerCase))' : '(?![\\w.])';
      return new RegExp(`\\b${name.replaceAll('.', '\\.')}(?:${at})`).test(code);
    }) || new RegExp(`\\b${parts.slice(0, 2).join('.').replaceAll('.', '\\.')}(?![\\w.])`).test(code)
  );
};

test('every text is used by a page', () => {
  const code = sources.map((source) => source.code).join('\n');
  expect(pathsOf(en).filter((path) => !isUsed(code, path))).toEqual([]);
});

test('every route of the dashboard is requested by a page', () => {
  const code = sources.map(({ code }) => code).join('\n');
  const ids = Object.values(dashboardRoutes).flatMap((area) => Object.values(area).map(({ id }) => id));
  // The identity provider sends the browser to this one.
  expect(ids.filter((id) => !code.includes(`'${id}'`))).toEqual(['finish-developer-sign-in']);
});
