import { readFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.resolve(import.meta.dirname, '../../../docs/reference');
const read = (page: string): string => readFileSync(path.join(docs, page), 'utf8');

/** Part of the contract, as comments call it, → the text of its pages. */
export const contractParts: ReadonlyMap<string, string> = new Map(
  [
    ...Map.groupBy(
      read('README.md').matchAll(/^\| (\d|specification) \| \[.+\]\((.+)\) \|/gm),
      ([, part = '']) => part,
    ),
  ].map(([part, rows]) => [part, rows.map(([, , page = '']) => read(page)).join('\n')]),
);

/** All pages of the contract. */
export const contract = [...contractParts.values()].join('\n');
