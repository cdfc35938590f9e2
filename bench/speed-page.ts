import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const concepts = path.join(import.meta.dirname, '../docs/concepts');
const results = path.join(import.meta.dirname, 'results.md');

/** The same Markdown tables without the spaces that align their columns in a terminal. */
const compact = (text: string): string =>
  text.replaceAll(/^\|.*\|$/gm, (row) =>
    /^[|: -]+$/.test(row)
      ? row.replaceAll(/-+/g, '---').replaceAll(' ', '')
      : row
          .replaceAll(/ *\| */g, ' | ')
          .replaceAll(/ +(?=\|)/g, ' ')
          .trim(),
  );

/** Replaces the text of bench/results.md between `<!-- part -->` and `<!-- /part -->`. */
export const writePart = async (
  part: 'bench' | 'commands' | 'neighbours' | 'summary',
  printed: string,
): Promise<void> => {
  const text = await readFile(results, 'utf8');
  const [begin, end] = [`<!-- ${part} -->\n`, `\n<!-- /${part} -->`];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`bench/results.md has no part ${part}`);
  await writeFile(results, text.slice(0, from) + compact(printed) + text.slice(to));
};

/** Writes a chart of docs/concepts/performance.md. */
export const writePicture = (name: string, svg: string): Promise<void> => writeFile(path.join(concepts, name), svg);
