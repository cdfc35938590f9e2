import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildConsole } from '../../infra/build/console.ts';

/** Bytes, gzipped. */
const firstLoad = 50 * 1024;
const editorLoad = 132 * 1024;

test('console loads at most 50 KiB at first, the JSON editor later, and has content hashes in names', async () => {
  const files = await buildConsole('https://api.example.com', false);
  const isEditor = ({ path }: { readonly path: string }): boolean => path.startsWith('/assets/json-editor-view-');
  const sizeOf = (some: typeof files): number => some.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0);
  const editor = sizeOf(files.filter(isEditor));
  expect(editor).toBeGreaterThan(0);
  expect(editor).toBeLessThanOrEqual(editorLoad);
  for (const { path, immutable } of files)
    expect(/^\/assets\/[\w-]+-[A-Z0-9]{8}\.(?:js|css)$/.test(path)).toBe(immutable);
  const page = files.find(({ path }) => path === '/index.html')?.bytes.toString() ?? '';
  const scripts = new Map(files.map(({ path, bytes }) => [path, bytes.toString()]));
  const needed = new Set<string>();
  const need = (path: string): void => {
    if (needed.has(path)) return;
    needed.add(path);
    for (const [, name = ''] of (scripts.get(path) ?? '').matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g))
      need(`/assets/${name}`);
  };
  for (const [, path = ''] of page.matchAll(/"(\/[\w./-]+)"/g)) need(path);
  const first = [...needed].reduce(
    (sum, path) => sum + gzipSync(scripts.get(path) ?? '').length,
    gzipSync(page).length,
  );
  expect([...needed].some((path) => isEditor({ path }))).toBe(false);
  expect(first).toBeLessThanOrEqual(firstLoad);
});
