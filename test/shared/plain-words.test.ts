import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { generated } from '../../scripts/reference/generated.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Words and forms that readers stumble over → what to write instead. */
const forbidden: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:any|every|some|no)body\b/gi, 'anyone, everyone, another user, no one'],
  [/\b(?:who|what)ever\b/gi, 'anyone who, any'],
  [/\banew\b/gi, 'again'],
  [/\bat once\b/gi, 'immediately, at the same time'],
  [/\bby (?:itself|themselves)\b/gi, 'automatically, alone'],
  [/(?<!there )\b(?:is|are) none\b/gi, 'is missing, is not valid'],
  [/\bbesides\b/gi, 'also, in addition to'],
  [/\b(?:go(?:es)?|carr(?:y|ies)) on\b/gi, 'continue'],
  [/\b(?:try|tries|tried)(?: \w+)? again\b/gi, 'retry'],
  [/\blog(?:ged|ging)?[- ]in\b/gi, 'sign in'],
  [/\bfor instance\b/gi, 'for example'],
  [/\bplease\b/gi, 'nothing'],
  [/\bstands? (?:in|inside|here|there|once|beside|alone|at)\b/gi, 'is in, is defined in'],
  [/\bnevertheless\b/gi, 'anyway'],
  [/\be-mail/gi, 'email'],
  [/\bmails\b|\b(?:an?|the|this|that|each|every|one|new) mail\b(?! \w)/gi, 'email'],
  [/\brefus(?:e|es|ed|al|als|ing)\b/gi, 'reject, error'],
  [/\banswer(?:s|ed|ing)?\b/gi, 'return, respond, response'],
  [/\b(?:is|are|was|were) (?:40\d|41[0-5]|42\d|50[0-4])\b/gi, 'returns 403'],
  [/\bt(?:ells?|old|elling) of\b/gi, 'notify of'],
  [/\bpictures?\b/gi, 'image'],
  [/\bnudges?d?\b/gi, 'hint'],
  [/\b(?:all|none|nothing|everything) but\b|\bbut for\b/gi, 'except'],
  [/\ban own\b|\bone’s own\b|\bone's own\b/gi, 'your own'],
];

/** Code in backticks, addresses of links, and labels such as `[lost-answers]`, which are names of files. */
const names = /`[^`]*`|\]\([^)]*\)|\[[\w.-]+\](?::.*)?/g;

/** The last cell of a row about a threat: names of test files. */
const tests = / \| [\w/-]+(?:, [\w/-]+)* \|$/;

const hitsIn = (text: string): readonly string[] => {
  const prose = text.replaceAll(names, ' ').replace(tests, '');
  return forbidden.flatMap(([pattern, instead]) =>
    [...prose.matchAll(pattern)].map(([hit]) => `“${hit}” (write: ${instead}) in: ${text.trim()}`),
  );
};
const withoutBlocks = (page: string): string => read(page).replaceAll(/^ *```.*?^ *```$/gms, '');

/** `npm run docs` writes some of them from texts that are counted below. */
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'client/README.md', 'test/threats.md'].concat(
  globSync('docs/**/*.md', { cwd: root }),
);

describe.each(pages)('%s', (page) => {
  test('has plain words only', () => {
    expect(withoutBlocks(page).split('\n').flatMap(hitsIn)).toEqual([]);
  });

  test('has lines of at most 160 characters unless it is generated or the line is a row of a table', () => {
    const lines = read(page).startsWith(generated) ? [] : withoutBlocks(page).split('\n');
    const long = lines.map((line) => line.replaceAll(/\]\([^)]*\)/g, ']')).filter((line) => line.length > 160);
    expect(long.filter((line) => !/^ *\|/.test(line))).toEqual([]);
  });
});

/** Texts that are not ours: the specification fixes them, or another service sends them. */
const fixed: readonly string[] = [
  'Please whitelist Server IPs',
  'Public API verification could not be completed (network/timeout). Please try again later.',
  'Too many requests. Please limit the number of requests per second.',
  'We encountered an internal error. Please try again.',
];

interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
}

/** Texts of at least two words in a file's code; comments and imports are not texts. */
const textsIn = (node: unknown): readonly string[] => {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value } = node as SyntaxNode;
  if (type === 'ImportDeclaration') return [];
  const text = type === 'TemplateElement' ? (value as { readonly cooked: string }).cooked : value;
  if (/^(?:Literal|JSXText|TemplateElement)$/.test(type ?? '')) {
    return typeof text === 'string' && /\S\s+\S/.test(text) ? [text] : [];
  }
  return Object.values(node).flatMap(textsIn);
};

const sources = globSync('{client/src,console,functions,infra,scripts,shared}/**/*.{ts,tsx}', { cwd: root });

test('messages, descriptions, emails, the console and commands have plain words only', () => {
  const hits = sources.flatMap((file) => {
    const program = parseAst(read(file), { lang: file.endsWith('x') ? 'tsx' : 'ts' });
    const texts = textsIn(program.body).filter((text) => !fixed.some((words) => text.includes(words)));
    return texts.flatMap(hitsIn).map((hit) => `${file}: ${hit}`);
  });
  expect(sources.length).toBeGreaterThan(500);
  expect(hits).toEqual([]);
});
