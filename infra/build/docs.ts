import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readArguments } from '../../scripts/read-arguments.ts';
import { docsPath } from '../../shared/http/console-headers.ts';
import { type ConsoleFile, fileOf } from './console.ts';
import { root } from './function-files.ts';

const folder = join(root, 'dist/docs');

const builtDocs = async (): Promise<readonly ConsoleFile[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    files.map(async (file) => {
      const path = file.slice(folder.length);
      return fileOf(docsPath + path, await readFile(file), path.startsWith('/assets/'));
    }),
  );
};

/** Builds the documents as a site. Rejects with the generator's output. */
export const buildDocs = async (): Promise<readonly ConsoleFile[]> => {
  const generator = join(root, 'node_modules/vitepress/bin/vitepress.js');
  const child = spawn(process.execPath, [generator, 'build', 'docs'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`The documents could not be built.\n${output}`);
  return builtDocs();
};

/** The Markdown of a page, for as long as the documents are not built. */
const markdownOf = (path: string): string | undefined => {
  const [, page] = /^\/docs\/([\w/-]+)\.html$/.exec(path) ?? [];
  if (page === undefined) return undefined;
  const named = page.replace(/(^|\/)index$/, '$1README');
  return [join(root, 'docs', `${named}.md`), join(root, `${named}.md`)].find((file) => existsSync(file));
};

/** One file of the documents; before they are built, the Markdown of a page as plain text. */
export const docsFile = async (path: string): Promise<ConsoleFile | undefined> => {
  if (path.includes('..')) return undefined;
  const file = join(folder, path.slice(docsPath.length));
  if (existsSync(file)) return fileOf(path, await readFile(file), path.startsWith(`${docsPath}/assets/`));
  const markdown = existsSync(folder) ? undefined : markdownOf(path);
  if (markdown === undefined) return undefined;
  return { path, type: 'text/plain; charset=utf-8', bytes: await readFile(markdown), immutable: false };
};

if (import.meta.main) {
  readArguments(
    `Usage: npm run docs:build
Builds the documents as a site with search, in dist/docs.`,
    {},
  );
  console.log('Building the documents; this takes a moment.');
  try {
    const files = await buildDocs();
    console.log(`${files.length} files in dist/docs`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
