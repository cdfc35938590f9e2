import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files of `shared/` that the lists of parsers import. */
const parserFiles = (): readonly string[] =>
  ['conditions.ts', 'texts.ts'].flatMap((list) => {
    const source = readFileSync(path.join(import.meta.dirname, list), 'utf8');
    return [...source.matchAll(/from '(\.\.\/\.\.\/shared\/[^']+)'/g)].map(([, file = '']) =>
      path.resolve(import.meta.dirname, file),
    );
  });

/** Counts from now on which parts of the parsers run. The returned function gives the share of characters, per file. */
export const measureCoverage = async (): Promise<() => Promise<ReadonlyMap<string, number>>> => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = new Set(parserFiles());
    const shares = new Map<string, number>();
    for (const { url, functions } of result) {
      const file = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!files.has(file)) continue;
      const ran = new Uint8Array(readFileSync(file, 'utf8').length);
      // Inner ranges come after outer ones.
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      shares.set(
        path.relative(path.resolve(import.meta.dirname, '../..'), file),
        ran.filter(Boolean).length / ran.length,
      );
    }
    return shares;
  };
};
