import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../infra/build/function-files.ts';
import { readArguments } from '../read-arguments.ts';
import { referencePages } from './pages.ts';

readArguments(
  `Usage: npm run docs
Writes the pages of docs/reference that are made of the code: error codes, limits, settings, and the routes by area.`,
  {},
);

for (const [file, text] of referencePages()) {
  const path = join(root, 'docs/reference', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  process.stdout.write(`docs/reference/${file}\n`);
}
